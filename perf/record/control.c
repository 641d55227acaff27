// SPDX-License-Identifier: BSD-2-Clause
/*
 * --control: another process enables and disables events, or ends the recording, by commands that
 * it writes to a FIFO or a descriptor, one a line, as with perf record:
 *
 *	enable [EVENT]	disable [EVENT]	evlist	ping	stop	snapshot
 *
 * Each is answered by "ack\n" and a null byte when it is done. A snapshot is of the AUX area, which
 * is not supported: there is nothing to do. What is not a command is not answered.
 */
#include "lib/base/plain_text.h"
#include "perf/record/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

static const char ack_text[] = "ack\n"; /* with the null byte */

static struct error *not_control(const char *text)
{
	return error_hint(error_usage("--control: invalid value '%s'", text),
			  "write fifo:PATH[,ACK-PATH] or fd:N[,ACK-N]");
}

static struct error *open_fifo(const char *path, int *fd)
{
	struct stat st;

	/* Both directions: no end of file when the other side closes it. */
	*fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (*fd < 0)
		return error_errno(errno, "--control: cannot open the FIFO '%s'", path);
	if (fstat(*fd, &st) || !S_ISFIFO(st.st_mode)) {
		close(*fd);
		*fd = -1;
		return error_hint(error_new(EINVAL, "--control: '%s' is not a FIFO", path),
				  "make one: mkfifo %s", path);
	}
	return NULL;
}

static struct error *take_fd(const char *text, const char *number, int *fd)
{
	char *end;
	const long n = strtol(number, &end, 10);

	if (end == number || *end || n < 0 || n > INT32_MAX)
		return not_control(text);
	if (fcntl((int)n, F_GETFD) < 0)
		return error_errno(errno, "--control: descriptor %ld", n);
	*fd = (int)n;
	return NULL;
}

struct error *control_open(struct recording *rec)
{
	const char *text = rec->opts.control;

	if (!text)
		return NULL;
	const bool is_fifo = !strncmp(text, "fifo:", 5);
	if (!is_fifo && strncmp(text, "fd:", 3))
		return not_control(text);
	_cleanup_free_ char *copy = strdup(strchr(text, ':') + 1);
	if (!copy)
		return error_nomem();
	char *ack = strchr(copy, ',');
	if (ack)
		*ack++ = 0;
	if (!*copy || (ack && !*ack))
		return not_control(text);
	rec->control.is_ours = is_fifo;
	if (!is_fifo) {
		TRY(take_fd(text, copy, &rec->control.fd));
		return ack ? take_fd(text, ack, &rec->control.ack_fd) : NULL;
	}
	TRY(open_fifo(copy, &rec->control.fd));
	return ack ? open_fifo(ack, &rec->control.ack_fd) : NULL;
}

void control_close(struct record_control *control)
{
	if (control->is_ours && control->fd >= 0)
		close(control->fd);
	if (control->is_ours && control->ack_fd >= 0)
		close(control->ack_fd);
	control->fd = control->ack_fd = -1;
}

/* Without waiting: one who does not read must not stop the recording. */
static void answer(struct recording *rec)
{
	struct pollfd p = {.fd = rec->control.ack_fd, .events = POLLOUT};

	if (p.fd < 0)
		return;
	if (poll(&p, 1, 0) != 1 || !(p.revents & POLLOUT) ||
	    write(p.fd, ack_text, sizeof(ack_text)) < 0)
		log_warn(rec->log, "--control: cannot write the answer");
}

static void say(struct recording *rec, const char *text)
{
	if (rec->opts.say)
		rec->opts.say(rec->opts.say_ctx, text);
}

static struct error *switch_events(struct recording *rec, const char *name, bool on)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	bool found = false;

	if (!*name) {
		if (on)
			TRY(events_enable(rec));
		else
			TRY(events_pause(rec));
		say(rec, on ? "Events enabled" : "Events disabled");
		return NULL;
	}
	TRY(events_switch(rec, name, on, &found));
	strbuf_adds(&text, found ? "Event " : "failed: cannot find the event '");
	plain_adds(&text, name);
	strbuf_adds(&text, !found ? "'" : on ? " enabled" : " disabled");
	say(rec, strbuf_str(&text));
	return strbuf_failed(&text) ? error_nomem() : NULL;
}

static void list_events(struct recording *rec)
{
	const struct event *event;

	vec_for_each (event, &rec->events)
		if (!event->unlisted)
			say(rec, event->name);
}

/* "enable" and "enable NAME": the rest behind a blank; NULL: another command. */
static const char *argument(const char *line, const char *command)
{
	const size_t n = strlen(command);

	if (strncmp(line, command, n) || (line[n] && line[n] != ' '))
		return NULL;
	return line[n] ? line + n + 1 : line + n;
}

static struct error *obey(struct recording *rec, const char *line)
{
	const char *name;

	if ((name = argument(line, "enable")))
		TRY(switch_events(rec, name, true));
	else if ((name = argument(line, "disable")))
		TRY(switch_events(rec, name, false));
	else if (argument(line, "evlist"))
		list_events(rec);
	else if (argument(line, "stop"))
		loop_end(rec->loop);
	else if (argument(line, "snapshot"))
		log_warn(rec->log, "--control: snapshots of the AUX area are not supported");
	else if (!argument(line, "ping")) {
		if (*line)
			log_warn(rec->log, "--control: unknown command");
		return NULL;
	}
	answer(rec);
	return NULL;
}

/* loop_fn: what has come. A line that is too long is cut, as by perf. */
static struct error *on_control(void *ctx, uint32_t events)
{
	struct recording *rec = ctx;
	struct record_control *c = &rec->control;
	char bytes[256];

	const ssize_t n = events & EPOLLIN ? read(c->fd, bytes, sizeof(bytes)) : 0;
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return NULL;
	if (n <= 0) { /* the other side has closed it */
		loop_unwatch(rec->loop, c->fd);
		return NULL;
	}
	for (ssize_t i = 0; i < n; i++) {
		const bool is_end = bytes[i] == '\n' || !bytes[i];

		if (!is_end)
			c->line[c->len++] = bytes[i];
		if (!is_end && c->len < sizeof(c->line) - 1)
			continue;
		c->line[c->len] = 0;
		c->len = 0;
		TRY(obey(rec, c->line));
	}
	return NULL;
}

struct error *control_begin(struct recording *rec)
{
	if (rec->control.fd < 0)
		return NULL;
	return error_prefix(loop_watch(rec->loop, rec->control.fd, on_control, rec), "--control");
}
