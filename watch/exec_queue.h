/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs a shell command for each event, one at a time and in the order of the events, while the loop
 * goes on. What the event is about is in the command's environment: PERF_BPF_EVENT (load or
 * unload), PERF_BPF_ID, _TAG, _NAME, _TYPE, _UID, _PID and _COMM. A name may contain anything; the
 * shell does not interpret what is in a variable.
 */
#ifndef PB_WATCH_EXEC_QUEUE_H
#define PB_WATCH_EXEC_QUEUE_H

#include <stdint.h>

#include "lib/base/error.h"
#include "watch/program_watch.h"

struct exec_queue;
struct loop;

/* The command and the loop are borrowed. */
struct error *exec_queue_new(const char *command, struct loop *loop, struct exec_queue **out);
/* The command that runs goes on; those that wait are not run. */
void exec_queue_free(struct exec_queue *queue);
DEFINE_FREEP(struct exec_queue, exec_queue_free)

struct error *exec_queue_add(struct exec_queue *queue, const struct program_event *event);
/* Runs what waits, and returns when the last command has ended. */
struct error *exec_queue_finish(struct exec_queue *queue);

/* Events that no command was run for, since too many waited. */
uint64_t exec_queue_dropped(const struct exec_queue *queue);
/* Commands that wait. */
uint64_t exec_queue_waiting(const struct exec_queue *queue);

#endif
