/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines to scroll through and to search: the help, a function's code. */
#ifndef PB_BROWSE_PAGER_H
#define PB_BROWSE_PAGER_H

#include "browse/canvas.h"
#include "lib/base/arena.h"
#include "lib/base/vec.h"

struct pager_line {
	const char *text;
	double share; /* in percent, by which the line is coloured and found; 0: none */
};

struct pager {
	struct arena arena;
	VEC(struct pager_line) lines;
	char *title, *search; /* search NULL: none yet */
	size_t cursor, first, column;
	size_t n_heads; /* lines that always stay on top */
};

void pager_deinit(struct pager *pager);

/* Lines are copied, each without its end; false: no memory. */
bool pager_add(struct pager *pager, const char *text, size_t n, double share);
bool pager_set_title(struct pager *pager, const char *title);
/* What pager_find() is to look for again. */
bool pager_set_search(struct pager *pager, const char *text);

/* Moves by lines; the cursor stays within. */
void pager_move(struct pager *pager, ptrdiff_t by);
/* The next line that contains the text, or with backwards the one before; false: there is none. */
bool pager_find(struct pager *pager, const char *text, bool backwards);
/* To the line with the next smaller share, or again to the largest; false: none has one. */
bool pager_next_hot(struct pager *pager);

/* Draws on rows from first_row on, as many as n. */
void pager_draw(struct pager *pager, struct canvas *canvas, size_t first_row, size_t n);

#endif
