// SPDX-License-Identifier: BSD-2-Clause
#include "show/stack_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "lib/base/util.h"
#include "show/plain.h"
#include "show/tree.h"

struct stack_maker {
	const struct stack_text_opts *opts;
	struct arena arena;
	bool failed;
};

void stack_value_add(const struct stack_text_opts *opts, uint64_t count, uint64_t samples,
		     uint64_t total, struct strbuf *out)
{
	switch (opts->chain->value) {
	case CHAIN_PERIOD:
		strbuf_add_u64(out, count);
		break;
	case CHAIN_COUNT:
		strbuf_add_u64(out, samples);
		break;
	default:
		strbuf_addf(out, "%.2f%%", total ? (double)count * 100.0 / (double)total : 0.0);
		break;
	}
}

/* A copy in the arena; text is emptied. */
static const char *keep(struct stack_maker *m, struct strbuf *text)
{
	const char *copy = NULL;

	if (!strbuf_failed(text))
		copy = arena_text(&m->arena, strbuf_str(text), text->len);
	m->failed |= !copy;
	strbuf_reset(text);
	return copy;
}

/* " file.c:12"; where the line is not known, of an address the offset in the function. */
static void add_line(const struct stack_text_opts *opts, const struct result_frame *f,
		     struct strbuf *out)
{
	if (f->line_text) {
		strbuf_addch(out, ' ');
		plain_adds(out, f->line_text);
	} else if (opts->chain->order == STACK_BY_ADDRESS) {
		strbuf_addf(out, " +%" PRIu64, f->offset);
	}
}

void stack_frame_add(const struct stack_text_opts *opts, const struct result_frame *f,
		     struct strbuf *out)
{
	if (opts->as_addresses) {
		if (f->has_start)
			plain_adds(out, f->name);
		else
			strbuf_addf(out, "%#" PRIx64, f->addr);
		if (f->has_start && opts->chain->order != STACK_BY_FUNCTION)
			add_line(opts, f, out);
		strbuf_adds(out, f->is_inlined ? " (inlined)" : "");
		if (opts->with_module) {
			strbuf_addch(out, ' ');
			plain_adds(out, f->module ? last_component(f->module) : "[unknown]");
		}
		return;
	}
	plain_add(out, f->name, strlen(f->name));
	/* what has no name is known by its file at least */
	if (*f->name == '[' && f->module) {
		strbuf_adds(out, " (");
		plain_add(out, f->module, strlen(f->module));
		strbuf_addch(out, ')');
	}
}

void stack_node_frame_add(const struct stack_text_opts *opts, const struct stack_node *node,
			  uint32_t i, struct strbuf *out)
{
	stack_frame_add(opts, node->frames[i], out);
	if (node->branches)
		branch_counts_text(&node->branches[i], out);
}

static const char *frame_line(struct stack_maker *m, const struct stack_node *node, uint32_t i,
			      struct strbuf *scratch)
{
	const struct result_frame *f = node->frames[i];

	if (!node->branches && m->opts->as_addresses && f->has_start &&
	    m->opts->chain->order == STACK_BY_FUNCTION && !f->is_inlined &&
	    text_is_plain(f->name, strlen(f->name)))
		return f->name;
	stack_node_frame_add(m->opts, node, i, scratch);
	return keep(m, scratch);
}

/* The children of a node that are shown. */
static const struct stack_node **children_of(struct stack_maker *m, const struct stack_node *node,
					     size_t *n)
{
	const struct chain_opts *chain = m->opts->chain;
	uint64_t least = m->opts->least;

	if (chain->mode == CHAIN_FRACTAL)
		least = count_of_share(ceil((double)node->below * chain->min_percent / 100.0));
	const struct stack_node **children = stack_node_children(node, least, &m->arena, n);
	m->failed |= !children;
	return children;
}

static void fill_children(struct stack_maker *m, const struct stack_node *from, uint64_t total,
			  struct strbuf *scratch, struct show_node *to);

static void fill_node(struct stack_maker *m, const struct stack_node *from, uint64_t total,
		      struct strbuf *scratch, struct show_node *to)
{
	bool fractal = m->opts->chain->mode == CHAIN_FRACTAL;
	const char **lines = arena_alloc(&m->arena, from->n_frames * sizeof(*lines));

	if (!lines) {
		m->failed = true;
		return;
	}
	for (size_t i = 0; i < from->n_frames; i++)
		lines[i] = frame_line(m, from, (uint32_t)i, scratch);
	to->lines = lines;
	to->n_lines = from->n_frames;
	stack_value_add(m->opts, stack_node_total(from), stack_node_samples(from), total, scratch);
	to->value = keep(m, scratch);
	fill_children(m, from, fractal ? from->below : total, scratch, to);
}

