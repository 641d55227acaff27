// SPDX-License-Identifier: BSD-2-Clause
/*
 * From samples to entries, in two steps.
 *
 * While samples come in, they are only counted by what makes them different:
 * equal stacks (same leaf, same chain, same other keys) become one record with
 * a sum. That costs a hash of some pointers for each sample, however deep its
 * chain. Addresses become interned frames, and frames of one function are one
 * pointer, so few stacks differ.
 *
 * hist_finish_group() then makes the entries: for each stack, in the order of first
 * appearance, the leaf's entry, and with children one for each function of the
 * chain, with the rest of the chain below it. perf does this for every sample;
 * as sums know no order and structures depend on first appearances alone, the
 * outcome is the same. (But for addresses without a symbol: perf's search tree
 * orders them by a difference that wraps around, so that it may miss one that
 * it has and make it twice. Here each has one entry.)
 *
 * A function that is twice in a chain is counted once; a chain's addresses
 * without a symbol are kept as recorded, a leaf's as its DSO has them; the
 * level of a frame without a map is that of the frame before: all as in perf
 * (tools/perf/util/hist.c of Linux 6.1, iter_add_next_cumulative_entry).
 */
#include "perf/hist/internal.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/vec.h"

#define CACHE_SIZE 16384
#define MAX_STACK  1024
#define MAX_WORDS  32

struct sorted_entry {
	struct hist_entry he; /* first */
	struct rb_node in;    /* as collected; then as reported */
	bool is_linked;	      /* to an entry of its group's leader */
	uint64_t last_stack;
	uint64_t hash;
	uint64_t words[];
};

struct chain_slot {
	uint64_t hash;
	const struct result_frame *const *frames;
	size_t n;
};

struct cached_frame {
	const struct map *map;
	uint64_t ip;
	const struct hist_frame *frame;
};

struct hist {
	const struct hist_spec *spec;
	struct resolver *resolver;
	struct session *session;
	struct arena arena;
	struct result_totals totals, shown;

	struct cached_frame *cache;
	struct u64map frames; /* by symbol, or by DSO and address */
	struct u64map ranks;  /* DSO -> rank */
	uint32_t n_ranks;
	struct strmap strings;
	struct strmap values; /* of dynamic keys, by kind and text */
	struct strbuf text;   /* scratch */
	const char *last_comm, *last_comm_interned;

	VEC(struct hist_stack *) stacks;
	struct hist_stack **stack_slots;
	size_t stack_mask;
	struct chain_slot *chain_slots;
	size_t chain_mask, n_chains;

	struct sorted_entry **entry_slots;
	size_t entry_mask, n_entries;
	struct rb_tree in;
	VEC(const struct hist_entry *) sorted;
};

struct error *hist_new(const struct hist_spec *spec, struct resolver *r, struct hist **out)
{
	struct hist *h = calloc(1, sizeof(*h));

	if (!h)
		return error_nomem();
	h->spec = spec;
	h->resolver = r;
	h->session = resolver_session(r);
	h->cache = calloc(CACHE_SIZE, sizeof(*h->cache));
	if (!h->cache) {
		free(h);
		return error_nomem();
	}
	*out = h;
	return NULL;
}

/* What is only used while samples come in. */
static void index_free(struct hist *h)
{
	free(steal_ptr(h->cache));
	u64map_deinit(&h->frames);
	u64map_deinit(&h->ranks);
	strmap_deinit(&h->strings);
	strmap_deinit(&h->values);
	strbuf_deinit(&h->text);
	free(steal_ptr(h->stack_slots));
	free(steal_ptr(h->chain_slots));
	free(steal_ptr(h->entry_slots));
}

void hist_free(struct hist *h)
{
	if (!h)
		return;
	index_free(h);
	vec_deinit(&h->stacks);
	vec_deinit(&h->sorted);
	arena_deinit(&h->arena);
	free(h);
}

/* One pointer for equal strings; NULL: no memory. */
static const char *intern(struct hist *h, const char *s)
{
	const char *known = strmap_get(&h->strings, s);

	if (known)
		return known;
	char *copy = arena_strdup(&h->arena, s);
	if (!copy)
		return NULL;
	return strmap_put(&h->strings, copy, copy) ? copy : NULL;
}

static const char *intern_comm(struct hist *h, const char *comm)
{
	if (comm != h->last_comm || strcmp(comm, h->last_comm_interned)) {
		h->last_comm_interned = intern(h, comm);
		h->last_comm = h->last_comm_interned ? comm : NULL;
	}
	return h->last_comm_interned;
}

