// SPDX-License-Identifier: BSD-2-Clause
#include "perf/resolve/source_lines.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "probe/dwarf/dwarf.h"

/*
 * For the frames of all addresses of a file; those of further addresses are not expanded. A
 * recording has ten thousands of addresses, with some frames of 24 bytes each.
 */
#define FRAMES_ROOM ((size_t)256 << 20)

/* A function as it is inlined in a symbol's. */
struct inlined_symbol {
	struct symbol sym; /* first */
	const struct symbol *in;
	struct inlined_symbol *next; /* of the same hash */
};

struct source_lines {
	struct source_lines_opts opts;
	char *path, *symbols, *symfs;
	uint8_t build_id[20];
	uint8_t build_id_size;
	bool is_opened;
	bool no_memory;
	struct dwarf_image *image; /* NULL: there is no debug information */
	struct arena arena;
	size_t used;
	struct u64map frames;	  /* by address; an empty one: there are no inlined functions */
	struct u64map symbols_in; /* struct inlined_symbol, by hash */
};

static const struct inline_frames not_inlined;

static char *copy_text(const char *text, bool *failed)
{
	char *copy = text ? strdup(text) : NULL;

	*failed |= text && !copy;
	return copy;
}

struct source_lines *source_lines_new(const struct dso *dso, const struct source_lines_opts *opts)
{
	struct source_lines *lines = calloc(1, sizeof(*lines));
	bool failed = false;

	if (!lines)
		return NULL;
	lines->opts = *opts;
	lines->path = copy_text(opts->path, &failed);
	lines->symbols = copy_text(opts->symbols, &failed);
	lines->symfs = copy_text(opts->symfs, &failed);
	memcpy(lines->build_id, dso->build_id, sizeof(lines->build_id));
	lines->build_id_size = dso->build_id_size;
	if (failed) {
		source_lines_free(lines);
		return NULL;
	}
	return lines;
}

void source_lines_free(struct source_lines *lines)
{
	if (!lines)
		return;
	pb_dwarf_image_free(lines->image);
	u64map_deinit(&lines->frames);
	u64map_deinit(&lines->symbols_in);
	arena_deinit(&lines->arena);
	free(lines->path);
	free(lines->symbols);
	free(lines->symfs);
	free(lines);
}

uid_t source_lines_author(const struct source_lines *lines)
{
	return lines->image ? pb_dwarf_image_author(lines->image) : 0;
}

static struct dwarf_image *open_image(struct source_lines *lines)
{
	struct dwarf_opts opts = {
		.symfs = lines->symfs,
		.build_id = lines->build_id_size ? lines->build_id : NULL,
		.build_id_size = lines->build_id_size,
		/* A report reads many binaries: it does not download debug information for all. */
		.no_debuginfod = true,
		.log = lines->opts.log,
	};

	if (lines->is_opened)
		return lines->image;
	lines->is_opened = true;
	struct error *err = pb_dwarf_image_open(lines->path, &opts, &lines->image);
	/* The binary may be gone, and its copy in perf's cache be there. */
	opts.symfs = NULL;
	opts.is_copy = lines->opts.symbols_are_copy;
	if (err && lines->symbols && strcmp(lines->symbols, lines->path) != 0)
		error_free(pb_dwarf_image_open(lines->symbols, &opts, &lines->image));
	if (err && err->code == EFBIG)
		log_warn(lines->opts.log, "%s: no source lines: %s", lines->path, err->msg);
	else if (err && !lines->image)
		log_debug(lines->opts.log, "%s: no source lines: %s", lines->path, err->msg);
	lines->no_memory |= err && err->code == ENOMEM;
	error_free(err);
	return lines->image;
}

bool source_lines_find(struct source_lines *lines, uint64_t address, const char **file,
		       uint32_t *line)
{
	struct dwarf_image *image = open_image(lines);

	const char *found = NULL;
	uint32_t number = 0;
	struct error *err = image ? pb_dwarf_line_at(image, address, &found, &number) : NULL;

	lines->no_memory |= err && err->code == ENOMEM;
	error_free(err);
	if (!found)
		return false;
	*file = found;
	*line = number;
	return true;
}

bool source_lines_exist(struct source_lines *lines)
{
	return open_image(lines);
}

bool source_lines_had_no_memory(const struct source_lines *lines)
{
	return lines->no_memory;
}

static char *shown_name(const struct source_lines *lines, const char *name)
{
	char *demangled = lines->opts.demangle ? symbol_demangle(lines->opts.demangler, name,
								 lines->opts.parameters)
					       : NULL;

	return demangled ? demangled : strdup(name);
}

/* As perf: a copy of a function within itself is the function. NULL: no memory. */
static const struct symbol *inlined_symbol(struct source_lines *lines, const struct symbol *in,
					   const char *linkage_name)
{
	_cleanup_free_ char *name = shown_name(lines, linkage_name ? linkage_name : "??");

	if (!name)
		return NULL;
	if (!strcmp(name, in->name))
		return in;
	const uint64_t key = hash_u64((uintptr_t)in ^ hash_str(name));
	struct inlined_symbol *first = u64map_get(&lines->symbols_in, key), *it;
	for (it = first; it; it = it->next)
		if (it->in == in && !strcmp(it->sym.name, name))
			return &it->sym;
	it = arena_alloc(&lines->arena, sizeof(*it));
	const char *copy = it ? arena_strdup(&lines->arena, name) : NULL;
	if (!copy)
		return NULL;
	it->sym = *in;
	it->sym.name = copy;
	it->sym.inlined = true;
	it->in = in;
	it->next = first;
	lines->used += sizeof(*it) + strlen(name) + 1;
	return u64map_put(&lines->symbols_in, key, it) ? &it->sym : NULL;
}

static const struct inline_frames *make_frames(struct source_lines *lines, uint64_t address,
					       const struct symbol *sym)
{
	struct dwarf_frame found[DWARF_MAX_FRAMES];
	struct dwarf_image *image = open_image(lines);
	size_t n = 0;
	struct error *err = image ? pb_dwarf_frames_at(image, address, found, &n) : NULL;

	lines->no_memory |= err && err->code == ENOMEM;
	error_free(err);
	if (n < 2)
		return &not_inlined;
	const size_t size = sizeof(struct inline_frames) + n * sizeof(struct inline_frame);
	lines->used += size;
	if (lines->used > FRAMES_ROOM)
		return &not_inlined;
	struct inline_frames *frames = arena_alloc(&lines->arena, size);
	if (!frames)
		return NULL;
	frames->n = n;
	for (size_t i = 0; i < n; i++) {
		/* The symbol may have another name than the function: that of a part of it. */
		frames->v[i].sym = i + 1 < n ? inlined_symbol(lines, sym, found[i].name) : sym;
		frames->v[i].file = found[i].file;
		frames->v[i].line = found[i].line;
		if (!frames->v[i].sym)
			return NULL;
	}
	return frames;
}

const struct inline_frames *source_lines_inlines(struct source_lines *lines, uint64_t address,
						 const struct symbol *sym)
{
	const struct inline_frames *frames = u64map_get(&lines->frames, address);

	if (!frames && open_image(lines)) {
		frames = make_frames(lines, address, sym);
		if (!frames || !u64map_put(&lines->frames, address, (void *)frames)) {
			lines->no_memory = true;
			return NULL;
		}
	}
	return frames && frames->n ? frames : NULL;
}
