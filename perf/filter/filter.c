// SPDX-License-Identifier: BSD-2-Clause
/*
 * The filter as a whole. What a name of the condition stands for is decided once
 * for each event: the tracepoint's own field of that name or, where it has none, a
 * field that every sample has (comm, pid, ...), as the kernel's own filters do.
 * "sample.NAME" is always the latter.
 */
#include "perf/filter/filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/sys/cgroup_names.h"
#include "perf/filter/event_switch.h"
#include "perf/filter/internal.h"

/* What every sample has. */
enum sample_field {
	SAMPLE_COMM,
	SAMPLE_PID,
	SAMPLE_TID,
	SAMPLE_CPU,
	SAMPLE_PERIOD,
	SAMPLE_IP,
	SAMPLE_ADDR,
	SAMPLE_WEIGHT,
	SAMPLE_EVENT,
	SAMPLE_DSO,
	SAMPLE_SYM,
	SAMPLE_CGROUP,
	SAMPLE_UNIT,
	SAMPLE_CONTAINER,
	SAMPLE_POD,
	N_SAMPLE_FIELDS,
};

static const struct {
	const char *name;
	enum where_type type;
} sample_fields[N_SAMPLE_FIELDS] = {
	[SAMPLE_COMM] = {"comm", WHERE_STRING},
	[SAMPLE_PID] = {"pid", WHERE_NUMBER},
	[SAMPLE_TID] = {"tid", WHERE_NUMBER},
	[SAMPLE_CPU] = {"cpu", WHERE_NUMBER},
	[SAMPLE_PERIOD] = {"period", WHERE_NUMBER},
	[SAMPLE_IP] = {"ip", WHERE_NUMBER},
	[SAMPLE_ADDR] = {"addr", WHERE_NUMBER},
	[SAMPLE_WEIGHT] = {"weight", WHERE_NUMBER},
	[SAMPLE_EVENT] = {"event", WHERE_STRING},
	[SAMPLE_DSO] = {"dso", WHERE_STRING},
	[SAMPLE_SYM] = {"sym", WHERE_STRING},
	[SAMPLE_CGROUP] = {"cgroup", WHERE_STRING},
	[SAMPLE_UNIT] = {"unit", WHERE_STRING},
	[SAMPLE_CONTAINER] = {"container", WHERE_STRING},
	[SAMPLE_POD] = {"pod", WHERE_STRING},
};

/* Where a name of the condition has its value for one event. */
struct binding {
	const struct trace_field *field; /* NULL: */
	size_t index;			 /* of field in its event */
	enum sample_field sample;	 /* N_SAMPLE_FIELDS: nowhere */
};

/* One event of the recording. */
struct bound_event {
	struct trace_event *trace; /* NULL: not a tracepoint, or its format is not known */
	struct binding *bindings;  /* by the condition's fields; NULL: not bound yet */
};

/* What the events of the recording say of a field of the condition. */
struct field_use {
	bool found, fits;     /* in some event */
	struct error *misfit; /* why it does not fit, in the first event where it does not */
};

struct filter {
	bool selects_all;
	uint64_t *cpu_bits;	    /* NULL: all */
	uint64_t *parallelism_bits; /* likewise */
	struct names comms, dsos, symbols;
	VEC(uint64_t) addresses; /* of symbols */
	uint32_t addr_range;	 /* bytes from each of them on; 0: none */
	struct filter_numbers pids, tids;
	struct names cgroups, containers, pods;
	struct u64map cgroup_ids; /* of cgroups that have a path: whether they are selected */
	struct time_spans time;
	struct event_switch event_switch;
	bool switch_by_shown;
	struct where *where; /* NULL: none */

	VEC(struct bound_event) events;
	struct field_use *uses; /* by the condition's fields */
	bool is_pipe;

	/* For value_of(). */
	const struct filter_input *in;
};

/* ---- options ---- */

