// SPDX-License-Identifier: BSD-2-Clause
#include "browse/pager.h"

#include <stdlib.h>
#include <string.h>

#include "browse/scroll.h"
#include "show/plain.h"

enum { SCROLL = 8 }; /* columns */

void pager_deinit(struct pager *pager)
{
	vec_deinit(&pager->lines);
	arena_deinit(&pager->arena);
	free(pager->title);
	free(pager->search);
	*pager = (struct pager){0};
}

bool pager_add(struct pager *pager, const char *text, size_t n)
{
	const char *copy = arena_text(&pager->arena, text, n);
	const char **line = copy ? vec_push(&pager->lines) : NULL;

	if (line)
		*line = copy;
	return line;
}

bool pager_set_title(struct pager *pager, const char *title)
{
	free(pager->title);
	pager->title = strdup(title);
	return pager->title;
}

bool pager_set_search(struct pager *pager, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return false;
	free(pager->search);
	pager->search = copy;
	return true;
}

void pager_move(struct pager *pager, ptrdiff_t by)
{
	pager->cursor = scroll_moved(pager->cursor, by, pager->lines.n);
}

bool pager_find(struct pager *pager, const char *text, bool backwards)
{
	const size_t n = pager->lines.n;

	for (size_t step = 1; step <= n; step++) {
		const size_t i = (pager->cursor + (backwards ? n - step : step)) % n;

		if (strstr(pager->lines.v[i], text)) {
			pager->cursor = i;
			return true;
		}
	}
	return false;
}

bool pager_scroll(struct pager *pager, bool to_right)
{
	if (to_right)
		pager->column += min_of(pager->beyond, (size_t)SCROLL);
	else if (!pager->column)
		return false;
	else
		pager->column -= min_of(pager->column, (size_t)SCROLL);
	return true;
}

/* Lines are drawn on a wider canvas, so that characters of two columns are cut as wholes. */
static bool draw_line(const struct pager *pager, struct canvas *canvas, size_t y, size_t line)
{
	_cleanup_canvas_ struct canvas wide = {0};
	const size_t columns = canvas->columns;
	const char *text = pager->lines.v[line];
	const enum canvas_style style = line == pager->cursor ? STYLE_CURSOR : STYLE_NORMAL;

	if (!canvas_init(&wide, 1, pager->column + columns, canvas->ascii))
		return false;
	canvas_fill(&wide, 0, 0, wide.columns, style, text);
	canvas_copy(&wide, 0, pager->column, canvas, y, 0, columns);
	if (wide.is_cut)
		canvas_add(canvas, y, columns - 1, columns, style, ">");
	return true;
}

bool pager_draw(struct pager *pager, struct canvas *canvas, size_t first_row, size_t n)
{
	size_t widest = 0;
	const char **line;

	vec_for_each (line, &pager->lines)
		widest = max_of(widest, plain_width(*line, strlen(*line)));
	widest -= min_of(widest, canvas->columns);
	pager->column = min_of(pager->column, widest);
	pager->beyond = widest - pager->column;
	pager->cursor = scroll_moved(pager->cursor, 0, pager->lines.n);
	pager->first = scroll_first(pager->first, pager->cursor, n, pager->lines.n);
	for (size_t i = 0; i < n && pager->first + i < pager->lines.n; i++)
		if (!draw_line(pager, canvas, first_row + i, pager->first + i))
			return false;
	return true;
}
