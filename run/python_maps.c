// SPDX-License-Identifier: BSD-2-Clause
/*
 * Nothing is read from processes here: programs read names from the memory of the process that they
 * interrupt, and where to find them is in the interpreter's file. What programs have written is as
 * hostile as the process: texts are at most as long as their fields, and become UTF-8.
 */
#include "run/python_maps.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/base/cleanup.h"
#include "lib/base/hash.h"
#include "lib/base/utf8.h"
#include "lib/base/util.h"
#include "perf/unwind/python_layout.h"
#include "run/map_counts.h"

struct python_maps {
	int pythons_fd, functions_fd, ends_fd;
	uint32_t n, max;	 /* interpreters */
	struct u64map functions; /* struct python_function, by key */
	struct arena arena;
	uint64_t told[PERF_BPF_PYTHON_ENDS];
	unsigned max_functions;
	char unsupported[128]; /* the first such file; "": none */
	unsigned unsupported_minor;
};

static int map_fd(const struct bpf_object *obj, const char *name)
{
	return bpf_map__fd(bpf_object__find_map_by_name(obj, name));
}

struct error *python_maps_new(const struct bpf_object *obj, struct python_maps **out)
{
	const struct bpf_map *pythons = bpf_object__find_map_by_name(obj, "perf_bpf_pythons");
	const struct bpf_map *functions =
		bpf_object__find_map_by_name(obj, "perf_bpf_python_functions");

	if (bpf_map__value_size(pythons) != sizeof(struct perf_bpf_python) ||
	    bpf_map__value_size(functions) != sizeof(struct perf_bpf_python_function))
		return error_hint(error_new(EINVAL,
					    "the maps of Python have values of other sizes"),
				  "the object was compiled with <bpf/perf_bpf_python.h> of another "
				  "version");
	struct python_maps *maps = calloc(1, sizeof(*maps));
	if (!maps)
		return error_nomem();
	maps->pythons_fd = bpf_map__fd(pythons);
	maps->functions_fd = bpf_map__fd(functions);
	maps->ends_fd = map_fd(obj, "perf_bpf_python_ends");
	maps->max = bpf_map__max_entries(pythons);
	maps->max_functions = bpf_map__max_entries(functions);
	*out = maps;
	return NULL;
}

void python_maps_free(struct python_maps *maps)
{
	if (!maps)
		return;
	u64map_deinit(&maps->functions);
	arena_deinit(&maps->arena);
	free(maps);
}

/* ---- interpreters ---- */

static uint32_t pc_of(uint64_t addr, uint64_t base)
{
	return addr >= base && addr - base < UINT32_MAX ? (uint32_t)(addr - base) : 0;
}

static struct error *write_interpreter(struct python_maps *maps,
				       const struct python_interpreter *python, uint64_t base,
				       uint32_t *number)
{
	struct perf_bpf_python entry = {
		.runtime = python->runtime - base,
		.code_type = python->code_type - base,
		.text_type = python->text_type - base,
		.at = python->layout,
	};

	for (size_t i = 0; i < ARRAY_SIZE(entry.eval); i++) {
		entry.eval[i].start = pc_of(python->eval[i].start, base);
		entry.eval[i].end = pc_of(python->eval[i].end, base);
	}
	if (bpf_map_update_elem(maps->pythons_fd, &maps->n, &entry, BPF_ANY))
		return error_errno(errno, "cannot write to map perf_bpf_pythons");
	*number = ++maps->n;
	return NULL;
}

static struct error *find_interpreter(struct resolver *r, const struct dso *dso, bool *found,
				      struct python_interpreter *python)
{
	_cleanup_elf_ struct elf_file *file = NULL;

	TRY(resolver_open_image(r, dso, python_wants, &file));
	return python_find(file, dso->path, found, python);
}

struct error *python_maps_add(struct python_maps *maps, struct resolver *r,
			      const struct unwind_image *image, const struct dso *dso,
			      uint64_t base, uint32_t *number)
{
	struct python_interpreter python;
	bool found;

	*number = 0;
	if (!python_may_be_in(image->file, dso->path))
		return NULL;
	TRY(find_interpreter(r, dso, &found, &python));
	if (!found)
		return NULL;
	if (python.is_supported && maps->n < maps->max)
		return write_interpreter(maps, &python, base, number);
	if (!*maps->unsupported) {
		strncpy(maps->unsupported, dso->path, sizeof(maps->unsupported) - 1);
		maps->unsupported_minor = python.minor;
	}
	return NULL;
}

/* ---- functions ---- */

static uint32_t character_at(const uint8_t *text, unsigned kind)
{
	uint16_t two;
	uint32_t four;

	switch (kind) {
	case 1:
		return *text;
	case 2:
		memcpy(&two, text, sizeof(two));
		return two;
	default:
		memcpy(&four, text, sizeof(four));
		return four;
	}
}

