/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tracepoints add to the keys of a histogram: the text of a sample ("trace") and its fields
 * ("sched_switch.prev_comm"), read by the formats that the recording holds. The functions fit
 * the pointers in hist_spec_opts and hist_spec, with a struct trace_keys as their ctx.
 */
#ifndef PB_PERF_HIST_TRACE_KEYS_H
#define PB_PERF_HIST_TRACE_KEYS_H

#include "perf/format/tracing.h"
#include "perf/hist/hist.h"

struct trace_keys {
	/* Borrowed; set by the caller. */
	struct session *session;
	struct resolver *resolver;
	const struct log *log;
	/* What is being added, for names of addresses; set before each sample. */
	const struct sample *sample;
	const struct session_event *event;
	const struct thread *thread;

	struct tracing *tracing; /* NULL: the recording has no formats, or they come later */
};

void trace_keys_deinit(struct trace_keys *keys);

/* Reads the formats once they are there: of a pipe they come as records. */
struct error *trace_keys_open(struct trace_keys *keys);

/* The tracepoint's format; NULL: there is none, or (in a pipe) not yet. */
struct trace_event *trace_keys_event(struct trace_keys *keys, const struct session_event *event);

/* hist_spec.trace */
struct error *trace_keys_text(void *ctx, const struct session_event *event,
			      const struct sample *sample, struct strbuf *out);

/* hist_spec_opts.has_field and each_field */
bool trace_keys_have(void *ctx, const struct hist_dynamic *field);
void trace_keys_offer(void *ctx, struct nearest *near);

/* hist_spec.field */
struct error *trace_keys_value(void *ctx, const struct hist_dynamic *want,
			       const struct session_event *event, const struct sample *sample,
			       struct hist_value *value, bool *none, struct strbuf *out);

#endif
