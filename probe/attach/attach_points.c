// SPDX-License-Identifier: BSD-2-Clause
/*
 * A set: the programs of an object whose sections are definitions. Between
 * open and load each one gets its points, its ways and its forms
 * (lib/object/object.h, program_form); the loader then asks for one form after
 * the other, and the prologue is made when it does: maps have their
 * descriptors by then.
 */
#include <bpf/bpf.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/names.h"
#include "lib/sys/missing_caps.h"
#include "lib/sys/sys.h"
#include "lib/sys/uapi.h"
#include "probe/attach/internal.h"

static const char *const way_names[] = {
	[PROBE_WAY_ANY] = "any",
	[PROBE_WAY_FENTRY] = "fentry",
	[PROBE_WAY_KPROBE_MULTI] = "kprobe.multi",
	[PROBE_WAY_UPROBE_MULTI] = "uprobe.multi",
	[PROBE_WAY_KPROBE] = "kprobe",
	[PROBE_WAY_UPROBE] = "uprobe",
};

const char *probe_way_name(enum probe_way way)
{
	return way_names[way];
}

struct error *probe_way_parse(const char *text, enum probe_way *way)
{
	struct nearest near = nearest_make(text);

	for (size_t i = 0; i < ARRAY_SIZE(way_names); i++) {
		if (!strcmp(text, way_names[i])) {
			*way = (enum probe_way)i;
			return NULL;
		}
		nearest_offer(&near, way_names[i]);
	}
	struct error *err = error_new(EINVAL, "unknown attach method '%s'", text);
	return error_hint(error_suggest(err, &near),
			  "the attach methods are any, fentry, kprobe.multi, kprobe, uprobe.multi "
			  "and uprobe");
}

static void detach(struct set_prog *prog)
{
	struct set_link *link;

	fault_in_detach(prog);
	vec_for_each (link, &prog->links) {
		if (link->link)
			link->missed = link_missed(link->link);
		bpf_link__destroy(link->link);
		link->link = NULL;
	}
}

static void set_prog_free(struct set_prog *prog)
{
	if (!prog)
		return;
	detach(prog);
	vec_deinit(&prog->links);
	for (size_t i = 0; prog->places && i < prog->points.n; i++)
		free(prog->places[i].refused);
	free(prog->places);
	vec_deinit(&prog->forms);
	shape_deinit(&prog->shape);
	probe_points_deinit(&prog->points);
	probe_def_deinit(&prog->def);
	prologue_deinit(&prog->built);
	free(prog->target);
	free(prog);
}

void probe_set_detach(struct probe_set *set)
{
	struct set_prog **prog;

	vec_for_each (prog, &set->progs)
		detach(*prog);
	entries_detach(set);
}

void probe_set_detach_program(struct probe_set *set, const struct bpf_program *prog)
{
	for (size_t i = 0; i < set->progs.n; i++)
		if (set->progs.v[i]->prog == prog)
			detach(set->progs.v[i]);
}

void probe_set_free(struct probe_set *set)
{
	struct set_prog **prog;

	if (!set)
		return;
	vec_for_each (prog, &set->progs)
		set_prog_free(*prog);
	vec_deinit(&set->progs);
	trials_deinit(&set->trials);
	closep(&set->counters);
	entries_detach(set);
	closep(&set->entries);
	free(set);
}

bool probe_set_has(const struct probe_set *set, const struct bpf_program *prog)
{
	for (size_t i = 0; set && i < set->progs.n; i++)
		if (set->progs.v[i]->prog == prog)
			return true;
	return false;
}

/* ---- before load ---- */

static enum bpf_attach_type attach_type(const struct form *form)
{
	switch (form->way) {
	case PROBE_WAY_FENTRY:
		return form->at_return ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY;
	case PROBE_WAY_KPROBE_MULTI:
		return (enum bpf_attach_type)BPF_TRACE_KPROBE_MULTI;
	case PROBE_WAY_UPROBE_MULTI:
		return (enum bpf_attach_type)BPF_TRACE_UPROBE_MULTI;
	default:
		return (enum bpf_attach_type)0;
	}
}

/* -vv: how the arguments are fetched, and in how many instructions. */
static void tell_form(const struct set_prog *prog, const struct form *form,
		      const struct fetch_value *values)
{
	const struct probe_point *point = &prog->points.v[form->point];
	const struct log *log = prog->set->opts.log;
	const char *name = bpf_program__name(prog->prog);

	if (!log || log->level < LOG_DEBUG)
		return;
	log_debug(log, "program %s: %s by %s: %zu instructions before it", name,
		  point->shown ? point->shown : point->function, probe_way_name(form->way),
		  prog->built.n);
	for (size_t i = 0; i < prog->shape.n; i++) {
		_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

		fetch_value_text(&values[i], regs_of(prog->points.machine), &sb);
		log_debug(log, "program %s: %s: %s%s", name, values[i].name, strbuf_str(&sb),
			  i < 64 && form->direct >> i & 1 ? ", by direct loads" : "");
	}
}

