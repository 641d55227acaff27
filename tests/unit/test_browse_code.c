// SPDX-License-Identifier: BSD-2-Clause
/* browse/: a function with its instructions, and its keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "browse/browser.h"
#include "lib/base/vec.h"
#include "tests/unit/browse_world.h"

/* A function at 0x1000 with a loop, a call, and a line of BPF; the caller frees the lines. */
static void make_code(struct annotation *a)
{
	static const struct annotation_event events[] = {{"cycles", {10, 100}, {20, 200}},
							 {"faults", {0, 0}, {5, 5}}};
	static const struct annotation_count hot[] = {{8, 80}, {0, 0}}, warm[] = {{2, 20}, {0, 0}};
	static const struct annotation_line lines[] = {
		{.kind = ANNOTATION_SOURCE, .text = "f\033[2J()"},
		{.kind = ANNOTATION_SOURCE, .text = "\tfor (;;)", .number = 12},
		{.kind = ANNOTATION_BPF, .text = "(b7) r0 = 0", .number = 3},
		{.text = "pushq  %rbp", .address = 0x1000, .operands = 7, .place = "/s/f.c:12"},
		{.text = "addq   $1, %rax", .address = 0x1004, .operands = 7, .counts = hot},
		{.text = "callq  0x2000 <other>",
		 .address = 0x1008,
		 .operands = 7,
		 .flow = FLOW_CALL,
		 .has_target = true,
		 .target = 0x2000,
		 .called = "other"},
		{.text = "jne    0x1004 <f+0x4>",
		 .address = 0x100c,
		 .operands = 7,
		 .flow = FLOW_JUMP,
		 .has_target = true,
		 .target = 0x1004,
		 .counts = warm},
		{.text = "jmpq   *%rax", .address = 0x100e, .operands = 7, .flow = FLOW_JUMP},
		{.text = "retq", .address = 0x1010, .flow = FLOW_RETURN},
	};

	*a = (struct annotation){.symbol = "f\033[2J",
				 .dso = "/bin/x",
				 .event = "cycles",
				 .events = events,
				 .n_events = 1,
				 .address = 0x1000};
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		*vec_push(&a->lines) = lines[i];
}

static void show_code(struct world *w)
{
	struct annotation a;

	make_code(&a);
	assert_null(browser_show_annotation(w->b, &a));
	annotation_deinit(&a);
}

#define CODE_HEAD  "f\\x1b[2J  /bin/x  [Percent: local period]  10 samples\n"
#define CODE_TITLE " Percent | Source code & Disassembly of x for cycles\n"

TEST(test_code)
{
	struct world w;

	world_make(&w, 1, 3, false);
	show_code(&w);
	/* the cursor is on the hottest line, and the arrow is that of the loop around it */
	shows(&w, 12, 60,
	      CODE_HEAD CODE_TITLE "         |         f\\x1b[2J()\n"
				   "         |   12            for (;;)\n"
				   "         |   3:    (b7) r0 = 0\n"
				   "         |           pushq  %rbp\n"
				   "   80.00 |   4: +->  addq   $1, %rax\n"
				   "         |      |  > callq  other\n"
				   "   20.00 |      +--^ jne    4\n"
				   "         |           jmpq   *%rax\n"
				   "         |         < retq\n"
				   "h help  Enter follow  Tab hottest  s source  / search   5/9\n");
	/* hotter and cooler lines */
	press(&w, KEY_TAB);
	assert_true(seen(&w, " 7/9"));
	press(&w, KEY_TAB);
	assert_true(seen(&w, " 5/9"));
	press(&w, KEY_BACK_TAB);
	assert_true(seen(&w, " 7/9"));
	press(&w, KEY_BACK_TAB);
	press(&w, KEY_HOME);
	press(&w, KEY_TAB);
	assert_true(seen(&w, " 5/9"));
	press(&w, KEY_END);
	press(&w, 'H');
	assert_true(seen(&w, " 5/9"));
	/* a jump is followed */
	press(&w, KEY_TAB);
	press(&w, KEY_ENTER);
	assert_true(seen(&w, " 5/9"));
	press(&w, KEY_END);
	press(&w, KEY_UP);
	press(&w, KEY_ENTER);
	assert_true(seen(&w, "Where it goes is known only when it runs"));
	press(&w, KEY_HOME);
	press(&w, KEY_ENTER);
	assert_true(seen(&w, "Enter follows jumps, calls and returns"));
	world_free(&w);
}

