// SPDX-License-Identifier: BSD-2-Clause
#include "run/run_session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "inspect/map_reader.h"
#include "inspect/variable.h"
#include "lib/attach/attach.h"
#include "lib/base/hash.h"
#include "lib/base/names.h"
#include "lib/base/vec.h"
#include "lib/object/object.h"
#include "perf/select/select.h"
#include "run/choose_view.h"
#include "run/internal.h"
#include "run/map_losses.h"
#include "run/run_begin.h"
#include "run/run_probes.h"
#include "run/run_state.h"
#include "run/sampling.h"
#include "run/sites.h"
#include "work/bpf_file.h"
#include "work/cpu_watch.h"
#include "work/loop.h"
#include "work/tasks.h"
#include "work/workload.h"

enum {
	NAMES_NS = 1000000000, /* how long a process's name is believed while events come */
	SLOT_MS = 10,	       /* the shortest slot of a heat map that nobody asked for */
};

static struct error *open_object(struct run *run, const char *path)
{
	const struct bpf_file_opts opts = {
		.compile = run->opts.compile,
		.builtins = true,
		.whole = run->opts.adopt != NULL,
		.log = run->opts.log,
	};
	struct bpf_file *object = vec_push(&run->objects);

	return object ? bpf_file_open(object, path, &opts) : error_nomem();
}

/* --set and --map-entries: in whichever objects have the variable or map. */
static struct error *apply_settings(struct run *run, const char *const *texts, size_t n,
				    setting_fn *set)
{
	for (size_t i = 0; i < n; i++) {
		bool any = false;

		for (size_t k = 0; k < run->objects.n; k++) {
			bool found = false;

			TRY(set(run->objects.v[k].obj, texts[i], &found));
			any |= found;
		}
		/* the first object's words on what it has */
		if (!any)
			TRY(set(run->objects.v[0].obj, texts[i], NULL));
	}
	return NULL;
}

/* Whether there are programs that run at samples, whose events -p and -t restrict. */
static bool samples(const struct run *run)
{
	struct bpf_file *object;
	struct bpf_program *prog;

	vec_for_each (object, &run->objects)
		bpf_object__for_each_program (prog, object->obj)
			if (bpf_program__autoload(prog) &&
			    program_section(prog)->kind == PROGRAM_PERF_EVENT)
				return true;
	return false;
}

static struct error *check_sampling(const struct run *run)
{
	const struct run_opts *o = &run->opts;

	if (!(o->events || o->freq || o->period) || samples(run))
		return NULL;
	return error_hint(
		error_new(EINVAL,
			  "-e, -F and -c have no effect: none of the programs runs on samples"),
		"put the program into SEC(\"perf_event\")");
}

/* Once for all programs and events: so is the warning. */
static struct error *limit_freq(struct run *run)
{
	const struct select_freq_opts opts = {.asked = run->opts.freq, .log = run->opts.log};

	return opts.asked ? select_freq(NULL, &opts, &run->opts.freq) : NULL;
}

/*
 * Whether all programs are attached to uprobes or probes of user programs. Only those can be
 * attached in a single process, as -p PID asks.
 */
static bool probes_take_pid(const struct run *run)
{
	struct bpf_file *object;
	struct bpf_program *prog;
	bool any = false;

	vec_for_each (object, &run->objects)
		bpf_object__for_each_program (prog, object->obj) {
			if (!bpf_program__autoload(prog))
				continue;
			if (!probes_of_user(prog) && !attach_takes_pid(prog))
				return false;
			any = true;
		}
	return any;
}

static struct error *apply_filter(struct run *run)
{
	const struct program_filter *filter = &run->opts.filter;
	bool any = samples(run) && !filter->uids && !cgroup_choice_any(&filter->cgroups) &&
		   !filter->comms;
	bool asks = false;
	pid_t pid;

	const bool by_pid = program_filter_one_pid(filter, &pid) && probes_take_pid(run) &&
			    !filter->uids && !cgroup_choice_any(&filter->cgroups) && !filter->comms;
	any |= by_pid;
	for (size_t i = 0; i < run->objects.n; i++) {
		bool honoured;

		TRY(program_filter_apply(run->objects.v[i].obj, &run->opts.filter, &honoured));
		any |= honoured;
		asks |= honoured;
	}
	/* A program that asks follows children, too. */
	if (by_pid && !asks)
		run->probed = pid;
	if (any || !program_filter_any(filter))
		return NULL;
	return error_hint(
		error_new(ENOTSUP,
			  "none of the programs supports -p, -t, -u, --cgroup, "
			  "--container, --pod or --comms (they do not call perf_bpf_wanted())"),
		"call perf_bpf_wanted() of <bpf/perf_bpf_prog.h> at the start of a "
		"program: if (!perf_bpf_wanted()) return 0;");
}

