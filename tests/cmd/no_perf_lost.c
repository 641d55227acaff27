// SPDX-License-Identifier: BSD-2-Clause
/* LD_PRELOAD: a kernel before 6.0, which does not count the lost samples of an event. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LOST_SAMPLES_FORMAT (1u << 4) /* PERF_FORMAT_LOST, which older headers do not have */

/* Most calls have fewer than six arguments: what is read for the others is nobody's, and unused. */
__attribute__((no_sanitize_address)) long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list args;

	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_perf_event_open &&
	    ((const struct perf_event_attr *)a[0])->read_format & LOST_SAMPLES_FORMAT) {
		errno = EINVAL;
		return -1;
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
