// SPDX-License-Identifier: BSD-2-Clause
#include "run/map_losses.h"

#include <inttypes.h>
#include <stdlib.h>

#include "inspect/map_reader.h"
#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"
#include "lib/base/util.h"
#include "lib/object/object.h"

struct map_losses map_losses_of(const struct bpf_object *obj, const struct bpf_map *map,
				const struct sites *sites)
{
	struct map_losses losses = {0};

	losses.counted = object_losses(obj, map, &losses.n);
	losses.n = max_of(losses.n, sites_failed(sites, bpf_map__name(map)));
	return losses;
}

static void next_note(struct strbuf *note)
{
	if (note->len)
		strbuf_adds(note, "; ");
}

/* "--map-entries opens=4096", which is four times what there is. */
static char *advice(const struct bpf_map *map)
{
	return text_format("--map-entries %s=%" PRIu64, bpf_map__name(map),
			   (uint64_t)bpf_map__max_entries(map) * 4);
}

static void note_events(const struct result *r, const struct bpf_map *map,
			const struct map_losses *losses, struct strbuf *note)
{
	_cleanup_free_ char *larger = advice(map);

	if (!r->events.lost_counted && losses->n)
		strbuf_addf(note, "at least %" PRIu64 " events were lost", losses->n);
	if (!losses->n || bpf_map__type(map) != BPF_MAP_TYPE_RINGBUF)
		return;
	next_note(note);
	strbuf_addf(note, "the ring of %u bytes was full; %s makes it larger",
		    bpf_map__max_entries(map), larger ? larger : "--map-entries");
}

static void note_updates(const struct bpf_map *map, uint64_t failed, struct strbuf *note)
{
	_cleanup_free_ char *larger = advice(map);

	next_note(note);
	if (map_type_indexed(bpf_map__type(map)))
		strbuf_addf(note, "%" PRIu64 " updates failed", failed);
	else
		strbuf_addf(note,
			    "full: %" PRIu64
			    " updates failed; max_entries is %u; to make it larger use %s",
			    failed, bpf_map__max_entries(map), larger ? larger : "--map-entries");
}

/* What a reader of the stacks must know: of how many there are no frames, or not all. */
static void note_stacks(const struct result *r, const struct bpf_map *stacks,
			const struct map_losses *lost, struct strbuf *note)
{
	_cleanup_free_ char *larger = advice(stacks);

	next_note(note);
	if (r->kind == RESULT_STACKS && r->lost)
		strbuf_addf(note, "%" PRIu64 " of %" PRIu64 " %s have a stack that was lost",
			    r->lost, r->total, r->unit ? r->unit : "counts");
	else
		strbuf_addf(note, "%" PRIu64 " stacks were lost", lost->n);
	strbuf_addf(note, ": map %s had no room for it; for more room use %s",
		    bpf_map__name(stacks), larger ? larger : "--map-entries");
}

/* Of both maps; *stacks becomes the one that lost more. A site counts the losses of both. */
static struct map_losses stack_losses(const struct bpf_object *obj, const struct bpf_map **stacks,
				      const struct bpf_map *few, const struct sites *sites)
{
	struct map_losses lost = map_losses_of(obj, *stacks, sites);
	uint64_t n = 0, n_few = 0;

	if (!few)
		return lost;
	object_losses(obj, *stacks, &n);
	lost.counted = object_losses(obj, few, &n_few) && lost.counted;
	lost.n = max_of(lost.n, n + n_few);
	if (n_few > n)
		*stacks = few;
	return lost;
}

struct error *map_losses_add(const struct bpf_object *obj, const struct collector *collector,
			     struct results *results)
{
	struct result *r = &results->v[results->n - 1];
	const struct bpf_map *map = collector_map(collector);
	const struct bpf_map *stacks = collector_stacks(collector);
	const struct bpf_map *short_stacks = collector_short_stacks(collector);
	_cleanup_strbuf_ struct strbuf note = STRBUF_INIT;
	_cleanup_sites_ struct sites sites = {0};

	TRY(sites_read(obj, &sites));
	if (r->note)
		strbuf_adds(&note, r->note);
	const struct map_losses losses = map_losses_of(obj, map, &sites);
	if (r->kind == RESULT_EVENTS) {
		r->events.lost = max_of(r->events.lost, losses.n);
		r->events.lost_counted |= losses.counted;
		note_events(r, map, &losses, &note);
	} else {
		r->updates = (struct result_failures){
			/* of inner maps it is not known which of them an update was for */
			.counted = losses.counted && !map_type_indexed(bpf_map__type(map)) &&
				   !collector_reads_inner(collector),
			.n = losses.n,
		};
		if (losses.n)
			note_updates(map, losses.n, &note);
	}
	if (stacks) {
		const struct map_losses lost = stack_losses(obj, &stacks, short_stacks, &sites);

		r->lost_stacks = (struct result_failures){lost.counted, lost.n};
		if (lost.n || (r->kind == RESULT_STACKS && r->lost))
			note_stacks(r, stacks, &lost, &note);
	}
	if (!note.len && !strbuf_failed(&note))
		return NULL;
	r->note = strbuf_failed(&note) ? NULL : arena_strdup(&results->arena, note.str);
	return r->note ? NULL : error_nomem();
}
