// SPDX-License-Identifier: BSD-2-Clause
/*
 * BPF objects of a recording: from FILE.c or FILE.o to programs at events.
 *
 * What a program does here follows from its section:
 *
 *   tracepoint			filters that tracepoint's event; one that is not on
 *				the command line is added
 *   kprobe, uprobe, ksyscall, …	filters an event of its own, a probe at that place
 *   perf_event			filters every sampled event of the command line
 *   perf_event/NAME		filters the event NAME, which is added if need be
 *   raw_tp, tp_btf, fentry,
 *   kprobe.multi, usdt …	runs beside the recording
 *
 * and a map of type PERF_EVENT_ARRAY becomes a bpf-output event of the map's
 * name, unless a term gives the map other events.
 *
 * Objects are opened while the command line is read, since they bring events
 * along, and loaded when all of it is known.
 */
#include "lib/attach/attach.h"
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"
#include "work/program_filter.h"

void object_deinit(struct record_object *object)
{
	struct usdt_places **usdt;
	struct select_term *term;

	wanted_unmap(object);
	probe_set_free(object->probes);
	bpf_file_detach(&object->file);
	vec_for_each (usdt, &object->usdts)
		usdt_places_free(*usdt);
	vec_deinit(&object->usdts);
	vec_for_each (term, &object->terms) {
		free(term->name);
		free(term->value);
	}
	vec_deinit(&object->terms);
	bpf_file_close(&object->file);
	free(object->path);
}

static struct error *copy_terms(struct record_object *object, const struct select_event *sel)
{
	const struct select_term *term;

	if (!sel)
		return NULL;
	vec_for_each (term, &sel->terms) {
		struct select_term *copy = vec_push(&object->terms);

		if (!copy)
			return error_nomem();
		copy->name = strdup(term->name);
		copy->value = term->value ? strdup(term->value) : NULL;
		if (!copy->name || (term->value && !copy->value))
			return error_nomem();
	}
	return NULL;
}

static struct error *pend(struct event *event, struct bpf_program *prog)
{
	struct bpf_program **p = vec_push(&event->pending);

	if (!p)
		return error_nomem();
	*p = prog;
	return NULL;
}

/* The event of the program's section: one that is there already, or a new one. */
static struct error *add_event(struct recording *rec, struct bpf_program *prog)
{
	struct attach_event probe = {0};
	struct event *event;

	TRY(attach_event_of(prog, &probe));
	program_set_return(prog, PROGRAM_RETURN_BOOL);
	if (program_section(prog)->kind == PROGRAM_TRACEPOINT) {
		vec_for_each (event, &rec->events) {
			if (!event->tracepoint || event->attr.config != probe.attr.config)
				continue;
			attach_event_deinit(&probe);
			return pend(event, prog);
		}
	}
	event = event_new(rec, EVENT_PROGRAM, probe.name);
	if (!event) {
		attach_event_deinit(&probe);
		return error_nomem();
	}
	event->attr = probe.attr;
	event->attr.size = sizeof(event->attr);
	event->attr.exclude_guest = 1;
	event->probe = probe;
	if (program_section(prog)->kind == PROGRAM_TRACEPOINT) {
		attach_event_deinit(&event->probe);
		event->probe = (struct attach_event){0};
		TRY(program_tracepoint(prog, &event->system, &event->tracepoint));
	}
	return pend(event, prog);
}

/* An event for each place of a USDT probe, all of one name. */
static struct error *add_usdt(struct recording *rec, struct record_object *object,
			      struct bpf_program *prog)
{
	struct usdt_places **places = vec_push(&object->usdts);
	struct usdt_place *place;

	if (!places)
		return error_nomem();
	TRY(error_at(program_error_at(prog, usdt_places_of(prog, places)), "%s", object->path));
	program_set_return(prog, PROGRAM_RETURN_BOOL);
	for (size_t i = 0; (place = usdt_places_at(*places, i)); i++) {
		struct event *event = event_new(rec, EVENT_PROGRAM, place->event.name);

		if (!event)
			return error_nomem();
		event->attr = place->event.attr;
		event->attr.exclude_guest = 1;
		event->probe = place->event;
		event->cookie = place->cookie;
		event->has_cookie = true;
		place->event = (struct attach_event){0};
		TRY(pend(event, prog));
	}
	return NULL;
}

