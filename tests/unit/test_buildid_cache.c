// SPDX-License-Identifier: BSD-2-Clause
/* perf's build-id cache: its layout, and what it does not write through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/sys/copied_file.h"
#include "perf/record/buildid_cache.h"
#include "sym/sym.h"

static const uint8_t id[20] = {0xab, 0xcd, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
#define HEX "abcd0102030405060708090a0000000000000000"

static int setup(void **state)
{
	char path[] = "/tmp/buildid-cache-test.XXXXXX";

	assert_non_null(mkdtemp(path));
	assert_int_equal(chdir(path), 0);
	*state = strdup(path);
	return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int teardown(void **state)
{
	assert_int_equal(chdir("/"), 0);
	nftw(*state, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	free(*state);
	return 0;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void expect_text(const char *path, const char *text)
{
	char buf[64] = "";
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	assert_int_equal(fread(buf, 1, sizeof(buf) - 1, f), strlen(text));
	fclose(f);
	assert_string_equal(buf, text);
}

/* The error of a copy of the file "file", which author wrote, mapped as path; 0: none. */
static int add_by(const struct buildid_cache *c, const char *path, uid_t author)
{
	_cleanup_close_ int fd = open("file", O_RDONLY | O_CLOEXEC);
	struct error *err = buildid_cache_add(c, path, fd, author, id, sizeof(id));
	const int code = err ? err->code : 0;

	error_free(err);
	return code;
}

static int add(const struct buildid_cache *c, const char *path)
{
	return add_by(c, path, geteuid());
}

static int open_error(const char *dir)
{
	struct buildid_cache c = {.fd = -1};
	struct error *err = buildid_cache_open(dir, &c);
	const int code = err ? err->code : 0;

	error_free(err);
	buildid_cache_close(&c);
	return code;
}

static void a_copy_is_found_by_its_build_id(void **state)
{
	struct buildid_cache c = {.fd = -1};
	char link[256] = "";

	put("file", "first");
	chmod("file", 04711);
	assert_null(buildid_cache_open("cache", &c));
	assert_int_equal(add(&c, "/usr/lib/libx.so"), 0);
	assert_true(readlink("cache/.build-id/ab/"
			     "cd0102030405060708090a0000000000000000",
			     link, sizeof(link) - 1) > 0);
	assert_string_equal(link, "../../usr/lib/libx.so/" HEX);
	expect_text("cache/usr/lib/libx.so/" HEX "/elf", "first");
	struct stat st;
	assert_int_equal(stat("cache/usr/lib/libx.so/" HEX "/elf", &st), 0);
	assert_int_equal(st.st_mode & 07000, 0);

	/* The file changes, and the copy does not; nor does another path with the id replace it. */
	put("file", "second");
	expect_text("cache/usr/lib/libx.so/" HEX "/elf", "first");
	assert_int_equal(add(&c, "/usr/lib/libx.so"), 0);
	assert_int_equal(add(&c, "/other/libx.so"), 0);
	expect_text("cache/.build-id/ab/cd0102030405060708090a0000000000000000/elf", "first");
	assert_int_equal(access("cache/other", F_OK), -1);

	/* A link to where nothing is. */
	assert_int_equal(unlink("cache/usr/lib/libx.so/" HEX "/elf"), 0);
	assert_int_equal(add(&c, "/other/libx.so"), 0);
	expect_text("cache/.build-id/ab/cd0102030405060708090a0000000000000000/elf", "second");
	buildid_cache_close(&c);
}

#define COPY(path)   "cache" path "/" HEX "/elf"
#define LINKED	     "cache/.build-id/ab/cd0102030405060708090a0000000000000000/elf"
#define OTHER_AUTHOR 4242

static uid_t author_of(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return file_author(fd, true);
}

