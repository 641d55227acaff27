// SPDX-License-Identifier: BSD-2-Clause
/*
 * The terminal is given back by tty_end(). A process that is killed calls nothing: a child waits
 * for its end, which it sees at a socket, and gives the terminal back instead. It holds nothing
 * else open, and keeps the privileges of the command: it reads nothing but the socket, and all that
 * it does is to write texts to new files whose names it chooses.
 *
 * Keys come from the controlling terminal, opened anew, so that the command's standard input is
 * left alone; and only while we are in the foreground, since others are stopped for asking.
 *
 * A terminal may take no more: it is stopped by Ctrl-S, or whoever has the other end does not read.
 * It is opened anew for the output as well, so that a write does not wait in the kernel, where no
 * signal ends it that we have blocked. Once a signal has ended such a wait, nothing is drawn any
 * more; the modes are restored all the same.
 */
#include "cmd/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/job.h"
#include "lib/sys/write_stream.h"

enum {
	PATIENCE_MS = 300, /* so long a terminal that takes no more is waited for at the end */
	ESCAPE_MS = 50,	   /* so long the rest of a key's bytes is waited for */
	MAX_FILES = 10000,
	GUARD_FD = 3, /* the child's end of the socket */
};

/* What the child is sent. */
enum {
	GUARD_TAKEN = 'T', /* the screen */
	GUARD_GIVEN = 'G',
	/* A size follows, and so many bytes; it answers with a number or -errno. */
	GUARD_SAVE = 'S',
	GUARD_SAVE_CODE = 'C', /* to a file of another name */
};

struct tty {
	struct terminal terminal;
	int epoll_fd, signal_fd, keys_fd; /* keys_fd -1: no keys */
	int out_fd;			  /* -1: not opened anew */
	bool stalled;			  /* it does not take what is drawn, and we are to end */
	sigset_t old_mask;
	bool masked;
	struct termios old_modes;
	int guard_fd; /* our end of the socket */
	pid_t guard;
	bool on, mouse;
	bool hung_up;
	unsigned generation;
	unsigned char bytes[KEY_MAX_BYTES]; /* that were read and are no key yet */
	size_t n_bytes;
};

static int output_of(const struct tty *tty)
{
	return tty->out_fd >= 0 ? tty->out_fd : STDOUT_FILENO;
}

/* What a terminal does not take any more is lost, as is what it has when it is closed. */
static enum stream_state write_out(int fd, const struct strbuf *out, bool is_ending)
{
	const struct write_stream_opts opts = {.patience_ms = PATIENCE_MS, .is_ending = is_ending};
	enum stream_state state = STREAM_CLOSED;
	size_t written;

	error_free(write_stream(fd, strbuf_str(out), out->len, &opts, &written, &state));
	return state;
}

void tty_write(struct tty *tty, const struct strbuf *out)
{
	if (!tty->stalled)
		tty->stalled = write_out(output_of(tty), out, false) == STREAM_STALLED;
}

bool tty_stalled(const struct tty *tty)
{
	return tty->stalled;
}

static void add_leave(const struct tty *tty, struct strbuf *out)
{
	terminal_mouse(&tty->terminal, false, out);
	terminal_add(out, tty->terminal.normal);
	terminal_add(out, tty->terminal.show);
	terminal_add(out, tty->terminal.leave);
	if (!tty->terminal.leave) /* no second screen: what follows stands below */
		strbuf_adds(out, "\r\n");
}

/* Whether the terminal is ours now, and not the shell's. */
static bool is_front(const struct tty *tty)
{
	return tty->keys_fd < 0 || tcgetpgrp(tty->keys_fd) == getpgrp();
}

static void tell_guard(struct tty *tty, char what)
{
	if (tty->guard_fd >= 0 && write(tty->guard_fd, &what, 1) != 1)
		closep(&tty->guard_fd);
}

static void enter(struct tty *tty)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	tty->on = true;
	tty->generation++;
	tell_guard(tty, GUARD_TAKEN);
	if (tty->keys_fd >= 0) {
		struct termios modes = tty->old_modes;

		modes.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		modes.c_iflag &= ~(tcflag_t)ICRNL;
		modes.c_cc[VMIN] = 1; /* else nothing and the end look alike */
		modes.c_cc[VTIME] = 0;
		/* without waiting for what others have written */
		tcsetattr(tty->keys_fd, TCSANOW, &modes);
	}
	terminal_add(&out, tty->terminal.enter);
	terminal_add(&out, tty->terminal.hide);
	if (tty->mouse)
		terminal_mouse(&tty->terminal, true, &out);
	tty_write(tty, &out);
}

bool tty_set_mouse(struct tty *tty, bool on)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	tty->mouse = on && tty->terminal.has_mouse;
	if (tty->on) {
		terminal_mouse(&tty->terminal, tty->mouse, &out);
		tty_write(tty, &out);
	}
	return tty->mouse;
}

bool tty_has_mouse(const struct tty *tty)
{
	return tty->mouse;
}

