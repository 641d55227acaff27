/* SPDX-License-Identifier: BSD-2-Clause */
/* Records as lines of JSON: each is a document of its own. */
#ifndef PB_PERF_PRINT_JSON_LINE_H
#define PB_PERF_PRINT_JSON_LINE_H

#include "lib/base/json.h"
#include "lib/base/json_writer.h"

static inline struct json_writer begin_line(struct strbuf *out)
{
	struct json_writer w = json_writer_make(out);

	jw_object(&w, NULL);
	return w;
}

static inline void end_line(struct json_writer *w)
{
	jw_end(w);
	json_writer_finish(w);
	strbuf_addch(w->out, '\n');
}

/* As hexadecimal digits. */
static inline void add_hex_bytes(struct json_writer *w, const char *key, const void *bytes,
				 size_t n)
{
	json_add_bytes(jw_value(w, key), bytes, n);
}

#endif
