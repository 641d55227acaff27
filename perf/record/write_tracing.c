// SPDX-License-Identifier: BSD-2-Clause
/*
 * TRACING_DATA: the files of tracefs by which a reader understands the raw
 * bytes of the recorded tracepoints. Only those of the events at hand, as perf
 * has it: a format file each, the two headers, and the list of printk formats,
 * which tells what the address of a format in a bprint event means.
 */
#include "perf/record/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/sys/sys.h"
#include "lib/sys/tracefs.h"
#include "perf/data/features.h"

struct texts {
	char *header_page, *header_event, *printk;
	size_t header_page_size, header_event_size, printk_size;
	VEC(struct feature_tracepoint) events;
	VEC(char *) formats;
};

static void texts_deinit(struct texts *t)
{
	char **format;

	free(t->header_page);
	free(t->header_event);
	free(t->printk);
	vec_for_each (format, &t->formats)
		free(*format);
	vec_deinit(&t->formats);
	vec_deinit(&t->events);
}

/* An event before this one has the same format. */
static bool has_event(const struct recording *rec, const struct event *event)
{
	for (const struct event *it = rec->events.v; it < event; it++)
		if (it->tracepoint && it->attr.config == event->attr.config)
			return true;
	return false;
}

/* The two headers. Probes need no tracefs: perf does with empty ones. */
static struct error *read_headers(struct recording *rec, struct texts *t)
{
	struct event *event;
	bool need = false;

	if (rec->header_page && *rec->header_page) {
		t->header_page = strdup(rec->header_page);
		t->header_event = strdup(rec->header_event);
		if (!t->header_page || !t->header_event)
			return error_nomem();
		t->header_page_size = strlen(t->header_page);
		t->header_event_size = strlen(t->header_event);
		return NULL;
	}
	vec_for_each (event, &rec->events)
		need |= event->tracepoint != NULL;
	struct error *err = sys_tracefs_read(rec->roots, "events/header_page", 1 << 16,
					     &t->header_page, &t->header_page_size);
	if (!err)
		err = sys_tracefs_read(rec->roots, "events/header_event", 1 << 16, &t->header_event,
				       &t->header_event_size);
	if (err && need)
		return err;
	error_free(err);
	return NULL;
}

static struct error *read_texts(struct recording *rec, struct texts *t)
{
	struct event *event;

	TRY(read_headers(rec, t));
	vec_for_each (event, &rec->events) {
		if (event->format) {
			struct feature_tracepoint *tp = vec_push(&t->events);

			if (!tp)
				return error_nomem();
			tp->system = event->system;
			tp->format = (struct feature_text){event->format, strlen(event->format)};
		}
		if (!event->tracepoint || has_event(rec, event))
			continue;
		char **format = vec_push(&t->formats);
		struct feature_tracepoint *tp = format ? vec_push(&t->events) : NULL;
		size_t size;

		if (!tp)
			return error_nomem();
		TRY(sys_tracepoint_format(rec->roots, event->system, event->tracepoint, format,
					  &size));
		tp->system = event->system;
		tp->format = (struct feature_text){*format, size};
	}
	error_free(sys_tracefs_read(rec->roots, "printk_formats", 16 << 20, &t->printk,
				    &t->printk_size));
	return NULL;
}

struct error *tracing_build(struct recording *rec, struct strbuf *out)
{
	struct texts t = {0};
	struct error *err = read_texts(rec, &t);

	if (!err && t.events.n) {
		struct feature_tracing tracing = {
			.page_size = (uint32_t)sys_page_size(),
			.header_page = {t.header_page, t.header_page_size},
			.header_event = {t.header_event, t.header_event_size},
			.events = t.events.v,
			.n_events = t.events.n,
			.printk_formats = {t.printk, t.printk_size},
		};
		feature_build_tracing_data(out, &tracing);
	}
	texts_deinit(&t);
	return err;
}
