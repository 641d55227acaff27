// SPDX-License-Identifier: BSD-2-Clause
/* Where functions stand in binaries: this test's own is the example. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "lib/attach/internal.h"

int function_with_a_name_of_its_own(int v);
__attribute__((noinline)) int function_with_a_name_of_its_own(int v)
{
	return v * 41 + 1000003;
}

int function_with_another_name(int v) __attribute__((alias("function_with_a_name_of_its_own")));
int function_that_is_another(int v);
__attribute__((noinline)) int function_that_is_another(int v)
{
	return v * 43 + 1000005;
}

static struct elf_file *open_self(void)
{
	struct elf_file *file = NULL;

	assert_null(binary_open("/proc/self/exe", &file));
	return file;
}

/* What stands at the offset in the file is the code that runs. */
TEST(a_function_is_found_in_the_file)
{
	_cleanup_elf_ struct elf_file *file = open_self();
	_cleanup_fclose_ FILE *exe = fopen("/proc/self/exe", "r");
	uint64_t offset = 0;
	char code[12];

	assert_null(binary_symbol_offset(file, "function_with_a_name_of_its_own", &offset));
	assert_int_equal(fseek(exe, (long)offset, SEEK_SET), 0);
	assert_int_equal(fread(code, 1, sizeof(code), exe), sizeof(code));
	assert_memory_equal(code, (const void *)function_with_a_name_of_its_own, sizeof(code));
}

TEST(a_missing_function_names_the_nearest)
{
	_cleanup_elf_ struct elf_file *file = open_self();
	uint64_t offset = 77;
	struct error *err = binary_symbol_offset(file, "function_with_a_nam_of_its_onw", &offset);

	assert_non_null(err);
	assert_int_equal(err->code, ENOENT);
	assert_string_equal(err->msg,
			    "/proc/self/exe has no function function_with_a_nam_of_its_onw");
	assert_string_equal(err->hint, "did you mean 'function_with_a_name_of_its_own'?");
	assert_int_equal(offset, 77);
	error_free(err);
}

TEST(many_functions_are_found_in_one_walk)
{
	const char *names[] = {"function_that_is_another", "function_with_a_name_of_its_own",
			       "function_that_is_another"};
	const char *wrong[] = {"function_that_is_another", "function_that_is_nother"};
	_cleanup_elf_ struct elf_file *file = open_self();
	_cleanup_free_ uint64_t *found = NULL;
	uint64_t offsets[3] = {0}, one = 0;
	size_t n = 0;

	assert_null(binary_symbols_offsets(file, names, 3, offsets));
	assert_int_equal(offsets[0], offsets[2]);
	assert_null(binary_symbol_offset(file, names[1], &one));
	assert_int_equal(offsets[1], one);
	assert_true(offsets[0] && one && offsets[0] != one);
	struct error *err = binary_symbols_offsets(file, wrong, 2, offsets);
	assert_non_null(err);
	assert_non_null(strstr(err->hint, "'function_that_is_another'"));
	error_free(err);

	/* Three names of two functions. */
	assert_null(binary_symbols_match(file, "function_????_*", &found, &n));
	assert_int_equal(n, 2);
	assert_true(found[0] < found[1]);
	assert_true((found[0] == one && found[1] == offsets[2]) ||
		    (found[1] == one && found[0] == offsets[2]));
	err = binary_symbols_match(file, "function_?x*", &found, &n);
	assert_non_null(err);
	assert_int_equal(err->code, ENOENT);
	assert_string_equal(err->msg, "/proc/self/exe has no function that matches 'function_?x*'");
	error_free(err);
}

/* The bytes at the function's offset are those that run. */
static void assert_code(const char *path, uint64_t offset, const void *function)
{
	_cleanup_fclose_ FILE *f = fopen(path, "r");
	char code[16];

	assert_non_null(f);
	assert_int_equal(fseek(f, (long)offset, SEEK_SET), 0);
	assert_int_equal(fread(code, 1, sizeof(code), f), sizeof(code));
	assert_memory_equal(code, function, sizeof(code));
}

