// SPDX-License-Identifier: BSD-2-Clause
/*
 * From a spec to the number that the instruction gets. Bitfields are read as
 * an aligned integer that holds all their bits, which is then shifted left
 * and right (BPF_CORE_READ_BITFIELD); byte offset, byte size and both shifts
 * must agree on that integer.
 */
#include "lib/core/internal.h"

/* What a field comes to, for one side. */
struct value {
	uint64_t val;
	uint32_t size;	  /* of what is loaded or stored; 0: not known */
	uint32_t type_id; /* of what is loaded or stored */
	bool validate;
};

static struct error *element_value(uint32_t kind, const struct core_spec *spec, struct value *v)
{
	const struct core_access *acc = &spec->acc[spec->len - 1];
	int64_t size = btf__resolve_size(spec->btf, acc->type_id);

	if (size < 0)
		return error_new(EINVAL, "array element type %u has no size", acc->type_id);
	v->validate = true;
	switch (kind) {
	case CORE_FIELD_BYTE_OFFSET:
		v->val = spec->bit_offset / 8;
		v->size = size;
		v->type_id = acc->type_id;
		return NULL;
	case CORE_FIELD_BYTE_SIZE:
		v->val = size;
		return NULL;
	default:
		return error_new(EINVAL, "this relocation does not apply to array elements");
	}
}

/* The aligned integer that holds all bits of a bitfield. */
static struct error *bitfield_place(uint64_t bit_off, uint32_t bits, const struct btf_type *t,
				    uint64_t *byte_off, uint32_t *bytes)
{
	if (!(btf_is_int(t) || btf_is_any_enum(t)) || !t->size || (t->size & (t->size - 1)))
		return error_new(EINVAL, "the bitfield is not an integer");
	*bytes = t->size;
	for (;;) {
		*byte_off = bit_off / 8 / *bytes * *bytes;
		if (bit_off + bits - *byte_off * 8 <= (uint64_t)*bytes * 8)
			return NULL;
		if (*bytes >= 8)
			return error_new(EINVAL, "the bitfield crosses an 8-byte boundary");
		*bytes *= 2;
	}
}

static struct error *member_value(uint32_t kind, const struct core_spec *spec,
				  enum btf_endianness order, struct value *v)
{
	const struct core_access *acc = &spec->acc[spec->len - 1];
	const struct btf *btf = spec->btf;
	const struct btf_type *t = btf__type_by_id(btf, acc->type_id);
	uint32_t id;
	const struct btf_type *mt =
		btf_skip_mods_and_typedefs(btf, btf_members(t)[acc->idx].type, &id);
	uint32_t bits = btf_member_bitfield_size(t, acc->idx), bytes = 0;
	uint64_t bit_off = spec->bit_offset, byte_off = 0, bit_size;
	bool bitfield = bits > 0;

	if (bitfield) {
		TRY(bitfield_place(bit_off, bits, mt, &byte_off, &bytes));
		bit_size = bits;
	} else {
		int64_t size = btf__resolve_size(btf, id);

		if (size < 0)
			return error_new(EINVAL, "its type has no size");
		bytes = size;
		byte_off = bit_off / 8;
		bit_size = (uint64_t)bytes * 8;
	}

	/* compilers may choose another integer for a bitfield than we do */
	v->validate = !bitfield;
	switch (kind) {
	case CORE_FIELD_BYTE_OFFSET:
		v->val = byte_off;
		if (!bitfield) {
			/* of an array, one element is loaded */
			for (int i = 0; btf_is_array(mt) && i < CORE_MAX_ACCESS; i++)
				mt = btf_skip_mods_and_typedefs(btf, btf_array(mt)->type, &id);
			int64_t size = btf__resolve_size(btf, id);
			v->size = size < 0 ? 0 : size;
			v->type_id = id;
		}
		return NULL;
	case CORE_FIELD_BYTE_SIZE:
		v->val = bytes;
		return NULL;
	case CORE_FIELD_SIGNED:
		v->val = (btf_is_any_enum(mt) && btf_kflag(mt)) ||
			 (btf_is_int(mt) && (btf_int_encoding(mt) & BTF_INT_SIGNED));
		v->validate = true;
		return NULL;
	case CORE_FIELD_LSHIFT_U64:
	case CORE_FIELD_RSHIFT_U64:
		if (bit_size > 64)
			return error_new(EINVAL, "fields of more than 8 bytes cannot be shifted");
		if (kind == CORE_FIELD_RSHIFT_U64) {
			v->val = 64 - bit_size;
			v->validate = true;
		} else if (order == BTF_LITTLE_ENDIAN) {
			v->val = 64 - (bit_off + bit_size - byte_off * 8);
		} else {
			v->val = (8 - bytes) * 8 + (bit_off - byte_off * 8);
		}
		return NULL;
	}
	return error_new(EINVAL, "unknown relocation kind %u", kind);
}

