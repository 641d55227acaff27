// SPDX-License-Identifier: BSD-2-Clause
/*
 * As tools/perf/ui/stdio/hist.c of Linux 6.1 (hists__fprintf_hierarchy_headers and
 * hist_entry__hierarchy_fprintf), with its corners: -w has no effect, and what a filter leaves one
 * value is a level nevertheless.
 */
#include "show/perf_hierarchy.h"

#include <string.h>

#include "lib/base/util.h"

enum {
	INDENT = 3,	/* of each level */
	MAX_DOTS = 207, /* of perf's string of dots */
};

static void fill(struct strbuf *out, char c, size_t n)
{
	while (n--)
		strbuf_addch(out, c);
}

static size_t n_levels(const struct table_printer *p)
{
	return p->t->profile->n_levels;
}

/* Room for the levels; none where columns are separated. */
static size_t indent(const struct table_printer *p, size_t levels)
{
	return p->opts->separator || levels < 2 ? 0 : (levels - 2) * INDENT;
}

static const char *separator_of(const struct table_printer *p)
{
	return p->opts->separator ? p->opts->separator : "  ";
}

static unsigned level_of(const struct table_printer *p, size_t c)
{
	return p->t->columns[p->from[c]].level;
}

static void add_titles(const struct table_printer *p, struct strbuf *out)
{
	strbuf_adds(out, "# ");
	fill(out, ' ', indent(p, n_levels(p)));
	for (size_t c = 0; c < p->n; c++) {
		const struct show_column *col = &p->columns[c];
		const size_t len = strlen(col->title);
		const size_t room = col->width - min_of(len, (size_t)col->width);

		if (level_of(p, c))
			continue;
		if (col->right)
			fill(out, ' ', room);
		strbuf_adds(out, col->title);
		if (!col->right)
			fill(out, ' ', room);
		strbuf_adds(out, separator_of(p));
	}
}

/* "Command / Shared Object+Symbol" */
static size_t add_key_titles(const struct table_printer *p, struct strbuf *out)
{
	const size_t before = out->len;

	for (unsigned level = 1; level < n_levels(p); level++) {
		const char *sep = "";

		if (level > 1)
			strbuf_adds(out, " / ");
		for (size_t c = 0; c < p->n; c++) {
			if (level_of(p, c) != level)
				continue;
			const char *title = p->columns[c].title;
			strbuf_addf(out, "%s%s", sep, title + strspn(title, " "));
			sep = "+";
		}
	}
	return out->len - before;
}

/* The width of the widest level's keys, each of which is indented by its level. */
static size_t keys_width(const struct table_printer *p)
{
	size_t widest = 0;

	for (unsigned level = 1; level < n_levels(p); level++) {
		size_t width = (level - 1) * INDENT, n = 0;

		for (size_t c = 0; c < p->n; c++)
			if (level_of(p, c) == level)
				width += p->columns[c].width + !!n++;
		widest = max_of(widest, width);
	}
	return widest;
}

void perf_hierarchy_head(const struct table_printer *p, struct strbuf *out)
{
	const char *sep = "";

	add_titles(p, out);
	size_t width = max_of(add_key_titles(p, out), keys_width(p));
	strbuf_adds(out, "\n# ");
	fill(out, '.', indent(p, n_levels(p)));
	for (size_t c = 0; c < p->n; c++) {
		if (level_of(p, c))
			continue;
		strbuf_adds(out, sep);
		sep = p->opts->separator ? p->opts->separator : "..";
		fill(out, '.', min_of(p->columns[c].width, (unsigned)MAX_DOTS));
	}
	strbuf_adds(out, separator_of(p));
	fill(out, '.', min_of(width, (size_t)MAX_DOTS));
	strbuf_adds(out, "\n#\n");
}

void perf_hierarchy_row(struct table_printer *p, size_t row, struct strbuf *out)
{
	const struct result_sum *sum = &p->t->profile->rows[row];
	const char *sep = p->opts->separator ? "" : "  ";

	fill(out, ' ', sum->depth * INDENT);
	for (size_t c = 0; c < p->n; c++) {
		if (level_of(p, c))
			continue;
		const char *cell = table_printer_cell(p, row, c);
		const size_t len = strlen(cell);
		strbuf_addf(out, "%s%s", sep, cell);
		fill(out, ' ', p->columns[c].width - min_of(len, (size_t)p->columns[c].width));
		sep = separator_of(p);
	}
	fill(out, ' ', indent(p, n_levels(p)));
	for (size_t c = 0; c < p->n; c++) {
		if (level_of(p, c) != sum->depth + 1u)
			continue;
		const char *cell = table_printer_cell(p, row, c);
		strbuf_addf(out, "%s%s", separator_of(p), cell + strspn(cell, " "));
	}
	strbuf_addch(out, '\n');
	for (size_t c = 0; c < p->n; c++)
		out->failed |= strbuf_failed(&p->cells[c]);
}

void perf_hierarchy_note(const struct table_printer *p, size_t row, struct strbuf *out)
{
	const struct result_profile *profile = p->t->profile;
	const struct result_sum *sum = &profile->rows[row];
	size_t width = 4;

	if (sum->is_leaf || (row + 1 < p->t->n_rows && result_row_shown(p->t, row + 1)))
		return;
	for (size_t c = 0; c < p->n && !level_of(p, c); c++)
		width += p->columns[c].width + (c ? 2 : 0);
	fill(out, ' ', indent(p, n_levels(p) + sum->depth + 1) + width);
	strbuf_addf(out, "no entry >= %.2f%%\n", (float)profile->least_percent);
}
