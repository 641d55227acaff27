// SPDX-License-Identifier: BSD-2-Clause
/*
 * Maps as "struct bpf_map_def SEC("maps") name = { … }": five words,
 *
 *	type, key_size, value_size, max_entries [, map_flags]
 *
 * which programs may shorten to the first four (as in 2015) or lengthen by
 * fields of their loader's own. The symbols say where each definition starts,
 * so the distance to the next one is its size. Words that are not known here
 * must be zero: a loader that gave them a meaning would have done something.
 *
 * A structure ____btf_map_NAME with members key and value in the object's BTF,
 * which perf's bpf_map() macro defines, names the types of key and value.
 */
#include "lib/object/open_object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#define DEF_WORDS 5
#define DEF_MIN	  (4 * sizeof(uint32_t))

static int place_order(const void *a_, const void *b_)
{
	const struct elf_symbol *const *a = a_, *const *b = b_;

	if ((*a)->value != (*b)->value)
		return (*a)->value < (*b)->value ? -1 : 1;
	return strcmp((*a)->name, (*b)->name);
}

/* Fields beyond the known ones must be zero. */
static struct error *check_tail(const struct bpf_object *obj, struct cursor *c, const char *name)
{
	uint8_t byte;

	while (cursor_u8(c, &byte)) {
		if (!byte)
			continue;
		if (obj->relaxed_maps) {
			log_warn(obj->log, "%s: map %s: unknown fields are ignored", obj->path,
				 name);
			return NULL;
		}
		return error_hint(
			error_new(EINVAL,
				  "map '%s': byte %zu of its definition is not zero, but has no "
				  "meaning",
				  name, c->pos - 1),
			"only type, key_size, value_size, max_entries and map_flags are supported; "
			"use a BTF map definition, SEC(\".maps\"), for other attributes");
	}
	return NULL;
}

/* Types from struct ____btf_map_NAME { key; value; }, where their sizes fit. */
static void types_from_marker(struct bpf_object *obj, struct bpf_map *map)
{
	char marker[256];

	if (!obj->btf ||
	    snprintf(marker, sizeof(marker), "____btf_map_%s", map->name) >= (int)sizeof(marker))
		return;
	const int id = btf__find_by_name_kind(obj->btf, marker, BTF_KIND_STRUCT);
	if (id < 0)
		return;

	const struct btf_type *t = btf__type_by_id(obj->btf, (uint32_t)id);
	const struct btf_member *m = btf_members(t);
	if (btf_vlen(t) != 2 || strcmp(btf__name_by_offset(obj->btf, m[0].name_off), "key") ||
	    strcmp(btf__name_by_offset(obj->btf, m[1].name_off), "value")) {
		log_warn(obj->log, "%s: map %s: struct %s is not { key; value; }", obj->path,
			 map->name, marker);
		return;
	}
	const int64_t key_size = btf__resolve_size(obj->btf, m[0].type);
	const int64_t value_size = btf__resolve_size(obj->btf, m[1].type);
	if (key_size != map->key_size || value_size != map->value_size) {
		log_warn(obj->log,
			 "%s: map %s: struct %s has a key of %" PRId64 " and a value of %" PRId64
			 " bytes, but the map has %u and %u",
			 obj->path, map->name, marker, key_size, value_size, map->key_size,
			 map->value_size);
		return;
	}
	map->btf_key_type_id = m[0].type;
	map->btf_value_type_id = m[1].type;
}

static struct error *map_read(struct bpf_object *obj, const struct elf_section *sec,
			      const struct elf_symbol *sym, uint64_t end)
{
	struct cursor whole = pb_elf_section_cursor(obj->elf, sec), def;
	uint32_t words[DEF_WORDS] = {0};

	if (end - sym->value < DEF_MIN)
		return pb_elf_section_error(obj->elf, sec, sym->value,
					    "map '%s': its %" PRIu64
					    " bytes are fewer than struct bpf_map_def has",
					    sym->name, end - sym->value);
	if (!cursor_sub(&whole, sym->value, end - sym->value, &def))
		return pb_elf_section_error(obj->elf, sec, sym->value, "map '%s' is truncated",
					    sym->name);
	for (size_t i = 0; i < DEF_WORDS && cursor_left(&def) >= sizeof(words[i]); i++)
		cursor_u32(&def, &words[i]);
	struct error *err = check_tail(obj, &def, sym->name);
	if (err)
		return error_at(err, "section %s", sec->name);

	struct bpf_map *map = object_add_map(obj, MAP_LEGACY, sym->name, sec->index, sym->value);
	if (!map)
		return error_nomem();
	map->type = words[0];
	map->key_size = words[1];
	map->value_size = words[2];
	map->max_entries = words[3];
	if (is_ring(map->type) && map->max_entries)
		map->max_entries = ring_size(map->max_entries);
	map->flags = words[4];
	types_from_marker(obj, map);
	return NULL;
}

typedef VEC(const struct elf_symbol *) symbol_list;

/* The symbols of the maps, in the order of their places. */
static struct error *list_symbols(const struct bpf_object *obj, symbol_list *defs)
{
	const struct elf_section *sec = obj->maps_section;
	const struct elf_symbol *sym;

	vec_for_each (sym, &obj->symbols) {
		if (sym->section != sec->index ||
		    (sym->type != STT_OBJECT && sym->type != STT_NOTYPE))
			continue;
		if (!sym->name[0] || sym->value >= sec->size)
			return pb_elf_section_error(obj->elf, sec, sym->value,
						    "symbol '%s' is not a map", sym->name);
		const struct elf_symbol **def = vec_push(defs);
		if (!def)
			return error_nomem();
		*def = sym;
	}
	if (!defs->n)
		return pb_elf_section_error(obj->elf, sec, 0,
					    "no symbol names a map in this section");
	qsort(defs->v, defs->n, sizeof(*defs->v), place_order);
	return NULL;
}

struct error *maps_legacy_find(struct bpf_object *obj)
{
	const struct elf_section *sec = obj->maps_section;
	symbol_list defs = {0};

	if (!sec)
		return NULL;
	struct error *err = list_symbols(obj, &defs);
	for (size_t i = 0; !err && i < defs.n; i++)
		err = map_read(obj, sec, defs.v[i],
			       i + 1 < defs.n ? defs.v[i + 1]->value : sec->size);
	vec_deinit(&defs);
	return err;
}
