// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf trace prints a call whose exit it sees later in two lines: the first ends with "...", the
 * second begins with "... [continued]: ". Here both come in one record, so the call is one line,
 * with its arguments and its result. Only what was never seen is left open: the arguments of a
 * call that began before tracing, and the result of a call that did not return.
 *
 * strace names the process in front of a line when it traces more than one. Which threads there
 * are is known from the records: the first call of a thread, and exit or exit_group.
 */
#include "trace/call_lines.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "show/plain.h"
#include "trace/call_stack.h"
#include "trace/event_text.h"

enum {
	STRACE_RESULT = 40,	     /* … of the line */
	PERF_COMM = 14,		     /* bytes of a name in perf's columns */
	LIVE_MAX = 65536,	     /* threads that are remembered to be running */
	ERESTART_RESTARTBLOCK = 516, /* of the kernel; programs do not see it */
};

struct call_lines {
	struct call_lines_opts opts;
	uint64_t base; /* the time of the first call; 0: there was none yet */
	/* Of strace's layout: the threads that run, and of each the call that restart_syscall is.
	 */
	struct u64map live, interrupted;
};

struct error *call_lines_new(const struct call_lines_opts *opts, struct call_lines **out)
{
	struct call_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return error_nomem();
	lines->opts = *opts;
	lines->opts.text.style =
		opts->style == CALL_LINES_PERF ? CALL_STYLE_PERF : CALL_STYLE_STRACE;
	*out = lines;
	return NULL;
}

void call_lines_free(struct call_lines *lines)
{
	if (!lines)
		return;
	u64map_deinit(&lines->live);
	u64map_deinit(&lines->interrupted);
	free(lines);
}

static const struct call *call_of(const struct call_lines *lines, const struct trace_record *rec)
{
	return call_by_nr(lines->opts.table, rec->abi, trace_record_nr(rec));
}

/* Whether the call never returns: exit, exit_group. */
static bool is_exit(const struct call_lines *lines, const struct trace_record *rec)
{
	const struct call *call = call_of(lines, rec);

	return call && call->copies.no_exit;
}

static void add_name(const struct call_lines *lines, const struct trace_record *rec,
		     struct strbuf *out)
{
	const struct call *call = call_of(lines, rec);

	if (call)
		strbuf_adds(out, call->name);
	else
		strbuf_addf(out, "syscall_%u", trace_record_nr(rec));
}

static void fill_to(struct strbuf *out, size_t start, size_t column)
{
	while (!strbuf_failed(out) && out->len - start < column)
		strbuf_addch(out, ' ');
}

/* ---- perf trace's columns ---- */

/* "     0.035 ( 0.006 ms): ls/1234 " */
static void add_perf_head(const struct call_lines *lines, const struct trace_record *rec,
			  struct strbuf *out)
{
	const uint64_t base = lines->opts.full_time ? 0 : lines->base;

	if (!lines->opts.no_time && rec->enter_ns)
		strbuf_addf(out, "%10.3f ", (double)(int64_t)(rec->enter_ns - base) / 1e6);
	else if (!lines->opts.no_time)
		strbuf_adds(out, "         ? ");
	if (!lines->opts.no_duration && rec->enter_ns && rec->exit_ns)
		strbuf_addf(out, "(%6.3f ms): ", (double)(rec->exit_ns - rec->enter_ns) / 1e6);
	else if (!lines->opts.no_duration)
		strbuf_adds(out, "(         ): ");
	if (!lines->opts.threads)
		return;
	if (!lines->opts.no_comm) {
		plain_add(out, rec->comm, strnlen(rec->comm, PERF_COMM));
		strbuf_addch(out, '/');
	}
	strbuf_addf(out, "%u ", rec->tid);
}

static void add_perf_event_head(const struct call_lines *lines, const struct other_event *event,
				struct strbuf *out)
{
	const uint64_t base = lines->opts.full_time ? 0 : lines->base;

	if (!lines->opts.no_time)
		strbuf_addf(out, "%10.3f ", (double)(int64_t)(event->time - base) / 1e6);
	if (!lines->opts.no_duration) /* as perf: page faults have one */
		strbuf_adds(out, event->fault ? "( 0.000 ms): " : "(         ): ");
	if (!lines->opts.threads)
		return;
	if (!lines->opts.no_comm) {
		plain_add(out, event->comm, strnlen(event->comm, PERF_COMM));
		strbuf_addch(out, '/');
	}
	strbuf_addf(out, "%u ", event->tid);
}

static struct error *add_perf(const struct call_lines *lines, const struct trace_record *rec,
			      struct strbuf *out)
{
	add_perf_head(lines, rec, out);
	const size_t start = out->len;

