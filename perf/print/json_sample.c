// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records as lines of JSON; the schema stands in doc/script-json.md. Numbers
 * are integers, addresses are strings "0x…" (they do not fit the 53 bits many
 * readers keep), absent things are absent.
 */
#include <inttypes.h>
#include <linux/bpf.h>

#include "lib/base/json.h"
#include "perf/print/printer.h"

static void add_key(struct strbuf *out, const char *key)
{
	strbuf_add(out, ",\"", 2);
	strbuf_adds(out, key);
	strbuf_add(out, "\":", 2);
}

static void add_str(struct strbuf *out, const char *key, const char *s)
{
	add_key(out, key);
	json_add_string(out, s, strlen(s));
}

static void add_num(struct strbuf *out, const char *key, int64_t v)
{
	add_key(out, key);
	json_add_i64(out, v);
}

static void add_u64(struct strbuf *out, const char *key, uint64_t v)
{
	add_key(out, key);
	strbuf_add_u64(out, v);
}

static void add_addr(struct strbuf *out, const char *key, uint64_t v)
{
	add_key(out, key);
	json_add_address(out, v);
}

static void add_hex_bytes(struct strbuf *out, const char *key, const uint8_t *bytes, size_t n)
{
	add_key(out, key);
	json_add_bytes(out, bytes, n);
}

/* "ip":"0x…","sym":"…","off":5,"dso":"…" */
static void add_place(struct strbuf *out, const struct location *at, uint64_t fields)
{
	add_addr(out, "ip", at->addr);
	if (at->sym && fields & FIELD_SYM) {
		add_str(out, "sym", at->sym->name);
		add_u64(out, "off", at->offset);
	}
	if (at->map && fields & FIELD_DSO)
		add_str(out, "dso", map_dso_name(at->map));
}

/* add_place() within an object of its own: without the first comma. */
static void add_place_object(struct strbuf *out, const struct location *at, uint64_t fields)
{
	size_t start;

	strbuf_addch(out, '{');
	start = out->len;
	add_place(out, at, fields);
	if (!out->failed) {
		memmove(out->str + start, out->str + start + 1, out->len - start);
		out->len--;
	}
	strbuf_addch(out, '}');
}

static void add_field_value(struct trace_event *ev, const struct trace_field *f, const void *raw,
			    uint32_t size, struct strbuf *out)
{
	const uint8_t *bytes;
	uint64_t v;
	uint32_t len;

	switch (f->kind) {
	case TRACE_FIELD_STRING:
		if (!trace_field_bytes(ev, f, raw, size, &bytes, &len))
			break;
		json_add_string(out, (const char *)bytes, len);
		return;
	case TRACE_FIELD_ARRAY:
		if (!trace_field_bytes(ev, f, raw, size, &bytes, &len))
			break;
		strbuf_addch(out, '[');
		for (uint32_t i = 0; i < len / f->elem_size; i++) {
			v = trace_field_elem(ev, f, bytes, i);
			if (i)
				strbuf_addch(out, ',');
			if (f->elem_signed)
				json_add_i64(out, (int64_t)v);
			else
				strbuf_add_u64(out, v);
		}
		strbuf_addch(out, ']');
		return;
	case TRACE_FIELD_FLOAT: {
		uint32_t low;

		if (!trace_field_number(ev, f, raw, size, &v))
			break;
		low = (uint32_t)v;
		json_add_float(out, f->size == 4 ? (const void *)&low : &v, f->size);
		return;
	}
	default:
		if (!trace_field_number(ev, f, raw, size, &v))
			break;
		if (f->kind == TRACE_FIELD_POINTER)
			json_add_address(out, v);
		else if (f->kind == TRACE_FIELD_SIGNED)
			json_add_i64(out, (int64_t)v);
		else
			strbuf_add_u64(out, v);
		return;
	}
	strbuf_add(out, "null", 4);
}