/* Two builds at one path are two DSOs. */
static bool is_named_by(const struct data_build_id *b, const struct dso *dso)
{
	return !strcmp(b->filename, dso->path) && !dso->build_id_unsure &&
	       (!dso->build_id_size ||
		(b->size == dso->build_id_size && !memcmp(b->id, dso->build_id, b->size)));
}

/*
 * DSOs in the order of their creation, as perf orders them by their place in
 * memory: first those of the header's table of build-ids, then as they come.
 */
static uint32_t dso_rank(struct hist *h, const struct dso *dso)
{
	uintptr_t rank = (uintptr_t)u64map_get(&h->ranks, (uintptr_t)dso);

	if (!rank) {
		const struct data_header *header = session_header(h->session);

		for (size_t i = 0; i < header->n_build_ids && !rank; i++)
			if (is_named_by(&header->build_ids[i], dso))
				rank = i + 1;
		if (!rank)
			rank = header->n_build_ids + ++h->n_ranks;
		if (!u64map_put(&h->ranks, (uintptr_t)dso, (void *)rank))
			return 0;
	}
	return (uint32_t)rank;
}

static char level_of(uint8_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		return 'k';
	case PERF_RECORD_MISC_USER:
		return '.';
	default:
		return 'H'; /* as perf without guest options says */
	}
}

static const struct hist_frame *frame_new(struct hist *h, const struct location *loc)
{
	struct hist_frame *f = arena_alloc(&h->arena, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct hist_frame){
		.frame = {.name = loc->sym ? loc->sym->name : "[unknown]",
			  .offset = loc->sym ? loc->offset : loc->addr,
			  .is_kernel = loc->cpumode == PERF_RECORD_MISC_KERNEL,
			  .is_function = loc->sym && !h->spec->chain.by_address,
			  .has_start = loc->sym,
			  .start = loc->sym ? loc->sym->start : 0,
			  .addr = loc->addr,
			  .ip = loc->sym && !h->spec->chain.by_address ? loc->addr - loc->offset
								       : loc->addr},
		.dso = loc->map ? loc->map->dso : NULL,
		.sym = loc->sym,
		.map = loc->map,
		.level = loc->map ? level_of(loc->cpumode) : 0,
	};
	if (f->map)
		f->frame.mapping = (struct result_mapping){
			.start = f->map->start,
			.end = f->map->end,
			.offset = f->dso->kind == DSO_USER ? f->map->pgoff : 0};
	if (f->dso) {
		memcpy(f->frame.mapping.build_id, f->dso->build_id, f->dso->build_id_size);
		f->frame.mapping.build_id_size = f->dso->build_id_size;
		f->frame.module = f->dso->path;
		f->frame.rank = dso_rank(h, f->dso);
		f->dso_name = intern(h, hist_dso_name(h->spec, f->dso));
		if (!f->frame.rank || !f->dso_name)
			return NULL;
	}
	if (f->sym) {
		f->sym_name = intern(h, f->sym->name);
		if (!f->sym_name)
			return NULL;
	}
	return f;
}

/* The frame of a location; NULL: no memory. */
static const struct hist_frame *frame_of(struct hist *h, const struct location *loc)
{
	bool by_symbol = loc->sym && !h->spec->chain.by_address;
	const struct dso *dso = loc->map ? loc->map->dso : NULL;
	uint64_t key = by_symbol ? (uintptr_t)loc->sym
				 : hash_u64(loc->addr ^ hash_u64((uintptr_t)dso)) | 1;

	/* A key may be taken by another frame: then the next ones are looked at. */
	for (;; key += 2) {
		const struct hist_frame *f = u64map_get(&h->frames, key);

		if (!f) {
			f = frame_new(h, loc);
			return f && u64map_put(&h->frames, key, (void *)f) ? f : NULL;
		}
		if (f->dso == dso && f->sym == loc->sym &&
		    (by_symbol || f->frame.addr == loc->addr))
			return f;
	}
}

static const struct hist_frame *frame_at(struct hist *h, const struct thread *thread,
					 uint8_t cpumode, uint64_t ip)
{
	const struct map *map = resolver_find_map(h->resolver, thread, cpumode, ip);
	struct cached_frame *c = &h->cache[hash_u64(ip ^ (uintptr_t)map) & (CACHE_SIZE - 1)];
	struct location loc;

	if (c->frame && c->map == map && c->ip == ip && map)
		return c->frame;
	resolve_addr_in(h->resolver, map, cpumode, ip, &loc);
	const struct hist_frame *f = frame_of(h, &loc);
	*c = (struct cached_frame){map, ip, f};
	return f;
}

