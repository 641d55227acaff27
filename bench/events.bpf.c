// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* For bench_events: each umask(2) of a process named events_work sends BATCH events. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

#define BATCH 100

struct bench_event {
	perf_bpf_pid pid;
	__u32 mask;
	__u64 number;
	perf_bpf_ns ns;
	char comm[16];
};

PERF_BPF_EVENTS(events, struct bench_event, 16 * 1024 * 1024, "events");

__u64 number;

SEC("tracepoint/syscalls/sys_enter_umask")
int on_umask(struct trace_event_raw_sys_enter *ctx)
{
	struct bench_event *e;

	if (!perf_bpf_wanted())
		return 0;
	for (int i = 0; i < BATCH; i++) {
		e = perf_bpf_event_reserve(&events, struct bench_event);
		if (!e)
			continue;
		e->pid = bpf_get_current_pid_tgid() >> 32;
		e->mask = ctx->args[0];
		e->number = __sync_fetch_and_add(&number, 1);
		e->ns = i;
		bpf_get_current_comm(e->comm, sizeof(e->comm));
		perf_bpf_event_submit(e);
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
