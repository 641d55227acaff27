// SPDX-License-Identifier: BSD-2-Clause
/* BTF as C text: declarations, order, names, padding, and graphs that are traps. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/strbuf.h"
#include "lib/btf/dump.h"

static void add_text(void *ctx, const char *fmt, va_list ap)
{
	strbuf_vaddf(ctx, fmt, ap);
}

/* The declaration of x as the type. */
static void expect_decl(struct btf *btf, uint32_t id, const char *want, bool strip)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct btf_dump *d = btf_dump__new(btf, add_text, &sb, NULL);
	LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = "x", .strip_mods = strip);

	assert_non_null(d);
	assert_int_equal(btf_dump__emit_type_decl(d, id, &opts), 0);
	assert_string_equal(strbuf_str(&sb), want);
	btf_dump__free(d);
}

/* Types that come after the dump was made, whose names move those that it has met. */
TEST(dumps_what_is_added_later)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT, want = STRBUF_INIT;
	struct btf *b = btf__new_empty();
	struct btf_dump *d = btf_dump__new(b, add_text, &sb, NULL);
	const int i = btf__add_int(b, "int", 4, BTF_INT_SIGNED);

	assert_non_null(d);
	assert_int_equal(btf_dump__dump_type(d, 1), 0);
	for (int n = 0; n < 2000; n++) {
		char name[64];

		snprintf(name, sizeof(name), "a_struct_with_a_long_name_%d", n / 2);
		const int s = btf__add_struct(b, name, 4);
		assert_int_equal(btf__add_field(b, "first", i, 0, 0), 0);
		assert_int_equal(btf_dump__dump_type(d, (uint32_t)s), 0);
		strbuf_addf(&want, "struct %s%s {\n\tint first;\n};\n\n", name,
			    n % 2 ? "___2" : "");
	}
	/* a name that was met at first is still known */
	const int last = btf__add_struct(b, "a_struct_with_a_long_name_0", 4);
	assert_int_equal(btf__add_field(b, "last", i, 0, 0), 0);
	assert_int_equal(btf_dump__dump_type(d, (uint32_t)last), 0);
	strbuf_adds(&want, "struct a_struct_with_a_long_name_0___3 {\n\tint last;\n};\n\n");
	assert_int_equal(btf_dump__dump_type(d, (uint32_t)last + 1), -EINVAL);
	assert_string_equal(strbuf_str(&sb), strbuf_str(&want));
	btf_dump__free(d);
	btf__free(b);
}

/* A declaration of an enum does not take the name from the enum itself. */
TEST(declares_enums)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct btf *b = btf__new_empty();

	btf__add_enum(b, "x", 4);
	const int second = btf__add_enum(b, "x", 4);
	btf__add_enum_value(b, "X", 1);
	btf__add_enum(b, "x", 4);
	btf__add_enum_value(b, "Y", 2);
	btf__add_struct(b, "s", 4);
	btf__add_field(b, "m", second, 0, 0);
	struct btf_dump *d = btf_dump__new(b, add_text, &sb, NULL);
	for (uint32_t id = 1; id < btf__type_cnt(b); id++)
		assert_int_equal(btf_dump__dump_type(d, id), 0);
	assert_string_equal(strbuf_str(&sb), "enum x;\n\n"
					     "enum x {\n\tX = 1,\n};\n\n"
					     "enum x___2 {\n\tY = 2,\n};\n\n"
					     "struct s {\n\tenum x m;\n};\n\n");
	btf_dump__free(d);
	btf__free(b);
}

