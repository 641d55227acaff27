/* SPDX-License-Identifier: BSD-2-Clause */
/* A session, for the files that serve one: delegate_session.c reads the request and answers. */
#ifndef PB_DELEGATE_INTERNAL_H
#define PB_DELEGATE_INTERNAL_H

#include <sys/socket.h>

#include "delegate/approval_store.h"
#include "delegate/delegate_message.h"
#include "delegate/delegate_opts.h"

struct bpf_program;
struct cost;
struct loop;
struct run;

struct delegate_session {
	const struct delegate_service_opts *opts;
	struct ucred peer;
	int fd;
	char user[64];
	struct delegate_request request;
	struct trace_request trace; /* of DELEGATE_TRACE */
	struct run *run;
	struct loop *loop; /* of record and trace */
	const struct approval *approval;
	int revoked_fd; /* see approval_watch() */
	bool closed;	/* by the user */
	bool revoked;
	bool costly; /* it used more CPU time than approved */
};

/* A line in the log. */
void session_say(const struct delegate_session *s, const char *what, const char *why);
/* It begins: said before the user has it. */
void session_say_runs(const struct delegate_session *s);
/* Passes n descriptors, or -1 where there is none; they are closed. */
void session_pass(const struct delegate_session *s, const int *fds, size_t n);
/* With an error nothing is passed; it is returned. */
struct error *session_pass_or_close(const struct delegate_session *s, struct error *err,
				    const int *fds, size_t n);
/* Why it has ended, to the user and to the log. began: CLOCK_MONOTONIC, ns. */
void session_end(const struct delegate_session *s, uint64_t began);
/*
 * Whether the process that connected is still the one with this pid: what was opened for the pid
 * before is of that process.
 */
bool session_peer_lives(const struct delegate_session *s);

/* Why nothing is loaded: to the user and to the log. why: NULL, or more for the log. */
void session_refuse(const struct delegate_session *s, enum delegate_status status, const char *why);

/*
 * delegate_limits.c: ends s->loop when the user hangs up, when the approval is revoked, after its
 * time, and when a program costs more than it says. began: CLOCK_MONOTONIC, ns; for session_end().
 */
struct session_limits {
	struct delegate_session *session;
	struct cost *cost;
	uint64_t began;
};
struct error *session_limit(struct delegate_session *s, struct session_limits *limits);
/* Of passed_events_each_program() and the like: ctx is the struct session_limits. */
struct error *session_count_program(void *ctx, const struct bpf_program *prog);
void session_limits_deinit(struct session_limits *limits);

/*
 * delegate_trace.c: the built-in trace, as root approved it. own: whether only the user's processes
 * are traced; cgroup: whom else, or NULL.
 */
struct error *session_trace(struct delegate_session *s, bool own, const char *cgroup);

/*
 * delegate_record.c: what root approved for record. path: of the object; uids, cgroup: whom the
 * programs look at, or NULL.
 */
struct program_owner;
struct error *session_record(struct delegate_session *s, const char *path, const char *uids,
			     const struct program_owner *owner, const char *cgroup);

#endif
