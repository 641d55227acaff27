// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/kernel_code.h"

#include <errno.h>
#include <stdlib.h>

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

static struct error *confine_reader(void *ctx)
{
	const struct kernel_code *code = ctx;

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

struct error *kernel_code_new(const struct log *log, struct kernel_code **out)
{
	_cleanup_(kernel_code_freep) struct kernel_code *code = calloc(1, sizeof(*code));

	if (!code)
		return error_nomem();
	code->answer = -1;
	code->log = log;
	struct error *err = kcore_open(&(struct kcore_opts){0}, &code->kcore);
	if (err && err->code == ENOMEM)
		return err;
	if (err) {
		log_debug(log, "%s%s%s", err->where ? err->where : "", err->where ? ": " : "",
			  err->msg);
		error_free(err);
		*out = NULL;
		return NULL;
	}
	const struct writer_process_opts opts = {
		.confine = confine_reader,
		.write = read_code,
		.give = give_answer,
		.ctx = code,
		.keep = kcore_fd(code->kcore),
	};
	TRY(writer_process_new(&opts, &code->process));
	/* This one does not have it any more. */
	kcore_free(code->kcore);
	code->kcore = NULL;
	*out = steal_ptr(code);
	return NULL;
}

void kernel_code_free(struct kernel_code *code)
{
	if (!code)
		return;
	writer_process_free(code->process);
	kcore_free(code->kcore);
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
