// SPDX-License-Identifier: BSD-2-Clause
/*
 * The main function of the unit test programs. A program has the tests of one room, in groups: a
 * group is a file test_NAME.c, whose tests are in a table (group.h); or it has a main function,
 * whose call of cmocka arrives here (--wrap).
 *
 * Each group runs in a process of its own, so that neither what it changes nor its crash concerns
 * another one. That process prints cmocka's TAP into a pipe; here its lines get the numbers and
 * the names (GROUP.TEST) of the whole program. After a test that ends the process, the group
 * continues in a new one with the next test.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/group.h"

#define USAGE                                                                                      \
	"usage: %s [--list | GLOB]\n"                                                              \
	"Run the tests, or those whose name (TEST or GROUP.TEST) matches GLOB or "                 \
	"$CMOCKA_TEST_FILTER\n"

/* The linker's names of the starts and the ends of the tables; a program may have no test in one.
 */
extern const struct unit_group __start_unit_groups[], __stop_unit_groups[];
extern const struct unit_test *const __start_unit_tests[] __attribute__((weak)),
	*const __stop_unit_tests[] __attribute__((weak));

/* cmocka has no argument for a caller's data. */
static struct {
	const char *group;
	const char *filter; /* NULL: all tests */
	bool list;
	unsigned int printed; /* test lines */
	unsigned int failed;
} program;

/* What one process of a group printed. */
struct output {
	const struct CMUnitTest *tests; /* the ones that it runs */
	size_t n, seen;
	unsigned int failed;
	char line[8192]; /* the one that is not complete */
	size_t length;
};

int __real__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
				   CMFixtureFunction setup, CMFixtureFunction teardown);
int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
				   CMFixtureFunction setup, CMFixtureFunction teardown);

static bool is_selected(const char *test)
{
	char name[256];

	snprintf(name, sizeof(name), "%s.%s", program.group, test);
	return !program.filter || !fnmatch(program.filter, name, 0) ||
	       !fnmatch(program.filter, test, 0);
}

static void print_result(bool ok, const char *directive, const char *test)
{
	program.failed += !ok;
	printf("%s %u %s %s%s%s\n", ok ? "ok" : "not ok", ++program.printed, directive,
	       program.group, test ? "." : "", test ? test : "");
}

static void print_output(const char *line, size_t length)
{
	if (length)
		printf("%.*s\n", (int)length, line);
}

/* Where "ok 3 - NAME" or "not ok 3 # SKIP NAME" of the next test begins: behind what the test
 * printed without the end of a line. NULL: nowhere. */
static const char *find_result(const struct output *out, const char *line, int *end)
{
	const char *name = out->seen < out->n ? out->tests[out->seen].name : NULL;
	unsigned int number;

	for (const char *p = name ? line : NULL; p; p = strstr(p + 1, "ok ")) {
		const char *start = p - line >= 4 && !strncmp(p - 4, "not ", 4) ? p - 4 : p;

		*end = 0;
		if (sscanf(start, *start == 'o' ? "ok %u%n" : "not ok %u%n", &number, end) == 1 &&
		    *end && number == out->seen + 1 && strstr(start + *end, name))
			return start;
	}
	return NULL;
}

static bool is_result(struct output *out, const char *line)
{
	int end;
	const char *start = find_result(out, line, &end);

	if (!start)
		return false;
	print_output(line, (size_t)(start - line));
	line = start;

	bool ok = !strncmp(line, "ok ", 3);
	bool skipped = strstr(line + end, "# SKIP"); /* before or after the name */

	out->failed += !ok && !skipped;
	print_result(ok || skipped, skipped ? "# SKIP" : "-", out->tests[out->seen++].name);
	return true;
}

static void line_is_complete(struct output *out)
{
	const char *line = out->line;
	unsigned int planned;

	out->line[out->length] = '\0';
	out->length = 0;
	if (!is_result(out, line) && sscanf(line, "1..%u", &planned) != 1 &&
	    strncmp(line, "TAP version", 11) && strncmp(line, "# ok - ", 7) &&
	    strncmp(line, "# not ok - ", 11))
		puts(line);
}

static void add_output(struct output *out, const char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] != '\n')
			out->line[out->length++] = text[i];
		if (text[i] == '\n' || out->length == sizeof(out->line) - 1)
			line_is_complete(out);
	}
}

