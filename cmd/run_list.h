/* SPDX-License-Identifier: BSD-2-Clause */
/* perf-bpf run --list and --source: what is built in. Exit statuses. */
#ifndef PB_CMD_RUN_LIST_H
#define PB_CMD_RUN_LIST_H

#include <stdbool.h>

/* json: a line of JSON for each program. */
int run_list(bool json);
int run_source(const char *name);

#endif
