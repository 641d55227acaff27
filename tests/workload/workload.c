// SPDX-License-Identifier: BSD-2-Clause
/* clang-format off */
/*
 * The workload of the command tests: it does exactly as much of a thing as it is asked for, and
 * counts it. tests/workload.sh has the shell functions.
 *
 *	workload COMMAND [, COMMAND]...	runs the commands, one after the other
 *	workload			reads commands from standard input, one a line, and answers
 *					each with the line "ok" when it is done; "ready" comes first
 *
 * Commands:
 *	call NAME|NUMBER N [ARG]...	N system calls, in work_calls(). An argument is a number; i or
 *					i+NUMBER, the calls before this one (and so many); or else
 *					a string
 *	call32 NUMBER N [ARG]...	the same by int $0x80, in work_calls32()
 *	opens N PATH			open, read and close PATH, N times
 *	sends N SIZE			N packets of SIZE bytes by UDP to itself, each received
 *	faults N [show]			touch N pages of new memory, in work_touch(); show prints
 *					their addresses
 *	mallocs N SIZE			N times malloc and free
 *	getenvs N NAME			N times getenv
 *	sleeps N US			N sleeps, in work_sleep()
 *	burn MS				use that much CPU time, in work_burn()
 *	locks N				N times, lock and unlock a mutex that another thread holds
 *					before
 *	switches N			N times, wait for another thread that waits for this one
 *	cpu				go to the next CPU that this process may use
 *	steps N				N calls of work_step(i, &order), for probes; see struct order
 *	deep N COMMAND			run it below N frames of work_deep()
 *	ways BITS COMMAND		run it by each of 2^BITS paths through work_way()
 *	in FUNCTION[,FUNCTION]... COMMAND	run it in them: work_outer, work_middle, work_inner,
 *					work_left, work_right
 *	forks N COMMAND			N children, one after the other, each of which runs it
 *	threads N COMMAND		N threads, which run it at the same time
 *	pauses N			N children, which wait at the same time and are then killed
 *	exec PROGRAM [ARG]...		execve; on failure 127
 *	repeat N COMMAND, forever COMMAND
 *	until FILE COMMAND		run it again and again until FILE exists
 *	jit NAME			write machine code and its name to the map of JITs; run it for
 *					umask 18
 *	name NAME			the name of this thread
 *	dumpable 0|1			prctl(PR_SET_DUMPABLE)
 *	wait FIFO			until another process has written a byte to it, or closed it
 *	line				until a line comes from standard input
 *	kill SIGNAL			send it to this process
 *	say TEXT, pid, tid		print it
 *	counts				print what was done: by children and threads as well
 *	exit STATUS
 *
 * Where one command stands for several, "+" separates these: repeat 3 forks 1 pid + call umask 1 0.
 * It is built with frame pointers and debug information, without inlining and without sanitizers.
 */
/* clang-format on */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define INLINE	 static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline, noclone))
/* So that a call is not the last thing that a function does. */
#define AFTER_CALL() __asm__ volatile("")

enum {
	PAGE = 4096,
	MAX_WORDS = 64,
};

static struct counts {
	atomic_long calls, opens, sends, faults, mallocs, sleeps, locks, switches, steps, forks,
		threads;
} * counts; /* shared with the children */

/* The words of one command. level: how many commands it is nested in. */
struct words {
	char **at;
	int n, level;
};

static void run(struct words w);

