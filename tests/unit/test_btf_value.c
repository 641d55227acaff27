// SPDX-License-Identifier: BSD-2-Clause
/* Numbers of BTF types in memory, against what the compiler makes of the same C types. */
#include <math.h>
#include <stdlib.h>

#include "lib/base/util.h"
#include "lib/btf/value.h"

TEST(integers_of_each_size)
{
	const struct __attribute__((packed)) {
		char before;
		int8_t i8;
		int16_t i16;
		int32_t i32;
		int64_t i64;
		unsigned __int128 wide;
	} v = {1, -2, -3, -4, -5, (unsigned __int128)7 << 100 | 9};

	assert_int_equal(value_int(&v.i8, 1), -2);
	assert_int_equal(value_uint(&v.i8, 1), 0xfe);
	assert_int_equal(value_int(&v.i16, 2), -3);
	assert_int_equal(value_uint(&v.i16, 2), 0xfffd);
	assert_int_equal(value_int(&v.i32, 4), -4);
	assert_int_equal(value_uint(&v.i32, 4), 0xfffffffc);
	assert_int_equal(value_int(&v.i64, 8), -5);
	assert_true(value_wide(&v.wide) == v.wide);
	assert_int_equal(value_uint(&v.i8, 0), 0);
}

TEST(integers_of_odd_sizes)
{
	for (uint32_t size = 1; size <= 8; size++) {
		const uint64_t mask = size < 8 ? (1ull << size * 8) - 1 : UINT64_MAX;
		uint8_t bytes[10];

		memset(bytes, 0x55, sizeof(bytes));
		value_put_uint(bytes + 1, size, 0xfedcba9876543210);
		assert_int_equal(value_uint(bytes + 1, size), 0xfedcba9876543210 & mask);
		assert_int_equal(bytes[0], 0x55);
		assert_int_equal(bytes[size + 1], 0x55);
		value_put_uint(bytes + 1, size, (uint64_t)-3);
		assert_int_equal(value_int(bytes + 1, size), -3);
	}
}

TEST(sign_is_extended)
{
	assert_int_equal(value_sign_extend(1, 1), -1);
	assert_int_equal(value_sign_extend(0, 1), 0);
	assert_int_equal(value_sign_extend(5, 3), -3);
	assert_int_equal(value_sign_extend(3, 3), 3);
	assert_int_equal(value_sign_extend(0xffffffffff, 3), -1);
	assert_int_equal(value_sign_extend(UINT64_MAX >> 1, 63), -1);
	assert_int_equal(value_sign_extend(1ull << 63, 64), INT64_MIN);
	assert_int_equal(value_sign_extend(7, 0), 7);
}

TEST(bits_are_those_of_the_compiler)
{
	const struct {
		unsigned a : 3;
		int b : 5;
		unsigned c : 13;
		int d : 11;
	} v = {5, -7, 0x1abc, -1000};

	assert_int_equal(value_bits(&v, 0, 3), 5);
	assert_int_equal(value_sign_extend(value_bits(&v, 3, 5), 5), -7);
	assert_int_equal(value_bits(&v, 8, 13), 0x1abc);
	assert_int_equal(value_sign_extend(value_bits(&v, 21, 11), 11), -1000);
}

/* Every length at every bit; what is around them stays, and no byte more is touched. */
TEST(bits_are_read_as_they_were_put)
{
	for (uint32_t n = 0; n <= 64; n++) {
		for (uint32_t bit = 0; bit < 24; bit++) {
			const uint64_t v = 0x9e3779b97f4a7c15 >> (64 - n) % 64;
			const uint64_t mask = n < 64 ? (1ull << n) - 1 : UINT64_MAX;
			const size_t size = value_bytes(bit, n);
			uint8_t *bytes = malloc(size ? size : 1); /* the sanitizers watch its end */

			memset(bytes, 0xa5, size);
			value_put_bits(bytes, bit, n, v);
			assert_int_equal(value_bits(bytes, bit, n), v & mask);
			value_put_bits(bytes, bit, n, ~v);
			assert_int_equal(value_bits(bytes, bit, n), ~v & mask);
			for (uint32_t i = 0; i < size * 8; i++) {
				const unsigned at =
					__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 7 - i % 8 : i % 8;

				if (i < bit || i >= bit + n)
					assert_int_equal(value_bits(bytes, i, 1), 0xa5 >> at & 1);
			}
			free(bytes);
		}
	}
}

#define COMPARE(a, b) value_compare_floats(&(a), &(b), sizeof(a))

