// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What tests/vm/guest/run-prog watches; -DMISSED: a probe that is hit within a probe. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_COUNT(calls, "calls", "of the program");

#ifdef MISSED

SEC("kprobe/vfs_read")
int missed_outer(void *ctx)
{
	char comm[16];

	bpf_get_current_comm(comm, sizeof(comm));
	perf_bpf_count(&calls, 1);
	return 0;
}

SEC("kprobe/bpf_get_current_comm")
int missed_inner(void *ctx)
{
	return 0;
}

#else

static __attribute__((noinline)) int step(int *a)
{
	return *a + 1;
}

SEC("raw_tp/sys_enter")
int watched(void *ctx)
{
	int n = 1;

	perf_bpf_count(&calls, 1);
	return step(&n) == 9;
}

#endif

char LICENSE[] SEC("license") = "GPL";
