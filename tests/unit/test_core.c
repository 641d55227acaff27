// SPDX-License-Identifier: BSD-2-Clause
/*
 * CO-RE: every kind of relocation between two made-up kernels, with the
 * values worked out by hand, and what happens to the instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/strbuf.h"
#include "lib/core/core.h"

struct world {
	struct btf *local, *targ;
	struct core *core;
};

/* Ids of the local types. */
enum {
	INT = 1,
	UINT,
	ULONG,
	LLONG,
	CHAR,
	CHARS,
	INNER,
	TASK,
	TASK_PTR,
	GONE,
	COLOR,
	FLAVOR,
	TD,
	PROTO,
	FN_TD,
	BIG,
	FWD_ONLY,
	TWICE,
	MATCHING,
	NOT_MATCHING,
	NAMELESS,
	INTS,
	RESIZED,
};

/*
 * struct inner { int a; int b[4]; };
 * struct task { int pid; char comm[16]; struct inner in; unsigned flag : 3;
 *	unsigned wide; int moved; int retyped; unsigned long flags; long bits : 5; };
 */
static struct btf *local_btf(void)
{
	struct btf *b = btf__new_empty();

	btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	btf__add_int(b, "unsigned int", 4, 0);
	btf__add_int(b, "unsigned long", 8, 0);
	btf__add_int(b, "long long", 8, BTF_INT_SIGNED);
	btf__add_int(b, "char", 1, BTF_INT_SIGNED);
	btf__add_array(b, INT, CHAR, 16);
	btf__add_struct(b, "inner", 20);
	btf__add_field(b, "a", INT, 0, 0);
	btf__add_field(b, "b", INTS, 32, 0);
	btf__add_struct(b, "task", 72);
	btf__add_field(b, "pid", INT, 0, 0);
	btf__add_field(b, "comm", CHARS, 32, 0);
	btf__add_field(b, "in", INNER, 160, 0);
	btf__add_field(b, "flag", UINT, 320, 3);
	btf__add_field(b, "wide", UINT, 352, 0);
	btf__add_field(b, "moved", INT, 384, 0);
	btf__add_field(b, "retyped", INT, 416, 0);
	btf__add_field(b, "flags", ULONG, 448, 0);
	btf__add_field(b, "bits", LLONG, 512, 5);
	btf__add_ptr(b, TASK);
	btf__add_struct(b, "gone", 4);
	btf__add_field(b, "x", INT, 0, 0);
	btf__add_enum(b, "color", 4);
	btf__add_enum_value(b, "RED", 0);
	btf__add_enum_value(b, "BLUE", 1);
	btf__add_enum_value(b, "PINK", 2);
	btf__add_enum_value(b, "NEG", -1);
	btf__add_struct(b, "task___v2", 4);
	btf__add_field(b, "wide", UINT, 0, 0);
	btf__add_typedef(b, "td_t", UINT);
	btf__add_func_proto(b, INT);
	btf__add_func_param(b, "p", TASK_PTR);
	btf__add_typedef(b, "fn_t", PROTO);
	btf__add_enum64(b, "big", 8, false);
	btf__add_enum64_value(b, "HUGE", 1);
	btf__add_struct(b, "only_fwd", 4);
	btf__add_struct(b, "twice", 4);
	btf__add_field(b, "same", INT, 0, 0);
	btf__add_field(b, "differs", INT, 32, 0);
	btf__add_struct(b, "matching", 8);
	btf__add_field(b, "x", INT, 0, 0);
	btf__add_struct(b, "not_matching", 8);
	btf__add_field(b, "x", UINT, 0, 0);
	btf__add_struct(b, NULL, 4);
	btf__add_field(b, "x", INT, 0, 0);
	assert_int_equal(btf__add_array(b, INT, INT, 4), INTS);
	assert_int_equal(btf__add_struct(b, "resized", 4), RESIZED);
	btf__add_field(b, "x", UINT, 0, 0);
	return b;
}

/*
 * struct inner { long pad; int b[8]; union { int z; struct { char pad2; int a; }; }; };
 * struct task { unsigned wide (8 bytes); struct { char comm[32]; struct inner in; };
 *	int pid; long flag : 9 (bits 3-11 of ...); float retyped; ... };
 */
static struct btf *target_btf(void)
{
	struct btf *b = btf__new_empty();