/* perf_bpf_started of <bpf/perf_bpf_values.h>, for perf_bpf_elapsed(). */
static struct error *set_start(struct run *run)
{
	struct bpf_file *object;
	struct timespec ts;
	size_t n;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	const uint64_t now = (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	vec_for_each (object, &run->objects)
		TRY(object_variables_set(object->obj, "perf_bpf_started", &now, sizeof(now), &n));
	return NULL;
}

static void shown_map_free(struct shown_map *map)
{
	if (!map)
		return;
	collector_free(map->collector);
	display_deinit(&map->display);
	free(map);
}
DEFINE_FREEP(struct shown_map, shown_map_free)

/* The global variables that a program may change. */
static bool is_variables(const struct bpf_map *map)
{
	const char *name = bpf_map__name(map), *dot = strrchr(name, '.');

	/*
	 * SEC(".data.NAME") is a map of that name; the others have the object's name first.
	 * <bpf/perf_bpf_prog.h> counts losses in .data.perf_bpf; they are shown with the maps.
	 */
	return bpf_map__is_internal(map) && dot && strcmp(name, ".data.perf_bpf") &&
	       (!strcmp(dot, ".bss") || !strcmp(dot, ".data") || !strncmp(name, ".bss.", 5) ||
		!strncmp(name, ".data.", 6));
}

/*
 * Whether --map names it; without --map, and by a glob, what is declared or
 * worth showing. Globs select variables also.
 */
static bool is_wanted(const struct run *run, const struct bpf_map *map,
		      const struct display *display)
{
	const bool is_shown = display->kind != DISPLAY_NONE;
	const char *name = bpf_map__name(map);

	for (size_t i = 0; i < run->opts.n_maps; i++) {
		const char *wanted = run->opts.maps[i];

		if (glob_match(wanted, name) &&
		    (is_shown || !glob_is_pattern(wanted) || is_variables(map)))
			return true;
	}
	return !run->opts.n_maps && is_shown;
}

/* The object's section "config"; NULL: it has none, or none that can be read, which is said. */
static const char *readable_config(const struct run *run, const struct bpf_file *object,
				   size_t *size)
{
	const char *config = perf_bpf_object__config(object->obj, size);
	_cleanup_error_ struct error *err = config ? display_check_config(config, *size) : NULL;

	if (err)
		log_warn(run->opts.log, "%s: %s", object_path(object->obj), err->msg);
	return err ? NULL : config;
}

/* A map is shown from now on; *shown is taken. */
static struct error *show_map(struct run *run, struct bpf_file *object, struct bpf_map *map,
			      struct shown_map **shown)
{
	struct display *display = &(*shown)->display;