/* Into frames[0 … max) and ips, innermost first; the number of them, -1: no memory. */
static int chain_resolve(struct hist *h, const struct sample *sample, const struct thread *thread,
			 const struct result_frame *leaf, const struct result_frame **frames,
			 uint64_t *ips, size_t max)
{
	uint8_t cpumode = PERF_RECORD_MISC_USER;
	uint64_t first = 0;
	size_t n = 0;

	if (max && sample_has_only_stack(sample)) {
		frames[0] = leaf;
		ips[0] = sample->ip;
		return 1;
	}
	/* With the caller first, perf stops at the innermost frames that are too many. */
	if (h->spec->chain.caller && sample->chain.n > max) {
		size_t left = max;

		for (first = sample->chain.n; first > 0 && left; first--)
			left -= u64_array_at(&sample->chain, first - 1) < PERF_CONTEXT_MAX;
	}
	for (uint64_t i = 0; i < sample->chain.n && n < max; i++) {
		uint64_t ip = u64_array_at(&sample->chain, i);

		if (ip >= PERF_CONTEXT_MAX) {
			if (ip == PERF_CONTEXT_KERNEL)
				cpumode = PERF_RECORD_MISC_KERNEL;
			else if (ip == PERF_CONTEXT_USER)
				cpumode = PERF_RECORD_MISC_USER;
			else if (ip == PERF_CONTEXT_HV)
				cpumode = PERF_RECORD_MISC_HYPERVISOR;
			else
				return 0; /* not understood: perf drops the whole chain */
			continue;
		}
		if (i < first)
			continue;
		const struct hist_frame *f = frame_at(h, thread, cpumode, ip);
		if (!f)
			return -1;
		if (f->sym || !h->spec->hide_unresolved) {
			ips[n] = ip;
			frames[n++] = &f->frame;
		}
	}
	return (int)n;
}

static bool chains_grow(struct hist *h)
{
	size_t slots = h->chain_mask ? (h->chain_mask + 1) * 2 : 1024;
	struct chain_slot *grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return false;
	for (size_t i = 0; h->chain_mask && i <= h->chain_mask; i++) {
		const struct chain_slot *s = &h->chain_slots[i];
		size_t at = s->hash & (slots - 1);

		if (!s->frames)
			continue;
		while (grown[at].frames)
			at = (at + 1) & (slots - 1);
		grown[at] = *s;
	}
	free(h->chain_slots);
	h->chain_slots = grown;
	h->chain_mask = slots - 1;
	return true;
}

static const struct result_frame *const *chain_intern(struct hist *h,
						      const struct result_frame **frames, size_t n)
{
	uint64_t hash = n;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15ull;
	hash = hash_u64(hash);
	if (h->n_chains * 4 >= h->chain_mask * 3 && !chains_grow(h))
		return NULL;
	for (size_t at = hash & h->chain_mask;; at = (at + 1) & h->chain_mask) {
		struct chain_slot *s = &h->chain_slots[at];

		if (!s->frames) {
			const struct result_frame **copy =
				arena_alloc(&h->arena, n * sizeof(*frames) + !n);
			if (!copy)
				return NULL;
			memcpy(copy, frames, n * sizeof(*frames));
			*s = (struct chain_slot){hash, copy, n};
			h->n_chains++;
			return copy;
		}
		if (s->hash == hash && s->n == n && !memcmp(s->frames, frames, n * sizeof(*frames)))
			return s->frames;
	}
}

static uint64_t stack_hash(const struct hist_stack *s, size_t n_values)
{
	uint64_t hash = hash_u64((uintptr_t)s->leaf ^ hash_u64((uintptr_t)s->chain));

	hash ^= (uintptr_t)s->comm * 31 + (uintptr_t)s->thread * 37 + (uintptr_t)s->trace * 41;
	hash ^= hash_u64(s->time * 3 + (uint64_t)(uint32_t)s->cpu * 5 + s->cpumode * 7 +
			 s->filtered);
	for (size_t i = 0; i < n_values; i++)
		if (s->values[i])
			hash = hash_u64(hash ^ (uintptr_t)s->values[i]) + i;
	return hash_u64(hash);
}

static bool stack_equal(const struct hist_stack *a, const struct hist_stack *b, size_t n_values)
{
	return a->leaf == b->leaf && a->chain == b->chain && a->comm == b->comm &&
	       a->thread == b->thread && a->trace == b->trace && a->time == b->time &&
	       a->cpu == b->cpu && a->cpumode == b->cpumode && a->filtered == b->filtered &&
	       (!a->values || !memcmp(a->values, b->values, n_values * sizeof(*a->values)));
}

