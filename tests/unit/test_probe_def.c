// SPDX-License-Identifier: BSD-2-Clause
/* Probe definitions: what each spelling means, and where the wrong ones end to be one. */
#include "lib/base/strbuf.h"
#include "probe/def/def.h"

static void parse(const char *text, struct probe_def *def)
{
	struct error *err = probe_def_parse(text, def);

	if (err)
		fail_msg("%s: %s", text, err->msg);
}

static void assert_str(const char *is, const char *should)
{
	if (!is != !should)
		fail_msg("%s instead of %s", is ? is : "(none)", should ? should : "(none)");
	if (is)
		assert_string_equal(is, should);
}

TEST(places)
{
	static const struct {
		const char *text, *exec, *module, *group, *event, *function, *file, *pattern;
		enum probe_where where;
		uint64_t number;
		bool is_glob;
	} cases[] = {
		{"vfs_read", .function = "vfs_read"},
		{"  vfs_read\t", .function = "vfs_read"},
		{"vfs_*", .function = "vfs_*", .is_glob = true},
		{"func=my_func_*_abcd arg1", .event = "func", .function = "my_func_*_abcd",
		 .is_glob = true},
		{"exec=/usr/bin/shop;place=order_place", .exec = "/usr/bin/shop", .event = "place",
		 .function = "order_place"},
		{"exec='/a b;c/x' ; f", .exec = "/a b;c/x", .function = "f"},
		{"exec=/a\\ b;f", .exec = "/a b", .function = "f"},
		{"module=ext4;g:e=ext4_*", .module = "ext4", .group = "g", .event = "e",
		 .function = "ext4_*", .is_glob = true},
		{"inlines=no;force=yes;f", .function = "f"},
		{"f+0x1c", .function = "f", .where = PROBE_OFFSET, .number = 0x1c},
		{"f+12", .function = "f", .where = PROBE_OFFSET, .number = 12},
		{"f%return", .function = "f", .where = PROBE_RETURN},
		{"f@fs/open.c%return", .function = "f", .file = "fs/open.c", .where = PROBE_RETURN},
		{"f%return@fs/open.c", .function = "f", .file = "fs/open.c", .where = PROBE_RETURN},
		{"f:3", .function = "f", .where = PROBE_LINE, .number = 3},
		/* A function's own line is its entry. */
		{"f@a.c:0", .function = "f", .file = "a.c"},
		{"f:0", .function = "f"},
		{"f;a=*", .function = "f", .pattern = "a=*", .where = PROBE_PATTERN},
		{"e=f;a=*;", .event = "e", .function = "f", .pattern = "a=*;",
		 .where = PROBE_PATTERN},
		{"a.c;return*", .file = "a.c", .pattern = "return*", .where = PROBE_PATTERN},
		{"e=fs/open.c:123", .event = "e", .file = "fs/open.c", .where = PROBE_FILE_LINE,
		 .number = 123},
		{"f.isra.0:3", .function = "f.isra.0", .where = PROBE_LINE, .number = 3},
		{"f.cold:3", .function = "f.cold", .where = PROBE_LINE, .number = 3},
		{"f.part.0", .function = "f.part.0"},
		{"Shop::order", .function = "Shop::order"},
		{"e=shop::Cart::add:2", .event = "e", .function = "shop::Cart::add",
		 .where = PROBE_LINE, .number = 2},
		{"'Shop::operator+(int)'+4", .function = "Shop::operator+(int)",
		 .where = PROBE_OFFSET, .number = 4},
		{"e='f g'", .event = "e", .function = "f g"},
		/* Names of C++ and Rust, as probe -F has them. */
		{"Shop::operator+", .function = "Shop::operator+"},
		{"Shop::operator+=+4", .function = "Shop::operator+=", .where = PROBE_OFFSET,
		 .number = 4},
		{"e=Shop::operator==", .event = "e", .function = "Shop::operator=="},
		{"Shop::operator%%return", .function = "Shop::operator%", .where = PROBE_RETURN},
		{"operator%return", .function = "operator", .where = PROBE_RETURN},
		{"my_operator+4", .function = "my_operator", .where = PROBE_OFFSET, .number = 4},
		{"shop::(anonymous namespace)::f:3", .function = "shop::(anonymous namespace)::f",
		 .where = PROBE_LINE, .number = 3},
		{"Shop::order(char const*, int)", .function = "Shop::order(char const*, int)",
		 .is_glob = true},
		{"bigger<int, std::pair<int, long> >%return",
		 .function = "bigger<int, std::pair<int, long> >", .where = PROBE_RETURN},
		{"<Order as Price>::price", .function = "<Order as Price>::price"},
		{"main::{lambda(int)#1}::operator()",
		 .function = "main::{lambda(int)#1}::operator()"},
		{"Shop::operator->+4", .function = "Shop::operator->", .where = PROBE_OFFSET,
		 .number = 4},
		{"memcpy\\@GLIBC_2.14", .function = "memcpy@GLIBC_2.14"},
		{"memcpy@@GLIBC_2.14%return", .function = "memcpy@GLIBC_2.14",
		 .where = PROBE_RETURN},
		{"puts@plt", .function = "puts@plt"},
		{"puts@plt.c", .function = "puts", .file = "plt.c"},
		{"a\\*b", .function = "a\\*b", .is_glob = true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_probe_def_ struct probe_def def = {0};

		parse(cases[i].text, &def);
		assert_str(def.text, cases[i].text);
		assert_str(def.exec, cases[i].exec);
		assert_str(def.module, cases[i].module);
		assert_str(def.group, cases[i].group);
		assert_str(def.event, cases[i].event);
		assert_str(def.function, cases[i].function);
		assert_str(def.file, cases[i].file);
		assert_str(def.pattern, cases[i].pattern);
		assert_int_equal(def.where, cases[i].where);
		assert_int_equal(def.where == PROBE_OFFSET ? def.offset : def.line,
				 cases[i].number);
		assert_int_equal(def.is_glob, cases[i].is_glob);
	}
}

TEST(keys_say_yes_and_no)
{
	_cleanup_probe_def_ struct probe_def def = {0}, other = {0};

	parse("inlines=no;force=yes;f", &def);
	assert_false(def.inlines);
	assert_true(def.force);
	parse("f", &other);
	assert_true(other.inlines);
	assert_false(other.force);
}

/* "u8", "string", "b3@5/8": the type as it is written; of PROBE_TYPE_NONE nothing. */
static void add_type(const struct probe_arg *arg, struct strbuf *out)
{
	static const char letters[] = {
		[PROBE_TYPE_UNSIGNED] = 'u', [PROBE_TYPE_SIGNED] = 's', [PROBE_TYPE_HEX] = 'x'};

	switch (arg->type) {
	case PROBE_TYPE_NONE:
		break;
	case PROBE_TYPE_UNSIGNED:
	case PROBE_TYPE_SIGNED:
	case PROBE_TYPE_HEX:
		strbuf_addch(out, letters[arg->type]);
		if (arg->bits)
			strbuf_add_u64(out, arg->bits);
		break;
	case PROBE_TYPE_STRING:
		strbuf_adds(out, "string");
		break;
	case PROBE_TYPE_USTRING:
		strbuf_adds(out, "ustring");
		break;
	case PROBE_TYPE_BITS:
		strbuf_addf(out, "b%u@%u/%u", arg->bit_width, arg->bit_shift, arg->bits);
		break;
	case PROBE_TYPE_BOOL:
		strbuf_adds(out, "bool");
		break;
	case PROBE_TYPE_CHAR:
		strbuf_adds(out, "char");
		break;
	}
}

/* An argument in one line: name, base, steps, type. */
static char *arg_text(const struct probe_arg *arg)
{
	static const char *const bases[] = {
		[PROBE_VARIABLE] = "var", [PROBE_RETVAL] = "retval", [PROBE_PARAMS] = "params",
		[PROBE_VARS] = "vars",	  [PROBE_REGISTER] = "reg",  [PROBE_COMM] = "comm",
		[PROBE_STACK] = "stack",  [PROBE_PARAM] = "param",   [PROBE_SYMBOL] = "symbol",
	};
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s: %s", arg->name, bases[arg->base]);
	if (arg->variable)
		strbuf_addf(&sb, " %s", arg->variable);
	if (arg->base == PROBE_STACK || arg->base == PROBE_PARAM)
		strbuf_addf(&sb, " %d", (int)arg->index);
	for (size_t i = 0; i < arg->n_steps; i++) {
		const struct probe_step *step = &arg->steps[i];

		if (step->kind == PROBE_INDEX)
			strbuf_addf(&sb, " [%d]", (int)step->index);
		else if (step->kind == PROBE_DEREF)
			strbuf_addf(&sb, " deref%+d", (int)step->index);
		else
			strbuf_addf(&sb, " %s%s", step->kind == PROBE_ARROW ? "->" : ".",
				    step->name);
	}
	if (arg->type != PROBE_TYPE_NONE) {
		strbuf_adds(&sb, " : ");
		add_type(arg, &sb);
	}
	if (arg->user)
		strbuf_adds(&sb, " user");
	return strbuf_steal(&sb);
}

TEST(arguments)
{
	static const char *const cases[][2] = {
		{"count", "count: var count"},
		{"n=order->count", "n: var order ->count"},
		{"order->items[2].price", "price: var order ->items [2] .price"},
		{"file->f_path.dentry->d_name.name:string",
		 "name: var file ->f_path .dentry ->d_name .name : string"},
		{"sk->__sk_common.skc_dport:x16",
		 "skc_dport: var sk ->__sk_common .skc_dport : x16"},
		{"a[-1][2]", "a: var a [-1] [2]"},
		{"*p", "p: var p [0]"},
		{"**p->q", "q: var p ->q [0] [0]"},
		{"$retval", "retval: retval"},
		{"r=$retval->id:u32", "r: retval ->id : u32"},
		{"$params", "params: params"},
		{"$vars", "vars: vars"},
		{"$comm", "comm: comm"},
		{"$comm:string", "comm: comm : string"},
		{"$stack", "stack: stack -1"},
		{"$stack12:u32", "stack12: stack 12 : u32"},
		{"$arg1", "arg1: param 0"},
		{"%ax", "ax: reg ax"},
		{"x=%x0:s32", "x: reg x0 : s32"},
		{"+0(%si):string", "si: reg si deref+0 : string"},
		{"v=+8(+0x10(%di)):u32", "v: reg di deref+16 deref+8 : u32"},
		{"v=-8(%bp)", "v: reg bp deref-8"},
		{"+u0(%si):string", "si: reg si deref+0 : string user"},
		{"@jiffies:u64", "jiffies: symbol jiffies : u64"},
		{"Shop::total", "total: var Shop::total"},
		{"v:b3@5/8", "v: var v : b3@5/8"},
		{"v:b64@0/64", "v: var v : b64@0/64"},
		{"v:bool", "v: var v : bool"},
		{"v:char", "v: var v : char"},
		{"v:x", "v: var v : x"},
		{"v:u", "v: var v : u"},
		{"name:string@user", "name: var name : string user"},
		{"name:ustring", "name: var name : ustring"},
		{"req->len@user", "len: var req ->len user"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_probe_def_ struct probe_def def = {0};
		_cleanup_free_ char *text = text_format("f %s", cases[i][0]), *got = NULL;

		parse(text, &def);
		assert_int_equal(def.n_args, 1);
		got = arg_text(&def.args[0]);
		assert_string_equal(got, cases[i][1]);
		assert_int_equal(def.args[0].at, 2);
	}

	_cleanup_probe_def_ struct probe_def def = {0};
	parse("f n=a.b[3]:u8 c", &def);
	assert_int_equal(def.n_args, 2);
	assert_string_equal(def.args[0].text, "a.b[3]");
	assert_int_equal(def.args[0].steps[1].at, 7);
	assert_int_equal(def.args[1].at, 14);
	assert_true(def.args[0].named);
	assert_false(def.args[1].named);
}

/* Two fields of one name would be one too few: both have their paths as names. */
TEST(names_that_clash_are_paths)
{
	_cleanup_probe_def_ struct probe_def def = {0};

	parse("f a->len b.x[2].len len=c->d e", &def);
	assert_string_equal(def.args[0].name, "a_len");
	assert_string_equal(def.args[1].name, "b_x_2_len");
	assert_string_equal(def.args[2].name, "len");
	assert_string_equal(def.args[3].name, "e");

	_cleanup_probe_def_ struct probe_def same = {0};
	parse("f x x:u8 x_2=y +0(x) +0(+8(x))", &same);
	assert_string_equal(same.args[0].name, "x");
	assert_string_equal(same.args[1].name, "x_3");
	assert_string_equal(same.args[2].name, "x_2");
	assert_string_equal(same.args[3].name, "x_4");
	assert_string_equal(same.args[4].name, "x_5");

	/* The one that was given the name has it. */
	_cleanup_probe_def_ struct probe_def given = {0};
	parse("f x x=y", &given);
	assert_string_equal(given.args[0].name, "x_2");
	assert_string_equal(given.args[1].name, "x");
}

TEST(wrong_ones_say_where)
{
	static const struct {
		const char *text;
		unsigned column;
		const char *msg, *hint;
	} cases[] = {
		{"", 1, "expected a function", NULL},
		{"exec=/bin/x;", 13, "expected a function", NULL},
		{"exec=/bin/x", 12, "';' is missing after", "exec= is a key"},
		{"exce=/bin/x;f", 1, "unknown key 'exce'", "did you mean 'exec'?"},
		{"modul=ext4;f", 1, "unknown key 'modul'", "did you mean 'module'?"},
		{"exec=/a;exec=/b;f", 9, "is given twice", NULL},
		{"exec=/a;module=b;f", 9, "cannot be used together", NULL},
		{"force=maybe;f", 7, "unknown value 'maybe'", "yes, no"},
		{"exec='/a;f", 6, "not closed", NULL},
		{"exec=;f", 6, "missing value", NULL},
		{"e-f=g", 2, "cannot contain '-'", "letters, digits"},
		{"a:b:c=g", 4, "cannot contain ':'", NULL},
		{"e=exec=/bin/x;f", 3, "before the event name", "exec=...;e=FUNCTION"},
		{"=f", 1, "missing event name", NULL},
		{"f+", 3, "expected a number here", NULL},
		{"f+0x", 5, "expected a number here", NULL},
		{"f+12z", 5, "'z' is not a digit", NULL},
		{"f+99999999999999999999", 3, "too large", NULL},
		{"f%retrun", 3, "unknown probe point modifier 'retrun'", "did you mean 'return'?"},
		{"f:x", 3, "expected a number here", NULL},
		{"%sdt_libc:setjmp", 1, "SDT probes cannot be used", "usdt/PATH:PROVIDER:NAME"},
		{"e=sdt_libc:setjmp", 3, "SDT probes cannot be used", "usdt/PATH:PROVIDER:NAME"},
		{"f+1%return", 4, "only one of", NULL},
		{"f%return+1", 9, "only one of", NULL},
		{"a.c:0", 5, "start at 1", NULL},
		{"f@", 3, "missing file", NULL},
		{"f@a.c@b.c", 6, "the file is given twice", NULL},
		{"f;", 3, "missing pattern", NULL},
		{"f 1", 3, "a variable cannot begin with '1'", NULL},
		{"f a=", 5, "expected a variable", NULL},
		{"f a.", 5, "missing member", NULL},
		{"f a->", 6, "missing member", NULL},
		{"f a[", 5, "expected a number here", NULL},
		{"f a[1", 6, "']' is missing", NULL},
		{"f a[x]", 5, "expected a number here", NULL},
		{"f a-b", 4, "unexpected '-'", NULL},
		{"f $ret", 3, "unknown special variable '$ret'", "did you mean '$retval'?"},
		{"f $arg", 3, "unknown special variable", NULL},
		{"f $arg0", 7, "the first parameter is $arg1", NULL},
		{"f $retvalx", 3, "unknown special variable", NULL},
		{"f $vars.x", 3, "cannot have members", NULL},
		{"f $params:u8", 3, "cannot have members or a type", NULL},
		{"f x=$vars", 3, "cannot have a name", NULL},
		{"f %", 4, "missing register", NULL},
		{"f a:u7", 5, "unknown type 'u7'", "'u"},
		{"f a:x8[4]", 7, "whole array", "list the elements"},
		{"f a:symbol", 5, "the type 'symbol' is not supported", "x64"},
		{"f a:sting", 5, "unknown type 'sting'", "did you mean 'string'"},
		{"f a:b3", 7, "bBITS@SHIFT/SIZE", NULL},
		{"f a:b3@1", 9, "bBITS@SHIFT/SIZE", NULL},
		{"f a:b3@6/8", 5, "do not fit into", NULL},
		{"f a:b0@6/8", 5, "do not fit into", NULL},
		{"f a:b3@6/9", 10, "8, 16, 32 or 64", NULL},
		{"f a:u8@kernel", 8, "unknown address space 'kernel'", "user"},
		{"f +8", 5, "expected '(' and an address", NULL},
		{"f +8(%di", 9, "')' is missing", NULL},
		{"f +8(", 6, "expected a variable", NULL},
		{"f x=a x=b", 7, "two arguments have the name 'x'", NULL},
		{"f a::", 6, "expected a variable", NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct probe_def def = {0};
		_cleanup_error_ struct error *err = probe_def_parse(cases[i].text, &def);
		_cleanup_free_ char *column = text_format("column %u:", cases[i].column);

		if (!err)
			fail_msg("'%s' is taken", cases[i].text);
		assert_int_equal(err->code, EINVAL);
		if (!strstr(err->msg, column) || !strstr(err->msg, cases[i].msg))
			fail_msg("'%s' at %u: %s", cases[i].text, cases[i].column, err->msg);
		if (cases[i].hint && (!err->hint || !strstr(err->hint, cases[i].hint)))
			fail_msg("'%s': hint %s", cases[i].text, err->hint ? err->hint : "(none)");
		assert_null(def.text);
	}
}

TEST(limits_hold)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT, path = STRBUF_INIT;

	strbuf_adds(&sb, "f");
	for (int i = 0; i < PROBE_MAX_ARGS; i++)
		strbuf_addf(&sb, " a%d", i);
	_cleanup_probe_def_ struct probe_def def = {0};
	parse(strbuf_str(&sb), &def);
	assert_int_equal(def.n_args, PROBE_MAX_ARGS);
	strbuf_adds(&sb, " more");
	struct probe_def none = {0};
	_cleanup_error_ struct error *err = probe_def_parse(strbuf_str(&sb), &none);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "at most"));

	strbuf_adds(&path, "f a");
	for (int i = 0; i <= PROBE_MAX_STEPS; i++)
		strbuf_adds(&path, ".b");
	_cleanup_error_ struct error *steps = probe_def_parse(strbuf_str(&path), &none);
	assert_non_null(steps);
	assert_non_null(strstr(steps->msg, "at most"));
}