	btf__add_int(b, "unsigned long", 8, 0);	    /* 1 */
	btf__add_int(b, "int", 4, BTF_INT_SIGNED);  /* 2 */
	btf__add_int(b, "char", 1, BTF_INT_SIGNED); /* 3 */
	btf__add_int(b, "unsigned int", 4, 0);	    /* 4 */
	btf__add_array(b, 2, 3, 32);		    /* 5: char[32] */
	btf__add_array(b, 2, 2, 8);		    /* 6: int[8] */
	btf__add_struct(b, NULL, 8);		    /* 7 */
	btf__add_field(b, "pad2", 3, 0, 0);
	btf__add_field(b, "a", 2, 32, 0);
	btf__add_union(b, NULL, 8); /* 8 */
	btf__add_field(b, "z", 2, 0, 0);
	btf__add_field(b, NULL, 7, 0, 0);
	btf__add_struct(b, "inner", 48); /* 9 */
	btf__add_field(b, "pad", 1, 0, 0);
	btf__add_field(b, "b", 6, 64, 0);
	btf__add_field(b, NULL, 8, 320, 0);
	btf__add_struct(b, NULL, 80); /* 10 */
	btf__add_field(b, "comm", 5, 0, 0);
	btf__add_field(b, "in", 9, 256, 0);
	btf__add_float(b, "float", 4);	 /* 11 */
	btf__add_struct(b, "task", 128); /* 12 */
	btf__add_field(b, "wide", 1, 0, 0);
	btf__add_field(b, NULL, 10, 64, 0);
	btf__add_field(b, "pid", 2, 704, 0);
	btf__add_field(b, "flag", 1, 707 + 32, 9);
	btf__add_field(b, "retyped", 11, 800, 0);
	btf__add_field(b, "flags", 4, 832, 0);
	btf__add_field(b, "moved", 14, 864, 0); /* a const typedef of int */
	btf__add_field(b, "bits", 2, 900, 5);
	btf__add_typedef(b, "pid_t", 2);       /* 13 */
	btf__add_const(b, 13);		       /* 14 */
	btf__add_enum64(b, "color", 8, false); /* 15 */
	btf__add_enum64_value(b, "BLUE", 7);
	btf__add_enum64_value(b, "RED___old", 0x1122334455667788);
	btf__add_enum64_value(b, "NEG", -5ull);
	btf__add_typedef(b, "td_t", 1);		     /* 16 */
	btf__add_ptr(b, 12);			     /* 17 */
	btf__add_func_proto(b, 2);		     /* 18 */
	btf__add_func_param(b, "q", 17);	     /* */
	btf__add_typedef(b, "fn_t", 18);	     /* 19 */
	btf__add_enum(b, "big", 4);		     /* 20 */
	btf__add_enum_value(b, "HUGE", -3);	     /* */
	btf__add_fwd(b, "only_fwd", BTF_FWD_STRUCT); /* 21 */
	btf__add_struct(b, "twice", 8);		     /* 22 */
	btf__add_field(b, "same", 2, 0, 0);
	btf__add_field(b, "differs", 2, 32, 0);
	btf__add_struct(b, "twice", 12); /* 23 */
	btf__add_field(b, "same", 2, 0, 0);
	btf__add_field(b, "differs", 2, 64, 0);
	btf__add_struct(b, "matching", 16); /* 24 */
	btf__add_field(b, "y", 1, 0, 0);
	btf__add_field(b, "x", 13, 64, 0);
	btf__add_struct(b, "not_matching", 16); /* 25 */
	btf__add_field(b, "x", 2, 0, 0);
	btf__add_struct(b, "resized", 8);
	btf__add_field(b, "x", 27, 0, 0);
	assert_int_equal(btf__add_int(b, "unsigned int", 8, 0), 27);
	return b;
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->local = local_btf();
	w->targ = target_btf();
	assert_null(core_new(w->local, w->targ, &w->core));
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	core_free(w->core);
	btf__free(w->local);
	btf__free(w->targ);
	free(w);
	return 0;
}

static struct btf_core_relo relo(struct world *w, uint32_t kind, uint32_t id, const char *access)
{
	return (struct btf_core_relo){0, id, btf__add_str(w->local, access), kind};
}

static struct core_result resolve(struct world *w, uint32_t kind, uint32_t id, const char *access)
{
	struct btf_core_relo r = relo(w, kind, id, access);
	struct core_result res;
	struct error *err = core_resolve(w->core, &r, &res);

	if (err)
		fail_msg("kind %u of %u \"%s\": %s", kind, id, access, err->msg);
	return res;
}

static void expect(struct world *w, uint32_t kind, uint32_t id, const char *access, uint64_t orig,
		   uint64_t new)
{
	struct core_result res = resolve(w, kind, id, access);

	assert_false(res.poison);
	if (res.orig_val != orig || res.new_val != new)
		fail_msg("kind %u of %u \"%s\": %llu -> %llu, wanted %llu -> %llu", kind, id,
			 access, (long long)res.orig_val, (long long)res.new_val, (long long)orig,
			 (long long)new);
}