	TRY(collector_new(object->obj, map, display, &(*shown)->collector));
	(*shown)->obj = object->obj;
	if (display->kind == DISPLAY_EVENTS && !display->type)
		log_warn(run->opts.log,
			 "map %s: the type of its events is not known, so their bytes are shown; "
			 "declare it with PERF_BPF_SHOW(\"events,type=struct NAME\") after the map",
			 bpf_map__name(map));
	struct shown_map **slot = vec_push(&run->maps);
	if (!slot)
		return error_nomem();
	*slot = steal_ptr(*shown);
	return NULL;
}

/* What a map that is not shown holds might be what the author wants to see. */
static void log_not_shown(const struct run *run, const struct bpf_map *map)
{
	const char *why = map_type_unreadable(bpf_map__type(map));
	enum log_level level = LOG_INFO;

	switch ((int)bpf_map__type(map)) {
	case BPF_MAP_TYPE_QUEUE:
	case BPF_MAP_TYPE_STACK:
	case BPF_MAP_TYPE_BLOOM_FILTER:
	case BPF_MAP_TYPE_SK_STORAGE:
	case BPF_MAP_TYPE_INODE_STORAGE:
	case BPF_MAP_TYPE_TASK_STORAGE:
	case BPF_MAP_TYPE_CGRP_STORAGE:
	case BPF_MAP_TYPE_ARENA:
		level = LOG_WARN;
		break;
	case BPF_MAP_TYPE_ARRAY_OF_MAPS:
	case BPF_MAP_TYPE_HASH_OF_MAPS:
		level = LOG_WARN;
		why = "the entries of its inner maps cannot be shown; --map shows the ids of these";
		break;
	}
	if (why)
		log_at(run->opts.log, level, "map %s is not shown: %s", bpf_map__name(map), why);
}

/* Variables beside maps are rarely results, but they can be. */
static void log_variables(const struct run *run)
{
	for (size_t i = 0; i < run->objects.n; i++) {
		const struct bpf_object *obj = run->objects.v[i].obj;
		const struct btf *btf = bpf_object__btf(obj);
		struct bpf_map *map;

		bpf_object__for_each_map (map, obj) {
			const uint32_t type = bpf_map__btf_value_type_id(map);
			const struct btf_type *t = btf && type ? btf__type_by_id(btf, type) : NULL;

			if (is_variables(map) && bpf_map__autocreate(map) && t && btf_vlen(t))
				log_warn(run->opts.log,
					 "the global variables in %s are not shown; show them with "
					 "--map '%s'",
					 bpf_map__name(map), bpf_map__name(map));
		}
	}
}

static struct error *add_map(struct run *run, struct bpf_file *object, const char *config,
			     size_t size, struct bpf_map *map)
{
	_cleanup_(shown_map_freep) struct shown_map *shown = calloc(1, sizeof(*shown));
	enum bpf_map_type type = bpf_map__type(map);

	if (!shown)
		return error_nomem();
	TRY(display_of_map(object->obj, map, config, size, &shown->display));
	if (!is_wanted(run, map, &shown->display)) {
		if (!run->opts.n_maps && !shown->display.declared)
			log_not_shown(run, map);
		return NULL;
	}
	if (shown->display.kind == DISPLAY_NONE) /* --map asks for it all the same */
		shown->display.kind = type == BPF_MAP_TYPE_RINGBUF ? DISPLAY_EVENTS : DISPLAY_TABLE;
	return show_map(run, object, map, &shown);
}

/* Whether --map leaves the output of the program, if it is an iterator; it counts as a map. */
static bool shows_iterator(const struct run *run, const struct bpf_program *prog)
{
	if (program_section(prog)->kind != PROGRAM_ITER || !bpf_program__autoload(prog))
		return false;
	for (size_t i = 0; i < run->opts.n_maps; i++)
		if (glob_match(run->opts.maps[i], bpf_program__name(prog)))
			return true;
	return !run->opts.n_maps;
}

/* pattern NULL: any. */
static bool has_iterator(const struct run *run, const char *pattern)
{
	struct bpf_file *object;
	struct bpf_program *prog;

	vec_for_each (object, &run->objects)
		bpf_object__for_each_program (prog, object->obj)
			if (shows_iterator(run, prog) &&
			    (!pattern || glob_match(pattern, bpf_program__name(prog))))
				return true;
	return false;
}

/* Where there is no map to look at, what was counted stands in global variables. */
static struct error *add_variables(struct run *run)
{
	for (size_t i = 0; i < run->objects.n; i++) {
		struct bpf_file *object = &run->objects.v[i];
		struct bpf_map *map;

		bpf_object__for_each_map (map, object->obj) {
			_cleanup_(shown_map_freep) struct shown_map *shown = NULL;

			if (!is_variables(map) || !bpf_map__autocreate(map))
				continue;
			shown = calloc(1, sizeof(*shown));
			if (!shown)
				return error_nomem();
			shown->display.kind = DISPLAY_TABLE;
			struct error *err = show_map(run, object, map, &shown);
			if (err && err->code == ENOMEM)
				return err;
			if (err)
				log_warn(run->opts.log, "%s: %s", object_path(object->obj),
					 err->msg);
			error_free(err);
		}
	}
	if (!run->maps.n && !run->opts.cost.show && !run->opts.show_probes &&
	    !has_iterator(run, NULL))
		log_warn(run->opts.log,
			 "nothing to show: the programs have no maps and no global variables; the "
			 "output of bpf_printk() is in /sys/kernel/tracing/trace_pipe");
	return NULL;
}

static struct error *add_maps(struct run *run)
{
	for (size_t i = 0; i < run->objects.n; i++) {
		struct bpf_file *object = &run->objects.v[i];
		struct bpf_map *map;
		size_t size = 0;
		const char *config = readable_config(run, object, &size);

		bpf_object__for_each_map (map, object->obj)
			if (bpf_map__autocreate(map))
				TRY(error_at(add_map(run, object, config, size, map), "%s",
					     object_path(object->obj)));
	}
	if (!run->opts.n_maps && run->maps.n)
		log_variables(run);
	else if (!run->opts.n_maps)
		TRY(add_variables(run));
	for (size_t i = 0; i < run->opts.n_maps; i++) {
		struct nearest near = nearest_make(run->opts.maps[i]);
		bool found = has_iterator(run, run->opts.maps[i]);

		for (size_t k = 0; k < run->maps.n && !found; k++)
			found = glob_match(run->opts.maps[i],
					   collector_name(run->maps.v[k]->collector));
		if (found)
			continue;
		for (size_t k = 0; k < run->objects.n; k++) {
			struct bpf_map *map;

			bpf_object__for_each_map (map, run->objects.v[k].obj)
				nearest_offer(&near, bpf_map__name(map));
		}
		struct error *err = error_new(ENOENT, "--map: unknown map '%s'", run->opts.maps[i]);
		return error_suggest(err, &near);
	}
	return NULL;
}

/* Who was named is there; without a command, the end of all of them ends the run. */
static struct error *begin_tasks(struct run *run)
{
	const struct program_filter *filter = &run->opts.filter;

