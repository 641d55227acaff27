// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>
struct pbt_event {
	__u64 mask;
	char comm[12];
};
const struct pbt_event *pbt_event_type;
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} events SEC(".maps") PERF_BPF_SHOW("events,type=struct pbt_event");
SEC("tracepoint/syscalls/sys_enter_umask")
int on_umask(struct trace_event_raw_sys_enter *ctx)
{
	struct pbt_event e = {.mask = ctx->args[0]};
	if (!perf_bpf_wanted())
		return 0;
	bpf_get_current_comm(e.comm, sizeof(e.comm));
	bpf_perf_event_output(ctx, &events, BPF_F_CURRENT_CPU, &e, sizeof(e));
	return 0;
}
char LICENSE[] SEC("license") = "GPL";
