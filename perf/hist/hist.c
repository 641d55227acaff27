// SPDX-License-Identifier: BSD-2-Clause
/*
 * From samples to stacks, the first of two steps; hist_entries.c is the second.
 *
 * While samples come in, they are only counted by what makes them different:
 * equal stacks (same leaf, same chain, same other keys) become one record with
 * a sum. That costs a hash of some pointers for each sample, however deep its
 * chain. Addresses become interned frames, and frames of one function are one
 * pointer, so few stacks differ.
 */
#include "perf/hist/internal.h"

#include <stdlib.h>
#include <string.h>

#include "perf/resolve/line_text.h"
#include "perf/resolve/result_mapping.h"

#define CACHE_SIZE 16384
#define LEAVES	   4096
#define TEXTS	   2048

struct chain_slot {
	uint64_t hash;
	const struct result_frame *const *frames;
	size_t n;
};

/* The functions that are inlined at an address, the innermost first. */
struct inlined_frames {
	size_t n;
	const struct hist_frame *v[];
};

struct cached_frame {
	uint64_t generation; /* of a live session's maps, of which another may get the address */
	const struct map *map;
	uint64_t ip;
	const struct hist_frame *frame;
	const struct inlined_frames *inlined; /* in the frame; NULL: none */
};

struct cached_leaf {
	const struct map *map; /* NULL: free */
	uint64_t addr;
	const struct hist_frame *frame;
};

/* What an event's format makes of a payload; many are repeated byte by byte. */
struct cached_text {
	const struct session_event *event;
	const char *text; /* NULL: free */
	uint32_t size;
	uint8_t raw[84];
};

struct error *hist_new(const struct hist_spec *spec, struct resolver *r, struct hist **out)
{
	struct hist *h = calloc(1, sizeof(*h));

	if (!h)
		return error_nomem();
	h->spec = spec;
	h->resolver = r;
	h->session = resolver_session(r);
	h->by_address = spec->chain.order != STACK_BY_FUNCTION || spec->has[HIST_SRCLINE] ||
			spec->has[HIST_SRCFILE] || spec->has[HIST_SRCLINE_FROM] ||
			spec->has[HIST_SRCLINE_TO];
	h->knows = hist_known_helps(spec);
	h->cache = calloc(CACHE_SIZE, sizeof(*h->cache));
	h->leaves = calloc(LEAVES, sizeof(*h->leaves));
	h->texts = calloc(TEXTS, sizeof(*h->texts));
	if (!h->cache || !h->leaves || !h->texts) {
		hist_free(h);
		return error_nomem();
	}
	*out = h;
	return NULL;
}

void hist_index_free(struct hist *h)
{
	free(steal_ptr(h->cache));
	free(steal_ptr(h->leaves));
	free(steal_ptr(h->texts));
	hist_known_free(h);
	hist_branch_cache_free(steal_ptr(h->branch_cache));
	u64map_deinit(&h->frames);
	u64map_deinit(&h->inlined);
	u64map_deinit(&h->ranks);
	strmap_deinit(&h->build_ids);
	free(steal_ptr(h->next_build_id));
	strmap_deinit(&h->strings);
	strmap_deinit(&h->values);
	strbuf_deinit(&h->text);
	free(steal_ptr(h->stack_slots));
	free(steal_ptr(h->chain_slots));
	free(steal_ptr(h->entry_slots));
	hist_owned_deinit(&h->owned);
}

void hist_free(struct hist *h)
{
	if (!h)
		return;
	hist_index_free(h);
	result_mappings_deinit(&h->mappings);
	vec_deinit(&h->stacks);
	vec_deinit(&h->sorted);
	u64map_deinit(&h->samples);
	u64map_deinit(&h->histories);
	u64map_deinit(&h->entry_samples);
	arena_deinit(&h->entry_arena);
	arena_deinit(&h->arena);
	hist_blocks_free(h->blocks);
	hist_free(h->shown_before);
	free(h);
}

