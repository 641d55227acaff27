/* SPDX-License-Identifier: BSD-2-Clause */
/* script -s: a Python script that is run on a recording. */
#ifndef PB_CMD_SCRIPT_PYTHON_H
#define PB_CMD_SCRIPT_PYTHON_H

#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

/*
 * "FILE.py" or "python:FILE.py" as given to -s; *path is in text. An error of usage for another
 * language.
 */
struct error *script_python_path(const char *text, const char **path);

/*
 * Makes a process that reads the recording: this returns in it, and standard output leads to the
 * script. The process that called becomes python3, so that the script has the terminal, the signals
 * and the rights of the user, and the reader can give up its own. Its exit status is that of the
 * script, or 1 if script_python_end() was not called. An error is returned only in the process that
 * called, and ends the reader when the process ends. args: of the script, ended by NULL.
 *
 * path NULL: in place of a script that is run, perf-script.py is written.
 *
 * reads_input: standard input is the recording, which the script must not read.
 */
struct error *script_python_start(const char *path, char *const *args, bool reads_input);

/* Adds the first line for the script: the names of this machine's system calls. */
void script_python_head(struct strbuf *out);
/* In the reader, when the recording has been read whole. */
void script_python_end(void);

#endif
