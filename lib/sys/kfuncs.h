/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's functions by name: which can be traced, and why one cannot.
 *
 * ftrace's list has exactly those whose beginning can be patched: tracefs
 * available_filter_functions_addrs (6.5) with addresses, before that
 * available_filter_functions without. /proc/kallsyms has every symbol, traced
 * or not, and addresses for root only (kernel.kptr_restrict).
 */
#ifndef PB_SYS_KFUNCS_H
#define PB_SYS_KFUNCS_H

#include <stdint.h>

#include "lib/base/vec.h"
#include "lib/sys/sys.h"

struct sys_kfunc {
	const char *name;
	uint64_t addr; /* 0: the kernel does not tell */
	/* More functions have this name than can be traced, and who knows which it is. */
	bool ambiguous;
};

struct sys_kfuncs {
	VEC(struct sys_kfunc) v; /* by name, then address; no pair twice */
	/* ftrace's list cannot be read: these are all functions, traceable or not. */
	bool unsure;
	char *text; /* what the names point into */
};

void sys_kfuncs_deinit(struct sys_kfuncs *funcs);
#define _cleanup_kfuncs_ __attribute__((cleanup(sys_kfuncs_deinit)))

/* The functions that match the glob. None at all is no error. */
struct error *sys_kfuncs_match(const struct sys_roots *roots, const char *glob,
			       struct sys_kfuncs *funcs);

/*
 * What speaks against probing the function, for an attempt that the kernel
 * refused: there is none of that name (ENOENT, with near names, or with what
 * the compiler made of it), it is no function, the kernel keeps it off limits
 * for kprobes (EINVAL), or for ftrace. by_ftrace: the attempt was one of
 * fentry, kprobe.multi and the like. NULL: nothing that is known.
 */
struct error *sys_kfunc_refusal(const struct sys_roots *roots, const char *name, bool by_ftrace);

#endif
