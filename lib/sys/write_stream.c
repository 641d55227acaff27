// SPDX-License-Identifier: BSD-2-Clause
#include "lib/sys/write_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/clock.h"

enum {
	AGAIN_MS = 10, /* until what refused to be opened, or a write in spite of room, is tried
			  again */
};

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

struct error *open_stream(int dir_fd, const char *name, int flags, int *fd)
{
	sigset_t signals;

	find_blocked(&signals);
	_cleanup_close_ int signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	struct pollfd ended = {.fd = signal_fd, .events = POLLIN};

	for (int ms = 0;; ms += AGAIN_MS) {
		_cleanup_close_ int got =
			openat(dir_fd, name, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags);
		const int terminal = got >= 0 && isatty(got) ? O_NONBLOCK : 0;
		if (got >= 0 && fcntl(got, F_SETFL, (flags & O_APPEND) | terminal) < 0)
			return error_new(errno, "%s", strerror(errno));
		if (got >= 0) {
			*fd = steal_fd(&got);
			return NULL;
		}
		if (errno == EINTR)
			continue;
		if (errno != ENXIO)
			return error_new(errno, "%s", strerror(errno));
		if (ms >= OPEN_STREAM_MS || poll(&ended, 1, AGAIN_MS) > 0)
			return error_hint(error_new(ENXIO, "no process reads it"),
					  "start the reader of a FIFO first");
	}
}

/* It may be another user's (su); then it can be opened by its other name, if it controls us. */
int open_terminal_again(int fd)
{
	char by_fd[32];
	unsigned wanted, got;

	snprintf(by_fd, sizeof(by_fd), "/proc/self/fd/%d", fd);
	const char *const paths[] = {by_fd, "/dev/tty"};
	if (ioctl(fd, TIOCGDEV, &wanted))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_close_ int again =
			open(paths[i], O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
		if (again >= 0 && !ioctl(again, TIOCGDEV, &got) && got == wanted)
			return steal_fd(&again);
	}
	return -1;
}

static bool has_room(int fd, unsigned timeout_ms)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};
	const uint64_t end = clock_ns(CLOCK_MONOTONIC) + timeout_ms * UINT64_C(1000000);
	uint64_t now;
	int n;

	/* signals that come again and again do not make it longer */
	while ((n = poll(&ready, 1, (int)timeout_ms)) < 0 && errno == EINTR) {
		now = clock_ns(CLOCK_MONOTONIC);
		timeout_ms = now < end ? (unsigned)((end - now) / 1000000) : 0;
	}
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

/*
 * A descriptor that does not wait itself (O_NONBLOCK), and has room, but for less than it was
 * given: a new line on a terminal needs two bytes, and poll(2) says nothing of how many there are.
 */
static bool wait_for_more_room(const sigset_t *signals, const struct write_stream_opts *opts)
{
	_cleanup_close_ int signal_fd = signalfd(-1, signals, SFD_CLOEXEC);
	struct pollfd ended = {.fd = signal_fd, .events = POLLIN};

	return poll(&ended, 1, opts->is_ending ? (int)opts->patience_ms : AGAIN_MS) <= 0 &&
	       !opts->is_ending;
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
		} else if (errno == EAGAIN && !waits) {
			has_room(fd, UINT_MAX);
		} else if (errno == EAGAIN) {
			if (!wait_for_more_room(&signals, opts)) {
				*state = STREAM_STALLED;
				return NULL;
			}
		} else if (errno != EINTR) {
			return error_errno(errno, "cannot be written");
		}
	}
	*state = STREAM_OPEN;
	return NULL;
}
