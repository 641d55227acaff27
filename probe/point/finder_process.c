// SPDX-License-Identifier: BSD-2-Clause
#include "probe/point/finder_process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/sys/descriptors.h"
#include "probe/point/internal.h"
#include "probe/point/points_codec.h"

/* No answer is longer: 65,536 points with all arguments have a tenth of it. */
#define MOST_ANSWER (1 << 28)

/* What an answer consists of: any number of messages of the log, and then one of the others. */
enum {
	ANSWER_ERROR = LOG_DEBUG + 1,
	ANSWER_POINTS,
};

struct finder_process {
	pid_t pid;
	int socket;
};

/* Sends bytes as a file in memory. */
static struct error *send_bytes(int socket, const void *data, size_t size)
{
	_cleanup_close_ int file = -1;

	TRY(memory_file_new("perf-bpf-probes", data, size, &file));
	if (descriptor_send(socket, "", 1, file, 0) != 1)
		return error_errno(errno, "cannot send a file in memory");
	return NULL;
}

/* *ended: nobody has the other socket any more. */
static struct error *receive_bytes(int socket, struct strbuf *bytes, bool *ended)
{
	_cleanup_close_ int file = -1;
	struct stat st;
	char byte;
	ssize_t n;

	do
		n = descriptor_receive(socket, &byte, 1, &file);
	while (n < 0 && errno == EINTR);
	*ended = n <= 0;
	if (n <= 0)
		return NULL;
	if (file < 0 || fstat(file, &st) || !S_ISREG(st.st_mode) || st.st_size > MOST_ANSWER)
		return error_new(EBADMSG, "not a file in memory");
	return memory_file_read(file, bytes);
}

/* ---- in the other process ---- */

static void keep_message(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	_cleanup_free_ char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	encode_number(ctx, level);
	encode_text(ctx, text ? text : fmt);
}

static void encode_error(struct strbuf *out, struct error *err)
{
	encode_number(out, ANSWER_ERROR);
	encode_number(out, (uint64_t)err->code);
	encode_number(out, err->usage);
	encode_text(out, err->msg);
	encode_text(out, err->where);
	encode_text(out, err->hint);
	error_free(err);
}

static struct error *answer_points(struct probe_finder *finder, const char *text,
				   struct probe_points *points)
{
	_cleanup_probe_def_ struct probe_def def = {0};

	TRY(probe_def_parse(text, &def));
	return probe_points_find(finder, &def, points);
}

/* False: nobody asks any more. */
static bool answer_question(struct probe_finder *finder, int socket, struct strbuf *answer)
{
	_cleanup_probe_points_ struct probe_points points = {0};
	_cleanup_strbuf_ struct strbuf question = STRBUF_INIT;
	bool ended = false;
	struct error *err = receive_bytes(socket, &question, &ended);

	if (ended)
		return false;
	if (!err)
		err = answer_points(finder, strbuf_str(&question), &points);
	if (err) {
		encode_error(answer, err);
	} else {
		encode_number(answer, ANSWER_POINTS);
		encode_points(answer, &points);
	}
	err = answer->failed ? error_nomem() : send_bytes(socket, answer->str, answer->len);
	strbuf_reset(answer);
	const bool sent = !err;
	error_free(err);
	return sent;
}

