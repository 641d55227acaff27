// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records for script_driver.py, which runs Python scripts: lines of JSON between two processes of
 * one version, so their shape may change with it. Numbers are integers of up to 64 bits, which
 * Python reads whole. What a sample does not hold is left out.
 *
 *	{"event":0,"name":"sched:sched_switch","attr":"0200…","read_format":0,"format":{…}}
 *	{"e":0,"pid":1,"tid":1,"cpu":0,…,"at":{…},"chain":[{…},…],"raw":"1a00…"}
 *	{"switch":[time,cpu,pid,tid,other pid,other tid,whether out,whether by preemption]}
 *	{"throttle":[time,id,stream id,cpu,pid,tid]}, {"unthrottle":…}
 *
 * A line "event" comes before the first sample of the event; "format" has what
 * trace_event_describe() adds.
 */
#include <inttypes.h>

#include "perf/event/sample_regs.h"
#include "perf/print/json_line.h"
#include "perf/print/printer.h"
#include "perf/print/sample_access.h"
#include "perf/print/sample_code.h"

static void describe(struct script_printer *p, const struct session_event *event,
		     struct strbuf *out)
{
	struct json_writer w = begin_line(out);
	struct trace_event *format =
		event->attr.type == PERF_TYPE_TRACEPOINT ? printer_trace_event(p, event) : NULL;

	jw_i64(&w, "event", event->index);
	jw_text(&w, "name", event->name);
	add_hex_bytes(&w, "attr", &event->attr, sizeof(event->attr));
	jw_u64(&w, "read_format", event->attr.read_format);
	if (format) {
		jw_object(&w, "format");
		trace_event_describe(format, &w);
		jw_end(&w);
	}
	end_line(&w);
}

static void describe_new(struct script_printer *p, struct strbuf *out)
{
	const size_t n = session_n_events(p->opts.session);

	for (; p->n_described < n; p->n_described++)
		describe(p, session_event(p->opts.session, p->n_described), out);
}

void print_events_python(struct script_printer *p, struct strbuf *out)
{
	describe_new(p, out);
}

static void add_array(struct json_writer *w, const char *key, const struct u64_array *a)
{
	jw_array(w, key);
	for (uint64_t i = 0; i < a->n; i++)
		jw_u64(w, NULL, u64_array_at(a, i));
	jw_end(w);
}

/* perf has the symbol of a BPF program by its place in the program. */
static uint64_t base_of_symbols(const struct location *at)
{
	return at->map && at->map->dso->kind == DSO_BPF ? at->map->start - at->map->pgoff : 0;
}

/* "dso":"…",…,"symbol":{…},"offset":5 */
static void add_place(struct json_writer *w, const struct location *at, bool of_map)
{
	if (at->map) {
		jw_text(w, "dso", map_dso_name(at->map));
		if (of_map) {
			add_hex_bytes(w, "build_id", at->map->dso->build_id,
				      at->map->dso->build_id_size);
			jw_u64(w, "start", at->map->start);
			jw_u64(w, "end", at->map->end);
			jw_u64(w, "pgoff", at->map->pgoff);
		}
	}
	if (at->sym) {
		jw_object(w, "symbol");
		jw_u64(w, "start", at->sym->start - base_of_symbols(at));
		jw_u64(w, "end", at->sym->end - base_of_symbols(at));
		jw_i64(w, "binding", at->sym->binding);
		jw_text(w, "name", at->sym->name);
		jw_end(w);
		jw_u64(w, "offset", at->offset);
	}
}

static void add_chain(struct script_printer *p, const struct sample *sample,
		      const struct thread *thread, struct json_writer *w)
{
	const size_t n = printer_resolve_chain(p, sample, thread);
	const struct inline_frame *frame;
	struct location at;

	jw_array(w, "chain");
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; printer_frame(p, i, k, &at, &frame); k++) {
			jw_object(w, NULL);
			jw_u64(w, "ip", at.addr);
			add_place(w, &at, false);
			jw_end(w);
		}
	}
	jw_end(w);
}

