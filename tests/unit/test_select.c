// SPDX-License-Identifier: BSD-2-Clause
/* -e: the grammar, and the look-ups over a small tree of tracefs and sysfs. */
#include <stdio.h>
#include <string.h>

#include <time.h>

#include "perf/select/select.h"
#include "tree.h"

static void parse(const char *text, struct select_list *list)
{
	struct error *err = select_parse(text, list);

	if (err)
		fail_msg("%s: %s", text, err->msg);
}

static void test_kinds(void **state)
{
	struct select_list list = {0};

	parse("sched:sched_switch,cpu-clock,r1a8,cpu/event=0x3c,umask=0/,L1-dcache-load-misses:u,"
	      "dir/slow.bpf.c,./x.o",
	      &list);
	assert_int_equal(list.items.n, 7);
	const struct select_item *v = list.items.v;
	assert_int_equal(v[0].kind, SELECT_TRACEPOINT);
	assert_string_equal(v[0].system, "sched");
	assert_string_equal(v[0].name, "sched_switch");
	assert_int_equal(v[1].kind, SELECT_NAMED);
	assert_int_equal(v[2].kind, SELECT_RAW);
	assert_int_equal(v[2].raw, 0x1a8);
	assert_int_equal(v[3].kind, SELECT_PMU);
	assert_string_equal(v[3].name, "cpu");
	assert_int_equal(v[3].terms.n, 2);
	assert_string_equal(v[3].terms.v[1].name, "umask");
	assert_string_equal(v[3].terms.v[1].value, "0");
	assert_int_equal(v[4].kind, SELECT_NAMED);
	assert_string_equal(v[4].name, "L1-dcache-load-misses");
	assert_string_equal(v[4].text, "L1-dcache-load-misses:u");
	assert_true(v[4].modifiers.user && v[4].modifiers.given_levels);
	assert_false(v[4].modifiers.kernel);
	assert_int_equal(v[5].kind, SELECT_OBJECT);
	assert_string_equal(v[5].name, "dir/slow.bpf.c");
	assert_int_equal(v[6].kind, SELECT_OBJECT);
	select_list_deinit(&list);
}

static void test_object_terms(void **state)
{
	struct select_list list = {0};

	parse("a/b.c/min=3,map:m.value[0-3]=7,map:m.value[0,3-5]=9,map:ev.event=cycles/,cs", &list);
	assert_int_equal(list.items.n, 2);
	const struct select_item *v = list.items.v;
	assert_string_equal(v[0].name, "a/b.c");
	assert_int_equal(v[0].terms.n, 4);
	assert_string_equal(v[0].terms.v[0].name, "min");
	assert_string_equal(v[0].terms.v[1].name, "map:m.value[0-3]");
	assert_string_equal(v[0].terms.v[2].name, "map:m.value[0,3-5]");
	assert_string_equal(v[0].terms.v[2].value, "9");
	assert_string_equal(v[0].terms.v[3].value, "cycles");
	assert_string_equal(v[1].name, "cs");
	select_list_deinit(&list);
}

/* A folder may be called like a file; only terms that are closed are terms. */
static void test_path_with_suffix_in_folder(void **state)
{
	struct select_list list = {0};

	parse("lib.o/sub/x.bpf.o", &list);
	assert_string_equal(list.items.v[0].name, "lib.o/sub/x.bpf.o");
	assert_int_equal(list.items.v[0].terms.n, 0);
	select_list_deinit(&list);
}

static void test_groups_and_modifiers(void **state)
{
	struct select_list list = {0};

	parse("cs,{cycles:k,instructions:ppp}:S,{faults}", &list);
	const struct select_item *v = list.items.v;
	assert_int_equal(list.items.n, 4);
	assert_int_equal(v[0].group, -1);
	assert_int_equal(v[1].group, 0);
	assert_int_equal(v[2].group, 0);
	assert_int_equal(v[3].group, 1);
	assert_true(v[1].modifiers.sample_read && v[2].modifiers.sample_read);
	assert_false(v[3].modifiers.sample_read);
	assert_int_equal(v[2].modifiers.precise, 3);
	select_list_deinit(&list);
	struct error *err = select_parse("{cs:W,faults}", &list);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "is for groups"));
	error_free(err);
	parse("{cs,faults}:Wu,{cs}", &list);
	v = list.items.v;
	assert_true(v[0].modifiers.weak && v[1].modifiers.weak && v[1].modifiers.user);
	assert_false(v[2].modifiers.weak);
	select_list_deinit(&list);
}

