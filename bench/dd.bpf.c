// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The programs of bench_dd, one for each -DWAY_…: nothing, or a histogram of the sizes of writes.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

#ifdef COUNTS
PERF_BPF_LOG2(sizes, "bytes", "sizes of writes");
#define COUNT(size) perf_bpf_log2(&sizes, size)
#else
PERF_BPF_COUNT(none, "", ""); /* perf-bpf run wants something to show */
#define COUNT(size) (void)(size)
#endif
#define WRITE 1 /* x86-64's number of write(2) */

#ifdef WAY_TRACEPOINT
SEC("tracepoint/syscalls/sys_enter_write")
int bench_dd(struct trace_event_raw_sys_enter *ctx)
{
	COUNT(ctx->args[2]);
	return 1;
}
#endif

#ifdef WAY_RAW_TP
SEC("raw_tp/sys_enter")
int BPF_PROG(bench_dd, struct pt_regs *regs, long id)
{
	if (id == WRITE)
		COUNT(BPF_CORE_READ(regs, dx));
	return 0;
}
#endif

#ifdef WAY_TP_BTF
SEC("tp_btf/sys_enter")
int BPF_PROG(bench_dd, struct pt_regs *regs, long id)
{
	if (id == WRITE)
		COUNT(regs->dx);
	return 0;
}
#endif

#ifdef WAY_KPROBE
SEC("kprobe/ksys_write")
int BPF_KPROBE(bench_dd, unsigned int fd, const char *buf, __u64 size)
{
	COUNT(size);
	return 0;
}
#endif

#ifdef WAY_FENTRY
SEC("fentry/ksys_write")
int BPF_PROG(bench_dd, unsigned int fd, const char *buf, __u64 size)
{
	COUNT(size);
	return 0;
}
#endif

char LICENSE[] SEC("license") = "Dual BSD/GPL";