static void expect_refused(struct world *w, uint32_t kind, uint32_t id, const char *access,
			   int code, const char *text)
{
	struct btf_core_relo r = relo(w, kind, id, access);
	struct core_result res;
	struct error *err = core_resolve(w->core, &r, &res);

	if (!err)
		fail_msg("kind %u of %u \"%s\" was accepted", kind, id, access);
	if (err->code != code || !strstr(err->msg, text))
		fail_msg("%d '%s', wanted %d '%s'", err->code, err->msg, code, text);
	error_free(err);
}

TEST_WITH(finds_fields, setup, teardown)
{
	struct world *w = *state;

	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:0", 0, 88);	 /* pid */
	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:1", 4, 8);	 /* comm, in an anonymous struct */
	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:1:5", 9, 13); /* comm[5] */
	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:2", 20, 40);	 /* in */
	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:2:1:3", 36, 60); /* in.b[3] */
	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:2:0", 20, 84);   /* in.a: union, then struct */
	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:5", 48, 108);    /* const typedef */
	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "2:0", 144, 256 + 88); /* p[2].pid */
	expect(w, CORE_FIELD_BYTE_OFFSET, FLAVOR, "0:0", 0, 0);
	expect(w, CORE_FIELD_BYTE_SIZE, TASK, "0:1", 16, 32);
	expect(w, CORE_FIELD_BYTE_SIZE, TASK, "0:4", 4, 8);
	expect(w, CORE_FIELD_BYTE_SIZE, TASK, "0:1:0", 1, 1);
	expect(w, CORE_FIELD_BYTE_SIZE, TASK, "0", 72, 128);
	expect(w, CORE_FIELD_EXISTS, TASK, "0:0", 1, 1);
	expect(w, CORE_FIELD_EXISTS, TASK, "0:6", 1, 0); /* an int is no float */
	expect(w, CORE_FIELD_EXISTS, GONE, "0:0", 1, 0);
	expect(w, CORE_FIELD_SIGNED, TASK, "0:0", 1, 1);
	expect(w, CORE_FIELD_SIGNED, TASK, "0:8", 1, 1);
	expect(w, CORE_FIELD_SIGNED, TASK, "0:4", 0, 0);
	assert_true(resolve(w, CORE_FIELD_BYTE_OFFSET, GONE, "0:0").poison);
	assert_true(resolve(w, CORE_FIELD_BYTE_SIZE, TASK, "0:6").poison);
	assert_true(resolve(w, CORE_FIELD_SIGNED, TASK, "0:6").poison);
}

