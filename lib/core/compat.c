// SPDX-License-Identifier: BSD-2-Clause
/*
 * When are a type of the object and one of the target the same for CO-RE?
 * There are three answers, from lenient to strict:
 *
 *   fields: a field may be read as the local type says. Structs are all the
 *	same (accesses into them are relocated on their own), integers of any
 *	size too; enums need the same name.
 *   compat: a type exists. Below the name, the kinds are compared through
 *	pointers, arrays and prototypes.
 *   match: a type is what the object believes: every local member and enum
 *	value is in the target, with the same type; behind a pointer the name
 *	suffices.
 *
 * The rules are those of the kernel (tools/lib/bpf/relo_core.c and
 * kernel/bpf/btf.c describe them), because programs are written against them.
 */
#include "lib/core/internal.h"

#include <string.h>

#define MAX_LEVEL 32

static bool ints_are_plain(const struct btf_type *a, const struct btf_type *b)
{
	/* integers with a bit offset are bitfields of the oldest BTF */
	return btf_int_offset(a) == 0 && btf_int_offset(b) == 0;
}

struct error *core_fields_compat(struct core *core, const struct btf *local, uint32_t local_id,
				 const struct btf *targ, uint32_t targ_id, bool *yes)
{
	*yes = false;
	for (;;) {
		const struct btf_type *lt = btf_skip_mods_and_typedefs(local, local_id, NULL);
		const struct btf_type *tt = btf_skip_mods_and_typedefs(targ, targ_id, NULL);

		if (!core_step(core))
			return core_too_much();
		if (btf_is_composite(lt) && btf_is_composite(tt)) {
			*yes = true;
			return NULL;
		}
		if (!btf_kind_core_compat(lt, tt))
			return NULL;
		switch (btf_kind(lt)) {
		case BTF_KIND_PTR:
		case BTF_KIND_FLOAT:
			*yes = true;
			return NULL;
		case BTF_KIND_FWD:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64: {
			const char *ln = btf_name(local, lt), *tn = btf_name(targ, tt);

			*yes = !*ln || !*tn || core_same_essential(ln, tn);
			return NULL;
		}
		case BTF_KIND_INT:
			*yes = ints_are_plain(lt, tt);
			return NULL;
		case BTF_KIND_ARRAY:
			local_id = btf_array(lt)->type;
			targ_id = btf_array(tt)->type;
			continue;
		default:
			return NULL;
		}
	}
}

static struct error *compat(struct core *core, const struct btf *local, uint32_t local_id,
			    const struct btf *targ, uint32_t targ_id, int level, bool *yes)
{
	*yes = false;
	if (level > MAX_LEVEL)
		return core_too_much();
	for (;;) {
		const struct btf_type *lt = btf_skip_mods_and_typedefs(local, local_id, NULL);
		const struct btf_type *tt = btf_skip_mods_and_typedefs(targ, targ_id, NULL);

		if (!core_step(core))
			return core_too_much();
		if (!btf_kind_core_compat(lt, tt))
			return NULL;
		switch (btf_kind(lt)) {
		case BTF_KIND_UNKN:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_FWD:
			*yes = true;
			return NULL;
		case BTF_KIND_INT:
			*yes = ints_are_plain(lt, tt);
			return NULL;
		case BTF_KIND_PTR:
			break;
		case BTF_KIND_ARRAY:
			local_id = btf_array(lt)->type;
			targ_id = btf_array(tt)->type;
			continue;
		case BTF_KIND_FUNC_PROTO:
			if (btf_vlen(lt) != btf_vlen(tt))
				return NULL;
			for (uint32_t i = 0; i < btf_vlen(lt); i++) {
				TRY(compat(core, local, btf_params(lt)[i].type, targ,
					   btf_params(tt)[i].type, level + 1, yes));
				if (!*yes)
					return NULL;
			}
			*yes = false;
			break;
		default:
			return NULL;
		}
		/* what is pointed to, or returned */
		local_id = lt->type;
		targ_id = tt->type;
	}
}

struct error *core_types_compat(struct core *core, const struct btf *local, uint32_t local_id,
				const struct btf *targ, uint32_t targ_id, bool *yes)
{
	*yes = false;
	/* a typedef is not what it stands for */
	if (!btf_kind_core_compat(btf__type_by_id(local, local_id), btf__type_by_id(targ, targ_id)))
		return NULL;
	return compat(core, local, local_id, targ, targ_id, 0, yes);
}

struct error *core_declared_compat(const struct btf *local, uint32_t local_id,
				   const struct btf *targ, uint32_t targ_id, bool *yes)
{
	struct core core = {.local = local, .work = CORE_MAX_WORK};

	return core_types_compat(&core, local, local_id, targ, targ_id, yes);
}

static bool names_match(const struct btf *local, uint32_t local_off, const struct btf *targ,
			uint32_t targ_off)
{
	const char *l = btf__name_by_offset(local, local_off);
	const char *t = btf__name_by_offset(targ, targ_off);

	return l && t && core_same_essential(l, t);
}

