// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Files that are opened, by which process, with the result.
 *
 *	perf-bpf run opensnoop --comms cat -- cat /etc/hostname
 *	perf-bpf run opensnoop --set only_failed=true -- make
 *
 * Needs: tracepoints of system calls.
 *
 * A path is read when the call ends: it lies in memory by then, while at the
 * start its page may have to be fetched first.
 *
 * The tracepoints of open(2), creat(2), openat(2) and openat2(2) do not fire for
 * 32-bit calls on x86. Those of all system calls do; they cost every call a little,
 * so they look at its number first.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

#define PATH_SIZE 4096 /* of linux/limits.h: a longer path cannot be opened */

const volatile bool only_failed = false;

struct opensnoop_open {
	perf_bpf_time time;
	perf_bpf_pid pid;
	char comm[16];
	int fd;
	perf_bpf_errno error;
	char path[PATH_SIZE]; /* an event ends with its path */
};

PERF_BPF_EVENTS(opens, struct opensnoop_open, 1024 * 1024, "files opened");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);   /* process and thread */
	__type(value, __u64); /* the path's address */
} begun SEC(".maps") PERF_BPF_SHOW("none");

/* An event is put together here: it is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct opensnoop_open);
} scratch SEC(".maps") PERF_BPF_SHOW("none");

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
	__u32 zero = 0;

	if (!path)
		return 0;
	const char *at = (const char *)*path;
	bpf_map_delete_elem(&begun, &thread);
	if (only_failed && result >= 0)
		return 0;
	struct opensnoop_open *e = bpf_map_lookup_elem(&scratch, &zero);
	if (!e)
		return 0;
	e->time = bpf_ktime_get_ns();
	e->pid = perf_bpf_pid_tgid() >> 32;
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	e->fd = result < 0 ? -1 : result;
	e->error = result < 0 ? result : 0;
	long size = bpf_probe_read_user_str(e->path, sizeof(e->path), at);
	if (size <= 0) {
		e->path[0] = 0;
		size = 1;
	}
	/* too long (ENAMETOOLONG), if its last byte is not where the buffer ends */
	char last = 0;
	if (size == PATH_SIZE)
		bpf_probe_read_user(&last, sizeof(last), at + PATH_SIZE - 1);
	if (last)
		__builtin_memcpy(e->path + PATH_SIZE - 4, "...", 4);
	perf_bpf_event_output(&opens, e,
			      __builtin_offsetof(struct opensnoop_open, path) +
				      (((size - 1) & (PATH_SIZE - 1)) + 1));
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

SEC("?tracepoint/syscalls/sys_enter_creat")
int opensnoop_creat(struct trace_event_raw_sys_enter *ctx)
{
	return note_path(ctx->args[0]);
}

SEC("?tracepoint/syscalls/sys_exit_creat")
int opensnoop_creat_done(struct trace_event_raw_sys_exit *ctx)
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

#ifdef __TARGET_ARCH_x86
/* arch/x86/entry/syscalls/syscall_32.tbl */
enum {
	OPEN_32 = 5,
	CREAT_32 = 8,
	OPENAT_32 = 295,
	OPENAT2_32 = 437,
};

SEC("tracepoint/raw_syscalls/sys_enter")
int opensnoop_32(struct trace_event_raw_sys_enter *ctx)
{
	/* a field of the context is read at a fixed place: no ?: in the index */
	if (ctx->id == OPEN_32 || ctx->id == CREAT_32)
		return perf_bpf_syscall_is_32() ? note_path((__u32)ctx->args[0]) : 0;
	if (ctx->id == OPENAT_32 || ctx->id == OPENAT2_32)
		return perf_bpf_syscall_is_32() ? note_path((__u32)ctx->args[1]) : 0;
	return 0;
}

SEC("tracepoint/raw_syscalls/sys_exit")
int opensnoop_32_done(struct trace_event_raw_sys_exit *ctx)
{
	if (ctx->id != OPEN_32 && ctx->id != CREAT_32 && ctx->id != OPENAT_32 &&
	    ctx->id != OPENAT2_32)
		return 0;
	return perf_bpf_syscall_is_32() ? report(ctx->ret) : 0;
}
#endif

char LICENSE[] SEC("license") = "Dual BSD/GPL";
