// SPDX-License-Identifier: BSD-2-Clause
/*
 * The payloads of the two tracepoints are those of their format files, which have been the same
 * since 2.6.31: the common fields (type, flags, preempt count, pid), then a long id; and args[6],
 * or the result. Names of threads are COMM records in front of the first sample that has them.
 */
#include "trace/call_recording.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/sys/tracefs.h"
#include "perf/data/features.h"
#include "perf/data/writer.h"
#include "perf/event/encode.h"
#include "trace/kept_record.h"

enum {
	BUFFER = 1 << 16,  /* records are written when there are so many bytes */
	MAX_NAMES = 65536, /* threads whose names are remembered; above, they are written again */
	FORMAT_MAX = 1 << 16,
};

enum call_event {
	CALL_ENTER,
	CALL_EXIT,
	CALL_EVENTS,
};

static const char *const event_names[CALL_EVENTS] = {"sys_enter", "sys_exit"};

struct call_recording {
	struct data_writer *writer;
	struct perf_event_attr attrs[CALL_EVENTS];
	uint16_t types[CALL_EVENTS];
	struct strbuf out;
	struct strbuf payload; /* of a sample with a kept record */
	struct u64map names;   /* by thread: a hash of its name, as a pointer */
	uint32_t last_tid;     /* the thread of the call before, and its name: most are the same */
	char last_comm[16];
	struct sample samples[CALL_EVENTS]; /* with what is the same in all of an event */
	uint64_t first, last;
};

/* struct trace_entry of the kernel */
struct payload_head {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid;
	int64_t nr;
};

void call_recording_free(struct call_recording *recording)
{
	if (!recording)
		return;
	data_writer_free(recording->writer);
	strbuf_deinit(&recording->out);
	strbuf_deinit(&recording->payload);
	u64map_deinit(&recording->names);
	free(recording);
}

static struct error *add_event(struct call_recording *r, const struct sys_roots *roots,
			       enum call_event event)
{
	_cleanup_free_ char *name = text_format("raw_syscalls:%s", event_names[event]);
	const uint64_t id = event + 1;
	uint64_t config;

	if (!name)
		return error_nomem();
	TRY(sys_tracepoint_id(roots, "raw_syscalls", event_names[event], &config));
	r->types[event] = (uint16_t)config;
	r->attrs[event] = (struct perf_event_attr){
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(struct perf_event_attr),
		.config = config,
		.sample_period = 1,
		/* without a PERIOD, it is sample_period */
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
		.comm = event == CALL_ENTER,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	r->samples[event] = (struct sample){
		.has = r->attrs[event].sample_type,
		.id = id,
		.cpumode = PERF_RECORD_MISC_KERNEL,
		.misc = PERF_RECORD_MISC_KERNEL,
	};
	return data_writer_add_event(r->writer, &r->attrs[event], name, &id, 1);
}

static struct error *put(struct call_recording *r, enum data_feature feature, struct strbuf *sb)
{
	if (strbuf_failed(sb))
		return error_nomem();
	TRY(data_writer_feature(r->writer, feature, sb->str, sb->len));
	strbuf_reset(sb);
	return NULL;
}

static struct error *add_formats(struct call_recording *r, const struct sys_roots *roots)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	_cleanup_free_ char *page = NULL, *head = NULL, *enter = NULL, *leave = NULL;
	size_t page_size = 0, head_size = 0, enter_size = 0, leave_size = 0;

	TRY(sys_tracefs_read(roots, "events/header_page", FORMAT_MAX, &page, &page_size));
	TRY(sys_tracefs_read(roots, "events/header_event", FORMAT_MAX, &head, &head_size));
	TRY(sys_tracepoint_format(roots, "raw_syscalls", "sys_enter", &enter, &enter_size));
	TRY(sys_tracepoint_format(roots, "raw_syscalls", "sys_exit", &leave, &leave_size));
	const struct feature_tracepoint events[CALL_EVENTS] = {
		{"raw_syscalls", {enter, enter_size}},
		{"raw_syscalls", {leave, leave_size}},
	};
	const struct feature_tracing tracing = {
		.page_size = (uint32_t)sys_page_size(),
		.header_page = {page, page_size},
		.header_event = {head, head_size},
		.events = events,
		.n_events = CALL_EVENTS,
	};
	feature_build_tracing_data(&sb, &tracing);
	return put(r, DATA_TRACING_DATA, &sb);
}

