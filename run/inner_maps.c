// SPDX-License-Identifier: BSD-2-Clause
/*
 * A map of maps is shown as one table of what its inner maps hold: the key of the outer map, that
 * of the inner map, the inner map's value. Inner maps are found by their ids at each look, so those
 * that a program or another process puts in later are shown too.
 */
#include <stdlib.h>
#include <string.h>

#include "run/internal.h"

const struct bpf_map *map_inner_shown(const struct bpf_object *obj, const struct bpf_map *map)
{
	const enum bpf_map_type type = bpf_map__type(map);

	if (type != BPF_MAP_TYPE_ARRAY_OF_MAPS && type != BPF_MAP_TYPE_HASH_OF_MAPS)
		return NULL;
	/* the call changes nothing */
	const struct bpf_map *inner = bpf_map__inner_map((struct bpf_map *)map);
	if (!inner || !bpf_map__key_size(inner) || !bpf_map__value_size(inner))
		return NULL;
	switch (display_by_type(obj, inner)) {
	case DISPLAY_TABLE:
	case DISPLAY_COUNT:
		return inner;
	default:
		return NULL;
	}
}

/* A key of one number is called "key": two of them need names. */
static struct error *name_outer_key(struct fields *key)
{
	char *name = key->n == 1 && !*key->v[0].name ? strdup("outer_key") : NULL;

	if (key->n != 1 || *key->v[0].name)
		return NULL;
	if (!name)
		return error_nomem();
	free(key->v[0].name);
	key->v[0].name = name;
	return NULL;
}

/* The fields of `more`, behind those that there are. */
static struct error *append_fields(struct fields *fields, struct fields *more)
{
	if (!vec_reserve(fields, fields->n + more->n))
		return error_nomem();
	for (size_t i = 0; i < more->n; i++) {
		struct record_field *f = &fields->v[fields->n++];

		*f = more->v[i];
		f->off += fields->size;
	}
	more->n = 0; /* their names have moved */
	fields->size += more->size;
	return NULL;
}

struct error *inner_maps_open(const struct bpf_map *inner, struct collector *c)
{
	const struct bpf_map_info info = {
		.type = bpf_map__type(inner),
		.key_size = bpf_map__key_size(inner),
		.value_size = bpf_map__value_size(inner),
		.max_entries = bpf_map__max_entries(inner),
	};
	const uint32_t key_type = c->btf ? bpf_map__btf_key_type_id(inner) : 0;
	const uint32_t value_type = c->btf ? bpf_map__btf_value_type_id(inner) : 0;
	const char *name = bpf_map__name(c->map);
	_cleanup_fields_ struct fields inner_key = {0};

	if (c->display->declared && c->display->kind != DISPLAY_TABLE)
		return error_new(EINVAL, "map %s is a map of maps, which is shown as a table only",
				 name);
	TRY(map_reader_new_inner(bpf_map__fd(c->map), &info, &c->reader));
	TRY(error_prefix(fields_of(c->btf, c->btf ? bpf_map__btf_key_type_id(c->map) : 0,
				   bpf_map__key_size(c->map), &c->key),
			 "the keys of map %s", name));
	TRY(name_outer_key(&c->key));
	TRY(error_prefix(fields_of(c->btf, key_type, info.key_size, &inner_key),
			 "the keys of the inner maps of map %s", name));
	TRY(append_fields(&c->key, &inner_key));
	c->has_inner = true;
	return error_prefix(fields_of(c->btf, value_type, info.value_size, &c->value),
			    "the values of the inner maps of map %s", name);
}