static void leave(struct tty *tty)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	if (!tty->on)
		return;
	tty->on = false;
	add_leave(tty, &out);
	if (write_out(output_of(tty), &out, true) == STREAM_STALLED)
		tty->stalled = true;
	if (tty->keys_fd >= 0)
		tcsetattr(tty->keys_fd, TCSANOW, &tty->old_modes);
	tell_guard(tty, GUARD_GIVEN);
}

/* All n bytes; false: the other end has gone. */
static bool read_all(int fd, void *data, size_t n)
{
	for (size_t done = 0; done < n;) {
		const ssize_t got = read(fd, (char *)data + done, n - done);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool write_all(int fd, const void *data, size_t n)
{
	for (size_t done = 0; done < n;) {
		/* without SIGPIPE */
		const ssize_t put = write(fd, (const char *)data + done, n - done);

		if (put < 0 && errno != EINTR)
			return false;
		done += put > 0 ? (size_t)put : 0;
	}
	return true;
}

const char *tty_save_name(bool is_code)
{
	return is_code ? "perf.annotation" : "perf.hist";
}

/* A new file, and its number or -errno. */
static int64_t open_file(bool is_code, int *fd)
{
	char name[32];

	for (int n = 0; n < MAX_FILES; n++) {
		snprintf(name, sizeof(name), "%s.%d", tty_save_name(is_code), n);
		*fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, geteuid() ? 0666 : 0600);
		if (*fd >= 0)
			return n;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* In the child; false: the command has gone. */
static bool save(int from, bool is_code)
{
	char part[4096];
	uint64_t left;
	int fd = -1;

	if (!read_all(from, &left, sizeof(left)))
		return false;
	int64_t answer = open_file(is_code, &fd);
	while (left) {
		const size_t n = min_of(left, (uint64_t)sizeof(part));

		if (!read_all(from, part, n))
			return false;
		if (answer >= 0 && !write_all(fd, part, n))
			answer = -errno;
		left -= n;
	}
	if (fd >= 0 && close(fd) && answer >= 0)
		answer = -errno;
	return write_all(from, &answer, sizeof(answer));
}

/* The child: waits for our end, and puts right what we could not. Does not return. */
static void guard(const struct tty *tty, int fd)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	bool taken = false;
	sigset_t all;
	char what;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* neither Ctrl-C nor the terminal's stops end it */
	const int keys = tty->keys_fd >= 0 ? fcntl(tty->keys_fd, F_DUPFD, GUARD_FD + 1) : -1;
	if (dup2(output_of(tty), STDOUT_FILENO) < 0 || dup2(fd, GUARD_FD) < 0 ||
	    (keys >= 0 && dup2(keys, STDERR_FILENO) < 0))
		_exit(1);
	close(STDIN_FILENO);
	close_range(GUARD_FD + 1, ~0u, 0);
	while (read(GUARD_FD, &what, 1) == 1) {
		taken = what == GUARD_TAKEN || (taken && what != GUARD_GIVEN);
		if ((what == GUARD_SAVE || what == GUARD_SAVE_CODE) &&
		    !save(GUARD_FD, what == GUARD_SAVE_CODE))
			break;
	}
	if (taken) {
		/* who sees the first screen again may type */
		if (keys >= 0)
			tcsetattr(STDERR_FILENO, TCSANOW, &tty->old_modes);
		add_leave(tty, &out);
		write_out(STDOUT_FILENO, &out, true);
	}
	_exit(0);
}

static struct error *begin_guard(struct tty *tty)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		return error_errno(errno, "cannot create a socket");
	fflush(stdout);
	tty->guard = fork();
	if (tty->guard == 0) {
		close(fds[1]);
		guard(tty, fds[0]);
	}
	close(fds[0]);
	tty->guard_fd = fds[1];
	return tty->guard > 0 ? NULL : error_errno(errno, "cannot fork");
}

struct error *tty_save(struct tty *tty, const struct strbuf *text, bool is_code, unsigned *number)
{
	const uint64_t size = text->len;
	const char what = is_code ? GUARD_SAVE_CODE : GUARD_SAVE;
	int64_t answer;

	if (tty->guard_fd < 0 || !write_all(tty->guard_fd, &what, 1) ||
	    !write_all(tty->guard_fd, &size, sizeof(size)) ||
	    !write_all(tty->guard_fd, strbuf_str(text), text->len) ||
	    !read_all(tty->guard_fd, &answer, sizeof(answer)))
		return error_new(EPIPE, "the process that writes files has ended");
	if (answer < 0)
		return error_errno((int)-answer, "cannot write a file %s.N here",
				   tty_save_name(is_code));
	*number = (unsigned)answer;
	return NULL;
}

static void open_keys(struct tty *tty)
{
	struct epoll_event event = {.events = EPOLLIN};

	tty->keys_fd = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (tty->keys_fd < 0)
		return;
	if (tcgetpgrp(tty->keys_fd) == getpgrp() && !tcgetattr(tty->keys_fd, &tty->old_modes) &&
	    !epoll_ctl(tty->epoll_fd, EPOLL_CTL_ADD, tty->keys_fd, &event))
		return;
	closep(&tty->keys_fd);
	tty->keys_fd = -1;
}

struct error *tty_new(struct tty **out)
{
	_cleanup_(tty_freep) struct tty *tty = calloc(1, sizeof(*tty));

	if (!tty)
		return error_nomem();
	tty->epoll_fd = tty->signal_fd = tty->keys_fd = tty->out_fd = tty->guard_fd = -1;
	*out = NULL;
	if (!terminal_find(STDOUT_FILENO, &tty->terminal))
		return NULL;
	tty->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (tty->epoll_fd < 0)
		return error_errno(errno, "cannot wait for keys");
	*out = steal_ptr(tty);
	return NULL;
}

struct error *tty_begin(struct tty *tty)
{
	open_keys(tty);
	fflush(stdout);
	tty->out_fd = open_terminal_again(STDOUT_FILENO);
	return begin_guard(tty);
}

struct error *tty_listen(struct tty *tty)
{
	struct epoll_event event = {.events = EPOLLIN};
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGWINCH);
	sigaddset(&mask, SIGTSTP);
	tty->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	/* the terminal is put right also when the shell has it already */
	sigaddset(&mask, SIGTTOU);
	sigaddset(&mask, SIGTTIN);
	sigprocmask(SIG_BLOCK, &mask, &tty->old_mask);
	tty->masked = true;
	if (tty->signal_fd < 0 || epoll_ctl(tty->epoll_fd, EPOLL_CTL_ADD, tty->signal_fd, &event))
		return error_errno(errno, "cannot wait for signals");
	return NULL;
}

