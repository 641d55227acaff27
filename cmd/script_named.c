// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/script_named.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/names.h"
#include "lib/base/util.h"
#include "lib/sys/bounded_lines.h"
#include "lib/sys/sys.h"

#define EXEC_PATH "PERF_EXEC_PATH"
#define PROGRAM	  "PERF_BPF_OF_SCRIPT" /* in the environment of the shell */
#define INPUT	  "PERF_BPF_INPUT"

const char *script_exec_path(void)
{
	/* of perf's own default, and of Debian's packages */
	static const char *const usual[] = {"/usr/libexec/perf-core", "/usr/lib/perf-core"};
	const char *set = getenv(EXEC_PATH);
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;

	if (set && *set)
		return set;
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		strbuf_reset(&path);
		strbuf_addf(&path, "%s/scripts", usual[i]);
		if (!access(strbuf_str(&path), X_OK)) {
			setenv(EXEC_PATH, usual[i], true);
			return usual[i];
		}
	}
	setenv(EXEC_PATH, usual[0], true);
	return usual[0];
}

struct error *script_find(const char *name, struct strbuf *path)
{
	strbuf_adds(path, name);
	if (access(name, R_OK) && !strchr(name, '/')) {
		_cleanup_strbuf_ struct strbuf theirs = STRBUF_INIT;

		strbuf_addf(&theirs, "%s/scripts/python/%s", script_exec_path(), name);
		if (!access(strbuf_str(&theirs), R_OK)) {
			strbuf_reset(path);
			strbuf_adds(path, strbuf_str(&theirs));
		}
	}
	return strbuf_failed(path) ? error_nomem() : NULL;
}

/* ---- the shell scripts ---- */

static struct error *bin_path(const char *file, const char *suffix, struct strbuf *path)
{
	strbuf_addf(path, "%s/scripts/python/bin/%s%s", script_exec_path(), file, suffix);
	return strbuf_failed(path) ? error_nomem() : NULL;
}

/* NAME of each NAME-SUFFIX */
static struct error *list_names(const char *suffix, struct names *names)
{
	_cleanup_strbuf_ struct strbuf dir = STRBUF_INIT;
	_cleanup_names_ struct names files = {0};

	TRY(bin_path("", "", &dir));
	struct error *err = sys_list_dir(strbuf_str(&dir), DT_REG, &files);
	if (err)
		return error_hint(err, "perf's scripts come with perf (Debian: apt-get install "
				       "linux-perf); " EXEC_PATH " names their directory");
	for (size_t i = 0; i < files.n; i++) {
		const size_t len = strlen(files.v[i]), end = strlen(suffix);

		if (len > end && !strcmp(files.v[i] + len - end, suffix) &&
		    !names_add_n(names, files.v[i], len - end))
			return error_nomem();
	}
	return NULL;
}

static struct error *find_shell_script(const char *name, const char *suffix, struct strbuf *path)
{
	_cleanup_names_ struct names names = {0};
	struct nearest near = nearest_make(name);

	TRY(list_names(suffix, &names));
	for (size_t i = 0; i < names.n; i++)
		if (!strcmp(names.v[i], name))
			return bin_path(name, suffix, path);
	for (size_t i = 0; i < names.n; i++)
		nearest_offer(&near, names.v[i]);
	return error_suggest_and(error_usage("perf has no script named '%s'", name), &near,
				 "the option -l lists them");
}

/* What "# description: …" and "# args: …" say, each empty if it is not there. */
static struct error *describe(const char *path, struct strbuf *description, struct strbuf *args)
{
	_cleanup_bounded_lines_ struct bounded_lines lines = {0};
	const char *line;

	TRY(bounded_lines_open(path, 0, &lines));
	while ((line = bounded_lines_next(&lines))) {
		static const char description_key[] = "description:", args_key[] = "args:";

		line += strspn(line, " \t");
		if (*line++ != '#')
			continue;
		line += strspn(line, " \t");
		if (!strncmp(line, description_key, strlen(description_key))) {
			line += strlen(description_key);
			strbuf_reset(description);
			strbuf_adds(description, line + strspn(line, " \t"));
		} else if (!strncmp(line, args_key, strlen(args_key))) {
			line += strlen(args_key);
			strbuf_reset(args);
			strbuf_adds(args, line + strspn(line, " \t"));
		}
	}
	return NULL;
}

struct error *script_list(struct strbuf *out)
{
	static const char suffix[] = "-report";
	_cleanup_names_ struct names names = {0};

