// SPDX-License-Identifier: BSD-2-Clause
/*
 * many_threads N: a process with N threads of the name pbt_many. For each line of its standard
 * input it prints a line when that is done:
 *
 *	each	each of its other threads calls getppid() once and touches a page of its own for the
 *		first time, in pbt_touch(); the answer has the number of these threads
 *	new K	K further threads do the same, and end
 *	fork	a child does the same, and ends
 *	spin	one thread keeps a CPU busy from now on
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	STACK = 16384,
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER, done = PTHREAD_COND_INITIALIZER;
static unsigned turns, n_ready, n_done;

__attribute__((noinline)) static void pbt_touch(volatile char *page)
{
	*page = 1;
	__asm__("");
}

static void act(void)
{
	char *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	syscall(SYS_getppid);
	if (page != MAP_FAILED) {
		pbt_touch(page);
		munmap(page, PAGE);
	}
}

static void *take_turns(void *arg)
{
	pthread_mutex_lock(&mutex);
	n_ready++;
	pthread_cond_signal(&done);
	for (unsigned mine = 1;; mine++) {
		while (turns < mine)
			pthread_cond_wait(&turn, &mutex);
		pthread_mutex_unlock(&mutex);
		act();
		pthread_mutex_lock(&mutex);
		n_done++;
		pthread_cond_signal(&done);
	}
	return arg;
}

static void *act_once(void *arg)
{
	act();
	return arg;
}

static void *spin(void *arg)
{
	for (;;)
		pbt_touch(arg);
	return arg;
}

static pthread_t start(void *(*fn)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	const int err = pthread_create(&thread, &attr, fn, arg);
	if (err) {
		printf("cannot start a thread: %s\n", strerror(err));
		exit(1);
	}
	pthread_attr_destroy(&attr);
	return thread;
}

int main(int argc, char **argv)
{
	const unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) - 1 : 0;
	static char page[PAGE];
	char line[64];

	prctl(PR_SET_NAME, "pbt_many");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (unsigned i = 0; i < n; i++)
		start(take_turns, NULL);
	pthread_mutex_lock(&mutex);
	while (n_ready < n)
		pthread_cond_wait(&done, &mutex);
	pthread_mutex_unlock(&mutex);
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = 0;
		if (!strcmp(line, "each")) {
			pthread_mutex_lock(&mutex);
			n_done = 0;
			turns++;
			pthread_cond_broadcast(&turn);
			while (n_done < n)
				pthread_cond_wait(&done, &mutex);
			pthread_mutex_unlock(&mutex);
			printf("each %u\n", n);
			continue;
		}
		for (int i = !strncmp(line, "new ", 4) ? atoi(line + 4) : 0; i > 0; i--)
			pthread_join(start(act_once, NULL), NULL);
		if (!strcmp(line, "fork")) {
			const pid_t pid = fork();

			if (!pid) {
				act();
				_exit(0);
			}
			waitpid(pid, NULL, 0);
		}
		if (!strcmp(line, "spin"))
			start(spin, page);
		printf("%s\n", line);
	}
	return 0;
}
