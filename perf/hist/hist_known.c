// SPDX-License-Identifier: BSD-2-Clause
/*
 * Most samples are like one that came before: the same address, or the same call chain, in the same
 * process. What makes the stack of a sample is then known from its bytes, and its frames need not
 * be looked up one by one.
 *
 * A key has all that hist_add() looks at: where keys of the report look at more than that (a time,
 * a CPU, a weight), nothing is kept. What was mapped is the same as long as session_maps_version()
 * is. Each of many short processes has its own maps, so there may be as many keys as samples;
 * memory is bounded by MAX_SLOTS and MAX_BYTES.
 */
#include "perf/hist/internal.h"

#include <stdlib.h>
#include <string.h>

#define MAX_SLOTS (128 << 10)
#define MAX_BYTES (16 << 20)
#define MAX_CHAIN 128

struct known_stack {
	struct hist_stack *stack;
	const struct map_set *maps;
	uint64_t maps_version;
	const struct thread *thread; /* NULL: not a key */
	const char *comm, *trace;
	uint64_t ip;
	uint32_t n; /* words of the chain */
	uint8_t cpumode;
	bool is_unwound;
	uint8_t chain[]; /* as in the sample */
};

void hist_known_free(struct hist *h)
{
	memo_deinit(&h->known);
}

bool hist_known_helps(const struct hist_spec *spec)
{
	return !spec->live && !spec->keeps && !spec->branches && !spec->accesses &&
	       !spec->branch_history && !spec->n_dynamic && !spec->has[HIST_CPU] &&
	       !spec->has[HIST_TIME] && !hist_keyed_by_cgroup(spec) && !hist_has_numbers(spec);
}

static bool key_of(const struct hist *h, const struct sample *sample, const struct thread *thread,
		   const char *trace, struct known_stack *key)
{
	const bool wants_chain = hist_spec_wants_chain(h->spec);

	if (wants_chain && (sample->chain.n > MAX_CHAIN || sample_has_only_stack(sample)))
		return false;
	*key = (struct known_stack){
		.maps = thread->maps,
		.maps_version = session_maps_version(h->session, thread),
		.thread = hist_keyed_by_thread(h->spec) ? thread : NULL,
		.comm = thread->comm,
		.trace = trace,
		.ip = sample->ip,
		.cpumode = sample->cpumode,
		.is_unwound = sample->is_unwound,
		.n = wants_chain ? (uint32_t)sample->chain.n : 0,
	};
	return true;
}

static uint32_t hash_of(const struct known_stack *key, const struct sample *sample)
{
	uint64_t hash = key->ip ^ (uintptr_t)key->maps * 3 ^ (uintptr_t)key->comm * 5 ^
			(uintptr_t)key->trace * 7 ^ (uintptr_t)key->thread * 11;

	if (key->n)
		hash ^= hash_bytes(sample->chain.bytes, key->n * sizeof(uint64_t));
	return (uint32_t)hash_u64(hash);
}

static bool is_of(const struct known_stack *a, const struct known_stack *b,
		  const struct sample *sample)
{
	return a->ip == b->ip && a->maps == b->maps && a->maps_version == b->maps_version &&
	       a->comm == b->comm && a->trace == b->trace && a->thread == b->thread &&
	       a->cpumode == b->cpumode && a->is_unwound == b->is_unwound && a->n == b->n &&
	       (!a->n || !memcmp(a->chain, sample->chain.bytes, a->n * sizeof(uint64_t)));
}

bool hist_add_known(struct hist *h, const struct sample *sample, const struct session_event *event,
		    const struct thread *thread, const struct hist_context *context)
{
	const char *trace = NULL;
	struct known_stack key;

	if (!h->known.n)
		return false;
	if (hist_wants_trace(h, event)) {
		/* hist_add() has the same error. */
		struct error *err = hist_trace_text(h, event, sample, &trace);

		error_free(err);
		if (err)
			return false;
	}
	if (!key_of(h, sample, thread, trace, &key))
		return false;
	struct memo_at at = memo_first(hash_of(&key, sample));
	const struct known_stack *k;
	do
		k = memo_next(&h->known, &at);
	while (k && !is_of(k, &key, sample));
	if (!k)
		return false;
	hist_stack_count(k->stack, sample->period,
			 hist_latency_of(sample->period, context->parallelism), 1);
	return true;
}

void hist_known_keep(struct hist *h, const struct sample *sample, const struct thread *thread,
		     struct hist_stack *stack)
{
	struct known_stack key;

	if (!key_of(h, sample, thread, stack->trace, &key))
		return;
	h->known.max_slots = MAX_SLOTS;
	h->known.max_bytes = MAX_BYTES;
	const size_t chain = key.n * sizeof(uint64_t);
	struct known_stack *k =
		memo_add(&h->known, hash_of(&key, sample), sizeof(struct known_stack) + chain);
	if (!k)
		return;
	*k = key;
	k->stack = stack;
	if (chain)
		memcpy(k->chain, sample->chain.bytes, chain);
}
