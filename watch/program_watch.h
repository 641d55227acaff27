/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BPF programs as they are loaded and unloaded. The kernel announces both (PERF_RECORD_BPF_EVENT,
 * since 5.1); what it does not say in the record is read at once, while the program is there.
 *
 *	TRY(program_watch_new(&opts, &watch));
 *	… wait for program_watch_fd() …
 *	TRY(program_watch_read(watch));		// calls opts.fn
 *	program_watch_free(watch);
 */
#ifndef PB_WATCH_PROGRAM_WATCH_H
#define PB_WATCH_PROGRAM_WATCH_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "watch/program_details.h"

struct program_watch;

/* A load or an unload. Everything is borrowed until the callback returns. */
struct program_event {
	uint64_t time_ns; /* CLOCK_REALTIME */
	bool loaded;	  /* else unloaded */
	uint32_t id;
	uint8_t tag[BPF_TAG_SIZE];
	/* The whole name, as kallsyms has it; "" if it is not known. */
	const char *name;
	/* NULL: the program was gone before it could be read, or was never seen, or no_right. */
	const struct program_details *details;
	bool no_right; /* reading it by its id needs CAP_SYS_ADMIN */
	/* The thread that did it: an unload may be done by one of the kernel's. */
	pid_t pid, tid;
	const char *comm; /* at that time; "" if it is not known */
};

typedef struct error *program_event_fn(void *ctx, const struct program_event *event);

struct program_watch_opts {
	size_t sz; /* sizeof(struct program_watch_opts) */
	const struct log *log;
	program_event_fn *fn;
	void *ctx;
};

/* Fails with EPERM or EACCES without CAP_PERFMON and CAP_BPF, and with EINVAL before 5.1. */
struct error *program_watch_new(const struct program_watch_opts *opts, struct program_watch **out);
void program_watch_free(struct program_watch *watch);
DEFINE_FREEP(struct program_watch, program_watch_free)

/* Becomes readable when there is something to read. */
int program_watch_fd(const struct program_watch *watch);
/* Calls fn for what has happened since the last time, in order. */
struct error *program_watch_read(struct program_watch *watch);

struct program_watch_counts {
	uint64_t loads, unloads;
	uint64_t gone; /* loads of programs that were gone before they could be read */
	uint64_t lost; /* records that had no room in the kernel's rings: of any kind */
};
struct program_watch_counts program_watch_counts(const struct program_watch *watch);

#endif
