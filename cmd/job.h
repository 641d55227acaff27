/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The job of a shell that we are a part of when perf runs us. The shell waits for perf, and perf
 * dies of Ctrl-C at once, while we still have a file to complete or results to print.
 */
#ifndef PB_CMD_JOB_H
#define PB_CMD_JOB_H

/*
 * Called by commands that go on until Ctrl-C, before they begin. When perf runs us: SIGTERM comes
 * when perf ends, and if there is a terminal it sends Ctrl-C and Ctrl-Z to us and to what we start,
 * not to perf. Without perf nothing happens. The terminal is given back at the exit.
 */
void job_begin(void);

/* Stops the job, as Ctrl-Z does; returns when it continues. For those who block SIGTSTP. */
void job_stop(void);

/*
 * The exit status after the death by a signal. When perf runs us we cannot die of it, since perf
 * would say that it cannot run perf-bpf; Ctrl-C is passed on to perf and whatever else is in its
 * process group. Otherwise we die of it here.
 */
int job_die(int sig);

#endif