static struct error *take_symbols(struct filter *f)
{
	for (size_t i = 0; i < f->symbols.n; i++) {
		const char *name = f->symbols.v[i];
		char *end;

		if (strncmp(name, "0x", 2) || !name[2])
			continue;
		errno = 0;
		const uint64_t address = strtoull(name + 2, &end, 16);
		if (errno || *end)
			return error_hint(error_usage("--symbols: '%s' is not an address", name),
					  "write 0x and at most 16 hexadecimal digits");
		uint64_t *slot = vec_push(&f->addresses);
		if (!slot)
			return error_nomem();
		*slot = address;
	}
	return NULL;
}

static struct error *take_options(struct filter *f, const struct filter_opts *opts)
{
	if (opts->cpus)
		TRY(cpus_parse("--cpu", opts->cpus, &f->cpu_bits));
	if (opts->parallelism)
		TRY(cpus_parse("--parallelism", opts->parallelism, &f->parallelism_bits));
	if (opts->comms)
		TRY(names_parse("--comms", opts->comms, &f->comms));
	if (opts->pids)
		TRY(numbers_parse("--pid", opts->pids, &f->pids));
	if (opts->tids)
		TRY(numbers_parse("--tid", opts->tids, &f->tids));
	if (opts->dsos)
		TRY(names_parse("--dsos", opts->dsos, &f->dsos));
	if (opts->symbols) {
		TRY(names_parse("--symbols", opts->symbols, &f->symbols));
		TRY(take_symbols(f));
	}
	if (opts->addr_range && !f->addresses.n)
		return error_hint(error_usage("--addr-range needs an address in --symbols"),
				  "write -S 0x4007a0 --addr-range 10");
	f->addr_range = opts->addr_range;
	if (opts->cgroups)
		TRY(names_parse("--cgroup", opts->cgroups, &f->cgroups));
	if (opts->containers)
		TRY(names_parse("--container", opts->containers, &f->containers));
	if (opts->pods)
		TRY(names_parse("--pod", opts->pods, &f->pods));
	if (opts->time)
		TRY(time_spans_parse("--time", opts->time, &f->time));
	f->event_switch = (struct event_switch){
		.on_name = opts->switch_on,
		.off_name = opts->switch_off,
		.shows_both = opts->show_on_off,
		.is_off = opts->switch_on,
	};
	f->switch_by_shown = opts->switch_by_shown;
	if (!opts->where)
		return NULL;
	TRY(error_prefix(where_parse(opts->where, &f->where), "--where"));
	f->uses = calloc(where_n_fields(f->where) + 1, sizeof(*f->uses));
	return f->uses ? NULL : error_nomem();
}

struct error *filter_new(const struct filter_opts *opts, struct filter **out)
{
	const struct filter_opts none = {.sz = opts->sz};
	_cleanup_(filter_freep) struct filter *f = calloc(1, sizeof(*f));

	if (!f)
		return error_nomem();
	TRY(take_options(f, opts));
	/* by all members that select, so that none can be forgotten here */
	f->selects_all = !memcmp(opts, &none, offsetof(struct filter_opts, show_on_off));
	*out = steal_ptr(f);
	return NULL;
}

void filter_free(struct filter *f)
{
	struct bound_event *e;

	if (!f)
		return;
	free(f->cpu_bits);
	free(f->parallelism_bits);
	names_deinit(&f->comms);
	names_deinit(&f->dsos);
	names_deinit(&f->symbols);
	names_deinit(&f->cgroups);
	names_deinit(&f->containers);
	names_deinit(&f->pods);
	u64map_deinit(&f->cgroup_ids);
	vec_deinit(&f->addresses);
	vec_deinit(&f->pids);
	vec_deinit(&f->tids);
	vec_deinit(&f->time);
	for (size_t i = 0; f->uses && i < where_n_fields(f->where); i++)
		error_free(f->uses[i].misfit);
	free(f->uses);
	where_free(f->where);
	vec_for_each (e, &f->events)
		free(e->bindings);
	vec_deinit(&f->events);
	free(f);
}

