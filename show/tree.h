/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A tree of weighted paths as text. A node has a value ("12.50%") and lines:
 * the steps of the path up to the next branch.
 *
 *	|
 *	---main
 *	   |
 *	   |--70.00%--read_input
 *	   |          memchr
 *	   |
 *	    --30.00%--write_output
 */
#ifndef PB_SHOW_TREE_H
#define PB_SHOW_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/strbuf.h"

struct show_node {
	const char *value;
	const char *const *lines;
	size_t n_lines;
	const struct show_node *children;
	size_t n_children;
	const char *rest; /* value of what is not among the children; NULL: nothing to tell */
	bool open;	  /* the rail goes on below the last child: there is more */
};

struct show_tree_opts {
	unsigned margin; /* blanks before each line */
	unsigned limit;	 /* how many children of a node are shown; 0: all */
	bool skip_first; /* the first line of a lone root is told already */
};

/*
 * The tree below root, whose own lines are not shown. A lone child that is
 * whole needs no value: lone says so. Ends with an empty line, unless there is
 * nothing to show.
 */
void show_tree(const struct show_node *root, bool lone, const struct show_tree_opts *opts,
	       struct strbuf *out);

#endif
