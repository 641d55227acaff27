// SPDX-License-Identifier: BSD-2-Clause
/*
 * The file that ran, as opposed to those that have its names. A separate debug file has none of
 * its bytes, so only two places come into question: the path that was mapped, and perf's build-id
 * cache, which keeps a copy under the build-id. A file with another build-id than the recording
 * has is never used.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "lib/base/strbuf.h"
#include "lib/sys/open_file.h"
#include "sym/internal.h"

static struct error *check_build_id(const struct elf_file *file, const struct sym_opts *opts)
{
	const struct elf_section *note = pb_elf_section_find(file, ".note.gnu.build-id");
	uint8_t id[20];

	if (!opts->build_id || !opts->build_id_size)
		return NULL;
	if (!note)
		note = pb_elf_section_find(file, ".note");
	const size_t n = note && note->data ? notes_find_build_id(note->data, note->size,
								  pb_elf_file_swapped(file), id)
					    : 0;
	if (build_id_equal(id, n, opts->build_id, min_of(opts->build_id_size, sizeof(id))))
		return NULL;
	return error_at(error_new(ESTALE, "has a different build-id than the recording"), "%s",
			pb_elf_file_name(file));
}

static struct error *open_and_check(const char *path, const struct sym_opts *opts,
				    pb_elf_wants *wants, struct elf_file **out)
{
	_cleanup_elf_ struct elf_file *file = NULL;

	TRY(pb_elf_file_open_parts(path, wants, &file));
	TRY(check_build_id(file, opts));
	*out = steal_ptr(file);
	return NULL;
}

/* A module, which may be packed. */
static struct error *open_module(const char *path, const struct sym_opts *opts, pb_elf_wants *wants,
				 struct module_image *out)
{
	_cleanup_(module_image_deinit) struct module_image module = {0};
	_cleanup_close_ int fd = -1;
	size_t size;

	TRY(open_regular(path, NULL, &fd));
	TRY(error_at(packed_file_read(fd, &module.unpacked, &size), "%s", path));
	if (module.unpacked)
		TRY(pb_elf_file_open_mem(module.unpacked, size, path, &module.file));
	else
		TRY(pb_elf_file_open_parts(path, wants, &module.file));
	TRY(check_build_id(module.file, opts));
	*out = module;
	module = (struct module_image){0};
	return NULL;
}

void module_image_deinit(struct module_image *module)
{
	pb_elf_file_free(module->file);
	free(module->unpacked);
	*module = (struct module_image){0};
}

/* The file at a path, as a module, or as a binary. */
static struct error *open_either(const char *path, const struct sym_opts *opts, pb_elf_wants *wants,
				 struct module_image *module, struct elf_file **out)
{
	return module ? open_module(path, opts, wants, module)
		      : open_and_check(path, opts, wants, out);
}

static struct error *open_here_or_cached(const char *path, const struct sym_opts *opts,
					 pb_elf_wants *wants, struct module_image *module,
					 struct elf_file **out)
{
	_cleanup_strbuf_ struct strbuf file = STRBUF_INIT;
	char hex[41] = "";

	strbuf_addf(&file, "%s%s", opts->symfs ? opts->symfs : "", path);
	if (strbuf_failed(&file))
		return error_nomem();
	struct error *err = open_either(strbuf_str(&file), opts, wants, module, out);
	if (!err || opts->symfs || !opts->build_id || !opts->build_id_size)
		return err;
	_cleanup_free_ char *cache = buildid_cache_dir(opts->buildid_dir);
	if (!cache)
		return err;
	text_bytes(hex, opts->build_id, min_of(opts->build_id_size, (size_t)20));
	for (int by_path = 0; err && by_path <= (*path == '/'); by_path++) {
		strbuf_reset(&file);
		if (by_path)
			strbuf_addf(&file, "%s%s/%s/elf", cache, path, hex);
		else
			strbuf_addf(&file, "%s/.build-id/%.2s/%s/elf", cache, hex, hex + 2);
		struct error *late = strbuf_failed(&file) ? error_nomem()
							  : open_either(strbuf_str(&file), opts,
									wants, module, out);
		struct error *settled = late ? late : err;

		error_free(settled);
		err = late ? err : NULL;
	}
	return err;
}

struct error *image_open(const char *path, const struct sym_opts *opts, pb_elf_wants *wants,
			 struct elf_file **out)
{
	return open_here_or_cached(path, opts, wants, NULL, out);
}

struct error *image_open_module(const char *path, const struct sym_opts *opts, pb_elf_wants *wants,
				struct module_image *out)
{
	return open_here_or_cached(path, opts, wants, out, NULL);
}

bool vdso_find(const void **image, size_t *size)
{
	const unsigned long at = getauxval(AT_SYSINFO_EHDR);
	_cleanup_fclose_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[PATH_MAX + 128];
	unsigned long start, end;

	while (at && maps && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx", &start, &end) != 2 || start != at)
			continue;
		*image = (const void *)start;
		*size = end - start;
		return true;
	}
	return false;
}

struct error *image_open_vdso(const struct sym_opts *opts, struct elf_file **out)
{
	_cleanup_elf_ struct elf_file *file = NULL;
	const void *image;
	size_t size;

	if (!vdso_find(&image, &size))
		return error_new(ENOENT, "no vdso is mapped into this process");
	TRY(pb_elf_file_open_mem(image, size, "[vdso]", &file));
	/* It has all its notes in one section. */
	TRY(check_build_id(file, opts));
	*out = steal_ptr(file);
	return NULL;
}