/* Returns the wait status. A process that a test left behind may keep the pipe open: the end of
 * the group counts, not that of the pipe. */
static int read_output(int fd, pid_t child, struct output *out)
{
	struct pollfd in = {.fd = fd, .events = POLLIN};
	int status = 0;
	bool ended = false;
	char text[4096];
	ssize_t n;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	for (;;) {
		poll(&in, 1, 100);
		n = read(fd, text, sizeof(text));
		if (n > 0)
			add_output(out, text, n);
		else if (n == 0 || ended)
			break;
		else
			ended = waitpid(child, &status, WNOHANG) == child;
	}
	if (!ended)
		waitpid(child, &status, 0);
	if (out->length)
		line_is_complete(out);
	return status;
}

static void print_end(const char *test, int status)
{
	printf("# %s%s%s: ended with %s%d\n", program.group, test ? "." : "", test ? test : "",
	       WIFSIGNALED(status) ? "signal " : "",
	       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

/* Returns the number of tests that ran. */
static size_t run_process(const struct CMUnitTest *tests, size_t n, CMFixtureFunction setup,
			  CMFixtureFunction teardown)
{
	struct output out = {.tests = tests, .n = n};
	int fds[2], status;
	pid_t child;

	fflush(stdout);
	if (pipe(fds) || (child = fork()) < 0) {
		perror("unit tests");
		exit(1);
	}
	if (!child) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		setvbuf(stdout, NULL, _IOLBF, 0);
		exit(__real__cmocka_run_group_tests(program.group, tests, n, setup, teardown) != 0);
	}
	close(fds[1]);
	status = read_output(fds[0], child, &out);
	close(fds[0]);
	if (out.seen < n) {
		print_result(false, "-", tests[out.seen].name);
		print_end(tests[out.seen].name, status);
		return out.seen + 1;
	}
	if (status && !out.failed)
		print_result(false, "-", NULL);
	if (status && (!out.failed || !WIFEXITED(status) || WEXITSTATUS(status) != 1))
		print_end(NULL, status);
	return n;
}

int __wrap__cmocka_run_group_tests(const char *name, const struct CMUnitTest *tests, size_t n,
				   CMFixtureFunction setup, CMFixtureFunction teardown)
{
	struct CMUnitTest *selected = calloc(n, sizeof(*selected));
	size_t count = 0;

	if (!selected)
		return 1;
	for (size_t i = 0; i < n; i++)
		if (is_selected(tests[i].name))
			selected[count++] = tests[i];
	for (size_t i = 0; i < count && program.list; i++)
		printf("%s.%s\n", program.group, selected[i].name);
	for (size_t done = 0; done < count && !program.list;)
		done += run_process(selected + done, count - done, setup, teardown);
	free(selected);
	return 0;
}

/* The order of the tests is that of the file. */
static int run_tests_of(const char *group)
{
	struct CMUnitTest *tests =
		calloc((size_t)(__stop_unit_tests - __start_unit_tests) + 1, sizeof(*tests));
	size_t n = 0;

	if (!tests)
		return 1;
	for (const struct unit_test *const *t = __start_unit_tests; t < __stop_unit_tests; t++)
		if (!strcmp((*t)->group, group))
			tests[n++] = (*t)->test;
	const int failed = __wrap__cmocka_run_group_tests(group, tests, n, NULL, NULL);
	free(tests);
	return failed;
}

int main(int argc, char **argv)
{
	const char *arg = argc > 1 ? argv[1] : NULL;

	program.list = arg && !strcmp(arg, "--list");
	if (argc > 2 || (arg && *arg == '-' && !program.list)) {
		fprintf(stderr, USAGE, argv[0]);
		return 2;
	}
	program.filter = arg && !program.list ? arg : getenv("CMOCKA_TEST_FILTER");
	setenv("CMOCKA_MESSAGE_OUTPUT", "TAP", 1);
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (const struct unit_group *group = __start_unit_groups; group < __stop_unit_groups;
	     group++) {
		program.group = group->name;
		program.failed += (group->run ? group->run() : run_tests_of(group->name)) != 0;
	}
	if (program.list)
		return 0;
	printf("1..%u\n", program.printed);
	if (!program.printed)
		fprintf(stderr, "%s: no test matches '%s'\n", argv[0],
			program.filter ? program.filter : "*");
	return program.failed || !program.printed;
}
