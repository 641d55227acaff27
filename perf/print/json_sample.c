// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records as lines of JSON; the schema is in doc/script-json.md. Numbers are
 * integers, addresses are strings "0x…" (they do not fit the 53 bits many
 * readers keep), and a member whose value is not available is left out.
 */
#include <inttypes.h>
#include <linux/bpf.h>

#include "perf/print/json_line.h"
#include "perf/print/printer.h"
#include "perf/print/sample_access.h"
#include "perf/print/sample_code.h"
#include "perf/resolve/line_text.h"

/* "ip":"0x…","sym":"…","off":5,"dso":"…","inlined":true,"file":"…","line":12 */
static void add_location(struct script_printer *p, const struct location *at,
			 const struct inline_frame *frame, uint64_t fields, struct json_writer *w)
{
	const char *file;
	uint32_t line;

	jw_address(w, "ip", at->addr);
	if (at->sym && fields & FIELD_SYM) {
		jw_text(w, "sym", at->sym->name);
		jw_u64(w, "off", at->offset);
	}
	if (at->map && fields & FIELD_DSO)
		jw_text(w, "dso", map_dso_name(at->map));
	if (at->sym && at->sym->inlined)
		jw_bool(w, "inlined", true);
	/* Not by default: it takes debug information of all binaries. */
	if (fields != ~0ull && fields & FIELD_SRCLINE &&
	    line_find(p->opts.resolver, at, frame, &file, &line)) {
		jw_text(w, "file", file);
		jw_u64(w, "line", line);
	}
}

static void add_number(struct json_writer *w, const char *key, uint64_t v, bool is_signed)
{
	if (is_signed)
		jw_i64(w, key, (int64_t)v);
	else
		jw_u64(w, key, v);
}

static void add_field(struct json_writer *w, struct trace_event *ev, const struct trace_field *f,
		      const void *raw, uint32_t size)
{
	const uint8_t *bytes;
	uint64_t v;
	uint32_t len;

	switch (f->kind) {
	case TRACE_FIELD_STRING:
		if (!trace_field_bytes(ev, f, raw, size, &bytes, &len))
			break;
		jw_text_n(w, f->name, (const char *)bytes, len);
		return;
	case TRACE_FIELD_ARRAY:
		if (!trace_field_bytes(ev, f, raw, size, &bytes, &len))
			break;
		jw_array(w, f->name);
		for (uint32_t i = 0; i < len / f->elem_size; i++)
			add_number(w, NULL, trace_field_elem(ev, f, bytes, i), f->elem_signed);
		jw_end(w);
		return;
	case TRACE_FIELD_FLOAT: {
		uint32_t low;

		if (!trace_field_number(ev, f, raw, size, &v))
			break;
		low = (uint32_t)v;
		json_add_float(jw_value(w, f->name), f->size == 4 ? (const void *)&low : &v,
			       f->size);
		return;
	}
	default:
		if (!trace_field_number(ev, f, raw, size, &v))
			break;
		if (f->kind == TRACE_FIELD_POINTER)
			jw_address(w, f->name, v);
		else
			add_number(w, f->name, v, f->kind == TRACE_FIELD_SIGNED);
		return;
	}
	jw_null(w, f->name);
}

static void add_trace(struct script_printer *p, const struct sample *sample,
		      const struct session_event *event, struct json_writer *w)
{
	struct trace_event *ev = printer_trace_event(p, event);

	if (!ev) {
		add_hex_bytes(w, "raw", sample->raw, sample->raw_size);
		return;
	}
	jw_object(w, "fields");
	for (size_t i = 0; i < trace_event_n_fields(ev); i++) {
		const struct trace_field *f = trace_event_field(ev, i);

		if (f->repeats || trace_field_is_inner(ev, f))
			continue;
		if (trace_event_has_value(ev, i, sample->raw, sample->raw_size))
			add_field(w, ev, f, sample->raw, sample->raw_size);
		else
			jw_null(w, f->name);
	}
	jw_end(w);
	strbuf_reset(&p->text);
	trace_event_print(ev, sample->raw, sample->raw_size, &p->text);
	jw_text_n(w, "trace", strbuf_str(&p->text), p->text.len);
}