TEST(declares)
{
	struct btf *b = btf__new_empty();
	int i = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	int p = btf__add_ptr(b, i);
	int pp = btf__add_ptr(b, p);
	int a = btf__add_array(b, i, i, 3);
	int aa = btf__add_array(b, i, a, 2);
	int pa = btf__add_ptr(b, a);
	int ap = btf__add_array(b, i, p, 4);
	int fn = btf__add_func_proto(b, p);
	btf__add_func_param(b, "", i);
	btf__add_func_param(b, "second", pp);
	btf__add_func_param(b, NULL, 0);
	int pfn = btf__add_ptr(b, fn);
	int apfn = btf__add_array(b, i, pfn, 5);
	int ret = btf__add_func_proto(b, pa);
	int pret = btf__add_ptr(b, ret);
	int ci = btf__add_const(b, i);
	int cvi = btf__add_volatile(b, ci);
	int cp = btf__add_const(b, p);
	int pci = btf__add_ptr(b, ci);
	int rcp = btf__add_restrict(b, btf__add_const(b, pci));
	int ca = btf__add_const(b, aa);
	int cca = btf__add_const(b, btf__add_array(b, i, ci, 1));
	int tag = btf__add_ptr(b, btf__add_type_tag(b, "user", i));
	int vp = btf__add_ptr(b, btf__add_const(b, 0));
	int td = btf__add_typedef(b, "int_t", i);

	expect_decl(b, 0, "void x", false);
	expect_decl(b, i, "int x", false);
	expect_decl(b, pp, "int **x", false);
	expect_decl(b, aa, "int x[2][3]", false);
	expect_decl(b, pa, "int (*x)[3]", false);
	expect_decl(b, ap, "int *x[4]", false);
	expect_decl(b, pfn, "int *(*x)(int, int **second, ...)", false);
	expect_decl(b, apfn, "int *(*x[5])(int, int **second, ...)", false);
	expect_decl(b, pret, "int (*(*x)(void))[3]", false);
	expect_decl(b, cvi, "volatile const int x", false);
	expect_decl(b, cvi, "int x", true);
	expect_decl(b, cp, "int *const x", false);
	expect_decl(b, rcp, "const int *restrict const x", false);
	expect_decl(b, rcp, "int *x", true);
	expect_decl(b, ca, "const int x[2][3]", false);
	expect_decl(b, cca, "const int x[1]", false);
	expect_decl(b, tag, "__attribute__((btf_type_tag(\"user\"))) int *x", false);
	expect_decl(b, vp, "const void *x", false);
	expect_decl(b, td, "int_t x", false);
	btf__free(b);
}

static void expect_header(struct btf *btf, const char *want)
{
	static const char *const begin = "#ifndef __VMLINUX_H__\n"
					 "#define __VMLINUX_H__\n\n"
					 "#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n"
					 "#pragma clang attribute push "
					 "(__attribute__((preserve_access_index)), "
					 "apply_to = record)\n#endif\n\n";
	static const char *const end = "#ifndef BPF_NO_PRESERVE_ACCESS_INDEX\n"
				       "#pragma clang attribute pop\n#endif\n\n"
				       "#endif /* __VMLINUX_H__ */\n";
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT, all = STRBUF_INIT;
	struct error *err = btf_dump_vmlinux(btf, &sb);

	if (err)
		fail_msg("%s", err->msg);
	strbuf_addf(&all, "%s%s%s", begin, want, end);
	assert_string_equal(strbuf_str(&sb), strbuf_str(&all));
}

