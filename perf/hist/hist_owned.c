// SPDX-License-Identifier: BSD-2-Clause
#include "perf/hist/hist_owned.h"

#include <string.h>

#include "lib/base/util.h"

void hist_owned_deinit(struct hist_owned *owned)
{
	u64map_deinit(&owned->dsos);
	u64map_deinit(&owned->threads);
}

static bool is_same(const struct dso *a, const struct dso *b)
{
	return a->kind == b->kind && a->ino == b->ino && a->maj == b->maj && a->min == b->min &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size) && !strcmp(a->path, b->path) &&
	       !strcmp(a->short_name, b->short_name);
}

const struct dso *owned_dso(struct hist_owned *owned, struct arena *arena, const struct dso *dso)
{
	uint64_t key = hash_str(dso->path) ^ hash_u64(dso->ino) ^
		       hash_bytes(dso->build_id, dso->build_id_size);
	const struct dso *known;

	/* A key may be taken by another DSO: then the next ones are tried. */
	while ((known = u64map_get(&owned->dsos, key)) && !is_same(known, dso))
		key++;
	if (known)
		return known;
	struct dso *copy = arena_alloc(arena, sizeof(*copy));
	if (!copy)
		return NULL;
	*copy = *dso;
	copy->path = arena_strdup(arena, dso->path);
	copy->short_name = arena_strdup(arena, dso->short_name);
	copy->priv = NULL;
	copy->priv_free = NULL;
	return copy->path && copy->short_name && u64map_put(&owned->dsos, key, copy) ? copy : NULL;
}

const struct thread *owned_thread(struct hist_owned *owned, struct arena *arena,
				  const struct thread *thread)
{
	struct thread *known = u64map_get(&owned->threads, (uint32_t)thread->tid + 1ull);

	/* The name is the last one, as in a recording. Another process may have the id. */
	if (known && known->pid == thread->pid && !strcmp(known->comm, thread->comm))
		return known;
	const char *comm = arena_strdup(arena, thread->comm);
	if (!known || known->pid != thread->pid) {
		known = arena_alloc(arena, sizeof(*known));
		if (!known || !u64map_put(&owned->threads, (uint32_t)thread->tid + 1ull, known))
			return NULL;
		*known = (struct thread){
			.pid = thread->pid, .tid = thread->tid, .ppid = thread->ppid};
	}
	known->comm = comm ? comm : known->comm;
	return comm ? known : NULL;
}

const struct map *owned_map(struct arena *arena, const struct map *map, const struct dso *dso)
{
	struct map *copy = arena_alloc(arena, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *map;
	copy->dso = (struct dso *)dso;
	return copy;
}

const struct symbol *owned_symbol(struct arena *arena, const struct symbol *sym, const char *name)
{
	struct symbol *copy = arena_alloc(arena, sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *sym;
	copy->name = name;
	return copy;
}