/* A long name is cut, not what is behind it. */
TEST(test_long_names)
{
	struct annotation a;
	struct world w;

	world_make(&w, 1, 3, false);
	make_code(&a);
	a.symbol = "std::map<int, long>::find(int const&) const";
	a.dso = "/usr/lib/x86_64-linux-gnu/libserver.so.1";
	assert_null(browser_show_annotation(w.b, &a));
	annotation_deinit(&a);
	assert_true(seen(&w, "std::map<int, long>::find(~  libserver.so.1"
			     "  [Percent: local period]  10 samples\n"));
	/* with room for all of it, and for little */
	shows(&w, 3, 130,
	      "std::map<int, long>::find(int const&) const  "
	      "/usr/lib/x86_64-linux-gnu/libserver.so.1"
	      "  [Percent: local period]  10 samples\n"
	      " Percent | Source code & Disassembly of libserver.so.1 for cycles\n"
	      "h help  Enter follow  Tab hottest  s source  / search  q back"
	      "                                                                 5/9\n");
	shows(&w, 3, 50,
	      "std::map<int~  [Percent: local period]  10 samples\n"
	      " Percent | Source code & Disassembly of libserver.\n"
	      "h help  Enter follow  Tab hottest  s source   5/9\n");
	shows(&w, 3, 20,
	      "std::map<int~  [Per~\n"
	      " Percent | Source co\n"
	      "h help          5/9\n");
	world_free(&w);
}

/* Two events, in columns that are narrower than a name. */
TEST(test_names_of_events)
{
	struct annotation a;
	struct world w;

	world_make(&w, 1, 3, false);
	make_code(&a);
	struct annotation_event events[] = {a.events[0], a.events[1]};
	events[0].name = "cpu-clock";
	a.events = events;
	a.n_events = 2;
	assert_null(browser_show_annotation(w.b, &a));
	annotation_deinit(&a);
	assert_true(seen(&w, "\n cpu-cl~  faults | Source code"));
	world_free(&w);
}

TEST(test_print_long_lines)
{
	static char text[3000], expected[3100];
	struct strbuf sb = STRBUF_INIT;
	struct annotation a;
	struct world w;

	memset(text, 's', sizeof(text) - 2);
	text[sizeof(text) - 2] = 'E';
	world_make(&w, 1, 3, false);
	make_code(&a);
	a.lines.v[0].text = text;
	assert_null(browser_show_annotation(w.b, &a));
	annotation_deinit(&a);
	/* scrolled to the right or not */
	press(&w, KEY_RIGHT);
	assert_null(browser_text(w.b, &sb));
	snprintf(expected, sizeof(expected), " %s\n", text);
	assert_non_null(strstr(strbuf_str(&sb), expected));
	strbuf_deinit(&sb);
	world_free(&w);
}

/* What a key leads to is seen with what is around it, as in perf. */
TEST(test_middle_of_the_screen)
{
	struct annotation a;
	struct world w;

	world_make(&w, 1, 3, false);
	make_code(&a);
	for (size_t i = 0; i < 40; i++)
		*vec_push(&a.lines) = (struct annotation_line){.text = i == 30 ? "leave" : "nop",
							       .address = 0x1100 + i};
	for (size_t i = 0; i < 40; i++) {
		const struct annotation_line line = a.lines.v[i == 20 ? 4 : 9];

		*vec_push(&a.lines) = line;
	}
	a.lines.v[4].counts = NULL;
	assert_null(browser_show_annotation(w.b, &a));
	annotation_deinit(&a);
#define NOP "         |           nop\n"
	shows(&w, 9, 60,
	      CODE_HEAD CODE_TITLE NOP NOP NOP
	      "   80.00 |   4:      addq   $1, %rax\n" NOP NOP
	      "h help  Enter follow  Tab hottest  s source  / search 70/89\n");
	/* further up */
	type(&w, "/leave");
	press(&w, KEY_ENTER);
	shows(&w, 9, 60,
	      CODE_HEAD CODE_TITLE NOP NOP NOP
	      "         |           leave\n" NOP NOP
	      "h help  Enter follow  Tab hottest  s source  / search 40/89\n");
	/* what is seen already stays where it is */
	press(&w, KEY_HOME);
	assert_true(seen(&w, " 1/89"));
	type(&w, "/rbp");
	press(&w, KEY_ENTER);
	shows(&w, 7, 60,
	      CODE_HEAD CODE_TITLE "         |         f\\x1b[2J()\n"
				   "         |   12            for (;;)\n"
				   "         |   3:    (b7) r0 = 0\n"
				   "         |           pushq  %rbp\n"
				   "h help  Enter follow  Tab hottest  s source  / search  4/89\n");
	world_free(&w);
}