/* program_form_fn */
static struct error *make_form(void *ctx, size_t i, struct program_form *out)
{
	struct set_prog *prog = ctx;
	struct form *form = &prog->forms.v[i];
	const struct probe_point *point = &prog->points.v[form->point];
	_cleanup_free_ struct fetch_value *values = calloc(prog->shape.n + 1, sizeof(*values));

	if (!values)
		return error_nomem();
	/* The verifier took them, but not together with the user's program. */
	if (out->plain)
		form->direct = 0;
	const struct prologue_way way = form_way(prog, form);
	place_values(prog, form->point, values);
	prologue_deinit(&prog->built);
	TRY(error_prefix(prologue_build(values, prog->shape.n, &way, &prog->shape.prologue,
					&prog->built),
			 "at %s", point->shown ? point->shown : point->function));
	tell_form(prog, form, values);
	free(prog->target);
	prog->target = NULL;
	out->type = BPF_PROG_TYPE_KPROBE;
	if (form->way == PROBE_WAY_FENTRY) {
		prog->target = text_format("%s%s%s", point->module ? point->module : "",
					   point->module ? ":" : "", point->function);
		if (!prog->target)
			return error_nomem();
		out->type = BPF_PROG_TYPE_TRACING;
		out->target = prog->target;
		out->btf_id = point->module ? 0 : point->btf_id;
	}
	out->attach_type = attach_type(form);
	out->front = prog->built.insns;
	out->n_front = prog->built.n;
	out->has_plain = form->direct != 0;
	return NULL;
}

/* The points of the definition that the set is for. */
static struct error *find_points(struct probe_finder *finder, struct set_prog *prog)
{
	const struct probe_opts *opts = &prog->set->opts;

	TRY(probe_points_find(finder, &prog->def, &prog->points));
	/* Of parts, the caller has been told. */
	if (!opts->only_plan)
		TRY(opts->part_of ? probe_points_drop_refused(&prog->points, NULL)
				  : probe_points_refused(&prog->points));
	if (!opts->part_of)
		return NULL;
	if (prog->points.n != opts->n_points)
		return error_new(ESTALE, "its probe points changed from %zu to %zu", opts->n_points,
				 prog->points.n);
	probe_points_keep(&prog->points, opts->part_of, opts->part);
	return NULL;
}

static struct error *prepare_program(struct probe_finder *finder, struct bpf_object *obj,
				     struct set_prog *prog)
{
	struct probe_set *set = prog->set;
	const uint64_t start = clock_ns(CLOCK_MONOTONIC);

	TRY(probe_def_parse(bpf_program__section_name(prog->prog), &prog->def));
	TRY(find_points(finder, prog));
	log_info(set->opts.log, "program %s: found in %" PRIu64 " ms",
		 bpf_program__name(prog->prog), (clock_ns(CLOCK_MONOTONIC) - start) / 1000000);
	prog->places = calloc(prog->points.n, sizeof(*prog->places));
	if (!prog->places)
		return error_nomem();
	for (size_t i = 0; i < prog->points.n; i++)
		prog->places[i].number = set->n_points + i;
	set->n_points += prog->points.n;
	TRY(shape_of(bpf_object__btf(obj), bpf_program__name(prog->prog), &prog->def, &prog->points,
		     set->opts.own_struct, &prog->shape));
	TRY(places_choose(prog));
	if (set->opts.only_plan)
		return NULL;
	if (bpf_program__set_type(prog->prog, BPF_PROG_TYPE_KPROBE))
		return error_errno(errno, "cannot set its type");
	return program_set_forms(prog->prog, prog->forms.n, make_form, prog);
}

static struct error *add_program(struct probe_set *set, struct probe_finder *finder,
				 struct bpf_object *obj, struct bpf_program *bpf)
{
	struct set_prog *prog = calloc(1, sizeof(*prog));
	struct set_prog **slot = prog ? vec_push(&set->progs) : NULL;

	if (!slot) {
		free(prog);
		return error_nomem();
	}
	*slot = prog;
	prog->set = set;
	prog->prog = bpf;
	return program_error_at(bpf, prepare_program(finder, obj, prog));
}

/* Where each point is, for those who ask; on every CPU. */
static struct error *tell_address(const struct probe_set *set, uint32_t number, uint64_t address,
				  struct prologue_count *counts, size_t n_cpus)
{
	for (size_t i = 0; i < n_cpus; i++)
		counts[i] = (struct prologue_count){.address = address};
	const int err = bpf_map_update_elem(set->counters, &number, counts, BPF_ANY);
	return err < 0 ? error_errno(-err, "cannot read the addresses of the probe points") : NULL;
}