static void stop(const char *what)
{
	fprintf(stderr, "workload: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void wrong(struct words w)
{
	fprintf(stderr, "workload: invalid command '%s'\n", w.n ? w.at[0] : "");
	exit(2);
}

static long number(const char *text)
{
	char *end;
	const long n = strtol(text, &end, 0);

	if (*end || !*text) {
		fprintf(stderr, "workload: '%s' is not a number\n", text);
		exit(2);
	}
	return n;
}

/* The words after the first n. */
static struct words rest(struct words w, int n)
{
	if (w.n <= n)
		wrong(w);
	return (struct words){w.at + n, w.n - n, w.level + 1};
}

/* ---- system calls ---- */

static const struct call {
	const char *name;
	long nr;
} call_names[] = {
	{"close", SYS_close},
	{"connect", SYS_connect},
	{"fcntl", SYS_fcntl},
	{"getpgid", SYS_getpgid},
	{"getpid", SYS_getpid},
	{"getppid", SYS_getppid},
	{"getpriority", SYS_getpriority},
	{"nanosleep", SYS_nanosleep},
	{"openat", SYS_openat},
	{"read", SYS_read},
	{"renameat", SYS_renameat},
	{"umask", SYS_umask},
	{"unlinkat", SYS_unlinkat},
	{"write", SYS_write},
};

static long call_number(const char *name)
{
	for (size_t i = 0; i < sizeof(call_names) / sizeof(*call_names); i++)
		if (!strcmp(name, call_names[i].name))
			return call_names[i].nr;
	return number(name);
}

struct args {
	long value[6];
	int index[6]; /* is i, or more by base */
	long base[6];
};

/* Copies a string to where 32-bit calls find it. */
static char *low_copy(const char *text)
{
#ifdef MAP_32BIT
	char *copy = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (copy == MAP_FAILED)
		stop("mmap");
	return strcpy(copy, text);
#else
	exit(3);
#endif
}

/* low: the arguments are for a 32-bit call. */
static struct args call_args(struct words w, int low)
{
	static char zeros[2 * PAGE];
	struct args a = {0};
	char *end;

	for (int i = 0; i < w.n && i < 6; i++) {
		char *word = w.at[i];

		a.value[i] = strtol(word, &end, 0);
		a.index[i] = *word == 'i' && (!word[1] || word[1] == '+');
		a.base[i] = a.index[i] && word[1] ? number(word + 2) : 0;
		if (a.index[i] || !*end)
			continue;
		if (!strcmp(word, "zeros"))
			word = low ? low_copy("") : zeros;
		else if (low)
			word = low_copy(word);
		a.value[i] = (long)word;
	}
	return a;
}

INLINE long call_once(long nr, const long *a)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = a[3], r8 __asm__("r8") = a[4], r9 __asm__("r9") = a[5];
	long ret = nr;

	__asm__ volatile("syscall"
			 : "+a"(ret)
			 : "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	return syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
#endif
}

NOINLINE static void work_calls(long nr, long n, struct args *a)
{
	for (long i = 0; i < n; i++) {
		for (int k = 0; k < 6; k++)
			if (a->index[k])
				a->value[k] = i + a->base[k];
		call_once(nr, a->value);
	}
}

static void do_call(struct words w)
{
	struct args a = call_args((struct words){w.at + 3, w.n - 3, 0}, 0);
	const long n = number(w.at[2]);

	work_calls(call_number(w.at[1]), n, &a);
	counts->calls += n;
}

NOINLINE static void work_calls32(long nr, long n, const long *a)
{
	long ret = -ENOSYS;

#ifdef __x86_64__
	for (long i = 0; i < n; i++) {
		ret = nr;
		__asm__ volatile("int $0x80"
				 : "+a"(ret)
				 : "b"(a[0]), "c"(a[1]), "d"(a[2])
				 : "memory", "r8", "r9", "r10", "r11");
	}
#endif
	if ((int)ret == -ENOSYS)
		exit(3);
}

static void do_call32(struct words w)
{
	const struct args a = call_args((struct words){w.at + 3, w.n - 3, 0}, 1);
	const long n = number(w.at[2]);

	work_calls32(number(w.at[1]), n, a.value);
	counts->calls += n;
}

static void do_opens(struct words w)
{
	char bytes[8];

	for (long i = number(w.at[1]); i > 0; i--) {
		const int fd = (int)syscall(SYS_openat, AT_FDCWD, rest(w, 2).at[0], O_RDONLY);

		syscall(SYS_read, fd, bytes, sizeof(bytes));
		syscall(SYS_close, fd);
		counts->opens++;
	}
}

static void do_sends(struct words w)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const ssize_t size = number(rest(w, 2).at[0]);
	const int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(to);
	char bytes[65536] = "";

	if (bind(fd, (void *)&to, len) || getsockname(fd, (void *)&to, &len))
		stop("bind");
	for (long i = number(w.at[1]); i > 0; i--) {
		if (sendto(fd, bytes, (size_t)size, 0, (void *)&to, len) != size ||
		    recv(fd, bytes, sizeof(bytes), 0) != size)
			stop("sendto");
		counts->sends++;
	}
	close(fd);
}

/* ---- memory, time, other threads ---- */

NOINLINE static void work_touch(volatile char *page, long n)
{
	for (long i = 0; i < n; i++)
		page[i * PAGE] = 1;
}

static long n_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_minflt;
}

