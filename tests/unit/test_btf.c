// SPDX-License-Identifier: BSD-2-Clause
/* BTF: parse, ask, write; .BTF.ext. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/btf/ext.h"
#include "lib/btf/open.h"
#include "lib/btf/sanitize.h"

#define assert_ok(expr)                                                                            \
	do {                                                                                       \
		struct error *err_ = (expr);                                                       \
		if (err_)                                                                          \
			fail_msg("%s", err_->msg);                                                 \
	} while (0)

/* A little of everything; ids as the comments say. */
static struct btf *sample(void)
{
	struct btf *btf = btf__new_empty();

	assert_non_null(btf);
	assert_int_equal(btf__add_int(btf, "int", 4, BTF_INT_SIGNED), 1);
	assert_int_equal(btf__add_int(btf, "long unsigned int", 8, 0), 2);
	assert_int_equal(btf__add_struct(btf, "point", 16), 3);
	assert_int_equal(btf__add_field(btf, "x", 1, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "y", 1, 32, 5), 0);
	assert_int_equal(btf__add_field(btf, "z", 2, 64, 0), 0);
	assert_int_equal(btf__add_ptr(btf, 3), 4);
	assert_int_equal(btf__add_array(btf, 1, 3, 10), 5);
	assert_int_equal(btf__add_typedef(btf, "point_t", 3), 6);
	assert_int_equal(btf__add_const(btf, 6), 7);
	assert_int_equal(btf__add_enum(btf, "color", 4), 8);
	assert_int_equal(btf__add_enum_value(btf, "RED", 1), 0);
	assert_int_equal(btf__add_enum_value(btf, "BLUE", -2), 0);
	assert_int_equal(btf__add_enum64(btf, "big", 8, false), 9);
	assert_int_equal(btf__add_enum64_value(btf, "HUGE", 0x123456789abcdef0), 0);
	assert_int_equal(btf__add_func_proto(btf, 1), 10);
	assert_int_equal(btf__add_func_param(btf, "p", 4), 0);
	assert_int_equal(btf__add_func(btf, "handler", BTF_FUNC_GLOBAL, 10), 11);
	assert_int_equal(btf__add_var(btf, "counter", BTF_VAR_GLOBAL_ALLOCATED, 2), 12);
	assert_int_equal(btf__add_datasec(btf, ".bss", 8), 13);
	assert_int_equal(btf__add_datasec_var_info(btf, 12, 0, 8), 0);
	assert_int_equal(btf__add_fwd(btf, "opaque", BTF_FWD_UNION), 14);
	assert_int_equal(btf__add_volatile(btf, 1), 15);
	assert_int_equal(btf__add_restrict(btf, 4), 16);
	assert_int_equal(btf__add_float(btf, "double", 8), 17);
	assert_int_equal(btf__add_decl_tag(btf, "tagged", 3, 1), 18);
	assert_int_equal(btf__add_type_tag(btf, "user", 1), 19);
	assert_int_equal(btf__add_struct(btf, "point", 4), 20);
	assert_int_equal(btf__add_struct(btf, "point___new", 4), 21);
	assert_int_equal(btf__add_union(btf, NULL, 8), 22);
	assert_int_equal(btf__add_field(btf, "a", 2, 0, 0), 0);
	assert_int_equal(btf__type_cnt(btf), 23);
	return btf;
}