	TRY(tasks_add(&run->tasks, NULL, filter->pids, TASK_PROCESS));
	TRY(tasks_add(&run->tasks, NULL, filter->tids, TASK_THREAD));
	if (!run->tasks.list.n || run->opts.workload)
		return NULL;
	return loop_tasks(run->loop, &run->tasks);
}

static struct error *load_objects(struct run *run)
{
	for (size_t i = 0; i < run->objects.n; i++)
		TRY(programs_choose(run->objects.v[i].obj, run->opts.log));
	TRY(apply_settings(run, run->opts.sets, run->opts.n_sets, variable_set));
	TRY(apply_settings(run, run->opts.entries, run->opts.n_entries, entries_set));
	TRY(apply_filter(run));
	TRY(set_start(run));
	TRY(check_sampling(run));
	TRY(limit_freq(run));
	struct probe_opts probe_opts = {.way = run->opts.probe_way,
					.count_hits = run->opts.count_hits,
					.log = run->opts.log};
	program_filter_one_pid(&run->opts.filter, &probe_opts.pid);
	run->probes.confine = run->opts.confine_finder;
	for (size_t i = 0; i < run->objects.n; i++) {
		struct bpf_program *prog;

		TRY(probes_check_offsets(&run->probes, run->objects.v[i].obj, run->opts.log));
		TRY(probes_prepare(&run->probes, run->objects.v[i].obj, &probe_opts));
		/* what counts here must not filter for others */
		bpf_object__for_each_program (prog, run->objects.v[i].obj)
			if (program_section(prog)->kind == PROGRAM_TRACEPOINT &&
			    !probes_have(&run->probes, prog))
				program_set_return(prog, PROGRAM_RETURN_ONE);
		TRY(run_prepare_unwinding(run, run->objects.v[i].obj));
		TRY(object_count_losses(run->objects.v[i].obj));
		object_prefer_multi(run->objects.v[i].obj);
		TRY(object_load(run->objects.v[i].obj));
	}
	return run_check_unwinding(run);
}

static struct error *make_ready(struct run *run)
{
	TRY(loop_new(&run->loop));
	TRY(loop_end_if_busy(run->loop));
	TRY(begin_tasks(run));
	for (size_t i = 0; i < run->opts.n_files; i++)
		TRY(open_object(run, run->opts.files[i]));
	if (run->opts.adopt)
		TRY(run_adopt_object(run, run->objects.v[0].obj));
	else
		TRY(load_objects(run));
	if (!run->opts.only_attach)
		TRY(add_maps(run));
	if (run->opts.workload)
		TRY(loop_prepare(run->loop, run->opts.workload));
	return NULL;
}

struct error *run_new(const struct run_opts *opts, struct run **out)
{
	_cleanup_(run_freep) struct run *run = calloc(1, sizeof(*run));

