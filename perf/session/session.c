// SPDX-License-Identifier: BSD-2-Clause
/*
 * The session: keeps the books (events, threads, maps, losses) as records
 * come, and hands each to the tool.
 *
 * A record of the kernel belongs to an event. With several events, the id in
 * the record tells which: it stands at a place that all events of a recording
 * agree on. Then the event's sample_layout decodes it. The records that perf
 * writes itself (type 64 and on) have no time and are dealt with at once.
 *
 * A single record that makes no sense is warned of, once, and left out; where
 * the sequence of records itself breaks, reading ends with an error, after
 * all that came before was handed on.
 */
#include <inttypes.h>
#include <stdio.h>

#include "perf/session/internal.h"

struct error session_stop = {.code = ECANCELED, .msg = (char *)"stopped"};

/* ---- events ---- */

/* What all events of the recording have in common, with one more. */
static void event_agrees(struct session *s, const struct event_node *ev)
{
	const struct event_node *first = s->events.v[0];

	if (ev == first)
		s->id_pos = s->id_pos_back = -1;
	if (s->id_pos < 0)
		s->id_pos = sample_id_pos(&ev->pub.attr);
	if (s->id_pos_back < 0)
		s->id_pos_back = sample_id_pos_back(&ev->pub.attr);
	s->same_time = (ev == first || s->same_time) && ev->layout.time == first->layout.time &&
		       ev->layout.back_time == first->layout.back_time &&
		       ev->layout.id_all == first->layout.id_all;
	s->sample_time_at =
		s->same_time && first->layout.time >= 0
			? sizeof(struct perf_event_header) + (size_t)first->layout.time * 8
			: 0;
}

static char *event_name(const struct session *s, const struct data_event *ev)
{
	const struct data_tracing_event *tp = NULL;
	char *name;

	if (ev->name && *ev->name)
		return strdup(ev->name);
	if (ev->attr.type == PERF_TYPE_TRACEPOINT && s->has_tracing)
		tp = data_tracing_find(&s->tracing, ev->attr.config);
	if (tp)
		return asprintf(&name, "%s:%.*s", tp->system, (int)tp->name_size, tp->name) < 0
			       ? NULL
			       : name;
	return data_event_name(&ev->attr);
}

/* An earlier name stays valid for those who keep it. */
static struct error *rename_event(struct session *s, struct event_node *ev, const char *name)
{
	const char *copy = arena_strdup(&s->maps.arena, name);

	if (!copy)
		return error_nomem();
	ev->pub.name = copy;
	return NULL;
}

struct error *session_add_event_ids(struct session *s, struct event_node *ev, const uint64_t *ids,
				    size_t n_ids)
{
	memset(s->recent, 0, sizeof(s->recent));
	for (size_t i = 0; i < n_ids; i++) {
		struct id_node *node = arena_alloc(&s->maps.arena, sizeof(*node));
		if (!node)
			return error_nomem();
		node->event = ev;
		if (!u64map_put(&s->by_id, ids[i], node))
			return error_nomem();
	}
	return NULL;
}

struct error *session_add_data_event(struct session *s, const struct data_event *from)
{
	struct event_node **slot = vec_push(&s->events);
	struct event_node *ev = slot ? calloc(1, sizeof(*ev)) : NULL;

	if (!ev) {
		if (slot)
			s->events.n--;
		return error_nomem();
	}
	*slot = ev;
	ev->pub.index = (int)s->events.n - 1;
	ev->pub.attr = from->attr;
	ev->pub.ids = from->ids;
	ev->pub.n_ids = from->n_ids;
	_cleanup_free_ char *name = event_name(s, from);
	if (!name)
		return error_nomem();
	TRY(rename_event(s, ev, name));
	sample_layout_init(&ev->layout, &ev->pub.attr, s->header.swap);
	event_agrees(s, ev);
	return session_add_event_ids(s, ev, from->ids, from->n_ids);
}

static struct error *add_events(struct session *s)
{
	for (size_t i = 0; i < s->header.n_events; i++)
		TRY(session_add_data_event(s, &s->header.events[i]));
	return NULL;
}

static struct event_node *event_of_id(struct session *s, uint64_t id)
{
	struct recent_id *recent = &s->recent[id % RECENT_IDS];

