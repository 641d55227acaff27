// SPDX-License-Identifier: BSD-2-Clause
/* The configuration's syntax and its files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>

#include "cmd/config.h"
#include "lib/base/strbuf.h"

static struct config *parsed(const char *text)
{
	struct config *cfg = config_new();

	assert_null(config_parse(cfg, "conf", text));
	return cfg;
}

static void perfs_own_example_is_read(void **state)
{
	_cleanup_config_ struct config *cfg =
		parsed("[llvm]\n\tdump-obj = true\n\tclang-opt = -g\n");
	struct compile_opts opts = {0};

	assert_string_equal(config_get(cfg, "llvm.clang-opt"), "-g");
	assert_null(config_compile_opts(cfg, &opts));
	assert_true(opts.dump_obj);
	assert_string_equal(opts.clang_opt, "-g");
	assert_null(opts.clang_path);
	assert_null(config_get(cfg, "llvm.clang-path"));
}

static void values_are_decoded_as_git_does(void **state)
{
	_cleanup_config_ struct config *cfg = parsed("\xef\xbb\xbf# first\n; second\n"
						     "[A] one = a  b ; c\n"
						     "  two=\"q ; # \" tail  \t\r\n"
						     "\tthree = \"\\\\ \\\" \\t\\n\\b\"\n"
						     "four = x\\\ny\\\r\nz\n"
						     "FIVE\n"
						     "six =\n"
						     "seven = \"in \\\nquotes\" # c\n"
						     "eight=a=b:c\n"
						     "[sub \"Name ;] x\"]\nnine=9\n"
						     "[a]\n one = again");

	assert_string_equal(config_get(cfg, "a.one"), "again");
	assert_string_equal(config_get(cfg, "a.two"), "q ; #  tail");
	assert_string_equal(config_get(cfg, "a.three"), "\\ \" \t\n\b");
	assert_string_equal(config_get(cfg, "a.four"), "xyz");
	assert_string_equal(config_get(cfg, "A.Five"), "true");
	assert_string_equal(config_get(cfg, "a.six"), "");
	assert_string_equal(config_get(cfg, "a.seven"), "in quotes");
	assert_string_equal(config_get(cfg, "a.eight"), "a=b:c");
	assert_null(config_get(cfg, "a.nine"));
}

static void long_values_are_whole(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "[llvm]\nclang-opt = ");
	for (int i = 0; i < 2000; i++)
		strbuf_addf(&text, "-DX%d ", i);
	strbuf_adds(&text, "\nclang-path = /x\n");
	_cleanup_config_ struct config *cfg = parsed(text.str);
	assert_int_equal(strlen(config_get(cfg, "llvm.clang-opt")),
			 strlen(text.str) - strlen("[llvm]\nclang-opt =  \nclang-path = /x\n"));
	assert_string_equal(config_get(cfg, "llvm.clang-path"), "/x");
}

static void malformed_lines_are_named(void **state)
{
	static const struct {
		const char *text, *where, *msg;
	} wrong[] = {
		{"[llvm]\n\n  what is this\n", "conf:3", "'=' is missing"},
		{"x = 1\n", "conf:1", "before the first"},
		{"[llvm\nx = 1\n", "conf:1", "']'"},
		{"[]\n", "conf:1", "no name"},
		{"[a \"b]\n", "conf:1", "quote"},
		{"[a]\nx = \"open\ny = 1\n", "conf:2", "quote"},
		{"[a]\nx = a\\\nb\ny = \\q\n", "conf:4", "backslash"},
		{"[a]\nx = \\", "conf:2", "backslash"},
		{"[a]\n= 3\n", "conf:2", "begin with"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_config_ struct config *cfg = config_new();
		_cleanup_error_ struct error *err = config_parse(cfg, "conf", wrong[i].text);
		assert_non_null(err);
		assert_string_equal(err->where, wrong[i].where);
		assert_non_null(strstr(err->msg, wrong[i].msg));
	}

	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	strbuf_adds(&text, "[a]\n");
	for (int i = 0; i < 300; i++)
		strbuf_adds(&text, "n");
	strbuf_adds(&text, " = 1\n");
	_cleanup_config_ struct config *cfg = config_new();
	_cleanup_error_ struct error *err = config_parse(cfg, "conf", text.str);
	assert_non_null(err);
	assert_string_equal(err->where, "conf:2");
}

/* No prefix of a text, and no text with a byte changed, does harm. */
static void damaged_texts_are_survived(void **state)
{
	static const char text[] = "[a]\nb = \"c\\n\" ; d\n[e \"f\"]\ng\n h = i\\\nj\n";
	char copy[sizeof(text)];

	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		for (int c = 0; c < 256; c++) {
			_cleanup_config_ struct config *cfg = config_new();
			memcpy(copy, text, sizeof(text));
			copy[i] = (char)c;
			_cleanup_error_ struct error *err = config_parse(cfg, "conf", copy);
			if (err)
				assert_memory_equal(err->where, "conf:", 5);
			else
				assert_non_null(cfg);
		}
	}
}

