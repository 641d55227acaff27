/* SPDX-License-Identifier: BSD-2-Clause */
/* See bpf.h: a map of the processes that are left out. */
#ifndef PERF_BPF_OLD_FORM_PID_FILTER_H
#define PERF_BPF_OLD_FORM_PID_FILTER_H

#include <bpf.h>

#define pid_filter(name) pid_map(name, bool)

static inline int pid_filter__add(struct bpf_map *pids, pid_t pid)
{
	const bool yes = true;

	return (int)bpf_map_update_elem(pids, &pid, &yes, BPF_NOEXIST);
}

static inline bool pid_filter__has(struct bpf_map *pids, pid_t pid)
{
	return bpf_map_lookup_elem(pids, &pid) != NULL;
}

#endif
