// SPDX-License-Identifier: BSD-2-Clause
/* BTF rewritten: one of equal types, another order, another byte order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/btf/ext.h"
#include "lib/btf/open.h"

/* What one unit has: a list that refers to itself, and its user. Returns the list's id. */
static int add_unit(struct btf *btf, const char *payload)
{
	const int base = (int)btf__type_cnt(btf) - 1;
	const int list = base + 2;

	btf__add_int(btf, "int", 4, BTF_INT_SIGNED);		  /* base + 1 */
	assert_int_equal(btf__add_struct(btf, "list", 24), list); /* base + 2 */
	assert_int_equal(btf__add_field(btf, "next", base + 3, 0, 0), 0);
	assert_int_equal(btf__add_field(btf, "payload", base + 6, 64, 0), 0);
	assert_int_equal(btf__add_field(btf, "n", base + 5, 128, 0), 0);
	btf__add_ptr(btf, list);	       /* base + 3 */
	btf__add_typedef(btf, "list_t", list); /* base + 4 */
	btf__add_const(btf, base + 1);	       /* base + 5 */
	btf__add_ptr(btf, base + 7);	       /* base + 6 */
	if (payload) {
		btf__add_struct(btf, "payload", 8); /* base + 7 */
		btf__add_field(btf, payload, base + 1, 0, 0);
	} else {
		btf__add_fwd(btf, "payload", BTF_FWD_STRUCT);
	}
	btf__add_func_proto(btf, base + 1); /* base + 8 */
	btf__add_func_param(btf, "l", base + 3);
	btf__add_func(btf, "walk", BTF_FUNC_STATIC, base + 8); /* base + 9 */
	return list;
}

static uint32_t count(const struct btf *btf, uint32_t kind, const char *name)
{
	uint32_t n = 0;

	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		n += btf_kind(t) == kind && (!name || !strcmp(btf_name(btf, t), name));
	}
	return n;
}

/* It is BTF still, as anybody else would read it. */
static void assert_sound(const struct btf *btf)
{
	uint32_t size;
	const void *raw = btf__raw_data(btf, &size);
	struct btf *again = btf__new_split(raw, size, (struct btf *)btf__base_btf(btf));

	assert_non_null(again);
	assert_int_equal(btf__type_cnt(again), btf__type_cnt(btf));
	btf__free(again);
}

TEST(types_that_refer_to_themselves_are_found)
{
	struct btf *btf = btf__new_empty();

	for (int i = 0; i < 5; i++)
		add_unit(btf, "first");
	assert_int_equal(btf__dedup(btf, NULL), 0);
	assert_int_equal(btf__type_cnt(btf), 1 + 9); /* one unit */
	assert_sound(btf);
	const struct btf_type *list = btf__type_by_id(
		btf, (uint32_t)btf__find_by_name_kind(btf, "list", BTF_KIND_STRUCT));
	const struct btf_type *next = btf__type_by_id(btf, btf_members(list)[0].type);
	assert_ptr_equal(btf__type_by_id(btf, next->type), list);

	uint32_t size;
	const void *raw = btf__raw_data(btf, &size);
	void *before = malloc(size);
	memcpy(before, raw, size);
	assert_int_equal(btf__dedup(btf, NULL), 0); /* there is no more to find */
	raw = btf__raw_data(btf, &size);
	assert_memory_equal(raw, before, size);
	free(before);
	btf__free(btf);
}

TEST(declarations_become_what_they_stand_for)
{
	for (int order = 0; order < 2; order++) {
		struct btf *btf = btf__new_empty();

		add_unit(btf, order ? NULL : "first");
		add_unit(btf, order ? "first" : NULL);
		assert_int_equal(btf__dedup(btf, NULL), 0);
		assert_int_equal(count(btf, BTF_KIND_FWD, NULL), 0);
		assert_int_equal(count(btf, BTF_KIND_STRUCT, "list"), 1);
		assert_int_equal(btf__type_cnt(btf), 1 + 9);
		assert_sound(btf);
		btf__free(btf);
	}
}

