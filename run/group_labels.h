/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Columns that say where a process or cgroup belongs: its cgroup, and the systemd unit, container
 * and pod that the cgroup's path shows (lib/sys/cgroup_names.h).
 */
#ifndef PB_RUN_GROUP_LABELS_H
#define PB_RUN_GROUP_LABELS_H

#include "lib/base/error.h"
#include "run/value_names.h"
#include "show/result.h"

enum group_label {
	GROUP_CGROUP,
	GROUP_UNIT,
	GROUP_CONTAINER,
	GROUP_POD,
	GROUP_LABELS,
};

/* None twice. */
struct group_labels {
	enum group_label v[GROUP_LABELS];
	size_t n;
};

/* "container,pod". ENOENT, with near names: one is unknown. */
struct error *group_labels_parse(const char *list, struct group_labels *labels);

/*
 * Adds the columns to tables and events that have a process or a cgroup, behind it, and the texts
 * to histograms and stacks that are of one. Of several, a cgroup in the key counts, then the first
 * process: what a program has counted by cgroup is known also if the process has ended. Cells of
 * what is not known are CELL_EMPTY.
 */
struct error *group_labels_add(const struct group_labels *labels, struct run_names *names,
			       struct results *results);

/* Adds ", container 4bf1…" of what is known to a text; path: a cgroup's, or NULL. */
void group_labels_add_text(const struct group_labels *labels, const char *path, struct strbuf *out);

#endif
