// SPDX-License-Identifier: BSD-2-Clause
#include "trace/waiting_calls.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace_maps.h"

enum {
	STACKS_MIN = 1024, /* so few chains are not worth a search for those to forget */
};

struct waiting_stack {
	struct trace_stack_key key;
	struct call_stack *stack;
};

static uint64_t hash_of(uint64_t exit_ns, uint32_t tid)
{
	return hash_u64(exit_ns) + tid;
}

static void free_stack(struct waiting_stack *stack)
{
	if (stack)
		free(stack->stack);
	free(stack);
}

void waiting_calls_deinit(struct waiting_calls *waiting)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&waiting->calls, &pos)))
		free(slot->value);
	pos = 0;
	while ((slot = u64map_next(&waiting->stacks, &pos)))
		free_stack(slot->value);
	u64map_deinit(&waiting->calls);
	u64map_deinit(&waiting->stacks);
}

struct error *waiting_calls_add(struct waiting_calls *waiting, const struct trace_record *rec,
				struct call_stack **stack)
{
	const uint64_t hash = hash_of(rec->exit_ns, rec->tid);
	struct waiting_stack *known = u64map_remove(&waiting->stacks, hash);

	*stack = NULL;
	if (known) {
		*stack = known->stack;
		free(known);
		return NULL;
	}
	struct trace_record *copy = malloc(rec->size);
	if (!copy)
		return error_nomem();
	memcpy(copy, rec, rec->size);
	if (u64map_put(&waiting->calls, hash, copy))
		return NULL;
	free(copy);
	return error_nomem();
}

struct error *waiting_calls_add_stack(struct waiting_calls *waiting,
				      const struct trace_stack_key *key, struct call_stack **stack,
				      struct trace_record **rec)
{
	const uint64_t hash = hash_of(key->exit_ns, key->tid);

	*rec = u64map_remove(&waiting->calls, hash);
	if (*rec)
		return NULL;
	struct waiting_stack *kept = malloc(sizeof(*kept));
	if (!kept)
		return error_nomem();
	*kept = (struct waiting_stack){.key = *key, .stack = *stack};
	if (!u64map_put(&waiting->stacks, hash, kept)) {
		free(kept);
		return error_nomem();
	}
	*stack = NULL;
	return NULL;
}

void waiting_calls_forget(struct waiting_calls *waiting, uint64_t before)
{
	struct u64map kept = {0};
	struct u64map_slot *slot;
	size_t pos = 0;

	if (waiting->stacks.n < STACKS_MIN)
		return;
	while ((slot = u64map_next(&waiting->stacks, &pos))) {
		struct waiting_stack *stack = slot->value;

		/* what there is no memory for is forgotten, too */
		if (stack->key.exit_ns < before || !u64map_put(&kept, slot->key, stack))
			free_stack(stack);
	}
	u64map_deinit(&waiting->stacks);
	waiting->stacks = kept;
}

struct trace_record *waiting_calls_take(struct waiting_calls *waiting)
{
	size_t pos = 0;
	struct u64map_slot *slot = u64map_next(&waiting->calls, &pos);

	return slot ? u64map_remove(&waiting->calls, slot->key) : NULL;
}
