// SPDX-License-Identifier: BSD-2-Clause
/*
 * A relocation says where it goes by a root type and an access string of
 * indices, "0:3:1" (Documentation/bpf/llvm_reloc.rst of the kernel): the first
 * steps over whole root types, as p[0] does; each next one is the number of a
 * member or of an array element. Reading it against the object's own types
 * turns member numbers into names; those names are then searched in the
 * target's type, where members may stand elsewhere, in another order, or
 * within an anonymous struct or union.
 */
#include "lib/core/internal.h"

#include <stdlib.h>
#include <string.h>

bool core_same_essential(const char *a, const char *b)
{
	size_t n = btf_essential_len(a);

	return n == btf_essential_len(b) && memcmp(a, b, n) == 0;
}

struct error *core_too_much(void)
{
	return error_new(E2BIG, "the types are nested too deeply to compare");
}

static struct error *add_access(struct core_spec *spec, uint32_t type_id, uint32_t idx,
				const char *name)
{
	if (spec->len == CORE_MAX_ACCESS)
		return core_too_much();
	spec->acc[spec->len++] = (struct core_access){type_id, idx, name};
	return NULL;
}

/* Moves on by idx elements of that type. */
static struct error *add_elements(struct core_spec *spec, uint32_t type_id, uint32_t idx)
{
	int64_t size = btf__resolve_size(spec->btf, type_id);

	if (size < 0)
		return error_new(EINVAL, "type %u has no size", type_id);
	uint64_t bytes = (uint64_t)size * idx;
	if (bytes > UINT32_MAX)
		return error_new(EINVAL, "element %u of type %u is at an offset of more than 4 GiB",
				 idx, type_id);
	spec->bit_offset += bytes * 8;
	return NULL;
}

/* An array as the last member, without a length: any element is within it. */
static bool is_flexible(const struct btf *btf, const struct core_access *acc,
			const struct btf_array *array)
{
	if (!acc->name || array->nelems)
		return false;
	return acc->idx + 1 == btf_vlen(btf__type_by_id(btf, acc->type_id));
}

/* The next number of an access string; false: there is none, or it is malformed. */
static bool next_index(const char **s, uint32_t *idx)
{
	uint64_t v = 0;
	const char *p = *s;

	if (*p == ':')
		p++;
	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++) {
		v = v * 10 + (*p - '0');
		if (v > INT32_MAX)
			return false;
	}
	if (*p && *p != ':')
		return false;
	*s = p;
	*idx = v;
	return true;
}

/* One step of the access string, into what spec's last type id *id is. */
static struct error *parse_step(struct core_spec *spec, uint32_t *id, uint32_t idx)
{
	const struct btf *btf = spec->btf;
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, *id, id);

	if (btf_is_composite(t)) {
		if (idx >= btf_vlen(t))
			return error_new(EINVAL, "member %u of %u of %s %s", idx, btf_vlen(t),
					 btf_kind_name(btf_kind(t)), btf_name(btf, t));
		const struct btf_member *m = btf_members(t) + idx;
		const char *name = btf__name_by_offset(btf, m->name_off);

		spec->bit_offset += btf_member_bit_offset(t, idx);
		if (name && *name)
			TRY(add_access(spec, *id, idx, name));
		*id = m->type;
		return NULL;
	}
	if (btf_is_array(t)) {
		const struct btf_array *array = btf_array(t);

		if (idx >= array->nelems && !is_flexible(btf, &spec->acc[spec->len - 1], array))
			return error_new(EINVAL, "element %u of an array of %u", idx,
					 array->nelems);
		btf_skip_mods_and_typedefs(btf, array->type, id);
		TRY(add_access(spec, *id, idx, NULL));
		return add_elements(spec, *id, idx);
	}
	return error_new(EINVAL, "a %s has no members", btf_kind_name(btf_kind(t)));
}

static struct error *parse_enum(struct core_spec *spec, uint32_t idx)
{
	uint32_t id;
	const struct btf_type *t = btf_skip_mods_and_typedefs(spec->btf, spec->root_id, &id);

