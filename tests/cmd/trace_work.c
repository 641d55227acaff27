// SPDX-License-Identifier: BSD-2-Clause
/*
 * System calls whose number and arguments are known, to compare what trace says with:
 *
 *	trace_work calls N		getppid, openat of a missing file, write to /dev/null,
 *					close of no descriptor, and on x86 getppid by
 *					int $0x80, if the kernel has calls of i386: N of each
 *	trace_work i386			ends with 0 if the kernel has calls of i386
 *	trace_work threads T N		getppid, N times in each of T threads, of which none ends
 *					before all have called it
 *	trace_work preempted T N	the same, while a real-time thread wakes up again and
 *					again and calls getppid too; prints the number of calls
 *	trace_work naps T		nanosleep of 1 ms, again and again in each of T threads
 *	trace_work children T N		getppid, N times in each of T processes, of which none ends
 *					before all have called it
 *	trace_work forks N		N processes, one after the other, with a getppid each
 *	trace_work killed		a child is killed in pause()
 *	trace_work vfork		a child by vfork calls getppid, then the parent
 *	trace_work exec			a thread that is not the first calls execve
 *	trace_work io			calls with buffers, iovecs and messages
 *	trace_work strings		execve with arrays of 16, 33 and 300 strings, with a string
 *					that cannot be read, and with 20 strings without a NULL
 *	trace_work fault FILE		openat with a name in a page of FILE that is not in memory
 *	trace_work restart		a read that a signal interrupts and that begins again
 *	trace_work inside		prints "ready", then is in a read; ends in pause()
 *	trace_work touch N		touches N pages of new memory, in the function touch_pages;
 *					prints their address and how many faults the kernel counted
 *	trace_work chain N		closes no descriptor, N times, in inner, which middle calls
 *	trace_work blocked T		T threads, each inside of a write of 1000 bytes to a full
 *					pipe, before the pipe is read
 *	trace_work bench NAME N		N calls of NAME: getppid, openat, write; prints the ns of
 *					each, as time and as CPU time
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long number(const char *text)
{
	return text ? atol(text) : 1;
}

static volatile sig_atomic_t no_i386;

#ifdef __x86_64__
/* A kernel without calls of i386 sends SIGSEGV: on with what follows int $0x80. */
static void after_int_80(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	if (no_i386)
		_exit(128 + sig);
	no_i386 = 1;
	uc->uc_mcontext.gregs[REG_RIP] += 2;
}
#endif

static void expect_no_i386(void)
{
#ifdef __x86_64__
	const struct sigaction act = {.sa_sigaction = after_int_80, .sa_flags = SA_SIGINFO};

	sigaction(SIGSEGV, &act, NULL);
#else
	no_i386 = 1;
#endif
}

/* getppid with the numbers of 32-bit programs: 64. */
static void getppid_32(void)
{
#ifdef __x86_64__
	int ret;

	if (no_i386)
		return;
	__asm__ volatile("int $0x80" : "=a"(ret) : "a"(64) : "memory", "r8", "r9", "r10", "r11");
#endif
}

static int calls(long n)
{
	int null = open("/dev/null", O_WRONLY);
	char text[] = "0123456789";

	expect_no_i386();
	for (long i = 0; i < n; i++) {
		syscall(SYS_getppid);
		syscall(SYS_openat, AT_FDCWD, "/nonexistent/of/trace_work", O_RDONLY, 0);
		if (write(null, text, sizeof(text) - 1) != sizeof(text) - 1)
			return 1;
		syscall(SYS_close, -7);
		getppid_32();
	}
	return 0;
}

static pthread_barrier_t all_called;

static void *thread(void *arg)
{
	for (long i = 0; i < *(long *)arg; i++)
		syscall(SYS_getppid);
	pthread_barrier_wait(&all_called);
	return NULL;
}

