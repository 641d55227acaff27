// SPDX-License-Identifier: BSD-2-Clause
/*
 * LD_PRELOAD: allocation number FAIL_ALLOCATION of the process, counted from 1, fails; no other one
 * does. The count of all is written to the file FAIL_ALLOCATION_COUNT. Its children are left alone.
 * Instead of one, all allocations fail that a library makes whose path has FAIL_ALLOCATION_OF in
 * it. Of a process that ends by SIGSEGV, standard error has the name of the binary whose code did
 * it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

/* glibc's own */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static unsigned long count, wanted; /* of this process */
static const char *library;
static int count_fd = -1;
static pid_t self;

static void on_fault(int sig, siginfo_t *info, void *ctx)
{
	const ucontext_t *uc = ctx;
#if defined(__x86_64__)
	void *at = (void *)uc->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	void *at = (void *)uc->uc_mcontext.pc;
#endif
	Dl_info where;

	(void)info;
	dprintf(2, "SIGSEGV in %s\n",
		dladdr(at, &where) && where.dli_fname ? where.dli_fname : "?");
	signal(sig, SIG_DFL);
}

__attribute__((constructor)) static void begin(void)
{
	const struct sigaction fault = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
	const char *number = getenv("FAIL_ALLOCATION");

	const char *file = getenv("FAIL_ALLOCATION_COUNT");

	/* Now: later the process may have given up the right to. */
	count_fd = file ? open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	self = getpid();
	wanted = number ? strtoul(number, NULL, 10) : 0;
	library = getenv("FAIL_ALLOCATION_OF");
	unsetenv("LD_PRELOAD");
	sigaction(SIGSEGV, &fault, NULL);
	count = 0;
}

__attribute__((destructor)) static void end(void)
{
	if (count_fd >= 0 && getpid() == self)
		dprintf(count_fd, "%lu\n", count);
}

static int is_of_library(void *caller)
{
	Dl_info where;

	return dladdr(caller, &where) && where.dli_fname && strstr(where.dli_fname, library);
}

static int fails(void *caller)
{
	if (getpid() != self)
		return 0;
	const unsigned long n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);

	if (library ? !is_of_library(caller) : n != wanted)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, size);
}