	if (recent->event && recent->id == id)
		return recent->event;
	struct id_node *node = u64map_get(&s->by_id, id);
	if (!node)
		return NULL;
	*recent = (struct recent_id){id, node->event};
	return node->event;
}

/*
 * The bytes of a record up to the end of its sample_id fields. While several events get KSYMBOL and
 * BPF_EVENT records, Linux (perf_event_ksymbol_output(), perf_event_bpf_output()) adds the size of
 * these fields for each event to the size in the one header that all of them get: what is behind is
 * what was in the ring before. Both records say themselves where their fields end.
 */
static size_t size_to_id(const struct session *s, uint32_t type, const uint8_t *rec, size_t size)
{
	enum { FIXED = 24 };

	if ((type != PERF_RECORD_KSYMBOL && type != PERF_RECORD_BPF_EVENT) || !s->events.n ||
	    size < FIXED)
		return size;
	size_t end = FIXED;
	if (type == PERF_RECORD_KSYMBOL) {
		const size_t length = strnlen((const char *)rec + FIXED, size - FIXED);
		end += (length + 8) & ~(size_t)7; /* with a NUL, and padding */
	}
	return min_of(size, end + s->events.v[0]->layout.id_all);
}

/* The event that a kernel record belongs to; NULL: its id names none. */
static struct event_node *event_of_record(struct session *s, uint32_t type, const uint8_t *rec,
					  size_t size)
{
	if (!s->events.n)
		return NULL;
	struct event_node *first = s->events.v[0];
	bool is_sample = type == PERF_RECORD_SAMPLE;
	int pos = is_sample ? s->id_pos : s->id_pos_back;
	uint64_t id;

	if (s->events.n == 1 || pos < 0 || (!is_sample && !first->pub.attr.sample_id_all))
		return first;
	size_t at = is_sample ? sizeof(struct perf_event_header) + (size_t)pos * 8
			      : size - (size_t)pos * 8;
	if (size < 8 + 8 || at < 8 || at > size - 8)
		return NULL;
	memcpy(&id, rec + at, 8);
	if (s->header.swap)
		id = bswap_64(id);
	/* What the recorder made up has no id. */
	return id ? event_of_id(s, id) : first;
}

bool session_record_time(struct session *s, uint32_t type, const uint8_t *rec, size_t size,
			 uint64_t *ts)
{
	size = size_to_id(s, type, rec, size);
	struct event_node *ev = s->same_time ? s->events.v[0] : event_of_record(s, type, rec, size);
	uint64_t t;

	if (!ev)
		return false;
	const struct sample_layout *layout = &ev->layout;
	if (type == PERF_RECORD_SAMPLE) {
		size_t at = sizeof(struct perf_event_header) + (size_t)layout->time * 8;
		if (layout->time < 0 || size < at + 8)
			return false;
		memcpy(&t, rec + at, 8);
	} else {
		if (layout->back_time < 0 ||
		    size < sizeof(struct perf_event_header) + layout->id_all)
			return false;
		memcpy(&t, rec + size - (size_t)layout->back_time * 8, 8);
	}
	if (s->header.swap)
		t = bswap_64(t);
	if (!t || t == UINT64_MAX)
		return false;
	*ts = t;
	return true;
}

/* ---- records of the kernel ---- */

void session_damaged(struct session *s, struct error *err)
{
	if (!s->n_damaged++)
		log_warn(s->log, "%s: %s; skipping it", err->where ? err->where : s->path,
			 err->msg);
	error_free(err);
}

struct error *session_settle(struct session *s)
{
	return s->tool->settle ? s->tool->settle(s->tool) : NULL;
}

/* The record at hand, named as perf 7.2 names it. */
static void record_damaged(struct session *s, struct error *err)
{
	const uint32_t type = s->rec.header.type;
	const char *name = record_type_name(type);

	if (!s->n_damaged++)
		log_warn(s->log, "%s: at offset 0x%" PRIx64 ": %s (%u): %s; skipping it", s->path,
			 s->rec.file_offset, name ? name : "unknown record", type, err->msg);
	error_free(err);
}

/*
 * One counter's value in a sample that reads counters: what it counted since
 * the last sample is the period, and the event is the one that it belongs to.
 * An inherited counter counts for each thread from 0, under one id.
 */
