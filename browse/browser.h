/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Results on a screen that keys move through: rows that are opened and folded, zooming, searching,
 * menus, and a function's code. What keys there are is in browser.c, one line for each.
 *
 * The command passes what to show and the keys that are pressed; the browser draws on a canvas, and
 * returns what only the command can do. It makes no system calls.
 *
 *	TRY(browser_new(&opts, &b));
 *	TRY(browser_set_results(b, &results));
 *	do {
 *		TRY(browser_draw(b, &canvas));
 *		…
 *		TRY(browser_press(b, key, &wish));
 *	} while (wish != BROWSER_QUIT);
 */
#ifndef PB_BROWSE_BROWSER_H
#define PB_BROWSE_BROWSER_H

#include "browse/canvas.h"
#include "browse/code.h"
#include "browse/keys.h"
#include "lib/base/cleanup.h"
#include "lib/base/error.h"
#include "show/annotation.h"
#include "show/perf_text_opts.h"
#include "show/result.h"

struct browser;

struct browser_opts {
	size_t sz;			   /* sizeof(struct browser_opts) */
	const struct perf_text_opts *text; /* borrowed */
	bool live;			   /* there are new results from time to time: top */
	bool has_header;		   /* BROWSER_HEADER can be answered */
	bool annotates;			   /* BROWSER_ANNOTATE can be answered */
	bool opens_code;		   /* the code of a row is what it contains: annotate */
	bool code_only;			   /* there is nothing to go back to from code */
	struct code_look look;		   /* how code is shown at first */
	const char *command;		   /* "report", for the help */
};

/* What of the samples is to be shown, and how. */
struct browser_view {
	/* NULL: as at first; all */
	char *sort, *comm, *dso, *symbol, *filter;
	int32_t tid; /* 0: all */
	bool has_socket;
	int32_t socket; /* with has_socket */
	bool no_kernel, no_user;
	bool relative;
	double least_percent;
	bool has_group_sort;
	size_t group_sort; /* with has_group_sort: the event of the group to sort by */
	/* Of a live one: */
	bool zero, frozen;
	uint64_t delay_ms;
	uint64_t least_samples;
};

/* What the command does in answer to a key, before it draws again. */
enum browser_wish {
	BROWSER_NOTHING,
	BROWSER_QUIT,
	BROWSER_VIEW,	  /* make the results anew by browser_view() */
	BROWSER_ANNOTATE, /* the function of browser_wanted() */
	BROWSER_PRINT,	  /* browser_text(), to a file */
	BROWSER_HEADER,	  /* what the recording says of itself: browser_show_text() */
	BROWSER_SAMPLE,	  /* what happened around browser_sample(): browser_show_text() */
	BROWSER_MOUSE,	  /* keys of the mouse come from now on, or do not any more */
};

/* The row that is chosen: whose it is. NULL: not known. */
struct browser_choice {
	int32_t tid;
	const char *comm, *module, *function;
	size_t event; /* of the results */
	/* Of browser_wanted(): not the function, but one that it calls. */
	bool is_call;
	uint64_t called;    /* its address, as the annotation has addresses */
	const char *callee; /* its name; NULL: not known */
};

/* A sample of a row, of those that were kept. */
struct browser_sample {
	struct result_sample sample;
	size_t event; /* of the results */
	enum browser_context {
		BROWSER_CONTEXT,
		BROWSER_CONTEXT_CODE, /* with instructions */
		BROWSER_CONTEXT_SOURCE,
		N_BROWSER_CONTEXTS,
	} context;
};

struct error *browser_new(const struct browser_opts *opts, struct browser **out);
void browser_free(struct browser *b);
DEFINE_FREEP(struct browser, browser_free)

/* The command sets at first what its options say. */
struct browser_view *browser_view(struct browser *b);

/* What of the view has the rows of one function only; a key zooms out of it. */
struct error *browser_zoom_symbol(struct browser *b, const char *symbol);

/* How many of the results are shown: events, or groups of them. */
size_t browser_n_events(const struct browser *b);
/* Borrowed until there are others; NULL: none. Tables with a profile are shown. */
struct error *browser_set_results(struct browser *b, const struct results *results);
struct browser_choice browser_chosen(const struct browser *b);
/* Whose code is wanted: of the chosen row, of a call in the code that is shown, or its caller's. */
struct browser_choice browser_wanted(const struct browser *b);

struct browser_sample browser_sample(const struct browser *b);

/* One line, until the next key. */
struct error *browser_say(struct browser *b, const char *fmt, ...) _printf_(2, 3);
/* What the first line ends with: losses. NULL: nothing. */
struct error *browser_set_status(struct browser *b, const char *text);
/* Lines to scroll through, until a key leaves them. They are copied. */
struct error *browser_show_text(struct browser *b, const char *title, const char *text);
/* Then: to the first line that contains a text, which is what is searched. */
struct error *browser_find_text(struct browser *b, const char *text);
/* Shows the code of the function that was wanted, until a key leaves it. It is copied. */
struct error *browser_show_annotation(struct browser *b, const struct annotation *a);
/*
 * The same function later: what is shown stays where it is. false: the code is not shown any more.
 */
bool browser_shows_code(const struct browser *b);
struct error *browser_update_annotation(struct browser *b, const struct annotation *a);
void browser_leave_code(struct browser *b);
/* Undoes what made the last BROWSER_VIEW, which the command could not do. */
void browser_undo(struct browser *b);

struct error *browser_press(struct browser *b, uint32_t key, enum browser_wish *wish);
struct error *browser_draw(struct browser *b, struct canvas *canvas);
/* The code that is shown, else the rows of the table, open ones with what is in them, as text. */
struct error *browser_text(struct browser *b, struct strbuf *out);

#endif
