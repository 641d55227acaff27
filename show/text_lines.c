// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events as lines of text. The format is printf(3)'s, with \n, \t, \" and \\ as two characters, and
 * is an object's, which may be anything: a conversion without a cell, or of another kind than its
 * cell, adds the cell as a table has it, and none where there is none. Widths are limited.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "show/internal.h"
#include "show/plain.h"

enum {
	MAX_WIDTH = 1000,
};

struct line_conversion {
	char flags[6];
	unsigned width;
	int precision; /* -1: not given */
	char letter;   /* 0: it is none */
};

static unsigned read_number(const char **p)
{
	unsigned n = 0;

	for (; **p >= '0' && **p <= '9'; ++*p)
		n = min_of(n * 10 + (unsigned)(**p - '0'), (unsigned)MAX_WIDTH);
	return n;
}

/* *p is behind the '%', and then behind the conversion. */
static struct line_conversion read_conversion(const char **p)
{
	struct line_conversion c = {.precision = -1};
	size_t n = 0;

	for (; **p && strchr("-+ #0", **p); ++*p)
		if (n + 1 < sizeof(c.flags) && !strchr(c.flags, **p))
			c.flags[n++] = **p;
	c.width = read_number(p);
	if (**p == '.') {
		++*p;
		c.precision = (int)read_number(p);
	}
	while (**p && strchr("hlzj", **p))
		++*p;
	if (**p && strchr("diuxXocsp%", **p))
		c.letter = *(*p)++;
	return c;
}

static void add_padded(const struct line_conversion *c, const char *text, size_t len,
		       struct strbuf *out)
{
	const size_t blanks = c->width > len ? c->width - len : 0;
	const bool left = strchr(c->flags, '-');

	if (!left)
		text_fill(out, ' ', blanks);
	strbuf_add(out, text, len);
	if (left)
		text_fill(out, ' ', blanks);
}

static void add_number(const struct line_conversion *c, const struct result_cell *cell,
		       struct strbuf *out)
{
	char format[48], width[16] = "", precision[16] = "";

	if (c->letter == 'c') {
		const char one = (char)cell->u;
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		plain_add(&text, &one, 1);
		add_padded(c, strbuf_str(&text), text.len, out);
		out->failed |= strbuf_failed(&text);
		return;
	}
	if (c->width)
		snprintf(width, sizeof(width), "%u", c->width);
	if (c->precision >= 0)
		snprintf(precision, sizeof(precision), ".%d", c->precision);
	snprintf(format, sizeof(format), "%%%s%s%s%sll%c", c->letter == 'p' ? "#" : "", c->flags,
		 width, precision, c->letter == 'p' ? 'x' : c->letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	strbuf_addf(out, format, (unsigned long long)cell->u);
#pragma GCC diagnostic pop
}

static void add_cell(const struct line_conversion *c, const struct result_cell *cell,
		     struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (c->letter != 's' &&
	    (cell->kind == CELL_UINT || cell->kind == CELL_INT || cell->kind == CELL_BOOL)) {
		add_number(c, cell, out);
		return;
	}
	cell_text(cell, &text);
	add_padded(c, strbuf_str(&text),
		   c->letter == 's' && c->precision >= 0 ? min_of(text.len, (size_t)c->precision)
							 : text.len,
		   out);
	out->failed |= strbuf_failed(&text);
}

/* Of the two characters of an escape, the second. */
static void add_escape(char c, struct strbuf *out)
{
	strbuf_addch(out, c == 'n' ? '\n' : c == 't' ? '\t' : c);
}

void text_line_add(const char *format, const struct result_cell *cells, size_t n,
		   struct strbuf *out)
{
	size_t i = 0;

	for (const char *p = format; *p;) {
		if (*p == '\\' && p[1]) {
			add_escape(p[1], out);
			p += 2;
			continue;
		}
		const size_t len = strcspn(p, "%\\");
		if (len || *p == '\\') {
			plain_add(out, p, max_of(len, (size_t)1));
			p += max_of(len, (size_t)1);
			continue;
		}
		p++;
		const struct line_conversion c = read_conversion(&p);
		if (c.letter == '%' || !c.letter)
			strbuf_addch(out, '%');
		else if (i < n)
			add_cell(&c, &cells[i++], out);
	}
	strbuf_addch(out, '\n');
}