static struct error *deliver_value(struct session *s, const struct perf_event_attr *attr,
				   struct thread *thread, uint64_t value, uint64_t id)
{
	const bool by_thread = attr->inherit && attr->sample_type & PERF_SAMPLE_TID;
	struct id_node *node = u64map_get(&s->by_id, id);

	if (!node) {
		s->n_unknown_id++;
		return NULL;
	}
	uint64_t *last = by_thread ? thread_counter(s, thread, id) : &node->value;
	if (!last)
		return error_nomem();
	s->sample.id = id;
	s->sample.period = value - *last;
	*last = value;
	if (!s->sample.period)
		return NULL;
	s->rec.event = &node->event->pub;
	TRY(s->tool->sample(s->tool, s, &s->rec, &s->sample, s->rec.event, thread));
	s->rec.again = true;
	return NULL;
}

/* A sample of a group's leader stands for one of each member, as in perf. */
static struct error *deliver_values(struct session *s, const struct perf_event_attr *attr,
				    struct thread *thread)
{
	uint64_t format = attr->read_format;
	uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	uint64_t each = 2 + !!(format & PERF_FORMAT_LOST);
	const struct u64_array *read = &s->sample.read;

	if (!(format & PERF_FORMAT_GROUP))
		return deliver_value(s, attr, thread, u64_array_at(read, 0),
				     u64_array_at(read, 1 + times));
	for (uint64_t at = 1 + times; at + each <= read->n; at += each)
		TRY(deliver_value(s, attr, thread, u64_array_at(read, at),
				  u64_array_at(read, at + 1)));
	return NULL;
}

static struct error *deliver_sample(struct session *s, const struct chunk *chunk,
				    const uint8_t *rec, size_t size)
{
	struct session_tool *tool = s->tool;
	struct event_node *ev = event_of_record(s, PERF_RECORD_SAMPLE, rec, size);

	if (!ev) {
		TRY(session_settle(s));
		if (!s->n_unknown_id++)
			log_warn(s->log,
				 "%s: offset 0x%" PRIx64
				 ": a sample of an unknown event; skipping it",
				 s->path, chunk_offset(chunk, rec));
		return NULL;
	}
	if (!tool->sample && !tool->other)
		return NULL;
	if (!sample_layout_decode(&ev->layout, rec, size, &s->sample)) {
		struct error *err = session_settle(s);
		if (err)
			return err;
		err = sample_decode(&ev->pub.attr, s->rec.body, &s->sample);
		if (err)
			record_damaged(s, err);
		return NULL;
	}
	if (ev->pub.attr.branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK) {
		/* The chain of a sample before it is where this one's will be. */
		TRY(session_settle(s));
		TRY(branch_chain_use(s, &s->sample));
	}
	if (s->sample.has & PERF_SAMPLE_RAW && session_event_is_off_cpu(&ev->pub)) {
		struct error *err = off_cpu_sample_use(s, &s->sample);
		if (err) {
			TRY(session_settle(s));
			record_damaged(s, err);
			return NULL;
		}
	}
	s->rec.event = &ev->pub;
	if (!tool->sample)
		return tool->other(tool, s, &s->rec);
	if (tool->settle && thread_get_changes(s, s->sample.pid, s->sample.tid))
		TRY(session_settle(s));
	struct thread *thread = thread_get(s, s->sample.pid, s->sample.tid);
	if (!thread)
		return error_nomem();
	if (s->sample.has & PERF_SAMPLE_READ && ev->pub.attr.read_format & PERF_FORMAT_ID)
		return deliver_values(s, &ev->pub.attr, thread);
	return tool->sample(tool, s, &s->rec, &s->sample, &ev->pub, thread);
}

static bool is_kernel(const struct record *rec)
{
	uint16_t mode = rec->header.misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_GUEST_KERNEL;
}

static bool is_guest(const struct record *rec)
{
	uint16_t mode = rec->header.misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_USER || mode == PERF_RECORD_MISC_GUEST_KERNEL;
}

static struct error *call_other(struct session *s)
{
	return s->tool->other ? s->tool->other(s->tool, s, &s->rec) : NULL;
}

