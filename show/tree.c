// SPDX-License-Identifier: BSD-2-Clause
/*
 * The rails: a bit for each level says whether something further down still
 * hangs on that level's "|". A tree deeper than the bits reuses them, which
 * draws a rail too many or few, and is what perf does as well.
 */
#include "show/tree.h"

#include <stdint.h>

#define RAIL(level) ((uint32_t)1 << ((level)&31))

static void blanks(struct strbuf *out, unsigned n)
{
	while (n--)
		strbuf_addch(out, ' ');
}

static void rail_line(struct strbuf *out, unsigned margin, unsigned depth, uint32_t rails)
{
	blanks(out, margin);
	for (unsigned i = 0; i < depth; i++)
		strbuf_adds(out, rails & RAIL(i) ? "|          " : "           ");
	strbuf_addch(out, '\n');
}

/* A line of a node; with a value it is the first. */
static void node_line(struct strbuf *out, unsigned margin, unsigned depth, uint32_t rails,
		      const char *value, const char *line)
{
	blanks(out, margin);
	for (unsigned i = 0; i < depth; i++) {
		strbuf_addch(out, rails & RAIL(i) ? '|' : ' ');
		if (value && i == depth - 1)
			strbuf_addf(out, "--%s--", value);
		else
			blanks(out, 10);
	}
	strbuf_adds(out, line);
	strbuf_addch(out, '\n');
}

static void add_children(const struct show_node *node, const struct show_tree_opts *opts,
			 unsigned margin, unsigned depth, uint32_t rails, struct strbuf *out)
{
	uint32_t below = rails;

	for (size_t i = 0; i < node->n_children; i++) {
		const struct show_node *child = &node->children[i];

		if (i + 1 == node->n_children && !node->open)
			below &= ~RAIL(depth - 1);
		rail_line(out, margin, depth, rails);
		for (size_t j = 0; j < child->n_lines; j++)
			node_line(out, margin, depth, below, j ? NULL : child->value,
				  child->lines[j]);
		add_children(child, opts, margin, depth + 1, below | RAIL(depth), out);
		if (i + 1 == opts->limit)
			break;
	}
	if (node->rest)
		node_line(out, margin, depth, below & ~RAIL(depth - 1), node->rest, "[...]");
}

void show_tree(const struct show_node *root, bool lone, const struct show_tree_opts *opts,
	       struct strbuf *out)
{
	size_t start = out->len;
	unsigned margin = opts->margin;

	if (lone && root->n_children == 1) {
		const struct show_node *child = &root->children[0];
		bool begun = false;

		for (size_t i = opts->skip_first; i < child->n_lines; i++) {
			blanks(out, margin);
			if (!begun) {
				strbuf_adds(out, "|\n");
				blanks(out, margin);
				strbuf_adds(out, "---");
				margin += 3;
				begun = true;
			}
			strbuf_adds(out, child->lines[i]);
			strbuf_addch(out, '\n');
			if (i + 1 - opts->skip_first == opts->limit)
				break;
		}
		root = child;
	}
	add_children(root, opts, margin, 1, 1, out);
	if (out->len != start)
		strbuf_addch(out, '\n');
}