/* total: of which the children are shares. */
static void fill_children(struct stack_maker *m, const struct stack_node *from, uint64_t total,
			  struct strbuf *scratch, struct show_node *to)
{
	const struct chain_opts *chain = m->opts->chain;
	bool fractal = chain->mode == CHAIN_FRACTAL;
	uint64_t rest = fractal ? total : from->below, rest_samples = from->below_samples;
	size_t n = 0;
	const struct stack_node **children = children_of(m, from, &n);
	struct show_node *nodes = arena_alloc(&m->arena, n * sizeof(*nodes));

	m->failed |= !nodes;
	for (size_t i = 0; i < n && !m->failed; i++) {
		if (!chain->print_limit || i < chain->print_limit) {
			rest -= stack_node_total(children[i]);
			rest_samples -= stack_node_samples(children[i]);
		}
		fill_node(m, children[i], total, scratch, &nodes[i]);
	}
	if (m->failed)
		return;
	to->children = nodes;
	to->n_children = n;
	if (!rest || (!fractal && !m->opts->show_rest))
		return;
	to->open = true;
	if (fractal && (rest == total || (chain->value == CHAIN_COUNT && !rest_samples)))
		return;
	stack_value_add(m->opts, rest, rest_samples, total, scratch);
	to->rest = keep(m, scratch);
}

static void add_tree(struct stack_maker *m, const struct stack_tree *tree, struct strbuf *out)
{
	const struct stack_text_opts *opts = m->opts;
	_cleanup_strbuf_ struct strbuf scratch = STRBUF_INIT;
	const struct show_tree_opts tree_opts = {
		.margin = opts->margin,
		.limit = opts->chain->print_limit,
		.skip_first = opts->skip_first,
	};
	bool fractal = opts->chain->mode == CHAIN_FRACTAL;
	const struct stack_node *root = &tree->root;
	struct show_node top = {0};
	uint64_t total = fractal ? opts->part : opts->total;
	size_t n = 0;
	const struct stack_node **first = children_of(m, root, &n);
	bool lone = n == 1 && stack_node_total(first[0]) == opts->part;

	fill_children(m, root, total, &scratch, &top);
	/* The branches of a lone root are shares of the whole tree, not of the root. */
	if (lone && fractal && !m->failed)
		fill_children(m, first[0], total, &scratch, (struct show_node *)top.children);
	if (!m->failed)
		show_tree(&top, lone, &tree_opts, out);
}

static void add_path(const struct stack_maker *m, const struct stack_node *node, const char *before,
		     const char *between, const char *after, struct strbuf *out, bool *first)
{
	if (node->parent)
		add_path(m, node->parent, before, between, after, out, first);
	for (size_t i = 0; i < node->n_frames; i++) {
		strbuf_adds(out, *first ? "" : between);
		strbuf_adds(out, before);
		stack_frame_add(m->opts, node->frames[i], out);
		strbuf_adds(out, after);
		*first = false;
	}
}

/* The stacks one by one, without a tree. */
static void add_paths(struct stack_maker *m, const struct stack_tree *tree, struct strbuf *out)
{
	const struct stack_text_opts *opts = m->opts;
	const char *separator = opts->separator ? opts->separator : ";";
	bool folded = opts->chain->mode == CHAIN_FOLDED;
	size_t n = 0;
	const struct stack_node **nodes = stack_node_ends(&tree->root, opts->least, &m->arena, &n);

	m->failed |= !nodes;
	for (size_t i = 0; i < n; i++) {
		const struct stack_node *node = nodes[i];
		bool first = true;

		strbuf_adds(out, folded ? "" : "           ");
		stack_value_add(opts, folded ? node->self : stack_node_total(node),
				folded ? node->self_samples : stack_node_samples(node), opts->total,
				out);
		strbuf_adds(out, folded ? " " : "\n");
		if (folded)
			add_path(m, node, "", separator, "", out, &first);
		else
			add_path(m, node, "                ", "", "\n", out, &first);
		strbuf_addch(out, '\n');
		if (i + 1 == opts->chain->print_limit)
			break;
	}
}

void stack_text(const struct stack_tree *tree, const struct stack_text_opts *opts,
		struct strbuf *out)
{
	struct stack_maker m = {.opts = opts};

	if (opts->chain->mode == CHAIN_FLAT || opts->chain->mode == CHAIN_FOLDED)
		add_paths(&m, tree, out);
	else if (opts->chain->mode != CHAIN_NONE)
		add_tree(&m, tree, out);
	out->failed |= m.failed;
	arena_deinit(&m.arena);
}
