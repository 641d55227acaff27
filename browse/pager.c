// SPDX-License-Identifier: BSD-2-Clause
#include "browse/pager.h"

#include <stdlib.h>
#include <string.h>

#include "browse/scroll.h"

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

void pager_draw(struct pager *pager, struct canvas *canvas, size_t first_row, size_t n)
{
	pager->cursor = scroll_moved(pager->cursor, 0, pager->lines.n);
	pager->first = scroll_first(pager->first, pager->cursor, n, pager->lines.n);
	for (size_t i = 0; i < n && pager->first + i < pager->lines.n; i++)
		canvas_fill(canvas, first_row + i, 0, canvas->columns,
			    pager->first + i == pager->cursor ? STYLE_CURSOR : STYLE_NORMAL,
			    pager->lines.v[pager->first + i]);
}
