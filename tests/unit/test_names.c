// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/cleanup.h"
#include "probe/point/name_filter.h"
#include "lib/base/names.h"
#include "lib/base/util.h"

TEST(globs_match_as_the_shells_do)
{
	static const struct {
		const char *pattern, *name;
		bool matches;
	} cases[] = {
		{"sys_enter_*", "sys_enter_write", true},
		{"sys_enter_*", "sys_exit_write", false},
		{"*write*", "sys_enter_pwrite64", true},
		{"*", "", true},
		{"?", "", false},
		{"", "", true},
		{"", "a", false},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"sched_[sw]*", "sched_wakeup", true},
		{"sched_[a-d]*", "sched_wakeup", false},
		{"sched_[!a-d]*", "sched_wakeup", true},
		{"sched_[^v-x]*", "sched_wakeup", false},
		{"[]]", "]", true},
		{"[!]]", "]", false},
		{"[a-]", "-", true},
		{"a[b", "a[b", true},
		{"a[b", "ab", false},
		{"\\*", "*", true},
		{"\\*", "x", false},
		{"a*b*c", "aXbYbZc", true},
		{"a*b*c", "aXbYbZ", false},
		{"**a", "bba", true},
		{"a**", "a", true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		if (glob_match(cases[i].pattern, cases[i].name) != cases[i].matches)
			fail_msg("'%s' on '%s'", cases[i].pattern, cases[i].name);
	assert_true(glob_is_pattern("a*"));
	assert_true(glob_is_pattern("a[b]"));
	assert_false(glob_is_pattern("sys_enter_write"));
}

/* A matcher that tries all ways would take longer than the universe lasts. */
TEST(many_stars_cost_no_more_than_the_product_of_lengths)
{
	char pattern[401], name[4001];

	for (size_t i = 0; i < 400; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[399] = 'b';
	pattern[400] = 0;
	memset(name, 'a', 4000);
	name[4000] = 0;
	assert_false(glob_match(pattern, name));
}

TEST(distances_count_letters)
{
	assert_int_equal(name_distance("", "", 3), 0);
	assert_int_equal(name_distance("abc", "abc", 3), 0);
	assert_int_equal(name_distance("abc", "ABC", 3), 0);
	assert_int_equal(name_distance("abc", "ab", 3), 1);
	assert_int_equal(name_distance("abc", "xabc", 3), 1);
	assert_int_equal(name_distance("abc", "acb", 3), 1);
	assert_int_equal(name_distance("kitten", "sitting", 5), 3);
	assert_int_equal(name_distance("kitten", "sitting", 2), 3);
	assert_int_equal(name_distance("abc", "xyzw", 2), 3);
	assert_int_equal(name_distance("", "abc", 3), 3);

	char longest[200];
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	assert_int_equal(name_distance(longest, longest, 4), 5);
}

static char *nearest_of(const char *want, const char *const *names, size_t n)
{
	struct nearest near = nearest_make(want);
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < n; i++)
		nearest_offer(&near, names[i]);
	if (!nearest_text(&near, &sb)) {
		strbuf_deinit(&sb);
		return NULL;
	}
	return strbuf_steal(&sb);
}

TEST(nearest_names_come_best_first)
{
	static const char *const names[] = {
		"sched_wakeup", "sched_switch",	   "sched_stat_wait",
		"sys_exit",	"sched_waking",	   "sched_wakeup_new",
		"write",	"sys_enter_write", "sys_enter_pwrite64",
	};
	_cleanup_free_ char *typo = nearest_of("sched_swich", names, ARRAY_SIZE(names));
	_cleanup_free_ char *part = nearest_of("enter_write", names, ARRAY_SIZE(names));
	_cleanup_free_ char *three = nearest_of("sched_wakup", names, ARRAY_SIZE(names));
	_cleanup_free_ char *none = nearest_of("page_fault_user", names, ARRAY_SIZE(names));

	assert_string_equal(typo, "'sched_switch'");
	assert_string_equal(part, "'sys_enter_write'");
	assert_string_equal(three, "'sched_wakeup' or 'sched_waking'");
	assert_null(none);
}

static void hint_is(struct error *err, const char *hint)
{
	if (hint)
		assert_string_equal(err->hint, hint);
	else
		assert_null(err->hint);
	error_free(err);
}

TEST(an_error_suggests_the_names_that_are_near)
{
	struct nearest near = nearest_make("kprobe"), far = nearest_make("kprobe");

	nearest_offer(&near, "kprobes");
	nearest_offer(&near, "uprobe");
	nearest_offer(&far, "tracepoint");
	hint_is(error_suggest(error_new(ENOENT, "none"), &near),
		"did you mean 'kprobes' or 'uprobe'?");
	hint_is(error_suggest(error_new(ENOENT, "none"), &far), NULL);
	hint_is(error_hint(error_suggest(error_new(ENOENT, "none"), &far), "see --help"),
		"see --help");
	hint_is(error_hint(error_suggest(error_new(ENOENT, "none"), &near), "see --help"),
		"did you mean 'kprobes' or 'uprobe'?");
	hint_is(error_suggest(error_hint(error_new(ENOENT, "none"), "the first"), &near),
		"the first");
	hint_is(error_suggest_and(error_new(ENOENT, "none"), &near, "there are: %s", "a, b"),
		"did you mean 'kprobes' or 'uprobe'? There are: a, b");
	hint_is(error_suggest_and(error_new(ENOENT, "none"), &far, "there are: %s", "a, b"),
		"there are: a, b");
	hint_is(error_suggest_and(error_new(ENOENT, "none"), &far, "%s", ""), NULL);
	assert_null(error_suggest(NULL, &near));
	assert_null(error_suggest_and(NULL, &near, "there are: %s", "a, b"));
	hint_is(error_suggest(error_nomem(), &near), NULL);
}

TEST(lists_own_what_they_hold)
{
	_cleanup_names_ struct names names = {0};
	char buffer[] = "zeta";

	assert_true(names_add(&names, buffer));
	memcpy(buffer, "xxxx", 4);
	assert_true(names_add_n(&names, "alphabet", 5));
	names_sort(&names);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.v[0], "alpha");
	assert_string_equal(names.v[1], "zeta");
}

