// SPDX-License-Identifier: BSD-2-Clause
/* Records that are no samples, as perf script --show-…-events writes them. */
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/plain_text.h"
#include "perf/print/printer.h"

static void add_mmap(const struct record *rec, struct strbuf *out)
{
	struct record_mmap m;
	_cleanup_error_ struct error *err = record_mmap_decode(rec->body, &m);

	if (err) {
		strbuf_addch(out, '\n');
		return;
	}
	strbuf_addf(out, " %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64, m.pid, m.tid, m.addr,
		    m.len, m.pgoff);
	if (rec->header.type == PERF_RECORD_MMAP) {
		strbuf_addf(out, "]: %c %s\n",
			    rec->header.misc & PERF_RECORD_MISC_MMAP_DATA ? 'r' : 'x', m.filename);
		return;
	}
	if (m.build_id) {
		strbuf_adds(out, " <");
		strbuf_add_bytes(out, m.build_id, m.build_id_size);
		strbuf_addch(out, '>');
	} else {
		strbuf_addf(out, " %02x:%02x %" PRIu64 " %" PRIu64, m.maj, m.min, m.ino,
			    m.ino_generation);
	}
	strbuf_addf(out, "]: %c%c%c%c %s\n", m.prot & PROT_READ ? 'r' : '-',
		    m.prot & PROT_WRITE ? 'w' : '-', m.prot & PROT_EXEC ? 'x' : '-',
		    m.flags & MAP_SHARED ? 's' : 'p', m.filename);
}

static void add_namespaces(const struct record *rec, struct strbuf *out)
{
	struct record_namespaces r;
	_cleanup_error_ struct error *err = record_namespaces_decode(rec->body, &r);

	if (err) {
		strbuf_addch(out, '\n');
		return;
	}
	strbuf_addf(out, " %d/%d - nr_namespaces: %u\n\t\t[", r.pid, r.tid,
		    (unsigned)(r.links.n / 2));
	for (uint64_t i = 0; i < r.links.n / 2; i++)
		strbuf_addf(out, "%s%u/%s: %" PRIu64 "/%#" PRIx64 "%s",
			    i && !(i % 4) ? "\n\t\t " : "", (unsigned)i, namespace_name(i),
			    u64_array_at(&r.links, i * 2), u64_array_at(&r.links, i * 2 + 1),
			    i + 1 < r.links.n / 2 ? ", " : "]\n");
}

static void add_switch(const struct record *rec, struct strbuf *out)
{
	bool left = rec->header.misc & PERF_RECORD_MISC_SWITCH_OUT;
	const char *how = !left							   ? "IN         "
			  : rec->header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt"
										   : "OUT        ";
	struct cursor c = rec->body;
	uint32_t pid, tid;

	strbuf_addf(out, " %s", how);
	if (rec->header.type == PERF_RECORD_SWITCH_CPU_WIDE &&
	    cursor_seek(&c, sizeof(struct perf_event_header)) && cursor_u32(&c, &pid) &&
	    cursor_u32(&c, &tid))
		strbuf_addf(out, "  %s pid/tid: %5d/%-5d", left ? "next" : "prev", (int)pid,
			    (int)tid);
	strbuf_addch(out, '\n');
}

static void add_bytes(const char *what, const uint8_t *bytes, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		if (i % 16 == 0)
			strbuf_addf(out, "%s            %s bytes:", i ? "\n" : "", what);
		strbuf_addf(out, " %02x", bytes[i]);
	}
	if (n)
		strbuf_addch(out, '\n');
}

/* resolver: names the function; NULL: it is not named. */
static void add_text_poke(struct resolver *resolver, const struct record *rec, struct strbuf *out)
{
	struct record_text_poke r;
	struct location at = {0};
	_cleanup_error_ struct error *err = record_text_poke_decode(rec->body, &r);

	if (err) {
		strbuf_addch(out, '\n');
		return;
	}
	strbuf_addf(out, " %" PRIx64 " ", r.addr);
	if (resolver)
		resolve_addr(resolver, NULL, PERF_RECORD_MISC_KERNEL, r.addr, &at);
	if (at.sym)
		strbuf_addf(out, "%s+0x%" PRIx64, at.sym->name, at.offset);
	strbuf_addf(out, " old len %u new len %u\n", r.old_len, r.new_len);
	add_bytes("Old", r.bytes, r.old_len, out);
	add_bytes("New", r.bytes + r.old_len, r.new_len, out);
}

