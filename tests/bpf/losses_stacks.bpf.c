// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
struct pbt_key {
	perf_bpf_pid pid;
	perf_bpf_ustack user;
	perf_bpf_kstack kernel;
};
struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 1);
	__uint(key_size, 4);
	__uint(value_size, 127 * 8);
} traces SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, struct pbt_key);
	__type(value, __u64);
} calls SEC(".maps") PERF_BPF_SHOW("stacks,stacks=traces,unit=calls");
__u64 lost;
ON_CALL
{
	struct pbt_key key = {.pid = bpf_get_current_pid_tgid() >> 32};
	__u64 zero = 0, *n;
	if (!perf_bpf_wanted())
		return 0;
	key.kernel = bpf_get_stackid(ctx, &traces, 0);
	key.user = bpf_get_stackid(ctx, &traces, BPF_F_USER_STACK);
	if (key.user == -17 || key.kernel == -17)
		__sync_fetch_and_add(&lost, 1);
	bpf_map_update_elem(&calls, &key, &zero, BPF_NOEXIST);
	n = bpf_map_lookup_elem(&calls, &key);
	if (n)
		__sync_fetch_and_add(n, 1);
	return 0;
}
