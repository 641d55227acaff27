// SPDX-License-Identifier: BSD-2-Clause
/* work/: the loop, what ends it, and the end of tasks. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/strbuf.h"
#include "tests/unit/tree.h"
#include "work/cpu_watch.h"
#include "work/loop.h"
#include "work/tasks.h"

#define ok(call) assert_null(call)

enum { CLONE3 = 435 };

struct seen {
	struct loop *loop;
	struct strbuf order;
	int other; /* to be taken out; -1: none */
};

static struct error *on_a(void *ctx, uint32_t events)
{
	struct seen *seen = ctx;

	strbuf_adds(&seen->order, events & EPOLLHUP ? "A" : "a");
	if (seen->other >= 0)
		loop_unwatch(seen->loop, seen->other);
	return NULL;
}

static struct error *on_b(void *ctx, uint32_t events)
{
	struct seen *seen = ctx;

	strbuf_adds(&seen->order, "b");
	return NULL;
}

static struct error *on_c(void *ctx, uint32_t events)
{
	struct seen *seen = ctx;

	strbuf_adds(&seen->order, "c");
	loop_end(seen->loop);
	return NULL;
}

static struct error *on_failure(void *ctx, uint32_t events)
{
	return error_new(EIO, "it fails");
}

TEST(test_order_and_taking_out)
{
	_cleanup_(loop_freep) struct loop *loop = NULL;
	int a[2], b[2], c[2];

	ok(loop_new(&loop));
	struct seen seen = {.loop = loop, .order = STRBUF_INIT, .other = -1};
	assert_int_equal(pipe(a) | pipe(b) | pipe(c), 0);
	ok(loop_watch(loop, a[0], on_a, &seen));
	ok(loop_watch(loop, b[0], on_b, &seen));
	ok(loop_turn(loop, 0));
	assert_int_equal(seen.order.len, 0);
	/* ready in the other order */
	assert_int_equal(write(b[1], "", 1) + write(a[1], "", 1), 2);
	ok(loop_turn(loop, -1));
	assert_string_equal(strbuf_str(&seen.order), "ab");
	/* one takes out another of the same turn */
	seen.other = b[0];
	ok(loop_turn(loop, -1));
	ok(loop_turn(loop, -1));
	assert_string_equal(strbuf_str(&seen.order), "abaa");
	close(a[1]);
	ok(loop_turn(loop, -1));
	assert_string_equal(strbuf_str(&seen.order), "abaaA");
	/* what ends it comes before what was added later */
	loop_unwatch(loop, a[0]);
	ok(loop_watch(loop, c[0], on_c, &seen));
	ok(loop_watch(loop, b[0], on_b, &seen));
	close(c[1]);
	ok(loop_turn(loop, -1));
	assert_true(loop_ended(loop));
	assert_string_equal(strbuf_str(&seen.order), "abaaAc");
	strbuf_deinit(&seen.order);
	close(a[0]), close(b[0]), close(b[1]), close(c[0]);
}

TEST(test_an_error_ends_the_turn)
{
	_cleanup_(loop_freep) struct loop *loop = NULL;
	int timer;

	ok(loop_new(&loop));
	ok(loop_timer(loop, on_failure, NULL, &timer));
	ok(loop_turn(loop, 0)); /* it is not set */
	ok(loop_timer_set(timer, 1000000, false));
	struct error *err = loop_turn(loop, -1);
	assert_non_null(err);
	assert_int_equal(err->code, EIO);
	error_free(err);
	ok(loop_turn(loop, 20)); /* once */
	assert_false(loop_ended(loop));
}

/* A signal that is not the loop's end; one that comes after it does not end the process. */
TEST(test_signals_of_the_caller)
{
	struct sigaction action = {.sa_handler = SIG_DFL};
	struct seen seen = {.order = STRBUF_INIT, .other = -1};
	struct loop *loop;

	ok(loop_new(&loop));
	ok(loop_on_signal(loop, SIGUSR2, on_b, &seen));
	raise(SIGUSR2);
	raise(SIGUSR2);
	ok(loop_turn(loop, 0));
	ok(loop_turn(loop, 0));
	assert_string_equal(strbuf_str(&seen.order), "b");
	raise(SIGUSR2);
	ok(loop_turn(loop, 0));
	assert_string_equal(strbuf_str(&seen.order), "bb");
	assert_false(loop_ended(loop));
	raise(SIGUSR2);
	loop_free(loop);
	raise(SIGUSR2);
	sigaction(SIGUSR2, &action, NULL);
	strbuf_deinit(&seen.order);
}