static void do_faults(struct words w)
{
	const long n = number(w.at[1]);
	const size_t size = (size_t)n * PAGE;
	char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		stop("mmap");
	madvise(pages, size, MADV_NOHUGEPAGE);
	work_touch(pages, 0); /* its code is in memory after that */
	for (long i = 0; w.n > 2 && i < n; i++)
		printf("%lx\n", (unsigned long)pages + (unsigned long)i * PAGE);
	const long before = n_faults();
	work_touch(pages, n);
	counts->faults += n_faults() - before;
	munmap(pages, size);
}

static void do_mallocs(struct words w)
{
	/* By pointers: the compiler must leave the calls as they are. */
	void *(*volatile allocate)(size_t) = malloc;
	void (*volatile release)(void *) = free;

	for (long i = number(w.at[1]); i > 0; i--) {
		release(allocate((size_t)number(rest(w, 2).at[0])));
		counts->mallocs++;
	}
}

static void do_getenvs(struct words w)
{
	char *(*volatile get)(const char *) = getenv;

	for (long i = number(w.at[1]); i > 0; i--)
		get(rest(w, 2).at[0]);
}

NOINLINE static void work_sleep(long us)
{
	const struct timespec t = {us / 1000000, us % 1000000 * 1000};
	const long a[6] = {(long)&t};

	call_once(SYS_nanosleep, a);
	AFTER_CALL();
}

static void do_sleeps(struct words w)
{
	for (long i = number(w.at[1]); i > 0; i--) {
		work_sleep(number(rest(w, 2).at[0]));
		counts->sleeps++;
	}
}

static long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

NOINLINE static void work_burn(long ns)
{
	const long end = cpu_ns() + ns;

	while (cpu_ns() < end)
		for (volatile int i = 0; i < 10000; i++)
			;
}

static void do_burn(struct words w)
{
	work_burn(number(rest(w, 1).at[0]) * 1000000);
}

/* Two threads that wait for each other: turn is whose turn it is. */
struct pair {
	pthread_mutex_t lock, held;
	pthread_cond_t turned;
	int turn;
	long n;
};

static void take_turn(struct pair *p, int mine)
{
	pthread_mutex_lock(&p->lock);
	while (p->turn != mine)
		pthread_cond_wait(&p->turned, &p->lock);
}

static void give_turn(struct pair *p, int other)
{
	p->turn = other;
	pthread_cond_broadcast(&p->turned);
	pthread_mutex_unlock(&p->lock);
}

static void *answer(void *arg)
{
	struct pair *p = arg;

	for (long i = 0; i < p->n; i++) {
		take_turn(p, 1);
		give_turn(p, 0);
	}
	return NULL;
}

static void do_switches(struct words w)
{
	struct pair p = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
			 PTHREAD_COND_INITIALIZER, 1, number(rest(w, 1).at[0])};
	pthread_t other;

	if (pthread_create(&other, NULL, answer, &p))
		stop("pthread_create");
	for (long i = 0; i < p.n; i++) {
		take_turn(&p, 0);
		give_turn(&p, 1);
		counts->switches++;
	}
	pthread_join(other, NULL);
}

