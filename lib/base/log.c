// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/log.h"

#include <stddef.h>

void log_at(const struct log *log, enum log_level level, const char *fmt, ...)
{
	va_list ap;

	if (!log || !log->write || level > log->level)
		return;
	va_start(ap, fmt);
	log->write(log->ctx, level, fmt, ap);
	va_end(ap);
}
