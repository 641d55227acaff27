// SPDX-License-Identifier: BSD-2-Clause
#include "perf/unwind/unwind_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No program has more; a sparse file could claim any size. */
#define MAX_SECTION (256u << 20)

bool unwind_image_wants(const struct elf_file *file, const struct elf_section *sec)
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

struct error *unwind_image_of_file(struct elf_file *file, struct unwind_image **out)
{
	_cleanup_(unwind_image_freep) struct unwind_image *image = calloc(1, sizeof(*image));

	if (!image) {
		pb_elf_file_free(file);
		return error_nomem();
	}
	image->file = file;
	image->is_arm64 = pb_elf_file_machine(file) == EM_AARCH64;
	const struct cfi_input in = {
		.eh_frame = section_of(file, ".eh_frame"),
		.eh_frame_hdr = section_of(file, ".eh_frame_hdr"),
		.debug_frame = section_of(file, ".debug_frame"),
		.swap = pb_elf_file_swapped(file),
		.is_arm64 = image->is_arm64,
	};
	TRY(find_plt(image));
	TRY(cfi_new(&in, &image->cfi));
	*out = steal_ptr(image);
	return NULL;
}

struct error *unwind_image_open(struct resolver *r, const struct dso *dso, bool is_arm64,
				struct unwind_image **out)
{
	_cleanup_elf_ struct elf_file *file = NULL;

	TRY(resolver_open_image(r, dso, unwind_image_wants, &file));
	/* The file of another architecture has addresses that mean something else. */
	if (!pb_elf_file_is64(file) ||
	    pb_elf_file_machine(file) != (is_arm64 ? EM_AARCH64 : EM_X86_64))
		return error_new(EINVAL, "the file is of another architecture");
	return unwind_image_of_file(steal_ptr(file), out);
}

void unwind_image_free(struct unwind_image *image)
{
	if (!image)
		return;
	cfi_free(image->cfi);
	vec_deinit(&image->plt);
	pb_elf_file_free(image->file);
	free(image);
}

/*
 * Entries of the PLT are 16 bytes: a jump, the push of a number, and a jump to the first entry,
 * which pushes another word. GNU ld's have unwind information, those of other linkers have none.
 */
bool unwind_image_plt(const struct unwind_image *image, uint64_t addr, uint8_t *pushed)
{
	const struct plt_range *plt;

	vec_for_each (plt, &image->plt) {
		const uint64_t offset = addr - plt->start;

		if (addr < plt->start || offset >= plt->size)
			continue;
		*pushed = 0;
		if (image->is_arm64)
			return !plt->is_lazy || offset >= 32;
		if (plt->is_lazy)
			*pushed = offset < 16 ? 1 + (offset >= 6) : offset % 16 >= 11;
		return true;
	}
	return false;
}
