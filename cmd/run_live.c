// SPDX-License-Identifier: BSD-2-Clause
/*
 * Terminals differ in few things that matter here, and terminfo(5) has them:
 * how to get the second screen, place the cursor, erase. Each line is written
 * at its place and never as wide as to wrap, so that whatever somebody else
 * writes there meanwhile is gone with the next drawing.
 *
 * The terminal is given back by live_end(). A process that is killed calls
 * nothing: a child waits for its end, which it sees at a pipe, and gives the
 * terminal back instead. It holds nothing else open.
 *
 * Keys come from the controlling terminal, opened anew, so that the command's
 * standard input is left alone; and only while we are in the foreground, since
 * others are stopped for asking.
 */
#include "cmd/run_live.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "cmd/job.h"
#include "cmd/terminal.h"
#include "lib/base/names.h"
#include "lib/base/vec.h"
#include "show/screen.h"

enum {
	MAX_EVENTS = 100, /* lines of events that are kept */
	KEY_BYTES = 64,
};

struct live {
	struct run *run;
	struct text_opts text;
	const char *title;
	struct terminal terminal;

	int epoll_fd, signal_fd, tty_fd; /* tty_fd -1: no keys */
	sigset_t old_mask;
	bool masked;
	struct termios old_tty;
	int guard_fd; /* the pipe's end; a byte says that all is well */
	pid_t guard;
	bool on;

	struct strbuf body, events;
	struct text_events event_columns;
	uint64_t time;
	size_t first;
	bool paused, looked, delta;
	struct names columns; /* by which can be sorted */
	char *sort;	      /* NULL: by what each map is sorted itself */
};

static void write_all(const struct strbuf *text)
{
	fwrite(strbuf_str(text), 1, text->len, stdout);
	fflush(stdout);
}

/* ---- the terminal: taken, given back ---- */

static void add_leave(const struct live *live, struct strbuf *out)
{
	terminal_add(out, live->terminal.normal);
	terminal_add(out, live->terminal.show);
	terminal_add(out, live->terminal.leave);
	if (!live->terminal.leave) /* no second screen: what follows stands below */
		strbuf_adds(out, "\r\n");
}

/* Whether the terminal is ours now, and not the shell's. */
static bool is_front(const struct live *live)
{
	return live->tty_fd < 0 || tcgetpgrp(live->tty_fd) == getpgrp();
}

static void enter(struct live *live)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	live->on = true;
	if (live->tty_fd >= 0) {
		struct termios keys = live->old_tty;

		keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		keys.c_cc[VMIN] = 1; /* else nothing and the end look alike */
		keys.c_cc[VTIME] = 0;
		tcsetattr(live->tty_fd, TCSADRAIN, &keys);
	}
	terminal_add(&out, live->terminal.enter);
	terminal_add(&out, live->terminal.hide);
	write_all(&out);
}

static void leave(struct live *live)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	if (!live->on)
		return;
	live->on = false;
	add_leave(live, &out);
	write_all(&out);
	if (live->tty_fd >= 0)
		tcsetattr(live->tty_fd, TCSADRAIN, &live->old_tty);
}

/* The child: waits for our end, and puts right what we could not. Does not return. */
static void guard(const struct live *live, int fd)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL); /* neither Ctrl-C nor the terminal's stops end it */
	if (dup2(fd, STDIN_FILENO) < 0 ||
	    (live->tty_fd >= 0 && dup2(live->tty_fd, STDERR_FILENO) < 0))
		_exit(1);
	close_range(STDERR_FILENO + 1, ~0u, 0);
	if (read(STDIN_FILENO, &byte, 1) == 0) {
		/* who sees the first screen again may type */
		if (live->tty_fd >= 0)
			tcsetattr(STDERR_FILENO, TCSANOW, &live->old_tty);
		add_leave(live, &out);
		if (write(STDOUT_FILENO, strbuf_str(&out), out.len) < 0)
			_exit(1);
	}
	_exit(0);
}

