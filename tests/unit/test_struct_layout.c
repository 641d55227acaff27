// SPDX-License-Identifier: BSD-2-Clause
/* How structs lie in memory, from BTF that compilers do not make. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "lib/btf/open.h"
#include "show/struct_layout.h"

static void expect_text(const struct btf *btf, int type, const char *want)
{
	_cleanup_(struct_layout_freep) struct struct_layout *layout = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	assert_null(struct_layout_new(btf, type, &layout));
	struct_layout_text(layout, 64, &out);
	assert_string_equal(strbuf_str(&out), want);
}

static void expect_error(const struct btf *btf, int type, int code)
{
	struct struct_layout *layout = NULL;
	struct error *err = struct_layout_new(btf, type, &layout);

	assert_non_null(err);
	assert_int_equal(err->code, code);
	assert_null(layout);
	error_free(err);
}

TEST(test_holes)
{
	_cleanup_(btf__freep) struct btf *btf = btf__new_empty();
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int s = btf__add_struct(btf, "s", 80);

	btf__add_field(btf, "a", number, 0, 3);
	btf__add_field(btf, "b", number, 8, 8);
	btf__add_field(btf, "c", number, 512, 0);
	expect_text(btf, s,
		    "struct s {\n"
		    "\tint                        a:3;                  /*     0: 0  4 */\n"
		    "\n\t/* XXX 5 bits hole, try to pack */\n\n"
		    "\tint                        b:8;                  /*     0: 8  4 */\n"
		    "\n\t/* XXX 16 bits hole, try to pack */\n"
		    "\t/* XXX 60 bytes hole, try to pack */\n\n"
		    "\t/* --- cacheline 1 boundary (64 bytes) --- */\n"
		    "\tint                        c;                    /*    64     4 */\n"
		    "\n\t/* size: 80, cachelines: 2, members: 3 */\n"
		    "\t/* sum members: 4, holes: 1, sum holes: 60 */\n"
		    "\t/* sum bitfield members: 11 bits, bit holes: 2, sum bit holes: 21 bits */\n"
		    "\t/* padding: 12 */\n"
		    "\t/* last cacheline: 16 bytes */\n"
		    "};\n");
	expect_error(btf, number, EINVAL);
	expect_error(btf, 999, EINVAL);
}

/* Members that overlap or go backwards: what is lost before the first, and nothing negative. */
TEST(test_members_out_of_order)
{
	_cleanup_(btf__freep) struct btf *btf = btf__new_empty();
	_cleanup_(struct_layout_freep) struct struct_layout *layout = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	int number = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	int s = btf__add_struct(btf, "s", 8);

	btf__add_field(btf, "late", number, 32, 0);
	btf__add_field(btf, "early", number, 0, 0);
	btf__add_field(btf, "within", number, 8, 4);
	assert_null(struct_layout_new(btf, s, &layout));
	struct_layout_json(layout, 64, &out);
	assert_non_null(strstr(strbuf_str(&out), "\"sum_holes\":4"));
	assert_null(strchr(strbuf_str(&out), '-'));
}

/* Unions without a name, each twice in the next: it doubles with each level. */
TEST(test_what_doubles_with_each_level_ends)
{
	_cleanup_(btf__freep) struct btf *btf = btf__new_empty();
	int inner = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);

	for (int i = 0; i < 25; i++) {
		int next = btf__add_union(btf, NULL, 4);

		btf__add_field(btf, "", inner, 0, 0);
		btf__add_field(btf, "", inner, 0, 0);
		inner = next;
	}
	int s = btf__add_struct(btf, "s", 4);
	btf__add_field(btf, "m", inner, 0, 0);
	expect_error(btf, s, E2BIG);
}

TEST(test_what_is_deep_ends)
{
	_cleanup_(btf__freep) struct btf *btf = btf__new_empty();
	int inner = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);

	for (int i = 0; i < 40; i++) {
		int next = btf__add_struct(btf, NULL, 4);

		btf__add_field(btf, "m", inner, 0, 0);
		inner = next;
	}
	expect_error(btf, inner, E2BIG);
}
