/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of a live session: copies of what it may free while a histogram still shows it.
 *
 * A live session forgets threads that have ended, and maps and DSOs that nobody has mapped any
 * more. A histogram that goes on for days keeps samples that are older, so it refers to copies:
 * of a thread its ids and its name, of a symbol its name and place, of a DSO its paths and its
 * build-id. They belong to the histogram's arena, and go with the samples (hist_fade()).
 */
#ifndef PB_PERF_HIST_HIST_OWNED_H
#define PB_PERF_HIST_HIST_OWNED_H

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "perf/resolve/resolve.h"

struct hist_owned {
	struct u64map dsos;    /* by what tells them apart, to struct dso * */
	struct u64map threads; /* by tid, to struct thread * */
};

void hist_owned_deinit(struct hist_owned *owned);

/* The one copy of each; NULL: no memory. */
const struct dso *owned_dso(struct hist_owned *owned, struct arena *arena, const struct dso *dso);
const struct thread *owned_thread(struct hist_owned *owned, struct arena *arena,
				  const struct thread *thread);
/* A copy of its own, with a DSO that owned_dso() has made. */
const struct map *owned_map(struct arena *arena, const struct map *map, const struct dso *dso);
/* The name is the caller's. */
const struct symbol *owned_symbol(struct arena *arena, const struct symbol *sym, const char *name);

#endif
