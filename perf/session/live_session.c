// SPDX-License-Identifier: BSD-2-Clause
/*
 * A session without a file. What the caller has read from rings is copied into
 * chunks, as a pipe's bytes are, and waits there for its turn: the rings of the
 * CPUs are read one after the other, so that a record may come to light after
 * a younger one. session_advance() hands on what was there before the rings
 * were read, and with that the memory is as small as what came meanwhile.
 *
 * Nothing here makes a system call: whose the rings are is the caller's to know.
 */
#include "perf/session/internal.h"

#define WAITING_MAX (64ull << 20)

struct error *session_new_live(const struct session_opts *opts, struct session **out)
{
	_cleanup_(session_freep) struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return error_nomem();
	s->input.fd = -1;
	s->input.file = -1;
	s->input.owned_max = WAITING_MAX;
	s->maps.live = true;
	s->log = opts ? opts->log : NULL;
	s->path = strdup("live records");
	if (!s->path || !threads_init_idle(s))
		return error_nomem();
	*out = steal_ptr(s);
	return NULL;
}

struct error *session_add_event(struct session *s, const struct perf_event_attr *attr,
				const char *name, const uint64_t *ids, size_t n_ids)
{
	uint64_t *kept = arena_alloc(&s->maps.arena, n_ids * sizeof(*ids));

	if (!kept)
		return error_nomem();
	if (n_ids)
		memcpy(kept, ids, n_ids * sizeof(*ids));
	return session_add_data_event(s, &(struct data_event){
						 .attr = *attr,
						 .name = (char *)name,
						 .ids = kept,
						 .n_ids = n_ids,
					 });
}

struct error *session_add_ids(struct session *s, size_t event, const uint64_t *ids, size_t n_ids)
{
	if (event >= s->events.n)
		return error_new(EINVAL, "the session does not have event %zu", event);
	return session_add_event_ids(s, s->events.v[event], ids, n_ids);
}

struct error *session_begin_group(struct session *s, size_t n)
{
	struct data_group *group = vec_push(&s->live_groups);

	if (!group)
		return error_nomem();
	*group = (struct data_group){
		.name = "", .leader = (uint32_t)s->events.n - 1, .n_members = (uint32_t)n};
	return NULL;
}

/* The end of a call into the session: bytes that are not a record are warned of. */
static struct error *finish(struct session *s, struct error *err)
{
	s->tool = NULL;
	if (err == SESSION_STOP)
		return NULL;
	if (!err || err->code != EBADMSG)
		return err;
	session_damaged(s, err);
	return NULL;
}

struct error *session_push(struct session *s, struct session_tool *tool, const struct iovec *iov,
			   int n)
{
	struct session_tool none = {0};

	s->tool = tool ? tool : &none;
	return finish(s, input_push(s, iov, n));
}

struct error *session_advance(struct session *s, struct session_tool *tool, uint64_t until)
{
	struct session_tool none = {0};

	s->tool = tool ? tool : &none;
	return finish(s, order_advance(s, until));
}

size_t session_n_threads(const struct session *s)
{
	return s->threads.n;
}

size_t session_n_ended(const struct session *s)
{
	return s->threads.n_ended;
}

static bool keep_running(void *ctx, int32_t pid, uint64_t ended)
{
	return !ended;
}

void session_forget(struct session *s, session_keep_fn *keep, void *ctx)
{
	threads_forget(s, keep ? keep : keep_running, ctx);
}

uint64_t session_generation(const struct session *s)
{
	return s->maps.generation;
}
