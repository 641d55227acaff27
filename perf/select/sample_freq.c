// SPDX-License-Identifier: BSD-2-Clause
#include <inttypes.h>

#include "lib/base/log.h"
#include "lib/sys/sys.h"
#include "perf/select/select.h"

#define SYSCTL "kernel.perf_event_max_sample_rate"

struct error *select_freq(const struct sys_roots *roots, const struct select_freq_opts *opts,
			  uint64_t *freq)
{
	int max = 0;

	/* if it cannot be read, the kernel refuses what is too much */
	error_free(sys_sysctl(roots, "kernel/perf_event_max_sample_rate", &max));
	*freq = opts->asked ? opts->asked : opts->otherwise;
	if (max <= 0 && opts->asked == SELECT_FREQ_MAX)
		*freq = opts->otherwise;
	if (max <= 0 || *freq <= (uint64_t)max)
		return NULL;
	*freq = (uint64_t)max;
	if (!opts->asked || opts->asked == SELECT_FREQ_MAX)
		return NULL;
	if (opts->strict)
		return error_hint(error_new(EINVAL,
					    "-F %" PRIu64 " is above the kernel's limit of %d Hz",
					    opts->asked, max),
				  "sysctl " SYSCTL " raises the limit; without --strict-freq it "
				  "is used");
	log_warn(opts->log,
		 "-F %" PRIu64 " is above the kernel's limit: using %d Hz; sysctl " SYSCTL
		 " raises the limit",
		 opts->asked, max);
	return NULL;
}
