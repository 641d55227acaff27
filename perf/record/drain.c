// SPDX-License-Identifier: BSD-2-Clause
/*
 * From the rings to the file. A ring is written from where it stands, in one
 * or two pieces, and never copied; but its records are looked at as they go
 * by, at a few fixed offsets that all samples of a recording share (see
 * event_attrs.c), to count them, to know the first and last time, and whether there
 * is anything whose build id will be wanted. That replaces reading the whole file back at the end.
 *
 *	sample: header, [id], ip, pid and tid, time, …
 *
 * The records of the recorder itself are left out: the bytes before and
 * after one are written as pieces of their own.
 *
 * Records and the fields read here are aligned to 8 bytes, so none of those
 * wraps around the ring's end. What a record says of its size is checked
 * against what the kernel says is there.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>

static uint64_t ring_u64(const struct perf_ring *ring, uint64_t at)
{
	uint64_t v;

	memcpy(&v, ring->data + (at & (ring->size - 1)), sizeof(v));
	return v;
}

static struct event *event_by_id(struct recording *rec, uint64_t id)
{
	size_t index = (size_t)u64map_get(&rec->ids, id);

	return index ? &rec->events.v[index - 1] : NULL;
}

/* Bytes [from, to) of the ring; returns how many iovecs: 0, 1 or 2. */
static int piece_of(const struct perf_ring *ring, uint64_t from, uint64_t to, struct iovec iov[2])
{
	const uint64_t at = from & (ring->size - 1), n = to - from;
	const uint64_t first = min_of(n, ring->size - at);

	iov[0] = (struct iovec){ring->data + at, first};
	iov[1] = (struct iovec){ring->data, n - first};
	return n ? 1 + (first < n) : 0;
}

static struct error *write_piece(struct recording *rec, const struct perf_ring *ring, uint64_t from,
				 uint64_t to)
{
	struct iovec iov[2];
	const int pieces = piece_of(ring, from, to, iov);

	if (!pieces)
		return NULL;
	return rec->is_live ? rec->on_records(rec->on_records_ctx, iov, pieces)
			    : data_writer_write(rec->writer, iov, pieces);
}

/* --switch-output: see switch_output.c. */
static struct error *see_switched(struct recording *rec, const struct perf_ring *ring, uint64_t at,
				  const struct perf_event_header *header)
{
	struct record_switching *s = &rec->switching;
	struct iovec iov[2];

	if (header->type == PERF_RECORD_FORK && header->size >= 16)
		TRY(switch_see_fork(rec, (pid_t)ring_u64(ring, at + 8)));
	if (!s->finds_newest && !s->next)
		return NULL;
	const uint64_t time = switch_record_time(rec, ring, at, header);
	if (s->finds_newest)
		s->newest = max_of(s->newest, time);
	if (!s->next || !switch_is_state(header->type) || time <= s->newest)
		return NULL;
	const int pieces = piece_of(ring, at, at + header->size, iov);
	return data_writer_write(s->next, iov, pieces);
}

/* Before what is unread of the ring is consumed: whether the next record may not have fitted. */
static bool is_full(const struct perf_ring *ring)
{
	const uint64_t largest = min_of((uint64_t)UINT16_MAX + 1, ring->size / 2);

	return ring->head - ring->tail > ring->size - largest;
}

/* The event of a sample; NULL: it is not known. */
static struct event *event_at(struct recording *rec, const struct perf_ring *ring, uint64_t at)
{
	return rec->with_id ? event_by_id(rec, ring_u64(ring, at + 8)) : &rec->events.v[0];
}

/* target.is_filtered: whether the task of these ids is to be recorded. */
static bool is_wanted(const struct recording *rec, uint64_t pid_tid)
{
	const uint32_t id = (uint32_t)(rec->wanted_threads ? pid_tid >> 32 : pid_tid);

	return id < OUTPUT_WANTED_SIZE && __atomic_load_n(&rec->wanted[id], __ATOMIC_RELAXED);
}

/* Whose samples come from all tasks, wanted or not. What programs put out is theirs to choose. */
static bool is_of_any_task(const struct event *event)
{
	return event && !event->selects_tasks && event->kind != EVENT_OUTPUT &&
	       event->kind != EVENT_PROBE;
}

/* Counts a sample; false: it does not go to the file, as it is the recorder's own or another
 * task's, or of an event that is paused. */
static bool see_sample(struct recording *rec, const struct perf_ring *ring, uint64_t at,
		       uint16_t misc)
{
	const uint64_t ids = at + (rec->with_id ? 16 : 8) + (rec->no_ip ? 0 : 8);
	uint64_t time = ring_u64(ring, ids + 8);

	/* What is overwritten may have been recorded before the pause. */
	if (rec->has_paused && !rec->result.overwrites) {
		const struct event *event = event_at(rec, ring, at);

		if (event && (event->paused || rec->events.v[event->leader].paused))
			return false;
	}
	if (rec->drop_self && (pid_t)ring_u64(ring, ids) == rec->self) {
		const struct event *event = event_at(rec, ring, at);

		/* What a program puts out is the program's, wherever it ran. */
		if (!event || event->kind != EVENT_OUTPUT) {
			rec->dropped_self++;
			return false;
		}
	}
	if (rec->wanted && is_of_any_task(event_at(rec, ring, at)) &&
	    !is_wanted(rec, ring_u64(ring, ids)))
		return false;
	rec->samples++;
	if (time > rec->last_time)
		rec->last_time = time;
	if (time < rec->first_time || !rec->first_time)
		rec->first_time = time;
	if ((misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER)
		rec->user_hit = true;
	else
		rec->kernel_hit = true;
	return true;
}

bool record_see(struct recording *rec, const struct perf_ring *ring, uint64_t at,
		const struct perf_event_header *header)
{
	const uint64_t fixed = (rec->with_id ? 40 : 32) - (rec->no_ip ? 8 : 0);

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		return header->size < fixed || see_sample(rec, ring, at, header->misc);
	case PERF_RECORD_LOST:
		if (header->size >= 24)
			rec->lost_records += ring_u64(ring, at + 16);
		break;
	case PERF_RECORD_BPF_EVENT:
		rec->programs_changed = true;
		break;
	case PERF_RECORD_CGROUP:
		rec->cgroups_changed = true;
		break;
	}
	return true;
}

