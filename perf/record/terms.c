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
 * Variables have the type that BTF gives them: integers, booleans, characters,
 * enumerators by name or number, and char arrays, which take a string. A value
 * that does not fit is refused, never cut.
 */
#include "perf/record/internal.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"

struct range {
	uint64_t from, to; /* both included */
};

/* NAME and the ranges in brackets, if any. */
struct target_name {
	char *name;
	VEC(struct range) ranges; /* none: no brackets */
};

static void target_name_deinit(struct target_name *t)
{
	free(t->name);
	vec_deinit(&t->ranges);
}

static struct error *term_error(const struct object *object, const struct select_term *term,
				struct error *err)
{
	return error_at(err, "%s/%s%s%s/", object->path, term->name, term->value ? "=" : "",
			term->value ? term->value : "");
}

static bool number(const char **p, uint64_t *v)
{
	char *end;

	if (!isdigit((unsigned char)**p))
		return false;
	errno = 0;
	*v = strtoull(*p, &end, 0);
	*p = end;
	return !errno;
}

static struct error *parse_target(const char *text, struct target_name *t)
{
	size_t n = strcspn(text, "[");
	const char *p = text + n;

	t->name = strndup(text, n);
	if (!t->name)
		return error_nomem();
	if (!*p)
		return NULL;
	do {
		struct range *r = vec_push(&t->ranges);

		if (!r)
			return error_nomem();
		p++; /* '[' or ',' */
		if (!number(&p, &r->from))
			return error_new(EINVAL, "an index is missing in '%s'", text);
		r->to = r->from;
		if (*p == '-') {
			p++;
			if (!number(&p, &r->to))
				return error_new(EINVAL, "an index is missing in '%s'", text);
		}
		if (r->to < r->from)
			return error_new(EINVAL, "the range %llu-%llu is empty",
					 (unsigned long long)r->from, (unsigned long long)r->to);
	} while (*p == ',');
	if (p[0] != ']' || p[1])
		return error_new(EINVAL, "'%s' is no list of indexes", text + n);
	return NULL;
}

/* The type below typedefs, const and the like. */
static const struct btf_type *real_type(const struct btf *btf, uint32_t id)
{
	int resolved = btf__resolve_type(btf, id);
	const struct btf_type *t = resolved < 0 ? NULL : btf__type_by_id(btf, resolved);

	/* resolve_type() goes through a variable as well, not through tags of old. */
	for (int depth = 0; t && btf_is_mod(t) && depth < 32; depth++)
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool enum_value(const struct btf *btf, const struct btf_type *t, const char *name,
		       int64_t *value)
{
	/* Name and value, of one or two words: struct btf_enum64 is of 6.0's headers. */
	bool wide = btf_kind(t) == BTF_KIND_ENUM64;
	const uint32_t *e = (const uint32_t *)(t + 1);

	for (unsigned i = 0; i < btf_vlen(t); i++, e += wide ? 3 : 2) {
		const char *s = btf__name_by_offset(btf, e[0]);

		if (!s || strcmp(s, name))
			continue;
		*value = wide ? (int64_t)((uint64_t)e[2] << 32 | e[1]) : (int32_t)e[1];
		return true;
	}
	return false;
}

/* A number that fits into size bytes, with the sign or without. */
static struct error *store_number(const char *text, uint32_t size, bool is_signed, bool is_bool,
				  uint8_t *to)
{
	uint64_t v;
	char *end;
	bool negative = text[0] == '-';

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return error_new(EINVAL, "values of %u bytes cannot be set", size);
	if (is_bool && !strcmp(text, "true"))
		text = "1";
	else if (is_bool && !strcmp(text, "false"))
		text = "0";
	errno = 0;
	v = negative ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
	if (errno || end == text || *end)
		return error_new(EINVAL, "'%s' is no number", text);
	unsigned bits = size * 8;
	bool fits = true;
	if (is_bool)
		fits = v <= 1;
	else if (negative)
		fits = is_signed && (bits == 64 || (int64_t)v >= -((int64_t)1 << (bits - 1)));
	else if (is_signed)
		fits = v >> (bits - 1) == 0;
	else
		fits = bits == 64 || v >> bits == 0;
	if (!fits)
		return error_new(ERANGE, "%s does not fit into %s of %u bytes", text,
				 is_bool     ? "a bool"
				 : is_signed ? "a signed integer"
					     : "an unsigned integer",
				 size);
	/* The object's byte order is the host's, or it would not load. */
	if (size == 1)
		*to = v;
	else if (size == 2)
		memcpy(to, &(uint16_t){v}, 2);
	else if (size == 4)
		memcpy(to, &(uint32_t){v}, 4);
	else
		memcpy(to, &v, 8);
	return NULL;
}

static struct error *store_scalar(const struct btf *btf, const struct btf_type *t, const char *text,
				  uint8_t *to)
{
	int64_t v;

	if (btf_is_any_enum(t)) {
		char buf[32];

		if (!enum_value(btf, t, text, &v))
			return store_number(text, t->size, true, false, to);
		snprintf(buf, sizeof(buf), "%lld", (long long)v);
		return store_number(buf, t->size, v < 0, false, to);
	}
	if (btf_kind(t) != BTF_KIND_INT)
		return error_hint(error_new(EINVAL, "a variable of this type cannot be set"),
				  "integers, bools, chars, enums, and arrays of them can");
	uint8_t encoding = btf_int_encoding(t);
	return store_number(text, t->size, encoding & (BTF_INT_SIGNED | BTF_INT_CHAR),
			    encoding & BTF_INT_BOOL, to);
}

static bool is_char(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off);

	return btf_kind(t) == BTF_KIND_INT && t->size == 1 && name && strstr(name, "char");
}