TEST(orders_by_need)
{
	struct btf *b = btf__new_empty();

	/* struct list { struct list *next; fn_t f; struct inner in; struct other *o; } */
	btf__add_struct(b, "list", 32);
	btf__add_field(b, "next", 2, 0, 0);
	btf__add_field(b, "f", 3, 64, 0);
	btf__add_field(b, "in", 7, 128, 0);
	btf__add_field(b, "o", 8, 192, 0);
	btf__add_ptr(b, 1);			 /* 2 */
	btf__add_typedef(b, "fn_t", 4);		 /* 3 */
	btf__add_ptr(b, 5);			 /* 4 */
	btf__add_func_proto(b, 0);		 /* 5 */
	btf__add_func_param(b, NULL, 2);	 /* */
	btf__add_int(b, "int", 4, 1);		 /* 6 */
	btf__add_struct(b, "inner", 8);		 /* 7 */
	btf__add_field(b, "a", 6, 0, 0);	 /* */
	btf__add_field(b, "e", 10, 32, 0);	 /* */
	btf__add_ptr(b, 9);			 /* 8 */
	btf__add_fwd(b, "other", BTF_FWD_UNION); /* 9 */
	btf__add_enum(b, NULL, 4);		 /* 10 */
	btf__add_enum_value(b, "ONE", 1);
	btf__add_enum_value(b, "MINUS", -1);
	btf__add_typedef(b, "anon_t", 12); /* 11 */
	btf__add_struct(b, NULL, 8);	   /* 12 */
	btf__add_field(b, "l", 2, 0, 0);
	btf__add_enum(b, NULL, 4); /* 13: nobody's */
	btf__add_enum_value(b, "LONELY", 7);
	expect_header(b, "struct list;\n\n"
			 "typedef void (*fn_t)(struct list *);\n\n"
			 "struct inner {\n"
			 "\tint a;\n"
			 "\tenum {\n"
			 "\t\tONE = 1,\n"
			 "\t\tMINUS = -1,\n"
			 "\t} e;\n"
			 "};\n\n"
			 "union other;\n\n"
			 "struct list {\n"
			 "\tstruct list *next;\n"
			 "\tfn_t f;\n"
			 "\tstruct inner in;\n"
			 "\tunion other *o;\n"
			 "};\n\n"
			 "typedef struct {\n"
			 "\tstruct list *l;\n"
			 "} anon_t;\n\n"
			 "enum {\n"
			 "\tLONELY = 7,\n"
			 "};\n\n");
	btf__free(b);
}

TEST(renames_what_is_taken)
{
	struct btf *b = btf__new_empty();

	btf__add_int(b, "int", 4, 1);
	btf__add_struct(b, "s", 4);
	btf__add_field(b, "a", 1, 0, 0);
	btf__add_struct(b, "s", 4);
	btf__add_field(b, "b", 1, 0, 0);
	btf__add_typedef(b, "s", 3);
	btf__add_enum(b, "e", 4);
	btf__add_enum_value(b, "V", 1);
	btf__add_enum(b, "s", 4);
	btf__add_enum_value(b, "V", 2);
	/* a forward declaration is of the first struct of its name */
	btf__add_fwd(b, "s", BTF_FWD_STRUCT);
	btf__add_typedef(b, "fwd_t", btf__add_ptr(b, 7));
	expect_header(b, "struct s {\n\tint a;\n};\n\n"
			 "struct s___2 {\n\tint b;\n};\n\n"
			 "typedef struct s___2 s;\n\n"
			 "enum e {\n\tV = 1,\n};\n\n"
			 "enum s___3 {\n\tV___2 = 2,\n};\n\n"
			 "typedef struct s *fwd_t;\n\n");
	btf__free(b);
}

TEST(keeps_the_layout)
{
	struct btf *b = btf__new_empty();

	btf__add_int(b, "char", 1, 1);
	btf__add_int(b, "int", 4, 1);
	btf__add_int(b, "long", 8, 1);
	btf__add_struct(b, "gap", 32);
	btf__add_field(b, "a", 1, 0, 0);
	btf__add_field(b, "b", 2, 32, 0);
	btf__add_field(b, "c", 1, 128, 0);
	btf__add_struct(b, "packed", 5);
	btf__add_field(b, "a", 1, 0, 0);
	btf__add_field(b, "b", 2, 8, 0);
	btf__add_struct(b, "short_tail", 5);
	btf__add_field(b, "a", 2, 0, 0);
	btf__add_field(b, "b", 1, 32, 0);
	btf__add_struct(b, "bits", 8);
	btf__add_field(b, "a", 2, 0, 3);
	btf__add_field(b, "b", 2, 8, 4);
	btf__add_field(b, "c", 2, 32, 30);
	btf__add_union(b, "aligned", 64);
	btf__add_field(b, "a", 3, 0, 0);
	btf__add_enum(b, "tiny", 1);
	btf__add_enum_value(b, "T", 1);
	btf__add_enum64(b, "wide", 8, true);
	btf__add_enum64_value(b, "W", 1ull << 63);
	btf__add_enum64_value(b, "X", -2ull);
	expect_header(b, "struct gap {\n\tchar a;\n\tint b;\n\tlong: 64;\n\tchar c;\n\tlong: 56;\n"
			 "\tlong: 64;\n};\n\n"
			 "struct packed {\n\tchar a;\n\tint b;\n} __attribute__((packed));\n\n"
			 "struct short_tail {\n\tint a;\n\tchar b;\n} "
			 "__attribute__((packed));\n\n"
			 "struct bits {\n\tint a: 3;\n\tchar: 5;\n\tint b: 4;\n\tint c: 30;\n};\n\n"
			 "union aligned {\n\tlong a;\n} __attribute__((aligned(64)));\n\n"
			 "enum tiny {\n\tT = 1,\n} __attribute__((mode(byte)));\n\n"
			 "enum wide {\n\tW = -9223372036854775807LL - 1,\n\tX = -2LL,\n} "
			 "__attribute__((mode(DI)));\n\n");
	btf__free(b);
}

