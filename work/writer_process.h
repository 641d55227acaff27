/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files are written by a process of their own. A command that reads what others wrote (binaries,
 * maps) with CAP_SYS_PTRACE must not be able to open a file for writing: /proc/PID/mem is one. So
 * it forks this process before it gives that up. The two do not have the same rights: the one reads
 * all, and cannot write; the other one can write below a few directories, reads nothing but
 * requests and what is passed with them, and does not interpret that.
 *
 *	const struct writer_process_opts opts = {.write = write_it, .confine = confine_it};
 *	TRY(writer_process_new(&opts, &writer));
 *	… privileges are given up …
 *	TRY(writer_process_ask(writer, &request, sizeof(request), fd));
 */
#ifndef PB_WORK_WRITER_PROCESS_H
#define PB_WORK_WRITER_PROCESS_H

#include <stddef.h>

#include "lib/base/error.h"

enum {
	WRITER_MAX_REQUEST = 8192, /* bytes */
};

struct keeper;
struct writer_process;

struct writer_process_opts {
	/* In the other process, before the first request. NULL: it is not confined. */
	struct error *(*confine)(void *ctx);
	/*
	 * In the other process: serves a request of size bytes, which whoever has taken over this
	 * one may have made. fd: what was passed with it; -1: nothing.
	 */
	struct error *(*write)(void *ctx, const void *request, size_t size, int fd);
	/* Behind write(): what is passed back, and is closed then; -1: nothing. NULL: never. */
	int (*give)(void *ctx);
	void (*end)(void *ctx); /* When nobody can ask any more; NULL: nothing is to be done. */
	void *ctx;
	int keep; /* a descriptor that the other process needs; -1: none. The others are closed. */
	/*
	 * It is forked when it is first asked, whose error says then if it cannot be confined; ctx
	 * must last until keeper_start(). NULL: at once.
	 */
	struct keeper *keeper;
};

struct error *writer_process_new(const struct writer_process_opts *opts,
				 struct writer_process **out);
/* Waits until the other process has ended. */
void writer_process_free(struct writer_process *writer);
DEFINE_FREEP(struct writer_process, writer_process_free)

/*
 * Waits until the request has been served. fd: -1: none. Returns the error of write(), or EPIPE:
 * the process has ended; EMSGSIZE: the request has more than WRITER_MAX_REQUEST bytes.
 */
struct error *writer_process_ask(struct writer_process *writer, const void *request, size_t size,
				 int fd);

/* The same; *passed: what opts.give() has passed back, the caller's; -1: nothing. */
struct error *writer_process_get(struct writer_process *writer, const void *request, size_t size,
				 int *passed);

#endif