static struct error *store_array(const struct btf *btf, const struct btf_type *t,
				 const struct target_name *target, const char *text, uint8_t *to,
				 size_t room)
{
	const struct btf_array *array = btf_array(t);
	const struct btf_type *elem = real_type(btf, array->type);
	const struct range *r;

	if (!elem || (btf_kind(elem) != BTF_KIND_INT && !btf_is_any_enum(elem)))
		return error_new(EINVAL, "an array of this type cannot be set");
	if (!target->ranges.n && is_char(btf, elem)) {
		size_t n = strlen(text);

		if (n >= array->nelems || n >= room)
			return error_new(ERANGE, "'%s' is longer than the array of %u bytes", text,
					 array->nelems);
		memset(to, 0, min_of((size_t)array->nelems, room));
		memcpy(to, text, n);
		return NULL;
	}
	struct range all = {0, array->nelems - 1};
	size_t n = target->ranges.n;
	for (size_t k = 0; k < max_of(n, (size_t)1); k++) {
		r = n ? &target->ranges.v[k] : &all;
		if (r->to >= array->nelems || (r->to + 1) * elem->size > room)
			return error_new(ERANGE, "index %llu is beyond the array's %u elements",
					 (unsigned long long)r->to, array->nelems);
		for (uint64_t i = r->from; i <= r->to; i++)
			TRY(store_scalar(btf, elem, text, to + i * elem->size));
	}
	return NULL;
}

/* Walks the variables of all data sections. false from fn ends it. */
struct variable {
	const char *name, *section;
	uint32_t type_id, offset, size;
};

static bool next_variable(const struct btf *btf, uint32_t *id, uint32_t *index, struct variable *v)
{
	for (; *id < btf__type_cnt(btf); (*id)++, *index = 0) {
		const struct btf_type *sec = btf__type_by_id(btf, *id);

		if (btf_kind(sec) != BTF_KIND_DATASEC)
			continue;
		v->section = btf__name_by_offset(btf, sec->name_off);
		for (; *index < btf_vlen(sec); (*index)++) {
			const struct btf_var_secinfo *si = &btf_var_secinfos(sec)[*index];
			const struct btf_type *var = btf__type_by_id(btf, si->type);

			if (!var || btf_kind(var) != BTF_KIND_VAR || !v->section)
				continue;
			v->name = btf__name_by_offset(btf, var->name_off);
			if (!v->name)
				continue;
			v->type_id = var->type;
			v->offset = si->offset;
			v->size = si->size;
			(*index)++;
			return true;
		}
	}
	return false;
}

