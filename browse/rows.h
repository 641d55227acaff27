/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of a table that are to be seen: entries, those below them in a hierarchy, and the frames
 * of their call chains, each of which may be open or folded.
 *
 * What is open is known by what rows show, not by where they are, so it stays open when there are
 * new results.
 */
#ifndef PB_BROWSE_ROWS_H
#define PB_BROWSE_ROWS_H

#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "show/perf_text.h"
#include "show/result.h"

struct browse_row {
	size_t entry;		       /* the table's row */
	const struct stack_node *node; /* of a frame; NULL: the row is the entry itself */
	uint32_t frame;		       /* of the node's frames */
	uint16_t depth;		       /* of an entry in a hierarchy; of a frame: nodes above it */
	bool can_open, is_open;
	bool is_lone;	/* a frame that has no share to show: nothing is beside it */
	uint64_t whole; /* of which its share is a part */
	uint64_t id;	/* equal for equal rows of other results */
};

struct browse_rows {
	const struct result_table *table; /* NULL: none yet */
	const struct perf_text_opts *opts;
	uint64_t *ids; /* of the entries */
	struct arena arena;
	struct u64map children; /* struct stack_node * to its struct node_children * */
	bool open_all;
	struct u64map turned; /* ids of rows that are not as open_all says */
	VEC(struct browse_row) v;
};

void browse_rows_deinit(struct browse_rows *rows);

/* Of new results, which last until there are others; false: no memory. */
bool browse_rows_set(struct browse_rows *rows, const struct result_table *table,
		     const struct perf_text_opts *opts);

/* Opens or folds a row; false: no memory. Nothing happens to one that cannot be opened. */
bool browse_rows_toggle(struct browse_rows *rows, size_t row);
/* The entry of a row with all that is below it: opens it, or folds it if it is open. */
bool browse_rows_toggle_entry(struct browse_rows *rows, size_t row);
/* All rows. */
bool browse_rows_open_all(struct browse_rows *rows, bool open);

/* Where a row with this id is; rows->v.n: there is none. */
size_t browse_rows_find(const struct browse_rows *rows, uint64_t id);

#endif
