// SPDX-License-Identifier: BSD-2-Clause
#include "show/folded.h"

#include "show/stack_tree.h"

static void add_name(const char *name, struct strbuf *out)
{
	for (; *name; name++)
		strbuf_addch(out, *name == ';' || *name == '\n' || *name == '\r' ? ':' : *name);
}

/* path holds what stands above node. */
static void add_node(const struct stack_node *node, struct strbuf *path, struct strbuf *out)
{
	size_t len = path->len;

	if (len)
		strbuf_addch(path, ';');
	if (node->frame)
		add_name(node->frame->name, path);
	else
		add_name(node->label ? node->label : "[unknown]", path);
	if (node->self) {
		strbuf_add(out, strbuf_str(path), path->len);
		strbuf_addch(out, ' ');
		strbuf_add_u64(out, node->self);
		strbuf_addch(out, '\n');
	}
	for (size_t i = 0; i < node->n_children; i++)
		add_node(node->children[i], path, out);
	path->len = len;
}

void results_folded(const struct results *results, struct strbuf *out)
{
	for (size_t i = 0; i < results->n; i++) {
		_cleanup_arena_ struct arena arena = {0};
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
		const struct stack_node *root;

		if (results->v[i].kind != RESULT_STACKS)
			continue;
		root = stack_tree(&results->v[i], STACK_CALLER, &arena);
		for (size_t k = 0; root && k < root->n_children; k++)
			add_node(root->children[k], &path, out);
		out->failed |= !root || strbuf_failed(&path);
	}
}
