// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>
struct large {
	char bytes[65536];
};
PERF_BPF_TABLE(large, __u64, struct large, 1 << 30, "", "");
SEC("raw_tp/sched_process_exec") int look(void *ctx)
{
	__u64 zero = 0;

	return bpf_map_lookup_elem(&large, &zero) == (void *)0;
}
char LICENSE[] SEC("license") = "GPL";
