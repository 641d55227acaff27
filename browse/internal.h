/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of the browser share. */
#ifndef PB_BROWSE_INTERNAL_H
#define PB_BROWSE_INTERNAL_H

#include "browse/browser.h"
#include "browse/pager.h"
#include "browse/rows.h"
#include "lib/base/vec.h"
#include "show/perf_cells.h"

/* What keys go to. */
enum browser_mode {
	MODE_TABLE,
	MODE_CODE,
	MODE_PAGER,
	MODE_MENU,
	MODE_PROMPT,
	MODE_EXIT, /* "Do you really want to exit?" */
};

typedef struct error *browser_fn(struct browser *b, size_t arg, enum browser_wish *wish);
typedef struct error *prompt_fn(struct browser *b, const char *text, enum browser_wish *wish);

/* A key, and what the help says of it. */
struct browser_binding {
	uint32_t key;
	browser_fn *fn;
	size_t arg;
	bool live;	  /* of a live one only */
	const char *name; /* NULL: the help has it with the one before */
	const char *help;
};

/* A function whose code is shown, and where in it. */
struct code_place {
	char *module, *function;
	uint64_t address; /* 0: not known */
};

/* Whose code BROWSER_ANNOTATE asks for. */
enum browser_going {
	GOING_ROW, /* of the chosen row */
	GOING_CALL,
	GOING_BACK, /* to the last of the places */
};

struct menu_item {
	char *text;
	const char *tail; /* a word behind the text that stays when it is cut; NULL: none */
	browser_fn *fn;
	size_t arg;
};

struct menu {
	char *title;
	VEC(struct menu_item) items;
	size_t cursor, first;
	size_t y, x, rows, columns; /* where its items were drawn */
};

struct prompt {
	const char *title;
	struct strbuf text;
	prompt_fn *fn;
	enum browser_mode back; /* where it came from */
};

enum zoom {
	ZOOM_THREAD,
	ZOOM_DSO,
	ZOOM_SYMBOL,
	ZOOM_FILTER,
	ZOOM_SOCKET,
	N_ZOOMS,
};

struct browser {
	struct browser_opts opts;
	struct browser_view view, old_view;
	enum zoom zooms[N_ZOOMS], old_zooms[N_ZOOMS]; /* the last one at the end */
	size_t n_zooms, n_old_zooms;

	const struct results *results;
	size_t event; /* which of them */
	struct browse_rows rows;
	struct table_printer printer;
	bool has_printer;
	unsigned widths[PERF_MAX_COLUMNS]; /* of columns on the screen; the printer's: for all rows
					    */
	size_t cursor, first;
	size_t top, page;   /* of the screen: the first row of the list, and how many */
	size_t left;	    /* scrolled columns; ignored while all fit */
	size_t beyond;	    /* columns that do not fit, as it was drawn */
	bool shows_modules; /* of the frames of call chains */
	bool hides_titles, was_shown;

	enum browser_mode mode;
	struct pager pager;
	enum browser_mode pager_back; /* where it came from */
	struct code code;
	enum browser_going going;
	struct code_place here; /* the function that is shown */
	VEC(struct code_place) back;
	struct {
		uint64_t address;
		char *callee;
	} wanted; /* of GOING_CALL */
	struct menu menu;
	struct browser_sample sample; /* of BROWSER_SAMPLE */
	struct prompt prompt;
	char *message, *status;
};

/* Before a change of the view that the command may refuse: browser_undo(). */
struct error *browser_keep_view(struct browser *b);
/* A copy of the text, or NULL for "" and NULL, in place of the member. */
struct error *browser_set_text(char **member, const char *text);
/* step: 1 or -1; more than one event is shown. */
struct error *browser_next_event(struct browser *b, ptrdiff_t step);
struct error *browser_event_menu(struct browser *b);
/* A key while the table is shown. */
struct error *browser_press_table(struct browser *b, uint32_t key, enum browser_wish *wish);

const struct result *browser_result(const struct browser *b);
/* NULL: there are no rows. */
const struct browse_row *browser_row(const struct browser *b);
/*
 * Of which event the table is, and how much; what is zoomed into. What is the least important is
 * left out if there is no room for it.
 */
void browser_head(const struct browser *b, size_t room, struct strbuf *out);

/* Asks for a line, which fn gets. The title is a constant. */
void browser_ask(struct browser *b, const char *title, prompt_fn *fn);
/* What a key is bound to. */
struct error *browser_bound(struct browser *b, const struct browser_binding *bindings, size_t n,
			    uint32_t key, enum browser_wish *wish);
/* A key's function: BROWSER_MOUSE. */
struct error *browser_switch_mouse(struct browser *b, size_t arg, enum browser_wish *wish);
/* Shows the bindings; of: "", or " of code". */
struct error *browser_help(struct browser *b, const char *of,
			   const struct browser_binding *bindings, size_t n);
/*
 * What a button of the mouse does, as another key that is to be pressed now; KEY_NONE: none. It is
 * not MOUSE_MIDDLE or MOUSE_OTHER.
 */
uint32_t browser_mouse(struct browser *b, struct mouse mouse);
/* Where the sign of a row is: whether it is open or can be opened. */
size_t browser_sign_column(const struct browser *b, const struct browse_row *row);

static inline size_t browser_left(const struct browser *b)
{
	return b->beyond ? b->left : 0;
}

static inline bool browser_has_more(const struct browser *b)
{
	return b->beyond > browser_left(b);
}

/* What b->left is after a step. */
size_t browser_scrolled(const struct browser *b, bool to_right);

/* A key while b->pager is shown. */
struct error *browser_press_pager(struct browser *b, uint32_t key);

/* A key while code is shown. */
struct error *browser_press_code(struct browser *b, uint32_t key, enum browser_wish *wish);
/* The function that is shown; long names are cut to the room. */
void browser_code_head(const struct browser *b, size_t room, bool ascii, struct strbuf *out);
void browser_code_deinit(struct browser *b);

/* Adds what is in the menu of the chosen row if samples of it were kept; false: no memory. */
bool browser_add_samples(struct browser *b);

void menu_reset(struct menu *menu, const char *title);
/* false: no memory. */
bool menu_add(struct menu *menu, browser_fn *fn, size_t arg, const char *fmt, ...) _printf_(4, 5);
/* "Zoom into NAME thread", or out of what is zoomed into; nothing where neither is. */
bool menu_add_zoom(struct menu *menu, browser_fn *fn, const char *zoomed, const char *name,
		   const char *what);

#endif