static void add_trace(struct script_printer *p, const struct sample *sample,
		      const struct session_event *event, struct strbuf *out)
{
	struct trace_event *ev = printer_trace_event(p, event);

	if (!ev) {
		add_hex_bytes(out, "raw", sample->raw, sample->raw_size);
		return;
	}
	add_key(out, "fields");
	strbuf_addch(out, '{');
	for (size_t i = 0; i < trace_event_n_fields(ev); i++) {
		const struct trace_field *f = trace_event_field(ev, i);

		if (trace_field_is_inner(ev, f))
			continue;
		if (i)
			strbuf_addch(out, ',');
		json_add_string(out, f->name, strlen(f->name));
		strbuf_addch(out, ':');
		if (trace_event_has_value(ev, i, sample->raw, sample->raw_size))
			add_field_value(ev, f, sample->raw, sample->raw_size, out);
		else
			strbuf_add(out, "null", 4);
	}
	strbuf_addch(out, '}');
	add_key(out, "trace");
	strbuf_reset(&p->text);
	trace_event_print(ev, sample->raw, sample->raw_size, &p->text);
	json_add_string(out, strbuf_str(&p->text), p->text.len);
}

static void add_chain(struct script_printer *p, const struct sample *sample,
		      const struct thread *thread, uint64_t fields, struct strbuf *out)
{
	size_t n = printer_resolve_chain(p, sample, thread);

	add_key(out, "chain");
	strbuf_addch(out, '[');
	for (size_t i = 0; i < n; i++) {
		if (i)
			strbuf_addch(out, ',');
		add_place_object(out, &p->chain[i], fields);
	}
	strbuf_addch(out, ']');
}

void print_sample_json(struct script_printer *p, const struct record *rec,
		       const struct sample *sample, const struct session_event *event,
		       struct thread *thread, struct strbuf *out)
{
	const struct printer_opts *opts = &p->opts;
	enum field_type type = field_type_of(event->attr.type);
	uint64_t fields = p->choice.type[type].user_set ? p->choice.type[type].fields : ~0ull;
	uint64_t has = sample->has;

	sample = probed_sample(&p->probed, printer_trace_event(p, event), opts->resolver, thread,
			       sample);
	strbuf_adds(out, "{\"type\":\"sample\"");
	if (fields & FIELD_EVENT)
		add_str(out, "event", event->name);
	if (fields & FIELD_COMM && thread)
		add_str(out, "comm", thread->comm);
	if (fields & FIELD_PID && has & PERF_SAMPLE_TID)
		add_num(out, "pid", sample->pid);
	if (fields & FIELD_TID && has & PERF_SAMPLE_TID)
		add_num(out, "tid", sample->tid);
	if (fields & FIELD_CPU && has & PERF_SAMPLE_CPU)
		add_num(out, "cpu", sample->cpu);
	if (fields & FIELD_TIME && has & PERF_SAMPLE_TIME)
		add_u64(out, "time", sample->time);
	if (fields & FIELD_PERIOD)
		add_u64(out, "period", sample->period);
	if (fields & FIELD_ADDR && has & PERF_SAMPLE_ADDR)
		add_addr(out, "addr", sample->addr);
	if (fields & FIELD_WEIGHT && has & PERF_SAMPLE_WEIGHT_TYPE)
		add_u64(out, "weight", sample->weight);
	if (fields & FIELD_PHYS_ADDR && has & PERF_SAMPLE_PHYS_ADDR)
		add_addr(out, "phys_addr", sample->phys_addr);
	if (fields & FIELD_IP && has & PERF_SAMPLE_IP) {
		struct location at = {.addr = sample->ip};

		if (opts->resolver && fields & (FIELD_SYM | FIELD_DSO))
			resolve_addr(opts->resolver, thread, sample->cpumode, sample->ip, &at);
		add_place(out, &at, fields);
		if (!opts->hide_chain && has & PERF_SAMPLE_CALLCHAIN)
			add_chain(p, sample, thread, fields, out);
	}
	if (sample->raw && event->attr.type == PERF_TYPE_TRACEPOINT && fields & FIELD_TRACE)
		add_trace(p, sample, event, out);
	else if (sample->raw && fields & FIELD_BPF_OUTPUT)
		add_hex_bytes(out, "raw", sample->raw, sample->raw_size);
	strbuf_add(out, "}\n", 2);
}

static void add_mmap(const struct record_mmap *m, struct strbuf *out)
{
	add_num(out, "pid", m->pid);
	add_num(out, "tid", m->tid);
	add_addr(out, "addr", m->addr);
	add_u64(out, "len", m->len);
	add_u64(out, "pgoff", m->pgoff);
	add_num(out, "prot", m->prot);
	add_str(out, "filename", m->filename);
	if (m->build_id)
		add_hex_bytes(out, "build_id", m->build_id, m->build_id_size);
}

