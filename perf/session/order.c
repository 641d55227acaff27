// SPDX-License-Identifier: BSD-2-Clause
/*
 * The order of time.
 *
 * A recorder empties its rings one after the other, and writes a
 * FINISHED_ROUND record when it has been at all of them. Within a ring,
 * records stand in the order of time already; across rings they do not. At
 * the end of a round, whatever is no younger than the youngest record of the
 * round before can be handed on: a ring that was emptied later cannot hold
 * anything older any more.
 *
 * So the file is a sequence of sorted runs, a few per round, and what is
 * called for is a merge. A run is a stretch of bytes and the time of its first
 * record; neither records nor pointers to them are stored one by one, and the
 * bytes stay where they are. A flush puts the runs that begin early enough
 * into a heap and takes records from the lowest until another is lower.
 * Records of the same time come in the order of the file, which perf's list
 * insertion gives too; what is due at which flush is reckoned as perf does
 * (tools/perf/util/ordered-events.c), so that both show the same order even
 * where a recorder's rounds were not what they should be.
 *
 * In the worst case, a file sorted backwards, every record is a run: 48 bytes
 * each, and O(log n) time, still. Runs count in the limit of what may wait.
 */
#include "perf/session/internal.h"

void order_deinit(struct session *s, struct time_order *o)
{
	struct sorted_run *r;

	vec_for_each (r, &o->runs)
		chunk_put(s, r->chunk);
	vec_deinit(&o->runs);
	vec_deinit(&o->heap);
}

bool order_queue(struct session *s, struct chunk *chunk, const uint8_t *rec, size_t size,
		 uint64_t ts)
{
	struct time_order *o = &s->order;

	if (!o->n_waiting || ts >= o->max_ts)
		o->max_ts = ts;
	o->n_waiting++;
	if (o->runs.n) {
		struct sorted_run *last = vec_last(&o->runs);
		if (last->end == rec && last->last_ts <= ts && last->chunk == chunk) {
			last->end += size;
			last->last_ts = ts;
			return true;
		}
	}
	struct sorted_run *run = vec_push(&o->runs);
	if (!run)
		return false;
	*run = (struct sorted_run){
		.pos = rec,
		.end = rec + size,
		.ts = ts,
		.last_ts = ts,
		.seq = o->next_seq++,
		.chunk = chunk,
	};
	chunk->refs++;
	return true;
}

static bool run_before(const struct sorted_run *a, const struct sorted_run *b)
{
	return a->ts != b->ts ? a->ts < b->ts : a->seq < b->seq;
}

static void sift_down(struct time_order *o, size_t i)
{
	uint32_t *heap = o->heap.v, item = heap[i];
	size_t n = o->heap.n;

	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= n)
			break;
		if (child + 1 < n &&
		    run_before(&o->runs.v[heap[child + 1]], &o->runs.v[heap[child]]))
			child++;
		if (!run_before(&o->runs.v[heap[child]], &o->runs.v[item]))
			break;
		heap[i] = heap[child];
		i = child;
	}
	heap[i] = item;
}

/*
 * The size of the record at the run's position. It was checked when it was queued, but a mapped
 * file can change since: 0: it is not a record of this run any more.
 */
static size_t record_size(const struct session *s, const struct sorted_run *run)
{
	uint16_t size;

	memcpy(&size, run->pos + offsetof(struct perf_event_header, size), sizeof(size));
	if (s->header.swap)
		size = bswap_16(size);
	return size >= sizeof(struct perf_event_header) && size <= (size_t)(run->end - run->pos)
		       ? size
		       : 0;
}

static uint64_t run_ts(struct session *s, const struct sorted_run *run)
{
	uint64_t ts = run->last_ts;
	uint32_t type;

	memcpy(&type, run->pos, sizeof(type));
	if (s->header.swap)
		type = bswap_32(type);
	record_time(s, type, run->pos, record_size(s, run), &ts);
	return ts;
}

static struct error *flush_until(struct session *s, uint64_t limit)
{
	struct time_order *o = &s->order;
	struct error *err = NULL;

	o->heap.n = 0;
	if (!vec_reserve(&o->heap, o->runs.n))
		return error_nomem();
	for (size_t i = 0; i < o->runs.n; i++)
		if (o->runs.v[i].ts <= limit)
			o->heap.v[o->heap.n++] = (uint32_t)i;
	for (size_t i = o->heap.n / 2; i-- > 0;)
		sift_down(o, i);

	while (o->heap.n && !err) {
		struct sorted_run *run = &o->runs.v[o->heap.v[0]], *next = NULL;

		if (o->heap.n > 1)
			next = &o->runs.v[o->heap.v[1]];
		if (o->heap.n > 2 && run_before(&o->runs.v[o->heap.v[2]], next))
			next = &o->runs.v[o->heap.v[2]];
		do {
			const uint8_t *rec = run->pos;
			size_t size = record_size(s, run);

			if (!size) {
				err = error_at(error_new(EBADMSG, "changed while it was read"),
					       "%s", s->path);
				break;
			}
			run->pos += size;
			o->n_waiting--;
			err = session_deliver(s, run->chunk, rec, size);
			if (err || run->pos == run->end)
				break;
			run->ts = run_ts(s, run);
		} while (run->ts <= limit && (!next || run_before(run, next)));
		if (run->pos == run->end || run->ts > limit)
			o->heap.v[0] = o->heap.v[--o->heap.n];
		if (o->heap.n)
			sift_down(o, 0);
	}

	size_t kept = 0;
	for (size_t i = 0; i < o->runs.n; i++) {
		if (o->runs.v[i].pos == o->runs.v[i].end)
			chunk_put(s, o->runs.v[i].chunk);
		else
			o->runs.v[kept++] = o->runs.v[i];
	}
	o->runs.n = kept;
	return err;
}

struct error *order_round(struct session *s)
{
	struct time_order *o = &s->order;

	if (!o->n_waiting)
		return NULL;
	if (o->next_flush)
		TRY(flush_until(s, o->next_flush));
	o->next_flush = o->max_ts;
	return NULL;
}

struct error *order_advance(struct session *s, uint64_t until)
{
	return s->order.n_waiting ? flush_until(s, until) : NULL;
}

struct error *order_flush(struct session *s)
{
	return order_advance(s, UINT64_MAX);
}

const uint8_t *order_lowest(const struct session *s, const uint8_t *fallback)
{
	const uint8_t *lowest = fallback;
	const struct sorted_run *r;

	vec_for_each (r, &s->order.runs)
		if (!r->chunk->mem && r->pos < lowest)
			lowest = r->pos;
	return lowest;
}
