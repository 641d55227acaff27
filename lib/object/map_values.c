// SPDX-License-Identifier: BSD-2-Clause
/*
 * What maps of maps and program arrays hold from the start:
 *
 *	.values = { [2] = &inner },	a map's descriptor goes into slot 2
 *	.values = { (void *)&on_exit },	a program's into slot 0
 *
 * In the file these are relocations of section .maps at the 8-byte elements of
 * the definition's last member. Maps are filled in when all maps exist, program
 * arrays when the programs are loaded. A map that was there before (reused, or
 * found pinned) keeps what it holds.
 */
#include "lib/object/load_object.h"

#include <inttypes.h>

/* The map whose definition holds an offset of .maps; they stand in ascending order. NULL: none. */
static struct bpf_map *map_around(struct bpf_object *obj, uint64_t offset)
{
	size_t low = 0, high = obj->maps.n;

	while (low < high && obj->maps.v[low].origin != MAP_BTF)
		low++;
	const size_t first = low;
	while (high > low && obj->maps.v[high - 1].origin != MAP_BTF)
		high--;
	low += count_before(high - first, i, obj->maps.v[first + i].offset <= offset);
	return low > first ? &obj->maps.v[low - 1] : NULL;
}

long program_at(const struct bpf_object *obj, uint32_t section, uint64_t place)
{
	const uint32_t code =
		section < pb_elf_section_count(obj->elf) ? obj->code_of_section[section] : 0;
	const long fn = code && !(place % 8) && place / 8 < obj->codes.v[code - 1].n
				? function_at(obj, code - 1, (uint32_t)(place / 8))
				: -1;
	size_t low = 0, high = obj->programs.n;

	/* Programs stand in the order of their functions. */
	while (fn >= 0 && low < high) {
		const size_t mid = low + (high - low) / 2;
		const long at = obj->programs.v[mid].fn - obj->functions.v;

		if (at == fn)
			return (long)mid;
		if (at < fn)
			low = mid + 1;
		else
			high = mid;
	}
	return -1;
}

static struct error *value_read(struct bpf_object *obj, const struct elf_reloc *reloc)
{
	const struct elf_section *sec = obj->btf_maps_section;
	struct bpf_map *map = map_around(obj, reloc->offset);

	if (!map || !map->values_offset || reloc->offset < map->offset + map->values_offset)
		return error_new(EBADMSG, "a pointer is outside the elements of the map's values");
	const uint64_t at = reloc->offset - map->offset - map->values_offset;
	if (at % 8 || at / 8 > UINT32_MAX || reloc->symbol >= obj->symbols.n)
		return error_new(EBADMSG, "map '%s': a value is not a pointer", map->name);

	/* Without a symbol of its own, what is meant stands in the element. */
	const struct elf_symbol *sym = &obj->symbols.v[reloc->symbol];
	uint64_t place = sym->value, addend;
	struct cursor c = pb_elf_section_cursor(obj->elf, sec);
	if (sym->type == STT_SECTION && cursor_skip(&c, reloc->offset) && cursor_u64(&c, &addend))
		place += addend;

	const bool is_prog = map->type == BPF_MAP_TYPE_PROG_ARRAY;
	const long target = is_prog ? program_at(obj, sym->section, place)
				    : object_map_at(obj, sym->section, place);
	if (target < 0)
		return error_new(EINVAL, "map '%s': value %" PRIu64 " ('%s') is not a %s",
				 map->name, at / 8, sym->name, is_prog ? "program" : "map");
	struct map_value *value = vec_push(&obj->map_values);
	if (!value)
		return error_nomem();
	*value = (struct map_value){
		.map = (uint32_t)(map - obj->maps.v),
		.key = (uint32_t)(at / 8),
		.target = (uint32_t)target,
		.is_prog = is_prog,
	};
	return NULL;
}

struct error *map_values_read(struct bpf_object *obj, const struct elf_section *rel)
{
	for (size_t i = 0; i < pb_elf_reloc_count(obj->elf, rel); i++) {
		struct elf_reloc reloc;

		TRY(pb_elf_reloc_at(obj->elf, rel, i, &reloc));
		TRY(error_at(error_at(value_read(obj, &reloc), "offset 0x%" PRIx64, reloc.offset),
			     "section .maps"));
	}
	return NULL;
}

struct error *map_values_fill(struct bpf_object *obj, bool programs)
{
	const struct map_value *value;

	vec_for_each (value, &obj->map_values) {
		const struct bpf_map *map = &obj->maps.v[value->map];
		const int fd = value->is_prog ? obj->programs.v[value->target].fd
					      : obj->maps.v[value->target].fd;

		/* What the caller switched off leaves its slot empty. */
		if (value->is_prog != programs || !map->is_new || fd < 0)
			continue;
		if (bpf_map_update_elem(map->fd, &value->key, &fd, 0))
			return error_errno(errno, "map '%s': cannot put '%s' into slot %u",
					   map->name,
					   value->is_prog ? obj->programs.v[value->target].fn->name
							  : obj->maps.v[value->target].name,
					   value->key);
	}
	return NULL;
}