/* Whether the program filters an event of its own. */
static bool has_event(const struct bpf_program *prog)
{
	switch (program_section(prog)->kind) {
	case PROGRAM_TRACEPOINT:
	case PROGRAM_KPROBE:
	case PROGRAM_KRETPROBE:
	case PROGRAM_UPROBE:
	case PROGRAM_URETPROBE:
	case PROGRAM_KSYSCALL:
	case PROGRAM_KRETSYSCALL:
		return true;
	default:
		return false;
	}
}

/*
 * Why nothing runs the program during the recording, or NULL. It may still be the target of a tail
 * call, so it is loaded.
 */
static const char *why_not_attached(const struct bpf_program *prog)
{
	switch (program_section(prog)->kind) {
	case PROGRAM_OTHER:
		return bpf_program__type(prog) == BPF_PROG_TYPE_UNSPEC
			       ? NULL
			       : "'record' does not support this program type";
	case PROGRAM_ITER:
		return "a recording does not read iterators; use 'perf-bpf run'";
	case PROGRAM_PERF_EVENT:
		return NULL;
	default:
		return program_has_handler(prog) || attaches_by_section(prog)
			       ? NULL
			       : "the section name has no attach target";
	}
}

/* One that looks like a probe, but is at many places by one link, of which there is no event. */
static bool has_many_places(const struct bpf_program *prog)
{
	switch (program_section(prog)->kind) {
	case PROGRAM_KPROBE_MULTI:
	case PROGRAM_KRETPROBE_MULTI:
	case PROGRAM_UPROBE_MULTI:
	case PROGRAM_URETPROBE_MULTI:
		return true;
	default:
		return false;
	}
}

static bool has_output(const struct bpf_object *obj)
{
	const struct bpf_map *map;

	bpf_object__for_each_map (map, obj)
		if (bpf_map__type(map) == BPF_MAP_TYPE_PERF_EVENT_ARRAY)
			return true;
	return false;
}

/* A map that the recorder feeds with events, by a term: map:NAME.event=EVENT. */
static bool map_has_event_term(const struct record_object *object, const char *map)
{
	const struct select_term *term;
	size_t n = strlen(map);

	vec_for_each (term, &object->terms)
		if (!strncmp(term->name, "map:", 4) && !strncmp(term->name + 4, map, n) &&
		    !strcmp(term->name + 4 + n, ".event"))
			return true;
	return false;
}

static struct error *add_outputs(struct recording *rec, struct record_object *object)
{
	struct bpf_map *map;

	bpf_object__for_each_map (map, object->file.obj) {
		const char *name = bpf_map__name(map);
		bool stdout_map = !strcmp(name, "__bpf_stdout__");

		if (bpf_map__type(map) != BPF_MAP_TYPE_PERF_EVENT_ARRAY) {
			if (stdout_map)
				return error_at(
					error_new(EINVAL,
						  "map __bpf_stdout__ is not a PERF_EVENT_ARRAY"),
					"%s", object->path);
			continue;
		}
		if (map_has_event_term(object, name))
			continue;
		struct event *event = event_new(rec, EVENT_OUTPUT, name);
		if (!event)
			return error_nomem();
		event->attr.type = PERF_TYPE_SOFTWARE;
		event->attr.config = PERF_COUNT_SW_BPF_OUTPUT;
		event->map = map;
		event->asks_filter = object->asks_filter;
	}
	return NULL;
}

/*
 * What perf_bpf_wanted() asks of the recorder's options. Processes are not among it unless
 * their children are not recorded either: those follow by the events, which the programs' variables
 * cannot know.
 */
static struct error *set_filter(const struct recording *rec, struct record_object *object)
{
	const struct record_opts *o = &rec->opts;
	const struct program_filter filter = {
		.pids = o->no_inherit ? o->pids : NULL,
		.tids = o->no_inherit ? o->tids : NULL,
		.uids = o->uids,
		.self = o->track,
		.cgroups = o->cgroups,
		.owner = o->owner,
	};

