// SPDX-License-Identifier: BSD-2-Clause
#include "browse/canvas.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/utf8.h"
#include "show/plain.h"

enum {
	MAX_ROWS = 1000,
	MAX_COLUMNS = 2000,
	FIRST_WIDTH = 512, /* of a row that is printed */
	MAX_WIDTH = 1 << 16,
	TAB_WIDTH = 8,
};

bool canvas_init(struct canvas *canvas, size_t rows, size_t columns, bool ascii)
{
	rows = min_of(max_of(rows, (size_t)1), (size_t)MAX_ROWS);
	columns = min_of(max_of(columns, (size_t)1), (size_t)(rows > 1 ? MAX_COLUMNS : MAX_WIDTH));
	struct canvas_cell *cells = calloc(rows * columns, sizeof(*cells));

	if (!cells)
		return false;
	for (size_t i = 0; i < rows * columns; i++)
		cells[i].c = ' ';
	*canvas = (struct canvas){.rows = rows, .columns = columns, .ascii = ascii, .cells = cells};
	return true;
}

void canvas_deinit(struct canvas *canvas)
{
	free(canvas->cells);
	*canvas = (struct canvas){0};
}

static struct canvas_cell *cell_at(const struct canvas *canvas, size_t row, size_t column)
{
	return &canvas->cells[row * canvas->columns + column];
}