TEST(writes_only_c_names)
{
	struct btf *b = btf__new_empty();

	btf__add_int(b, "unsigned int", 4, 0);
	btf__add_struct(b, "Option<u32>", 4);
	btf__add_field(b, "0", 1, 0, 0);
	btf__add_typedef(b, "a;\n#include \"x\"", 2);
	btf__add_enum(b, "e::e", 4);
	btf__add_enum_value(b, "A-B", 1);
	btf__add_typedef(b, "p", btf__add_ptr(b, btf__add_type_tag(b, "\")) x; int y", 1)));
	btf__add_typedef(b, "q", btf__add_ptr(b, btf__add_type_attr(b, "address_space(1)", 1)));
	expect_header(b, "struct Option_u32_ {\n\tunsigned int _0;\n};\n\n"
			 "typedef struct Option_u32_ a___include__x_;\n\n"
			 "enum e__e {\n\tA_B = 1,\n};\n\n"
			 "typedef unsigned int *p;\n\n"
			 "typedef __attribute__((address_space(1))) unsigned int *q;\n\n");
	btf__free(b);
}

static void expect_refused(struct btf *btf, const char *text)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct error *err = btf_dump_vmlinux(btf, &sb);

	assert_non_null(err);
	if (!strstr(err->msg, text))
		fail_msg("'%s' lacks '%s'", err->msg, text);
	error_free(err);
	btf__free(btf);
}

TEST(refuses_traps)
{
	struct btf *b = btf__new_empty();

	/* by value within itself */
	btf__add_struct(b, "a", 8);
	btf__add_field(b, "b", 2, 0, 0);
	btf__add_struct(b, "b", 8);
	btf__add_field(b, "a", 1, 0, 0);
	expect_refused(b, "nested too deeply, or within itself");

	/* typedefs in a circle, a pointer to itself */
	b = btf__new_empty();
	btf__add_typedef(b, "t", 2);
	btf__add_typedef(b, "u", 1);
	expect_refused(b, "nested too deeply");
	b = btf__new_empty();
	btf__add_ptr(b, 1);
	btf__add_typedef(b, "t", 1);
	expect_refused(b, "nested too deeply");

	/* const of itself */
	b = btf__new_empty();
	btf__add_const(b, 1);
	btf__add_typedef(b, "t", 1);
	expect_refused(b, "nested too deeply");

	/* a chain as long as the stack */
	b = btf__new_empty();
	for (int i = 0; i < 100000; i++)
		btf__add_ptr(b, i + 2);
	btf__add_int(b, "int", 4, 0);
	btf__add_typedef(b, "t", 1);
	expect_refused(b, "nested too deeply");

	/* nameless unions that double: 2^60 lines */
	b = btf__new_empty();
	btf__add_int(b, "int", 4, 0);
	for (int i = 0; i < 60; i++) {
		btf__add_union(b, NULL, 4);
		btf__add_field(b, "a", i + 1, 0, 0);
		btf__add_field(b, "b", i + 1, 0, 0);
	}
	btf__add_typedef(b, "t", 61);
	expect_refused(b, "is too large");

	/* prototypes that double */
	b = btf__new_empty();
	btf__add_int(b, "int", 4, 0);
	for (int i = 0; i < 60; i++) {
		btf__add_func_proto(b, 0);
		btf__add_func_param(b, NULL, i + 1);
		btf__add_func_param(b, NULL, i + 1);
	}
	btf__add_typedef(b, "t", 61);
	expect_refused(b, "is too large");

	/* a member that is a function: no C for it */
	b = btf__new_empty();
	btf__add_func_proto(b, 0);
	btf__add_func(b, "f", BTF_FUNC_GLOBAL, 1);
	btf__add_typedef(b, "t", 2);
	expect_refused(b, "cannot declare");
}

