// SPDX-License-Identifier: BSD-2-Clause
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>
PERF_BPF_COUNT(runs, "runs", "of pbt_watched");
SEC("tracepoint/syscalls/sys_enter_getpriority") int pbt_watched(void *ctx)
{
	perf_bpf_count(&runs, 1);
	if (perf_bpf_wanted())
		bpf_printk("pbt_prog %d", 4711);
	return 0;
}
char LICENSE[] SEC("license") = "GPL";
