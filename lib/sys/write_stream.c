// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/write_stream.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"

/* Of the signals that end a command those that it has blocked, to read them from a signalfd. */
static bool find_blocked(sigset_t *found)
{
	static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
	bool any = false;
	sigset_t mask;

	sigemptyset(found);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++) {
		if (sigismember(&mask, ending[i]) != 1)
			continue;
		sigaddset(found, ending[i]);
		any = true;
	}
	return any;
}

static bool has_room(int fd, unsigned timeout_ms)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};
	int n;

	while ((n = poll(&ready, 1, (int)timeout_ms)) < 0 && errno == EINTR)
		;
	return n > 0;
}

/* Waits until fd takes more; false: it does not, and the command is to end. Signals stay pending.
 */
static bool wait_for_room(int fd, const sigset_t *signals, const struct write_stream_opts *opts)
{
	struct pollfd fds[] = {{.fd = fd, .events = POLLOUT}, {.fd = -1, .events = POLLIN}};

	if (has_room(fd, opts->is_ending ? opts->patience_ms : 0))
		return true;
	if (opts->is_ending)
		return false;
	_cleanup_close_ int signal_fd = signalfd(-1, signals, SFD_CLOEXEC);
	fds[1].fd = signal_fd;
	while (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno == EINTR)
		;
	return fds[0].revents || has_room(fd, opts->patience_ms);
}

/* As much as a pipe takes that has room. */
static size_t size_of_piece(const char *data, size_t size, bool lines)
{
	const size_t most = min_of(size, (size_t)PIPE_BUF);
	const char *end = lines && size > most ? memrchr(data, '\n', most) : NULL;

	return end ? (size_t)(end - data) + 1 : most;
}

struct error *write_stream(int fd, const void *data, size_t size,
			   const struct write_stream_opts *opts, size_t *written,
			   enum stream_state *state)
{
	struct stat st;
	sigset_t signals;
	const bool any_blocked = find_blocked(&signals);
	const bool waits =
		(any_blocked || opts->is_ending) && !(!fstat(fd, &st) && S_ISREG(st.st_mode));
	const char *bytes = data;

	*written = 0;
	while (*written < size) {
		const size_t left = size - *written;

		if (waits && !wait_for_room(fd, &signals, opts)) {
			*state = STREAM_STALLED;
			return NULL;
		}
		const ssize_t n =
			write(fd, bytes + *written,
			      waits ? size_of_piece(bytes + *written, left, opts->lines) : left);
		if (n >= 0) {
			*written += (size_t)n;
		} else if (errno == EPIPE) {
			*state = STREAM_CLOSED;
			return NULL;
		} else if (errno == EAGAIN) {
			has_room(fd, UINT_MAX); /* it does not wait itself (O_NONBLOCK) */
		} else if (errno != EINTR) {
			return error_errno(errno, "cannot be written");
		}
	}
	*state = STREAM_OPEN;
	return NULL;
}