static void add_ledger(uint32_t kind, uint64_t id, uint64_t count, const char *name,
		       struct strbuf *out)
{
	static const char *const kinds[] = {
		[LEDGER_RING_LOST] = "ring",
		[LEDGER_BPF_OUTPUT_LOST] = "bpf-output",
		[LEDGER_PROG_MISSED] = "program-missed",
		[LEDGER_LOST_SAMPLES] = "samples",
	};

	if (kind < ARRAY_SIZE(kinds) && kinds[kind])
		add_str(out, "kind", kinds[kind]);
	else
		add_u64(out, "kind", kind);
	if (id)
		add_u64(out, "id", id);
	add_u64(out, "lost", count);
	if (name)
		add_str(out, "name", name);
}

void print_ledger_json(struct script_printer *p, const struct record_ledger *l, struct strbuf *out)
{
	strbuf_adds(out, "{\"type\":\"ledger\"");
	add_ledger(l->kind, l->id, l->count, l->name, out);
	strbuf_add(out, "}\n", 2);
}

/* false: the record makes no sense, nothing was added. */
static bool add_record(const struct record *rec, struct strbuf *out)
{
	_cleanup_error_ struct error *err = NULL;

	switch (rec->header.type) {
	case PERF_RECORD_COMM: {
		struct record_comm r;

		if ((err = record_comm_decode(rec->body, &r)))
			return false;
		add_num(out, "pid", r.pid);
		add_num(out, "tid", r.tid);
		add_str(out, "comm", r.comm);
		add_key(out, "exec");
		strbuf_adds(out, r.exec ? "true" : "false");
		return true;
	}
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: {
		struct record_task r;

		if ((err = record_task_decode(rec->body, &r)))
			return false;
		add_num(out, "pid", r.pid);
		add_num(out, "tid", r.tid);
		add_num(out, "ppid", r.ppid);
		add_num(out, "ptid", r.ptid);
		return true;
	}
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: {
		struct record_mmap r;

		if ((err = record_mmap_decode(rec->body, &r)))
			return false;
		add_mmap(&r, out);
		return true;
	}
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: {
		struct record_lost r;

		if ((err = record_lost_decode(rec->body, &r)))
			return false;
		add_u64(out, "lost", r.lost);
		return true;
	}
	case PERF_RECORD_KSYMBOL: {
		struct record_ksymbol r;

		if ((err = record_ksymbol_decode(rec->body, &r)))
			return false;
		add_addr(out, "addr", r.addr);
		add_num(out, "len", r.len);
		add_num(out, "ksym_type", r.type);
		add_key(out, "unregister");
		strbuf_adds(out, r.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ? "true" : "false");
		add_str(out, "name", r.name);
		return true;
	}
	case PERF_RECORD_BPF_EVENT: {
		struct record_bpf_event r;

		if ((err = record_bpf_event_decode(rec->body, &r)))
			return false;
		add_str(out, "action",
			r.type == PERF_BPF_EVENT_PROG_LOAD     ? "load"
			: r.type == PERF_BPF_EVENT_PROG_UNLOAD ? "unload"
							       : "unknown");
		add_num(out, "id", r.id);
		add_hex_bytes(out, "tag", r.tag, BPF_TAG_SIZE);
		return true;
	}
	default:
		return true;
	}
}

void print_record_json(struct script_printer *p, const struct record *rec,
		       const struct thread *thread, struct strbuf *out)
{
	const char *name = record_type_name(rec->header.type);
	size_t start = out->len;

	strbuf_adds(out, "{\"type\":\"");
	for (; name && *name; name++)
		strbuf_addch(out, *name >= 'A' && *name <= 'Z' ? (char)(*name | 0x20) : *name);
	strbuf_addch(out, '"');
	if (rec->event &&
	    (rec->header.type == PERF_RECORD_LOST || rec->header.type == PERF_RECORD_LOST_SAMPLES))
		add_str(out, "event", rec->event->name);
	if (rec->id.has & PERF_SAMPLE_TIME && rec->header.type < 64)
		add_u64(out, "time", rec->id.time);
	if (rec->id.has & PERF_SAMPLE_CPU && rec->header.type < 64)
		add_num(out, "cpu", rec->id.cpu);
	if (!add_record(rec, out)) {
		out->len = start;
		return;
	}
	strbuf_add(out, "}\n", 2);
}