static bool stacks_grow(struct hist *h)
{
	size_t slots = h->stack_mask ? (h->stack_mask + 1) * 2 : 1024;
	struct hist_stack **grown = calloc(slots, sizeof(*grown)), **it;

	if (!grown)
		return false;
	vec_for_each (it, &h->stacks) {
		size_t at = (*it)->hash & (slots - 1);

		while (grown[at])
			at = (at + 1) & (slots - 1);
		grown[at] = *it;
	}
	free(h->stack_slots);
	h->stack_slots = grown;
	h->stack_mask = slots - 1;
	return true;
}

/* With -v, the address behind a function is that of a sample of its row, not of any row. */
static bool keep_ips(struct hist *h, struct hist_stack *s)
{
	const size_t size = s->depth * sizeof(*s->ips);
	uint64_t *ips = h->spec->long_dso ? arena_alloc(&h->arena, size) : NULL;

	if (ips)
		memcpy(ips, s->ips, size);
	s->ips = ips;
	return ips || !h->spec->long_dso;
}

/* A copy of the values, which are the caller's. */
static bool keep_values(struct hist *h, struct hist_stack *s)
{
	size_t size = h->spec->n_dynamic * sizeof(*s->values);
	const struct hist_value **values = arena_alloc(&h->arena, size);

	if (values)
		s->values = memcpy(values, s->values, size);
	return values;
}

static struct error *stack_add(struct hist *h, const struct hist_stack *s,
			       const struct thread *thread)
{
	if (h->stacks.n * 4 >= h->stack_mask * 3 && !stacks_grow(h))
		return error_nomem();
	for (size_t at = s->hash & h->stack_mask;; at = (at + 1) & h->stack_mask) {
		struct hist_stack *known = h->stack_slots[at];

		if (!known) {
			struct hist_stack **slot = vec_push(&h->stacks);

			known = slot ? arena_alloc(&h->arena, sizeof(*known)) : NULL;
			if (!known)
				return error_nomem();
			*known = *s;
			known->thread = thread;
			if (!keep_ips(h, known) || (s->values && !keep_values(h, known)))
				return error_nomem();
			h->stack_slots[at] = *slot = known;
			return NULL;
		}
		/* thread tells stacks apart only when it is a key. */
		if (known->hash == s->hash) {
			struct hist_stack probe = *s;

			probe.thread = s->thread ? s->thread : known->thread;
			if (stack_equal(known, &probe, h->spec->n_dynamic)) {
				known->period += s->period;
				known->n += s->n;
				return NULL;
			}
		}
	}
}

/* The value of a dynamic key, interned; *out stays NULL where the sample has none. */
static struct error *value_of(struct hist *h, const struct hist_dynamic *field,
			      const struct session_event *event, const struct sample *sample,
			      const struct hist_value **out)
{
	struct hist_value value = {0};
	bool none = false;

	strbuf_reset(&h->text);
	strbuf_addch(&h->text, ' ');
	TRY(h->spec->field(h->spec->trace_ctx, field, event, sample, &value, &none, &h->text));
	if (strbuf_failed(&h->text))
		return error_nomem();
	if (none)
		return NULL;
	h->text.str[0] = "tus"[value.kind];
	*out = strmap_get(&h->values, h->text.str);
	if (*out)
		return NULL;
	char *text = arena_strdup(&h->arena, h->text.str);
	struct hist_value *copy = arena_alloc(&h->arena, sizeof(*copy));
	if (!text || !copy)
		return error_nomem();
	*copy = value;
	copy->text = text + 1;
	if (!strmap_put(&h->values, text, copy))
		return error_nomem();
	*out = copy;
	return NULL;
}

static bool keyed_by_thread(const struct hist_spec *spec)
{
	return spec->has[HIST_PID] || spec->has[HIST_TID];
}