static void check_sample(const struct btf *btf)
{
	const struct btf_type *t = btf__type_by_id(btf, 3);

	assert_int_equal(btf__type_cnt(btf), 23);
	assert_true(btf_is_struct(t));
	assert_int_equal(btf_vlen(t), 3);
	assert_true(btf_kflag(t));
	assert_string_equal(btf_name(btf, t), "point");
	assert_string_equal(btf__name_by_offset(btf, btf_members(t)[1].name_off), "y");
	assert_int_equal(btf_member_bit_offset(t, 1), 32);
	assert_int_equal(btf_member_bitfield_size(t, 1), 5);
	assert_int_equal(btf_member_bitfield_size(t, 2), 0);
	t = btf__type_by_id(btf, 8);
	assert_true(btf_kflag(t));
	assert_int_equal(btf_enum(t)[1].val, -2);
	t = btf__type_by_id(btf, 9);
	assert_int_equal(btf_enum64_value(btf_enum64(t)), 0x123456789abcdef0);
	assert_false(btf_kflag(t));
	t = btf__type_by_id(btf, 13);
	assert_int_equal(btf_var_secinfos(t)->type, 12);
	assert_int_equal(btf_int_encoding(btf__type_by_id(btf, 1)), BTF_INT_SIGNED);
	assert_int_equal(btf_int_bits(btf__type_by_id(btf, 1)), 32);
	assert_null(btf__type_by_id(btf, 23));
	assert_int_equal(errno, EINVAL);
	assert_true(btf_is_void(btf__type_by_id(btf, 0)));
}

TEST(writes_and_reads_back)
{
	struct btf *btf = sample();
	uint32_t size;

	check_sample(btf);
	const void *raw = btf__raw_data(btf, &size);
	struct btf *again = btf__new(raw, size);
	assert_non_null(again);
	check_sample(again);

	uint32_t size2;
	const void *raw2 = btf__raw_data(again, &size2);
	assert_int_equal(size, size2);
	assert_memory_equal(raw, raw2, size);
	btf__free(again);
	btf__free(btf);
}

TEST(keeps_each_string_once)
{
	struct btf *btf = btf__new_empty();
	int a = btf__add_str(btf, "alpha");

	assert_int_equal(a, 1);
	assert_int_equal(btf__add_str(btf, ""), 0);
	assert_int_equal(btf__add_str(btf, "beta"), 7);
	assert_int_equal(btf__add_str(btf, "alpha"), a);
	assert_int_equal(btf__find_str(btf, "beta"), 7);
	assert_int_equal(btf__find_str(btf, "gamma"), -ENOENT);
	for (int i = 0; i < 5000; i++) {
		char s[16];

		snprintf(s, sizeof(s), "s%d", i);
		assert_true(btf__add_str(btf, s) > 0);
	}
	for (int i = 0; i < 5000; i++) {
		char s[16];

		snprintf(s, sizeof(s), "s%d", i);
		assert_string_equal(btf__str_by_offset(btf, btf__find_str(btf, s)), s);
	}
	assert_null(btf__str_by_offset(btf, 1 << 30));
	btf__free(btf);
}

TEST(finds_by_name_and_kind)
{
	struct btf *btf = sample();

	assert_int_equal(btf__find_by_name(btf, "point"), 3);
	assert_int_equal(btf__find_by_name_kind(btf, "point", BTF_KIND_STRUCT), 3);
	assert_int_equal(btf__find_by_name_kind(btf, "point", BTF_KIND_UNION), -ENOENT);
	assert_int_equal(btf__find_by_name_kind(btf, "point___new", BTF_KIND_STRUCT), 21);
	assert_int_equal(btf__find_by_name(btf, "poin"), -ENOENT);
	assert_int_equal(btf__find_by_name(btf, "void"), 0);
	/* functions: by search at first, then by their table */
	for (int i = 0; i < 8; i++) {
		assert_int_equal(btf__find_by_name_kind(btf, "handler", BTF_KIND_FUNC), 11);
		assert_int_equal(btf__find_by_name(btf, "handler"), 11);
		assert_int_equal(btf__find_by_name_kind(btf, "handle", BTF_KIND_FUNC), -ENOENT);
	}
	/* all flavors of a name, in order */
	assert_int_equal(btf_find_first(btf, "point___other"), 3);
	assert_int_equal(btf_find_next(btf, 3), 20);
	assert_int_equal(btf_find_next(btf, 20), 21);
	assert_int_equal(btf_find_next(btf, 21), 0);
	/* an added type is found too */
	assert_int_equal(btf__add_int(btf, "u8", 1, 0), 23);
	assert_int_equal(btf__find_by_name(btf, "u8"), 23);
	btf__free(btf);

	assert_int_equal(btf_essential_len("task_struct___v2"), strlen("task_struct"));
	assert_int_equal(btf_essential_len("a___b___c"), strlen("a___b"));
	assert_int_equal(btf_essential_len("___x"), 4);
	assert_int_equal(btf_essential_len("a____b"), 6);
	assert_int_equal(btf_essential_len("a___"), 4);
	assert_int_equal(btf_essential_len(""), 0);
}

