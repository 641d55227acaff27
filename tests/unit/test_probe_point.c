// SPDX-License-Identifier: BSD-2-Clause
/*
 * Points and paths: over a BTF and a kallsyms that are made here, with the
 * fetch programs run against structs of this very program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/btf.h>
#include <elf.h>

#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"
#include "probe/fetch/regs.h"
#include "probe/point/point.h"
#include "tests/unit/probe_find.h"

struct pair {
	uint32_t a;
	int16_t b;
	uint64_t *c;
};
struct big {
	uint64_t v[3];
};
struct inner {
	int32_t id;
	union {
		uint64_t word;
		char *text;
	};
	struct {
		uint16_t port;
		uint8_t three : 3, five : 5;
		int32_t minus : 7;
	};
	char name[16];
};
struct outer {
	struct inner *in;
	struct inner array[3];
	struct inner **pp;
	uint64_t *numbers;
	int8_t neg;
	bool yes;
	int color;
	struct pair pair;
	void *any;
	const char *user_text;
	struct outer *user_outer;
	uint64_t grid[2][3];
	char *strings[2];
	uint32_t flex[];
};

/* ---- a BTF of these ---- */

struct types {
	struct btf *btf;
	int i8, i16, i32, i64, u8, u16, u32, u64, ch, b;
	int inner, outer, pair, big;
};

static int ptr(struct types *t, int to)
{
	return btf__add_ptr(t->btf, to);
}

static int array(struct types *t, int of, unsigned n)
{
	return btf__add_array(t->btf, t->u32, of, n);
}

#define FIELD(t, type, name, id) btf__add_field((t)->btf, #name, id, offsetof(type, name) * 8, 0)

static void add_structs(struct types *t)
{
	struct btf *b = t->btf;
	const int pch = ptr(t, t->ch), pu64 = ptr(t, t->u64), name = array(t, t->ch, 16);

	const int u = btf__add_union(b, NULL, 8);
	btf__add_field(b, "word", t->u64, 0, 0);
	btf__add_field(b, "text", pch, 0, 0);
	/* port at 0; the bit fields as gcc lays them out */
	const int s = btf__add_struct(b, NULL, 4);
	btf__add_field(b, "port", t->u16, 0, 0);
	btf__add_field(b, "three", t->u8, 16, 3);
	btf__add_field(b, "five", t->u8, 19, 5);
	btf__add_field(b, "minus", t->i32, 24, 7);
	t->inner = btf__add_struct(b, "inner", sizeof(struct inner));
	FIELD(t, struct inner, id, t->i32);
	btf__add_field(b, "", u, offsetof(struct inner, word) * 8, 0);
	btf__add_field(b, "", s, offsetof(struct inner, port) * 8, 0);
	FIELD(t, struct inner, name, name);
	/* packed: over the bytes of the name, across what their types would load */
	btf__add_field(b, "packed", t->u32, offsetof(struct inner, name) * 8 + 7, 30);
	btf__add_field(b, "nine", t->u64, offsetof(struct inner, name) * 8 + 7, 60);
	t->pair = btf__add_struct(b, "pair", sizeof(struct pair));
	FIELD(t, struct pair, a, t->u32);
	FIELD(t, struct pair, b, t->i16);
	FIELD(t, struct pair, c, pu64);
	t->big = btf__add_struct(b, "big", sizeof(struct big));
	/* Declared behind: what is added later may be referred to by its number only. */
	const int vs = t->big + 1;
	FIELD(t, struct big, v, vs);
	array(t, t->u64, 3);

	const int color = btf__add_enum(b, "color", 4);
	btf__add_enum_value(b, "RED", 1);
	const int pin = ptr(t, t->inner), ppin = ptr(t, pin);
	const int cin = btf__add_const(b, t->inner), tin = btf__add_typedef(b, "inner_t", cin);
	const int ptin = ptr(t, tin), arr = array(t, t->inner, 3);
	const int cch = btf__add_const(b, t->ch);
	const int uch = btf__add_type_tag(b, "user", cch), puch = ptr(t, uch);
	const int any = ptr(t, 0), row = array(t, t->u64, 3), grid = array(t, row, 2);
	const int strings = array(t, pch, 2), flex = array(t, t->u32, 0);
	t->outer = btf__type_cnt(b) + 2;
	const int uout = btf__add_type_tag(b, "user", t->outer), puout = ptr(t, uout);
	assert_int_equal(btf__add_struct(b, "outer", sizeof(struct outer)), t->outer);
	FIELD(t, struct outer, in, ptin);
	FIELD(t, struct outer, array, arr);
	FIELD(t, struct outer, pp, ppin);
	FIELD(t, struct outer, numbers, pu64);
	FIELD(t, struct outer, neg, t->i8);
	FIELD(t, struct outer, yes, t->b);
	FIELD(t, struct outer, color, color);
	FIELD(t, struct outer, pair, t->pair);
	FIELD(t, struct outer, any, any);
	FIELD(t, struct outer, user_text, puch);
	FIELD(t, struct outer, user_outer, puout);
	FIELD(t, struct outer, grid, grid);
	FIELD(t, struct outer, strings, strings);
	FIELD(t, struct outer, flex, flex);
}