static void add_branch_end(struct script_printer *p, const struct thread *thread,
			   struct json_writer *w, const char *key, uint64_t addr)
{
	struct location at = {.addr = addr};

	resolve_addr_any(p->opts.resolver, thread, addr, &at);
	jw_object(w, key);
	jw_u64(w, "ip", addr);
	add_place(w, &at, false);
	jw_end(w);
}

static void add_branches(struct script_printer *p, const struct sample *sample,
			 const struct thread *thread, struct json_writer *w)
{
	jw_array(w, "branches");
	for (uint64_t i = 0; i + 2 < sample->branches.n; i += 3) {
		jw_object(w, NULL);
		add_branch_end(p, thread, w, "from", u64_array_at(&sample->branches, i));
		add_branch_end(p, thread, w, "to", u64_array_at(&sample->branches, i + 1));
		jw_u64(w, "flags", u64_array_at(&sample->branches, i + 2));
		jw_end(w);
	}
	jw_end(w);
}

/* "   AX:0x1 ", as perf has them for its scripts */
static void add_regs(struct script_printer *p, struct json_writer *w, const char *key,
		     uint64_t mask, const struct u64_array *regs)
{
	const char *arch = session_header(p->opts.session)->arch;
	char name[16];

	strbuf_reset(&p->text);
	for (uint64_t i = 0; mask && i < regs->n; mask &= mask - 1, i++)
		strbuf_addf(&p->text, "%5s:0x%" PRIx64 " ",
			    sample_reg_name(arch, (unsigned)__builtin_ctzll(mask), name),
			    u64_array_at(regs, i));
	jw_text_n(w, key, strbuf_str(&p->text), p->text.len);
}

static void add_numbers(struct json_writer *w, const struct sample *s)
{
	jw_u64(w, "ip", s->ip);
	jw_i64(w, "pid", s->pid);
	jw_i64(w, "tid", s->tid);
	jw_i64(w, "cpu", s->cpu);
	jw_u64(w, "time", s->time);
	jw_u64(w, "period", s->period);
	jw_u64(w, "id", s->id);
	jw_i64(w, "cpumode", s->cpumode);
	if (s->stream_id)
		jw_u64(w, "stream_id", s->stream_id);
	if (s->addr)
		jw_u64(w, "addr", s->addr);
	if (s->phys_addr)
		jw_u64(w, "phys_addr", s->phys_addr);
	if (s->weight)
		jw_u64(w, "weight", sample_weight(s));
	if (sample_ins_lat(s))
		jw_u64(w, "ins_lat", sample_ins_lat(s));
	if (s->transaction)
		jw_u64(w, "transaction", s->transaction);
}

/* perf's scripts get it decoded as well, and that in at most 99 bytes. */
static void add_data_src(struct script_printer *p, const struct sample *s, struct json_writer *w)
{
	if (!(s->has & PERF_SAMPLE_DATA_SRC))
		return;
	jw_u64(w, "data_src", s->data_src);
	strbuf_reset(&p->text);
	data_src_text(s->data_src, &p->text);
	jw_text_n(w, "data_src_text", strbuf_str(&p->text), min_of(p->text.len, (size_t)99));
}

/* Where addr leads, for events that have an address of the process there. */
static void add_addr_place(struct script_printer *p, const struct sample *s,
			   const struct session_event *event, const struct thread *thread,
			   struct json_writer *w)
{
	struct location at = {.addr = s->addr};

	if (!(s->has & PERF_SAMPLE_ADDR) || !addr_is_place(&event->attr))
		return;
	resolve_addr_any(p->opts.resolver, thread, s->addr, &at);
	jw_object(w, "addr_at");
	add_place(w, &at, true);
	jw_end(w);
}