	if (rec->flags & TRACE_NO_ENTRY) {
		strbuf_adds(out, " ... [continued]: ");
		add_name(lines, rec, out);
		strbuf_addch(out, '(');
	} else {
		TRY(call_text_add_args(out, lines->opts.table, rec, &lines->opts.text));
	}
	strbuf_addch(out, ')');
	if ((rec->flags & TRACE_NO_EXIT) && !is_exit(lines, rec)) {
		fill_to(out, start, max_of(lines->opts.alignment, 4u) - 4);
		strbuf_adds(out, " ...");
		return NULL;
	}
	fill_to(out, start, max_of(lines->opts.alignment, 1u) - 1);
	strbuf_addch(out, ' ');
	return call_text_add_result(out, lines->opts.table, rec, &lines->opts.text);
}

/* ---- strace's layout ---- */

static struct error *live_add(struct call_lines *lines, uint32_t tid)
{
	/* what is not remembered costs its line nothing but the number in front of it */
	if (lines->live.n < LIVE_MAX && !u64map_put(&lines->live, tid, lines))
		return error_nomem();
	return NULL;
}

static void add_strace_head(const struct call_lines *lines, uint32_t tid, uint64_t time,
			    struct strbuf *out)
{
	if (lines->live.n > 1)
		strbuf_addf(out, "[pid %5u] ", tid);
	if (lines->opts.full_time && time)
		strbuf_addf(out, "%llu.%06llu ", (unsigned long long)(time / 1000000000),
			    (unsigned long long)(time / 1000 % 1000000));
}

/* "restart_syscall(<... resuming interrupted poll ...>" */
static void add_restart(struct call_lines *lines, const struct trace_record *rec,
			struct strbuf *out)
{
	const struct call *call = u64map_remove(&lines->interrupted, rec->tid);

	strbuf_addf(out, "restart_syscall(<... resuming interrupted %s ...>",
		    call ? call->name : "system call");
}

/* A call that restart_syscall will go on with. */
static struct error *note_interrupted(struct call_lines *lines, const struct trace_record *rec)
{
	const struct call *call = call_of(lines, rec);

	if (rec->flags & TRACE_NO_EXIT || rec->ret != -ERESTART_RESTARTBLOCK || !call ||
	    lines->interrupted.n >= LIVE_MAX)
		return NULL;
	return u64map_put(&lines->interrupted, rec->tid, (void *)call) ? NULL : error_nomem();
}

static bool is_restart(const struct call_lines *lines, const struct trace_record *rec)
{
	const struct call *call = call_of(lines, rec);

	return call && !strcmp(call->name, "restart_syscall");
}

static struct error *add_strace(struct call_lines *lines, const struct trace_record *rec,
				struct strbuf *out)
{
	const size_t start = out->len;
	const bool ends = is_exit(lines, rec);

	TRY(live_add(lines, rec->tid));
	add_strace_head(lines, rec->tid, rec->enter_ns ? rec->enter_ns : rec->exit_ns, out);
	if (rec->flags & TRACE_NO_ENTRY) {
		strbuf_adds(out, "<... ");
		add_name(lines, rec, out);
		strbuf_adds(out, " resumed>");
	} else if (is_restart(lines, rec)) {
		add_restart(lines, rec, out);
	} else {
		TRY(call_text_add_args(out, lines->opts.table, rec, &lines->opts.text));
	}
	TRY(note_interrupted(lines, rec));
	if ((rec->flags & TRACE_NO_EXIT) && !(rec->flags & TRACE_ENDED) && !ends) {
		strbuf_adds(out, " <unfinished ...>");
		return NULL;
	}
	strbuf_adds(out, ") ");
	fill_to(out, start, STRACE_RESULT);
	TRY(call_text_add_result(out, lines->opts.table, rec, &lines->opts.text));
	if (!ends || lines->opts.ends)
		return NULL;
	strbuf_addch(out, '\n');
	add_strace_head(lines, rec->tid, rec->enter_ns, out);
	strbuf_addf(out, "+++ exited with %u +++",
		    rec->n_args ? (unsigned)(rec->args[0] & 0xff) : 0);
	u64map_remove(&lines->live, rec->tid);
	return NULL;
}

/* A signal, or the end of a thread by one or by exit(2). */
static struct error *add_event(struct call_lines *lines, const struct trace_record *rec,
			       struct strbuf *out)
{
	if (lines->opts.style != CALL_LINES_STRACE)
		return NULL;
	if (rec->nr == TRACE_EVENT_SIGNAL)
		TRY(live_add(lines, rec->tid));
	add_strace_head(lines, rec->tid, rec->enter_ns, out);
	if (rec->nr == TRACE_EVENT_SIGNAL) {
		TRY(call_text_add_signal(out, lines->opts.table, rec, &lines->opts.text));
	} else {
		call_text_add_end(out, (int)rec->ret, &lines->opts.text);
		u64map_remove(&lines->live, rec->tid);
	}
	strbuf_addch(out, '\n');
	return strbuf_failed(out) ? error_nomem() : NULL;
}

/* ---- JSON ---- */

