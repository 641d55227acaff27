// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a program sends through a ring buffer, or a perf buffer, becomes the
 * rows of a table by its struct's BTF. The ring is emptied in batches: as many
 * as are there, up to RUN_MAX_BATCH, make one result, so that neither memory nor
 * the time between two looks at signals and timers grows with their number.
 *
 * The bytes are the program's: an event shorter than its struct has empty
 * cells, except for a text at the end, which is as long as the event, and what a longer one has
 * behind it is not looked at.
 *
 * The ring may be read long after an event, so its time is taken from the record:
 * a member called time, timestamp or ts (also with _ns) of type perf_bpf_time. Without
 * that type it is a guess, since such a member can also be a duration, or count
 * microseconds: the first event decides whether it is between the start and now.
 * Without a time of its own, the column is called time_read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/names.h"
#include "lib/btf/open.h"
#include "perf/event/event.h"
#include "lib/sys/sys.h"
#include "run/internal.h"
#include "show/columns.h"

enum {
	PERF_PAGES = 64, /* of a perf buffer, for each CPU */
};

struct stream {
	struct fields fields; /* n 0: bytes of no known type */
	struct result_column *columns;
	size_t n_columns;
	struct arena arena; /* of the columns */
	struct ring_buffer *ring;
	struct perf_buffer *perf;
	VEC(struct perf_buffer *) returned; /* further ones, of CPUs that were offline */
	struct perf_event_attr attr;	    /* of the perf buffers' events */
	uint64_t total, lost;
	const struct record_field *time; /* of fields; NULL: events do not contain their time */
	bool time_is_guess;		 /* until the first event */
	clockid_t clock;		 /* of the time */
	uint64_t start;			 /* by that clock: there are no events from before */

	/* while a batch is read */
	struct making *making;
	int64_t real_ahead; /* of that clock is CLOCK_REALTIME so much, in ns */
	VEC(struct result_cell) cells;
	size_t n_rows;
	struct error *err;
};

void stream_free(struct stream *s)
{
	struct perf_buffer **perf;

	if (!s)
		return;
	ring_buffer__free(s->ring);
	perf_buffer__free(s->perf);
	vec_for_each (perf, &s->returned)
		perf_buffer__free(*perf);
	vec_deinit(&s->returned);
	fields_deinit(&s->fields);
	arena_deinit(&s->arena);
	vec_deinit(&s->cells);
	error_free(s->err);
	free(s);
}

struct error *make_event(struct making *m, const struct fields *fields, const void *data,
			 size_t size, struct result_cell *cells)
{
	if (!fields->n) {
		struct record_field bytes = {.kind = FIELD_BYTES, .size = (uint32_t)size};

		return make_cell(m, &bytes, data, cells);
	}
	/* whose address it is may stand in the part that is missing */
	m->fields = fields->size <= size ? fields : NULL;
	for (size_t i = 0; i < fields->n; i++) {
		const struct record_field *f = &fields->v[i];

		if (f->hidden)
			continue;
		if ((uint64_t)f->off + f->size <= size) {
			TRY(make_cell(m, f, data, cells));
		} else if (f->kind == FIELD_CHARS && f->off < size && i + 1 == fields->n) {
			/* a last text needs no more room than it has */
			struct record_field text = *f;

			text.size = (uint32_t)size - f->off;
			TRY(make_cell(m, &text, data, cells));
		}
		cells++;
	}
	return NULL;
}

static void set_time_column(struct stream *s)
{
	s->columns[0] = (struct result_column){
		.name = s->time ? "time" : "time_read",
		.unit = "time",
	};
}

/* The time of an event, in ns since 1970; left empty if the program did not set it. */
static void set_time(struct stream *s, const void *data, size_t size, struct result_cell *cell)
{
	uint64_t now, at;

	if (!s->time) {
		*cell = (struct result_cell){.kind = CELL_UINT, .u = clock_ns(CLOCK_REALTIME)};
		return;
	}
	if ((uint64_t)s->time->off + s->time->size > size)
		return;
	now = clock_ns(s->clock);
	at = field_number(s->time, data);
	if (s->time_is_guess) {
		s->time_is_guess = false;
		if (at < s->start || at > now) {
			s->time = NULL;
			set_time_column(s);
			set_time(s, data, size, cell);
			return;
		}
	}
	if (at && at <= now)
		*cell = (struct result_cell){.kind = CELL_UINT, .u = (uint64_t)s->real_ahead + at};
}