/* Decodes, keeps the books, calls the tool; a damaged record is left out. */
#define DECODE(fn, out)                                                                            \
	do {                                                                                       \
		struct error *decode_err_ = fn(s->fields, (out));                                  \
		if (decode_err_) {                                                                 \
			record_damaged(s, decode_err_);                                            \
			return NULL;                                                               \
		}                                                                                  \
	} while (0)

#define CALL(callback, arg)                                                                        \
	(s->tool->callback ? s->tool->callback(s->tool, s, &s->rec, (arg)) : call_other(s))

static struct error *deliver_mmap(struct session *s)
{
	struct record_mmap m;
	bool ok = true;

	DECODE(record_mmap_decode, &m);
	if (is_guest(&s->rec))
		return CALL(mmap, &m);
	ok = is_kernel(&s->rec) ? maps_add_kernel(s, &m) : thread_on_mmap(s, &m);
	return ok ? CALL(mmap, &m) : error_nomem();
}

static struct error *deliver_comm(struct session *s)
{
	struct record_comm c;

	DECODE(record_comm_decode, &c);
	return thread_on_comm(s, &c) ? CALL(comm, &c) : error_nomem();
}

static struct error *deliver_task(struct session *s)
{
	struct record_task t;

	DECODE(record_task_decode, &t);
	if (s->rec.header.type == PERF_RECORD_EXIT) {
		if (s->maps.live)
			thread_on_exit(s, &t);
		return CALL(exit, &t);
	}
	return thread_on_fork(s, &t, s->rec.header.misc) ? CALL(fork, &t) : error_nomem();
}

static struct error *deliver_lost(struct session *s)
{
	struct record_lost l;

	DECODE(record_lost_decode, &l);
	if (s->rec.header.type == PERF_RECORD_LOST) {
		s->losses.lost += l.lost;
		s->losses.chunks++;
		return CALL(lost, &l);
	}
	l.id = s->rec.id.id;
	/* What a BPF filter dropped is not lost. */
	if (!(s->rec.header.misc & RECORD_MISC_LOST_SAMPLES_BPF))
		s->losses.lost_samples += l.lost;
	return CALL(lost_samples, &l);
}

static struct error *deliver_ksymbol(struct session *s)
{
	struct record_ksymbol k;

	DECODE(record_ksymbol_decode, &k);
	return maps_add_ksymbol(s, &k) ? CALL(ksymbol, &k) : error_nomem();
}

static struct error *deliver_bpf_event(struct session *s)
{
	struct record_bpf_event b;

	DECODE(record_bpf_event_decode, &b);
	return CALL(bpf_event, &b);
}

static struct error *deliver_cgroup(struct session *s)
{
	struct record_cgroup c;

	DECODE(record_cgroup_decode, &c);
	return cgroups_add(s, &c) ? CALL(cgroup, &c) : error_nomem();
}

static struct error *deliver_namespaces(struct session *s)
{
	struct record_namespaces n;

	DECODE(record_namespaces_decode, &n);
	return CALL(namespaces, &n);
}

static struct error *deliver_other(struct session *s, const uint8_t *rec, size_t size)
{
	struct record *r = &s->rec;
	size = size_to_id(s, r->header.type, rec, size);
	struct event_node *ev = event_of_record(s, r->header.type, rec, size);

	TRY(session_settle(s));
	r->event = ev ? &ev->pub : NULL;
	if (!ev || !sample_layout_id_decode(&ev->layout, rec, size, &r->id))
		r->id = (struct sample){.pid = -1, .tid = -1, .cpu = -1};
	/* The kernel's fields end where sample_id begins. */
	s->fields = r->body;
	if (ev && size >= sizeof(r->header) + ev->layout.id_all)
		s->fields.size = size - ev->layout.id_all;
	s->maps.now = r->id.time;

	switch (r->header.type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return deliver_mmap(s);
	case PERF_RECORD_COMM:
		return deliver_comm(s);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return deliver_task(s);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		return deliver_lost(s);
	case PERF_RECORD_KSYMBOL:
		return deliver_ksymbol(s);
	case PERF_RECORD_BPF_EVENT:
		return deliver_bpf_event(s);
	case PERF_RECORD_CGROUP:
		return deliver_cgroup(s);
	case PERF_RECORD_NAMESPACES:
		return deliver_namespaces(s);
	default:
		return call_other(s);
	}
}