TEST(what_differs_far_away_stays_two)
{
	struct btf *btf = btf__new_empty();

	add_unit(btf, "first");
	add_unit(btf, "other");
	add_unit(btf, "other");
	assert_int_equal(btf__dedup(btf, NULL), 0);
	assert_int_equal(count(btf, BTF_KIND_STRUCT, "list"), 2);
	assert_int_equal(count(btf, BTF_KIND_STRUCT, "payload"), 2);
	assert_int_equal(count(btf, BTF_KIND_INT, "int"), 1);
	assert_sound(btf);
	/* A declaration that could be either stays one. */
	btf__add_fwd(btf, "payload", BTF_FWD_STRUCT);
	btf__add_fwd(btf, "payload", BTF_FWD_STRUCT);
	assert_int_equal(btf__dedup(btf, NULL), 0);
	assert_int_equal(count(btf, BTF_KIND_FWD, "payload"), 1);
	btf__free(btf);
}

TEST(declarations_are_found_by_name)
{
	struct btf *btf = btf__new_empty();

	btf__add_int(btf, "int", 4, 0);
	btf__add_fwd(btf, "u", BTF_FWD_UNION);	/* 2 */
	btf__add_fwd(btf, "u", BTF_FWD_STRUCT); /* 3: another one */
	btf__add_ptr(btf, 2);
	btf__add_ptr(btf, 3);
	btf__add_union(btf, "u", 4);
	btf__add_field(btf, "x", 1, 0, 0);
	btf__add_fwd(btf, "e", BTF_FWD_ENUM);
	btf__add_enum(btf, "e", 4);
	btf__add_enum_value(btf, "A", 1);
	assert_int_equal(btf__dedup(btf, NULL), 0);
	assert_int_equal(count(btf, BTF_KIND_FWD, "u"), 1);
	assert_int_equal(count(btf, BTF_KIND_PTR, NULL), 2);
	assert_int_equal(count(btf, BTF_KIND_ENUM, "e"), 1);
	assert_int_equal(btf_vlen(btf__type_by_id(btf, (uint32_t)btf__find_by_name(btf, "e"))), 1);
	assert_sound(btf);
	btf__free(btf);
}

/* Each kind twice; all but variables and sections become one. */
TEST(every_kind_that_refers)
{
	struct btf *btf = btf__new_empty();

	for (int i = 0; i < 2; i++) {
		const int at = (int)btf__type_cnt(btf);

		btf__add_int(btf, "int", 4, 0);	      /* at */
		btf__add_ptr(btf, at);		      /* at + 1 */
		btf__add_array(btf, at, at + 1, 3);   /* at + 2 */
		btf__add_volatile(btf, at + 2);	      /* at + 3 */
		btf__add_restrict(btf, at + 1);	      /* at + 4 */
		btf__add_type_tag(btf, "user", at);   /* at + 5 */
		btf__add_type_attr(btf, "user", at);  /* at + 6 */
		btf__add_float(btf, "double", 8);     /* at + 7 */
		btf__add_enum64(btf, "big", 8, true); /* at + 8 */
		btf__add_enum64_value(btf, "B", 1ull << 40);
		btf__add_var(btf, "v", BTF_VAR_STATIC, at + 3); /* at + 9 */
		btf__add_datasec(btf, ".data", 4);		/* at + 10 */
		btf__add_datasec_var_info(btf, at + 9, 0, 4);
		btf__add_decl_tag(btf, "tag", at + 9, -1);  /* at + 11: of another variable each */
		btf__add_typedef(btf, "t", at);		    /* at + 12 */
		btf__add_decl_tag(btf, "tag", at + 12, -1); /* at + 13 */
	}
	assert_int_equal(btf__dedup(btf, NULL), 0);
	assert_int_equal(count(btf, BTF_KIND_VAR, NULL), 2);
	assert_int_equal(count(btf, BTF_KIND_DATASEC, NULL), 2);
	assert_int_equal(count(btf, BTF_KIND_DECL_TAG, NULL), 3);
	assert_int_equal(count(btf, BTF_KIND_TYPE_TAG, NULL), 2);
	assert_int_equal(btf__type_cnt(btf), 1 + 14 + 3);
	assert_sound(btf);
	btf__free(btf);
}

