// SPDX-License-Identifier: BSD-2-Clause
/* perf/print/print_tasks.h: the tree of threads, and what they have mapped. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perf/print/print_tasks.h"
#include "tests/unit/image.h"
#include "tests/unit/memfile.h"

#define TITLE "#      pid      tid     ppid  comm\n"

static char *tree(void (*fill)(struct image *im), bool maps)
{
	_cleanup_(session_freep) struct session *s = NULL;
	struct session_tool tool = {0};
	struct strbuf out = STRBUF_INIT;
	struct image im = {.swap = 0};

	image_file(&im, fill);
	struct memfile f = memfile_new(im.sb.str, im.sb.len);
	assert_null(session_open(f.path, NULL, &s));
	assert_null(session_process(s, &tool));
	assert_null(print_tasks(s, maps, &out));
	close(f.fd);
	strbuf_deinit(&im.sb);
	return strbuf_steal(&out);
}

static void expect(void (*fill)(struct image *im), bool maps, const char *text)
{
	_cleanup_free_ char *got = tree(fill, maps);

	assert_string_equal(got, text);
}

static void fill_family(struct image *im)
{
	image_comm(im, 10, 10, "parent", 0, 0);
	image_mmap2(im, 10, 0x1000, 0x3000, 0, "/bin/old", 0);
	image_fork(im, 30, 10, 30, 10, 100);
	image_fork(im, 20, 10, 20, 10, 110);
	image_fork(im, 30, 30, 31, 30, 120); /* a thread */
	image_comm(im, 20, 20, "chi\033ld", PERF_RECORD_MISC_COMM_EXEC, 130);
	image_mmap2(im, 20, 0x2000, 0x1000, 0x500, "/bin/n\new", 140);
}

TEST(children_are_below_their_parents)
{
	expect(fill_family, false,
	       TITLE "         0        0       -1 |swapper\n"
		     "        10       10       -1 |parent\n"
		     "        20       20       10 | chi\\x1bld\n"
		     "        30       30       10 | parent\n"
		     "        30       31       30 |  parent\n");
}

TEST(maps_are_below_their_threads)
{
	expect(fill_family, true,
	       TITLE "         0        0       -1 |swapper\n"
		     "        10       10       -1 |parent\n"
		     "                                1000-4000 r-xp 00000000 99 /bin/old\n"
		     "        20       20       10 | chi\\x1bld\n"
		     "                                 1000-2000 r-xp 00000000 99 /bin/old\n"
		     "                                 2000-3000 r-xp 00000500 99 /bin/n\\x0aew\n"
		     "                                 3000-4000 r-xp 00002000 99 /bin/old\n"
		     "        30       30       10 | parent\n"
		     "                                 1000-4000 r-xp 00000000 99 /bin/old\n"
		     "        30       31       30 |  parent\n"
		     "                                  1000-4000 r-xp 00000000 99 /bin/old\n");
}

/* 5 started 6, ended, and 6 started another 5; 7 is its own parent. */
static void fill_circle(struct image *im)
{
	image_fork(im, 6, 5, 6, 5, 100);
	image_fork(im, 5, 6, 5, 6, 110);
	image_fork(im, 8, 5, 8, 5, 120);
	image_fork(im, 7, 7, 7, 7, 130);
}

TEST(circles_are_printed_once)
{
	expect(fill_circle, false,
	       TITLE "         0        0       -1 |swapper\n"
		     "         7        7        7 |:7\n"
		     "         5        5        6 |:5\n"
		     "         6        6        5 | :6\n"
		     "         8        8        5 | :8\n");
}

static void fill_chain(struct image *im)
{
	for (int i = 1; i < 20000; i++)
		image_fork(im, i + 1, i, i + 1, i, 100 + i);
}

/* Else 20,000 processes were 200 MB of blanks. */
TEST(long_chains_are_not_indented_without_end)
{
	_cleanup_free_ char *got = tree(fill_chain, false);

	assert_in_range(strlen(got), 20000 * 130, 20000 * 150);
	assert_non_null(strstr(got, "     20000    20000    19999 |"));
}