void print_sample_python(struct script_printer *p, const struct sample *sample,
			 const struct session_event *event, const struct thread *thread,
			 struct strbuf *out)
{
	struct resolver *resolver = p->opts.resolver;
	struct location at = {.addr = sample->ip};

	describe_new(p, out);
	sample = probed_sample(&p->probed, printer_trace_event(p, event), resolver, thread, sample);
	struct json_writer w = begin_line(out);
	jw_i64(&w, "e", event->index);
	add_numbers(&w, sample);
	add_data_src(p, sample, &w);
	if (thread)
		jw_text(&w, "comm", thread->comm);
	add_addr_place(p, sample, event, thread, &w);
	print_code_python(p, sample, thread, &w);
	resolve_addr(resolver, thread, sample->cpumode, sample->ip, &at);
	jw_object(&w, "at");
	add_place(&w, &at, true);
	jw_end(&w);
	if (sample->has & PERF_SAMPLE_CALLCHAIN && !p->opts.hide_chain)
		add_chain(p, sample, thread, &w);
	if (sample->branches.n)
		add_branches(p, sample, thread, &w);
	if (sample->read.n)
		add_array(&w, "read", &sample->read);
	if (sample->intr_regs.n)
		add_regs(p, &w, "iregs", event->attr.sample_regs_intr, &sample->intr_regs);
	if (sample->user_regs.n)
		add_regs(p, &w, "uregs", event->attr.sample_regs_user, &sample->user_regs);
	if (sample->raw)
		add_hex_bytes(&w, "raw", sample->raw, sample->raw_size);
	out->failed |= strbuf_failed(&p->text);
	end_line(&w);
}

static void add_switch(struct json_writer *w, const struct record *rec)
{
	struct cursor c = rec->body;
	uint32_t pid = 0, tid = 0;

	if (rec->header.type == PERF_RECORD_SWITCH_CPU_WIDE &&
	    cursor_seek(&c, sizeof(struct perf_event_header)) && cursor_u32(&c, &pid))
		cursor_u32(&c, &tid);
	jw_array(w, "switch");
	jw_u64(w, NULL, rec->id.time);
	jw_i64(w, NULL, rec->id.cpu);
	jw_i64(w, NULL, rec->id.pid);
	jw_i64(w, NULL, rec->id.tid);
	jw_i64(w, NULL, (int32_t)pid);
	jw_i64(w, NULL, (int32_t)tid);
	jw_bool(w, NULL, rec->header.misc & PERF_RECORD_MISC_SWITCH_OUT);
	jw_bool(w, NULL, rec->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
	jw_end(w);
}

static void add_throttle(struct json_writer *w, const struct record *rec)
{
	struct cursor c = rec->body;
	uint64_t time = 0, id = 0, stream_id = 0;

	if (cursor_seek(&c, sizeof(struct perf_event_header)) && cursor_u64(&c, &time) &&
	    cursor_u64(&c, &id))
		cursor_u64(&c, &stream_id);
	jw_array(w, rec->header.type == PERF_RECORD_THROTTLE ? "throttle" : "unthrottle");
	jw_u64(w, NULL, time);
	jw_u64(w, NULL, id);
	jw_u64(w, NULL, stream_id);
	jw_i64(w, NULL, rec->id.cpu);
	jw_i64(w, NULL, rec->id.pid);
	jw_i64(w, NULL, rec->id.tid);
	jw_end(w);
}

void print_record_python(const struct record *rec, struct strbuf *out)
{
	const bool is_switch = rec->header.type == PERF_RECORD_SWITCH ||
			       rec->header.type == PERF_RECORD_SWITCH_CPU_WIDE;

	if (!is_switch && rec->header.type != PERF_RECORD_THROTTLE &&
	    rec->header.type != PERF_RECORD_UNTHROTTLE)
		return;
	struct json_writer w = begin_line(out);
	if (is_switch)
		add_switch(&w, rec);
	else
		add_throttle(&w, rec);
	end_line(&w);
}
