// SPDX-License-Identifier: BSD-2-Clause
/*
 * Symbols of a file are read when the first address falls into it, once. A
 * file that cannot be found by its path may be seen through the root folder of
 * the process that has it mapped (one in a container); so does what a JIT
 * wrote to /tmp/perf-PID.map.
 *
 * Return addresses are looked up as they stand, as perf does for stacks that
 * the kernel walked.
 */
#include "run/frames.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "sym/sym.h"

#define UNKNOWN "[unknown]"

struct image {
	struct symtab *symbols; /* NULL: there are none */
	off_t size;		/* of a JIT's file when it was read; it may grow */
};

struct frames {
	struct procs *procs;
	struct run_names *names;
	VEC(struct image *) images;
	struct strmap files; /* by the path that procs interned */
	struct u64map jits;  /* by process */
};

struct error *frames_new(struct procs *procs, struct run_names *names, struct frames **out)
{
	struct frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return error_nomem();
	frames->procs = procs;
	frames->names = names;
	*out = frames;
	return NULL;
}

void frames_free(struct frames *frames)
{
	struct image **image;

	if (!frames)
		return;
	vec_for_each (image, &frames->images) {
		symtab_free((*image)->symbols);
		free(*image);
	}
	vec_deinit(&frames->images);
	strmap_deinit(&frames->files);
	u64map_deinit(&frames->jits);
	free(frames);
}

/* An image for these symbols, which it owns from now on; NULL: no memory. */
static struct image *image_new(struct frames *frames, struct symtab *symbols)
{
	struct image *image = calloc(1, sizeof(*image));
	struct image **slot = image ? vec_push(&frames->images) : NULL;

	if (!slot) {
		symtab_free(symbols);
		free(image);
		return NULL;
	}
	image->symbols = symbols;
	*slot = image;
	return image;
}

static struct symtab *load_file(uint32_t pid, const char *path)
{
	struct sym_opts opts = {.sz = sizeof(opts), .demangle = true, .space = SYM_FILE_OFFSET};
	_cleanup_free_ char *inside = NULL;
	struct symtab *symbols = NULL;

	if (!strcmp(path, "[vdso]")) {
		error_free(symtab_load_vdso(&opts, &symbols));
		return symbols;
	}
	inside = text_format("/proc/%u/root%s", pid, path);
	if (inside && !access(inside, R_OK))
		error_free(symtab_load_elf(inside, &opts, &symbols));
	if (!symbols)
		error_free(symtab_load_elf(path, &opts, &symbols));
	return symbols;
}

/* Where the JIT of a process says what it made; the caller's; NULL: nowhere. */
static char *jit_file(uint32_t pid, off_t *size)
{
	_cleanup_free_ char *path = text_format("/tmp/perf-%u.map", pid);
	_cleanup_free_ char *inside = text_format("/proc/%u/root/tmp/perf-%u.map", pid, pid);
	struct stat st;

	if (path && !stat(path, &st)) {
		*size = st.st_size;
		return steal_ptr(path);
	}
	if (inside && !stat(inside, &st)) {
		*size = st.st_size;
		return steal_ptr(inside);
	}
	return NULL;
}

/* A JIT's memory has no file: nothing, or one that is only its name. */
static bool is_file(const char *path)
{
	return (path[0] == '/' && strncmp(path, "//anon", 6) != 0 &&
		strncmp(path, "/memfd:", 7) != 0 && strncmp(path, "/dev/zero", 9) != 0 &&
		strncmp(path, "/SYSV", 5) != 0) ||
	       !strcmp(path, "[vdso]");
}

static const struct symbol *find_in_file(struct frames *frames, uint32_t pid,
					 const struct proc_map *map, uint64_t addr,
					 uint64_t *offset)
{
	struct image *image = strmap_get(&frames->files, map->path);
	uint64_t at = addr - map->start + map->pgoff;

	if (!image) {
		image = image_new(frames, load_file(pid, map->path));
		if (!image || !strmap_put(&frames->files, map->path, image))
			return NULL;
	}
	const struct symbol *s = image->symbols ? symtab_find(image->symbols, at) : NULL;
	if (s)
		*offset = at - s->start;
	return s;
}

static const struct symbol *find_in_jit(struct frames *frames, uint32_t pid, uint64_t addr,
					uint64_t *offset)
{
	struct image *image = u64map_get(&frames->jits, pid);
	const struct symbol *s = image && image->symbols ? symtab_find(image->symbols, addr) : NULL;
	off_t size = 0;
	_cleanup_free_ char *path = s ? NULL : jit_file(pid, &size);

	if (path && (!image || image->size != size)) {
		struct symtab *symbols = NULL;

		error_free(symtab_load_perf_map(path, &symbols));
		image = image_new(frames, symbols);
		if (!image || !u64map_put(&frames->jits, pid, image))
			return NULL;
		image->size = size;
		s = symbols ? symtab_find(symbols, addr) : NULL;
	}
	if (s)
		*offset = addr - s->start;
	return s;
}

void frame_of_process(struct frames *frames, uint32_t pid, uint64_t addr,
		      struct result_frame *frame)
{
	const struct proc_map *map = procs_find(frames->procs, pid, addr);
	const struct symbol *s = NULL;

	*frame = (struct result_frame){.name = UNKNOWN, .offset = addr};
	if (!map)
		return;
	frame->module = is_file(map->path) ? map->path : "[JIT]";
	if (is_file(map->path))
		s = find_in_file(frames, pid, map, addr, &frame->offset);
	else
		s = find_in_jit(frames, pid, addr, &frame->offset);
	if (s)
		frame->name = s->name;
}

void frame_of_kernel(struct frames *frames, uint64_t addr, struct result_frame *frame)
{
	*frame = (struct result_frame){
		.name = UNKNOWN,
		.module = "[kernel]",
		.offset = addr,
		.is_kernel = true,
	};
	run_ksym_find(frames->names, addr, &frame->name, &frame->module, &frame->offset);
}
