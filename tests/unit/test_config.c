// SPDX-License-Identifier: BSD-2-Clause
/* The configuration's syntax and its files. */
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/config.h"
#include "lib/base/strbuf.h"

static struct config *parsed(const char *text)
{
	struct config *cfg = config_new();

	assert_null(config_parse(cfg, "conf", text));
	return cfg;
}

TEST(perfs_own_example_is_read)
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

TEST(values_are_decoded_as_git_does)
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

TEST(long_values_are_whole)
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

TEST(malformed_lines_are_named)
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
TEST(damaged_texts_are_survived)
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

TEST(booleans_are_words)
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

TEST(files_are_read_in_order)
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

static void keep_warning(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	vsnprintf(ctx, 256, fmt, ap);
}

/* ignored: a part of the warning; NULL: the file is read */
static void expect_read(const char *ignored)
{
	char warning[256] = "";
	struct log log = {.level = LOG_WARN, .write = keep_warning, .ctx = warning};
	_cleanup_config_ struct config *cfg = NULL;

	assert_null(config_load(&log, &cfg));
	if (!ignored)
		assert_string_equal(warning, "");
	else if (!strstr(warning, ignored))
		fail_msg("'%s' is not in '%s'", ignored, warning);
	assert_int_equal(!config_get(cfg, "llvm.clang-path"), !!ignored);
}

/* Who can change what is at the path chooses the programs that we run. */
TEST(what_others_can_change_is_ignored)
{
	char top[] = "/tmp/perf-bpf-unit.XXXXXX", command[64];

	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top) | mkdir("home", 0755) | mkdir("home/.config", 0755) |
				 mkdir("home/.config/perf-bpf", 0755) | mkdir("open", 0777),
			 0);
	_cleanup_free_ char *home = realpath("home", NULL);
	setenv("HOME", home, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("PERF_CONFIG");

	write_text("home/.perfconfig", "[llvm]\nclang-path = /x\n");
	expect_read(NULL);
	const struct {
		const char *path, *ignored;
	} cases[] = {
		{"home", "home/.perfconfig is ignored: others can write to /tmp/"},
		{"home/.perfconfig", "home/.perfconfig is ignored: others can write to it (chmod"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const mode_t modes[] = {0757, 01777, 0775};

		for (size_t m = 0; m < ARRAY_SIZE(modes); m++) {
			/* whose group it is not, nor root's */
			if (modes[m] == 0775 && geteuid() && getgid() == getuid())
				continue;
			assert_int_equal(chmod(cases[i].path, modes[m]), 0);
			expect_read(cases[i].ignored);
		}
		assert_int_equal(chmod(cases[i].path, 0755), 0);
		expect_read(NULL);
	}

	/* a link of the user's: what is there is looked at */
	assert_int_equal(chmod("open", 0755) | rename("home/.perfconfig", "open/file") |
				 symlink("../open/file", "home/.perfconfig"),
			 0);
	expect_read("others can write to /tmp"); /* above it */
	assert_int_equal(rename("open", "home/open") | unlink("home/.perfconfig") |
				 symlink("open/file", "home/.perfconfig"),
			 0);
	expect_read(NULL);
	assert_int_equal(chmod("home/open", 0777), 0);
	expect_read("home/open (chmod");

	/* the other file, and its directories up to the home */
	assert_int_equal(unlink("home/.perfconfig"), 0);
	write_text("home/.config/perf-bpf/config", "[llvm]\nclang-path = /x\n");
	expect_read(NULL);
	assert_int_equal(chmod("home/.config", 0777), 0);
	expect_read("others can write to /tmp/");
	assert_int_equal(chmod("home/.config", 0755), 0);
	if (!geteuid()) {
		assert_int_equal(chown("home", 12345, 0), 0);
		expect_read("home belongs to user 12345, who is neither you nor root");
		/* nothing to warn of without a file */
		assert_int_equal(unlink("home/.config/perf-bpf/config"), 0);
		int warnings = 0;
		struct log log = {.level = LOG_WARN, .write = count_warning, .ctx = &warnings};
		_cleanup_config_ struct config *cfg = NULL;
		assert_null(config_load(&log, &cfg));
		assert_int_equal(warnings, 0);
	}
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	assert_int_equal(chdir("/") | system(command), 0);
}

/* Whether a user reads a home whose group can write to it, and to the file. */
static bool reads_group_writable(uid_t uid, gid_t gid)
{
	int status;

	assert_int_equal(chown("home", uid, gid) | chmod("home", 0775), 0);
	assert_int_equal(chown("home/.perfconfig", uid, gid) | chmod("home/.perfconfig", 0664), 0);
	const pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		_cleanup_config_ struct config *cfg = NULL;

		if (setgid(gid) || setuid(uid))
			_exit(2);
		error_free(config_load(NULL, &cfg));
		_exit(!cfg || !config_get(cfg, "llvm.clang-path"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return !WEXITSTATUS(status);
}

/* Where the umask is 002, files can be written by a group that is the user's alone. */
TEST(a_group_of_ones_own_may_write)
{
	char top[] = "/tmp/perf-bpf-unit.XXXXXX", command[64];
	const struct passwd *daemon = getpwnam("daemon");

	if (geteuid() || !daemon || daemon->pw_uid != daemon->pw_gid) {
		print_message("needs root, and a user 'daemon' with a group of its own\n");
		skip();
	}
	const uid_t uid = daemon->pw_uid;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top) | chmod(".", 0755) | mkdir("home", 0755), 0);
	_cleanup_free_ char *home = realpath("home", NULL);
	setenv("HOME", home, 1);
	write_text("home/.perfconfig", "[llvm]\nclang-path = /x\n");
	assert_true(reads_group_writable(uid, uid));
	assert_false(reads_group_writable(uid, uid + 1));
	assert_false(reads_group_writable(uid, 0));
	assert_false(reads_group_writable(0, 0));
	assert_false(reads_group_writable(4242, 4242)); /* not a group that is known */
	snprintf(command, sizeof(command), "rm -r '%s'", top);
	assert_int_equal(chdir("/") | system(command), 0);
}
