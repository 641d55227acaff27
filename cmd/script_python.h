/* SPDX-License-Identifier: BSD-2-Clause */
/* script -s: a Python script that is run on a recording. */
#ifndef PB_CMD_SCRIPT_PYTHON_H
#define PB_CMD_SCRIPT_PYTHON_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

/*
 * "FILE.py" or "python:FILE.py" as given to -s; *path is in text. An error of usage for another
 * language.
 */
struct error *script_python_path(const char *text, const char **path);
/* The same for -g: "python" or "FILE.py". */
struct error *script_python_written(const char *text, const char **path);

/*
 * What the script asks for of the code of samples, as fields of script_opts.python_fields: names
 * that its file has, such as perf_sample_insn. Call it before script_python_start().
 */
struct error *script_python_fields(const char *path, uint64_t *fields);

struct python_script {
	const char *path;
	bool is_written;     /* a script to begin with, in place of one that is run */
	char *const *args;   /* of the script, ended by NULL */
	bool input_is_taken; /* standard input is the recording, which the script must not read */
};

/*
 * Makes a process that reads the recording: this returns in it, and standard output leads to the
 * script. The process that called becomes python3, so that the script has the terminal, the signals
 * and the rights of the user, and the reader can give up its own. Its exit status is that of the
 * script, or 1 if script_python_end() was not called. An error is returned only in the process that
 * called, and ends the reader when the process ends.
 */
struct error *script_python_start(const struct python_script *script);

/* Adds the first line for the script: the names of this machine's system calls. */
void script_python_head(struct strbuf *out);
/* In the reader, when the recording has been read whole. */
void script_python_end(void);

#endif
