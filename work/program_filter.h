/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whom programs that call perf_bpf_wanted() look at, set between open and load: perf_bpf_filter and
 * perf_bpf_pid_ns of <bpf/perf_bpf_prog.h>.
 */
#ifndef PB_WORK_PROGRAM_FILTER_H
#define PB_WORK_PROGRAM_FILTER_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "work/cgroup_choice.h"

/* A user without privileges, by the process that asks for a program; see perf_bpf_is_own(). */
struct program_owner {
	uint32_t uid, gid;
};

/* Whom to look at: lists "1,2,3"; NULL: everyone. uids are also names. */
struct program_filter {
	const char *pids, *tids, *uids, *comms;
	pid_t self; /* who reads what the programs count, and is not counted; 0: this process */
	struct cgroup_choice cgroups;
	const struct program_owner *owner; /* only processes that it could trace; NULL: all */
};

bool program_filter_any(const struct program_filter *filter);

/* -p names this one process only; false: none, several, or something else. */
bool program_filter_one_pid(const struct program_filter *filter, pid_t *pid);

/*
 * Tells the object, and whose own process is excluded. *honoured: it has a
 * perf_bpf_filter; if it has none, the lists are not read. EINVAL: a list is wrong; E2BIG: it has
 * more than 16 elements; ENOTSUP: there is an owner, and the object was compiled before that was
 * checked.
 */
struct error *program_filter_apply(struct bpf_object *obj, const struct program_filter *filter,
				   bool *honoured);

#endif