	return error_at(program_filter_apply(object->file.obj, &filter, &object->asks_filter), "%s",
			object->path);
}

static struct error *set_variables(const struct recording *rec, struct record_object *object)
{
	for (size_t i = 0; i < rec->opts.n_sets; i++) {
		const char *text = rec->opts.sets[i], *value = strchr(text, '=');
		_cleanup_free_ char *name = value ? strndup(text, (size_t)(value - text)) : NULL;

		if (!name)
			return value ? error_nomem() : error_new(EINVAL, "'%s' has no value", text);
		TRY(error_at(object_set_variable(object->file.obj, name, value + 1, NULL), "%s",
			     object->path));
	}
	return NULL;
}

struct error *objects_open(struct recording *rec, const char *path, const struct select_event *sel)
{
	const struct bpf_file_opts opts = {.compile = rec->opts.compile, .log = rec->log};
	struct record_object *object = vec_push(&rec->objects);
	struct bpf_program *prog;

	if (!object)
		return error_nomem();
	object->path = strdup(path);
	if (!object->path)
		return error_nomem();
	TRY(copy_terms(object, sel));
	TRY(bpf_file_open(&object->file, path, &opts));
	TRY(terms_set_constants(object));
	TRY(set_variables(rec, object));
	TRY(set_filter(rec, object));
	TRY(record_probes_of(rec, object));
	TRY(record_probes_events(rec, object));
	bpf_object__for_each_program (prog, object->file.obj) {
		if (!bpf_program__autoload(prog) ||
		    (object->probes && probe_set_has(object->probes, prog)))
			continue;
		const char *why = why_not_attached(prog);

		/* The result of a program that it calls by a tail call becomes that of the caller.
		 */
		if (why && program_section(prog)->kind == PROGRAM_TRACEPOINT)
			program_set_return(prog, PROGRAM_RETURN_BOOL);
		if (why)
			log_warn(rec->log, "%s: program %s (%s) is loaded but not attached: %s",
				 path, bpf_program__name(prog), bpf_program__section_name(prog),
				 why);
		else if (program_section(prog)->kind == PROGRAM_USDT)
			TRY(add_usdt(rec, object, prog));
		else if (has_event(prog))
			TRY(add_event(rec, prog));
		else if (has_many_places(prog) && !has_output(object->file.obj))
			log_warn(rec->log,
				 "%s: program %s (%s) runs during the recording but does not "
				 "filter it: a multi-probe link cannot be recorded as an event. "
				 "Use a section kprobe/FUNCTION or uprobe/FILE:FUNCTION, or write "
				 "output events with bpf_perf_event_output()",
				 path, bpf_program__name(prog), bpf_program__section_name(prog));
	}
	return add_outputs(rec, object);
}

/* The same event but for its modifiers. */
static bool same_event(const char *name, const char *wanted)
{
	size_t n = strcspn(name, ":");

	return !strcmp(name, wanted) || (!wanted[n] && !strncmp(name, wanted, n));
}

/* perf_event programs find the events they filter. */
static struct error *bind_perf_event(struct recording *rec, struct bpf_program *prog)
{
	const char *wanted = program_section(prog)->target;
	struct event *event;
	bool found = false;

	vec_for_each (event, &rec->events) {
		if (!event_is_sampled_counter(event))
			continue;
		if (*wanted && !same_event(event->name, wanted))
			continue;
		found = true;
		if (event->pending.n || event->prog.kind != SELECT_PROG_NONE)
			return program_error_at(
				prog,
				error_hint(error_new(EEXIST,
						     "'%s' is already filtered by a program",
						     event->name),
					   "the kernel allows one perf_event program per event"));
		TRY(pend(event, prog));
	}
	if (found)
		return NULL;
	TRY(program_error_at(prog, events_add(rec, wanted)));
	return pend(vec_last(&rec->events), prog);
}

struct error *objects_bind(struct recording *rec)
{
	bool tracing = false;
	struct event *event;