static bool is_data_section(const char *name)
{
	return !strncmp(name, ".data", 5) || !strncmp(name, ".rodata", 7) ||
	       !strncmp(name, ".bss", 4);
}

static struct error *no_such_variable(const struct btf *btf, const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct nearest near = nearest_make(name);
	uint32_t id = 1, index = 0;
	struct variable v;

	while (btf && next_variable(btf, &id, &index, &v))
		if (is_data_section(v.section))
			nearest_offer(&near, v.name);
	struct error *err = error_new(ENOENT, "the program has no global variable '%s'", name);
	if (nearest_text(&near, &text))
		return error_hint(err, "did you mean %s?", strbuf_str(&text));
	return error_hint(err, "it is declared like 'const volatile int %s = 1;'", name);
}

static struct error *set_variable(struct object *object, const struct target_name *target,
				  const char *text)
{
	const struct btf *btf = bpf_object__btf(object->obj);
	uint32_t id = 1, index = 0;
	struct variable v;

	while (btf && next_variable(btf, &id, &index, &v)) {
		if (strcmp(v.name, target->name) || !is_data_section(v.section))
			continue;
		struct bpf_map *map = bpf_object__find_map_by_name(object->obj, v.section);
		size_t size = 0;
		uint8_t *data = map ? bpf_map__initial_value(map, &size) : NULL;
		const struct btf_type *t = real_type(btf, v.type_id);
		if (!data || !t || v.offset > size || v.size > size - v.offset)
			return error_new(EINVAL, "variable '%s' has no data to set", v.name);
		if (btf_kind(t) == BTF_KIND_ARRAY)
			return store_array(btf, t, target, text, data + v.offset, v.size);
		if (target->ranges.n)
			return error_new(EINVAL, "variable '%s' is no array", v.name);
		if (t->size > v.size)
			return error_new(EINVAL, "variable '%s' has no data to set", v.name);
		return store_scalar(btf, t, text, data + v.offset);
	}
	return no_such_variable(btf, target->name);
}

static bool is_map_term(const struct select_term *term)
{
	return !strncmp(term->name, "map:", 4);
}

struct error *terms_set_constants(struct object *object)
{
	const struct select_term *term;

	vec_for_each (term, &object->terms) {
		struct target_name target = {0};
		struct error *err;

		if (is_map_term(term))
			continue;
		if (!term->value)
			return term_error(object, term,
					  error_new(EINVAL, "'%s' has no value", term->name));
		err = parse_target(term->name, &target);
		if (!err)
			err = set_variable(object, &target, term->value);
		target_name_deinit(&target);
		if (err)
			return term_error(object, term, err);
	}
	return NULL;
}