TEST_WITH(shifts_bitfields, setup, teardown)
{
	struct world *w = *state;

	/* locally: 3 bits at bit 320, in a 4-byte word at 40; there: 9 bits at 739 of an 8-byte one
	 */
	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:3", 40, 88);
	expect(w, CORE_FIELD_BYTE_SIZE, TASK, "0:3", 4, 8);
	expect(w, CORE_FIELD_LSHIFT_U64, TASK, "0:3", 64 - 3, 64 - (739 + 9 - 88 * 8));
	expect(w, CORE_FIELD_RSHIFT_U64, TASK, "0:3", 61, 55);
	/* a plain field: all its bits */
	expect(w, CORE_FIELD_LSHIFT_U64, TASK, "0:0", 32, 32);
	expect(w, CORE_FIELD_RSHIFT_U64, TASK, "0:4", 32, 0);
	/* 5 bits at 900 in a 4-byte word at 112: bits 4 to 8 */
	expect(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:8", 64, 112);
	expect(w, CORE_FIELD_LSHIFT_U64, TASK, "0:8", 59, 64 - 9);
	assert_false(resolve(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:3").validate);
	assert_true(resolve(w, CORE_FIELD_RSHIFT_U64, TASK, "0:3").validate);
}

/*
 * On a big-endian machine the first bit of a field is its highest: the shift is
 * counted from the other end of the word, and of the 8 bytes it is loaded into.
 */
TEST(shifts_bitfields_of_the_other_byte_order)
{
	struct btf *b = btf__new_empty();
	static const enum btf_endianness orders[] = {BTF_LITTLE_ENDIAN, BTF_BIG_ENDIAN};

	btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	btf__add_struct(b, "s", 8);
	btf__add_field(b, "x", 1, 32 + 5, 3);
	struct btf_core_relo r = {0, 2, btf__add_str(b, "0:0"), CORE_FIELD_LSHIFT_U64};
	for (int i = 0; i < 2; i++) {
		struct core *core = NULL;
		struct core_result res;

		assert_int_equal(btf__set_endianness(b, orders[i]), 0);
		assert_null(core_new(b, b, &core));
		r.kind = CORE_FIELD_LSHIFT_U64;
		assert_null(core_resolve(core, &r, &res));
		assert_int_equal(res.new_val, i ? 32 + 5 : 64 - 8);
		r.kind = CORE_FIELD_RSHIFT_U64;
		assert_null(core_resolve(core, &r, &res));
		assert_int_equal(res.new_val, 61);
		core_free(core);
	}
	btf__free(b);
}

/* 20 bits at bit 20 of ints: no 4 bytes hold them, 8 do; 60 bits at bit 20: nothing does. */
TEST(widens_bitfields)
{
	struct btf *b = btf__new_empty();
	struct core *core;
	struct core_result res;

	btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	btf__add_int(b, "long", 8, BTF_INT_SIGNED);
	btf__add_struct(b, "packed", 16);
	btf__add_field(b, "x", 1, 20, 20);
	btf__add_field(b, "y", 2, 20, 60);
	assert_null(core_new(b, b, &core));
	struct btf_core_relo r = {0, 3, btf__add_str(b, "0:0"), CORE_FIELD_BYTE_SIZE};
	assert_null(core_resolve(core, &r, &res));
	assert_int_equal(res.new_val, 8);
	r.kind = CORE_FIELD_BYTE_OFFSET;
	assert_null(core_resolve(core, &r, &res));
	assert_int_equal(res.new_val, 0);
	r.kind = CORE_FIELD_LSHIFT_U64;
	assert_null(core_resolve(core, &r, &res));
	assert_int_equal(res.new_val, 24);
	r.access_str_off = btf__add_str(b, "0:1");
	struct error *err = core_resolve(core, &r, &res);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "crosses an 8-byte boundary"));
	error_free(err);
	core_free(core);
	btf__free(b);
}

TEST_WITH(finds_types, setup, teardown)
{
	struct world *w = *state;

	expect(w, CORE_TYPE_ID_LOCAL, TASK, "0", TASK, TASK);
	expect(w, CORE_TYPE_ID_TARGET, TASK, "0", TASK, 12);
	expect(w, CORE_TYPE_ID_TARGET, GONE, "0", GONE, 0);
	expect(w, CORE_TYPE_EXISTS, TASK, "0", 1, 1);
	expect(w, CORE_TYPE_EXISTS, FLAVOR, "0", 1, 1);
	expect(w, CORE_TYPE_EXISTS, GONE, "0", 1, 0);
	expect(w, CORE_TYPE_EXISTS, FWD_ONLY, "0", 1, 0);
	expect(w, CORE_TYPE_EXISTS, FN_TD, "0", 1, 1);
	expect(w, CORE_TYPE_EXISTS, COLOR, "0", 1, 1);
	expect(w, CORE_TYPE_SIZE, TASK, "0", 72, 128);
	expect(w, CORE_TYPE_SIZE, TD, "0", 4, 8);
	expect(w, CORE_TYPE_SIZE, GONE, "0", 4, 0);
	expect(w, CORE_TYPE_MATCHES, MATCHING, "0", 1, 1);
	expect(w, CORE_TYPE_MATCHES, NOT_MATCHING, "0", 1, 0);
	expect(w, CORE_TYPE_MATCHES, RESIZED, "0", 1, 0);
	expect(w, CORE_TYPE_MATCHES, TASK, "0", 1, 0);
	expect(w, CORE_TYPE_MATCHES, FN_TD, "0", 1, 1);
	expect(w, CORE_TYPE_MATCHES, COLOR, "0", 1, 0); /* PINK is gone */
	expect(w, CORE_TYPE_MATCHES, BIG, "0", 1, 1);
}

TEST_WITH(finds_enum_values, setup, teardown)
{
	struct world *w = *state;

	expect(w, CORE_ENUMVAL_EXISTS, COLOR, "1", 1, 1);
	expect(w, CORE_ENUMVAL_EXISTS, COLOR, "2", 1, 0);
	expect(w, CORE_ENUMVAL_VALUE, COLOR, "0", 0, 0x1122334455667788);
	expect(w, CORE_ENUMVAL_VALUE, COLOR, "1", 1, 7);
	expect(w, CORE_ENUMVAL_VALUE, COLOR, "3", -1ull, -5ull);
	expect(w, CORE_ENUMVAL_VALUE, BIG, "0", 1, -3ull);
	assert_true(resolve(w, CORE_ENUMVAL_VALUE, COLOR, "2").poison);
}

TEST_WITH(sees_ambiguity, setup, teardown)
{
	struct world *w = *state;

	expect(w, CORE_FIELD_BYTE_OFFSET, TWICE, "0:0", 0, 0);
	expect(w, CORE_FIELD_EXISTS, TWICE, "0:0", 1, 1);
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TWICE, "0:1", ENOTUNIQ,
		       "offset of field struct twice.differs: ambiguous: type 22 of the target and "
		       "type 23 of the target");
	expect_refused(w, CORE_TYPE_ID_TARGET, TWICE, "0", ENOTUNIQ, "ambiguous");
}