/* References that go in a circle, and as far as there is room: no end and no recursion. */
TEST(circles_and_long_chains)
{
	struct btf *btf = btf__new_empty();
	const int long_one = 100000;

	btf__add_ptr(btf, 2);
	btf__add_const(btf, 3);
	btf__add_typedef(btf, "round", 1);
	btf__add_ptr(btf, 5);
	btf__add_const(btf, 6);
	btf__add_typedef(btf, "round", 4);
	btf__add_volatile(btf, 7); /* of itself */
	for (int i = 0; i < long_one; i++)
		btf__add_ptr(btf, i ? (int)btf__type_cnt(btf) - 1 : 0);
	for (int i = 0; i < long_one; i++) /* the other way round */
		btf__add_ptr(btf, i + 1 < long_one ? (int)btf__type_cnt(btf) + 1 : 0);
	assert_int_equal(btf__dedup(btf, NULL), 0);
	assert_true(btf__type_cnt(btf) >= 1 + long_one && btf__type_cnt(btf) <= 1 + 7 + long_one);
	assert_sound(btf);
	btf__free(btf);

	/* Structs that differ at the end of a long way. */
	btf = btf__new_empty();
	for (int unit = 0; unit < 2; unit++) {
		const int first = (int)btf__type_cnt(btf);

		for (int i = 0; i < 3000; i++) {
			btf__add_struct(btf, "deep", 8);
			btf__add_field(btf, "down", first + 2 * i + 1, 0, 0);
			btf__add_ptr(btf, first + 2 * i + 2);
		}
		btf__add_int(btf, unit ? "long" : "int", 8, 0);
	}
	assert_int_equal(btf__dedup(btf, NULL), 0);
	assert_sound(btf);
	btf__free(btf);
}

/*
 * The base knows "struct s2" by a declaration only. What refers to it in the
 * split BTF, where the struct is, means the struct and not the base's declaration.
 */
TEST(a_bases_declaration_gives_way)
{
	struct btf *base = btf__new_empty();

	btf__add_fwd(base, "s2", BTF_FWD_STRUCT); /* 1 */
	btf__add_ptr(base, 1);
	btf__add_struct(base, "s1", 8); /* 3 */
	btf__add_field(base, "f1", 2, 0, 0);
	struct btf *split = btf__new_empty_split(base);
	btf__add_fwd(split, "s2", BTF_FWD_STRUCT); /* 4 */
	btf__add_ptr(split, 4);
	btf__add_struct(split, "s3", 8); /* 6 */
	btf__add_field(split, "f1", 5, 0, 0);
	btf__add_struct(split, "s2", 8); /* 7 */
	btf__add_field(split, "f1", 5, 0, 0);

	assert_int_equal(btf__dedup(split, NULL), 0);
	assert_int_equal(btf__type_cnt(split), 4 + 3);
	const int ptr = btf__find_by_name_kind(split, "s3", BTF_KIND_STRUCT);
	assert_true(ptr >= 4 && ptr <= 6);
	const uint32_t to = btf_members(btf__type_by_id(split, (uint32_t)ptr))[0].type;
	assert_true(to >= 4 && to <= 6);
	assert_int_equal(btf__type_by_id(split, to)->type,
			 btf__find_by_name_kind(split, "s2", BTF_KIND_STRUCT));
	assert_sound(split);
	btf__free(split);
	btf__free(base);
}

TEST(a_bases_types_are_used)
{
	struct btf *base = btf__new_empty();

	add_unit(base, "first");
	struct btf *split = btf__new_empty_split(base);
	const uint32_t start = btf__type_cnt(base);
	add_unit(split, "first");
	const int own = btf__add_struct(split, "own", 8);
	btf__add_field(split, "l", (int)start + 2, 0, 0); /* ptr to the list */
	assert_true(own > 0);
	assert_int_equal(btf__dedup(split, NULL), 0);
	assert_int_equal(btf__type_cnt(split), start + 1);
	const struct btf_type *t = btf__type_by_id(split, start);
	assert_string_equal(btf_name(split, t), "own");
	assert_int_equal(btf_members(t)[0].type, 3);
	assert_sound(split);
	btf__free(split);
	btf__free(base);
}

TEST(collisions_change_nothing)
{
	LIBBPF_OPTS(btf_dedup_opts, opts, .force_collisions = true);
	uint32_t size[2];
	const void *raw[2];
	struct btf *btf[2];

	for (int i = 0; i < 2; i++) {
		btf[i] = btf__new_empty();
		add_unit(btf[i], "first");
		add_unit(btf[i], NULL);
		add_unit(btf[i], "other");
		assert_int_equal(btf__dedup(btf[i], i ? &opts : NULL), 0);
		raw[i] = btf__raw_data(btf[i], &size[i]);
	}
	assert_int_equal(btf__type_cnt(btf[0]), btf__type_cnt(btf[1]));
	assert_int_equal(size[0], size[1]);
	assert_non_null(raw[1]);
	btf__free(btf[0]);
	btf__free(btf[1]);
}

