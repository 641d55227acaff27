// SPDX-License-Identifier: BSD-2-Clause
/*
 * The terms of an object, FILE.c/TERM,…/:
 *
 *   NAME=VALUE			a global variable, set before the program is loaded, so
 *				that the verifier knows the constants of .rodata
 *   NAME[0-3,7]=VALUE		elements of an array variable
 *   map:NAME.value=VALUE	all elements of an array map
 *   map:NAME.value[0-3]=VALUE	some of them; for a hash, the keys
 *   map:NAME.event=EVENT	the fds of an event of the recording
 *
 * A value is written as inspect/value_input.h has it, for the type that BTF
 * gives the variable or the map's values; one for an array sets all elements.
 * What does not fit is refused, never cut.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/value_input.h"
#include "lib/base/names.h"

static struct error *term_error(const struct record_object *object, const struct select_term *term,
				struct error *err)
{
	return error_at(err, "%s/%s%s%s/", object->path, term->name, term->value ? "=" : "",
			term->value ? term->value : "");
}

static bool is_map_term(const struct select_term *term)
{
	return !strncmp(term->name, "map:", 4);
}

struct error *terms_set_constants(struct record_object *object)
{
	const struct select_term *term;

	vec_for_each (term, &object->terms) {
		if (is_map_term(term))
			continue;
		if (!term->value)
			return term_error(object, term,
					  error_new(EINVAL, "'%s' has no value", term->name));
		struct error *err =
			object_set_variable(object->file.obj, term->name, term->value, NULL);
		if (err)
			return term_error(object, term, err);
	}
	return NULL;
}

static struct error *update(struct bpf_map *map, uint64_t key, const uint8_t *value)
{
	const uint8_t *bytes = value;
	uint32_t size = bpf_map__value_size(map);
	_cleanup_free_ uint8_t *percpu = NULL;
	uint32_t key32 = key;
	const void *k = bpf_map__key_size(map) == 8 ? (const void *)&key : &key32;

	if (bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY ||
	    bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_HASH) {
		int cpus = libbpf_num_possible_cpus();
		size_t stride = round_up(size, 8);

		percpu = cpus > 0 ? calloc(cpus, stride) : NULL;
		if (!percpu)
			return error_nomem();
		for (int i = 0; i < cpus; i++)
			memcpy(percpu + i * stride, value, size);
		bytes = percpu;
	}
	if (bpf_map_update_elem(bpf_map__fd(map), k, bytes, BPF_ANY))
		return error_errno(errno, "element %llu", (unsigned long long)key);
	return NULL;
}

static struct error *set_map_value(struct recording *rec, struct record_object *object,
				   struct bpf_map *map, const struct target_name *target,
				   const char *text)
{
	enum bpf_map_type type = bpf_map__type(map);
	bool array = type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
	bool hash = type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_PERCPU_HASH ||
		    type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	uint32_t entries = bpf_map__max_entries(map), size = bpf_map__value_size(map);
	uint32_t key_size = bpf_map__key_size(map);
	uint8_t value[8];

	if (!array && !(hash && (key_size == 4 || key_size == 8)))
		return error_hint(
			error_new(EINVAL, "cannot set values of a map of type %s",
				  libbpf_bpf_map_type_str(type)),
			"only arrays, and hashes with keys of 4 or 8 bytes, are supported");
	if (hash && !target->ranges.n)
		return error_new(EINVAL, "a hash needs keys: map:%s.value[KEY]=%s",
				 bpf_map__name(map), text);
	if (size > sizeof(value))
		return error_new(EINVAL, "cannot set values of %u bytes", size);
	const struct btf *btf = bpf_object__btf(object->file.obj);
	if (btf && bpf_map__btf_value_type_id(map))
		TRY(value_input(btf, bpf_map__btf_value_type_id(map), text, value, size));
	else
		TRY(value_input_number(text, value, size));
	struct index_range all = {0, entries - 1};
	size_t n = target->ranges.n;
	for (size_t k = 0; k < max_of(n, (size_t)1); k++) {
		const struct index_range *r = n ? &target->ranges.v[k] : &all;

		if (array && r->to >= entries)
			return error_new(ERANGE, "index %llu is beyond the map's %u elements",
					 (unsigned long long)r->to, entries);
		if (hash && r->to - r->from >= entries)
			return error_new(ERANGE, "more keys than the map's %u elements", entries);
		if (hash && key_size == 4 && r->to > UINT32_MAX)
			return error_new(ERANGE, "key %llu does not fit into 4 bytes",
					 (unsigned long long)r->to);
		for (uint64_t i = r->from;; i++) {
			TRY(update(map, i, value));
			if (i == r->to)
				break;
		}
	}
	return NULL;
}

/* "map:NAME.value[…]" and "map:NAME.event" taken apart. */
static struct error *map_term(struct record_object *object, const struct select_term *term,
			      struct bpf_map **map, struct target_name *target)
{
	const char *name = term->name + 4, *dot = strrchr(name, '.');
	const char *bracket = strchr(name, '[');