static void record_fill(struct session *s, const struct chunk *chunk, const uint8_t *rec,
			size_t size)
{
	struct record *r = &s->rec;

	r->file_offset = chunk_offset(chunk, rec);
	r->again = false;
	r->stays = !chunk->mem || chunk->is_piece;
	r->body = (struct cursor){
		.base = rec,
		.size = size,
		.swap = s->header.swap,
		.name = s->path,
		.origin = r->file_offset,
	};
	record_header_peek(&r->body, &r->header);
}

/* A later kernel or perf may write records that this program does not know. */
static void count_unknown(struct session *s)
{
	const uint32_t type = s->rec.header.type;

	if (type < RECORD_HEADER_ATTR ? type && type < PERF_RECORD_MAX : type < RECORD_MAX)
		return;
	if (!s->n_unknown_type++)
		log_warn(s->log,
			 "%s: offset 0x%" PRIx64 ": a record of the unknown type %" PRIu32
			 "; skipping it",
			 s->path, s->rec.file_offset, type);
}

/* What is in the recording, and no command shows. */
static void warn_of_skipped(struct session *s)
{
	const uint32_t type = s->rec.header.type;

	if ((type == RECORD_AUXTRACE || type == PERF_RECORD_AUX) && !s->warned.aux) {
		s->warned.aux = true;
		log_warn(s->log,
			 "%s: hardware trace data (AUX), such as of Intel PT or Arm SPE, is not "
			 "decoded",
			 s->path);
	}
	if ((type == RECORD_STAT || type == RECORD_STAT_CONFIG) && !s->warned.stat) {
		s->warned.stat = true;
		log_warn(s->log, "%s: the counts of perf stat are not shown", s->path);
	}
	if (type == PERF_RECORD_CALLCHAIN_DEFERRED && !s->warned.deferred) {
		s->warned.deferred = true;
		log_warn(s->log,
			 "%s: user call chains that were recorded later (CALLCHAIN_DEFERRED) are "
			 "not "
			 "added to their samples",
			 s->path);
	}
}

struct error *session_deliver(struct session *s, const struct chunk *chunk, const uint8_t *rec,
			      size_t size)
{
	record_fill(s, chunk, rec, size);
	count_unknown(s);
	warn_of_skipped(s);
	if (s->rec.header.type == PERF_RECORD_SAMPLE)
		return deliver_sample(s, chunk, rec, size);
	return deliver_other(s, rec, size);
}

/* ---- perf's own records ---- */

/* Bytes that the header will point into: a pipe's chunk does not stay. */
static const uint8_t *keep_bytes(struct session *s, const struct chunk *chunk, const uint8_t *p,
				 size_t size)
{
	if (!chunk->mem)
		return p;
	uint8_t **slot = vec_push(&s->kept);
	if (!slot)
		return NULL;
	*slot = malloc(size + 1);
	if (!*slot) {
		s->kept.n--;
		return NULL;
	}
	return memcpy(*slot, p, size);
}

static struct error *on_attr(struct session *s)
{
	struct cursor c = s->rec.body;
	struct data_event ev = {0};

	cursor_skip(&c, sizeof(struct perf_event_header));
	TRY(data_attr_decode(&c, cursor_left(&c), &ev.attr));
	size_t n = cursor_left(&c) / 8;
	struct data_event *slot = data_header_add_event(&s->header);
	if (!slot)
		return error_nomem();
	slot->attr = ev.attr;
	if (n) {
		slot->ids = calloc(n, sizeof(*slot->ids));
		if (!slot->ids)
			return error_nomem();
		slot->n_ids = n;
		for (size_t i = 0; i < n; i++)
			cursor_u64(&c, &slot->ids[i]);
	}
	return session_add_data_event(s, slot);
}

/* Names that the features, which may come behind the attrs, have told by now. */
static struct error *rename_events(struct session *s)
{
	for (size_t i = 0; i < s->events.n && i < s->header.n_events; i++) {
		_cleanup_free_ char *name = event_name(s, &s->header.events[i]);

		if (!name)
			return error_nomem();
		if (strcmp(name, s->events.v[i]->pub.name))
			TRY(rename_event(s, s->events.v[i], name));
	}
	return NULL;
}

