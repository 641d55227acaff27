// SPDX-License-Identifier: BSD-2-Clause
/* BTF made acceptable to older kernels, and sections filled in. */
#include <stdio.h>
#include <string.h>

#include "lib/btf/sanitize.h"

enum {
	INT = 1,
	PROTO,
	FUNC,
	VAR,
	STATIC_VAR,
	DATA,
	FLOAT,
	DECL_TAG,
	TYPE_TAG,
	ENUM64,
	NEG_ENUM,
	QMARK,
	EXTERN,
	KSYMS,
};

static struct btf *object_btf(void)
{
	struct btf *b = btf__new_empty();

	btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	btf__add_func_proto(b, INT);
	btf__add_func_param(b, "ctx", INT);
	btf__add_func(b, "prog", BTF_FUNC_GLOBAL, PROTO);
	btf__add_var(b, "counter", BTF_VAR_GLOBAL_ALLOCATED, INT);
	btf__add_var(b, "state", BTF_VAR_STATIC, INT);
	btf__add_datasec(b, ".data", 0);
	btf__add_datasec_var_info(b, VAR, 0, 4);
	btf__add_datasec_var_info(b, STATIC_VAR, 0, 4);
	btf__add_float(b, "double", 8);
	btf__add_decl_tag(b, "tag", FUNC, 0);
	btf__add_type_tag(b, "user", INT);
	btf__add_enum64(b, "big", 8, false);
	btf__add_enum64_value(b, "HUGE", 1ull << 40);
	btf__add_enum(b, "neg", 4);
	btf__add_enum_value(b, "MINUS", -1);
	btf__add_datasec(b, "?struct_ops", 4);
	btf__add_datasec_var_info(b, VAR, 0, 4);
	btf__add_var(b, "jiffies", BTF_VAR_GLOBAL_EXTERN, INT);
	assert_int_equal(btf__add_datasec(b, ".ksyms", 0), KSYMS);
	btf__add_datasec_var_info(b, EXTERN, 0, 4);
	return b;
}

static bool section_size(void *ctx, const char *section, uint32_t *size)
{
	*size = 8;
	return strcmp(section, ".data") == 0;
}

static bool symbol_offset(void *ctx, const char *section, const char *symbol, uint32_t *offset)
{
	*offset = strcmp(symbol, "counter") == 0 ? 4 : 0;
	return strcmp(section, ".data") == 0;
}

static const struct btf_layout layout = {section_size, symbol_offset, NULL};

TEST(fills_in_sections)
{
	struct btf *b = object_btf();

	assert_null(btf_fix_datasecs(b, &layout));
	const struct btf_type *t = btf__type_by_id(b, DATA);
	assert_int_equal(t->size, 8);
	assert_int_equal(btf_var_secinfos(t)[0].type, STATIC_VAR);
	assert_int_equal(btf_var_secinfos(t)[0].offset, 0);
	assert_int_equal(btf_var_secinfos(t)[1].type, VAR);
	assert_int_equal(btf_var_secinfos(t)[1].offset, 4);
	assert_int_equal(btf__type_by_id(b, KSYMS)->size, 0);
	btf__free(b);
}

/* The kinds after sanitising for these features; ids and names are as before. */
static struct btf *sanitized(uint32_t features)
{
	struct btf *b = object_btf(), *copy = NULL;
	uint32_t size;

	assert_null(btf_fix_datasecs(b, &layout));
	assert_null(btf_sanitize(b, features, &copy));
	assert_non_null(copy);
	assert_true(btf__type_cnt(copy) >= btf__type_cnt(b));
	/* it must parse again */
	const void *raw = btf__raw_data(copy, &size);
	struct btf *again = btf__new(raw, size);
	assert_non_null(again);
	btf__free(copy);
	btf__free(b);
	return again;
}

static void expect_kind(struct btf *b, uint32_t id, uint32_t kind)
{
	assert_int_equal(btf_kind(btf__type_by_id(b, id)), kind);
}

TEST(keeps_what_is_known)
{
	struct btf *b = sanitized(BTF_FEAT_ALL);

	expect_kind(b, FUNC, BTF_KIND_FUNC);
	expect_kind(b, VAR, BTF_KIND_VAR);
	expect_kind(b, DATA, BTF_KIND_DATASEC);
	expect_kind(b, FLOAT, BTF_KIND_FLOAT);
	expect_kind(b, DECL_TAG, BTF_KIND_DECL_TAG);
	expect_kind(b, TYPE_TAG, BTF_KIND_TYPE_TAG);
	expect_kind(b, ENUM64, BTF_KIND_ENUM64);
	assert_true(btf_kflag(btf__type_by_id(b, NEG_ENUM)));
	/* what is extern is in no kernel's BTF */
	assert_false(btf_is_datasec(btf__type_by_id(b, KSYMS)));
	assert_false(btf_is_var(btf__type_by_id(b, EXTERN)));
	btf__free(b);

	struct btf *plain = btf__new_empty(), *copy = plain;
	btf__add_int(plain, "int", 4, 0);
	assert_null(btf_sanitize(plain, BTF_FEAT_ALL, &copy));
	assert_null(copy);
	btf__free(plain);
}

TEST(changes_what_is_not)
{
	struct btf *b = sanitized(BTF_FEAT_FUNC | BTF_FEAT_DATASEC);
	const struct btf_type *t = btf__type_by_id(b, FUNC);

	expect_kind(b, FUNC, BTF_KIND_FUNC);
	assert_int_equal(btf_vlen(t), BTF_FUNC_STATIC);
	expect_kind(b, DATA, BTF_KIND_DATASEC);
	expect_kind(b, FLOAT, BTF_KIND_STRUCT);
	assert_int_equal(btf__type_by_id(b, FLOAT)->size, 8);
	expect_kind(b, DECL_TAG, BTF_KIND_INT);
	expect_kind(b, TYPE_TAG, BTF_KIND_CONST);
	expect_kind(b, ENUM64, BTF_KIND_UNION);
	assert_int_equal(btf__type_by_id(b, ENUM64)->size, 8);
	assert_int_equal(btf_vlen(btf__type_by_id(b, ENUM64)), 1);
	assert_false(btf_kflag(btf__type_by_id(b, NEG_ENUM)));
	t = btf__type_by_id(b, QMARK);
	assert_null(strchr(btf__name_by_offset(b, t->name_off), '?'));
	btf__free(b);

	b = sanitized(0);
	expect_kind(b, PROTO, BTF_KIND_ENUM);
	expect_kind(b, FUNC, BTF_KIND_TYPEDEF);
	expect_kind(b, VAR, BTF_KIND_INT);
	t = btf__type_by_id(b, DATA);
	assert_true(btf_is_struct(t));
	assert_int_equal(btf_member_bit_offset(t, 1), 32);
	assert_string_equal(btf__name_by_offset(b, btf_members(t)[1].name_off), "counter");
	btf__free(b);
}
