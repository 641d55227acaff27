// SPDX-License-Identifier: BSD-2-Clause
/*
 * The Firefox profiler's processed format: JSON whose tables are columns, so that a table of n rows
 * is an object with "length": n and an array of n values for each column; null where there is none.
 *
 * Each thread has its own tables: its stacks (a caller's row and a frame), frames (a function and
 * an address), functions (a name and a resource), resources (a library), and an array of the
 * strings that they name by their index. Rows refer to rows before them only. The libraries are
 * shared.
 *
 * A profile has threads, not events; a thread that was sampled by several events is written once
 * for each, with the event behind its name. Tracepoints are markers of the first.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/base/json_writer.h"
#include "perf/timeline/internal.h"

#define GECKO_VERSION	  28
#define PROCESSED_VERSION 48
#define RESOURCE_LIBRARY  1

enum { CATEGORY_USER, CATEGORY_KERNEL };

/* A thread of the profile. */
struct row {
	uint32_t thread, event;
	VEC(const struct timeline_sample *) samples, marks;
};

struct firefox {
	const struct timeline *t;
	struct json_writer w;
	uint64_t start; /* the time of the first sample */
	VEC(struct row) rows;
	struct u64map rows_by_key; /* thread and event: index + 1 */
	uint32_t *first_rows;	   /* of each thread: index + 1 */
	VEC(const struct dso *) libs;
	struct u64map libs_by_dso; /* index + 1 */
	/*
	 * The tables of the thread that is written: what is in each row, and for each stack, frame
	 * and function of the timeline the row that it has here, + 1.
	 */
	VEC(uint32_t) stacks, frames, funcs, resources;
	uint32_t *stack_rows, *frame_rows, *func_rows, *resource_rows;
	VEC(const char *) strings;
	struct strmap strings_by_text; /* index + 1 */
};

static void add_float(struct json_writer *w, const char *key, double v)
{
	json_add_float(jw_value(w, key), &v, sizeof(v));
}

static double ms_of(const struct firefox *f, uint64_t time)
{
	return (double)(int64_t)(time - f->start) / 1e6;
}

/* ---- the rows ---- */

static struct row *row_of(struct firefox *f, uint32_t thread, uint32_t event)
{
	const uint64_t key = (uint64_t)thread << 32 | event;
	const uintptr_t found = (uintptr_t)u64map_get(&f->rows_by_key, key);

	if (found)
		return &f->rows.v[found - 1];
	struct row *row = vec_push(&f->rows);
	if (!row || !u64map_put(&f->rows_by_key, key, (void *)(uintptr_t)f->rows.n))
		return NULL;
	*row = (struct row){.thread = thread, .event = event};
	if (!f->first_rows[thread])
		f->first_rows[thread] = (uint32_t)f->rows.n;
	return row;
}

static bool add_to_row(struct firefox *f, const struct timeline_sample *s)
{
	struct row *row = s->text && f->first_rows[s->thread]
				  ? &f->rows.v[f->first_rows[s->thread] - 1]
				  : row_of(f, s->thread, s->event);

	if (!row)
		return false;
	const struct timeline_sample **to =
		s->text ? vec_push(&row->marks) : vec_push(&row->samples);
	if (to)
		*to = s;
	return to;
}

static bool make_rows(struct firefox *f)
{
	const struct timeline *t = f->t;

	for (size_t i = 0; i < t->samples.n; i++)
		if (!t->samples.v[i].text && !add_to_row(f, &t->samples.v[i]))
			return false;
	for (size_t i = 0; i < t->samples.n; i++)
		if (t->samples.v[i].text && !add_to_row(f, &t->samples.v[i]))
			return false;
	return true;
}

