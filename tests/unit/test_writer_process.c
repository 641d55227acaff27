// SPDX-License-Identifier: BSD-2-Clause
/* The process that writes files for another one: requests, errors, and its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/strbuf.h"
#include "lib/sys/descriptors.h"
#include "lib/sys/open_file.h"
#include "perf/record/buildid_process.h"
#include "work/keeper.h"
#include "work/writer_process.h"

struct wanted {
	int kept, closed; /* descriptors */
	const char *confined;
};

static struct error *refuse(void *ctx)
{
	return error_new(EPERM, "refused here");
}

static struct error *mark(void *ctx)
{
	((struct wanted *)ctx)->confined = "yes"; /* in the other process alone */
	return NULL;
}

/* "copy": what is passed is copied to the descriptor that was kept. */
static struct error *serve(void *ctx, const void *request, size_t size, int fd)
{
	const struct wanted *wanted = ctx;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char long_text[2000];

	if (size == 4 && !memcmp(request, "copy", 4)) {
		TRY(memory_file_read(fd, &text));
		return file_write(wanted->kept, text.str, text.len);
	}
	if (size == 4 && !memcmp(request, "look", 4))
		return error_at(error_hint(error_new(EBUSY, "fd %d, closed %d, confined %s", fd,
						     fcntl(wanted->closed, F_GETFD) < 0,
						     wanted->confined),
					   "a hint"),
				"here");
	if (size == 4 && !memcmp(request, "quit", 4))
		_exit(0);
	memset(long_text, 'x', sizeof(long_text));
	return error_new(EINVAL, "%zu %.*s", size, (int)sizeof(long_text), long_text);
}

static struct writer_process *begin(struct wanted *wanted)
{
	struct writer_process *writer;
	const struct writer_process_opts opts = {
		.confine = mark, .write = serve, .ctx = wanted, .keep = wanted->kept};

	assert_null(writer_process_new(&opts, &writer));
	return writer;
}

static void requests_are_served(void **state)
{
	struct wanted wanted = {.closed = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 100)};
	char big[WRITER_MAX_REQUEST + 1] = "", got[16] = "";
	int passed, ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	wanted.kept = ends[1];
	struct writer_process *writer = begin(&wanted);
	assert_null(memory_file_new("text", "hello", 5, &passed));
	for (unsigned i = 0; i < 2; i++)
		assert_null(writer_process_ask(writer, "copy", 4, passed));
	assert_int_equal(read(ends[0], got, sizeof(got)), 10);
	assert_string_equal(got, "hellohello");
	struct error *err = writer_process_ask(writer, "look", 4, -1);
	assert_int_equal(err->code, EBUSY);
	assert_string_equal(err->msg, "fd -1, closed 1, confined yes");
	assert_string_equal(err->where, "here");
	assert_string_equal(err->hint, "a hint");
	error_free(err);
	assert_null(wanted.confined);
	err = writer_process_ask(writer, big, sizeof(big) - 1, -1);
	assert_int_equal(err->code, EINVAL);
	assert_memory_equal(err->msg, "8192 xxx", 8);
	error_free(err);
	err = writer_process_ask(writer, big, sizeof(big), -1);
	assert_int_equal(err->code, EMSGSIZE);
	error_free(err);
	writer_process_free(writer);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	close(passed);
	close(wanted.closed);
	close(ends[0]);
	close(ends[1]);
}