static struct error *on_event_update(struct session *s)
{
	struct cursor c = s->rec.body;
	uint64_t type, id;

	cursor_skip(&c, sizeof(struct perf_event_header));
	if (!cursor_u64(&c, &type) || !cursor_u64(&c, &id))
		return cursor_error(&c, "the EVENT_UPDATE record ends too early");
	struct event_node *ev = event_of_id(s, id);
	if (type != EVENT_UPDATE_NAME || !ev)
		return NULL;
	const char *name = cursor_cstr(&c);
	if (!name)
		return cursor_error(&c, "the EVENT_UPDATE record ends too early");
	struct data_event *from = &s->header.events[ev->pub.index];
	free(from->name);
	from->name = strdup(name);
	return from->name ? rename_event(s, ev, name) : error_nomem();
}

static struct error *set_tracing(struct session *s)
{
	struct cursor c = cursor_make(s->header.tracing.p, s->header.tracing.size, s->path);
	struct data_tracing t;

	c.swap = s->header.swap;
	if (s->input.base && s->header.tracing.p >= s->input.base)
		c.origin = (uint64_t)(s->header.tracing.p - s->input.base);
	TRY(data_tracing_decode(c, &t));
	data_tracing_deinit(&s->tracing);
	s->tracing = t;
	s->has_tracing = true;
	return NULL;
}

static struct error *on_tracing_data(struct session *s, const struct chunk *chunk,
				     const uint8_t *data, size_t size)
{
	const uint8_t *kept = keep_bytes(s, chunk, data, size);

	if (!kept)
		return error_nomem();
	s->header.tracing = s->header.features[DATA_TRACING_DATA] = (struct data_bytes){kept, size};
	TRY(set_tracing(s));
	return rename_events(s);
}

static struct error *on_feature(struct session *s, const struct chunk *chunk)
{
	struct cursor c = s->rec.body;
	uint64_t feature;

	cursor_skip(&c, sizeof(struct perf_event_header));
	if (!cursor_u64(&c, &feature))
		return cursor_error(&c, "the FEATURE record ends too early");
	/* An empty one with the number behind the last that perf knew ends its sequence of them. */
	if (feature >= DATA_LAST_FEATURE || !cursor_left(&c))
		return NULL;
	const uint8_t *kept = keep_bytes(s, chunk, c.base + c.pos, cursor_left(&c));
	if (!kept)
		return error_nomem();
	c.base = kept;
	c.size = cursor_left(&c);
	c.origin += c.pos;
	c.pos = 0;
	TRY(data_feature_decode(&s->header, (unsigned int)feature, c));
	return feature == DATA_EVENT_DESC ? rename_events(s) : NULL;
}

static struct error *on_build_id(struct session *s, const struct chunk *chunk)
{
	struct cursor c = s->rec.body;

	c.base = keep_bytes(s, chunk, c.base, c.size);
	return c.base ? data_build_id_decode(&s->header, c) : error_nomem();
}

static struct error *on_event_type(struct session *s)
{
	struct record_ledger l;

	if (!record_ledger_decode(s->rec.body, &l))
		return NULL;
	if (l.kind == LEDGER_PIPE) {
		s->awaits_end = !l.count;
		return NULL;
	}
	struct record_ledger *slot = vec_push(&s->ledger);
	if (!slot)
		return error_nomem();
	*slot = l;
	slot->name = arena_strdup(&s->maps.arena, l.name);
	return slot->name ? NULL : error_nomem();
}

