// SPDX-License-Identifier: BSD-2-Clause
#include "perf/annotate/annotate.h"

#include <errno.h>

#include "perf/annotate/address_counts.h"
#include "perf/annotate/function_code.h"
#include "perf/annotate/function_lines.h"
#include "perf/resolve/source_text.h"
#include "perf/print/sample_reader.h"

/* A function with samples of an event, or of a group of events. */
struct annotated_function {
	const struct counted_function *f;
	size_t first_event, n_events;
};

struct annotator {
	struct annotator_opts opts;
	struct sample_reader reader;
	struct function_counts counts;
	uint64_t n_unknown;
	VEC(struct annotated_function) functions;
	struct code_files files;
	struct source_texts texts;
};

struct error *annotator_new(const struct annotator_opts *opts, struct annotator **out)
{
	struct annotator *a = calloc(1, sizeof(*a));

	if (!a)
		return error_nomem();
	memcpy(&a->opts, opts, min_of(opts->sz, sizeof(a->opts)));
	a->reader.recording = a->opts.recording;
	a->texts.prefix = a->opts.prefix;
	*out = a;
	return NULL;
}

void annotator_free(struct annotator *a)
{
	if (!a)
		return;
	source_texts_deinit(&a->texts);
	code_files_deinit(&a->files);
	vec_deinit(&a->functions);
	function_counts_deinit(&a->counts);
	sample_reader_deinit(&a->reader);
	free(a);
}

static struct error *on_sample(struct session_tool *tool, struct session *session,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct annotator *a = tool->ctx;
	const struct opened_recording *recording = a->opts.recording;
	struct location leaf;

	if (sample_reader_has_news(&a->reader))
		TRY(sample_reader_learn(&a->reader));
	sample_reader_set(&a->reader, sample, event, thread);
	sample = sample_reader_probed(&a->reader);
	resolve_addr(recording->resolver, thread, sample->cpumode, sample->ip, &leaf);
	const struct filter_input in = {
		.sample = sample,
		.event = event,
		.thread = thread,
		.leaf = &leaf,
		.cgroup = session_cgroup_of(session, sample),
	};
	if (filter_sample(recording->filter, &in) != FILTER_SHOW)
		return NULL;
	/* As perf: what is not of the function is not part of "all" either. */
	if (a->opts.symbol && (!leaf.sym || strcmp(leaf.sym->name, a->opts.symbol)))
		return NULL;
	return annotator_add(a, event, &leaf, sample->period);
}

struct error *annotator_add(struct annotator *a, const struct session_event *event,
			    const struct location *at, uint64_t period)
{
	a->n_unknown += !at->sym;
	return function_counts_add(&a->counts, (size_t)event->index, at, period);
}

static uint64_t period_of(const struct annotated_function *af, size_t member)
{
	const struct address_counts *event = counted_event(af->f, af->first_event + member);

	return event ? event->sum.period : 0;
}

/* By event, then those with the most first, then by their names. */
static int function_cmp(const void *a, const void *b)
{
	const struct annotated_function *x = a, *y = b;

	if (x->first_event != y->first_event)
		return x->first_event < y->first_event ? -1 : 1;
	for (size_t i = 0; i < x->n_events; i++)
		if (period_of(x, i) != period_of(y, i))
			return period_of(x, i) > period_of(y, i) ? -1 : 1;
	int order = strcmp(x->f->map->dso->short_name, y->f->map->dso->short_name);
	order = order ? order : strcmp(x->f->sym->name, y->f->sym->name);
	return order ? order : x->f->index < y->f->index ? -1 : x->f->index > y->f->index;
}

/* Whether it has samples, and as many as the options ask for. */
static bool is_wanted(const struct annotator *a, const struct annotated_function *af)
{
	bool any = false;

	for (size_t i = 0; i < af->n_events; i++)
		any |= counted_event(af->f, af->first_event + i) != NULL;
	if (!any || !(a->opts.least_percent > 0))
		return any;
	const double all = af->first_event < a->counts.events.n
				   ? (double)a->counts.events.v[af->first_event].period
				   : 0;
	return all > 0 && 100.0 * (double)period_of(af, 0) / all >= a->opts.least_percent;
}

static struct error *list_functions(struct annotator *a)
{
	struct session *session = a->opts.recording->session;
	const size_t n = session_n_events(session);
	struct counted_function **f;
	size_t size;

	for (size_t i = 0; i < n; i += size) {
		size = summary_group_size(session, a->opts.groups, i);
		vec_for_each (f, &a->counts.functions) {
			const struct annotated_function af = {*f, i, size};

			if (!is_wanted(a, &af))
				continue;
			struct annotated_function *slot = vec_push(&a->functions);
			if (!slot)
				return error_nomem();
			*slot = af;
		}
	}
	if (a->functions.n)
		qsort(a->functions.v, a->functions.n, sizeof(*a->functions.v), function_cmp);
	return NULL;
}

struct error *annotator_end(struct annotator *a)
{
	TRY(resolver_error(a->opts.recording->resolver));
	TRY(sample_reader_error(&a->reader));
	return list_functions(a);
}