static void add_func(struct types *t, const char *name, int ret, size_t n, ...)
{
	const int proto = btf__add_func_proto(t->btf, ret);
	va_list ap;

	va_start(ap, n);
	while (n--) {
		const char *param = va_arg(ap, const char *);
		const int type = va_arg(ap, int);

		btf__add_func_param(t->btf, param, type);
	}
	va_end(ap);
	assert_true(btf__add_func(t->btf, name, BTF_FUNC_STATIC, proto) > 0);
}

static void make_types(struct types *t)
{
	struct btf *b = t->btf = btf__new_empty();

	t->i8 = btf__add_int(b, "signed char", 1, BTF_INT_SIGNED);
	t->i16 = btf__add_int(b, "short", 2, BTF_INT_SIGNED);
	t->i32 = btf__add_int(b, "int", 4, BTF_INT_SIGNED);
	t->i64 = btf__add_int(b, "long", 8, BTF_INT_SIGNED);
	t->u8 = btf__add_int(b, "unsigned char", 1, 0);
	t->u16 = btf__add_int(b, "unsigned short", 2, 0);
	t->u32 = btf__add_int(b, "unsigned int", 4, 0);
	t->u64 = btf__add_int(b, "unsigned long", 8, 0);
	t->ch = btf__add_int(b, "char", 1, BTF_INT_SIGNED);
	t->b = btf__add_int(b, "_Bool", 1, BTF_INT_BOOL);
	add_structs(t);
	const int po = ptr(t, t->outer), pch = ptr(t, t->ch), pp = ptr(t, po);

	add_func(t, "f_ptr", t->i32, 3, "o", po, "n", t->i32, "s", pch);
	add_func(t, "f_more", t->i64, 2, "o", po, "pp", pp);
	add_func(t, "f_many", 0, 8, "a", t->u64, "b", t->u8, "c", t->i16, "d", t->i32, "e", t->i64,
		 "f", pch, "g", t->i64, "h", t->i32);
	add_func(t, "f_struct", po, 4, "p", t->pair, "after", t->i32, "b", t->big, "last", t->i32);
	add_func(t, "f_split", t->pair, 7, "a", t->i32, "b", t->i32, "c", t->i32, "d", t->i32, "e",
		 t->i32, "p", t->pair, "last", t->i32);
	add_func(t, "f_big", t->big, 1, "first", t->i32);
	add_func(t, "f_dup", t->i32, 1, "x", t->i32);
	add_func(t, "f_opt", t->i32, 1, "x", t->i32);
	add_func(t, "f_noname", t->i32, 2, "", t->i32, "", pch);
}

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 T f_ptr\n"
			       "ffffffff81000180 t f_more_alias\n"
			       "ffffffff81000180 t f_more\n"
			       "ffffffff81000200 t f_many\n"
			       "ffffffff81000300 T f_struct\n"
			       "ffffffff81000380 T f_split\n"
			       "ffffffff81000400 t f_dup\n"
			       "ffffffff81000440 T f_big\n"
			       "ffffffff81000480 t f_noname\n"
			       "ffffffff81000500 t f_dup\n"
			       "ffffffff81000600 t f_opt.isra.0\n"
			       "ffffffff81000640 t f_ptr.cold\n"
			       "ffffffff81000680 T f_unknown\n"
			       "ffffffff810006c0 T __pfx_f_ptr\n"
			       "ffffffff81000700 D some_data\n"
			       "ffffffff82000000 T _sinittext\n"
			       "ffffffff82000100 t f_init\n"
			       "ffffffff82001000 T _einittext\n"
			       "ffffffffc0000100 t f_module	[mod]\n"
			       "ffffffffc0000200 t f_module_too	[mod]\n"
			       "ffffffffc0001200 t f_ptr_like	[__builtin__ftrace]\n";

/* ---- a finder over them ---- */

static char btf_path[] = "/tmp/test_probe_point.btf.XXXXXX";
static char kallsyms_path[] = "/tmp/test_probe_point.ksyms.XXXXXX";

static int set_up(void **state)
{
	struct types t = {0};
	uint32_t size;

	make_types(&t);
	const void *data = btf__raw_data(t.btf, &size);
	const int failed = !data || write_temp(btf_path, data, size) ||
			   write_temp(kallsyms_path, kallsyms, strlen(kallsyms));
	btf__free(t.btf);
	return failed;
}

static int tear_down(void **state)
{
	unlink(btf_path);
	unlink(kallsyms_path);
	return 0;
}

static struct finder_opts opts_of(uint16_t machine)
{
	return (struct finder_opts){
		.btf = btf_path,
		.kallsyms = kallsyms_path,
		.machine = machine,
		.vmlinux = "/proc/nonexistent/vmlinux",
		.no_debuginfod = true,
	};
}

static struct probe_finder *finder_make(uint16_t machine)
{
	const struct finder_opts opts = opts_of(machine);
	struct probe_finder *finder = NULL;

	/* The finder borrows what opts points to, and copies opts. */
	assert_null(probe_finder_new(&opts, &finder));
	return finder;
}

