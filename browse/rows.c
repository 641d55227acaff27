// SPDX-License-Identifier: BSD-2-Clause
#include "browse/rows.h"

#include <math.h>
#include <string.h>

enum { MAX_ROWS = 10000000 }; /* more nobody scrolls through */

struct node_children {
	const struct stack_node **v; /* those that are shown */
	size_t n;
};

void browse_rows_deinit(struct browse_rows *rows)
{
	vec_deinit(&rows->v);
	u64map_deinit(&rows->children);
	u64map_deinit(&rows->turned);
	arena_deinit(&rows->arena);
	*rows = (struct browse_rows){0};
}

/* ---- which rows are the same ---- */

static uint64_t id_add(uint64_t id, const char *text, uint64_t number)
{
	return hash_u64(id ^ hash_u64(number + 1) ^ (text ? hash_str(text) : 0)) + 1;
}

static uint64_t entry_id(const struct result_table *t, size_t entry)
{
	uint64_t id = t->profile->rows[entry].depth;

	for (size_t c = 0; c < t->n_columns; c++) {
		const struct result_cell *cell = &t->cells[entry * t->n_columns + c];
		const bool is_number = cell->kind != CELL_TEXT && cell->kind != CELL_EMPTY;

		if (t->columns[c].is_key)
			id = id_add(
				id,
				cell->kind == CELL_SYMBOL || cell->kind == CELL_TEXT ? cell->text
										     : NULL,
				is_number && !(cell->kind == CELL_SYMBOL && cell->text) ? cell->u
											: 0);
	}
	return id;
}

static uint64_t frame_id(uint64_t parent, const struct result_frame *f)
{
	return id_add(parent, f->name, f->has_start ? 0 : f->addr);
}

static bool is_open(const struct browse_rows *rows, uint64_t id)
{
	return rows->open_all != (u64map_get(&rows->turned, id) != NULL);
}

static bool set_open(struct browse_rows *rows, uint64_t id, bool open)
{
	if (open == rows->open_all) {
		u64map_remove(&rows->turned, id);
		return true;
	}
	return u64map_put(&rows->turned, id, rows);
}

/* ---- call chains ---- */

static const struct node_children *children_of(struct browse_rows *rows, size_t entry,
					       const struct stack_node *node)
{
	struct node_children *children = u64map_get(&rows->children, (uintptr_t)node);
	const struct result_profile *profile = rows->table->profile;

	if (children)
		return children;
	const struct stack_text_opts opts =
		perf_text_chains(profile, &profile->rows[entry], rows->opts);
	uint64_t least = opts.least;
	if (opts.chain->mode == CHAIN_FRACTAL)
		least = count_of_share(ceil((double)node->below * opts.chain->min_percent / 100));
	children = arena_alloc(&rows->arena, sizeof(*children));
	if (children)
		children->v = stack_node_children(node, least, &rows->arena, &children->n);
	if (!children || !children->v || !u64map_put(&rows->children, (uintptr_t)node, children))
		return NULL;
	if (opts.chain->print_limit)
		children->n = min_of(children->n, (size_t)opts.chain->print_limit);
	return children;
}

static bool has_chains(const struct browse_rows *rows, size_t entry)
{
	const struct result_sum *sum = &rows->table->profile->rows[entry];

	return sum->tree && sum->tree->depth && rows->opts->chain->mode != CHAIN_NONE;
}

static struct browse_row *row_push(struct browse_rows *rows)
{
	return rows->v.n < MAX_ROWS ? vec_push(&rows->v) : NULL;
}

static bool add_children(struct browse_rows *rows, size_t entry, const struct stack_node *node,
			 uint64_t id, unsigned depth);

/* Whether there is nothing beside a child, so that its share says nothing. */
static bool is_lone(const struct browse_rows *rows, size_t entry, const struct stack_node *node,
		    const struct node_children *children)
{
	const uint64_t all = node->parent ? node->below : rows->table->profile->rows[entry].period;

	return children->n == 1 && stack_node_total(children->v[0]) == all;
}

/* The first frame of a child that is shown: the entry itself may be known to be the first. */
static uint32_t first_frame(const struct browse_rows *rows, const struct stack_node *node,
			    const struct stack_node *child, bool lone)
{
	return !node->parent && lone && rows->opts->first_frame_is_known && child->n_frames > 1;
}

/* A node's frames, and what is below it: once the first of them is open. */
static bool add_node(struct browse_rows *rows, size_t entry, const struct stack_node *node,
		     uint64_t id, unsigned depth, bool lone, uint32_t first)
{
	const struct result_profile *profile = rows->table->profile;
	const bool fractal = rows->opts->chain->mode == CHAIN_FRACTAL;
	const struct node_children *children = children_of(rows, entry, node);
	const uint64_t whole = perf_text_chains(profile, &profile->rows[entry], rows->opts).total;
	bool open = true;

	if (!children)
		return false;
	for (uint32_t i = first; i < node->n_frames && open; i++) {
		struct browse_row *row = row_push(rows);

		if (!row)
			return rows->v.n >= MAX_ROWS;
		id = frame_id(id, node->frames[i]);
		*row = (struct browse_row){
			.entry = entry,
			.node = node,
			.frame = i,
			/* behind the first one's share */
			.depth = (uint16_t)min_of(depth + (i > first && !lone),
						  (unsigned)UINT16_MAX),
			.can_open = i == first && (i + 1 < node->n_frames || children->n),
			.is_lone = lone || i > first,
			.whole = !fractal	? whole
				 : node->parent ? node->parent->below
						: 0,
			.id = id,
		};
		if (i == first) {
			row->is_open = row->can_open && is_open(rows, id);
			open = row->is_open;
		}
	}
	return !open || add_children(rows, entry, node, id, depth + 1);
}

