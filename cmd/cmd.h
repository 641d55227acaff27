/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands. A command is a function in a file of its own, named in the
 * table in main.c. It reads its options with argp, calls the rooms below, and
 * returns the exit status: 0 it went well, 1 it failed, 2 the command line is
 * wrong. This is the only room that prints and exits.
 */
#ifndef PB_CMD_CMD_H
#define PB_CMD_CMD_H

#include "lib/base/error.h"
#include "lib/base/log.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary; /* one line for --help */
};

int cmd_features(int argc, char **argv);
int cmd_record(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_script(int argc, char **argv);

/*
 * Prints "perf-bpf: error: WHERE: MESSAGE" and "hint: HINT" to stderr, frees
 * err and returns 1: return cmd_fail(err).
 */
int cmd_fail(struct error *err);

/* Warnings always, info with verbose >= 1, debug with verbose >= 2; to stderr. */
struct log cmd_log(int verbose);

#endif