static bool make_libs(struct firefox *f)
{
	for (size_t i = 0; i < f->t->funcs.n; i++) {
		const struct dso *dso = f->t->funcs.v[i].dso;

		if (!dso || u64map_get(&f->libs_by_dso, (uintptr_t)dso))
			continue;
		const struct dso **lib = vec_push(&f->libs);
		if (!lib ||
		    !u64map_put(&f->libs_by_dso, (uintptr_t)dso, (void *)(uintptr_t)f->libs.n))
			return false;
		*lib = dso;
	}
	return true;
}

/* ---- the tables of a thread ---- */

static bool push(uint32_t value, uint32_t *at)
{
	if (at)
		*at = value;
	return at;
}

static uint32_t string_of(struct firefox *f, const char *text)
{
	const uintptr_t found = (uintptr_t)strmap_get(&f->strings_by_text, text);

	if (found)
		return (uint32_t)(found - 1);
	const char **string = vec_push(&f->strings);
	/* also the one that cannot be found is written, with the others */
	if (string)
		*string = text;
	if (!string || !strmap_put(&f->strings_by_text, text, (void *)(uintptr_t)f->strings.n)) {
		f->w.out->failed = true;
		return 0;
	}
	return (uint32_t)(f->strings.n - 1);
}

static size_t lib_of(const struct firefox *f, const struct dso *dso)
{
	return (uintptr_t)u64map_get(&f->libs_by_dso, (uintptr_t)dso) - 1;
}

static bool use_func(struct firefox *f, uint32_t func)
{
	const struct dso *dso = f->t->funcs.v[func].dso;

	if (f->func_rows[func])
		return true;
	f->func_rows[func] = (uint32_t)f->funcs.n + 1;
	if (!push(func, vec_push(&f->funcs)))
		return false;
	const size_t lib = dso ? lib_of(f, dso) : 0;
	if (!dso || f->resource_rows[lib])
		return true;
	f->resource_rows[lib] = (uint32_t)f->resources.n + 1;
	return push((uint32_t)lib, vec_push(&f->resources));
}

static bool use_frame(struct firefox *f, uint32_t frame)
{
	if (f->frame_rows[frame])
		return true;
	f->frame_rows[frame] = (uint32_t)f->frames.n + 1;
	return push(frame, vec_push(&f->frames)) && use_func(f, f->t->frames.v[frame].func);
}

/* Callers first: a row names one before it. Stacks are as deep as max_stack. */
static bool use_stack(struct firefox *f, uint32_t stack)
{
	const struct timeline_stack *s = &f->t->stacks.v[stack];

	if (f->stack_rows[stack])
		return true;
	if (s->caller != NO_STACK && !use_stack(f, s->caller))
		return false;
	f->stack_rows[stack] = (uint32_t)f->stacks.n + 1;
	return push(stack, vec_push(&f->stacks)) && use_frame(f, s->frame);
}

static bool use_stacks(struct firefox *f, const struct row *row)
{
	for (size_t i = 0; i < row->samples.n; i++)
		if (row->samples.v[i]->stack != NO_STACK && !use_stack(f, row->samples.v[i]->stack))
			return false;
	for (size_t i = 0; i < row->marks.n; i++)
		if (row->marks.v[i]->stack != NO_STACK && !use_stack(f, row->marks.v[i]->stack))
			return false;
	return true;
}

static void forget(struct firefox *f)
{
	for (size_t i = 0; i < f->stacks.n; i++)
		f->stack_rows[f->stacks.v[i]] = 0;
	for (size_t i = 0; i < f->frames.n; i++)
		f->frame_rows[f->frames.v[i]] = 0;
	for (size_t i = 0; i < f->funcs.n; i++)
		f->func_rows[f->funcs.v[i]] = 0;
	for (size_t i = 0; i < f->resources.n; i++)
		f->resource_rows[f->resources.v[i]] = 0;
	f->stacks.n = f->frames.n = f->funcs.n = f->resources.n = f->strings.n = 0;
	strmap_deinit(&f->strings_by_text);
	f->strings_by_text = (struct strmap){0};
}