static struct error *tell_addresses(const struct probe_set *set)
{
	_cleanup_cpus_ struct sys_cpus cpus = {0};
	struct set_prog *const *prog;

	TRY(sys_cpus_possible(NULL, &cpus));
	_cleanup_free_ struct prologue_count *counts = calloc(cpus.n + 1, sizeof(*counts));
	if (!counts)
		return error_nomem();
	vec_for_each (prog, &set->progs) {
		if ((*prog)->points.path || (*prog)->shape.prologue.ip_offset < 0)
			continue;
		for (size_t i = 0; i < (*prog)->points.n; i++)
			TRY(tell_address(set, (uint32_t)(*prog)->places[i].number,
					 (*prog)->points.v[i].address, counts, cpus.n));
	}
	return NULL;
}

static struct error *make_counters(struct probe_set *set)
{
	struct set_prog *const *prog;
	bool wanted = false;

	vec_for_each (prog, &set->progs)
		wanted |= set_prog_counts(*prog);
	if (!wanted)
		return NULL;
	const int fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "probe_hits", 4,
				      sizeof(struct prologue_count), (__u32)set->n_points, NULL);
	if (fd < 0) {
		struct error *err =
			error_errno(-fd, "cannot create a map to count the hits of the probe");
		return fd == -EPERM ? sys_hint_caps(err, NULL, SYS_CAP(SYS_CAP_BPF), NULL) : err;
	}
	set->counters = fd;
	return tell_addresses(set);
}

struct error *probe_set_new(struct probe_finder *finder, struct bpf_object *obj,
			    const struct probe_opts *opts, struct probe_set **out)
{
	_cleanup_(probe_set_freep) struct probe_set *set = calloc(1, sizeof(*set));
	struct bpf_program *prog;

	if (!set)
		return error_nomem();
	set->opts = *opts;
	set->counters = set->entries = -1;
	bpf_object__for_each_program (prog, obj)
		if (bpf_program__autoload(prog) && probe_def_is(bpf_program__section_name(prog)))
			TRY(error_at(add_program(set, finder, obj, prog), "%s", object_path(obj)));
	set->opts.part_of = NULL; /* the caller's */
	*out = NULL;
	if (!set->progs.n)
		return NULL;
	TRY(make_counters(set));
	if (!set->opts.only_plan)
		TRY(entries_keep(set));
	*out = steal_ptr(set);
	return NULL;
}

/* ---- after load ---- */

struct error *probe_set_attach(struct probe_set *set)
{
	struct set_prog **prog;

	vec_for_each (prog, &set->progs) {
		if (!bpf_program__autoattach((*prog)->prog))
			continue;
		const uint64_t start = clock_ns(CLOCK_MONOTONIC);

		TRY(error_at(program_error_at((*prog)->prog, places_attach(*prog)), "%s",
			     object_path(program_object((*prog)->prog))));
		log_info(set->opts.log, "program %s: attached in %" PRIu64 " ms",
			 bpf_program__name((*prog)->prog),
			 (clock_ns(CLOCK_MONOTONIC) - start) / 1000000);
	}
	return NULL;
}

/* The sum over all CPUs. */
static struct error *read_counter(const struct probe_set *set, uint64_t number, uint64_t *hits)
{
	_cleanup_cpus_ struct sys_cpus cpus = {0};
	const uint32_t key = (uint32_t)number;

	*hits = 0;
	if (set->counters < 0)
		return NULL;
	TRY(sys_cpus_possible(NULL, &cpus));
	_cleanup_free_ struct prologue_count *counts = calloc(cpus.n + 1, sizeof(*counts));
	if (!counts)
		return error_nomem();
	const int err = bpf_map_lookup_elem(set->counters, &key, counts);
	if (err < 0)
		return error_errno(-err, "cannot read the hits");
	for (size_t i = 0; i < cpus.n; i++)
		*hits += counts[i].hits;
	return NULL;
}

struct error *probe_set_report(const struct probe_set *set, probe_report_fn *fn, void *ctx)
{
	for (size_t k = 0; k < set->progs.n; k++) {
		struct set_prog *prog = set->progs.v[k];

		for (size_t i = 0; i < prog->points.n; i++) {
			const struct place *place = &prog->places[i];
			struct probe_report report = {
				.prog = prog->prog,
				.points = &prog->points,
				.point = &prog->points.v[i],
				.way = place->way,
				.refused = place->link	    ? NULL
					   : place->refused ? place->refused
							    : "not attached",
				.instance = place->form,
			};

			if (place->link) {
				const struct set_link *link = &prog->links.v[place->link - 1];

				TRY(read_counter(set, place->number, &report.hits));
				report.misses = link_misses(prog, link, &report.miss_points);
			}
			TRY(fn(ctx, &report));
		}
	}
	return NULL;
}