	if (!run)
		return error_nomem();
	run->opts = *opts;
	run->rings_fd = -1;
	run->tasks = (struct tasks)TASKS_INIT;
	run->names = run_names_new(NULL, opts->source_lines, opts->demangler);
	if (!run->names)
		return error_nomem();
	TRY(cost_new(&run->opts.cost, &run->cost));
	TRY(make_ready(run));
	*out = steal_ptr(run);
	return NULL;
}

/* The programs stop: what is looked at afterwards all ended at one time. */
static void detach_all(struct run *run)
{
	struct bpf_file *object;

	if (run->cost)
		cost_stop(run->cost);
	probes_detach(&run->probes);
	vec_for_each (object, &run->objects)
		bpf_file_detach(object);
}

void run_free(struct run *run)
{
	struct bpf_file *object;
	struct shown_map **map;

	if (!run)
		return;
	if (run->loop)
		loop_kill(run->loop);
	vec_for_each (map, &run->maps)
		shown_map_free(*map);
	vec_deinit(&run->maps);
	detach_all(run);
	iterators_deinit(&run->iterators);
	probes_deinit(&run->probes);
	unwind_maps_free(run->unwind);
	vec_for_each (object, &run->objects)
		bpf_file_close(object);
	vec_deinit(&run->objects);
	vec_deinit(&run->sampled);
	cpu_watch_free(run->cpu_watch);
	run_names_free(run->names);
	tasks_deinit(&run->tasks);
	cost_free(run->cost);
	closep(&run->rings_fd);
	loop_free(run->loop);
	free(run);
}

bool run_workload_status(const struct run *run, int *status)
{
	return loop_workload_status(run->loop, status);
}

/* ---- running ---- */

struct error *run_attach_sampled(struct run *run, struct bpf_file *object,
				 const struct bpf_program *prog, const unsigned *cpu)
{
	const struct sampling_opts sampling = {
		.events = run->opts.events,
		.freq = run->opts.freq,
		.period = run->opts.period,
		.tasks = &run->tasks,
		.cpu = cpu,
		.log = cpu ? NULL : run->opts.log, /* it was told at the first time */
	};
	struct sampled_program *sampled = vec_push(&run->sampled);

	if (!sampled)
		return error_nomem();
	*sampled = (struct sampled_program){0};
	return error_at(sampling_attach(prog, &sampling, &object->links, sampled), "%s",
			object_path(object->obj));
}

static void warn_not_attached(const struct run *run, const struct bpf_program *prog)
{
	log_warn(run->opts.log, "%s: program %s (%s) is loaded but not attached: %s",
		 object_path(program_object(prog)), bpf_program__name(prog),
		 bpf_program__section_name(prog),
		 program_section(prog)->kind == PROGRAM_OTHER
			 ? "'run' does not attach this program type"
			 : "the section name has no attach target");
}

static struct error *attach_all(struct run *run)
{
	struct bpf_file *object;