static bool enums_match(struct core *core, const struct btf *local, const struct btf_type *lt,
			const struct btf *targ, const struct btf_type *tt)
{
	uint32_t lw = btf_is_enum(lt) ? 2 : 3, tw = btf_is_enum(tt) ? 2 : 3;
	const uint32_t *l = (const uint32_t *)(lt + 1), *t = (const uint32_t *)(tt + 1);

	for (uint32_t i = 0; i < btf_vlen(lt); i++) {
		bool found = false;

		for (uint32_t k = 0; k < btf_vlen(tt) && !found && core_step(core); k++)
			found = names_match(local, l[i * lw], targ, t[k * tw]);
		if (!found)
			return false;
	}
	return true;
}

static struct error *match(struct core *core, const struct btf *local, uint32_t local_id,
			   const struct btf *targ, uint32_t targ_id, bool behind_ptr, int level,
			   bool *yes);

static struct error *composites_match(struct core *core, const struct btf *local,
				      const struct btf_type *lt, const struct btf *targ,
				      const struct btf_type *tt, int level, bool *yes)
{
	const struct btf_member *lm = btf_members(lt), *tm = btf_members(tt);

	*yes = btf_vlen(lt) <= btf_vlen(tt);
	for (uint32_t i = 0; i < btf_vlen(lt) && *yes; i++) {
		*yes = false;
		for (uint32_t k = 0; k < btf_vlen(tt) && !*yes; k++) {
			if (!core_step(core))
				return core_too_much();
			if (names_match(local, lm[i].name_off, targ, tm[k].name_off))
				TRY(match(core, local, lm[i].type, targ, tm[k].type, false,
					  level + 1, yes));
		}
	}
	return NULL;
}

/* For what a pointer leads to, the name and a forward declaration are enough. */
static bool named_match(const struct btf_type *lt, const struct btf_type *tt)
{
	bool l_union = btf_is_fwd(lt) ? btf_kflag(lt) : btf_is_union(lt);
	bool t_union = btf_is_fwd(tt) ? btf_kflag(tt) : btf_is_union(tt);

	return (btf_is_fwd(tt) || btf_is_composite(tt)) && l_union == t_union;
}

static struct error *match(struct core *core, const struct btf *local, uint32_t local_id,
			   const struct btf *targ, uint32_t targ_id, bool behind_ptr, int level,
			   bool *yes)
{
	*yes = false;
	if (level > MAX_LEVEL)
		return core_too_much();
	for (;;) {
		const struct btf_type *lt = btf_skip_mods_and_typedefs(local, local_id, NULL);
		const struct btf_type *tt = btf_skip_mods_and_typedefs(targ, targ_id, NULL);
		bool same_kind = btf_kind(lt) == btf_kind(tt);

		if (!core_step(core))
			return core_too_much();
		if (!names_match(local, lt->name_off, targ, tt->name_off))
			return NULL;
		switch (btf_kind(lt)) {
		case BTF_KIND_UNKN:
			*yes = same_kind;
			return NULL;
		case BTF_KIND_FWD:
			*yes = (behind_ptr || same_kind) && named_match(lt, tt);
			return NULL;
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
			*yes = btf_is_any_enum(tt) && enums_match(core, local, lt, targ, tt);
			return NULL;
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
			if (behind_ptr) {
				*yes = named_match(lt, tt);
				return NULL;
			}
			return same_kind ? composites_match(core, local, lt, targ, tt, level, yes)
					 : NULL;
		case BTF_KIND_INT:
			*yes = same_kind && lt->size == tt->size &&
			       !((btf_int_encoding(lt) ^ btf_int_encoding(tt)) & BTF_INT_SIGNED);
			return NULL;
		case BTF_KIND_FLOAT:
			*yes = same_kind && lt->size == tt->size;
			return NULL;
		case BTF_KIND_PTR:
			if (!same_kind)
				return NULL;
			behind_ptr = true;
			break;
		case BTF_KIND_ARRAY:
			if (!same_kind || btf_array(lt)->nelems != btf_array(tt)->nelems)
				return NULL;
			local_id = btf_array(lt)->type;
			targ_id = btf_array(tt)->type;
			continue;
		case BTF_KIND_FUNC_PROTO:
			if (!same_kind || btf_vlen(lt) != btf_vlen(tt))
				return NULL;
			for (uint32_t i = 0; i < btf_vlen(lt); i++) {
				TRY(match(core, local, btf_params(lt)[i].type, targ,
					  btf_params(tt)[i].type, behind_ptr, level + 1, yes));
				if (!*yes)
					return NULL;
			}
			*yes = false;
			break;
		default:
			return NULL;
		}
		local_id = lt->type;
		targ_id = tt->type;
	}
}

struct error *core_types_match(struct core *core, const struct btf *local, uint32_t local_id,
			       const struct btf *targ, uint32_t targ_id, bool *yes)
{
	return match(core, local, local_id, targ, targ_id, false, 0, yes);
}
