// SPDX-License-Identifier: BSD-2-Clause
#include "delegate/delegate_client.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "delegate/delegate_socket.h"
#include "lib/base/cleanup.h"

enum {
	END_MS = 60000,
};

/* The directory of the socket is root's; that the other side is root makes sure of it. */
static struct error *check_service(int fd, const char *path)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		return error_errno(errno, "%s", path);
	if (peer.uid && peer.uid != geteuid())
		return error_new(EPERM, "%s: the service does not run as root", path);
	return NULL;
}

static struct error *connect_to(const char *path, int *fd)
{
	struct sockaddr_un address;
	_cleanup_close_ int got = -1;

	TRY(delegate_socket_new(path, &address, &got));
	if (connect(got, (const struct sockaddr *)&address, sizeof(address)))
		return error_hint(error_errno(errno, "cannot connect to %s", path),
				  "ask root to start the service: systemctl start perf-bpf.socket");
	TRY(check_service(got, path));
	*fd = steal_fd(&got);
	return NULL;
}

static void keep_fds(struct msghdr *msg, struct delegate_client *client, size_t *n)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		const size_t got = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

		for (size_t i = 0; i < got && *n < DELEGATE_FDS; i++)
			memcpy(&client->fds[(*n)++], CMSG_DATA(c) + i * sizeof(int), sizeof(int));
	}
}

static struct error *receive_answer(struct delegate_client *client)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(DELEGATE_FDS * sizeof(int))];
	} control;
	char data[sizeof(struct delegate_answer) + 1];
	struct iovec iov = {data, sizeof(data)};
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	size_t n_fds = 0;
	bool again = true;
	ssize_t n;

	/* A service that closes without having read the request resets the connection first. */
	while ((n = recvmsg(client->fd, &msg, MSG_CMSG_CLOEXEC)) < 0) {
		if (errno != EINTR && !(errno == ECONNRESET && again))
			break;
		again = errno == EINTR && again;
	}
	if (n < 0)
		return error_errno(errno, "cannot read the answer of the service");
	if (!n)
		return error_hint(error_new(ECONNRESET, "the service has ended without an answer"),
				  "its log has the reason: journalctl -u perf-bpf");
	keep_fds(&msg, client, &n_fds);
	if (!delegate_answer_parse(data, (size_t)n, n_fds, &client->answer)) {
		for (size_t i = 0; i < n_fds; i++)
			close(client->fds[i]);
		return error_new(EPROTO, "the answer of the service is invalid");
	}
	return NULL;
}

struct error *delegate_client_open(const char *socket_path, enum delegate_command command,
				   const void *image, size_t size, const char *name,
				   const struct trace_request *trace,
				   struct delegate_client *client)
{
	struct delegate_client got = DELEGATE_CLIENT_INIT;
	struct delegate_request request;
	char message[DELEGATE_MAX_REQUEST];
	uint8_t digest[SHA256_BYTES];

	sha256(image, size, digest);
	delegate_request_make(command, digest, name, &request);
	memcpy(message, &request, sizeof(request));
	if (trace)
		memcpy(message + sizeof(request), trace, sizeof(*trace));
	TRY(connect_to(socket_path, &got.fd));
	struct error *err = NULL;
	/* a service that is full answers and closes before it reads */
	if (send(got.fd, message, request.size, MSG_NOSIGNAL) < 0 && errno != EPIPE)
		err = error_errno(errno, "cannot ask the service");
	if (!err)
		err = receive_answer(&got);
	const enum delegate_status status = got.answer.status;
	if (!err && status != DELEGATE_OK)
		err = error_new(EACCES, "the service refuses '%s': %s", request.name,
				delegate_status_text(status));
	if (!err) {
		*client = got;
		return NULL;
	}
	closep(&got.fd);
	if (status != DELEGATE_UNAPPROVED && status != DELEGATE_CHANGED &&
	    status != DELEGATE_OTHER_COMMAND)
		return err;
	return error_hint(err, "root approves it with: perf-bpf approve %s --for USER%s",
			  command == DELEGATE_TRACE ? "trace" : "PROGRAM",
			  command == DELEGATE_RECORD ? " --command record" : "");
}

void delegate_client_close(struct delegate_client *client)
{
	for (size_t i = 0; i < client->answer.n_fds; i++)
		closep(&client->fds[i]);
	client->answer.n_fds = 0;
	closep(&client->fd);
	client->fd = -1;
}

struct error *delegate_client_stop(struct delegate_client *client)
{
	struct pollfd end = {.fd = client->fd, .events = POLLIN};
	char data[sizeof(struct delegate_end) + 1] = "";

	/* the filter of `trace` allows no send(); perf-bpf handles SIGPIPE: the service has ended
	 */
	if (write(client->fd, data, 1) < 0 && errno != EPIPE)
		return error_errno(errno, "cannot ask the service to end");
	do {
		if (poll(&end, 1, END_MS) != 1)
			return error_new(ETIMEDOUT, "the service does not end the session");
	} while (read(client->fd, data, sizeof(data)) > 0);
	return NULL;
}

enum delegate_reason delegate_client_end(struct delegate_client *client)
{
	struct delegate_end end;
	char data[sizeof(end) + 1];
	/* the filter of `record` allows no recv(); there is something to read, or the end */
	const ssize_t n = read(client->fd, data, sizeof(data));

	if (n > 0 && delegate_end_parse(data, (size_t)n, &end))
		return (enum delegate_reason)end.reason;
	return DELEGATE_END_STOPPED;
}
