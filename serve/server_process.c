// SPDX-License-Identifier: BSD-2-Clause
/*
 * A pair of sockets that keep the bounds of messages connects the two:
 *
 *	server -> us	one byte: the number of the answer that is wanted
 *	us -> server	struct reply, and a descriptor of memory with the body
 *
 * The body is passed as a file in memory, so that this process never waits for the other one: a
 * message has a few bytes, and there is one at a time. The other one waits for the answer; its
 * other clients have the kernel's buffers until then.
 *
 * It ignores all signals and ends when its end of the pair is closed, which the kernel does for a
 * process that is killed, too.
 */
#include "serve/server_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/sys/descriptors.h"

struct reply {
	uint32_t status;
	char type[128]; /* ends with a NUL */
};

struct server_process {
	pid_t pid;
	int fd;
};

/* ---- in the other process ---- */

struct front {
	struct reply reply; /* the answer's type refers to it until the answer is sent */
	int fd;
	server_choose_fn *choose;
};

/* server_answer_fn: asks the process that has the numbers. */
static struct error *ask(void *ctx, const struct http_request *request,
			 struct server_answer *answer)
{
	struct front *front = ctx;
	const uint8_t number = front->choose(request);
	_cleanup_close_ int fd = -1;

	if (send(front->fd, &number, sizeof(number), MSG_NOSIGNAL) != sizeof(number) ||
	    descriptor_receive(front->fd, &front->reply, sizeof(front->reply), &fd) !=
		    sizeof(front->reply) ||
	    fd < 0)
		return error_new(EPIPE, "perf-bpf has ended");
	answer->status = front->reply.status;
	answer->type = front->reply.type;
	return memory_file_read(fd, &answer->body);
}

/* Does not return. */
static void serve_alone(const struct server_process_opts *opts, int fd)
{
	struct front front = {.fd = fd, .choose = opts->choose};
	struct pollfd fds[] = {{.fd = server_fd(opts->server), .events = POLLIN}, {.fd = fd}};
	int keep[SERVER_FDS + 1];
	struct error *err;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	server_fds(opts->server, keep);
	keep[SERVER_FDS] = fd;
	descriptors_close_others(keep, ARRAY_SIZE(keep));
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	err = opts->confine ? opts->confine(opts->confine_ctx) : NULL;
	for (int standard = STDIN_FILENO; !err && standard <= STDERR_FILENO; standard++)
		if (dup2(null, standard) < 0)
			_exit(1);
	close(null);
	if (err || send(fd, "", 1, MSG_NOSIGNAL) != 1)
		_exit(1);
	while (!err) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno != EINTR)
			break;
		if (fds[1].revents)
			break;
		if (fds[0].revents)
			err = server_work(opts->server, ask, &front);
	}
	_exit(0);
}

/* ---- in this one ---- */

static struct error *start(struct server_process *process, const struct server_process_opts *opts)
{
	int pair[2];
	char ready;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return error_errno(errno, "cannot create sockets");
	process->pid = fork();
	if (!process->pid) {
		close(pair[0]);
		serve_alone(opts, pair[1]);
	}
	const int code = errno;
	close(pair[1]);
	process->fd = pair[0];
	if (process->pid < 0)
		return error_errno(code, "cannot fork the process of the server");
	ssize_t n;
	do {
		n = recv(process->fd, &ready, sizeof(ready), 0);
	} while (n < 0 && errno == EINTR);
	if (n != 1)
		return error_new(EPIPE, "the process of the server cannot be confined");
	return NULL;
}

struct error *server_process_new(const struct server_process_opts *opts,
				 struct server_process **out)
{
	struct server_process *process = calloc(1, sizeof(*process));
	struct error *err;

	if (process)
		process->fd = -1;
	err = process ? start(process, opts) : error_nomem();
	server_free(opts->server); /* the other process has it now */
	if (err)
		server_process_free(process);
	else
		*out = process;
	return err;
}

void server_process_free(struct server_process *process)
{
	if (!process)
		return;
	closep(&process->fd);
	/* it ends at once, unless somebody else made it do something else */
	if (process->pid > 0) {
		kill(process->pid, SIGKILL);
		while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	free(process);
}

int server_process_fd(const struct server_process *process)
{
	return process->fd;
}

static struct error *pass_answer(const struct server_process *process,
				 const struct server_answer *answer)
{
	struct reply reply = {.status = answer->status};
	_cleanup_close_ int body = -1;

	TRY(memory_file_new("answer", answer->body.str, answer->body.len, &body));
	strncpy(reply.type, answer->type, sizeof(reply.type) - 1);
	/* EAGAIN: it does not take its answers; EPIPE: it has ended, which the next poll says */
	if (descriptor_send(process->fd, &reply, sizeof(reply), body, MSG_DONTWAIT) < 0 &&
	    errno != EAGAIN && errno != EPIPE && errno != ECONNRESET)
		return error_errno(errno, "cannot pass an answer to the process of the server");
	return NULL;
}

struct error *server_process_work(struct server_process *process, server_make_fn *make, void *ctx,
				  bool *ended)
{
	struct server_answer answer = {200, "text/plain; charset=utf-8", STRBUF_INIT};
	uint8_t number;
	const ssize_t n = recv(process->fd, &number, sizeof(number), MSG_DONTWAIT);

	*ended = !n || (n < 0 && errno != EAGAIN && errno != EINTR);
	if (n <= 0)
		return NULL;
	struct error *err = make(ctx, number, &answer);
	if (!err)
		err = pass_answer(process, &answer);
	strbuf_deinit(&answer.body);
	return err;
}
