// SPDX-License-Identifier: BSD-2-Clause
/* What stands on a screen. */
#include <string.h>

#include "show/screen.h"

static void check(struct screenful screen, size_t hidden, const char *want)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	screen.head = "head";
	screen.foot = "q quit";
	assert_int_equal(screen_hidden(&screen), hidden);
	screen_add(&screen, &out);
	assert_string_equal(strbuf_str(&out), want);
}

TEST(test_sizes)
{
	struct screenful s = {.rows = 6, .columns = 10, .body = "1\n2\n3\n", .tail = ""};

	check(s, 0, "head\n1\n2\n3\n\nq quit\n");
	s.rows = 4;
	check(s, 1, "head\n1\n2\n1-2/3  q …\n");
	s.first = 1;
	check(s, 1, "head\n2\n3\n2-3/3  q …\n");
	s.first = 7; /* further than there is */
	check(s, 1, "head\n2\n3\n2-3/3  q …\n");
	s.first = 0;
	s.rows = 2;
	check(s, 2, "1\n1-1/3  q …\n");
	s.rows = 1;
	check(s, 2, "1\n");
	s.columns = 3;
	s.rows = 5;
	s.ascii = true;
	check(s, 0, "he~\n1\n2\n3\nq ~\n");
	s.body = "";
	check(s, 0, "he~\n\n\n\nq ~\n");
	s.body = "no end";
	check(s, 0, "he~\nno~\n\n\nq ~\n");
}

/* The tail has what the body leaves, and a third at least; its last lines are the newest. */
TEST(test_tail)
{
	struct screenful s = {
		.rows = 8, .columns = 10, .body = "1\n2\n", .tail = "a\nb\nc\nd\ne\n"};

	check(s, 0, "head\n1\n2\n\nc\nd\ne\nq quit\n");
	s.rows = 20;
	check(s, 0, "head\n1\n2\n\n\n\n\n\n\n\n\n\n\n\na\nb\nc\nd\ne\nq quit\n");
	s.rows = 8;
	s.body = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
	check(s, 5, "head\n1\n2\n3\n4\n\ne\n1-4/9  q …\n");
	s.rows = 4;
	check(s, 7, "head\n1\n2\n1-2/9  q …\n");
}
