/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log sink. No room below cmd/ writes to stdout or stderr: what is worth
 * saying besides errors goes to the sink the caller handed in. A NULL sink
 * swallows all. The text ends without a newline.
 */
#ifndef PB_BASE_LOG_H
#define PB_BASE_LOG_H

#include <stdarg.h>

#include "lib/base/util.h"

enum log_level {
	LOG_WARN,  /* the user should know: something is missing or was lost */
	LOG_INFO,  /* -v */
	LOG_DEBUG, /* -vv */
};

struct log {
	enum log_level level; /* the least urgent level that is wanted */
	void (*write)(void *ctx, enum log_level level, const char *fmt, va_list ap);
	void *ctx;
};

void log_at(const struct log *log, enum log_level level, const char *fmt, ...) _printf_(3, 4);

#define log_warn(log, ...)  log_at(log, LOG_WARN, __VA_ARGS__)
#define log_info(log, ...)  log_at(log, LOG_INFO, __VA_ARGS__)
#define log_debug(log, ...) log_at(log, LOG_DEBUG, __VA_ARGS__)

#endif
