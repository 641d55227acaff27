// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks as a tree, as perf report -g has it: functions that all go the same
 * way stand below each other, a branch says which share of all went there.
 *
 *	    75.00%  dd
 *	            |
 *	            ---main
 *	               |
 *	               |--50.00%--read_input
 *	               |          __read
 *	               |
 *	                --25.00%--write_output
 *
 * Branches below half a percent are left out, and their sum said.
 */
#include <inttypes.h>
#include <stdio.h>

#include "show/internal.h"
#include "show/plain.h"
#include "show/stack_tree.h"
#include "show/tree.h"

enum {
	MARGIN = 12,
	LEAST = 200, /* a branch is at least one of so many */
};

struct tree_text {
	struct arena *arena;
	uint64_t total;
	bool failed;
};

static const char *percent(struct tree_text *t, uint64_t count)
{
	char text[32];

	snprintf(text, sizeof(text), "%.2f%%", t->total ? 100.0 * (double)count / t->total : 0.0);
	return arena_strdup(t->arena, text);
}

static const char *frame_line(struct tree_text *t, const struct result_frame *frame)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	plain_add(&text, frame->name, strlen(frame->name));
	/* what has no name is known by its file at least */
	if (*frame->name == '[' && frame->module) {
		strbuf_adds(&text, " (");
		plain_add(&text, frame->module, strlen(frame->module));
		strbuf_addch(&text, ')');
	}
	return strbuf_failed(&text) ? NULL : arena_text(t->arena, strbuf_str(&text), text.len);
}

static void fill_children(struct tree_text *t, const struct stack_node *node,
			  struct show_node *out);

/* The functions from node on, up to the one where the ways part. */
static void fill_node(struct tree_text *t, const struct stack_node *node, struct show_node *out)
{
	const struct stack_node *at = node;
	size_t n = 1;

	while (at->n_children == 1 && !at->self) {
		at = at->children[0];
		n++;
	}
	const char **lines = arena_alloc(t->arena, n * sizeof(*lines));
	if (!lines) {
		t->failed = true;
		return;
	}
	out->value = percent(t, node->count);
	out->lines = lines;
	out->n_lines = n;
	for (at = node;; at = at->children[0]) {
		*lines = frame_line(t, at->frame);
		t->failed |= !*lines++;
		if (at->n_children != 1 || at->self)
			break;
	}
	t->failed |= !out->value;
	fill_children(t, at, out);
}

static void fill_children(struct tree_text *t, const struct stack_node *node, struct show_node *out)
{
	struct show_node *children =
		arena_alloc(t->arena, (node->n_children + 1) * sizeof(*children));
	uint64_t rest = 0;

	if (!children) {
		t->failed = true;
		return;
	}
	out->children = children;
	for (size_t i = 0; i < node->n_children; i++) {
		const struct stack_node *child = node->children[i];

		if (child->count * LEAST < t->total)
			rest += child->count;
		else
			fill_node(t, child, &children[out->n_children++]);
	}
	if (!rest)
		return;
	out->rest = percent(t, rest);
	out->open = true;
	t->failed |= !out->rest;
}

void text_stacks(const struct result *r, const struct text_opts *opts, struct strbuf *out)
{
	_cleanup_arena_ struct arena arena = {0};
	struct tree_text t = {.arena = &arena, .total = r->total};
	const struct stack_node *root =
		stack_tree(r, opts->callee ? STACK_CALLEE : STACK_CALLER, &arena);
	struct show_tree_opts tree = {.margin = MARGIN};

	if (!root) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < root->n_children; i++) {
		const struct stack_node *who = root->children[i];
		struct show_node node = {0};
		char text[32];

		snprintf(text, sizeof(text), "%.2f%%",
			 t.total ? 100.0 * (double)who->count / t.total : 0.0);
		strbuf_addf(out, "%10s  ", text);
		if (who->label)
			plain_add(out, who->label, strlen(who->label));
		else
			strbuf_adds(out, "[unknown]");
		strbuf_addf(out, "  %" PRIu64 "%s%s\n", who->count, r->unit ? " " : "",
			    r->unit ? r->unit : "");
		fill_children(&t, who, &node);
		show_tree(&node, !who->self && node.n_children == 1, &tree, out);
	}
	out->failed |= t.failed;
	if (!r->n_stacks)
		strbuf_adds(out, "(no stacks)\n");
	if (r->stacks_left_out)
		strbuf_addf(out, "(%zu more)\n", r->stacks_left_out);
}
