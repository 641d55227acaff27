// SPDX-License-Identifier: BSD-2-Clause
#include "browse/pager.h"

#include <stdlib.h>
#include <string.h>

#include "browse/scroll.h"

enum { MAX_COLUMN = 1000 };

void pager_deinit(struct pager *pager)
{
	vec_deinit(&pager->lines);
	arena_deinit(&pager->arena);
	free(pager->title);
	free(pager->search);
	*pager = (struct pager){0};
}

bool pager_add(struct pager *pager, const char *text, size_t n, double share)
{
	struct pager_line *line = vec_push(&pager->lines);

	if (!line)
		return false;
	*line = (struct pager_line){arena_text(&pager->arena, text, n), share};
	if (!line->text)
		pager->lines.n--;
	return line->text;
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

static size_t n_body(const struct pager *pager)
{
	return pager->lines.n - min_of(pager->n_heads, pager->lines.n);
}

void pager_move(struct pager *pager, ptrdiff_t by)
{
	pager->cursor = scroll_moved(pager->cursor, by, n_body(pager));
}

static const struct pager_line *body_line(const struct pager *pager, size_t i)
{
	return &pager->lines.v[pager->n_heads + i];
}

bool pager_find(struct pager *pager, const char *text, bool backwards)
{
	const size_t n = n_body(pager);

	for (size_t step = 1; step <= n; step++) {
		const size_t i = (pager->cursor + (backwards ? n - step : step)) % n;

		if (strstr(body_line(pager, i)->text, text)) {
			pager->cursor = i;
			return true;
		}
	}
	return false;
}

/* Whether the line i comes after the line j: a smaller share, or the same further down. */
static bool is_after(const struct pager *pager, size_t i, size_t j)
{
	const double a = body_line(pager, i)->share, b = body_line(pager, j)->share;

	return a > 0 && (a < b || (a == b && i > j));
}

bool pager_next_hot(struct pager *pager)
{
	const size_t n = n_body(pager);
	size_t next = n, largest = n;

	for (size_t i = 0; i < n; i++) {
		if (body_line(pager, i)->share <= 0)
			continue;
		if (largest == n || is_after(pager, largest, i))
			largest = i;
		if (body_line(pager, pager->cursor)->share > 0 &&
		    is_after(pager, i, pager->cursor) && (next == n || is_after(pager, next, i)))
			next = i;
	}
	if (largest == n)
		return false;
	pager->cursor = next < n ? next : largest;
	return true;
}

static void draw_line(const struct pager *pager, struct canvas *canvas, size_t row,
		      const struct pager_line *line, bool chosen)
{
	const enum canvas_style style = chosen ? STYLE_CURSOR : scroll_share_style(line->share);
	const char *text = line->text;

	for (size_t i = 0; i < pager->column && *text; i++)
		text++;
	while ((*text & 0xc0) == 0x80) /* not from the middle of a character */
		text++;
	canvas_fill(canvas, row, 0, canvas->columns, style, text);
}

void pager_draw(struct pager *pager, struct canvas *canvas, size_t first_row, size_t n)
{
	const size_t heads = min_of(min_of(pager->n_heads, pager->lines.n), n);

	pager->cursor = scroll_moved(pager->cursor, 0, n_body(pager));
	pager->column = min_of(pager->column, (size_t)MAX_COLUMN);
	pager->first = scroll_first(pager->first, pager->cursor, n - heads, n_body(pager));
	for (size_t i = 0; i < heads; i++)
		canvas_fill(canvas, first_row + i, 0, canvas->columns, STYLE_HEAD,
			    pager->lines.v[i].text);
	for (size_t i = 0; i + heads < n && pager->first + i < n_body(pager); i++)
		draw_line(pager, canvas, first_row + heads + i, body_line(pager, pager->first + i),
			  pager->first + i == pager->cursor);
}
