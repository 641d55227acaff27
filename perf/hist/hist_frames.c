// SPDX-License-Identifier: BSD-2-Clause
/*
 * Frames: one for each function, or for each address where lines are asked for, of a DSO. Those of
 * addresses that were seen are found by the address.
 */
#include "perf/hist/internal.h"

#include <stdlib.h>
#include <string.h>

#include "perf/resolve/line_text.h"
#include "perf/resolve/result_mapping.h"

#define CACHE_SIZE 16384
#define LEAVES	   4096

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

bool hist_frames_init(struct hist *h)
{
	h->cache = calloc(CACHE_SIZE, sizeof(*h->cache));
	h->leaves = calloc(LEAVES, sizeof(*h->leaves));
	return h->cache && h->leaves;
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

char hist_level_of(uint8_t cpumode)
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
		.level = loc->map ? hist_level_of(loc->cpumode) : 0,
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

/* The kernel's map reaches further, once it is known: resolver_find_map(). */
static bool is_beyond(const struct map *map, uint8_t cpumode, uint64_t addr)
{
	return cpumode == PERF_RECORD_MISC_KERNEL &&
	       (!map || addr < map->start || addr >= map->end);
}

const struct hist_frame *hist_leaf_frame(struct hist *h, const struct location *leaf)
{
	h->is_unsure = is_beyond(leaf->map, leaf->cpumode, leaf->addr);
	if (h->spec->only_dsos) {
		struct location any;

		resolve_map_in(leaf->map, leaf->cpumode, 0, &any);
		return frame_of(h, &any, NULL);
	}
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

/* The frames of an address, which is of no matter where only its DSO is asked for; NULL: no memory.
 */
static const struct cached_frame *frames_at(struct hist *h, const struct thread *thread,
					    uint8_t cpumode, uint64_t ip)
{
	const struct map *map = resolver_find_map(h->resolver, thread, cpumode, ip);
	struct location loc;

	h->is_unsure |= is_beyond(map, cpumode, ip);
	if (h->spec->only_dsos)
		ip = 0;
	struct cached_frame *c = &h->cache[hash_u64(ip ^ (uintptr_t)map) & (CACHE_SIZE - 1)];
	if (c->frame && c->map == map && c->ip == ip && map && c->generation == h->generation)
		return c;
	if (h->spec->only_dsos)
		resolve_map_in(map, cpumode, 0, &loc);
	else
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

static uint64_t dso_address(const struct map *map, uint8_t cpumode, uint64_t addr)
{
	struct location loc;

	resolve_map_in(map, cpumode, addr, &loc);
	return loc.dso_addr;
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
	parts->ips[n] = h->spec->only_dsos ? dso_address(c->map, cpumode, ip) : ip;
	parts->frames[n++] = &c->frame->frame;
	return (int)n;
}