const char *hist_intern(struct hist *h, const char *s)
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
	/* In a recording, equal names are one string, which does not change (session.h). */
	if (comm != h->last_comm || (h->spec->live && strcmp(comm, h->last_comm_interned))) {
		h->last_comm_interned = hist_intern(h, comm);
		h->last_comm = h->last_comm_interned ? comm : NULL;
	}
	return h->last_comm_interned;
}

static bool index_build_ids(struct hist *h, const struct data_header *header)
{
	if (h->next_build_id)
		return true;
	h->next_build_id = calloc(header->n_build_ids + 1, sizeof(*h->next_build_id));
	for (size_t i = header->n_build_ids; h->next_build_id && i--;) {
		const char *path = header->build_ids[i].filename;

		h->next_build_id[i] = (uintptr_t)strmap_get(&h->build_ids, path);
		if (!strmap_put(&h->build_ids, path, (void *)(i + 1)))
			return false;
	}
	return h->next_build_id;
}

/* Two builds at one path are two DSOs. */
static bool is_build_of(const struct data_build_id *b, const struct dso *dso)
{
	return !dso->build_id_unsure &&
	       (!dso->build_id_size ||
		(b->size == dso->build_id_size && !memcmp(b->id, dso->build_id, b->size)));
}

/*
 * DSOs in the order of their creation, as perf orders them by their place in
 * memory: first those of the header's table of build-ids, then as they come.
 */