bool filter_selects_all(const struct filter *f)
{
	return f->selects_all;
}

static const char *only(const struct names *names)
{
	return names->n == 1 ? names->v[0] : NULL;
}

const char *filter_only_comm(const struct filter *f)
{
	return only(&f->comms);
}

const char *filter_only_dso(const struct filter *f)
{
	return only(&f->dsos);
}

const char *filter_only_symbol(const struct filter *f)
{
	return f->addresses.n ? NULL : only(&f->symbols);
}

/* ---- the recording ---- */

/* An event that counts nothing: it is there for the records beside its samples. */
static bool is_dummy(const struct session_event *ev)
{
	return ev->attr.type == PERF_TYPE_SOFTWARE && ev->attr.config == PERF_COUNT_SW_DUMMY;
}

static bool by_cgroup(const struct filter *f)
{
	return f->cgroups.n || f->containers.n || f->pods.n;
}

static struct error *check_sample_type(const struct filter *f, const struct session_event *ev)
{
	const uint64_t has = ev->attr.sample_type;

	if (f->cpu_bits && !(has & PERF_SAMPLE_CPU))
		return error_hint(error_new(EINVAL, "--cpu: samples of '%s' have no CPU", ev->name),
				  "remove --cpu, or record with -a or --sample-cpu");
	if (f->time.n && !(has & PERF_SAMPLE_TIME))
		return error_hint(error_new(EINVAL, "--time: samples of '%s' have no timestamps",
					    ev->name),
				  "remove --time, or record with -T");
	if ((f->pids.n || f->tids.n || f->comms.n) && !(has & PERF_SAMPLE_TID))
		return error_hint(error_new(EINVAL,
					    "samples of '%s' have no process and thread ids",
					    ev->name),
				  "remove --pid, --tid and --comms");
	if (by_cgroup(f) && !(has & PERF_SAMPLE_CGROUP))
		return error_hint(error_new(EINVAL, "samples of '%s' have no cgroup", ev->name),
				  "remove --cgroup, --container and --pod, or record with "
				  "--all-cgroups");
	return NULL;
}

static enum sample_field find_sample_field(const char *name)
{
	enum sample_field i = 0;

	while (i < N_SAMPLE_FIELDS && strcmp(sample_fields[i].name, name))
		i++;
	return i;
}

static struct binding bind_field(const struct where_field *want, const struct trace_event *trace)
{
	struct binding b = {.sample = N_SAMPLE_FIELDS};

	for (size_t i = 0; trace && !want->owner && i < trace_event_n_fields(trace); i++) {
		const struct trace_field *field = trace_event_field(trace, i);

		if (strcmp(field->name, want->name) || trace_field_is_inner(trace, field))
			continue;
		b.field = field;
		b.index = i;
		return b;
	}
	if (want->index < 0 && (!want->owner || !strcmp(want->owner, "sample")))
		b.sample = find_sample_field(want->name);
	return b;
}

static enum where_type type_of(const struct where_field *want, const struct binding *b)
{
	if (!b->field)
		return b->sample < N_SAMPLE_FIELDS ? sample_fields[b->sample].type : WHERE_NOTHING;
	if (b->field->kind == TRACE_FIELD_STRING)
		return WHERE_STRING;
	return b->field->kind == TRACE_FIELD_ARRAY && want->index < 0 ? WHERE_NOTHING
								      : WHERE_NUMBER;
}

/* The first error lasts: it is shown when the field fits in no event. */
static void note_misfit(struct field_use *use, const struct session_event *ev, struct error *err)
{
	if (use->misfit)
		error_free(err);
	else
		use->misfit = error_hint(error_prefix(err, "--where"),
					 "the field of event '%s' is used", ev->name);
}

/* An array without [N], [N] behind what is no array. */
static struct error *check_index(const struct filter *f, size_t i, const struct binding *b)
{
	const struct where_field *want = where_field(f->where, i);
	const bool is_array = b->field && b->field->kind == TRACE_FIELD_ARRAY;

