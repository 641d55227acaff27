// SPDX-License-Identifier: BSD-2-Clause
/* The stacks that were seen, and their chains: equal ones are one. */
#include "perf/hist/internal.h"

#include <stdlib.h>
#include <string.h>

struct chain_slot {
	uint64_t hash;
	const struct result_frame *const *frames;
	size_t n;
};

static bool chains_grow(struct hist *h)
{
	size_t slots = h->chain_mask ? (h->chain_mask + 1) * 2 : 1024;
	struct chain_slot *grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return false;
	for (size_t i = 0; h->chain_mask && i <= h->chain_mask; i++) {
		const struct chain_slot *s = &h->chain_slots[i];
		size_t at = s->hash & (slots - 1);

		if (!s->frames)
			continue;
		while (grown[at].frames)
			at = (at + 1) & (slots - 1);
		grown[at] = *s;
	}
	free(h->chain_slots);
	h->chain_slots = grown;
	h->chain_mask = slots - 1;
	return true;
}

const struct result_frame *const *hist_chain_intern(struct hist *h,
						    const struct result_frame **frames, size_t n)
{
	uint64_t hash = n;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15ull;
	hash = hash_u64(hash);
	if (h->n_chains * 4 >= h->chain_mask * 3 && !chains_grow(h))
		return NULL;
	for (size_t at = hash & h->chain_mask;; at = (at + 1) & h->chain_mask) {
		struct chain_slot *s = &h->chain_slots[at];

		if (!s->frames) {
			const struct result_frame **copy =
				arena_alloc(&h->arena, n * sizeof(*frames) + !n);
			if (!copy)
				return NULL;
			memcpy(copy, frames, n * sizeof(*frames));
			*s = (struct chain_slot){hash, copy, n};
			h->n_chains++;
			return copy;
		}
		if (s->hash == hash && s->n == n && !memcmp(s->frames, frames, n * sizeof(*frames)))
			return s->frames;
	}
}

static uint64_t stack_hash(const struct hist_stack *s, size_t n_values)
{
	uint64_t hash = hash_u64((uintptr_t)s->leaf ^ hash_u64((uintptr_t)s->chain));

	hash ^= hash_u64((uintptr_t)s->cgroup);
	hash ^= (uintptr_t)s->comm * 31 + (uintptr_t)s->thread * 37 + (uintptr_t)s->trace * 41;
	hash ^= hash_u64(s->time * 3 + (uint64_t)(uint32_t)s->cpu * 5 + s->cpumode * 7 +
			 s->filtered);
	if (s->numbers)
		hash ^= hash_u64(s->numbers->addr + s->numbers->dso_size * 11 +
				 s->numbers->weight * 13 + s->numbers->ins_lat * 17 +
				 s->numbers->code_page_size * 19 + s->numbers->parallelism * 23 +
				 s->numbers->cgroup_ino * 29 + s->numbers->cgroup_dev * 31 +
				 (uint64_t)s->numbers->socket * 43);
	if (s->numbers)
		hash ^= hash_u64(s->numbers->retire_lat * 47 + s->numbers->transaction);
	if (s->branch)
		hash ^= hash_bytes(s->branch, sizeof(*s->branch));
	if (s->access)
		hash ^= hash_bytes(s->access, sizeof(*s->access));
	for (size_t i = 0; i < n_values; i++)
		if (s->values[i])
			hash = hash_u64(hash ^ (uintptr_t)s->values[i]) + i;
	return hash_u64(hash);
}

/* b's thread tells stacks apart only when it is a key: then it is not NULL. */
static bool stack_equal(const struct hist_stack *a, const struct hist_stack *b, size_t n_values)
{
	return a->leaf == b->leaf && a->chain == b->chain && a->comm == b->comm &&
	       (!b->thread || a->thread == b->thread) && a->trace == b->trace &&
	       a->time == b->time && a->cpu == b->cpu && a->cpumode == b->cpumode &&
	       a->filtered == b->filtered && a->cgroup == b->cgroup &&
	       (!a->numbers || !memcmp(a->numbers, b->numbers, sizeof(*a->numbers))) &&
	       (!a->branch || !memcmp(a->branch, b->branch, sizeof(*a->branch))) &&
	       (!a->access || !memcmp(a->access, b->access, sizeof(*a->access))) &&
	       (!a->values || !memcmp(a->values, b->values, n_values * sizeof(*a->values)));
}

