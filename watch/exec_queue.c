// SPDX-License-Identifier: BSD-2-Clause
#include "watch/exec_queue.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"
#include "lib/base/util.h"
#include "lib/base/vec.h"
#include "watch/program_lines.h"
#include "work/loop.h"

enum {
	MAX_WAITING = 10000,
	MAX_VARIABLES = 8,
};

/* The variables of a command that waits, "NAME=VALUE". */
struct queued_command {
	char *variables[MAX_VARIABLES];
	size_t n;
};

struct exec_queue {
	const char *command;
	struct loop *loop;
	VEC(struct queued_command) commands; /* from `at` on they wait */
	size_t at;
	pid_t pid; /* of the command that runs; 0: none */
	int pidfd; /* of it, watched; -1: none */
	uint64_t dropped;
};

static void queued_command_deinit(struct queued_command *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->variables[i]);
	c->n = 0;
}

struct error *exec_queue_new(const char *command, struct loop *loop, struct exec_queue **out)
{
	struct exec_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return error_nomem();
	q->command = command;
	q->loop = loop;
	q->pidfd = -1;
	*out = q;
	return NULL;
}

static void stop_watching(struct exec_queue *q)
{
	if (q->pidfd >= 0)
		loop_unwatch(q->loop, q->pidfd);
	closep(&q->pidfd);
	q->pidfd = -1;
}

void exec_queue_free(struct exec_queue *q)
{
	if (!q)
		return;
	stop_watching(q);
	for (size_t i = q->at; i < q->commands.n; i++)
		queued_command_deinit(&q->commands.v[i]);
	vec_deinit(&q->commands);
	free(q);
}

uint64_t exec_queue_dropped(const struct exec_queue *q)
{
	return q->dropped;
}

uint64_t exec_queue_waiting(const struct exec_queue *q)
{
	return q->commands.n - q->at;
}

static struct error *spawn(struct exec_queue *q, struct queued_command *c)
{
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)q->command, NULL};
	size_t n = 0;

	while (environ[n])
		n++;
	_cleanup_free_ char **env = calloc(n + c->n + 1, sizeof(*env));
	if (!env)
		return error_nomem();
	/* of two variables with one name getenv() and shells take the first, or the last */
	size_t used = 0;
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "PERF_BPF_", strlen("PERF_BPF_")) != 0)
			env[used++] = environ[i];
	memcpy(env + used, c->variables, c->n * sizeof(*env));

	posix_spawnattr_t attr;
	sigset_t none, defaults;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	const int code = posix_spawn(&q->pid, "/bin/sh", NULL, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	if (code) {
		q->pid = 0;
		return error_errno(code, "--exec: cannot run /bin/sh");
	}
	return NULL;
}

static void reap(struct exec_queue *q)
{
	while (waitpid(q->pid, NULL, 0) < 0 && errno == EINTR)
		;
	q->pid = 0;
}

static struct error *start_next(struct exec_queue *q)
{
	struct queued_command *c = &q->commands.v[q->at++];
	struct error *err = spawn(q, c);

	queued_command_deinit(c);
	if (q->at == q->commands.n)
		q->at = q->commands.n = 0;
	return err;
}

static struct error *start_and_watch(struct exec_queue *q);

static struct error *on_end(void *ctx, uint32_t events)
{
	struct exec_queue *q = ctx;

	stop_watching(q);
	reap(q);
	return exec_queue_waiting(q) ? start_and_watch(q) : NULL;
}

static struct error *start_and_watch(struct exec_queue *q)
{
	TRY(start_next(q));
	q->pidfd = (int)syscall(SYS_pidfd_open, q->pid, 0);
	if (q->pidfd < 0)
		return error_errno(errno, "--exec: cannot wait for the command");
	return loop_watch(q->loop, q->pidfd, on_end, q);
}

static struct error *add_variable(struct queued_command *c, char *text)
{
	if (!text)
		return error_nomem();
	c->variables[c->n++] = text;
	return NULL;
}

static struct error *set_variables(struct queued_command *c, const struct program_event *event)
{
	const struct program_details *d = event->details;
	char tag[2 * BPF_TAG_SIZE + 1], unknown[TYPE_TEXT_SIZE];

	program_tag_text(event->tag, tag);
	TRY(add_variable(c, text_format("PERF_BPF_EVENT=%s", event->loaded ? "load" : "unload")));
	TRY(add_variable(c, text_format("PERF_BPF_ID=%u", event->id)));
	TRY(add_variable(c, text_format("PERF_BPF_TAG=%s", tag)));
	TRY(add_variable(c, text_format("PERF_BPF_NAME=%s", event->name)));
	TRY(add_variable(c, text_format("PERF_BPF_PID=%d", (int)event->pid)));
	TRY(add_variable(c, text_format("PERF_BPF_COMM=%s", event->comm)));
	if (!d)
		return NULL;
	TRY(add_variable(c, text_format("PERF_BPF_TYPE=%s", program_type_text(d->type, unknown))));
	return add_variable(c, text_format("PERF_BPF_UID=%u", d->uid));
}

struct error *exec_queue_add(struct exec_queue *q, const struct program_event *event)
{
	if (exec_queue_waiting(q) >= MAX_WAITING) {
		q->dropped++;
		return NULL;
	}
	struct queued_command *c = vec_push(&q->commands);
	if (!c)
		return error_nomem();
	TRY(set_variables(c, event));
	return q->pid ? NULL : start_and_watch(q);
}

struct error *exec_queue_finish(struct exec_queue *q)
{
	stop_watching(q);
	while (q->pid || exec_queue_waiting(q)) {
		if (!q->pid)
			TRY(start_next(q));
		reap(q);
	}
	return NULL;
}
