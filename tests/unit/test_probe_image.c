// SPDX-License-Identifier: BSD-2-Clause
/*
 * Points of a binary, by its symbols and by its DWARF: this very program is
 * the binary, and the image of a kernel that was moved.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"
#include "probe/fetch/regs.h"
#include "probe/point/point.h"
#include "tests/unit/probe_find.h"

/* Names as C++ has them, without a compiler for it. */
int cart_add(int n) __asm__("_ZN4shop4Cart3addEi");
int cart_drop(int n) __asm__("_ZN4shop4Cart4dropEv");
int shelf_add(int n) __asm__("_ZN4shop5Shelf3addEi");

#ifdef __clang__ /* which has no noclone, and makes no clones */
#define KEPT __attribute__((noinline, used))
#else
#define KEPT __attribute__((noinline, noclone, used))
#endif

KEPT int cart_add(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

KEPT int cart_drop(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 2;
}

KEPT int shelf_add(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 3;
}

/* Where a kernel begins; this program is taken for one, see below. */
__asm__(".globl _stext\n.set _stext, _ZN4shop4Cart3addEi");

/* The bytes of the file where a uprobe would be set are those of the function. */
static void assert_offset_of(const struct probe_point *point, const char *path, const void *code)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	uint8_t bytes[16];

	assert_non_null(file);
	assert_int_equal(fseek(file, (long)point->file_offset, SEEK_SET), 0);
	assert_int_equal(fread(bytes, sizeof(bytes), 1, file), 1);
	assert_memory_equal(bytes, code, sizeof(bytes));
}

/* It is not static: LLVM may drop what a static function returns. */
char *own_path(void);
KEPT char *own_path(void)
{
	return realpath("/proc/self/exe", NULL);
}

KEPT static void user_finder(bool dwarf, struct probe_finder **finder)
{
	const struct finder_opts opts = {.no_dwarf = !dwarf, .no_debuginfod = true};

	assert_null(probe_finder_new(&opts, finder));
}

static struct error *user_find(struct probe_finder *finder, const char *fmt, const char *path,
			       struct probe_points *points)
{
	_cleanup_free_ char *text = text_format("exec=%s;%s", path, fmt);
	_cleanup_probe_def_ struct probe_def def = {0};

	assert_null(probe_def_parse(text, &def));
	return probe_points_find(finder, &def, points);
}

#if defined(__aarch64__)
#define A_REGISTER "%x1"
#else
#define A_REGISTER "%si"
#endif

TEST(binaries_by_their_symbols)
{
	_cleanup_(probe_finder_freep) struct probe_finder *finder = NULL;
	_cleanup_free_ char *path = own_path();
	static const struct {
		const char *text;
		const void *code;
		const char *function, *shown;
	} cases[] = {
		{"user_finder", user_finder, "user_finder", NULL},
		{"shop::Cart::add", cart_add, "_ZN4shop4Cart3addEi", "shop::Cart::add"},
		{"Cart::add", cart_add, "_ZN4shop4Cart3addEi", "shop::Cart::add"},
		{"_ZN4shop5Shelf3addEi", shelf_add, "_ZN4shop5Shelf3addEi", "shop::Shelf::add"},
		{"e=shop::Cart::drop%return", cart_drop, "_ZN4shop4Cart4dropEv",
		 "shop::Cart::drop"},
	};

	user_finder(false, &finder);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_probe_points_ struct probe_points points = {0};
		_cleanup_error_ struct error *err = user_find(finder, cases[i].text, path, &points);

		if (err)
			fail_msg("%s: %s", cases[i].text, err->msg);
		assert_int_equal(points.n, 1);
		const struct probe_point *point = &points.v[0];
		assert_string_equal(points.path, path);
		assert_string_equal(point->function, cases[i].function);
		assert_int_equal(point->source, POINT_SYMBOLS);
		if (cases[i].shown)
			assert_string_equal(point->shown, cases[i].shown);
		else
			assert_null(point->shown);
		assert_int_equal(point->at_return, i == 4);
		assert_offset_of(point, path, cases[i].code);
	}

	_cleanup_probe_points_ struct probe_points glob = {0}, args = {0};
	assert_null(user_find(finder, "shop::*::add", path, &glob));
	assert_int_equal(glob.n, 2);
	/* Where its second instruction begins, is the compiler's matter. */
	struct probe_points none = {0};
	struct error *within = NULL;
	uint64_t at = 0;
	do {
		_cleanup_free_ char *text =
			text_format("user_finder+%d %s +8(%%sp):u32 $comm", (int)++at, A_REGISTER);

		error_free(within);
		within = user_find(finder, text, path, &args);
		if (within)
			assert_non_null(strstr(within->msg, "in the middle of an instruction"));
	} while (within && at < 15);
	assert_null(within);
	assert_int_equal(args.v[0].offset, at);
	assert_offset_of(&args.v[0], path, (const char *)user_finder + at);
	/* Parameters are at the entry, and that is somewhere else. */
	_cleanup_free_ char *param = text_format("user_finder+%d $arg2", (int)at);
	_cleanup_error_ struct error *no_param = user_find(finder, param, path, &none);
	assert_non_null(strstr(no_param->msg, "only at function entry"));
	static const struct {
		const char *text;
		int code;
		const char *msg, *hint;
	} wrong[] = {
		{"user_fidner", ENOENT, "no function 'user_fidner'", "'user_finder'"},
		{"Crat::add", ENOENT, "no function 'Crat::add'", "'shop::Cart::add'"},
		{"nothing_*", ENOENT, "no function that matches", NULL},
		{"user_finder dwarf", ENODATA, "'dwarf' needs debug information", NULL},
		{"user_finder+0x10000", EINVAL, "past its end", NULL},
		{"user_finder $retval", EOPNOTSUPP, "return values are available only", NULL},
		{"user_finder:3", ENODATA, "is not used", NULL},
		{"user_finder %xx", ENOENT, "unknown register 'xx'", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_error_ struct error *err = user_find(finder, wrong[i].text, path, &none);

		assert_non_null(err);
		if (err->code != wrong[i].code || !strstr(err->msg, wrong[i].msg))
			fail_msg("%s: %d, %s", wrong[i].text, err->code, err->msg);
		if (wrong[i].hint && (!err->hint || !strstr(err->hint, wrong[i].hint)))
			fail_msg("%s: hint %s", wrong[i].text, err->hint ? err->hint : "(none)");
	}
}

