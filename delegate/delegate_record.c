// SPDX-License-Identifier: BSD-2-Clause
/*
 * A recording of an approved object. The events and programs are opened and stay here; the user
 * gets the rings, and writes the file. All events are those of programs, which select the tasks;
 * the records of what is mapped and started are of the user's perf-bpf and its children alone.
 */
#include <unistd.h>

#include "delegate/internal.h"
#include "perf/record/live_events.h"
#include "perf/record/passed_events.h"
#include "work/loop.h"

static struct error *pass_rings(const struct delegate_session *s, struct recording *rec)
{
	int fds[DELEGATE_FDS];
	size_t n = 0;

	TRY(passed_events_give(rec, fds, DELEGATE_FDS, &n));
	session_pass(s, fds, n);
	return NULL;
}

static struct error *hold(struct delegate_session *s, struct recording *rec)
{
	_cleanup_(session_limits_deinit) struct session_limits limits = {0};

	TRY(session_limit(s, &limits));
	TRY(passed_events_each_program(rec, session_count_program, &limits));
	if (!session_peer_lives(s))
		return error_new(ESRCH, "the process that asked cannot be identified");
	session_say_runs(s);
	TRY(live_events_start(rec));
	TRY(pass_rings(s, rec));
	TRY(s->opts->confine(s->opts->ctx, false));
	while (!loop_ended(s->loop))
		TRY(loop_turn(s->loop, -1));
	live_events_stop(rec);
	session_end(s, limits.began);
	return NULL;
}

struct error *session_record(struct delegate_session *s, const char *path, const char *uids,
			     const struct program_owner *owner, const char *cgroup)
{
	const struct record_arg arg = {RECORD_OBJECT, path};
	_cleanup_(loop_freep) struct loop *loop = NULL;
	_cleanup_(recording_freep) struct recording *rec = NULL;
	const struct record_opts opts = {
		.sz = sizeof(opts),
		.args = &arg,
		.n_args = 1,
		.all_cpus = true,
		.track = s->peer.pid,
		.uids = uids,
		.owner = owner,
		.cgroups.cgroups = cgroup,
		.sets = (const char *const *)s->approval->sets.v,
		.n_sets = s->approval->sets.n,
		.with_ids = true,
		.no_bpf_events = true,
		.confine_finder = s->opts->confine_finder,
		.log = s->opts->log,
	};

	TRY(loop_new(&loop));
	s->loop = loop;
	TRY(live_events_new(&opts, loop, &rec));
	return hold(s, rec);
}
