// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/kernel_code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/privileges.h"
#include "lib/sys/descriptors.h"
#include "sym/kcore.h"
#include "work/writer_process.h"

struct kernel_code {
	struct writer_process *process;
	const struct log *log;
	/* of the other process */
	struct kcore *kcore;
	int answer; /* a file in memory; -1: none */
};

struct code_request {
	uint64_t address, size;
};

/* ---- in the other process ---- */

static struct error *open_and_confine(void *ctx)
{
	struct kernel_code *code = ctx;

	TRY(kcore_open(&(struct kcore_opts){0}, &code->kcore));
	return privileges_of_kernel_reader(code->log);
}

static struct error *read_code(void *ctx, const void *bytes, size_t size, int fd)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct kernel_code *code = ctx;
	struct code_request request;

	if (size != sizeof(request))
		return error_new(EBADMSG, "an invalid request for code");
	memcpy(&request, bytes, sizeof(request));
	TRY(kcore_read(code->kcore, request.address, request.size, &text));
	return memory_file_new("code", text.str, text.len, &code->answer);
}

static int give_answer(void *ctx)
{
	struct kernel_code *code = ctx;

	return steal_fd(&code->answer);
}

/* ---- in this one ---- */

struct error *kernel_code_new(struct keeper *keeper, const struct log *log,
			      struct kernel_code **out)
{
	_cleanup_(kernel_code_freep) struct kernel_code *code = calloc(1, sizeof(*code));

	if (!code)
		return error_nomem();
	code->answer = -1;
	code->log = log;
	_cleanup_close_ int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		log_debug(log, "/proc/kcore: %s", strerror(errno));
		*out = NULL;
		return NULL;
	}
	const struct writer_process_opts opts = {
		.confine = open_and_confine,
		.write = read_code,
		.give = give_answer,
		.ctx = code,
		.keep = -1,
		.keeper = keeper,
	};
	TRY(writer_process_new(&opts, &code->process));
	*out = steal_ptr(code);
	return NULL;
}

void kernel_code_free(struct kernel_code *code)
{
	if (!code)
		return;
	writer_process_free(code->process);
	free(code);
}

struct error *kernel_code_read(void *ctx, uint64_t address, uint64_t size, struct strbuf *out)
{
	const struct code_request request = {address, size};
	struct kernel_code *code = ctx;
	_cleanup_close_ int fd = -1;

	TRY(writer_process_get(code->process, &request, sizeof(request), &fd));
	return fd < 0 ? error_new(EBADMSG, "the code was not passed") : memory_file_read(fd, out);
}
