/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines to scroll through and to search: the help, a header. */
#ifndef PB_BROWSE_PAGER_H
#define PB_BROWSE_PAGER_H

#include "browse/canvas.h"
#include "lib/base/arena.h"
#include "lib/base/vec.h"

struct pager {
	struct arena arena;
	VEC(const char *) lines;
	char *title, *search; /* search NULL: none yet */
	size_t cursor, first;
	size_t column; /* of lines, the first one on the screen */
	size_t beyond; /* columns to the right of the screen, as it was drawn */
};

void pager_deinit(struct pager *pager);

/* Lines are copied, each without its end; false: no memory. */
bool pager_add(struct pager *pager, const char *text, size_t n);
bool pager_set_title(struct pager *pager, const char *title);
/* What pager_find() is to look for again. */
bool pager_set_search(struct pager *pager, const char *text);

/* Moves by lines; the cursor stays within. */
void pager_move(struct pager *pager, ptrdiff_t by);
/* By some columns; false: it begins with the first one already. */
bool pager_scroll(struct pager *pager, bool to_right);
/* The next line that contains the text, or with backwards the one before; false: there is none. */
bool pager_find(struct pager *pager, const char *text, bool backwards);

/* Draws on rows from first_row on, as many as n; false: no memory. */
bool pager_draw(struct pager *pager, struct canvas *canvas, size_t first_row, size_t n);

#endif
