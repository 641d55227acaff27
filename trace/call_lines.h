/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls as lines: perf trace's columns, strace's layout, or one JSON object per line
 * (doc/trace-json.md). Each call is one line, in the order in which calls ended.
 *
 *	     0.189 ( 0.003 ms): ls/1234 close(fd: 3</etc/passwd>)               = 0
 *	[pid  1234] close(3)                    = 0
 *	{"type":"call","time_ns":…,"tid":1234,"comm":"ls","syscall":"close",…}
 */
#ifndef PB_TRACE_CALL_LINES_H
#define PB_TRACE_CALL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "syscalls/call_text.h"

enum call_lines_style {
	CALL_LINES_PERF,
	CALL_LINES_STRACE,
	CALL_LINES_JSON,
};

/* Everything is borrowed. */
struct call_lines_opts {
	const struct call_table *table;
	enum call_lines_style style;
	struct call_text_opts text;
	bool full_time;		   /* CLOCK_MONOTONIC, not since the first call */
	bool threads;		   /* perf's columns: name the thread */
	bool no_comm;		   /* … by its number only */
	bool no_time, no_duration; /* perf's columns: without these */
	unsigned alignment;	   /* perf's columns: where results begin, behind the thread */
	/* The names of threads that events have in their fields; NULL: without. */
	const char *(*comm)(void *ctx, uint32_t tid);
	void *comm_ctx;
	const struct btf *btf; /* of events' enumerators; NULL: none */
	bool ends;	       /* strace's layout: the ends of threads come as TRACE_EVENT */
	int64_t clock_diff;    /* JSON: what makes ns since 1970 of the records' times */
};

struct call_lines;
struct call_stack;
struct other_event;

struct error *call_lines_new(const struct call_lines_opts *opts, struct call_lines **out);
void call_lines_free(struct call_lines *lines);
DEFINE_FREEP(struct call_lines, call_lines_free)

/*
 * Adds the line of a call, with its '\n', and its call chain below (NULL: none); in strace's layout
 * also that its thread has ended.
 */
struct error *call_lines_add(struct call_lines *lines, const struct trace_record *rec,
			     const struct call_stack *stack, struct strbuf *out);

/* Adds the line of an event that is not a system call. */
struct error *call_lines_add_event(struct call_lines *lines, const struct other_event *event,
				   struct strbuf *out);

#endif
