/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CPUs that go offline and come back. The kernel takes events of a CPU (perf_event_open(2) with
 * pid -1) off that CPU when it goes offline, for good: they must be opened again when it is back.
 *
 *	TRY(cpu_watch_new(&opts, &watch));	// before loop_turn()
 *	…
 *	const struct cpu_gap *gaps = cpu_watch_gaps(watch, &n);
 *	cpu_watch_free(watch);			// before loop_free()
 */
#ifndef PB_WORK_CPU_WATCH_H
#define PB_WORK_CPU_WATCH_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/sys/sys.h"
#include "work/loop.h"

struct cpu_watch;

struct cpu_watch_opts {
	struct loop *loop;
	const struct sys_roots *roots;
	const struct log *log;
	const struct sys_cpus *only; /* NULL: all */
	/*
	 * Opens again what the CPU has lost. An error is a warning, and fn is called again a second
	 * later, as long as the CPU is online.
	 */
	struct error *(*fn)(void *ctx, unsigned cpu);
	void *ctx;
};

/* A CPU that was offline, and for how long in all until fn succeeded, or until now. */
struct cpu_gap {
	unsigned cpu;
	uint64_t ns;
	uint64_t since; /* monotonic; 0: it is back */
	bool told;	/* why fn fails */
};

struct error *cpu_watch_new(const struct cpu_watch_opts *opts, struct cpu_watch **out);
void cpu_watch_free(struct cpu_watch *watch);
DEFINE_FREEP(struct cpu_watch, cpu_watch_free)

/* Borrowed until the next turn of the loop. Those that are not back count until now. */
const struct cpu_gap *cpu_watch_gaps(struct cpu_watch *watch, size_t *n);
/* A warning for each of them. watch NULL: none. */
void cpu_watch_warn(struct cpu_watch *watch, const struct log *log);

#endif