static struct error *begin_guard(struct live *live)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return error_errno(errno, "cannot create a pipe");
	fflush(stdout);
	live->guard = fork();
	if (live->guard == 0) {
		close(fds[1]);
		guard(live, fds[0]);
	}
	close(fds[0]);
	live->guard_fd = fds[1];
	return live->guard > 0 ? NULL : error_errno(errno, "cannot fork");
}

static void open_keys(struct live *live)
{
	struct epoll_event event = {.events = EPOLLIN};

	live->tty_fd = open("/dev/tty", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (live->tty_fd < 0)
		return;
	if (tcgetpgrp(live->tty_fd) == getpgrp() && !tcgetattr(live->tty_fd, &live->old_tty) &&
	    !epoll_ctl(live->epoll_fd, EPOLL_CTL_ADD, live->tty_fd, &event))
		return;
	closep(&live->tty_fd);
	live->tty_fd = -1;
}

struct error *live_new(const struct text_opts *text, const char *title, struct live **out)
{
	_cleanup_(live_freep) struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return error_nomem();
	live->text = *text;
	live->text.cut = true;
	live->text.events = NULL;
	live->title = title;
	live->epoll_fd = live->signal_fd = live->tty_fd = live->guard_fd = -1;
	*out = NULL;
	if (!terminal_find(STDOUT_FILENO, &live->terminal))
		return NULL;
	live->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (live->epoll_fd < 0)
		return error_errno(errno, "cannot wait for keys");
	*out = steal_ptr(live);
	return NULL;
}

static void draw(struct live *live);
static struct error *on_ready(void *ctx, uint32_t events);

struct error *live_begin(struct live *live, struct run *run)
{
	struct epoll_event event = {.events = EPOLLIN};
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGWINCH);
	sigaddset(&mask, SIGTSTP);
	live->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	/* the terminal is put right also when the shell has it already */
	sigaddset(&mask, SIGTTOU);
	sigaddset(&mask, SIGTTIN);
	sigprocmask(SIG_BLOCK, &mask, &live->old_mask);
	live->masked = true;
	if (live->signal_fd < 0 ||
	    epoll_ctl(live->epoll_fd, EPOLL_CTL_ADD, live->signal_fd, &event))
		return error_errno(errno, "cannot wait for signals");
	open_keys(live);
	TRY(begin_guard(live));
	live->run = run;
	live->delta = run_collect_opts(run)->delta;
	TRY(run_watch(run, live->epoll_fd, on_ready, live));
	draw(live);
	return NULL;
}

void live_end(struct live *live)
{
	leave(live);
	if (live->guard_fd >= 0) {
		if (write(live->guard_fd, "", 1) == 1)
			closep(&live->guard_fd);
		live->guard_fd = -1;
		waitpid(live->guard, NULL, 0);
	}
	closep(&live->tty_fd);
	live->tty_fd = -1;
	if (live->masked)
		sigprocmask(SIG_SETMASK, &live->old_mask, NULL);
	live->masked = false;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	live_end(live);
	closep(&live->signal_fd);
	closep(&live->epoll_fd);
	terminal_free(&live->terminal);
	strbuf_deinit(&live->body);
	strbuf_deinit(&live->events);
	text_events_deinit(&live->event_columns);
	names_deinit(&live->columns);
	free(live->sort);
	free(live);
}

/* ---- drawing ---- */

static void take_size(struct screenful *screen)
{
	struct winsize size;

	screen->rows = 24;
	screen->columns = 80;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
		return;
	screen->rows = size.ws_row;
	screen->columns = size.ws_col;
}

/* "prog.bpf.c  12:03:07  paused" */
static void add_head(const struct live *live, struct strbuf *out)
{
	time_t when = (time_t)(live->time / 1000000000);
	struct tm tm;
	char text[32];

	strbuf_adds(out, live->title);
	if (live->looked) {
		localtime_r(&when, &tm);
		strftime(text, sizeof(text), "  %H:%M:%S", &tm);
		strbuf_adds(out, text);
	}
	if (live->paused)
		strbuf_adds(out, "  paused");
}

