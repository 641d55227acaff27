/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is to be seen on a terminal: a grid of characters with styles. It is made anew for each
 * drawing; what brings it to a terminal (cmd/) writes the rows that have changed.
 *
 * Text that is added is plain (lib/base/plain_text.h): what is not is replaced, so that nothing
 * from outside reaches the terminal as a control sequence.
 */
#ifndef PB_BROWSE_CANVAS_H
#define PB_BROWSE_CANVAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

enum canvas_style {
	STYLE_NORMAL,
	STYLE_BAR,    /* the first and the last row */
	STYLE_CURSOR, /* the chosen row */
	STYLE_HEAD,   /* titles of columns */
	STYLE_HOT,    /* large shares */
	STYLE_WARM,
	STYLE_DIM,    /* what is beside code */
	STYLE_SOURCE, /* source lines between instructions */
	STYLE_FRAME,  /* of a box */
	STYLE_CHOSEN, /* what is chosen in a box, and where a letter comes */
	STYLE_MAX,
};

struct canvas_cell {
	uint32_t c; /* the character; 0: the second column of a wide one */
	enum canvas_style style;
};

struct canvas {
	size_t rows, columns;
	bool ascii;  /* other characters are shown as '?' */
	bool is_cut; /* a text had no room before the last column */
	struct canvas_cell *cells;
};

/* An empty one; false: no memory. */
bool canvas_init(struct canvas *canvas, size_t rows, size_t columns, bool ascii);
void canvas_deinit(struct canvas *canvas);
#define _cleanup_canvas_ __attribute__((cleanup(canvas_deinit)))

/*
 * Adds as much of the text as fits before column `end`; returns the column after it. Outside of
 * the canvas nothing is added.
 */
size_t canvas_add(struct canvas *canvas, size_t row, size_t column, size_t end,
		  enum canvas_style style, const char *text);
/* The same, and blanks up to the end. */
void canvas_fill(struct canvas *canvas, size_t row, size_t column, size_t end,
		 enum canvas_style style, const char *text);
/*
 * Copies cells of a row of another canvas, up to n or to the end of either. Blanks are in place of
 * halves of wide characters, and of what `from` does not have.
 */
void canvas_copy(const struct canvas *from, size_t row, size_t column, struct canvas *to,
		 size_t to_row, size_t to_column, size_t n);
/* A box with a title; what is in it is blank. */
void canvas_box(struct canvas *canvas, size_t row, size_t column, size_t rows, size_t columns,
		const char *title);

const struct canvas_cell *canvas_row(const struct canvas *canvas, size_t row);
bool canvas_row_equal(const struct canvas *a, const struct canvas *b, size_t row);

/* A cell's character as bytes; nothing of the second column of a wide one. */
void canvas_cell_add(const struct canvas_cell *cell, struct strbuf *out);
/* All of it as lines without the blanks at their ends: what --stdio would show, and tests. */
void canvas_text(const struct canvas *canvas, struct strbuf *out);

typedef struct error *canvas_draw_fn(void *ctx, struct canvas *canvas);

/* Adds a row as a line of text. It is drawn again on wider canvases until it has room. */
struct error *canvas_print_row(canvas_draw_fn *draw, void *ctx, struct strbuf *out);

#endif
