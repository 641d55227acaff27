// SPDX-License-Identifier: BSD-2-Clause
/*
 * What the author may have meant, for hints: the members of the target's
 * struct whose names are near to the one that is not there, the enumerators of
 * the enum, or types of a name near to the type's. Asked only when a program
 * was refused.
 */
#include "lib/core/internal.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"

/* How deep anonymous structs are followed for names. */
#define DEPTH_MAX 6

/* The name without "___flavor"; the caller's. */
static char *essential_name(const char *name)
{
	const char *flavor = strstr(name, "___");

	return strndup(name, flavor && flavor != name ? (size_t)(flavor - name) : strlen(name));
}

/* Offers all names of a struct; *into is the type of the member that is called want. */
static void offer_members(const struct btf *btf, uint32_t id, const char *want,
			  struct nearest *near, uint32_t *into, int depth)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, NULL);

	if (!t || !btf_is_composite(t) || depth > DEPTH_MAX)
		return;
	const struct btf_member *m = btf_members(t);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const char *name = btf__name_by_offset(btf, m[i].name_off);

		if (!name || !name[0]) {
			offer_members(btf, m[i].type, want, near, into, depth + 1);
			continue;
		}
		nearest_offer(near, name);
		if (!strcmp(name, want))
			*into = m[i].type;
	}
}

/* Walks the names that the target has too; offers what stands beside the first it has not. */
static bool near_field(const struct btf *btf, uint32_t id, const struct core_spec *local,
		       struct strbuf *sb)
{
	for (uint32_t i = 0; i < local->len; i++) {
		const char *want = local->acc[i].name;
		uint32_t into = 0;

		if (!want)
			continue;
		struct nearest near = nearest_make(want);
		offer_members(btf, id, want, &near, &into, 0);
		if (!into)
			return nearest_text(&near, sb);
		id = into;
	}
	return false;
}

static bool near_enumerator(const struct btf *btf, uint32_t id, const struct core_spec *local,
			    struct strbuf *sb)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(btf, id, NULL);
	const char *want = local->len ? local->acc[0].name : NULL;

	if (!t || !want || (!btf_is_enum(t) && !btf_is_enum64(t)))
		return false;
	_cleanup_free_ char *name = essential_name(want);
	if (!name)
		return false;
	struct nearest near = nearest_make(name);
	for (uint32_t i = 0; i < btf_vlen(t); i++)
		nearest_offer(&near,
			      btf__name_by_offset(btf, btf_is_enum(t) ? btf_enum(t)[i].name_off
								      : btf_enum64(t)[i].name_off));
	return nearest_text(&near, sb);
}

static void offer_types(const struct btf *btf, uint32_t first, uint32_t kind, struct nearest *near)
{
	const uint32_t n = btf__type_cnt(btf);

	for (uint32_t id = first; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_kind(t) == kind && btf_name(btf, t)[0])
			nearest_offer(near, btf_name(btf, t));
	}
}

static bool near_type(const struct core *core, const char *want, uint32_t kind, struct strbuf *sb)
{
	struct nearest near = nearest_make(want);

	offer_types(core->target, 1, kind, &near);
	for (size_t i = 0; i < core->modules.n; i++)
		offer_types(core->modules.btfs[i], btf_start_id(core->modules.btfs[i]), kind,
			    &near);
	return nearest_text(&near, sb);
}

/* The target's type of that name, or the first module's; 0: there is none. */
static uint32_t find_type(const struct core *core, const char *name, uint32_t kind,
			  const struct btf **btf)
{
	int id = btf__find_by_name_kind(core->target, name, kind);

	*btf = core->target;
	for (size_t i = 0; id <= 0 && i < core->modules.n; i++) {
		*btf = core->modules.btfs[i];
		id = btf__find_by_name_kind(*btf, name, kind);
	}
	return id > 0 ? (uint32_t)id : 0;
}

struct error *core_nearest(const struct core *core, int32_t imm, struct strbuf *sb)
{
	const int64_t i = (int64_t)imm - CORE_POISON_BASE;

	if (i < 0 || i >= (int64_t)core->poisons.n)
		return NULL;
	const struct btf_core_relo *relo = &core->poisons.v[i].relo;
	const struct btf_type *t = btf__type_by_id(core->local, relo->type_id);
	_cleanup_free_ struct core_spec *spec = malloc(sizeof(*spec));
	_cleanup_free_ char *root = t ? essential_name(btf_name(core->local, t)) : NULL;

	if (!spec || !root)
		return error_nomem();
	TRY(core_spec_parse(core->local, relo->type_id, relo->kind,
			    btf__str_by_offset(core->local, relo->access_str_off), spec));
	const struct btf *btf;
	const uint32_t id = find_type(core, root, btf_kind(t), &btf);
	if (!id)
		near_type(core, root, btf_kind(t), sb);
	else if (core_kind_is_field(relo->kind))
		near_field(btf, id, spec, sb);
	else if (core_kind_is_enum(relo->kind))
		near_enumerator(btf, id, spec, sb);
	return strbuf_failed(sb) ? error_nomem() : NULL;
}
