// SPDX-License-Identifier: BSD-2-Clause
/*
 * Stacks as trees, one for each label, as perf report -g has it: functions without a branch
 * between them are below each other, a branch says which share of all went there.
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
 * Branches below half a percent are left out, and their sum is shown.
 */
#include <inttypes.h>
#include <stdio.h>

#include "show/internal.h"
#include "show/plain.h"
#include "show/stack_text.h"

enum {
	MARGIN = 12,
	LEAST = 200, /* a branch is at least one of so many */
};

void text_stacks(const struct result *r, const struct text_opts *opts, struct strbuf *out)
{
	_cleanup_arena_ struct arena arena = {0};
	static const struct chain_opts graph = {.mode = CHAIN_GRAPH};
	struct stack_text_opts text = {
		.chain = &graph,
		.total = r->total,
		.least = r->total / LEAST + (r->total % LEAST != 0),
		.margin = MARGIN,
		.show_rest = true,
	};
	size_t n;
	struct stack_group **groups = stack_groups(r, opts->callee, &arena, &n);

	if (!groups) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < n; i++) {
		const struct stack_group *group = groups[i];
		const char *label = group->label ? group->label : "[unknown]";
		char share[32];

		snprintf(share, sizeof(share), "%.2f%%",
			 r->total ? 100.0 * (double)group->count / r->total : 0.0);
		strbuf_addf(out, "%10s  ", share);
		plain_add(out, label, strlen(label));
		strbuf_addf(out, "  %" PRIu64 "%s%s\n", group->count, r->unit ? " " : "",
			    r->unit ? r->unit : "");
		text.part = group->count;
		stack_text(&group->tree, &text, out);
	}
	if (!r->n_stacks)
		strbuf_adds(out, "(no stacks)\n");
	if (r->stacks_left_out)
		strbuf_addf(out, "(%zu more)\n", r->stacks_left_out);
}
