// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/process_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/privileges.h"
#include "perf/resolve/resolve.h"
#include "work/writer_process.h"

struct process_files {
	struct writer_process *process;
	const struct log *log;
	int answer; /* of the other process; -1: none */
};

/* ---- in the other process ---- */

static struct error *confine_opener(void *ctx)
{
	const struct process_files *files = ctx;

	return privileges_of_map_opener(files->log);
}

static struct error *open_map(void *ctx, const void *bytes, size_t size, int fd)
{
	struct process_files *files = ctx;
	int32_t pid;

	if (size != sizeof(pid))
		return error_new(EBADMSG, "an invalid request for a perf map");
	memcpy(&pid, bytes, sizeof(pid));
	return perf_map_open(pid, &files->answer);
}

static int give_answer(void *ctx)
{
	struct process_files *files = ctx;

	return steal_fd(&files->answer);
}

/* ---- in this one ---- */

struct error *process_files_new(struct keeper *keeper, const struct log *log,
				struct process_files **out)
{
	_cleanup_(process_files_freep) struct process_files *files = calloc(1, sizeof(*files));

	if (!files)
		return error_nomem();
	files->answer = -1;
	files->log = log;
	const struct writer_process_opts opts = {
		.confine = confine_opener,
		.write = open_map,
		.give = give_answer,
		.ctx = files,
		.keep = -1,
		.keeper = keeper,
	};
	TRY(writer_process_new(&opts, &files->process));
	*out = steal_ptr(files);
	return NULL;
}

void process_files_free(struct process_files *files)
{
	if (!files)
		return;
	writer_process_free(files->process);
	free(files);
}

struct error *process_files_perf_map(void *ctx, int32_t pid, int *fd)
{
	struct process_files *files = ctx;

	TRY(writer_process_get(files->process, &pid, sizeof(pid), fd));
	return *fd < 0 ? error_new(EBADMSG, "the perf map was not passed") : NULL;
}
