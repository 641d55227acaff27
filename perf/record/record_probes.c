// SPDX-License-Identifier: BSD-2-Clause
/*
 * -e 'probe:DEFINITION': where it applies is found, and a program of our own
 * (probe/output/) is made that gives the arguments to a bpf-output event. Such
 * an event is opened once for each CPU and takes what the program puts into
 * it, call chain included, wherever the probe is and in whichever way it could be
 * attached: also by fentry, of which there is no perf event.
 *
 * In the file it stands as a tracepoint, with the format that the arguments
 * have: perf and perf-bpf then read the arguments as they read the fields of
 * any tracepoint. Its id is one that no tracepoint of the kernel has. Where an
 * argument has different types at different points, there are several events, one
 * for each combination of types.
 *
 * The tasks to be recorded are not those the event is opened for, since it is
 * opened for all: they, or their cgroups, are in the program's map "wanted".
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/proc.h"
#include "probe/output/output.h"

#define HIGHEST_ID 65535 /* common_type has 16 bits; the kernel counts from below */

static struct error *probes_finder(struct recording *rec, struct probe_finder **out)
{
	const struct finder_opts opts = {
		.vmlinux = rec->opts.vmlinux, .confine = rec->opts.confine_finder, .log = rec->log};

	if (!rec->finder)
		TRY(probe_finder_new(&opts, &rec->finder));
	*out = rec->finder;
	return NULL;
}

/* Letters, digits and '_' of a name, others become '_'. */
static void make_identifier(char *s)
{
	for (; *s; s++)
		if (!isalnum((unsigned char)*s))
			*s = '_';
}

/* "probe", "probe_bash"; as perf probe names groups. */
static char *group_of(const struct probe_def *def)
{
	if (def->group)
		return strdup(def->group);
	if (!def->exec)
		return strdup("probe");
	const char *slash = strrchr(def->exec, '/'), *stem = slash ? slash + 1 : def->exec;
	char *group = text_format("probe_%.*s", (int)strcspn(stem, ".-"), stem);
	if (group)
		make_identifier(group);
	return group;
}

static char *name_of(const struct probe_def *def, const struct probe_points *points)
{
	const char *function = def->function ? def->function : points->v[0].function;

	if (def->event)
		return strdup(def->event);
	/* "0x1150": as perf names them */
	if (!strncmp(function, "0x", 2))
		return text_format("abs_%s%s", function + 2,
				   def->where == PROBE_RETURN ? "__return" : "");
	/* A word of more than a name's letters is the symbol's affair: "Shop::order". */
	switch (def->where) {
	case PROBE_RETURN:
		return text_format("%s__return", function);
	case PROBE_LINE:
	case PROBE_FILE_LINE:
		return text_format("%s_L%u", function, def->line);
	case PROBE_OFFSET:
		if (def->offset)
			return text_format("%s_%llu", function, (unsigned long long)def->offset);
		return strdup(function);
	default:
		return strdup(function);
	}
}

static bool name_taken(const struct recording *rec, const char *group, const char *name)
{
	const struct event *event;

	vec_for_each (event, &rec->events) {
		const char *colon = strchr(event->name, ':');

		if (colon && strlen(group) == (size_t)(colon - event->name) &&
		    !strncmp(event->name, group, strlen(group)) && !strcmp(colon + 1, name))
			return true;
	}
	return false;
}

/* A second probe of the same name is told apart by a number, as perf probe has it. */
static struct error *name_event(const struct recording *rec, const char *group, char **name)
{
	_cleanup_free_ char *first = strdup(*name);

	if (!first)
		return error_nomem();
	for (unsigned i = 1; name_taken(rec, group, *name); i++) {
		free(*name);
		*name = text_format("%s_%u", first, i);
		if (!*name)
			return error_nomem();
	}
	return NULL;
}

/* An id that neither a recorded tracepoint has, nor a probe before this. */
static uint32_t id_find(const struct recording *rec)
{
	uint32_t id = HIGHEST_ID;
	const struct event *event;
	bool taken;

	do {
		taken = false;
		vec_for_each (event, &rec->events)
			taken |= (event->tracepoint && event->attr.config == id) ||
				 event->format_id == id;
		id -= taken;
	} while (taken);
	return id;
}

