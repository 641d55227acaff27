// SPDX-License-Identifier: BSD-2-Clause
/*
 * The ids and the names of a type, one after the other: what whoever moves
 * types or strings has to change. A type's head has a name and, for most kinds,
 * a reference; behind it stand entries of two or three words, of which one may
 * be a name and one a reference (Documentation/bpf/btf.rst).
 */
#include "lib/btf/internal.h"

struct kind_shape {
	bool ref;	/* the head's third word is an id */
	uint8_t words;	/* of an entry; 0: the kind has none */
	int8_t str, id; /* which of them; -1: none */
};

static struct kind_shape shape_of(uint32_t kind)
{
	switch (kind) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (struct kind_shape){false, 3, 0, 1};
	case BTF_KIND_ENUM:
		return (struct kind_shape){false, 2, 0, -1};
	case BTF_KIND_ENUM64:
		return (struct kind_shape){false, 3, 0, -1};
	case BTF_KIND_FUNC_PROTO:
		return (struct kind_shape){true, 2, 0, 1};
	case BTF_KIND_DATASEC:
		return (struct kind_shape){false, 3, -1, 0};
	case BTF_KIND_ARRAY: /* its two words as entries of one */
		return (struct kind_shape){false, 1, -1, 0};
	case BTF_KIND_PTR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
	case BTF_KIND_TYPE_TAG:
		return (struct kind_shape){true, 0, -1, -1};
	default:
		return (struct kind_shape){false, 0, -1, -1};
	}
}

static struct btf_fields fields_of(struct btf_type *t, bool ids)
{
	const uint32_t kind = btf_kind(t);
	const struct kind_shape shape = shape_of(kind);
	const int at = ids ? shape.id : shape.str;
	uint32_t *words = (uint32_t *)(t + 1);

	return (struct btf_fields){
		.head = !ids	    ? &t->name_off
			: shape.ref ? &t->type
				    : NULL,
		.entry = at < 0 ? NULL : words + at,
		.step = shape.words,
		.left = at < 0			 ? 0
			: kind == BTF_KIND_ARRAY ? 2
						 : btf_vlen(t),
	};
}

struct btf_fields btf_ids_of(struct btf_type *t)
{
	return fields_of(t, true);
}

struct btf_fields btf_strs_of(struct btf_type *t)
{
	return fields_of(t, false);
}

uint32_t *btf_fields_next(struct btf_fields *f)
{
	uint32_t *field = f->head;

	if (field) {
		f->head = NULL;
		return field;
	}
	if (!f->left)
		return NULL;
	f->left--;
	field = f->entry;
	f->entry += f->step;
	return field;
}
