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
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"
#include "lib/base/vec.h"

#define CACHE_SIZE 4096

/* No program has more; a sparse file could claim any size. */
#define MAX_SECTION (256u << 20)

struct cached_rule {
	const struct dso *dso; /* NULL: free */
	uint64_t offset;
	struct code_rule rule;
};

struct plt_range {
	uint64_t start, size;
	bool is_lazy; /* entries push a number; the first one is the call of the linker */
};

struct unwind_image {
	struct elf_file *file;
	struct cfi *cfi;
	VEC(struct plt_range) plt;
};

struct unwind_images {
	struct resolver *resolver;
	bool is_arm64;
	bool no_memory;	      /* rules may be missing for that */
	uint64_t generation;  /* of a live session's maps */
	struct u64map by_dso; /* struct dso * -> struct unwind_image * */
	struct cached_rule cache[CACHE_SIZE];
};

struct error *unwind_images_new(struct resolver *r, bool is_arm64, struct unwind_images **out)
{
	struct unwind_images *all = calloc(1, sizeof(*all));

	if (!all)
		return error_nomem();
	all->resolver = r;
	all->is_arm64 = is_arm64;
	*out = all;
	return NULL;
}

bool unwind_images_had_no_memory(const struct unwind_images *all)
{
	return all->no_memory;
}

static void image_free(struct unwind_image *image)
{
	if (!image)
		return;
	cfi_free(image->cfi);
	vec_deinit(&image->plt);
	pb_elf_file_free(image->file);
	free(image);
}
DEFINE_FREEP(struct unwind_image, image_free)

static void forget_images(struct unwind_images *all)
{
	struct u64map_slot *slot;
	size_t pos = 0;

	while ((slot = u64map_next(&all->by_dso, &pos)))
		image_free(slot->value);
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

static bool is_wanted(const struct elf_file *file, const struct elf_section *sec)
{
	return sec->size <= MAX_SECTION && !(sec->flags & SHF_COMPRESSED) &&
	       (sec->type == SHT_NOTE || !strcmp(sec->name, ".eh_frame") ||
		!strcmp(sec->name, ".eh_frame_hdr") || !strcmp(sec->name, ".debug_frame"));
}

static struct cfi_section section_of(const struct elf_file *file, const char *name)
{
	const struct elf_section *sec = pb_elf_section_find(file, name);

	if (!sec || !sec->data || sec->flags & SHF_COMPRESSED)
		return (struct cfi_section){0};
	return (struct cfi_section){sec->data, sec->size, sec->addr};
}

static struct error *find_plt(struct unwind_image *image)
{
	for (size_t i = 0; i < pb_elf_section_count(image->file); i++) {
		const struct elf_section *sec = pb_elf_section_at(image->file, i);

		if (strncmp(sec->name, ".plt", 4))
			continue;
		struct plt_range *slot = vec_push(&image->plt);
		if (!slot)
			return error_nomem();
		*slot = (struct plt_range){sec->addr, sec->size, !sec->name[4]};
	}
	return NULL;
}

/* The file of another architecture has addresses that mean something else. */
static bool is_of_machine(const struct unwind_images *all, const struct elf_file *file)
{
	return pb_elf_file_is64(file) &&
	       pb_elf_file_machine(file) == (all->is_arm64 ? EM_AARCH64 : EM_X86_64);
}

static struct error *image_load(struct unwind_images *all, const struct dso *dso,
				struct unwind_image *image)
{
	TRY(resolver_open_image(all->resolver, dso, is_wanted, &image->file));
	if (!is_of_machine(all, image->file))
		return error_new(EINVAL, "the file is of another architecture");
	const struct cfi_input in = {
		.eh_frame = section_of(image->file, ".eh_frame"),
		.eh_frame_hdr = section_of(image->file, ".eh_frame_hdr"),
		.debug_frame = section_of(image->file, ".debug_frame"),
		.swap = pb_elf_file_swapped(image->file),
		.is_arm64 = all->is_arm64,
	};
	TRY(find_plt(image));
	return cfi_new(&in, &image->cfi);
}

/* NULL: no memory. One that could not be opened has no cfi, and is not tried again. */
static struct unwind_image *image_of(struct unwind_images *all, const struct dso *dso)
{
	struct unwind_image *known = u64map_get(&all->by_dso, (uintptr_t)dso);

	if (known)
		return known;
	_cleanup_(image_freep) struct unwind_image *image = calloc(1, sizeof(*image));
	if (!image || !u64map_put(&all->by_dso, (uintptr_t)dso, image))
		return NULL;
	struct error *err = image_load(all, dso, image);
	all->no_memory |= err && err->code == ENOMEM;
	error_free(err);
	return steal_ptr(image);
}

/*
 * Entries of the PLT are 16 bytes: a jump, the push of a number, and a jump to the first entry,
 * which pushes another word. GNU ld's have unwind information, those of other linkers have none.
 */
static bool find_plt_rule(const struct unwind_images *all, const struct unwind_image *image,
			  uint64_t addr, struct code_rule *rule)
{
	const struct plt_range *plt;

	vec_for_each (plt, &image->plt) {
		const uint64_t offset = addr - plt->start;

		if (addr < plt->start || offset >= plt->size)
			continue;
		*rule = (struct code_rule){.kind = CODE_PLT_ENTRY};
		if (all->is_arm64)
			return !plt->is_lazy || offset >= 32;
		if (plt->is_lazy)
			rule->pushed = offset < 16 ? 1 + (offset >= 6) : offset % 16 >= 11;
		return true;
	}
	return false;
}

static void find_rule(struct unwind_images *all, const struct dso *dso, uint64_t offset,
		      struct code_rule *rule)
{
	struct unwind_image *image = image_of(all, dso);
	uint64_t addr;

	rule->kind = CODE_UNKNOWN;
	all->no_memory |= !image;
	if (!image || !image->cfi || !pb_elf_code_address(image->file, offset, &addr))
		return;
	errno = 0;
	const bool is_found = cfi_find(image->cfi, addr, &rule->row);
	all->no_memory |= errno == ENOMEM;
	if (is_found) {
		rule->kind = CODE_WITH_ROW;
		rule->cfi = image->cfi;
		return;
	}
	if (!find_plt_rule(all, image, addr, rule))
		rule->kind = CODE_UNKNOWN;
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