static int threads(long t, long n)
{
	pthread_t ids[64];

	if (t < 1 || t > 64 || pthread_barrier_init(&all_called, NULL, (unsigned)t))
		return 1;
	for (long i = 0; i < t; i++)
		if (pthread_create(&ids[i], NULL, thread, &n))
			return 1;
	for (long i = 0; i < t; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

static void *nap(void *arg)
{
	const struct timespec ms = {.tv_nsec = 1000000};

	for (;;)
		syscall(SYS_nanosleep, &ms, NULL);
	return NULL;
}

static int naps(long t)
{
	pthread_t id;

	while (t-- > 0)
		if (pthread_create(&id, NULL, nap, NULL))
			return 1;
	return pthread_join(id, NULL);
}

static volatile int others_run;
static long made_by_realtime;

static void *realtime(void *arg)
{
	const struct sched_param priority = {.sched_priority = 1};
	const struct timespec nap = {.tv_nsec = 100000};

	if (sched_setscheduler(0, SCHED_FIFO, &priority)) {
		perror("trace_work: SCHED_FIFO");
		exit(1);
	}
	for (; others_run; made_by_realtime++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
		syscall(SYS_getppid);
	}
	return NULL;
}

static int preempted(long t, long n)
{
	pthread_t id;

	others_run = 1;
	if (pthread_create(&id, NULL, realtime, NULL) || threads(t, n))
		return 1;
	others_run = 0;
	pthread_join(id, NULL);
	printf("getppid=%ld\n", t * n + made_by_realtime);
	return 0;
}

static int children(long t, long n)
{
	pthread_barrier_t *all =
		mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t shared;
	int status, failed = 0;
	pid_t pids[64];

	if (all == MAP_FAILED || pthread_barrierattr_init(&shared) ||
	    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED) || t < 1 || t > 64 ||
	    pthread_barrier_init(all, &shared, (unsigned)t))
		return 1;
	for (long i = 0; i < t; i++) {
		pids[i] = fork();
		if (pids[i] < 0) {
			while (i-- > 0)
				kill(pids[i], SIGKILL);
			return 1;
		}
		if (pids[i])
			continue;
		for (long k = 0; k < n; k++)
			syscall(SYS_getppid);
		pthread_barrier_wait(all);
		_exit(0);
	}
	for (long i = 0; i < t; i++)
		failed |= wait(&status) < 0 || status;
	return failed;
}

static int forks(long n)
{
	for (long i = 0; i < n; i++) {
		pid_t pid = fork();

		if (!pid) {
			syscall(SYS_getppid);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			return 1;
	}
	return 0;
}

/* Whether the process sleeps: field 3 of /proc/PID/stat. */
static void until_asleep(pid_t pid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'S') {
		FILE *f = fopen(path, "r");

		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			exit(1);
		fclose(f);
	}
}

static int killed(void)
{
	pid_t pid = fork();

	if (!pid) {
		/* ppoll without descriptors: pause() everywhere */
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
		_exit(0);
	}
	until_asleep(pid);
	kill(pid, SIGKILL);
	return waitpid(pid, NULL, 0) != pid;
}

static int by_vfork(void)
{
	pid_t pid = vfork();

	if (!pid) {
		syscall(SYS_getppid);
		_exit(0);
	}
	syscall(SYS_getppid);
	return waitpid(pid, NULL, 0) != pid;
}

static void *exec_self(void *arg)
{
	char *const argv[] = {"trace_work", "calls", "1", NULL};

	execv("/proc/self/exe", argv);
	exit(1);
}

static int exec_in_thread(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, exec_self, NULL))
		return 1;
	pthread_join(id, NULL);
	return 1;
}

static int io(void)
{
	char first[] = "first", second[] = "the second buffer, which is longer", got[64];
	struct iovec iov[2] = {{first, 5}, {second, sizeof(second) - 1}};
	char name[] = "\0\0trace_work name";
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};
	struct mmsghdr many[2] = {{.msg_hdr = msg}, {.msg_hdr = msg}};
	struct iovec into = {got, sizeof(got)};
	struct msghdr in = {.msg_iov = &into, .msg_iovlen = 1};
	socklen_t len = sizeof(int);
	int pair[2], type;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair))
		return 1;
	name[0] = AF_UNIX;
	if (writev(pair[0], iov, 2) < 0 || readv(pair[1], &into, 1) < 0)
		return 1;
	if (sendmsg(pair[0], &msg, 0) < 0 || recvmsg(pair[1], &in, 0) < 0)
		return 1;
	if (sendmmsg(pair[0], many, 2, 0) != 2)
		return 1;
	msg.msg_name = name;
	msg.msg_namelen = sizeof(name);
	sendmsg(pair[0], &msg, 0); /* ECONNREFUSED, or another: a name all the same */
	return getsockopt(pair[0], SOL_SOCKET, SO_TYPE, &type, &len);
}

