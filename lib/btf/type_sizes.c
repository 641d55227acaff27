// SPDX-License-Identifier: BSD-2-Clause
/*
 * Size, alignment, and what stands behind typedefs. References form a graph
 * that comes from outside: every walk along it is bounded in length, and a
 * walk that branches (alignment visits all members) remembers what it found,
 * so that a hostile graph costs no more than its size.
 */
#include "lib/btf/internal.h"

#include <stdlib.h>
#include <string.h>

const struct btf_type *btf_skip_mods_and_typedefs(const struct btf *btf, uint32_t id,
						  uint32_t *res_id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	for (int i = 0; t && i < BTF_MAX_CHAIN && (btf_is_mod(t) || btf_is_typedef(t)); i++) {
		id = t->type;
		t = btf__type_by_id(btf, id);
	}
	/* a chain without an end is void, which nothing fits */
	if (!t || btf_is_mod(t) || btf_is_typedef(t)) {
		id = 0;
		t = btf__type_by_id(btf, 0);
	}
	if (res_id)
		*res_id = id;
	return t;
}

static bool is_long(const char *name)
{
	return strcmp(name, "long") == 0 || strcmp(name, "long int") == 0 ||
	       strcmp(name, "unsigned long") == 0 || strcmp(name, "long unsigned int") == 0 ||
	       strcmp(name, "int long") == 0 || strcmp(name, "int long unsigned") == 0 ||
	       strcmp(name, "long signed int") == 0;
}

/* The size of "long"; 0: no such type. */
static uint8_t find_ptr_size(const struct btf *btf)
{
	if (btf->base) {
		uint8_t size = btf__pointer_size(btf->base);

		if (size)
			return size;
	}
	for (uint32_t i = 0; i < btf->n; i++) {
		const struct btf_type *t = btf_type_at(btf, btf->start_id + i);

		if (btf_is_int(t) && (t->size == 4 || t->size == 8) && is_long(btf_name(btf, t)))
			return t->size;
	}
	return 0;
}

size_t btf__pointer_size(const struct btf *btf)
{
	/* a cache */
	if (!btf->ptr_size)
		((struct btf *)btf)->ptr_size = find_ptr_size(btf);
	return btf->ptr_size;
}

int btf__set_pointer_size(struct btf *btf, size_t ptr_sz)
{
	if (ptr_sz != 4 && ptr_sz != 8)
		return edge_errno(EINVAL);
	btf->ptr_size = ptr_sz;
	btf->ptr_size_set = true;
	return 0;
}

uint32_t btf_ptr_bytes(const struct btf *btf)
{
	size_t size = btf__pointer_size(btf);

	return size ? size : 8;
}

__s64 btf__resolve_size(const struct btf *btf, __u32 type_id)
{
	const struct btf_type *t = btf__type_by_id(btf, type_id);
	uint64_t n = 1, size;

	for (int i = 0; t && i < BTF_MAX_CHAIN; i++) {
		switch (btf_kind(t)) {
		case BTF_KIND_INT:
		case BTF_KIND_STRUCT:
		case BTF_KIND_UNION:
		case BTF_KIND_ENUM:
		case BTF_KIND_ENUM64:
		case BTF_KIND_DATASEC:
		case BTF_KIND_FLOAT:
			size = t->size;
			break;
		case BTF_KIND_PTR:
			size = btf_ptr_bytes(btf);
			break;
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_CONST:
		case BTF_KIND_RESTRICT:
		case BTF_KIND_VAR:
		case BTF_KIND_DECL_TAG:
		case BTF_KIND_TYPE_TAG:
			t = btf__type_by_id(btf, t->type);
			continue;
		case BTF_KIND_ARRAY:
			n *= btf_array(t)->nelems;
			if (n > UINT32_MAX)
				return edge_errno(E2BIG);
			t = btf__type_by_id(btf, btf_array(t)->type);
			continue;
		default:
			return edge_errno(EINVAL);
		}
		return n * size > UINT32_MAX ? edge_errno(E2BIG) : (__s64)(n * size);
	}
	return edge_errno(t ? E2BIG : EINVAL);
}

int btf__resolve_type(const struct btf *btf, __u32 type_id)
{
	const struct btf_type *t = btf__type_by_id(btf, type_id);

	for (int i = 0; t && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_var(t)); i++) {
		if (i == BTF_MAX_CHAIN)
			return edge_errno(EINVAL);
		type_id = t->type;
		t = btf__type_by_id(btf, type_id);
	}
	return t && !btf_is_void(t) ? (int)type_id : edge_errno(EINVAL);
}

/* ---- alignment ---- */

enum {
	ALIGN_UNKNOWN = 0,
	ALIGN_NONE = 0xfe,   /* the type has no alignment */
	ALIGN_ASKING = 0xff, /* being worked out: meeting it again is a loop */
};

static uint8_t align_of(const struct btf *btf, uint32_t id, int depth);

/*
 * That of the most aligned member; but 1 where the members or the size do
 * not fit it: then the struct is packed.
 */
static uint8_t align_of_struct(const struct btf *btf, const struct btf_type *t, int depth)
{
	uint8_t max = 1;

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		uint8_t align = align_of(btf, btf_members(t)[i].type, depth + 1);

		if (align == ALIGN_NONE)
			return ALIGN_NONE;
		if (!btf_member_bitfield_size(t, i) && btf_member_bit_offset(t, i) % (8 * align))
			return 1;
		max = max_of(max, align);
	}
	return t->size % max ? 1 : max;
}

static uint8_t work_out_align(const struct btf *btf, const struct btf_type *t, int depth)
{
	switch (btf_kind(t)) {
	case BTF_KIND_INT:
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
	case BTF_KIND_FLOAT: {
		uint32_t align = min_of(btf_ptr_bytes(btf), t->size);

		/* odd sizes exist: a 12-byte long double, or nonsense */
		return align && !(align & (align - 1)) ? align : 1;
	}
	case BTF_KIND_PTR:
		return btf_ptr_bytes(btf);
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
	case BTF_KIND_VAR:
		return align_of(btf, t->type, depth + 1);
	case BTF_KIND_ARRAY:
		return align_of(btf, btf_array(t)->type, depth + 1);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return align_of_struct(btf, t, depth);
	default:
		return ALIGN_NONE;
	}
}

static uint8_t align_of(const struct btf *btf, uint32_t id, int depth)
{
	if (id < btf->start_id)
		return id && btf->base ? align_of(btf->base, id, depth) : ALIGN_NONE;
	if (depth > BTF_MAX_DEPTH || id >= btf__type_cnt(btf))
		return ALIGN_NONE;
	uint8_t *known = &btf->aligns[id - btf->start_id];
	if (*known == ALIGN_ASKING)
		return ALIGN_NONE;
	if (*known == ALIGN_UNKNOWN) {
		*known = ALIGN_ASKING;
		*known = work_out_align(btf, btf_type_at(btf, id), depth);
	}
	return *known;
}

static bool have_aligns(const struct btf *btf)
{
	if (btf->base && !have_aligns(btf->base))
		return false;
	/* a cache */
	if (!btf->aligns)
		((struct btf *)btf)->aligns = calloc(1, (size_t)btf->n + 1);
	return btf->aligns;
}

int btf__align_of(const struct btf *btf, __u32 id)
{
	if (!have_aligns(btf)) {
		errno = ENOMEM;
		return 0;
	}
	uint8_t align = align_of(btf, id, 0);
	if (align == ALIGN_NONE) {
		errno = EINVAL;
		return 0;
	}
	return align;
}
