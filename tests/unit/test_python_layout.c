// SPDX-License-Identifier: BSD-2-Clause
/* Where interpreters of Python have their frames, and the names of functions as text. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/util.h"
#include "perf/unwind/python_layout.h"
#include "run/python_maps.h"

/* What _PyRuntime of 3.13.0 begins with. */
static const uint64_t published[] = {0x7970677562656478, /* "xdebugpy" */
				     0x30d00f0,
				     0,
				     283320,
				     608,
				     632,
				     194968,
				     7272,
				     7264,
				     7344,
				     7400,
				     7656,
				     7640,
				     7648,
				     16,
				     7752,
				     0,
				     7768,
				     7760,
				     304,
				     0,
				     8,
				     16,
				     72,
				     152,
				     160,
				     232,
				     32,
				     80,
				     8,
				     0,
				     56,
				     72,
				     70,
				     208,
				     112,
				     120,
				     128,
				     136,
				     68,
				     52,
				     96,
				     104,
				     200,
				     16,
				     8,
				     416,
				     24,
				     88,
				     168,
				     32,
				     24,
				     16,
				     40,
				     24,
				     16,
				     48,
				     32,
				     40,
				     24,
				     16,
				     32,
				     16,
				     24,
				     40,
				     16,
				     32,
				     64,
				     32,
				     16,
				     40};

static bool read_published(const void *data, size_t size, struct perf_bpf_python_layout *out)
{
	struct cursor c = cursor_make(data, size, NULL);
	uint32_t version = 0;
	const bool is_there = python_layout_published(&c, &version, out);

	assert_int_equal(version, is_there ? 0x30d00f0 : 0);
	return is_there;
}

/* The expected numbers are those of the headers of 3.13.0. */
TEST(test_published)
{
	const struct perf_bpf_python_layout expected = {632,
							7264,
							7344,
							8,
							152,
							72,
							PERF_BPF_PYTHON_NONE,
							PERF_BPF_PYTHON_NONE,
							PERF_BPF_PYTHON_NONE,
							8,
							0,
							PERF_BPF_PYTHON_NONE,
							70,
							128,
							112,
							68,
							8,
							16,
							32,
							40,
							56};
	struct perf_bpf_python_layout layout;

	assert_true(read_published(published, sizeof(published), &layout));
	assert_memory_equal(&layout, &expected, sizeof(expected));
}

TEST(test_published_hostile)
{
	static const size_t used[] = {5, 8, 9, 21, 23, 24, 29, 30, 33, 35, 37, 39, 45, 68, 69, 70};
	struct perf_bpf_python_layout layout;
	uint64_t copy[ARRAY_SIZE(published)];

	for (size_t size = 0; size < sizeof(published); size++)
		assert_false(read_published(published, size, &layout));
	for (size_t i = 0; i < ARRAY_SIZE(used); i++) {
		memcpy(copy, published, sizeof(copy));
		copy[used[i]] = UINT64_MAX;
		assert_false(read_published(copy, sizeof(copy), &layout));
		copy[used[i]] = 1ull << 32 | published[used[i]];
		assert_false(read_published(copy, sizeof(copy), &layout));
	}
	memcpy(copy, published, sizeof(copy));
	copy[1] = 0x30e00f0; /* another version has other numbers */
	assert_false(read_published(copy, sizeof(copy), &layout));
	copy[1] = published[1];
	copy[0]++;
	assert_false(read_published(copy, sizeof(copy), &layout));
}

TEST(test_versions)
{
	struct perf_bpf_python_layout layout;

	for (unsigned minor = 0; minor < 20; minor++)
		assert_int_equal(python_layout_of(minor, &layout), minor >= 9 && minor <= 12);
}

static bool find_in(const char *path, struct python_interpreter *python)
{
	_cleanup_elf_ struct elf_file *file = NULL;
	bool found;

	assert_null(pb_elf_file_open_parts(path, python_wants, &file));
	if (!python_may_be_in(file, path))
		return false;
	assert_null(python_find(file, path, &found, python));
	return found;
}

TEST(test_files)
{
	struct python_interpreter python;
	char path[64];

	assert_false(find_in("/proc/self/exe", &python));
	for (unsigned minor = 9; minor < 14; minor++) {
		snprintf(path, sizeof(path), "/usr/bin/python3.%u", minor);
		if (access(path, R_OK))
			continue;
		assert_true(find_in(path, &python));
		assert_true(python.is_supported);
		assert_int_equal(python.minor, minor);
		assert_true(python.eval[0].end - python.eval[0].start > 4096);
	}
}

static struct perf_bpf_python_function function_of(const char *name, const char *file)
{
	struct perf_bpf_python_function f = {.line = 12, .name_kind = 1, .file_kind = 1};

	f.name_bytes = (uint8_t)strlen(name);
	f.file_bytes = (uint8_t)strlen(file);
	memcpy(f.name, name, f.name_bytes);
	memcpy(f.file, file, f.file_bytes);
	return f;
}

static void assert_texts(const struct perf_bpf_python_function *f, const char *name,
			 const char *path)
{
	_cleanup_strbuf_ struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;

	python_function_add(f, &a, &b);
	assert_string_equal(a.str, name);
	assert_string_equal(b.str, path);
}

TEST(test_function_names)
{
	struct perf_bpf_python_function f = function_of("Shop.buy", "/srv/shop.py");

	assert_texts(&f, "Shop.buy (shop.py:12)", "/srv/shop.py");
	f = function_of("\xfc"
			"bung",
			"shop.py");
	assert_texts(&f, "übung (shop.py:12)", "shop.py");
	f = function_of("a", "/x/");
	assert_texts(&f, "a (/x/:12)", "/x/");
	f.file_kind |= PERF_BPF_PYTHON_CUT;
	f.name_kind |= PERF_BPF_PYTHON_CUT;
	assert_texts(&f, "a... (.../x/:12)", ".../x/");
	f = function_of("", "/x/a.py");
	assert_texts(&f, " (a.py:12)", "/x/a.py");
}

/* Wide characters, and what is none: numbers of a process that may be anything. */
TEST(test_wide_names)
{
	static const uint16_t two[] = {'a', 0xfc, 0x20ac, 0xd800, 0};
	static const uint32_t four[] = {0x1f40d, 'b', 0x110000, UINT32_MAX};
	struct perf_bpf_python_function f = function_of("", "f.py");

	f.name_kind = 2;
	f.name_bytes = sizeof(two);
	memcpy(f.name, two, sizeof(two));
	assert_texts(&f, "aü€\xef\xbf\xbd\xef\xbf\xbd (f.py:12)", "f.py");
	f.name_bytes = 3; /* half of a character */
	assert_texts(&f, "a (f.py:12)", "f.py");
	f.name_kind = 4;
	f.name_bytes = sizeof(four);
	memcpy(f.name, four, sizeof(four));
	assert_texts(&f, "🐍b\xef\xbf\xbd\xef\xbf\xbd (f.py:12)", "f.py");
	memset(&f, 0xff, sizeof(f)); /* more bytes than there are */
	assert_true(f.name_bytes > sizeof(f.name) && f.file_bytes > sizeof(f.file));
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT, path = STRBUF_INIT;
	python_function_add(&f, &name, &path);
	assert_true(path.len == 3 + 2 * sizeof(f.file));
}