static void find_on(uint16_t machine, const char *text, struct probe_points *points)
{
	_cleanup_(probe_finder_freep) struct probe_finder *finder = finder_make(machine);

	find_with(finder, text, points);
}

static struct error *find_error(const char *text)
{
	_cleanup_(probe_finder_freep) struct probe_finder *finder = finder_make(EM_X86_64);
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_probe_points_ struct probe_points points = {0};
	struct error *err = probe_def_parse(text, &def);

	if (!err)
		err = probe_points_find(finder, &def, &points);
	if (!err)
		fail_msg("%s gave %zu points", text, points.n);
	return err;
}

/* ---- this program as the world ---- */

static struct inner inner_of(int32_t id, const char *name)
{
	struct inner in = {.id = id, .port = (uint16_t)(id + 1), .three = 5, .five = 21};

	in.minus = -7;
	strcpy(in.name, name);
	return in;
}

static uint64_t numbers[4] = {10, 11, 12, 1ull << 40};
static struct inner other, *pother = &other;

static struct outer *outer_make(void)
{
	static char text[] = "the text", more[] = "more", user[] = "of the user";
	struct outer *o = calloc(1, sizeof(*o) + 4 * sizeof(uint32_t));

	other = inner_of(77, "other");
	other.text = text;
	o->in = &other;
	for (int i = 0; i < 3; i++)
		o->array[i] = inner_of(-100 - i, "of array");
	o->pp = &pother;
	o->numbers = numbers;
	o->neg = -3;
	o->yes = true;
	o->color = 1;
	o->pair = (struct pair){.a = 0xfedcba98, .b = -2, .c = numbers};
	o->any = o;
	o->user_text = user;
	o->user_outer = o;
	for (int i = 0; i < 6; i++)
		o->grid[i / 3][i % 3] = (uint64_t)i * 1000;
	o->strings[1] = more;
	o->flex[2] = 4242;
	return o;
}