TEST(test_look_of_code)
{
	struct world w;

	world_make(&w, 1, 3, false);
	show_code(&w);
	type(&w, "ojlt");
	shows(&w, 12, 60,
	      CODE_HEAD "      Period | Source code & Disassembly of x for cycles\n"
			"             |      f\\x1b[2J()\n"
			"             |   12         for (;;)\n"
			"             |   3: (b7) r0 = 0\n"
			"             |1000:   pushq  %rbp  // f.c:12\n"
			"          80 |1004:   addq   $1, %rax\n"
			"             |1008: > callq  0x2000 <other>\n"
			"          20 |100c: ^ jne    0x1004 <f+0x4>\n"
			"             |100e:   jmpq   *%rax\n"
			"             |1010: < retq\n"
			"h help  Enter follow  Tab hottest  s source  / search   5/9\n");
	type(&w, "ojltspbJk");
	shows(&w, 9, 60,
	      "f\\x1b[2J  /bin/x  [Percent: global hits]  10 samples\n"
	      " Samples | Source code & Disassembly of x for cycles\n"
	      "         |     3:    (b7) r0 = 0\n"
	      "         |             pushq  %rbp\n"
	      "       8 | 1   4: +->  addq   $1, %rax\n"
	      "         |        |  > callq  other\n"
	      "       2 |        +--^ jne    4\n"
	      "         |             jmpq   *%rax\n"
	      "h help  Enter follow  Tab hottest  s source  / search   3/7\n");
	type(&w, "tJkOs");
	assert_true(seen(&w, "Only machine instructions are shown"));
	shows(&w, 9, 60,
	      "f\\x1b[2J  /bin/x  [Percent: global hits]  10 samples\n" CODE_TITLE
	      "         |           pushq  %rbp\n"
	      "   40.00 |   4: +->  addq   $1, %rax\n"
	      "         |   8: |  > callq  other\n"
	      "   10.00 |      +--^ jne    4\n"
	      "         |           jmpq   *%rax\n"
	      "         |         < retq\n"
	      "Only machine instructions are shown                     2/6\n");
	type(&w, "fO");
	assert_true(seen(&w, "1010:"));
	type(&w, "fs");
	assert_true(seen(&w, "|  10:"));
	assert_true(seen(&w, " 5/9"));
	/* to the right, and back; then it is left */
	press(&w, KEY_RIGHT);
	assert_false(seen(&w, "pushq"));
	press(&w, KEY_LEFT);
	assert_true(seen(&w, "pushq"));
	press(&w, KEY_LEFT);
	assert_true(seen(&w, "of event 'cycles'"));
	world_free(&w);
}

TEST(test_search_in_code)
{
	struct world w;

	world_make(&w, 1, 3, false);
	show_code(&w);
	type(&w, "/q ");
	press(&w, KEY_ENTER);
	assert_true(seen(&w, " 6/9"));
	press(&w, 'n');
	assert_true(seen(&w, " 8/9"));
	press(&w, 'n');
	assert_true(seen(&w, " 4/9"));
	press(&w, 'N');
	assert_true(seen(&w, " 8/9"));
	type(&w, "?push");
	press(&w, KEY_ENTER);
	assert_true(seen(&w, " 4/9"));
	type(&w, "/none");
	press(&w, KEY_ENTER);
	assert_true(seen(&w, "'none' was not found"));
	press(&w, 'h');
	assert_true(seen(&w, "perf-bpf report: keys of code"));
	press(&w, 'q');
	assert_true(browser_shows_code(w.b));
	press(&w, 'P');
	assert_int_equal(w.wish, BROWSER_PRINT);
	struct strbuf sb = STRBUF_INIT;
	assert_null(browser_text(w.b, &sb));
	assert_non_null(strstr(strbuf_str(&sb), "\n   20.00 │         ↑ jne    4\n"));
	assert_non_null(strstr(strbuf_str(&sb), "\n         │         ← retq\n"));
	strbuf_deinit(&sb);
	world_free(&w);
}

