/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The maps of <bpf/perf_bpf_unwind.h>: unwind tables of the files that sampled processes have
 * mapped, loaded when a program asks for them.
 *
 *	TRY(unwind_maps_prepare(obj, first, &supported));	// between open and load
 *	TRY(unwind_maps_new(obj, names, &u));			// loaded
 *	… when unwind_maps_fd() is readable: TRY(unwind_maps_answer(u));
 */
#ifndef PB_RUN_UNWIND_MAPS_H
#define PB_RUN_UNWIND_MAPS_H

#include <bpf/libbpf.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"
#include "run/value_names.h"

struct unwind_maps;

/*
 * Has the object's programs walk stacks by unwind tables; false: it was not compiled with the
 * header. It shares the maps of `first`, which is loaded; NULL: it has its own.
 */
struct error *unwind_maps_prepare(struct bpf_object *obj, const struct bpf_object *first,
				  bool *supported);

/* names outlive it; before anything else is called, they follow maps by unwind_maps_see(). */
struct error *unwind_maps_new(const struct bpf_object *obj, struct run_names *names,
			      struct unwind_maps **out);
void unwind_maps_free(struct unwind_maps *u);
DEFINE_FREEP(struct unwind_maps, unwind_maps_free)

/*
 * Loads the tables of a process before programs sample it. One that has ended, or of which we
 * cannot tell whether it has run another program since, has them when it is sampled.
 */
struct error *unwind_maps_load(struct unwind_maps *u, uint32_t pid);

/* A run_maps_fn of run_names_follow_maps(); ctx: the maps. */
struct error *unwind_maps_see(void *ctx, uint32_t pid, const struct record_mmap *map);
/* Loads what has changed since, behind run_names_update(). */
struct error *unwind_maps_update(struct unwind_maps *u);

/* Readable when programs ask for tables. */
int unwind_maps_fd(const struct unwind_maps *u);
/* Loads what was asked for. */
struct error *unwind_maps_answer(struct unwind_maps *u);

/*
 * Adds the share of complete stacks, and why others are incomplete; with delta, of those since the
 * last time. Nothing if there were none.
 */
struct error *unwind_maps_describe(struct unwind_maps *u, bool delta, struct strbuf *out,
				   bool *all);
/* Whether the programs of an object use the tables. */
bool unwind_maps_has(const struct bpf_object *obj);
/* At the end: what is loaded, and what had no room. */
void unwind_maps_tell(const struct unwind_maps *u, const struct log *log);

#endif
