// SPDX-License-Identifier: BSD-2-Clause
/*
 * A condition as a list of comparisons with two ways on from each. "!" goes down to the
 * comparisons:
 * "!(a && b)" is "!a || !b", and "!(x < 1)" is "x >= 1". What remains is "&&" and "||" of
 * comparisons, and of those a comparison that is neither true nor false selects what a false one
 * selects.
 */
#include <stdlib.h>

#include "perf/filter/internal.h"

static bool is_branch(const struct node *n)
{
	return n->op == NODE_AND || n->op == NODE_OR;
}

static size_t count_tests(const struct where *w, uint16_t i)
{
	const struct node *n = &w->nodes.v[i];

	if (is_branch(n))
		return count_tests(w, n->a) + count_tests(w, n->b);
	return n->op == NODE_NOT ? count_tests(w, n->a) : 1;
}

struct where_lister {
	const struct where *w;
	struct where_tests *out;
	size_t n_parts;
};

static void add_part(struct where_lister *l, uint16_t i)
{
	const struct node *n = &l->w->nodes.v[i];

	if (n->op == NODE_MASK) {
		add_part(l, n->a);
		add_part(l, n->b);
		return;
	}
	l->out->parts[l->n_parts++] = (struct where_part){
		.is_field = n->op == NODE_FIELD,
		.field = n->a,
		.at = n->at,
		.value = n->value,
		.pattern = n->pattern,
	};
}

static const struct where_part *add_side(struct where_lister *l, uint16_t i, size_t *n)
{
	const size_t first = l->n_parts;

	add_part(l, i);
	*n = l->n_parts - first;
	return l->out->parts + first;
}

static const struct where_part *add_zero(struct where_lister *l, size_t at, size_t *n)
{
	struct where_part *part = &l->out->parts[l->n_parts++];

	*part = (struct where_part){.at = at, .value = {.type = WHERE_NUMBER}};
	*n = 1;
	return part;
}

static enum where_op op_of(enum node_op op, bool negated)
{
	switch (op) {
	case NODE_EQ:
		return negated ? WHERE_NE : WHERE_EQ;
	case NODE_LT:
		return negated ? WHERE_GE : WHERE_LT;
	case NODE_LE:
		return negated ? WHERE_GT : WHERE_LE;
	case NODE_GT:
		return negated ? WHERE_LE : WHERE_GT;
	case NODE_GE:
		return negated ? WHERE_LT : WHERE_GE;
	case NODE_MATCH:
		return negated ? WHERE_NO_MATCH : WHERE_MATCH;
	case NODE_NO_MATCH:
		return negated ? WHERE_MATCH : WHERE_NO_MATCH;
	default: /* NODE_NE, and what is true unless it is 0 */
		return negated ? WHERE_EQ : WHERE_NE;
	}
}

/* Adds the comparisons of a node; the first gets the number `first`. */
static void add_tests(struct where_lister *l, uint16_t i, bool negated, size_t first, uint16_t yes,
		      uint16_t no)
{
	const struct node *n = &l->w->nodes.v[i];

	if (n->op == NODE_NOT) {
		add_tests(l, n->a, !negated, first, yes, no);
		return;
	}
	if (is_branch(n)) {
		const bool is_and = (n->op == NODE_AND) != negated;
		const size_t second = first + count_tests(l->w, n->a);

		add_tests(l, n->a, negated, first, is_and ? (uint16_t)second : yes,
			  is_and ? no : (uint16_t)second);
		add_tests(l, n->b, negated, second, yes, no);
		return;
	}
	struct where_test *test = &l->out->v[first];
	*test = (struct where_test){.op = op_of(n->op, negated), .at = n->at, .yes = yes, .no = no};
	if (n->op >= NODE_EQ && n->op <= NODE_NO_MATCH) {
		test->left = add_side(l, n->a, &test->n_left);
		test->right = add_side(l, n->b, &test->n_right);
	} else {
		test->left = add_side(l, i, &test->n_left);
		test->right = add_zero(l, n->at, &test->n_right);
	}
}

struct error *where_tests_of(const struct where *w, struct where_tests *out)
{
	struct where_tests tests = {.n = count_tests(w, w->root)};
	struct where_lister l = {.w = w, .out = &tests};

	tests.v = calloc(tests.n, sizeof(*tests.v));
	tests.parts = calloc(2 * w->nodes.n, sizeof(*tests.parts));
	if (!tests.v || !tests.parts) {
		where_tests_deinit(&tests);
		return error_nomem();
	}
	add_tests(&l, w->root, false, 0, WHERE_SELECT, WHERE_REJECT);
	*out = tests;
	return NULL;
}

void where_tests_deinit(struct where_tests *tests)
{
	free(tests->v);
	free(tests->parts);
	*tests = (struct where_tests){0};
}
