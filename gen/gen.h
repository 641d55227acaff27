/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C headers written from BPF objects: skeletons, which hold the object and
 * name its maps, programs and variables as members of one struct, and
 * subskeletons, by which a library finds its own in somebody else's object.
 * Their shape is that of bpftool gen skeleton, so that a program written for
 * the one compiles with the other.
 */
#ifndef PB_GEN_GEN_H
#define PB_GEN_GEN_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"

enum gen_kind {
	GEN_SKELETON,
	GEN_SUBSKELETON,
};

struct gen_input {
	const void *elf; /* the object's bytes, borrowed for the call */
	size_t size;
	const char *path;      /* where they came from, for errors and the header's first line */
	const char *name;      /* of the struct: a C identifier */
	const struct log *log; /* may be NULL */
};

/*
 * Adds the header's text to out. Errors: EINVAL, the name is no identifier or
 * two things would have the same name; what opening the object gives.
 */
struct error *gen_header(enum gen_kind kind, const struct gen_input *in, struct strbuf *out);

/* "slow_writes_bpf" of "dir/slow-writes.bpf.o", as bpftool has it; the caller's. NULL: no memory.
 */
char *gen_name(const char *path);

#endif