struct error *hist_add(struct hist *h, const struct sample *sample,
		       const struct session_event *event, const struct thread *thread,
		       const struct location *leaf, bool filtered)
{
	const struct hist_spec *spec = h->spec;
	const struct result_frame *frames[MAX_STACK];
	uint64_t ips[MAX_STACK];
	const struct hist_value *values[HIST_MAX_DYNAMIC] = {0};
	bool has_values =
		spec->field && spec->n_dynamic && event->attr.type == PERF_TYPE_TRACEPOINT;
	bool wants_chain = spec->use_chain || spec->children || spec->has[HIST_PARENT];
	struct hist_stack s = {
		.thread = keyed_by_thread(spec) ? thread : NULL,
		.comm = intern_comm(h, thread->comm),
		.leaf = frame_of(h, leaf),
		.period = sample->period,
		.n = 1,
		.cpu = spec->has[HIST_CPU] ? sample->cpu : 0,
		.level = level_of(leaf->cpumode),
		.cpumode = leaf->cpumode,
		.filtered = filtered,
		.values = has_values ? values : NULL,
	};

	if (!s.comm || !s.leaf)
		return error_nomem();
	/* perf counts within the image of a BPF program. */
	s.ip = leaf->map && leaf->map->dso->kind == DSO_BPF ? leaf->addr - leaf->map->start
							    : leaf->dso_addr;
	if (spec->has[HIST_TIME])
		s.time = spec->time_quantum ? sample->time / spec->time_quantum * spec->time_quantum
					    : sample->time;
	if (spec->has[HIST_TRACE] && spec->trace && event->attr.type == PERF_TYPE_TRACEPOINT) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		TRY(spec->trace(spec->trace_ctx, event, sample, &text));
		s.trace = intern(h, strbuf_str(&text));
		if (!s.trace)
			return error_nomem();
	}
	for (size_t i = 0; s.values && i < spec->n_dynamic; i++)
		TRY(value_of(h, &spec->dynamic[i], event, sample, &values[i]));
	if (wants_chain && (sample->chain.n || sample_has_only_stack(sample))) {
		int n = chain_resolve(h, sample, thread, &s.leaf->frame, frames, ips,
				      min_of(spec->max_stack, (size_t)MAX_STACK));

		if (n < 0)
			return error_nomem();
		if (spec->chain.caller) {
			for (int i = 0; i < n / 2; i++) {
				const struct result_frame *f = frames[i];
				const uint64_t ip = ips[i];

				frames[i] = frames[n - 1 - i];
				frames[n - 1 - i] = f;
				ips[i] = ips[n - 1 - i];
				ips[n - 1 - i] = ip;
			}
		}
		s.depth = (uint32_t)n;
		s.ips = ips;
		s.chain = chain_intern(h, frames, (size_t)n);
		if (!s.chain)
			return error_nomem();
	}
	s.hash = stack_hash(&s, s.values ? spec->n_dynamic : 0);
	return stack_add(h, &s, thread);
}

/* A chain holds frames of ours. */
static const struct hist_frame *frame_in(const struct result_frame *const *chain, size_t i)
{
	return container_of(chain[i], const struct hist_frame, frame);
}

static bool parent_matches(const struct hist_spec *spec, const struct hist_frame *frame)
{
	struct hist_frame *f = (struct hist_frame *)frame; /* ours: made in frame_new() */

	if (!f->parent)
		f->parent = f->sym && !regexec(spec->parent, f->sym->name, 0, NULL, 0) ? 1 : -1;
	return f->parent > 0;
}

/*
 * The values of the keys as numbers: equal when perf's comparison says 0. Samples that a filter
 * hides have entries of their own; in perf 6.1 they count in the entry of those that it shows, or
 * hide it, whichever came first.
 */
static size_t entry_words(struct hist *h, const struct hist_entry *he, uint64_t *words)
{
	const struct hist_spec *spec = h->spec;
	size_t n = 0;

	words[n++] = he->filtered;
	for (size_t i = 0; i < spec->n_sort; i++) {
		switch (spec->sort[i]) {
		case HIST_PID:
		case HIST_TID:
			words[n++] = (uint32_t)he->thread->tid;
			break;
		case HIST_COMM:
			words[n++] = (uintptr_t)he->comm;
			break;
		case HIST_DSO:
			words[n++] = (uintptr_t)he->frame->dso_name;
			break;
		case HIST_SYMBOL:
		case HIST_IPC_NULL: {
			const struct symbol *sym = he->frame->sym;

			words[n++] = sym != NULL;
			words[n++] = sym ? sym->start : he->ip;
			words[n++] = sym ? sym->end : 0;
			words[n++] = sym ? (uintptr_t)he->frame->dso_name : 0;
			words[n++] = (uintptr_t)he->frame->sym_name;
			break;
		}
		case HIST_PARENT:
			words[n++] = he->parent ? (uintptr_t)intern(h, he->parent->name) : 0;
			break;
		case HIST_CPU:
			words[n++] = (uint32_t)he->cpu;
			break;
		case HIST_TRACE:
			words[n++] = (uintptr_t)he->trace;
			break;
		case HIST_TIME:
			words[n++] = he->time;
			break;
		default:
			if (spec->sort[i] >= HIST_DYNAMIC)
				words[n++] = (uintptr_t)hist_entry_value(he, spec->sort[i] -
										     HIST_DYNAMIC);
			break;
		}
	}
	return n;
}

