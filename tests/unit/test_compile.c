// SPDX-License-Identifier: BSD-2-Clause
/* compile/: words, dependency files, cached entries, the cache's folders, finding clang. */
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "compile/internal.h"
#include "lib/sys/open_file.h"

struct fixture {
	char dir[64];
	struct cache cache;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[128];

	assert_non_null(f);
	strcpy(f->dir, "/tmp/perf-bpf-unit.XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(path, sizeof(path), "%s/a/b/cache", f->dir);
	assert_null(cache_open(path, NULL, &f->cache));
	assert_false(f->cache.temporary);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	cache_close(&f->cache);
	tree_remove(f->dir);
	assert_int_not_equal(access(f->dir, F_OK), 0);
	free(f);
	return 0;
}

static void write_text(const char *path, const char *text, unsigned mode)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void assert_words(const char *text, const char *const *want)
{
	_cleanup_names_ struct names words = {0};
	size_t n = 0;

	assert_null(words_split(text, &words));
	for (; want[n]; n++) {
		assert_true(n < words.n);
		assert_string_equal(words.v[n], want[n]);
	}
	assert_int_equal(words.n, n);
}

TEST(words_are_split_as_a_shell_does)
{
	assert_words("", (const char *const[]){NULL});
	assert_words("  -g \t -O1\n", (const char *const[]){"-g", "-O1", NULL});
	assert_words("-DA='x y' \"b \\\"c\" d\\ e '' \"\\n\"",
		     (const char *const[]){"-DA=x y", "b \"c", "d e", "", "\\n", NULL});
	assert_words("a'b'\"c\"d $HOME '$(x)'",
		     (const char *const[]){"abcd", "$HOME", "$(x)", NULL});

	_cleanup_names_ struct names words = {0};
	_cleanup_error_ struct error *err = words_split("-DA='x", &words);
	assert_non_null(err);
	assert_int_equal(err->code, EINVAL);
	assert_non_null(strstr(err->msg, "quote '"));
}

TEST(dependency_files_are_read)
{
	_cleanup_names_ struct names files = {0};

	assert_null(deps_parse("object.o: /a/b.c \\\n  /a/with\\ space.h \\\r\n"
			       "  /a/x\\#y.h /a/$$d.h /a/back\\slash.h\nother.o: z.h\n",
			       &files));
	assert_int_equal(files.n, 5);
	assert_string_equal(files.v[0], "/a/b.c");
	assert_string_equal(files.v[1], "/a/with space.h");
	assert_string_equal(files.v[2], "/a/x#y.h");
	assert_string_equal(files.v[3], "/a/$d.h");
	assert_string_equal(files.v[4], "/a/back\\slash.h");

	_cleanup_error_ struct error *err = deps_parse("no colon", &files);
	assert_non_null(err);
}

static void make_entry(const struct fixture *f, struct cache_entry *e, char *file, size_t n)
{
	snprintf(file, n, "%s/one.h", f->dir);
	write_text(file, "#define ONE 1\n", 0600);
	struct dep *dep = entry_add_dep(e, file, DEP_HASHED);
	assert_non_null(dep);
	assert_null(dep_measure(dep));
	dep = entry_add_dep(e, file, DEP_FIXED);
	assert_non_null(dep);
	assert_null(dep_measure(dep));
	e->object = strdup("OBJECT");
	e->object_size = 6;
}

TEST_WITH(entries_survive_the_cache_and_notice_changes, setup, teardown)
{
	const struct fixture *f = *state;
	_cleanup_entry_ struct cache_entry e = {0}, back = {0};
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	char file[128];

	make_entry(f, &e, file, sizeof(file));
	assert_null(entry_encode(&e, &bytes));
	assert_null(entry_decode(bytes.str, bytes.len, &back));
	assert_int_equal(back.n_deps, 2);
	assert_string_equal(back.deps[0].path, file);
	assert_int_equal(back.object_size, 6);
	assert_memory_equal(back.object, "OBJECT", 6);
	assert_true(dep_holds(&back.deps[0]));
	assert_true(dep_holds(&back.deps[1]));

	/* Another content of the same length and the same time. */
	struct stat st;
	assert_int_equal(stat(file, &st), 0);
	write_text(file, "#define ONE 2\n", 0600);
	struct timespec times[2] = {st.st_atim, st.st_mtim};
	assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
	assert_false(dep_holds(&back.deps[0]));
	assert_true(dep_holds(&back.deps[1]));
	write_text(file, "longer than it was\n", 0600);
	assert_false(dep_holds(&back.deps[1]));
	assert_int_equal(unlink(file), 0);
	assert_false(dep_holds(&back.deps[0]));
	assert_false(dep_holds(&back.deps[1]));
}

TEST_WITH(damaged_entries_are_refused, setup, teardown)
{
	const struct fixture *f = *state;
	_cleanup_entry_ struct cache_entry e = {0};
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	char file[128];

	make_entry(f, &e, file, sizeof(file));
	assert_null(entry_encode(&e, &bytes));
	for (size_t n = 0; n < bytes.len; n++) {
		struct cache_entry out = {0};
		_cleanup_error_ struct error *err = entry_decode(bytes.str, n, &out);
		assert_non_null(err);
		assert_int_equal(err->code, EBADMSG);
		assert_null(out.deps);
	}
	for (size_t bit = 0; bit < bytes.len * 8; bit++) {
		struct cache_entry out = {0};
		bytes.str[bit / 8] ^= (char)(1 << bit % 8);
		_cleanup_error_ struct error *err = entry_decode(bytes.str, bytes.len, &out);
		assert_non_null(err);
		bytes.str[bit / 8] ^= (char)(1 << bit % 8);
	}

	/* Wrong in itself under a right hash: a path longer than the file. */
	_cleanup_strbuf_ struct strbuf wrong = STRBUF_INIT;
	uint32_t one = 1, huge = UINT32_MAX;
	char body[4 + 1 + 8 + DIGEST_LEN + 4] = {0};
	memcpy(body, &one, 4);
	memcpy(body + sizeof(body) - 4, &huge, 4);
	strbuf_add(&wrong, bytes.str, 8);
	strbuf_add(&wrong, digest_of(body, sizeof(body)).hex, DIGEST_LEN);
	strbuf_add(&wrong, body, sizeof(body));
	struct cache_entry out = {0};
	_cleanup_error_ struct error *err = entry_decode(wrong.str, wrong.len, &out);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "file list"));
}

