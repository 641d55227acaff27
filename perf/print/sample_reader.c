// SPDX-License-Identifier: BSD-2-Clause
#include "perf/print/sample_reader.h"

#include <inttypes.h>

#include "perf/unwind/unwind_ahead.h"

void sample_reader_deinit(struct sample_reader *reader)
{
	tracing_free(reader->tracing);
	probed_deinit(&reader->probed);
	unwinder_free(reader->unwinder);
	frame_pointers_free(reader->frame_pointers);
}

/*
 * trace_symbol_fn. Only the addresses of a probe in a program are looked up in the process: other
 * events print addresses of a process as numbers, which a name would hide.
 */
static const char *symbol_at(void *ctx, uint64_t addr, uint64_t *start)
{
	struct sample_reader *r = ctx;
	struct location at;

	resolve_addr(r->recording->resolver, NULL, PERF_RECORD_MISC_KERNEL, addr, &at);
	if (!at.sym && r->thread && probed_is_one(sample_reader_format(r, r->event), r->sample))
		resolve_addr(r->recording->resolver, r->thread, PERF_RECORD_MISC_USER, addr, &at);
	if (!at.sym)
		return NULL;
	*start = addr - at.offset;
	return at.sym->name;
}

bool sample_reader_has_news(const struct sample_reader *reader)
{
	return session_n_events(reader->recording->session) != reader->n_events ||
	       (!reader->tracing && session_tracing(reader->recording->session));
}

struct error *sample_reader_open(struct sample_reader *reader)
{
	if (reader->tracing || !session_tracing(reader->recording->session))
		return NULL;
	TRY(tracing_new(session_tracing(reader->recording->session), reader->recording->log,
			&reader->tracing));
	tracing_set_symbols(reader->tracing, symbol_at, reader);
	return NULL;
}

struct error *sample_reader_learn(struct sample_reader *reader)
{
	reader->n_events = session_n_events(reader->recording->session);
	TRY(sample_reader_open(reader));
	return filter_check(reader->recording->filter, reader->recording->session, reader->tracing);
}

struct trace_event *sample_reader_format(struct sample_reader *reader,
					 const struct session_event *event)
{
	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return NULL;
	struct known_format *known = &reader->formats[(size_t)event->index % READER_FORMATS];
	if (known->event == event)
		return known->format;
	struct error *err = sample_reader_open(reader);
	reader->no_memory |= err != NULL;
	error_free(err);
	struct trace_event *format =
		reader->tracing ? tracing_find(reader->tracing, event->attr.config) : NULL;
	if (format)
		*known = (struct known_format){event, format};
	return format;
}

struct error *sample_reader_error(const struct sample_reader *reader)
{
	return reader->no_memory || tracing_lacks_memory(reader->tracing) ||
			       frame_pointers_had_no_memory(reader->frame_pointers)
		       ? error_nomem()
		       : NULL;
}

void sample_reader_set(struct sample_reader *reader, const struct sample *sample,
		       const struct session_event *event, const struct thread *thread)
{
	reader->sample = sample;
	reader->event = event;
	reader->thread = thread;
}

const struct sample *sample_reader_probed(struct sample_reader *reader)
{
	return probed_sample(&reader->probed, sample_reader_format(reader, reader->event),
			     reader->recording->resolver, reader->thread, reader->sample);
}

static struct error *open_unwinder(struct sample_reader *reader)
{
	return reader->unwinder ? NULL
				: unwinder_new(reader->recording->resolver, reader->max_stack,
					       reader->keeps_outermost, &reader->unwinder);
}

/* A chain that is as it was recorded. */
static bool see_chain(struct sample_reader *reader, const struct sample *sample)
{
	struct error *err = NULL;

	if (reader->no_hint || !frame_pointers_matter(reader->event, sample))
		return true;
	if (!reader->frame_pointers)
		err = frame_pointers_new(reader->recording->resolver, &reader->frame_pointers);
	error_free(err);
	if (!err)
		frame_pointers_see(reader->frame_pointers, sample, reader->thread);
	return !err;
}

const struct sample *sample_reader_unwound(struct sample_reader *reader,
					   const struct sample *sample)
{
	if (sample->is_unwound || !(sample->has & (PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CALLCHAIN)))
		return sample;
	if (!(sample->has & PERF_SAMPLE_STACK_USER))
		return see_chain(reader, sample) ? sample : NULL;
	struct error *err = open_unwinder(reader);
	error_free(err);
	if (err)
		return NULL;
	return unwinder_sample(reader->unwinder, sample, reader->event, reader->thread);
}

struct error *sample_reader_process(struct sample_reader *reader, struct session_tool *tool)
{
	struct session *session = reader->recording->session;
	_cleanup_(unwind_ahead_freep) struct unwind_ahead *ahead = NULL;
	const struct unwind_ahead_opts opts = {
		.sz = sizeof(opts),
		.resolver = reader->recording->resolver,
		.max = reader->max_stack,
		.keeps_outermost = reader->keeps_outermost,
		.tool = tool,
	};

	if (!unwind_ahead_helps(opts.resolver))
		return session_process(session, tool);
	TRY(open_unwinder(reader));
	TRY(unwind_ahead_new(&opts, &ahead));
	struct error *err = session_process(session, unwind_ahead_tool(ahead));
	unwind_ahead_end(ahead, reader->unwinder);
	return err;
}

void sample_reader_end(struct sample_reader *reader)
{
	frame_pointers_end(reader->frame_pointers);
}

void sample_reader_warn_of_stacks(const struct sample_reader *reader, const char *name)
{
	struct frame_pointers_counts counts;

	if (reader->unwinder)
		unwinder_warn(reader->unwinder, name, reader->recording->log);
	if (frame_pointers_missing(reader->frame_pointers, &counts))
		log_warn(reader->recording->log,
			 "%s: %" PRIu64 " of %" PRIu64 " user stacks end in code without frame "
			 "pointers; record with --call-graph dwarf to unwind it",
			 name, counts.broken, counts.n);
}