	if (!b->field || is_array == (want->index >= 0))
		return NULL;
	return is_array ? where_field_error(f->where, i,
					    "field '%s' is an array: write %s[0] for its first "
					    "element",
					    want->name, want->name)
			: where_field_error(f->where, i, "field '%s' is not an array", want->name);
}

/* Decides for an event what each field of the condition is. */
static struct error *bind_event(struct filter *f, const struct session_event *ev,
				struct bound_event *e)
{
	const size_t n = where_n_fields(f->where);
	_cleanup_free_ enum where_type *types = calloc(n + 1, sizeof(*types));
	struct error *err = NULL;
	size_t misfit = 0;

	e->bindings = calloc(n + 1, sizeof(*e->bindings));
	if (!types || !e->bindings)
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		const struct where_field *want = where_field(f->where, i);

		e->bindings[i] = bind_field(want, e->trace);
		types[i] = type_of(want, &e->bindings[i]);
		f->uses[i].found |= e->bindings[i].field || e->bindings[i].sample < N_SAMPLE_FIELDS;
		if (!err) {
			err = check_index(f, i, &e->bindings[i]);
			misfit = i;
		}
	}
	if (!err)
		err = where_check(f->where, types, &misfit);
	if (err)
		note_misfit(&f->uses[misfit], ev, err);
	for (size_t i = 0; !err && i < n; i++)
		f->uses[i].fits |= types[i] != WHERE_NOTHING;
	return NULL;
}

/* A name that no event has, with what there is. */
static struct error *unknown_field(const struct filter *f, size_t i)
{
	const struct where_field *want = where_field(f->where, i);
	struct nearest near = nearest_make(want->name);
	const struct bound_event *e;

	if (want->owner && strcmp(want->owner, "sample"))
		return error_hint(error_prefix(where_field_error(f->where, i,
								 "unexpected '.' after '%s'",
								 want->owner),
					       "--where"),
				  "fields of events have no prefix; sample.NAME is a field that "
				  "every sample has");
	for (size_t k = 0; k < N_SAMPLE_FIELDS; k++)
		nearest_offer(&near, sample_fields[k].name);
	vec_for_each (e, &f->events)
		for (size_t k = 0; e->trace && !want->owner && k < trace_event_n_fields(e->trace);
		     k++)
			nearest_offer(&near, trace_event_field(e->trace, k)->name);
	struct error *err = error_prefix(
		where_field_error(f->where, i, "no event of the recording has a field '%s'",
				  want->name),
		"--where");
	return error_suggest_and(
		err, &near,
		"every sample has comm, pid, tid, cpu, period, ip, addr, weight, "
		"event, dso and sym, with --all-cgroups also cgroup, unit, container and pod; "
		"'script --json' shows the fields of tracepoints");
}

/* What is wrong with the condition, once all events are known. */
static struct error *check_condition(const struct filter *f)
{
	for (size_t i = 0; i < where_n_fields(f->where); i++) {
		const struct field_use *use = &f->uses[i];

		if (!use->found)
			return unknown_field(f, i);
		if (!use->fits && use->misfit)
			return error_hint(error_usage("%s", use->misfit->msg), "%s",
					  use->misfit->hint ? use->misfit->hint : "");
	}
	return NULL;
}

static struct error *check_names(const struct filter *f, struct session *s)
{
	TRY(event_switch_check(&f->event_switch, s));
	return f->where ? check_condition(f) : NULL;
}

