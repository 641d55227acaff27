// SPDX-License-Identifier: BSD-2-Clause
/*
 * Records with their bytes, as perf script -D and perf report -D print them:
 *
 *	0x1a8@perf.data [0x50]: event: 1
 *	.
 *	. ... raw event: size 80 bytes
 *	.  0000:  01 00 00 00 …  ........
 *
 *	0 0x1a8 [0x50]: PERF_RECORD_MMAP …
 *
 * The offset of a record in a pipe is counted from the end of its header, and that of a record
 * that was compressed is that of the record that holds it. The last line starts with the CPU and
 * the time if any event has them, by the events that are known when the record is read.
 */
#include <inttypes.h>

#include "lib/base/plain_text.h"
#include "perf/event/sample_regs.h"
#include "perf/print/print_header.h"
#include "perf/print/printer.h"

#define PIPE_HEADER_SIZE 16

static void add_regs(struct script_printer *p, const char *what, uint64_t abi,
		     const struct u64_array *regs, uint64_t mask, struct strbuf *out)
{
	static const char *const abis[] = {"none", "32-bit", "64-bit"};
	const char *arch = session_header(p->opts.session)->arch;
	char name[16];
	uint64_t i = 0;

	if (!regs->n)
		return;
	strbuf_addf(out, "... %s regs: mask 0x%" PRIx64 " ABI %s\n", what, mask,
		    abi < ARRAY_SIZE(abis) ? abis[abi] : "unknown");
	for (unsigned r = 0; r < 64 && i < regs->n; r++)
		if (mask >> r & 1)
			strbuf_addf(out, ".... %-5s 0x%016" PRIx64 "\n",
				    sample_reg_name(arch, r, name), u64_array_at(regs, i++));
}

static void add_value(const struct u64_array *read, uint64_t at, uint64_t id_at, uint64_t lost_at,
		      struct strbuf *out)
{
	strbuf_addf(out, "..... id %016" PRIx64 ", value %016" PRIx64, u64_array_at(read, id_at),
		    u64_array_at(read, at));
	if (lost_at)
		strbuf_addf(out, ", lost %" PRIu64, u64_array_at(read, lost_at));
	strbuf_addch(out, '\n');
}

/* The values of the event's counter, or of its group's. */
static void add_read(const struct u64_array *read, uint64_t format, struct strbuf *out)
{
	const bool is_group = format & PERF_FORMAT_GROUP;
	const bool has_id = format & PERF_FORMAT_ID, has_lost = format & PERF_FORMAT_LOST;
	const uint64_t each = 1 + has_id + has_lost;
	uint64_t at = 1; /* after the value, or after the number of members */

	strbuf_adds(out, "... sample_read:\n");
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED && at < read->n)
		strbuf_addf(out, "...... time enabled %016" PRIx64 "\n", u64_array_at(read, at++));
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING && at < read->n)
		strbuf_addf(out, "...... time running %016" PRIx64 "\n", u64_array_at(read, at++));
	if (!has_id)
		return;
	if (!is_group && at + has_lost < read->n)
		add_value(read, 0, at, has_lost ? at + 1 : 0, out);
	if (!is_group || !read->n)
		return;
	strbuf_addf(out, ".... group nr %" PRIu64 "\n", u64_array_at(read, 0));
	for (; at + each <= read->n; at += each)
		add_value(read, at, at + 1, has_lost ? at + 2 : 0, out);
}

static void add_chain(const struct u64_array *chain, struct strbuf *out)
{
	strbuf_addf(out, "... FP chain: nr:%" PRIu64 "\n", chain->n);
	for (uint64_t i = 0; i < chain->n; i++)
		strbuf_addf(out, "..... %2u: %016" PRIx64 "\n", (unsigned)i,
			    u64_array_at(chain, i));
}

/* What the record holds; sample is one of those that were made of it. */
static void add_sample(struct script_printer *p, const struct record *rec,
		       const struct sample *sample, const struct perf_event_attr *attr,
		       struct strbuf *out)
{
	const uint64_t type = attr->sample_type;
	struct sample raw = *sample;

