// SPDX-License-Identifier: BSD-2-Clause
/* browse/: keys from bytes, the canvas, and what is on the screen after which keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/browser.h"
#include "browse/pager.h"
#include "browse/scroll.h"
#include "lib/base/vec.h"
#include "tests/unit/browse_world.h"

/* ---- keys ---- */

static void check_key(const char *bytes, size_t n, bool all, uint32_t key, size_t used)
{
	size_t got = 99;

	assert_int_equal(key_decode((const unsigned char *)bytes, n, all, &got), key);
	assert_int_equal(got, used);
}

#define KEY(bytes, all, key, used) check_key(bytes, sizeof(bytes) - 1, all, key, used)

TEST(test_keys)
{
	KEY("", true, KEY_NONE, 0);
	KEY("qx", false, 'q', 1);
	KEY("\n", false, KEY_ENTER, 1);
	KEY("\r", false, KEY_ENTER, 1);
	KEY("\b", false, KEY_BACKSPACE, 1);
	KEY("\0", false, KEY_UNKNOWN, 1);
	KEY("\033[A", false, KEY_UP, 3);
	KEY("\033OB", false, KEY_DOWN, 3);
	KEY("\033[1;5C", false, KEY_RIGHT, 6);
	KEY("\033[5~x", false, KEY_PAGE_UP, 4);
	KEY("\033[6~", false, KEY_PAGE_DOWN, 4);
	KEY("\033[4~", false, KEY_END, 4);
	KEY("\033[Z", false, KEY_BACK_TAB, 3);
	KEY("\033OP", false, KEY_F1, 3);
	KEY("\033[11~", false, KEY_F1, 5);
	KEY("\033[[A", false, KEY_F1, 4);
	KEY("\033[99999999999999999999~", false, KEY_UNKNOWN, 23);
	/* what is not complete yet */
	KEY("\033", false, KEY_NONE, 0);
	KEY("\033", true, KEY_ESCAPE, 1);
	KEY("\033[", false, KEY_NONE, 0);
	KEY("\033[5", false, KEY_NONE, 0);
	KEY("\033[5", true, KEY_UNKNOWN, 3);
	KEY("\033x", false, KEY_ESCAPE, 1);
	KEY("\033[0000000000000000000000000000000", false, KEY_UNKNOWN, 33);
	KEY("\xc3\xa9", false, 0xe9, 2);
	KEY("\xc3", false, KEY_NONE, 0);
	KEY("\xc3", true, KEY_UNKNOWN, 1);
	KEY("\xff", false, KEY_NONE, 0);
	KEY("\xff\xff\xff\xff", false, KEY_UNKNOWN, 1);
}