struct error *filter_check(struct filter *f, struct session *s, struct tracing *tracing)
{
	f->is_pipe = session_header(s)->pipe;
	for (size_t i = 0; i < session_n_events(s); i++) {
		const struct session_event *ev = session_event(s, i);
		struct bound_event *e;

		if (i >= f->events.n) {
			if (!is_dummy(ev))
				TRY(check_sample_type(f, ev));
			if (!vec_push(&f->events))
				return error_nomem();
			event_switch_learn(&f->event_switch, ev);
		}
		e = &f->events.v[i];
		if (!f->where || (e->bindings && (e->trace || !tracing)))
			continue;
		if (ev->attr.type == PERF_TYPE_TRACEPOINT) {
			if (!tracing && f->is_pipe)
				continue; /* its format comes later */
			e->trace = tracing ? tracing_find(tracing, ev->attr.config) : NULL;
		} else if (e->bindings) {
			continue;
		}
		free(e->bindings);
		e->bindings = NULL;
		TRY(bind_event(f, ev, e));
	}
	return f->is_pipe ? NULL : check_names(f, s);
}

struct error *filter_end(const struct filter *f, struct session *s)
{
	return f->is_pipe && f->events.n ? check_names(f, s) : NULL;
}

/* ---- bounds ---- */

struct bounds {
	uint64_t first, last;
};

static struct error *note_time(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct bounds *b = tool->ctx;

	if (!sample->time)
		return NULL;
	if (!b->first || sample->time < b->first)
		b->first = sample->time;
	if (sample->time > b->last)
		b->last = sample->time;
	return NULL;
}

struct error *filter_find_bounds(struct filter *f, struct session *s, const char *path,
				 const struct session_opts *opts)
{
	const struct data_header *header = session_header(s);
	struct bounds b = {header->first_sample_time, header->last_sample_time};
	struct session_tool tool = {.ctx = &b, .unordered = true, .sample = note_time};
	_cleanup_(session_freep) struct session *again = NULL;
	struct session_opts quiet = *opts;

	if (!f->time.is_share)
		return NULL;
	if (!b.first && !b.last) {
		if (header->pipe)
			return error_hint(error_new(EOPNOTSUPP,
						    "--time: the start and end of a recording in a "
						    "pipe are not known"),
					  "write it to a file first, or use START,STOP in seconds");
		/* What is damaged is reported when the samples are read for good. */
		quiet.log = NULL;
		TRY(session_open(path, &quiet, &again));
		struct error *err = session_process(again, &tool);
		if (err && err->code != EBADMSG)
			return err;
		error_free(err);
	}
	time_spans_set_bounds(&f->time, b.first, b.last);
	return NULL;
}

/* ---- samples ---- */

bool filter_needs_location(const struct filter *f)
{
	if (f->dsos.n || f->symbols.n)
		return true;
	for (size_t i = 0; f->where && i < where_n_fields(f->where); i++) {
		const enum sample_field field = find_sample_field(where_field(f->where, i)->name);

		/* ip too: of a probe's sample it is where the probe is */
		if (field == SAMPLE_DSO || field == SAMPLE_SYM || field == SAMPLE_IP)
			return true;
	}
	return false;
}

static struct where_value number_value(uint64_t number, bool is_signed)
{
	return (struct where_value){.type = WHERE_NUMBER, .number = number, .is_signed = is_signed};
}

static struct where_value string_value(const char *str)
{
	return (struct where_value){.type = str ? WHERE_STRING : WHERE_NOTHING,
				    .str = str,
				    .len = str ? strlen(str) : 0};
}

static struct where_value sample_value(const struct filter_input *in, enum sample_field field)
{
	const struct where_value none = {.type = WHERE_NOTHING};
	const struct sample *s = in->sample;