	/* The values of a group were split into periods. */
	if (sample->has & PERF_SAMPLE_READ) {
		_cleanup_error_ struct error *err = sample_decode(attr, rec->body, &raw);

		if (err)
			raw = *sample;
	}
	strbuf_addf(out,
		    "PERF_RECORD_SAMPLE(IP, 0x%x): %d/%d: %#" PRIx64 " period: %" PRIu64
		    " addr: %#" PRIx64 "\n",
		    rec->header.misc, raw.pid, raw.tid, raw.ip, raw.period, raw.addr);
	if (raw.has & PERF_SAMPLE_CALLCHAIN)
		add_chain(&raw.chain, out);
	if (type & PERF_SAMPLE_REGS_USER)
		add_regs(p, "user", raw.user_regs_abi, &raw.user_regs, attr->sample_regs_user, out);
	if (type & PERF_SAMPLE_REGS_INTR)
		add_regs(p, "intr", raw.intr_regs_abi, &raw.intr_regs, attr->sample_regs_intr, out);
	if (type & PERF_SAMPLE_STACK_USER) {
		const uint8_t *stack = raw.user_stack;
		/* It starts with its size. */
		const size_t offset = stack ? (size_t)(stack - rec->body.base) - 8 : 0;

		strbuf_addf(out, "... ustack: size %" PRIu64 ", offset %#zx\n", raw.user_stack_size,
			    offset);
	}
	if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		strbuf_addf(out, "... weight: %" PRIu64 "\n", raw.weight);
	if (type & PERF_SAMPLE_DATA_SRC)
		strbuf_addf(out, " . data_src: 0x%" PRIx64 "\n", raw.data_src);
	if (type & PERF_SAMPLE_PHYS_ADDR)
		strbuf_addf(out, " .. phys_addr: 0x%" PRIx64 "\n", raw.phys_addr);
	if (type & PERF_SAMPLE_TRANSACTION)
		strbuf_addf(out, "... transaction: %" PRIx64 "\n", raw.transaction);
	if (type & PERF_SAMPLE_READ)
		add_read(&raw.read, attr->read_format, out);
}

static void add_place(struct script_printer *p, const struct sample *sample,
		      const struct thread *thread, struct strbuf *out)
{
	struct location at;

	if (!thread)
		return;
	strbuf_adds(out, " ... thread: ");
	plain_adds(out, thread->comm);
	strbuf_addf(out, ":%d\n", thread->tid);
	if (!p->opts.resolver)
		return;
	resolve_addr(p->opts.resolver, thread, sample->cpumode, sample->ip, &at);
	strbuf_adds(out, " ...... dso: ");
	plain_adds(out, at.map ? map_dso_name(at.map) : "<not found>");
	strbuf_addch(out, '\n');
}

/* The CPU and the time. perf's own records have neither: they show as 0 0. */
static void add_stamp(struct script_printer *p, const struct record *rec,
		      const struct sample *sample, struct strbuf *out)
{
	const struct session_event *first = p->n_checked ? session_event(p->opts.session, 0) : NULL;
	const struct sample *id = sample ? sample : &rec->id;
	const bool is_user = rec->header.type >= 64;

	if (!sample && !(first && first->attr.sample_id_all)) {
		strbuf_adds(out, "-1 -1 ");
		return;
	}
	if (p->all_sample_types & PERF_SAMPLE_CPU)
		strbuf_addf(out, "%u ", is_user ? 0 : (unsigned)id->cpu);
	if (p->all_sample_types & PERF_SAMPLE_TIME)
		strbuf_addf(out, "%" PRIu64 " ", is_user ? 0 : id->time);
}

