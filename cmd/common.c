// SPDX-License-Identifier: BSD-2-Clause
/* What every command says the same way: errors and the log. */
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/streams.h"
#include "lib/base/failure.h"
#include "lib/base/plain_text.h"
#include "lib/sys/open_file.h"
#include "lib/sys/write_stream.h"

/* What cannot be written is not worth an error. */
static void say(const struct strbuf *text)
{
	bool closed = false;

	error_free(cmd_write_fd(STDERR_FILENO, strbuf_str(text), text->len, &closed));
}

int cmd_fail(struct error *err)
{
	const int status = err->usage ? 2 : 1;
	const char *how = getenv(CMD_ERRORS_VARIABLE);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (how && !strcmp(how, "json")) {
		error_json(err, &text);
		cmd_say("%s\n", strbuf_str(&text));
	} else {
		error_text(err, &text);
		plain_since(&text, 0, true);
		cmd_say("perf-bpf: error: %s\n",
			strbuf_failed(&text) ? err->msg : strbuf_str(&text));
		if (err->hint) {
			strbuf_reset(&text);
			strbuf_adds(&text, err->hint);
			plain_since(&text, 0, true);
			cmd_say("hint: %s\n", strbuf_str(&text));
		}
	}
	error_free(err);
	return status;
}

void cmd_say(const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (!strbuf_failed(&text)) {
		say(&text);
		return;
	}
	va_start(ap, fmt); /* without memory */
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

static void write_stderr(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, level == LOG_WARN ? "perf-bpf: warning: " : "perf-bpf: ");
	strbuf_vaddf(&text, fmt, ap);
	plain_since(&text, 0, true); /* names of files and functions may be anybody's */
	strbuf_addch(&text, '\n');
	say(&text);
}

struct log cmd_log(int verbose)
{
	enum log_level level = verbose >= 2 ? LOG_DEBUG : verbose == 1 ? LOG_INFO : LOG_WARN;

	return (struct log){.level = level, .write = write_stderr};
}

struct error *cmd_print(const struct strbuf *out)
{
	if (strbuf_failed(out))
		return error_nomem();
	fwrite(strbuf_str(out), 1, out->len, stdout);
	return NULL;
}

struct error *cmd_write_fd(int fd, const char *data, size_t size, bool *closed)
{
	_cleanup_error_ struct error *err = streams_write(fd, data, size, closed);

	return err ? error_errno(err->code, "cannot write the output") : NULL;
}

struct error *cmd_write_out(const char *data, size_t size, bool *closed)
{
	return cmd_write_fd(STDOUT_FILENO, data, size, closed);
}

struct error *cmd_open_output(const char *path, int *fd)
{
	_cleanup_output_path_ struct output_path out = {.dir_fd = -1};

	TRY(output_find(path, &out));
	if (out.is_special)
		return error_prefix(open_stream(out.dir_fd, out.name,
						O_APPEND | (out.is_magic ? 0 : O_NOFOLLOW), fd),
				    "cannot write '%s'", path);
	/* what root sees of other users is root's */
	return output_create(&out, path, O_WRONLY, geteuid() ? 0666 : 0600, fd);
}

struct error *cmd_check_writable(const char *path)
{
	_cleanup_output_path_ struct output_path out = {.dir_fd = -1};

	TRY(output_find(path, &out));
	if (faccessat(out.dir_fd, out.is_special ? out.name : ".", W_OK, 0))
		return error_errno(errno, "cannot write '%s'", path);
	return NULL;
}

/* A pipe, a device: there is nothing to put in its place. */
static struct error *write_special(const struct output_path *out, const char *path,
				   const struct strbuf *text)
{
	const struct write_stream_opts opts = {0};
	const int no_link = out->is_magic ? 0 : O_NOFOLLOW;
	enum stream_state state = STREAM_OPEN;
	_cleanup_close_ int fd = -1;
	size_t written;

	TRY(error_prefix(open_stream(out->dir_fd, out->name, O_APPEND | no_link, &fd),
			 "cannot write '%s'", path));
	_cleanup_error_ struct error *err =
		write_stream(fd, text->str, text->len, &opts, &written, &state);
	if (err)
		return error_errno(err->code, "cannot write '%s'", path);
	if (state == STREAM_STALLED)
		return error_new(EPIPE, "cannot write '%s': its reader does not read it", path);
	return state == STREAM_OPEN ? NULL : error_errno(EPIPE, "cannot write '%s'", path);
}

struct error *cmd_write_file(const char *path, const struct strbuf *text, bool is_private)
{
	_cleanup_output_path_ struct output_path out = {.dir_fd = -1};

	TRY(output_find(path, &out));
	if (out.is_special)
		return write_special(&out, path, text);
	mode_t mode = is_private && !geteuid() ? 0600 : 0666;
	if (out.exists && out.is_ours)
		mode = out.mode;
	return file_replace(out.dir_fd, out.name, text->str, text->len, mode);
}
