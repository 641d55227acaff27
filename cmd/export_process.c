// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/export_process.h"

#include <errno.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "cmd/privileges.h"
#include "lib/sys/descriptors.h"
#include "lib/sys/open_file.h"
#include "work/writer_process.h"

struct export_process {
	const char *paths[EXPORT_FILES]; /* that the other process writes */
	int in_place[EXPORT_FILES];	 /* open for writing; -1: not written in place */
	struct writer_process *writer;	 /* NULL: nothing to do */
	const struct log *log;
};

/* ---- in the other process ---- */

static struct error *confine_writer(void *ctx)
{
	const struct export_process *process = ctx;

	return privileges_of_writer(process->paths, EXPORT_FILES, process->log);
}

static struct error *write_passed(void *ctx, const void *request, size_t size, int fd)
{
	const struct export_process *process = ctx;
	const unsigned char *which = request;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (size != 1 || *which >= EXPORT_FILES || !process->paths[*which] || fd < 0)
		return error_new(EBADMSG, "an invalid request to write a file");
	TRY(memory_file_read(fd, &text));
	return cmd_write_file(process->paths[*which], &text, true);
}

/* ---- in this one ---- */

static struct error *open_special(struct export_process *process, enum export_file which,
				  const char *path)
{
	_cleanup_output_path_ struct output_path out = {.dir_fd = -1};

	TRY(output_find(path, &out));
	if (out.is_special)
		return cmd_open_output(path, &process->in_place[which]);
	process->paths[which] = path;
	return NULL;
}

struct error *export_process_new(const char *const paths[EXPORT_FILES], const struct log *log,
				 struct export_process **out)
{
	_cleanup_(export_process_freep) struct export_process *process =
		calloc(1, sizeof(*process));
	bool is_needed = false;

	if (!process)
		return error_nomem();
	process->log = log;
	for (size_t i = 0; i < EXPORT_FILES; i++)
		process->in_place[i] = -1;
	for (size_t i = 0; i < EXPORT_FILES; i++) {
		if (paths[i])
			TRY(open_special(process, i, paths[i]));
		is_needed = is_needed || process->paths[i];
	}
	const struct writer_process_opts opts = {
		.confine = confine_writer, .write = write_passed, .ctx = process, .keep = -1};
	if (is_needed)
		TRY(writer_process_new(&opts, &process->writer));
	*out = steal_ptr(process);
	return NULL;
}

void export_process_free(struct export_process *process)
{
	if (!process)
		return;
	for (size_t i = 0; i < EXPORT_FILES; i++)
		closep(&process->in_place[i]);
	writer_process_free(process->writer);
	free(process);
}

struct error *export_process_write(struct export_process *process, enum export_file which,
				   const struct strbuf *text)
{
	const unsigned char request = which;
	_cleanup_close_ int fd = -1;
	bool closed = false;

	if (process->in_place[which] >= 0)
		return cmd_write_fd(process->in_place[which], text->str, text->len, &closed);
	TRY(memory_file_new("output", text->str, text->len, &fd));
	return writer_process_ask(process->writer, &request, sizeof(request), fd);
}
