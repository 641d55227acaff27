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
#include "lib/base/vec.h"
#include "lib/sys/tracefs.h"
#include "perf/data/features.h"
#include "perf/data/writer.h"
#include "perf/event/encode.h"
#include "trace/call_stack.h"
#include "trace/kept_record.h"

enum {
	BUFFER = 1 << 16,  /* records are written when there are so many bytes */
	MAX_NAMES = 65536, /* threads whose names are remembered; above, they are written again */
	FORMAT_MAX = 1 << 16,
	RECORD_MOST = 65528, /* bytes of a record, and those of its fixed fields or more */
	RECORD_REST = 256,
};

enum call_event {
	CALL_ENTER,
	CALL_EXIT,
	CALL_EVENTS,
};

static const char *const event_names[CALL_EVENTS] = {"sys_enter", "sys_exit"};

/* The kernel counts the ids of its events from 1. */
static const uint64_t event_ids[CALL_EVENTS] = {1ull << 62 | 1, 1ull << 62 | 2};

#define STACK_TYPES (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* Files of tracefs that a recording has: of the events, in the order of enum call_event, and two.
 */
enum {
	HEADER_PAGE = CALL_EVENTS,
	HEADER_EVENT,
	FORMATS,
};

static const char *const format_files[FORMATS] = {
	"events/raw_syscalls/sys_enter/format",
	"events/raw_syscalls/sys_exit/format",
	"events/header_page",
	"events/header_event",
};

struct recorded_format {
	char *system, *text;
	size_t size;
};

struct call_recording {
	struct data_writer *writer;
	const struct sys_roots *roots;
	char *files[FORMATS]; /* NULL until the start */
	VEC(struct recorded_format) formats;
	struct perf_event_attr attrs[CALL_EVENTS];
	struct perf_event_attr stacks; /* of the samples with the call chains of calls */
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
	struct recorded_format *format;

	if (!recording)
		return;
	vec_for_each (format, &recording->formats) {
		free(format->system);
		free(format->text);
	}
	vec_deinit(&recording->formats);
	for (int i = 0; i < FORMATS; i++)
		free(recording->files[i]);
	data_writer_free(recording->writer);
	strbuf_deinit(&recording->out);
	strbuf_deinit(&recording->payload);
	u64map_deinit(&recording->names);
	free(recording);
}

static struct error *add_format(struct call_recording *r, const char *system, const char *text,
				size_t size)
{
	struct recorded_format *format = vec_push(&r->formats);

	if (!format)
		return error_nomem();
	*format = (struct recorded_format){strdup(system), strndup(text, size), size};
	return format->system && format->text ? NULL : error_nomem();
}

struct error *call_recording_formats(const struct sys_roots *roots, struct strbuf *out)
{
	for (int i = 0; i < FORMATS; i++) {
		_cleanup_free_ char *text = NULL;

		TRY(sys_tracefs_read(roots, format_files[i], FORMAT_MAX, &text, NULL));
		strbuf_add(out, text, strlen(text) + 1);
	}
	return strbuf_failed(out) ? error_nomem() : NULL;
}

struct error *call_recording_use_formats(struct call_recording *r, const char *text, size_t size)
{
	const char *at = text, *const end = text + size;

	for (int i = 0; i < FORMATS; i++) {
		const size_t n = strnlen(at, (size_t)(end - at));

		if (n == (size_t)(end - at) || n > FORMAT_MAX)
			return error_new(EBADMSG, "the formats of the tracepoints are invalid");
		free(r->files[i]);
		r->files[i] = strdup(at);
		if (!r->files[i])
			return error_nomem();
		at += n + 1;
	}
	return at == end ? NULL : error_new(EBADMSG, "the formats of the tracepoints are invalid");
}

static struct error *read_formats(struct call_recording *r)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (r->files[0])
		return NULL;
	TRY(call_recording_formats(r->roots, &text));
	return call_recording_use_formats(r, text.str, text.len);
}

/* "ID: 427" of a format. */
static struct error *find_id(const char *format, const char *name, uint64_t *id)
{
	static const char tag[] = "\nID: ";
	const char *at = strstr(format, tag);

	*id = at ? strtoull(at + sizeof(tag) - 1, NULL, 10) : 0;
	return *id && *id <= UINT16_MAX ? NULL
					: error_new(EBADMSG, "the format of %s has no id", name);
}

static struct error *add_calls(struct call_recording *r, enum call_event event)
{
	_cleanup_free_ char *name = text_format("raw_syscalls:%s", event_names[event]);
	const char *format = r->files[event];
	const uint64_t id = event_ids[event];
	struct perf_event_attr *attr = &r->attrs[event];
	uint64_t config;

	if (!name)
		return error_nomem();
	TRY(find_id(format, name, &config));
	TRY(add_format(r, "raw_syscalls", format, strlen(format)));
	r->types[event] = (uint16_t)config;
	/* of the exit, with what call_recording_add_stacks() has set */
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->size = sizeof(*attr);
	attr->config = config;
	attr->sample_period = 1; /* also that of samples, which do not have one */
	attr->sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			     PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
	attr->comm = event == CALL_ENTER;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	r->samples[event] = (struct sample){
		.has = attr->sample_type,
		.id = id,
		.cpumode = PERF_RECORD_MISC_KERNEL,
		.misc = PERF_RECORD_MISC_KERNEL,
	};
	return data_writer_add_event(r->writer, attr, name, &id, 1);
}

