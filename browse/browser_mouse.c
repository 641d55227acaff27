// SPDX-License-Identifier: BSD-2-Clause
/*
 * The mouse does what keys do. A click chooses a line, and a click on the chosen line is Enter; on
 * the sign before a row it is "+", and with the right button "m". A click in a menu chooses, and
 * beside it leaves it. The wheel scrolls: the cursor stays where it is on the screen, and goes on
 * to the first or the last line once that is seen.
 */
#include "browse/internal.h"
#include "browse/scroll.h"

enum { WHEEL = 3 }; /* lines */

/* By a screen row: the line of a list; SIZE_MAX: none is there. */
static size_t line_at(const struct browser *b, size_t row, size_t first, size_t n)
{
	const size_t at = row - min_of(row, b->top);

	return row >= b->top && at < b->page && first + at < n ? first + at : SIZE_MAX;
}

static uint32_t click_menu(struct menu *menu, struct mouse mouse)
{
	const size_t at = mouse.row - min_of(mouse.row, menu->y);
	const bool is_inside = mouse.row >= menu->y && at < menu->rows && mouse.column >= menu->x &&
			       mouse.column < menu->x + menu->columns;

	switch (mouse.button) {
	case MOUSE_WHEEL_UP:
		return KEY_UP;
	case MOUSE_WHEEL_DOWN:
		return KEY_DOWN;
	default:
		if (!is_inside || menu->first + at >= menu->items.n)
			return KEY_ESCAPE;
		menu->cursor = menu->first + at;
		return KEY_ENTER;
	}
}

static uint32_t click_table(struct browser *b, struct mouse mouse)
{
	const size_t at = line_at(b, mouse.row, b->first, b->rows.v.n);

	if (at == SIZE_MAX)
		return KEY_NONE;
	const bool was_chosen = at == b->cursor;
	const struct browse_row *row = &b->rows.v.v[at];

	b->cursor = at;
	if (mouse.button == MOUSE_RIGHT)
		return 'm';
	if (row->can_open && mouse.column == browser_sign_column(b, row))
		return '+';
	return was_chosen ? KEY_ENTER : KEY_NONE;
}

static uint32_t click_code(struct browser *b, struct mouse mouse)
{
	const size_t at = line_at(b, mouse.row, b->code.first, b->code.rows.n);

	if (at == SIZE_MAX || mouse.button != MOUSE_LEFT)
		return KEY_NONE;
	const bool was_chosen = at == b->code.cursor;

	b->code.cursor = at;
	return was_chosen ? KEY_ENTER : KEY_NONE;
}

static void click_pager(struct browser *b, struct mouse mouse)
{
	const size_t at = line_at(b, mouse.row, b->pager.first, b->pager.lines.n);

	if (at != SIZE_MAX)
		b->pager.cursor = at;
}

static void scroll(struct browser *b, ptrdiff_t by)
{
	switch (b->mode) {
	case MODE_TABLE:
		b->first = scroll_moved(b->first, by, b->rows.v.n);
		b->cursor = scroll_moved(b->cursor, by, b->rows.v.n);
		break;
	case MODE_CODE:
		b->code.first = scroll_moved(b->code.first, by, b->code.rows.n);
		code_move(&b->code, by);
		break;
	default:
		b->pager.first = scroll_moved(b->pager.first, by, b->pager.lines.n);
		pager_move(&b->pager, by);
	}
}

uint32_t browser_mouse(struct browser *b, struct mouse mouse)
{
	if (b->mode == MODE_PROMPT || b->mode == MODE_EXIT) /* they wait for the keyboard */
		return KEY_NONE;
	if (b->mode == MODE_MENU)
		return click_menu(&b->menu, mouse);
	if (mouse.button == MOUSE_WHEEL_UP || mouse.button == MOUSE_WHEEL_DOWN) {
		scroll(b, mouse.button == MOUSE_WHEEL_UP ? -WHEEL : WHEEL);
		return KEY_NONE;
	}
	if (b->mode == MODE_TABLE)
		return click_table(b, mouse);
	if (b->mode == MODE_CODE)
		return click_code(b, mouse);
	click_pager(b, mouse);
	return KEY_NONE;
}
