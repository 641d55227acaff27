/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a perf.data file, or the pipe form of it to stdout.
 *
 *	struct data_writer *w;
 *	TRY(data_writer_open("perf.data", &opts, &w));
 *	TRY(data_writer_add_event(w, &attr, "syscalls:sys_enter_write", ids, n));
 *	TRY(data_writer_feature(w, DATA_TRACING_DATA, bytes, size));
 *	TRY(data_writer_start(w));
 *	TRY(data_writer_write(w, ring, 2));	// for every ring
 *	TRY(data_writer_round(w));
 *	…
 *	TRY(data_writer_feature(w, DATA_BUILD_ID, bytes, size));
 *	TRY(data_writer_finish(w));
 *	data_writer_free(w);
 *
 * From start on, the file is readable up to the last round (or data_writer_save()), by us and by
 * perf, whatever ends the process: see the essay in writer.c. So features
 * that are known at start (TRACING_DATA, EVENT_DESC, HOSTNAME, …) are best
 * given before it; those given later stand in the file after finish only.
 *
 * Once a write failed (ENOSPC, EPIPE), that error was returned, and every
 * later call but finish and free returns a copy of it without writing;
 * finish then leaves the file readable up to the last round.
 */
#ifndef PB_PERF_DATA_WRITER_H
#define PB_PERF_DATA_WRITER_H

#include <stdbool.h>
#include <sys/uio.h>

#include "lib/base/log.h"
#include "perf/data/data.h"

struct data_writer;

struct data_writer_opts {
	size_t sz;	   /* sizeof(struct data_writer_opts) */
	uint64_t max_size; /* data_writer_is_full() from this many bytes on; 0: no limit */
	int zstd_level;	   /* 1 … 22: compress records; 0: do not */
	bool compressed2;  /* COMPRESSED2 records, for perf 6.16 and newer, not COMPRESSED */
	bool is_part;	   /* records only: a file data.N of a directory, see DATA_DIR_FORMAT */
	uint32_t mmap_len; /* bytes of a ring, for the COMPRESSED feature; 0: 512 KiB */
};

/*
 * Opens the output: "-" is stdout in the pipe form. An existing regular file
 * that is not empty is renamed to PATH.old first, as perf does; a FIFO or a
 * character device gets the pipe form.
 */
struct error *data_writer_open(const char *path, const struct data_writer_opts *opts,
			       struct data_writer **out);
/* The same with an open file, which is empty; path is for messages. *fd is taken, and is -1 then.
 */
struct error *data_writer_open_fd(const char *path, int *fd, const struct data_writer_opts *opts,
				  struct data_writer **out);

/* Before start, in the order of the events; everything is copied. */
struct error *data_writer_add_event(struct data_writer *w, const struct perf_event_attr *attr,
				    const char *name, const uint64_t *ids, size_t n_ids);

/*
 * Sets a feature, replacing an earlier one; bytes are as the builders in
 * features.h make them, and are copied. Before start or after it, until
 * finish. In the pipe form, one given after start is written at once.
 */
struct error *data_writer_feature(struct data_writer *w, enum data_feature feature,
				  const void *bytes, size_t size);

/*
 * Writes the header, the events and the features that are known. EVENT_DESC
 * is made from the events unless it was given; COMPRESSED is made here.
 */
struct error *data_writer_start(struct data_writer *w);

/*
 * Writes whole records as they stand in a ring: iov[0] up to the ring's end,
 * iov[1] from its start. Written straight from there, or compressed.
 */
struct error *data_writer_write(struct data_writer *w, const struct iovec *iov, int n);

/* Writes records that were made with perf/event/encode.h; never compressed. */
struct error *data_writer_records(struct data_writer *w, const void *bytes, size_t size);

/*
 * After start: more ids of an event, of samples that come behind this call. The pipe form has them
 * in another HEADER_ATTR record of the same name.
 */
struct error *data_writer_add_ids(struct data_writer *w, size_t event, const uint64_t *ids,
				  size_t n_ids);

/*
 * Ends a round: no record written later is older than the newest one of the
 * round before this. What was written so far now survives a kill.
 */
struct error *data_writer_round(struct data_writer *w);

/* What was written so far now survives a kill; it does not end a round. */
struct error *data_writer_save(struct data_writer *w);

/* What another file of the recording should have is missing: finish leaves this one unfinished. */
void data_writer_spoil(struct data_writer *w);
/* Writes the rest of the features and the final header. Safe after an error. */
struct error *data_writer_finish(struct data_writer *w);

/* Closes the output; without finish, the file ends with its last round. */
void data_writer_free(struct data_writer *w);
DEFINE_FREEP(struct data_writer, data_writer_free)

/* Bytes written to the file or pipe so far. */
uint64_t data_writer_bytes(const struct data_writer *w);
/* max_size was reached. */
bool data_writer_is_full(const struct data_writer *w);
bool data_writer_is_pipe(const struct data_writer *w);
/*
 * The recording is to end: whoever reads a pipe must take something each second, or a write fails
 * with EPIPE. Before that a signal that ends the command, and is blocked, does the same.
 */
void data_writer_end_soon(struct data_writer *w);

#endif
