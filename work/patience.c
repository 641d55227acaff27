// SPDX-License-Identifier: BSD-2-Clause
#include "work/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"

enum {
	TICK_NS = 150000000,
	MOST_NS = 600000000,
};

#define TICK_SIGNAL (SIGRTMIN + 1) /* SIGRTMIN is cmd/job.c's */

/* Handlers have no other argument than this: what comes with a signal, others can send. */
static struct {
	timer_t timer;
	bool has_begun, watches;
	uint64_t since,
		delay; /* ns: when the signal was seen first, of either clock; 0: there is none */
	pid_t self, workload;
	struct sigaction before;
} patience;

int signal_waits(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
	sigset_t pending;

	if (sigpending(&pending))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (sigismember(&pending, signals[i]) == 1)
			return signals[i];
	return 0;
}

/* How long the main thread has waited for a CPU so far, in ns; 0: the kernel does not say. */
static uint64_t run_delay(void)
{
	const int fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	char text[64];
	uint64_t delay = 0;
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	/* "RUNNING WAITING TIMES"; sscanf() must not be called in a handler */
	const char *word = n > 0 ? memchr(text, ' ', (size_t)n) : NULL;
	for (word = word ? word + 1 : text + sizeof(text);
	     word < text + (n > 0 ? n : 0) && *word >= '0' && *word <= '9'; word++)
		delay = delay * 10 + (uint64_t)(*word - '0');
	return delay;
}

static void say_and_die(int sig)
{
	static const char text[] = "perf-bpf: ended by a signal while it was busy\n";
	struct pollfd out = {.fd = STDERR_FILENO, .events = POLLOUT};
	sigset_t set;

	/* a terminal that nobody reads would keep it */
	if (poll(&out, 1, 0) == 1 && out.revents == POLLOUT &&
	    write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		errno = 0;
	if (patience.workload)
		kill(patience.workload, SIGTERM);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL); /* it ends here */
	_exit(128 + sig);
}

static void on_tick(int number)
{
	const int code = errno, sig = signal_waits();

	if (!sig || getpid() != patience.self) {
		patience.since = 0;
	} else if (!patience.since) {
		patience.since = clock_ns(CLOCK_MONOTONIC);
		patience.delay = run_delay();
	} else {
		const uint64_t real = clock_ns(CLOCK_MONOTONIC) - patience.since;

		if (real > MOST_NS && real - (run_delay() - patience.delay) > MOST_NS - TICK_NS)
			say_and_die(sig);
	}
	errno = code;
}

struct error *patience_begin(void)
{
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TICK_SIGNAL};

	if (patience.has_begun)
		return NULL;
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	sigaction(TICK_SIGNAL, &action, &patience.before);
	if (timer_create(CLOCK_MONOTONIC, &event, &patience.timer))
		return error_errno(errno, "cannot create a timer");
	patience.self = getpid();
	patience.since = 0;
	patience.workload = 0;
	patience.watches = false;
	patience.has_begun = true;
	return NULL;
}

void patience_end(void)
{
	if (!patience.has_begun)
		return;
	patience.has_begun = false;
	timer_delete(patience.timer);
	sigaction(TICK_SIGNAL, &patience.before, NULL);
}

void patience_set_workload(pid_t pid)
{
	patience.workload = pid;
}

void patience_watch(bool on)
{
	struct itimerspec spec = {0};

	if (!patience.has_begun || on == patience.watches)
		return;
	if (on)
		spec.it_value.tv_nsec = spec.it_interval.tv_nsec = TICK_NS;
	patience.since = 0;
	patience.watches = on;
	timer_settime(patience.timer, 0, &spec, NULL);
}
