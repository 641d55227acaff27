/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One function of a live session: what is counted at its instructions from now on. Its code is read
 * at the first sample in it; then nothing of it is asked of the session any more, which forgets
 * files and mappings.
 */
#ifndef PB_PERF_ANNOTATE_LIVE_FUNCTION_H
#define PB_PERF_ANNOTATE_LIVE_FUNCTION_H

#include "perf/resolve/resolve.h"
#include "perf/resolve/source_text.h"
#include "show/annotation.h"

struct live_function;

struct live_function_opts {
	struct resolver *resolver; /* of the live session */
	const char *module, *name; /* the path of the DSO, and the symbol; copied */
	size_t first_event, n_events;
	bool source, raw, intel; /* of struct annotator_opts */
	struct source_prefix prefix;
	const char *event; /* of a group: its name; copied */
};

struct error *live_function_new(const struct live_function_opts *opts, struct live_function **out);
void live_function_free(struct live_function *f);
DEFINE_FREEP(struct live_function, live_function_free)

/* Each sample that is shown, of any function and event. */
struct error *live_function_add(struct live_function *f, const struct session_event *event,
				const struct location *at, uint64_t period);
/* What was counted loses an eighth, or all. */
void live_function_fade(struct live_function *f, bool all);

/*
 * The code with the counts of this moment; it is changed by the next call. Without a sample yet, a
 * line says so. Errors as annotator_function().
 */
struct error *live_function_show(struct live_function *f, const struct annotation **out);

#endif
