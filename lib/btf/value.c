// SPDX-License-Identifier: BSD-2-Clause
#include "lib/btf/value.h"

#include "lib/btf/open.h"

#define BIG_ENDIAN_HOST (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)

uint64_t value_bits(const void *data, uint64_t bit, uint32_t n)
{
	const uint8_t *p = (const uint8_t *)data + bit / 8;
	const uint32_t first = bit % 8, bytes = (uint32_t)value_bytes(first, n);
	const uint32_t shift = BIG_ENDIAN_HOST ? bytes * 8 - first - n : first;
	uint64_t v;

	if (!n)
		return 0;
	if (bytes <= 8)
		v = value_uint(p, bytes) >> shift;
	else if (BIG_ENDIAN_HOST) /* nine bytes, of which 57 to 64 bits are asked for */
		v = value_uint(p, 8) << (8 - shift) | p[8] >> shift;
	else
		v = value_uint(p, 8) >> shift | (uint64_t)p[8] << (64 - shift);
	return n < 64 ? v & ((1ull << n) - 1) : v;
}

void value_put_bits(void *data, uint64_t bit, uint32_t n, uint64_t v)
{
	uint8_t *p = data;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t at = bit + i;
		const uint8_t mask = (uint8_t)(1u << (BIG_ENDIAN_HOST ? 7 - at % 8 : at % 8));

		if (v >> (BIG_ENDIAN_HOST ? n - 1 - i : i) & 1)
			p[at / 8] |= mask;
		else
			p[at / 8] &= (uint8_t)~mask;
	}
}

struct value_scalar value_scalar_of(const struct btf *btf, const struct btf_type *t, uint64_t bit,
				    uint32_t bits)
{
	struct value_scalar s = {.size = t->size, .bit = bit % 8};

	switch (btf_kind(t)) {
	case BTF_KIND_INT:
		s.is_signed = btf_int_encoding(t) & BTF_INT_SIGNED;
		s.kind = btf_int_encoding(t) & BTF_INT_BOOL ? VALUE_BOOL : VALUE_INT;
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		s.is_signed = btf_kflag(t);
		s.kind = VALUE_ENUM;
		break;
	case BTF_KIND_PTR:
		s.size = btf__pointer_size(btf) == 4 ? 4 : 8;
		s.kind = VALUE_POINTER;
		break;
	case BTF_KIND_FLOAT:
		s.kind = VALUE_FLOAT;
		break;
	default:
		return (struct value_scalar){0};
	}
	if (bits || s.bit)
		s.bits = bits ? bits : s.size * 8;
	else if (btf_is_int(t) && s.size > 8)
		s.kind = VALUE_WIDE;
	return s;
}

bool value_is_float_size(uint32_t size)
{
	return size == sizeof(float) || size == sizeof(double) || size == sizeof(long double);
}

long double value_float(const void *p, uint32_t size)
{
	float f;
	double d;
	long double ld;

	switch (size) {
	case sizeof(f):
		memcpy(&f, p, sizeof(f));
		return f;
	case sizeof(d):
		memcpy(&d, p, sizeof(d));
		return d;
	case sizeof(ld):
		memcpy(&ld, p, sizeof(ld));
		return ld;
	default:
		return 0;
	}
}

int value_compare_floats(const void *a, const void *b, uint32_t size)
{
	const long double x = value_float(a, size), y = value_float(b, size);

	/* what is not a number is not equal to itself */
	if (x != x || y != y)
		return (x == x) - (y == y);
	return (x > y) - (x < y);
}

const char *value_enum_name(const struct btf *btf, const struct btf_type *t, uint64_t v)
{
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_enumerator e = btf_enumerator_at(btf, t, i);

		if (e.value == v && *e.name)
			return e.name;
	}
	return NULL;
}

/* The values that are single bits, together; *largest: of all values. */
static uint64_t single_bits(const struct btf *btf, const struct btf_type *t, uint64_t *largest)
{
	uint64_t bits = 0;

	*largest = 0;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const uint64_t v = value_enum_bits(btf_enumerator_at(btf, t, i).value, t->size);

		if (!(v & (v - 1)))
			bits |= v;
		*largest = max_of(*largest, v);
	}
	return bits;
}

bool value_enum_is_flags(const struct btf *btf, const struct btf_type *t)
{
	uint64_t largest, seen = 0;
	const uint64_t bits = single_bits(btf, t, &largest);

	if (!(bits & (bits - 1)))
		return false;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const uint64_t v = value_enum_bits(btf_enumerator_at(btf, t, i).value, t->size);

		if (v & ~bits)
			return false;
		if (v && v < 64)
			seen |= 1ull << v;
	}
	/* 1 to largest are all there: that can only be so where the largest is small */
	return largest >= 63 || seen != (1ull << (largest + 1)) - 2;
}

bool value_enum_add(const struct btf *btf, const struct btf_type *t, uint64_t v, struct strbuf *out)
{
	const char *name = value_enum_name(btf, t, v);
	uint64_t rest = value_enum_bits(v, t->size);
	bool any = false;

	if (name) {
		strbuf_adds(out, name);
		return true;
	}
	if (!value_enum_is_flags(btf, t))
		return false;
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_enumerator e = btf_enumerator_at(btf, t, i);
		const uint64_t bit = value_enum_bits(e.value, t->size);

		if (!*e.name || !value_is_flag_of(bit, rest))
			continue;
		strbuf_addf(out, "%s%s", any ? "|" : "", e.name);
		rest &= ~bit;
		any = true;
	}
	if (any && rest)
		strbuf_addf(out, "|0x%llx", (unsigned long long)rest);
	return any;
}
