// SPDX-License-Identifier: BSD-2-Clause
#include "show/folded.h"

#include <string.h>

#include "show/plain.h"
#include "show/stack_tree.h"

/* Names come from binaries and recordings: nothing in them may act on a terminal. */
static void add_name(const char *name, struct strbuf *out)
{
	for (;;) {
		const size_t n = strcspn(name, ";\n\r");

		plain_add(out, name, n);
		if (!name[n])
			return;
		strbuf_addch(out, ':');
		name += n + 1;
	}
}

static void add_line(const struct strbuf *path, uint64_t count, struct strbuf *out)
{
	if (!count)
		return;
	strbuf_add(out, strbuf_str(path), path->len);
	strbuf_addch(out, ' ');
	strbuf_add_u64(out, count);
	strbuf_addch(out, '\n');
}

/* path holds what is above node. */
static void add_node(const struct stack_node *node, struct strbuf *path, struct arena *arena,
		     struct strbuf *out)
{
	size_t len = path->len, n = 0;

	for (size_t i = 0; i < node->n_frames; i++) {
		strbuf_addch(path, ';');
		add_name(node->frames[i]->name, path);
	}
	add_line(path, node->self, out);
	const struct stack_node **children = stack_node_children(node, 0, arena, &n);
	out->failed |= !children;
	for (size_t i = 0; i < n; i++)
		add_node(children[i], path, arena, out);
	strbuf_cut(path, len);
}

static bool has_several(const struct results *results)
{
	size_t n = 0;

	for (size_t i = 0; i < results->n; i++)
		n += results->v[i].kind == RESULT_STACKS && results->v[i].n_stacks;
	return n > 1;
}

void results_folded(const struct results *results, struct strbuf *out)
{
	/* numbers of several events are not of one unit */
	bool named = results->subject == RESULTS_OF_EVENTS && has_several(results);

	for (size_t i = 0; i < results->n; i++) {
		_cleanup_arena_ struct arena arena = {0};
		_cleanup_strbuf_ struct strbuf path = STRBUF_INIT;
		struct stack_group **groups;
		size_t n = 0;

		if (results->v[i].kind != RESULT_STACKS)
			continue;
		groups = stack_groups(&results->v[i], false, &arena, &n);
		out->failed |= !groups;
		for (size_t k = 0; groups && k < n; k++) {
			strbuf_reset(&path);
			if (named) {
				add_name(results->v[i].name, &path);
				strbuf_addch(&path, ';');
			}
			add_name(groups[k]->label ? groups[k]->label : "[unknown]", &path);
			add_node(&groups[k]->tree.root, &path, &arena, out);
		}
		out->failed |= strbuf_failed(&path);
	}
}