	if (bracket)
		for (dot = bracket; dot > name && *dot != '.'; dot--)
			;
	if (!dot || *dot != '.' || dot == name)
		return error_hint(
			error_new(EINVAL,
				  "the terms of a map are map:NAME.value and map:NAME.event"),
			"for example map:counts.value[0-3]=7");
	if (!term->value)
		return error_new(EINVAL, "'%s' has no value", term->name);
	TRY(target_name_parse(dot + 1, target));
	if (strcmp(target->name, "value") && strcmp(target->name, "event"))
		return error_hint(error_new(EINVAL, "unknown map term '%s'", target->name),
				  "use 'value' or 'event'");
	_cleanup_free_ char *map_name = strndup(name, dot - name);
	if (!map_name)
		return error_nomem();
	return object_find_map(object->file.obj, map_name, map);
}

/* What is done with a map, once its term was taken apart. */
typedef struct error *map_term_fn(struct recording *rec, struct record_object *object,
				  struct bpf_map *map, const struct target_name *target,
				  const char *value);

/* Calls fn for the object's terms map:NAME.what; those of other names are checked alone. */
static struct error *map_terms(struct recording *rec, struct record_object *object,
			       const char *what, map_term_fn *fn)
{
	const struct select_term *term;

	vec_for_each (term, &object->terms) {
		struct target_name target = {0};
		struct bpf_map *map = NULL;
		struct error *err;

		if (!is_map_term(term))
			continue;
		err = map_term(object, term, &map, &target);
		if (!err && !strcmp(target.name, what))
			err = fn(rec, object, map, &target, term->value);
		target_name_deinit(&target);
		if (err)
			return term_error(object, term, err);
	}
	return NULL;
}

struct error *terms_set_maps(struct record_object *object)
{
	return map_terms(NULL, object, "value", set_map_value);
}

static struct event *find_event(struct recording *rec, const char *name)
{
	struct event *event;

	vec_for_each (event, &rec->events)
		if (!strcmp(event->name, name))
			return event;
	return NULL;
}

/*
 * The events that terms name are there, by another -e or added now. Programs
 * cannot read one that is inherited (kernel/events/core.c, perf_event_read_local).
 */
struct error *terms_want_events(struct recording *rec)
{
	for (size_t i = 0; i < rec->objects.n; i++) {
		for (size_t k = 0; k < rec->objects.v[i].terms.n; k++) {
			const struct select_term *term = &rec->objects.v[i].terms.v[k];
			size_t n = strlen(term->name);

			if (!is_map_term(term) || !term->value || n < 6 ||
			    strcmp(term->name + n - 6, ".event"))
				continue;
			struct event *event = find_event(rec, term->value);
			if (!event) {
				TRY(term_error(&rec->objects.v[i], term,
					       events_add(rec, term->value)));
				event = vec_last(&rec->events);
			}
			event->inherit = 0;
		}
	}
	return NULL;
}

static struct error *bind_event(struct recording *rec, struct record_object *object,
				struct bpf_map *map, const struct target_name *target,
				const char *name)
{
	struct nearest near = nearest_make(name);
	struct event *event;

	if (bpf_map__type(map) != BPF_MAP_TYPE_PERF_EVENT_ARRAY)
		return error_new(EINVAL, "map '%s' has type %s: events need a PERF_EVENT_ARRAY",
				 bpf_map__name(map), libbpf_bpf_map_type_str(bpf_map__type(map)));
	if ((event = find_event(rec, name)))
		return event_fill_map(event, bpf_map__fd(map), bpf_map__max_entries(map));
	vec_for_each (event, &rec->events)
		nearest_offer(&near, event->name);
	struct error *err = error_new(ENOENT, "the recording has no event '%s'", name);
	return error_hint(error_suggest(err, &near),
			  "add it with another -e, for example -e cycles/name=%s/", name);
}

struct error *terms_bind_events(struct recording *rec)
{
	struct record_object *object;

	vec_for_each (object, &rec->objects)
		TRY(map_terms(rec, object, "event", bind_event));
	return NULL;
}