void tty_end(struct tty *tty)
{
	leave(tty);
	if (tty->guard_fd >= 0) {
		closep(&tty->guard_fd);
		tty->guard_fd = -1;
		waitpid(tty->guard, NULL, 0);
	}
	closep(&tty->keys_fd);
	closep(&tty->out_fd);
	tty->keys_fd = tty->out_fd = -1;
	if (tty->masked)
		sigprocmask(SIG_SETMASK, &tty->old_mask, NULL);
	tty->masked = false;
}

void tty_free(struct tty *tty)
{
	if (!tty)
		return;
	tty_end(tty);
	closep(&tty->signal_fd);
	closep(&tty->epoll_fd);
	terminal_free(&tty->terminal);
	free(tty);
}

const struct terminal *tty_terminal(const struct tty *tty)
{
	return &tty->terminal;
}

int tty_fd(const struct tty *tty)
{
	return tty->epoll_fd;
}

bool tty_has_keys(const struct tty *tty)
{
	return tty->keys_fd >= 0;
}

struct tty_size tty_size(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return (struct tty_size){24, 80};
	return (struct tty_size){size.ws_row, size.ws_col};
}

bool tty_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool yes = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return yes;
}

bool tty_take(struct tty *tty)
{
	if (tty->stalled || !is_front(tty))
		return false;
	if (!tty->on)
		enter(tty);
	return true;
}

unsigned tty_generation(const struct tty *tty)
{
	return tty->generation;
}

static void read_signals(struct tty *tty)
{
	struct signalfd_siginfo info;

	while (read(tty->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGTSTP)
			continue;
		leave(tty);
		job_stop(); /* the next drawing takes the screen again */
	}
}

/* There will be no keys; the descriptor would be ready again and again. */
static void hang_up(struct tty *tty)
{
	tty->hung_up = true;
	epoll_ctl(tty->epoll_fd, EPOLL_CTL_DEL, tty->keys_fd, NULL);
}

bool tty_has_hung_up(const struct tty *tty)
{
	return tty->hung_up;
}

static void read_keys(struct tty *tty)
{
	const ssize_t n =
		read(tty->keys_fd, tty->bytes + tty->n_bytes, sizeof(tty->bytes) - tty->n_bytes);

	if (n > 0)
		tty->n_bytes += (size_t)n;
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		hang_up(tty);
}

static uint32_t take_key(struct tty *tty, bool all)
{
	size_t used;
	const uint32_t key = key_decode(tty->bytes, tty->n_bytes, all, &used);

	tty->n_bytes -= used;
	memmove(tty->bytes, tty->bytes + used, tty->n_bytes);
	return key;
}

uint32_t tty_key(struct tty *tty)
{
	uint32_t key;

	read_signals(tty);
	if (tty->keys_fd < 0 || tty->hung_up)
		return KEY_NONE;
	if (!is_front(tty)) {
		if (tcgetpgrp(tty->keys_fd) < 0 && errno == EIO)
			hang_up(tty);
		return KEY_NONE;
	}
	if (tty->n_bytes < sizeof(tty->bytes))
		read_keys(tty);
	key = take_key(tty, false);
	if (key == KEY_NONE && tty->n_bytes) {
		struct pollfd more = {.fd = tty->keys_fd, .events = POLLIN};

		if (poll(&more, 1, ESCAPE_MS) > 0)
			read_keys(tty);
		key = take_key(tty, true);
	}
	return key;
}
