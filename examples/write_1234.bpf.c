// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps the writes of exactly 1234 bytes:
 *
 *	perf-bpf record -e examples/write_1234.bpf.c -- dd if=/dev/zero of=/dev/null bs=1234 count=5
 *
 * What perf's own --filter 'count == 1234' can say too; a BPF program says it
 * in fewer instructions, and can say much more.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

const volatile __u64 wanted = 1234;

SEC("tracepoint/syscalls/sys_enter_write")
int is_wanted(struct trace_event_raw_sys_enter *ctx)
{
	return ctx->args[2] == wanted; /* write(fd, buffer, count) */
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