/* What programs may call is declared, once, with what its prototype needs. */
TEST(declares_kfuncs)
{
	struct btf *b = btf__new_empty();
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	btf__add_fwd(b, "task", BTF_FWD_STRUCT); /* 2 */
	btf__add_ptr(b, 2);			 /* 3 */
	btf__add_func_proto(b, 3);		 /* 4 */
	btf__add_func_param(b, "n", 1);
	btf__add_func(b, "task_get", BTF_FUNC_STATIC, 4);    /* 5 */
	btf__add_func(b, "not_for_bpf", BTF_FUNC_STATIC, 4); /* 6 */
	btf__add_func(b, "taken", BTF_FUNC_STATIC, 4);	     /* 7 */
	btf__add_func(b, "bad name", BTF_FUNC_STATIC, 4);    /* 8 */
	btf__add_typedef(b, "taken", 1);
	btf__add_decl_tag(b, "bpf_kfunc", 5, -1);
	btf__add_decl_tag(b, "bpf_kfunc", 5, -1);
	btf__add_decl_tag(b, "other_tag", 6, -1);
	btf__add_decl_tag(b, "bpf_kfunc", 6, 0); /* its parameter's */
	btf__add_decl_tag(b, "bpf_kfunc", 7, -1);
	btf__add_decl_tag(b, "bpf_kfunc", 8, -1);
	btf__add_decl_tag(b, "bpf_fastcall", 5, -1);
	assert_null(btf_dump_vmlinux(b, &sb));
	assert_non_null(strstr(sb.str, "struct task;\n"));
	const char *at = strstr(sb.str, "#ifndef BPF_NO_KFUNC_PROTOTYPES\n");
	assert_non_null(at);
	at = strstr(at, "extern");
	assert_non_null(at);
	static const char want[] =
		"extern __bpf_fastcall struct task *task_get(int n) __weak __ksym;\n"
		"#endif /* BPF_NO_KFUNC_PROTOTYPES */\n";
	assert_memory_equal(at, want, strlen(want));
	btf__free(b);
}

/* A gap of 4 GiB does not become as many lines. */
TEST(bounds_padding)
{
	struct btf *b = btf__new_empty();
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	btf__add_int(b, "char", 1, 0);
	btf__add_struct(b, "gap", 0xffffffff);
	btf__add_field(b, "a", 1, 0, 0);
	btf__add_field(b, "b", 1, 0xfffffff0, 0);
	assert_null(btf_dump_vmlinux(b, &sb));
	assert_true(sb.len < 1000);
	assert_non_null(strstr(sb.str, "char __padding_1[536870909];"));
	btf__free(b);
}

TEST(dumps_one_type_with_its_needs)
{
	struct btf *b = btf__new_empty();
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	btf__add_int(b, "int", 4, 1);
	btf__add_typedef(b, "int_t", 1);
	btf__add_struct(b, "unused", 4);
	btf__add_struct(b, "s", 4);
	btf__add_field(b, "a", 2, 0, 0);
	struct btf_dump *d = btf_dump__new(b, add_text, &sb, NULL);
	assert_int_equal(btf_dump__dump_type(d, 4), 0);
	assert_int_equal(btf_dump__dump_type(d, 4), 0);
	assert_string_equal(strbuf_str(&sb),
			    "typedef int int_t;\n\nstruct s {\n\tint_t a;\n};\n\n");
	assert_int_equal(btf_dump__dump_type(d, 99), -EINVAL);
	assert_null(btf_dump__new(b, NULL, NULL, NULL));
	btf_dump__free(d);
	btf_dump__free(NULL);
	btf__free(b);
}
