// SPDX-License-Identifier: BSD-2-Clause
/*
 * A pair of sockets keeps the bounds of messages. Each request has a number, which its answer
 * repeats. When the process is killed by a limit, whoever has forked it answers in its place, with
 * the number 0, and forks the next.
 *
 * How harmful a name can be follows from the references in it. Each reference (S1_, T_, Rust's B3_)
 * stands for at most all that came before, so each at most doubles what is printed, and what is
 * looked through: a name of L bytes with n of them costs no more than L * 2^n. A pack expansion
 * (Dp, sp) repeats what follows for each of at most L elements.
 */
#include "sym/demangler.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/sanitized.h"
#include "lib/sys/descriptors.h"
#include "sym/internal.h"

enum {
	MOST_NAME =
		32 << 10, /* bytes of a mangled name; the longest of real programs have 20,000 */
	MOST_SHOWN = 64 << 10,	 /* of a demangled one */
	MOST_HARMLESS = 1 << 20, /* steps, some milliseconds */
	NAME_MICROSECONDS = 100000,
	SLOW_MICROSECONDS = 5000,	 /* what takes longer counts against: */
	MOST_MICROSECONDS = 2 * 1000000, /* of all names together */
	ROOM = 64 << 20,		 /* memory of the process, beside what it had */
};

struct demangler {
	pthread_mutex_t lock;
	int fd; /* -1: the process has ended */
	const struct log *log;
	uint32_t number;
	uint64_t slow_us; /* what slow names took together */
	bool warned;
	char *message; /* of MOST_SHOWN and the head */
};

struct demangle_request {
	uint32_t number;
	uint32_t parameters;
	/* the name, without a NUL */
};

struct demangle_reply {
	uint32_t number; /* 0: the process was killed */
	uint32_t us;	 /* CPU time that it took */
			 /* what is shown; nothing: the name is not mangled */
};

#define MESSAGE_SIZE (sizeof(struct demangle_request) + MOST_SHOWN)

/* ---- how harmful a name is ---- */

/* S_, S1A_, T_, T0_, TL0__; in Rust's names B_, B1a_. */
static bool is_reference(const char *p, bool is_rust)
{
	const char first = *p++;

	if (is_rust ? first != 'B' : first != 'S' && first != 'T')
		return false;
	while (is_rust ? isalnum((unsigned char)*p)
		       : isdigit((unsigned char)*p) || isupper((unsigned char)*p))
		p++;
	return *p == '_';
}

bool name_is_harmless(const char *name, size_t length)
{
	const bool is_rust = name[0] == '_' && name[1] == 'R';
	uint64_t steps = length;

	for (const char *p = name; *p && steps <= MOST_HARMLESS; p++) {
		if (is_reference(p, is_rust))
			steps *= 2;
		else if ((p[0] == 'D' || p[0] == 's') && p[1] == 'p')
			steps *= length;
	}
	return steps <= MOST_HARMLESS;
}

/* Linear in the name. */
static size_t most_shown(size_t length)
{
	return min_of(16 * length + 1024, (size_t)MOST_SHOWN);
}

static char *demangle_here(const char *name, size_t length, bool parameters)
{
	char *shown = libiberty_demangle(name, parameters);

	if (shown && strlen(shown) > most_shown(length)) {
		free(shown);
		return NULL;
	}
	return shown;
}

/* ---- in the process that demangles ---- */

static uint64_t cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static void limit_memory(void)
{
	struct rlimit limit = {.rlim_cur = ROOM, .rlim_max = ROOM};
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%ld", &pages) == 1)
		limit.rlim_cur = limit.rlim_max = ROOM + (rlim_t)pages * 4096;
	if (f)
		fclose(f);
	if (!SANITIZED)
		setrlimit(RLIMIT_AS, &limit);
}

