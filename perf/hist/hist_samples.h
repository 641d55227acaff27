/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Single samples of a row, of which so many are kept that a user can look at what happened around
 * some of them: perf report --samples.
 */
#ifndef PB_PERF_HIST_HIST_SAMPLES_H
#define PB_PERF_HIST_HIST_SAMPLES_H

#include "lib/base/arena.h"
#include "show/result.h"

struct hist_samples {
	struct result_sample *v;
	uint32_t n, room;
	uint64_t seen; /* how many there were, of which n are kept */
};

/*
 * One more, of which at most `most` are kept: each as likely as another, whenever it came. *to:
 * NULL at first. It stands for weight of them. false: no memory.
 */
bool hist_samples_add(struct hist_samples **to, struct arena *arena, uint32_t most,
		      const struct result_sample *sample, uint64_t weight);
/* Those of another row; NULL: none. */
bool hist_samples_merge(struct hist_samples **to, struct arena *arena, uint32_t most,
			const struct hist_samples *from);

/* A copy in the order of time; *n: how many. NULL: no memory. */
const struct result_sample *hist_samples_sorted(const struct hist_samples *samples,
						struct arena *arena, size_t *n);

#endif
