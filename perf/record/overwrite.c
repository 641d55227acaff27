// SPDX-License-Identifier: BSD-2-Clause
/*
 * --overwrite: rings that the kernel overwrites, so that each has the last samples of its CPU or
 * thread (lib/ring/perf_ring.h). They are read once, when the file ends.
 *
 * A ring is copied while the kernel does not write to it, which takes as long as copying memory
 * does; then the records are looked for in the copy. The ring has the newest record first. The file
 * gets them in the order of time, as from every other ring.
 *
 * Records of processes and mappings are in rings of their own, which are not overwritten. They are
 * in the file long before the samples, so that it has no rounds: who reads it must put all of it in
 * order. How many bytes were overwritten is known, since data_head counts all that were written.
 */
#include "perf/record/internal.h"

#include <stdlib.h>
#include <string.h>

#define WRITE_BYTES (64 << 10)

struct kept {
	struct perf_ring ring; /* whose data are the copy */
	VEC(uint64_t) at;      /* the records, the newest first */
	uint64_t size;	       /* of all of them */
};

static void kept_deinit(struct kept *kept)
{
	free(kept->ring.data);
	vec_deinit(&kept->at);
}

static struct perf_event_header header_at(const struct perf_ring *ring, uint64_t at)
{
	struct perf_event_header header;

	memcpy(&header, ring->data + (at & (ring->size - 1)), sizeof(header));
	return header;
}

static struct error *find_records(struct kept *kept)
{
	const struct perf_ring *ring = &kept->ring;
	const uint64_t limit = min_of(ring->tail - ring->head, ring->size);

	while (limit - kept->size >= sizeof(struct perf_event_header)) {
		const struct perf_event_header header = header_at(ring, ring->head + kept->size);

		if (header.size < sizeof(header) || header.size > limit - kept->size ||
		    header.size & 7)
			break;
		uint64_t *at = vec_push(&kept->at);
		if (!at)
			return error_nomem();
		*at = ring->head + kept->size;
		kept->size += header.size;
	}
	return NULL;
}

static struct error *keep(struct cpu_ring *cpu_ring, struct kept *kept)
{
	uint8_t *copy = malloc(cpu_ring->ring.size);

	if (!copy)
		return error_nomem();
	struct error *err = perf_ring_keep(&cpu_ring->ring, cpu_ring->fds.v[0], copy);
	kept->ring = cpu_ring->ring;
	kept->ring.data = copy;
	return err ? err : find_records(kept);
}

static void add_record(const struct perf_ring *ring, uint64_t at, size_t size, struct strbuf *out)
{
	const uint64_t from = at & (ring->size - 1), first = min_of(size, ring->size - from);

	strbuf_add(out, ring->data + from, first);
	strbuf_add(out, ring->data, size - first);
}

static struct error *write_buf(struct recording *rec, struct strbuf *out)
{
	struct iovec iov = {out->str, out->len};

	if (strbuf_failed(out))
		return error_nomem();
	TRY(iov.iov_len ? data_writer_write(rec->writer, &iov, 1) : NULL);
	strbuf_reset(out);
	return NULL;
}

/* The oldest first. */
static struct error *write_kept(struct recording *rec, const struct kept *kept)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	for (size_t i = kept->at.n; i-- > 0;) {
		const uint64_t at = kept->at.v[i];
		const struct perf_event_header header = header_at(&kept->ring, at);

		if (record_see(rec, &kept->ring, at, &header))
			add_record(&kept->ring, at, header.size, &out);
		if (out.len >= WRITE_BYTES)
			TRY(write_buf(rec, &out));
	}
	return write_buf(rec, &out);
}

static struct error *drain(struct recording *rec, struct cpu_ring *cpu_ring)
{
	_cleanup_(kept_deinit) struct kept kept = {0};
	const uint64_t before = rec->samples;

	TRY(keep(cpu_ring, &kept));
	struct data_writer *const writer = rec->writer;
	if (cpu_ring->part)
		rec->writer = cpu_ring->part;
	struct error *err = write_kept(rec, &kept);
	if (!err && cpu_ring->part)
		err = data_writer_save(cpu_ring->part);
	rec->writer = writer;
	if (err) {
		rec->samples = before; /* they are in the ring still */
		return err;
	}
	rec->overwritten += kept.ring.tail - kept.ring.head - kept.size;
	perf_ring_kept(&cpu_ring->ring);
	return NULL;
}

struct error *overwritten_drain(struct recording *rec)
{
	struct cpu_ring *ring;

	if (!rec->result.overwrites)
		return NULL;
	vec_for_each (ring, &rec->rings)
		if (ring->overwritten)
			TRY(drain(rec, ring));
	TRY(data_writer_save(rec->writer));
	rec->result.samples = rec->samples;
	return NULL;
}

void overwritten_count(struct recording *rec)
{
	struct cpu_ring *ring;

	vec_for_each (ring, &rec->rings) {
		_cleanup_(kept_deinit) struct kept kept = {0};
		struct error *err = ring->overwritten ? keep(ring, &kept) : NULL;

		for (size_t i = 0; !err && i < kept.at.n; i++) {
			const struct perf_event_header header = header_at(&kept.ring, kept.at.v[i]);

			record_see(rec, &kept.ring, kept.at.v[i], &header);
		}
		error_free(err);
	}
}