/* Of a name that stands for several functions, each has its version. */
TEST(functions_are_found_by_version)
{
	static const char *const tried[] = {"GLIBC_2.2.5", "GLIBC_2.3.2", "GLIBC_2.17"};
	_cleanup_elf_ struct elf_file *file = NULL;
	_cleanup_free_ char *path = NULL;
	uint64_t offset;
	size_t found = 0;

	assert_null(binary_find("libc.so.6", &path));
	assert_null(binary_open(path, &file));
	for (size_t i = 0; i < ARRAY_SIZE(tried); i++) {
		void *function = dlvsym(RTLD_DEFAULT, "pthread_cond_wait", tried[i]);
		_cleanup_free_ char *one = text_format("pthread_cond_wait@%s", tried[i]);
		_cleanup_free_ char *two = text_format("pthread_cond_wait@@%s", tried[i]);
		const char *both[] = {one, two, "malloc"};
		uint64_t offsets[3];

		if (!function)
			continue;
		found++;
		assert_null(binary_symbols_offsets(file, both, 3, offsets));
		assert_int_equal(offsets[0], offsets[1]);
		assert_code(path, offsets[0], function);
		Dl_info info;
		struct link_map *map;
		assert_true(dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP));
		assert_true(pb_elf_file_offset(file, (uint64_t)(uintptr_t)function - map->l_addr,
					       &offset));
		assert_int_equal(offsets[0], offset);
	}
	assert_true(found > 0);
	struct error *err = binary_symbol_offset(file, "pthread_cond_wait@GLIBC_9", &offset);
	assert_non_null(err);
	assert_int_equal(err->code, ENOENT);
	assert_non_null(strstr(err->hint, "it calls that function of GLIBC_2."));
	error_free(err);
}

TEST(binaries_are_found_as_the_loader_and_the_shell_do)
{
	char *path = NULL;
	struct error *err;

	assert_null(binary_find("libc.so.6", &path));
	assert_true(path[0] == '/' && !strcmp(strrchr(path, '/'), "/libc.so.6"));
	/* A function that only .dynsym names, with its version left out. */
	struct elf_file *file = NULL;
	uint64_t offset = 0;
	assert_null(binary_open(path, &file));
	assert_null(binary_symbol_offset(file, "malloc", &offset));
	assert_true(offset > 0);
	pb_elf_file_free(file);
	free(path);

	assert_null(binary_find("sh", &path));
	assert_string_equal(strrchr(path, '/'), "/sh");
	free(path);
	assert_null(binary_find("/proc/self/exe", &path));
	assert_string_equal(path, "/proc/self/exe");
	free(path);

	err = binary_find("libno-such-library.so.1", &path);
	assert_int_equal(err->code, ENOENT);
	assert_non_null(strstr(err->msg, "no library libno-such-library.so.1 in /lib"));
	error_free(err);
	err = binary_find("no-such-program-here", &path);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	err = binary_find("/no/such/file", &path);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	err = binary_find("/proc", &path);
	assert_int_equal(err->code, EINVAL);
	error_free(err);
}

TEST(offsets_follow_the_last_plus)
{
	size_t len = 0;
	uint64_t offset = 7;

	assert_true(split_offset("vfs_read", &len, &offset));
	assert_true(len == 8 && offset == 0);
	assert_true(split_offset("vfs_read+0x1c", &len, &offset));
	assert_true(len == 8 && offset == 0x1c);
	assert_true(split_offset("f+20", &len, &offset));
	assert_true(len == 1 && offset == 20);
	assert_false(split_offset("vfs_read+", &len, &offset));
	assert_false(split_offset("vfs_read+x", &len, &offset));
	assert_false(split_offset("vfs_read+-1", &len, &offset));
	assert_false(split_offset("vfs_read+0x1g", &len, &offset));
	assert_false(split_offset("f+99999999999999999999999", &len, &offset));
	assert_true(len == 1 && offset == 20);
}
