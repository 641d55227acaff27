// SPDX-License-Identifier: BSD-2-Clause
/*
 * A terminal sends Ctrl-C and Ctrl-Z to its foreground process group. A shell makes a group for
 * each job, names it to the terminal, and waits for its own child, perf, to end or to stop. perf
 * forks, runs us and waits until we end; it does not look whether we stop.
 *
 *	shell ── perf ── perf-bpf ── workload
 *	         └ group of the job  └ our group
 *
 * So we and all that we start live in a group of our own, and that is the terminal's foreground
 * group whenever the shell has made the job's group that. What the shell does to the job it does
 * to the job's group. Therefore:
 *
 * - To stop (SIGTSTP, SIGTTIN, SIGTTOU) we join the job's group, give it the terminal, stop all of
 *   it by the same signal and are stopped with it. The shell sees perf stop. SIGCONT reaches us
 *   there; we go back, continue our own group, and take the terminal if the job has it: fg, and
 *   not bg.
 * - fg of a job that runs in the background may give it the terminal without any signal (bash).
 *   While we are in the background a timer looks.
 * - The parent's death is a signal of its own, because those signals that the shell sends to the
 *   job do not reach us.
 *
 * A shell without job control makes no groups. It runs "command &" with SIGINT ignored, in its own
 * group: that terminal is not ours to take. Nor is it in a pipeline, whose other members may read
 * from it (less does): perf dies of Ctrl-C then, as the others do.
 *
 * All of it happens in signal handlers, so that Ctrl-Z is answered in whatever we do. What they
 * call is async-signal-safe (man 7 signal-safety).
 */
#include "cmd/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/error.h"
#include "lib/sys/proc.h"

enum {
	LOOK_NS = 200000000, /* so often: whether the job was brought to the foreground */
};

static const int stop_signals[] = {SIGTSTP, SIGTTIN, SIGTTOU};

/* Handlers have no other argument than this. */
static struct {
	bool by_perf;
	pid_t self, group; /* group: the job's; 0: we stay in it */
	int tty_fd;
	timer_t timer;
	bool has_timer;
} job = {.tty_fd = -1};

static bool is_front(void)
{
	return tcgetpgrp(job.tty_fd) == getpgrp();
}