struct error *session_user_record(struct session *s, struct chunk *chunk, const uint8_t *rec,
				  size_t size, size_t extra)
{
	struct error *err = NULL;

	record_fill(s, chunk, rec, size);
	count_unknown(s);
	warn_of_skipped(s);
	/* The end of a round changes nothing, and there are many. */
	if (s->tool->other || s->rec.header.type != RECORD_FINISHED_ROUND)
		TRY(session_settle(s));
	s->rec.event = NULL;
	s->rec.id = (struct sample){.pid = -1, .tid = -1, .cpu = -1};
	switch (s->rec.header.type) {
	case RECORD_FINISHED_ROUND:
		/* It comes before the records that had to wait for it, as in perf's dump. */
		TRY(call_other(s));
		return s->tool->unordered || s->input.parts.n ? NULL : order_round(s);
	case RECORD_COMPRESSED:
		s->n_compressed++;
		return session_unpack(s, chunk, rec + sizeof(struct perf_event_header),
				      size - sizeof(struct perf_event_header));
	case RECORD_COMPRESSED2: {
		struct cursor c = s->rec.body;
		uint64_t n;

		s->n_compressed2++;
		cursor_skip(&c, sizeof(struct perf_event_header));
		if (!cursor_u64(&c, &n) || n > cursor_left(&c))
			return cursor_error(&c, "the COMPRESSED2 record ends too early");
		return session_unpack(s, chunk, c.base + c.pos, (size_t)n);
	}
	case RECORD_HEADER_ATTR:
		/* Without its events, nothing behind it can be read. */
		TRY(on_attr(s));
		break;
	case RECORD_EVENT_UPDATE:
		err = on_event_update(s);
		break;
	case RECORD_HEADER_TRACING_DATA:
		err = on_tracing_data(s, chunk, rec + size, extra);
		break;
	case RECORD_HEADER_BUILD_ID:
		err = on_build_id(s, chunk);
		break;
	case RECORD_HEADER_FEATURE:
		err = on_feature(s, chunk);
		break;
	case RECORD_HEADER_EVENT_TYPE:
		err = on_event_type(s);
		break;
	default:
		break;
	}
	if (err)
		record_damaged(s, err);
	return call_other(s);
}

/* ---- the public face ---- */

struct error *session_open(const char *path, const struct session_opts *opts, struct session **out)
{
	_cleanup_(session_freep) struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return error_nomem();
	s->input.fd = -1;
	s->input.file = -1;
	s->log = opts ? opts->log : NULL;
	s->path = strdup(path);
	if (!s->path)
		return error_nomem();
	TRY(input_open(s, path, opts && opts->force));
	if (s->header.tracing.p) {
		struct error *err = set_tracing(s);
		if (err && err->code == ENOMEM)
			return err;
		if (err)
			log_warn(s->log, "%s: %s", err->where ? err->where : path, err->msg);
		error_free(err);
	}
	TRY(add_events(s));
	if (!threads_init_idle(s))
		return error_nomem();
	*out = steal_ptr(s);
	return NULL;
}

struct error *session_process(struct session *s, struct session_tool *tool)
{
	s->tool = tool;
	struct error *err = input_process(s);
	struct error *late = err == SESSION_STOP ? NULL : session_settle(s);
	s->tool = NULL;
	if (!err)
		err = late;
	else if (late != SESSION_STOP)
		error_free(late);
	return err == SESSION_STOP ? NULL : err;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	order_deinit(s, &s->order);
	input_deinit(s);
	for (size_t i = 0; i < s->events.n; i++)
		free(s->events.v[i]);
	vec_deinit(&s->events);
	vec_deinit(&s->live_groups);
	u64map_deinit(&s->by_id);
	threads_deinit(&s->threads);
	cgroups_deinit(&s->cgroups);
	maps_deinit(&s->maps);
	for (size_t i = 0; i < s->kept.n; i++)
		free(s->kept.v[i]);
	vec_deinit(&s->kept);
	vec_deinit(&s->ledger);
	data_tracing_deinit(&s->tracing);
	data_header_deinit(&s->header);
	free(s->branch_chain);
	free(s->path);
	free(s);
}

size_t session_n_events(const struct session *s)
{
	return s->events.n;
}

struct session_event *session_event(struct session *s, size_t index)
{
	return index < s->events.n ? &s->events.v[index]->pub : NULL;
}