/* A column of n values. */
#define COLUMN(key, n, expression)                                                                 \
	do {                                                                                       \
		jw_array(w, key);                                                                  \
		for (size_t i = 0; i < (n); i++)                                                   \
			expression;                                                                \
		jw_end(w);                                                                         \
	} while (0)

static void add_empty(struct json_writer *w, const char *key)
{
	jw_array(w, key);
	jw_end(w);
}

static void row_or_null(struct json_writer *w, uint32_t row)
{
	if (row)
		jw_u64(w, NULL, row - 1);
	else
		jw_null(w, NULL);
}

static int category_of(const struct firefox *f, uint32_t frame)
{
	return f->t->frames.v[frame].is_kernel ? CATEGORY_KERNEL : CATEGORY_USER;
}

static void add_stack_tables(struct firefox *f)
{
	struct json_writer *w = &f->w;
	const struct timeline *t = f->t;

	jw_object(w, "stackTable");
	jw_u64(w, "length", f->stacks.n);
	COLUMN("prefix", f->stacks.n, {
		const uint32_t caller = t->stacks.v[f->stacks.v[i]].caller;

		row_or_null(w, caller == NO_STACK ? 0 : f->stack_rows[caller]);
	});
	COLUMN("frame", f->stacks.n,
	       row_or_null(w, f->frame_rows[t->stacks.v[f->stacks.v[i]].frame]));
	COLUMN("category", f->stacks.n,
	       jw_i64(w, NULL, category_of(f, t->stacks.v[f->stacks.v[i]].frame)));
	COLUMN("subcategory", f->stacks.n, jw_u64(w, NULL, 0));
	jw_end(w);

	jw_object(w, "frameTable");
	jw_u64(w, "length", f->frames.n);
	COLUMN("address", f->frames.n, {
		const struct timeline_frame *frame = &t->frames.v[f->frames.v[i]];

		/* -1: not relative to a library; JavaScript's numbers have 53 bits */
		if (t->funcs.v[frame->func].dso && !frame->is_kernel && frame->address < 1ull << 53)
			jw_u64(w, NULL, frame->address);
		else
			jw_i64(w, NULL, -1);
	});
	COLUMN("inlineDepth", f->frames.n, jw_u64(w, NULL, 0));
	COLUMN("category", f->frames.n, jw_i64(w, NULL, category_of(f, f->frames.v[i])));
	COLUMN("subcategory", f->frames.n, jw_u64(w, NULL, 0));
	COLUMN("func", f->frames.n, row_or_null(w, f->func_rows[t->frames.v[f->frames.v[i]].func]));
	COLUMN("nativeSymbol", f->frames.n, jw_null(w, NULL));
	COLUMN("innerWindowID", f->frames.n, jw_null(w, NULL));
	COLUMN("implementation", f->frames.n, jw_null(w, NULL));
	COLUMN("line", f->frames.n, jw_null(w, NULL));
	COLUMN("column", f->frames.n, jw_null(w, NULL));
	jw_end(w);
}

static void add_func_tables(struct firefox *f)
{
	struct json_writer *w = &f->w;
	const struct timeline *t = f->t;

	jw_object(w, "funcTable");
	jw_u64(w, "length", f->funcs.n);
	COLUMN("name", f->funcs.n, jw_u64(w, NULL, string_of(f, t->funcs.v[f->funcs.v[i]].name)));
	COLUMN("isJS", f->funcs.n, jw_bool(w, NULL, false));
	COLUMN("relevantForJS", f->funcs.n, jw_bool(w, NULL, false));
	COLUMN("resource", f->funcs.n, {
		const struct dso *dso = t->funcs.v[f->funcs.v[i]].dso;

		jw_i64(w, NULL, dso ? (int64_t)f->resource_rows[lib_of(f, dso)] - 1 : -1);
	});
	COLUMN("fileName", f->funcs.n, jw_null(w, NULL));
	COLUMN("lineNumber", f->funcs.n, jw_null(w, NULL));
	COLUMN("columnNumber", f->funcs.n, jw_null(w, NULL));
	jw_end(w);

	jw_object(w, "resourceTable");
	jw_u64(w, "length", f->resources.n);
	COLUMN("lib", f->resources.n, jw_u64(w, NULL, f->resources.v[i]));
	COLUMN("name", f->resources.n,
	       jw_u64(w, NULL, string_of(f, timeline_dso_name(f->libs.v[f->resources.v[i]]))));
	COLUMN("host", f->resources.n, jw_null(w, NULL));
	COLUMN("type", f->resources.n, jw_u64(w, NULL, RESOURCE_LIBRARY));
	jw_end(w);

	jw_object(w, "nativeSymbols");
	jw_u64(w, "length", 0);
	add_empty(w, "libIndex");
	add_empty(w, "address");
	add_empty(w, "name");
	add_empty(w, "functionSize");
	jw_end(w);
}