/* The final values of an event's counter for one task (record -s). */
static void add_read_record(struct cursor c, const struct session_event *event, struct strbuf *out)
{
	static const struct {
		uint64_t format;
		const char *name;
	} values[] = {
		{PERF_FORMAT_TOTAL_TIME_ENABLED, "time enabled"},
		{PERF_FORMAT_TOTAL_TIME_RUNNING, "time running"},
		{PERF_FORMAT_ID, "id          "},
		{PERF_FORMAT_LOST, "lost        "},
	};
	uint32_t pid, tid;
	uint64_t value;

	if (!cursor_u32(&c, &pid) || !cursor_u32(&c, &tid) || !cursor_u64(&c, &value))
		return;
	strbuf_addf(out, ": %d %d %s %" PRIu64 "\n", (int)pid, (int)tid,
		    event ? event->name : "unknown", value);
	for (size_t i = 0; event && i < ARRAY_SIZE(values); i++)
		if (event->attr.read_format & values[i].format && cursor_u64(&c, &value))
			strbuf_addf(out, "... %s : %" PRIu64 "\n", values[i].name, value);
}

static void add_lost(const struct record *rec, struct strbuf *out)
{
	const bool is_samples = rec->header.type == PERF_RECORD_LOST_SAMPLES;
	struct record_lost r;
	_cleanup_error_ struct error *err = record_lost_decode(rec->body, &r);

	if (!err)
		strbuf_addf(out, ": id:%" PRIu64 ": %s:%" PRIu64 "\n",
			    is_samples ? rec->id.id : r.id, is_samples ? "lost samples " : "lost",
			    r.lost);
}

/* What the record says, and whether perf's command uses it. */
static void add_body(enum dump_style style, const struct record *rec, struct strbuf *out)
{
	const uint32_t type = rec->header.type;
	const bool is_report = style == DUMP_REPORT;
	struct cursor c = rec->body;
	bool is_used = true;

	cursor_seek(&c, sizeof(struct perf_event_header));
	print_record_name(rec, out);
	switch (type) {
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
		is_used = !is_report;
		break;
	case PERF_RECORD_READ:
		add_read_record(c, rec->event, out);
		is_used = is_report;
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		add_lost(rec, out);
		break;
	case RECORD_THREAD_MAP:
	case RECORD_CPU_MAP:
		is_used = !is_report;
		/* fall through */
	default:
		print_record_body(rec, out);
		break;
	}
	if (!is_used)
		strbuf_adds(out, ": unhandled!\n");
}

void print_record_raw(struct script_printer *p, const struct dump *dump, const struct record *rec,
		      const struct sample *sample, const struct session_event *event,
		      const struct thread *thread, struct strbuf *out)
{
	const bool is_pipe = session_header(p->opts.session)->pipe;
	const bool is_user = rec->header.type >= 64; /* perf's own */
	const uint64_t offset = rec->file_offset - (is_pipe ? PIPE_HEADER_SIZE : 0);
	const uint8_t *bytes = rec->body.base;

	if (sample && rec->again) {
		add_place(p, sample, thread, out);
		return;
	}
	strbuf_addf(out, "\n%#" PRIx64 "@%s [%#x]: event: %u\n.\n. ... raw event: size %u bytes\n",
		    offset, is_pipe ? "pipe" : dump->file, rec->header.size, rec->header.type,
		    rec->header.size);
	for (size_t line = 0; line < rec->body.size; line += 16) {
		strbuf_addf(out, ".  %04x: ", (unsigned)line);
		add_hex_row(out, bytes + line, min_of(rec->body.size - line, (size_t)16), 16);
	}
	strbuf_addch(out, '\n');
	add_stamp(p, rec, sample, out);
	strbuf_addf(out, "%#" PRIx64 " [%#x]: ", offset, rec->header.size);
	if (!sample) {
		const size_t from = out->len;

		add_body(dump->style, rec, out);
		plain_since(out, from,
			    is_user || rec->header.type == PERF_RECORD_READ ||
				    rec->header.type == PERF_RECORD_NAMESPACES);
		if (dump->features && rec->header.type == RECORD_HEADER_FEATURE)
			print_feature_record(session_header(p->opts.session), rec, dump->topology,
					     out);
		return;
	}
	add_sample(p, rec, sample, &event->attr, out);
	add_place(p, sample, thread, out);
}
