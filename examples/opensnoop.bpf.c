// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Who opens which files, and what comes of it.
 *
 *	perf bpf run opensnoop --comm cat -- cat /etc/hostname
 *	perf bpf run opensnoop --set only_failed=true -- make
 *
 * Needs: tracepoints of system calls.
 *
 * A path is read when the call ends: it lies in memory by then, while at the
 * start its page may have to be fetched first.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

const volatile bool only_failed = false;

struct opensnoop_open {
	perf_bpf_time time;
	perf_bpf_pid pid;
	char comm[16];
	int fd;
	perf_bpf_errno error;
	char path[256];
};

PERF_BPF_EVENTS(opens, struct opensnoop_open, 1024 * 1024, "files opened");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);   /* process and thread */
	__type(value, __u64); /* the path's address */
} begun SEC(".maps") PERF_BPF_SHOW("none");

static __always_inline int note_path(__u64 path)
{
	__u64 thread = bpf_get_current_pid_tgid();

	if (perf_bpf_wanted())
		perf_bpf_put(&begun, &thread, &path);
	return 0;
}

static __always_inline int report(long result)
{
	__u64 thread = bpf_get_current_pid_tgid();
	__u64 *path = bpf_map_lookup_elem(&begun, &thread);

	if (!path)
		return 0;
	const char *at = (const char *)*path;
	bpf_map_delete_elem(&begun, &thread);
	if (only_failed && result >= 0)
		return 0;
	struct opensnoop_open *e = perf_bpf_event_reserve(&opens, struct opensnoop_open);
	if (!e)
		return 0;
	e->time = bpf_ktime_get_ns();
	e->pid = thread >> 32;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	e->fd = result < 0 ? -1 : result;
	e->error = result < 0 ? result : 0;
	if (bpf_probe_read_user_str(e->path, sizeof(e->path), at) < 0)
		e->path[0] = 0;
	perf_bpf_event_submit(e);
	return 0;
}

SEC("tracepoint/syscalls/sys_enter_openat")
int opensnoop_openat(struct trace_event_raw_sys_enter *ctx)
{
	return note_path(ctx->args[1]);
}

SEC("tracepoint/syscalls/sys_exit_openat")
int opensnoop_openat_done(struct trace_event_raw_sys_exit *ctx)
{
	return report(ctx->ret);
}

/* Not all architectures have it. */
SEC("?tracepoint/syscalls/sys_enter_open")
int opensnoop_open(struct trace_event_raw_sys_enter *ctx)
{
	return note_path(ctx->args[0]);
}

SEC("?tracepoint/syscalls/sys_exit_open")
int opensnoop_open_done(struct trace_event_raw_sys_exit *ctx)
{
	return report(ctx->ret);
}

SEC("?tracepoint/syscalls/sys_enter_openat2")
int opensnoop_openat2(struct trace_event_raw_sys_enter *ctx)
{
	return note_path(ctx->args[1]);
}

SEC("?tracepoint/syscalls/sys_exit_openat2")
int opensnoop_openat2_done(struct trace_event_raw_sys_exit *ctx)
{
	return report(ctx->ret);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
