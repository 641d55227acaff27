// SPDX-License-Identifier: BSD-2-Clause
/*
 * Adding types. The first addition makes types and strings btf's own; they
 * then grow at the end. Strings are kept once: a hash table of offsets, built
 * at the first btf__add_str() and kept up to date by it.
 *
 * Ids that an added type refers to may be those of types still to come, so
 * they are not checked here beyond their sign; the kernel, or btf_open() of
 * the raw data, does.
 */
#include "lib/btf/internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/hash.h"

/* ---- strings ---- */

struct btf_strset {
	uint32_t *offs; /* offset + 1 into own strings; 0: empty */
	size_t mask;
	size_t n;
};

void btf_strset_free(struct btf_strset *set)
{
	if (!set)
		return;
	free(set->offs);
	free(set);
}
DEFINE_FREEP(struct btf_strset, btf_strset_free)

static uint32_t *strset_slot(const struct btf *btf, const struct btf_strset *set, const char *s)
{
	for (size_t i = hash_str(s) & set->mask;; i = (i + 1) & set->mask)
		if (!set->offs[i] || strcmp(btf->strs + set->offs[i] - 1, s) == 0)
			return &set->offs[i];
}

static bool strset_grow(const struct btf *btf, struct btf_strset *set)
{
	struct btf_strset bigger = {.mask = set->offs ? set->mask * 2 + 1 : 63, .n = set->n};

	bigger.offs = calloc(bigger.mask + 1, sizeof(*bigger.offs));
	if (!bigger.offs)
		return false;
	for (size_t i = 0; set->offs && i <= set->mask; i++)
		if (set->offs[i])
			*strset_slot(btf, &bigger, btf->strs + set->offs[i] - 1) = set->offs[i];
	free(set->offs);
	*set = bigger;
	return true;
}

/* Notes the string at own offset off; the first of equal ones stays. */
static bool strset_note(const struct btf *btf, struct btf_strset *set, uint32_t off)
{
	if ((!set->offs || (set->n + 1) * 4 > set->mask * 3) && !strset_grow(btf, set))
		return false;
	uint32_t *slot = strset_slot(btf, set, btf->strs + off);
	if (!*slot) {
		*slot = off + 1;
		set->n++;
	}
	return true;
}

static struct error *strset_build(const struct btf *btf)
{
	if (btf->strset)
		return NULL;

	_cleanup_(btf_strset_freep) struct btf_strset *set = calloc(1, sizeof(*set));
	if (!set || !strset_grow(btf, set))
		return error_nomem();
	for (uint32_t off = 0; off < btf->strs_len; off += strlen(btf->strs + off) + 1)
		if (!strset_note(btf, set, off))
			return error_nomem();
	/* a cache: nothing of what can be seen changes */
	((struct btf *)btf)->strset = steal_ptr(set);
	return NULL;
}

int btf__find_str(struct btf *btf, const char *s)
{
	if (btf->base) {
		int off = btf__find_str((struct btf *)btf->base, s);

		if (off != -ENOENT)
			return off;
	}
	struct error *err = strset_build(btf);
	if (err)
		return edge_int(err);
	uint32_t off = *strset_slot(btf, btf->strset, s);
	return off ? (int)(btf->start_str + off - 1) : edge_errno(ENOENT);
}

/* Room for n more bytes in one of the two buffers; false: no memory. */
static bool make_room(void **buf, size_t *cap, size_t len, size_t n)
{
	return len + n <= *cap || vec_grow(buf, cap, len + n, 1);
}

int btf__add_str(struct btf *btf, const char *s)
{
	if (!s)
		s = "";
	int off = btf__find_str(btf, s);
	if (off != -ENOENT)
		return off;

	struct error *err = btf_make_writable(btf);
	if (err)
		return edge_int(err);
	size_t n = strlen(s) + 1;
	if (n > INT_MAX - btf->start_str - btf->strs_len)
		return edge_errno(E2BIG);
	/* s may be one of our own strings' bytes */
	_cleanup_free_ char *copy = strdup(s);
	void *strs = (void *)btf->strs;
	if (!copy || !make_room(&strs, &btf->strs_cap, btf->strs_len, n))
		return edge_errno(ENOMEM);
	btf->strs = strs;
	memcpy((char *)strs + btf->strs_len, copy, n);
	if (!strset_note(btf, btf->strset, btf->strs_len))
		return edge_errno(ENOMEM);
	off = btf->start_str + btf->strs_len;
	btf->strs_len += n;
	free(btf->raw);
	btf->raw = NULL;
	return off;
}

