/* SPDX-License-Identifier: BSD-2-Clause */
/* The inside of struct btf; see btf_object.c. */
#ifndef PB_BTF_INTERNAL_H
#define PB_BTF_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cursor.h"
#include "lib/base/edge.h"
#include "lib/base/vec.h"
#include "lib/btf/open.h"

/* Chains of typedefs, modifiers, arrays and nested structs that are followed at most. */
#define BTF_MAX_CHAIN 32
#define BTF_MAX_DEPTH 128

/* What follows a DECL_TAG, and a value of an ENUM64. */
struct btf_decl_tag_data {
	int32_t component_idx;
};

struct btf_enum64_data {
	uint32_t name_off;
	uint32_t val_lo32;
	uint32_t val_hi32;
};

/* From an essential name to the types that have it; index.c. */
struct btf_index;

/* From a string to its offset; write.c. */
struct btf_strset;

struct btf {
	const struct btf *base;
	uint32_t start_id;  /* id of the first own type */
	uint32_t start_str; /* offset of the first own string */

	uint32_t n;	 /* own types */
	uint32_t *offs;	 /* n: where type start_id + i begins in types */
	size_t offs_cap; /* elements */

	/* In the host's byte order. Borrowed from data until writable is set. */
	const uint8_t *types;
	uint32_t types_len;
	const char *strs;
	uint32_t strs_len;
	bool writable; /* types and strs are allocated */
	size_t types_cap;
	size_t strs_cap;

	/* The bytes it was opened over. */
	void *data;
	size_t data_size;
	struct btf_backing backing;

	bool swap;	  /* btf__raw_data() is in the other byte order */
	uint8_t ptr_size; /* 0: not known */
	bool ptr_size_set;
	int fd;

	/* Made when first asked for. */
	struct btf_index *index[2]; /* of functions: [1]; of the rest: [0] */
	uint8_t searches[2];	    /* without that table */
	struct btf_strset *strset;
	uint8_t *aligns; /* per own type; type_sizes.c */
	void *raw;
	uint32_t raw_size;
};

/* A type that is known to exist. */
static inline const struct btf_type *btf_type_at(const struct btf *btf, uint32_t id)
{
	while (id < btf->start_id && btf->base)
		btf = btf->base;
	return id == 0 ? btf__type_by_id(btf, 0)
		       : (const struct btf_type *)(btf->types + btf->offs[id - btf->start_id]);
}

/* What follows struct btf_type for each kind: bytes, and bytes per entry. */
#define BTF_NO_KIND 0xff
extern const struct btf_kind_size {
	uint8_t fixed; /* BTF_NO_KIND: there is no such kind */
	uint8_t entry;
} btf_kind_sizes[32];

/* Bytes that follow struct btf_type for a kind and vlen; -1: unknown kind. */
static inline int btf_extra_size(uint32_t kind, uint32_t vlen)
{
	if (kind >= ARRAY_SIZE(btf_kind_sizes))
		return -1;
	const struct btf_kind_size size = btf_kind_sizes[kind];

	return size.fixed == BTF_NO_KIND ? -1 : (int)(size.fixed + vlen * size.entry);
}

/* Reads the types and strings of a header-less piece: fills offs and n. */
struct error *btf_index_types(struct btf *btf, const char *name, uint64_t origin);

/* types and strs become btf's own copies. */
struct error *btf_make_writable(struct btf *btf);
/* Types may be changed where they are: their bytes, not their sizes. */
struct error *btf_make_types_writable(struct btf *btf);
/* What was derived from types and strings is out of date. */
void btf_forget_derived(struct btf *btf);

void btf_index_free(struct btf_index *index);
void btf_strset_free(struct btf_strset *set);

/*
 * Turns a type section to the other byte order, in place. to_host tells
 * whether it is in the other one now. Stops with false where it is malformed.
 */
bool btf_swap_types(uint8_t *types, size_t len, bool to_host);

/* A type whose bytes may be changed; btf_make_types_writable() was called. */
static inline struct btf_type *btf_type_writable(struct btf *btf, uint32_t id)
{
	return (struct btf_type *)(btf->types + btf->offs[id - btf->start_id]);
}

/*
 * The words of a type that are ids, or offsets of strings, the head's first:
 *
 *	struct btf_fields ids = btf_ids_of(t);
 *	for (uint32_t *id; (id = btf_fields_next(&ids));) …
 */
struct btf_fields {
	uint32_t *head; /* NULL: done, or none */
	uint32_t *entry;
	uint32_t step;
	uint32_t left;
};

struct btf_fields btf_ids_of(struct btf_type *t);
struct btf_fields btf_strs_of(struct btf_type *t);
uint32_t *btf_fields_next(struct btf_fields *f);

/*
 * Adds a copy of a type of src, its names added and its ids but void's mapped.
 * The new id, or a negative errno.
 */
int btf_add_copy(struct btf *btf, const struct btf *src, const struct btf_type *src_type,
		 uint32_t (*map)(const void *ctx, uint32_t id), const void *ctx);

/* Bytes of a pointer, 8 where the types do not tell. */
uint32_t btf_ptr_bytes(const struct btf *btf);

#endif
