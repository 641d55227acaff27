/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a loaded program costs while it is watched: how often it ran and for how
 * long, and what the CPU's counters say of it.
 *
 *	TRY(profile_begin(fd, names, n, &profile));
 *	… wait …
 *	TRY(profile_end(profile));
 *	… profile_counts(profile), profile_values(profile, &n) …
 *	profile_free(profile);
 *
 * Everything in the kernel hangs on this process's descriptors.
 */
#ifndef PB_INSPECT_PROFILE_H
#define PB_INSPECT_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

struct profile_counts {
	uint64_t runs, ns; /* of the program, all CPUs together */
	uint64_t missed;   /* runs that the kernel left out */
	uint64_t span_ns;  /* how long it was watched */
};

struct profile_value {
	const char *metric;
	char *why_not;		   /* NULL: it was measured */
	uint64_t value;		   /* UINT64_MAX: that or more */
	uint64_t enabled, running; /* ns; they differ where counters had to be shared */
	uint64_t runs;		   /* those that were measured from their begin to their end */
};

/*
 * Begins. With n = 0 the metrics are those of the hardware. Usage: no such
 * metric, with near names; EPERM, ENOTSUP: not even runs are counted. A metric
 * that cannot be measured is no error: its why_not tells.
 */
struct prog_profile;
struct error *profile_begin(int prog_fd, char *const *metrics, size_t n, struct prog_profile **out);
struct error *profile_end(struct prog_profile *profile);
void profile_free(struct prog_profile *profile);
DEFINE_FREEP(struct prog_profile, profile_free)

/* After profile_end(); borrowed. */
const struct profile_counts *profile_counts(const struct prog_profile *profile);
const struct profile_value *profile_values(const struct prog_profile *profile, size_t *n);

#endif
