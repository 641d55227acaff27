// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs that are started, by which process, with arguments.
 *
 *	perf-bpf run execsnoop -- make
 *
 * Needs: tracepoints of the scheduler.
 *
 * It is told when the new program is in place: what could not be started is
 * not seen. --comms and its like ask for the new program, not for its parent.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

#define ARGUMENTS 256

struct execsnoop_exec {
	perf_bpf_time time;
	perf_bpf_pid pid;
	char comm[16];
	perf_bpf_pid parent;
	char parent_comm[16];
	perf_bpf_uid uid;
	union {
		char arguments[ARGUMENTS];
		__u64 words[ARGUMENTS / 8];
	};
};

PERF_BPF_EVENTS(execs, struct execsnoop_exec, 1024 * 1024, "programs started");

/* TP_PROTO(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm) */
SEC("raw_tp/sched_process_exec")
int BPF_PROG(execsnoop_exec, struct task_struct *task)
{
	if (!perf_bpf_wanted())
		return 0;
	struct execsnoop_exec *e = perf_bpf_event_reserve(&execs, struct execsnoop_exec);
	if (!e)
		return 0;
	e->time = bpf_ktime_get_ns();
	e->pid = perf_bpf_task_pid_tgid(task) >> 32;
	e->parent = perf_bpf_task_pid_tgid(BPF_CORE_READ(task, real_parent)) >> 32;
	BPF_CORE_READ_STR_INTO(&e->parent_comm, task, real_parent, comm);
	e->uid = bpf_get_current_uid_gid();
	bpf_get_current_comm(e->comm, sizeof(e->comm));

	/* They lie one behind the other on the new stack, each with its NUL. */
	__u64 start = BPF_CORE_READ(task, mm, arg_start), end = BPF_CORE_READ(task, mm, arg_end);
	__u64 size = end - start;
	if (size > ARGUMENTS)
		size = ARGUMENTS;
	__builtin_memset(e->words, 0, sizeof(e->words));
	bpf_probe_read_user(e->words, size, (void *)start);
	/* each byte that is 0 becomes a blank, eight at a time: no branch for the verifier */
	for (int i = 0; i < ARGUMENTS / 8; i++) {
		__u64 word = e->words[i], low = 0x7f7f7f7f7f7f7f7f;

		e->words[i] |= ~(((word & low) + low) | word | low) >> 2;
	}
	e->arguments[(size - 1) % ARGUMENTS] = 0;
	perf_bpf_event_submit(e);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