TEST(hashes_know_where_a_part_ends)
{
	_cleanup_hasher_ struct hasher *a = hasher_new(), *b = hasher_new(), *c = hasher_new();

	hasher_add_str(a, "ab");
	hasher_add_str(a, "c");
	hasher_add_str(b, "a");
	hasher_add_str(b, "bc");
	assert_string_not_equal(hasher_end(a).hex, hasher_end(b).hex);
	hasher_add_str(c, "ab");
	hasher_add_str(c, "c");
	assert_string_equal(hasher_end(a).hex, hasher_end(c).hex);
	hasher_add_str(a, NULL);
	hasher_add_str(c, "");
	assert_string_not_equal(hasher_end(a).hex, hasher_end(c).hex);
	/* XXH3 of 128 bits of nothing, as xxhsum -H2 prints it. */
	assert_string_equal(digest_of("", 0).hex, "99aa06d3014798d86001c324468d497f");
}

/* Opens path as a cache, and says whether it was fit to be one. */
static bool is_fit(const char *path)
{
	_cleanup_cache_ struct cache c = {0};

	assert_null(cache_open(path, NULL, &c));
	assert_int_equal(access(c.path, W_OK), 0);
	return !c.temporary;
}

TEST_WITH(folders_of_others_are_not_used, setup, teardown)
{
	const struct fixture *f = *state;
	char path[128], link[128];
	struct stat st;

	assert_int_equal(stat(f->cache.path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0700);

	snprintf(path, sizeof(path), "%s/open", f->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_true(is_fit(path));
	assert_int_equal(chmod(path, 0770), 0);
	assert_false(is_fit(path));
	assert_int_equal(chmod(path, 0700), 0);
	snprintf(link, sizeof(link), "%s/link", f->dir);
	assert_int_equal(symlink(path, link), 0);
	assert_false(is_fit(link));
	snprintf(link, sizeof(link), "%s/file", f->dir);
	write_text(link, "", 0600);
	assert_false(is_fit(link));

	/* A link within the cache is not followed either. */
	int fd;
	snprintf(link, sizeof(link), "%s/objects", f->cache.path);
	assert_int_equal(symlink(path, link), 0);
	_cleanup_error_ struct error *err = cache_folder(&f->cache, "objects", &fd);
	assert_non_null(err);
	assert_non_null(strstr(err->where, "objects"));
	assert_int_equal(unlink(link), 0);
}

TEST_WITH(a_temporary_cache_goes_with_its_user, setup, teardown)
{
	const struct fixture *f = *state;
	struct cache c = {0};
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/full", f->dir);
	write_text(path, "", 0600);
	assert_null(cache_open(path, NULL, &c));
	assert_true(c.temporary);
	assert_null(cache_folder(&c, "objects/deep", &fd));
	assert_null(file_replace(fd, "x", "y", 1, 0600));
	close(fd);
	snprintf(path, sizeof(path), "%s", c.path);
	cache_close(&c);
	assert_int_not_equal(access(path, F_OK), 0);
}

TEST_WITH(old_entries_are_pruned, setup, teardown)
{
	const struct fixture *f = *state;
	char name[16], *scratch;
	int fd;

	assert_null(cache_folder(&f->cache, "objects", &fd));
	for (int i = 0; i < 10; i++) {
		struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
		snprintf(name, sizeof(name), "e%d", i);
		assert_null(file_replace(fd, name, name, strlen(name), 0600));
		assert_int_equal(utimensat(fd, name, times, 0), 0);
	}
	assert_null(cache_scratch(&f->cache, &scratch));
	cache_prune(&f->cache, "objects", 3);
	for (int i = 0; i < 10; i++) {
		snprintf(name, sizeof(name), "e%d", i);
		assert_int_equal(faccessat(fd, name, F_OK, 0) == 0, i >= 7);
	}
	assert_int_equal(access(scratch, F_OK), 0);
	struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	assert_int_equal(utimensat(AT_FDCWD, scratch, old, 0), 0);
	cache_prune(&f->cache, "objects", 3);
	assert_int_not_equal(access(scratch, F_OK), 0);
	free(scratch);
	close(fd);
}

TEST_WITH(files_are_replaced_not_followed, setup, teardown)
{
	const struct fixture *f = *state;
	char target[128], link[128];
	_cleanup_free_ char *data = NULL;
	size_t size;
	_cleanup_close_ int fd = open(f->dir, O_RDONLY | O_DIRECTORY);

	snprintf(target, sizeof(target), "%s/target", f->dir);
	snprintf(link, sizeof(link), "%s/out.o", f->dir);
	write_text(target, "precious", 0600);
	assert_int_equal(symlink(target, link), 0);
	assert_null(file_replace(fd, "out.o", "new", 3, 0644));
	assert_null(file_read(AT_FDCWD, target, 100, &data, &size));
	assert_string_equal(data, "precious");
	free(steal_ptr(data));
	assert_null(file_read(fd, "out.o", 3, &data, &size));
	assert_string_equal(data, "new");

	_cleanup_free_ char *none = NULL;
	_cleanup_error_ struct error *err = file_read(fd, "out.o", 2, &none, &size);
	assert_non_null(err);
	assert_int_equal(err->code, EFBIG);
	assert_null(none);
}

/* A clang that says what it is told to, and counts how often it is asked. */
static void make_clang(const struct fixture *f, const char *folder, const char *name,
		       const char *version, const char *targets)
{
	char path[192], text[1024];

	snprintf(path, sizeof(path), "%s/%s", f->dir, folder);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", f->dir, folder, name);
	snprintf(text, sizeof(text),
		 "#!/bin/sh\necho \"$0 $1\" >>%s/asked\n"
		 "case $1 in --version) echo '%s' ;; *) echo '%s' ;; esac\n",
		 f->dir, version, targets);
	write_text(path, text, 0700);
}

static size_t lines_of(const char *path)
{
	_cleanup_free_ char *data = NULL;
	size_t size, n = 0;
	_cleanup_error_ struct error *err = file_read(AT_FDCWD, path, 1 << 20, &data, &size);

	for (size_t i = 0; !err && i < size; i++)
		n += data[i] == '\n';
	return n;
}

TEST_WITH(the_newest_clang_is_found_and_asked_once, setup, teardown)
{
	const struct fixture *f = *state;
	_cleanup_clang_ struct clang first = {0}, again = {0}, named = {0};
	char path[256], asked[128];

	snprintf(asked, sizeof(asked), "%s/asked", f->dir);
	make_clang(f, "p1", "clang", "clang version 901.0.0", "bpf - BPF (host endian)");
	make_clang(f, "p2", "clang-903", "Some clang version 903.1.0 (x)", "bpf - BPF");
	make_clang(f, "p2", "clang-904", "clang version 904.0.0", "x86-64 only");
	make_clang(f, "p2", "clang-format-905", "clang-format version 905.0.0", "bpf");
	make_clang(f, "p2", "clang-906", "no number", "bpf");
	snprintf(path, sizeof(path), "%s/p1:%s/p2:/bin", f->dir, f->dir);
	_cleanup_free_ char *old_path = strdup(getenv("PATH"));
	setenv("PATH", path, 1);
	assert_null(clang_find(&f->cache, NULL, &first));
	size_t questions = lines_of(asked);
	assert_null(clang_find(&f->cache, NULL, &again));
	size_t later = lines_of(asked);
	setenv("PATH", old_path, 1);

	assert_int_equal(first.major, 903);
	assert_non_null(strstr(first.path, "/p2/clang-903"));
	assert_string_equal(first.version, "Some clang version 903.1.0 (x)");
	assert_string_equal(again.path, first.path);
	assert_string_equal(again.identity.hex, first.identity.hex);
	assert_true(questions >= 6);
	assert_int_equal(later, questions + 1); /* what is no clang is asked again */

	snprintf(path, sizeof(path), "%s/p1/clang", f->dir);
	assert_null(clang_find(&f->cache, path, &named));
	assert_int_equal(named.major, 901);
	_cleanup_error_ struct error *err = clang_find(&f->cache, "/no/such/clang", &named);
	assert_non_null(err);
	assert_string_equal(err->where, "/no/such/clang");
	assert_non_null(strstr(err->hint, "clang-path"));
}

TEST(versions_are_read)
{
	assert_int_equal(clang_parse_major("Debian clang version 14.0.6"), 14);
	assert_int_equal(clang_parse_major("clang version 9"), 9);
	assert_int_equal(clang_parse_major("Ubuntu clang version 18.1.3 (1ubuntu1)"), 18);
	assert_int_equal(clang_parse_major("gcc (Debian) 12"), 0);
}
