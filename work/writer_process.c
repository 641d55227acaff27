// SPDX-License-Identifier: BSD-2-Clause
/*
 * The process is a child with its own name ("perf-bpf-files"). It blocks all signals: Ctrl-C ends
 * the command, and this process when its end of the sockets is closed. The kernel closes that for
 * a command that was killed, too.
 */
#include "work/writer_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/sys/descriptors.h"
#include "work/keeper.h"

struct writer_process {
	pid_t pid; /* 0: it is the keeper's */
	int fd;
	bool is_late; /* it has not said yet that it is ready */
	struct writer_process_opts opts;
};

/* An error as a message; texts are cut at the end of their arrays. */
struct writer_reply {
	int32_t code; /* 0: served */
	char msg[512], where[512], hint[512];
};

/* ---- in the other process ---- */

static void set_text(char *to, size_t size, const char *text)
{
	strncpy(to, text ? text : "", size - 1);
	to[size - 1] = 0;
}

/* passed: -1: none. */
static bool send_reply(int socket, struct error *err, int passed)
{
	struct writer_reply reply = {0};

	if (err) {
		reply.code = err->code;
		set_text(reply.msg, sizeof(reply.msg), err->msg);
		set_text(reply.where, sizeof(reply.where), err->where);
		set_text(reply.hint, sizeof(reply.hint), err->hint);
	}
	error_free(err);
	if (passed >= 0)
		return descriptor_send(socket, &reply, sizeof(reply), passed, 0) == sizeof(reply);
	/* a write: the filter need not have another call to answer; SIGPIPE is blocked */
	return write(socket, &reply, sizeof(reply)) == sizeof(reply);
}

/* Does not return. */
static void serve(const struct writer_process_opts *opts, int socket)
{
	const int keep[] = {socket, opts->keep};
	char *request = malloc(WRITER_MAX_REQUEST);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_NAME, "perf-bpf-files", 0, 0, 0);
	descriptors_close_others(keep, ARRAY_SIZE(keep));
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct error *err = !request	    ? error_nomem()
			    : opts->confine ? opts->confine(opts->ctx) /* which may print */
					    : NULL;
	for (int fd = STDIN_FILENO; !err && fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			err = error_errno(errno, "cannot use /dev/null");
	if (null > STDERR_FILENO)
		close(null);
	const bool ready = !err;
	/* The reply would not be read if this end was closed with a request in it. */
	if (!ready && opts->keeper) {
		int fd;

		descriptor_receive(socket, request ? request : (char[1]){0},
				   request ? WRITER_MAX_REQUEST : 1, &fd);
	}
	if (!send_reply(socket, err, -1) || !ready)
		_exit(1);
	for (;;) {
		int fd;
		const ssize_t n = descriptor_receive(socket, request, WRITER_MAX_REQUEST, &fd);

		if (n <= 0)
			break;
		err = opts->write(opts->ctx, request, (size_t)n, fd);
		closep(&fd);
		int back = !err && opts->give ? opts->give(opts->ctx) : -1;
		const bool sent = send_reply(socket, err, back);
		closep(&back);
		if (!sent)
			break;
	}
	if (opts->end)
		opts->end(opts->ctx);
	_exit(0);
}

/* ---- in this one ---- */

/* passed: NULL: nothing is passed back. */
static struct error *receive_reply(const struct writer_process *writer, int *passed)
{
	struct writer_reply reply;
	_cleanup_close_ int fd = -1;
	ssize_t n;

	do {
		n = passed ? descriptor_receive(writer->fd, &reply, sizeof(reply), &fd)
			   : recv(writer->fd, &reply, sizeof(reply), 0);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(reply))
		return error_new(EPIPE, "the process that writes files has ended");
	if (!reply.code) {
		if (passed)
			*passed = steal_fd(&fd);
		return NULL;
	}
	struct error *err = error_new(reply.code, "%.*s", (int)sizeof(reply.msg) - 1, reply.msg);
	if (reply.hint[0])
		err = error_hint(err, "%.*s", (int)sizeof(reply.hint) - 1, reply.hint);
	return reply.where[0] ? error_at(err, "%.*s", (int)sizeof(reply.where) - 1, reply.where)
			      : err;
}

static void serve_late(void *ctx, int socket)
{
	serve(&((struct writer_process *)ctx)->opts, socket);
}

static struct error *add_to_keeper(struct writer_process *writer,
				   const struct writer_process_opts *opts)
{
	const struct late_process process = {
		.name = "perf-bpf-files",
		.serve = serve_late,
		.ctx = writer,
		.keep = opts->keep,
	};

	writer->opts = *opts;
	writer->is_late = true;
	return keeper_add(opts->keeper, &process, &writer->fd);
}

struct error *writer_process_new(const struct writer_process_opts *opts,
				 struct writer_process **out)
{
	_cleanup_(writer_process_freep) struct writer_process *writer = calloc(1, sizeof(*writer));
	int pair[2];

	if (!writer)
		return error_nomem();
	writer->fd = -1;
	if (opts->keeper) {
		TRY(add_to_keeper(writer, opts));
		*out = steal_ptr(writer);
		return NULL;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return error_errno(errno, "cannot create sockets");
	writer->pid = fork();
	if (!writer->pid) {
		close(pair[0]);
		serve(opts, pair[1]);
	}
	const int code = errno;
	close(pair[1]);
	writer->fd = pair[0];
	if (writer->pid < 0)
		return error_errno(code, "cannot fork the process that writes files");
	TRY(receive_reply(writer, NULL));
	*out = steal_ptr(writer);
	return NULL;
}

void writer_process_free(struct writer_process *writer)
{
	if (!writer)
		return;
	closep(&writer->fd);
	if (writer->pid > 0)
		while (waitpid(writer->pid, NULL, 0) < 0 && errno == EINTR)
			;
	free(writer);
}

static struct error *ask(struct writer_process *writer, const void *request, size_t size, int fd)
{
	if (size > WRITER_MAX_REQUEST)
		return error_errno(EMSGSIZE, "cannot ask the process that writes files");
	if (descriptor_send(writer->fd, request, size, fd, 0) != (ssize_t)size)
		return error_errno(errno, "cannot ask the process that writes files");
	if (!writer->is_late)
		return NULL;
	writer->is_late = false;
	return receive_reply(writer, NULL);
}

struct error *writer_process_ask(struct writer_process *writer, const void *request, size_t size,
				 int fd)
{
	TRY(ask(writer, request, size, fd));
	return receive_reply(writer, NULL);
}

struct error *writer_process_get(struct writer_process *writer, const void *request, size_t size,
				 int *passed)
{
	TRY(ask(writer, request, size, -1));
	return receive_reply(writer, passed);
}
