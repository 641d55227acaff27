// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>
struct pbt_event {
	__u64 mask;
	char bytes[100];
};
const struct pbt_event *pbt_event_type;
char LICENSE[] SEC("license") = "GPL";
#define ON_CALL                                                                                    \
	SEC("tracepoint/syscalls/sys_enter_umask")                                                 \
	int on_umask(struct trace_event_raw_sys_enter *ctx)
#define RING(name)                                                                                 \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_RINGBUF);                                                \
		__uint(max_entries, 4096);                                                         \
	} name SEC(".maps") PERF_BPF_SHOW("events,type=struct pbt_event")
