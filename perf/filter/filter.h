/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which samples of a recording count, as options say it: CPUs, names and ids of
 * threads, cgroups, DSOs, symbols, spans of time, events that switch the selection on and off, and
 * a condition on fields.
 *
 *	struct filter *f;
 *	TRY(filter_new(&opts, &f));		// wrong values are errors of usage
 *	TRY(filter_check(f, session, tracing));	// again when events or formats were added
 *	... for each sample:
 *	if (filter_needs_location(f))
 *		resolve_addr(..., &leaf);
 *	switch (filter_sample(f, &input)) ...
 *	TRY(filter_end(f, session));
 *
 * Spans of time, switching events, CPUs and the condition decide whether a sample exists for the
 * command. The others decide whether it is shown: report still counts those that
 * are not in its totals, as perf does.
 */
#ifndef PB_PERF_FILTER_FILTER_H
#define PB_PERF_FILTER_FILTER_H

#include "perf/format/tracing.h"
#include "perf/resolve/resolve.h"
#include "perf/session/session.h"

struct filter;

/* As written; NULL: not given, all. Borrowed until filter_free(). */
struct filter_opts {
	size_t sz;	     /* sizeof(struct filter_opts) */
	const char *cpus;    /* "0,2-3" */
	const char *comms;   /* "bash,dd" */
	const char *pids;    /* "17,1234" */
	const char *tids;    /* likewise */
	const char *dsos;    /* short names or paths: "libc.so.6,[kernel.kallsyms]" */
	const char *symbols; /* names, or addresses with 0x: a symbol's start or the sample's own */
	uint32_t addr_range; /* symbols' addresses are the first ones of so many bytes; 0: of one */
	const char *time;    /* "12.5,13 14,", "10%/2", "10%-20%,30%-40%" */
	const char *where;   /* see perf/filter/where.h */
	const char *cgroups; /* paths, "/system.slice,/docker": these and what is below them */
	const char *containers; /* ids, or what they begin with */
	const char *pods;	/* uids */
	const char *switch_on;	/* names of events: see perf/filter/event_switch.h */
	const char *switch_off;
	const char *parallelism; /* "1-4": how many threads run */

	/* These select nothing, but say how switch_on and switch_off work. */
	bool show_on_off; /* their own samples are selected, too */
	/* Only samples that everything else selects switch; else all that time selects. */
	bool switch_by_shown;
};

/* A recording that was opened, and what selects its samples. */
struct keeper;
struct kernel_code;
struct process_files;
struct recorded_kernel;
struct opened_recording {
	const char *path; /* "-": standard input */
	const struct log *log;
	struct session *session;
	struct filter *filter;
	struct resolver *resolver;
	/* Of the command, which frees them; NULL: none. */
	struct keeper *keeper; /* of the next three */
	struct kernel_code *kernel_code;
	struct demangler *demangler;
	struct process_files *process_files;
	struct recorded_kernel *recorded_kernel;
};

/* Errors of usage name the option by its long form: "--cpu: ...". */
struct error *filter_new(const struct filter_opts *opts, struct filter **out);
void filter_free(struct filter *f);
DEFINE_FREEP(struct filter, filter_free)

/*
 * Whether the recording has what the filter looks at: timestamps, CPUs, ids, and
 * fields of these names and types. Call it after the session was opened,
 * and again when session_n_events() grew or a pipe's formats came. tracing may be NULL.
 */
struct error *filter_check(struct filter *f, struct session *s, struct tracing *tracing);

/*
 * "--time 10%" needs to know when the recording starts and ends: what the file's header
 * says or, where it says nothing, what a look at all samples finds. path is that of the
 * session; EOPNOTSUPP: a pipe.
 */
struct error *filter_find_bounds(struct filter *f, struct session *s, const char *path,
				 const struct session_opts *opts);

/* Nothing was given: filter_sample() says FILTER_SHOW of all samples. */
bool filter_selects_all(const struct filter *f);

/* Whether filter_sample() looks at the map and the symbol of the sample's address. */
bool filter_needs_location(const struct filter *f);

enum filter_verdict {
	FILTER_SHOW,
	FILTER_HIDE, /* another thread, cgroup, DSO or symbol: it counts only for totals */
	FILTER_DROP, /* another time or CPU, switched off, or not what the condition says */
};

struct filter_input {
	const struct sample *sample;
	const struct session_event *event;
	const struct thread *thread;	     /* NULL: unknown */
	const struct location *leaf;	     /* may be NULL unless filter_needs_location() */
	const struct session_cgroup *cgroup; /* NULL: not recorded */
	unsigned parallelism;		     /* 0: not known */
};

enum filter_verdict filter_sample(struct filter *f, const struct filter_input *in);

/* Of a record that is not a sample: whether its CPU is selected; -1 is unknown, and is. */
bool filter_has_cpu(const struct filter *f, int32_t cpu);

/* Whether --time selects this time. */
bool filter_has_time(const struct filter *f, uint64_t time);

/* After the last sample of a pipe, whose events were not known before: names of no event. */
struct error *filter_end(const struct filter *f, struct session *s);

/* The only name of a list, for a heading: NULL where there are more, or none. */
const char *filter_only_comm(const struct filter *f);
const char *filter_only_dso(const struct filter *f);
const char *filter_only_symbol(const struct filter *f);

#endif