	vec_for_each (object, &run->objects) {
		struct bpf_program *prog;

		bpf_object__for_each_program (prog, object->obj) {
			struct bpf_link *attached = NULL;

			if (!bpf_program__autoload(prog) || !bpf_program__autoattach(prog) ||
			    probes_have(&run->probes, prog))
				continue;
			if (program_section(prog)->kind == PROGRAM_PERF_EVENT) {
				TRY(run_attach_sampled(run, object, prog, NULL));
				TRY(cost_add(run->cost, prog, NULL));
				log_info(run->opts.log, "program %s is attached (%s)",
					 bpf_program__name(prog), bpf_program__section_name(prog));
				continue;
			}
			if (program_is_begin(prog))
				continue;
			if (!attaches_by_section(prog)) {
				warn_not_attached(run, prog);
				continue;
			}
			TRY(bpf_file_attach_pid(
				object, prog, attach_takes_pid(prog) ? run->probed : 0, &attached));
			TRY(cost_add(run->cost, prog, attached));
			if (shows_iterator(run, prog))
				TRY(iterators_add(&run->iterators, prog, attached));
			log_info(run->opts.log, "program %s is attached (%s)",
				 bpf_program__name(prog), bpf_program__section_name(prog));
		}
	}
	TRY(probes_attach(&run->probes));
	vec_for_each (object, &run->objects) {
		struct bpf_program *prog;

		bpf_object__for_each_program (prog, object->obj)
			if (probes_have(&run->probes, prog) && bpf_program__autoattach(prog))
				TRY(cost_add_probe(run->cost, prog, &run->probes));
	}
	return NULL;
}

bool run_has_stacks(const struct run *run)
{
	for (size_t i = 0; i < run->maps.n; i++)
		if (collector_has_stacks(run->maps.v[i]->collector))
			return true;
	return false;
}

struct error *run_look(struct run *run, const struct collect_opts *opts, struct results *results)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);

	results->time = clock_ns(CLOCK_REALTIME);
	results->span = now - run->last_look;
	if (opts->delta)
		run->last_look = now;
	run_names_refresh(run->names);
	TRY(run_names_update(run->names));
	TRY(iterators_add_results(&run->iterators, opts->top, results));
	size_t noted = SIZE_MAX; /* the first result whose stacks are walked by unwind tables */
	for (size_t i = 0; i < run->maps.n; i++) {
		const size_t first = results->n;
		const char *program = bpf_object__name(run->maps.v[i]->obj);

		TRY(collector_collect(run->maps.v[i]->collector, opts, run->names, results));
		for (size_t k = first; k < results->n; k++) {
			results->v[k].program = program;
			if (noted == SIZE_MAX && results->v[k].kind == RESULT_STACKS &&
			    run_unwinds(run, run->maps.v[i]->obj))
				noted = k;
		}
		TRY(map_losses_add(run->maps.v[i]->obj, run->maps.v[i]->collector, results));
	}
	TRY(run_note_unwinding(run, opts->delta, results, noted));
	if (run->opts.show_probes)
		TRY(probes_add_results(&run->probes, opts->top, results));
	TRY(group_labels_add(&opts->labels, run->names, results));
	return cost_add_results(run->cost, opts->delta, results);
}

struct collect_opts *run_collect_opts(struct run *run)
{
	return &run->opts.collect;
}

struct error *run_watch(struct run *run, int fd, loop_fn *fn, void *ctx)
{
	return loop_watch(run->loop, fd, fn, ctx);
}

void run_unwatch(struct run *run, int fd)
{
	loop_unwatch(run->loop, fd);
}

void run_stop(struct run *run)
{
	loop_end(run->loop);
}

static struct error *look(struct run *run, bool last)
{
	_cleanup_results_ struct results results = {0};

	TRY(run_look(run, &run->opts.collect, &results));
	return run->show(run->show_ctx, run, &results, last);
}

/* Whether a look told of this map: it is shown, or holds the stacks of one that is. */
static bool is_told(const struct run *run, const struct bpf_object *obj, const char *name)
{
	for (size_t i = 0; i < run->maps.n; i++) {
		const struct shown_map *map = run->maps.v[i];
		const struct bpf_map *stacks = collector_stacks(map->collector);

		if (map->obj == obj && (!strcmp(collector_name(map->collector), name) ||
					(stacks && !strcmp(bpf_map__name(stacks), name))))
			return true;
	}
	return false;
}

static void warn_of_failure(const struct run *run, const struct bpf_object *obj, const char *name,
			    uint64_t failed)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(obj, name);
	_cleanup_free_ char *more = map ? text_format("; max_entries is %u; to make it "
						      "larger use --map-entries %s=%" PRIu64,
						      bpf_map__max_entries(map), name,
						      (uint64_t)bpf_map__max_entries(map) * 4)
					: NULL;

	log_warn(run->opts.log, "%s: %" PRIu64 " updates of map %s failed%s", object_path(obj),
		 failed, name, more ? more : "");
}

/* Nobody reads a ring that is not shown: that it fails says nothing about its size. */
static bool is_unread_ring(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_RINGBUF ||
	       bpf_map__type(map) == BPF_MAP_TYPE_PERF_EVENT_ARRAY;
}