TEST(strings_that_nobody_needs_go)
{
	struct btf *btf = btf__new_empty();

	btf__add_str(btf, "nobody_refers_to_it");
	btf__add_int(btf, "int", 4, 0);
	assert_int_equal(btf__dedup(btf, NULL), 0);
	assert_int_equal(btf__find_str(btf, "nobody_refers_to_it"), -ENOENT);
	assert_true(btf__find_str(btf, "int") > 0);
	assert_true(btf__add_str(btf, "later") > 0);
	assert_true(btf__add_typedef(btf, "number", 1) == 2);
	assert_sound(btf);
	btf__free(btf);
}

/* ---- .BTF.ext ---- */

static struct btf_ext *ext_of(uint32_t section, uint32_t func, uint32_t file, uint32_t line,
			      uint32_t type, uint32_t access)
{
	const uint32_t words[] = {
		BTF_MAGIC | BTF_VERSION << 16,
		32,
		0,
		20, /* func_info */
		20,
		28, /* line_info */
		48,
		28, /* core_relo */
		8,
		section,
		1,
		0,
		func,
		16,
		section,
		1,
		0,
		file,
		line,
		1 << 10,
		16,
		section,
		1,
		0,
		type,
		access,
		0,
	};
	struct btf_ext *ext = btf_ext__new((const uint8_t *)words, sizeof(words));

	assert_non_null(ext);
	return ext;
}

static const uint32_t *record(const struct btf_ext *ext, enum btf_ext_kind kind)
{
	size_t n;
	const struct btf_ext_section *sec = btf_ext_sections(ext, kind, &n);

	assert_int_equal(n, 1);
	return btf_ext_rec(sec, 0);
}

/* What the records say is the same after a rewriting. */
static void assert_ext(const struct btf *btf, const struct btf_ext *ext)
{
	const uint32_t *func = record(ext, BTF_EXT_FUNC), *line = record(ext, BTF_EXT_LINE);
	const uint32_t *core = record(ext, BTF_EXT_CORE);

	assert_string_equal(btf_name(btf, btf__type_by_id(btf, func[1])), "walk");
	assert_string_equal(btf__str_by_offset(btf, line[1]), "file.c");
	assert_string_equal(btf__str_by_offset(btf, line[2]), "return 0;");
	assert_string_equal(btf_name(btf, btf__type_by_id(btf, core[1])), "list");
	assert_string_equal(btf__str_by_offset(btf, core[2]), "0:1");
	assert_non_null(btf_ext_find(ext, BTF_EXT_CORE, btf, "tp/x"));
}

TEST(records_follow)
{
	for (int swapped = 0; swapped < 2; swapped++) {
		struct btf *btf = btf__new_empty();
		uint32_t size;

		btf__add_str(btf, "unused");
		add_unit(btf, "first");
		const int list = add_unit(btf, "first");
		const int func = (int)btf__type_cnt(btf) - 1;
		const uint32_t section = (uint32_t)btf__add_str(btf, "tp/x");
		const uint32_t file = (uint32_t)btf__add_str(btf, "file.c");
		const uint32_t line = (uint32_t)btf__add_str(btf, "return 0;");
		const uint32_t access = (uint32_t)btf__add_str(btf, "0:1");
		struct btf_ext *ext =
			ext_of(section, (uint32_t)func, file, line, (uint32_t)list, access);
		LIBBPF_OPTS(btf_dedup_opts, opts, .btf_ext = ext);

		if (swapped)
			assert_int_equal(btf_ext__set_endianness(ext, BTF_BIG_ENDIAN), 0);
		assert_ext(btf, ext);
		assert_int_equal(btf__dedup(btf, &opts), 0);
		assert_ext(btf, ext);
		assert_true(record(ext, BTF_EXT_CORE)[1] < (uint32_t)list);
		/* The raw data is of the order that was asked for, and says the same. */
		const void *raw = btf_ext__raw_data(ext, &size);
		struct btf_ext *again = btf_ext__new(raw, size);
		assert_non_null(again);
		assert_int_equal(btf_ext__endianness(again),
				 swapped ? BTF_BIG_ENDIAN : btf_ext__endianness(ext));
		assert_ext(btf, again);

		uint32_t map[32];
		const uint32_t n = btf__type_cnt(btf) - 1;
		for (uint32_t i = 0; i < n; i++)
			map[i] = n - i; /* the other way round */
		LIBBPF_OPTS(btf_permute_opts, permute, .btf_ext = again);
		assert_int_equal(btf__permute(btf, map, n, &permute), 0);
		assert_ext(btf, again);
		assert_sound(btf);
		btf_ext__free(again);
		btf_ext__free(ext);
		btf__free(btf);
	}
}

