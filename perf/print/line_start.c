// SPDX-License-Identifier: BSD-2-Clause
/* The start of each line of perf script: whose it is, where and when. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/plain_text.h"
#include "perf/print/printer.h"
#include "perf/print/put_text.h"

enum { TIME_ROOM = 32 + PUT_SLACK }; /* of put_time() */

/* width: with spaces in front */
static char *put_time(char *to, uint64_t ns, bool nine, size_t width)
{
	const uint64_t seconds = ns / 1000000000, rest = ns % 1000000000;
	const unsigned n = digits_count(seconds), digits = nine ? 9 : 6;

	if (n + 1 + digits < width)
		to = put_pad(to, width - (n + 1 + digits));
	to = digits_put(to, seconds, n);
	*to++ = '.';
	return digits_put(to, nine ? rest : rest / 1000, digits);
}

void print_time(struct strbuf *out, uint64_t ns, bool nine)
{
	if (!strbuf_reserve(out, TIME_ROOM))
		return;
	strbuf_cut(out, (size_t)(put_time(out->str + out->len, ns, nine, 0) - out->str));
}

static uint64_t shown_time(struct script_printer *p, uint64_t time)
{
	const uint64_t base = p->base_time;

	if (p->opts.time_base == TIME_RECORDED)
		return time;
	if (!base || p->opts.time_base == TIME_SINCE_LAST)
		p->base_time = time;
	return base ? time - base : 0;
}

/* "2026-11-28 10:20:03.872508", in the local time zone. */
static void add_day(struct script_printer *p, uint64_t time, struct strbuf *out)
{
	const struct data_header *header = session_header(p->opts.session);
	const uint64_t ns = header->clock_wall_ns + (time - header->clock_ns);
	const time_t second = (time_t)(ns / 1000000000);
	struct tm day;

	if (!header->clock_wall_ns) { /* a pipe may say it too late */
		strbuf_adds(out, "disabled");
		return;
	}
	if (second != p->day_second) {
		if (!localtime_r(&second, &day) ||
		    !strftime(p->day_text, sizeof(p->day_text), "%F %H:%M:%S", &day))
			p->day_text[0] = 0;
		p->day_second = second;
	}
	strbuf_adds(out, p->day_text);
	if (p->opts.ns)
		strbuf_addf(out, ".%09u", (unsigned)(ns % 1000000000));
	else
		strbuf_addf(out, ".%06u", (unsigned)(ns % 1000000000 / 1000));
}

static void add_misc(struct strbuf *out, uint32_t type, uint16_t misc)
{
	size_t start = out->len;
	static const struct {
		uint16_t bits;
		char letter;
	} modes[] = {
		{PERF_RECORD_MISC_KERNEL, 'K'},	    {PERF_RECORD_MISC_USER, 'U'},
		{PERF_RECORD_MISC_HYPERVISOR, 'H'}, {PERF_RECORD_MISC_GUEST_KERNEL, 'G'},
		{PERF_RECORD_MISC_GUEST_USER, 'g'},
	};

	/* As perf tests them: all bits of the mode are set. */
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if ((misc & modes[i].bits) == modes[i].bits)
			strbuf_addch(out, modes[i].letter);
	if ((type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2) &&
	    misc & PERF_RECORD_MISC_MMAP_DATA)
		strbuf_addch(out, 'M');
	if (type == PERF_RECORD_COMM && misc & PERF_RECORD_MISC_COMM_EXEC)
		strbuf_addch(out, 'E');
	if ((type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE) &&
	    misc & PERF_RECORD_MISC_SWITCH_OUT) {
		strbuf_addch(out, 'S');
		if (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
			strbuf_addch(out, 'p');
	}
	size_t len = out->len - start;
	add_pad(out, len < 6 ? 6 - len : 1);
}

/*
 * The name in p->comm_text. Equal names are one string (session.h), and most lines are of the
 * thread of the line before.
 */
static void set_comm(struct script_printer *p, const char *comm, bool narrow)
{
	struct strbuf *text = &p->comm_text;

	if (comm == p->comm && narrow == p->comm_is_narrow)
		return;
	const size_t len = strlen(comm);
	const size_t width = p->opts.short_start ? 8 : narrow ? 0 : 16;

	p->comm = comm;
	p->comm_is_narrow = narrow;
	strbuf_reset(text);
	if (len < width)
		add_pad(text, width - len);
	plain_add(text, comm, p->opts.short_start ? min_of(len, width) : len);
	strbuf_addch(text, ' ');
}

static char *put_cpu(const struct script_printer *p, int32_t cpu, char *to)
{
	if (p->opts.short_start) {
		to = put_int(to, cpu, 3);
		*to++ = ' ';
		return to;
	}
	*to++ = '[';
	to = put_int3(to, cpu);
	*to++ = ']';
	*to++ = ' ';
	return to;
}

static char *put_tasks(uint64_t fields, const struct sample *sample, char *to)
{
	if (!(fields & (FIELD_PID | FIELD_TID)))
		return to;
	if (fields & FIELD_PID)
		to = put_int(to, sample->pid, 5);
	else
		to = put_int(to, sample->tid, 5);
	if (fields & FIELD_PID && fields & FIELD_TID) {
		*to++ = '/';
		to = put_int_left(to, sample->tid, 5);
	}
	*to++ = ' ';
	return to;
}

/* The room is made once: a line has some ten parts. */
void print_start(struct script_printer *p, const struct session_event *event, uint32_t type,
		 const struct sample *sample, const struct thread *thread, struct strbuf *out)
{
	const uint64_t fields = p->choice.type[field_type_of(event->attr.type)].fields;
	enum { ROOM = 3 * INT_ROOM + TIME_ROOM };

	if (fields & FIELD_COMM) {
		const char *comm = thread ? thread->comm : ":-1";
		bool narrow = fields & FIELD_IP && p->use_chain &&
			      event->attr.sample_type & PERF_SAMPLE_CALLCHAIN;

		set_comm(p, comm, narrow);
		out->failed |= strbuf_failed(&p->comm_text);
		strbuf_add(out, strbuf_str(&p->comm_text), p->comm_text.len);
	}
	if (!strbuf_reserve(out, ROOM))
		return;
	char *to = put_tasks(fields, sample, out->str + out->len);
	if (fields & FIELD_CPU)
		to = put_cpu(p, sample->cpu, to);
	strbuf_cut(out, (size_t)(to - out->str));
	if (fields & FIELD_MISC)
		add_misc(out, type, sample->misc);
	if (fields & FIELD_TOD) {
		add_day(p, sample->time, out);
		strbuf_addch(out, ' ');
	}
	if (!(fields & FIELD_TIME) || !strbuf_reserve(out, ROOM))
		return;
	const uint64_t time =
		shown_time(p, sample->has & PERF_SAMPLE_TIME ? sample->time : UINT64_MAX);
	to = put_time(out->str + out->len, time, p->opts.ns, p->opts.ns ? 15 : 12);
	*to++ = ':';
	*to++ = ' ';
	strbuf_cut(out, (size_t)(to - out->str));
}