/* Flavors at every place of names of every length, by the table and by search. */
TEST(finds_flavors_of_any_length)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP";
	struct btf *btf = btf__new_empty();
	char name[64];
	int id = 0;

	for (int len = 1; len < 40; len++) {
		snprintf(name, sizeof(name), "%.*s", len, letters);
		assert_int_equal(btf__add_int(btf, name, 4, 0), ++id);
		snprintf(name, sizeof(name), "%.*s___%.*s", len, letters, len % 9 + 1, letters);
		assert_int_equal(btf__add_int(btf, name, 4, 0), ++id);
	}
	for (int len = 1; len < 40; len++) {
		snprintf(name, sizeof(name), "%.*s___of_another_kind", len, letters);
		assert_int_equal(btf_find_first(btf, name), 2 * len - 1);
		assert_int_equal(btf_find_next(btf, 2 * len - 1), 2 * len);
		assert_int_equal(btf_find_next(btf, 2 * len), 0);
		name[len] = 0;
		assert_int_equal(btf__find_by_name(btf, name), 2 * len - 1);
	}
	assert_int_equal(btf_find_first(btf, "_"), 0);
	assert_int_equal(btf_find_next(btf, id + 1), 0);
	btf__free(btf);
}

TEST(resolves)
{
	struct btf *btf = sample();

	assert_int_equal(btf__pointer_size(btf), 8);
	assert_int_equal(btf__resolve_size(btf, 5), 160);
	assert_int_equal(btf__resolve_size(btf, 7), 16);
	assert_int_equal(btf__resolve_size(btf, 4), 8);
	assert_int_equal(btf__resolve_size(btf, 12), 8);
	assert_int_equal(btf__resolve_size(btf, 0), -EINVAL);
	assert_int_equal(btf__resolve_size(btf, 11), -EINVAL);
	assert_int_equal(btf__resolve_type(btf, 7), 3);
	assert_int_equal(btf__resolve_type(btf, 0), -EINVAL);
	assert_int_equal(btf__align_of(btf, 3), 8);
	assert_int_equal(btf__align_of(btf, 5), 8);
	assert_int_equal(btf__align_of(btf, 1), 4);
	assert_int_equal(btf__align_of(btf, 11), 0);
	/* 12 bytes with an 8-byte member: packed */
	int packed = btf__add_struct(btf, "packed", 12);
	btf__add_field(btf, "a", 1, 0, 0);
	btf__add_field(btf, "b", 2, 32, 0);
	assert_int_equal(btf__align_of(btf, packed), 1);
	btf__free(btf);
}

TEST(survives_loops)
{
	struct btf *btf = btf__new_empty();

	/* typedef of itself, a struct in itself, arrays of each other */
	btf__add_typedef(btf, "t", 1);
	btf__add_struct(btf, "s", 8);
	btf__add_field(btf, "s", 2, 0, 0);
	btf__add_array(btf, 1, 4, 2);
	btf__add_array(btf, 1, 3, 2);
	assert_int_equal(btf__resolve_size(btf, 1), -E2BIG);
	assert_int_equal(btf__resolve_type(btf, 1), -EINVAL);
	assert_int_equal(btf__resolve_size(btf, 3), -E2BIG);
	for (int id = 1; id <= 4; id++)
		assert_int_equal(btf__align_of(btf, id), 0);
	/* a tree that doubles at each level must not take 2^100 steps */
	int prev = btf__add_int(btf, "int", 4, 0);
	for (int i = 0; i < 100; i++) {
		int id = btf__add_struct(btf, NULL, 8);

		btf__add_field(btf, "a", prev, 0, 0);
		btf__add_field(btf, "b", prev, 32, 0);
		prev = id;
	}
	assert_int_equal(btf__align_of(btf, prev), 4);
	btf__free(btf);
}

