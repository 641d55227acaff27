/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The call chains of samples, by names: what lasts of them when the session goes on.
 *
 *	TRY(stack_reader_new(session, &opts, &reader));
 *	… for a sample with a call chain:
 *	TRY(stack_reader_read(reader, sample, event, thread, &stack));
 *	… call_stack_text(), call_stack_json() …
 *	free(stack);
 */
#ifndef PB_TRACE_CALL_STACK_H
#define PB_TRACE_CALL_STACK_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/json_writer.h"
#include "lib/base/strbuf.h"
#include "perf/resolve/resolve.h"

struct call_frame {
	uint64_t addr;
	uint64_t place;	       /* in the file, or as its symbols have it */
	uint64_t offset;       /* behind the start of sym */
	const char *sym, *dso; /* NULL: not known */
};

/* One piece of memory, with its strings. Innermost frame first. */
struct call_stack {
	size_t n;
	/* For a recording, which has the chain itself: the sample, as a whole record; n is 0. */
	const void *record;
	size_t record_size;
	struct call_frame frames[];
};

struct stack_reader;

struct stack_reader_opts {
	size_t sz; /* sizeof(struct stack_reader_opts) */
	const struct log *log;
	unsigned max; /* frames; more are left out */
};

/* The session outlives it. */
struct error *stack_reader_new(struct session *session, const struct stack_reader_opts *opts,
			       struct stack_reader **out);
void stack_reader_free(struct stack_reader *reader);
DEFINE_FREEP(struct stack_reader, stack_reader_free)

/* A stack of a whole record: see struct call_stack. */
struct error *call_stack_of_record(const void *record, size_t size, struct call_stack **out);

struct resolver *stack_reader_resolver(struct stack_reader *reader);

/* The caller frees *out. NULL: the sample has no call chain. */
struct error *stack_reader_read(struct stack_reader *reader, const struct sample *sample,
				const struct session_event *event, const struct thread *thread,
				struct call_stack **out);

/*
 * Warns of stacks of which more could be known. That they end in code without unwind information is
 * not among that: the first calls of each process, in the dynamic linker, do.
 */
void stack_reader_warn(const struct stack_reader *reader);

/* Without the frames of the kernel that are there only because the exit of the call is traced. */
void call_stack_drop_tracing(struct call_stack *stack);

/* perf trace's lines, below that of a call: "      main (/usr/bin/ls)". */
void call_stack_text(const struct call_stack *stack, struct strbuf *out);
/* strace's: " > /usr/bin/ls(main+0x12) [0x55d0…]". */
void call_stack_strace(const struct call_stack *stack, struct strbuf *out);
/* An array "chain", whose entries are as in script --json. */
void call_stack_json(const struct call_stack *stack, struct json_writer *w);

#endif
