/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of a run share: its objects, what shows them, and what it waits for. */
#ifndef PB_RUN_RUN_STATE_H
#define PB_RUN_RUN_STATE_H

#include "lib/base/vec.h"
#include "run/internal.h"
#include "run/iterators.h"
#include "run/run_probes.h"
#include "run/run_session.h"
#include "run/sampling.h"
#include "run/unwind_maps.h"
#include "work/bpf_file.h"
#include "work/tasks.h"

struct shown_map {
	const struct bpf_object *obj;
	struct display display;
	struct collector *collector;
};

struct run {
	struct run_opts opts;
	VEC(struct bpf_file) objects;
	VEC(struct shown_map *) maps;
	struct run_names *names;
	struct live_source *live; /* of names; NULL where no map has stacks */
	uint64_t drained;	  /* monotonic ns: events of before are shown */
	struct cost *cost;
	VEC(struct sampled_program) sampled;
	struct run_probes probes;
	struct iterators iterators;	  /* of programs that are attached */
	const struct bpf_object *unwinds; /* the first object that does; NULL: none */
	struct unwind_maps *unwind;
	struct loop *loop;
	struct cpu_watch *cpu_watch;
	struct tasks tasks; /* of -p and -t */
	pid_t probed;	    /* -p, of uprobes that do not ask themselves; 0: all processes */
	run_show_fn *show;
	void *show_ctx;
	uint64_t last_look; /* monotonic ns */

	int rings_fd;		    /* -1: there are none */
	int slot_timer, cost_timer; /* once run_loop() begins */
	uint64_t names_time;	    /* ns since 1970: of their last refresh */
	uint64_t step;		    /* ns: of the heat maps' slots; 0: there is none */
};

/* ---- run_session.c ---- */

/* Attaches a program to the events of the options; cpu: only there, without a word; else NULL. */
struct error *run_attach_sampled(struct run *run, struct bpf_file *object,
				 const struct bpf_program *prog, const unsigned *cpu);
/* Has run->rings_fd wait for it, too; -1: does nothing. */
struct error *run_wait_for_ring(struct run *run, int fd);

/* Hands over what came through the rings; with `all`, until they are empty. */
struct error *run_drain(struct run *run, bool all);

/* ---- run_processes.c ---- */

/* Stacks of processes that end meanwhile are wanted too, so they are followed from now on. */
struct error *run_begin_following(struct run *run);
/* Before the loop begins. */
struct error *run_watch_processes(struct run *run);
/* Mappings whose records were lost. */
void run_warn_of_lost_records(const struct run *run);

/* ---- run_adopt.c ---- */

/* Gives the object the maps that another process has loaded. */
struct error *run_adopt_object(const struct run *run, struct bpf_object *obj);

/* ---- run_unwind.c: without --call-graph dwarf, they do nothing ---- */

/* Between open and load, each object; and once all of them are loaded. */
struct error *run_prepare_unwinding(struct run *run, struct bpf_object *obj);
struct error *run_check_unwinding(const struct run *run);
/* Before programs are attached; and before the loop begins. */
struct error *run_begin_unwinding(struct run *run);
struct error *run_watch_unwinding(struct run *run);
/* Behind run_names_update(). */
struct error *run_update_unwinding(struct run *run);
/* Says with the first result that has stacks how complete they are. */
struct error *run_note_unwinding(struct run *run, bool delta, struct results *results, size_t at);
/* Whether user stacks of its programs are walked by unwind tables. */
bool run_unwinds(const struct run *run, const struct bpf_object *obj);

/* ---- run_cpus.c ---- */

/* From now on, if something depends on CPUs that may go offline. */
struct error *run_watch_cpus(struct run *run);
void run_warn_of_offline_cpus(const struct run *run);

#endif