static void add_character(uint32_t c, struct strbuf *out)
{
	char bytes[4];

	if (!c || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = 0xfffd;
	strbuf_add(out, bytes, utf8_encode(c, bytes));
}

static void add_text(const uint8_t *text, unsigned kind, size_t bytes, struct strbuf *out)
{
	for (size_t i = 0; i + kind <= bytes; i += kind)
		add_character(character_at(text + i, kind), out);
}

static unsigned kind_of(uint8_t kind)
{
	kind &= (uint8_t)~PERF_BPF_PYTHON_CUT;
	return kind == 2 || kind == 4 ? kind : 1;
}

void python_function_add(const struct perf_bpf_python_function *f, struct strbuf *name,
			 struct strbuf *path)
{
	if (f->file_kind & PERF_BPF_PYTHON_CUT)
		strbuf_adds(path, "...");
	add_text(f->file, kind_of(f->file_kind), min_of((size_t)f->file_bytes, sizeof(f->file)),
		 path);
	add_text(f->name, kind_of(f->name_kind), min_of((size_t)f->name_bytes, sizeof(f->name)),
		 name);
	if (f->name_kind & PERF_BPF_PYTHON_CUT)
		strbuf_adds(name, "...");
	if (strbuf_failed(path))
		return;
	const char *slash = strrchr(path->str, '/');
	strbuf_addf(name, " (%s:%u)", slash && slash[1] ? slash + 1 : path->str, f->line);
}

static struct error *read_function(struct python_maps *maps, uint64_t key,
				   struct python_function *out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT, path = STRBUF_INIT;
	struct perf_bpf_python_function f;

	if (bpf_map_lookup_elem(maps->functions_fd, &key, &f))
		return errno == ENOENT ? NULL
				       : error_errno(errno, "cannot read map "
							    "perf_bpf_python_functions");
	python_function_add(&f, &name, &path);
	if (strbuf_failed(&name) || strbuf_failed(&path))
		return error_nomem();
	out->name = arena_text(&maps->arena, name.str, name.len);
	out->path = arena_text(&maps->arena, path.str, path.len);
	out->line = f.line;
	return out->name && out->path ? NULL : error_nomem();
}

struct error *python_maps_find(struct python_maps *maps, uint64_t key,
			       const struct python_function **out)
{
	struct python_function *known = u64map_get(&maps->functions, key);

	*out = known;
	if (known)
		return NULL;
	known = arena_alloc(&maps->arena, sizeof(*known));
	if (!known)
		return error_nomem();
	TRY(read_function(maps, key, known));
	if (!known->name)
		return NULL;
	if (!u64map_put(&maps->functions, key, known))
		return error_nomem();
	*out = known;
	return NULL;
}

/* ---- shares and losses ---- */

static const char *const why_unnamed[PERF_BPF_PYTHON_ENDS] = {
	[PERF_BPF_PYTHON_NO_THREAD] = "are of threads that the interpreter does not know",
	[PERF_BPF_PYTHON_BETWEEN] = "were taken where a call begins or ends",
	[PERF_BPF_PYTHON_UNREADABLE] = "could not be read",
	[PERF_BPF_PYTHON_INVALID] = "do not fit the interpreter",
	[PERF_BPF_PYTHON_NO_ROOM] = "have functions for which there was no room",
	[PERF_BPF_PYTHON_CUT_OFF] = "have more frames than a stack can have",
};

static struct map_counts counts_of(const struct python_maps *maps)
{
	return (struct map_counts){maps->ends_fd, "perf_bpf_python_ends", why_unnamed,
				   PERF_BPF_PYTHON_ENDS};
}

struct error *python_maps_describe(struct python_maps *maps, bool delta, struct strbuf *out,
				   bool *all)
{
	const struct map_counts counts = counts_of(maps);

	return map_counts_describe(&counts, "stacks of Python have all names",
				   delta ? maps->told : NULL, out, all);
}

void python_maps_tell(const struct python_maps *maps, const struct log *log)
{
	const struct map_counts counts = counts_of(maps);
	uint64_t ends[PERF_BPF_PYTHON_ENDS] = {0};

	error_free(map_counts_read(&counts, ends));
	if (*maps->unsupported)
		log_warn(log,
			 "%s: frames of Python have no names: version 3.%u, or this build of it, "
			 "is not supported",
			 maps->unsupported, maps->unsupported_minor);
	if (ends[PERF_BPF_PYTHON_NO_ROOM])
		log_warn(log,
			 "functions of Python had no room; for more room use --map-entries "
			 "perf_bpf_python_functions=%u",
			 maps->max_functions * 4);
}