static struct sorted_entry *entry_of_in(struct rb_node *rb)
{
	return container_of(rb, struct sorted_entry, in);
}

static void insert_in(struct hist *h, struct sorted_entry *e)
{
	struct rb_node **link = &h->in.root, *parent = NULL;

	while (*link) {
		parent = *link;
		link = hist_entry_cmp(h->spec, &entry_of_in(parent)->he, &e->he) < 0
			       ? &parent->left
			       : &parent->right;
	}
	rb_insert(&h->in, &e->in, parent, link);
}

static void insert_out(struct hist *h, struct rb_tree *out, struct sorted_entry *e)
{
	struct rb_node **link = &out->root, *parent = NULL;

	while (*link) {
		parent = *link;
		link = hist_entry_sort(h->spec, &e->he, &entry_of_in(parent)->he) > 0
			       ? &parent->left
			       : &parent->right;
	}
	rb_insert(out, &e->in, parent, link);
}

static bool entries_grow(struct hist *h)
{
	size_t slots = h->entry_mask ? (h->entry_mask + 1) * 2 : 1024;
	struct sorted_entry **grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return false;
	for (size_t i = 0; h->entry_mask && i <= h->entry_mask; i++) {
		struct sorted_entry *e = h->entry_slots[i];
		size_t at = e ? e->hash & (slots - 1) : 0;

		while (e && grown[at])
			at = (at + 1) & (slots - 1);
		if (e)
			grown[at] = e;
	}
	free(h->entry_slots);
	h->entry_slots = grown;
	h->entry_mask = slots - 1;
	return true;
}

static struct sorted_entry *entry_new(struct hist *h, const struct hist_entry *want, size_t n_words)
{
	struct sorted_entry *e = arena_alloc(&h->arena, sizeof(*e) + n_words * sizeof(e->words[0]));

	if (!e)
		return NULL;
	e->he = *want;
	if (h->spec->use_chain) {
		e->he.chain = arena_alloc(&h->arena, sizeof(*e->he.chain));
		if (!e->he.chain)
			return NULL;
	}
	return e;
}

/* The entry with the keys of want, made if need be; NULL: no memory. */
static struct sorted_entry *entry_get(struct hist *h, const struct hist_entry *want)
{
	uint64_t words[HIST_MAX_FIELDS * 5 + 1], hash = 0;
	size_t n = entry_words(h, want, words);

	for (size_t i = 0; i < n; i++)
		hash = hash_u64(hash ^ words[i]) + i;
	if (h->n_entries * 4 >= h->entry_mask * 3 && !entries_grow(h))
		return NULL;
	for (size_t at = hash & h->entry_mask;; at = (at + 1) & h->entry_mask) {
		struct sorted_entry *e = h->entry_slots[at];

		if (!e) {
			e = entry_new(h, want, n);
			if (!e)
				return NULL;
			e->hash = hash;
			memcpy(e->words, words, n * sizeof(*words));
			insert_in(h, e);
			h->entry_slots[at] = e;
			h->n_entries++;
			return e;
		}
		if (e->hash == hash && !memcmp(e->words, words, n * sizeof(*words)))
			return e;
	}
}

static void stat_add(struct hist_stat *stat, uint64_t period, uint64_t n, uint8_t cpumode)
{
	stat->period += period;
	stat->n += n;
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		stat->sys += period;
		break;
	case PERF_RECORD_MISC_USER:
		stat->us += period;
		break;
	case PERF_RECORD_MISC_GUEST_KERNEL:
		stat->guest_sys += period;
		break;
	case PERF_RECORD_MISC_GUEST_USER:
		stat->guest_us += period;
		break;
	default:
		break;
	}
}

static bool entry_add_chain(struct hist *h, struct sorted_entry *e, const struct hist_stack *s,
			    size_t from)
{
	return !h->spec->use_chain || from == s->depth ||
	       stack_tree_add(e->he.chain, &h->arena,
			      h->spec->chain.by_address ? STACK_BY_ADDRESS : STACK_BY_FUNCTION,
			      s->chain + from, s->depth - from, s->period, s->n);
}

/*
 * A text that names have to hold hides entries, not samples: with children, a caller is
 * shown for its own name, whatever it called.
 */
