/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What tracepoints add to the keys of a histogram: the text of a sample ("trace") and its fields
 * ("sched_switch.prev_comm"), read by the formats that the recording holds. The functions fit
 * the pointers in hist_spec_opts and hist_spec, with a struct sample_reader as their ctx.
 */
#ifndef PB_PERF_HIST_TRACE_KEYS_H
#define PB_PERF_HIST_TRACE_KEYS_H

#include "perf/hist/hist.h"
#include "perf/print/sample_reader.h"

/* hist_spec.trace */
struct error *trace_keys_text(void *ctx, const struct session_event *event,
			      const struct sample *sample, struct strbuf *out);

/* Likewise, with hist_spec_opts.raw_trace. */
struct error *trace_keys_raw_text(void *ctx, const struct session_event *event,
				  const struct sample *sample, struct strbuf *out);

/* hist_spec_opts.has_field, n_fields and each_field */
bool trace_keys_have(void *ctx, const struct hist_dynamic *field);
size_t trace_keys_count(void *ctx, const struct hist_dynamic *field);
void trace_keys_offer(void *ctx, struct nearest *near);

/* hist_spec.field */
struct error *trace_keys_value(void *ctx, const struct hist_dynamic *want,
			       const struct session_event *event, const struct sample *sample,
			       struct hist_value *value, bool *none, struct strbuf *out);

/* hist_spec.nth_field */
const char *trace_keys_name(void *ctx, const struct hist_dynamic *field,
			    const struct session_event *event);

#endif
