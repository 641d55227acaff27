// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program: finds the command in the table and runs it. perf finds it by
 * its name, perf-bpf, on PATH: "perf bpf record …" runs "perf-bpf record …".
 */
#include "cmd/cmd.h"

#include <argp.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/base/names.h"

extern char **environ;

static int cmd_help(int argc, char **argv);

static const struct command commands[] = {
	{"record", cmd_record, "Record events, filtered by BPF programs"},
