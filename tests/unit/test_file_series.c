// SPDX-License-Identifier: BSD-2-Clause
/* work/file_series.h: files that another process creates; perf/record: what --switch-output says.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/strbuf.h"
#include "perf/record/record.h"
#include "tests/unit/tree.h"
#include "work/file_series.h"

#define ok(call) assert_null(call)

static char dir[64], path[80];

static int make_dir(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/perf-bpf-series.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/out", dir);
	signal(SIGPIPE, SIG_IGN);
	return 0;
}

static int remove_dir(void **state)
{
	return nftw(dir, tree_remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void put_first(void)
{
	const int fd = open(path, O_CREAT | O_WRONLY, 0600);

	assert_true(fd >= 0);
	put(fd, "0");
}

/* What a file holds; "" if it is not there. */
static const char *content(const char *date)
{
	static char text[16];
	_cleanup_free_ char *name = date ? text_format("%s.%s", path, date) : strdup(path);
	const int fd = open(name, O_RDONLY);
	const ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	assert_true(n >= 0);
	text[n] = 0;
	close(fd);
	return text;
}

/* Without those of which the names begin with a dot. */
static unsigned count_files(bool hidden)
{
	DIR *d = opendir(dir);
	unsigned n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += hidden ? !strncmp(e->d_name, ".perf-bpf", 9) : e->d_name[0] != '.';
	closedir(d);
	return n;
}

TEST_WITH(test_one_after_the_other, make_dir, remove_dir)
{
	const struct file_series_opts opts = {.path = path};
	_cleanup_(file_series_freep) struct file_series *series = NULL;
	char dates[3][CLOCK_DATE_SIZE];
	int fd;

	put_first();
	ok(file_series_new(&opts, &series));
	for (int i = 0; i < 3; i++) {
		const char text[] = {(char)('1' + i), 0};

		ok(file_series_open(series, &fd));
		put(fd, text);
		/* the file that is written is still the one before */
		assert_int_equal(content(NULL)[0], '0' + i);
		ok(file_series_next(series, dates[i]));
		assert_string_equal(content(NULL), text);
		assert_int_equal(content(dates[i])[0], '0' + i);
	}
	assert_int_equal(strlen(dates[0]), strlen("2026112314213307"));
	/* also those of one hundredth of a second */
	assert_true(strcmp(dates[0], dates[1]) < 0 && strcmp(dates[1], dates[2]) < 0);
	assert_int_equal(count_files(false), 4);
	/* the last one */
	ok(file_series_next(series, dates[0]));
	assert_string_equal(content(dates[0]), "3");
	assert_string_equal(content(NULL), "");
	assert_int_equal(count_files(false), 4);
	assert_int_equal(count_files(true), 0);
}

TEST_WITH(test_the_oldest_are_removed, make_dir, remove_dir)
{
	const struct file_series_opts opts = {.path = path, .max_files = 2};
	_cleanup_(file_series_freep) struct file_series *series = NULL;
	char dates[4][CLOCK_DATE_SIZE];
	int fd;

	put_first();
	_cleanup_free_ char *other = text_format("%s.other", path);
	fd = open(other, O_CREAT | O_WRONLY, 0600);
	put(fd, "x");
	ok(file_series_new(&opts, &series));
	for (int i = 0; i < 4; i++) {
		const char text[] = {(char)('1' + i), 0};

		ok(file_series_open(series, &fd));
		put(fd, text);
		ok(file_series_next(series, dates[i]));
	}
	assert_string_equal(content(dates[0]), "");
	assert_string_equal(content(dates[1]), "");
	assert_string_equal(content(dates[2]), "2");
	assert_string_equal(content(dates[3]), "3");
	assert_string_equal(content("other"), "x");
	assert_int_equal(count_files(false), 4);
}

/* What did not become a file of the series does not stay. */
TEST_WITH(test_a_file_that_is_given_up, make_dir, remove_dir)
{
	const struct file_series_opts opts = {.path = path};
	struct file_series *series = NULL;
	int fd, second = -1;

	put_first();
	ok(file_series_new(&opts, &series));
	ok(file_series_open(series, &fd));
	put(fd, "1");
	assert_int_equal(count_files(true), 1);
	struct error *err = file_series_open(series, &second);
	assert_non_null(err);
	error_free(err);
	assert_int_equal(second, -1);
	file_series_free(series);
	assert_int_equal(count_files(true), 0);
	assert_string_equal(content(NULL), "0");
}

static struct error *cannot_confine(void *ctx)
{
	return error_new(EPERM, "no");
}

TEST_WITH(test_what_cannot_be, make_dir, remove_dir)
{
	struct file_series_opts opts = {.path = "/dev/null"};
	struct file_series *series = NULL;
	char date[CLOCK_DATE_SIZE];
	struct error *err = file_series_new(&opts, &series);

	assert_int_equal(err->code, EINVAL);
	error_free(err);
	opts.path = "/nothing/here";
	err = file_series_new(&opts, &series);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	opts = (struct file_series_opts){.path = path, .confine = cannot_confine};
	err = file_series_new(&opts, &series);
	assert_int_equal(err->code, EPERM);
	error_free(err);
	assert_null(series);
	/* nothing has been written */
	opts.confine = NULL;
	ok(file_series_new(&opts, &series));
	err = file_series_next(series, date);
	assert_int_equal(err->code, ENOENT);
	error_free(err);
	file_series_free(series);
}

TEST(test_what_switch_output_says)
{
	static const struct {
		const char *text;
		enum record_switch_by by;
		uint64_t value;
	} good[] = {
		{"signal", RECORD_SWITCH_SIGNAL, 0},
		{"1B", RECORD_SWITCH_SIZE, 1},
		{"500K", RECORD_SWITCH_SIZE, 500 << 10},
		{"100M", RECORD_SWITCH_SIZE, 100 << 20},
		{"2G", RECORD_SWITCH_SIZE, (uint64_t)2 << 30},
		{"10s", RECORD_SWITCH_TIME, 10},
		{"5m", RECORD_SWITCH_TIME, 300},
		{"1h", RECORD_SWITCH_TIME, 3600},
		{"2d", RECORD_SWITCH_TIME, 172800},
	};
	static const char *const bad[] = {
		"",
		"0s",
		"10",
		"s",
		"-1s",
		" 1s",
		"+1s",
		"1ss",
		"1S",
		"1.5s",
		"1 s",
		"99999999999999999999s",
		"signals",
		"2199023255552B",
		"1099511627776K",
	};
	struct record_switch got;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		ok(record_switch_parse(good[i].text, &got));
		assert_int_equal(got.by, good[i].by);
		assert_int_equal(got.value, good[i].value);
		assert_int_equal(got.max_files, 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct error *err = record_switch_parse(bad[i], &got);

		if (!err)
			fail_msg("'%s' is taken", bad[i]);
		error_free(err);
	}
}