static void booleans_are_words(void **state)
{
	_cleanup_config_ struct config *cfg = parsed(
		"[a]\nt1 = Yes\nt2\nt3 = ON\nt4 = 1\nf1 = no\nf2 =\nf3 = FALSE\nbad = maybe\n");
	bool is;

	for (const char *const *k = (const char *const[]){"a.t1", "a.t2", "a.t3", "a.t4", NULL}; *k;
	     k++) {
		assert_null(config_get_bool(cfg, *k, false, &is));
		assert_true(is);
	}
	for (const char *const *k = (const char *const[]){"a.f1", "a.f2", "a.f3", NULL}; *k; k++) {
		assert_null(config_get_bool(cfg, *k, true, &is));
		assert_false(is);
	}
	assert_null(config_get_bool(cfg, "a.none", true, &is));
	assert_true(is);
	_cleanup_error_ struct error *err = config_get_bool(cfg, "a.bad", true, &is);
	assert_non_null(err);
	assert_non_null(strstr(err->msg, "a.bad"));
}

static void write_text(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void count_warning(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	++*(int *)ctx;
}

static void files_are_read_in_order(void **state)
{
	char home[] = "/tmp/perf-bpf-unit.XXXXXX";
	char perfs[128], folder[128], own[160];
	int warnings = 0;
	struct log log = {.level = LOG_WARN, .write = count_warning, .ctx = &warnings};

	assert_non_null(mkdtemp(home));
	snprintf(perfs, sizeof(perfs), "%s/.perfconfig", home);
	snprintf(folder, sizeof(folder), "%s/perf-bpf", home);
	snprintf(own, sizeof(own), "%s/config", folder);
	assert_int_equal(mkdir(folder, 0700), 0);
	setenv("HOME", home, 1);
	setenv("XDG_CONFIG_HOME", home, 1);
	unsetenv("PERF_CONFIG");

	_cleanup_config_ struct config *none = NULL, *both = NULL, *only = NULL;
	assert_null(config_load(&log, &none));
	assert_null(config_get(none, "llvm.clang-opt"));
	write_text(perfs, "[llvm]\nclang-opt = -perf\nclang-path = /perf\n"
			  "clang-bpf-cmd-template = x\n[ui]\nshow-headers = false\n");
	write_text(own, "[LLVM]\nClang-Opt = -own\n");
	assert_int_equal(warnings, 0);
	assert_null(config_load(&log, &both));
	assert_string_equal(config_get(both, "llvm.clang-opt"), "-own");
	assert_string_equal(config_get(both, "llvm.clang-path"), "/perf");
	assert_int_equal(warnings, 1); /* of the template */
	setenv("PERF_CONFIG", own, 1);
	assert_null(config_load(&log, &only));
	assert_null(config_get(only, "llvm.clang-path"));
	unsetenv("PERF_CONFIG");

	if (geteuid() == 0) { /* a file of another user */
		_cleanup_config_ struct config *theirs = NULL;
		assert_int_equal(chown(perfs, 12345, 12345), 0);
		assert_null(config_load(&log, &theirs));
		assert_null(config_get(theirs, "llvm.clang-path"));
		assert_int_equal(warnings, 2);
	}
	write_text(own, "[llvm\n");
	_cleanup_config_ struct config *broken = NULL;
	_cleanup_error_ struct error *err = config_load(&log, &broken);
	assert_non_null(err);
	assert_non_null(strstr(err->where, "/perf-bpf/config:1"));
	unlink(perfs);
	unlink(own);
	rmdir(folder);
	rmdir(home);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(perfs_own_example_is_read),
		cmocka_unit_test(values_are_decoded_as_git_does),
		cmocka_unit_test(long_values_are_whole),
		cmocka_unit_test(malformed_lines_are_named),
		cmocka_unit_test(damaged_texts_are_survived),
		cmocka_unit_test(booleans_are_words),
		cmocka_unit_test(files_are_read_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