static void exec_nothing(char *const *argv)
{
	syscall(SYS_execve, "/nonexistent/of/trace_work", argv, NULL);
}

static int strings(void)
{
	static char *argv[301];
	/* the last pointers of a page, in front of one that cannot be read */
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char **last = (char **)(pages + 4096) - 20;

	if (pages == MAP_FAILED || munmap(pages + 4096, 4096))
		return 1;
	for (int n = 0; n < 300; n++) {
		argv[n] = "string";
		if (n + 1 == 16 || n + 1 == 33 || n + 1 == 300)
			exec_nothing(argv);
	}
	argv[1] = (char *)8;
	argv[3] = NULL;
	exec_nothing(argv);
	for (int i = 0; i < 20; i++)
		last[i] = "string";
	exec_nothing(last);
	return 0;
}

static int fault(const char *file)
{
	int fd = open(file, O_RDONLY);
	char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);

	if (page == MAP_FAILED)
		return 1;
	syscall(SYS_openat, AT_FDCWD, page, O_RDONLY, 0);
	syscall(SYS_openat, AT_FDCWD, (char *)8, O_RDONLY, 0);
	return 0;
}

static void nothing(int sig)
{
}

static int restart(void)
{
	struct sigaction action = {.sa_handler = nothing, .sa_flags = SA_RESTART};
	int ends[2];
	char byte;

	if (pipe(ends))
		return 1;
	pid_t pid = fork();
	if (!pid) {
		sigaction(SIGUSR1, &action, NULL);
		_exit(read(ends[0], &byte, 1) != 1);
	}
	until_asleep(pid);
	kill(pid, SIGSTOP);
	waitpid(pid, NULL, WUNTRACED);
	kill(pid, SIGCONT);
	until_asleep(pid);
	return write(ends[1], "x", 1) != 1 || waitpid(pid, NULL, 0) != pid;
}

static int inside(void)
{
	char byte;

	puts("ready");
	fflush(stdout);
	if (read(0, &byte, 1) != 1)
		return 1;
	close(9); /* the test waits for that */
	syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
	return 0;
}

static int full_pipe[2];

static void *write_pipe(void *arg)
{
	static const char text[1000];

	return write(full_pipe[1], text, sizeof(text)) == sizeof(text) ? NULL : "failed";
}

/* Whether so many threads sleep, besides the one that asks. */
static int threads_sleep(long n)
{
	DIR *dir = opendir("/proc/self/task");
	const struct dirent *entry;
	char path[300], state;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat", entry->d_name);
		FILE *f = fopen(path, "r");

		if (f && fscanf(f, "%*d (%*[^)]) %c", &state) == 1)
			n -= state == 'S';
		if (f)
			fclose(f);
	}
	closedir(dir);
	return !n;
}

/* The only calls of write are those of the threads. */
static int blocked(long t)
{
	static char text[4096];
	struct iovec page = {text, sizeof(text)};
	long left = t * 1000;
	pthread_t id;

	if (pipe2(full_pipe, O_NONBLOCK))
		return 1;
	while (writev(full_pipe[1], &page, 1) > 0)
		left += sizeof(text);
	fcntl(full_pipe[0], F_SETFL, 0);
	fcntl(full_pipe[1], F_SETFL, 0);
	for (long i = 0; i < t; i++) {
		if (pthread_create(&id, NULL, write_pipe, NULL))
			return 1;
		pthread_detach(id);
	}
	while (!threads_sleep(t))
		usleep(10000);
	while (left > 0) {
		ssize_t n = readv(full_pipe[0], &page, 1);

		if (n <= 0)
			return 1;
		left -= n;
	}
	return 0;
}