TEST(reads_the_other_byte_order)
{
	struct btf *btf = sample();
	uint32_t size;

	assert_int_equal(btf__endianness(btf), BTF_LITTLE_ENDIAN);
	assert_int_equal(btf__set_endianness(btf, BTF_BIG_ENDIAN), 0);
	const uint8_t *raw = btf__raw_data(btf, &size);
	assert_int_equal(raw[0], 0xeb);
	assert_int_equal(raw[1], 0x9f);
	check_sample(btf);

	struct btf *again = btf__new(raw, size);
	assert_non_null(again);
	assert_int_equal(btf__endianness(again), BTF_BIG_ENDIAN);
	check_sample(again);
	uint32_t size2;
	assert_memory_equal(btf__raw_data(again, &size2), raw, size);
	assert_int_equal(btf__set_endianness(again, BTF_LITTLE_ENDIAN), 0);
	const uint8_t *native = btf__raw_data(again, &size2);
	assert_int_equal(native[0], 0x9f);
	struct btf *third = btf__new(native, size2);
	check_sample(third);
	btf__free(third);
	btf__free(again);
	btf__free(btf);
}

TEST(splits)
{
	struct btf *base = sample();
	struct btf *split = btf__new_empty_split(base);

	assert_int_equal(btf__add_str(split, "point"), btf__find_str(base, "point"));
	int id = btf__add_struct(split, "module_thing", 16);
	assert_int_equal(id, 23);
	btf__add_field(split, "p", 3, 0, 0);
	uint32_t size;
	const void *raw = btf__raw_data(split, &size);
	struct btf *again = btf__new_split(raw, size, base);
	assert_non_null(again);
	assert_ptr_equal(btf__base_btf(again), base);
	assert_int_equal(btf__type_cnt(again), 24);
	assert_int_equal(btf__find_by_name(again, "module_thing"), 23);
	assert_int_equal(btf__find_by_name(again, "point"), 3);
	assert_int_equal(btf__resolve_size(again, 23), 16);
	assert_int_equal(btf__align_of(again, 23), 8);
	const struct btf_type *t = btf__type_by_id(again, 23);
	assert_string_equal(btf_name(again, t), "module_thing");
	assert_string_equal(btf__name_by_offset(again, btf_members(t)->name_off), "p");
	assert_string_equal(btf_name(again, btf__type_by_id(again, 3)), "point");
	btf__free(again);
	btf__free(split);
	btf__free(base);
}

TEST(copies_types)
{
	struct btf *from = sample(), *to = btf__new_empty();

	assert_int_equal(btf__add_int(to, "pad", 4, 0), 1);
	assert_int_equal(btf__add_btf(to, from), 2);
	assert_int_equal(btf__type_cnt(to), 24);
	const struct btf_type *t = btf__type_by_id(to, 6);
	assert_int_equal(btf_array(t)->type, 4);
	assert_int_equal(btf_array(t)->index_type, 2);
	assert_int_equal(btf_members(btf__type_by_id(to, 4))[0].type, 2);
	assert_int_equal(btf_params(btf__type_by_id(to, 11))[0].type, 5);
	assert_int_equal(btf__add_type(to, from, btf__type_by_id(from, 8)), 24);
	t = btf__type_by_id(to, 24);
	assert_string_equal(btf__name_by_offset(to, btf_enum(t)[1].name_off), "BLUE");
	btf__free(from);
	btf__free(to);
}

