// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Of the group perf-bpf run takes the third: the sizes of writes by a kprobe. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_LOG2(writes, "bytes", "sizes of writes");

SEC("?fentry/no_such_function")
PERF_BPF_ONE_OF("write")
int BPF_PROG(on_fentry, unsigned int fd, const char *buf, __u64 size)
{
	perf_bpf_log2(&writes, size);
	return 0;
}

SEC("?kprobe/no_such_function")
PERF_BPF_ONE_OF("write")
int BPF_KPROBE(on_no_kprobe, unsigned int fd, const char *buf, __u64 size)
{
	perf_bpf_log2(&writes, size);
	return 0;
}

SEC("?kprobe/ksys_write")
PERF_BPF_ONE_OF("write")
int BPF_KPROBE(on_kprobe, unsigned int fd, const char *buf, __u64 size)
{
	if (perf_bpf_wanted())
		perf_bpf_log2(&writes, size);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
