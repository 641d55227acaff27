// SPDX-License-Identifier: BSD-2-Clause
#include "trace/thread_counts.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/sum.h"
#include "lib/base/util.h"
#include "trace/other_events.h"

void thread_counts_deinit(struct thread_counts *counts)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&counts->threads, &pos)))
		free(slot->value);
	u64map_deinit(&counts->threads);
}

struct error *thread_counts_add(struct thread_counts *counts, const struct other_event *event)
{
	struct thread_count *count = u64map_get(&counts->threads, event->tid);

	if (!event->fault && !event->runtime_ns)
		return NULL;
	if (!count) {
		count = calloc(1, sizeof(*count));
		if (!count || !u64map_put(&counts->threads, event->tid, count)) {
			free(count);
			return error_nomem();
		}
	}
	count->pid = event->pid;
	count->tid = event->tid;
	memcpy(count->comm, event->comm, sizeof(count->comm));
	if (event->fault)
		*(event->fault->major ? &count->major_faults : &count->minor_faults) += 1;
	sum_add(&count->runtime_ns, event->runtime_ns);
	return NULL;
}

const struct thread_count *thread_counts_get(const struct thread_counts *counts, uint32_t tid)
{
	return u64map_get(&counts->threads, tid);
}

static int compare_threads(const void *x, const void *y)
{
	const struct thread_count *a = x, *b = y;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

struct error *thread_counts_list(const struct thread_counts *counts, struct thread_count **out,
				 size_t *n)
{
	struct thread_count *list = calloc(counts->threads.n + 1, sizeof(*list));
	struct u64map_slot *slot;
	size_t pos = 0, i = 0;

	if (!list)
		return error_nomem();
	while ((slot = u64map_next(&counts->threads, &pos)))
		list[i++] = *(struct thread_count *)slot->value;
	qsort(list, i, sizeof(*list), compare_threads);
	*out = list;
	*n = i;
	return NULL;
}
