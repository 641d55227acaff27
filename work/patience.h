/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Signals that a loop reads (work/loop.h) are blocked, so they do nothing while the loop is busy:
 * with symbols of a hostile file, or waiting for a disk, a FIFO or another process. A process that
 * loses nothing by it is ended by such a signal that has come and was not read for 0.6 seconds. The
 * time that it waited for a CPU does not count: on a busy machine it would have read the signal
 * soon.
 *
 * A timer looks for such signals, in a handler; it runs only while the loop does not wait.
 */
#ifndef PB_WORK_PATIENCE_H
#define PB_WORK_PATIENCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* Begins in the thread that reads the signals, without the timer. One at a time. */
struct error *patience_begin(void);
void patience_end(void);

/* The process that is ended, too, by SIGTERM; 0: none. */
void patience_set_workload(pid_t pid);
/* Starts and stops the timer. */
void patience_watch(bool on);

/* Whether SIGINT, SIGTERM or SIGHUP has come and was not read yet. */
int signal_waits(void);

#endif
