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
 * Branches below half a percent are left out, and their sum is shown; on a terminal those below 2
 *%.
 */
#include <inttypes.h>
#include <stdio.h>

#include "show/internal.h"
#include "show/plain.h"
#include "show/stack_text.h"

enum {
	MARGIN = 12,
	LEAST = 200,	/* a branch is at least one of so many */
	LEAST_TOP = 50, /* of the largest ones: likewise, and groups too */
};

void text_stacks(const struct result *r, const struct text_opts *opts, struct strbuf *out)
{
	_cleanup_arena_ struct arena arena = {0};
	static const struct chain_opts graph = {.mode = CHAIN_GRAPH};
	const unsigned least = opts->top ? LEAST_TOP : LEAST;
	struct stack_text_opts text = {
		.chain = &graph,
		.total = r->total,
		.least = r->total / least + (r->total % least != 0),
		.margin = MARGIN,
		.show_rest = true,
	};
	size_t n, shown;
	struct stack_group **groups = stack_groups(r, opts->callee, &arena, &n);

	if (!groups) {
		out->failed = true;
		return;
	}
	for (shown = 0; shown < n; shown++)
		if (opts->top && (shown == opts->top || groups[shown]->count < text.least))
			break;
	for (size_t i = 0; i < shown; i++) {
		const struct stack_group *group = groups[i];
		const char *label = group->label ? group->label : "[unknown]";
		char share[32];

		snprintf(share, sizeof(share), "%.2f%%",
			 r->total ? 100.0 * (double)group->count / r->total : 0.0);
		strbuf_addf(out, "%10s  ", share);
		plain_add(out, label, strlen(label));
		strbuf_adds(out, "  ");
		if (!opts->units || !time_text(group->count, r->unit, out))
			strbuf_addf(out, "%" PRIu64 "%s%s", group->count, r->unit ? " " : "",
				    r->unit ? r->unit : "");
		strbuf_addch(out, '\n');
		text.part = group->count;
		stack_text(&group->tree, &text, out);
	}
	if (!r->n_stacks)
		strbuf_adds(out, "(no stacks)\n");
	if (shown < n)
		more_text(n - shown, opts, out);
	else
		more_text(r->stacks_left_out, opts, out);
}