/* ---- types ---- */

/* Room for n bytes at the end of the types, zeroed; NULL with errno: none. */
static void *grow_types(struct btf *btf, size_t n)
{
	struct error *err = btf_make_writable(btf);
	void *types;

	if (err)
		return edge_null(err);
	if (n > INT_MAX - (size_t)btf->types_len)
		return edge_null_errno(E2BIG);
	types = (void *)btf->types;
	if (!make_room(&types, &btf->types_cap, btf->types_len, n))
		return edge_null_errno(ENOMEM);
	btf->types = types;
	btf_forget_derived(btf);
	return memset((uint8_t *)types + btf->types_len, 0, n);
}

/* A type of the given head and n words behind it; the new id. */
static int add_type(struct btf *btf, const struct btf_type *head, const void *extra, size_t n)
{
	uint8_t *to = grow_types(btf, sizeof(*head) + n);

	if (!to)
		return -errno;
	if (btf->n == btf->offs_cap &&
	    !vec_grow((void **)&btf->offs, &btf->offs_cap, btf->n + 1, sizeof(*btf->offs)))
		return edge_errno(ENOMEM);
	memcpy(to, head, sizeof(*head));
	if (n)
		memcpy(to + sizeof(*head), extra, n);
	btf->offs[btf->n++] = btf->types_len;
	btf->types_len += sizeof(*head) + n;
	return btf->start_id + btf->n - 1;
}

static uint32_t make_info(uint32_t kind, uint32_t vlen, bool kflag)
{
	return (uint32_t)kflag << 31 | kind << 24 | vlen;
}

static bool is_named(const char *name)
{
	return name && *name;
}

static int add_named(struct btf *btf, const char *name, uint32_t info, uint32_t size_or_type,
		     const void *extra, size_t n)
{
	int off = btf__add_str(btf, name);

	if (off < 0)
		return off;
	struct btf_type head = {.name_off = off, .info = info, .size = size_or_type};
	return add_type(btf, &head, extra, n);
}

int btf__add_int(struct btf *btf, const char *name, size_t byte_sz, int encoding)
{
	bool power_of_2 = byte_sz && !(byte_sz & (byte_sz - 1));

	if (!is_named(name) || !power_of_2 || byte_sz > 16 ||
	    (encoding & ~(BTF_INT_SIGNED | BTF_INT_CHAR | BTF_INT_BOOL)))
		return edge_errno(EINVAL);
	uint32_t data = (uint32_t)encoding << 24 | byte_sz * 8;
	return add_named(btf, name, make_info(BTF_KIND_INT, 0, false), byte_sz, &data,
			 sizeof(data));
}

int btf__add_float(struct btf *btf, const char *name, size_t byte_sz)
{
	if (!is_named(name) ||
	    (byte_sz != 2 && byte_sz != 4 && byte_sz != 8 && byte_sz != 12 && byte_sz != 16))
		return edge_errno(EINVAL);
	return add_named(btf, name, make_info(BTF_KIND_FLOAT, 0, false), byte_sz, NULL, 0);
}

/* A type that refers to another and has nothing behind it. */
static int add_ref(struct btf *btf, uint32_t kind, const char *name, int ref_type_id, bool kflag)
{
	if (ref_type_id < 0)
		return edge_errno(EINVAL);
	return add_named(btf, name, make_info(kind, 0, kflag), ref_type_id, NULL, 0);
}

int btf__add_ptr(struct btf *btf, int ref_type_id)
{
	return add_ref(btf, BTF_KIND_PTR, NULL, ref_type_id, false);
}