TEST(refuses_bad_arguments)
{
	struct btf *btf = btf__new_empty();

	assert_int_equal(btf__add_int(btf, "", 4, 0), -EINVAL);
	assert_int_equal(btf__add_int(btf, "x", 3, 0), -EINVAL);
	assert_int_equal(btf__add_ptr(btf, -1), -EINVAL);
	assert_int_equal(btf__add_field(btf, "x", 1, 0, 0), -EINVAL);
	assert_int_equal(btf__add_enum_value(btf, "x", 1), -EINVAL);
	btf__add_enum(btf, "e", 4);
	assert_int_equal(btf__add_enum_value(btf, "x", 1ll << 32), -E2BIG);
	btf__add_union(btf, "u", 4);
	assert_int_equal(btf__add_field(btf, "x", 1, 8, 0), -EINVAL);
	assert_int_equal(btf__set_pointer_size(btf, 5), -EINVAL);
	assert_int_equal(btf__type_cnt(btf), 3);
	assert_null(btf__new(NULL, 5));
	btf__free(btf);
	btf__free(NULL);
}

/* The error of opening these bytes; the bytes end at an unreadable page. */
static struct error *open_at_page_edge(const void *bytes, size_t n)
{
	size_t page = sysconf(_SC_PAGESIZE), room = (n + page - 1) / page * page;
	uint8_t *map =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct btf *btf = NULL;

	assert_ptr_not_equal(map, MAP_FAILED);
	mprotect(map + room, page, PROT_NONE);
	memcpy(map + room - n, bytes, n);
	struct error *err = btf_open(map + room - n, n, "x.o", NULL, (struct btf_backing){0}, &btf);
	if (!err) {
		for (uint32_t id = 0; id < btf__type_cnt(btf); id++) {
			btf__resolve_size(btf, id);
			btf__align_of(btf, id);
			btf_name(btf, btf__type_by_id(btf, id));
		}
		btf__find_by_name(btf, "nothing");
	}
	btf__free(btf);
	munmap(map, room + page);
	return err;
}

TEST(refuses_every_truncation)
{
	struct btf *btf = sample();
	uint32_t size;
	const uint8_t *raw = btf__raw_data(btf, &size);

	for (uint32_t n = 0; n < size; n++) {
		struct error *err = open_at_page_edge(raw, n);

		assert_non_null(err);
		assert_int_equal(err->code, EBADMSG);
		error_free(err);
	}
	assert_null(open_at_page_edge(raw, size));
	btf__free(btf);
}

TEST(survives_every_flipped_bit)
{
	struct btf *btf = sample();
	uint32_t size, refused = 0;
	const uint8_t *raw = btf__raw_data(btf, &size);
	uint8_t *copy = malloc(size);

	for (uint32_t bit = 0; bit < size * 8; bit++) {
		memcpy(copy, raw, size);
		copy[bit / 8] ^= 1 << bit % 8;
		struct error *err = open_at_page_edge(copy, size);
		refused += err != NULL;
		error_free(err);
	}
	assert_true(refused > size);
	free(copy);
	btf__free(btf);
}

/* The message names the place and the reason. */
static void expect_error(struct btf *btf, const char *text)
{
	uint32_t size;
	const void *raw = btf__raw_data(btf, &size);
	struct error *err = open_at_page_edge(raw, size);

	assert_non_null(err);
	char where[512];
	snprintf(where, sizeof(where), "%s: %s", err->where ? err->where : "", err->msg);
	if (!strstr(where, text))
		fail_msg("'%s' lacks '%s'", where, text);
	error_free(err);
	btf__free(btf);
}

TEST(says_what_is_wrong)
{
	struct btf *btf = btf__new_empty();

	btf__add_ptr(btf, 7);
	expect_error(btf, "type 1 (pointer) refers to type 7, but the last type is 1");
	btf = btf__new_empty();
	btf__add_struct(btf, "s", 4);
	((struct btf_type *)btf__type_by_id(btf, 1))->name_off = 77;
	expect_error(btf, "type 1 (struct) has its name at offset 77, but the strings end at 2");
	btf = btf__new_empty();
	btf__add_int(btf, "int", 4, 0);
	btf__add_func(btf, "f", BTF_FUNC_GLOBAL, 1);
	expect_error(btf, "type 2 (function f) has no function prototype");
	btf = btf__new_empty();
	btf__add_int(btf, "int", 4, 0);
	btf__add_datasec(btf, ".data", 4);
	btf__add_datasec_var_info(btf, 1, 0, 4);
	expect_error(btf, "contains a int");
}

