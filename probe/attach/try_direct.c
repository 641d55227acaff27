// SPDX-License-Identifier: BSD-2-Clause
/*
 * Direct loads of a fentry or fexit program's arguments, where the kernel takes
 * them (probe/prologue/direct_loads.c). What its verifier follows is not foretold: a
 * prologue is made and loaded for the very function, with a program behind it
 * that does nothing. If it is refused, each value is tried for itself; those
 * that are refused are read by helpers, as everywhere else.
 *
 * Of a module's functions the loader finds the BTF, later: there is nothing to
 * try it with, and they are read by helpers.
 */
#include "probe/attach/internal.h"

struct attempt {
	const struct set_prog *prog;
	const struct probe_point *point;
	const struct fetch_value *values;
	struct prologue_way way;
};

/* Whether these may be loaded directly, all at once. */
static bool loads(struct attempt *a, uint64_t direct)
{
	_cleanup_prologue_ struct prologue prologue = {0};

	a->way.direct = direct;
	struct error *err = prologue_build(a->values, a->prog->shape.n, &a->way,
					   &a->prog->shape.prologue, &prologue);
	/* The loader will say so. */
	if (err) {
		error_free(err);
		return false;
	}
	return trial_prologue(a->point->btf_id, a->point->at_return, &prologue);
}

static uint64_t find_direct(struct attempt *a)
{
	const uint64_t all = prologue_direct(a->values, a->prog->shape.n, &a->way);
	uint64_t taken = 0;

	if (!all || loads(a, all))
		return all;
	/* Something else may be in the way. */
	if (!loads(a, 0))
		return 0;
	for (uint64_t left = all; left; left &= left - 1) {
		const uint64_t one = left & -left;

		if (one != all && loads(a, taken | one))
			taken |= one;
	}
	return taken;
}

struct error *forms_try_direct(struct set_prog *prog)
{
	_cleanup_free_ struct fetch_value *values = calloc(prog->shape.n + 1, sizeof(*values));
	struct form *form;

	if (!values)
		return error_nomem();
	vec_for_each (form, &prog->forms) {
		struct attempt a = {
			.prog = prog,
			.point = &prog->points.v[form->point],
			.values = values,
			.way = place_way(prog, form->point, form->way),
		};

		if (form->way != PROBE_WAY_FENTRY || a.point->module)
			continue;
		/* The map of the counters is not there yet. */
		a.way.counter.wanted = false;
		place_values(prog, form->point, values);
		form->direct = find_direct(&a);
	}
	return NULL;
}
