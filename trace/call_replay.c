// SPDX-License-Identifier: BSD-2-Clause
#include "trace/call_replay.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "lib/base/cursor.h"
#include "lib/base/hash.h"
#include "perf/session/session.h"
#include "trace/kept_record.h"
#include "trace/record_check.h"

enum {
	MAX_PENDING = 1 << 16, /* threads inside of a call at a time */
	HEAD = 8,	       /* bytes of a payload in front of the number */
	ARGS_SIZE = TRACE_ARGS * sizeof(__u64),
};

struct replay {
	const struct call_replay_opts *opts;
	trace_record_fn *fn;
	void *ctx;
	struct u64map pending; /* by thread */
	uint64_t n_events;     /* samples of the two tracepoints */
};

static bool is_wanted(const struct replay *r, enum trace_abi abi, uint64_t nr)
{
	return nr < TRACE_NRS && r->opts->calls[abi * TRACE_NRS + nr].traced;
}

/* A call whose end has not come yet, with room for its arguments. */
static struct trace_record *new_call(const struct sample *sample, const struct thread *thread,
				     uint64_t nr)
{
	struct trace_record *call = calloc(1, sizeof(*call) + ARGS_SIZE);

	if (!call)
		return NULL;
	*call = (struct trace_record){
		.size = sizeof(*call) + ARGS_SIZE,
		.nr = (uint16_t)nr,
		.abi = TRACE_ABI_NATIVE,
		.pid = (uint32_t)sample->pid,
		.tid = (uint32_t)sample->tid,
		.cpu = (uint32_t)sample->cpu,
		.n_args = TRACE_ARGS,
	};
	strncpy(call->comm, thread->comm, sizeof(call->comm) - 1);
	return call;
}

static struct error *emit_unfinished(struct replay *r, struct trace_record *call)
{
	call->flags |= TRACE_NO_EXIT;
	return r->fn(r->ctx, call);
}

static struct error *on_enter(struct replay *r, const struct sample *sample,
			      const struct thread *thread, uint64_t nr)
{
	struct trace_record *before = u64map_remove(&r->pending, (uint32_t)sample->tid);
	const size_t size = HEAD + sizeof(nr) + ARGS_SIZE;

	if (before) { /* rt_sigreturn has no end, and what has it can be lost */
		struct error *err = emit_unfinished(r, before);

		free(before);
		if (err)
			return err;
	}
	if (!is_wanted(r, TRACE_ABI_NATIVE, nr) || sample->raw_size < size ||
	    r->pending.n >= MAX_PENDING)
		return NULL;
	struct trace_record *call = new_call(sample, thread, nr);
	if (!call || !u64map_put(&r->pending, (uint32_t)sample->tid, call)) {
		free(call);
		return error_nomem();
	}
	call->enter_ns = sample->time;
	memcpy(call->args, (const char *)sample->raw + HEAD + sizeof(nr), ARGS_SIZE);
	return NULL;
}

static struct error *on_exit_sample(struct replay *r, const struct sample *sample,
				    const struct thread *thread, uint64_t nr)
{
	struct trace_record *call = u64map_remove(&r->pending, (uint32_t)sample->tid);
	struct error *err = NULL;

	if (sample->raw_size < HEAD + sizeof(nr) + sizeof(call->ret) || (call && call->nr != nr)) {
		free(call);
		return NULL;
	}
	if (!call && is_wanted(r, TRACE_ABI_NATIVE, nr)) {
		call = new_call(sample, thread, nr);
		if (!call)
			return error_nomem();
		call->flags = TRACE_NO_ENTRY;
	}
	if (call) {
		call->exit_ns = sample->time;
		memcpy(&call->ret, (const char *)sample->raw + HEAD + sizeof(nr),
		       sizeof(call->ret));
		memset(call->comm, 0, sizeof(call->comm));
		strncpy(call->comm, thread->comm, sizeof(call->comm) - 1);
		err = r->fn(r->ctx, call);
	}
	free(call);
	return err;
}

/*
 * The record behind the fields of the tracepoint, which take "size" bytes; NULL: there is none.
 * The caller frees *record.
 */
static struct error *kept_record(const struct sample *sample, size_t size,
				 struct trace_record **record)
{
	struct cursor c = cursor_make(sample->raw, sample->raw_size, "payload of a system call");
	const char *magic = NULL;