	if (!btf_is_any_enum(t) || idx >= btf_vlen(t))
		return error_new(EINVAL, "value %u of a %s", idx, btf_kind_name(btf_kind(t)));
	/* both kinds of values begin with their name */
	uint32_t words = btf_is_enum(t) ? 2 : 3;
	const char *name = btf__name_by_offset(spec->btf, ((const uint32_t *)(t + 1))[idx * words]);
	return add_access(spec, id, idx, name ? name : "");
}

struct error *core_spec_parse(const struct btf *btf, uint32_t type_id, uint32_t kind,
			      const char *access, struct core_spec *spec)
{
	uint32_t idx, id = type_id;
	const char *s = access;

	spec->btf = btf;
	spec->root_id = type_id;
	spec->bit_offset = 0;
	spec->len = 0;
	if (*s == ':' || !next_index(&s, &idx))
		goto malformed;
	if (core_kind_is_enum(kind)) {
		if (*s)
			goto malformed;
		return parse_enum(spec, idx);
	}
	if (!core_kind_is_field(kind)) {
		if (*s || idx)
			goto malformed;
		return NULL;
	}

	btf_skip_mods_and_typedefs(btf, id, &id);
	TRY(add_access(spec, id, idx, NULL));
	TRY(add_elements(spec, id, idx));
	while (*s) {
		if (!next_index(&s, &idx))
			goto malformed;
		TRY(parse_step(spec, &id, idx));
	}
	return NULL;

malformed:
	return error_new(EINVAL, "the access string \"%s\" is malformed", access);
}

/*
 * Searches a member of the local one's name in the target's type *id, also
 * within members that have no name. On success *id is the member's type.
 */
static struct error *match_member(struct core *core, const struct core_spec *local,
				  const struct core_access *local_acc, struct core_spec *spec,
				  uint32_t *id, int depth, bool *matched)
{
	const struct btf_type *local_t = btf__type_by_id(local->btf, local_acc->type_id);
	const struct btf_member *local_m = btf_members(local_t) + local_acc->idx;
	uint32_t targ_id;
	const struct btf_type *t = btf_skip_mods_and_typedefs(spec->btf, *id, &targ_id);

	*matched = false;
	if (!btf_is_composite(t))
		return NULL;
	if (depth == CORE_MAX_ACCESS)
		return core_too_much();
	for (uint32_t i = 0, n = btf_vlen(t); i < n; i++) {
		const struct btf_member *m = btf_members(t) + i;
		uint64_t start = spec->bit_offset;

		if (!core_step(core))
			return core_too_much();
		const char *name = m->name_off ? btf__name_by_offset(spec->btf, m->name_off) : "";
		if (!*name) {
			uint32_t inner = m->type;

			spec->bit_offset += btf_member_bit_offset(t, i);
			TRY(match_member(core, local, local_acc, spec, &inner, depth + 1, matched));
			if (*matched) {
				*id = inner;
				return NULL;
			}
			spec->bit_offset = start;
		} else if (strcmp(name, local_acc->name) == 0) {
			TRY(core_fields_compat(core, local->btf, local_m->type, spec->btf, m->type,
					       matched));
			if (!*matched)
				return NULL;
			TRY(add_access(spec, targ_id, i, name));
			spec->bit_offset += btf_member_bit_offset(t, i);
			*id = m->type;
			return NULL;
		}
	}
	return NULL;
}

static struct error *match_element(struct core_spec *spec, const struct core_access *local_acc,
				   uint32_t *id, bool *matched)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(spec->btf, *id, id);

	*matched = false;
	if (!btf_is_array(t))
		return NULL;
	const struct btf_array *array = btf_array(t);
	if (local_acc->idx >= array->nelems &&
	    !is_flexible(spec->btf, &spec->acc[spec->len - 1], array))
		return NULL;
	btf_skip_mods_and_typedefs(spec->btf, array->type, id);
	TRY(add_access(spec, *id, local_acc->idx, NULL));
	TRY(add_elements(spec, *id, local_acc->idx));
	*matched = true;
	return NULL;
}

static struct error *match_fields(struct core *core, const struct core_spec *local,
				  struct core_spec *spec, bool *matched)
{
	uint32_t id = spec->root_id;

