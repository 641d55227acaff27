// SPDX-License-Identifier: BSD-2-Clause
/* Records of calls and their call chains, which come to light in either order. */
#include <stdlib.h>
#include <string.h>

#include "trace/trace_maps.h"
#include "trace/waiting_calls.h"

static void ok(struct error *err)
{
	assert_null(err);
}

static struct trace_record record_of(uint32_t tid, uint64_t exit_ns)
{
	return (struct trace_record){
		.size = sizeof(struct trace_record),
		.tid = tid,
		.exit_ns = exit_ns,
		.flags = TRACE_STACK,
	};
}

static struct trace_stack_key key_of(uint32_t tid, uint64_t exit_ns)
{
	return (struct trace_stack_key){.tid = tid, .exit_ns = exit_ns};
}

static struct call_stack *new_stack(size_t n)
{
	struct call_stack *stack = calloc(1, sizeof(*stack) + n * sizeof(*stack->frames));

	assert_non_null(stack);
	stack->n = n;
	return stack;
}

TEST(the_record_first)
{
	const struct trace_record a = record_of(7, 100), b = record_of(8, 100);
	const struct trace_stack_key key = key_of(7, 100);
	struct waiting_calls waiting = {0};
	struct call_stack *stack;
	struct trace_record *rec;

	ok(waiting_calls_add(&waiting, &a, &stack));
	assert_null(stack);
	ok(waiting_calls_add(&waiting, &b, &stack));
	assert_null(stack);
	/* of two threads whose calls ended at the same time */
	stack = new_stack(2);
	ok(waiting_calls_add_stack(&waiting, &key, &stack, &rec));
	assert_non_null(rec);
	assert_int_equal(rec->tid, 7);
	assert_int_equal(stack->n, 2); /* it is still the caller's */
	free(stack);
	free(rec);
	/* the other one never gets its chain */
	rec = waiting_calls_take(&waiting);
	assert_int_equal(rec->tid, 8);
	free(rec);
	assert_null(waiting_calls_take(&waiting));
	waiting_calls_deinit(&waiting);
}

TEST(the_stack_first)
{
	const struct trace_record a = record_of(7, 100), later = record_of(7, 101);
	const struct trace_stack_key key = key_of(7, 100);
	struct call_stack *stack = new_stack(3);
	struct waiting_calls waiting = {0};
	struct trace_record *rec;

	ok(waiting_calls_add_stack(&waiting, &key, &stack, &rec));
	assert_null(rec);
	assert_null(stack); /* it was taken */
	ok(waiting_calls_add(&waiting, &later, &stack));
	assert_null(stack);
	ok(waiting_calls_add(&waiting, &a, &stack));
	assert_non_null(stack);
	assert_int_equal(stack->n, 3);
	free(stack);
	waiting_calls_deinit(&waiting); /* with a record in it */
}

/* Chains whose records were lost do not fill the memory. */
TEST(lost_records)
{
	struct waiting_calls waiting = {0};
	struct trace_record *rec;

	for (uint32_t i = 0; i < 2000; i++) {
		const struct trace_stack_key key = key_of(i, i);
		struct call_stack *stack = new_stack(1);

		ok(waiting_calls_add_stack(&waiting, &key, &stack, &rec));
	}
	waiting_calls_forget(&waiting, 1500);
	assert_int_equal(waiting.stacks.n, 500);
	struct call_stack *stack;
	const struct trace_record old = record_of(1499, 1499), recent = record_of(1500, 1500);
	ok(waiting_calls_add(&waiting, &old, &stack));
	assert_null(stack);
	ok(waiting_calls_add(&waiting, &recent, &stack));
	assert_non_null(stack);
	free(stack);
	waiting_calls_deinit(&waiting);
}