static bool misses_text(const struct hist *h, const struct hist_frame *f)
{
	const char *text = h->spec->symbol_filter;

	return text && (!f->sym || !strstr(f->sym->name, text));
}

/* The frames of the chain, each of which called the sample's place. */
static struct error *add_children(struct hist *h, struct hist_stack *s, uint64_t number,
				  const struct hist_entry *leaf)
{
	struct hist_entry want = *leaf;

	for (uint32_t i = 0; i < s->depth; i++) {
		const struct hist_frame *f = frame_in(s->chain, i);

		if (!f->sym && h->spec->hide_unresolved)
			break;
		want.frame = f;
		want.filtered = leaf->filtered || misses_text(h, f);
		/* Of data the offset is shown, which is from the map of the frame. */
		want.ip =
			s->ips && f->sym && f->sym->type != STT_OBJECT ? s->ips[i] : f->frame.addr;
		if (f->level)
			want.level = f->level;
		struct sorted_entry *e = entry_get(h, &want);
		if (!e)
			return error_nomem();
		/* A stack is shown when a row that it counts for is. */
		if (h->spec->symbol_filter && !leaf->filtered)
			s->filtered &= e->he.filtered;
		/* perf compares with a time of 0, so that with "time" none is a repetition. */
		if (e->last_stack == number && !(h->spec->has[HIST_TIME] && s->time))
			continue;
		e->last_stack = number;
		e->he.acc += s->period;
		if (!entry_add_chain(h, e, s, i))
			return error_nomem();
	}
	return NULL;
}

static struct error *stack_finish(struct hist *h, struct hist_stack *s, uint64_t number)
{
	struct hist_entry want = {
		.comm = s->comm,
		.thread = s->thread,
		.frame = s->leaf,
		.ip = s->ip,
		.level = s->level,
		.cpu = s->cpu,
		.time = s->time,
		.trace = s->trace,
		.values = s->values,
		.filtered = s->filtered,
	};

	if (h->spec->has[HIST_PARENT] && h->spec->parent) {
		for (uint32_t i = 0; i < s->depth && !want.parent; i++)
			if (parent_matches(h->spec, frame_in(s->chain, i)))
				want.parent = frame_in(s->chain, i)->sym;
		want.filtered |= h->spec->exclude_other && !want.parent;
	}
	const struct hist_entry of_sample = want;
	const bool misses = misses_text(h, s->leaf);
	want.filtered |= misses;
	struct sorted_entry *e = entry_get(h, &want);
	if (!e)
		return error_nomem();
	e->last_stack = number;
	stat_add(&e->he.stat, s->period, s->n, s->cpumode);
	e->he.acc += s->period;
	if (!entry_add_chain(h, e, s, 0))
		return error_nomem();

	h->totals.samples += s->n;
	s->filtered = e->he.filtered; /* as the first sample of the entry */
	const bool counts = misses ? !of_sample.filtered : !s->filtered;
	if (counts)
		h->shown.samples += s->n;
	if (h->spec->use_chain) {
		h->totals.chain_period += s->period;
		if (counts)
			h->shown.chain_period += s->period;
	}
	return h->spec->children ? add_children(h, s, number, &of_sample) : NULL;
}

/*
 * Where "comm" is among the keys, perf goes over all entries once more and
 * puts them into a second tree. Addresses without a symbol compare by a
 * difference that wraps around, which is no total order, so that this may
 * change their places.
 */
static struct error *collapse(struct hist *h)
{
	VEC(struct sorted_entry *) all = {0};

	if (!h->spec->has[HIST_COMM])
		return NULL;
	if (!vec_reserve(&all, h->n_entries + 1))
		return error_nomem();
	for (struct rb_node *rb = rb_first(&h->in); rb; rb = rb_next(rb))
		*vec_push(&all) = entry_of_in(rb);
	h->in = (struct rb_tree){0};
	for (size_t i = 0; i < all.n; i++)
		insert_in(h, all.v[i]);
	vec_deinit(&all);
	return NULL;
}

/* The entries, in the tree of those that are collected. */
static struct error *collect(struct hist *h)
{
	for (size_t i = 0; i < h->stacks.n; i++)
		TRY(stack_finish(h, h->stacks.v[i], i + 1));
	return collapse(h);
}

/* By perf's search, as addresses without a symbol have no total order; NULL: none. */
static struct sorted_entry *find_equal(const struct hist *h, const struct hist_entry *he)
{
	struct rb_node *rb = h->in.root;