/* Characters that cannot be seen, and those that turn the direction of writing. */
static bool is_invisible(uint32_t c)
{
	return c < 0xa0 || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

/* The next character and its bytes; what a terminal could understand as a command is '?'. */
static uint32_t next_char(const char *text, size_t left, bool ascii, size_t *len)
{
	const uint8_t *p = (const uint8_t *)text;
	uint32_t c = *p;

	*len = 1;
	if (c < 0x80)
		return c < 0x20 || c == 0x7f ? '?' : c;
	*len = utf8_length(p, left);
	if (!*len) {
		*len = 1;
		return '?';
	}
	c = utf8_decode(p, *len);
	return ascii || is_invisible(c) ? '?' : c;
}

/* A wide character of which one half is written over has gone. */
static void clear_halves(struct canvas *canvas, size_t row, size_t column)
{
	if (column && !cell_at(canvas, row, column)->c)
		cell_at(canvas, row, column - 1)->c = ' ';
	if (column + 1 < canvas->columns && !cell_at(canvas, row, column + 1)->c)
		cell_at(canvas, row, column + 1)->c = ' ';
}

size_t canvas_add(struct canvas *canvas, size_t row, size_t column, size_t end,
		  enum canvas_style style, const char *text)
{
	const size_t size = strlen(text), first = column;
	size_t len;

	end = min_of(end, canvas->columns);
	if (row >= canvas->rows)
		return column;
	for (size_t i = 0; i < size; i += len) {
		if (text[i] == '\t') {
			const size_t stop = first + ((column - first) / TAB_WIDTH + 1) * TAB_WIDTH;

			len = 1;
			while (column < min_of(stop, end)) {
				clear_halves(canvas, row, column);
				*cell_at(canvas, row, column++) = (struct canvas_cell){' ', style};
			}
			continue;
		}
		const uint32_t c = next_char(text + i, size - i, canvas->ascii, &len);
		const size_t width = c < 0x80 ? 1 : plain_width(text + i, len);

		if (!width)
			continue;
		if (column + width > end) {
			canvas->is_cut |= end == canvas->columns && text[i + strspn(text + i, " ")];
			break;
		}
		for (size_t w = 0; w < width; w++) {
			clear_halves(canvas, row, column + w);
			*cell_at(canvas, row, column + w) = (struct canvas_cell){w ? 0 : c, style};
		}
		column += width;
	}
	return column;
}

void canvas_fill(struct canvas *canvas, size_t row, size_t column, size_t end,
		 enum canvas_style style, const char *text)
{
	column = canvas_add(canvas, row, column, end, style, text);
	while (column < min_of(end, canvas->columns) && row < canvas->rows)
		column = canvas_add(canvas, row, column, end, style, " ");
}

void canvas_copy(const struct canvas *from, size_t row, size_t column, struct canvas *to,
		 size_t to_row, size_t to_column, size_t n)
{
	if (row >= from->rows || to_row >= to->rows || to_column >= to->columns ||
	    column >= from->columns)
		return;
	n = min_of(n, min_of(to->columns - to_column, from->columns - column));
	for (size_t i = 0; i < n; i++)
		*cell_at(to, to_row, to_column + i) = *cell_at(from, row, column + i);
	if (n && !cell_at(to, to_row, to_column)->c)
		cell_at(to, to_row, to_column)->c = ' ';
	if (n && column + n < from->columns && !cell_at(from, row, column + n)->c)
		cell_at(to, to_row, to_column + n - 1)->c = ' ';
}

/* A row of a box: its ends, and in between one character again and again. */
static void add_line(struct canvas *canvas, size_t row, size_t column, size_t columns,
		     const char *left, const char *middle, const char *right)
{
	canvas_add(canvas, row, column, canvas->columns, STYLE_FRAME, left);
	for (size_t i = 1; i + 1 < columns; i++)
		canvas_add(canvas, row, column + i, canvas->columns, STYLE_FRAME, middle);
	canvas_add(canvas, row, column + columns - 1, canvas->columns, STYLE_FRAME, right);
}

void canvas_box(struct canvas *canvas, size_t row, size_t column, size_t rows, size_t columns,
		const char *title)
{
	const char *line = canvas->ascii ? "-" : "─";

	if (rows < 2 || columns < 4)
		return;
	add_line(canvas, row, column, columns, canvas->ascii ? "+" : "┌", line,
		 canvas->ascii ? "+" : "┐");
	for (size_t i = 1; i + 1 < rows; i++)
		add_line(canvas, row + i, column, columns, canvas->ascii ? "|" : "│", " ",
			 canvas->ascii ? "|" : "│");
	add_line(canvas, row + rows - 1, column, columns, canvas->ascii ? "+" : "└", line,
		 canvas->ascii ? "+" : "┘");
	canvas_add(canvas, row, column + 2, column + columns - 2, STYLE_FRAME, title);
}

const struct canvas_cell *canvas_row(const struct canvas *canvas, size_t row)
{
	return cell_at(canvas, row, 0);
}

bool canvas_row_equal(const struct canvas *a, const struct canvas *b, size_t row)
{
	return a->columns == b->columns && row < a->rows && row < b->rows &&
	       !memcmp(canvas_row(a, row), canvas_row(b, row), a->columns * sizeof(*a->cells));
}

void canvas_cell_add(const struct canvas_cell *cell, struct strbuf *out)
{
	char bytes[4];

	if (cell->c)
		strbuf_add(out, bytes, utf8_encode(cell->c, bytes));
}

void canvas_text(const struct canvas *canvas, struct strbuf *out)
{
	for (size_t row = 0; row < canvas->rows; row++) {
		const size_t from = out->len;

		for (size_t i = 0; i < canvas->columns; i++)
			canvas_cell_add(&canvas_row(canvas, row)[i], out);
		while (out->len > from && out->str[out->len - 1] == ' ')
			strbuf_cut(out, out->len - 1);
		strbuf_addch(out, '\n');
	}
}

struct error *canvas_print_row(canvas_draw_fn *draw, void *ctx, struct strbuf *out)
{
	for (size_t width = FIRST_WIDTH; width <= MAX_WIDTH; width *= 2) {
		_cleanup_canvas_ struct canvas canvas = {0};

		if (!canvas_init(&canvas, 1, width, false))
			return error_nomem();
		TRY(draw(ctx, &canvas));
		if (canvas.is_cut && width < MAX_WIDTH)
			continue;
		canvas_text(&canvas, out);
		break;
	}
	return strbuf_failed(out) ? error_nomem() : NULL;
}