TEST(permutations)
{
	struct btf *btf = btf__new_empty();
	uint32_t good[] = {3, 1, 2}, twice[] = {1, 1, 2}, outside[] = {1, 2, 4}, zero[] = {0, 1, 2};

	btf__add_int(btf, "int", 4, 0);
	btf__add_ptr(btf, 1);
	btf__add_typedef(btf, "p_t", 2);
	assert_int_equal(btf__permute(btf, twice, 3, NULL), -EINVAL);
	assert_int_equal(btf__permute(btf, outside, 3, NULL), -EINVAL);
	assert_int_equal(btf__permute(btf, zero, 3, NULL), -EINVAL);
	assert_int_equal(btf__permute(btf, good, 2, NULL), -EINVAL);
	assert_int_equal(btf__find_by_name(btf, "int"), 1);
	assert_int_equal(btf__permute(btf, good, 3, NULL), 0);
	assert_int_equal(btf__find_by_name(btf, "int"), 3);
	assert_int_equal(btf__type_by_id(btf, 1)->type, 3);
	assert_int_equal(btf__type_by_id(btf, 2)->type, 1);
	assert_sound(btf);

	struct btf *split = btf__new_empty_split(btf);
	uint32_t swap[] = {5, 4};
	btf__add_const(split, 1);	       /* 4 */
	btf__add_typedef(split, "const_p", 4); /* 5 */
	assert_int_equal(btf__permute(split, swap, 2, NULL), 0);
	assert_int_equal(btf__type_by_id(split, 5)->type, 1);
	assert_int_equal(btf__type_by_id(split, 4)->type, 5);
	assert_sound(split);
	btf__free(split);
	btf__free(btf);
}

/* ---- bases ---- */

/* A kernel's types, at ids that depend on `before`; returns the id of struct task. */
static int add_kernel(struct btf *btf, int before, uint32_t inner_size)
{
	char name[32];

	for (int i = 0; i < before; i++) {
		snprintf(name, sizeof(name), "before%d", i);
		btf__add_struct(btf, name, 4);
	}
	const int at = (int)btf__type_cnt(btf);
	btf__add_int(btf, "int", 4, BTF_INT_SIGNED); /* at */
	btf__add_struct(btf, "inner", inner_size);   /* at + 1 */
	btf__add_field(btf, "n", at, 0, 0);
	btf__add_struct(btf, "task", 64); /* at + 2 */
	btf__add_field(btf, "pid", at, 0, 0);
	btf__add_ptr(btf, at + 2);		  /* at + 3 */
	btf__add_typedef(btf, "inner_t", at + 1); /* at + 4 */
	btf__add_enum(btf, "colour", 4);	  /* at + 5 */
	btf__add_enum_value(btf, "RED", 0);
	btf__add_fwd(btf, "opaque", BTF_FWD_UNION); /* at + 6 */
	btf__add_func_proto(btf, at);		    /* at + 7 */
	btf__add_func(btf, "kernel_func", BTF_FUNC_STATIC, at + 7);
	return at;
}

/* A module's: its struct holds an inner_t and points to a task. */
static void add_module(struct btf *split, int at)
{
	const int own = (int)btf__type_cnt(split);

	btf__add_struct(split, "module", 48); /* own */
	btf__add_field(split, "inner", at + 4, 0, 0);
	btf__add_field(split, "task", at + 3, 64, 0);
	btf__add_field(split, "colour", at + 5, 128, 0);
	btf__add_field(split, "opaque", own + 1, 192, 0);
	btf__add_ptr(split, at + 6);	/* own + 1 */
	btf__add_func_proto(split, at); /* own + 2 */
	btf__add_func_param(split, "m", own + 4);
	btf__add_func(split, "init", BTF_FUNC_STATIC, own + 2); /* own + 3 */
	btf__add_ptr(split, own);				/* own + 4 */
}

