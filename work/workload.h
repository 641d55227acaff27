/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A command that is measured: forked first, so that its pid is known while
 * everything is made ready for it, and begun when all is.
 */
#ifndef PB_WORK_WORKLOAD_H
#define PB_WORK_WORKLOAD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lib/base/error.h"

/* The name of the child until its exec; as in perf, so that no sample of it is the recorder's. */
#define WORKLOAD_COMM "perf-exec"

struct workload {
	pid_t pid;   /* 0: none */
	int go_fd;   /* closing it unwritten ends the child, a byte starts it */
	int fail_fd; /* the errno of a failed exec; end of file: it runs */
	bool reaped; /* whoever waits for it says so here */
};

/* None yet: workload_end() may be called. */
#define WORKLOAD_INIT                                                                              \
	{                                                                                          \
		.go_fd = -1, .fail_fd = -1                                                         \
	}

/*
 * Forks; argv as for execvp(3). The child runs with this signal mask, and out is its standard
 * output.
 */
struct error *workload_prepare(struct workload *workload, char *const *argv, const sigset_t *mask,
			       int out);
/*
 * Begins it. ECHILD: exec failed; "Failed to DOING the 'NAME' workload: …", as
 * perf says: doing is "run", or "collect 'cycles' for".
 */
struct error *workload_start(struct workload *workload, const char *name, const char *doing);
/* Ends it by SIGTERM if it was not reaped, and waits for it. *status: see waitpid(2). */
void workload_end(struct workload *workload, int *status);
/* What a command ends with for a status of waitpid(2), as a shell has it: 128 + N for signal N. */
int workload_exit_status(int status);

#endif