static struct error *add_event(struct stream *s, const void *data, size_t size)
{
	struct result_cell *cells;

	if (!vec_reserve(&s->cells, s->cells.n + s->n_columns))
		return error_nomem();
	cells = s->cells.v + s->cells.n;
	memset(cells, 0, s->n_columns * sizeof(*cells));
	s->cells.n += s->n_columns;
	s->n_rows++;
	set_time(s, data, size, cells);
	return make_event(s->making, &s->fields, data, size, cells + 1);
}

static int on_event(void *ctx, void *data, size_t size)
{
	struct stream *s = ctx;

	s->total++;
	s->err = add_event(s, data, size);
	return s->err ? -ECANCELED : 0;
}

static enum bpf_perf_event_ret on_perf_record(void *ctx, int cpu, struct perf_event_header *event)
{
	struct cursor c = cursor_make(event, event->size, "perf buffer");
	struct stream *s = ctx;
	struct record_lost lost;
	struct sample sample;

	/* of what is no sound record nothing is known */
	if (event->type == PERF_RECORD_LOST && !(s->err = record_lost_decode(c, &lost))) {
		s->lost += lost.lost;
	} else if (event->type == PERF_RECORD_SAMPLE &&
		   !(s->err = sample_decode(&s->attr, c, &sample))) {
		s->total++;
		s->err = add_event(s, sample.raw, sample.raw_size);
	}
	return s->err ? LIBBPF_PERF_EVENT_ERROR : LIBBPF_PERF_EVENT_CONT;
}

/*
 * A perf event array tells of a loss with the next record that has room, so of
 * the last ones never; the events' own counts (6.0) have them too.
 */
static uint64_t perf_lost(const struct perf_buffer *perf)
{
	uint64_t values[2], sum = 0;

	for (size_t i = 0; i < perf_buffer__buffer_cnt(perf); i++)
		if (read(perf_buffer__buffer_fd(perf, i), values, sizeof(values)) == sizeof(values))
			sum += values[1];
	return sum;
}

static void add_perf_lost(struct stream *s)
{
	struct perf_buffer **perf;
	uint64_t sum = 0;

	if (!s->perf || !s->attr.read_format)
		return;
	sum = perf_lost(s->perf);
	vec_for_each (perf, &s->returned)
		sum += perf_lost(*perf);
	s->lost = max_of(s->lost, sum);
}

static struct perf_buffer *open_perf(struct stream *s, int fd)
{
	s->attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(s->attr),
		.config = PERF_COUNT_SW_BPF_OUTPUT,
		.sample_type = PERF_SAMPLE_RAW,
		.sample_period = 1,
		.wakeup_events = 1,
		.read_format = PERF_FORMAT_LOST,
	};
	int probe = sys_perf_event_open(&s->attr, -1, 0, -1, 0);
	if (probe >= 0)
		close(probe);
	else if (probe == -EINVAL)
		s->attr.read_format = 0;
	return perf_buffer__new_raw(fd, PERF_PAGES, &s->attr, on_perf_record, s, NULL);
}

/* "struct open", "union u", or a typedef's name; ENOENT, with near names: there is none. */
static struct error *find_type(const struct btf *btf, const char *text, uint32_t *id)
{
	static const struct {
		const char *word;
		size_t len;
		uint32_t kind;
	} kinds[] = {{"struct ", 7, BTF_KIND_STRUCT}, {"union ", 6, BTF_KIND_UNION}};
	struct nearest near;
	size_t i = 0;
	int found;