static void its_end_is_an_error(void **state)
{
	struct wanted wanted = {.kept = -1, .closed = -1};
	struct writer_process *writer = begin(&wanted);

	for (unsigned i = 0; i < 2; i++) {
		struct error *err = writer_process_ask(writer, "quit", 4, -1);
		assert_non_null(err);
		assert_int_equal(err->code, EPIPE);
		error_free(err);
	}
	writer_process_free(writer);
	const struct writer_process_opts opts = {.confine = refuse, .write = serve, .keep = -1};
	struct error *err = writer_process_new(&opts, &writer);
	assert_int_equal(err->code, EPERM);
	assert_string_equal(err->msg, "refused here");
	error_free(err);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Forked when it is first asked, and with what was there when the keeper was started. */
static void late_ones_are_forked_when_they_are_asked(void **state)
{
	struct wanted wanted = {.kept = -1, .closed = -1};
	struct writer_process_opts opts = {
		.confine = mark, .write = serve, .ctx = &wanted, .keep = -1};
	struct writer_process *writer, *other, *refused;
	struct keeper *keeper;

	assert_null(keeper_new(&keeper));
	opts.keeper = keeper;
	assert_null(writer_process_new(&opts, &writer));
	assert_null(writer_process_new(&opts, &other)); /* is never asked */
	opts.confine = refuse;
	assert_null(writer_process_new(&opts, &refused));
	assert_null(keeper_start(keeper));
	for (unsigned i = 0; i < 2; i++) {
		struct error *err = writer_process_ask(writer, "look", 4, -1);
		assert_int_equal(err->code, EBUSY);
		assert_non_null(strstr(err->msg, "confined yes"));
		error_free(err);
		err = writer_process_ask(refused, "look", 4, -1);
		assert_int_equal(err->code, i ? EPIPE : EPERM);
		error_free(err);
	}
	/* It is not forked again. */
	struct error *err = writer_process_ask(writer, "quit", 4, -1);
	assert_int_equal(err->code, EPIPE);
	error_free(err);
	writer_process_free(refused);
	writer_process_free(other);
	writer_process_free(writer);
	keeper_free(keeper);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* Signals of the terminal are for the command, which still needs its files then. */
static void signals_do_not_end_it(void **state)
{
	struct wanted wanted = {.kept = -1, .closed = -1};

	const pid_t pid = fork();
	if (!pid) {
		setpgid(0, 0);
		struct writer_process *writer = begin(&wanted);
		signal(SIGINT, SIG_IGN); /* in this one alone */
		kill(0, SIGINT);
		_cleanup_error_ struct error *err = writer_process_ask(writer, "look", 4, -1);
		writer_process_free(writer);
		_exit(err->code != EBUSY);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void copies_are_made(void **state)
{
	const uint8_t id[32] = {0xab, 0xcd}, other[20] = {0xef};
	char dir[] = "/tmp/writer-test.XXXXXX", path[128], got[8] = "";
	struct buildid_process *process;
	int fd;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(chdir(dir), 0);
	assert_null(buildid_process_new("cache", NULL, NULL, &process));
	assert_null(memory_file_new("binary", "code", 4, &fd));
	assert_null(buildid_process_add(process, "/bin/x", fd, geteuid(), id, 20));
	assert_null(buildid_process_add(NULL, "/bin/y", fd, geteuid(), id, 20));
	struct error *err = buildid_process_add(process, "/../x", fd, geteuid(), other, 20);
	assert_int_equal(err->code, EINVAL);
	error_free(err);
	err = buildid_process_add(process, "/bin/z", fd, geteuid(), id, 32);
	assert_int_equal(err->code, EINVAL);
	error_free(err);
	buildid_process_free(process);
	close(fd);
	snprintf(path, sizeof(path), "cache/bin/x/abcd%036d/elf", 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, got, sizeof(got)), 4);
	assert_string_equal(got, "code");
	close(fd);
	assert_int_equal(access("x", F_OK), -1);
	assert_int_equal(access("cache/bin/y", F_OK), -1);
	assert_int_equal(chdir("/"), 0);
	char remove[64];
	snprintf(remove, sizeof(remove), "rm -rf %s", dir);
	assert_int_equal(system(remove), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_are_served),
		cmocka_unit_test(its_end_is_an_error),
		cmocka_unit_test(late_ones_are_forked_when_they_are_asked),
		cmocka_unit_test(signals_do_not_end_it),
		cmocka_unit_test(copies_are_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
