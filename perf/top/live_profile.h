/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile of what runs now: events as the recorder opens them, the live session that they go to,
 * and their sums, which fade.
 *
 *	TRY(live_profile_new(&opts, loop, &profile));	// opened, and not enabled
 *	TRY(live_profile_start(profile));
 *	… as often as something is to be shown:
 *		live_profile_fade(profile, false);
 *		TRY(live_profile_show(profile, &view, &results));
 *	live_profile_free(profile);			// after the results
 */
#ifndef PB_PERF_TOP_LIVE_PROFILE_H
#define PB_PERF_TOP_LIVE_PROFILE_H

#include "perf/annotate/live_function.h"
#include "perf/hist/summary.h"
#include "perf/record/record.h"
#include "work/loop.h"

struct live_profile;

struct live_profile_opts {
	size_t sz;		   /* sizeof(struct live_profile_opts) */
	struct record_opts record; /* which events of whom; nothing about files */
	/* Without recording and live. A key that needs the formats of tracepoints is an error. */
	struct summary_opts sums;
	struct filter_opts filter;
	const char *kallsyms, *vmlinux; /* of struct resolver_opts */
	bool ignore_vmlinux;		/* likewise */
	bool no_demangle, demangle_kernel;
	/* Of live_profile_code(), which is called only if it is shown. */
	struct {
		bool shown, no_source, raw, intel;
		struct source_prefix prefix;
	} code;
	/* Of struct resolver_opts. */
	struct error *(*kernel_code)(void *ctx, uint64_t address, uint64_t size,
				     struct strbuf *out);
	void *kernel_code_ctx;
	struct demangler *demangler; /* of resolver_opts */
	const struct log *log;
};

/* Reads also which processes there are, and what they have mapped. */
struct error *live_profile_new(const struct live_profile_opts *opts, struct loop *loop,
			       struct live_profile **out);
void live_profile_free(struct live_profile *profile);
DEFINE_FREEP(struct live_profile, live_profile_free)

/* From here on, rings are read while the loop runs. */
struct error *live_profile_start(struct live_profile *profile);

/* What was counted so far loses an eighth of its weight, or with `all` all of it. */
void live_profile_fade(struct live_profile *profile, bool all);
/*
 * Reads the rings, and adds the sums to the results, which are all zero; those of the last call
 * were freed. Keys that cannot be used are errors of usage (EINVAL), and change nothing.
 */
struct error *live_profile_show(struct live_profile *profile, const struct summary_view *view,
				struct results *results);

/*
 * A function whose samples are counted by their address from now on, in place of the last one: that
 * of a row of the n-th result. NULL: none.
 */
struct error *live_profile_watch(struct live_profile *profile, size_t result, const char *module,
				 const char *function);
/*
 * Reads the rings; *out: its code, until the next call. Errors as live_function_show(): then no
 * function is watched any more.
 */
struct error *live_profile_code(struct live_profile *profile, const struct annotation **out);

struct live_profile_counts {
	uint64_t samples;	    /* that were read, since the start */
	struct record_no_room lost; /* since the start */
	uint64_t thinned;	    /* samples for which others stand: hist_n_thinned() */
	/* What is kept now: */
	size_t threads;	     /* also some of those that have ended */
	size_t stacks;	     /* samples that differ */
	size_t bytes;	     /* for them */
	uint64_t offline_ns; /* CPUs were offline, in all */
};
struct live_profile_counts live_profile_counts(const struct live_profile *profile);
/* Whether events may be opened later, and the CPUs that were offline; NULL: they do not matter. */
bool live_profile_opens_later(const struct live_profile *profile);
/* Whether it looks tasks up in a BPF map. */
bool live_profile_filters_tasks(const struct live_profile *profile);
struct cpu_watch *live_profile_cpus(const struct live_profile *profile);

#endif
