/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of stacks as text. perf report's --stdio has four forms of it:
 *
 *	graph		a tree; the numbers are shares of the whole
 *	fractal		a tree; the numbers are shares of the parent
 *	flat		each stack, a line for each of its frames
 *	folded		each stack as one line: "12.50% main;read_input;memchr"
 */
#ifndef PB_SHOW_STACK_TEXT_H
#define PB_SHOW_STACK_TEXT_H

#include "lib/base/error.h"
#include "lib/base/strbuf.h"
#include "show/stack_tree.h"

enum chain_mode {
	CHAIN_NONE,
	CHAIN_GRAPH,
	CHAIN_FRACTAL,
	CHAIN_FLAT,
	CHAIN_FOLDED,
};

enum chain_value {
	CHAIN_PERCENT,
	CHAIN_PERIOD,
	CHAIN_COUNT, /* of samples */
};

/* What perf report -g sets. */
struct chain_opts {
	enum chain_mode mode;
	bool caller;		/* trees are made from the outermost frame inward */
	enum stack_order order; /* whether of functions, addresses or lines */
	double min_percent;	/* branches below are left out */
	unsigned print_limit;	/* 0: none */
	enum chain_value value;
};

/*
 * Reads what follows report's -g, "graph,0.5,caller": a list of words, which may be cut short,
 * and up to two numbers. What it does not name stays as it is in *chain. *order_given becomes
 * true when it says caller or callee. Errors are errors of usage.
 */
struct error *chain_opts_parse(const char *text, struct chain_opts *chain, bool *order_given);

/* A share of counts, rounded down; counts of recordings may come to 2^64, shares to more. */
static inline uint64_t count_of_share(double share)
{
	return share < 0x1p64 ? (uint64_t)share : UINT64_MAX;
}

struct stack_text_opts {
	const struct chain_opts *chain;
	uint64_t total;	       /* percentages are shares of it */
	uint64_t part;	       /* what the tree is of: with fractal, percentages are shares of it */
	uint64_t least;	       /* branches below are left out; fractal: of the first ones */
	unsigned margin;       /* blanks before each line */
	bool skip_first;       /* the first frame of a lone root is known already */
	bool show_rest;	       /* a graph also has what was left out, as "[...]"; fractal always */
	bool as_addresses;     /* frames without a name are their address, names are not escaped */
	bool with_module;      /* with as_addresses: the file of a frame behind its name */
	const char *separator; /* between folded frames; NULL: ";" */
};

/* A number of samples as the options say: "12.50%"; total: of which it is a share. */
void stack_value_add(const struct stack_text_opts *opts, uint64_t count, uint64_t samples,
		     uint64_t total, struct strbuf *out);
/* A frame's name, or its address, escaped. */
void stack_frame_add(const struct stack_text_opts *opts, const struct result_frame *frame,
		     struct strbuf *out);

/* The i-th frame of a node, with what is known of its branches. */
void stack_node_frame_add(const struct stack_text_opts *opts, const struct stack_node *node,
			  uint32_t i, struct strbuf *out);

void stack_text(const struct stack_tree *tree, const struct stack_text_opts *opts,
		struct strbuf *out);

#endif
