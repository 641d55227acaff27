/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Settings of an object between open and load: global variables by name (--set), the sizes of maps
 * (--map-entries), and perf_bpf_filter, which says whom a program looks at.
 */
#ifndef PB_RUN_VARIABLES_H
#define PB_RUN_VARIABLES_H

#include <bpf/libbpf.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "work/cgroup_choice.h"

/*
 * Sets what text says in an object that is not loaded. ENOENT, with near names: the object has no
 * such variable or map (*found false when found is not NULL: then that is not an error).
 */
typedef struct error *setting_fn(struct bpf_object *obj, const char *text, bool *found);
/* "NAME=VALUE", see object_set_variable(). */
setting_fn variable_set;
/* "NAME=N": how many entries a map has room for; of a ring N is bytes. */
setting_fn entries_set;

/* Whom to look at: lists "1,2,3"; NULL: everyone. uids are also names. */
struct run_filter {
	const char *pids, *tids, *uids, *comms;
	struct cgroup_choice cgroups;
};

bool run_filter_any(const struct run_filter *filter);

/* -p names this one process only; false: none, several, or something else. */
bool run_filter_one_pid(const struct run_filter *filter, pid_t *pid);

/*
 * Tells the object, and that perf-bpf's own process is excluded. *honoured: it has a
 * perf_bpf_filter. EINVAL: a list is wrong; E2BIG: it has more than 16 elements.
 */
struct error *run_filter_apply(struct bpf_object *obj, const struct run_filter *filter,
			       bool *honoured);

#endif