static double between(struct timespec from, struct timespec to)
{
	return (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec);
}

static int bench(const char *name, long n)
{
	int null = open("/dev/null", O_WRONLY);
	struct timespec from, to, cpu_from, cpu_to;
	char text[64] = "";

	clock_gettime(CLOCK_MONOTONIC, &from);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_from);
	if (!strcmp(name, "getppid"))
		for (long i = 0; i < n; i++)
			syscall(SYS_getppid);
	else if (!strcmp(name, "openat"))
		for (long i = 0; i < n; i++)
			syscall(SYS_openat, AT_FDCWD, "/nonexistent/of/trace_work", O_RDONLY, 0);
	else
		for (long i = 0; i < n; i++)
			if (write(null, text, sizeof(text)) < 0)
				return 1;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_to);
	clock_gettime(CLOCK_MONOTONIC, &to);
	printf("%.1f %.1f\n", between(from, to) / (double)n, between(cpu_from, cpu_to) / (double)n);
	return 0;
}

__attribute__((noinline)) static void touch_pages(volatile char *at, long n, long size)
{
	for (long i = 0; i < n; i++)
		(void)at[i * size];
}

static int touch(long n)
{
	const long size = sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, (size_t)(n * size), PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct rusage before, after;

	if (at == MAP_FAILED)
		return 1;
	madvise(at, (size_t)(n * size), MADV_NOHUGEPAGE); /* a fault for each page */
	touch_pages(at, 0, size);			  /* its code is there, too */
	getrusage(RUSAGE_SELF, &before);
	touch_pages(at, n, size);
	getrusage(RUSAGE_SELF, &after);
	printf("%p %ld\n", (void *)at, after.ru_minflt - before.ru_minflt);
	return 0;
}

/* With the empty statement the call is not the last one: the frame stays. */
__attribute__((noinline)) static long inner(long fd)
{
	const long ret = syscall(SYS_close, fd);

	__asm__ volatile("");
	return ret;
}

__attribute__((noinline)) static long middle(long fd)
{
	const long ret = inner(fd);

	__asm__ volatile("");
	return ret;
}

static int chain(long n, long fd)
{
	for (long i = 0; i < n; i++)
		if (middle(fd) != -1)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "", *arg = argc > 2 ? argv[2] : NULL;

	if (!strcmp(what, "calls"))
		return calls(number(arg));
	if (!strcmp(what, "i386")) {
		expect_no_i386();
		getppid_32();
		return no_i386;
	}
	if (!strcmp(what, "threads"))
		return threads(number(arg), number(argc > 3 ? argv[3] : NULL));
	if (!strcmp(what, "naps"))
		return naps(number(arg));
	if (!strcmp(what, "preempted"))
		return preempted(number(arg), number(argc > 3 ? argv[3] : NULL));
	if (!strcmp(what, "children"))
		return children(number(arg), number(argc > 3 ? argv[3] : NULL));
	if (!strcmp(what, "forks"))
		return forks(number(arg));
	if (!strcmp(what, "killed"))
		return killed();
	if (!strcmp(what, "vfork"))
		return by_vfork();
	if (!strcmp(what, "exec"))
		return exec_in_thread();
	if (!strcmp(what, "strings"))
		return strings();
	if (!strcmp(what, "io"))
		return io();
	if (!strcmp(what, "fault") && arg)
		return fault(arg);
	if (!strcmp(what, "restart"))
		return restart();
	if (!strcmp(what, "inside"))
		return inside();
	if (!strcmp(what, "touch"))
		return touch(number(arg));
	if (!strcmp(what, "chain"))
		return chain(number(arg), -6 - argc / 2);
	if (!strcmp(what, "blocked"))
		return blocked(number(arg));
	if (!strcmp(what, "bench") && argc > 3)
		return bench(arg, number(argv[3]));
	return 2;
}
