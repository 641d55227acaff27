/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Binaries and their debug information are read by a process of its own, which has given up what
 * that does not need: whoever wrote them may take over libdw, but not who loads and attaches
 * programs. The process is a child that lives as long as its finder, so that what it read serves
 * the next question. A question is the text of a definition; the answer is what was logged, and
 * then an error or points. Both are files in memory, so that no side waits for the other to read.
 */
#ifndef PB_PROBE_POINT_FINDER_PROCESS_H
#define PB_PROBE_POINT_FINDER_PROCESS_H

#include "probe/point/point.h"

struct finder_process;

/*
 * As probe_points_find(), in the process of the finder, which is started if there is none. Further
 * errors: EPROTO: the process ended; EINTR: a signal to the whole group ended it.
 */
struct error *finder_process_find(struct probe_finder *finder, const struct probe_def *def,
				  struct probe_points *points);
/* Ends it at once. NULL: nothing is done. */
void finder_process_free(struct finder_process *process);

#endif