/* With debug information the same functions, and their variables. */
TEST(binaries_by_their_dwarf)
{
	_cleanup_(probe_finder_freep) struct probe_finder *finder = NULL;
	_cleanup_free_ char *path = own_path();
	_cleanup_probe_points_ struct probe_points points = {0}, returned = {0};
	struct here here = {.words = {41}};
	struct fetch_world world = world_of(&here);
	int64_t v;

	user_finder(true, &finder);
	_cleanup_error_ struct error *err = user_find(finder, "cart_add n $params", path, &points);
	if (err && err->code == ENODATA) {
		print_message("this program was built without debug information\n");
		skip();
	}
	assert_null(err);
	assert_int_equal(points.n, 1);
	assert_int_equal(points.v[0].source, POINT_DWARF);
	/* $params has nothing that is not there already. */
	assert_int_equal(points.n_args, 1);
	assert_string_equal(points.v[0].args[0].type, "int");
	assert_true(fetch_number(&world, &points.v[0].args[0], &v));
	assert_int_equal(v, 41);
	assert_offset_of(&points.v[0], path, cart_add);
	assert_non_null(points.v[0].file);

	world.retval = 0xffffffff;
	assert_null(user_find(finder, "_ZN4shop5Shelf3addEi%return $retval", path, &returned));
	assert_true(fetch_number(&world, &returned.v[0].args[0], &v));
	assert_int_equal(v, -1);
}

KEPT static int kept(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 4;
}

/*
 * A kernel runs somewhere else than its image says (KASLR). This program as the image, and a
 * kallsyms of its functions that is moved; one of a name that others have too is found by how far
 * the whole was moved.
 */
TEST(a_moved_kernel_is_found_again)
{
	static const uint64_t moved = 0xffffffff9a000000;
	_cleanup_(probe_finder_freep) struct probe_finder *symbols = NULL, *finder = NULL;
	_cleanup_free_ char *path = own_path();
	_cleanup_probe_points_ struct probe_points here = {0}, start = {0};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char ksyms[] = "/tmp/test_probe_point.ksyms.XXXXXX";
	static const char *const names[] = {"user_finder", "own_path", "kept"};

	user_finder(false, &symbols);
	assert_null(user_find(symbols, "_ZN4shop4Cart3addEi", path, &start));
	strbuf_addf(&text, "%016llx T _stext\n", (unsigned long long)(start.v[0].address + moved));
	uint64_t address[ARRAY_SIZE(names)];
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		_cleanup_probe_points_ struct probe_points points = {0};

		assert_null(user_find(symbols, names[i], path, &points));
		address[i] = points.v[0].address + moved;
		strbuf_addf(&text, "%016llx t %s\n", (unsigned long long)address[i], names[i]);
	}
	/* Another file of the kernel has one of that name. */
	strbuf_addf(&text, "ffffffffbb000000 t own_path\n");
	assert_int_equal(write_temp(ksyms, strbuf_str(&text), text.len), 0);

	const struct finder_opts opts = {
		.no_btf = true, .kallsyms = ksyms, .vmlinux = path, .no_debuginfod = true};
	assert_null(probe_finder_new(&opts, &finder));
	_cleanup_probe_def_ struct probe_def def = {0};
	assert_null(probe_def_parse("user_finder dwarf", &def));
	_cleanup_error_ struct error *err = probe_points_find(finder, &def, &here);
	if (err && err->code == ENODATA) {
		print_message("this program was built without debug information\n");
		unlink(ksyms);
		skip();
	}
	assert_null(err);
	assert_int_equal(here.n, 1);
	assert_int_equal(here.v[0].address, address[0]);
	assert_string_equal(here.v[0].function, "user_finder");

	_cleanup_probe_points_ struct probe_points twin = {0};
	find_with(finder, "own_path%return $retval", &twin);
	assert_int_equal(twin.n, 1);
	assert_int_equal(twin.v[0].address, address[1]);
	assert_true(twin.v[0].at_return);

	_cleanup_probe_points_ struct probe_points line = {0};
	find_with(finder, "kept:3 n", &line);
	assert_true(line.n >= 1);
	assert_int_equal(line.v[0].address, address[2] + line.v[0].offset);
	unlink(ksyms);
}
