/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output files that are written one after the other, by a process that may not create files any
 * more: PATH is the one that is written; a complete one is PATH.DATE. Another process, forked
 * before privileges are dropped, creates and renames them (work/writer_process.h). Who takes over
 * the first process gets no more than files of these names.
 *
 *	TRY(file_series_new(&opts, &series));
 *	… open PATH, drop privileges …
 *	TRY(file_series_open(series, &fd));	// the next file, under a hidden name
 *	… write both, and complete the first one …
 *	TRY(file_series_next(series, date));	// PATH is PATH.DATE now, and the next one is PATH
 *	file_series_free(series);		// removes a file that did not become PATH
 */
#ifndef PB_WORK_FILE_SERIES_H
#define PB_WORK_FILE_SERIES_H

#include "lib/base/clock.h"
#include "lib/base/error.h"

struct file_series;

struct file_series_opts {
	const char *path;   /* a regular file, which need not exist; borrowed by the call */
	unsigned max_files; /* remove the oldest of the series beyond so many PATH.DATE; 0: none */
	struct error *(*confine)(void *ctx); /* in the other process, before the first request */
	void *confine_ctx;
};

/* Errors: of output_find(); EINVAL: PATH is a device or a FIFO. */
struct error *file_series_new(const struct file_series_opts *opts, struct file_series **out);
/* Ends the other process. */
void file_series_free(struct file_series *series);
DEFINE_FREEP(struct file_series, file_series_free)

/* Creates the next file; *fd is the caller's, for reading and writing. */
struct error *file_series_open(struct file_series *series, int *fd);
/* No file that exists is replaced, but what is PATH is replaced by the next one. */
struct error *file_series_next(struct file_series *series, char date[CLOCK_DATE_SIZE]);

#endif