TEST(sections_are_told_apart)
{
	static const char *const are[] = {
		"func=my_func_*_abcd arg1",
		"exec=/usr/bin/shop;place=order_place order->count",
		"module=ext4;ext4_sync_file",
		"vfs_* file->f_path.dentry->d_name.name:string count",
		"vfs_read%return $retval",
		"g:e=vfs_read",
		"?func=vfs_read",
		"fs/open.c:120 x",
		"vfs_read%return",
		"vfs_read:3",
		"vfs_read+4",
	};
	static const char *const are_not[] = {
		"kprobe/vfs_read",
		"kprobe/vfs_read+0x10",
		"uprobe//bin/bash:readline",
		"tp/sched/sched_switch",
		"sched:sched_switch",
		"license",
		".maps",
		"tc",
		"perf_event/type=1,config=0",
		"uprobe//opt/my app/x:f",
		"struct_ops/x",
		"fentry/vfs_read",
		".text",
		"",
		"?tc",
		"vfs_read",
		"a:b+4",
		"vfs_read+",
		".rodata.str1.1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(are); i++)
		if (!probe_def_is(are[i]))
			fail_msg("%s is one", are[i]);
	for (size_t i = 0; i < ARRAY_SIZE(are_not); i++)
		if (probe_def_is(are_not[i]))
			fail_msg("%s is none", are_not[i]);
}
