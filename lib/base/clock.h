/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks of the kernel as one number. */
#ifndef PB_LIB_BASE_CLOCK_H
#define PB_LIB_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t timespec_ns(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* CLOCK_MONOTONIC, CLOCK_REALTIME, … in nanoseconds. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return timespec_ns(now);
}

/* The same in milliseconds: deadlines. */
static inline int64_t clock_ms(clockid_t clock)
{
	return (int64_t)(clock_ns(clock) / 1000000);
}

#endif
