/* SPDX-License-Identifier: BSD-2-Clause */
/* Results as text for people. */
#ifndef PB_SHOW_TEXT_H
#define PB_SHOW_TEXT_H

#include "lib/base/strbuf.h"
#include "show/result.h"

/* How a heat map's counts become visible. */
enum text_shades {
	SHADES_CHARS,  /* " .:-=+*#%@": on any terminal, and in a file */
	SHADES_GRAY,   /* the 24 grays of a terminal with 256 colours */
	SHADES_COLOUR, /* its colours, from blue by red to yellow */
};

/*
 * Events that come in many results stand in one table: what it must know from
 * one to the next. All zero at first.
 */
struct text_events {
	char *name;	/* whose head was printed last; NULL: none */
	size_t *widths; /* of its columns */
	size_t n;
};

void text_events_deinit(struct text_events *events);
#define _cleanup_text_events_ __attribute__((cleanup(text_events_deinit)))

struct text_opts {
	unsigned width; /* columns of the terminal; 0: 80; at least 20 are used */
	bool cut;	/* no line is wider: what is cut ends with an ellipsis */
	bool ascii;	/* the ellipsis is "~" */
	enum text_shades shades;
	/*
	 * For people at a terminal: only so many rows of a table, histograms by key and groups of
	 * stacks, with how many more there are; branches and groups below 2 % of all are left out,
	 * and of each program what is not by key comes last. 0: everything, in the results' order.
	 */
	size_t top;
	bool units;		    /* times as "1.24 ms", whatever unit they are counted in */
	bool callee;		    /* trees of stacks begin with the innermost function */
	struct text_events *events; /* NULL: each result's events are a table of their own */
};

/*
 * Adds all of them, an empty line between. Of events (results->events) the
 * rows alone, under a head where there is none yet.
 */
void results_text(const struct results *results, const struct text_opts *opts, struct strbuf *out);

/* One histogram: "[1K, 2K)  12 |@@@@    |" a bucket. */
void hist_text(const struct result_hist *hist, bool log2, const struct text_opts *opts,
	       struct strbuf *out);

/*
 * Adds a number of the unit as a time with three digits, "1.24 ms". false: it is not a unit of
 * time, and nothing is added.
 */
bool time_text(uint64_t number, const char *unit, struct strbuf *out);

/* What stands below rows of which n are not shown; opts says whether --top would. */
void more_text(uint64_t n, const struct text_opts *opts, struct strbuf *out);

/* A cell as it stands in a table. */
void cell_text(const struct result_cell *cell, struct strbuf *out);

#endif