TEST_WITH(refuses_nonsense, setup, teardown)
{
	struct world *w = *state;

	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, "", EINVAL, "malformed");
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:", EINVAL, "malformed");
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, ":0", EINVAL, "malformed");
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:x", EINVAL, "malformed");
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:99999999999", EINVAL, "malformed");
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:9", EINVAL, "member 9 of 9");
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:1:16", EINVAL, "element 16");
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:0:0", EINVAL, "has no members");
	expect_refused(w, CORE_FIELD_SIGNED, TASK, "0:1:0", EINVAL, "array element");
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, "2147483647:0", EINVAL, "4 GiB");
	expect_refused(w, CORE_TYPE_EXISTS, TASK, "1", EINVAL, "malformed");
	expect_refused(w, CORE_ENUMVAL_VALUE, COLOR, "4", EINVAL, "value 4");
	expect_refused(w, CORE_ENUMVAL_VALUE, TASK, "0", EINVAL, "struct");
	expect_refused(w, CORE_TYPE_EXISTS, 999, "0", EINVAL, "no type 999");
	expect_refused(w, CORE_TYPE_EXISTS, 0, "0", EINVAL, "no type 0");
	expect_refused(w, 13, TASK, "0", EINVAL, "unknown relocation kind 13");
	expect_refused(w, CORE_TYPE_EXISTS, NAMELESS, "0", EINVAL, "has no name");
	struct strbuf deep = {0};
	strbuf_adds(&deep, "0");
	for (int i = 0; i < 100; i++)
		strbuf_adds(&deep, ":0");
	expect_refused(w, CORE_FIELD_BYTE_OFFSET, TASK, deep.str, EINVAL, "no members");
	strbuf_deinit(&deep);
}

/* ---- instructions ---- */

static struct error *patch(struct world *w, uint32_t kind, uint32_t id, const char *access,
			   struct bpf_insn *insns, size_t n)
{
	struct btf_core_relo r = relo(w, kind, id, access);

	return core_relocate(w->core, &r, "prog", insns, n, 0);
}

