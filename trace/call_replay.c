// SPDX-License-Identifier: BSD-2-Clause
#include "trace/call_replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "lib/base/cursor.h"
#include "lib/base/hash.h"
#include "perf/format/tracing.h"
#include "perf/session/session.h"
#include "syscalls/call_names.h"
#include "trace/call_stack.h"
#include "trace/kept_record.h"
#include "trace/record_check.h"

enum {
	MAX_PENDING = 1 << 16, /* threads inside of a call at a time */
	HEAD = 8,	       /* bytes of a payload in front of the number */
	ARGS_SIZE = TRACE_ARGS * sizeof(__u64),
};

struct replay {
	const struct call_replay_opts *opts;
	struct u64map pending; /* by thread */
	uint64_t n_events;     /* samples of the two tracepoints, and of events that are wanted */
	struct event_reader reader;
	struct call_stack *stack; /* of the sample at hand */
};

static bool is_wanted(const struct replay *r, unsigned abi, uint64_t nr)
{
	return nr <= UINT32_MAX && r->opts->calls[trace_nr_index(abi, nr)].traced;
}

/* What is kept of a call behind the fields of a sample. */
struct kept_bytes {
	struct kept_call call; /* all zero, which is of the native ABI: nothing */
	const unsigned char *bytes;
};

static struct error *kept_of(const struct sample *sample, size_t fields, struct kept_bytes *kept)
{
	struct cursor c = cursor_make(sample->raw, sample->raw_size, "payload of a system call");
	const char *magic = NULL;
	const void *head;

	*kept = (struct kept_bytes){0};
	if (cursor_skip(&c, fields))
		magic = cursor_bytes(&c, KEPT_RECORD_MAGIC_SIZE);
	if (!magic || (memcmp(magic, KEPT_RECORD_MAGIC, KEPT_RECORD_MAGIC_SIZE) != 0 &&
		       memcmp(magic, KEPT_RECORD_MAGIC_2, KEPT_RECORD_MAGIC_SIZE) != 0))
		return NULL;
	head = cursor_bytes(&c, sizeof(kept->call));
	if (head)
		memcpy(&kept->call, head, sizeof(kept->call));
	kept->bytes = head ? cursor_bytes(&c, kept->call.size) : NULL;
	if (!kept->bytes || kept->call.abi >= TRACE_ABIS || kept->call.n_args > TRACE_ARGS ||
	    kept->call.size < kept->call.n_args * sizeof(__u64))
		return error_new(EBADMSG, "the saved data of a system call are damaged");
	return NULL;
}

/* The tracepoint has six registers, whatever the call takes. */
static uint8_t args_of(const struct replay *r, enum trace_abi abi, uint64_t nr)
{
	const struct trace_call *call = &r->opts->calls[trace_nr_index(abi, nr)];

	return call_name(abi, (uint32_t)nr) ? call->n_args : TRACE_ARGS;
}

/* A call whose end has not come yet, with room for the registers. */
static struct trace_record *new_call(const struct replay *r, const struct sample *sample,
				     const struct thread *thread, enum trace_abi abi, uint64_t nr)
{
	struct trace_record *call = calloc(1, sizeof(*call) + ARGS_SIZE);
	const uint8_t n_args = args_of(r, abi, nr);

	if (!call)
		return NULL;
	*call = (struct trace_record){
		.size = (uint32_t)(sizeof(*call) + n_args * sizeof(*call->args)),
		.nr = (uint16_t)nr,
		.nr_high = (uint16_t)(nr >> 16),
		.abi = (uint8_t)abi,
		.pid = (uint32_t)sample->pid,
		.tid = (uint32_t)sample->tid,
		.cpu = (uint32_t)sample->cpu,
		.n_args = n_args,
	};
	strncpy(call->comm, thread->comm, sizeof(call->comm) - 1);
	return call;
}

