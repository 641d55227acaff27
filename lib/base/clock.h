/* SPDX-License-Identifier: BSD-2-Clause */
/* Clocks of the kernel as one number. */
#ifndef PB_LIB_BASE_CLOCK_H
#define PB_LIB_BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

/*
 * What a clock shows more than another one, in ns. A process that does not run between two readings
 * would be taken for a difference of the clocks: of several pairs the closest counts.
 */
static inline int64_t clock_ahead(clockid_t clock, clockid_t other)
{
	uint64_t closest = UINT64_MAX;
	int64_t ahead = 0;

	for (int i = 0; i < 5 && closest > 10000; i++) {
		const uint64_t before = clock_ns(other), now = clock_ns(clock);
		const uint64_t between = clock_ns(other) - before;

		if (between < closest) {
			closest = between;
			ahead = (int64_t)(now - before - between / 2);
		}
	}
	return ahead;
}

/* A clock in milliseconds: deadlines. */
static inline int64_t clock_ms(clockid_t clock)
{
	return (int64_t)(clock_ns(clock) / 1000000);
}

/* In names of files, as perf's: "2026112314213307", to hundredths of a second. */
enum { CLOCK_DATE_SIZE = 24 };

/* Local time; false: it has none. */
static inline bool clock_date(struct timespec when, char out[CLOCK_DATE_SIZE])
{
	struct tm tm;

	if (!localtime_r(&when.tv_sec, &tm))
		return false;
	const size_t n = strftime(out, CLOCK_DATE_SIZE, "%Y%m%d%H%M%S", &tm);
	if (!n || n + 3 > CLOCK_DATE_SIZE)
		return false;
	snprintf(out + n, CLOCK_DATE_SIZE - n, "%02u", (unsigned)(when.tv_nsec / 10000000) % 100);
	return true;
}

#endif
