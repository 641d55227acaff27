// SPDX-License-Identifier: BSD-2-Clause
/*
 * --switch-output: one recording in several files, each of which can be read without the others.
 *
 * The events are not touched: what is in the rings goes to the next file. That one begins with what
 * runs at that moment, as the first one did (synth_records.c). Samples must not refer to a process
 * or a mapping that only the other file knows. The rings are read one after the other, so that one
 * has what was before a record of another one, but was not there yet when it was read:
 *
 *  1. read all rings, to the old file; T is the time of the newest record
 *  2. read them again: all that is older than T has been read now. From here on, records of
 *     processes and mappings (state) that are newer than T go to both files.
 *  3. write to the new file what /proc shows
 *  4. read the rings to the old file. All that ended before 3 has no more samples.
 *     Rings that the kernel overwrites are read now, and no others.
 *  5. read the others to the new file: the state that the last samples of 4 need goes to both
 *  6. end the old file, go on with the new one
 *
 * State that is older than T is no part of the new file: it was so before 3. The rings are also
 * read during 3, which takes long where many processes run.
 *
 * --switch-output-event: rings of their own, of which no record goes to a file.
 *
 * Of a target, the processes that it has started belong to it, too. They are known from their FORK
 * records.
 */
#include "perf/record/internal.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of 4 KiB: what the event has is read each second, or when it happens. */
#define EVENT_RING_PAGES 16

struct error *record_switch_parse(const char *text, struct record_switch *out)
{
	static const struct {
		char unit;
		enum record_switch_by by;
		uint64_t factor;
	} units[] = {
		{'B', RECORD_SWITCH_SIZE, 1},	    {'K', RECORD_SWITCH_SIZE, 1 << 10},
		{'M', RECORD_SWITCH_SIZE, 1 << 20}, {'G', RECORD_SWITCH_SIZE, 1 << 30},
		{'s', RECORD_SWITCH_TIME, 1},	    {'m', RECORD_SWITCH_TIME, 60},
		{'h', RECORD_SWITCH_TIME, 60 * 60}, {'d', RECORD_SWITCH_TIME, 24 * 60 * 60},
	};
	char *end;

	if (!strcmp(text, "signal")) {
		*out = (struct record_switch){.by = RECORD_SWITCH_SIGNAL};
		return NULL;
	}
	errno = 0;
	const uint64_t n = strtoull(text, &end, 10);
	/* 2^40 fits into 64 bits with each of the factors, as bytes and as nanoseconds */
	const uint64_t most = (uint64_t)1 << 40;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!isdigit((unsigned char)*text) || errno || !n || *end != units[i].unit ||
		    end[1] || n > most / units[i].factor)
			continue;
		*out = (struct record_switch){.by = units[i].by, .value = n * units[i].factor};
		return NULL;
	}
	return error_hint(error_usage("--switch-output: invalid value '%s'", text),
			  "use signal, a size with a unit (500K, 100M, 2G) or a time with a unit "
			  "(10s, 5m, 1h, 1d)");
}

/* ---- when ---- */

static struct error *on_due(void *ctx, uint32_t events)
{
	((struct recording *)ctx)->switching.due = true;
	return NULL;
}

struct error *switch_prepare(struct recording *rec)
{
	const struct record_opts *o = &rec->opts;
	const struct file_series_opts opts = {
		.path = o->output,
		.max_files = o->switch_output.max_files,
		.confine = o->confine_files,
		.confine_ctx = o->confine_files_ctx,
	};
	struct record_switching *s = &rec->switching;

	if (!o->switch_output.by)
		return NULL;
	if (!strcmp(o->output, "-"))
		return error_hint(error_usage("--switch-output does not work with a pipe"),
				  "give a file with -o");
	TRY(error_prefix(file_series_new(&opts, &s->series), "--switch-output"));
	if (o->switch_output.by == RECORD_SWITCH_SIGNAL)
		TRY(loop_on_signal(rec->loop, SIGUSR2, on_due, rec));
	if (o->switch_output.by == RECORD_SWITCH_TIME)
		TRY(loop_timer(rec->loop, on_due, rec, &s->timer));
	return NULL;
}

/* Of the same target. Its side-band records are not wanted, but come. */
struct error *switch_open_event(struct recording *rec)
{
	const struct record_opts *o = &rec->opts;
	const struct record_arg arg = {.kind = RECORD_EVENTS, .text = o->switch_output.event};
	const struct record_opts opts = {
		.sz = sizeof(opts),
		.args = &arg,
		.n_args = 1,
		.all_cpus = o->all_cpus,
		.cpus = o->cpus,
		.pids = o->pids,
		.tids = o->tids,
		.users = o->users,
		.cgroups = o->cgroups,
		.workload = o->workload,
		.no_inherit = o->no_inherit,
		.no_bpf_events = true,
		.no_buffering = true,
		.mmap_pages = EVENT_RING_PAGES,
		.compile = o->compile,
		.vmlinux = o->vmlinux,
		.roots = o->roots,
		.log = o->log,
	};
	struct record_switching *s = &rec->switching;

	if (!arg.text)
		return NULL;
	TRY(error_prefix(live_events_new(&opts, rec->loop, &s->event), "--switch-output-event"));
	return live_events_watch(s->event, NULL, NULL);
}

static struct error *find_sample(void *ctx, const struct iovec *iov, int n)
{
	struct recording *rec = ctx;

	/* Records are not cut between the pieces but by the end of the ring. */
	_cleanup_strbuf_ struct strbuf all = STRBUF_INIT;
	struct perf_event_header header;