TEST_WITH(patches_instructions, setup, teardown)
{
	struct world *w = *state;
	struct bpf_insn mov = {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 1, .imm = 4};

	assert_null(patch(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:1", &mov, 1));
	assert_int_equal(mov.imm, 8);
	assert_int_equal(mov.dst_reg, 1);

	struct bpf_insn load = {.code = BPF_LDX | BPF_MEM | BPF_W, .off = 0};
	assert_null(patch(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:0", &load, 1));
	assert_int_equal(load.off, 88);
	assert_int_equal(load.code, BPF_LDX | BPF_MEM | BPF_W);

	/* unsigned and wider in the target; unsigned and narrower */
	load = (struct bpf_insn){.code = BPF_LDX | BPF_MEM | BPF_W, .off = 44};
	assert_null(patch(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:4", &load, 1));
	assert_int_equal(load.off, 0);
	assert_int_equal(load.code, BPF_LDX | BPF_MEM | BPF_DW);
	struct bpf_insn store = {.code = BPF_STX | BPF_MEM | BPF_DW, .off = 56};
	assert_null(patch(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:7", &store, 1));
	assert_int_equal(store.off, 104);
	assert_int_equal(store.code, BPF_STX | BPF_MEM | BPF_W);

	struct bpf_insn wide[2] = {{.code = BPF_LD | BPF_IMM | BPF_DW, .imm = 0}};
	assert_null(patch(w, CORE_ENUMVAL_VALUE, COLOR, "0", wide, 2));
	assert_int_equal(wide[0].imm, 0x55667788);
	assert_int_equal(wide[1].imm, 0x11223344);

	/* a negative immediate */
	mov = (struct bpf_insn){.code = BPF_ALU | BPF_MOV | BPF_K, .imm = -1};
	assert_null(patch(w, CORE_ENUMVAL_VALUE, COLOR, "3", &mov, 1));
	assert_int_equal(mov.imm, -5);
}

static void expect_unpatched(struct world *w, uint32_t kind, uint32_t id, const char *access,
			     struct bpf_insn *insns, size_t n, const char *text)
{
	struct bpf_insn before[2];

	memcpy(before, insns, n * sizeof(*insns));
	struct error *err = patch(w, kind, id, access, insns, n);
	if (!err)
		fail_msg("'%s' was accepted", text);
	if (!strstr(err->msg, text))
		fail_msg("'%s' lacks '%s'", err->msg, text);
	assert_memory_equal(before, insns, n * sizeof(*insns));
	error_free(err);
}

TEST_WITH(refuses_wrong_instructions, setup, teardown)
{
	struct world *w = *state;
	struct bpf_insn insn = {.code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 5};

	expect_unpatched(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:1", &insn, 1, "has the value 5");
	insn = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_X, .imm = 4};
	expect_unpatched(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:1", &insn, 1, "no immediate");
	insn = (struct bpf_insn){.code = BPF_LDX | BPF_MEM | BPF_W, .off = 3};
	expect_unpatched(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:0", &insn, 1, "has the value 3");
	insn = (struct bpf_insn){.code = BPF_JMP | BPF_EXIT};
	expect_unpatched(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:0", &insn, 1, "relocated");
	insn = (struct bpf_insn){.code = BPF_ALU | BPF_MOV | BPF_K, .imm = 0};
	expect_unpatched(w, CORE_ENUMVAL_VALUE, COLOR, "0", &insn, 1, "does not fit");
	insn = (struct bpf_insn){.code = BPF_LD | BPF_IMM | BPF_DW, .imm = 0};
	expect_unpatched(w, CORE_ENUMVAL_VALUE, COLOR, "0", &insn, 1, "64-bit");
	struct bpf_insn map[2] = {
		{.code = BPF_LD | BPF_IMM | BPF_DW, .src_reg = BPF_PSEUDO_MAP_FD}};
	expect_unpatched(w, CORE_ENUMVAL_VALUE, COLOR, "0", map, 2, "64-bit");
	/* a load of another width than the field's */
	insn = (struct bpf_insn){.code = BPF_LDX | BPF_MEM | BPF_B, .off = 44};
	expect_unpatched(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:4", &insn, 1,
			 "the instruction loads 1 bytes");
	struct btf_core_relo r = relo(w, CORE_FIELD_BYTE_OFFSET, TASK, "0:0");
	struct error *err = core_relocate(w->core, &r, NULL, &insn, 1, 1);
	assert_non_null(err);
	error_free(err);
}

TEST_WITH(poisons_and_explains, setup, teardown)
{
	struct world *w = *state;
	struct bpf_insn load = {.code = BPF_LDX | BPF_MEM | BPF_W, .off = 0};

	assert_null(patch(w, CORE_FIELD_BYTE_OFFSET, GONE, "0:0", &load, 1));
	assert_int_equal(load.code, BPF_JMP | BPF_CALL);
	assert_int_equal(load.imm, CORE_POISON_BASE);
	assert_string_equal(core_explain(w->core, load.imm),
			    "program prog, instruction 0: struct gone.x does not exist in the "
			    "target kernel");

	struct bpf_insn wide[2] = {{.code = BPF_LD | BPF_IMM | BPF_DW, .imm = 2}};
	assert_null(patch(w, CORE_ENUMVAL_VALUE, COLOR, "2", wide, 2));
	for (int i = 0; i < 2; i++) {
		assert_int_equal(wide[i].code, BPF_JMP | BPF_CALL);
		assert_int_equal(wide[i].imm, CORE_POISON_BASE + 1);
	}
	assert_non_null(strstr(core_explain(w->core, wide[0].imm), "enum color PINK"));

	assert_null(core_explain(w->core, CORE_POISON_BASE + 2));
	assert_null(core_explain(w->core, 7));
	assert_null(core_explain(w->core, -1));
}

TEST(poisons_unsafe_resizing)
{
	struct btf *local = btf__new_empty(), *targ = btf__new_empty();
	struct core *core;

	btf__add_int(local, "int", 4, BTF_INT_SIGNED);
	btf__add_struct(local, "s", 4);
	btf__add_field(local, "x", 1, 0, 0);
	btf__add_int(targ, "long", 8, BTF_INT_SIGNED);
	btf__add_struct(targ, "s", 16);
	btf__add_field(targ, "x", 1, 64, 0);
	assert_null(core_new(local, targ, &core));
	struct btf_core_relo r = {0, 2, btf__add_str(local, "0:0"), CORE_FIELD_BYTE_OFFSET};
	struct bpf_insn insn = {.code = BPF_LDX | BPF_MEM | BPF_W};
	assert_null(core_relocate(core, &r, "p", &insn, 1, 0));
	assert_int_equal(insn.code, BPF_JMP | BPF_CALL);
	assert_non_null(strstr(core_explain(core, insn.imm), "another size"));
	/* the offset alone is fine, as for bpf_core_read() */
	insn = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_K};
	assert_null(core_relocate(core, &r, "p", &insn, 1, 0));
	assert_int_equal(insn.imm, 8);
	core_free(core);
	btf__free(local);
	btf__free(targ);
}

/*
 * A kernel with struct both { int x at 4 }, and two modules, with struct both
 * { int x at 8 }, struct mod { int x at 8 } in the first, and in both of them
 * struct same { int x at 4 } and struct differs { int x at 0 and at 4 }. The
 * object has these, struct none, and struct mod___old.
 */
struct modules_world {
	struct btf *local, *targ, *mods[2];
	const struct btf *btfs[2];
	int calls;
	size_t unread;
	int fails;
	struct core *core;
};

enum { M_BOTH = 2, M_MOD, M_SAME, M_DIFFERS, M_NONE, M_MOD_OLD };

static void add_struct(struct btf *b, const char *name, uint32_t at)
{
	btf__add_struct(b, name, 16);
	btf__add_field(b, "x", 1, at * 8, 0);
}

static struct error *give_modules(void *ctx, struct core_modules *modules)
{
	static const char *const names[] = {"nf_first", "nf_second"};
	struct modules_world *w = ctx;

	w->calls++;
	if (w->fails && w->fails--)
		return error_nomem();
	*modules = (struct core_modules){w->btfs, names, 2, w->unread};
	return NULL;
}

static void modules_world(struct modules_world *w)
{
	static const char *const names[] = {"both", "mod", "same", "differs", "none", "mod___old"};

	w->local = btf__new_empty();
	w->targ = btf__new_empty();
	btf__add_int(w->local, "int", 4, BTF_INT_SIGNED);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		add_struct(w->local, names[i], 0);
	btf__add_int(w->targ, "int", 4, BTF_INT_SIGNED);
	add_struct(w->targ, "both", 4);
	btf__add_fwd(w->targ, "mod", BTF_FWD_STRUCT); /* as the kernel has nf_conn */
	for (uint32_t i = 0; i < 2; i++) {
		w->btfs[i] = w->mods[i] = btf__new_empty_split(w->targ);
		if (!i) {
			add_struct(w->mods[i], "both", 8);
			add_struct(w->mods[i], "mod", 8);
		}
		add_struct(w->mods[i], "same", 4);
		add_struct(w->mods[i], "differs", i * 4);
	}
	assert_null(core_new(w->local, w->targ, &w->core));
	core_set_modules(w->core, give_modules, w);
}

static void modules_world_free(struct modules_world *w)
{
	core_free(w->core);
	btf__free(w->mods[0]);
	btf__free(w->mods[1]);
	btf__free(w->local);
	btf__free(w->targ);
}

static struct error *resolve_x(struct modules_world *w, uint32_t id, uint32_t kind,
			       struct core_result *res)
{
	const bool whole = kind >= CORE_TYPE_ID_LOCAL;
	struct btf_core_relo r = {0, id, btf__add_str(w->local, whole ? "0" : "0:0"), kind};

	return core_resolve(w->core, &r, res);
}

TEST(asks_modules_last)
{
	struct modules_world w = {0};
	struct core_result res;

	modules_world(&w);
	assert_null(resolve_x(&w, M_BOTH, CORE_FIELD_BYTE_OFFSET, &res));
	assert_int_equal(res.new_val, 4);
	assert_int_equal(w.calls, 0); /* who needs no module pays nothing */
	assert_null(resolve_x(&w, M_MOD, CORE_FIELD_BYTE_OFFSET, &res));
	assert_int_equal(res.new_val, 8);
	assert_null(resolve_x(&w, M_MOD_OLD, CORE_FIELD_EXISTS, &res));
	assert_int_equal(res.new_val, 1);
	/* an id of the module's own numbering, which goes on from the kernel's */
	assert_null(resolve_x(&w, M_MOD, CORE_TYPE_ID_TARGET, &res));
	assert_int_equal(res.new_val, btf__type_cnt(w.targ) + 1);
	/* of two modules that agree */
	assert_null(resolve_x(&w, M_SAME, CORE_FIELD_BYTE_OFFSET, &res));
	assert_int_equal(res.new_val, 4);
	assert_null(resolve_x(&w, M_NONE, CORE_TYPE_EXISTS, &res));
	assert_int_equal(res.new_val, 0);
	assert_int_equal(w.calls, 1); /* and the others pay once */
	modules_world_free(&w);
}

TEST(modules_may_disagree)
{
	struct modules_world w = {0};
	struct core_result res;

	modules_world(&w);
	struct error *err = resolve_x(&w, M_DIFFERS, CORE_FIELD_BYTE_OFFSET, &res);
	assert_non_null(err);
	assert_int_equal(err->code, ENOTUNIQ);
	assert_non_null(strstr(err->msg, "of module nf_first and type "));
	assert_non_null(strstr(err->msg, "of module nf_second give different values, 0 and 4"));
	error_free(err);
	/* two modules number their types in their own ways */
	err = resolve_x(&w, M_SAME, CORE_TYPE_ID_TARGET, &res);
	assert_non_null(err);
	assert_int_equal(err->code, ENOTUNIQ);
	error_free(err);
	modules_world_free(&w);
}

/* What a poisoned instruction says; the caller's. */
static char *poison_of(struct modules_world *w, uint32_t id, bool *lacks_type)
{
	struct btf_core_relo r = {0, id, btf__add_str(w->local, "0:0"), CORE_FIELD_BYTE_OFFSET};
	struct bpf_insn insn = {.code = BPF_LDX | BPF_MEM | BPF_W};

	assert_null(core_relocate(w->core, &r, NULL, &insn, 1, 0));
	assert_non_null(core_explain(w->core, insn.imm));
	*lacks_type = core_lacks_type(w->core, insn.imm);
	return strdup(core_explain(w->core, insn.imm));
}

TEST(says_that_modules_were_asked)
{
	struct modules_world w = {.unread = 3, .fails = 1};
	struct core_result res;
	bool lacks_type;

	modules_world(&w);
	/* a failure is passed on, and nothing half done is kept */
	struct error *err = resolve_x(&w, M_NONE, CORE_FIELD_BYTE_OFFSET, &res);
	assert_non_null(err);
	assert_int_equal(err->code, ENOMEM);
	error_free(err);
	char *why = poison_of(&w, M_NONE, &lacks_type);
	assert_string_equal(why, "instruction 0: struct none.x does not exist in the target kernel "
				 "or its loaded modules (2 with BTF; the BTF of 3 could not be "
				 "read)");
	assert_true(lacks_type);
	free(why);
	/* a near name in a module is offered */
	struct strbuf sb = STRBUF_INIT;
	btf__add_struct(w.mods[1], "nonce", 4);
	assert_null(core_nearest(w.core, CORE_POISON_BASE, &sb));
	assert_string_equal(strbuf_str(&sb), "'nonce'");
	strbuf_deinit(&sb);
	modules_world_free(&w);

	/* a member that the module's struct does not have: the type is there */
	w = (struct modules_world){0};
	modules_world(&w);
	btf__add_struct(w.local, "mod___new", 8);
	btf__add_field(w.local, "xx", 1, 0, 0);
	why = poison_of(&w, btf__type_cnt(w.local) - 1, &lacks_type);
	assert_string_equal(why, "instruction 0: struct mod___new.xx does not exist in the target "
				 "kernel");
	assert_false(lacks_type);
	free(why);
	struct strbuf near = STRBUF_INIT;
	assert_null(core_nearest(w.core, CORE_POISON_BASE, &near));
	assert_string_equal(strbuf_str(&near), "'x'");
	strbuf_deinit(&near);
	modules_world_free(&w);
}

/* Graphs that would take forever to walk. */
TEST(survives_hostile_types)
{
	struct btf *local = btf__new_empty(), *targ = btf__new_empty();
	struct core *core;
	struct core_result res;

	btf__add_int(local, "int", 4, BTF_INT_SIGNED);
	btf__add_struct(local, "s", 4);
	btf__add_field(local, "x", 1, 0, 0);
	btf__add_int(targ, "int", 4, BTF_INT_SIGNED);
	/* two members of the next struct, each without a name, 40 times */
	btf__add_struct(targ, "s", 4);
	for (int i = 0; i < 40; i++) {
		btf__add_field(targ, NULL, btf__type_cnt(targ), 0, 0);
		btf__add_field(targ, NULL, btf__type_cnt(targ), 0, 0);
		btf__add_struct(targ, NULL, 4);
	}
	assert_null(core_new(local, targ, &core));
	struct btf_core_relo r = {0, 2, btf__add_str(local, "0:0"), CORE_FIELD_BYTE_OFFSET};
	struct error *err = core_resolve(core, &r, &res);
	assert_non_null(err);
	assert_int_equal(err->code, E2BIG);
	error_free(err);
	core_free(core);
	btf__free(local);
	btf__free(targ);
}