/* perf's own records, as its -D shows them. */
static void add_id_index(struct cursor c, struct strbuf *out)
{
	uint64_t n, v[4];

	if (!cursor_u64(&c, &n))
		return;
	strbuf_addf(out, " nr: %" PRIu64 "\n", n);
	for (uint64_t i = 0; i < n; i++) {
		for (int k = 0; k < 4; k++)
			if (!cursor_u64(&c, &v[k]))
				return;
		strbuf_addf(out,
			    " ... id: %" PRIu64 "  idx: %" PRIu64 "  cpu: %" PRId64
			    "  tid: %" PRId64 "\n",
			    v[0], v[1], (int64_t)v[2], (int64_t)v[3]);
	}
}

static void add_thread_map(struct cursor c, struct strbuf *out)
{
	uint64_t n, tid;

	if (!cursor_u64(&c, &n))
		return;
	strbuf_addf(out, " nr: %" PRIu64 " thread%s", n, n > 1 ? "s: " : ": ");
	for (uint64_t i = 0; i < n; i++) {
		if (!cursor_u64(&c, &tid) || !cursor_skip(&c, 16))
			break;
		strbuf_addf(out, "%s%d", i ? ", " : "", (int)tid);
	}
	strbuf_addch(out, '\n');
}

/* CPUs in rising order as "0-1,4". */
struct cpu_runs {
	struct strbuf *out;
	bool any;
	uint64_t first, last; /* of the run that is not written yet */
};

static void cpu_runs_flush(struct cpu_runs *runs)
{
	if (runs->any && runs->first == UINT16_MAX)
		strbuf_adds(runs->out, "-1"); /* any CPU */
	else if (runs->any && runs->first == runs->last)
		strbuf_addf(runs->out, "%" PRIu64, runs->first);
	else if (runs->any)
		strbuf_addf(runs->out, "%" PRIu64 "-%" PRIu64, runs->first, runs->last);
}

static void cpu_runs_add(struct cpu_runs *runs, uint64_t cpu)
{
	if (runs->any && cpu == runs->last + 1) {
		runs->last = cpu;
		return;
	}
	cpu_runs_flush(runs);
	if (runs->any)
		strbuf_addch(runs->out, ',');
	runs->any = true;
	runs->first = runs->last = cpu;
}

/* struct perf_record_cpu_map_data: a list, bits in words of 4 or 8 bytes, or a range. */
static void add_cpus(struct cursor c, struct strbuf *out)
{
	struct cpu_runs runs = {.out = out};
	uint16_t type, n, word_size, first, last;
	uint32_t half;
	uint64_t word;

	if (!cursor_u16(&c, &type) || !cursor_u16(&c, &n))
		return;
	switch (type) {
	case 0:
		while (n-- && cursor_u16(&c, &first))
			cpu_runs_add(&runs, first);
		break;
	case 1:
		if (!cursor_u16(&c, &word_size) ||
		    (word_size == 8 ? !cursor_skip(&c, 2) : word_size != 4))
			return;
		for (unsigned i = 0; i < n; i++) {
			if (word_size == 8 ? !cursor_u64(&c, &word) : !cursor_u32(&c, &half))
				break;
			word = word_size == 8 ? word : half;
			for (unsigned bit = 0; bit < word_size * 8u; bit++)
				if (word >> bit & 1)
					cpu_runs_add(&runs, i * word_size * 8u + bit);
		}
		break;
	case 2: /* n: in its first byte, whether any CPU is one of them */
		if (!cursor_u16(&c, &first) || !cursor_u16(&c, &last))
			return;
		runs = (struct cpu_runs){out, true, first, last};
		break;
	default:
		return;
	}
	cpu_runs_flush(&runs);
}

static void add_event_update(struct cursor c, struct strbuf *out)
{
	uint64_t type, id, bits;
	const char *text;
	double scale;

	if (!cursor_u64(&c, &type) || !cursor_u64(&c, &id))
		return;
	strbuf_addf(out, "\n... id:    %" PRIu64 "\n", id);
	switch (type) {
	case EVENT_UPDATE_SCALE:
		if (!cursor_u64(&c, &bits))
			return;
		memcpy(&scale, &bits, sizeof(scale));
		strbuf_addf(out, "... scale: %f\n", scale);
		break;
	case EVENT_UPDATE_UNIT:
	case EVENT_UPDATE_NAME:
		text = cursor_cstr(&c);
		strbuf_addf(out, "... %s  %s\n",
			    type == EVENT_UPDATE_UNIT ? "unit:" : "name:", text ? text : "");
		break;
	case EVENT_UPDATE_CPUS:
		strbuf_adds(out, "... cpus: ");
		add_cpus(c, out);
		strbuf_addch(out, '\n');
		break;
	default:
		strbuf_adds(out, "... unknown type\n");
		break;
	}
}