static struct error *add_json(const struct call_lines *lines, const struct trace_record *rec,
			      const struct call_stack *stack, struct strbuf *out)
{
	static const char *const abis[TRACE_ABIS] = {
		[TRACE_ABI_32] = "32",
		[TRACE_ABI_X32] = "x32",
	};
	struct json_writer w = json_writer_make(out);
	const uint64_t time = rec->enter_ns ? rec->enter_ns : rec->exit_ns;

	jw_object(&w, NULL);
	jw_text(&w, "type", "call");
	jw_u64(&w, "time_ns", time + (uint64_t)lines->opts.clock_diff);
	if (rec->enter_ns && rec->exit_ns)
		jw_u64(&w, "duration_ns", rec->exit_ns - rec->enter_ns);
	jw_u64(&w, "pid", rec->pid);
	jw_u64(&w, "tid", rec->tid);
	jw_text_n(&w, "comm", rec->comm, strnlen(rec->comm, sizeof(rec->comm)));
	jw_u64(&w, "cpu", rec->cpu);
	if (rec->abi < TRACE_ABIS)
		jw_text_if(&w, "abi", abis[rec->abi]);
	if (rec->flags & TRACE_NO_ENTRY)
		jw_bool(&w, "no_entry", true);
	if (rec->flags & TRACE_NO_EXIT)
		jw_bool(&w, "no_exit", true);
	if (rec->flags & TRACE_RESTARTED)
		jw_bool(&w, "restarted", true);
	struct error *err = call_json_add(&w, lines->opts.table, rec, &lines->opts.text);
	if (!err && stack)
		call_stack_json(stack, &w);
	if (!err)
		jw_end(&w);
	json_writer_finish(&w);
	return err; /* with one, the line is cut off by the caller */
}

/* Below the line, unless it is JSON, which has it in the object. */
static void add_stack(const struct call_lines *lines, const struct call_stack *stack,
		      struct strbuf *out)
{
	if (stack && lines->opts.style == CALL_LINES_PERF)
		call_stack_text(stack, out);
	if (stack && lines->opts.style == CALL_LINES_STRACE)
		call_stack_strace(stack, out);
}

struct error *call_lines_add(struct call_lines *lines, const struct trace_record *rec,
			     const struct call_stack *stack, struct strbuf *out)
{
	const size_t start = out->len;
	struct error *err = NULL;

	if (rec->flags & TRACE_EVENT)
		return add_event(lines, rec, out);
	if (!lines->base)
		lines->base = rec->enter_ns ? rec->enter_ns : rec->exit_ns;
	switch (lines->opts.style) {
	case CALL_LINES_PERF:
		err = add_perf(lines, rec, out);
		break;
	case CALL_LINES_STRACE:
		err = add_strace(lines, rec, out);
		break;
	case CALL_LINES_JSON:
		err = add_json(lines, rec, stack, out);
		break;
	}
	if (err) {
		strbuf_cut(out, start);
		return err;
	}
	strbuf_addch(out, '\n');
	add_stack(lines, stack, out);
	return strbuf_failed(out) ? error_nomem() : NULL;
}

struct error *call_lines_add_event(struct call_lines *lines, const struct other_event *event,
				   struct strbuf *out)
{
	const struct event_text_opts opts = {
		.hide_names = lines->opts.text.hide_names,
		.show_zeros = lines->opts.text.show_zeros,
		.comm = lines->opts.comm,
		.ctx = lines->opts.comm_ctx,
		.btf = lines->opts.btf,
	};

	if (!lines->base)
		lines->base = event->time;
	if (lines->opts.style == CALL_LINES_JSON) {
		struct json_writer w = json_writer_make(out);

		jw_object(&w, NULL);
		jw_text(&w, "type", "event");
		jw_u64(&w, "time_ns", event->time + (uint64_t)lines->opts.clock_diff);
		jw_u64(&w, "pid", event->pid);
		jw_u64(&w, "tid", event->tid);
		jw_text_n(&w, "comm", event->comm, strnlen(event->comm, sizeof(event->comm)));
		jw_u64(&w, "cpu", event->cpu);
		if (event->fault) {
			jw_text(&w, "event", event->fault->major ? "major-faults" : "minor-faults");
			fault_json_add(&w, event->fault);
		} else {
			jw_text(&w, "event", event->name);
			event_json_add(&w, event);
		}
		if (event->stack)
			call_stack_json(event->stack, &w);
		jw_end(&w);
		json_writer_finish(&w);
	} else {
		if (lines->opts.style == CALL_LINES_PERF)
			add_perf_event_head(lines, event, out);
		else
			add_strace_head(lines, event->tid, event->time, out);
		if (event->fault)
			fault_text_add(out, event->fault);
		else
			event_text_add(out, event, &opts);
	}
	strbuf_addch(out, '\n');
	add_stack(lines, event->stack, out);
	return strbuf_failed(out) ? error_nomem() : NULL;
}