/* What did not fit into a map that is not shown, or whose name is not known. */
static struct error *warn_of_failures(const struct run *run)
{
	for (size_t i = 0; i < run->objects.n; i++) {
		const struct bpf_object *obj = run->objects.v[i].obj;
		const uint64_t elsewhere = object_losses_elsewhere(obj);
		_cleanup_sites_ struct sites sites = {0};
		const struct bpf_map *map;

		TRY(sites_read(obj, &sites));
		bpf_object__for_each_map (map, obj) {
			const struct map_losses losses = map_losses_of(obj, map, &sites);

			if (losses.n && !is_unread_ring(map) &&
			    !is_told(run, obj, bpf_map__name(map)))
				warn_of_failure(run, obj, bpf_map__name(map), losses.n);
		}
		for (size_t k = 0; k < sites.n; k++) {
			const char *name = sites.v[k].map;
			bool before = bpf_object__find_map_by_name(obj, name);

			for (size_t j = 0; j < k; j++)
				before |= !strcmp(sites.v[j].map, name);
			if (!before)
				warn_of_failure(run, obj, name, sites_failed(&sites, name));
		}
		if (elsewhere)
			log_warn(run->opts.log,
				 "%s: %" PRIu64 " updates failed of maps that the programs select "
				 "while they run",
				 object_path(obj), elsewhere);
	}
	return NULL;
}

struct error *run_drain(struct run *run, bool all)
{
	bool again = true;

	while (again) {
		_cleanup_results_ struct results results = {
			.time = clock_ns(CLOCK_REALTIME),
			.events = true,
		};

		if (results.time - run->names_time > NAMES_NS) {
			run_names_refresh(run->names);
			run->names_time = results.time;
		}
		/* who maps what, before the addresses that lie in it */
		uint64_t now = clock_ns(CLOCK_MONOTONIC);
		bool empty = true;
		TRY(run_names_update(run->names));
		for (size_t i = 0; i < run->maps.n; i++) {
			size_t n;

			TRY(collector_drain(run->maps.v[i]->collector, run->names, &results, &n));
			empty &= n < RUN_MAX_BATCH;
		}
		if (empty)
			run->drained = now;
		again = all && results.n;
		TRY(group_labels_add(&run->opts.collect.labels, run->names, &results));
		if (results.n)
			TRY(run->show(run->show_ctx, run, &results, false));
	}
	return NULL;
}

struct error *run_wait_for_ring(struct run *run, int fd)
{
	struct epoll_event event = {.events = EPOLLIN};

	if (fd < 0)
		return NULL;
	if (run->rings_fd < 0)
		run->rings_fd = epoll_create1(EPOLL_CLOEXEC);
	if (run->rings_fd < 0 || epoll_ctl(run->rings_fd, EPOLL_CTL_ADD, fd, &event))
		return error_errno(errno, "cannot wait for the rings");
	return NULL;
}

/* One descriptor for all rings; -1: there are none. */
static struct error *wait_for_rings(struct run *run)
{
	for (size_t i = 0; i < run->maps.n; i++)
		TRY(run_wait_for_ring(run, collector_fd(run->maps.v[i]->collector)));
	return NULL;
}

/*
 * Heat maps: a slot for each interval, else so many that they make a picture
 * of the time that is known, else short ones that grow by themselves.
 */
static struct error *take_slot(void *ctx, uint32_t events);

static struct error *begin_slots(struct run *run)
{
	uint64_t ms = run->opts.interval_ms ? run->opts.interval_ms : run->opts.duration_ms / 60;

	if (!run->opts.interval_ms)
		ms = run->opts.duration_ms ? max_of(ms, (uint64_t)SLOT_MS) : SLOT_MS;
	for (size_t i = 0; i < run->maps.n; i++) {
		struct collector *c = run->maps.v[i]->collector;

		collector_begin(c, ms * 1000000, run->last_look);
		run->step = max_of(run->step, collector_step(c));
	}
	/* the looks at each interval are enough */
	if (!run->step || run->opts.interval_ms)
		return NULL;
	TRY(loop_timer(run->loop, take_slot, run, &run->slot_timer));
	return loop_timer_set(run->slot_timer, ms * 1000000, true);
}

static struct error *take_slot(void *ctx, uint32_t events)
{
	struct run *run = ctx;
	uint64_t now = clock_ns(CLOCK_MONOTONIC), step = 0;

	for (size_t i = 0; i < run->maps.n; i++) {
		TRY(collector_sample(run->maps.v[i]->collector, now));
		step = max_of(step, collector_step(run->maps.v[i]->collector));
	}
	if (step == run->step)
		return NULL;
	run->step = step; /* they have become longer */
	return loop_timer_set(run->slot_timer, step, true);
}