bool session_has_stacks(const struct session *s)
{
	struct event_node *const *ev;

	vec_for_each (ev, &s->events)
		if ((*ev)->pub.attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	return false;
}

const struct data_header *session_header(const struct session *s)
{
	return &s->header;
}

const struct data_group *session_group_of(const struct session *s, size_t event)
{
	const struct data_group *group;

	vec_for_each (group, &s->live_groups)
		if (event >= group->leader && event - group->leader < group->n_members)
			return group;
	return data_group_of(&s->header, event);
}

const struct data_tracing *session_tracing(const struct session *s)
{
	return s->has_tracing ? &s->tracing : NULL;
}

struct session_losses session_losses(const struct session *s)
{
	struct session_losses losses = s->losses;

	losses.ledger = s->ledger.v;
	losses.n_ledger = s->ledger.n;
	return losses;
}

/* The kernel counted lost samples by event, and the recorder wrote that down at its end. */
static bool losses_by_event(const struct session *s)
{
	struct event_node *const *ev;

	vec_for_each (ev, &s->events)
		if ((*ev)->pub.attr.read_format & PERF_FORMAT_LOST)
			return session_is_complete(s);
	return false;
}

uint64_t session_n_compressed(const struct session *s, uint32_t type)
{
	switch (type) {
	case RECORD_COMPRESSED:
		return s->n_compressed;
	case RECORD_COMPRESSED2:
		return s->n_compressed2;
	default:
		return 0;
	}
}

uint64_t session_lost_samples(const struct session *s)
{
	return losses_by_event(s) ? s->losses.lost_samples
				  : max_of(s->losses.lost_samples, s->losses.lost);
}

bool session_is_complete(const struct session *s)
{
	return !s->header.unclean && !s->cut_off;
}

/* What was read past, but is missing in what is shown. */
static struct error *check_skipped(const struct session *s, const char *name)
{
	struct error *err;

	if (s->n_damaged)
		err = error_new(EBADMSG, "damaged records were skipped: %" PRIu64, s->n_damaged);
	else if (s->n_unknown_id)
		err = error_new(EBADMSG, "samples of unknown events were skipped: %" PRIu64,
				s->n_unknown_id);
	else if (s->n_unknown_type)
		err = error_hint(error_new(EBADMSG,
					   "records of unknown types were skipped: %" PRIu64,
					   s->n_unknown_type),
				 "a later version of perf or of the kernel may have written them");
	else
		return NULL;
	error_at(err, "%s", name);
	return err;
}

struct error *session_check_complete(const struct session *s, const char *name)
{
	const struct data_header *h = &s->header;
	struct error *err;

	if (session_is_complete(s) && !h->features_cut)
		return check_skipped(s, name);
	if (h->missing)
		err = error_new(EBADMSG,
				"the recording is truncated: %" PRIu64
				" bytes of events are missing, "
				"and lost events were not counted",
				h->missing);
	else if (session_is_complete(s))
		err = error_new(EBADMSG, "the recording is truncated: header features are missing");
	else
		err = error_new(EBADMSG, "the recording was not finished: events at its end are "
					 "missing, and lost events were not counted");
	error_at(err, "%s", name);
	return error_hint(err,
			  h->missing || h->features_cut
				  ? "copy the file again, or record with more space on the disk"
				  : "record was killed, or could not write: is the disk full?");
}

void session_warn_of_losses(const struct session *s, const char *name, const struct log *log)
{
	const struct record_ledger *line;

	vec_for_each (line, &s->ledger)
		if (line->kind == LEDGER_FILTERED)
			log_warn(log,
				 "%s: BPF programs of other processes filtered %s while it was "
				 "recorded: events may be missing",
				 name, line->name);
		else if (line->kind == LEDGER_CPU_OFFLINE)
			log_warn(log,
				 "%s: %s was not recorded for %.3f s: it was offline, and events "
				 "from the moment of its return may be missing",
				 name, line->name, line->count / 1e9);
		else if (line->kind == LEDGER_OVERWRITTEN)
			log_warn(log,
				 "%s: the recording has only the last samples of its events: newer "
				 "ones have overwritten %" PRIu64 " bytes (record --overwrite)",
				 name, line->count);
	if (s->losses.lost_samples)
		log_warn(log, "%s: %" PRIu64 " samples were lost while recording", name,
			 s->losses.lost_samples);
	else if (s->losses.lost && losses_by_event(s))
		log_warn(log,
			 "%s: %" PRIu64 " side-band records (comm, mmap, fork, exit) were lost "
			 "while recording: names may be missing",
			 name, s->losses.lost);
	else if (s->losses.lost)
		log_warn(log,
			 "%s: %" PRIu64 " records were lost while recording, in %" PRIu64 " chunks",
			 name, s->losses.lost, s->losses.chunks);
}