static struct error *field_value(uint32_t kind, const struct core_spec *spec,
				 enum btf_endianness order, struct value *v)
{
	*v = (struct value){0};
	if (kind == CORE_FIELD_EXISTS) {
		v->val = 1;
		v->validate = true;
		return NULL;
	}
	return spec->acc[spec->len - 1].name ? member_value(kind, spec, order, v)
					     : element_value(kind, spec, v);
}

static struct error *type_value(uint32_t kind, const struct core_spec *spec, struct value *v)
{
	int64_t size;

	*v = (struct value){.validate = true};
	switch (kind) {
	case CORE_TYPE_ID_TARGET:
	case CORE_TYPE_ID_LOCAL:
		v->val = spec->root_id;
		/* a linker of objects may have moved the ids */
		v->validate = false;
		return NULL;
	case CORE_TYPE_EXISTS:
	case CORE_TYPE_MATCHES:
		v->val = 1;
		return NULL;
	case CORE_TYPE_SIZE:
		size = btf__resolve_size(spec->btf, spec->root_id);
		if (size < 0)
			return error_new(EINVAL, "the type has no size");
		v->val = size;
		return NULL;
	}
	return error_new(EINVAL, "unknown relocation kind %u", kind);
}

static struct error *enum_value(uint32_t kind, const struct core_spec *spec, struct value *v)
{
	const struct core_access *acc = &spec->acc[0];
	const struct btf_type *t = btf__type_by_id(spec->btf, acc->type_id);

	*v = (struct value){.val = 1, .validate = true};
	if (kind == CORE_ENUMVAL_EXISTS)
		return NULL;
	v->val = btf_enumerator_at(spec->btf, t, acc->idx).value;
	return NULL;
}

static struct error *value_of(uint32_t kind, const struct core_spec *spec,
			      enum btf_endianness order, struct value *v)
{
	if (core_kind_is_field(kind))
		return field_value(kind, spec, order, v);
	return core_kind_is_enum(kind) ? enum_value(kind, spec, v) : type_value(kind, spec, v);
}

/*
 * A load or store may change its width only where zero extension gives the
 * same number: for pointers and unsigned integers.
 */
static bool resizes_safely(const struct core_spec *local, const struct value *l,
			   const struct core_spec *targ, const struct value *t)
{
	const struct btf_type *lt = btf_skip_mods_and_typedefs(local->btf, l->type_id, NULL);
	const struct btf_type *tt = btf_skip_mods_and_typedefs(targ->btf, t->type_id, NULL);

	if (btf_is_ptr(lt) && btf_is_ptr(tt))
		return true;
	return btf_is_int(lt) && btf_is_int(tt) && !(btf_int_encoding(lt) & BTF_INT_SIGNED) &&
	       !(btf_int_encoding(tt) & BTF_INT_SIGNED);
}

struct error *core_calculate(uint32_t kind, const struct core_spec *local,
			     const struct core_spec *targ, struct core_result *res)
{
	/* The machine's that will run the program. */
	const enum btf_endianness order = btf__endianness(local->btf);
	struct value l, t;

	*res = (struct core_result){0};
	TRY(value_of(kind, local, order, &l));
	res->orig_val = l.val;
	res->validate = l.validate;
	if (targ) {
		TRY(error_prefix(value_of(kind, targ, order, &t), "in the target"));
		res->new_val = t.val;
		if (l.size && t.size && l.size != t.size) {
			res->orig_size = l.size;
			res->new_size = t.size;
			res->resize_fails = !resizes_safely(local, &l, targ, &t);
		}
		return NULL;
	}
	/* questions have an answer when there is no match: 0 */
	res->poison = kind == CORE_ENUMVAL_VALUE ||
		      (core_kind_is_field(kind) && kind != CORE_FIELD_EXISTS);
	return NULL;
}