struct error *annotator_read(struct annotator *a)
{
	struct session_tool tool = {.ctx = a, .sample = on_sample};

	TRY(sample_reader_learn(&a->reader));
	struct error *err = session_process(a->opts.recording->session, &tool);
	if (!err)
		err = filter_end(a->opts.recording->filter, a->opts.recording->session);
	if (err && err->code != EBADMSG)
		return err;
	struct error *late = annotator_end(a);
	if (!late)
		return err;
	error_free(err);
	return late;
}

size_t annotator_size(const struct annotator *a)
{
	return a->functions.n;
}

uint64_t annotator_n_samples(const struct annotator *a)
{
	uint64_t n = 0;

	for (size_t i = 0; i < a->counts.events.n; i++)
		n += a->counts.events.v[i].samples;
	return n;
}

uint64_t annotator_n_unknown(const struct annotator *a)
{
	return a->n_unknown;
}

const char *annotator_name(const struct annotator *a, size_t i)
{
	return a->functions.v[i].f->sym->name;
}

size_t annotator_find(const struct annotator *a, size_t event, const char *module,
		      const char *function)
{
	size_t i = 0;

	for (; i < a->functions.n; i++) {
		const struct annotated_function *af = &a->functions.v[i];

		if (af->first_event == event && !strcmp(af->f->sym->name, function) &&
		    !strcmp(af->f->map->dso->path, module))
			break;
	}
	return i;
}

/* What is at an address of the code of a function. */
static void find_called(struct annotator *a, const struct counted_function *f,
			const struct function_code *code, uint64_t address, struct location *at)
{
	struct resolver *r = a->opts.recording->resolver;
	struct symtab *symbols = resolver_symtab(r, f->map->dso);

	*at = (struct location){.map = f->map};
	if (code->in_kernel) {
		resolve_addr(r, NULL, PERF_RECORD_MISC_KERNEL, address, at);
	} else if (symbols) {
		at->dso_addr = address - code->address + f->sym->start;
		at->sym = symtab_find(symbols, at->dso_addr);
	}
}

struct error *annotator_called(struct annotator *a, size_t i, uint64_t address, size_t *out)
{
	const struct annotated_function caller = a->functions.v[i];
	struct function_code code;
	struct location at;

	TRY(function_code_find(&a->files, a->opts.recording->resolver, caller.f, &code));
	find_called(a, caller.f, &code, address, &at);
	*out = a->functions.n;
	if (!at.sym || !at.map)
		return NULL;
	struct counted_function *f = function_counts_find(&a->counts, &at);
	if (!f)
		return error_nomem();
	for (size_t j = 0; j < a->functions.n; j++)
		if (a->functions.v[j].f == f &&
		    a->functions.v[j].first_event == caller.first_event) {
			*out = j;
			return NULL;
		}
	struct annotated_function *slot = vec_push(&a->functions);
	if (!slot)
		return error_nomem();
	*slot = (struct annotated_function){f, caller.first_event, caller.n_events};
	*out = a->functions.n - 1;
	return NULL;
}

static struct error *set_events(struct annotator *a, const struct annotated_function *af,
				struct annotation *out)
{
	struct session *session = a->opts.recording->session;
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct annotation_event *events = arena_alloc(&out->arena, af->n_events * sizeof(*events));

	if (!events)
		return error_nomem();
	for (size_t i = 0; i < af->n_events; i++) {
		const size_t at = af->first_event + i;
		const struct address_counts *event = counted_event(af->f, at);

		events[i].name = session_event(session, at)->name;
		if (event)
			events[i].function = event->sum;
		if (at < a->counts.events.n)
			events[i].all = a->counts.events.v[at];
	}
	if (af->n_events > 1)
		summary_add_group_name(session, af->first_event, af->n_events, &name);
	else
		strbuf_adds(&name, events[0].name);
	out->events = events;
	out->n_events = af->n_events;
	out->event = arena_text(&out->arena, strbuf_str(&name), name.len);
	return out->event && !strbuf_failed(&name) ? NULL : error_nomem();
}

static struct error *fill(struct annotator *a, const struct annotated_function *af,
			  struct annotation *out)
{
	const struct function_lines_opts opts = {
		.resolver = a->opts.recording->resolver,
		.texts = &a->texts,
		.source = a->opts.source,
		.places = a->opts.places,
		.raw = a->opts.raw,
		.intel = a->opts.intel,
		.first_event = af->first_event,
	};
	struct function_code code;

	out->symbol = af->f->sym->name;
	out->dso = af->f->map->dso->path;
	TRY(set_events(a, af, out));
	TRY(function_code_find(&a->files, opts.resolver, af->f, &code));
	out->address = code.address;
	TRY(function_lines_add(&opts, af->f, &code, out));
	/* names and source lines that there was no memory for */
	return resolver_error(opts.resolver);
}

struct error *annotator_function(struct annotator *a, size_t i, struct annotation *out)
{
	struct error *err = fill(a, &a->functions.v[i], out);

	if (err) {
		annotation_deinit(out);
		*out = (struct annotation){0};
	}
	return err;
}
