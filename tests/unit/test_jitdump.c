// SPDX-License-Identifier: BSD-2-Clause
/*
 * sym/jitdump: functions and lines of a dump, in both byte orders, cut off at every byte, and code
 * that replaces other code.
 */
#include <elf.h>
#include <errno.h>

#include "sym/jitdump.h"
#include "tests/unit/image.h"

enum { LOAD, MOVE, LINES };

static void add_header(struct image *im)
{
	image_u32(im, 0x4a695444);
	image_u32(im, 1);
	image_u32(im, 40);
	image_u32(im, EM_X86_64);
	image_u32(im, 0);
	image_u32(im, 7);
	image_u64(im, 0);
	image_u64(im, 0);
}

static void add_prefix(struct image *im, uint32_t type, size_t size)
{
	image_u32(im, type);
	image_u32(im, (uint32_t)(16 + size));
	image_u64(im, 1);
}

static void add_load(struct image *im, uint64_t start, uint64_t index, const char *name,
		     const char *code)
{
	const size_t n = strlen(code);

	add_prefix(im, LOAD, 40 + strlen(name) + 1 + n);
	image_u32(im, 7);
	image_u32(im, 7);
	image_u64(im, start);
	image_u64(im, start);
	image_u64(im, n);
	image_u64(im, index);
	strbuf_add(&im->sb, name, strlen(name) + 1);
	strbuf_add(&im->sb, code, n);
}

static void add_move(struct image *im, uint64_t from, uint64_t to, uint64_t index)
{
	add_prefix(im, MOVE, 48);
	image_u32(im, 7);
	image_u32(im, 7);
	image_u64(im, to);
	image_u64(im, from);
	image_u64(im, to);
	image_u64(im, 8);
	image_u64(im, index);
}

static void add_line(struct image *im, uint64_t address, uint32_t line, const char *file)
{
	image_u64(im, address);
	image_u32(im, line);
	image_u32(im, 0);
	strbuf_add(&im->sb, file, strlen(file) + 1);
}

static struct jitdump *parse(const struct image *im)
{
	struct jitdump *dump = NULL;

	assert_null(jitdump_parse(im->sb.str, im->sb.len, 5, &dump));
	assert_int_equal(jitdump_author(dump), 5);
	return dump;
}

static const char *name_at(const struct jitdump *dump, uint64_t address, char name[16])
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;

	assert_null(jitdump_symtab(dump, &st));
	const struct symbol *sym = symtab_find(st, address);
	snprintf(name, 16, "%s", sym ? sym->name : "");
	return name;
}

static void assert_line(const struct jitdump *dump, uint64_t address, const char *file,
			uint32_t number)
{
	const char *got = "";
	uint32_t line = 0;

	assert_true(jitdump_line(dump, address, &got, &line));
	assert_string_equal(got, file);
	assert_int_equal(line, number);
}

static void add_two(struct image *im)
{
	add_header(im);
	add_prefix(im, LINES, 16 + 3 * 16 + 4 + 2 + 4);
	image_u64(im, 0x1000);
	image_u64(im, 3);
	add_line(im, 0x1002, 11, "a.x");
	add_line(im, 0x1005, 12, "\xff"); /* as before */
	add_line(im, 0x1000, 10, "b.x");
	add_load(im, 0x1000, 0, "first", "12345678");
	add_load(im, 0x2000, 1, "second", "abcd");
}

TEST(test_functions_and_lines)
{
	char name[16];

	for (int swap = 0; swap < 2; swap++) {
		struct image im = {.swap = swap};
		struct jit_function f;
		const char *file;
		uint32_t line;

		add_two(&im);
		struct jitdump *dump = parse(&im);
		assert_string_equal(name_at(dump, 0x1007, name), "first");
		assert_string_equal(name_at(dump, 0x1008, name), "");
		assert_string_equal(name_at(dump, 0x2000, name), "second");
		assert_true(jitdump_function(dump, 0x2003, &f));
		assert_int_equal(f.start, 0x2000);
		assert_int_equal(f.size, 4);
		assert_int_equal(f.machine, EM_X86_64);
		assert_memory_equal(f.code, "abcd", 4);
		assert_false(jitdump_function(dump, 0xfff, &f));
		assert_line(dump, 0x1001, "b.x", 10);
		assert_line(dump, 0x1002, "a.x", 11);
		assert_line(dump, 0x1007, "a.x", 12);
		assert_false(jitdump_line(dump, 0x2000, &file, &line));
		jitdump_free(dump);
		strbuf_deinit(&im.sb);
	}
}

TEST(test_code_that_moved_and_was_replaced)
{
	struct image im = {0};
	struct jit_function f;
	char name[16];

	add_two(&im);
	add_load(&im, 0x3000, 2, "third", "xy");
	add_move(&im, 0x1000, 0x1ffc, 0); /* over the beginning of second */
	add_move(&im, 0x9000, 0x5000, 9); /* of nothing */
	add_load(&im, 0x3000, 3, "fourth", "z");
	struct jitdump *dump = parse(&im);
	assert_string_equal(name_at(dump, 0x1ffe, name), "first");
	assert_string_equal(name_at(dump, 0x2000, name), "first");
	assert_line(dump, 0x1ffc, "b.x", 10);
	assert_line(dump, 0x2001, "a.x", 12);
	assert_true(jitdump_function(dump, 0x1ffc, &f));
	assert_memory_equal(f.code, "12345678", 8);
	assert_string_equal(name_at(dump, 0x3000, name), "fourth");
	assert_false(jitdump_function(dump, 0x3001, &f));
	assert_false(jitdump_function(dump, 0x5000, &f));
	jitdump_free(dump);
	strbuf_deinit(&im.sb);
}

/* A compiler that still writes: what is complete counts. */
TEST(test_cut_off_anywhere)
{
	struct image im = {0};

	add_two(&im);
	const size_t second = im.sb.len - (16 + 40 + 7 + 4);
	for (size_t n = 0; n < im.sb.len; n++) {
		_cleanup_(jitdump_freep) struct jitdump *dump = NULL;
		void *exact = malloc(n ? n : 1);

		memcpy(exact, im.sb.str, n);
		struct error *err = jitdump_parse(exact, n, 0, &dump);
		if (n < 40)
			assert_int_equal(err->code, EBADMSG);
		else if (n < second)
			assert_int_equal(err->code, ENODATA);
		else
			assert_null(err);
		error_free(err);
		jitdump_free(steal_ptr(dump));
		free(exact);
	}
	strbuf_deinit(&im.sb);
}