static void add_chain(struct script_printer *p, const struct sample *sample,
		      const struct thread *thread, uint64_t fields, struct json_writer *w)
{
	size_t n = printer_resolve_chain(p, sample, thread);
	const struct inline_frame *frame;
	struct location at;

	jw_array(w, "chain");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; printer_frame(p, i, k, &at, &frame); k++) {
			jw_object(w, NULL);
			add_location(p, &at, frame, fields, w);
			jw_end(w);
		}
	}
	jw_end(w);
}

static void add_cgroup(struct script_printer *p, uint64_t id, uint64_t fields,
		       struct json_writer *w)
{
	const struct session_cgroup *cgroup = session_cgroup(p->opts.session, id);

	if (!cgroup || !cgroup->path) {
		if (fields & FIELD_CGROUP)
			jw_u64(w, "cgroup_id", id);
		return;
	}
	if (fields & FIELD_CGROUP)
		jw_text(w, "cgroup", cgroup->path);
	if (fields & FIELD_UNIT && *cgroup->unit)
		jw_text(w, "unit", cgroup->unit);
	if (fields & FIELD_CONTAINER && *cgroup->container)
		jw_text(w, "container", cgroup->container);
	if (fields & FIELD_POD && *cgroup->pod)
		jw_text(w, "pod", cgroup->pod);
}

void print_sample_json(struct script_printer *p, const struct record *rec,
		       const struct sample *sample, const struct session_event *event,
		       struct thread *thread, struct strbuf *out)
{
	const struct printer_opts *opts = &p->opts;
	enum field_type type = field_type_of(event->attr.type);
	uint64_t fields = p->choice.type[type].user_set ? p->choice.type[type].fields : ~0ull;
	uint64_t has = sample->has;
	struct json_writer w = begin_line(out);

	sample = probed_sample(&p->probed, printer_trace_event(p, event), opts->resolver, thread,
			       sample);
	jw_text(&w, "type", "sample");
	if (fields & FIELD_EVENT)
		jw_text(&w, "event", event->name);
	if (fields & FIELD_COMM && thread)
		jw_text(&w, "comm", thread->comm);
	if (fields & FIELD_PID && has & PERF_SAMPLE_TID)
		jw_i64(&w, "pid", sample->pid);
	if (fields & FIELD_TID && has & PERF_SAMPLE_TID)
		jw_i64(&w, "tid", sample->tid);
	if (fields & FIELD_CPU && has & PERF_SAMPLE_CPU)
		jw_i64(&w, "cpu", sample->cpu);
	if (fields & FIELD_TIME && has & PERF_SAMPLE_TIME)
		jw_u64(&w, "time", sample->time);
	const struct data_header *header = session_header(opts->session);
	if (p->choice.type[type].fields & FIELD_TOD && has & PERF_SAMPLE_TIME &&
	    header->clock_wall_ns)
		jw_u64(&w, "tod", header->clock_wall_ns + (sample->time - header->clock_ns));
	if (fields & FIELD_PERIOD)
		jw_u64(&w, "period", sample->period);
	if (fields & FIELD_ADDR && has & PERF_SAMPLE_ADDR)
		jw_address(&w, "addr", sample->addr);
	if (fields & FIELD_WEIGHT && has & PERF_SAMPLE_WEIGHT_TYPE)
		jw_u64(&w, "weight", sample_weight(sample));
	if (fields & FIELD_INS_LAT && has & PERF_SAMPLE_WEIGHT_STRUCT)
		jw_u64(&w, "ins_lat", sample_ins_lat(sample));
	if (fields & FIELD_RETIRE_LAT && has & PERF_SAMPLE_WEIGHT_STRUCT)
		jw_u64(&w, "retire_lat", sample_retire_lat(sample));
	if (fields & FIELD_DATA_SRC && has & PERF_SAMPLE_DATA_SRC)
		jw_address(&w, "data_src", sample->data_src);
	if (fields & (FIELD_BRSTACK | FIELD_BRSTACKSYM | FIELD_BRSTACKOFF) &&
	    has & PERF_SAMPLE_BRANCH_STACK)
		print_branches_json(p, sample, thread, fields, &w);
	if (fields & FIELD_PHYS_ADDR && has & PERF_SAMPLE_PHYS_ADDR)
		jw_address(&w, "phys_addr", sample->phys_addr);
	if (has & PERF_SAMPLE_CGROUP)
		add_cgroup(p, sample->cgroup, fields, &w);
	if (fields & FIELD_IP && has & PERF_SAMPLE_IP) {
		struct location at = {.addr = sample->ip};

		if (opts->resolver && fields & (FIELD_SYM | FIELD_DSO | FIELD_SRCLINE))
			resolve_addr(opts->resolver, thread, sample->cpumode, sample->ip, &at);
		add_location(p, &at, NULL, fields, &w);
		if (!opts->hide_chain && has & PERF_SAMPLE_CALLCHAIN)
			add_chain(p, sample, thread, fields, &w);
	}
	if (p->code && thread)
		print_code_json(p, sample, thread, p->choice.type[type].fields, &w);
	if (sample->raw && event->attr.type == PERF_TYPE_TRACEPOINT && fields & FIELD_TRACE)
		add_trace(p, sample, event, &w);
	else if (sample->raw && fields & FIELD_BPF_OUTPUT)
		add_hex_bytes(&w, "raw", sample->raw, sample->raw_size);
	out->failed |= strbuf_failed(&p->text);
	end_line(&w);
}