static void add_foot(const struct live *live, struct strbuf *out)
{
	if (live->tty_fd < 0) {
		strbuf_adds(out, "Ctrl-C ends");
		return;
	}
	strbuf_addf(out, "q quit  p %s  ", live->paused ? "continue" : "pause");
	if (live->columns.n)
		strbuf_addf(out, "s sort: %s  ", live->sort ? live->sort : "value");
	strbuf_addf(out, "c %s", live->delta ? "since last interval" : "since start");
}

static void draw(struct live *live)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT, head = STRBUF_INIT, foot = STRBUF_INIT,
				       lines = STRBUF_INIT;
	struct screenful screen = {.ascii = live->text.ascii, .first = live->first};
	size_t row = 0;

	if (!is_front(live))
		return;
	if (!live->on)
		enter(live);
	take_size(&screen);
	add_head(live, &head);
	add_foot(live, &foot);
	screen.head = strbuf_str(&head);
	screen.foot = strbuf_str(&foot);
	screen.body = strbuf_str(&live->body);
	screen.tail = strbuf_str(&live->events);
	live->first = min_of(live->first, screen_hidden(&screen));
	screen_add(&screen, &lines);
	for (const char *p = strbuf_str(&lines); *p && row < screen.rows; row++) {
		size_t n = strcspn(p, "\n");
		bool last = row + 1 == screen.rows;

		terminal_place(&live->terminal, row, &out);
		terminal_add(&out, live->terminal.normal);
		terminal_add(&out, live->terminal.erase_line);
		if (last)
			terminal_add(&out, live->terminal.reverse);
		strbuf_add(&out, p, n);
		p += n + !!p[n];
	}
	terminal_add(&out, live->terminal.normal);
	write_all(&out);
}

/* The columns of numbers that tables may be sorted by. */
static bool take_columns(struct live *live, const struct results *results)
{
	names_deinit(&live->columns);
	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];

		for (size_t c = 0;
		     r->kind == RESULT_TABLE && r->name[0] != '(' && c < r->table.n_columns; c++) {
			const char *name = r->table.columns[c].name;
			bool known = false;

			for (size_t k = 0; k < live->columns.n; k++)
				known |= !strcmp(live->columns.v[k], name);
			if (!known && !names_add(&live->columns, name))
				return false;
		}
	}
	return true;
}

static struct error *render(struct live *live, const struct results *results)
{
	struct screenful screen;

	take_size(&screen);
	live->text.width = (unsigned)screen.columns;
	live->time = results->time;
	live->looked = true;
	strbuf_reset(&live->body);
	results_text(results, &live->text, &live->body);
	if (strbuf_failed(&live->body) || !take_columns(live, results))
		return error_nomem();
	return NULL;
}

/* The last lines of what came through the rings. */
static struct error *take_events(struct live *live, const struct results *results)
{
	struct text_opts opts = live->text;
	size_t lines = 0, at;

	opts.events = &live->event_columns;
	for (size_t i = 0; i < results->n; i++) {
		struct result one = results->v[i];
		struct results last = {.events = true, .v = &one, .n = 1};
		struct result_table *t = &one.events.table;
		size_t skip = t->n_rows > MAX_EVENTS ? t->n_rows - MAX_EVENTS : 0;

		t->cells += skip * t->n_columns;
		t->n_rows -= skip;
		results_text(&last, &opts, &live->events);
	}
	if (strbuf_failed(&live->events))
		return error_nomem();
	for (at = live->events.len; at; at--) {
		lines += live->events.str[at - 1] == '\n';
		if (lines > MAX_EVENTS)
			break;
	}
	if (!at)
		return NULL;
	memmove(live->events.str, live->events.str + at, live->events.len - at + 1);
	live->events.len -= at;
	return NULL;
}

struct error *live_show(struct live *live, const struct results *results)
{
	if (results->events)
		return take_events(live, results);
	if (live->paused)
		return NULL;
	TRY(render(live, results));
	draw(live);
	return NULL;
}

