// SPDX-License-Identifier: BSD-2-Clause
/* Readers that stop, are slow, or go away, and signals that come meanwhile. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/sys/write_stream.h"
#include "perf/data/writer.h"

enum {
	SIZE = 300000, /* more than a pipe holds */
	LONG_MS = 600000,
};

static char *bytes;
static int ends[2], go[2]; /* pipes: what is written; a byte for a child */

static int setup(void **state)
{
	bytes = malloc(SIZE);
	for (size_t i = 0; bytes && i < SIZE; i++)
		bytes[i] = (char)(i % 253 ? i % 251 : '\n');
	return !bytes || pipe2(ends, O_CLOEXEC) || pipe2(go, O_CLOEXEC);
}

static int teardown(void **state)
{
	const sigset_t none = {0};

	free(bytes);
	for (unsigned i = 0; i < 2; i++) {
		closep(&ends[i]);
		closep(&go[i]);
	}
	sigprocmask(SIG_SETMASK, &none, NULL);
	return 0;
}

static void block(int signal)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signal);
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
}

static void take(int signal)
{
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, signal);
	assert_int_equal(sigwait(&set, &got), 0);
}

/* A child that waits for a byte of go, reads all, and ends with 0 if that is what was written. */
static pid_t begin_reader(void)
{
	const pid_t pid = fork();
	size_t n = 0;
	char c;

	assert_true(pid >= 0);
	if (pid)
		return pid;
	close(ends[1]);
	if (read(go[0], &c, 1) != 1)
		_exit(2);
	for (char part[1000];;) {
		const ssize_t got = read(ends[0], part, sizeof(part));

		if (got <= 0)
			_exit(got < 0 || n != SIZE);
		if (n + (size_t)got > SIZE || memcmp(part, bytes + n, (size_t)got))
			_exit(3);
		n += (size_t)got;
	}
}

static void end_reader(pid_t pid)
{
	int status;

	close(ends[1]);
	ends[1] = -1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static enum stream_state write_all(const struct write_stream_opts *opts, size_t *written)
{
	enum stream_state state = 99;

	assert_null(write_stream(ends[1], bytes, SIZE, opts, written, &state));
	return state;
}

TEST_WITH(a_signal_ends_the_wait_for_a_reader, setup, teardown)
{
	const struct write_stream_opts opts = {.lines = true}, bytewise = {.patience_ms = 1};
	size_t written;
	int held;

	block(SIGTERM);
	raise(SIGTERM);
	assert_int_equal(write_all(&opts, &written), STREAM_STALLED);
	assert_int_equal(ioctl(ends[0], FIONREAD, &held), 0);
	assert_int_equal(held, written);
	assert_int_equal(bytes[written - 1], '\n');
	assert_int_equal(write_all(&bytewise, &written), STREAM_STALLED);
	take(SIGTERM); /* it was left pending */
}

TEST_WITH(one_who_is_to_end_has_little_patience, setup, teardown)
{
	const struct write_stream_opts opts = {.patience_ms = 1, .is_ending = true};
	size_t written;

	assert_int_equal(write_all(&opts, &written), STREAM_STALLED);
	assert_true(written > 0 && written < SIZE);
}

/* A slow reader gets all, also after a signal. */
TEST_WITH(a_slow_reader_gets_all, setup, teardown)
{
	const struct write_stream_opts opts = {.patience_ms = LONG_MS};
	const pid_t reader = begin_reader();
	size_t written;

	block(SIGINT);
	raise(SIGINT);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(write_all(&opts, &written), STREAM_OPEN);
	assert_int_equal(written, SIZE);
	take(SIGINT);
	end_reader(reader);
}

TEST_WITH(a_reader_that_goes_away, setup, teardown)
{
	const struct write_stream_opts opts = {0};
	size_t written;

	signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	ends[0] = -1;
	assert_int_equal(write_all(&opts, &written), STREAM_CLOSED);
	assert_int_equal(written, 0);
	block(SIGINT);
	assert_int_equal(write_all(&opts, &written), STREAM_CLOSED);
	signal(SIGPIPE, SIG_DFL);
}

/* The reader begins when a write has been interrupted: by the handler. */
static void let_read(int signal)
{
	if (write(go[1], "", 1) < 0)
		abort();
}

TEST_WITH(a_write_that_is_interrupted_goes_on, setup, teardown)
{
	const struct sigaction action = {.sa_handler = let_read}, none = {.sa_handler = SIG_DFL};
	const struct itimerval soon = {.it_value = {.tv_usec = 10000},
				       .it_interval = {.tv_usec = 10000}};
	const struct itimerval never = {0};
	const struct write_stream_opts opts = {0};
	const pid_t reader = begin_reader();
	size_t written;

	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0); /* without SA_RESTART */
	setitimer(ITIMER_REAL, &soon, NULL);
	assert_int_equal(write_all(&opts, &written), STREAM_OPEN);
	setitimer(ITIMER_REAL, &never, NULL);
	assert_int_equal(written, SIZE);
	sigaction(SIGALRM, &none, NULL);
	end_reader(reader);
}