static struct error *add_features(struct call_recording *r, int argc, const char *const *argv)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const struct {
		enum data_feature feature;
		size_t offset;
	} names[] = {
		{DATA_HOSTNAME, offsetof(struct utsname, nodename)},
		{DATA_OSRELEASE, offsetof(struct utsname, release)},
		{DATA_ARCH, offsetof(struct utsname, machine)},
	};
	struct utsname uts;

	if (uname(&uts))
		return error_errno(errno, "uname");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		feature_build_string(&sb, (const char *)&uts + names[i].offset);
		TRY(put(r, names[i].feature, &sb));
	}
	feature_build_string(&sb, PERF_BPF_VERSION);
	TRY(put(r, DATA_VERSION, &sb));
	if (argc) {
		feature_build_cmdline(&sb, argc, argv);
		TRY(put(r, DATA_CMDLINE, &sb));
	}
	return NULL;
}

struct error *call_recording_new(const char *path, int argc, const char *const *argv,
				 const struct sys_roots *roots, struct call_recording **out)
{
	_cleanup_(call_recording_freep) struct call_recording *r = calloc(1, sizeof(*r));
	const struct data_writer_opts opts = {.sz = sizeof(opts)};

	if (!r)
		return error_nomem();
	TRY(data_writer_open(path, &opts, &r->writer));
	for (int event = 0; event < CALL_EVENTS; event++)
		TRY(add_event(r, roots, (enum call_event)event));
	TRY(add_features(r, argc, argv));
	TRY(add_formats(r, roots));
	TRY(data_writer_start(r->writer));
	*out = steal_ptr(r);
	return NULL;
}

static struct error *flush(struct call_recording *r)
{
	if (strbuf_failed(&r->out))
		return error_nomem();
	if (!r->out.len)
		return NULL;
	TRY(data_writer_records(r->writer, r->out.str, r->out.len));
	strbuf_reset(&r->out);
	return NULL;
}

/* The thread's name, unless it was written and is still the same. */
static struct error *add_comm(struct call_recording *r, const struct trace_record *rec,
			      uint64_t time)
{
	char comm[sizeof(rec->comm) + 1] = "";

	if (r->last_tid == rec->tid && !memcmp(r->last_comm, rec->comm, sizeof(rec->comm)))
		return NULL;
	r->last_tid = rec->tid;
	memcpy(r->last_comm, rec->comm, sizeof(rec->comm));
	memcpy(comm, rec->comm, sizeof(rec->comm));
	const uintptr_t hash = (uintptr_t)hash_str(comm) | 1;
	const void *known = u64map_get(&r->names, rec->tid);
	if ((uintptr_t)known == hash)
		return NULL;
	const struct record_comm record = {
		.pid = (int32_t)rec->pid,
		.tid = (int32_t)rec->tid,
		.comm = comm,
	};
	/* a new name is of the call's end: it was an execve, or prctl */
	const struct sample id = {
		.pid = record.pid,
		.tid = record.tid,
		.time = known && rec->exit_ns ? rec->exit_ns : time,
		.id = CALL_ENTER + 1,
		.cpu = (int32_t)rec->cpu,
	};
	record_encode_comm(&r->out, &r->attrs[CALL_ENTER], PERF_RECORD_MISC_USER, &record, &id);
	if (r->names.n >= MAX_NAMES) {
		u64map_deinit(&r->names);
		r->names = (struct u64map){0};
	}
	return u64map_put(&r->names, rec->tid, (void *)hash) ? NULL : error_nomem();
}

