// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ledger: what did not reach the file, by event and program. Three
 * sources:
 *
 *  - every fd's own count (PERF_FORMAT_LOST, 6.0): what its event found no
 *    room for in the ring, up to the last moment. Side-band records have an
 *    event of their own (event_attrs.c), so the others' counts are samples;
 *  - on older kernels, PERF_RECORD_LOST records. They count records of the
 *    whole ring, side-band too, under the id of the event that next found
 *    room: the sum is the most that can be samples. What is lost after the
 *    last record that fits is in none of them: if a ring may have been full
 *    then, the losses are not counted;
 *  - bpf_prog_info.recursion_misses (5.12): runs of a program that the kernel
 *    skipped because a program was running on that CPU already; of probes also
 *    what their links count (6.7).
 *
 * Programs of others that filtered an event (strangers.c) have a line, too:
 * what they kept out, nobody counts.
 *
 * So have the records that the kernel has overwritten (overwrite.c), in bytes: how many they were,
 * nobody knows.
 *
 * The lines go into the file twice: as LOST_SAMPLES records, which perf shows,
 * and as our own ledger records with names. The counts are those of the whole recording; a file of
 * --switch-output has what was added since the file before.
 */
#include "perf/record/internal.h"

#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

/* The count is the last word of what read(2) gives for these formats. */
static uint64_t read_lost(const struct event *event, int fd)
{
	uint64_t words[3 + 3 * 64] = {0};
	size_t n;

	if (!(event->attr.read_format & PERF_FORMAT_LOST))
		return 0;
	ssize_t got = read(fd, words, sizeof(words));
	if (got < 16)
		return 0;
	n = got / sizeof(uint64_t);
	/* A group: { nr, { value, id, lost } … }, the event's own first. */
	if (event->attr.read_format & PERF_FORMAT_GROUP)
		return n >= 4 ? words[3] : 0;
	return words[n - 1];
}

/* Those whose sum is "N lost". */
static bool is_loss(enum ledger_kind kind)
{
	return kind == LEDGER_RING_LOST || kind == LEDGER_BPF_OUTPUT_LOST ||
	       kind == LEDGER_LOST_SAMPLES || kind == LEDGER_RECORDS_LOST;
}

static struct error *add(struct recording *rec, enum ledger_kind kind, const char *name,
			 uint64_t id, uint64_t count)
{
	if (!count)
		return NULL;
	char *copy = strdup(name);
	struct record_loss *loss = copy ? vec_push(&rec->losses) : NULL;
	if (!loss) {
		free(copy);
		return error_nomem();
	}
	*loss = (struct record_loss){.kind = kind, .name = copy, .id = id, .count = count};
	if (is_loss(kind))
		rec->result.lost_total += count;
	return NULL;
}

static void forget(struct recording *rec, struct losses *losses)
{
	struct record_loss *loss;

	vec_for_each (loss, losses) {
		if (is_loss(loss->kind))
			rec->result.lost_total -= loss->count;
		free(loss->name);
	}
	vec_deinit(losses);
}

/* Of a count that another file has in part. */
static uint64_t count_before_file(const struct losses *before, const struct record_loss *loss)
{
	const struct record_loss *it;

	if (loss->kind == LEDGER_FILTERED) /* programs, as they are now */
		return 0;
	vec_for_each (it, before)
		if (it->kind == loss->kind && it->id == loss->id && !strcmp(it->name, loss->name))
			return it->count;
	return 0;
}

static struct error *close_event(struct recording *rec, struct event *event, struct strbuf *out)
{
	const bool sideband = event->kind == EVENT_TRACKING;
	struct event_fd *efd;
	uint64_t sum = 0;

	vec_for_each (efd, &event->fds) {
		uint64_t lost = read_lost(event, efd->fd);
		struct sample id = {.id = efd->id, .cpu = efd->cpu, .pid = -1, .tid = -1};

		sum += lost;
		if (lost > efd->lost_before && !sideband)
			record_encode_lost_samples(out, &event->attr, lost - efd->lost_before, &id);
		efd->lost_before = lost;
	}
	return add(rec,
		   sideband			 ? LEDGER_SIDEBAND_LOST
		   : event->kind == EVENT_OUTPUT ? LEDGER_BPF_OUTPUT_LOST
						 : LEDGER_RING_LOST,
		   sideband ? "side-band" : event->name, event->fds.n ? event->fds.v[0].id : 0,
		   sum);
}

