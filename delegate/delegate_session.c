// SPDX-License-Identifier: BSD-2-Clause
#include "delegate/delegate_session.h"

#include <inttypes.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "delegate/internal.h"
#include "lib/base/clock.h"
#include "lib/sys/cgroup_paths.h"
#include "lib/sys/proc.h"
#include "run/run_session.h"

/* <asm/socket.h> of 4.13 and 6.5. */
#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef __NR_pidfd_send_signal
#define __NR_pidfd_send_signal 424
#endif

enum {
	REQUEST_MS = 2000, /* who connects must ask at once */
	MAX_GROUPS = 65536,
};

void session_say(const struct delegate_session *s, const char *what, const char *why)
{
	_cleanup_free_ char *line =
		text_format("%s (uid %u, pid %d): %s: %s%s%s", s->user, (unsigned)s->peer.uid,
			    (int)s->peer.pid, s->request.name[0] ? s->request.name : "no request",
			    what, why ? ": " : "", why ? why : "");

	if (line)
		s->opts->say(s->opts->ctx, line);
}

/* The name is the administrator's, but may come from a directory service. */
static void find_user(struct delegate_session *s)
{
	const struct passwd *pw = getpwuid(s->peer.uid);

	snprintf(s->user, sizeof(s->user), "%s", pw ? pw->pw_name : "user");
	for (char *c = s->user; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
}

/*
 * One message, in time, and without descriptors: the kernel drops those that there is no room for,
 * and says so.
 */
static bool receive_request(struct delegate_session *s)
{
	struct pollfd ready = {.fd = s->fd, .events = POLLIN};
	char data[DELEGATE_MAX_REQUEST + 1];
	struct iovec iov = {data, sizeof(data)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (poll(&ready, 1, REQUEST_MS) != 1)
		return false;
	const ssize_t n = recvmsg(s->fd, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	return n > 0 && !(msg.msg_flags & (MSG_CTRUNC | MSG_TRUNC)) &&
	       delegate_request_parse(data, (size_t)n, &s->request, &s->trace);
}

static void send_answer(const struct delegate_session *s, const struct delegate_answer *answer,
			const int *fds)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(DELEGATE_FDS * sizeof(int))];
	} control = {0};
	struct iovec iov = {(void *)answer, sizeof(*answer)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (answer->n_fds) {
		const size_t size = answer->n_fds * sizeof(int);

		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(size);
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(size);
		memcpy(CMSG_DATA(&control.align), fds, size);
	}
	/* a user who does not read it has closed the socket, which ends the session */
	if (sendmsg(s->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		log_info(s->opts->log, "the answer cannot be sent: %s", strerror(errno));
}

void session_refuse(const struct delegate_session *s, enum delegate_status status, const char *why)
{
	const struct delegate_answer answer = delegate_answer_make(status);

	session_say(s, "refused", why ? why : delegate_status_text(status));
	send_answer(s, &answer, NULL);
}

/* ---- who asks ---- */

static struct error *find_groups(const struct delegate_session *s, uint32_t **gids, size_t *n)
{
	socklen_t size = MAX_GROUPS * sizeof(gid_t);
	_cleanup_free_ gid_t *got = malloc(size + sizeof(gid_t));

	if (!got)
		return error_nomem();
	if (getsockopt(s->fd, SOL_SOCKET, SO_PEERGROUPS, got + 1, &size))
		return error_errno(errno, "cannot read the groups of the user");
	got[0] = s->peer.gid;
	*n = size / sizeof(gid_t) + 1;
	*gids = steal_ptr(got);
	return NULL;
}

bool session_peer_lives(const struct delegate_session *s)
{
	_cleanup_close_ int pidfd = -1;
	socklen_t len = sizeof(pidfd);

	return !getsockopt(s->fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &len) &&
	       !syscall(__NR_pidfd_send_signal, pidfd, 0, NULL, 0);
}

/*
 * The cgroup of the process that connected. Its pid may belong to another process by now: the
 * descriptor of the process tells whether it was there all the time.
 */
static char *find_cgroup(const struct delegate_session *s)
{
	_cleanup_free_ char *text = NULL;

	_cleanup_error_ struct error *err = sys_proc_read(NULL, s->peer.pid, "cgroup", &text, NULL);
	if (err || !session_peer_lives(s))
		return NULL;
	char *path = strncmp(text, "0::/", 4) == 0 ? text : strstr(text, "\n0::/");
	if (!path)
		return NULL;
	path = strchr(path, '/');
	path[strcspn(path, "\n")] = '\0';
	/* lists of cgroups are separated by commas; the root is everybody's */
	if (!path[1] || strchr(path, ','))
		return NULL;
	_cleanup_free_ char *root = cgroup_root(NULL);
	return root ? text_format("%s%s", root, path) : NULL;
}

/* ---- the session ---- */

static struct error *on_socket(void *ctx, uint32_t events)
{
	struct delegate_session *s = ctx;

	/* closed, or something was sent, which is not part of a session */
	s->closed = true;
	run_stop(s->run);
	return NULL;
}

static struct error *on_removal(void *ctx, uint32_t events)
{
	struct delegate_session *s = ctx;

	if (approval_is_gone(s->revoked_fd, s->approval)) {
		s->revoked = true;
		run_stop(s->run);
	}
	return NULL;
}

static struct error *show_nothing(void *ctx, struct run *run, const struct results *results,
				  bool last)
{
	return NULL;
}

void session_pass(const struct delegate_session *s, const int *fds, size_t n)
{
	struct delegate_answer answer = delegate_answer_make(DELEGATE_OK);
	int created[DELEGATE_FDS];

	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0) {
			answer.created[i] = 1;
			created[answer.n_fds++] = fds[i];
		}
	answer.n_maps = (uint32_t)n;
	answer.max_ms = s->approval->max_ms;
	answer.max_share = s->approval->max_share;
	memcpy(answer.approval, s->approval->id, sizeof(answer.approval));
	send_answer(s, &answer, created);
	for (size_t i = 0; i < answer.n_fds; i++)
		close(created[i]);
}

struct error *session_pass_or_close(const struct delegate_session *s, struct error *err,
				    const int *fds, size_t n)
{
	if (!err) {
		session_pass(s, fds, n);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return err;
}

static struct error *pass_maps(const struct delegate_session *s)
{
	int fds[DELEGATE_FDS];
	size_t n = 0;
	struct error *err = run_pass_maps(s->run, fds, DELEGATE_FDS, &n);

	return session_pass_or_close(s, err, fds, n);
}

void session_end(const struct delegate_session *s, uint64_t began)
{
	enum delegate_reason reason = DELEGATE_END_STOPPED;
	struct delegate_end message;
	struct iovec iov = {&message, sizeof(message)};
	const struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (s->closed) {
		session_say(s, "ended by the user", NULL);
		return;
	}
	if (s->revoked)
		reason = DELEGATE_END_REVOKED;
	else if (s->costly)
		reason = DELEGATE_END_COST;
	else if ((clock_ns(CLOCK_MONOTONIC) - began) / 1000000 >= s->approval->max_ms)
		reason = DELEGATE_END_TIME;
	session_say(s, "ended", delegate_reason_text(reason));
	delegate_end_make(reason, &message);
	sendmsg(s->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT); /* the filter allows no send() */
}

void session_say_runs(const struct delegate_session *s)
{
	const struct approval *a = s->approval;
	const char *command = delegate_command_text(a->command);
	_cleanup_free_ char *what = text_format("%ss, approval %s, target %s", command, a->id,
						approval_target_text(a->target));

	session_say(s, what ? what : command, NULL);
}

static struct error *hold(struct delegate_session *s, const struct run_opts *run_opts)
{
	_cleanup_(run_freep) struct run *run = NULL;

	TRY(run_new(run_opts, &run));
	s->run = run;
	TRY(run_attach(run));
	TRY(run_watch(run, s->fd, on_socket, s));
	TRY(run_watch(run, s->revoked_fd, on_removal, s));
	session_say_runs(s);
	const uint64_t began = clock_ns(CLOCK_MONOTONIC);
	TRY(pass_maps(s));
	TRY(s->opts->confine(s->opts->ctx, run_opens_events_later(run)));
	struct error *err = run_loop(run, show_nothing, NULL);
	s->costly = run_n_detached(run);
	if (!err)
		session_end(s, began);
	return err;
}

static struct error *session_run(struct delegate_session *s, const char *path, const char *uids,
				 const struct program_owner *owner, const char *cgroup)
{
	const struct approval *a = s->approval;
	const struct run_opts run_opts = {
		.files = &path,
		.n_files = 1,
		.duration_ms = a->max_ms,
		.sets = (const char *const *)a->sets.v,
		.n_sets = a->sets.n,
		.filter.uids = uids,
		.filter.owner = owner,
		.filter.self = s->peer.pid,
		.filter.cgroups.cgroups = cgroup,
		.cost.max_share = a->max_share,
		.confine_finder = s->opts->confine_finder,
		.log = s->opts->log,
		.only_attach = true,
	};

	return hold(s, &run_opts);
}

/* What is approved, by the approval's parameters alone. */
static void load(struct delegate_session *s, const struct approval *a)
{
	_cleanup_free_ char *path = NULL, *cgroup = NULL;
	_cleanup_close_ int revoked_fd = -1;
	char uid[16];

	struct error *err = approval_watch(s->opts->store, a, &revoked_fd);
	if (err) {
		session_refuse(s, DELEGATE_FAILED, err->msg);
		error_free(err);
		return;
	}
	s->approval = a;
	s->revoked_fd = revoked_fd;
	err = approval_object(s->opts->store, a, &path);
	if (err) {
		session_refuse(s, DELEGATE_DAMAGED, err->msg);
		error_free(err);
		return;
	}
	snprintf(uid, sizeof(uid), "%u", (unsigned)s->peer.uid);
	if (a->target == APPROVAL_CGROUP && !(cgroup = find_cgroup(s))) {
		session_refuse(s, DELEGATE_NO_CGROUP, NULL);
		return;
	}
	const char *uids = a->target == APPROVAL_OWN ? uid : NULL;
	const struct program_owner user = {.uid = s->peer.uid, .gid = s->peer.gid};
	const struct program_owner *owner = uids ? &user : NULL;
	err = a->command == DELEGATE_RECORD  ? session_record(s, path, uids, owner, cgroup)
	      : a->command == DELEGATE_TRACE ? session_trace(s, uids != NULL, cgroup)
					     : session_run(s, path, uids, owner, cgroup);
	if (err) {
		session_refuse(s, DELEGATE_FAILED, err->msg);
		error_free(err);
	}
}

void delegate_session_run(int fd, const struct ucred *peer,
			  const struct delegate_service_opts *opts)
{
	struct delegate_session s = {.opts = opts, .peer = *peer, .fd = fd};
	_cleanup_approvals_ struct approvals list = {0};
	_cleanup_free_ uint32_t *gids = NULL;
	enum delegate_status why;
	size_t n_gids = 0;

	find_user(&s);
	if (!receive_request(&s)) {
		session_refuse(&s, DELEGATE_INVALID, NULL);
		return;
	}
	struct error *err = find_groups(&s, &gids, &n_gids);
	if (!err)
		err = approvals_read(opts->store, &list);
	if (err) {
		session_refuse(&s, DELEGATE_FAILED, err->msg);
		error_free(err);
		return;
	}
	const struct approval *a =
		approvals_find(&list, &s.request, s.peer.uid, gids, n_gids, &why);
	if (a)
		load(&s, a);
	else
		session_refuse(&s, why, NULL);
}
