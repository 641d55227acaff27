// SPDX-License-Identifier: BSD-2-Clause
#include "show/table.h"

#include "lib/base/util.h"

static void fill(struct strbuf *out, char c, size_t n)
{
	while (n--)
		strbuf_addch(out, c);
}

void show_table_head(const struct show_table *t, struct strbuf *out)
{
	strbuf_adds(out, "# ");
	for (size_t i = 0; i < t->n; i++) {
		const struct show_column *col = &t->columns[i];
		size_t len = min_of(strlen(col->title), (size_t)col->width);

		if (i)
			strbuf_adds(out, t->separator ? t->separator : "  ");
		if (col->right)
			fill(out, ' ', col->width - len);
		strbuf_add(out, col->title, len);
		if (!col->right)
			fill(out, ' ', col->width - len);
	}
	strbuf_addch(out, '\n');
	if (t->separator)
		return;
	strbuf_adds(out, "# ");
	for (size_t i = 0; i < t->n; i++) {
		if (i)
			strbuf_adds(out, "  ");
		fill(out, '.', t->columns[i].width);
	}
	strbuf_adds(out, "\n#\n");
}

void show_table_row(const struct show_table *t, const char *const *cells, struct strbuf *out)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t len = strlen(cells[i]);

		if (!t->separator)
			strbuf_adds(out, "  ");
		else if (i)
			strbuf_adds(out, t->separator);
		strbuf_add(out, cells[i], len);
		if (i + 1 < t->n && len < t->columns[i].width)
			fill(out, ' ', t->columns[i].width - len);
	}
	strbuf_addch(out, '\n');
}
