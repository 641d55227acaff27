// SPDX-License-Identifier: BSD-2-Clause
/*
 * Rules by file and offset, so that processes which map the same file share them. A profile asks
 * for the same addresses over and over: the rules found last are kept in a table of fixed size,
 * where each has one place.
 *
 * A live session frees files that nobody has mapped any more, and another one may get the address
 * of such a file: when that may have happened, all is forgotten.
 */
#include "perf/unwind/unwind_images.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "perf/unwind/unwind_image.h"

#define CACHE_SIZE 4096

struct cached_rule {
	const struct dso *dso; /* NULL: free */
	uint64_t offset;
	struct code_rule rule;
};

struct unwind_images {
	struct resolver *resolver;
	bool is_arm64, is_other;
	bool no_memory;	      /* rules may be missing for that */
	uint64_t generation;  /* of a live session's maps */
	struct u64map by_dso; /* struct dso * -> struct unwind_image *; to this itself: none */
	struct cached_rule cache[CACHE_SIZE];
};

struct error *unwind_images_new(struct resolver *r, struct unwind_images **out)
{
	struct unwind_images *all = calloc(1, sizeof(*all));
	const char *arch = session_header(resolver_session(r))->arch;

	if (!all)
		return error_nomem();
	all->resolver = r;
#ifdef __aarch64__
	all->is_arm64 = true;
#endif
	if (arch) {
		all->is_arm64 = !strcmp(arch, "aarch64") || !strcmp(arch, "arm64");
		/* i686: a process of that personality has recorded */
		all->is_other = !all->is_arm64 && strcmp(arch, "x86_64") != 0 &&
				fnmatch("i?86", arch, 0) != 0;
	}
	*out = all;
	return NULL;
}

bool unwind_images_know_arch(const struct unwind_images *all)
{
	return !all->is_other;
}

bool unwind_images_are_arm64(const struct unwind_images *all)
{
	return all->is_arm64;
}

bool unwind_images_had_no_memory(const struct unwind_images *all)
{
	return all->no_memory;
}

static void forget_images(struct unwind_images *all)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&all->by_dso, &pos)))
		if (slot->value != all)
			unwind_image_free(slot->value);
	u64map_deinit(&all->by_dso);
}

void unwind_images_free(struct unwind_images *all)
{
	if (!all)
		return;
	forget_images(all);
	free(all);
}

size_t unwind_images_count(const struct unwind_images *all)
{
	return all->by_dso.n;
}

static void forget_what_was_freed(struct unwind_images *all)
{
	const uint64_t generation = session_generation(resolver_session(all->resolver));

	if (generation == all->generation)
		return;
	forget_images(all);
	memset(all->cache, 0, sizeof(all->cache));
	all->generation = generation;
}

/* NULL: there is none, or no memory. A file that could not be opened is not tried again. */
static struct unwind_image *image_of(struct unwind_images *all, const struct dso *dso)
{
	void *known = u64map_get(&all->by_dso, (uintptr_t)dso);
	_cleanup_(unwind_image_freep) struct unwind_image *image = NULL;

	if (known)
		return known == all ? NULL : known;
	struct error *err = unwind_image_open(all->resolver, dso, all->is_arm64, &image);
	all->no_memory |= err && err->code == ENOMEM;
	error_free(err);
	if (!u64map_put(&all->by_dso, (uintptr_t)dso, image ? (void *)image : all)) {
		all->no_memory = true;
		return NULL;
	}
	return steal_ptr(image);
}

static void find_rule(struct unwind_images *all, const struct dso *dso, uint64_t offset,
		      struct code_rule *rule)
{
	struct unwind_image *image = image_of(all, dso);
	uint64_t addr;

	rule->kind = CODE_UNKNOWN;
	if (!image || !pb_elf_code_address(image->file, offset, &addr))
		return;
	errno = 0;
	const bool is_found = cfi_find(image->cfi, addr, &rule->row);
	all->no_memory |= errno == ENOMEM;
	if (is_found) {
		rule->kind = CODE_WITH_ROW;
		rule->cfi = image->cfi;
		return;
	}
	*rule = (struct code_rule){.kind = CODE_UNKNOWN};
	if (unwind_image_plt(image, addr, &rule->pushed))
		rule->kind = CODE_PLT_ENTRY;
}

const struct code_rule *unwind_images_find(struct unwind_images *all, const struct map *map,
					   uint64_t addr)
{
	static const struct code_rule unknown = {.kind = CODE_UNKNOWN};
	const uint64_t offset = addr - map->start + map->pgoff;

	forget_what_was_freed(all);
	if (map->dso->kind != DSO_USER && map->dso->kind != DSO_VDSO)
		return &unknown;
	struct cached_rule *c =
		&all->cache[hash_u64(offset ^ (uintptr_t)map->dso) & (CACHE_SIZE - 1)];
	if (c->dso != map->dso || c->offset != offset) {
		find_rule(all, map->dso, offset, &c->rule);
		c->dso = map->dso;
		c->offset = offset;
	}
	return &c->rule;
}