	for (int i = 0; i < n; i++)
		strbuf_add(&all, iov[i].iov_base, iov[i].iov_len);
	if (strbuf_failed(&all))
		return error_nomem();
	for (size_t at = 0; all.len - at >= sizeof(header); at += header.size) {
		memcpy(&header, all.str + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > all.len - at)
			break;
		rec->switching.due |= header.type == PERF_RECORD_SAMPLE;
	}
	return NULL;
}

struct error *switch_see_event(struct recording *rec)
{
	return rec->switching.event ? live_events_drain(rec->switching.event, find_sample, rec)
				    : NULL;
}

struct error *switch_begin(struct recording *rec)
{
	const struct record_switch *o = &rec->opts.switch_output;

	return o->by == RECORD_SWITCH_TIME
		       ? loop_timer_set(rec->switching.timer, o->value * 1000000000, true)
		       : NULL;
}

bool switch_is_due(const struct recording *rec)
{
	const struct record_switch *o = &rec->opts.switch_output;

	return rec->switching.due ||
	       (o->by == RECORD_SWITCH_SIZE && data_writer_bytes(rec->writer) >= o->value);
}

void switching_deinit(struct record_switching *s)
{
	data_writer_free(s->next);
	recording_free(s->event);
	file_series_free(s->series);
	u64map_deinit(&s->family);
}

/* ---- what the rings have ---- */

/*
 * Of a record that is not a sample: the time is among the sample_id fields at its end, which are
 * the same for all events.
 */
static size_t trailer_size(const struct recording *rec)
{
	const uint64_t type = rec->events.v[0].attr.sample_type;
	size_t size = 16; /* pid and tid, time */

	size += type & PERF_SAMPLE_ID ? 8 : 0;
	size += type & PERF_SAMPLE_STREAM_ID ? 8 : 0;
	size += type & PERF_SAMPLE_CPU ? 8 : 0;
	size += type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
	return size;
}

uint64_t switch_record_time(const struct recording *rec, const struct perf_ring *ring, uint64_t at,
			    const struct perf_event_header *header)
{
	const size_t trailer = trailer_size(rec);
	uint64_t offset = header->size - trailer + 8, time;

	if (header->type == PERF_RECORD_SAMPLE)
		offset = 16 + (rec->with_id ? 8 : 0) + (rec->no_ip ? 0 : 8);
	else if (header->size < sizeof(*header) + trailer)
		return 0;
	if (offset + sizeof(time) > header->size)
		return 0;
	memcpy(&time, ring->data + ((at + offset) & (ring->size - 1)), sizeof(time));
	return time;
}

bool switch_is_state(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_NAMESPACES:
	case PERF_RECORD_KSYMBOL:
	case PERF_RECORD_BPF_EVENT:
	case PERF_RECORD_CGROUP:
		return true;
	default:
		return false;
	}
}

struct error *switch_see_fork(struct recording *rec, pid_t pid)
{
	struct u64map *family = &rec->switching.family;

	if (rec->target.system_wide || pid <= 0 || u64map_get(family, (uint64_t)pid))
		return NULL;
	return u64map_put(family, (uint64_t)pid, rec) ? NULL : error_nomem();
}

/* ---- the switch ---- */

/* The events and features of the next file are written as those of the first one were. */
static struct error *open_next(struct recording *rec)
{
	struct record_switching *s = &rec->switching;
	_cleanup_close_ int fd = -1;
	struct error *err;

	TRY(file_series_open(s->series, &fd));
	struct data_writer *const old = rec->writer;
	err = writer_open(rec, &fd);
	if (!err)
		err = writer_start(rec);
	if (rec->writer != old)
		s->next = rec->writer;
	rec->writer = old;
	return err;
}

/* The file that is written is complete; its name has a date from now on. */
static struct error *name_by_date(struct recording *rec)
{
	char date[CLOCK_DATE_SIZE];

	TRY(file_series_next(rec->switching.series, date));
	_cleanup_free_ char *text =
		text_format("[ perf-bpf record: Dump %s.%s ]", rec->opts.output, date);
	if (text && rec->opts.say)
		rec->opts.say(rec->opts.say_ctx, text);
	return NULL;
}

static struct error *end_old(struct recording *rec)
{
	TRY(ledger_close(rec));
	TRY(features_switch(rec));
	TRY(data_writer_finish(rec->writer));
	rec->switching.bytes += data_writer_bytes(rec->writer);
	data_writer_free(rec->writer);
	rec->writer = steal_ptr(rec->switching.next);
	return name_by_date(rec);
}

static struct error *find_newest(struct recording *rec)
{
	struct record_switching *s = &rec->switching;
	bool any;

	s->newest = 0;
	s->finds_newest = true;
	struct error *err = rings_drain(rec, &any);
	s->finds_newest = false;
	return err;
}

/* Of the samples, the time is that of the new file. */
static struct error *drain_to_next(struct recording *rec)
{
	struct record_switching *s = &rec->switching;
	struct data_writer *const old = rec->writer;
	bool any;

	rec->writer = s->next;
	s->next = old;
	rec->first_time = rec->last_time = 0;
	struct error *err = rings_drain(rec, &any);
	s->next = rec->writer;
	rec->writer = old;
	return err;
}

struct error *switch_output(struct recording *rec)
{
	struct record_switching *s = &rec->switching;
	bool any;

	s->due = false;
	TRY(find_newest(rec));
	TRY(open_next(rec));
	TRY(rings_drain(rec, &any));
	TRY(synthesize_again(rec, rec->opts.tail_synthesize ? rec->writer : s->next));
	TRY(rings_drain(rec, &any));
	TRY(overwritten_drain(rec));
	TRY(features_put_times(rec));
	TRY(drain_to_next(rec));
	return end_old(rec);
}

struct error *switch_end(struct recording *rec)
{
	return rec->switching.series ? name_by_date(rec) : NULL;
}
