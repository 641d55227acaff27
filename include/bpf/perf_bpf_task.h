/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * For BPF programs: the ids of a task as a PID namespace has them. bpf_get_current_pid_tgid()
 * and the members pid and tgid of struct task_struct have those of the initial namespace, which
 * nobody knows in a container.
 *
 * bpf_get_ns_current_pid_tgid() finds only tasks whose own namespace it is. A task also has an id
 * in each namespace above its own: struct pid lists them, the initial one first.
 */
#ifndef PERF_BPF_TASK_H
#define PERF_BPF_TASK_H

#include "bpf_helpers.h"
#include "bpf_core_read.h"

#define PERF_BPF_PID_NS_DEPTH                                                                      \
	33 /* MAX_PID_NS_LEVEL of linux/pid_namespace.h, and the initial one */

struct pid_namespace___ids {
	struct {
		unsigned int inum;
	} ns;
};
struct upid___ids { /* the same since Linux 4.15 */
	int nr;
	struct pid_namespace___ids *ns;
};
struct pid___ids {
	unsigned int level;
	struct upid___ids numbers[1]; /* level + 1 */
};
struct task_struct___ids {
	struct task_struct___ids *group_leader;
	struct pid___ids *thread_pid;
};

static __always_inline __attribute__((unused)) __u32
___perf_bpf_id_in_ns(const struct task_struct___ids *task, __u32 pid_ns)
{
	const struct pid___ids *pid = BPF_CORE_READ(task, thread_pid);
	const __u32 level = BPF_CORE_READ(pid, level);
	const char *at = (const char *)pid + bpf_core_field_offset(struct pid___ids, numbers);

	for (__u32 i = 0; i < PERF_BPF_PID_NS_DEPTH && i <= level;
	     i++, at += sizeof(struct upid___ids)) {
		struct upid___ids id = {};

		bpf_probe_read_kernel(&id, sizeof(id), at);
		if (BPF_CORE_READ(id.ns, ns.inum) == pid_ns)
			return id.nr;
		barrier_var(i);
	}
	return 0;
}

/*
 * The ids of a task (a struct task_struct *), process << 32 | thread, in the PID namespace whose
 * inode number (of /proc/self/ns/pid) is pid_ns. 0: the task is not in it.
 */
static __always_inline __attribute__((unused)) __u64 perf_bpf_ids_in_ns(const void *task,
									__u32 pid_ns)
{
	const struct task_struct___ids *thread = task;
	const __u64 process = ___perf_bpf_id_in_ns(BPF_CORE_READ(thread, group_leader), pid_ns);

	return process << 32 | ___perf_bpf_id_in_ns(thread, pid_ns);
}

#endif
