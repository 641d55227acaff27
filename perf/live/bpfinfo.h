/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel reports about a loaded program: enough for KSYMBOL records and BPF_PROG_INFO. */
#ifndef PB_PERF_LIVE_BPFINFO_H
#define PB_PERF_LIVE_BPFINFO_H

#include <linux/bpf.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/sys/prog_info.h"
#include "perf/data/features.h"

struct bpf_func {
	uint64_t addr; /* of the JIT image; 0: hidden from us, or not compiled */
	uint32_t len;
	char *name; /* "bpf_prog_TAG_NAME", as in kallsyms */
};

struct bpf_gathered {
	struct sys_prog_info all;
	struct bpf_func *funcs;
	size_t n_funcs;
};

/*
 * Everything about one program; ENOENT: it is gone. insns: its code too, as
 * BPF_PROG_INFO has it.
 */
struct error *bpf_gather(uint32_t id, bool insns, struct bpf_gathered *out);
void bpf_gathered_deinit(struct bpf_gathered *prog);

/* Calls fn for each loaded program; without the right to, it calls none. */
void bpf_gather_all(const struct log *log, void (*fn)(void *ctx, const struct bpf_gathered *prog),
		    void *ctx);

#endif