TEST(test_calls)
{
	struct world w;

	world_make(&w, 1, 3, false);
	press(&w, 'a');
	assert_int_equal(w.wish, BROWSER_ANNOTATE);
	assert_string_equal(browser_wanted(w.b).function, "f0");
	show_code(&w);
	press(&w, KEY_DOWN);
	press(&w, KEY_ENTER);
	assert_int_equal(w.wish, BROWSER_ANNOTATE);
	struct browser_choice wanted = browser_wanted(w.b);
	assert_true(wanted.is_call);
	assert_int_equal(wanted.called, 0x2000);
	assert_string_equal(wanted.callee, "other");
	assert_string_equal(wanted.function, "f\033[2J");
	assert_string_equal(wanted.module, "/bin/x");
	/* the command could not: nothing has changed */
	assert_null(browser_say(w.b, "not known"));
	assert_true(seen(&w, "not known"));
	press(&w, KEY_RIGHT);
	assert_true(browser_wanted(w.b).is_call);
	show_code(&w);
	press(&w, KEY_END);
	press(&w, KEY_ENTER); /* a return */
	assert_int_equal(w.wish, BROWSER_ANNOTATE);
	wanted = browser_wanted(w.b);
	assert_false(wanted.is_call);
	assert_string_equal(wanted.function, "f\033[2J");
	show_code(&w);
	/* where the call is */
	assert_true(seen(&w, " 6/9"));
	press(&w, KEY_ESCAPE);
	assert_int_equal(w.wish, BROWSER_NOTHING);
	assert_false(browser_shows_code(w.b));
	/* as deep as one likes; q leaves all of it */
	for (size_t i = 0; i < 100; i++) {
		if (!i)
			press(&w, 'a');
		show_code(&w);
		press(&w, KEY_DOWN);
		press(&w, KEY_ENTER);
	}
	press(&w, 'q');
	assert_false(browser_shows_code(w.b));
	/* other functions of the table */
	press(&w, 'a');
	show_code(&w);
	press(&w, '<');
	assert_true(seen(&w, "There is no previous function"));
	press(&w, '>');
	assert_int_equal(w.wish, BROWSER_ANNOTATE);
	assert_string_equal(browser_wanted(w.b).function, "f1");
	show_code(&w);
	press(&w, KEY_ESCAPE);
	assert_string_equal(browser_chosen(w.b).function, "f1");
	world_free(&w);
}

/* Code of a live one, which changes; groups; no code at all; any size. */
TEST(test_other_code)
{
	struct world w;
	struct annotation a, empty = {.symbol = "f", .dso = "/bin/x", .event = "cycles"};
	struct annotation_count counts[2] = {{5, 5}, {5, 5}};

	world_make(&w, 1, 3, true);
	assert_null(browser_show_annotation(w.b, &empty));
	type(&w, "HntpboOfjJklP");
	press(&w, KEY_TAB);
	press(&w, KEY_ENTER);
	press(&w, KEY_RIGHT);
	press(&w, KEY_DOWN);
	assert_true(seen(&w, "Source code & Disassembly of x"));
	make_code(&a);
	a.n_events = 2;
	assert_null(browser_update_annotation(w.b, &a));
	type(&w, "oOfjJklpb");
	assert_true(seen(&w, "  cycles  faults | Source code"));
	assert_true(seen(&w, " 5/9"));
	press(&w, KEY_END);
	a.lines.v[8].counts = counts;
	assert_null(browser_update_annotation(w.b, &a));
	assert_true(seen(&w, " 9/9"));
	annotation_deinit(&a);
	for (size_t rows = 1; rows < 8; rows++)
		for (size_t width = 1; width < 60; width++) {
			struct canvas canvas = {0};

			assert_true(canvas_init(&canvas, rows, width, rows & 1));
			assert_null(browser_draw(w.b, &canvas));
			press(&w, width % 3 ? KEY_UP : width % 2 ? KEY_PAGE_DOWN : 'h');
			assert_null(browser_draw(w.b, &canvas));
			canvas_deinit(&canvas);
		}
	browser_leave_code(w.b);
	assert_false(browser_shows_code(w.b));
	world_free(&w);
}