	vec_for_each (event, &rec->events)
		tracing |= event->kind == EVENT_SELECTED && event->tracepoint;
	for (size_t i = 0; i < rec->objects.n; i++) {
		struct bpf_program *prog;

		bpf_object__for_each_program (prog, rec->objects.v[i].file.obj) {
			if (program_section(prog)->kind != PROGRAM_PERF_EVENT ||
			    !bpf_program__autoload(prog))
				continue;
			if (tracing && !*program_section(prog)->target)
				log_warn(rec->log,
					 "program %s filters only sampled events; tracepoints are "
					 "not filtered",
					 bpf_program__name(prog));
			TRY(error_at(bind_perf_event(rec, prog), "%s", rec->objects.v[i].path));
		}
	}
	return NULL;
}

struct error *objects_load(struct recording *rec)
{
	struct record_object *object;
	struct event *event;

	vec_for_each (object, &rec->objects) {
		struct usdt_places **usdt;

		if (object->is_loaded)
			continue;
		object_prefer_multi(object->file.obj);
		TRY(object_load(object->file.obj));
		vec_for_each (usdt, &object->usdts)
			TRY(usdt_places_write(*usdt));
		TRY(terms_set_maps(object));
		if (object->is_output)
			TRY(wanted_set(rec, object));
	}
	vec_for_each (event, &rec->events) {
		if (event->map) {
			event->map_fd = bpf_map__fd(event->map);
			event->map_entries = bpf_map__max_entries(event->map);
		}
		for (size_t i = 0; i < event->pending.n; i++) {
			int *fd = vec_push(&event->progs);

			if (!fd)
				return error_nomem();
			*fd = bpf_program__nth_fd(event->pending.v[i], (int)event->form);
		}
	}
	return NULL;
}

struct error *objects_attach(struct recording *rec)
{
	struct record_object *object;

	vec_for_each (object, &rec->objects) {
		struct bpf_program *prog;

		TRY(record_probes_attach(rec, object));
		bpf_object__for_each_program (prog, object->file.obj) {
			enum program_kind kind = program_section(prog)->kind;

			if (object->probes && probe_set_has(object->probes, prog))
				continue;
			if (has_event(prog) || kind == PROGRAM_OTHER ||
			    kind == PROGRAM_PERF_EVENT || !bpf_program__autoload(prog) ||
			    !bpf_program__autoattach(prog) || why_not_attached(prog))
				continue;
			TRY(bpf_file_attach(&object->file, prog, NULL));
		}
	}
	return NULL;
}

struct error *event_prog_open(struct event *event)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);
	_cleanup_close_ int fd = -1;

	switch (event->prog.kind) {
	case SELECT_PROG_NONE:
		return NULL;
	case SELECT_PROG_FD:
		fd = fcntl((int)event->prog.number, F_DUPFD_CLOEXEC, 3);
		if (fd < 0)
			return error_hint(error_errno(errno, "%s|bpf_fd=%u|", event->name,
						      event->prog.number),
					  "the descriptor must be open when perf-bpf starts; "
					  "bpf_id= and bpf_pin= select a program by id or path");
		break;
	case SELECT_PROG_ID:
		fd = bpf_prog_get_fd_by_id(event->prog.number);
		if (fd < 0)
			return error_hint(error_errno(errno, "%s|bpf_id=%u|", event->name,
						      event->prog.number),
					  "'bpftool prog' lists the programs that are loaded");
		break;
	case SELECT_PROG_PIN:
		fd = bpf_obj_get(event->prog.path);
		if (fd < 0)
			return error_hint(
				error_errno(errno, "%s|bpf_pin=%s|", event->name, event->prog.path),
				"'bpftool -f prog' lists pinned programs with their paths");
		break;
	}
	/* A map has an info too, but no instructions. */
	if (bpf_obj_get_info_by_fd(fd, &info, &len))
		return error_errno(errno, "%s: the object is not a BPF program", event->name);
	int *owned = vec_push(&event->owned), *prog = vec_push(&event->progs);
	if (!owned || !prog) {
		event->owned.n -= owned != NULL;
		return error_nomem();
	}
	*owned = *prog = steal_fd(&fd);
	return NULL;
}