	while (i < ARRAY_SIZE(kinds) && strncmp(text, kinds[i].word, kinds[i].len) != 0)
		i++;
	const char *name = i < ARRAY_SIZE(kinds) ? text + kinds[i].len : text;
	if (i < ARRAY_SIZE(kinds))
		found = btf__find_by_name_kind(btf, name, kinds[i].kind);
	else
		found = btf__find_by_name(btf, name);
	if (found > 0) {
		*id = found;
		return NULL;
	}
	near = nearest_make(name);
	for (uint32_t t = btf_start_id(btf); t < btf__type_cnt(btf); t++) {
		const struct btf_type *type = btf__type_by_id(btf, t);

		if (btf_is_composite(type) || btf_is_typedef(type))
			nearest_offer(&near, btf_name(btf, type));
	}
	struct error *err =
		error_new(ENOENT, "type=%s: the object's BTF does not contain this type", text);
	return error_suggest(err, &near);
}

static struct error *make_stream_columns(struct stream *s)
{
	const struct record_field *f;

	s->columns = arena_alloc(&s->arena, (2 + s->fields.n) * sizeof(*s->columns));
	if (!s->columns)
		return error_nomem();
	set_time_column(s);
	s->n_columns = 1;
	vec_for_each (f, &s->fields)
		if (!f->hidden)
			s->columns[s->n_columns++] = (struct result_column){
				.name = *f->name ? f->name : "value",
				.unit = field_unit(f),
				.has_text = field_has_text(f),
				.subject = field_subject(f),
			};
	if (!s->fields.n)
		s->columns[s->n_columns++] = (struct result_column){.name = "data"};
	return columns_distinguish(&s->arena, s->columns + 1, s->n_columns - 1);
}

/* Whether programs read the clock that also runs while the machine sleeps, and no other. */
static bool reads_boot_clock(const struct bpf_object *obj)
{
	struct bpf_program *prog;
	bool boot = false;

	bpf_object__for_each_program (prog, obj) {
		const struct bpf_insn *insns = bpf_program__insns(prog);

		for (size_t i = 0; i < bpf_program__insn_cnt(prog); i++) {
			if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg)
				continue;
			if (insns[i].imm == BPF_FUNC_ktime_get_ns)
				return false;
			boot |= insns[i].imm == BPF_FUNC_ktime_get_boot_ns;
		}
	}
	return boot;
}

static void find_time(struct stream *s, const struct bpf_object *obj)
{
	static const char *const names[] = {"time",    "timestamp",    "ts",
					    "time_ns", "timestamp_ns", "ts_ns"};
	struct record_field *f;

	s->clock = reads_boot_clock(obj) ? CLOCK_BOOTTIME : CLOCK_MONOTONIC;
	s->start = clock_ns(s->clock);
	for (size_t i = 0; i < ARRAY_SIZE(names) && !s->time; i++)
		vec_for_each (f, &s->fields) {
			if (strcmp(f->name, names[i]) != 0 || f->size != 8 || f->bits ||
			    (f->kind != FIELD_UINT && f->kind != FIELD_INT) ||
			    (f->role != ROLE_TIME && f->role != ROLE_NONE))
				continue;
			s->time = f;
			s->time_is_guess = f->role != ROLE_TIME;
			f->hidden = f->role == ROLE_TIME && s->fields.n > 1;
			break;
		}
}

struct error *stream_new(const struct bpf_object *obj, struct collector *c)
{
	const char *name = bpf_map__name(c->map), *type = c->display->type;
	struct stream *s = calloc(1, sizeof(*s));
	uint32_t id = 0;

	if (!s)
		return error_nomem();
	c->stream = s;
	if (type && !c->btf)
		return error_new(ENOENT, "map %s: type=%s, but the object has no BTF", name, type);
	if (type) {
		TRY(error_prefix(find_type(c->btf, type, &id), "map %s", name));
		int64_t size = btf__resolve_size(c->btf, id);
		if (size <= 0 || size > UINT32_MAX)
			return error_new(EINVAL, "map %s: type=%s has no size", name, type);
		TRY(error_prefix(fields_of(c->btf, id, (uint32_t)size, &s->fields),
				 "the events of map %s", name));
	}
	find_time(s, obj);
	TRY(make_stream_columns(s));
	switch ((int)bpf_map__type(c->map)) {
	case BPF_MAP_TYPE_RINGBUF:
		s->ring = ring_buffer__new(bpf_map__fd(c->map), on_event, s, NULL);
		break;
	case BPF_MAP_TYPE_PERF_EVENT_ARRAY:
		s->perf = open_perf(s, bpf_map__fd(c->map));
		break;
	default:
		return error_hint(error_new(EINVAL,
					    "map %s is declared as events but is neither a ring "
					    "buffer nor a perf event array",
					    name),
				  "define it with PERF_BPF_EVENTS()");
	}
	if (!s->ring && !s->perf)
		return error_errno(errno, "map %s: cannot map its ring", name);
	return NULL;
}