void demangler_serve(const struct demangler_opts *opts, int socket)
{
	char *request = malloc(MESSAGE_SIZE + 1), *reply = malloc(MESSAGE_SIZE);
	const size_t head = sizeof(struct demangle_request);
	const struct itimerval limit = {.it_value.tv_usec = NAME_MICROSECONDS}, none = {0};
	sigset_t profile;

	if (!request || !reply)
		_exit(2);
	/* The limit ends it. */
	signal(SIGPROF, SIG_DFL);
	sigemptyset(&profile);
	sigaddset(&profile, SIGPROF);
	sigprocmask(SIG_UNBLOCK, &profile, NULL);
	const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	limit_memory();
	struct error *err = opts->confine ? opts->confine(opts->ctx) : NULL;
	if (err)
		_exit(2);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(null, fd);
	for (;;) {
		const ssize_t n = read(socket, request, MESSAGE_SIZE);
		const struct demangle_request *asked = (const void *)request;
		struct demangle_reply *answer = (void *)reply;

		if (n <= (ssize_t)head)
			return;
		request[n] = 0;
		const uint64_t before = cpu_us();
		setitimer(ITIMER_PROF, &limit, NULL);
		char *shown = demangle_here(request + head, (size_t)n - head, asked->parameters);
		setitimer(ITIMER_PROF, &none, NULL);
		*answer = (struct demangle_reply){asked->number, (uint32_t)(cpu_us() - before)};
		const size_t size = shown ? strlen(shown) : 0;
		memcpy(reply + sizeof(*answer), shown ? shown : "", size);
		free(shown);
		if (write(socket, reply, sizeof(*answer) + size) < 0)
			return;
	}
}

bool demangler_ended(int socket, int status)
{
	static const struct demangle_reply killed = {.us = NAME_MICROSECONDS};

	/* libiberty exits with 1 when there is no memory */
	if (WIFEXITED(status) && WEXITSTATUS(status) != 1)
		return false;
	return write(socket, &killed, sizeof(killed)) == sizeof(killed);
}

/* ---- in the command ---- */

struct error *demangler_new(int socket, const struct log *log, struct demangler **out)
{
	struct demangler *d = calloc(1, sizeof(*d));

	if (!d)
		return error_nomem();
	d->fd = -1;
	d->log = log;
	pthread_mutex_init(&d->lock, NULL);
	d->message = malloc(MESSAGE_SIZE + 1);
	if (!d->message) {
		demangler_free(d);
		return error_nomem();
	}
	d->fd = socket;
	*out = d;
	return NULL;
}

void demangler_free(struct demangler *d)
{
	if (!d)
		return;
	closep(&d->fd);
	pthread_mutex_destroy(&d->lock);
	free(d->message);
	free(d);
}

static void warn_of_limit(struct demangler *d, const char *name)
{
	if (!d->warned)
		log_warn(d->log,
			 "a name takes too much time or memory to demangle and is shown as it is: "
			 "%.40s%s",
			 name, strlen(name) > 40 ? "..." : "");
	d->warned = true;
}

/* The bytes of the answer; -1: there is none. */
static ssize_t exchange(struct demangler *d, const char *name, size_t length, bool parameters)
{
	struct demangle_request *request = (void *)d->message;
	const struct demangle_reply *reply = (const void *)d->message;
	ssize_t n;

	d->number += d->number == UINT32_MAX ? 2 : 1;
	*request = (struct demangle_request){d->number, parameters};
	memcpy(d->message + sizeof(*request), name, length);
	do {
		n = send(d->fd, d->message, sizeof(*request) + length, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -1;
	do {
		n = read(d->fd, d->message, MESSAGE_SIZE);
	} while ((n < 0 && errno == EINTR) ||
		 (n >= (ssize_t)sizeof(*reply) && reply->number && reply->number != d->number));
	return n < (ssize_t)sizeof(*reply) ? -1 : n;
}

static char *ask(struct demangler *d, const char *name, size_t length, bool parameters)
{
	const struct demangle_reply *reply = (const void *)d->message;

	if (d->fd < 0)
		return NULL;
	if (d->slow_us > MOST_MICROSECONDS) {
		warn_of_limit(d, name);
		return NULL;
	}
	const ssize_t n = exchange(d, name, length, parameters);
	if (n < 0) {
		closep(&d->fd);
		d->fd = -1;
		return NULL;
	}
	if (reply->us >= SLOW_MICROSECONDS)
		d->slow_us += reply->us;
	if (!reply->number)
		warn_of_limit(d, name);
	const size_t size = (size_t)n - sizeof(*reply);
	return size ? strndup(d->message + sizeof(*reply), size) : NULL;
}

char *symbol_demangle(struct demangler *d, const char *name, bool parameters)
{
	if (!name_may_be_mangled(name))
		return NULL;
	const size_t length = strnlen(name, MOST_NAME + 1);
	if (length > MOST_NAME)
		return NULL;
	if (name_is_ocaml(name))
		return ocaml_demangle(name);
	if (name_is_harmless(name, length))
		return demangle_here(name, length, parameters);
	if (!d)
		return NULL;
	pthread_mutex_lock(&d->lock);
	char *shown = ask(d, name, length, parameters);
	pthread_mutex_unlock(&d->lock);
	return shown;
}