/* As a new process: what the command does with signals is not for this one. */
static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Does not return. */
static void serve_questions(struct probe_finder *finder, int socket, pid_t parent)
{
	_cleanup_strbuf_ struct strbuf answer = STRBUF_INIT;
	struct log log = {.write = keep_message, .ctx = &answer};
	confine_fn *confine = finder->opts.confine;

	reset_signals();
	prctl(PR_SET_NAME, "perf-bpf-finder", 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	descriptors_close_others(&socket, 1);
	log.level = finder->opts.log ? finder->opts.log->level : LOG_WARN;
	finder->opts.log = &log;
	finder->opts.confine = NULL;
	finder->process = NULL;
	struct error *err = confine(&log);
	if (err) {
		_cleanup_strbuf_ struct strbuf question = STRBUF_INIT;
		bool ended;

		/* The answer would not be read if this end was closed with a question in it. */
		error_free(receive_bytes(socket, &question, &ended));
		encode_error(&answer, err);
		error_free(send_bytes(socket, answer.str, answer.len));
		_exit(1);
	}
	while (answer_question(finder, socket, &answer))
		;
	_exit(0);
}

/* ---- in this one ---- */

static struct error *process_start(struct probe_finder *finder)
{
	_cleanup_free_ struct finder_process *process = calloc(1, sizeof(*process));
	const pid_t parent = getpid();
	int pair[2];

	if (!process)
		return error_nomem();
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return error_errno(errno, "cannot create sockets");
	process->pid = fork();
	if (!process->pid)
		serve_questions(finder, pair[1], parent);
	const int code = errno;
	close(pair[1]);
	process->socket = pair[0];
	if (process->pid < 0) {
		close(pair[0]);
		return error_errno(code, "cannot fork the process that finds probe points");
	}
	finder->process = steal_ptr(process);
	return NULL;
}

/* Its wait status; -1: not known. */
static int process_end(struct finder_process *process)
{
	int status = -1;
	pid_t pid;

	close(process->socket);
	kill(process->pid, SIGKILL); /* if it has ended, its status stays */
	do
		pid = waitpid(process->pid, &status, 0);
	while (pid < 0 && errno == EINTR);
	free(process);
	return pid < 0 ? -1 : status;
}

void finder_process_free(struct finder_process *process)
{
	if (process)
		process_end(process);
}

/* It ended before it answered. */
static struct error *error_of_end(struct probe_finder *finder)
{
	const int status = process_end(steal_ptr(finder->process));
	const int number = status >= 0 && WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (number == SIGINT || number == SIGTERM || number == SIGHUP)
		return error_errno(EINTR, "cannot find probe points");
	return error_hint(error_new(EPROTO,
				    "the process that reads binaries and their debug information "
				    "ended (%s)",
				    number ? strsignal(number) : "without an answer"),
			  "the file may be damaged, or made to harm those who read it");
}

static struct error *decode_error(struct cursor *c)
{
	_cleanup_free_ char *msg = NULL, *where = NULL, *hint = NULL;
	uint64_t code, usage;

	if (!decode_number(c, INT32_MAX, &code) || !decode_number(c, true, &usage) ||
	    !decode_text(c, &msg) || !decode_text(c, &where) || !decode_text(c, &hint) || !msg ||
	    !code || !cursor_end(c))
		return cursor_error(c, "invalid error");
	struct error *err = error_new((int)code, "%s", msg);
	if (hint)
		err = error_hint(err, "%s", hint);
	if (usage)
		err = error_mark_usage(err);
	return where ? error_at(err, "%s", where) : err;
}

static struct error *decode_answer(const struct log *log, struct cursor *c,
				   struct probe_points *points)
{
	uint64_t kind;

	while (decode_number(c, ANSWER_POINTS, &kind)) {
		_cleanup_free_ char *message = NULL;

		if (kind == ANSWER_POINTS)
			return decode_points(c, points);
		if (kind == ANSWER_ERROR)
			return decode_error(c);
		if (!decode_text(c, &message) || !message)
			break;
		log_at(log, (enum log_level)kind, "%s", message);
	}
	return cursor_error(c, "invalid answer");
}

struct error *finder_process_find(struct probe_finder *finder, const struct probe_def *def,
				  struct probe_points *points)
{
	_cleanup_strbuf_ struct strbuf answer = STRBUF_INIT;
	bool ended = false;

	if (!finder->process)
		TRY(process_start(finder));
	/* If it ended meanwhile, there is an answer that says why, or none. */
	error_free(send_bytes(finder->process->socket, def->text, strlen(def->text)));
	TRY(receive_bytes(finder->process->socket, &answer, &ended));
	if (ended)
		return error_of_end(finder);
	struct cursor c =
		cursor_make(answer.str, answer.len, "the process that finds probe points");
	return decode_answer(finder->opts.log, &c, points);
}