static void test_programs(void **state)
{
	struct select_list list = {0};

	parse("a:b|bpf_fd=7|,cs|bpf_id=12|,c:d:u|bpf_pin=/sys/fs/bpf/x,y|", &list);
	const struct select_item *v = list.items.v;
	assert_int_equal(list.items.n, 3);
	assert_int_equal(v[0].prog.kind, SELECT_PROG_FD);
	assert_int_equal(v[0].prog.number, 7);
	assert_int_equal(v[1].prog.kind, SELECT_PROG_ID);
	assert_int_equal(v[1].prog.number, 12);
	assert_int_equal(v[2].prog.kind, SELECT_PROG_PIN);
	assert_string_equal(v[2].prog.path, "/sys/fs/bpf/x,y");
	select_list_deinit(&list);
}

/* What is wrong, and the column of the mark: that of the byte that is wrong. */
static void test_errors(void **state)
{
	static const struct {
		const char *text;
		int column;
		const char *what;
	} cases[] = {
		{"", 0, "expected an event here"},
		{"cs,", 3, "expected an event here"},
		{"cs:", 3, "expected a modifier"},
		{"cs:z", 3, "invalid modifier 'z'"},
		{"cs:uz", 4, "invalid modifier 'z'"},
		{"cs:pppp", 6, "at most three"},
		{"a:", 2, "tracepoint name"},
		{"{cs", 0, "not closed"},
		{"cs}", 2, "unexpected '}'"},
		{"cs/freq=1", 2, "no closing '/'"},
		{"cs/freq=/", 8, "has no value"},
		{"cs/,/", 3, "expected a term"},
		{"a.c/v[1=2/", 4, "bracket"},
		{"cs|fd=1|", 3, "expected bpf_fd=N"},
		{"cs|bpf_fd=x|", 10, "expected a number"},
		{"cs|bpf_fd=1", 11, "closing '|'"},
		{"a.c|bpf_fd=1|", 3, "already contains its programs"},
		{"{a.c}", 1, "cannot be in a group"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct select_list list = {0};
		struct error *err = select_parse(cases[i].text, &list);

		if (!err)
			fail_msg("'%s' was taken", cases[i].text);
		const char *mark = strstr(err->msg, "\\___");
		assert_non_null(mark);
		const char *line = mark;
		while (line[-1] != '\n')
			line--;
		/* Three blanks stand before the first column. */
		assert_int_equal(mark - line, cases[i].column + 3);
		if (!strstr(mark, cases[i].what))
			fail_msg("'%s': %s", cases[i].text, err->msg);
		assert_int_equal(err->code, EINVAL);
		error_free(err);
	}
}

/* Every beginning of a long text is taken or refused, and nothing is read beyond it. */
static void test_truncation(void **state)
{
	static const char text[] = "{a:b/freq=1,name='x'/:u|bpf_fd=1|,cs:pp}:S,f.c/v[0-1,2]=1,"
				   "map:m.value=2/,cpu/a,b=0x1/k,r1f|bpf_pin=/p|";

	for (size_t n = 0; n <= sizeof(text) - 1; n++) {
		char *copy = strndup(text, n);
		struct select_list list = {0};
		struct error *err = select_parse(copy, &list);

		if (!err)
			select_list_deinit(&list);
		error_free(err);
		free(copy);
	}
}

static struct tree *tree;

static int make_tree(void **state)
{
	tree = tree_new();
	tree_put(tree, "tracefs/events/sched/sched_switch/id", "316\n");
	tree_put(tree, "tracefs/events/sched/sched_wakeup/id", "318\n");
	tree_put(tree, "tracefs/events/sched/enable", "0\n");
	tree_put(tree, "tracefs/events/block/block_rq_issue/id", "900\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/type", "4\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/format/event", "config:0-7\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/format/umask", "config:8-15\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/format/edge", "config:18\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/format/ldlat", "config1:0-15\n");
	tree_put(tree, "sys/bus/event_source/devices/cpu/events/mem-loads",
		 "event=0xcd,umask=0x1,ldlat=3\n");
	return 0;
}

static int remove_tree(void **state)
{
	tree_free(tree);
	return 0;
}

static struct select_event *resolve(const char *text, struct selection *sel)
{
	struct error *err = select_events(&tree->roots, text, sel);

	if (err)
		fail_msg("%s: %s", text, err->msg);
	return sel->events.v;
}

static void test_resolve(void **state)
{
	struct selection sel = {0};
	struct select_event *v =
		resolve("sched:sched_*:u,cycles:k,r1a8,dTLB-store-misses,"
			"cpu/event=0x3c,umask=0x2,edge,period=500/,mem-loads,"
			"cs/freq=99,call-graph=no,name=switches/,sched:sched_switch",
			&sel);

	assert_int_equal(sel.events.n, 9);
	assert_string_equal(v[0].name, "sched:sched_switch:u");
	assert_int_equal(v[0].attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(v[0].attr.config, 316);
	assert_true(v[0].attr.exclude_kernel && v[0].attr.exclude_hv && !v[0].attr.exclude_user);
	assert_string_equal(v[1].name, "sched:sched_wakeup:u");
	assert_int_equal(v[1].attr.config, 318);
	assert_int_equal(v[2].attr.type, PERF_TYPE_HARDWARE);
	assert_true(v[2].attr.exclude_user && !v[2].attr.exclude_kernel);
	assert_true(v[2].attr.exclude_guest);
	assert_int_equal(v[3].attr.type, PERF_TYPE_RAW);
	assert_int_equal(v[3].attr.config, 0x1a8);
	assert_int_equal(v[4].attr.type, PERF_TYPE_HW_CACHE);
	assert_int_equal(v[4].attr.config, 3 | 1 << 8 | 1 << 16);
	assert_int_equal(v[5].attr.type, 4);
	assert_int_equal(v[5].attr.config, 0x3c | 0x2 << 8 | 1 << 18);
	assert_int_equal(v[5].attr.sample_period, 500);
	assert_true(v[5].has_period);
	assert_int_equal(v[6].attr.type, 4);
	assert_int_equal(v[6].attr.config, 0xcd | 1 << 8);
	assert_int_equal(v[6].attr.config1, 3);
	assert_string_equal(v[7].name, "switches");
	assert_true(v[7].has_freq && v[7].attr.freq);
	assert_int_equal(v[7].attr.sample_freq, 99);
	assert_int_equal(v[7].callgraph, SELECT_CALLGRAPH_NO);
	assert_string_equal(v[8].system, "sched");
	assert_string_equal(v[8].tracepoint, "sched_switch");
	selection_deinit(&sel);
}

/* -1: neither of both terms */
static void test_overwrite_terms(void **state)
{
	struct selection sel = {0};
	struct select_event *v =
		resolve("cs/overwrite/,sched:sched_switch/no-overwrite/,faults/freq=9/", &sel);

	assert_int_equal(v[0].overwrite, 1);
	assert_int_equal(v[1].overwrite, 0);
	assert_int_equal(v[2].overwrite, -1);
	selection_deinit(&sel);
}

static void test_resolve_errors(void **state)
{
	static const struct {
		const char *text, *what, *hint;
	} cases[] = {
		{"sched:sched_swich", "unknown tracepoint", "sched_switch"},
		{"shed:sched_switch", "unknown tracepoint", "sched"},
		{"sched:nothing*", "no tracepoint matches", ""},
		{"cpu-clok", "unknown event", "cpu-clock"},
		{"cpu/evnt=1/", "evnt", "event"},
		{"cpu/event=0x100/", "does not fit", ""},
		{"cpux/event=1/", "PMU", ""},
		{"cs/perid=1/", "unknown term", "period"},
		{"cs/period=x/", "not a number", ""},
		{"cs/period=0/", "at least 1", ""},
		{"cs/period=1,freq=1/", "cannot be used together", ""},
		{"cs/call-graph=gdb/", "fp, lbr, dwarf or no", ""},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct selection sel = {0};
		struct error *err = select_events(&tree->roots, cases[i].text, &sel);

		if (!err)
			fail_msg("'%s' was taken", cases[i].text);
		if (!strstr(err->msg, cases[i].what))
			fail_msg("'%s': %s", cases[i].text, err->msg);
		if (*cases[i].hint && (!err->hint || !strstr(err->hint, cases[i].hint)))
			fail_msg("'%s': hint %s", cases[i].text, err->hint ? err->hint : "none");
		assert_int_equal(sel.events.n, 0);
		selection_deinit(&sel);
		error_free(err);
	}
}

/* A failure in the middle leaves what was selected before. */
static void test_failure_keeps_selection(void **state)
{
	struct selection sel = {0};

	resolve("cs", &sel);
	struct error *err = select_events(&tree->roots, "faults,nonsense", &sel);
	assert_non_null(err);
	assert_int_equal(sel.events.n, 1);
	error_free(err);
	selection_deinit(&sel);
}

/* -g does not change what --call-graph selected before; --call-graph replaces all. */
static void test_call_graph(void **state)
{
	enum select_callgraph mode = SELECT_CALLGRAPH_DEFAULT;
	uint32_t size = 0;

	assert_null(select_callgraph_parse(NULL, &mode, &size));
	assert_int_equal(mode, SELECT_CALLGRAPH_FP);
	assert_null(select_callgraph_parse("dwarf,4095", &mode, &size));
	assert_int_equal(mode, SELECT_CALLGRAPH_DWARF);
	assert_int_equal(size, 4096);
	assert_null(select_callgraph_parse(NULL, &mode, &size));
	assert_int_equal(mode, SELECT_CALLGRAPH_DWARF);
	assert_int_equal(size, 4096);
	assert_null(select_callgraph_parse("lbr", &mode, &size));
	assert_int_equal(mode, SELECT_CALLGRAPH_LBR);
	assert_int_equal(size, 0);
	assert_null(select_callgraph_parse("fp", &mode, &size));
	assert_int_equal(mode, SELECT_CALLGRAPH_FP);
	assert_int_equal(size, 0);
}

/* The clocks of -k, and the kinds of branches of -j. */
static void test_names_of_the_kernel(void **state)
{
	static const char *const wrong_clocks[] = {"", "clock", "-1", "1x", "99999999999"};
	static const char *const wrong_branches[] = {"", "any,", ",any", "any call", "x"};
	uint64_t mask = 0;
	int32_t clock = -1;

	assert_null(select_clock_parse("CLOCK_Realtime", &clock));
	assert_int_equal(clock, CLOCK_REALTIME);
	assert_null(select_clock_parse("raw", &clock));
	assert_int_equal(clock, CLOCK_MONOTONIC_RAW);
	assert_null(select_clock_parse("11", &clock));
	assert_int_equal(clock, 11);
	for (size_t i = 0; i < ARRAY_SIZE(wrong_clocks); i++) {
		struct error *err = select_clock_parse(wrong_clocks[i], &clock);

		if (!err || !err->usage)
			fail_msg("'%s' is a clock", wrong_clocks[i]);
		error_free(err);
	}
	assert_null(select_branches_parse("any_call,u", &mask));
	assert_int_equal(mask, PERF_SAMPLE_BRANCH_ANY_CALL | PERF_SAMPLE_BRANCH_USER);
	assert_null(select_branches_parse("k", &mask));
	assert_int_equal(mask, PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_KERNEL);
	for (size_t i = 0; i < ARRAY_SIZE(wrong_branches); i++) {
		struct error *err = select_branches_parse(wrong_branches[i], &mask);

		if (!err || !err->usage)
			fail_msg("'%s' are branches", wrong_branches[i]);
		error_free(err);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_of_the_kernel),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_object_terms),
		cmocka_unit_test(test_path_with_suffix_in_folder),
		cmocka_unit_test(test_groups_and_modifiers),
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_overwrite_terms),
		cmocka_unit_test(test_resolve_errors),
		cmocka_unit_test(test_failure_keeps_selection),
		cmocka_unit_test(test_call_graph),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
