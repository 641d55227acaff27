/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of --html and --pprof for a command that gives up the right to open files for writing
 * (work/writer_process.h). What is written in place (a pipe, a terminal) is opened at once.
 */
#ifndef PB_CMD_EXPORT_PROCESS_H
#define PB_CMD_EXPORT_PROCESS_H

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"

enum export_file {
	EXPORT_HTML,
	EXPORT_PPROF,
	EXPORT_FILES,
};

struct export_process;

/* paths: of each enum export_file; NULL among them: none. They are borrowed. */
struct error *export_process_new(const char *const paths[EXPORT_FILES], const struct log *log,
				 struct export_process **out);
void export_process_free(struct export_process *process);
DEFINE_FREEP(struct export_process, export_process_free)

/* As cmd_write_file() of a private file. */
struct error *export_process_write(struct export_process *process, enum export_file which,
				   const struct strbuf *text);

#endif