/* The call, with what is kept of it. */
static struct error *emit(struct replay *r, struct trace_record *call,
			  const struct kept_bytes *kept)
{
	const size_t args = kept->call.n_args * sizeof(__u64), pieces = kept->call.size - args;
	const size_t size = call->size + pieces;

	call->flags |= kept->call.flags;
	if (args)
		memcpy(call->args, kept->bytes, args);
	if (!kept->call.n_pieces)
		return r->opts->call(r->opts->ctx, call, r->stack);
	/* a copy, which is aligned */
	_cleanup_free_ struct trace_record *whole = malloc(size);
	if (!whole)
		return error_nomem();
	memcpy(whole, call, call->size);
	memcpy((char *)whole + call->size, kept->bytes + args, pieces);
	whole->size = (uint32_t)size;
	whole->n_pieces = kept->call.n_pieces;
	TRY(trace_record_check(whole, size));
	return r->opts->call(r->opts->ctx, whole, r->stack);
}

static struct error *emit_unfinished(struct replay *r, struct trace_record *call)
{
	call->flags |= TRACE_NO_EXIT;
	return r->opts->call(r->opts->ctx, call, NULL);
}

static struct error *on_enter(struct replay *r, const struct sample *sample,
			      const struct thread *thread, uint64_t nr)
{
	struct trace_record *before = u64map_remove(&r->pending, (uint32_t)sample->tid);
	const size_t size = HEAD + sizeof(nr) + ARGS_SIZE;
	struct kept_bytes kept;

	if (before) { /* rt_sigreturn has no end, and what has it can be lost */
		struct error *err = emit_unfinished(r, before);

		free(before);
		if (err)
			return err;
	}
	TRY(kept_of(sample, size, &kept));
	if (!is_wanted(r, kept.call.abi, nr) || sample->raw_size < size ||
	    r->pending.n >= MAX_PENDING)
		return NULL;
	_cleanup_free_ struct trace_record *call = new_call(r, sample, thread, kept.call.abi, nr);
	if (!call)
		return error_nomem();
	call->enter_ns = sample->time;
	memcpy(call->args, (const char *)sample->raw + HEAD + sizeof(nr), ARGS_SIZE);
	if (kept.call.flags & TRACE_NO_EXIT)
		return emit(r, call, &kept);
	if (!u64map_put(&r->pending, (uint32_t)sample->tid, call))
		return error_nomem();
	steal_ptr(call);
	return NULL;
}

static struct error *on_exit_sample(struct replay *r, const struct sample *sample,
				    const struct thread *thread, uint64_t nr)
{
	_cleanup_free_ struct trace_record *call =
		u64map_remove(&r->pending, (uint32_t)sample->tid);
	const size_t size = HEAD + sizeof(nr) + sizeof(call->ret);
	struct kept_bytes kept;

	TRY(kept_of(sample, size, &kept));
	if (sample->raw_size < size ||
	    (call && (trace_record_nr(call) != nr || call->abi != kept.call.abi)))
		return NULL;
	if (!call) {
		if (!is_wanted(r, kept.call.abi, nr))
			return NULL;
		call = new_call(r, sample, thread, kept.call.abi, nr);
		if (!call)
			return error_nomem();
		call->flags = TRACE_NO_ENTRY;
	}
	call->exit_ns = sample->time;
	memcpy(&call->ret, (const char *)sample->raw + HEAD + sizeof(nr), sizeof(call->ret));
	memset(call->comm, 0, sizeof(call->comm));
	strncpy(call->comm, thread->comm, sizeof(call->comm) - 1);
	return emit(r, call, &kept);
}

/* What samples are read with, once there is one that needs it. */
static struct error *want_reader(struct replay *r, struct session *s, const struct sample *sample,
				 const struct session_event *ev)
{
	const bool fault = ev->attr.type == PERF_TYPE_SOFTWARE && sample->has & PERF_SAMPLE_ADDR;

	if (!r->reader.tracing && session_tracing(s))
		TRY(tracing_new(session_tracing(s), r->opts->log, &r->reader.tracing));
	if (r->reader.stacks || !(fault || sample->has & PERF_SAMPLE_CALLCHAIN))
		return NULL;
	const struct stack_reader_opts opts = {
		.sz = sizeof(opts), .log = r->opts->log, .max = r->opts->max_stack};
	return stack_reader_new(s, &opts, &r->reader.stacks);
}