const struct fields *stream_fields(const struct stream *s)
{
	return &s->fields;
}

bool collector_is_by_cpu(const struct collector *c)
{
	return c->stream && c->stream->perf;
}

int collector_fd(const struct collector *c)
{
	if (!c->stream)
		return -1;
	return c->stream->ring ? ring_buffer__epoll_fd(c->stream->ring)
			       : perf_buffer__epoll_fd(c->stream->perf);
}

/*
 * The CPU's event is out of use since the CPU was offline. Its ring, which may hold some events
 * still, stays as it is; in the map, a new event takes its place.
 */
struct error *collector_cpu_returned(struct collector *c, unsigned cpu, int *fd)
{
	LIBBPF_OPTS(perf_buffer_raw_opts, opts);
	struct stream *s = c->stream;
	int number = (int)cpu;

	*fd = -1;
	if (!s || !s->perf || cpu >= bpf_map__max_entries(c->map))
		return NULL;
	if (!vec_reserve(&s->returned, s->returned.n + 1))
		return error_nomem();
	opts.cpu_cnt = 1;
	opts.cpus = opts.map_keys = &number;
	struct perf_buffer *perf = perf_buffer__new_raw(bpf_map__fd(c->map), PERF_PAGES, &s->attr,
							on_perf_record, s, &opts);
	if (!perf)
		return error_errno(errno, "map %s: cannot map its ring", collector_name(c));
	s->returned.v[s->returned.n++] = perf;
	*fd = perf_buffer__epoll_fd(perf);
	return NULL;
}

/* All rings: of a CPU that was offline, the old one first. */
static int consume_perf(struct stream *s)
{
	struct perf_buffer **perf;
	int got = perf_buffer__consume(s->perf);

	vec_for_each (perf, &s->returned)
		if (got >= 0)
			got = perf_buffer__consume(*perf);
	return got;
}

/* The cells are the stream's until the next batch, which is after the result's end. */
static void set_rows(struct stream *s, struct result *r)
{
	struct result_table *t = &r->events.table;

	t->columns = s->columns;
	t->n_columns = s->n_columns;
	t->n_rows = s->n_rows;
	t->cells = s->cells.v;
	r->events.total = s->total;
	r->events.lost = s->lost;
	r->events.lost_counted = s->perf && s->attr.read_format;
}

void make_events(struct collector *c, struct result *r)
{
	struct stream *s = c->stream;

	s->n_rows = s->cells.n = 0;
	add_perf_lost(s);
	set_rows(s, r);
}

struct error *collector_drain(struct collector *c, struct run_names *names, struct results *results,
			      size_t *n)
{
	struct making m = {.c = c, .names = names, .arena = &results->arena};
	struct stream *s = c->stream;
	struct result *r;
	int got;

	*n = 0;
	if (!s)
		return NULL;
	s->making = &m;
	s->real_ahead = clock_ahead(CLOCK_REALTIME, s->clock);
	s->n_rows = s->cells.n = 0;
	got = s->ring ? ring_buffer__consume_n(s->ring, RUN_MAX_BATCH) : consume_perf(s);
	s->making = NULL;
	strbuf_deinit(&m.text);
	if (s->err)
		return steal_ptr(s->err);
	if (got < 0)
		return error_errno(-got, "map %s: cannot read its ring", collector_name(c));
	*n = s->n_rows;
	if (!s->n_rows)
		return NULL;
	r = results_add(results, RESULT_EVENTS, collector_name(c));
	if (!r)
		return error_nomem();
	r->title = c->display->title;
	r->events.format = c->display->format;
	set_rows(s, r);
	return NULL;
}