TEST(test_duration_and_signals)
{
	sigset_t before, after;
	struct sigaction pipe_before, pipe_after;
	struct loop *loop;

	sigprocmask(SIG_BLOCK, NULL, &before);
	sigaction(SIGPIPE, NULL, &pipe_before);
	ok(loop_new(&loop));
	ok(loop_duration(loop, 0));
	ok(loop_duration(loop, 10));
	while (!loop_ended(loop))
		ok(loop_turn(loop, -1));
	assert_int_equal(loop_signal(loop), 0);
	loop_free(loop);

	ok(loop_new(&loop));
	raise(SIGINT);
	raise(SIGTERM);
	ok(loop_turn(loop, -1));
	assert_true(loop_ended(loop));
	assert_int_equal(loop_signal(loop), SIGINT);
	raise(SIGHUP); /* forgotten */
	loop_free(loop);
	sigprocmask(SIG_BLOCK, NULL, &after);
	sigaction(SIGPIPE, NULL, &pipe_after);
	assert_int_equal(sigismember(&after, SIGINT), sigismember(&before, SIGINT));
	assert_ptr_equal(pipe_after.sa_handler, pipe_before.sa_handler);
}

static void see_pid(void *ctx, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	assert_int_equal(access(path, R_OK), 0); /* it is there still */
	(*(int *)ctx)++;
}

TEST(test_workload)
{
	char *argv[] = {"sh", "-c", "kill -STOP $$; exit 7", NULL};
	char *absent[] = {"/no/such/command", NULL};
	struct loop *loop;
	int status, seen = 0;

	ok(loop_new(&loop));
	assert_int_equal(loop_workload(loop), 0);
	ok(loop_start(loop, "run"));
	ok(loop_prepare(loop, argv));
	assert_true(loop_workload(loop) > 0);
	loop_before_reap(loop, see_pid, &seen);
	ok(loop_start(loop, "run"));
	/* that it stops is not its end */
	ok(loop_turn(loop, -1));
	assert_false(loop_ended(loop));
	assert_false(loop_workload_status(loop, &status));
	kill(loop_workload(loop), SIGCONT);
	while (!loop_ended(loop))
		ok(loop_turn(loop, -1));
	assert_int_equal(seen, 1);
	assert_true(loop_workload_status(loop, &status));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
	loop_free(loop);

	ok(loop_new(&loop));
	ok(loop_prepare(loop, absent));
	struct error *err = loop_start(loop, "run");
	assert_non_null(err);
	assert_int_equal(err->code, ECHILD);
	error_free(err);
	loop_free(loop);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* nohup ignores SIGHUP; some programs ignore SIGCHLD, and so do those they run. */
TEST(test_ignored_signals)
{
	char *argv[] = {"sh", "-c", "kill -HUP $PPID; exit 3", NULL};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction hup, child, after;
	struct loop *loop;
	int status;

	sigaction(SIGHUP, &ignore, &hup);
	sigaction(SIGCHLD, &ignore, &child);
	ok(loop_new(&loop));
	ok(loop_prepare(loop, argv));
	ok(loop_duration(loop, 20000));
	ok(loop_start(loop, "run"));
	while (!loop_ended(loop))
		ok(loop_turn(loop, -1));
	assert_int_equal(loop_signal(loop), 0);
	assert_true(loop_workload_status(loop, &status));
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 3);
	loop_free(loop);
	sigaction(SIGHUP, &hup, NULL);
	sigaction(SIGCHLD, &child, &after);
	assert_ptr_equal(after.sa_handler, SIG_IGN);
}

static void *sleep_until_read(void *ctx)
{
	char c;

	((pid_t *)ctx)[2] = (pid_t)syscall(SYS_gettid);
	assert_int_equal(read(*(int *)ctx, &c, 1), 1);
	return NULL;
}

