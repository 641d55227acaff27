// SPDX-License-Identifier: BSD-2-Clause
#include "perf/print/dump_counts.h"

#include <inttypes.h>

#include "lib/base/plain_text.h"

struct error *dump_counts_add(struct dump_counts *counts, const struct record *rec,
			      const struct session_event *event)
{
	/* A sample of a group is one record, and a sample of each of its events. */
	if (!rec->again) {
		counts->total++;
		if (rec->header.type < DUMP_N_TYPES)
			counts->types[rec->header.type]++;
	}
	if (!event)
		return NULL;
	while (counts->samples.n <= (size_t)event->index)
		if (!vec_push(&counts->samples))
			return error_nomem();
	counts->samples.v[event->index]++;
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
		const uint64_t n = i < counts->samples.n ? counts->samples.v[i] : 0;

		if (!n && !empty)
			continue;
		plain_adds(out, session_event(session, i)->name);
		strbuf_adds(out, " stats:\n");
		if (n)
			strbuf_addf(out, "%16s events: %10" PRIu64 "\n", "SAMPLE", n);
	}
}

void dump_counts_deinit(struct dump_counts *counts)
{
	vec_deinit(&counts->samples);
}