/* The terminal's foreground group becomes that one, wherever we are ourselves. */
static void set_front(pid_t group)
{
	sigset_t ttou, old;

	sigemptyset(&ttou);
	sigaddset(&ttou, SIGTTOU); /* blocked, it is no reason to stop us */
	sigprocmask(SIG_BLOCK, &ttou, &old);
	tcsetpgrp(job.tty_fd, group);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void set_timer(bool on)
{
	struct itimerspec spec = {0};

	if (on)
		spec.it_value.tv_nsec = spec.it_interval.tv_nsec = LOOK_NS;
	if (job.has_timer)
		timer_settime(job.timer, 0, &spec, NULL);
}

/* Takes the terminal if the shell gave it to the job. */
static void take_if_given(void)
{
	const bool given = tcgetpgrp(job.tty_fd) == job.group;

	if (given)
		set_front(job.self);
	set_timer(!given && !is_front());
}

static void on_look(int sig)
{
	const int code = errno;

	if (getpid() == job.self)
		take_if_given();
	errno = code;
}

/* Stops by a signal whose handler is ours, or that is blocked. */
static void stop_self(int sig)
{
	const struct sigaction by_default = {.sa_handler = SIG_DFL};
	struct sigaction ours;
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigaction(sig, &by_default, &ours);
	raise(sig);
	sigprocmask(SIG_UNBLOCK, &set, &old); /* here */
	sigprocmask(SIG_SETMASK, &old, NULL);
	sigaction(sig, &ours, NULL);
}

static void stop_job(int sig)
{
	if (setpgid(0, job.group)) /* perf has gone; that it has is a signal of its own */
		return;
	if (tcgetpgrp(job.tty_fd) == job.self)
		set_front(job.group);
	kill(-job.group, sig);
	stop_self(sig);
	setpgid(0, 0);
	take_if_given();
	kill(-job.self, SIGCONT);
}

static void on_stop(int sig)
{
	const int code = errno;

	/* A child before it runs its command has the handler, but is not the one to do this. */
	if (getpid() == job.self)
		stop_job(sig);
	else
		stop_self(sig);
	errno = code;
}

void job_stop(void)
{
	if (job.group)
		stop_job(SIGTSTP);
	else
		raise(SIGSTOP);
}

/*
 * Whether a process is "perf ... bpf ARGS" with the arguments that this one has: perf may
 * also run us as its workload.
 */
static bool is_perf_bpf(pid_t pid)
{
	_cleanup_free_ char *words = NULL, *own = NULL;
	size_t size, own_size;
	_cleanup_error_ struct error *err = sys_proc_read(NULL, pid, "cmdline", &words, &size);
	_cleanup_error_ struct error *own_err =
		sys_proc_read(NULL, getpid(), "cmdline", &own, &own_size);

	if (err || own_err || !size || !own_size)
		return false;
	const char *name = strrchr(words, '/');
	name = name ? name + 1 : words;
	if (strncmp(name, "perf", 4) != 0 || name[4] == '-')
		return false;
	const size_t command = strlen(own) + 1;
	if (command > own_size || size < own_size - command)
		return false;
	/* What precedes our arguments: the word "bpf". */
	const size_t before = size - (own_size - command), bpf = sizeof("bpf");
	return before > bpf && !words[before - bpf - 1] &&
	       !memcmp(words + before - bpf, "bpf", bpf) &&
	       !memcmp(words + before, own + command, own_size - command);
}

static bool is_pipe(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISFIFO(st.st_mode);
}

/* Whether the terminal is one that a shell gives to jobs, and the job is perf and we alone. */
static bool can_have_terminal(void)
{
	struct sigaction interrupt;

	return !is_pipe(STDIN_FILENO) && !is_pipe(STDOUT_FILENO) &&
	       !sigaction(SIGINT, NULL, &interrupt) && interrupt.sa_handler != SIG_IGN;
}

static void handle(int sig, void (*handler)(int))
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

	/* one at a time */
	for (size_t i = 0; i < ARRAY_SIZE(stop_signals); i++)
		sigaddset(&action.sa_mask, stop_signals[i]);
	sigaddset(&action.sa_mask, SIGRTMIN);
	sigaction(sig, &action, NULL);
}

/* The group of our own, and the terminal if the job has it. */
static void begin_group(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN};

	job.group = getpgrp();
	for (size_t i = 0; i < ARRAY_SIZE(stop_signals); i++)
		handle(stop_signals[i], on_stop);
	handle(SIGRTMIN, on_look);
	job.has_timer = !timer_create(CLOCK_MONOTONIC, &event, &job.timer);
	if (setpgid(0, 0)) {
		job.group = 0;
		return;
	}
	take_if_given();
}

/* At the exit; what is left of our group is in the background then. */
static void end(void)
{
	if (!job.group)
		return;
	set_timer(false);
	if (is_front())
		set_front(job.group);
}

void job_begin(void)
{
	const pid_t parent = getppid();

	if (!is_perf_bpf(parent))
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		raise(SIGTERM); /* it ended before that */
	job.by_perf = true;
	job.self = getpid();
	if (!can_have_terminal())
		return;
	job.tty_fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (job.tty_fd < 0 || getpgrp() == job.self)
		return;
	atexit(end);
	begin_group();
}

int job_die(int sig)
{
	const bool had_terminal = job.group && is_front();

	if (!job.by_perf) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	end();
	if (sig == SIGINT && had_terminal)
		kill(-job.group, SIGINT);
	return 128 + sig;
}