/* Until the thread is in a system call and off its CPU: else the kernel says "running". */
static void until_waiting(pid_t tid)
{
	char path[64];
	int nr, n;

	snprintf(path, sizeof(path), "/proc/%d/syscall", tid);
	do {
		FILE *f = fopen(path, "r");

		if (!f)
			stop(path);
		n = fscanf(f, "%d", &nr);
		fclose(f);
	} while (n != 1);
}

struct waiter {
	pthread_mutex_t lock;
	_Atomic pid_t tid;
};

NOINLINE static void work_lock(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	pthread_mutex_unlock(lock);
}

static void *lock_once(void *arg)
{
	struct waiter *waiter = arg;

	waiter->tid = (pid_t)syscall(SYS_gettid);
	work_lock(&waiter->lock);
	return NULL;
}

static void do_locks(struct words w)
{
	for (long i = number(rest(w, 1).at[0]); i > 0; i--) {
		struct waiter waiter = {PTHREAD_MUTEX_INITIALIZER, 0};
		pthread_t other;

		pthread_mutex_lock(&waiter.lock);
		if (pthread_create(&other, NULL, lock_once, &waiter))
			stop("pthread_create");
		while (!waiter.tid)
			;
		until_waiting(waiter.tid);
		pthread_mutex_unlock(&waiter.lock);
		pthread_join(other, NULL);
		counts->locks++;
	}
}

/* ---- functions for probes and call chains ---- */

struct item {
	int kind;
	double price;
	char label[12];
};

struct order {
	long id;
	const char *who;
	unsigned small : 5, other : 11;
	struct item items[3];
};

NOINLINE long work_step(long n, const struct order *order);

/* Not static: programs with a symbol table only find it as well. */
NOINLINE long work_step(long n, const struct order *order)
{
	__asm__ volatile("" : : "r"(n), "r"(order) : "memory");
	return n + order->id;
}

static void do_steps(struct words w)
{
	const long n = number(rest(w, 1).at[0]);

	for (long i = 0; i < n; i++) {
		const struct order order = {
			.id = i,
			.who = "somebody",
			.small = i & 31,
			.other = i & 2047,
			.items = {{1, 1.5, "one"}, {2, 2.5, "two"}, {3, 3.5, "three"}},
		};

		work_step(i, &order);
		counts->steps++;
	}
}

NOINLINE static void work_deep(long n, struct words w)
{
	if (n > 1)
		work_deep(n - 1, w);
	else
		run(w);
	AFTER_CALL();
}

static void do_deep(struct words w)
{
	work_deep(number(w.at[1]), rest(w, 2));
}

NOINLINE static void work_way(long way, long bits, struct words w)
{
	if (!bits) {
		run(w);
	} else if (way & 1) {
		work_way(way >> 1, bits - 1, w);
		__asm__ volatile("# the odd way");
	} else {
		work_way(way >> 1, bits - 1, w);
		__asm__ volatile("# the even way");
	}
	AFTER_CALL();
}

static void do_ways(struct words w)
{
	const long bits = number(w.at[1]);

	for (long i = 0; i < 1L << bits; i++)
		work_way(i, bits, rest(w, 2));
}

/* names: the functions that are still to be called, separated by commas. */
INLINE void run_in(const char *names, struct words w);
#define FUNCTION(name)                                                                             \
	NOINLINE static void name(const char *names, struct words w)                               \
	{                                                                                          \
		run_in(names, w);                                                                  \
		AFTER_CALL();                                                                      \
	}
#define FUNCTIONS(x)  x(work_outer) x(work_middle) x(work_inner) x(work_left) x(work_right)
#define DECLARE(name) static void name(const char *names, struct words w);
FUNCTIONS(DECLARE)

