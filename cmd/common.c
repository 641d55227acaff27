// SPDX-License-Identifier: BSD-2-Clause
/* What every command says the same way: errors and the log. */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/failure.h"

int cmd_fail(struct error *err)
{
	const int status = err->usage ? 2 : 1;
	const char *how = getenv(CMD_ERRORS_VARIABLE);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (how && !strcmp(how, "json")) {
		error_json(err, &text);
		fprintf(stderr, "%s\n", strbuf_str(&text));
	} else {
		error_text(err, &text);
		fprintf(stderr, "perf-bpf: error: %s\n",
			strbuf_failed(&text) ? err->msg : strbuf_str(&text));
		if (err->hint)
			fprintf(stderr, "hint: %s\n", err->hint);
	}
	error_free(err);
	return status;
}

static void write_stderr(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	fputs(level == LOG_WARN ? "perf-bpf: warning: " : "perf-bpf: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

struct log cmd_log(int verbose)
{
	enum log_level level = verbose >= 2 ? LOG_DEBUG : verbose == 1 ? LOG_INFO : LOG_WARN;

	return (struct log){.level = level, .write = write_stderr};
}

struct error *cmd_check_writable(const char *path)
{
	_cleanup_free_ char *copy = strdup(path);
	struct stat st;

	if (!copy)
		return error_nomem();
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return error_errno(EISDIR, "cannot write '%s'", path);
	if (!stat(path, &st) && !S_ISREG(st.st_mode) ? access(path, W_OK)
						     : access(dirname(copy), W_OK))
		return error_errno(errno, "cannot write '%s'", path);
	return NULL;
}

/* A pipe, a device: there is nothing to put in its place. */
static struct error *write_special(const char *path, const struct strbuf *text)
{
	_cleanup_fclose_ FILE *file = fopen(path, "we");

	if (!file || fwrite(text->str, 1, text->len, file) != text->len || fflush(file))
		return error_errno(errno, "cannot write '%s'", path);
	return NULL;
}

struct error *cmd_write_file(const char *path, const struct strbuf *text)
{
	/* a link stays, and what it leads to is replaced */
	_cleanup_free_ char *real = realpath(path, NULL);
	struct stat st;

	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_special(path, text);
	_cleanup_free_ char *temporary = text_format("%s.XXXXXX", real ? real : path);
	if (!temporary)
		return error_nomem();
	_cleanup_close_ int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_errno(errno, "cannot write '%s'", path);
	_cleanup_fclose_ FILE *file = fdopen(fd, "w");
	if (file)
		fd = -1;
	const mode_t mask = umask(0);
	umask(mask);
	if (!file || fwrite(text->str, 1, text->len, file) != text->len || fflush(file) ||
	    fchmod(fileno(file), 0666 & ~mask) || rename(temporary, real ? real : path)) {
		struct error *err = error_errno(errno, "cannot write '%s'", path);

		unlink(temporary);
		return err;
	}
	return NULL;
}
