// SPDX-License-Identifier: BSD-2-Clause
#include "delegate/delegate_service.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "delegate/delegate_message.h"
#include "delegate/delegate_session.h"
#include "delegate/delegate_socket.h"
#include "delegate/subordinate_uid.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"

enum {
	PASSED_FD = 3, /* the first descriptor that systemd passes, sd_listen_fds(3) */
	IDLE_MS = 60000,
	MAX_SESSIONS = 32,
	MAX_OF_USER = 4,
};

struct session_process {
	pid_t pid;
	uid_t owner; /* of the user's id: subordinate ids are the user's to whom they are given */
};

struct service {
	const struct delegate_service_opts *opts;
	VEC(struct session_process) sessions;
	sigset_t old_mask;
	int listener, signals;
	bool passed; /* by systemd, which starts us again */
};

static bool is_passed(void)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");

	return pid && fds && strtol(pid, NULL, 10) == getpid() && !strcmp(fds, "1");
}

/* A socket that a service left behind when it was killed; nobody answers at it. */
static struct error *remove_stale(const struct sockaddr_un *address)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct stat st;

	if (lstat(address->sun_path, &st))
		return NULL;
	if (!S_ISSOCK(st.st_mode))
		return error_new(EEXIST, "%s is not a socket", address->sun_path);
	if (fd >= 0 && !connect(fd, (const struct sockaddr *)address, sizeof(*address)))
		return error_new(EADDRINUSE, "a service listens at %s already", address->sun_path);
	if (unlink(address->sun_path))
		return error_errno(errno, "cannot remove %s", address->sun_path);
	return NULL;
}

static struct error *listen_at(const char *path, int *fd)
{
	struct sockaddr_un address;
	_cleanup_close_ int got = -1;

	TRY(delegate_socket_new(path, &address, &got));
	_cleanup_free_ char *dir = strdup(path);
	if (!dir)
		return error_nomem();
	char *slash = strrchr(dir, '/');
	if (slash && slash != dir) {
		*slash = '\0';
		mkdir(dir, 0755);
	}
	TRY(remove_stale(&address));
	if (bind(got, (const struct sockaddr *)&address, sizeof(address)))
		return error_errno(errno, "cannot listen at %s", path);
	/* everybody may ask; approvals decide */
	if (chmod(path, 0666) || listen(got, MAX_SESSIONS))
		return error_errno(errno, "cannot listen at %s", path);
	*fd = steal_fd(&got);
	return NULL;
}

static bool is_full(const struct service *s, uid_t owner)
{
	const struct session_process *p;
	size_t own = 0;

	vec_for_each (p, &s->sessions)
		own += p->owner == owner;
	return own >= MAX_OF_USER || s->sessions.n >= MAX_SESSIONS;
}

static void say_busy(const struct service *s, const struct ucred *peer)
{
	_cleanup_free_ char *line =
		text_format("uid %u, pid %d: refused: %s", (unsigned)peer->uid, (int)peer->pid,
			    delegate_status_text(DELEGATE_BUSY));

	if (line)
		s->opts->say(s->opts->ctx, line);
}

/* The process of a session dies with this one, so that nothing stays attached. */
static void run_session(const struct service *s, int fd, const struct ucred *peer, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	close(s->listener);
	close(s->signals);
	sigprocmask(SIG_SETMASK, &s->old_mask, NULL);
	delegate_session_run(fd, peer, s->opts);
	_exit(0);
}

static struct error *accept_one(struct service *s)
{
	_cleanup_close_ int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
	const pid_t parent = getpid();
	struct ucred peer;
	socklen_t len = sizeof(peer);

	/* who has hung up already, or there are too many descriptors: the next turn tries again */
	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return NULL;
	const uid_t owner = subordinate_uid_owner_at("/etc/subuid", peer.uid);
	if (is_full(s, owner)) {
		const struct delegate_answer answer = delegate_answer_make(DELEGATE_BUSY);

		say_busy(s, &peer);
		send(fd, &answer, sizeof(answer), MSG_NOSIGNAL | MSG_DONTWAIT);
		return NULL;
	}
	struct session_process *p = vec_push(&s->sessions);
	if (!p)
		return error_nomem();
	const pid_t pid = fork();
	if (pid == 0)
		run_session(s, fd, &peer, parent);
	if (pid < 0) {
		s->sessions.n--;
		log_warn(s->opts->log, "cannot start a process for a session: %s", strerror(errno));
		return NULL;
	}
	*p = (struct session_process){.pid = pid, .owner = owner};
	return NULL;
}

static void reap(struct service *s)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (size_t i = 0; i < s->sessions.n; i++)
			if (s->sessions.v[i].pid == pid)
				s->sessions.v[i] = s->sessions.v[--s->sessions.n];
}

/* *ended: by SIGTERM or SIGINT. */
static void read_signals(struct service *s, bool *ended)
{
	struct signalfd_siginfo info;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		*ended |= info.ssi_signo != SIGCHLD;
	reap(s);
}

static struct error *serve(struct service *s)
{
	bool ended = false;

	while (!ended) {
		struct pollfd fds[] = {
			{.fd = s->listener, .events = POLLIN},
			{.fd = s->signals, .events = POLLIN},
		};
		const bool idle = s->passed && !s->sessions.n;
		const int n = poll(fds, ARRAY_SIZE(fds), idle ? IDLE_MS : -1);

		if (n < 0 && errno != EINTR)
			return error_errno(errno, "cannot wait for connections");
		if (!n)
			return NULL;
		if (fds[1].revents)
			read_signals(s, &ended);
		if (fds[0].revents & POLLIN)
			TRY(accept_one(s));
	}
	return NULL;
}

/* Sessions are told to end, and have ended when this returns. */
static void end_sessions(struct service *s)
{
	const struct session_process *p;

	vec_for_each (p, &s->sessions)
		kill(p->pid, SIGTERM);
	vec_for_each (p, &s->sessions)
		waitpid(p->pid, NULL, 0);
	vec_deinit(&s->sessions);
}

struct error *delegate_service_run(const struct delegate_service_opts *opts)
{
	struct service s = {.opts = opts, .listener = -1, .signals = -1, .passed = is_passed()};
	struct error *err = NULL;
	sigset_t mask;

	if (s.passed)
		s.listener = PASSED_FD;
	else
		TRY(listen_at(opts->socket_path, &s.listener));
	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_BLOCK, &mask, &s.old_mask);
	s.signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s.signals < 0)
		err = error_errno(errno, "cannot wait for signals");
	if (!err)
		err = serve(&s);
	end_sessions(&s);
	if (!s.passed)
		unlink(opts->socket_path);
	closep(&s.listener);
	closep(&s.signals);
	return err;
}