INLINE void run_in(const char *names, struct words w)
{
	const size_t len = strcspn(names, ",");
	const char *next = names + len + (names[len] == ',');

	if (!len)
		run(w);
#define CALL(name) else if (len == strlen(#name) && !strncmp(names, #name, len)) name(next, w);
	FUNCTIONS(CALL)
	else wrong((struct words){(char *[]){(char *)names}, 1, 0});
}

FUNCTIONS(FUNCTION)

static void do_in(struct words w)
{
	run_in(w.at[1], rest(w, 2));
}

static void do_jit(struct words w)
{
	/* mov $95, %eax; mov $18, %edi; syscall; ret */
	static const char code[] = "\xb8\x5f\0\0\0\xbf\x12\0\0\0\x0f\x05\xc3";
	void *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	char path[64];

	if (at == MAP_FAILED)
		stop("mmap");
	memcpy(at, code, sizeof(code));
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	FILE *f = fopen(path, "w");
	if (!f)
		stop(path);
	fprintf(f, "%lx %zx %s\n", (unsigned long)at, sizeof(code), rest(w, 2).at[0]);
	if (w.n > 3 && fchown(fileno(f), (uid_t)number(w.at[3]), (gid_t)number(w.at[3])))
		stop("chown");
	fclose(f);
#ifdef __x86_64__
	for (long i = number(w.at[1]); i > 0; i--)
		((void (*)(void))at)();
#endif
}

/* ---- processes and threads ---- */

static void do_cpu(struct words w)
{
	static cpu_set_t all;
	static int cpu = -1;
	cpu_set_t one;

	(void)w;
	if (cpu < 0)
		sched_getaffinity(0, sizeof(all), &all);
	do
		cpu = (cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(cpu, &all));
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		stop("sched_setaffinity");
}