int btf__add_array(struct btf *btf, int index_type_id, int elem_type_id, __u32 nr_elems)
{
	struct btf_array array = {elem_type_id, index_type_id, nr_elems};

	if (index_type_id < 0 || elem_type_id < 0)
		return edge_errno(EINVAL);
	return add_named(btf, NULL, make_info(BTF_KIND_ARRAY, 0, false), 0, &array, sizeof(array));
}

int btf__add_struct(struct btf *btf, const char *name, __u32 sz)
{
	return add_named(btf, name, make_info(BTF_KIND_STRUCT, 0, false), sz, NULL, 0);
}

int btf__add_union(struct btf *btf, const char *name, __u32 sz)
{
	return add_named(btf, name, make_info(BTF_KIND_UNION, 0, false), sz, NULL, 0);
}

/* The type added last; NULL: there is none. */
static struct btf_type *last_type(struct btf *btf)
{
	return btf->n && btf->writable ? btf_type_writable(btf, btf->start_id + btf->n - 1) : NULL;
}

/* Appends one entry to the type added last. */
static int add_entry(struct btf *btf, const void *entry, size_t n, bool kflag)
{
	void *to = grow_types(btf, n);

	if (!to)
		return -errno;
	memcpy(to, entry, n);
	btf->types_len += n;

	struct btf_type *t = last_type(btf);
	t->info = make_info(btf_kind(t), btf_vlen(t) + 1, btf_kflag(t) || kflag);
	return 0;
}

int btf__add_field(struct btf *btf, const char *name, int field_type_id, __u32 bit_offset,
		   __u32 bit_size)
{
	struct btf_type *t = last_type(btf);
	bool bitfield = bit_size || bit_offset % 8;

	if (!t || !btf_is_composite(t) || field_type_id < 0 || btf_vlen(t) == BTF_MAX_VLEN ||
	    (btf_is_union(t) && bit_offset) || (bitfield && (!bit_size || bit_size > 255)) ||
	    ((bitfield || btf_kflag(t)) && bit_offset > 0xffffff))
		return edge_errno(EINVAL);
	if (bitfield && !btf_kflag(t))
		for (uint32_t i = 0; i < btf_vlen(t); i++)
			if (btf_members(t)[i].offset > 0xffffff)
				return edge_errno(EINVAL);
	int name_off = btf__add_str(btf, name);
	if (name_off < 0)
		return name_off;
	struct btf_member m = {name_off, field_type_id, bit_offset | bit_size << 24};
	return add_entry(btf, &m, sizeof(m), bitfield);
}

int btf__add_enum(struct btf *btf, const char *name, __u32 bytes_sz)
{
	if (!bytes_sz || (bytes_sz & (bytes_sz - 1)) || bytes_sz > 8)
		return edge_errno(EINVAL);
	return add_named(btf, name, make_info(BTF_KIND_ENUM, 0, false), bytes_sz, NULL, 0);
}

int btf__add_enum_value(struct btf *btf, const char *name, __s64 value)
{
	struct btf_type *t = last_type(btf);

	if (!t || !btf_is_enum(t) || !is_named(name) || btf_vlen(t) == BTF_MAX_VLEN)
		return edge_errno(EINVAL);
	if (value < INT_MIN || value > UINT_MAX)
		return edge_errno(E2BIG);
	int name_off = btf__add_str(btf, name);
	if (name_off < 0)
		return name_off;
	struct btf_enum e = {name_off, (int32_t)value};
	/* kind_flag: the values are signed */
	return add_entry(btf, &e, sizeof(e), value < 0);
}

int btf__add_enum64(struct btf *btf, const char *name, __u32 bytes_sz, bool is_signed)
{
	if (!bytes_sz || (bytes_sz & (bytes_sz - 1)) || bytes_sz > 8)
		return edge_errno(EINVAL);
	return add_named(btf, name, make_info(BTF_KIND_ENUM64, 0, is_signed), bytes_sz, NULL, 0);
}