static struct error *on_event(struct replay *r, struct session *s, const struct sample *sample,
			      const struct session_event *ev, const struct thread *thread)
{
	struct page_fault fault;
	struct other_event event;

	if (!r->opts->event || !r->opts->wants(r->opts->ctx, ev->name))
		return NULL;
	r->n_events++;
	TRY(want_reader(r, s, sample, ev));
	TRY(event_reader_read(&r->reader, sample, ev, thread, &event, &fault));
	if (!*event.comm)
		strncpy(event.comm, event.tid ? thread->comm : "swapper", sizeof(event.comm) - 1);
	struct error *err = r->opts->event(r->opts->ctx, &event);
	free(event.stack);
	return err;
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	struct replay *r = tool->ctx;
	const bool enter = !strcmp(event->name, "raw_syscalls:sys_enter");
	uint64_t nr;

	if (!enter && strcmp(event->name, "raw_syscalls:sys_exit") != 0)
		return on_event(r, s, sample, event, thread);
	r->n_events++;
	if (!sample->raw || sample->raw_size < HEAD + sizeof(nr))
		return NULL;
	memcpy(&nr, (const char *)sample->raw + HEAD, sizeof(nr));
	if (enter)
		return on_enter(r, sample, thread, nr);
	if (sample->has & PERF_SAMPLE_CALLCHAIN) {
		TRY(want_reader(r, s, sample, event));
		TRY(stack_reader_read(r->reader.stacks, sample, event, thread, &r->stack));
		call_stack_drop_tracing(r->stack);
	}
	struct error *err = on_exit_sample(r, sample, thread, nr);
	free(r->stack);
	r->stack = NULL;
	return err;
}

/* Numbers of calls are those of an architecture, and payloads are in its byte order. */
static struct error *check_machine(const struct session *s, const char *path)
{
	const struct data_header *header = session_header(s);
	struct utsname uts;

	if (header->swap)
		return error_new(ENOTSUP, "%s was recorded with another byte order", path);
	if (uname(&uts) || !header->arch || !strcmp(header->arch, uts.machine))
		return NULL;
	return error_new(ENOTSUP, "%s was recorded on another architecture: %s", path,
			 header->arch);
}

static void replay_deinit(struct replay *r)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&r->pending, &pos)))
		free(slot->value);
	u64map_deinit(&r->pending);
	stack_reader_free(r->reader.stacks);
	tracing_free(r->reader.tracing);
}

static int compare_starts(const void *x, const void *y)
{
	const struct trace_record *a = *(void *const *)x, *b = *(void *const *)y;

	return (a->enter_ns > b->enter_ns) - (a->enter_ns < b->enter_ns);
}

static struct error *emit_pending(struct replay *r)
{
	_cleanup_free_ struct trace_record **calls = calloc(r->pending.n + 1, sizeof(*calls));
	struct u64map_slot *slot;
	size_t pos = 0, n = 0;

	if (!calls)
		return error_nomem();
	while ((slot = u64map_next(&r->pending, &pos)))
		calls[n++] = slot->value;
	qsort(calls, n, sizeof(*calls), compare_starts);
	for (size_t i = 0; i < n; i++)
		TRY(emit_unfinished(r, calls[i]));
	return NULL;
}

struct error *call_replay(const struct call_replay_opts *opts)
{
	const struct session_opts session_opts = {
		.sz = sizeof(session_opts),
		.log = opts->log,
		.force = opts->force,
	};
	_cleanup_(session_freep) struct session *s = NULL;
	__attribute__((cleanup(replay_deinit))) struct replay r = {.opts = opts,
								   .reader = {.faults = true}};
	struct session_tool tool = {.ctx = &r, .sample = on_sample};

	TRY(session_open(opts->path, &session_opts, &s));
	TRY(check_machine(s, opts->path));
	struct error *damage = session_process(s, &tool);
	if (damage && damage->code != EBADMSG)
		return damage;
	session_warn_of_losses(s, opts->path, opts->log);
	if (r.reader.stacks)
		stack_reader_warn(r.reader.stacks);
	TRY(error_either(emit_pending(&r), damage));
	for (size_t i = 0; opts->wants && i < session_n_events(s); i++)
		opts->wants(opts->ctx, session_event(s, i)->name);
	/* Without its header features a recording does not say which samples are system calls. */
	TRY(session_check_complete(s, opts->path));
	if (r.n_events)
		return NULL;
	return error_hint(error_new(ENOENT, "%s does not contain system calls", opts->path),
			  "record them with 'perf-bpf trace record' or 'perf trace record'");
}