/* What is kept of the call in the sample of this event; false: nothing. */
static bool kept_of(const struct trace_record *rec, enum call_event event, struct kept_call *kept)
{
	const bool ended = rec->exit_ns && !(rec->flags & TRACE_NO_EXIT);
	const size_t head = sizeof(*rec) + rec->n_args * sizeof(*rec->args);

	*kept = (struct kept_call){.abi = rec->abi};
	if (ended != (event == CALL_EXIT))
		return rec->abi != TRACE_ABI_NATIVE;
	kept->flags = rec->flags & ~TRACE_STACK;
	kept->n_args = rec->enter_ns ? 0 : rec->n_args;
	kept->n_pieces = rec->n_pieces;
	kept->size = (uint32_t)(kept->n_args * sizeof(*rec->args) + rec->size - head);
	return kept->n_pieces || kept->flags || kept->abi != TRACE_ABI_NATIVE;
}

/* raw: the fields of the tracepoint. */
static void add_sample(struct call_recording *r, const struct trace_record *rec,
		       enum call_event event, uint64_t time, const void *raw, uint32_t size)
{
	struct sample *sample = &r->samples[event];
	struct kept_call kept;

	if (kept_of(rec, event, &kept)) {
		strbuf_reset(&r->payload);
		strbuf_add(&r->payload, raw, size);
		strbuf_add(&r->payload, KEPT_RECORD_MAGIC, KEPT_RECORD_MAGIC_SIZE);
		strbuf_add(&r->payload, &kept, sizeof(kept));
		strbuf_add(&r->payload, (const char *)rec + rec->size - kept.size, kept.size);
		raw = r->payload.str;
		size = (uint32_t)r->payload.len;
	}
	sample->pid = (int32_t)rec->pid;
	sample->tid = (int32_t)rec->tid;
	sample->time = time;
	sample->cpu = (int32_t)rec->cpu;
	sample->raw = raw;
	sample->raw_size = size;
	record_encode_sample(&r->out, &r->attrs[event], sample);
	r->first = r->first ? min_of(r->first, time) : time;
	r->last = max_of(r->last, time);
}

struct error *call_recording_add(struct call_recording *r, const struct trace_record *rec)
{
	const uint64_t time = rec->enter_ns ? rec->enter_ns : rec->exit_ns;
	struct payload_head head = {.pid = (int32_t)rec->tid, .nr = rec->nr};

	TRY(add_comm(r, rec, time));
	if (rec->enter_ns) {
		struct {
			struct payload_head head;
			uint64_t args[TRACE_ARGS];
		} enter = {.head = head};
		const size_t n = min_of((size_t)rec->n_args, (size_t)TRACE_ARGS);

		enter.head.type = r->types[CALL_ENTER];
		memcpy(enter.args, rec->args, n * sizeof(*rec->args));
		add_sample(r, rec, CALL_ENTER, rec->enter_ns, &enter, sizeof(enter));
	}
	if (rec->exit_ns && !(rec->flags & TRACE_NO_EXIT)) {
		struct {
			struct payload_head head;
			int64_t ret;
		} leave = {.head = head, .ret = rec->ret};

		leave.head.type = r->types[CALL_EXIT];
		add_sample(r, rec, CALL_EXIT, rec->exit_ns, &leave, sizeof(leave));
	}
	if (strbuf_failed(&r->payload))
		return error_nomem();
	return r->out.len >= BUFFER ? flush(r) : NULL;
}

struct error *call_recording_finish(struct call_recording *r, uint64_t lost)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (lost) {
		const struct record_lost record = {.id = CALL_EXIT + 1, .lost = lost};
		const struct sample id = {.time = r->last, .id = CALL_EXIT + 1, .cpu = -1};

		record_encode_lost(&r->out, &r->attrs[CALL_EXIT], &record, &id);
	}
	TRY(flush(r));
	feature_build_sample_time(&sb, r->first, r->last);
	TRY(put(r, DATA_SAMPLE_TIME, &sb));
	return data_writer_finish(r->writer);
}

uint64_t call_recording_bytes(const struct call_recording *r)
{
	return data_writer_bytes(r->writer);
}
