// SPDX-License-Identifier: BSD-2-Clause
#include "perf/print/dump_counts.h"

#include <inttypes.h>

#include "lib/base/plain_text.h"

static struct error *counts_of(struct dump_counts *counts, const struct session_event *event,
			       struct event_counts **out)
{
	while (counts->events.n <= (size_t)event->index) {
		struct event_counts *slot = vec_push(&counts->events);

		if (!slot)
			return error_nomem();
		*slot = (struct event_counts){0};
	}
	*out = &counts->events.v[event->index];
	return NULL;
}

struct error *dump_counts_add(struct dump_counts *counts, const struct record *rec,
			      const struct session_event *event)
{
	struct record_lost lost;
	struct event_counts *of;

	/* A sample of a group is one record, and a sample of each of its events. */
	if (!rec->again) {
		counts->total++;
		if (rec->header.type < DUMP_N_TYPES)
			counts->types[rec->header.type]++;
	}
	if (event) {
		TRY(counts_of(counts, event, &of));
		of->samples++;
	} else if (counts->of_lost && rec->header.type == PERF_RECORD_LOST_SAMPLES && rec->event &&
		   !rec->again) {
		TRY(record_lost_decode(rec->body, &lost));
		TRY(counts_of(counts, rec->event, &of));
		of->lost += lost.lost;
	}
	return NULL;
}

void dump_counts_print(const struct dump_counts *counts, struct session *session, bool empty,
		       struct strbuf *out)
{
	const uint64_t total = counts->total + session_n_compressed(session, RECORD_COMPRESSED) +
			       session_n_compressed(session, RECORD_COMPRESSED2);

	strbuf_addf(out, "\nAggregated stats:\n%16s events: %10" PRIu64 "\n", "TOTAL", total);
	for (uint32_t type = 0; type < DUMP_N_TYPES; type++) {
		const uint64_t n = counts->types[type] + session_n_compressed(session, type);
		const char *name = record_type_name(type);

		if (name && (n || empty))
			strbuf_addf(out, "%16s events: %10" PRIu64 "  (%4.1f%%)\n", name, n,
				    100.0 * (double)n / (double)total);
	}
	for (size_t i = 0; i < session_n_events(session); i++) {
		const struct event_counts n =
			i < counts->events.n ? counts->events.v[i] : (struct event_counts){0};

		if (!n.samples && !n.lost && !empty)
			continue;
		plain_adds(out, session_event(session, i)->name);
		strbuf_adds(out, " stats:\n");
		if (n.samples)
			strbuf_addf(out, "%16s events: %10" PRIu64 "\n", "SAMPLE", n.samples);
		if (n.lost)
			strbuf_addf(out, "%16s events: %10" PRIu64 "\n", "LOST_SAMPLES", n.lost);
	}
}

void dump_counts_deinit(struct dump_counts *counts)
{
	vec_deinit(&counts->events);
}
