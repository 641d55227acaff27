// SPDX-License-Identifier: BSD-2-Clause
/*
 * struct_ops in a skeleton: a struct over what bpf_map__initial_value() shows of
 * such a map, with a struct bpf_program * at each function, numbers as they are,
 * and bytes for all that a program has no use for. It is set between open and
 * load.
 */
#include "gen/internal.h"

#include "lib/btf/open.h"

/* What a user may set: numbers, and arrays of them. */
static bool is_number(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, NULL);

	if (t && btf_is_array(t))
		t = btf_skip_mods_and_typedefs(btf, btf_array(t)->type, NULL);
	return t && (btf_is_int(t) || btf_is_any_enum(t) || btf_is_float(t));
}

static bool is_function(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, NULL);

	t = t && btf_is_ptr(t) ? btf_skip_mods_and_typedefs(btf, t->type, NULL) : NULL;
	return t && btf_is_func_proto(t);
}

struct error *gen_struct_ops_members(struct generator *g, const struct gen_map *map)
{
	const struct btf_type *t = btf__type_by_id(g->btf, bpf_map__btf_value_type_id(map->map));
	uint32_t at = 0;
	int pads = 0;

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];
		const char *name = btf__name_by_offset(g->btf, m->name_off);
		const uint32_t bit = btf_member_bit_offset(t, i);
		const int64_t size = btf__resolve_size(g->btf, m->type);
		const bool function = is_function(g->btf, m->type);

		if (!name[0] || bit % 8 || btf_member_bitfield_size(t, i) || size <= 0 ||
		    bit / 8 < at || (!function && !is_number(g->btf, m->type)))
			continue;
		if (bit / 8 > at)
			strbuf_addf(g->out, "\t\t\tchar __pad%d[%u];\n", pads++, bit / 8 - at);
		const struct gen_var var = {.name = (char *)name, .type = m->type};
		strbuf_adds(g->out, "\t\t\t");
		if (function)
			strbuf_addf(g->out, "struct bpf_program *%s", name);
		else
			TRY(gen_declare(g, &var, false));
		strbuf_adds(g->out, ";\n");
		at = bit / 8 + (uint32_t)size;
	}
	if (at < t->size)
		strbuf_addf(g->out, "\t\t\tchar __pad%d[%u];\n", pads, t->size - at);
	return NULL;
}
