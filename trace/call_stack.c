// SPDX-License-Identifier: BSD-2-Clause
#include "trace/call_stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/util.h"
#include "perf/unwind/unwind.h"
#include "show/plain.h"

enum {
	PERF_INDENT = 39, /* columns in front of a frame, as in perf trace */
};

struct stack_reader {
	struct resolver *resolver;
	struct unwinder *unwinder; /* NULL: no sample had a copy of its stack yet */
	const struct log *log;
	unsigned max;
	struct location *locations; /* room for `room` of them */
	size_t room;
};

void stack_reader_free(struct stack_reader *reader)
{
	if (!reader)
		return;
	unwinder_free(reader->unwinder);
	resolver_free(reader->resolver);
	free(reader->locations);
	free(reader);
}

struct error *stack_reader_new(struct session *session, const struct stack_reader_opts *opts,
			       struct stack_reader **out)
{
	const struct resolver_opts resolver_opts = {
		.sz = sizeof(resolver_opts), .log = opts->log, .demangle = true};
	_cleanup_(stack_reader_freep) struct stack_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return error_nomem();
	reader->log = opts->log;
	reader->max = opts->max;
	TRY(resolver_new(session, &resolver_opts, &reader->resolver));
	*out = steal_ptr(reader);
	return NULL;
}

struct resolver *stack_reader_resolver(struct stack_reader *reader)
{
	return reader->resolver;
}

/* The frames as they lie in the session; their strings are copied behind the array. */
static struct error *keep(const struct location *at, size_t n, struct call_stack **out)
{
	size_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += (at[i].sym ? strlen(at[i].sym->name) + 1 : 0) +
			 (at[i].map ? strlen(at[i].map->dso->path) + 1 : 0);
	struct call_stack *stack = malloc(sizeof(*stack) + n * sizeof(*stack->frames) + bytes);
	if (!stack)
		return error_nomem();
	char *text = (char *)&stack->frames[n];
	*stack = (struct call_stack){.n = n};
	for (size_t i = 0; i < n; i++) {
		struct call_frame *frame = &stack->frames[i];

		*frame = (struct call_frame){
			.addr = at[i].addr,
			.place = at[i].dso_addr,
			.offset = at[i].offset,
		};
		if (at[i].sym) {
			frame->sym = text;
			text = stpcpy(text, at[i].sym->name) + 1;
		}
		if (at[i].map) {
			frame->dso = text;
			text = stpcpy(text, at[i].map->dso->path) + 1;
		}
	}
	*out = stack;
	return NULL;
}

struct error *call_stack_of_record(const void *record, size_t size, struct call_stack **out)
{
	struct call_stack *stack = malloc(sizeof(*stack) + size);

	if (!stack)
		return error_nomem();
	memcpy(stack->frames, record, size);
	*stack = (struct call_stack){.record = stack->frames, .record_size = size};
	*out = stack;
	return NULL;
}

struct error *stack_reader_read(struct stack_reader *reader, const struct sample *sample,
				const struct session_event *event, const struct thread *thread,
				struct call_stack **out)
{
	*out = NULL;
	if (!(sample->has & PERF_SAMPLE_CALLCHAIN))
		return NULL;
	resolver_refresh(reader->resolver);
	if (sample->has & PERF_SAMPLE_STACK_USER) {
		if (!reader->unwinder)
			TRY(unwinder_new(reader->resolver, reader->max, false, &reader->unwinder));
		sample = unwinder_sample(reader->unwinder, sample, event, thread);
		if (!sample)
			return error_nomem();
	}
	const size_t most = min_of((size_t)sample->chain.n + 1, (size_t)reader->max);
	if (most > reader->room) {
		struct location *more = realloc(reader->locations, most * sizeof(*more));

		if (!more)
			return error_nomem();
		reader->locations = more;
		reader->room = most;
	}
	const size_t n = resolve_chain(reader->resolver, thread, sample, reader->locations, most);
	return keep(reader->locations, n, out);
}

void stack_reader_warn(const struct stack_reader *reader)
{
	if (!reader->unwinder)
		return;
	const struct unwind_counts counts = unwinder_counts(reader->unwinder);
	if (counts.ends[UNWIND_CUT] || counts.ends[UNWIND_DAMAGED] || counts.ends[UNWIND_32_BIT])
		unwinder_warn(reader->unwinder, "trace", reader->log);
}

/* The tracepoint's own functions; the innermost frames are those of the BPF program. */
static bool is_of_tracepoint(const struct call_frame *frame)
{
	static const char *const names[] = {"bpf_trace_run", "__bpf_trace_", "__traceiter_",
					    "perf_trace_"};

	for (size_t i = 0; frame->sym && i < ARRAY_SIZE(names); i++)
		if (!strncmp(frame->sym, names[i], strlen(names[i])))
			return true;
	return false;
}

void call_stack_drop_tracing(struct call_stack *stack)
{
	size_t n = 0;

	for (size_t i = 0; i < stack->n; i++)
		if (is_of_tracepoint(&stack->frames[i]))
			n = i + 1;
	stack->n -= n;
	memmove(stack->frames, &stack->frames[n], stack->n * sizeof(*stack->frames));
}

void call_stack_text(const struct call_stack *stack, struct strbuf *out)
{
	for (size_t i = 0; i < stack->n; i++) {
		const struct call_frame *frame = &stack->frames[i];
		const char *dso = frame->dso ? frame->dso : "[unknown]";

		strbuf_addf(out, "%*s", PERF_INDENT, "");
		if (frame->sym)
			plain_add(out, frame->sym, strlen(frame->sym));
		else
			strbuf_addf(out, "[%#" PRIx64 "]", frame->addr);
		strbuf_adds(out, " (");
		plain_add(out, dso, strlen(dso));
		strbuf_adds(out, ")\n");
	}
}

void call_stack_strace(const struct call_stack *stack, struct strbuf *out)
{
	for (size_t i = 0; i < stack->n; i++) {
		const struct call_frame *frame = &stack->frames[i];
		const char *dso = frame->dso ? frame->dso : "[unknown]";

		strbuf_adds(out, " > ");
		plain_add(out, dso, strlen(dso));
		strbuf_addch(out, '(');
		if (frame->sym) {
			plain_add(out, frame->sym, strlen(frame->sym));
			strbuf_addf(out, "+%#" PRIx64, frame->offset);
		}
		strbuf_addf(out, ") [%#" PRIx64 "]\n", frame->dso ? frame->place : frame->addr);
	}
}

void call_stack_json(const struct call_stack *stack, struct json_writer *w)
{
	jw_array(w, "chain");
	for (size_t i = 0; i < stack->n; i++) {
		const struct call_frame *frame = &stack->frames[i];

		jw_object(w, NULL);
		jw_address(w, "ip", frame->addr);
		if (frame->sym) {
			jw_text(w, "sym", frame->sym);
			jw_u64(w, "off", frame->offset);
		}
		jw_text_if(w, "dso", frame->dso);
		jw_end(w);
	}
	jw_end(w);
}