	*record = NULL;
	if (cursor_skip(&c, size))
		magic = cursor_bytes(&c, KEPT_RECORD_MAGIC_SIZE);
	if (!magic || memcmp(magic, KEPT_RECORD_MAGIC, KEPT_RECORD_MAGIC_SIZE) != 0)
		return NULL;
	/* a copy, which is aligned; the payload's size includes padding, the record's does not */
	_cleanup_free_ struct trace_record *copy = malloc(cursor_left(&c) + sizeof(*copy));
	const size_t left = cursor_left(&c);
	if (!copy)
		return error_nomem();
	*copy = (struct trace_record){0};
	memcpy(copy, cursor_bytes(&c, left), left);
	TRY(trace_record_check(copy, min_of((size_t)copy->size, left)));
	copy->comm[sizeof(copy->comm) - 1] = '\0';
	*record = steal_ptr(copy);
	return NULL;
}

/* The sample has the whole call. What its fields said before is replaced. */
static struct error *on_kept_record(struct replay *r, const struct sample *sample,
				    const struct trace_record *rec)
{
	free(u64map_remove(&r->pending, (uint32_t)sample->tid));
	return is_wanted(r, (enum trace_abi)rec->abi, rec->nr) ? r->fn(r->ctx, rec) : NULL;
}

static struct error *on_sample(struct session_tool *tool, struct session *s,
			       const struct record *rec, const struct sample *sample,
			       const struct session_event *event, struct thread *thread)
{
	_cleanup_free_ struct trace_record *kept = NULL;
	struct replay *r = tool->ctx;
	const bool enter = !strcmp(event->name, "raw_syscalls:sys_enter");
	uint64_t nr;

	if (!enter && strcmp(event->name, "raw_syscalls:sys_exit") != 0)
		return NULL;
	r->n_events++;
	if (!sample->raw || sample->raw_size < HEAD + sizeof(nr))
		return NULL;
	TRY(kept_record(sample, HEAD + sizeof(nr) + (enter ? ARGS_SIZE : sizeof(int64_t)), &kept));
	if (kept)
		return on_kept_record(r, sample, kept);
	memcpy(&nr, (const char *)sample->raw + HEAD, sizeof(nr));
	return enter ? on_enter(r, sample, thread, nr) : on_exit_sample(r, sample, thread, nr);
}

/* Numbers of calls are those of an architecture, and payloads are in its byte order. */
static struct error *check_machine(const struct session *s, const char *path)
{
	const struct data_header *header = session_header(s);
	struct utsname uts;

	if (header->swap)
		return error_new(ENOTSUP, "%s is a recording of another byte order", path);
	if (uname(&uts) || !header->arch || !strcmp(header->arch, uts.machine))
		return NULL;
	return error_new(ENOTSUP, "%s is a recording of another architecture: %s", path,
			 header->arch);
}

static void free_pending(struct replay *r)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&r->pending, &pos)))
		free(slot->value);
	u64map_deinit(&r->pending);
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

struct error *call_replay(const struct call_replay_opts *opts, trace_record_fn *fn, void *ctx)
{
	const struct session_opts session_opts = {
		.sz = sizeof(session_opts),
		.log = opts->log,
		.force = opts->force,
	};
	__attribute__((cleanup(free_pending))) struct replay r = {
		.opts = opts, .fn = fn, .ctx = ctx};
	struct session_tool tool = {.ctx = &r, .sample = on_sample};
	_cleanup_(session_freep) struct session *s = NULL;

	TRY(session_open(opts->path, &session_opts, &s));
	TRY(check_machine(s, opts->path));
	struct error *damage = session_process(s, &tool);
	if (damage && damage->code != EBADMSG)
		return damage;
	session_warn_of_losses(s, opts->path, opts->log);
	TRY(error_either(emit_pending(&r), damage));
	/* Without its header features a recording does not say which samples are system calls. */
	TRY(session_check_complete(s, opts->path));
	if (r.n_events)
		return NULL;
	return error_hint(error_new(ENOENT, "%s does not contain system calls", opts->path),
			  "record them with 'perf-bpf trace record' or 'perf trace record'");
}