TEST(filters_are_globs_and_what_binds_them)
{
	static const struct {
		const char *filter, *name;
		bool matches;
	} cases[] = {
		/* perf-probe(1), FILTER PATTERN */
		{"foo* | bar*", "foobar", true},
		{"foo* | bar*", "barfoo", true},
		{"foo* | bar*", "bafoo", false},
		{"!foo* & *bar", "fizzbar", true},
		{"!foo* & *bar", "foobar", false},
		{"!k???tab_* & !crc_*", "kcrctab_x", false},
		{"!k???tab_* & !crc_*", "crc_x", false},
		/* '&' before '|', '!' before both */
		{"a*|b*&*c", "ax", true},
		{"a*|b*&*c", "bx", false},
		{"(a*|b*)&*c", "ax", false},
		{"(a*|b*)&*c", "bc", true},
		{"!a*|b*", "b", true},
		{"!(a*|b*)", "b", false},
		{"!!a", "a", true},
		{" ( a ) ", "a", true},
		{"[!_]*", "a", true},
		{"[!_]*", "_a", false},
		{"a\\|b", "a|b", true},
		{"a", "b", false},
	};
	static const struct {
		const char *filter;
		unsigned column;
	} wrong[] = {
		{"", 1},    {"a|", 3}, {"a&&b", 3}, {"(a", 3},	{"a)", 2},
		{"a b", 3}, {"!", 2},  {"()", 2},   {"a!b", 2},
	};
	char deep[200], long_one[400];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_null(name_filter_check(cases[i].filter));
		if (name_filter_match(cases[i].filter, cases[i].name) != cases[i].matches)
			fail_msg("'%s' on '%s'", cases[i].filter, cases[i].name);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_error_ struct error *err = name_filter_check(wrong[i].filter);
		_cleanup_free_ char *column = text_format("column %u:", wrong[i].column);

		if (!err || !strstr(err->msg, column))
			fail_msg("'%s': %s", wrong[i].filter, err ? err->msg : "taken");
		assert_false(name_filter_match(wrong[i].filter, "a"));
	}
	memset(deep, '(', sizeof(deep) - 1);
	deep[sizeof(deep) - 1] = 0;
	_cleanup_error_ struct error *too_deep = name_filter_check(deep);
	assert_non_null(strstr(too_deep->msg, "nested too deeply"));
	memset(long_one, 'a', sizeof(long_one) - 1);
	long_one[sizeof(long_one) - 1] = 0;
	_cleanup_error_ struct error *too_long = name_filter_check(long_one);
	assert_non_null(strstr(too_long->msg, "too long"));
}