static void paths_lead_to_what_c_has(void **state)
{
	_cleanup_free_ struct outer *o = outer_make();
	struct here here = {.words = {(uintptr_t)o, (uint64_t)-5, (uintptr_t) "hello"}};
	const struct fetch_world world = world_of(&here);
	const struct {
		const char *arg;
		int64_t value;
		enum fetch_kind kind;
		uint32_t size;
		const char *type;
	} cases[] = {
		{"n", -5, FETCH_INT, 4, "int"},
		{"$arg2", -5, FETCH_INT, 4, "int"},
		{"o", (intptr_t)o, FETCH_POINTER, 8, "struct outer *"},
		{"o->neg", -3, FETCH_INT, 1, "signed char"},
		{"o->yes", 1, FETCH_BOOL, 1, "_Bool"},
		{"o->color", 1, FETCH_ENUM, 4, "enum color"},
		{"o->in->id", 77, FETCH_INT, 4, "int"},
		{"o->in->port", 78, FETCH_UINT, 2, "unsigned short"},
		{"o->in->three", 5, FETCH_UINT, 1, "unsigned char"},
		{"o->in->five", 21, FETCH_UINT, 1, "unsigned char"},
		{"o->in->minus", -7, FETCH_INT, 4, "int"},
		{"o->in->minus:x", 121, FETCH_UINT, 4, "u32"},
		{"o->in->minus:s64", -7, FETCH_INT, 8, "s64"},
		{"o->in->packed", 617271528, FETCH_UINT, 4, "unsigned int"}, /* of "other" */
		{"o->in->packed:u64", 617271528, FETCH_UINT, 8, "u64"},
		{"o->in->five:u64", 21, FETCH_UINT, 8, "u64"},
		{"o->array[2].id", -102, FETCH_INT, 4, "int"},
		{"o->array->id", -100, FETCH_INT, 4, "int"},
		{"o->array[1].three", 5, FETCH_UINT, 1, "unsigned char"},
		{"o->pp[0]->id", 77, FETCH_INT, 4, "int"},
		{"(*o->pp)", 0, 0, 0, NULL},
		{"o->numbers[3]", 1ll << 40, FETCH_UINT, 8, "unsigned long"},
		{"*o->numbers", 10, FETCH_UINT, 8, "unsigned long"},
		{"o->numbers[-1]", 0, 0, 0, NULL},
		{"o->pair.a", 0xfedcba98, FETCH_UINT, 4, "unsigned int"},
		{"o->pair.a:s32", (int32_t)0xfedcba98, FETCH_INT, 4, "s32"},
		{"o->pair.a:s64", 0xfedcba98, FETCH_INT, 8, "s64"},
		{"o->pair.b:s64", -2, FETCH_INT, 8, "s64"},
		{"o->pair.b:u64", -2, FETCH_UINT, 8, "u64"},
		{"o->pair.b:u8", 0xfe, FETCH_UINT, 1, "u8"},
		{"o->pair.a:u16", 0xba98, FETCH_UINT, 2, "u16"},
		{"o->pair.a:b4@8/32", 0xa, FETCH_UINT, 4, "u32"},
		{"o->pair.a:b3@4/8", 1, FETCH_UINT, 1, "u8"},
		{"o->pair.a:bool", 1, FETCH_BOOL, 1, "bool"},
		{"o->numbers[3]:bool", 1, FETCH_BOOL, 1, "bool"},
		{"o->neg:u", 0xfd, FETCH_UINT, 1, "u8"},
		{"o->pair.c[1]", 11, FETCH_UINT, 8, "unsigned long"},
		{"o->grid[1][2]", 5000, FETCH_UINT, 8, "unsigned long"},
		{"o->flex[2]", 4242, FETCH_UINT, 4, "unsigned int"},
		{"o->user_outer->neg", -3, FETCH_INT, 1, "signed char"},
		{"+0(o->numbers)", 10, FETCH_UINT, 8, "u64"},
		{"+8(+0(+0x18(o->any))):u32", 0, 0, 0, NULL},
		{"o->array[0].name[3]", 'a', FETCH_CHAR, 1, "char"},
		{"o->in->name:x32", 0x6568746f, FETCH_UINT, 4, "u32"},
		{"s[1]", 'e', FETCH_CHAR, 1, "char"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		if (!cases[i].type)
			continue;
		_cleanup_free_ char *text = text_format("f_ptr v=%s", cases[i].arg);
		_cleanup_probe_points_ struct probe_points points = {0};
		int64_t got = 0;

		find_on(EM_X86_64, text, &points);
		assert_int_equal(points.n, 1);
		const struct fetch_value *value = &points.v[0].args[0];
		if (!fetch_number(&world, value, &got))
			fail_msg("%s cannot be read: %s", cases[i].arg,
				 value->obstacle ? value->obstacle : "a bad program");
		if (value->kind == FETCH_UINT && cases[i].size < 8 && cases[i].value < 0)
			got = (int64_t)((uint64_t)got << (64 - 8 * cases[i].size)) >>
			      (64 - 8 * cases[i].size);
		if (got != cases[i].value)
			fail_msg("%s is %lld instead of %lld", cases[i].arg, (long long)got,
				 (long long)cases[i].value);
		if (value->kind != cases[i].kind || value->size != cases[i].size)
			fail_msg("%s has kind %d, size %u", cases[i].arg, value->kind, value->size);
		assert_string_equal(value->type, cases[i].type);
		assert_string_equal(value->name, "v");
	}
}

static void strings_are_arrays_or_where_pointers_lead(void **state)
{
	_cleanup_free_ struct outer *o = outer_make();
	const struct {
		const char *arg, *text;
		uint32_t size;
		bool user;
	} cases[] = {
		{"s:string", "hello", 0, false},
		{"o->in->name", "other", 17, false},
		{"o->in->name:string", "other", 17, false},
		{"o->in->text:string", "the text", 0, false},
		{"o->strings[1]:string", "more", 0, false},
		{"o->user_text:string", "of the user", 0, true},
		{"s:ustring", "hello", 0, true},
		{"o->array[2].name", "of array", 17, false},
		{"o->grid[0][0]:string", "by number", 0, false},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct here here = {.words = {(uintptr_t)o, 0, (uintptr_t) "hello"}};
		const struct fetch_world world = world_of(&here);
		_cleanup_free_ char *text = text_format("f_ptr %s", cases[i].arg);
		_cleanup_probe_points_ struct probe_points points = {0};
		char got[32];

		o->grid[0][0] = (uintptr_t) "by number";

		find_on(EM_X86_64, text, &points);
		const struct fetch_value *value = &points.v[0].args[0];
		assert_int_equal(value->kind, FETCH_STRING);
		assert_int_equal(value->size, cases[i].size);
		assert_true(fetch_run(&world, value, got, sizeof(got)));
		assert_string_equal(got, cases[i].text);
		/* The text alone is the user's: what led there is the kernel's. */
		assert_int_equal(here.user_read, cases[i].user);
		assert_int_equal(value->pieces[0].user, cases[i].user);
	}
}

static void whole_structs_are_bytes(void **state)
{
	_cleanup_free_ struct outer *o = outer_make();
	struct here here = {.words = {(uintptr_t)o}};
	const struct fetch_world world = world_of(&here);
	_cleanup_probe_points_ struct probe_points points = {0};
	struct pair got;
	struct inner in;

	find_on(EM_X86_64, "f_ptr o->pair o->array[1] *o->in", &points);
	assert_int_equal(points.n_args, 3);
	assert_int_equal(points.v[0].args[0].kind, FETCH_BYTES);
	assert_int_equal(points.v[0].args[0].size, sizeof(got));
	assert_string_equal(points.v[0].args[0].type, "struct pair");
	assert_true(fetch_run(&world, &points.v[0].args[0], &got, sizeof(got)));
	assert_memory_equal(&got, &o->pair, sizeof(got));
	assert_true(fetch_run(&world, &points.v[0].args[1], &in, sizeof(in)));
	assert_memory_equal(&in, &o->array[1], sizeof(in));
	assert_true(fetch_run(&world, &points.v[0].args[2], &in, sizeof(in)));
	assert_memory_equal(&in, &other, sizeof(in));
	assert_string_equal(points.names[2], "in");
}

/* "@user" is for all that is read, a tag for what lies behind it. */
static void user_memory_is_read_as_such(void **state)
{
	_cleanup_free_ struct outer *o = outer_make();
	struct here all = {.words = {(uintptr_t)o}}, tagged = all;
	const struct fetch_world all_world = world_of(&all), tagged_world = world_of(&tagged);
	_cleanup_probe_points_ struct probe_points points = {0};
	int64_t v;

	find_on(EM_X86_64, "f_ptr a=o->in->id@user b=o->user_outer->neg c=o->in->id", &points);
	assert_true(fetch_number(&all_world, &points.v[0].args[0], &v));
	assert_true(all.user_read && !all.kernel_read);
	assert_true(fetch_number(&tagged_world, &points.v[0].args[1], &v));
	assert_true(tagged.user_read && tagged.kernel_read);
	assert_false(points.v[0].args[1].pieces[0].insns[2].typed);

	struct here none = {.words = {(uintptr_t)o}};
	const struct fetch_world none_world = world_of(&none);
	assert_true(fetch_number(&none_world, &points.v[0].args[2], &v));
	assert_false(none.user_read);
}

/* A typed load is one that the verifier can follow. */
static void typed_loads_end_where_the_verifier_does(void **state)
{
	static const struct {
		const char *arg;
		const char *typed; /* of each instruction */
	} cases[] = {
		{"n", "y"},
		{"o", "n"},	 /* a pointer becomes a number */
		{"o->in", "yn"}, /* so does a member */
		{"o:u64", "n"},
		{"o->neg", "yy"},
		{"o->in->id", "yyy"},
		{"o->pair.b", "yy"},
		{"o->array[2].id", "yy"},
		{"o->in->port", "yyy"},
		{"o->in->word", "yyn"},	  /* a union */
		{"o->in->three", "yyn"},  /* a bit field */
		{"o->numbers[1]", "yyn"}, /* no struct */
		{"o->pp[0]->id", "yynn"}, /* a pointer to a pointer */
		{"o->flex[1]", "yn"},	  /* beyond the struct's end */
		{"o[1].neg", "yn"},	  /* another struct */
		{"+8(o)", "yn"},
		{"s[0]", "yn"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_free_ char *text = text_format("f_ptr %s", cases[i].arg);
		_cleanup_probe_points_ struct probe_points points = {0};

		find_on(EM_X86_64, text, &points);
		const struct fetch_piece *piece = &points.v[0].args[0].pieces[0];
		if (piece->n_insns != strlen(cases[i].typed))
			fail_msg("%s has %zu instructions", cases[i].arg, piece->n_insns);
		for (size_t k = 0; k < piece->n_insns; k++)
			if (piece->insns[k].typed != (cases[i].typed[k] == 'y'))
				fail_msg("%s: instruction %zu is %styped", cases[i].arg, k,
					 piece->insns[k].typed ? "" : "not ");
	}
	/* fentry of older kernels refuses a pointer to a pointer. */
	_cleanup_probe_points_ struct probe_points points = {0};
	find_on(EM_X86_64, "f_more o->neg pp pp[0]->neg", &points);
	assert_true(points.v[0].args[0].pieces[0].insns[0].typed);
	assert_false(points.v[0].args[1].pieces[0].insns[0].typed);
	assert_false(points.v[0].args[2].pieces[0].insns[2].typed);
}

/* ---- the calling conventions ---- */

static void parameters_are_where_the_convention_has_them(void **state)
{
	uint64_t stack[8] = {0xdead, 71, 72, 73, 74, 75, 76, 77};
	struct here here = {0};
	const struct fetch_world world = world_of(&here);
	_cleanup_probe_points_ struct probe_points many = {0}, st = {0}, split = {0}, big = {0};
	int64_t v;

	for (size_t i = 0; i < 16; i++)
		here.words[i] = 100 + i;
	for (size_t i = 0; i < 32; i++)
		here.regs[i] = 200 + i;
	here.regs[7] = (uintptr_t)stack; /* x86-64's stack pointer */

	/* The seventh and later ones are words too, on the stack or of fentry. */
	find_on(EM_X86_64, "f_many $params", &many);
	assert_int_equal(many.n_args, 8);
	assert_int_equal(many.v[0].n_words, 8);
	for (size_t i = 0; i < 8; i++) {
		assert_true(fetch_number(&world, &many.v[0].args[i], &v));
		assert_int_equal(v, 100 + i);
	}
	assert_string_equal(many.names[7], "h");

	/* struct pair takes two registers, struct big is on the stack. */
	here.words[0] = 0xfffe00000005ull;
	here.words[1] = (uintptr_t)numbers;
	find_on(EM_X86_64, "f_struct pa=p.a pb=p.b pc=p.c[2] p after bv=b.v[1] last b", &st);
	static const int64_t want[] = {5, -2, 12, 0, 102, 72, 203, 0};
	for (size_t i = 0; i < 7; i++) {
		if (i == 3)
			continue;
		assert_true(fetch_number(&world, &st.v[0].args[i], &v));
		if (i != 6)
			assert_int_equal(v, want[i]);
	}
	struct pair p;
	assert_true(fetch_run(&world, &st.v[0].args[3], &p, sizeof(p)));
	assert_int_equal(p.b, -2);
	assert_ptr_equal(p.c, numbers);
	/* It is passed in the fourth register (cx, 2), though it is not the fourth word. */
	assert_int_equal(st.v[0].args[6].pieces[0].insns[0].op, FETCH_REG);
	assert_int_equal(st.v[0].args[6].pieces[0].insns[0].reg, 2);
	struct big b;
	assert_true(fetch_run(&world, &st.v[0].args[7], &b, sizeof(b)));
	assert_memory_equal(b.v, stack + 1, sizeof(b));

	/* Five registers are taken: the pair goes to the stack, the next one has the sixth. */
	find_on(EM_X86_64, "f_split e p.c last", &split);
	assert_true(fetch_number(&world, &split.v[0].args[0], &v));
	assert_int_equal(v, 104);
	assert_true(fetch_number(&world, &split.v[0].args[1], &v));
	assert_int_equal(v, 72);
	assert_int_equal(split.v[0].args[2].pieces[0].insns[0].op, FETCH_REG);
	assert_int_equal(split.v[0].args[2].pieces[0].insns[0].reg, 9); /* r9 */

	/* The address for what is returned is passed before all else. */
	find_on(EM_X86_64, "f_big first", &big);
	assert_int_equal(big.v[0].args[0].pieces[0].insns[0].op, FETCH_REG);
	assert_int_equal(big.v[0].args[0].pieces[0].insns[0].reg, 4); /* si */
}

static void arm64_has_its_own_convention(void **state)
{
	struct big b = {{1, 2, 3}};
	struct here here = {0};
	const struct fetch_world world = world_of(&here);
	_cleanup_probe_points_ struct probe_points st = {0}, split = {0}, big = {0};
	int64_t v;

	for (size_t i = 0; i < 16; i++)
		here.words[i] = 100 + i;
	here.words[3] = (uintptr_t)&b;
	find_on(EM_AARCH64, "f_struct after b.v[2] last", &st);
	assert_int_equal(st.machine, EM_AARCH64);
	assert_true(fetch_number(&world, &st.v[0].args[0], &v));
	assert_int_equal(v, 102);
	assert_true(fetch_number(&world, &st.v[0].args[1], &v));
	assert_int_equal(v, 3);
	assert_true(fetch_number(&world, &st.v[0].args[2], &v));
	assert_int_equal(v, 104);
	/* Eight registers: nothing is split. */
	find_on(EM_AARCH64, "f_split p.c last", &split);
	assert_true(fetch_number(&world, &split.v[0].args[0], &v));
	assert_int_equal(v, 106);
	assert_true(fetch_number(&world, &split.v[0].args[1], &v));
	assert_int_equal(v, 107);
	find_on(EM_AARCH64, "f_big first", &big);
	assert_true(fetch_number(&world, &big.v[0].args[0], &v));
	assert_int_equal(v, 100);
	struct probe_points none = {0};
	_cleanup_(probe_finder_freep) struct probe_finder *finder = finder_make(EM_AARCH64);
	_cleanup_probe_def_ struct probe_def def = {0};
	assert_null(probe_def_parse("f_big%return $retval", &def));
	_cleanup_error_ struct error *err = probe_points_find(finder, &def, &none);
	assert_non_null(err);
	assert_int_equal(err->code, EOPNOTSUPP);
}

static void what_is_returned(void **state)
{
	_cleanup_free_ struct outer *o = outer_make();
	struct here here = {.words = {42}, .regs = {[1] = 0x99}};
	struct fetch_world world = world_of(&here);
	_cleanup_probe_points_ struct probe_points num = {0}, ptr = {0}, pair = {0}, big = {0};
	int64_t v;

	world.retval = (uint64_t)-38 & 0xffffffff;
	find_on(EM_X86_64, "f_ptr%return $retval o", &num);
	assert_true(num.v[0].at_return);
	assert_true(fetch_number(&world, &num.v[0].args[0], &v));
	assert_int_equal(v, -38);
	assert_string_equal(num.names[0], "retval");
	assert_true(fetch_number(&world, &num.v[0].args[1], &v));
	assert_int_equal(v, 42);

	world.retval = (uintptr_t)o;
	find_on(EM_X86_64, "f_struct%return $retval->in->id", &ptr);
	assert_true(fetch_number(&world, &ptr.v[0].args[0], &v));
	assert_int_equal(v, 77);
	/* It may be an error's number: no load that hides a fault. */
	assert_false(ptr.v[0].args[0].pieces[0].insns[1].typed);

	world.retval = 0xfffe00000005ull;
	find_on(EM_X86_64, "f_split%return $retval.b $retval.c", &pair);
	assert_true(fetch_number(&world, &pair.v[0].args[0], &v));
	assert_int_equal(v, -2);
	assert_true(fetch_number(&world, &pair.v[0].args[1], &v));
	assert_int_equal(v, 0x99);

	struct big b = {{1, 2, 3}};
	world.retval = (uintptr_t)&b;
	find_on(EM_X86_64, "f_big%return $retval.v[2]", &big);
	assert_true(fetch_number(&world, &big.v[0].args[0], &v));
	assert_int_equal(v, 3);
}

/* ---- points ---- */

static void patterns_take_what_has_the_arguments(void **state)
{
	_cleanup_(probe_finder_freep) struct probe_finder *finder = finder_make(EM_X86_64);
	_cleanup_probe_points_ struct probe_points all = {0}, some = {0}, params = {0}, mod = {0};

	/* By address, each once; no pieces, no markers, nothing of the init code or of ftrace's. */
	find_with(finder, "f_*", &all);
	static const char *const names[] = {"f_ptr",	   "f_more",	   "f_many",	"f_struct",
					    "f_split",	   "f_dup",	   "f_big",	"f_noname",
					    "f_dup",	   "f_opt.isra.0", "f_unknown", "f_module",
					    "f_module_too"};
	assert_int_equal(all.n, ARRAY_SIZE(names));
	for (size_t i = 0; i < all.n; i++) {
		assert_string_equal(all.v[i].function, names[i]);
		/* fentry takes a name: it must be the only one. */
		const bool unsure = !strcmp(names[i], "f_dup") || strchr(names[i], '.') ||
				    !strcmp(names[i], "f_unknown") || all.v[i].module;
		assert_int_equal(all.v[i].btf_id == 0, unsure);
	}
	assert_int_equal(all.v[0].address, 0xffffffff81000100);
	assert_string_equal(all.v[11].module, "mod");

	find_with(finder, "f_* o->neg", &some);
	assert_int_equal(some.n, 2);
	assert_string_equal(some.v[0].function, "f_ptr");
	assert_string_equal(some.v[1].function, "f_more");

	/* The union of all names; who lacks one has an obstacle there, and stays. */
	find_with(finder, "f_[pm]* $params", &params);
	assert_int_equal(params.n, 3);
	assert_int_equal(params.n_args, 3 + 1 + 8);
	assert_string_equal(params.names[3], "pp");
	assert_null(params.v[0].args[0].obstacle);
	assert_non_null(params.v[0].args[3].obstacle);
	assert_null(params.v[1].args[3].obstacle);
	assert_string_equal(params.v[0].args[3].type, "struct outer **");
	assert_int_equal(params.v[2].args[3].size, 8);

	find_with(finder, "module=mod;f_*", &mod);
	assert_int_equal(mod.n, 2);
}

static void offsets_and_registers_need_no_types(void **state)
{
	struct here here = {.regs = {[0] = 1, [5] = 55}};
	uint64_t stack[3] = {7, 8, 9};
	const struct fetch_world world = world_of(&here);
	_cleanup_probe_points_ struct probe_points points = {0}, both = {0}, noname = {0},
						   data = {0};
	int64_t v;
	char comm[16];

	here.regs[7] = (uintptr_t)stack;
	find_on(EM_X86_64, "f_unknown+4 %di low=%edi:u8 $stack1 $stack +8(%sp):u32 $comm", &points);
	assert_int_equal(points.v[0].address, 0xffffffff81000684);
	assert_int_equal(points.v[0].offset, 4);
	assert_int_equal(points.v[0].source, POINT_SYMBOLS);
	static const int64_t want[] = {55, 55, 8, 0, 8};
	for (size_t i = 0; i < 5; i++) {
		assert_true(fetch_number(&world, &points.v[0].args[i], &v));
		assert_int_equal(v, i == 3 ? (intptr_t)stack : want[i]);
	}
	assert_int_equal(points.v[0].args[5].kind, FETCH_STRING);
	assert_int_equal(points.v[0].args[5].size, sizeof(comm));
	assert_int_equal(points.v[0].args[5].pieces[0].insns[0].op, FETCH_COMM);

	/* Both functions of that name, as long as nobody asks BTF which is which. */
	find_on(EM_X86_64, "f_dup %di", &both);
	assert_int_equal(both.n, 2);
	find_on(EM_X86_64, "f_noname arg1 $arg2", &noname);
	assert_string_equal(noname.v[0].args[1].type, "char *");
	find_on(EM_X86_64, "f_ptr @some_data:u8", &data);
	assert_int_equal(data.v[0].args[0].pieces[0].insns[0].imm, (int64_t)0xffffffff81000700);
}

static void force_takes_what_may_be_wrong(void **state)
{
	_cleanup_probe_points_ struct probe_points points = {0};

	find_on(EM_X86_64, "force=yes;f_dup x", &points);
	assert_int_equal(points.n, 2);
	/* But not for fentry, which would take the first of that name. */
	assert_int_equal(points.v[0].btf_id, 0);
}

static void mistakes_are_explained(void **state)
{
	static const struct {
		const char *text;
		int code;
		const char *msg, *hint;
	} cases[] = {
		{"f_prt", ENOENT, "no function 'f_prt'", "'f_ptr'"},
		{"f_opt", ENOENT, "no function 'f_opt'", "the compiler renamed it to f_opt.isra.0"},
		{"f_nothing*", ENOENT, "no function matching", NULL},
		{"module=mdo;f_module", ENOENT, "module mdo is not loaded", "modprobe mdo"},
		{"f_ptr oo", ENOENT, "no parameter 'oo'", "'o'? Its parameters are: o, n, s"},
		{"f_ptr o->nge", ENOENT, "unknown member 'nge' of struct outer", "'neg'"},
		{"f_ptr o->in->porr", ENOENT, "unknown member 'porr'", "'port'"},
		{"f_ptr o.neg", EINVAL, "is a pointer, struct outer *", "write ->neg"},
		{"f_ptr o->pair->a", EINVAL, "is not a pointer: struct pair", "write .a"},
		{"f_ptr n->x", EINVAL, "has no members: it is int", NULL},
		{"f_ptr n[1]", EINVAL, "has no elements: it is int", NULL},
		{"f_ptr o->array[3].id", EINVAL, "elements 0 to 2", NULL},
		{"f_ptr o->any->x", EINVAL, "no members: it is void", NULL},
		{"f_ptr o->any[1]", EINVAL, "have no size: they are void", NULL},
		{"f_ptr +0(n)", EINVAL, "is not an address: int", NULL},
		{"f_ptr +0(o).x", EINVAL, "unexpected", NULL},
		{"f_ptr n:string", EINVAL, "not a string or a pointer", NULL},
		{"f_ptr o->pair:b3@0/64 o->array[0].name:u64 x=o->big", ENOENT,
		 "unknown member 'big'", NULL},
		{"f_ptr n:b3@0/64", EINVAL, "4 bytes, fewer than the type", NULL},
		{"f_ptr o->in->three:b3@1/8", EINVAL, "has 3 bits", NULL},
		{"f_ptr o->in->nine", EINVAL, "60 bits that spans more than 8 bytes", NULL},
		{"f_ptr $retval", EINVAL, "nothing is returned", "f_ptr%return"},
		{"f_many%return $retval", ENOENT, "f_many returns nothing", NULL},
		{"f_ptr $arg9", ENOENT, "no parameter '$arg9'", NULL},
		{"f_ptr %xyz", ENOENT, "unknown register 'xyz'", NULL},
		{"f_ptr @nothing", ENOENT, "unknown or hidden symbol 'nothing'", NULL},
		{"f_ptr+0x1000", EINVAL, "past its end", NULL},
		{"f_ptr+4 o", ENODATA, "needs debug information", NULL},
		{"f_dup x", ENODATA, "several functions have this name", "force=yes"},
		{"f_unknown x", ENODATA, "it is not in BTF", NULL},
		{"f_opt.isra.0 x", ENODATA, "the compiler changed its parameters", NULL},
		{"f_ptr:2", ENOENT, "/proc/nonexistent/vmlinux", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_error_ struct error *err = find_error(cases[i].text);

		if (err->code != cases[i].code || !strstr(err->msg, cases[i].msg))
			fail_msg("%s: %d, %s", cases[i].text, err->code, err->msg);
		if (cases[i].hint && (!err->hint || !strstr(err->hint, cases[i].hint)))
			fail_msg("%s: hint %s", cases[i].text, err->hint ? err->hint : "(none)");
	}
}

/* ---- lists ---- */

static struct error *collect(void *ctx, const char *name)
{
	strbuf_addf(ctx, "%s ", name);
	return NULL;
}

static struct error *collect_variable(void *ctx, const struct probe_point *point,
				      const struct probe_variable *variable)
{
	strbuf_addf(ctx, "%s: %s %s%s; ", point->function, variable->type, variable->name,
		    variable->obstacle ? "!" : "");
	return NULL;
}

static void functions_and_variables_are_listed(void **state)
{
	_cleanup_(probe_finder_freep) struct probe_finder *finder = finder_make(EM_X86_64);
	_cleanup_strbuf_ struct strbuf names = STRBUF_INIT, variables = STRBUF_INIT;
	_cleanup_probe_def_ struct probe_def def = {0};

	assert_null(probe_functions(finder, NULL, NULL, "f_[pdm]*", collect, &names));
	assert_string_equal(strbuf_str(&names),
			    "f_dup f_many f_module f_module_too f_more f_more_alias f_ptr ");
	assert_null(probe_def_parse("f_struct", &def));
	assert_null(probe_variables(finder, &def, false, collect_variable, &variables));
	assert_string_equal(strbuf_str(&variables),
			    "f_struct: struct pair p; f_struct: int after; f_struct: struct big b; "
			    "f_struct: int last; ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_lead_to_what_c_has),
		cmocka_unit_test(strings_are_arrays_or_where_pointers_lead),
		cmocka_unit_test(whole_structs_are_bytes),
		cmocka_unit_test(user_memory_is_read_as_such),
		cmocka_unit_test(typed_loads_end_where_the_verifier_does),
		cmocka_unit_test(parameters_are_where_the_convention_has_them),
		cmocka_unit_test(arm64_has_its_own_convention),
		cmocka_unit_test(what_is_returned),
		cmocka_unit_test(patterns_take_what_has_the_arguments),
		cmocka_unit_test(offsets_and_registers_need_no_types),
		cmocka_unit_test(force_takes_what_may_be_wrong),
		cmocka_unit_test(mistakes_are_explained),
		cmocka_unit_test(functions_and_variables_are_listed),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