	/* the first step is over whole root types, whatever they are */
	btf_skip_mods_and_typedefs(spec->btf, id, &id);
	TRY(add_access(spec, id, local->acc[0].idx, NULL));
	TRY(add_elements(spec, id, local->acc[0].idx));
	*matched = true;
	for (uint32_t i = 1; i < local->len && *matched; i++) {
		const struct core_access *acc = &local->acc[i];

		if (acc->name)
			TRY(match_member(core, local, acc, spec, &id, 0, matched));
		else
			TRY(match_element(spec, acc, &id, matched));
	}
	return NULL;
}

static struct error *match_enum(struct core *core, const struct core_spec *local,
				struct core_spec *spec, bool *matched)
{
	uint32_t id;
	const struct btf_type *t = btf_skip_mods_and_typedefs(spec->btf, spec->root_id, &id);

	*matched = false;
	if (!btf_is_any_enum(t))
		return NULL;
	uint32_t words = btf_is_enum(t) ? 2 : 3;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *name =
			btf__name_by_offset(spec->btf, ((const uint32_t *)(t + 1))[i * words]);

		if (!core_step(core))
			return core_too_much();
		if (name && core_same_essential(name, local->acc[0].name)) {
			*matched = true;
			return add_access(spec, id, i, name);
		}
	}
	return NULL;
}

struct error *core_spec_match(struct core *core, const struct core_spec *local,
			      const struct core_cand *cand, uint32_t kind, struct core_spec *spec,
			      bool *matched)
{
	spec->btf = cand->btf;
	spec->root_id = cand->id;
	spec->bit_offset = 0;
	spec->len = 0;
	if (kind == CORE_TYPE_MATCHES)
		return core_types_match(core, local->btf, local->root_id, cand->btf, cand->id,
					matched);
	if (core_kind_is_enum(kind))
		return match_enum(core, local, spec, matched);
	if (core_kind_is_field(kind))
		return match_fields(core, local, spec, matched);
	return core_types_compat(core, local->btf, local->root_id, cand->btf, cand->id, matched);
}

const char *core_kind_name(uint32_t kind)
{
	static const char *const names[] = {
		[CORE_FIELD_BYTE_OFFSET] = "offset of field",
		[CORE_FIELD_BYTE_SIZE] = "size of field",
		[CORE_FIELD_EXISTS] = "existence of field",
		[CORE_FIELD_SIGNED] = "signedness of field",
		[CORE_FIELD_LSHIFT_U64] = "left shift of field",
		[CORE_FIELD_RSHIFT_U64] = "right shift of field",
		[CORE_TYPE_ID_LOCAL] = "local id of type",
		[CORE_TYPE_ID_TARGET] = "id of type",
		[CORE_TYPE_EXISTS] = "existence of type",
		[CORE_TYPE_SIZE] = "size of type",
		[CORE_ENUMVAL_EXISTS] = "existence of enum value",
		[CORE_ENUMVAL_VALUE] = "value of enum value",
		[CORE_TYPE_MATCHES] = "match of type",
	};

	return kind < ARRAY_SIZE(names) ? names[kind] : "unknown relocation of type";
}

void core_spec_describe(const struct core_spec *spec, uint32_t kind, struct strbuf *sb)
{
	const struct btf_type *t = btf__type_by_id(spec->btf, spec->root_id);
	const char *name = t ? btf_name(spec->btf, t) : "";

	if (t && btf_kind(t) != BTF_KIND_TYPEDEF && btf_kind(t) != BTF_KIND_INT)
		strbuf_addf(sb, "%s ", btf_kind_name(btf_kind(t)));
	strbuf_adds(sb, *name ? name : "(anonymous)");
	if (core_kind_is_enum(kind)) {
		if (spec->len)
			strbuf_addf(sb, " %s", spec->acc[0].name);
		return;
	}
	for (uint32_t i = 0; i < spec->len; i++) {
		if (spec->acc[i].name)
			strbuf_addf(sb, ".%s", spec->acc[i].name);
		else if (i || spec->acc[i].idx)
			strbuf_addf(sb, "[%u]", spec->acc[i].idx);
	}
}
