/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Brings the records of calls (from the ring of trace's program) and their call chains (from the
 * rings of perf events) together. The program puts out the chain and then sends the record, but the
 * rings are read one after the other, so either may come to light first.
 */
#ifndef PB_TRACE_WAITING_CALLS_H
#define PB_TRACE_WAITING_CALLS_H

#include "lib/base/error.h"
#include "lib/base/hash.h"
#include "syscalls/call_record.h"
#include "trace/call_stack.h"

struct trace_stack_key;

/* All zero is empty. */
struct waiting_calls {
	struct u64map calls;  /* records without their chain */
	struct u64map stacks; /* chains without their record */
};

void waiting_calls_deinit(struct waiting_calls *waiting);

/* A record, which is copied, unless its chain is here: then the caller gets, and frees, that. */
struct error *waiting_calls_add(struct waiting_calls *waiting, const struct trace_record *rec,
				struct call_stack **stack);

/* A chain, which is taken, unless its record is here: then the caller gets, and frees, that. */
struct error *waiting_calls_add_stack(struct waiting_calls *waiting,
				      const struct trace_stack_key *key, struct call_stack **stack,
				      struct trace_record **rec);

/* Forgets chains of before that time: their records were lost. */
void waiting_calls_forget(struct waiting_calls *waiting, uint64_t before);

/* At the end: a record whose chain did not come, which the caller frees; NULL: there is none. */
struct trace_record *waiting_calls_take(struct waiting_calls *waiting);

#endif