static void add_mmap(struct json_writer *w, const struct record_mmap *m)
{
	jw_i64(w, "pid", m->pid);
	jw_i64(w, "tid", m->tid);
	jw_address(w, "addr", m->addr);
	jw_u64(w, "len", m->len);
	jw_u64(w, "pgoff", m->pgoff);
	jw_u64(w, "prot", m->prot);
	jw_text(w, "filename", m->filename);
	if (m->build_id)
		add_hex_bytes(w, "build_id", m->build_id, m->build_id_size);
}

static void add_namespaces(struct json_writer *w, const struct record_namespaces *r)
{
	jw_i64(w, "pid", r->pid);
	jw_i64(w, "tid", r->tid);
	jw_array(w, "namespaces");
	for (uint64_t i = 0; i < r->links.n / 2; i++) {
		jw_object(w, NULL);
		jw_text(w, "name", namespace_name(i));
		jw_u64(w, "dev", u64_array_at(&r->links, i * 2));
		jw_u64(w, "inode", u64_array_at(&r->links, i * 2 + 1));
		jw_end(w);
	}
	jw_end(w);
}

void print_ledger_json(struct script_printer *p, const struct record_ledger *l, struct strbuf *out)
{
	static const char *const kinds[] = {
		[LEDGER_RING_LOST] = "ring",
		[LEDGER_BPF_OUTPUT_LOST] = "bpf-output",
		[LEDGER_PROG_MISSED] = "program-missed",
		[LEDGER_LOST_SAMPLES] = "samples",
		[LEDGER_SIDEBAND_LOST] = "side-band",
		[LEDGER_RECORDS_LOST] = "records",
		[LEDGER_FILTERED] = "filtered",
		[LEDGER_CPU_OFFLINE] = "cpu-offline",
		[LEDGER_OVERWRITTEN] = "overwritten",
	};
	struct json_writer w = begin_line(out);

	jw_text(&w, "type", "losses");
	if (l->kind < ARRAY_SIZE(kinds) && kinds[l->kind])
		jw_text(&w, "kind", kinds[l->kind]);
	else
		jw_u64(&w, "kind", l->kind);
	if (l->kind == LEDGER_CPU_OFFLINE)
		jw_u64(&w, "cpu", l->id);
	else if (l->id)
		jw_u64(&w, "id", l->id);
	jw_u64(&w,
	       l->kind == LEDGER_FILTERED      ? "programs"
	       : l->kind == LEDGER_CPU_OFFLINE ? "ns"
	       : l->kind == LEDGER_OVERWRITTEN ? "bytes"
					       : "lost",
	       l->count);
	jw_text_if(&w, "name", l->name);
	end_line(&w);
}