TEST(test_tasks_end)
{
	_cleanup_tasks_ struct tasks tasks = TASKS_INIT;
	_cleanup_(loop_freep) struct loop *loop = NULL;
	char list[32];
	volatile int fds[3] = {0};
	pthread_t thread;

	const pid_t child = fork();
	if (!child) {
		pause();
		_exit(0);
	}
	assert_int_equal(pipe((int *)fds), 0);
	assert_int_equal(pthread_create(&thread, NULL, sleep_until_read, (void *)fds), 0);
	while (!fds[2])
		usleep(1000);
	snprintf(list, sizeof(list), "%d,%d", child, child);
	ok(tasks_add(&tasks, NULL, list, TASK_PROCESS));
	snprintf(list, sizeof(list), "%d", fds[2]);
	ok(tasks_add(&tasks, NULL, list, TASK_THREAD));
	assert_int_equal(tasks.list.n, 2);
	ok(loop_new(&loop));
	ok(loop_tasks(loop, &tasks));
	assert_false(tasks_ended(&tasks));
	kill(child, SIGKILL); /* a zombie has ended, too */
	ok(loop_turn(loop, -1));
	assert_false(loop_ended(loop));
	assert_int_equal(write(fds[1], "", 1), 1);
	while (!loop_ended(loop))
		ok(loop_turn(loop, -1));
	pthread_join(thread, NULL);
	/* nobody has waited for it yet, and then it is not there */
	for (int i = 0; i < 2; i++) {
		snprintf(list, sizeof(list), "%d", child);
		struct error *err = tasks_add(&tasks, NULL, list, TASK_PROCESS);
		assert_non_null(err);
		assert_int_equal(err->code, ESRCH);
		error_free(err);
		waitpid(child, NULL, 0);
	}
	close(fds[0]), close(fds[1]);
}

/* As fork(), with this id. */
static pid_t fork_as(pid_t id)
{
	struct {
		uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls,
			set_tid, set_tid_size;
	} args = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&id, .set_tid_size = 1};

	return (pid_t)syscall(CLONE3, &args, sizeof(args));
}

/* A child, which does not outlive a test that fails. */
static void wait_for_end(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pause();
	_exit(0);
}

/* Between the moment when it was named and the one when events are open. */
TEST(test_id_is_used_again)
{
	struct tasks tasks[] = {TASKS_INIT, TASKS_INIT};
	char list[16];
	int fd;

	const pid_t child = fork();
	if (!child)
		wait_for_end();
	snprintf(list, sizeof(list), "%d", child);
	ok(tasks_add(&tasks[0], NULL, list, TASK_PROCESS));
	ok(tasks_add(&tasks[1], NULL, list, TASK_THREAD));
	ok(tasks_check(&tasks[0]));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ok(tasks_check(&tasks[0])); /* what is not there is not another's */
	const pid_t again = fork_as(child);
	if (!again)
		wait_for_end();
	for (int i = 0; i < 2; i++) {
		struct error *err = tasks_check(&tasks[i]);

		if (again > 0) {
			assert_int_equal(again, child);
			assert_non_null(err);
			assert_int_equal(err->code, ESRCH);
			assert_non_null(strstr(err->msg, i ? "thread" : "process"));
		}
		error_free(err);
		err = tasks_watch(&tasks[i], NULL, &fd);
		assert_non_null(err);
		assert_int_equal(err->code, ESRCH);
		error_free(err);
		tasks_deinit(&tasks[i]);
	}
	if (again < 0) {
		print_message("ids cannot be chosen: %s\n", strerror(errno));
		skip();
	}
	kill(again, SIGKILL);
	waitpid(again, NULL, 0);
}

TEST(test_lists)
{
	static const char *const wrong[] = {"",	 "x",  "1,", ",1",	   "-1",
					    "0", " 1", "1 ", "99999999999"};
	_cleanup_tasks_ struct tasks tasks = TASKS_INIT;
	_cleanup_pids_ struct sys_pids tids = {0};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct error *err = tasks_add(&tasks, NULL, wrong[i], TASK_PROCESS);

		assert_non_null(err);
		assert_int_equal(err->code, EINVAL);
		error_free(err);
	}
	tasks_deinit(&tasks);
	ok(tasks_add(&tasks, NULL, NULL, TASK_PROCESS));
	assert_int_equal(tasks.list.n, 0);
	ok(tasks_add(&tasks, NULL, "1", TASK_PROCESS));
	ok(tasks_threads(&tasks, NULL, &tids));
	assert_int_equal(tids.v[0], 1);
}

static struct error *on_cpu(void *ctx, unsigned cpu)
{
	struct seen *seen = ctx;

