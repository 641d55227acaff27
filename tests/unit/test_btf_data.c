// SPDX-License-Identifier: BSD-2-Clause
/* Values as C initializers. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include "lib/base/strbuf.h"

struct sample {
	int32_t a;
	char name[8];
	uint64_t flag : 3, count : 20;
	uint16_t ports[3];
	double d;
	void *p;
	union {
		int32_t inner;
		uint8_t bytes[4];
	};
	int32_t color;
};

enum { CHAR = 1, INT, U16, U64, U8, DOUBLE, VOIDP, NAME, PORTS, BYTES, NAMELESS, COLOR, SAMPLE };

static struct btf *types(void)
{
	struct btf *b = btf__new_empty();

	btf__add_int(b, "char", 1, BTF_INT_SIGNED);
	btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	btf__add_int(b, "unsigned short", 2, 0);
	btf__add_int(b, "unsigned long", 8, 0);
	btf__add_int(b, "unsigned char", 1, 0);
	btf__add_float(b, "double", 8);
	btf__add_ptr(b, 0);
	btf__add_array(b, INT, CHAR, 8);
	btf__add_array(b, INT, U16, 3);
	btf__add_array(b, INT, U8, 4);
	btf__add_union(b, NULL, 4);
	btf__add_field(b, "inner", INT, 0, 0);
	btf__add_field(b, "bytes", BYTES, 0, 0);
	btf__add_enum(b, "color", 4);
	btf__add_enum_value(b, "RED", 0);
	btf__add_enum_value(b, "NONE", -1);
	assert_int_equal(btf__add_struct(b, "sample", sizeof(struct sample)), SAMPLE);
#define FIELD(name, type) btf__add_field(b, #name, type, offsetof(struct sample, name) * 8, 0)
	FIELD(a, INT);
	FIELD(name, NAME);
	btf__add_field(b, "flag", U64, 96, 3);
	btf__add_field(b, "count", U64, 99, 20);
	FIELD(ports, PORTS);
	FIELD(d, DOUBLE);
	FIELD(p, VOIDP);
	btf__add_field(b, NULL, NAMELESS, offsetof(struct sample, inner) * 8, 0);
	FIELD(color, COLOR);
	return b;
}

static void add_text(void *ctx, const char *fmt, va_list ap)
{
	strbuf_vaddf(ctx, fmt, ap);
}

static void expect(uint32_t id, const void *data, size_t size,
		   const struct btf_dump_type_data_opts *opts, int result, const char *want)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct btf *b = types();
	struct btf_dump *d = btf_dump__new(b, add_text, &sb, NULL);

	assert_int_equal(btf_dump__dump_type_data(d, id, data, size, opts), result);
	assert_string_equal(strbuf_str(&sb), want);
	btf_dump__free(d);
	btf__free(b);
}

TEST(shows_scalars)
{
	int32_t i = -7;
	uint16_t h = 65535;
	double d = 1.5;
	uint64_t p = 0xffff888000001000;

	expect(INT, &i, 4, NULL, 4, "(int)-7");
	expect(U16, &h, 2, NULL, 2, "(unsigned short)65535");
	expect(DOUBLE, &d, 8, NULL, 8, "(double)1.500000");
	expect(VOIDP, &p, 8, NULL, 8, "(void *)0xffff888000001000");
	i = -1;
	expect(COLOR, &i, 4, NULL, 4, "(enum color)NONE");
	i = 12;
	expect(COLOR, &i, 4, NULL, 4, "(enum color)12");
	expect(INT, &i, 3, NULL, -E2BIG, "");
	expect(0, &i, 4, NULL, -ENOTSUP, "");
	expect(99, &i, 4, NULL, -EINVAL, "");
}

TEST(shows_structs)
{
	struct sample s = {.a = 1,
			   .name = "ab",
			   .flag = 5,
			   .count = 0x54321,
			   .ports = {80, 0, 443},
			   .inner = 0x01020304,
			   .color = -1};
	LIBBPF_OPTS(btf_dump_type_data_opts, compact, .compact = true);
	LIBBPF_OPTS(btf_dump_type_data_opts, bare, .compact = true, .skip_names = true,
		    .emit_zeroes = true, .emit_strings = true);
	LIBBPF_OPTS(btf_dump_type_data_opts, indented, .indent_str = "  ", .indent_level = 1);

	expect(SAMPLE, &s, sizeof(s), &compact, sizeof(s),
	       "(struct sample){.a = (int)1,.name = (char[8])['a','b',],.flag = (unsigned long)0x5,"
	       ".count = (unsigned long)0x54321,.ports = (unsigned short[3])[80,0,443,],"
	       "(union){.inner = (int)16909060,.bytes = (unsigned char[4])[4,3,2,1,],},"
	       ".color = (enum color)NONE,}");
	expect(SAMPLE, &s, sizeof(s), &bare, sizeof(s),
	       "{1,\"ab\",0x5,0x54321,[80,0,443,],0.000000,0x0,{16909060,[4,3,2,1,],},NONE,}");
	memset(&s, 0, sizeof(s));
	s.a = 3;
	expect(SAMPLE, &s, sizeof(s), &indented, sizeof(s),
	       "  (struct sample){\n    .a = (int)3,\n  }");
}

/* Every shorter length: nothing past it is read, and the result tells. */
TEST(shows_what_is_there)
{
	struct sample s;
	LIBBPF_OPTS(btf_dump_type_data_opts, opts, .compact = true, .emit_zeroes = true);

	memset(&s, 0x41, sizeof(s));
	for (size_t n = 0; n < sizeof(s); n++) {
		_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
		struct btf *b = types();
		struct btf_dump *d = btf_dump__new(b, add_text, &sb, NULL);
		void *edge = malloc(n ? n : 1);

		memcpy(edge, &s, n);
		assert_int_equal(btf_dump__dump_type_data(d, SAMPLE, edge, n, &opts), -E2BIG);
		assert_true((strstr(sb.str, ".a = (int)1094795585") != NULL) == (n >= 4));
		assert_true((strstr(sb.str, ".d = ") != NULL) ==
			    (n >= offsetof(struct sample, d) + 8));
		free(edge);
		btf_dump__free(d);
		btf__free(b);
	}
}
