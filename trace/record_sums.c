// SPDX-License-Identifier: BSD-2-Clause
#include "trace/record_sums.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/sum.h"
#include "lib/base/util.h"

enum {
	/* Sums, and counts of errnos, of a recording: of a thread and call about 650 bytes. */
	MAX_SUMS = 1 << 18,
	ERRNO_BITS = 12, /* MAX_ERRNO of the kernel is 4095 */
	CALL_BITS = 12,
};
_Static_assert(TRACE_ABIS *TRACE_NRS <= 1 << CALL_BITS, "the index of a call is in a key");

struct record_sums {
	bool by_thread;
	struct u64map sums;   /* struct trace_sum *, by call_key() */
	struct u64map errnos; /* their number, as a pointer; by call_key() and the errno */
};

struct error *record_sums_new(bool by_thread, struct record_sums **out)
{
	struct record_sums *sums = calloc(1, sizeof(*sums));

	if (!sums)
		return error_nomem();
	sums->by_thread = by_thread;
	*out = sums;
	return NULL;
}

void record_sums_free(struct record_sums *sums)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	if (!sums)
		return;
	while ((slot = u64map_next(&sums->sums, &pos)))
		free(slot->value);
	u64map_deinit(&sums->sums);
	u64map_deinit(&sums->errnos);
	free(sums);
}

static uint64_t call_key(uint32_t tid, enum trace_abi abi, uint32_t nr)
{
	return (uint64_t)tid << CALL_BITS | trace_nr_index(abi, nr);
}

static struct error *too_many(void)
{
	return error_hint(error_new(E2BIG,
				    "the recording has more than %d different threads and calls",
				    MAX_SUMS),
			  "select calls with -e, or use --summary-mode total");
}

static struct error *sum_of(struct record_sums *sums, const struct trace_record *rec,
			    struct trace_sum **out)
{
	const uint32_t tid = sums->by_thread ? rec->tid : 0;
	const uint64_t key = call_key(tid, rec->abi, trace_record_nr(rec));
	struct trace_sum *sum = u64map_get(&sums->sums, key);

	if (!sum) {
		if (sums->sums.n >= MAX_SUMS)
			return too_many();
		sum = calloc(1, sizeof(*sum));
		if (!sum || !u64map_put(&sums->sums, key, sum)) {
			free(sum);
			return error_nomem();
		}
		sum->tid = tid;
		sum->abi = rec->abi;
		sum->nr = trace_nr_index(0, trace_record_nr(rec));
	}
	if (sums->by_thread) {
		sum->pid = rec->pid;
		memcpy(sum->comm, rec->comm, sizeof(sum->comm) - 1);
	}
	*out = sum;
	return NULL;
}

static struct error *count_errno(struct record_sums *sums, const struct trace_sum *sum,
				 unsigned err)
{
	const uint64_t key = call_key(sum->tid, sum->abi, sum->nr) << ERRNO_BITS | err;
	const uintptr_t n = (uintptr_t)u64map_get(&sums->errnos, key);

	if (!n && sums->errnos.n >= MAX_SUMS)
		return too_many();
	return u64map_put(&sums->errnos, key, (void *)(n + 1)) ? NULL : error_nomem();
}

struct error *record_sums_add(struct record_sums *sums, const struct trace_record *rec)
{
	struct trace_sum *sum = NULL;

	TRY(sum_of(sums, rec, &sum));
	if (!rec->enter_ns || rec->flags & (TRACE_NO_ENTRY | TRACE_NO_EXIT)) {
		sum->unfinished++;
		return NULL;
	}
	/* a recording may have anything */
	const uint64_t ns = rec->exit_ns > rec->enter_ns ? rec->exit_ns - rec->enter_ns : 0;
	const unsigned slot = ns ? 63 - (unsigned)__builtin_clzll(ns) : 0;

	if (!sum->calls || ns < sum->min_ns)
		sum->min_ns = ns;
	sum->max_ns = max_of(sum->max_ns, ns);
	sum->calls++;
	sum_add(&sum->total_ns, ns);
	sum->sum_of_squares += (double)ns * (double)ns;
	sum->slots[min_of(slot, (unsigned)ARRAY_SIZE(sum->slots) - 1)]++;
	if (rec->ret >= 0 || rec->ret < -4095)
		return NULL;
	sum->errors++;
	return count_errno(sums, sum, (unsigned)-rec->ret);
}

struct error *record_sums_read(const struct record_sums *sums, trace_sum_fn *fn,
			       trace_errno_fn *errno_fn, void *ctx)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&sums->sums, &pos)))
		TRY(fn(ctx, slot->value));
	pos = 0;
	while ((slot = u64map_next(&sums->errnos, &pos))) {
		const uint64_t key = slot->key >> ERRNO_BITS;
		const struct trace_sum *sum = u64map_get(&sums->sums, key);

		TRY(errno_fn(ctx, sum, (int)(slot->key & ((1u << ERRNO_BITS) - 1)),
			     (uintptr_t)slot->value));
	}
	return NULL;
}
