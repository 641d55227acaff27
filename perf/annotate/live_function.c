// SPDX-License-Identifier: BSD-2-Clause
#include "perf/annotate/live_function.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perf/annotate/function_lines.h"
#include "perf/resolve/source_text.h"

struct live_function {
	struct resolver *resolver;
	char *module, *name, *event;
	size_t first_event, n_events;
	struct arena arena;		/* of the counts by address */
	struct counted_function counts; /* sym and map are those of one sample at a time */
	VEC(struct annotation_count) all;
	struct annotation annotation;
	struct arena shown;    /* of the annotation's counts */
	struct error *failure; /* why there is no code; NULL: there is, or no sample yet */
	struct source_prefix prefix;
	bool source, raw, intel, is_known;
};

struct error *live_function_new(const struct live_function_opts *opts, struct live_function **out)
{
	_cleanup_(live_function_freep) struct live_function *f = calloc(1, sizeof(*f));

	if (!f)
		return error_nomem();
	f->resolver = opts->resolver;
	f->first_event = opts->first_event;
	f->n_events = opts->n_events;
	f->source = opts->source;
	f->raw = opts->raw;
	f->intel = opts->intel;
	f->prefix = opts->prefix;
	f->module = strdup(opts->module);
	f->name = strdup(opts->name);
	f->event = strdup(opts->event);
	if (!f->module || !f->name || !f->event)
		return error_nomem();
	for (size_t i = 0; i < f->n_events; i++)
		if (!vec_push(&f->all))
			return error_nomem();
	for (size_t i = 0; i < f->first_event + f->n_events; i++)
		if (!vec_push(&f->counts.events))
			return error_nomem();
	*out = steal_ptr(f);
	return NULL;
}

void live_function_free(struct live_function *f)
{
	struct address_counts *event;

	if (!f)
		return;
	vec_for_each (event, &f->counts.events)
		u64map_deinit(&event->by_offset);
	vec_deinit(&f->counts.events);
	vec_deinit(&f->all);
	annotation_deinit(&f->annotation);
	arena_deinit(&f->arena);
	arena_deinit(&f->shown);
	error_free(f->failure);
	free(f->module);
	free(f->name);
	free(f->event);
	free(f);
}

static struct error *read_code(struct live_function *f)
{
	_cleanup_(code_files_deinit) struct code_files files = {0};
	_cleanup_(source_texts_deinit) struct source_texts texts = {.prefix = f->prefix};
	const struct function_lines_opts opts = {
		.resolver = f->resolver,
		.texts = &texts,
		.source = f->source,
		.raw = f->raw,
		.intel = f->intel,
		.first_event = f->first_event,
	};
	struct function_code code;

	TRY(function_code_find(&files, f->resolver, &f->counts, &code));
	f->annotation.address = code.address;
	return function_lines_add(&opts, &f->counts, &code, &f->annotation);
}

/* The mapping and the symbol of the location are there now; later they may be gone. */
static struct error *learn(struct live_function *f, const struct location *at)
{
	f->is_known = true;
	f->counts.map = at->map;
	f->counts.sym = at->sym;
	annotation_deinit(&f->annotation);
	f->annotation = (struct annotation){0};
	struct error *err = read_code(f);
	f->counts.map = NULL;
	f->counts.sym = NULL;
	if (err && err->code != ENOMEM) {
		f->failure = err;
		return NULL;
	}
	return err;
}

struct error *live_function_add(struct live_function *f, const struct session_event *event,
				const struct location *at, uint64_t period)
{
	const size_t member = (size_t)event->index - f->first_event;

	if (member >= f->n_events)
		return NULL;
	annotation_count_add(&f->all.v[member], period);
	if (!at->sym || !at->map || strcmp(at->sym->name, f->name) ||
	    strcmp(at->map->dso->path, f->module))
		return NULL;
	if (!f->is_known)
		TRY(learn(f, at));
	return address_counts_add(&f->counts.events.v[event->index], &f->arena, at->offset, period);
}

static void fade_count(struct annotation_count *count, bool all)
{
	count->samples = all ? 0 : count->samples - count->samples / 8;
	count->period = all ? 0 : count->period - count->period / 8;
}

void live_function_fade(struct live_function *f, bool all)
{
	struct address_counts *event;
	struct annotation_count *count;

	vec_for_each (count, &f->all)
		fade_count(count, all);
	vec_for_each (event, &f->counts.events) {
		struct u64map_slot *slot;
		size_t pos = 0;

		/* The sum is that of the addresses, whatever their eighths were rounded to. */
		event->sum = (struct annotation_count){0};
		while ((slot = u64map_next(&event->by_offset, &pos))) {
			count = slot->value;
			fade_count(count, all);
			event->sum.samples += count->samples;
			event->sum.period += count->period;
		}
	}
}

static struct error *set_events(struct live_function *f)
{
	struct session *session = resolver_session(f->resolver);
	struct annotation_event *events = arena_alloc(&f->shown, f->n_events * sizeof(*events));

	if (!events)
		return error_nomem();
	for (size_t i = 0; i < f->n_events; i++)
		events[i] = (struct annotation_event){
			.name = session_event(session, f->first_event + i)->name,
			.function = f->counts.events.v[f->first_event + i].sum,
			.all = f->all.v[i],
		};
	f->annotation.events = events;
	f->annotation.n_events = f->n_events;
	f->annotation.symbol = f->name;
	f->annotation.dso = f->module;
	f->annotation.event = f->event;
	return NULL;
}

static struct error *add_waiting(struct live_function *f)
{
	struct annotation_line *line = vec_push(&f->annotation.lines);

	if (!line)
		return error_nomem();
	line->kind = ANNOTATION_SOURCE;
	line->text = "waiting for the first sample";
	return NULL;
}

struct error *live_function_show(struct live_function *f, const struct annotation **out)
{
	if (f->failure)
		return steal_ptr(f->failure);
	arena_deinit(&f->shown);
	f->shown = (struct arena){0};
	TRY(set_events(f));
	if (f->is_known)
		TRY(function_lines_count(&f->counts, f->first_event, &f->shown, &f->annotation));
	else if (!f->annotation.lines.n)
		TRY(add_waiting(f));
	*out = &f->annotation;
	return NULL;
}
