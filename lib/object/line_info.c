// SPDX-License-Identifier: BSD-2-Clause
/*
 * func_info and line_info of a program: the records of .BTF.ext for each
 * function that was laid out, moved to where the function now stands. In the
 * file their offsets are bytes of a section, the kernel counts instructions
 * of the program.
 *
 * The kernel wants all or nothing: one func_info per function, beginning with
 * one for instruction 0, and a line for the first instruction of each function
 * (kernel/bpf/verifier.c, check_btf_func() and check_btf_line()). Where the
 * file has less, the program goes without.
 */
#include "lib/object/prepare.h"

#include <string.h>

static struct error *collect_funcs(struct bpf_program *prog)
{
	const struct bpf_object *obj = prog->obj;
	_cleanup_free_ struct bpf_func_info *infos = calloc(prog->placed.n, sizeof(*infos));

	if (!infos)
		return error_nomem();
	for (size_t i = 0; i < prog->placed.n; i++) {
		const struct placed *placed = &prog->placed.v[i];
		const struct function *fn = &obj->functions.v[placed->function];
		const struct btf_ext_section *sec = obj->codes.v[fn->code].func_info;

		if (!sec)
			return NULL;
		const uint32_t n = btf_ext_lower_bound(sec, fn->start * 8);
		if (n == sec->n)
			return NULL;
		const struct btf_func_info *rec = btf_ext_rec(sec, n);
		if (rec->insn_off != fn->start * 8)
			return NULL;
		infos[i].insn_off = placed->at;
		infos[i].type_id = rec->type_id;
	}
	prog->func_info = steal_ptr(infos);
	prog->n_func_info = (uint32_t)prog->placed.n;
	return NULL;
}

/* The lines of one function; false: its first instruction has none. */
static bool count_lines(const struct btf_ext_section *sec, const struct function *fn,
			uint32_t *first, uint32_t *n)
{
	const uint32_t start = fn->start * 8, end = (fn->start + fn->n) * 8;

	*first = btf_ext_lower_bound(sec, start);
	*n = 0;
	if (*first == sec->n ||
	    ((const struct btf_line_info *)btf_ext_rec(sec, *first))->insn_off != start)
		return false;
	*n = btf_ext_lower_bound(sec, end) - *first;
	return true;
}

static struct error *collect_lines(struct bpf_program *prog)
{
	const struct bpf_object *obj = prog->obj;
	VEC(struct bpf_line_info) lines = {0};
	const struct placed *placed;

	vec_for_each (placed, &prog->placed) {
		const struct function *fn = &obj->functions.v[placed->function];
		const struct btf_ext_section *sec = obj->codes.v[fn->code].line_info;
		uint32_t first, n;

		if (!sec || !count_lines(sec, fn, &first, &n)) {
			vec_deinit(&lines);
			return NULL;
		}
		if (!vec_reserve(&lines, lines.n + n)) {
			vec_deinit(&lines);
			return error_nomem();
		}
		for (uint32_t i = 0; i < n; i++) {
			const struct btf_line_info *rec = btf_ext_rec(sec, first + i);
			const uint32_t at = placed->at + rec->insn_off / 8 - fn->start;

			/* The kernel takes one line per instruction, and none for half of one. */
			if (!prog->insns[at].code || (lines.n && vec_last(&lines)->insn_off == at))
				continue;
			lines.v[lines.n++] = (struct bpf_line_info){
				.insn_off = at,
				.file_name_off = rec->file_name_off,
				.line_off = rec->line_off,
				.line_col = rec->line_col,
			};
		}
	}
	prog->line_info = lines.v;
	prog->n_line_info = (uint32_t)lines.n;
	return NULL;
}

struct error *program_collect_info(struct bpf_program *prog)
{
	if (!prog->obj->btf_ext)
		return NULL;
	TRY(collect_funcs(prog));
	return collect_lines(prog);
}
