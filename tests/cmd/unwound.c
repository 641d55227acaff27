// SPDX-License-Identifier: BSD-2-Clause
/*
 * Calls getppid() from stacks that are hard to unwind; compiled without frame pointers. The
 * argument chooses the stack.
 */
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

/* What follows a call keeps the compiler from making it a jump. */
static volatile int sink;

NOINLINE static void hit(void)
{
	sink += getppid() > 0;
}

NOINLINE static void recurse(int depth)
{
	/* A frame whose size is known at run time only needs a frame pointer of its own. */
	char *bytes = depth % 3 ? NULL : alloca((size_t)depth * 16 + 16);

	if (bytes)
		memset(bytes, depth, 16);
	if (depth)
		recurse(depth - 1);
	else
		hit();
	sink += bytes ? bytes[0] : 0;
}

NOINLINE static void large_frame(void)
{
	char bytes[12000];

	memset(bytes, 1, sizeof(bytes));
	hit();
	sink += bytes[sink & 1];
}

NOINLINE static int compare(const void *a, const void *b)
{
	hit();
	return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort(void)
{
	int numbers[] = {2, 1};

	qsort(numbers, 2, sizeof(*numbers), compare);
	sink += numbers[0];
}

static void handler(int sig)
{
	hit();
	sink++;
}

NOINLINE static void interrupted(void)
{
	raise(SIGUSR1);
	sink++;
}

NOINLINE static void with_signal(int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags};
	stack_t stack = {.ss_size = 65536};

	stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &act, NULL);
	interrupted();
	sink++;
}

/* Its call is its last instruction: the return address is that of the next function. */
NOINLINE __attribute__((noreturn)) static void never_returns(void)
{
	hit();
	exit(0);
}

NOINLINE static void calls_exit(int n)
{
	if (n < 100)
		never_returns();
	sink++;
}

NOINLINE static void *thread_main(void *arg)
{
	recurse(3);
	return NULL;
}

NOINLINE static void in_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
}

/* Machine code that somebody made, with a frame pointer: it calls its argument. */
NOINLINE static void generated(void)
{
#ifdef __x86_64__
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void (*call)(void (*)(void));

	memcpy(page, code, sizeof(code));
	memcpy(&call, &page, sizeof(call));
	call(hit);
#endif
	sink++;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	setvbuf(stdout, NULL, _IONBF, 0);
	if (!strcmp(what, "recurse"))
		recurse(10);
	else if (!strcmp(what, "deep"))
		recurse(140);
	else if (!strcmp(what, "large"))
		large_frame();
	else if (!strcmp(what, "sort"))
		sort();
	else if (!strcmp(what, "signal"))
		with_signal(0);
	else if (!strcmp(what, "altstack"))
		with_signal(SA_ONSTACK);
	else if (!strcmp(what, "exit"))
		calls_exit(argc);
	else if (!strcmp(what, "thread"))
		in_thread();
	else if (!strcmp(what, "generated"))
		generated();
	return 0;
}
