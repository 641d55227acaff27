/* SPDX-License-Identifier: BSD-2-Clause */
/* The threads of a recording as a tree, as perf report --tasks and --mmaps print them. */
#ifndef PB_PERF_PRINT_TASKS_H
#define PB_PERF_PRINT_TASKS_H

#include "lib/base/strbuf.h"
#include "perf/session/session.h"

/*
 * Each thread below the one that started it, then by tid: its process, thread and parent, and the
 * last name that it had. A thread whose parent is not known begins at the left. maps: below the
 * threads what was mapped last in their process. Complete after session_process().
 */
struct error *print_tasks(struct session *session, bool maps, struct strbuf *out);

#endif