/* ---- keys and signals ---- */

/* A look at once: what was asked for must not wait for the interval. */
static struct error *look_now(struct live *live)
{
	struct collect_opts *opts = run_collect_opts(live->run);

	if (!opts->delta && !live->paused) {
		_cleanup_results_ struct results results = {0};

		TRY(run_look(live->run, opts, &results));
		TRY(render(live, &results));
	}
	draw(live);
	return NULL;
}

/* The next column; behind the last one none again. */
static bool sort_next(struct live *live, struct collect_opts *opts)
{
	size_t at = 0;

	while (live->sort && at < live->columns.n && strcmp(live->columns.v[at], live->sort))
		at++;
	if (live->sort)
		at++;
	free(live->sort);
	live->sort = at < live->columns.n ? strdup(live->columns.v[at]) : NULL;
	opts->sort = live->sort;
	opts->sort_if_any = true;
	return live->sort || at >= live->columns.n;
}

/* What is shown from now on came since this moment. */
static struct error *toggle_delta(struct live *live)
{
	struct collect_opts *opts = run_collect_opts(live->run);
	_cleanup_results_ struct results before = {0};

	opts->delta = live->delta = !opts->delta;
	return opts->delta ? run_look(live->run, opts, &before) : NULL;
}

static struct error *press(struct live *live, const char *key)
{
	struct screenful screen;

	take_size(&screen);
	size_t page = screen.rows > 4 ? screen.rows - 3 : 1;
	if (!strcmp(key, "q") || !strcmp(key, "\3")) {
		run_stop(live->run);
		return NULL;
	}
	if (!strcmp(key, "p") || !strcmp(key, " "))
		live->paused = !live->paused;
	else if (!strcmp(key, "c"))
		TRY(toggle_delta(live));
	else if (!strcmp(key, "s") && !sort_next(live, run_collect_opts(live->run)))
		return error_nomem();
	else if (!strcmp(key, "A"))
		live->first -= live->first > 0;
	else if (!strcmp(key, "B"))
		live->first += live->first < SIZE_MAX / 2;
	else if (!strcmp(key, "5~"))
		live->first -= min_of(live->first, page);
	else if (!strcmp(key, "6~"))
		live->first += page;
	else if (!strcmp(key, "H") || !strcmp(key, "1~"))
		live->first = 0;
	else if (!strcmp(key, "F") || !strcmp(key, "4~"))
		live->first = SIZE_MAX / 2;
	return NULL;
}

/* A key is a byte, or ESC and [ or O and what ends it: "A" is the arrow up. */
static struct error *take_keys(struct live *live)
{
	char bytes[KEY_BYTES];
	ssize_t n = read(live->tty_fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return NULL;
	if (n <= 0) {
		/* the terminal has gone: there will be no keys */
		epoll_ctl(live->epoll_fd, EPOLL_CTL_DEL, live->tty_fd, NULL);
		return NULL;
	}
	for (ssize_t i = 0; i < n;) {
		char key[4] = {bytes[i]};

		if (bytes[i] != 27) {
			i++;
		} else if (i + 2 < n && (bytes[i + 1] == '[' || bytes[i + 1] == 'O')) {
			i += 2;
			key[0] = bytes[i++];
			if (key[0] >= '0' && key[0] <= '9' && i < n)
				key[1] = bytes[i++];
		} else {
			return NULL; /* an escape alone, or what we do not know */
		}
		TRY(press(live, key));
	}
	return NULL;
}

static void take_signals(struct live *live)
{
	struct signalfd_siginfo info;

	while (read(live->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo != SIGTSTP)
			continue;
		leave(live);
		job_stop(); /* the next drawing takes the screen again */
	}
}

static struct error *on_ready(void *ctx, uint32_t events)
{
	struct live *live = ctx;

	take_signals(live);
	if (live->tty_fd >= 0 && is_front(live))
		TRY(take_keys(live));
	/* a key, another size, or the way back from a stop */
	return look_now(live);
}