struct error *call_recording_add_event(struct call_recording *r, const struct live_event *event)
{
	if (event->format && event->system)
		TRY(add_format(r, event->system, event->format, event->format_size));
	return data_writer_add_event(r->writer, &event->attr, event->name, event->ids,
				     event->n_ids);
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

struct error *call_recording_add_ids(struct call_recording *r, size_t event, const uint64_t *ids,
				     size_t n)
{
	TRY(flush(r)); /* samples that came before */
	return data_writer_add_ids(r->writer, event, ids, n);
}

void call_recording_add_stacks(struct call_recording *r, const struct perf_event_attr *attr)
{
	struct perf_event_attr *leave = &r->attrs[CALL_EXIT];

	r->stacks = *attr;
	leave->sample_type = attr->sample_type & STACK_TYPES;
	/* empty: else readers print the address 0 */
	r->attrs[CALL_ENTER].sample_type = PERF_SAMPLE_CALLCHAIN;
	leave->exclude_callchain_kernel = attr->exclude_callchain_kernel;
	leave->exclude_callchain_user = attr->exclude_callchain_user;
	leave->sample_regs_user = attr->sample_regs_user;
	leave->sample_stack_user = attr->sample_stack_user;
}

static struct error *put(struct call_recording *r, enum data_feature feature, struct strbuf *sb)
{
	if (strbuf_failed(sb))
		return error_nomem();
	TRY(data_writer_feature(r->writer, feature, sb->str, sb->len));
	strbuf_reset(sb);
	return NULL;
}

static struct error *add_formats(struct call_recording *r)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const char *page = r->files[HEADER_PAGE], *head = r->files[HEADER_EVENT];
	_cleanup_free_ struct feature_tracepoint *events = calloc(r->formats.n, sizeof(*events));

	if (!events)
		return error_nomem();
	for (size_t i = 0; i < r->formats.n; i++) {
		const struct recorded_format *f = &r->formats.v[i];

		events[i] = (struct feature_tracepoint){f->system, {f->text, f->size}};
	}
	const struct feature_tracing tracing = {
		.page_size = (uint32_t)sys_page_size(),
		.header_page = {page, strlen(page)},
		.header_event = {head, strlen(head)},
		.events = events,
		.n_events = r->formats.n,
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

struct error *call_recording_new(const char *path, const struct sys_roots *roots,
				 struct call_recording **out)
{
	_cleanup_(call_recording_freep) struct call_recording *r = calloc(1, sizeof(*r));
	const struct data_writer_opts opts = {.sz = sizeof(opts)};

	if (!r)
		return error_nomem();
	r->roots = roots;
	TRY(data_writer_open(path, &opts, &r->writer));
	*out = steal_ptr(r);
	return NULL;
}

/* Other events come first: what the kernel wrote without an id is read by the first event. */
struct error *call_recording_start(struct call_recording *r, int argc, const char *const *argv)
{
	TRY(read_formats(r));
	for (int event = 0; event < CALL_EVENTS; event++)
		TRY(add_calls(r, (enum call_event)event));
	TRY(add_features(r, argc, argv));
	TRY(add_formats(r));
	return data_writer_start(r->writer);
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
		.id = event_ids[CALL_ENTER],
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

static void see_time(struct call_recording *r, uint64_t time)
{
	r->first = r->first ? min_of(r->first, time) : time;
	r->last = max_of(r->last, time);
}

/* The kernel makes the copy of the stack as large as a record can be; the call's memory is added.
 */
static void fit_stack(struct sample *sample)
{
	const uint64_t others =
		sample->raw_size + 8 * (sample->chain.n + sample->user_regs.n) + RECORD_REST;
	const uint64_t room = others < RECORD_MOST ? (RECORD_MOST - others) & ~7ull : 0;

	sample->user_stack_size = min_of(sample->user_stack_size, room);
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
	if (event == CALL_EXIT && sample->user_stack_size)
		fit_stack(sample);
	record_encode_sample(&r->out, &r->attrs[event], sample);
	see_time(r, time);
}

/* The call chain for the sample of the exit, or none. */
static struct error *set_stack(struct call_recording *r, const struct call_stack *stack)
{
	struct sample *leave = &r->samples[CALL_EXIT], from = {0};

	if (stack)
		TRY(sample_decode(&r->stacks,
				  cursor_make(stack->record, stack->record_size, "call chain"),
				  &from));
	leave->chain = from.chain;
	leave->user_regs_abi = from.user_regs_abi;
	leave->user_regs = from.user_regs;
	leave->user_stack = from.user_stack;
	leave->user_stack_size = from.user_stack_size;
	return NULL;
}

struct error *call_recording_add(struct call_recording *r, const struct trace_record *rec,
				 const struct call_stack *stack)
{
	const uint64_t time = rec->enter_ns ? rec->enter_ns : rec->exit_ns;
	struct payload_head head = {.pid = (int32_t)rec->tid, .nr = trace_record_nr(rec)};

	TRY(add_comm(r, rec, time));
	if (r->stacks.sample_type)
		TRY(set_stack(r, stack));
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

struct error *call_recording_add_record(struct call_recording *r, const void *record, size_t size,
					uint64_t time)
{
	strbuf_add(&r->out, record, size);
	if (time)
		see_time(r, time);
	return r->out.len >= BUFFER ? flush(r) : NULL;
}

struct error *call_recording_save(struct call_recording *r)
{
	TRY(flush(r));
	return data_writer_save(r->writer);
}

struct error *call_recording_finish(struct call_recording *r, uint64_t lost)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	if (lost) {
		const struct record_lost record = {.id = event_ids[CALL_EXIT], .lost = lost};
		const struct sample id = {.time = r->last, .id = event_ids[CALL_EXIT], .cpu = -1};

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