/* What its program has counted: for the readers, as lost samples of the event. */
static struct error *close_off_cpu(struct recording *rec, const struct event *event,
				   struct strbuf *out)
{
	const uint64_t lost = off_cpu_lost(rec);
	const struct event_fd *efd = event->fds.n ? &event->fds.v[0] : NULL;
	const struct sample id = {
		.id = efd ? efd->id : 0, .cpu = efd ? efd->cpu : 0, .pid = -1, .tid = -1};

	if (lost)
		record_encode_lost_samples(out, &event->attr, lost, &id);
	return add(rec, LEDGER_LOST_SAMPLES, event->name, id.id, lost);
}

/* Where the kernel does not count by event: the rings' LOST records, if they can be complete. */
static enum loss_accuracy accuracy_of_rings(const struct recording *rec)
{
	const struct cpu_ring *ring;

	vec_for_each (ring, &rec->rings)
		if (ring->full)
			return LOST_NOT_COUNTED;
	return LOST_UP_TO;
}

static struct error *close_rings(struct recording *rec)
{
	if (!rec->no_lost)
		return NULL;
	rec->result.lost = accuracy_of_rings(rec);
	return add(rec, LEDGER_RECORDS_LOST, "all events", 0, rec->lost_records);
}

struct record_no_room ledger_no_room(const struct recording *rec)
{
	struct record_no_room n = {0};
	const struct event *event;
	const struct event_fd *efd;

	if (rec->no_lost)
		return (struct record_no_room){.samples = rec->lost_records,
					       .accuracy = accuracy_of_rings(rec)};
	vec_for_each (event, &rec->events)
		vec_for_each (efd, &event->fds)
			*(event->kind == EVENT_TRACKING ? &n.sideband : &n.samples) +=
				read_lost(event, efd->fd);
	return n;
}

static struct error *close_cpus(struct recording *rec)
{
	size_t n = 0;
	const struct cpu_gap *gaps = rec->cpu_watch ? cpu_watch_gaps(rec->cpu_watch, &n) : NULL;

	for (size_t i = 0; i < n; i++) {
		_cleanup_free_ char *name = text_format("CPU %u", gaps[i].cpu);

		if (!name)
			return error_nomem();
		TRY(add(rec, LEDGER_CPU_OFFLINE, name, gaps[i].cpu, gaps[i].ns));
	}
	return NULL;
}

static struct error *close_program(struct recording *rec, int fd)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return NULL;
	return add(rec, LEDGER_PROG_MISSED, info.name, info.id, info.recursion_misses);
}

/* A definition's program is several for the kernel, and the links count, too. */
static struct error *close_probe(struct recording *rec, const struct probe_set *set,
				 const struct bpf_program *prog)
{
	struct probe_cost cost;

	TRY(probe_set_cost(set, prog, &cost));
	return add(rec, LEDGER_PROG_MISSED, bpf_program__name(prog), 0, cost.misses);
}

static struct error *find_losses(struct recording *rec, struct strbuf *out)
{
	struct event *event;
	struct record_object *object;

	vec_for_each (event, &rec->events) {
		TRY(close_event(rec, event, out));
		if (event->is_off_cpu)
			TRY(close_off_cpu(rec, event, out));
		TRY(add(rec, LEDGER_FILTERED, event->name, event->fds.n ? event->fds.v[0].id : 0,
			event->strangers));
		for (size_t i = 0; i < event->owned.n; i++)
			TRY(close_program(rec, event->owned.v[i]));
	}
	TRY(close_rings(rec));
	TRY(close_cpus(rec));
	TRY(add(rec, LEDGER_OVERWRITTEN, "the rings", 0, rec->overwritten));
	vec_for_each (object, &rec->objects) {
		struct bpf_program *prog;

		bpf_object__for_each_program (prog, object->file.obj)
			if (object->probes && probe_set_has(object->probes, prog))
				TRY(close_probe(rec, object->probes, prog));
			else if (bpf_program__fd(prog) >= 0)
				TRY(close_program(rec, bpf_program__fd(prog)));
	}
	return NULL;
}

struct error *ledger_close(struct recording *rec)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	struct losses before = rec->losses;

	rec->losses = (struct losses){0};
	struct error *err = find_losses(rec, &out);
	for (size_t i = 0; !err && i < rec->losses.n; i++) {
		const struct record_loss *loss = &rec->losses.v[i];
		const struct record_ledger line = {
			.kind = loss->kind,
			.id = loss->id,
			.count = loss->count - count_before_file(&before, loss),
			.name = loss->name,
		};

		if (line.count)
			record_encode_ledger(&out, &line);
	}
	forget(rec, &before);
	TRY(err);
	if (strbuf_failed(&out))
		return error_nomem();
	return out.len ? data_writer_records(rec->writer, out.str, out.len) : NULL;
}
