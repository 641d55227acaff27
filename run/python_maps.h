/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The maps of <bpf/perf_bpf_python.h>: interpreters of Python, and the functions that were found in
 * stacks.
 *
 *	TRY(python_maps_new(obj, &maps));			// loaded
 *	TRY(python_maps_add(maps, image, dso, base, &number));	// a file that is mapped
 *	… python_maps_find(maps, key, &function)
 */
#ifndef PB_RUN_PYTHON_MAPS_H
#define PB_RUN_PYTHON_MAPS_H

#include <bpf/libbpf.h>
#include <bpf/perf_bpf_python_types.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"
#include "perf/resolve/resolve.h"
#include "perf/unwind/unwind_image.h"

struct python_maps;

struct error *python_maps_new(const struct bpf_object *obj, struct python_maps **out);
void python_maps_free(struct python_maps *maps);
DEFINE_FREEP(struct python_maps, python_maps_free)

/*
 * Adds the interpreter of a file, if it has one; *number is that for its mappings, 0: it has none,
 * or one that is not supported. base: the virtual address for which its table has pc 0.
 */
struct error *python_maps_add(struct python_maps *maps, struct resolver *r,
			      const struct unwind_image *image, const struct dso *dso,
			      uint64_t base, uint32_t *number);

struct python_function {
	const char *name; /* "Shop.buy (shop.py:12)" */
	const char *path; /* "/srv/shop.py" */
	uint32_t line;	  /* its first one */
};

/*
 * The function of a frame that has PERF_BPF_PYTHON_FRAME; it lasts as long as the maps.
 * *out NULL: there is none.
 */
struct error *python_maps_find(struct python_maps *maps, uint64_t key,
			       const struct python_function **out);

/* The function that a program has written, as text: "Shop.buy (shop.py:12)"; and its path. */
void python_function_add(const struct perf_bpf_python_function *f, struct strbuf *name,
			 struct strbuf *path);

/*
 * Adds the share of stacks of Python whose frames all have names, and why others do not; with
 * delta, of those since the last time. Nothing if there were none.
 */
struct error *python_maps_describe(struct python_maps *maps, bool delta, struct strbuf *out,
				   bool *all);
/* At the end: interpreters that are not supported, and functions that had no room. */
void python_maps_tell(const struct python_maps *maps, const struct log *log);

#endif
