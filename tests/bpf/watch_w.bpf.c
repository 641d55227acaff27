// SPDX-License-Identifier: BSD-2-Clause
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, int);
	__type(value, long);
} pbtw_counts SEC(".maps");
SEC("tp_btf/task_rename") int pbtw_a_long_name_of_a_program(void *ctx)
{
	int zero = 0;
	return !bpf_map_lookup_elem(&pbtw_counts, &zero);
}
char LICENSE[] SEC("license") = "GPL";
