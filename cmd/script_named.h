/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Scripts by name, which perf has in PERF_EXEC_PATH/scripts/python: NAME.py, and in bin/ two shell
 * scripts: NAME-record calls perf record with the events that NAME.py needs, NAME-report calls
 * perf script -s NAME.py.
 */
#ifndef PB_CMD_SCRIPT_NAMED_H
#define PB_CMD_SCRIPT_NAMED_H

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

/*
 * The directory with perf's scripts, and the environment variable PERF_EXEC_PATH that the scripts
 * look at: as it is, or else where perf is installed.
 */
const char *script_exec_path(void);

/* FILE.py as it is if there is such a file, or else the path of perf's script of this name. */
struct error *script_find(const char *name, struct strbuf *path);

/* Adds what perf script -l prints: the scripts with their arguments and descriptions. */
struct error *script_list(struct strbuf *out);

/*
 * "record NAME ARGUMENT...", "report NAME ARGUMENT..." or "NAME ARGUMENT...", which is both with a
 * pipe between them. `perf` is perf-bpf in the shell scripts. input: of perf script in
 * NAME-report; NULL: its default. This process becomes a shell, so it returns only errors.
 */
struct error *script_named_run(char *const *args, const char *input);

#endif