static struct error *find_map(struct object *object, const char *name, struct bpf_map **out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct bpf_map *map = bpf_object__find_map_by_name(object->obj, name);

	if (map) {
		*out = map;
		return NULL;
	}
	struct nearest near = nearest_make(name);
	bpf_object__for_each_map (map, object->obj)
		nearest_offer(&near, bpf_map__name(map));
	struct error *err = error_new(ENOENT, "the object has no map '%s'", name);
	if (nearest_text(&near, &text))
		return error_hint(err, "did you mean %s?", strbuf_str(&text));
	return err;
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

static struct error *set_map_value(struct recording *rec, struct bpf_map *map,
				   const struct target_name *target, const char *text)
{
	enum bpf_map_type type = bpf_map__type(map);
	bool array = type == BPF_MAP_TYPE_ARRAY || type == BPF_MAP_TYPE_PERCPU_ARRAY;
	bool hash = type == BPF_MAP_TYPE_HASH || type == BPF_MAP_TYPE_PERCPU_HASH ||
		    type == BPF_MAP_TYPE_LRU_HASH || type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
	uint32_t entries = bpf_map__max_entries(map), size = bpf_map__value_size(map);
	uint32_t key_size = bpf_map__key_size(map);
	uint8_t value[8];

	if (!array && !(hash && (key_size == 4 || key_size == 8)))
		return error_hint(error_new(EINVAL, "the values of a map of type %s cannot be set",
					    libbpf_bpf_map_type_str(type)),
				  "arrays can, and hashes with keys of 4 or 8 bytes");
	if (hash && !target->ranges.n)
		return error_new(EINVAL, "a hash needs keys: map:%s.value[KEY]=%s",
				 bpf_map__name(map), text);
	if (size > sizeof(value))
		return error_new(EINVAL, "values of %u bytes cannot be set", size);
	TRY(store_number(text, size, text[0] == '-', false, value));
	struct range all = {0, entries - 1};
	size_t n = target->ranges.n;
	for (size_t k = 0; k < max_of(n, (size_t)1); k++) {
		const struct range *r = n ? &target->ranges.v[k] : &all;

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
static struct error *map_term(struct object *object, const struct select_term *term,
			      struct bpf_map **map, struct target_name *target)
{
	const char *name = term->name + 4, *dot = strrchr(name, '.');
	const char *bracket = strchr(name, '[');

	if (bracket)
		for (dot = bracket; dot > name && *dot != '.'; dot--)
			;
	if (!dot || *dot != '.' || dot == name)
		return error_hint(error_new(EINVAL, "a map's term is map:NAME.value or "
						    "map:NAME.event"),
				  "as in map:counts.value[0-3]=7");
	if (!term->value)
		return error_new(EINVAL, "'%s' has no value", term->name);
	TRY(parse_target(dot + 1, target));
	if (strcmp(target->name, "value") && strcmp(target->name, "event"))
		return error_hint(error_new(EINVAL, "a map has no '%s' to set", target->name),
				  "'value' and 'event' are what can be set");
	_cleanup_free_ char *map_name = strndup(name, dot - name);
	if (!map_name)
		return error_nomem();
	return find_map(object, map_name, map);
}

/* What is done with a map, once its term was taken apart. */
typedef struct error *map_term_fn(struct recording *rec, struct bpf_map *map,
				  const struct target_name *target, const char *value);

/* Calls fn for the object's terms map:NAME.what; those of other names are checked alone. */
static struct error *map_terms(struct recording *rec, struct object *object, const char *what,
			       map_term_fn *fn)
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
			err = fn(rec, map, &target, term->value);
		target_name_deinit(&target);
		if (err)
			return term_error(object, term, err);
	}
	return NULL;
}

struct error *terms_set_maps(struct object *object)
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

static struct error *bind_event(struct recording *rec, struct bpf_map *map,
				const struct target_name *target, const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct nearest near = nearest_make(name);
	struct event *event;

	if (bpf_map__type(map) != BPF_MAP_TYPE_PERF_EVENT_ARRAY)
		return error_new(EINVAL,
				 "map '%s' is of type %s: only a PERF_EVENT_ARRAY takes "
				 "events",
				 bpf_map__name(map), libbpf_bpf_map_type_str(bpf_map__type(map)));
	if ((event = find_event(rec, name)))
		return event_fill_map(event, bpf_map__fd(map), bpf_map__max_entries(map));
	vec_for_each (event, &rec->events)
		nearest_offer(&near, event->name);
	struct error *err = error_new(ENOENT, "the recording has no event '%s'", name);
	if (nearest_text(&near, &text))
		return error_hint(err, "did you mean %s?", strbuf_str(&text));
	return error_hint(err, "name it by another -e, as in -e cycles/name=%s/", name);
}

struct error *terms_bind_events(struct recording *rec)
{
	struct object *object;

	vec_for_each (object, &rec->objects)
		TRY(map_terms(rec, object, "event", bind_event));
	return NULL;
}
