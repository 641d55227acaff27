/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of text output share. */
#ifndef PB_SHOW_INTERNAL_H
#define PB_SHOW_INTERNAL_H

#include "show/text_tables.h"

static inline void text_fill(struct strbuf *out, char c, size_t n)
{
	while (n--)
		strbuf_addch(out, c);
}

static inline unsigned text_width(const struct text_opts *opts)
{
	return opts->width ? max_of(opts->width, 20u) : 80;
}

/* The bound of a range. 1024 is 1K: powers of two are written as short as they are. */
void text_bound(uint64_t v, bool log2, struct strbuf *out);

/* Whether a cell stands at the right of its column. */
bool text_is_number(const struct result_cell *cell);

void text_stacks(const struct result *r, const struct text_opts *opts, struct strbuf *out);

void text_heat(const struct result *r, const struct text_opts *opts, struct strbuf *out);

/* The rows; then what stands in the place of rows where a look tells of events. */
void text_events_add(const struct result *r, const struct text_opts *opts, struct strbuf *out);
/* An event as a line: printf(3)'s format with the cells. */
void text_line_add(const char *format, const struct result_cell *cells, size_t n,
		   struct strbuf *out);
void text_events_total(const struct result *r, struct strbuf *out);

/* "12:03:07.000250": local time, with `digits` of a second's fraction. */
void text_time(uint64_t ns, unsigned digits, struct strbuf *out);

#endif