/* ---- .BTF.ext ---- */

struct words {
	uint32_t w[64];
	uint32_t n;
};

static void add(struct words *x, uint32_t w)
{
	x->w[x->n++] = w;
}

/* One section in each part; line_info out of order, with longer records. */
static struct words ext_bytes(void)
{
	struct words x = {0};
	const uint32_t head[] = {0x0001eb9f, 32, 0, 20, 20, 52, 72, 28};

	for (int i = 0; i < 8; i++)
		add(&x, head[i]);
	const uint32_t func[] = {8, 1, 1, 0, 11};
	for (int i = 0; i < 5; i++)
		add(&x, func[i]);
	const uint32_t line[] = {20, 1, 2, 16, 1, 2, 7 << 10 | 3, 99, 8, 1, 2, 6 << 10, 98};
	for (int i = 0; i < 13; i++)
		add(&x, line[i]);
	const uint32_t core[] = {16, 7, 1, 24, 3, 5, 2};
	for (int i = 0; i < 7; i++)
		add(&x, core[i]);
	return x;
}

static void check_ext(const struct btf_ext *ext)
{
	struct btf *btf = btf__new_empty();
	size_t n;

	btf__add_str(btf, "tp/x");
	const struct btf_ext_section *sec = btf_ext_sections(ext, BTF_EXT_FUNC, &n);
	assert_int_equal(n, 1);
	const struct btf_func_info *func = btf_ext_rec(sec, 0);
	assert_int_equal(func->type_id, 11);
	assert_ptr_equal(btf_ext_find(ext, BTF_EXT_FUNC, btf, "tp/x"), sec);
	assert_null(btf_ext_find(ext, BTF_EXT_FUNC, btf, "tp/y"));
	sec = btf_ext_sections(ext, BTF_EXT_LINE, &n);
	assert_int_equal(sec->n, 2);
	const struct btf_line_info *line = btf_ext_rec(sec, 0);
	assert_int_equal(line->insn_off, 8);
	assert_int_equal(BTF_LINE_NUMBER(line->line_col), 6);
	assert_int_equal(btf_ext_lower_bound(sec, 0), 0);
	assert_int_equal(btf_ext_lower_bound(sec, 9), 1);
	assert_int_equal(btf_ext_lower_bound(sec, 16), 1);
	assert_int_equal(btf_ext_lower_bound(sec, 17), 2);
	sec = btf_ext_sections(ext, BTF_EXT_CORE, &n);
	const struct btf_core_relo *core = btf_ext_rec(sec, 0);
	assert_int_equal(core->kind, 2);
	assert_int_equal(sec->sec_name_off, 7);
	btf__free(btf);
}

TEST(reads_ext)
{
	struct words x = ext_bytes();
	struct btf_ext *ext = btf_ext__new((const uint8_t *)x.w, x.n * 4);
	uint32_t size;

	assert_non_null(ext);
	check_ext(ext);
	assert_memory_equal(btf_ext__raw_data(ext, &size), x.w, x.n * 4);
	assert_int_equal(size, x.n * 4);
	btf_ext__free(ext);
	btf_ext__free(NULL);

	for (uint32_t i = 1; i < x.n; i++)
		x.w[i] = __builtin_bswap32(x.w[i]);
	memcpy(x.w, "\xeb\x9f\x01\x00", 4);
	ext = btf_ext__new((const uint8_t *)x.w, x.n * 4);
	assert_non_null(ext);
	assert_int_equal(btf_ext__endianness(ext), BTF_BIG_ENDIAN);
	check_ext(ext);

	/* turned, its bytes are the first ones; its records stay */
	assert_int_equal(btf_ext__set_endianness(ext, BTF_LITTLE_ENDIAN + 7), -EINVAL);
	assert_int_equal(btf_ext__set_endianness(ext, BTF_BIG_ENDIAN), 0);
	assert_memory_equal(btf_ext__raw_data(ext, &size), x.w, x.n * 4);
	struct words first = ext_bytes();
	assert_int_equal(btf_ext__set_endianness(ext, BTF_LITTLE_ENDIAN), 0);
	assert_int_equal(btf_ext__endianness(ext), BTF_LITTLE_ENDIAN);
	assert_memory_equal(btf_ext__raw_data(ext, &size), first.w, x.n * 4);
	check_ext(ext);
	btf_ext__free(ext);

	/* of borrowed bytes too */
	assert_null(btf_ext_open_borrowed(first.w, first.n * 4, "x.o", &ext));
	assert_ptr_equal(btf_ext__raw_data(ext, &size), first.w);
	assert_int_equal(btf_ext__set_endianness(ext, BTF_BIG_ENDIAN), 0);
	assert_memory_equal(btf_ext__raw_data(ext, &size), x.w, x.n * 4);
	check_ext(ext);
	btf_ext__free(ext);
}