/* Who builds a file chooses its build-id: it must not be found in place of another's. */
static void files_of_others_are_not_found_by_their_build_id(void **state)
{
	struct buildid_cache c = {.fd = -1};

	put("file", "forged");
	assert_null(buildid_cache_open("cache", &c));
	assert_int_equal(add_by(&c, "/theirs/x", OTHER_AUTHOR), 0);
	expect_text(COPY("/theirs/x"), "forged");
	assert_int_equal(access(LINKED, F_OK), -1);
	/* The same path, of another root directory. */
	put("file", "other");
	assert_int_equal(add_by(&c, "/theirs/x", AUTHOR_UNKNOWN), 0);
	expect_text(COPY("/theirs/x"), "forged");

	put("file", "ours");
	assert_int_equal(add(&c, "/theirs/x"), 0);
	expect_text(COPY("/theirs/x"), "ours");
	expect_text(LINKED, "ours");
	put("file", "forged");
	assert_int_equal(add_by(&c, "/theirs/x", OTHER_AUTHOR), 0);
	assert_int_equal(add_by(&c, "/theirs/y", OTHER_AUTHOR), 0);
	expect_text(COPY("/theirs/x"), "ours");
	expect_text(LINKED, "ours");
	buildid_cache_close(&c);
}

static void copies_keep_their_authors(void **state)
{
	struct buildid_cache c = {.fd = -1};

	put("file", "text");
	_cleanup_close_ int fd = open("file", O_RDONLY | O_CLOEXEC);
	copied_file_set_author(fd, 0);
	uid_t author;
	if (!copied_file_has_author(fd, &author)) {
		print_message("the file system has no extended attributes\n");
		return;
	}
	assert_int_equal(file_author(fd, false), geteuid());
	/* Of another process, and what is open because it has no path here: of nobody. */
	assert_false(path_is_in_other_root("file"));
	assert_true(path_is_in_other_root("/proc/self/fd/3"));
	assert_null(buildid_cache_open("cache", &c));
	assert_int_equal(add_by(&c, "/theirs/x", OTHER_AUTHOR), 0);
	assert_int_equal(author_of(COPY("/theirs/x")), OTHER_AUTHOR);
	assert_int_equal(add_by(&c, "/theirs/y", AUTHOR_UNKNOWN), 0);
	assert_int_equal(author_of(COPY("/theirs/y")), AUTHOR_UNKNOWN);

	/* A copy that perf has made does not say whose it is: ours takes its place. */
	assert_int_equal(add(&c, "/ours/x"), 0);
	assert_int_equal(author_of(LINKED), geteuid());
	assert_int_equal(unlink(COPY("/ours/x")), 0);
	put(COPY("/ours/x"), "of perf");
	assert_int_equal(author_of(LINKED), AUTHOR_UNKNOWN);
	assert_int_equal(add(&c, "/ours/x"), 0);
	expect_text(LINKED, "text");
	assert_int_equal(author_of(LINKED), geteuid());

	if (!geteuid()) { /* whatever the recorder says of it */
		assert_int_equal(unlink(LINKED) | chown("file", OTHER_AUTHOR, 0), 0);
		assert_int_equal(add_by(&c, "/ours/z", 0), 0);
		assert_int_equal(author_of(COPY("/ours/z")), OTHER_AUTHOR);
	}
	buildid_cache_close(&c);
}

static void large_and_sparse_files_are_not_copied(void **state)
{
	struct buildid_cache c = {.fd = -1};

	assert_null(buildid_cache_open("cache", &c));
	put("file", "text");
	assert_int_equal(truncate("file", ((off_t)1 << 30) + 1), 0);
	assert_int_equal(add(&c, "/usr/lib/libx.so"), EFBIG);
	assert_int_equal(access("cache/usr/lib/libx.so/" HEX "/elf", F_OK), -1);
	assert_int_equal(truncate("file", (off_t)1 << 20), 0);
	if (geteuid()) {
		print_message("giving a file to another user takes root\n");
	} else {
		assert_int_equal(chown("file", 4242, 4242), 0);
		assert_int_equal(add(&c, "/usr/lib/libx.so"), EFBIG);
		assert_int_equal(chown("file", 0, 0), 0);
	}
	assert_int_equal(add(&c, "/usr/lib/libx.so"), 0);
	buildid_cache_close(&c);
}