int btf__add_enum64_value(struct btf *btf, const char *name, __u64 value)
{
	struct btf_type *t = last_type(btf);

	if (!t || !btf_is_enum64(t) || !is_named(name) || btf_vlen(t) == BTF_MAX_VLEN)
		return edge_errno(EINVAL);
	int name_off = btf__add_str(btf, name);
	if (name_off < 0)
		return name_off;
	struct btf_enum64_data e = {name_off, (uint32_t)value, value >> 32};
	return add_entry(btf, &e, sizeof(e), false);
}

int btf__add_fwd(struct btf *btf, const char *name, enum btf_fwd_kind fwd_kind)
{
	if (!is_named(name))
		return edge_errno(EINVAL);
	switch (fwd_kind) {
	case BTF_FWD_STRUCT:
	case BTF_FWD_UNION:
		return add_named(btf, name, make_info(BTF_KIND_FWD, 0, fwd_kind == BTF_FWD_UNION),
				 0, NULL, 0);
	case BTF_FWD_ENUM:
		/* BTF has no such thing; an enum without values stands for it */
		return btf__add_enum(btf, name, sizeof(int));
	default:
		return edge_errno(EINVAL);
	}
}

int btf__add_typedef(struct btf *btf, const char *name, int ref_type_id)
{
	return is_named(name) ? add_ref(btf, BTF_KIND_TYPEDEF, name, ref_type_id, false)
			      : edge_errno(EINVAL);
}

int btf__add_volatile(struct btf *btf, int ref_type_id)
{
	return add_ref(btf, BTF_KIND_VOLATILE, NULL, ref_type_id, false);
}

int btf__add_const(struct btf *btf, int ref_type_id)
{
	return add_ref(btf, BTF_KIND_CONST, NULL, ref_type_id, false);
}

int btf__add_restrict(struct btf *btf, int ref_type_id)
{
	return add_ref(btf, BTF_KIND_RESTRICT, NULL, ref_type_id, false);
}

int btf__add_type_tag(struct btf *btf, const char *value, int ref_type_id)
{
	return is_named(value) ? add_ref(btf, BTF_KIND_TYPE_TAG, value, ref_type_id, false)
			       : edge_errno(EINVAL);
}

int btf__add_type_attr(struct btf *btf, const char *value, int ref_type_id)
{
	return is_named(value) ? add_ref(btf, BTF_KIND_TYPE_TAG, value, ref_type_id, true)
			       : edge_errno(EINVAL);
}

int btf__add_func(struct btf *btf, const char *name, enum btf_func_linkage linkage,
		  int proto_type_id)
{
	if (!is_named(name) || proto_type_id < 0 ||
	    (linkage != BTF_FUNC_STATIC && linkage != BTF_FUNC_GLOBAL &&
	     linkage != BTF_FUNC_EXTERN))
		return edge_errno(EINVAL);
	return add_named(btf, name, make_info(BTF_KIND_FUNC, linkage, false), proto_type_id, NULL,
			 0);
}

int btf__add_func_proto(struct btf *btf, int ret_type_id)
{
	return add_ref(btf, BTF_KIND_FUNC_PROTO, NULL, ret_type_id, false);
}

int btf__add_func_param(struct btf *btf, const char *name, int type_id)
{
	struct btf_type *t = last_type(btf);

	if (!t || !btf_is_func_proto(t) || type_id < 0 || btf_vlen(t) == BTF_MAX_VLEN)
		return edge_errno(EINVAL);
	int name_off = btf__add_str(btf, name);
	if (name_off < 0)
		return name_off;
	struct btf_param p = {name_off, type_id};
	return add_entry(btf, &p, sizeof(p), false);
}

int btf__add_var(struct btf *btf, const char *name, int linkage, int type_id)
{
	uint32_t data = linkage;

	if (!is_named(name) || type_id < 0 || linkage < BTF_VAR_STATIC ||
	    linkage > BTF_VAR_GLOBAL_EXTERN)
		return edge_errno(EINVAL);
	return add_named(btf, name, make_info(BTF_KIND_VAR, 0, false), type_id, &data,
			 sizeof(data));
}