	strbuf_addf(&seen->order, "%u", cpu);
	if (seen->other-- > 0)
		return error_new(EBUSY, "it is busy");
	loop_end(seen->loop);
	return NULL;
}

/* Without a uevent, as in a container: CPU 1 goes and comes, and cannot be used at once. */
TEST(test_a_cpu_that_returns)
{
	struct tree *tree = tree_new();
	struct seen seen = {.order = STRBUF_INIT, .other = 1};
	struct cpu_watch *watch;
	struct cpu_watch_opts opts = {.roots = &tree->roots, .fn = on_cpu, .ctx = &seen};
	size_t n;

	ok(loop_new(&seen.loop));
	opts.loop = seen.loop;
	tree_put(tree, "sys/devices/system/cpu/online", "0-2\n");
	ok(cpu_watch_new(&opts, &watch));
	ok(loop_turn(seen.loop, 1500));
	cpu_watch_gaps(watch, &n);
	assert_int_equal(n, 0);
	tree_put(tree, "sys/devices/system/cpu/online", "0,2\n");
	do {
		ok(loop_turn(seen.loop, -1));
		cpu_watch_gaps(watch, &n);
	} while (!n);
	const uint64_t before = cpu_watch_gaps(watch, &n)->ns;
	assert_true(cpu_watch_gaps(watch, &n)->since);
	tree_put(tree, "sys/devices/system/cpu/online", "0-2\n");
	while (!loop_ended(seen.loop))
		ok(loop_turn(seen.loop, -1));
	assert_string_equal(strbuf_str(&seen.order), "11");
	const struct cpu_gap *gap = cpu_watch_gaps(watch, &n);
	assert_int_equal(n, 1);
	assert_int_equal(gap->cpu, 1);
	assert_int_equal(gap->since, 0);
	assert_true(gap->ns > before);
	cpu_watch_free(watch);
	loop_free(seen.loop);
	strbuf_deinit(&seen.order);
	tree_free(tree);
}

enum what {
	COMPUTES,
	READS,	    /* from a pipe that nobody writes */
	TAKES_PART, /* as COMPUTES, but reads signals in between */
	LOSES,	    /* as READS, with something to lose */
};

/* Does not return. ready: gets a byte. */
static void be_busy(enum what what, int ready)
{
	struct loop *loop;
	volatile unsigned n = 0;
	int pipe[2];

	if (loop_new(&loop) || loop_end_if_busy(loop) || pipe2(pipe, O_CLOEXEC))
		_exit(100);
	dup2(ready, STDERR_FILENO); /* what it says when it is ended goes nowhere */
	if (what == LOSES)
		loop_stay_busy(loop);
	if (write(ready, "", 1) != 1)
		_exit(100);
	if (what == READS || what == LOSES)
		_exit(read(pipe[0], &pipe, 1) < 0 ? errno : 0);
	while (what == COMPUTES)
		n++;
	while (!loop_ended(loop)) {
		for (unsigned i = 0; i < 1000000; i++)
			n++;
		if (loop_turn(loop, 0))
			_exit(100);
	}
	_exit(loop_signal(loop));
}

TEST(test_a_busy_process_is_ended)
{
	for (enum what what = COMPUTES; what <= LOSES; what++)
		for (int sig = SIGHUP; sig <= SIGTERM; sig += SIGTERM - SIGHUP) {
			int ready[2], status;
			char byte;

			assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
			const pid_t pid = fork();
			if (!pid)
				be_busy(what, ready[1]);
			assert_int_equal(read(ready[0], &byte, 1), 1);
			const uint64_t begin = clock_ns(CLOCK_MONOTONIC);
			assert_int_equal(kill(pid, sig), 0);
			if (what == LOSES) {
				const struct timespec time = {.tv_sec = 1};

				nanosleep(&time, NULL);
				assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
				assert_int_equal(kill(pid, SIGKILL), 0);
			}
			assert_int_equal(waitpid(pid, &status, 0), pid);
			if (what == TAKES_PART)
				assert_int_equal(WEXITSTATUS(status), sig);
			else
				assert_int_equal(WTERMSIG(status), what == LOSES ? SIGKILL : sig);
			/* A busy machine gives it less than all of the time. */
			assert_true(clock_ns(CLOCK_MONOTONIC) - begin < 20000000000);
			close(ready[0]);
			close(ready[1]);
		}
}
