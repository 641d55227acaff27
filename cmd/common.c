// SPDX-License-Identifier: BSD-2-Clause
/* What every command says the same way: errors and the log. */
#include "cmd/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/failure.h"

int cmd_fail(struct error *err)
{
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
