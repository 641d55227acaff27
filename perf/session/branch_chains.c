// SPDX-License-Identifier: BSD-2-Clause
/*
 * Call chains that the CPU has kept as branch records (record --call-graph lbr): the records of a
 * call stack are the calls that have not returned yet, the last one first. The frames in user space
 * are the sample's own address and then where each call was. The kernel's chain is walked by frame
 * pointers and has them too, so the records replace what is behind PERF_CONTEXT_USER, as in perf
 * (tools/perf/util/machine.c, resolve_lbr_callchain_sample).
 */
#include "perf/session/internal.h"

#include <stdlib.h>

enum { BRANCH_WORDS = 3 }; /* from, to, flags */

/* The words of the chain up to the marker of user space; 0: there is none. */
static uint64_t words_of_kernel(const struct u64_array *chain)
{
	for (uint64_t i = 0; i < chain->n; i++)
		if (u64_array_at(chain, i) == PERF_CONTEXT_USER)
			return i + 1;
	return 0;
}

struct error *branch_chain_use(struct session *s, struct sample *sample)
{
	const uint64_t wanted = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK;
	const struct u64_array *branches = &sample->branches;
	const uint64_t n_branches = branches->n / BRANCH_WORDS;

	if ((sample->has & wanted) != wanted || !n_branches)
		return NULL;
	const uint64_t kernel = words_of_kernel(&sample->chain);
	if (!kernel)
		return NULL;
	/* both are of one record */
	const uint64_t n = kernel + 1 + n_branches;
	if (n > s->branch_chain_room) {
		uint64_t *more = realloc(s->branch_chain, n * sizeof(*more));

		if (!more)
			return error_nomem();
		s->branch_chain = more;
		s->branch_chain_room = n;
	}
	uint64_t *to = s->branch_chain;
	for (uint64_t i = 0; i < kernel; i++)
		*to++ = u64_array_at(&sample->chain, i);
	/* a sample in the kernel: user space is where the last call went */
	*to++ = kernel == 1 && sample->ip ? sample->ip : u64_array_at(branches, 1);
	for (uint64_t i = 0; i < n_branches; i++)
		*to++ = u64_array_at(branches, i * BRANCH_WORDS);
	sample->chain = (struct u64_array){.bytes = (const uint8_t *)s->branch_chain, .n = n};
	return NULL;
}