	switch (field) {
	case SAMPLE_COMM:
		return string_value(in->thread ? in->thread->comm : NULL);
	case SAMPLE_PID:
		return s->has & PERF_SAMPLE_TID ? number_value((uint64_t)s->pid, true) : none;
	case SAMPLE_TID:
		return s->has & PERF_SAMPLE_TID ? number_value((uint64_t)s->tid, true) : none;
	case SAMPLE_CPU:
		return s->cpu >= 0 ? number_value((uint64_t)s->cpu, false) : none;
	case SAMPLE_PERIOD:
		return number_value(s->period, false);
	case SAMPLE_IP:
		return s->has & PERF_SAMPLE_IP ? number_value(s->ip, false) : none;
	case SAMPLE_ADDR:
		return s->has & PERF_SAMPLE_ADDR ? number_value(s->addr, false) : none;
	case SAMPLE_WEIGHT:
		return s->has & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)
			       ? number_value(sample_weight(s), false)
			       : none;
	case SAMPLE_EVENT:
		return string_value(in->event->name);
	case SAMPLE_DSO:
		return string_value(in->leaf && in->leaf->map && in->leaf->map->dso
					    ? in->leaf->map->dso->short_name
					    : NULL);
	case SAMPLE_SYM:
		return string_value(in->leaf && in->leaf->sym ? in->leaf->sym->name : NULL);
	case SAMPLE_CGROUP:
		return string_value(in->cgroup ? in->cgroup->path : NULL);
	case SAMPLE_UNIT:
		return string_value(in->cgroup ? in->cgroup->unit : NULL);
	case SAMPLE_CONTAINER:
		return string_value(in->cgroup ? in->cgroup->container : NULL);
	case SAMPLE_POD:
		return string_value(in->cgroup ? in->cgroup->pod : NULL);
	default:
		return none;
	}
}

static struct where_value float_value(uint64_t bits, uint32_t size)
{
	struct where_value v = {.type = WHERE_NUMBER, .is_float = true};
	float narrow;

	if (size == sizeof(narrow)) {
		const uint32_t low = (uint32_t)bits;

		memcpy(&narrow, &low, sizeof(narrow));
		v.real = narrow;
	} else {
		memcpy(&v.real, &bits, sizeof(v.real));
	}
	return v;
}

static struct where_value field_value(const struct trace_event *trace, const struct binding *b,
				      const struct where_field *want, const struct sample *s)
{
	const struct where_value none = {.type = WHERE_NOTHING};
	const struct trace_field *field = b->field;
	const uint8_t *bytes;
	uint64_t number;
	uint32_t len;

	if (!s->raw || !trace_event_has_value(trace, b->index, s->raw, s->raw_size))
		return none;
	switch (field->kind) {
	case TRACE_FIELD_STRING:
		if (!trace_field_bytes(trace, field, s->raw, s->raw_size, &bytes, &len))
			return none;
		return (struct where_value){
			.type = WHERE_STRING, .str = (const char *)bytes, .len = len};
	case TRACE_FIELD_ARRAY:
		if (want->index < 0 || !field->elem_size ||
		    !trace_field_bytes(trace, field, s->raw, s->raw_size, &bytes, &len) ||
		    want->index >= len / field->elem_size)
			return none;
		return number_value(trace_field_elem(trace, field, bytes, (uint32_t)want->index),
				    field->elem_signed);
	default:
		if (want->index >= 0 ||
		    !trace_field_number(trace, field, s->raw, s->raw_size, &number))
			return none;
		return field->kind == TRACE_FIELD_FLOAT
			       ? float_value(number, field->size)
			       : number_value(number, field->kind == TRACE_FIELD_SIGNED);
	}
}

/* where_value_fn */
static struct where_value value_of(void *ctx, size_t i)
{
	const struct filter *f = ctx;
	const struct bound_event *e = &f->events.v[f->in->event->index];
	const struct binding *b = &e->bindings[i];

	return b->field ? field_value(e->trace, b, where_field(f->where, i), f->in->sample)
			: sample_value(f->in, b->sample);
}

bool filter_has_time(const struct filter *f, uint64_t time)
{
	return !f->time.n || !time || time_spans_have(&f->time, time);
}

bool filter_has_cpu(const struct filter *f, int32_t cpu)
{
	if (!f->cpu_bits || cpu < 0)
		return true;
	return cpu < FILTER_CPUS_MAX && f->cpu_bits[cpu / 64] >> (cpu % 64) & 1;
}