static bool stacks_grow(struct hist *h)
{
	size_t slots = h->stack_mask ? (h->stack_mask + 1) * 2 : 1024;
	struct hist_stack **grown = calloc(slots, sizeof(*grown)), **it;

	if (!grown)
		return false;
	vec_for_each (it, &h->stacks) {
		size_t at = (*it)->hash & (slots - 1);

		while (grown[at])
			at = (at + 1) & (slots - 1);
		grown[at] = *it;
	}
	free(h->stack_slots);
	h->stack_slots = grown;
	h->stack_mask = slots - 1;
	return true;
}

/*
 * With -v, the address behind a function is that of a sample of its row, not of any row. Of a DSO
 * alone it says what its row is of.
 */
static bool keep_ips(struct hist *h, struct hist_stack *s)
{
	const size_t size = s->depth * sizeof(*s->ips);
	const bool keeps = h->spec->long_dso || h->spec->only_dsos;
	uint64_t *ips = keeps ? arena_alloc(&h->arena, size) : NULL;

	if (ips && size) /* a sample without a call chain has no array */
		memcpy(ips, s->ips, size);
	s->ips = ips;
	return ips || !keeps;
}

/* A copy of the values, which are the caller's. */
static bool keep_values(struct hist *h, struct hist_stack *s)
{
	size_t size = h->spec->n_dynamic * sizeof(*s->values);
	const struct hist_value **values = arena_alloc(&h->arena, size);

	if (values)
		s->values = memcpy(values, s->values, size);
	return values;
}

static bool keep_numbers(struct hist *h, struct hist_stack *s)
{
	struct hist_numbers *numbers = arena_alloc(&h->arena, sizeof(*numbers));

	if (numbers) {
		*numbers = *s->numbers;
		s->numbers = numbers;
	}
	return numbers;
}

static bool keep_branch(struct hist *h, struct hist_stack *s)
{
	struct hist_branch *branch = arena_alloc(&h->arena, sizeof(*branch));

	if (branch)
		s->branch = memcpy(branch, s->branch, sizeof(*branch));
	return branch;
}

static bool keep_access(struct hist *h, struct hist_stack *s)
{
	struct hist_access *access = arena_alloc(&h->arena, sizeof(*access));

	if (access)
		s->access = memcpy(access, s->access, sizeof(*access));
	return access;
}

struct error *hist_stack_add(struct hist *h, const struct hist_stack *s,
			     const struct thread *thread, struct hist_stack **out)
{
	const uint64_t hash = stack_hash(s, s->values ? h->spec->n_dynamic : 0);

	if (h->stacks.n * 4 >= h->stack_mask * 3 && !stacks_grow(h))
		return error_nomem();
	for (size_t at = hash & h->stack_mask;; at = (at + 1) & h->stack_mask) {
		struct hist_stack *known = h->stack_slots[at];

		if (!known) {
			struct hist_stack **slot = vec_push(&h->stacks);

			known = slot ? arena_alloc(&h->arena, sizeof(*known)) : NULL;
			if (!known)
				return error_nomem();
			*known = *s;
			known->hash = hash;
			known->thread = thread;
			known->weight.period = (double)s->period;
			known->weight.n = (double)s->n;
			if (!keep_ips(h, known) || (s->values && !keep_values(h, known)) ||
			    (s->numbers && !keep_numbers(h, known)) ||
			    (s->branch && !keep_branch(h, known)) ||
			    (s->access && !keep_access(h, known)))
				return error_nomem();
			*out = h->stack_slots[at] = *slot = known;
			return NULL;
		}
		if (known->hash == hash && stack_equal(known, s, h->spec->n_dynamic)) {
			hist_stack_count(known, s->period, s->latency, s->n);
			*out = known;
			return NULL;
		}
	}
}
