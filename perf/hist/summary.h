/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A recording summed up: a histogram for each of its events, by what perf report's options say,
 * and the results of all of them.
 *
 *	TRY(summary_new(&opts, &summary));		// keys, by what the recording has
 *	TRY(summary_read(summary));			// all samples
 *	TRY(summary_results(summary, &results));
 *	...						// the results borrow from the summary
 *	summary_free(summary);
 */
#ifndef PB_PERF_HIST_SUMMARY_H
#define PB_PERF_HIST_SUMMARY_H

#include "perf/filter/filter.h"
#include "perf/hist/hist.h"
#include "perf/print/read_counts.h"

struct summary_opts {
	size_t sz;				  /* sizeof(struct summary_opts) */
	const struct opened_recording *recording; /* borrowed */
	/* sort, fields, children, show_nr_samples, show_total_period, show_cpu_utilization,
	 * branches
	 */
	struct hist_spec_opts keys;
	struct hist_results_opts table; /* all but name and unit */
	struct chain_opts chain;
	bool needs_chains;	    /* -g was given: a recording without call chains is an error */
	bool no_chains;		    /* they are not shown */
	bool ref_chains;	    /* events without call chains have those of others */
	const char *parent;	    /* the regular expression of the key "parent"; NULL: perf's */
	const char *ignore_callees; /* a regular expression: hist_spec.ignore_callees; NULL: none */
	const char *symbol_filter;  /* hist_spec.symbol_filter */
	bool exclude_other, hide_unresolved, long_dso, show_empty;
	bool full_paths; /* of source files */
	/* The events of a group have one table; of a recording without groups, all events. */
	enum summary_groups { GROUPS_OF_RECORDING, GROUPS_NONE, GROUPS_ALL } groups;
	size_t group_sort; /* hist_spec.group_sort */
	bool has_socket;   /* only samples of the CPUs of this socket are shown */
	int32_t socket;
	unsigned max_stack;	    /* 0: 127 */
	uint64_t time_quantum;	    /* ns; 0: 100 ms */
	bool nanoseconds;	    /* hist_spec.nanoseconds */
	uint32_t n_samples;	    /* hist_spec.n_samples; with keeps */
	struct read_counts *counts; /* READ records are added; NULL: they are left out */
	bool keeps;		    /* summary_show() will be called */
	bool parallelism;	    /* the filter is by it: an error where it is not known */
	bool live;		    /* the session is a live one: see summary_tool() */
	/* Called for each sample that the filter shows, with the place of its address; NULL: not.
	 */
	struct error *(*each)(void *ctx, const struct session_event *event,
			      const struct location *at, const struct sample *sample);
	void *each_ctx;
};

struct summary;

/* Wrong keys are errors of usage. */
struct error *summary_new(const struct summary_opts *opts, struct summary **out);
void summary_free(struct summary *s);
DEFINE_FREEP(struct summary, summary_free)

/* EBADMSG: the recording is damaged; what is before the damage was read and has results. */
struct error *summary_read(struct summary *s);

/* What was counted of an event, once all was read; NULL: there is no such event. */
const struct hist *summary_hist(const struct summary *s, size_t event);
const struct hist_spec *summary_spec(const struct summary *s);
struct session *summary_session(const struct summary *s);
/* "ns", "events" */
const char *summary_unit(const struct session_event *event);

/* How many events share a table with this one, the first of them. */
size_t summary_group_size(struct session *session, enum summary_groups groups, size_t first);
/* "anon group { cycles, faults }"; without a mark if the options made it one. */
void summary_add_group_name(struct session *session, size_t first, size_t n, struct strbuf *out);

/* What of the samples that were read is shown, by which keys. */
struct summary_view {
	const char *sort; /* NULL: as the options say */
	struct hist_zoom zoom;
	const char *symbol_filter; /* NULL: as the options say */
	bool has_group_sort;	   /* else as the options say */
	size_t group_sort;	   /* hist_spec.group_sort */
	bool relative;		   /* of struct hist_results_opts */
	double least_percent;
};

/*
 * Makes the sums again, once all was read. Keys that were not collected (the time, a field) are
 * errors of usage, and change nothing. Results that were made are freed before.
 */
struct error *summary_show(struct summary *s, const struct summary_view *view);

/* Warns of copied stacks that could not be unwound to their end. */
void summary_warn_of_stacks(const struct summary *s);

/* With opts.keys.branches: branch_stats_print() of all events. */
void summary_print_branches(const struct summary *s, struct strbuf *out);

/* Of all events, also those that a filter hides. */
size_t summary_n_entries(const struct summary *s);

/*
 * Of a live session (opts.live): events come and go on, so summary_show() makes the sums of what
 * was counted until then. The caller hands records to the session with this tool.
 */
struct session_tool *summary_tool(struct summary *s);
/* hist_fade() and the sums of hist_kept() of all events. */
void summary_fade(struct summary *s, bool all);
struct hist_kept summary_kept(const struct summary *s);

/* Whether the table of this event, or of the group that it leads, is left out: no samples. */
bool summary_is_empty(const struct summary *s, size_t first);

/* The event, or the first of the group, that the n-th result is of: not all have one. */
size_t summary_event_of(const struct summary *s, size_t n);

/* The columns that are left out because a filter leaves them one value: the results have them, too.
 */
void summary_only(const struct summary *s, struct results *results);
struct error *summary_results(struct summary *s, struct results *results);

#endif