	TRY(list_names(suffix, &names));
	strbuf_adds(out, "List of available trace scripts:\n");
	for (size_t i = 0; i < names.n; i++) {
		_cleanup_strbuf_ struct strbuf description = STRBUF_INIT, args = STRBUF_INIT,
					       first = STRBUF_INIT, path = STRBUF_INIT;

		TRY(bin_path(names.v[i], suffix, &path));
		TRY(describe(strbuf_str(&path), &description, &args));
		strbuf_addf(&first, "%s %s", names.v[i], strbuf_str(&args));
		strbuf_addf(out, "  %-36s %s\n", strbuf_str(&first), strbuf_str(&description));
	}
	return strbuf_failed(out) ? error_nomem() : NULL;
}

/* ---- running them ---- */

/* The commands that perf-bpf has not got are perf's. */
static const char shell[] =
	"perf() {\n"
	"	case $1 in\n"
	"	script)\n"
	"		shift\n"
	"		\"$" PROGRAM "\" script ${" INPUT ":+-i \"$" INPUT "\"} \"$@\" ;;\n"
	"	record | report) \"$" PROGRAM "\" \"$@\" ;;\n"
	"	*) command perf \"$@\" ;;\n"
	"	esac\n"
	"}\n"
	". \"$0\"\n";

static struct error *become_shell(const char *path, const char *const *before, size_t n_before,
				  char *const *args, size_t n_args)
{
	size_t n = 0;
	_cleanup_free_ const char **argv = calloc(n_before + n_args + 5, sizeof(*argv));

	if (!argv)
		return error_nomem();
	argv[n++] = "sh";
	argv[n++] = "-c";
	argv[n++] = shell;
	argv[n++] = path;
	for (size_t i = 0; i < n_before; i++)
		argv[n++] = before[i];
	for (size_t i = 0; i < n_args; i++)
		argv[n++] = args[i];
	execv("/bin/sh", (char *const *)argv);
	return error_errno(errno, "cannot run /bin/sh");
}

static struct error *set_environment(const char *input)
{
	char program[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (n < 0)
		return error_errno(errno, "cannot read /proc/self/exe");
	program[n] = '\0';
	script_exec_path();
	if (setenv(PROGRAM, program, true) ||
	    (input ? setenv(INPUT, input, true) : unsetenv(INPUT)))
		return error_nomem();
	return NULL;
}

/* How many of its arguments are required, "<comm>" and not "[comm]". As perf. */
static size_t count_required(const char *args)
{
	size_t n = 0;

	for (; *args; args++)
		n += *args == '<';
	return n;
}

/* The reader becomes NAME-report, and its child NAME-record. */
static struct error *run_live(const char *name, char *const *args, size_t n)
{
	_cleanup_strbuf_ struct strbuf recorder = STRBUF_INIT, reporter = STRBUF_INIT,
				       description = STRBUF_INIT, known = STRBUF_INIT;
	static const char *const to_pipe[] = {"-q", "-o", "-"};
	const size_t len = strlen(name);
	size_t n_report;
	int ends[2];

	TRY(find_shell_script(name, "-record", &recorder));
	TRY(find_shell_script(name, "-report", &reporter));
	TRY(describe(strbuf_str(&reporter), &description, &known));
	n_report = count_required(strbuf_str(&known));
	if (n_report > n)
		return error_usage("the script '%s' needs arguments: %s", name, strbuf_str(&known));
	/* sctop and its like record the system; all arguments are theirs. */
	if (len > 3 && !strcmp(name + len - 3, "top"))
		n_report = n;
	if (pipe(ends))
		return error_errno(errno, "cannot create a pipe");
	const pid_t pid = fork();
	if (pid < 0)
		return error_errno(errno, "cannot create a process");
	const int std = pid ? STDIN_FILENO : STDOUT_FILENO;
	if (dup2(ends[pid ? 0 : 1], std) < 0)
		return error_errno(errno, "dup2");
	close(ends[0]);
	close(ends[1]);
	if (!pid)
		return become_shell(strbuf_str(&recorder), to_pipe, ARRAY_SIZE(to_pipe),
				    args + n_report, n - n_report);
	TRY(set_environment("-"));
	return become_shell(strbuf_str(&reporter), NULL, 0, args, n_report);
}

struct error *script_named_run(char *const *args, const char *input)
{
	_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
	const char *suffix = !strcmp(args[0], "record")	  ? "-record"
			     : !strcmp(args[0], "report") ? "-report"
							  : NULL;
	size_t n = 0;

	TRY(set_environment(input));
	while (args[n])
		n++;
	if (!suffix)
		return run_live(args[0], args + 1, n - 1);
	if (!args[1])
		return error_usage("script %s: the name of the script is missing", args[0]);
	TRY(find_shell_script(args[1], suffix, &path));
	return become_shell(strbuf_str(&path), NULL, 0, args + 2, n - 2);
}
