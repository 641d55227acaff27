/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocations that fail on demand. A test program includes this once and is
 * linked with --wrap for each of the three (tests/unit/meson.build).
 */
#ifndef PB_TESTS_UNIT_NOMEM_H
#define PB_TESTS_UNIT_NOMEM_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

/* The linker sends the library's allocations here (--wrap). */
void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);

static long countdown = -1; /* allocations until one fails; -1: none does */
static bool failed;

static bool fails(void)
{
	if (countdown < 0 || countdown-- > 0)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

#endif