#define MOUSE(which, y, x)                                                                         \
	key_of_mouse((struct mouse){.button = MOUSE_##which, .row = (y), .column = (x)})

TEST(test_keys_of_the_mouse)
{
	KEY("\033[<0;1;1M", false, MOUSE(LEFT, 0, 0), 9);
	KEY("\033[<2;80;24Mx", false, MOUSE(RIGHT, 23, 79), 11);
	KEY("\033[<64;200;60M", false, MOUSE(WHEEL_UP, 59, 199), 13);
	KEY("\033[<65;3;4M", false, MOUSE(WHEEL_DOWN, 3, 2), 10);
	KEY("\033[<81;3;4M", false, MOUSE(WHEEL_DOWN, 3, 2), 10); /* with Ctrl */
	KEY("\033[<0;3;4m", false, MOUSE(OTHER, 3, 2), 9);	  /* released */
	KEY("\033[<35;3;4M", false, MOUSE(OTHER, 3, 2), 10);	  /* moved */
	KEY("\033[<0;99999999;0M", false, MOUSE(LEFT, 0, KEY_MOUSE_MAX), 16);
	KEY("\033[<0;3M", false, KEY_UNKNOWN, 7);
	KEY("\033[<0;3;4;5M", false, KEY_UNKNOWN, 11);
	KEY("\033[<0;3;4", false, KEY_NONE, 0);
	KEY("\033[M !!", false, MOUSE(LEFT, 0, 0), 6);
	KEY("\033[M`\"#", false, MOUSE(WHEEL_UP, 2, 1), 6);
	KEY("\033[M#!!", false, MOUSE(OTHER, 0, 0), 6);
	KEY("\033[M\1!!", false, KEY_UNKNOWN, 6);
	KEY("\033[M !", false, KEY_NONE, 0);
	assert_true(key_is_mouse(MOUSE(LEFT, 0, 0)) && !key_is_mouse(KEY_UNKNOWN));
}

/* ---- the canvas ---- */

TEST(test_canvas)
{
	struct canvas c = {0}, other = {0};

	assert_true(canvas_init(&c, 3, 10, false));
	assert_int_equal(canvas_add(&c, 0, 0, 10, STYLE_NORMAL, "0123456789abc"), 10);
	assert_int_equal(canvas_add(&c, 1, 2, 6, STYLE_BAR, "x\ty"), 6);
	assert_int_equal(canvas_add(&c, 3, 0, 10, STYLE_NORMAL, "outside"), 0);
	assert_int_equal(canvas_add(&c, 2, 12, 20, STYLE_NORMAL, "outside"), 12);
	check_text(&c, "0123456789\n  x\n\n");
	/* nothing that a terminal understands, or that cannot be seen */
	canvas_fill(&c, 2, 0, 10, STYLE_NORMAL, "a\033[2Jb\x7f\xc2\x9b\xe2\x80\xae\xff");
	check_text(&c, "0123456789\n  x\na?[2Jb????\n");
	/* a wide character is there as a whole or not at all */
	canvas_fill(&c, 1, 0, 10, STYLE_NORMAL, "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad");
	canvas_add(&c, 1, 3, 4, STYLE_NORMAL, "x");
	check_text(&c, "0123456789\n\xe4\xb8\xad x\xe4\xb8\xad\na?[2Jb????\n");
	assert_int_equal(canvas_add(&c, 0, 0, 3, STYLE_NORMAL, "\xe4\xb8\xad\xe4\xb8\xad"), 2);
	assert_true(canvas_init(&other, 3, 10, true));
	assert_false(canvas_row_equal(&c, &other, 0));
	canvas_fill(&other, 0, 0, 10, STYLE_NORMAL, "\xc3\xa9");
	canvas_box(&other, 1, 0, 2, 8, "t");
	check_text(&other, "?\n+-t----+\n+------+\n");
	canvas_deinit(&other);
	canvas_deinit(&c);
}

TEST(test_scroll)
{
	assert_int_equal(scroll_moved(5, -10, 8), 0);
	assert_int_equal(scroll_moved(5, 10, 8), 7);
	assert_int_equal(scroll_moved(5, PTRDIFF_MAX, 8), 7);
	assert_int_equal(scroll_moved(5, 1, 0), 0);
	assert_int_equal(scroll_moved(9, 0, 3), 2);
	assert_int_equal(scroll_first(0, 5, 3, 8), 3);
	assert_int_equal(scroll_first(5, 2, 3, 8), 2);
	assert_int_equal(scroll_first(9, 7, 20, 8), 0);
	assert_int_equal(scroll_first(0, 0, 0, 8), 0);
}

/* ---- the browser ---- */

#define HEAD "Samples: 40 of event 'cycles', Event count (approx.): 2048\n"

TEST(test_fold)
{
	struct world w;

	world_make(&w, 1, 3, false);
	shows(&w, 6, 60,
	      HEAD "  Overhead  Command  Symbol\n"
		   "+   50.00%  alpha    [.] f0\n"
		   "    25.00%  beta     [.] f1\n"
		   "    12.50%  beta     [.] f2\n"
		   "h help  Enter open or menu  a annotate  / filter        1/3\n");
	press(&w, KEY_ENTER);
	press(&w, 'H');
	shows(&w, 6, 60,
	      HEAD "-   50.00%  alpha    [.] f0\n"
		   "   + main\n"
		   "    25.00%  beta     [.] f1\n"
		   "    12.50%  beta     [.] f2\n"
		   "h help  Enter open or menu  a annotate  / filter        1/4\n");
	press(&w, KEY_DOWN);
	press(&w, '+');
	shows(&w, 9, 30,
	      "Samples: 40 of event 'cycles'\n"
	      "-   50.00%  alpha    [.] f0\n"
	      "   - main\n"
	      "     work\n"
	      "        37.50% left\n"
	      "        12.50% right\\x1b]0;x\\x\n"
	      "    25.00%  beta     [.] f1\n"
	      "    12.50%  beta     [.] f2\n"
	      "h help                    2/7\n");
	/* what is open stays open when there are new results, and the row stays chosen */
	press(&w, KEY_DOWN);
	struct results again = {0};
	add_event(&again, "cycles", 4);
	assert_null(browser_set_results(w.b, NULL));
	results_deinit(&w.results);
	w.results = again;
	assert_null(browser_set_results(w.b, &w.results));
	assert_true(seen(&w, " 3/8"));
	assert_string_equal(browser_chosen(w.b).function, "work");
	/* folded away from within, the entry is chosen */
	type(&w, "e");
	assert_true(seen(&w, " 1/4"));
	type(&w, "e");
	assert_true(seen(&w, "12.50% right\\x1b"));
	type(&w, "C");
	assert_true(seen(&w, " 1/4"));
	type(&w, "E");
	assert_true(seen(&w, " 1/8"));
	world_free(&w);
}

/* Where things are is seen on the screen, so it is drawn before each click. */
static void click(struct world *w, uint32_t key)
{
	seen(w, "");
	press(w, key);
}

TEST(test_mouse)
{
	struct world w;

	/* rows begin below two lines: the head and the titles */
	world_make(&w, 1, 30, false);
	click(&w, MOUSE(LEFT, 4, 20));
	assert_int_equal(browser_chosen(w.b).tid, 3);
	click(&w, MOUSE(OTHER, 4, 20)); /* the end of the click */
	assert_int_equal(browser_chosen(w.b).tid, 3);
	click(&w, MOUSE(LEFT, 0, 0)); /* the head, and the last line */
	click(&w, MOUSE(LEFT, 23, 0));
	assert_int_equal(browser_chosen(w.b).tid, 3);
	/* the sign opens a row, another click on its row folds it */
	click(&w, MOUSE(LEFT, 2, 0));
	assert_int_equal(browser_chosen(w.b).tid, 1);
	assert_true(seen(&w, " 1/31") && seen(&w, "   + main"));
	click(&w, MOUSE(LEFT, 3, 3)); /* the sign of main */
	assert_true(seen(&w, "   - main"));
	click(&w, MOUSE(LEFT, 2, 20));
	assert_int_equal(browser_chosen(w.b).tid, 1);
	click(&w, MOUSE(LEFT, 2, 20));
	assert_true(seen(&w, " 1/30"));
	/* the wheel: the cursor stays where it is on the screen */
	click(&w, MOUSE(WHEEL_DOWN, 5, 5));
	assert_int_equal(browser_chosen(w.b).tid, 4);
	assert_false(seen(&w, "[.] f2\n"));
	click(&w, MOUSE(WHEEL_UP, 5, 5));
	assert_int_equal(browser_chosen(w.b).tid, 1);
	for (int i = 0; i < 20; i++)
		click(&w, MOUSE(WHEEL_DOWN, 5, 5));
	assert_true(seen(&w, " 30/30"));
	/* a menu is left by a click beside it */
	click(&w, MOUSE(RIGHT, 10, 20));
	assert_true(seen(&w, "Zoom into "));
	click(&w, MOUSE(LEFT, 0, 0));
	assert_false(seen(&w, "Zoom into "));
	type(&w, "M");
	assert_int_equal(w.wish, BROWSER_MOUSE);
	/* where nothing is drawn yet, and where there are no rows */
	world_free(&w);
	world_make(&w, 1, 0, false);
	press(&w, MOUSE(LEFT, 0, 0));
	click(&w, MOUSE(LEFT, 2, 0));
	click(&w, MOUSE(WHEEL_DOWN, 2, 0));
	click(&w, MOUSE(RIGHT, KEY_MOUSE_MAX, KEY_MOUSE_MAX));
	world_free(&w);
}

TEST(test_move)
{
	struct world w;

	world_make(&w, 1, 30, false);
	press(&w, KEY_END);
	shows(&w, 5, 40,
	      "Samples: 40 of event 'cycles'\n"
	      "  Overhead  Command  Symbol\n"
	      "     0.05%  beta     [.] f28\n"
	      "     0.05%  beta     [.] f29\n"
	      "h help  Enter open or menu        30/30\n");
	press(&w, KEY_PAGE_UP);
	assert_int_equal(browser_chosen(w.b).tid, 28);
	press(&w, KEY_HOME);
	press(&w, KEY_PAGE_DOWN);
	press(&w, KEY_DOWN);
	press(&w, KEY_UP);
	press(&w, KEY_UP);
	press(&w, KEY_UNKNOWN);
	assert_int_equal(browser_chosen(w.b).tid, 2);
	/* any size */
	for (size_t rows = 1; rows < 8; rows++)
		for (size_t width = 1; width < 90; width++) {
			struct canvas canvas = {0};

			assert_true(canvas_init(&canvas, rows, width, rows & 1));
			assert_null(browser_draw(w.b, &canvas));
			press(&w, width % 3 ? 'm' : width % 2 ? '/' : 'h');
			assert_null(browser_draw(w.b, &canvas));
			press(&w, KEY_ESCAPE);
			canvas_deinit(&canvas);
		}
	world_free(&w);
}

TEST(test_zoom)
{
	struct world w;
	struct browser_view *view;

	world_make(&w, 1, 3, false);
	view = browser_view(w.b);
	press(&w, KEY_DOWN);
	press(&w, 't');
	assert_int_equal(w.wish, BROWSER_VIEW);
	assert_string_equal(view->comm, "beta");
	assert_true(seen(&w, "Thread: beta"));
	press(&w, 'd');
	assert_string_equal(view->dso, "/bin/x");
	/* what the command could not do is undone */
	browser_undo(w.b);
	assert_null(view->dso);
	press(&w, 'd');
	type(&w, "/f");
	assert_int_equal(w.wish, BROWSER_NOTHING);
	press(&w, 'x');
	press(&w, 0xe9);
	press(&w, KEY_BACKSPACE);
	press(&w, KEY_BACKSPACE);
	press(&w, '1');
	assert_true(seen(&w, "f1 "));
	press(&w, KEY_ENTER);
	assert_int_equal(w.wish, BROWSER_VIEW);
	assert_string_equal(view->filter, "f1");
	/* the last one first */
	press(&w, KEY_ESCAPE);
	assert_null(view->filter);
	assert_string_equal(view->dso, "/bin/x");
	press(&w, 't');
	assert_null(view->comm);
	press(&w, KEY_LEFT);
	assert_null(view->dso);
	press(&w, KEY_LEFT);
	assert_int_equal(w.wish, BROWSER_NOTHING);
	press(&w, 'S');
	assert_true(seen(&w, "sort by socket first"));
	press(&w, 'i');
	assert_int_equal(w.wish, BROWSER_HEADER);
	assert_null(browser_show_text(w.b, "The recording", "# arch : x\033[2J\n# last\n"));
	shows(&w, 4, 30,
	      "The recording\n# arch : x\\x1b[2J\n# last\nq back  / search  n next  1/2\n");
	press(&w, KEY_ESCAPE);
	press(&w, 'k');
	assert_string_equal(view->dso, "[kernel.kallsyms]");
	press(&w, KEY_ESCAPE);
	press(&w, 'K');
	press(&w, 'U');
	assert_true(view->no_user && !view->no_kernel);
	type(&w, "L3x");
	press(&w, KEY_ENTER);
	assert_int_equal(w.wish, BROWSER_NOTHING);
	assert_true(seen(&w, "'3x' is not a percentage"));
	type(&w, "L3");
	press(&w, KEY_ENTER);
	assert_int_equal(w.wish, BROWSER_VIEW);
	assert_true(view->least_percent == 3);
	press(&w, KEY_ESCAPE);
	assert_true(seen(&w, "| Do you really want to exit? (y/n) |"));
	shows(&w, 5, 20,
	      "Samples: 40 of even~\n"
	      "  Overhead  Command>\n"
	      "+   50.00%  alpha\n"
	      "Do you really want\n"
	      "to exit? (y/n)\n");
	press(&w, 'n');
	assert_int_equal(w.wish, BROWSER_NOTHING);
	press(&w, KEY_ESCAPE);
	press(&w, 'y');
	assert_int_equal(w.wish, BROWSER_QUIT);
	world_free(&w);
}

TEST(test_messages)
{
	struct world w;

	world_make(&w, 1, 3, false);
	assert_null(browser_say(w.b, "cannot show f: no file /x/y of build-id 0123456789abcdef"));
	shows(&w, 8, 34,
	      "Samples: 40 of event 'cycles'\n"
	      "  O+--------------------------+\n"
	      "+  | cannot show f: no file   |\n"
	      "   | /x/y of build-id         |\n"
	      "   | 0123456789abcdef         |\n"
	      "   +--------------------------+\n"
	      "\n"
	      "h help  Enter open or menu    1/3\n");
	press(&w, KEY_DOWN);
	assert_false(seen(&w, "cannot show"));
	assert_null(browser_say(w.b, "0123456789012345678901234567890123456789"));
	shows(&w, 9, 18,
	      "Samples: 40 of ev~\n"
	      "  O+----------+ma>\n"
	      "+  | 01234567 |ha\n"
	      "   | 89012345 |a\n"
	      "   | 67890123 |a\n"
	      "   | 45678901 |\n"
	      "   | 23456789 |\n"
	      "   +----------+\n"
	      "h help        2/3\n");
	/* where a box has no room for it, it has the whole screen, in reverse */
	shows(&w, 5, 18,
	      "Samples: 40 of ev~\n"
	      "  Overhead  Comma>\n"
	      "012345678901234567\n"
	      "890123456789012345\n"
	      "6789\n");
	shows(&w, 2, 9,
	      "012345678\n"
	      "901234567\n");
	world_free(&w);
}

/* A number that is cut would be another number: the last one is left out where it has no room. */
TEST(test_first_line)
{
	struct world w;

	world_make(&w, 1, 1, false);
	shows(&w, 3, 58,
	      "Samples: 40 of event 'cycles', Event count (approx.): 2048\n"
	      "  Overhead  Command  Symbol\n"
	      "h help  Enter open or menu  a annotate  / filter      1/1\n");
	shows(&w, 3, 57,
	      "Samples: 40 of event 'cycles'\n"
	      "  Overhead  Command  Symbol\n"
	      "h help  Enter open or menu  a annotate  / filter     1/1\n");
	shows(&w, 3, 11,
	      "Samples: 4~\n"
	      "  Overhead>\n"
	      "h help 1/1\n");
	world_free(&w);
}

/* A table of n texts, the last of them symbols, in place of the event's. */
static void set_texts(struct world *w, const struct result_column *c, size_t n, const char **texts)
{
	struct result_table *t = &w->results.v[0].table;
	struct result_cell *cells = arena_alloc(&w->results.arena, t->n_rows * n * sizeof(*cells));

	for (size_t i = 0; i < t->n_rows; i++) {
		cells[i * n] = t->cells[i * 3];
		for (size_t k = 1; k < n; k++)
			cells[i * n + k] = cell_of_text(texts[k - 1]);
	}
	t->columns = c;
	t->n_columns = n;
	t->cells = cells;
	assert_null(browser_set_results(w->b, &w->results));
}

/* Columns to the right of the screen: the first one stays, and nothing moves where all fits. */
TEST(test_scroll_columns)
{
	static const struct result_column wide[] = {
		{.name = "overhead", .style = COLUMN_SHARE, .title = "Overhead"},
		{.name = "comm", .is_key = true, .style = COLUMN_NAME, .title = "Command"},
		{.name = "dso", .is_key = true, .style = COLUMN_NAME, .title = "Shared Object"},
		{.name = "symbol", .is_key = true, .style = COLUMN_NAME, .title = "Symbol"},
	};
	const char *texts[] = {"loader", "bpf_prog_6deef7357e7b4530_name",
			       "bpf_prog_name_that_is_long"};
	struct world w;

	world_make(&w, 1, 2, false);
	set_texts(&w, wide, 4, texts);
	shows(&w, 5, 50,
	      "Samples: 40 of event 'cycles'\n"
	      "  Overhead  Command  Shared Object               >\n"
	      "+   50.00%  loader   bpf_prog_6deef7357e7b4530_nam\n"
	      "    25.00%  loader   bpf_prog_6deef7357e7b4530_nam\n"
	      "h help  Enter open or menu  Right scroll      1/2\n");
	press(&w, KEY_RIGHT);
	shows(&w, 5, 50,
	      "Samples: 40 of event 'cycles'\n"
	      "  Overhead  Shared Object                   Symbo>\n"
	      "+   50.00%  bpf_prog_6deef7357e7b4530_name  bpf_pr\n"
	      "    25.00%  bpf_prog_6deef7357e7b4530_name  bpf_pr\n"
	      "h help  Enter open or menu  Right scroll      1/2\n");
	/* the chosen row's call chain ends before the end of the screen, and stays where it is */
	press(&w, KEY_ENTER);
	press(&w, KEY_RIGHT);
	shows(&w, 6, 50,
	      "Samples: 40 of event 'cycles'\n"
	      "  Overhead  Symbol\n"
	      "-   50.00%  bpf_prog_name_that_is_long\n"
	      "   + main\n"
	      "    25.00%  bpf_prog_name_that_is_long\n"
	      "h help  Enter open or menu  a annotate        1/3\n");
	/* the sign of an open row is where it was, for the mouse too */
	press(&w, MOUSE(LEFT, 2, 0));
	press(&w, KEY_RIGHT); /* there is nothing more */
	shows(&w, 4, 50,
	      "Samples: 40 of event 'cycles'\n"
	      "  Overhead  Symbol\n"
	      "+   50.00%  bpf_prog_name_that_is_long\n"
	      "h help  Enter open or menu  a annotate        1/2\n");
	/* a name that is wider than the screen */
	shows(&w, 4, 28,
	      "Samples: 40 of event 'cycle~\n"
	      "  Overhead  Symbol         >\n"
	      "+   50.00%  bpf_prog_name_th\n"
	      "h help                  1/2\n");
	press(&w, KEY_RIGHT);
	shows(&w, 4, 28,
	      "Samples: 40 of event 'cycle~\n"
	      "  Overhead\n"
	      "+   50.00%  ame_that_is_long\n"
	      "h help                  1/2\n");
	/* a larger screen has all of it, and keys do there what they do without scrolling */
	assert_true(seen(&w, "  Overhead  Command  Shared Object                   Symbol\n") ||
		    seen(&w, "  Overhead  Command  Shared Object"));
	shows(&w, 4, 120,
	      "Samples: 40 of event 'cycles', Event count (approx.): 2048\n"
	      "  Overhead  Command  Shared Object                   Symbol\n"
	      "+   50.00%  loader   bpf_prog_6deef7357e7b4530_name  bpf_prog_name_that_is_long\n"
	      "h help  Enter open or menu  a annotate  / filter  q quit"
	      "                                                            1/2\n");
	press(&w, KEY_RIGHT);
	assert_true(seen(&w, "Fold") || seen(&w, "Open"));
	press(&w, KEY_ESCAPE);
	/* back, column by column, and out of what was zoomed into */
	press(&w, 'd');
	for (size_t i = 0; i < 3; i++) {
		shows(&w, 4, 28,
		      i == 0   ? "Samples: 40 of event 'cycle~\n"
				 "  Overhead\n"
				 "+   50.00%  ame_that_is_long\n"
				 "h help                  1/2\n"
		      : i == 1 ? "Samples: 40 of event 'cycle~\n"
				 "  Overhead  Symbol         >\n"
				 "+   50.00%  bpf_prog_name_th\n"
				 "h help                  1/2\n"
			       : "Samples: 40 of event 'cycle~\n"
				 "  Overhead  Shared Object  >\n"
				 "+   50.00%  bpf_prog_6deef73\n"
				 "h help                  1/2\n");
		press(&w, KEY_LEFT);
		assert_int_equal(w.wish, BROWSER_NOTHING);
	}
	shows(&w, 4, 28,
	      "Samples: 40 of event 'cycle~\n"
	      "  Overhead  Command  Shared>\n"
	      "+   50.00%  loader   bpf_pro\n"
	      "h help                  1/2\n");
	/* keys that arrive together, before the next drawing */
	press(&w, KEY_RIGHT);
	press(&w, KEY_RIGHT);
	assert_true(seen(&w, "  Overhead  Command")); /* all fit */
	shows(&w, 4, 28,
	      "Samples: 40 of event 'cycle~\n"
	      "  Overhead  Symbol         >\n"
	      "+   50.00%  bpf_prog_name_th\n"
	      "h help                  1/2\n");
	press(&w, KEY_LEFT);
	press(&w, KEY_LEFT);
	assert_int_equal(w.wish, BROWSER_NOTHING);
	assert_non_null(browser_view(w.b)->dso);
	press(&w, KEY_LEFT);
	assert_int_equal(w.wish, BROWSER_VIEW);
	assert_null(browser_view(w.b)->dso);
	world_free(&w);
}

/* A long name makes its column wide only where it is on the screen, if there is little room. */
TEST(test_fit_columns)
{
	static const struct result_column wide[] = {
		{.name = "overhead", .style = COLUMN_SHARE, .title = "Overhead"},
		{.name = "dso", .is_key = true, .style = COLUMN_NAME, .title = "DSO"},
		{.name = "symbol", .is_key = true, .style = COLUMN_NAME, .title = "Symbol"},
	};
	const char *texts[] = {"libc.so", "memcpy_avx_unaligned"};
	struct world w;

	world_make(&w, 1, 4, false);
	set_texts(&w, wide, 3, texts);
	w.results.v[0].table.cells[3 * 3 + 1] = cell_of_text("bpf_prog_6deef7357e7b4530_name");
	assert_null(browser_set_results(w.b, &w.results));
	shows(&w, 5, 50,
	      "Samples: 40 of event 'cycles'\n"
	      "  Overhead  DSO      Symbol\n"
	      "+   50.00%  libc.so  memcpy_avx_unaligned\n"
	      "    25.00%  libc.so  memcpy_avx_unaligned\n"
	      "h help  Enter open or menu  a annotate        1/4\n");
	press(&w, KEY_END);
	shows(&w, 5, 50,
	      "Samples: 40 of event 'cycles'\n"
	      "  Overhead  DSO                             Symbo>\n"
	      "    12.50%  libc.so                         memcpy\n"
	      "     6.25%  bpf_prog_6deef7357e7b4530_name  memcpy\n"
	      "h help  Enter open or menu  Right scroll      4/4\n");
	/* all rows are printed as they are */
	press(&w, KEY_HOME);
	shows(&w, 4, 50,
	      "Samples: 40 of event 'cycles'\n"
	      "  Overhead  DSO      Symbol\n"
	      "+   50.00%  libc.so  memcpy_avx_unaligned\n"
	      "h help  Enter open or menu  a annotate        1/4\n");
	struct strbuf sb = STRBUF_INIT;
	assert_null(browser_text(w.b, &sb));
	assert_non_null(
		strstr(strbuf_str(&sb),
		       "     6.25%  bpf_prog_6deef7357e7b4530_name  memcpy_avx_unaligned\n"));
	strbuf_deinit(&sb);
	/* a large screen has room for it, so that nothing moves when rows do */
	press(&w, KEY_HOME);
	assert_true(seen(&w, "+   50.00%  libc.so                         memcpy_avx_unaligned\n"));
	world_free(&w);
}

/* A column that is as wide as its names on the screen has all their bytes, of which are more. */
TEST(test_fit_wide_names)
{
	static const struct result_column wide[] = {
		{.name = "overhead", .style = COLUMN_SHARE, .title = "Overhead"},
		{.name = "dso", .is_key = true, .style = COLUMN_NAME, .title = "DSO"},
		{.name = "symbol", .is_key = true, .style = COLUMN_NAME, .title = "Symbol"},
	};
	const char *texts[] = {"\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad.so",
			       "memcpy_avx_unaligned"};
	struct canvas canvas = {0};
	struct world w;

	world_make(&w, 1, 1, false);
	set_texts(&w, wide, 3, texts);
	assert_true(canvas_init(&canvas, 4, 46, false));
	assert_null(browser_draw(w.b, &canvas));
	check_text(&canvas, "Samples: 40 of event 'cycles'\n"
			    "  Overhead  DSO          Symbol\n"
			    "+   50.00%  \xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad.so"
			    "  memcpy_avx_unaligned\n"
			    "h help  Enter open or menu  a annotate    1/1\n");
	canvas_deinit(&canvas);
	world_free(&w);
}

/* Names of two columns a character are cut as wholes. */
TEST(test_scroll_wide_names)
{
	static const struct result_column wide[] = {
		{.name = "overhead", .style = COLUMN_SHARE, .title = "Overhead"},
		{.name = "symbol", .is_key = true, .style = COLUMN_NAME, .title = "Symbol"},
	};
	const char *texts[] = {"x\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad"
			       "\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad"};
	struct canvas canvas = {0};
	struct world w;

	world_make(&w, 1, 1, false);
	set_texts(&w, wide, 2, texts);
	assert_true(canvas_init(&canvas, 4, 22, false));
	assert_null(browser_draw(w.b, &canvas));
	check_text(&canvas, "Samples: 40 of event …\n"
			    "  Overhead  Symbol   >\n"
			    "+   50.00%  x\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\n"
			    "h help            1/1\n");
	press(&w, KEY_RIGHT);
	assert_null(browser_draw(w.b, &canvas));
	check_text(&canvas, "Samples: 40 of event …\n"
			    "  Overhead\n"
			    "+   50.00%   \xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad\n"
			    "h help            1/1\n");
	canvas_deinit(&canvas);
	world_free(&w);
}

/* Keys of perf's browser: DSOs of frames, the event of a group to sort by, scripts. */
TEST(test_other_keys_of_perf)
{
	static const struct result_member members[3] = {{0}};
	struct world w;

	world_make(&w, 1, 2, false);
	type(&w, "E");
	assert_false(seen(&w, "main x\n"));
	type(&w, "V");
	assert_true(seen(&w, "main x\n"));
	assert_true(seen(&w, "37.50% left x\n"));
	assert_true(seen(&w, "\\x07 y\n"));
	type(&w, "V");
	assert_false(seen(&w, "main x\n"));
	type(&w, "r");
	assert_true(seen(&w, "perf-bpf script -i RECORDING -s SCRIPT.py"));
	type(&w, "1");
	assert_int_equal(w.wish, BROWSER_NOTHING);
	assert_true(seen(&w, "Only the events of a group"));
	assert_false(browser_view(w.b)->has_group_sort);
	struct result_profile p = *w.results.v[0].table.profile;
	p.members = members;
	p.n_members = 3;
	w.results.v[0].table.profile = &p;
	type(&w, "3");
	assert_true(seen(&w, "The group has the events 0 to 2"));
	assert_int_equal(w.wish, BROWSER_NOTHING);
	type(&w, "2");
	assert_int_equal(w.wish, BROWSER_VIEW);
	assert_true(browser_view(w.b)->has_group_sort);
	assert_int_equal(browser_view(w.b)->group_sort, 2);
	type(&w, "0");
	assert_int_equal(browser_view(w.b)->group_sort, 0);
	world_free(&w);
}

/* By a key whose cells are numbers. */
TEST(test_zoom_into_a_socket)
{
	static const struct result_column by_socket[] = {
		{.name = "overhead", .style = COLUMN_SHARE, .title = "Overhead"},
		{.name = "socket", .is_key = true, .style = COLUMN_RIGHT, .title = "Socket"},
		{.name = "symbol", .is_key = true, .style = COLUMN_PLAIN, .title = "Symbol"},
	};
	struct world w;

	world_make(&w, 1, 2, false);
	struct result_table *t = &w.results.v[0].table;
	struct result_cell cells[6];
	memcpy(cells, t->cells, sizeof(cells));
	for (size_t i = 0; i < 2; i++)
		cells[i * 3 + 1] = (struct result_cell){
			.kind = CELL_TEXT, .text = i ? "001" : "000", .i = (int64_t)i};
	memcpy(t->cells, cells, sizeof(cells));
	t->columns = by_socket;
	assert_null(browser_set_results(w.b, &w.results));
	press(&w, 'S');
	assert_int_equal(w.wish, BROWSER_VIEW);
	assert_true(browser_view(w.b)->has_socket);
	assert_int_equal(browser_view(w.b)->socket, 0);
	assert_true(seen(&w, "Socket: 0"));
	press(&w, 'S');
	assert_false(browser_view(w.b)->has_socket);
	press(&w, KEY_DOWN);
	press(&w, 'S');
	assert_int_equal(browser_view(w.b)->socket, 1);
	press(&w, KEY_ESCAPE);
	assert_int_equal(w.wish, BROWSER_VIEW);
	assert_false(browser_view(w.b)->has_socket);
	world_free(&w);
}

/* What is printed has rows as long as their names. */
TEST(test_print_long_names)
{
	static const struct result_column wide[] = {
		{.name = "overhead", .style = COLUMN_SHARE, .title = "Overhead"},
		{.name = "dso", .is_key = true, .style = COLUMN_NAME, .title = "DSO"},
		{.name = "symbol", .is_key = true, .style = COLUMN_NAME, .title = "Symbol"},
	};
	static char name[5000], expected[11000];
	const char *texts[] = {"libx.so", name};
	struct strbuf sb = STRBUF_INIT;
	struct world w;

	memset(name, 'n', sizeof(name) - 2);
	name[sizeof(name) - 2] = 'E';
	world_make(&w, 1, 2, false);
	set_texts(&w, wide, 3, texts);
	/* a DSO's column that is wider than a screen, with blanks after a short name */
	w.results.v[0].table.cells[1 * 3 + 1] = cell_of_text(name);
	assert_null(browser_set_results(w.b, &w.results));
	assert_null(browser_text(w.b, &sb));
	snprintf(expected, sizeof(expected), "    25.00%%  %s  %s\n", name, name);
	assert_non_null(strstr(strbuf_str(&sb), expected));
	snprintf(expected, sizeof(expected), "+   50.00%%  %-4999s  %s\n", "libx.so", name);
	assert_non_null(strstr(strbuf_str(&sb), expected));
	strbuf_deinit(&sb);
	world_free(&w);
}

/* How what is at a place of the screen looks. */
static enum canvas_style style_at(struct world *w, size_t row, size_t column)
{
	struct canvas canvas = {0};

	assert_true(canvas_init(&canvas, 24, 80, true));
	assert_null(browser_draw(w->b, &canvas));
	const enum canvas_style style = canvas_row(&canvas, row)[column].style;
	canvas_deinit(&canvas);
	return style;
}

/* As perf, each share has the color of its size, wherever its column is. */
TEST(test_colors_of_shares)
{
	static const struct result_column shares[] = {
		{.name = "children", .style = COLUMN_SHARE, .title = "Children"},
		{.name = "symbol", .is_key = true, .style = COLUMN_NAME, .title = "Symbol"},
		{.name = "overhead", .style = COLUMN_SHARE, .title = "Self"},
	};
	struct world w;

	world_make(&w, 1, 3, false);
	struct result_table *t = &w.results.v[0].table;
	for (size_t i = 0; i < 3; i++) { /* of 2048: 50%, 25%, 12.5%, and of them itself less */
		t->cells[i * 3 + 1] = cell_of_text("f");
		t->cells[i * 3 + 2] = cell_of_number(i == 1 ? 20 : 1);
	}
	t->columns = shares;
	assert_null(browser_set_results(w.b, &w.results));
	assert_true(seen(&w, "    25.00%  f          0.98%\n"));
	assert_int_equal(style_at(&w, 2, 7), STYLE_CURSOR);
	assert_int_equal(style_at(&w, 3, 7), STYLE_HOT);
	assert_int_equal(style_at(&w, 3, 12), STYLE_NORMAL);
	assert_int_equal(style_at(&w, 3, 24), STYLE_WARM);
	assert_int_equal(style_at(&w, 4, 7), STYLE_HOT);
	assert_int_equal(style_at(&w, 4, 24), STYLE_NORMAL);
	world_free(&w);
}

/* Boxes are in reverse as the cursor of a table is: what is chosen in them is not. */
TEST(test_what_is_chosen_in_a_box)
{
	struct world w;

	world_make(&w, 2, 3, false); /* with the menu of events */
	assert_true(seen(&w, "40  cycles"));
	assert_int_equal(style_at(&w, 11, 40), STYLE_CHOSEN);
	assert_int_equal(style_at(&w, 12, 40), STYLE_FRAME);
	press(&w, KEY_DOWN);
	assert_int_equal(style_at(&w, 11, 40), STYLE_FRAME);
	assert_int_equal(style_at(&w, 12, 40), STYLE_CHOSEN);
	press(&w, KEY_ENTER);
	assert_int_equal(style_at(&w, 2, 40), STYLE_CURSOR);
	/* the place where a letter comes next */
	type(&w, "/ab");
	assert_true(seen(&w, "| ab  "));
	assert_int_equal(style_at(&w, 11, 16), STYLE_FRAME);
	assert_int_equal(style_at(&w, 11, 17), STYLE_CHOSEN);
	assert_int_equal(style_at(&w, 11, 18), STYLE_FRAME);
	world_free(&w);
}

/* Of a long name the end is left out, not what follows it. */
TEST(test_long_names_in_menus)
{
	struct world w;

	world_make(&w, 1, 1, false);
	((struct result_sum *)w.results.v[0].table.profile->rows)->function =
		"std::panicking::catch_unwind<isize, std::rt::lang_start_internal>";
	press(&w, 'm');
	shows(&w, 10, 50,
	      "Samples: 40 of event 'cycles'\n"
	      " +----------------------------------------------+\n"
	      "+| Annotate std::panicking::catch_unwind<isize~ |\n"
	      " | Zoom into alpha thread                       |\n"
	      " | Zoom into /bin/x DSO                         |\n"
	      " | Zoom into std::panicking::catch_unwi~ symbol |\n"
	      " | Open                                         |\n"
	      " | Sort by...                                   |\n"
	      " +----------------------------------------------+\n"
	      "h help  Enter open or menu  a annotate        1/1\n");
	assert_true(seen(
		&w,
		"| Zoom into std::panicking::catch_unwind<isize, std::rt::lang_start_~ symbol |"));
	world_free(&w);
}

/* Lines of a header can be wider than the screen. */
TEST(test_scroll_text)
{
	struct world w;

	world_make(&w, 1, 3, false);
	assert_null(browser_show_text(w.b, "The recording", "# cpu 0123456789abc end\n# x\n"));
	shows(&w, 4, 16,
	      "The recording\n"
	      "# cpu 012345678>\n"
	      "# x\n"
	      "q back      1/2\n");
	/* not further than to the end of the widest line */
	press(&w, KEY_RIGHT);
	press(&w, KEY_RIGHT);
	shows(&w, 4, 16,
	      "The recording\n"
	      "123456789abc end\n"
	      "\n"
	      "q back      1/2\n");
	press(&w, KEY_LEFT);
	assert_true(seen(&w, "\n# cpu 0123456789abc end\n"));
	press(&w, KEY_RIGHT);
	assert_true(seen(&w, "\n# cpu 0123456789abc end\n"));
	press(&w, KEY_LEFT);
	assert_true(seen(&w, "of event 'cycles'"));
	world_free(&w);
}

TEST(test_menus)
{
	struct world w;

	world_make(&w, 2, 3, false);
	assert_true(seen(&w, "| faults") || seen(&w, "40  faults"));
	press(&w, KEY_DOWN);
	press(&w, KEY_ENTER);
	assert_true(seen(&w, "of event 'faults'"));
	press(&w, KEY_TAB);
	assert_true(seen(&w, "of event 'cycles'"));
	press(&w, KEY_BACK_TAB);
	assert_int_equal(browser_chosen(w.b).event, 1);
	press(&w, KEY_DOWN);
	press(&w, KEY_ENTER); /* a row without more in it */
	assert_true(seen(&w, "Annotate f1"));
	press(&w, KEY_ENTER);
	assert_int_equal(w.wish, BROWSER_ANNOTATE);
	press(&w, 's');
	press(&w, KEY_DOWN);
	press(&w, KEY_DOWN);
	press(&w, KEY_ENTER);
	assert_int_equal(w.wish, BROWSER_VIEW);
	assert_string_equal(browser_view(w.b)->sort, "symbol");
	press(&w, 's');
	press(&w, KEY_END);
	press(&w, KEY_ENTER);
	type(&w, "cpu");
	press(&w, KEY_ENTER);
	assert_string_equal(browser_view(w.b)->sort, "cpu");
	press(&w, 'm');
	press(&w, 'q');
	assert_int_equal(w.wish, BROWSER_NOTHING);
	press(&w, '?');
	assert_true(seen(&w, "perf-bpf report: keys"));
	assert_false(seen(&w, "pause"));
	press(&w, 'q');
	press(&w, 'p');
	assert_false(browser_view(w.b)->frozen);
	press(&w, 'P');
	assert_int_equal(w.wish, BROWSER_PRINT);
	struct strbuf sb = STRBUF_INIT;
	assert_null(browser_text(w.b, &sb));
	assert_non_null(strstr(strbuf_str(&sb), "\n    25.00%  beta     [.] f1\n"));
	strbuf_deinit(&sb);
	press(&w, 'q');
	assert_int_equal(w.wish, BROWSER_QUIT);
	world_free(&w);
}

TEST(test_live)
{
	struct world w;

	world_make(&w, 1, 3, true);
	press(&w, 'z');
	assert_true(browser_view(w.b)->zero && w.wish == BROWSER_VIEW);
	press(&w, 'p');
	assert_true(seen(&w, "[paused]"));
	type(&w, "D0.5");
	press(&w, KEY_ENTER);
	assert_int_equal(browser_view(w.b)->delay_ms, 500);
	type(&w, "f7");
	press(&w, KEY_ENTER);
	assert_int_equal(browser_view(w.b)->least_samples, 7);
	assert_null(browser_set_status(w.b, "lost: 3"));
	assert_true(seen(&w, "lost: 3"));
	world_free(&w);
	/* no samples yet */
	world_make(&w, 0, 0, true);
	assert_true(seen(&w, "No samples"));
	type(&w, "tdae+EC/x\rsm");
	press(&w, KEY_ESCAPE);
	world_free(&w);
	world_make(&w, 1, 0, true);
	type(&w, "tdae+ECm");
	press(&w, KEY_END);
	assert_true(seen(&w, "of event 'cycles'"));
	assert_true(seen(&w, "  No rows\n"));
	world_free(&w);
}
