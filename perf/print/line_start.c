// SPDX-License-Identifier: BSD-2-Clause
/* The start of each line of perf script: whose it is, where and when. */
#include <inttypes.h>
#include <stdio.h>

#include "lib/base/plain_text.h"
#include "perf/print/printer.h"
#include "perf/print/put_text.h"

void print_time(struct strbuf *out, uint64_t ns, bool nine)
{
	if (!strbuf_reserve(out, 2 * INT_ROOM))
		return;
	char *to = put_int(out->str + out->len, (int64_t)(ns / 1000000000), 0);
	*to++ = '.';
	to = digits_put(to, nine ? ns % 1000000000 : ns % 1000000000 / 1000, nine ? 9 : 6);
	strbuf_cut(out, (size_t)(to - out->str));
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

/* "2026-11-28 10:20:03.872508 ", in the local time zone. */
static void add_day(struct script_printer *p, uint64_t time, struct strbuf *out)
{
	const struct data_header *header = session_header(p->opts.session);
	const uint64_t ns = header->clock_wall_ns + (time - header->clock_ns);
	const time_t second = (time_t)(ns / 1000000000);
	struct tm day;

	if (!header->clock_wall_ns) { /* a pipe may say it too late */
		strbuf_adds(out, "disabled ");
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
		strbuf_addf(out, ".%09u ", (unsigned)(ns % 1000000000));
	else
		strbuf_addf(out, ".%06u ", (unsigned)(ns % 1000000000 / 1000));
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

static void add_comm(const struct script_printer *p, const char *comm, bool narrow,
		     struct strbuf *out)
{
	const size_t len = strlen(comm);
	const size_t width = p->opts.short_start ? 8 : narrow ? 0 : 16;

	if (len < width)
		add_pad(out, width - len);
	plain_add(out, comm, p->opts.short_start ? min_of(len, width) : len);
	strbuf_addch(out, ' ');
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

static char *put_ids(const struct line_task *task, char *to)
{
	const bool has_pid = task->fields & FIELD_PID, has_tid = task->fields & FIELD_TID;

	if (!has_pid && !has_tid)
		return to;
	to = put_int(to, has_pid ? task->pid : task->tid, 5);
	if (has_pid && has_tid) {
		*to++ = '/';
		to = put_int_left(to, task->tid, 5);
	}
	*to++ = ' ';
	return to;
}

static void add_task(const struct script_printer *p, const struct line_task *task,
		     struct strbuf *out)
{
	enum { ROOM = 3 * INT_ROOM };

	if (task->fields & FIELD_COMM)
		add_comm(p, task->comm, task->is_narrow, out);
	if (!strbuf_reserve(out, ROOM))
		return;
	char *to = put_ids(task, out->str + out->len);
	if (task->fields & FIELD_CPU)
		to = put_cpu(p, task->cpu, to);
	strbuf_cut(out, (size_t)(to - out->str));
}

static bool is_same_task(const struct line_task *a, const struct line_task *b)
{
	return a->comm == b->comm && a->fields == b->fields && a->pid == b->pid &&
	       a->tid == b->tid && a->cpu == b->cpu && a->is_narrow == b->is_narrow;
}

/* NULL: the text is not kept, and is in p->text. */
static const struct kept_text *task_text(struct script_printer *p, const struct line_task *task)
{
	struct kept_task *kept = &p->tasks[(uint32_t)(task->tid + 31 * task->cpu) % KEPT_TASKS];

	if (is_same_task(&kept->of, task))
		return &kept->text;
	strbuf_reset(&p->text);
	add_task(p, task, &p->text);
	kept->of = *task;
	if (kept_text_set(&kept->text, &p->text))
		return &kept->text;
	kept->of.comm = NULL;
	return NULL;
}

/* "%5d.%06d: ", or with nine digits. The second is that of most lines before it. */
static char *put_line_time(struct script_printer *p, uint64_t ns, char *to)
{
	const uint64_t second = ns / 1000000000, rest = ns % 1000000000;
	struct kept_text *kept = &p->second_text;

	if (second != p->second || !kept->size) {
		char *end = put_int(kept->text, (int64_t)second, 5);

		*end++ = '.';
		p->second = second;
		kept->size = (uint8_t)(end - kept->text);
	}
	to = put_kept(to, kept);
	to = p->opts.ns ? digits_put(to, rest, 9) : digits_put_8(to, rest / 1000, 6);
	*to++ = ':';
	*to++ = ' ';
	return to;
}

/* The room is made once: a line has some ten parts. */
void print_start(struct script_printer *p, const struct session_event *event, uint32_t type,
		 const struct sample *sample, const struct thread *thread, struct strbuf *out)
{
	const uint64_t fields = p->choice.type[field_type_of(event->attr.type)].fields;
	const struct line_task task = {
		.comm = thread ? thread->comm : ":-1",
		.fields = fields & (FIELD_COMM | FIELD_PID | FIELD_TID | FIELD_CPU),
		.pid = sample->pid,
		.tid = sample->tid,
		.cpu = sample->cpu,
		.is_narrow = fields & FIELD_IP && p->use_chain &&
			     event->attr.sample_type & PERF_SAMPLE_CALLCHAIN,
	};
	enum { ROOM = 2 * KEPT_TEXT_MAX + INT_ROOM };
	const struct kept_text *text = task_text(p, &task);

	if (!text)
		strbuf_add(out, strbuf_str(&p->text), p->text.len);
	out->failed |= !text && strbuf_failed(&p->text);
	if (!strbuf_reserve(out, ROOM))
		return;
	char *to = out->str + out->len;
	if (text)
		to = put_kept(to, text);
	if (fields & (FIELD_MISC | FIELD_TOD)) {
		strbuf_cut(out, (size_t)(to - out->str));
		if (fields & FIELD_MISC)
			add_misc(out, type, sample->misc);
		if (fields & FIELD_TOD)
			add_day(p, sample->time, out);
		if (!strbuf_reserve(out, ROOM))
			return;
		to = out->str + out->len;
	}
	if (fields & FIELD_TIME) {
		const uint64_t time = sample->has & PERF_SAMPLE_TIME ? sample->time : UINT64_MAX;

		to = put_line_time(p, shown_time(p, time), to);
	}
	strbuf_cut(out, (size_t)(to - out->str));
}