/* The link is given up, and its place is empty. */
static void destroy_link(struct run *run, struct bpf_link *gone)
{
	struct bpf_file *object;
	struct bpf_link **link;

	iterators_forget(&run->iterators, gone);
	vec_for_each (object, &run->objects)
		vec_for_each (link, &object->links)
			if (*link == gone)
				*link = NULL;
	bpf_link__destroy(gone);
}

static void detach_program(struct run *run, const struct bpf_program *prog)
{
	const struct sampled_program *sampled;

	bool any = false;

	vec_for_each (sampled, &run->sampled)
		if (sampled->prog == prog) {
			sampling_detach(sampled);
			any = true;
		}
	if (!any)
		probes_detach_program(&run->probes, prog);
}

/* Detaches what costs too much; ends the loop when nothing is left that could count. */
static struct error *check_cost(void *ctx, uint32_t events)
{
	struct run *run = ctx;
	const struct bpf_program *prog;
	struct bpf_link *link;

	TRY(cost_check(run->cost));
	while ((prog = cost_take_excess(run->cost, run->opts.log, &link)))
		if (link)
			destroy_link(run, link);
		else
			detach_program(run, prog);
	if (run->opts.only_attach && cost_n_taken(run->cost))
		loop_end(run->loop);
	if (cost_n_attached(run->cost) || !cost_n_taken(run->cost))
		return NULL;
	log_warn(run->opts.log, "no program is attached any more");
	if (!loop_workload(run->loop)) /* a command ends by itself */
		loop_end(run->loop);
	return loop_timer_set(run->cost_timer, 0, false);
}

size_t run_n_detached(const struct run *run)
{
	return cost_n_taken(run->cost);
}

static struct error *begin_programs(const struct run *run)
{
	const struct bpf_file *object;

	vec_for_each (object, &run->objects)
		TRY(programs_begin(object->obj));
	return NULL;
}

struct error *run_attach(struct run *run)
{
	TRY(wait_for_rings(run));
	if (run->opts.adopt) /* the other process does it, and has the right to follow processes */
		return NULL;
	TRY(run_begin_unwinding(run)); /* it follows processes more closely */
	TRY(run_begin_following(run));
	TRY(begin_programs(run));
	TRY(attach_all(run));
	TRY(tasks_check(&run->tasks));
	return run_watch_cpus(run);
}

bool run_is_silent(const struct run *run)
{
	return !run->opts.interval_ms && run->rings_fd < 0;
}

static struct error *on_rings(void *ctx, uint32_t events)
{
	return run_drain(ctx, false);
}

static struct error *on_interval(void *ctx, uint32_t events)
{
	struct run *run = ctx;

	TRY(iterators_read(&run->iterators));
	return look(run, false);
}

/* A timer that does not end by itself; ms 0: none. */
static struct error *begin_timer(struct run *run, uint64_t ms, loop_fn *fn, int *timer)
{
	if (!ms)
		return NULL;
	TRY(loop_timer(run->loop, fn, run, timer));
	return loop_timer_set(*timer, ms * 1000000, true);
}

struct error *run_loop(struct run *run, run_show_fn *show, void *ctx)
{
	int interval;

	run->show = show;
	run->show_ctx = ctx;
	run->last_look = clock_ns(CLOCK_MONOTONIC);
	/* in this order, when several are ready */
	TRY(loop_duration(run->loop, run->opts.duration_ms));
	TRY(run_watch_processes(run));
	TRY(run_watch_unwinding(run));
	if (run->rings_fd >= 0)
		TRY(loop_watch(run->loop, run->rings_fd, on_rings, run));
	TRY(begin_slots(run));
	TRY(begin_timer(run, cost_interval_ms(run->cost), check_cost, &run->cost_timer));
	TRY(begin_timer(run, run->opts.interval_ms, on_interval, &interval));
	TRY(loop_start(run->loop, "run"));
	while (!loop_ended(run->loop))
		TRY(loop_turn(run->loop, -1));
	if (run->step && !run->opts.interval_ms)
		TRY(take_slot(run, 0));
	TRY(iterators_read(&run->iterators));
	detach_all(run);
	TRY(probes_tell(&run->probes));
	TRY(run_drain(run, true));
	run_warn_of_lost_records(run);
	if (run->unwind)
		unwind_maps_tell(run->unwind, run->opts.log);
	run_warn_of_offline_cpus(run);
	TRY(warn_of_failures(run));
	return look(run, true);
}