static void nothing_is_written_elsewhere(void **state)
{
	struct buildid_cache c = {.fd = -1};

	put("file", "text");
	assert_int_equal(mkdir("outside", 0755), 0);
	assert_null(buildid_cache_open("cache", &c));
	assert_int_equal(add(&c, "/../outside/x"), EINVAL);
	assert_int_equal(add(&c, "/a/../../outside/x"), EINVAL);
	assert_int_equal(symlink("../outside", "cache/linked"), 0);
	assert_true(add(&c, "/linked/x") != 0);
	assert_int_equal(rmdir("outside"), 0);
	/* In the place of the file and of the temporary one. */
	assert_int_equal(mkdir("cache/d", 0755) | mkdir("cache/d/" HEX, 0755), 0);
	put("victim", "mine");
	assert_int_equal(symlink("../../../victim", "cache/d/" HEX "/elf"), 0);
	assert_int_equal(add(&c, "/d"), 0);
	expect_text("victim", "mine");
	expect_text("cache/d/" HEX "/elf", "text");
	buildid_cache_close(&c);
}

static void directories_of_others_are_left_alone(void **state)
{
	assert_int_equal(open_error("missing/cache"), ENOENT);
	assert_int_equal(open_error("slashes//"), 0);
	assert_int_equal(mkdir("open", 0777) | chmod("open", 0777), 0);
	assert_int_equal(open_error("open"), EPERM);
	if (geteuid()) {
		print_message("not root: the owners were not tested\n");
		return;
	}
	assert_int_equal(mkdir("home", 0755) | mkdir("theirs", 0755), 0);
	assert_int_equal(chown("home", 1, 1) | chown("theirs", 1, 1), 0);
	assert_int_equal(open_error("home/cache"), EPERM);
	assert_int_equal(open_error("theirs"), EPERM);
	assert_int_equal(mkdir("mine", 0755) | symlink("mine", "link"), 0);
	assert_int_equal(open_error("link"), 0);
	assert_int_equal(lchown("link", 1, 1), 0);
	assert_int_equal(open_error("link"), EPERM);
	struct buildid_cache c = {.fd = -1};
	assert_null(buildid_cache_open("mine", &c));
	put("file", "text");
	assert_int_equal(mkdir("mine/usr", 0755) | chown("mine/usr", 1, 1), 0);
	assert_int_equal(add(&c, "/usr/x"), EPERM);
	buildid_cache_close(&c);
}

static void the_directory_is_perfs(void **state)
{
	static const struct {
		const char *env, *home, *configured, *want;
	} cases[] = {
		{NULL, "/home/u", NULL, "/home/u/.debug"},
		{NULL, "/home/u", "~/ids", "/home/u/ids"},
		{NULL, "/home/u", "/var/ids", "/var/ids"},
		{"/perf/says", "/home/u", "/var/ids", "/perf/says"},
		{NULL, NULL, NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsetenv("PERF_BUILDID_DIR");
		unsetenv("HOME");
		if (cases[i].env)
			setenv("PERF_BUILDID_DIR", cases[i].env, 1);
		if (cases[i].home)
			setenv("HOME", cases[i].home, 1);
		_cleanup_free_ char *dir = buildid_cache_dir(cases[i].configured);
		if (cases[i].want)
			assert_string_equal(dir, cases[i].want);
		else
			assert_null(dir);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_copy_is_found_by_its_build_id, setup, teardown),
		cmocka_unit_test_setup_teardown(files_of_others_are_not_found_by_their_build_id,
						setup, teardown),
		cmocka_unit_test_setup_teardown(copies_keep_their_authors, setup, teardown),
		cmocka_unit_test_setup_teardown(large_and_sparse_files_are_not_copied, setup,
						teardown),
		cmocka_unit_test_setup_teardown(nothing_is_written_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(directories_of_others_are_left_alone, setup,
						teardown),
		cmocka_unit_test(the_directory_is_perfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
