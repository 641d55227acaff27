// SPDX-License-Identifier: BSD-2-Clause
/*
 * Files of processes that see others than this one at the same path (below another root directory,
 * in a mount namespace) can be reached only while such a process runs. So the rings are looked
 * through for mappings every 50 ms, and what is not found here is opened: for its build id and the
 * copy at the end of the recording, and for the names of a live session. What is looked at stays in
 * the ring.
 *
 * A thread of --threads sees the mappings in its rings when it reads them.
 */
#include "perf/record/internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/base/cursor.h"

enum {
	LOOK_MS = 50,
	MOST_RECORD = 4096 + 512, /* with a path of PATH_MAX */
};

struct mapped_files {
	pthread_mutex_t lock; /* threads add files, too */
	struct held_files held;
	struct recording *rec;
	bool looked; /* since mapped_files_take_turn() */
};

static bool is_mapping(uint32_t type)
{
	return type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2;
}

/* Without memory it is as if the file could not be opened. */
static void see(struct mapped_files *files, const void *bytes,
		const struct perf_event_header *header)
{
	const struct record rec = {.header = *header};
	struct record_mmap mmap;
	struct error *err = record_mmap_decode(cursor_make(bytes, header->size, "a ring"), &mmap);

	if (!err && mmap.prot & PROT_EXEC) {
		pthread_mutex_lock(&files->lock);
		err = held_files_add(&files->held, &rec, &mmap);
		pthread_mutex_unlock(&files->lock);
	}
	error_free(err);
}

void mapped_files_see(struct recording *rec, struct cpu_ring *cpu_ring, uint64_t at,
		      const struct perf_event_header *header)
{
	const struct perf_ring *ring = &cpu_ring->ring;
	uint8_t bytes[MOST_RECORD];

	if (!rec->mapped || !is_mapping(header->type) || at < cpu_ring->looked ||
	    header->size > sizeof(bytes))
		return;
	for (uint64_t i = 0; i < header->size; i += 8)
		memcpy(bytes + i, ring->data + ((at + i) & (ring->size - 1)), 8);
	see(rec->mapped, bytes, header);
}

void mapped_files_see_records(struct recording *rec, const void *records, size_t size)
{
	const uint8_t *bytes = records;
	struct perf_event_header header;

	for (size_t at = 0; rec->mapped && size - at >= sizeof(header); at += header.size) {
		memcpy(&header, bytes + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > size - at)
			break;
		if (is_mapping(header.type))
			see(rec->mapped, bytes + at, &header);
	}
}

static void look_through(struct recording *rec, struct cpu_ring *cpu_ring)
{
	struct perf_ring *ring = &cpu_ring->ring;
	struct perf_event_header header;
	struct iovec iov[2];

	if (!perf_ring_peek(ring, iov))
		return;
	cpu_ring->looked = max_of(cpu_ring->looked, ring->tail);
	while (ring->head - cpu_ring->looked >= sizeof(header)) {
		const uint64_t at = cpu_ring->looked;

		memcpy(&header, ring->data + (at & (ring->size - 1)), sizeof(header));
		if (header.size < sizeof(header) || header.size > ring->head - at ||
		    header.size & 7)
			break;
		mapped_files_see(rec, cpu_ring, at, &header);
		cpu_ring->looked = at + header.size;
	}
}

static struct error *look(void *ctx, uint32_t events)
{
	struct recording *rec = ctx;
	struct cpu_ring *ring;

	vec_for_each (ring, &rec->rings)
		if (!ring->overwritten && !threads_read(rec, ring))
			look_through(rec, ring);
	rec->mapped->looked = true;
	return NULL;
}

bool mapped_files_take_turn(struct recording *rec)
{
	const bool looked = rec->mapped && rec->mapped->looked;

	if (rec->mapped)
		rec->mapped->looked = false;
	return looked;
}

struct error *mapped_files_new(struct recording *rec)
{
	rec->mapped = calloc(1, sizeof(*rec->mapped));
	if (!rec->mapped)
		return error_nomem();
	pthread_mutex_init(&rec->mapped->lock, NULL);
	return NULL;
}

struct error *mapped_files_begin(struct recording *rec)
{
	int timer;

	if (!rec->mapped)
		return NULL;
	TRY(loop_timer(rec->loop, look, rec, &timer));
	return loop_timer_set(timer, (uint64_t)LOOK_MS * 1000000, true);
}

const struct held_files *mapped_files_held(const struct recording *rec)
{
	return rec->mapped ? &rec->mapped->held : NULL;
}

void mapped_files_free(struct recording *rec)
{
	if (!rec->mapped)
		return;
	held_files_deinit(&rec->mapped->held);
	pthread_mutex_destroy(&rec->mapped->lock);
	free(rec->mapped);
	rec->mapped = NULL;
}