TEST(refuses_bad_ext)
{
	struct words x = ext_bytes();

	for (uint32_t n = 0; n < x.n * 4; n++)
		assert_null(btf_ext__new((const uint8_t *)x.w, n));
	for (uint32_t bit = 0; bit < x.n * 32; bit++) {
		struct words y = x;

		y.w[bit / 32] ^= 1u << bit % 32;
		btf_ext__free(btf_ext__new((const uint8_t *)y.w, y.n * 4));
	}
	/* the second part begins where the first does */
	x.w[4] = 0;
	assert_null(btf_ext__new((const uint8_t *)x.w, x.n * 4));
	assert_int_equal(errno, EINVAL);
}

/*
 * Linux 7.2 takes 24 bits for the number of members and 7 for the kind: an enum of 70,000
 * values and a type behind it, in both byte orders, given out as an older kernel gets it.
 */
#define MANY 70000

static void check_many(const struct btf *btf)
{
	const struct btf_type *t = btf__type_by_id(btf, 1);

	assert_int_equal(btf__type_cnt(btf), 4);
	assert_int_equal(btf_kind(t), BTF_KIND_ENUM);
	assert_int_equal(btf_vlen(t), MANY);
	assert_int_equal(btf_enum(t)[MANY - 1].val, MANY - 1);
	assert_string_equal(btf__name_by_offset(btf, btf_enum(t)[MANY - 1].name_off), "LAST");
	assert_int_equal(btf__find_by_name_kind(btf, "behind", BTF_KIND_INT), 2);
}

TEST(reads_more_than_65535_members)
{
	struct btf *btf = btf__new_empty(), *copy = NULL;
	uint32_t size;

	assert_int_equal(btf__add_enum(btf, "many", 4), 1);
	for (int i = 0; i < MANY; i++)
		assert_int_equal(btf__add_enum_value(btf, i == MANY - 1 ? "LAST" : "V", i), 0);
	assert_int_equal(btf__add_int(btf, "behind", 4, BTF_INT_SIGNED), 2);
	assert_int_equal(btf__add_float(btf, "sanitized", 4), 3);
	check_many(btf);
	for (int i = 0; i < 2; i++) {
		btf__set_endianness(btf, i ? BTF_BIG_ENDIAN : BTF_LITTLE_ENDIAN);
		const void *raw = btf__raw_data(btf, &size);
		struct btf *again = btf__new(raw, size);

		assert_non_null(again);
		check_many(again);
		btf__free(again);
	}
	assert_null(btf_sanitize(btf, 0, &copy));
	assert_non_null(copy);
	check_many(copy);
	btf__free(copy);

	/* kind 36 is not kind 4, a struct */
	((struct btf_type *)btf__type_by_id(btf, 1))->info = 36u << 24;
	btf__set_endianness(btf, BTF_LITTLE_ENDIAN);
	const void *raw = btf__raw_data(btf, &size);
	assert_null(btf__new(raw, size));
	btf__free(btf);
}