static const struct btf_type *type_of_member(const struct btf *btf, const char *name, int i)
{
	const int id = btf__find_by_name(btf, name);

	assert_true(id > 0);
	return btf__type_by_id(btf, btf_members(btf__type_by_id(btf, (uint32_t)id))[i].type);
}

/* Wherever the types stand now, they are what they were. */
static void assert_module(const struct btf *btf)
{
	const struct btf_type *t = type_of_member(btf, "module", 0);

	assert_string_equal(btf_name(btf, t), "inner_t");
	t = btf__type_by_id(btf, t->type);
	assert_string_equal(btf_name(btf, t), "inner");
	assert_true(btf_is_struct(t));
	t = btf__type_by_id(btf, type_of_member(btf, "module", 1)->type);
	assert_string_equal(btf_name(btf, t), "task");
	t = type_of_member(btf, "module", 2);
	assert_string_equal(btf_name(btf, t), "colour");
	t = btf__type_by_id(btf, type_of_member(btf, "module", 3)->type);
	assert_string_equal(btf_name(btf, t), "opaque");
	const int init = btf__find_by_name_kind(btf, "init", BTF_KIND_FUNC);
	assert_true(init > 0);
	t = btf__type_by_id(btf, btf__type_by_id(btf, (uint32_t)init)->type);
	assert_string_equal(btf__name_by_offset(btf, btf_params(t)->name_off), "m");
}

TEST(a_base_is_distilled_and_found_again)
{
	struct btf *kernel = btf__new_empty(), *small, *module;
	const int at = add_kernel(kernel, 3, 4);
	struct btf *split = btf__new_empty_split(kernel);

	add_module(split, at);
	assert_module(split);
	assert_int_equal(btf__distill_base(kernel, &small, &module), -EINVAL);
	assert_int_equal(btf__distill_base(split, &small, &module), 0);
	assert_int_equal(btf__type_cnt(small), 1 + 5); /* int, inner, task, colour, opaque */
	assert_ptr_equal(btf__base_btf(module), small);
	assert_int_equal(btf_vlen(type_of_member(module, "module", 2)), 0); /* no values */
	assert_module(module);
	assert_sound(small);
	assert_sound(module);
	btf__free(split);
	btf__free(kernel);

	/* Another kernel, in which a struct that is only pointed to has grown. */
	struct btf *other = btf__new_empty();
	add_kernel(other, 17, 4);
	assert_int_equal(btf__relocate(module, other), 0);
	btf__free(small);
	assert_ptr_equal(btf__base_btf(module), other);
	assert_module(module);
	assert_int_equal(btf_vlen(type_of_member(module, "module", 2)), 1);
	assert_sound(module);
	btf__free(module);
	btf__free(other);
}

TEST(a_base_that_does_not_fit_is_refused)
{
	for (int wrong = 0; wrong < 3; wrong++) {
		struct btf *kernel = btf__new_empty(), *other = btf__new_empty(), *small, *module;
		const int at = add_kernel(kernel, 0, 4);
		struct btf *split = btf__new_empty_split(kernel);

		add_module(split, at);
		assert_int_equal(btf__distill_base(split, &small, &module), 0);
		if (wrong == 0)
			add_kernel(other, 1, 8); /* inner, which is held by value, has grown */
		if (wrong == 1)
			btf__add_int(other, "int", 4, BTF_INT_SIGNED); /* and no more */
		if (wrong == 2) {
			add_kernel(other, 0, 4);
			btf__add_struct(other, "task", 64); /* which one? */
		}
		assert_int_equal(btf__relocate(module, other), -EINVAL);
		assert_ptr_equal(btf__base_btf(module), small);
		assert_module(module);
		btf__free(split);
		btf__free(kernel);
		btf__free(module);
		btf__free(small);
		btf__free(other);
	}
}

TEST(functions_of_a_base_are_not_distilled)
{
	struct btf *kernel = btf__new_empty(), *small = NULL, *module = NULL;
	const int at = add_kernel(kernel, 0, 4);
	struct btf *split = btf__new_empty_split(kernel);

	btf__add_decl_tag(split, "tag", at + 8, -1);
	assert_int_equal(btf__distill_base(split, &small, &module), -EINVAL);
	assert_null(small);
	assert_null(module);
	btf__free(split);
	btf__free(kernel);
}
