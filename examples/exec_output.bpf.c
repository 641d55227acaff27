// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Writes a record of its own for every program that is started:
 *
 *	perf-bpf record -e examples/exec_output.bpf.c -a -- sh -c 'ls / >/dev/null'
 *
 * A raw tracepoint's program filters nothing; it runs beside the recording.
 * What it sends through a map of type PERF_EVENT_ARRAY lands in the file as an
 * event of the map's name, __bpf_stdout__ in perf's tradition.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__type(key, int);
	__type(value, __u32);
} __bpf_stdout__ SEC(".maps");

struct started {
	__u32 pid;
	__u32 parent;
	char file[120];
};

/* TP_PROTO(struct task_struct *p, pid_t old_pid, struct linux_binprm *bprm) */
SEC("raw_tp/sched_process_exec")
int note_exec(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	struct linux_binprm *bprm = (void *)ctx->args[2];
	struct started s = {};

	s.pid = BPF_CORE_READ(task, tgid);
	s.parent = BPF_CORE_READ(task, real_parent, tgid);
	bpf_probe_read_kernel_str(s.file, sizeof(s.file), BPF_CORE_READ(bprm, filename));
	bpf_perf_event_output(ctx, &__bpf_stdout__, BPF_F_CURRENT_CPU, &s, sizeof(s));
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