static bool add_children(struct browse_rows *rows, size_t entry, const struct stack_node *node,
			 uint64_t id, unsigned depth)
{
	const struct node_children *children = children_of(rows, entry, node);

	if (!children)
		return false;
	const bool lone = is_lone(rows, entry, node, children);
	for (size_t i = 0; i < children->n; i++)
		if (!add_node(rows, entry, children->v[i], id, depth, lone,
			      first_frame(rows, node, children->v[i], lone)))
			return false;
	return true;
}

/* ---- entries ---- */

static bool can_open(const struct browse_rows *rows, size_t entry)
{
	const struct result_table *t = rows->table;

	if (has_chains(rows, entry))
		return true;
	return t->profile->n_levels && !t->profile->rows[entry].is_leaf && entry + 1 < t->n_rows &&
	       t->profile->rows[entry + 1].depth > t->profile->rows[entry].depth;
}

static bool make(struct browse_rows *rows)
{
	const struct result_table *t = rows->table;
	unsigned hidden_below = UINT8_MAX; /* of a hierarchy: deeper entries are folded away */

	rows->v.n = 0;
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct result_sum *sum = &t->profile->rows[i];

		if (sum->depth > hidden_below)
			continue;
		hidden_below = UINT8_MAX;
		if (!result_row_shown(t, i)) {
			hidden_below = sum->depth;
			continue;
		}
		struct browse_row *row = row_push(rows);
		if (!row)
			return rows->v.n >= MAX_ROWS;
		const bool opens = can_open(rows, i);
		const bool open = opens && is_open(rows, rows->ids[i]);
		*row = (struct browse_row){
			.entry = i,
			.depth = sum->depth,
			.can_open = opens,
			.is_open = open,
			.id = rows->ids[i],
		};
		if (!open)
			hidden_below = sum->depth;
		else if (has_chains(rows, i) &&
			 !add_children(rows, i, &sum->tree->root, rows->ids[i], 0))
			return false;
	}
	return true;
}

bool browse_rows_set(struct browse_rows *rows, const struct result_table *table,
		     const struct perf_text_opts *opts)
{
	u64map_deinit(&rows->children);
	arena_deinit(&rows->arena);
	rows->table = table;
	rows->opts = opts;
	rows->v.n = 0;
	rows->ids = arena_alloc(&rows->arena, (table->n_rows + 1) * sizeof(*rows->ids));
	if (!rows->ids)
		return false;
	for (size_t i = 0; i < table->n_rows; i++)
		rows->ids[i] = entry_id(table, i);
	return make(rows);
}

/* ---- opening and folding ---- */

bool browse_rows_toggle(struct browse_rows *rows, size_t row)
{
	const struct browse_row *r = &rows->v.v[row];

	return !r->can_open || (set_open(rows, r->id, !r->is_open) && make(rows));
}

static bool set_nodes(struct browse_rows *rows, size_t entry, const struct stack_node *node,
		      uint64_t id, bool open)
{
	const struct node_children *children = children_of(rows, entry, node);

	if (!children)
		return false;
	const bool lone = is_lone(rows, entry, node, children);
	for (size_t i = 0; i < children->n; i++) {
		const struct stack_node *child = children->v[i];
		const uint32_t first = first_frame(rows, node, child, lone);
		uint64_t below = id;

		for (uint32_t f = first; f < child->n_frames; f++) {
			below = frame_id(below, child->frames[f]);
			if (f == first && !set_open(rows, below, open))
				return false;
		}
		if (!set_nodes(rows, entry, child, below, open))
			return false;
	}
	return true;
}

bool browse_rows_toggle_entry(struct browse_rows *rows, size_t row)
{
	const struct result_profile *profile = rows->table->profile;
	const size_t first = rows->v.v[row].entry;
	const bool open = !is_open(rows, rows->ids[first]);

	for (size_t i = first; i < rows->table->n_rows; i++) {
		if (i > first && profile->rows[i].depth <= profile->rows[first].depth)
			break;
		if (!set_open(rows, rows->ids[i], open))
			return false;
		if (has_chains(rows, i) &&
		    !set_nodes(rows, i, &profile->rows[i].tree->root, rows->ids[i], open))
			return false;
	}
	return make(rows);
}

bool browse_rows_open_all(struct browse_rows *rows, bool open)
{
	u64map_deinit(&rows->turned);
	rows->open_all = open;
	return make(rows);
}

size_t browse_rows_find(const struct browse_rows *rows, uint64_t id)
{
	size_t i = 0;

	while (i < rows->v.n && rows->v.v[i].id != id)
		i++;
	return i;
}
