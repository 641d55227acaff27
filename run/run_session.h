/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs BPF programs: opens objects, loads them, attaches every program by its
 * section, waits for the command, a signal or the time, and looks at the maps.
 *
 *	struct run *run;
 *	TRY(run_new(&opts, &run));
 *	TRY(run_attach(run));
 *	err = run_loop(run, show, ctx);
 *	run_free(run);
 *
 * Everything in the kernel hangs on this process's descriptors, but for what
 * an object pins by itself: it is gone when the process is, however it ends.
 */
#ifndef PB_RUN_RUN_H
#define PB_RUN_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/sys/confine.h"
#include "probe/attach/probe.h"
#include "run/collect.h"
#include "run/cost.h"
#include "run/run_variables.h"
#include "show/result.h"
#include "work/loop.h"
#include "work/program_filter.h"

struct compile_opts;
struct run;

/* Everything is borrowed until run_free(). */
struct run_opts {
	const char *const *files; /* FILE.c, FILE.o, or the name of a built-in program */
	size_t n_files;
	char *const *workload;	 /* argv, NULL-terminated; NULL: none */
	uint64_t duration_ms;	 /* 0: until the command ends, or a signal */
	uint64_t interval_ms;	 /* look at the maps so often; 0: at the end only */
	const char *const *maps; /* names or globs of those to show; none: all declared */
	size_t n_maps;
	const char *const *sets; /* "NAME=VALUE" */
	size_t n_sets;
	const char *const *entries; /* "MAP=N": room for so many entries */
	size_t n_entries;
	struct program_filter filter;
	const char *events;    /* for perf_event programs whose section names none; NULL: cycles */
	uint64_t freq, period; /* their samples; 0: not said */
	struct collect_opts collect;
	bool unwinds;		     /* user stacks by unwind tables, not by frame pointers */
	struct demangler *demangler; /* of resolver_opts */
	bool source_lines; /* of the frames of programs: their debug information is read */
	struct cost_opts cost;
	enum probe_way probe_way; /* of programs whose section is a probe definition */
	bool count_hits;	  /* of their points, for the log */
	bool show_probes;	  /* the result "(probes)": their points, with hits if they count */
	/* In the process that finds probe points; NULL: in this process. */
	confine_fn *confine_finder;
	const struct compile_opts *compile;
	const struct log *log;
	/*
	 * Another process has loaded and attached the only object: passes descriptors of its maps,
	 * n of them, -1 for those that were not created. They are the caller's. NULL: it is loaded
	 * here.
	 */
	struct error *(*adopt)(void *ctx, const struct bpf_object *obj, int *fds, size_t n);
	void *adopt_ctx;
	/* For such a process: nothing is shown, and run_loop() ends when a program was detached. */
	bool only_attach;
};

/* Opens, loads and makes all ready; nothing is attached yet. */
struct error *run_new(const struct run_opts *opts, struct run **out);
void run_free(struct run *run);
DEFINE_FREEP(struct run, run_free)

/*
 * What is handed over at each look; last: there will be no other. The results,
 * with the names of functions in them, are valid until it returns.
 */
typedef struct error *run_show_fn(void *ctx, struct run *run, const struct results *results,
				  bool last);

/* Whether a map that is shown has stacks (RESULT_STACKS). */
bool run_has_stacks(const struct run *run);

/*
 * The descriptors of the maps of the first object, n of them; -1: not created. They can read only,
 * but those of rings, whose reader writes how far it has read. They are the caller's.
 */
struct error *run_pass_maps(const struct run *run, int *fds, size_t max, size_t *n);

/* Attaches the programs, which count from now on. */
struct error *run_attach(struct run *run);
/* Whether it opens events again on a CPU that was offline: it needs the right to for that. */
bool run_opens_events_later(const struct run *run);
/* Whether it opens maps by their ids at each look: it needs the right to for that. */
bool run_finds_maps_later(const struct run *run);

/* Whether nothing is shown before the end: there is no interval, and no events come. */
bool run_is_silent(const struct run *run);

/*
 * Once they are attached: runs the command, shows at each interval and at the end. An error of
 * show ends it. ECHILD: the command could not be run.
 */
struct error *run_loop(struct run *run, run_show_fn *show, void *ctx);

/* How many programs were detached because they cost too much (opts.cost.max_share). */
size_t run_n_detached(const struct run *run);

/* A descriptor that run_loop() waits for as well; see loop_watch(). */
struct error *run_watch(struct run *run, int fd, loop_fn *fn, void *ctx);
void run_unwatch(struct run *run, int fd);

/*
 * For what watches: a look of its own at the maps, which is no part of those
 * that are shown, and takes nothing from them where opts has no delta. Names of
 * functions in results are valid until the next look.
 */
struct error *run_look(struct run *run, const struct collect_opts *opts, struct results *results);

/* The options of the looks that follow; they may be changed, but for per_cpu. */
struct collect_opts *run_collect_opts(struct run *run);

/* Ends run_loop(), as a signal does. */
void run_stop(struct run *run);

/* The command's status, as waitpid(2) gives it; false: none ended. */
bool run_workload_status(const struct run *run, int *status);

#endif