/* What is before the record at `at` is written, and the next piece begins after it. */
static struct error *leave_out(struct recording *rec, const struct perf_ring *ring, uint64_t *piece,
			       uint64_t at, uint16_t size, bool *any)
{
	TRY(write_piece(rec, ring, *piece, at));
	*any |= *piece != at;
	*piece = at + size;
	return NULL;
}

/* A sample of --off-cpu has another form in the file. */
static struct error *see_off_cpu(struct recording *rec, const struct perf_ring *ring,
				 uint64_t *piece, uint64_t at, uint16_t size, bool *any)
{
	const struct event *event = event_at(rec, ring, at);
	uint64_t record[64];
	struct iovec iov[2];

	if (!event || !event->is_off_cpu)
		return NULL;
	if (size > sizeof(record))
		return error_new(EPROTO, "a sample of --off-cpu is too long");
	TRY(leave_out(rec, ring, piece, at, size, any));
	piece_of(ring, at, at + size, iov);
	memcpy(record, iov[0].iov_base, iov[0].iov_len);
	memcpy((char *)record + iov[0].iov_len, iov[1].iov_base, iov[1].iov_len);
	*any = true;
	return off_cpu_write_wait(rec, event, record, size);
}

/* *left: it has too little to be read now. */
struct error *cpu_ring_drain(struct recording *rec, struct cpu_ring *cpu_ring, bool *any,
			     bool *left)
{
	struct perf_ring *ring = &cpu_ring->ring;
	struct iovec iov[2];
	int n = perf_ring_peek(ring, iov);

	if (!n)
		return NULL;
	if (ring->head - ring->tail < rec->drain_least) {
		*left = true;
		return NULL;
	}
	cpu_ring->full = is_full(ring);
	uint64_t at = ring->tail, piece = at, end = ring->head;
	while (end - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;

		memcpy(&header, ring->data + (at & (ring->size - 1)), sizeof(header));
		if (header.size < sizeof(header) || header.size > end - at || header.size & 7)
			break;
		mapped_files_see(rec, cpu_ring, at, &header);
		if (!record_see(rec, ring, at, &header))
			TRY(leave_out(rec, ring, &piece, at, header.size, any));
		else if (rec->off_cpu && header.type == PERF_RECORD_SAMPLE)
			TRY(see_off_cpu(rec, ring, &piece, at, header.size, any));
		if (rec->switching.series)
			TRY(see_switched(rec, ring, at, &header));
		at += header.size;
	}
	TRY(write_piece(rec, ring, piece, end));
	*any |= piece != end;
	perf_ring_consume(ring);
	return NULL;
}

static struct error *drain_to_its_file(struct recording *rec, struct cpu_ring *ring, bool *any,
				       bool *left)
{
	struct data_writer *const writer = rec->writer;

	if (ring->part)
		rec->writer = ring->part;
	struct error *err = cpu_ring_drain(rec, ring, any, left);
	if (!err && ring->part)
		err = data_writer_save(ring->part);
	rec->writer = writer;
	return err;
}

struct error *rings_drain(struct recording *rec, bool *any)
{
	struct cpu_ring *ring;
	bool left = false;

	*any = false;
	vec_for_each (ring, &rec->rings) {
		uint64_t before = rec->samples;

		if (ring->overwritten || threads_read(rec, ring))
			continue;
		struct error *err = drain_to_its_file(rec, ring, any, &left);

		if (err) {
			rec->samples = before; /* they are in the ring still */
			return err;
		}
	}
	if (!*any)
		return NULL;
	if (!rec->is_live)
		TRY(rec->no_rounds || left ? data_writer_save(rec->writer)
					   : data_writer_round(rec->writer));
	rec->result.wakeups++;
	rec->result.samples = rec->samples;
	return NULL;
}

void rings_count_unwritten(struct recording *rec)
{
	struct cpu_ring *cpu_ring;

	vec_for_each (cpu_ring, &rec->rings) {
		struct perf_ring *ring = &cpu_ring->ring;
		struct iovec iov[2];

		if (cpu_ring->overwritten || !perf_ring_peek(ring, iov))
			continue;
		const uint64_t fixed = rec->with_id ? 40 : 32;
		uint64_t at = ring->tail;
		while (ring->head - at >= sizeof(struct perf_event_header)) {
			struct perf_event_header header;

			memcpy(&header, ring->data + (at & (ring->size - 1)), sizeof(header));
			if (header.size < sizeof(header) || header.size > ring->head - at ||
			    header.size & 7)
				break;
			if (header.type == PERF_RECORD_SAMPLE && header.size >= fixed)
				see_sample(rec, ring, at, header.misc);
			at += header.size;
		}
		perf_ring_consume(ring);
	}
	overwritten_count(rec);
	rec->result.unwritten = rec->samples - rec->result.samples;
	rec->result.lost_total += rec->result.unwritten;
}
