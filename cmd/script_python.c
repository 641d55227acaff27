// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/script_python.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmd/script_named.h"
#include "lib/base/cleanup.h"
#include "lib/base/json_writer.h"
#include "lib/base/util.h"
#include "lib/sys/bounded_lines.h"
#include "lib/sys/open_file.h"
#include "perf/print/print_script.h"
#include "perf/print/script_fields.h"
#include "syscalls/call_names.h"

/* No architecture has numbers beyond: include/uapi/asm-generic/unistd.h ends at some 470. */
#define CALLS_MAX 1024

struct error *script_python_path(const char *text, const char **path)
{
	const char *colon = strchr(text, ':');
	const char *dot = strrchr(text, '.');
	const size_t len = colon ? (size_t)(colon - text) : 0;

	if ((len == 4 && !strncasecmp(text, "perl", 4)) || (!colon && dot && !strcmp(dot, ".pl")))
		return error_usage("-s: '%s': only Python scripts can be run", text);
	if ((len == 6 && !strncasecmp(text, "python", 6)) ||
	    (len == 2 && !strncasecmp(text, "py", 2)))
		text = colon + 1;
	if (!*text)
		return error_usage("-s: the name of the script is missing");
	*path = text;
	return NULL;
}

struct error *script_python_written(const char *text, const char **path)
{
	const size_t len = strlen(text);

	if (!strcmp(text, "python") || !strcmp(text, "py"))
		text = "perf-script.py";
	else if (len < 4 || strcmp(text + len - 3, ".py") != 0)
		return error_usage("-g: '%s': only Python scripts can be written", text);
	*path = text;
	return NULL;
}

struct error *script_python_fields(const char *path, uint64_t *fields)
{
	static const struct {
		const char *name;
		uint64_t field;
	} calls[] = {
		{"perf_sample_insn", FIELD_INSN},
		{"perf_sample_srcline", FIELD_SRCLINE},
		{"perf_sample_srccode", FIELD_SRCCODE},
	};
	_cleanup_bounded_lines_ struct bounded_lines lines = {0};
	const char *line;

	TRY(bounded_lines_open(path, 0, &lines));
	while ((line = bounded_lines_next(&lines)))
		for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
			if (strstr(line, calls[i].name))
				*fields |= calls[i].field;
	return NULL;
}

/* The driver as a file that has no name; python3 inherits it. */
static struct error *open_driver(int *out)
{
	_cleanup_close_ int fd = memfd_create("script driver", 0);

	if (fd < 0)
		return error_errno(errno, "cannot create a file in memory for the script");
	TRY(file_write(fd, script_driver, script_driver_size));
	*out = steal_fd(&fd);
	return NULL;
}

/*
 * Where a script is to be written: python3 inherits the directory, and uses the name in it alone,
 * so that it follows no link that another user owns.
 */
static struct error *find_written(const char *path, struct output_path *out)
{
	TRY(output_find(path, out));
	if (out->is_special)
		return error_new(EINVAL, "cannot write '%s': not a regular file", path);
	if (fcntl(out->dir_fd, F_SETFD, 0))
		return error_errno(errno, "cannot write '%s'", path);
	return NULL;
}

/* Returns only if there is no python3. */
static struct error *become_python(const struct python_script *script,
				   const struct output_path *written, int driver, int lines)
{
	char driver_path[32], lines_text[16], where[16 + sizeof(written->name)];
	size_t n = 0;

	while (script->args[n])
		n++;
	_cleanup_free_ const char **argv = calloc(n + 6, sizeof(*argv));
	if (!argv)
		return error_nomem();
	snprintf(driver_path, sizeof(driver_path), "/proc/self/fd/%d", driver);
	snprintf(lines_text, sizeof(lines_text), "%d", lines);
	argv[0] = "python3";
	argv[1] = driver_path;
	argv[2] = lines_text;
	snprintf(where, sizeof(where), "%d/%s", written->dir_fd, written->name);
	argv[3] = script->is_written ? where : "run";
	argv[4] = script->path;
	memcpy(&argv[5], script->args, n * sizeof(*argv));
	script_exec_path();
	execvp(argv[0], (char *const *)argv);
	struct error *err = error_errno(errno, "cannot run python3");
	return error_hint(err, "install Python 3 (Debian: apt-get install python3)");
}

struct error *script_python_start(const struct python_script *script)
{
	_cleanup_output_path_ struct output_path written = {.dir_fd = -1};
	_cleanup_close_ int driver = -1, lines = -1, out = -1;
	int ends[2];

	if (script->is_written)
		TRY(find_written(script->path, &written));
	else if (access(script->path, R_OK))
		return error_errno(errno, "cannot read the script %s", script->path);
	TRY(open_driver(&driver));
	if (pipe(ends))
		return error_errno(errno, "cannot create a pipe to the script");
	lines = ends[0];
	out = ends[1];
	const pid_t reader = fork();
	if (reader < 0)
		return error_errno(errno, "cannot create a process for the script");
	if (!reader)
		return dup2(out, STDOUT_FILENO) < 0 ? error_errno(errno, "dup2") : NULL;
	if (script->input_is_taken && !freopen("/dev/null", "r", stdin))
		return error_errno(errno, "cannot open /dev/null");
	close(out);
	out = -1;
	return become_python(script, &written, driver, lines);
}

void script_python_head(struct strbuf *out)
{
	struct json_writer w = json_writer_make(out);
	char number[16];

	jw_object(&w, NULL);
	jw_object(&w, "syscalls");
	for (uint32_t i = 0; i < CALLS_MAX; i++) {
		const char *name = call_name(TRACE_ABI_NATIVE, i);

		snprintf(number, sizeof(number), "%u", i);
		if (name)
			jw_text(&w, number, name);
	}
	jw_end(&w);
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_addch(out, '\n');
}

void script_python_end(void)
{
	static const char end[] = "{\"end\":true}\n";

	/* A script that has ended does not ask for it. */
	error_free(file_write(STDOUT_FILENO, end, strlen(end)));
}