static void do_forks(struct words w)
{
	const struct words command = rest(w, 2);
	int status;

	for (long i = number(w.at[1]); i > 0; i--) {
		fflush(stdout);
		const pid_t pid = fork();

		if (!pid) {
			run(command);
			fflush(stdout);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			stop("fork");
		counts->forks++;
	}
}

static void do_pauses(struct words w)
{
	const long n = number(rest(w, 1).at[0]);
	pid_t pids[MAX_WORDS];

	if (n > MAX_WORDS)
		wrong(w);
	fflush(stdout);
	for (long i = 0; i < n; i++) {
		pids[i] = fork();
		if (pids[i] < 0)
			stop("fork");
		for (; !pids[i];)
			pause();
	}
	for (long i = 0; i < n; i++)
		until_waiting(pids[i]);
	for (long i = 0; i < n; i++)
		kill(pids[i], SIGKILL);
	for (long i = 0; i < n; i++)
		waitpid(pids[i], NULL, 0);
	counts->forks += n;
}

static void *run_thread(void *arg)
{
	run(*(struct words *)arg);
	return NULL;
}

static void do_threads(struct words w)
{
	struct words command = rest(w, 2);
	const long n = number(w.at[1]);
	pthread_t ids[MAX_WORDS];

	if (n > MAX_WORDS)
		wrong(w);
	for (long i = 0; i < n; i++)
		if (pthread_create(&ids[i], NULL, run_thread, &command))
			stop("pthread_create");
	for (long i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	counts->threads += n;
}

static void do_exec(struct words w)
{
	char *argv[MAX_WORDS + 1] = {0};

	fflush(stdout);
	memcpy(argv, rest(w, 1).at, (size_t)(w.n - 1) * sizeof(*argv));
	execvp(argv[0], argv);
	exit(127);
}

static void do_repeat(struct words w)
{
	for (long i = number(w.at[1]); i > 0; i--)
		run(rest(w, 2));
}

static void do_forever(struct words w)
{
	for (;;)
		run(rest(w, 1));
}

static void do_until(struct words w)
{
	while (access(w.at[1], F_OK))
		run(rest(w, 2));
}

/* ---- the rest ---- */

static void do_name(struct words w)
{
	prctl(PR_SET_NAME, rest(w, 1).at[0]);
}

static void do_dumpable(struct words w)
{
	prctl(PR_SET_DUMPABLE, number(rest(w, 1).at[0]));
}

static void do_wait(struct words w)
{
	const int fd = open(rest(w, 1).at[0], O_RDONLY);
	char byte;

	if (fd < 0 || read(fd, &byte, 1) < 0)
		stop(w.at[1]);
	close(fd);
}

static void do_line(struct words w)
{
	int c;

	while ((c = getchar()) != '\n')
		if (c == EOF)
			exit(1);
}

static void do_kill(struct words w)
{
	fflush(stdout);
	kill(getpid(), (int)number(rest(w, 1).at[0]));
}

static void do_say(struct words w)
{
	for (int i = 1; i < w.n; i++)
		printf("%s%s", w.at[i], i + 1 < w.n ? " " : "\n");
}

static void do_pid(struct words w)
{
	printf("%d\n", getpid());
}

static void do_tid(struct words w)
{
	printf("%ld\n", syscall(SYS_gettid));
}

static void do_counts(struct words w)
{
	printf("calls %ld\nopens %ld\nsends %ld\nfaults %ld\nmallocs %ld\nsleeps %ld\nlocks %ld\n"
	       "switches %ld\nsteps %ld\nforks %ld\nthreads %ld\n",
	       counts->calls, counts->opens, counts->sends, counts->faults, counts->mallocs,
	       counts->sleeps, counts->locks, counts->switches, counts->steps, counts->forks,
	       counts->threads);
}

static void do_exit(struct words w)
{
	exit((int)number(rest(w, 1).at[0]));
}

/* With the number of words that each has at least after its name. */
#define COMMANDS(x)                                                                                \
	x(burn, 1) x(call, 2) x(call32, 2) x(counts, 0) x(cpu, 0) x(deep, 2) x(dumpable, 1)        \
		x(exec, 1) x(exit, 1) x(faults, 1) x(forever, 1) x(forks, 2) x(getenvs, 2)         \
			x(in, 2) x(jit, 2) x(kill, 1) x(line, 0) x(locks, 1) x(mallocs, 2)         \
				x(name, 1) x(opens, 2) x(pauses, 1) x(pid, 0) x(repeat, 2)         \
					x(say, 1) x(sends, 2) x(sleeps, 2) x(steps, 1)             \
						x(switches, 1) x(threads, 2) x(tid, 0) x(until, 2) \
							x(wait, 1) x(ways, 2)
#define COMMAND(name, n) {#name, do_##name, n},

static const struct command {
	const char *name;
	void (*fn)(struct words w);
	int n_args;
} commands[] = {COMMANDS(COMMAND)};

INLINE void run_command(struct words w)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(w.at[0], commands[i].name))
			continue;
		if (w.n <= commands[i].n_args)
			wrong(w);
		commands[i].fn(w);
		return;
	}
	wrong(w);
}

static void run(struct words w)
{
	const char *separator = w.level ? "+" : ",";

	for (int from = 0, to; from < w.n; from = to + 1) {
		for (to = from; to < w.n && strcmp(w.at[to], separator); to++)
			;
		if (to == from)
			wrong(w);
		run_command((struct words){w.at + from, to - from, w.level});
	}
	AFTER_CALL();
}

static void answer_lines(void)
{
	char line[4096], *at[MAX_WORDS];

	puts("ready");
	while (fgets(line, sizeof(line), stdin)) {
		struct words w = {at, 0, 0};

		for (char *word = strtok(line, " \n"); word && w.n < MAX_WORDS;
		     word = strtok(NULL, " \n"))
			at[w.n++] = word;
		run(w);
		puts("ok");
	}
}

int main(int argc, char **argv)
{
	counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (counts == MAP_FAILED)
		stop("mmap");
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc > 1)
		run((struct words){argv + 1, argc - 1, 0});
	else
		answer_lines();
	return 0;
}