static bool fulfils_condition(struct filter *f, const struct filter_input *in)
{
	if (!f->where)
		return true;
	if ((size_t)in->event->index >= f->events.n || !f->events.v[in->event->index].bindings)
		return false;
	f->in = in;
	return where_is_true(f->where, value_of, f);
}

static bool has_parallelism(const struct filter *f, unsigned n)
{
	return !f->parallelism_bits ||
	       (n < FILTER_CPUS_MAX && f->parallelism_bits[n / 64] >> (n % 64) & 1);
}

static bool has_thread(const struct filter *f, const struct filter_input *in)
{
	if (f->pids.n && !numbers_have(&f->pids, in->sample->pid))
		return false;
	if (f->tids.n && !numbers_have(&f->tids, in->sample->tid))
		return false;
	return !f->comms.n || (in->thread && names_have(&f->comms, in->thread->comm));
}

static bool selects_path(const struct filter *f, const char *path)
{
	for (size_t i = 0; i < f->cgroups.n; i++)
		if (cgroup_is_below(path, f->cgroups.v[i]))
			return true;
	for (size_t i = 0; i < f->containers.n; i++)
		if (cgroup_is_in_container(path, f->containers.v[i]))
			return true;
	for (size_t i = 0; i < f->pods.n; i++)
		if (cgroup_is_in_pod(path, f->pods.v[i]))
			return true;
	return false;
}

static bool has_cgroup(struct filter *f, const struct session_cgroup *cgroup)
{
	void *const selected = (void *)1, *const not_selected = (void *)2;

	if (!by_cgroup(f))
		return true;
	if (!cgroup || !cgroup->path)
		return false;
	void *known = u64map_get(&f->cgroup_ids, cgroup->id);
	if (!known) {
		known = selects_path(f, cgroup->path) ? selected : not_selected;
		/* without memory it is looked at again */
		u64map_put(&f->cgroup_ids, cgroup->id, known);
	}
	return known == selected;
}

static bool has_dso(const struct filter *f, const struct location *leaf)
{
	const struct dso *dso = leaf && leaf->map ? leaf->map->dso : NULL;

	if (!f->dsos.n)
		return true;
	return dso && (names_have(&f->dsos, dso->short_name) || names_have(&f->dsos, dso->path));
}

static bool has_symbol(const struct filter *f, const struct location *leaf)
{
	const uint64_t *address;

	if (!f->symbols.n)
		return true;
	if (!leaf)
		return false;
	if (leaf->sym && names_have(&f->symbols, leaf->sym->name))
		return true;
	vec_for_each (address, &f->addresses) {
		if (leaf->addr == *address)
			return true;
		if (leaf->map && leaf->addr >= *address && leaf->addr - *address < f->addr_range)
			return true;
		if (leaf->sym && location_unmap(leaf->map, leaf->sym->start) == *address)
			return true;
	}
	return false;
}

static enum filter_verdict verdict_of(struct filter *f, const struct filter_input *in)
{
	if (!filter_has_cpu(f, in->sample->cpu) || !fulfils_condition(f, in))
		return FILTER_DROP;
	return has_thread(f, in) && has_cgroup(f, in->cgroup) && has_dso(f, in->leaf) &&
			       has_symbol(f, in->leaf) && has_parallelism(f, in->parallelism)
		       ? FILTER_SHOW
		       : FILTER_HIDE;
}

enum filter_verdict filter_sample(struct filter *f, const struct filter_input *in)
{
	if (!filter_has_time(f, in->sample->time))
		return FILTER_DROP;
	if (!event_switch_is_given(&f->event_switch))
		return verdict_of(f, in);
	if (!f->switch_by_shown)
		return event_switch_selects(&f->event_switch, in->event) ? verdict_of(f, in)
									 : FILTER_DROP;
	const enum filter_verdict verdict = verdict_of(f, in);
	return verdict == FILTER_SHOW && !event_switch_selects(&f->event_switch, in->event)
		       ? FILTER_DROP
		       : verdict;
}