void print_record_name(const struct record *rec, struct strbuf *out)
{
	const char *name = record_type_name(rec->header.type);

	strbuf_addf(out, "PERF_RECORD_%s", name ? name : "UNKNOWN");
}

void print_record_body(const struct record *rec, struct strbuf *out)
{
	_cleanup_error_ struct error *err = NULL;

	switch (rec->header.type) {
	case PERF_RECORD_COMM: {
		struct record_comm r;

		if (!(err = record_comm_decode(rec->body, &r)))
			strbuf_addf(out, "%s: %s:%d/%d", r.exec ? " exec" : "", r.comm, r.pid,
				    r.tid);
		break;
	}
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: {
		struct record_task r;

		if (!(err = record_task_decode(rec->body, &r)))
			strbuf_addf(out, "(%d:%d):(%d:%d)", r.pid, r.tid, r.ppid, r.ptid);
		break;
	}
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		add_mmap(rec, out);
		return;
	case PERF_RECORD_LOST: {
		struct record_lost r;

		if (!(err = record_lost_decode(rec->body, &r)))
			strbuf_addf(out, " lost %" PRIu64, r.lost);
		break;
	}
	case PERF_RECORD_KSYMBOL: {
		struct record_ksymbol r;

		if (!(err = record_ksymbol_decode(rec->body, &r)))
			strbuf_addf(out, " addr %" PRIx64 " len %u type %u flags 0x%x name %s",
				    r.addr, r.len, r.type, r.flags, r.name);
		break;
	}
	case PERF_RECORD_BPF_EVENT: {
		struct record_bpf_event r;

		if (!(err = record_bpf_event_decode(rec->body, &r)))
			strbuf_addf(out, " type %u, flags %u, id %u", r.type, r.flags, r.id);
		break;
	}
	case PERF_RECORD_CGROUP: {
		struct record_cgroup r;

		if (!(err = record_cgroup_decode(rec->body, &r)))
			strbuf_addf(out, " cgroup: %" PRIu64 " %s", r.id, r.path);
		break;
	}
	case PERF_RECORD_NAMESPACES:
		add_namespaces(rec, out);
		return;
	case PERF_RECORD_TEXT_POKE:
		add_text_poke(NULL, rec, out);
		return;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		add_switch(rec, out);
		return;
	case RECORD_HEADER_ATTR:
	case RECORD_HEADER_EVENT_TYPE:
	case RECORD_HEADER_TRACING_DATA:
	case RECORD_HEADER_BUILD_ID:
	case RECORD_HEADER_FEATURE:
		return; /* perf leaves out the newline */
	case RECORD_FINISHED_INIT:
		strbuf_adds(out, ": unhandled!");
		break;
	case RECORD_ID_INDEX:
	case RECORD_THREAD_MAP:
	case RECORD_CPU_MAP:
	case RECORD_EVENT_UPDATE: {
		struct cursor c = rec->body;

		if (!cursor_seek(&c, sizeof(struct perf_event_header)))
			break;
		if (rec->header.type == RECORD_ID_INDEX) {
			add_id_index(c, out);
		} else if (rec->header.type == RECORD_THREAD_MAP) {
			add_thread_map(c, out);
		} else if (rec->header.type == RECORD_EVENT_UPDATE) {
			add_event_update(c, out);
		} else {
			strbuf_adds(out, ": ");
			add_cpus(c, out);
			break;
		}
		return;
	}
	default:
		break;
	}
	strbuf_addch(out, '\n');
}

void print_record(struct script_printer *p, const struct record *rec, const struct thread *thread,
		  struct strbuf *out)
{
	const struct session_event *event = rec->event;

	/* What was synthesised has no id: perf takes it for the first event's. */
	if (!event && session_n_events(p->opts.session))
		event = session_event(p->opts.session, 0);
	if (event && rec->header.type != RECORD_FINISHED_ROUND) { /* which has no time */
		struct sample id = rec->id;

		id.misc = rec->header.misc;
		print_start(p, event, rec->header.type, &id, thread, out);
	}
	const size_t from = out->len;
	const bool is_text_poke = rec->header.type == PERF_RECORD_TEXT_POKE;
	print_record_name(rec, out);
	if (is_text_poke)
		add_text_poke(p->opts.resolver, rec, out);
	else
		print_record_body(rec, out);
	plain_since(out, from, is_text_poke || rec->header.type == PERF_RECORD_NAMESPACES);
}