uint32_t hist_dso_rank(struct hist *h, const struct dso *dso)
{
	uintptr_t rank = (uintptr_t)u64map_get(&h->ranks, (uintptr_t)dso);

	if (!rank) {
		const struct data_header *header = session_header(h->session);

		if (!index_build_ids(h, header))
			return 0;
		rank = (uintptr_t)strmap_get(&h->build_ids, dso->path);
		while (rank && !is_build_of(&header->build_ids[rank - 1], dso))
			rank = h->next_build_id[rank - 1];
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

/* Of a live session, which may free what the frame is of. */
static bool frame_own(struct hist *h, struct hist_frame *f)
{
	struct result_frame *frame = &f->frame;

	if (f->map)
		f->map = owned_map(&h->arena, f->map, f->dso);
	if (f->sym) {
		f->sym = owned_symbol(&h->arena, f->sym, f->sym_name);
		frame->name = f->sym_name;
	}
	if (frame->file)
		frame->file = hist_intern(h, frame->file);
	return (f->map || !f->dso) && (f->sym || !f->sym_name);
}

/* Of functions that are inlined at its address, whose line is that of a call. */
static bool is_caller(const struct location *loc, const struct inline_frame *inl)
{
	return inl && loc->sym && !loc->sym->inlined;
}

/* Source lines, as far as they are asked for. */
static bool add_lines(struct hist *h, struct hist_frame *f, const struct location *loc,
		      const struct inline_frame *inl)
{
	const struct hist_spec *spec = h->spec;

	if (!h->by_address)
		return true;
	const bool known = line_find(h->resolver, loc, inl, &f->frame.file, &f->frame.line);
	strbuf_reset(&h->text);
	line_text(h->resolver, loc, inl, spec->full_paths, &h->text);
	f->srcline = hist_intern(h, strbuf_str(&h->text));
	strbuf_reset(&h->text);
	line_text_file(h->resolver, loc, inl, spec->full_paths, &h->text);
	f->srcfile = hist_intern(h, strbuf_str(&h->text));
	if (known && spec->chain.order != STACK_BY_FUNCTION)
		f->frame.line_text = f->srcline;
	return f->srcline && f->srcfile && !strbuf_failed(&h->text);
}

static const struct hist_frame *frame_new(struct hist *h, const struct location *loc,
					  const struct inline_frame *inl, const struct dso *dso)
{
	const bool is_function = loc->sym && !h->by_address;
	struct hist_frame *f = arena_alloc(&h->arena, sizeof(*f));

	if (!f)
		return NULL;
	*f = (struct hist_frame){
		.frame = {.name = loc->sym ? loc->sym->name : "[unknown]",
			  .offset = loc->sym ? loc->offset : loc->addr,
			  .is_kernel = loc->cpumode == PERF_RECORD_MISC_KERNEL,
			  .is_inlined = loc->sym && loc->sym->inlined,
			  .is_function = is_function,
			  .has_start = loc->sym,
			  .start = loc->sym ? loc->sym->start : 0,
			  .addr = loc->addr,
			  .ip = is_function ? loc->addr - loc->offset : loc->addr},
		.dso = dso,
		.sym = loc->sym,
		.map = loc->map,
		.level = loc->map ? level_of(loc->cpumode) : 0,
		.is_caller = is_caller(loc, inl),
	};
	if (!add_lines(h, f, loc, inl))
		return NULL;
	if (f->dso) {
		f->frame.mapping = result_mapping_of(&h->mappings, f->map);
		f->frame.module = f->dso->path;
		f->frame.rank = hist_dso_rank(h, f->dso);
		f->dso_name = hist_intern(h, hist_dso_name(h->spec, f->dso));
		if (!f->frame.mapping || !f->frame.rank || !f->dso_name)
			return NULL;
	}
	if (f->sym) {
		f->sym_name = hist_intern(h, f->sym->name);
		if (!f->sym_name)
			return NULL;
	}
	if (h->spec->live && !frame_own(h, f))
		return NULL;
	return f;
}

static bool same_symbol(const struct hist *h, const struct symbol *a, const struct symbol *b)
{
	if (a == b || !a || !b || !h->spec->live)
		return a == b;
	return a->start == b->start && a->end == b->end && !strcmp(a->name, b->name);
}

static uint64_t frame_key(const struct hist *h, const struct dso *dso, const struct symbol *sym,
			  uint64_t addr)
{
	const bool by_symbol = sym && !h->by_address;

	if (by_symbol && !h->spec->live)
		return (uintptr_t)sym;
	return hash_u64((by_symbol ? sym->start : addr) ^ hash_u64((uintptr_t)dso)) | 1;
}

/* Where the frame is in h->frames, or NULL and the key that it would have there. */
const struct hist_frame *hist_frame_find(const struct hist *h, const struct hist_frame *like,
					 uint64_t *key)
{
	const bool by_symbol = like->sym && !h->by_address;
	const uint64_t addr = like->frame.addr;
	const struct hist_frame *f;

	*key = frame_key(h, like->dso, like->sym, addr);
	/* A key may be taken by another frame: then the next ones are looked at. */
	for (; (f = u64map_get(&h->frames, *key)); *key += 2)
		if (f->dso == like->dso && same_symbol(h, f->sym, like->sym) &&
		    (by_symbol || (f->frame.addr == addr && f->is_caller == like->is_caller)))
			break;
	return f;
}

/* The frame of a location, or of one of the functions at it; NULL: no memory. */
static const struct hist_frame *frame_of(struct hist *h, const struct location *loc,
					 const struct inline_frame *inl)
{
	const struct dso *dso = loc->map ? loc->map->dso : NULL;
	uint64_t key;

	if (dso && h->spec->live) {
		dso = owned_dso(&h->owned, &h->arena, dso);
		if (!dso)
			return NULL;
	}
	const struct hist_frame like = {
		.frame = {.addr = loc->addr},
		.dso = dso,
		.sym = loc->sym,
		.is_caller = is_caller(loc, inl),
	};
	const struct hist_frame *f = hist_frame_find(h, &like, &key);
	if (f)
		return f;
	f = frame_new(h, loc, inl, dso);
	return f && u64map_put(&h->frames, key, (void *)f) ? f : NULL;
}

const struct hist_frame *hist_frame_of(struct hist *h, const struct location *loc)
{
	return frame_of(h, loc, NULL);
}

/* The frame of a sample's own address; NULL: no memory. */
static const struct hist_frame *leaf_frame(struct hist *h, const struct location *leaf)
{
	if (h->spec->live || !leaf->map)
		return frame_of(h, leaf, NULL);
	struct cached_leaf *c = &h->leaves[hash_u64(leaf->addr ^ (uintptr_t)leaf->map) % LEAVES];

	if (c->map != leaf->map || c->addr != leaf->addr) {
		const struct hist_frame *frame = frame_of(h, leaf, NULL);

		if (!frame)
			return NULL;
		*c = (struct cached_leaf){leaf->map, leaf->addr, frame};
	}
	return c->frame;
}

/* Without the last of the functions, which is not inlined; NULL: no memory. */
static const struct inlined_frames *inlined_of(struct hist *h, const struct location *loc,
					       const struct inline_frames *inlines)
{
	struct inlined_frames *frames = u64map_get(&h->inlined, (uintptr_t)inlines);

	if (frames)
		return frames;
	frames = arena_alloc(&h->arena, sizeof(*frames) + (inlines->n - 1) * sizeof(*frames->v));
	for (size_t i = 0; frames && i + 1 < inlines->n; i++) {
		struct location at = *loc;

		at.sym = inlines->v[i].sym;
		frames->v[i] = frame_of(h, &at, &inlines->v[i]);
		if (!frames->v[i])
			return NULL;
		frames->n++;
	}
	return frames && u64map_put(&h->inlined, (uintptr_t)inlines, frames) ? frames : NULL;
}

/* The kernel's map reaches further, once it is known: resolver_find_map(). */
static bool is_beyond(const struct map *map, uint8_t cpumode, uint64_t addr)
{
	return cpumode == PERF_RECORD_MISC_KERNEL &&
	       (!map || addr < map->start || addr >= map->end);
}

/* The frames of an address; NULL: no memory. */
static const struct cached_frame *frames_at(struct hist *h, const struct thread *thread,
					    uint8_t cpumode, uint64_t ip)
{
	const struct map *map = resolver_find_map(h->resolver, thread, cpumode, ip);
	struct cached_frame *c = &h->cache[hash_u64(ip ^ (uintptr_t)map) & (CACHE_SIZE - 1)];
	struct location loc;

	h->is_unsure |= is_beyond(map, cpumode, ip);
	if (c->frame && c->map == map && c->ip == ip && map && c->generation == h->generation)
		return c;
	resolve_addr_in(h->resolver, map, cpumode, ip, &loc);
	/* A live session may free them. */
	const struct inline_frames *inlines =
		h->spec->live ? NULL : resolve_inlines(h->resolver, &loc);
	*c = (struct cached_frame){.generation = h->generation, .map = map, .ip = ip};
	c->inlined = inlines ? inlined_of(h, &loc, inlines) : NULL;
	if (inlines && !c->inlined)
		return NULL;
	c->frame = frame_of(h, &loc, inlines ? &inlines->v[inlines->n - 1] : NULL);
	return c->frame ? c : NULL;
}

int hist_frames_add(struct hist *h, const struct thread *thread, uint8_t cpumode, uint64_t ip,
		    size_t room, struct stack_parts *parts, size_t n)
{
	const struct cached_frame *c = frames_at(h, thread, cpumode, ip);

	if (!c)
		return -1;
	if (!c->frame->sym && h->spec->hide_unresolved)
		return (int)n;
	/* Where there would be no room for the rest of the chain, they are left out. */
	const size_t n_inlined =
		c->inlined && n + c->inlined->n + room < HIST_MAX_STACK ? c->inlined->n : 0;
	for (size_t k = 0; k < n_inlined; k++) {
		parts->ips[n] = ip;
		parts->frames[n++] = &c->inlined->v[k]->frame;
	}
	parts->ips[n] = ip;
	parts->frames[n++] = &c->frame->frame;
	return (int)n;
}

/*
 * The frames of up to max addresses, innermost first, and of what is inlined there; the number of
 * them, up to HIST_MAX_STACK, -1: no memory.
 */
static int chain_resolve(struct hist *h, const struct sample *sample, const struct thread *thread,
			 const struct result_frame *leaf, struct stack_parts *parts, size_t max)
{
	uint8_t cpumode = PERF_RECORD_MISC_USER;
	uint64_t first = 0;
	size_t n = 0, left = max; /* of addresses */

	if (max && sample_has_only_stack(sample)) {
		parts->frames[0] = leaf;
		parts->ips[0] = sample->ip;
		return 1;
	}
	/* With the caller first, perf stops at the innermost frames that are too many. */
	if (h->spec->chain.caller && sample->chain.n > max) {
		size_t outer = max;

		for (first = sample->chain.n; first > 0 && outer; first--)
			outer -= u64_array_at(&sample->chain, first - 1) < PERF_CONTEXT_MAX;
	}
	for (uint64_t i = 0; i < sample->chain.n && left; i++) {
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
		const int added = hist_frames_add(h, thread, cpumode, ip, left - 1, parts, n);
		if (added < 0)
			return -1;
		left -= (size_t)added > n;
		n = (size_t)added;
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

const struct result_frame *const *hist_chain_intern(struct hist *h,
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

	hash ^= hash_u64((uintptr_t)s->cgroup);
	hash ^= (uintptr_t)s->comm * 31 + (uintptr_t)s->thread * 37 + (uintptr_t)s->trace * 41;
	hash ^= hash_u64(s->time * 3 + (uint64_t)(uint32_t)s->cpu * 5 + s->cpumode * 7 +
			 s->filtered);
	if (s->numbers)
		hash ^= hash_u64(s->numbers->addr + s->numbers->dso_size * 11 +
				 s->numbers->weight * 13 + s->numbers->ins_lat * 17 +
				 s->numbers->code_page_size * 19 + s->numbers->parallelism * 23 +
				 s->numbers->cgroup_ino * 29 + s->numbers->cgroup_dev * 31 +
				 (uint64_t)s->numbers->socket * 43);
	if (s->numbers)
		hash ^= hash_u64(s->numbers->retire_lat * 47 + s->numbers->transaction);
	if (s->branch)
		hash ^= hash_bytes(s->branch, sizeof(*s->branch));
	if (s->access)
		hash ^= hash_bytes(s->access, sizeof(*s->access));
	for (size_t i = 0; i < n_values; i++)
		if (s->values[i])
			hash = hash_u64(hash ^ (uintptr_t)s->values[i]) + i;
	return hash_u64(hash);
}

/* b's thread tells stacks apart only when it is a key: then it is not NULL. */
static bool stack_equal(const struct hist_stack *a, const struct hist_stack *b, size_t n_values)
{
	return a->leaf == b->leaf && a->chain == b->chain && a->comm == b->comm &&
	       (!b->thread || a->thread == b->thread) && a->trace == b->trace &&
	       a->time == b->time && a->cpu == b->cpu && a->cpumode == b->cpumode &&
	       a->filtered == b->filtered && a->cgroup == b->cgroup &&
	       (!a->numbers || !memcmp(a->numbers, b->numbers, sizeof(*a->numbers))) &&
	       (!a->branch || !memcmp(a->branch, b->branch, sizeof(*a->branch))) &&
	       (!a->access || !memcmp(a->access, b->access, sizeof(*a->access))) &&
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

	if (ips && size) /* a sample without a call chain has no array */
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

static bool keep_numbers(struct hist *h, struct hist_stack *s)
{
	struct hist_numbers *numbers = arena_alloc(&h->arena, sizeof(*numbers));

	if (numbers) {
		*numbers = *s->numbers;
		s->numbers = numbers;
	}
	return numbers;
}

static bool keep_branch(struct hist *h, struct hist_stack *s)
{
	struct hist_branch *branch = arena_alloc(&h->arena, sizeof(*branch));

	if (branch)
		s->branch = memcpy(branch, s->branch, sizeof(*branch));
	return branch;
}

static bool keep_access(struct hist *h, struct hist_stack *s)
{
	struct hist_access *access = arena_alloc(&h->arena, sizeof(*access));

	if (access)
		s->access = memcpy(access, s->access, sizeof(*access));
	return access;
}

struct error *hist_stack_add(struct hist *h, const struct hist_stack *s,
			     const struct thread *thread, struct hist_stack **out)
{
	const uint64_t hash = stack_hash(s, s->values ? h->spec->n_dynamic : 0);

	if (h->stacks.n * 4 >= h->stack_mask * 3 && !stacks_grow(h))
		return error_nomem();
	for (size_t at = hash & h->stack_mask;; at = (at + 1) & h->stack_mask) {
		struct hist_stack *known = h->stack_slots[at];

		if (!known) {
			struct hist_stack **slot = vec_push(&h->stacks);

			known = slot ? arena_alloc(&h->arena, sizeof(*known)) : NULL;
			if (!known)
				return error_nomem();
			*known = *s;
			known->hash = hash;
			known->thread = thread;
			known->weight.period = (double)s->period;
			known->weight.n = (double)s->n;
			if (!keep_ips(h, known) || (s->values && !keep_values(h, known)) ||
			    (s->numbers && !keep_numbers(h, known)) ||
			    (s->branch && !keep_branch(h, known)) ||
			    (s->access && !keep_access(h, known)))
				return error_nomem();
			*out = h->stack_slots[at] = *slot = known;
			return NULL;
		}
		if (known->hash == hash && stack_equal(known, s, h->spec->n_dynamic)) {
			hist_stack_count(known, s->period, s->latency, s->n);
			*out = known;
			return NULL;
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

struct error *hist_trace_text(struct hist *h, const struct session_event *event,
			      const struct sample *sample, const char **out)
{
	struct cached_text *c = NULL;

	/* A live one frees strings. */
	if (!h->spec->live && sample->raw && sample->raw_size <= sizeof(c->raw)) {
		c = &h->texts[hash_bytes(sample->raw, sample->raw_size) % TEXTS];
		if (c->text && c->event == event && c->size == sample->raw_size &&
		    !memcmp(c->raw, sample->raw, c->size)) {
			*out = c->text;
			return NULL;
		}
	}
	strbuf_reset(&h->text);
	TRY(h->spec->trace(h->spec->trace_ctx, event, sample, &h->text));
	const char *text = strbuf_failed(&h->text) ? NULL : hist_intern(h, strbuf_str(&h->text));
	if (!text)
		return error_nomem();
	if (c) {
		*c = (struct cached_text){.event = event, .text = text, .size = sample->raw_size};
		memcpy(c->raw, sample->raw, c->size);
	}
	*out = text;
	return NULL;
}

bool hist_keyed_by_cgroup(const struct hist_spec *spec)
{
	return spec->keeps || spec->has[HIST_CGROUP] || spec->has[HIST_UNIT] ||
	       spec->has[HIST_CONTAINER] || spec->has[HIST_POD];
}

bool hist_has_numbers(const struct hist_spec *spec)
{
	const bool *has = spec->has;

	return has[HIST_ADDR] || has[HIST_DSO_SIZE] || has[HIST_LOCAL_WEIGHT] || has[HIST_WEIGHT] ||
	       has[HIST_LOCAL_INS_LAT] || has[HIST_INS_LAT] || has[HIST_CODE_PAGE_SIZE] ||
	       has[HIST_PARALLELISM] || has[HIST_CGROUP_ID] || has[HIST_SOCKET] ||
	       has[HIST_LOCAL_RETIRE_LAT] || has[HIST_RETIRE_LAT] || has[HIST_TRANSACTION];
}

static struct hist_numbers numbers_of(const struct hist_spec *spec, const struct sample *sample,
				      const struct location *leaf,
				      const struct hist_context *context)
{
	const bool *has = spec->has;
	struct hist_numbers n = {0};

	if (has[HIST_ADDR])
		n.addr = leaf->addr;
	if (has[HIST_DSO_SIZE] && leaf->map)
		n.dso_size = leaf->map->end - leaf->map->start;
	if (has[HIST_LOCAL_WEIGHT] || has[HIST_WEIGHT])
		n.weight = sample_weight(sample);
	if (has[HIST_LOCAL_INS_LAT] || has[HIST_INS_LAT])
		n.ins_lat = sample_ins_lat(sample);
	if (has[HIST_LOCAL_RETIRE_LAT] || has[HIST_RETIRE_LAT])
		n.retire_lat = sample_retire_lat(sample);
	if (has[HIST_TRANSACTION])
		n.transaction = sample->transaction;
	if (has[HIST_CODE_PAGE_SIZE])
		n.code_page_size = sample->code_page_size;
	if (has[HIST_PARALLELISM])
		n.parallelism = context->parallelism;
	if (has[HIST_SOCKET])
		n.socket = context->socket;
	if (has[HIST_CGROUP_ID]) {
		n.cgroup_dev = context->cgroup_dev;
		n.cgroup_ino = context->cgroup_ino;
	}
	return n;
}

bool hist_frame_matches(const struct hist_frame *frame, const regex_t *regex, int8_t *known)
{
	if (!*known)
		*known = frame->sym && !frame->sym->inlined &&
					 !regexec(regex, frame->sym->name, 0, NULL, 0)
				 ? 1
				 : -1;
	return *known > 0;
}

/*
 * The first of the n frames, innermost first, that counts: the outermost one whose callees are
 * ignored. The sample is then one of it.
 */
static int skip_callees(struct hist *h, const struct result_frame **frames, int n,
			struct hist_stack *s)
{
	for (int i = n - 1; h->spec->ignore_callees && i >= 0; i--) {
		/* ours: made in frame_new() */
		struct hist_frame *f =
			container_of((struct result_frame *)frames[i], struct hist_frame, frame);

		if (!hist_frame_matches(f, h->spec->ignore_callees, &f->ignores_callees))
			continue;
		s->leaf = f;
		s->ip = f->frame.addr;
		s->level = f->level ? f->level : s->level;
		s->cpumode = f->frame.is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
		/* What is inlined at its address is part of it. */
		while (i && frames[i - 1]->is_inlined)
			i--;
		return i;
	}
	return 0;
}

/* The factor is perf's: shares of small periods are then not rounded. */
uint64_t hist_latency_of(uint64_t period, unsigned parallelism)
{
	uint64_t product;

	if (__builtin_mul_overflow(period, 1000, &product))
		product = UINT64_MAX;
	return product / parallelism;
}

static struct error *add_chain(struct hist *h, const struct sample *sample,
			       const struct thread *thread, struct stack_parts *parts,
			       struct hist_stack *s)
{
	const struct hist_spec *spec = h->spec;
	const struct result_frame **frames = parts->frames;
	uint64_t *ips = parts->ips;
	/* The limit counts for frames of the kernel and for those that are unwound. */
	const size_t max = sample->is_unwound ? 2 * spec->max_stack : spec->max_stack;
	int n = chain_resolve(h, sample, thread, &s->leaf->frame, parts,
			      min_of(max, (size_t)HIST_MAX_STACK));

	if (n < 0)
		return error_nomem();
	const int skipped = skip_callees(h, frames, n, s);
	n -= skipped;
	memmove(frames, frames + skipped, (size_t)n * sizeof(*frames));
	memmove(ips, ips + skipped, (size_t)n * sizeof(*ips));
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
	s->depth = (uint32_t)n;
	s->ips = ips;
	s->chain = hist_chain_intern(h, frames, (size_t)n);
	return s->chain ? NULL : error_nomem();
}

struct error *hist_stack_make(struct hist *h, const struct sample *sample,
			      const struct session_event *event, const struct thread *thread,
			      const struct location *leaf, const struct hist_context *context,
			      struct stack_parts *parts, struct hist_stack *s)
{
	const struct hist_spec *spec = h->spec;
	bool has_values =
		spec->field && spec->n_dynamic && event->attr.type == PERF_TYPE_TRACEPOINT;

	parts->thread = thread;
	parts->numbers = numbers_of(spec, sample, leaf, context);
	h->is_unsure = is_beyond(leaf->map, leaf->cpumode, leaf->addr);
	if (spec->live) {
		TRY(hist_make_room(h));
		h->generation = session_generation(h->session);
		parts->thread = owned_thread(&h->owned, &h->arena, thread);
		if (!parts->thread)
			return error_nomem();
	}
	*s = (struct hist_stack){
		.thread = hist_keyed_by_thread(spec) ? parts->thread : NULL,
		.comm = intern_comm(h, thread->comm),
		.leaf = leaf_frame(h, leaf),
		.period = sample->period,
		.latency = hist_latency_of(sample->period, context->parallelism),
		.n = 1,
		.cpu = spec->keeps || spec->has[HIST_CPU] ? sample->cpu : 0,
		.level = level_of(leaf->cpumode),
		.cpumode = leaf->cpumode,
		.values = has_values ? parts->values : NULL,
		.numbers = hist_has_numbers(spec) ? &parts->numbers : NULL,
	};

	if (!s->comm || !s->leaf)
		return error_nomem();
	if (spec->accesses) {
		TRY(hist_access_make(h, sample, thread, &parts->access));
		s->access = &parts->access;
		s->period = max_of(sample_weight(sample), (uint64_t)1);
		s->latency = hist_latency_of(s->period, context->parallelism);
	}
	/* perf counts within the image of a BPF program. */
	s->ip = leaf->map && leaf->map->dso->kind == DSO_BPF ? leaf->addr - leaf->map->start
							     : leaf->dso_addr;
	if (spec->has[HIST_TIME])
		s->time = spec->time_quantum
				  ? sample->time / spec->time_quantum * spec->time_quantum
				  : sample->time;
	if (hist_keyed_by_cgroup(spec))
		s->cgroup = session_cgroup_of(h->session, sample);
	if (hist_wants_trace(h, event))
		TRY(hist_trace_text(h, event, sample, &s->trace));
	for (size_t i = 0; s->values && i < spec->n_dynamic; i++) {
		parts->values[i] = NULL;
		TRY(value_of(h, &spec->dynamic[i], event, sample, &parts->values[i]));
	}
	if (spec->branch_history)
		return hist_history_make(h, event, sample, thread, parts, s);
	return hist_spec_wants_chain(spec) && (sample->chain.n || sample_has_only_stack(sample))
		       ? add_chain(h, sample, thread, parts, s)
		       : NULL;
}

struct error *hist_add(struct hist *h, const struct sample *sample,
		       const struct session_event *event, const struct thread *thread,
		       const struct location *leaf, const struct hist_context *context,
		       bool filtered)
{
	struct stack_parts parts;
	struct hist_stack s, *stack;

	TRY(hist_stack_make(h, sample, event, thread, leaf, context, &parts, &s));
	s.filtered = filtered;
	TRY(hist_stack_add(h, &s, parts.thread, &stack));
	TRY(hist_stack_keep(h, stack, sample));
	TRY(hist_history_add(h, stack));
	if (h->knows && !filtered && !h->is_unsure)
		hist_known_keep(h, sample, thread, stack);
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

const struct hist_level *hist_levels(const struct hist *h, size_t *n)
{
	*n = h->n_levels; /* 0: no hierarchy */
	return h->spec->hierarchy ? h->levels : NULL;
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
	struct symtab *st = dso && dso->kind != DSO_BPF && !h->spec->live
				    ? resolver_symtab(h->resolver, (struct dso *)dso)
				    : NULL;

	return st ? symtab_origin(st) : '!';
}