static struct error *make_object(struct recording *rec, const struct probe_def *def,
				 const struct output_layout *layout, const char *name, uint32_t id,
				 struct record_object *object)
{
	_cleanup_free_ char *function = text_format("probe_%s", name);
	_cleanup_strbuf_ struct strbuf image = STRBUF_INIT;
	struct output_opts opts = {
		.definition = def->text,
		.name = function,
		.id = id,
		.self = (uint32_t)rec->self,
		.filter = wanted_filter(rec),
	};

	if (!function)
		return error_nomem();
	make_identifier(function);
	object->filter = opts.filter;
	TRY(task_layout_find(rec, &opts));
	if (wanted_follows(rec, opts.filter) && !opts.task_pid_offset)
		log_warn(rec->log, "this kernel has no BTF, so probes do not record child tasks; "
				   "use -a to record all");
	TRY(output_object(layout, &opts, &image));
	const size_t size = image.len;
	object->file.image = strbuf_steal(&image);
	if (!object->file.image)
		return error_nomem();
	TRY(object_open_mem_of(object->file.image, size, object->path, NULL, rec->log,
			       &object->file.obj));
	bpf_map__set_max_entries(bpf_object__find_map_by_name(object->file.obj, "events"),
				 (__u32)libbpf_num_possible_cpus());
	return NULL;
}

static struct error *add_event(struct recording *rec, const struct output_layout *layout,
			       const char *group, const char *name, uint32_t id,
			       struct bpf_map *map)
{
	_cleanup_strbuf_ struct strbuf format = STRBUF_INIT;
	_cleanup_free_ char *full = text_format("%s:%s", group, name), *word = strdup(name);
	struct event *event = full ? event_new(rec, EVENT_PROBE, full) : NULL;

	if (!event || !word)
		return error_nomem();
	make_identifier(word);
	output_format(layout, word, id, &format);
	event->attr.type = PERF_TYPE_SOFTWARE;
	event->attr.config = PERF_COUNT_SW_BPF_OUTPUT;
	event->map = map;
	event->format_id = id;
	event->system = strdup(group);
	event->format = strbuf_steal(&format);
	return event->system && event->format ? NULL : error_nomem();
}

/* A definition whose points were found. */
struct found_probe {
	const char *text;
	struct probe_def def;
	struct probe_points points;
	struct output_layouts layouts;
	char *group, *name;
};

static void found_probe_deinit(struct found_probe *found)
{
	output_layouts_deinit(&found->layouts);
	probe_points_deinit(&found->points);
	probe_def_deinit(&found->def);
	free(found->group);
	free(found->name);
}

static struct error *find_probe(struct recording *rec, const char *text, struct found_probe *found)
{
	struct probe_finder *finder;

	found->text = text;
	TRY(probe_def_parse(text, &found->def));
	TRY(probes_finder(rec, &finder));
	TRY(probe_points_find(finder, &found->def, &found->points));
	TRY(probe_points_drop_refused(&found->points, rec->log));
	TRY(output_layouts_of(&found->points, &found->layouts));
	found->group = group_of(&found->def);
	found->name = name_of(&found->def, &found->points);
	return found->group && found->name ? NULL : error_nomem();
}

static struct error *open_set(struct recording *rec, struct record_object *object,
			      const struct found_probe *found, uint32_t part)
{
	const struct probe_opts opts = {
		.log = rec->log,
		.way = rec->opts.probe_way,
		.events = !object->is_output,
		.own_struct = object->is_output,
		.part_of = found ? found->layouts.of : NULL,
		.n_points = found ? found->points.n : 0,
		.part = part,
		.count_hits = object->is_output && rec->log && rec->log->level >= LOG_INFO,
	};
	struct probe_finder *finder;
	struct bpf_program *prog;
	bool any = false;

	bpf_object__for_each_program (prog, object->file.obj)
		any |= bpf_program__autoload(prog) && probe_def_is(bpf_program__section_name(prog));
	if (!any)
		return NULL;
	TRY(probes_finder(rec, &finder));
	return probe_set_new(finder, object->file.obj, &opts, &object->probes);
}