/* false: the record cannot be decoded, and nothing was added. */
static bool add_record(struct json_writer *w, const struct record *rec)
{
	_cleanup_error_ struct error *err = NULL;

	switch (rec->header.type) {
	case PERF_RECORD_COMM: {
		struct record_comm r;

		if ((err = record_comm_decode(rec->body, &r)))
			return false;
		jw_i64(w, "pid", r.pid);
		jw_i64(w, "tid", r.tid);
		jw_text(w, "comm", r.comm);
		jw_bool(w, "exec", r.exec);
		return true;
	}
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: {
		struct record_task r;

		if ((err = record_task_decode(rec->body, &r)))
			return false;
		jw_i64(w, "pid", r.pid);
		jw_i64(w, "tid", r.tid);
		jw_i64(w, "ppid", r.ppid);
		jw_i64(w, "ptid", r.ptid);
		return true;
	}
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: {
		struct record_mmap r;

		if ((err = record_mmap_decode(rec->body, &r)))
			return false;
		add_mmap(w, &r);
		return true;
	}
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES: {
		struct record_lost r;

		if ((err = record_lost_decode(rec->body, &r)))
			return false;
		jw_u64(w, "lost", r.lost);
		return true;
	}
	case PERF_RECORD_KSYMBOL: {
		struct record_ksymbol r;

		if ((err = record_ksymbol_decode(rec->body, &r)))
			return false;
		jw_address(w, "addr", r.addr);
		jw_i64(w, "len", r.len);
		jw_i64(w, "ksym_type", r.type);
		jw_bool(w, "unregister", r.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
		jw_text(w, "name", r.name);
		return true;
	}
	case PERF_RECORD_BPF_EVENT: {
		struct record_bpf_event r;

		if ((err = record_bpf_event_decode(rec->body, &r)))
			return false;
		jw_text(w, "action",
			r.type == PERF_BPF_EVENT_PROG_LOAD     ? "load"
			: r.type == PERF_BPF_EVENT_PROG_UNLOAD ? "unload"
							       : "unknown");
		jw_i64(w, "id", r.id);
		add_hex_bytes(w, "tag", r.tag, BPF_TAG_SIZE);
		return true;
	}
	case PERF_RECORD_CGROUP: {
		struct record_cgroup r;

		if ((err = record_cgroup_decode(rec->body, &r)))
			return false;
		jw_u64(w, "id", r.id);
		jw_text(w, "path", r.path);
		return true;
	}
	case PERF_RECORD_NAMESPACES: {
		struct record_namespaces r;

		if ((err = record_namespaces_decode(rec->body, &r)))
			return false;
		add_namespaces(w, &r);
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
	const size_t start = out->len;
	struct json_writer w = begin_line(out);
	struct strbuf *type = jw_value(&w, "type");

	strbuf_addch(type, '"');
	for (; name && *name; name++)
		strbuf_addch(type, *name >= 'A' && *name <= 'Z' ? (char)(*name | 0x20) : *name);
	strbuf_addch(type, '"');
	if (rec->event &&
	    (rec->header.type == PERF_RECORD_LOST || rec->header.type == PERF_RECORD_LOST_SAMPLES))
		jw_text(&w, "event", rec->event->name);
	if (rec->id.has & PERF_SAMPLE_TIME && rec->header.type < 64)
		jw_u64(&w, "time", rec->id.time);
	if (rec->id.has & PERF_SAMPLE_CPU && rec->header.type < 64)
		jw_i64(&w, "cpu", rec->id.cpu);
	const bool decoded = add_record(&w, rec);
	end_line(&w);
	if (!decoded)
		strbuf_cut(out, start);
}
