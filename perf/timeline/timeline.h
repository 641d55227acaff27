/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Samples one by one, in the formats of viewers that show them over time. Samples are gathered in
 * memory (some 50 bytes for each, and the text of tracepoints), with each frame and each call chain
 * once, and written at the end.
 *
 *	TRY(timeline_new(&opts, &t));
 *	... for each sample: TRY(timeline_add(t, sample, event, format, thread));
 *	TRY(timeline_firefox(t, out)) or TRY(timeline_perfetto(t, out));
 *
 * Tracepoints are marks at a moment, with their text; samples of other events are samples of the
 * CPU: in Firefox's format those of each event have a row of their own for each thread.
 */
#ifndef PB_PERF_TIMELINE_TIMELINE_H
#define PB_PERF_TIMELINE_TIMELINE_H

#include "perf/format/tracing.h"
#include "perf/resolve/resolve.h"
#include "perf/session/session.h"

struct timeline;

struct timeline_opts {
	size_t sz;		   /* sizeof(struct timeline_opts) */
	struct session *session;   /* lives longer */
	struct resolver *resolver; /* lives longer */
	unsigned max_stack;	   /* 0: 127 */
	const char *title;	   /* of the recording */
};

struct error *timeline_new(const struct timeline_opts *opts, struct timeline **out);
void timeline_free(struct timeline *t);
DEFINE_FREEP(struct timeline, timeline_free)

/* format: of a tracepoint; NULL: it is none, or its format is not known. */
struct error *timeline_add(struct timeline *t, const struct sample *sample,
			   const struct session_event *event, struct trace_event *format,
			   const struct thread *thread);

/*
 * The Firefox profiler's processed format, version 48, as JSON; it upgrades older versions itself.
 * https://github.com/firefox-devtools/profiler/blob/main/docs-developer/processed-profile-format.md
 * Times are milliseconds since the first sample.
 */
struct error *timeline_firefox(const struct timeline *t, struct strbuf *out);

/*
 * Perfetto's trace: protocol buffers of perfetto.protos.Trace. sched_switch is written as the
 * kernel's trace has it, so that CPUs have their tracks.
 * https://perfetto.dev/docs/reference/trace-packet-proto
 */
struct error *timeline_perfetto(const struct timeline *t, struct strbuf *out);

#endif