	while (rb) {
		const int64_t cmp = hist_entry_cmp(h->spec, &entry_of_in(rb)->he, he);

		if (!cmp)
			return entry_of_in(rb);
		rb = cmp < 0 ? rb->left : rb->right;
	}
	return NULL;
}

static bool make_leader(struct hist *h, struct sorted_entry *e, size_t n)
{
	e->he.members = arena_alloc(&h->arena, n * sizeof(*e->he.members));
	e->he.n_members = n;
	if (e->he.members)
		e->he.members[0] = &e->he;
	return e->he.members;
}

/* An entry of the leader's for one that only a member has. */
static struct sorted_entry *add_empty(struct hist *h, const struct hist_entry *of, size_t n)
{
	struct hist_entry want = *of;

	want.stat = (struct hist_stat){0};
	want.acc = 0;
	want.chain = NULL;
	struct sorted_entry *e = entry_new(h, &want, 0);
	if (!e || !make_leader(h, e, n))
		return NULL;
	insert_in(h, e);
	h->n_entries++;
	return e;
}

/* The i-th of n members: its entries go to the leader's that have their keys. */
static struct error *link_member(struct hist *leader, const struct hist *member, size_t i, size_t n)
{
	struct rb_node *rb;

	/* As perf: those that the leader has, in its order; then those that it lacks. */
	for (rb = rb_first(&leader->in); rb; rb = rb_next(rb)) {
		struct sorted_entry *e = entry_of_in(rb);
		struct sorted_entry *other = find_equal(member, &e->he);

		if (other) {
			e->he.members[i] = &other->he;
			other->is_linked = true;
		}
	}
	for (rb = rb_first(&member->in); rb; rb = rb_next(rb)) {
		struct sorted_entry *other = entry_of_in(rb);

		if (other->is_linked)
			continue;
		struct sorted_entry *e = find_equal(leader, &other->he);
		if (!e)
			e = add_empty(leader, &other->he, n);
		if (!e)
			return error_nomem();
		e->he.members[i] = &other->he;
	}
	return NULL;
}

/* The order of the report, and the totals. */
static struct error *put_in_order(struct hist *h)
{
	struct rb_tree out = {0};

	if (!vec_reserve(&h->sorted, h->n_entries + 1))
		return error_nomem();
	for (struct rb_node *rb = rb_first(&h->in); rb; rb = rb_next(rb))
		*vec_push(&h->sorted) = &entry_of_in(rb)->he;
	h->in = (struct rb_tree){0};
	for (size_t i = 0; i < h->sorted.n; i++) {
		struct sorted_entry *e = container_of(h->sorted.v[i], struct sorted_entry, he);

		h->totals.period += e->he.stat.period;
		if (!e->he.filtered)
			h->shown.period += e->he.stat.period;
		insert_out(h, &out, e);
	}
	h->sorted.n = 0;
	for (struct rb_node *rb = rb_first(&out); rb; rb = rb_next(rb))
		*vec_push(&h->sorted) = &entry_of_in(rb)->he;
	return NULL;
}

struct error *hist_finish_group(struct hist *const *hists, size_t n)
{
	struct hist *leader = hists[0];

	for (size_t i = 0; i < n; i++)
		TRY(collect(hists[i]));
	for (struct rb_node *rb = n > 1 ? rb_first(&leader->in) : NULL; rb; rb = rb_next(rb))
		if (!make_leader(leader, entry_of_in(rb), n))
			return error_nomem();
	for (size_t i = 1; i < n; i++)
		TRY(link_member(leader, hists[i], i, n));
	for (size_t i = 0; i < n; i++)
		TRY(put_in_order(hists[i]));
	for (size_t i = 0; i < n; i++)
		index_free(hists[i]);
	return NULL;
}

size_t hist_size(const struct hist *h)
{
	return h->sorted.n;
}

const struct hist_entry *hist_at(const struct hist *h, size_t i)
{
	return h->sorted.v[i];
}

const struct result_totals *hist_totals(const struct hist *h)
{
	return &h->totals;
}

const struct result_totals *hist_shown_totals(const struct hist *h)
{
	return &h->shown;
}

const struct hist_spec *hist_spec_of(const struct hist *h)
{
	return h->spec;
}

struct hist_stack *const *hist_stacks(const struct hist *h, size_t *n)
{
	*n = h->stacks.n;
	return h->stacks.v;
}

char hist_dso_origin(const struct hist *h, const struct dso *dso)
{
	struct symtab *st = dso && dso->kind != DSO_BPF
				    ? resolver_symtab(h->resolver, (struct dso *)dso)
				    : NULL;

	return st ? symtab_origin(st) : '!';
}
