// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps the calls of malloc() for at least min_size bytes, with who called:
 *
 *	perf-bpf record -g -e examples/large_malloc.bpf.c/min_size=65536/ -- sort -S 8M /dev/null
 *
 * libc.so.6 is found as the dynamic linker finds it; a path works as well:
 * SEC("uprobe//usr/lib/x86_64-linux-gnu/libc.so.6:malloc").
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

const volatile __u64 min_size = 32768;

SEC("uprobe/libc.so.6:malloc")
int is_large(struct pt_regs *ctx)
{
	return PT_REGS_PARM1(ctx) >= min_size;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