TEST(floats_go_by_their_value)
{
	static const double ordered[] = {NAN,	 -INFINITY, -1e300, -0.5,    0,
					 5e-324, 1.5,	    2.5,    INFINITY};
	const double zero = 0, minus_zero = -0.0;
	const long double third = 1.0L / 3, more = third * (1 + 1e-18L);

	for (size_t i = 0; i < ARRAY_SIZE(ordered); i++)
		for (size_t k = 0; k < ARRAY_SIZE(ordered); k++) {
			const float x = (float)ordered[i], y = (float)ordered[k];

			assert_int_equal(COMPARE(ordered[i], ordered[k]), (i > k) - (i < k));
			if (ordered[i] != 5e-324 && ordered[k] != 5e-324 && !(isinf(x) && isinf(y)))
				assert_int_equal(COMPARE(x, y), (i > k) - (i < k));
		}
	assert_int_equal(COMPARE(zero, minus_zero), 0);
	assert_true(value_float(&third, sizeof(third)) == third);
	if (more != third)
		assert_int_equal(COMPARE(third, more), -1);
	assert_true(value_is_float_size(4) && value_is_float_size(8) &&
		    value_is_float_size(sizeof(third)));
	assert_false(value_is_float_size(0) || value_is_float_size(2) || value_is_float_size(3));
	assert_true(value_float(&third, 3) == 0);
}

TEST(enums_have_names)
{
	struct btf *btf = btf__new_empty();
	const int sign = btf__add_enum(btf, "sign", 4);

	assert_int_equal(btf__add_enum_value(btf, "MINUS", -1), 0);
	assert_int_equal(btf__add_enum_value(btf, "PLUS", 1), 0);
	const int wide = btf__add_enum64(btf, "wide", 8, false);
	assert_int_equal(btf__add_enum64_value(btf, "HIGH", 1ull << 63), 0);
	const struct btf_type *t = btf__type_by_id(btf, (uint32_t)sign);
	assert_string_equal(value_enum_name(btf, t, (uint64_t)-1), "MINUS");
	assert_string_equal(value_enum_name(btf, t, 1), "PLUS");
	assert_null(value_enum_name(btf, t, 0xffffffff));
	t = btf__type_by_id(btf, (uint32_t)wide);
	assert_string_equal(value_enum_name(btf, t, 1ull << 63), "HIGH");
	btf__free(btf);
}

TEST(types_are_classified)
{
	struct btf *b = btf__new_empty();
	const int e = btf__add_enum(b, "e", 4);

	assert_int_equal(btf__add_enum_value(b, "MINUS", -1), 0);
	assert_int_equal(btf__set_pointer_size(b, 4), 0);
	const int i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	const int truth = btf__add_int(b, "_Bool", 1, BTF_INT_BOOL);
	const int wide = btf__add_int(b, "u128", 16, 0);
	const int pointer = btf__add_ptr(b, 0), real = btf__add_float(b, "double", 8);
	const int array = btf__add_array(b, i32, i32, 3), s4 = btf__add_struct(b, "s", 4);
	const struct {
		int type;
		uint32_t bit, bits; /* asked for */
		struct value_scalar is;
		uint32_t bytes;
	} cases[] = {
		{i32, 8, 0, {VALUE_INT, true, 4, 0, 0}, 4},
		{e, 0, 0, {VALUE_ENUM, true, 4, 0, 0}, 4},
		{i32, 13, 3, {VALUE_INT, true, 4, 5, 3}, 1},
		{i32, 3, 0, {VALUE_INT, true, 4, 3, 32}, 5}, /* not at a byte */
		{truth, 0, 0, {VALUE_BOOL, false, 1, 0, 0}, 1},
		{wide, 0, 0, {VALUE_WIDE, false, 16, 0, 0}, 16},
		{wide, 0, 100, {VALUE_INT, false, 16, 0, 100}, 13},
		{pointer, 0, 0, {VALUE_POINTER, false, 4, 0, 0}, 4},
		{real, 0, 0, {VALUE_FLOAT, false, 8, 0, 0}, 8},
		{array, 0, 0, {VALUE_NONE, false, 0, 0, 0}, 0},
		{s4, 0, 0, {VALUE_NONE, false, 0, 0, 0}, 0},
	};
	const uint8_t bytes[8] = {0xfe, 0xff, 0xff, 0xff};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct btf_type *t = btf__type_by_id(b, (uint32_t)cases[i].type);
		const struct value_scalar s = value_scalar_of(b, t, cases[i].bit, cases[i].bits);

		if (s.kind != cases[i].is.kind || s.is_signed != cases[i].is.is_signed ||
		    s.size != cases[i].is.size || s.bit != cases[i].is.bit ||
		    s.bits != cases[i].is.bits || value_scalar_bytes(&s) != cases[i].bytes)
			fail_msg("case %zu", i);
	}
	assert_int_equal(value_number(&cases[0].is, bytes), -2);
	assert_int_equal(value_number(&cases[7].is, bytes), 0xfffffffe);
	if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
		assert_int_equal(value_number(&(struct value_scalar){.bits = 3}, bytes), 6);
	btf__free(b);
}