TEST_WITH(descriptors_that_do_not_wait, setup, teardown)
{
	const struct write_stream_opts opts = {0};
	const pid_t reader = begin_reader();
	size_t written;

	assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(write_all(&opts, &written), STREAM_OPEN);
	end_reader(reader);
}

/* A terminal may have room, but not for what is written: a new line is two characters there. */
TEST_WITH(a_terminal_that_nobody_reads, setup, teardown)
{
	const struct write_stream_opts opts = {.patience_ms = 1},
				       ending = {.patience_ms = 1, .is_ending = true};
	const int other = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	size_t written;

	assert_true(other >= 0 && !grantpt(other) && !unlockpt(other));
	close(ends[1]);
	ends[1] = open(ptsname(other), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	assert_true(ends[1] >= 0);
	memset(bytes, '\n', SIZE);
	block(SIGTERM);
	raise(SIGTERM);
	assert_int_equal(write_all(&opts, &written), STREAM_STALLED);
	assert_true(written > 0 && written < SIZE);
	assert_int_equal(write_all(&ending, &written), STREAM_STALLED);
	take(SIGTERM);
	close(other);
}

TEST_WITH(errors_are_those_of_the_file, setup, teardown)
{
	const struct write_stream_opts opts = {0};
	enum stream_state stream = 99;
	size_t written;
	struct error *err = write_stream(ends[0], bytes, SIZE, &opts, &written, &stream);

	assert_int_equal(err->code, EBADF);
	assert_int_equal(stream, 99);
	error_free(err);
}

/* A recording to such a pipe fails, and does not hang. */
TEST_WITH(a_recording_says_that_nobody_reads, setup, teardown)
{
	struct perf_event_attr attr = {.size = PERF_ATTR_SIZE_VER0};
	struct data_writer_opts opts = {.sz = sizeof(opts)};
	struct perf_event_header record = {.type = PERF_RECORD_LOST, .size = sizeof(record)};
	struct error *err = NULL;
	struct data_writer *w;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", ends[1]);
	assert_null(data_writer_open(path, &opts, &w));
	assert_null(data_writer_add_event(w, &attr, "none", NULL, 0));
	assert_null(data_writer_start(w));
	block(SIGINT);
	raise(SIGINT);
	for (size_t i = 0; !err && i < SIZE; i++)
		err = data_writer_records(w, &record, sizeof(record));
	assert_int_equal(err->code, EPIPE);
	assert_string_equal(err->msg, "the reader of the output does not read it");
	error_free(err);
	err = data_writer_records(w, &record, sizeof(record));
	assert_int_equal(err->code, EPIPE);
	error_free(err);
	assert_null(data_writer_finish(w));
	data_writer_free(w);
	take(SIGINT);
}

/* What others write to the terminal waits as before. */
TEST_WITH(a_terminal_is_opened_anew, setup, teardown)
{
	const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	char c;

	assert_int_equal(open_terminal_again(ends[1]), -1);
	assert_true(master >= 0 && !grantpt(master) && !unlockpt(master));
	const int slave = open(ptsname(master), O_WRONLY | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	const int again = open_terminal_again(slave);
	assert_true(again > slave);
	assert_int_equal(fcntl(again, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
	assert_int_equal(fcntl(again, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(slave, F_GETFL) & O_NONBLOCK, 0);
	assert_int_equal(write(again, "x", 1), 1);
	assert_int_equal(read(master, &c, 1), 1);
	assert_int_equal(c, 'x');
	close(again);
	close(slave);
	close(master);
}
