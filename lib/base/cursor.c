// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/cursor.h"

#include <inttypes.h>

struct error *cursor_error(const struct cursor *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct error *err = error_vnew(EBADMSG, fmt, ap);
	va_end(ap);
	error_at(err, "offset 0x%" PRIx64, c->origin + c->pos);
	return c->name ? error_at(err, "%s", c->name) : err;
}