int btf__add_datasec(struct btf *btf, const char *name, __u32 byte_sz)
{
	if (!is_named(name))
		return edge_errno(EINVAL);
	return add_named(btf, name, make_info(BTF_KIND_DATASEC, 0, false), byte_sz, NULL, 0);
}

int btf__add_datasec_var_info(struct btf *btf, int var_type_id, __u32 offset, __u32 byte_sz)
{
	struct btf_type *t = last_type(btf);

	if (!t || !btf_is_datasec(t) || var_type_id < 0 || btf_vlen(t) == BTF_MAX_VLEN)
		return edge_errno(EINVAL);
	struct btf_var_secinfo v = {var_type_id, offset, byte_sz};
	return add_entry(btf, &v, sizeof(v), false);
}

static int add_decl_tag(struct btf *btf, const char *value, int ref_type_id, int component_idx,
			bool kflag)
{
	int32_t data = component_idx;

	if (!is_named(value) || ref_type_id < 0 || component_idx < -1)
		return edge_errno(EINVAL);
	return add_named(btf, value, make_info(BTF_KIND_DECL_TAG, 0, kflag), ref_type_id, &data,
			 sizeof(data));
}

int btf__add_decl_tag(struct btf *btf, const char *value, int ref_type_id, int component_idx)
{
	return add_decl_tag(btf, value, ref_type_id, component_idx, false);
}

int btf__add_decl_attr(struct btf *btf, const char *value, int ref_type_id, int component_idx)
{
	return add_decl_tag(btf, value, ref_type_id, component_idx, true);
}

/* ---- copying types of another BTF ---- */

/* Adds the string at *off of src; *off becomes its new offset. */
static int move_str(struct btf *btf, const struct btf *src, uint32_t *off)
{
	const char *s = *off ? btf__str_by_offset(src, *off) : "";
	int moved = s ? btf__add_str(btf, s) : -EINVAL;

	if (moved < 0)
		return moved;
	*off = moved;
	return 0;
}

int btf_add_copy(struct btf *btf, const struct btf *src, const struct btf_type *src_type,
		 uint32_t (*map)(const void *ctx, uint32_t id), const void *ctx)
{
	uint32_t kind = btf_kind(src_type), vlen = btf_vlen(src_type);
	int extra = btf_extra_size(kind, vlen), err;

	if (extra < 0)
		return edge_errno(EINVAL);
	/* src may be btf itself, whose types move when it grows */
	_cleanup_free_ struct btf_type *copy = malloc(sizeof(*copy) + (size_t)extra);
	if (!copy)
		return edge_errno(ENOMEM);
	memcpy(copy, src_type, sizeof(*copy) + (size_t)extra);
	struct btf_fields strs = btf_strs_of(copy), ids = btf_ids_of(copy);
	for (uint32_t *field; (field = btf_fields_next(&strs));)
		if ((err = move_str(btf, src, field)))
			return err;
	for (uint32_t *field; (field = btf_fields_next(&ids));)
		*field = *field ? map(ctx, *field) : 0;
	return add_type(btf, copy, copy + 1, extra);
}

static uint32_t add_delta(const void *ctx, uint32_t id)
{
	return id + *(const uint32_t *)ctx;
}

int btf__add_type(struct btf *btf, const struct btf *src_btf, const struct btf_type *src_type)
{
	const uint32_t delta = 0;

	return btf_add_copy(btf, src_btf, src_type, add_delta, &delta);
}

int btf__add_btf(struct btf *btf, const struct btf *src_btf)
{
	uint32_t first = btf__type_cnt(btf), types_len = btf->types_len, n = btf->n;
	const uint32_t delta = first - 1;

	if (src_btf->base)
		return edge_errno(ENOTSUP);
	for (uint32_t i = 0; i < src_btf->n; i++) {
		int id = btf_add_copy(btf, src_btf, btf_type_at(src_btf, src_btf->start_id + i),
				      add_delta, &delta);

		if (id < 0) {
			/* all or nothing; strings that were added do no harm */
			btf_forget_derived(btf);
			btf->types_len = types_len;
			btf->n = n;
			return id;
		}
	}
	return first;
}