/* Whether periods are nanoseconds on a CPU. */
static bool is_cpu_time(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

static void add_samples(struct firefox *f, const struct row *row)
{
	const struct session_event *event = session_event(f->t->opts.session, row->event);
	struct json_writer *w = &f->w;
	const size_t n = row->samples.n;

	jw_object(w, "samples");
	jw_u64(w, "length", n);
	COLUMN("stack", n, {
		const uint32_t stack = row->samples.v[i]->stack;

		row_or_null(w, stack == NO_STACK ? 0 : f->stack_rows[stack]);
	});
	COLUMN("time", n, add_float(w, NULL, ms_of(f, row->samples.v[i]->time)));
	/* the time on a CPU since the sample before */
	if (is_cpu_time(&event->attr))
		COLUMN("threadCPUDelta", n, jw_u64(w, NULL, row->samples.v[i]->period));
	jw_null(w, "weight");
	jw_text(w, "weightType", "samples");
	jw_end(w);
}

static void add_mark(struct firefox *f, const struct timeline_sample *s)
{
	struct json_writer *w = &f->w;

	jw_object(w, NULL);
	jw_text(w, "type", "tracepoint");
	jw_text(w, "fields", s->text);
	if (s->cpu >= 0)
		jw_i64(w, "cpu", s->cpu);
	if (s->stack != NO_STACK) {
		jw_object(w, "cause");
		add_float(w, "time", ms_of(f, s->time));
		jw_u64(w, "stack", f->stack_rows[s->stack] - 1);
		jw_end(w);
	}
	jw_end(w);
}

static const char *event_name(const struct firefox *f, uint32_t event)
{
	return session_event(f->t->opts.session, event)->name;
}

static void add_marks(struct firefox *f, const struct row *row)
{
	struct json_writer *w = &f->w;
	const size_t n = row->marks.n;

	jw_object(w, "markers");
	jw_u64(w, "length", n);
	COLUMN("data", n, add_mark(f, row->marks.v[i]));
	COLUMN("name", n, jw_u64(w, NULL, string_of(f, event_name(f, row->marks.v[i]->event))));
	COLUMN("startTime", n, add_float(w, NULL, ms_of(f, row->marks.v[i]->time)));
	COLUMN("endTime", n, jw_null(w, NULL));
	COLUMN("phase", n, jw_u64(w, NULL, 0)); /* an instant */
	COLUMN("category", n, jw_u64(w, NULL, CATEGORY_USER));
	jw_end(w);
}

static uint64_t time_of(const struct row *row, bool last)
{
	const struct timeline_sample *s = NULL, *m = NULL;

	if (row->samples.n)
		s = row->samples.v[last ? row->samples.n - 1 : 0];
	if (row->marks.n)
		m = row->marks.v[last ? row->marks.n - 1 : 0];
	if (!s || !m)
		return s ? s->time : m->time;
	return last == (s->time > m->time) ? s->time : m->time;
}

static void add_row(struct firefox *f, size_t index)
{
	const struct row *row = &f->rows.v[index];
	const struct timeline_thread *thread = &f->t->threads.v[row->thread];
	const char *process = timeline_process_name(f->t, thread->pid);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct json_writer *w = &f->w;

	jw_object(w, NULL);
	jw_text(w, "processType", "default");
	jw_text(w, "processName", *process ? process : thread->comm);
	add_float(w, "processStartupTime", 0);
	jw_null(w, "processShutdownTime");
	add_float(w, "registerTime", ms_of(f, time_of(row, false)));
	add_float(w, "unregisterTime", ms_of(f, time_of(row, true)));
	add_empty(w, "pausedRanges");
	strbuf_adds(&text, thread->comm);
	if (f->first_rows[row->thread] != index + 1)
		strbuf_addf(&text, " (%s)", event_name(f, row->event));
	w->out->failed |= strbuf_failed(&text);
	jw_text(w, "name", strbuf_str(&text));
	jw_bool(w, "isMainThread",
		thread->pid == thread->tid && f->first_rows[row->thread] == index + 1);
	strbuf_reset(&text);
	strbuf_addf(&text, "%d", (int)thread->pid);
	w->out->failed |= strbuf_failed(&text);
	jw_text(w, "pid", strbuf_str(&text));
	jw_i64(w, "tid", thread->tid);
	add_samples(f, row);
	add_marks(f, row);
	add_stack_tables(f);
	add_func_tables(f);
	COLUMN("stringArray", f->strings.n, jw_text(w, NULL, f->strings.v[i]));
	jw_end(w);
}

/* ---- the profile ---- */

static void add_category(struct json_writer *w, const char *name, const char *color)
{
	jw_object(w, NULL);
	jw_text(w, "name", name);
	jw_text(w, "color", color);
	jw_array(w, "subcategories");
	jw_text(w, NULL, "Other");
	jw_end(w);
	jw_end(w);
}

static void add_mark_field(struct json_writer *w, const char *key, const char *label,
			   const char *format)
{
	jw_object(w, NULL);
	jw_text(w, "key", key);
	jw_text(w, "label", label);
	jw_text(w, "format", format);
	jw_bool(w, "searchable", true);
	jw_end(w);
}

static void add_mark_schema(struct json_writer *w)
{
	jw_array(w, "markerSchema");
	jw_object(w, NULL);
	jw_text(w, "name", "tracepoint");
	jw_text(w, "tooltipLabel", "{marker.name}");
	jw_text(w, "tableLabel", "{marker.data.fields}");
	jw_text(w, "chartLabel", "{marker.name}");
	jw_array(w, "display");
	jw_text(w, NULL, "marker-chart");
	jw_text(w, NULL, "marker-table");
	jw_end(w);
	jw_array(w, "data");
	add_mark_field(w, "fields", "Fields", "string");
	add_mark_field(w, "cpu", "CPU", "integer");
	jw_end(w);
	jw_end(w);
	jw_end(w);
}

/* Milliseconds between the samples of the first event that is counted by time, else 1. */
static double interval_of(const struct firefox *f)
{
	struct session *s = f->t->opts.session;

	for (size_t i = 0; i < session_n_events(s); i++) {
		const struct perf_event_attr *attr = &session_event(s, i)->attr;

		if (attr->freq && attr->sample_freq)
			return 1e3 / (double)attr->sample_freq;
		if (is_cpu_time(attr))
			return (double)attr->sample_period / 1e6;
	}
	return 1;
}

static void add_meta(struct firefox *f)
{
	const struct data_header *header = session_header(f->t->opts.session);
	struct json_writer *w = &f->w;

	jw_object(w, "meta");
	add_float(w, "interval", interval_of(f));
	add_float(w, "startTime", 0); /* a recording does not know the time of day */
	jw_u64(w, "processType", 0);
	jw_u64(w, "stackwalk", 1);
	jw_u64(w, "version", GECKO_VERSION);
	jw_u64(w, "preprocessedProfileVersion", PROCESSED_VERSION);
	jw_text(w, "product", f->t->opts.title ? f->t->opts.title : "perf-bpf");
	jw_text(w, "importedFrom", "perf-bpf");
	jw_bool(w, "symbolicated", true);
	jw_text(w, "platform", "Linux");
	jw_text_if(w, "oscpu", header->osrelease);
	jw_object(w, "sampleUnits");
	jw_text(w, "time", "ms");
	jw_text(w, "eventDelay", "ms");
	jw_text(w, "threadCPUDelta", "ns");
	jw_end(w);
	jw_array(w, "categories");
	add_category(w, "User", "yellow");
	add_category(w, "Kernel", "orange");
	jw_end(w);
	add_mark_schema(w);
	jw_end(w);
}

static void add_libs(struct firefox *f)
{
	struct json_writer *w = &f->w;

	jw_array(w, "libs");
	for (size_t i = 0; i < f->libs.n; i++) {
		const struct dso *dso = f->libs.v[i];
		const char *path = timeline_dso_name(dso), *slash = strrchr(path, '/');
		const char *name = slash && slash[1] ? slash + 1 : path;
		_cleanup_strbuf_ struct strbuf id = STRBUF_INIT;

		strbuf_add_bytes(&id, dso->build_id, dso->build_id_size);
		w->out->failed |= strbuf_failed(&id);
		jw_object(w, NULL);
		jw_text(w, "arch", "");
		jw_text(w, "name", name);
		jw_text(w, "path", path);
		jw_text(w, "debugName", name);
		jw_text(w, "debugPath", path);
		jw_text(w, "breakpadId", "");
		if (id.len)
			jw_text(w, "codeId", strbuf_str(&id));
		else
			jw_null(w, "codeId");
		jw_end(w);
	}
	jw_end(w);
}

static bool add_profile(struct firefox *f)
{
	struct json_writer *w = &f->w;

	jw_object(w, NULL);
	add_meta(f);
	add_libs(f);
	jw_array(w, "threads");
	for (size_t i = 0; i < f->rows.n; i++) {
		if (!use_stacks(f, &f->rows.v[i]))
			return false;
		add_row(f, i);
		forget(f);
	}
	jw_end(w);
	jw_end(w);
	json_writer_finish(w);
	strbuf_addch(w->out, '\n');
	return true;
}

static void firefox_deinit(struct firefox *f)
{
	for (size_t i = 0; i < f->rows.n; i++) {
		vec_deinit(&f->rows.v[i].samples);
		vec_deinit(&f->rows.v[i].marks);
	}
	vec_deinit(&f->rows);
	u64map_deinit(&f->rows_by_key);
	u64map_deinit(&f->libs_by_dso);
	vec_deinit(&f->libs);
	vec_deinit(&f->stacks);
	vec_deinit(&f->frames);
	vec_deinit(&f->funcs);
	vec_deinit(&f->resources);
	vec_deinit(&f->strings);
	strmap_deinit(&f->strings_by_text);
	free(f->first_rows);
	free(f->stack_rows);
	free(f->frame_rows);
	free(f->func_rows);
	free(f->resource_rows);
}

static uint32_t *zeroes(size_t n)
{
	return calloc(n + 1, sizeof(uint32_t));
}

struct error *timeline_firefox(const struct timeline *t, struct strbuf *out)
{
	struct firefox f = {
		.t = t,
		.w = json_writer_make(out),
		.start = t->samples.n ? t->samples.v[0].time : 0,
		.first_rows = zeroes(t->threads.n),
		.stack_rows = zeroes(t->stacks.n),
		.frame_rows = zeroes(t->frames.n),
		.func_rows = zeroes(t->funcs.n),
	};

	bool done = f.first_rows && f.stack_rows && f.frame_rows && f.func_rows && make_rows(&f) &&
		    make_libs(&f) && (f.resource_rows = zeroes(f.libs.n)) && add_profile(&f);
	firefox_deinit(&f);
	return done && !strbuf_failed(out) ? NULL : error_nomem();
}
