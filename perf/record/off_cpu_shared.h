/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What off_cpu.bpf.c and off_cpu.c have in common. Included by BPF programs: no includes but
 * <linux/types.h>.
 */
#ifndef PB_PERF_RECORD_OFF_CPU_SHARED_H
#define PB_PERF_RECORD_OFF_CPU_SHARED_H

#include <linux/types.h>

enum {
	OFF_CPU_SUMS = 102400,
	OFF_CPU_STACKS = 16384,
	OFF_CPU_WAITS = 65536, /* tasks that are off CPU at the same time */
	OFF_CPU_WANTED = 65536,
	OFF_CPU_CPUS = 4096,
};

enum off_cpu_filter {
	OFF_CPU_ALL,
	OFF_CPU_PROCESSES,
	OFF_CPU_THREADS,
	OFF_CPU_CGROUPS, /* and their descendants */
};

/* Constant once the program is loaded. */
struct off_cpu_config {
	__u64 threshold_ns;
	__u32 filter;	  /* enum off_cpu_filter: the keys of the map "wanted" */
	__u8 follow;	  /* new children and threads of those in "wanted" are added */
	__u8 with_cgroup; /* sums have the cgroup of the task */
	__u8 has_state;	  /* the tracepoint has the state of the task: since Linux 5.18 */
	__u8 of_cpus;	  /* only tasks that leave one of these CPUs */
	__u64 cpus[OFF_CPU_CPUS / 64];
};

/* Which waits are one sum. */
struct off_cpu_key {
	__u32 tgid, tid;
	__u64 stack; /* in off_cpu_stacks or off_cpu_short; PERF_BPF_STACK_NONE or _LOST */
	__u64 cgroup;
};

/* A wait of at least threshold_ns, as the raw data of a sample. */
struct off_cpu_wait {
	struct off_cpu_key key;
	__u64 ns;
};

struct off_cpu_live {
	__u64 enabled; /* 0: no; else a number that is another one each time */
	/* what found no room in a map */
	__u64 lost_waits, lost_sums, lost_stacks, lost_children;
	__u64 unseen_returns; /* waits whose end was not seen */
};

#endif
