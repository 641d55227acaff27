// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf takes the last chain that it has resolved, of whichever thread: with several threads or CPUs
 * that is often one that has nothing to do with the sample. Here each thread has its own. The
 * frames are those of the other sample, also the innermost one: where both are in one function, as
 * they are if both events count the same thing, that makes no difference.
 */
#include "perf/hist/ref_chains.h"

#include <stdlib.h>
#include <string.h>

struct ref_chain {
	struct u64_array chain; /* of words */
	bool is_unwound;
	uint64_t room, *words;
};

void ref_chains_deinit(struct ref_chains *chains)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&chains->threads, &pos))) {
		struct ref_chain *chain = slot->value;

		free(chain->words);
		free(chain);
	}
	u64map_deinit(&chains->threads);
}

static bool keep(struct ref_chains *chains, uint64_t key, const struct sample *sample)
{
	struct ref_chain *to = u64map_get(&chains->threads, key);
	const struct u64_array *from = &sample->chain;

	if (!to) {
		to = calloc(1, sizeof(*to));
		if (!to || !u64map_put(&chains->threads, key, to)) {
			free(to);
			return false;
		}
	}
	if (from->n > to->room) {
		uint64_t *more = realloc(to->words, from->n * sizeof(*more));

		if (!more)
			return false;
		to->words = more;
		to->room = from->n;
	}
	for (uint64_t i = 0; i < from->n; i++)
		to->words[i] = u64_array_at(from, i);
	to->chain = (struct u64_array){.bytes = (const uint8_t *)to->words, .n = from->n};
	to->is_unwound = sample->is_unwound;
	return true;
}

const struct sample *ref_chains_use(struct ref_chains *chains, const struct session_event *event,
				    const struct sample *sample)
{
	const uint64_t key = (uint64_t)(uint32_t)sample->pid << 32 | (uint32_t)sample->tid;

	if (event_has_chains(event))
		return !sample->chain.n || keep(chains, key, sample) ? sample : NULL;
	const struct ref_chain *last = u64map_get(&chains->threads, key);
	if (!last)
		return sample;
	chains->sample = *sample;
	chains->sample.chain = last->chain;
	chains->sample.is_unwound = last->is_unwound;
	return &chains->sample;
}