/* The event of the points that have one of the layouts. */
static struct error *open_part(struct recording *rec, const struct found_probe *found,
			       uint32_t part)
{
	const struct output_layout *layout = &found->layouts.v.v[part];
	struct record_object *object = vec_push(&rec->objects);
	_cleanup_free_ char *name = strdup(found->name);

	if (!object || !name)
		return error_nomem();
	object->is_output = true;
	object->path = text_format("probe:%s", found->text);
	if (!object->path)
		return error_nomem();
	TRY(name_event(rec, found->group, &name));
	const uint32_t id = id_find(rec);
	TRY(make_object(rec, &found->def, layout, name, id, object));
	TRY(open_set(rec, object, found, part));
	return add_event(rec, layout, found->group, name, id,
			 bpf_object__find_map_by_name(object->file.obj, "events"));
}

struct error *record_probes_open(struct recording *rec, const char *text)
{
	_cleanup_(found_probe_deinit) struct found_probe found = {0};

	TRY(find_probe(rec, text, &found));
	if (found.layouts.v.n > 1)
		log_info(rec->log,
			 "probe:%s: the arguments have different types at the probe points: %zu "
			 "events are recorded, one for each combination of types",
			 text, found.layouts.v.n);
	for (uint32_t part = 0; part < found.layouts.v.n; part++)
		TRY(open_part(rec, &found, part));
	return NULL;
}

struct error *record_probes_of(struct recording *rec, struct record_object *object)
{
	return open_set(rec, object, NULL, 0);
}

/* ---- programs that filter ---- */

/* probe_event_fn: an event for each point, all of the definition's name. */
static struct error *add_filtered(void *ctx, const struct probe_event *found)
{
	struct recording *rec = ctx;
	_cleanup_free_ char *group = group_of(found->def), *name = NULL, *full = NULL;

	name = name_of(found->def, found->points);
	full = group && name ? text_format("%s:%s", group, name) : NULL;
	struct event *event = full ? event_new(rec, EVENT_PROGRAM, full) : NULL;
	struct bpf_program **prog = event ? vec_push(&event->pending) : NULL;
	if (!prog)
		return error_nomem();
	*prog = found->prog;
	event->form = found->form;
	event->attr = found->event->attr;
	event->attr.size = sizeof(event->attr);
	event->attr.exclude_guest = 1;
	event->probe = *found->event;
	*found->event = (struct attach_event){0};
	program_set_return(found->prog, PROGRAM_RETURN_BOOL);
	return NULL;
}

struct error *record_probes_events(struct recording *rec, struct record_object *object)
{
	if (!object->probes)
		return NULL;
	TRY(error_at(probe_set_each_event(object->probes, add_filtered, rec), "%s", object->path));
	return error_at(probe_set_tell_attached(object->probes), "%s", object->path);
}

/* ---- how they were attached ---- */

/* The processes that are recorded, whose threads stand together. */
static struct error *tell_replaced(struct recording *rec, const struct record_object *object)
{
	_cleanup_free_ pid_t *pids = calloc(rec->target.tids.n + 1, sizeof(*pids));
	size_t n = 0;

	if (!pids)
		return error_nomem();
	/* A workload has not begun yet. */
	for (size_t i = 0; i < rec->target.tids.n && !rec->target.has_workload; i++) {
		struct sys_proc_status status = {.tgid = rec->target.tids.v[i]};

		error_free(sys_proc_status(rec->roots, 0, rec->target.tids.v[i], &status));
		if (!n || pids[n - 1] != status.tgid)
			pids[n++] = status.tgid;
	}
	probe_set_tell_replaced(object->probes, rec->roots, pids, n);
	return NULL;
}

struct error *record_probes_attach(struct recording *rec, struct record_object *object)
{
	if (!object->probes || !object->is_output)
		return NULL;
	TRY(error_at(probe_set_attach(object->probes), "%s", object->path));
	TRY(tell_replaced(rec, object));
	return error_at(probe_set_tell_attached(object->probes), "%s", object->path);
}

struct error *record_probes_tell(struct recording *rec)
{
	struct record_object *object;

	vec_for_each (object, &rec->objects)
		if (object->probes && object->is_output)
			TRY(probe_set_tell_hits(object->probes));
	return NULL;
}

/* ---- what the file says of them ---- */

void event_file_attr(const struct event *event, struct perf_event_attr *attr)
{
	*attr = event->attr;
	if (event->is_off_cpu)
		off_cpu_file_attr(attr);
	if (event->kind != EVENT_PROBE)
		return;
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = event->format_id;
}
