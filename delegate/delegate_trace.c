// SPDX-License-Identifier: BSD-2-Clause
/*
 * The built-in program of trace. The user chooses calls, processes and what is put out, by the
 * numbers of struct trace_request; whose calls are seen at all is a constant of the program, by the
 * approval and the process that asks. The program is the one that is built in here: the approval
 * says by its hash that root has approved this one.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "delegate/internal.h"
#include "lib/base/cleanup.h"
#include "lib/sys/proc.h"
#include "trace/source.h"
#include "work/loop.h"

enum {
	MAX_ROWS = 16384, /* of sums; a user could fill the memory with threads */
};

static bool is_our_program(const struct delegate_session *s)
{
	uint8_t digest[SHA256_BYTES];
	size_t size;
	const void *program = trace_source_program(&size);

	sha256(program, size, digest);
	return !memcmp(digest, s->approval->object, sizeof(digest));
}

/* Whom it is traced for. */
static struct error *find_reader(const struct delegate_session *s, bool own,
				 struct trace_reader *reader)
{
	uint32_t pid_ns;

	if (!sys_pid_ns_of(NULL, s->peer.pid, &pid_ns) || !session_peer_lives(s))
		return error_new(ESRCH, "the process that asked cannot be identified");
	*reader = (struct trace_reader){
		.pid_ns = pid_ns,
		.self = (pid_t)s->trace.self,
		.own = own,
		.uid = s->peer.uid,
		.gid = s->peer.gid,
	};
	return NULL;
}

static struct error *pass_maps(const struct delegate_session *s, struct trace_source *source)
{
	int fds[DELEGATE_FDS];
	size_t n = 0;
	struct error *err = trace_source_pass(source, fds, DELEGATE_FDS, &n);

	return session_pass_or_close(s, err, fds, n);
}

static struct error *hold(struct delegate_session *s, struct trace_source *source)
{
	_cleanup_(session_limits_deinit) struct session_limits limits = {0};

	TRY(session_limit(s, &limits));
	TRY(trace_source_each_program(source, session_count_program, &limits));
	session_say_runs(s);
	TRY(trace_source_start(source));
	TRY(pass_maps(s, source));
	TRY(s->opts->confine(s->opts->ctx, false));
	while (!loop_ended(s->loop))
		TRY(loop_turn(s->loop, -1));
	trace_source_detach(source); /* the user waits for what comes next */
	session_end(s, limits.began);
	return NULL;
}

struct error *session_trace(struct delegate_session *s, bool own, const char *cgroup)
{
	const struct trace_request *r = &s->trace;
	_cleanup_(trace_source_freep) struct trace_source *source = NULL;
	_cleanup_(loop_freep) struct loop *loop = NULL;
	_cleanup_free_ struct trace_call *calls = NULL;
	struct trace_reader reader;

	if (!is_our_program(s)) {
		session_refuse(s, DELEGATE_OTHER_VERSION, NULL);
		return NULL;
	}
	struct error *err = trace_request_calls(r, s->opts->log, &calls);
	if (err && err->code == EBADMSG) {
		session_refuse(s, DELEGATE_OTHER_VERSION, err->msg);
		error_free(err);
		return NULL;
	}
	if (err)
		return err;
	TRY(find_reader(s, own, &reader));
	const struct trace_source_opts opts = {
		.sz = sizeof(opts),
		.log = s->opts->log,
		.calls = calls,
		.pids = (const pid_t *)r->pids,
		.n_pids = r->n_pids,
		.tids = (const pid_t *)r->tids,
		.n_tids = r->n_tids,
		.uids = r->uids,
		.n_uids = r->n_uids,
		.cgroup = cgroup,
		.no_inherit = r->no_inherit,
		.fds = r->fds,
		.signals = r->signals,
		.ends = r->ends,
		.exclude = (const pid_t *)r->excluded,
		.n_exclude = r->n_excluded,
		.failed_only = r->failed_only,
		.min_ns = r->min_ns,
		.string_size = r->string_size,
		.events = r->events,
		.summary = r->summary,
		.sums_by = (enum trace_sums_by)r->sums_by,
		.max_rows = MAX_ROWS,
		.reader = &reader,
	};
	TRY(trace_source_new(&opts, &source));
	TRY(loop_new(&loop));
	s->loop = loop;
	return hold(s, source);
}
