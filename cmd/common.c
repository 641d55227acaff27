// SPDX-License-Identifier: BSD-2-Clause
/* What every command says the same way: errors and the log. */
#include "cmd/cmd.h"

#include <stdio.h>

int cmd_fail(struct error *err)
{
	if (err->where)
		fprintf(stderr, "perf-bpf: error: %s: %s\n", err->where, err->msg);
	else
		fprintf(stderr, "perf-bpf: error: %s\n", err->msg);
	if (err->hint)
		fprintf(stderr, "hint: %s\n", err->hint);
	error_free(err);
	return 1;
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
