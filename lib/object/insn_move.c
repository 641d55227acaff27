// SPDX-License-Identifier: BSD-2-Clause
/*
 * func_info and line_info of a program whose instructions were changed: where
 * each of the old ones stands among the new ones, and what follows from it for
 * the records, which name instructions by number. The kernel takes only what
 * fits (kernel/bpf/verifier.c, check_btf_func() and check_btf_line()):
 *
 *	a function record for instruction 0 and each target of a call, no more;
 *	line records that ascend, none within a 16-byte instruction, and one at
 *	the start of each function.
 *
 * Who changes the instructions may say where they went. Else it is found by
 * comparing both ends, without regard to the distances of jumps and calls,
 * which change when something comes between. Nearly all changes are one piece
 * put in, taken out or replaced; a prologue is one put in before all others.
 * The program's own function begins at instruction 0 whatever was put there,
 * and again where it is called from there.
 *
 * Records are dropped, all of a kind, where they would not fit: a program
 * without lines loads, one with wrong lines does not.
 */
#include "lib/object/prepare.h"

#include <string.h>

static bool is_wide(const struct bpf_insn *insn)
{
	return insn->code == (BPF_LD | BPF_IMM | BPF_DW);
}

/* Whether it holds the distance to another instruction in imm, or in off. */
static bool has_far_target(const struct bpf_insn *insn)
{
	return (insn->code == (BPF_JMP | BPF_CALL) && insn->src_reg == BPF_PSEUDO_CALL) ||
	       (is_wide(insn) && insn->src_reg == BPF_PSEUDO_FUNC) ||
	       insn->code == (BPF_JMP32 | BPF_JA);
}

static bool is_jump(const struct bpf_insn *insn)
{
	const uint8_t class = BPF_CLASS(insn->code), op = BPF_OP(insn->code);

	return (class == BPF_JMP || class == BPF_JMP32) && op != BPF_CALL && op != BPF_EXIT;
}

static bool alike(const struct bpf_insn *a, const struct bpf_insn *b)
{
	return a->code == b->code && a->dst_reg == b->dst_reg && a->src_reg == b->src_reg &&
	       (a->off == b->off || is_jump(a)) && (a->imm == b->imm || has_far_target(a));
}

void insns_compare(const struct bpf_insn *old, size_t n, const struct bpf_insn *new, size_t m,
		   int32_t *map)
{
	const size_t least = min_of(n, m);
	size_t front = 0, back = 0;

	while (front < least && alike(&old[front], &new[front]))
		front++;
	/* All of it stands where it was: something follows. Else the end says more. */
	if (front < n) {
		while (back < least && alike(&old[n - 1 - back], &new[m - 1 - back]))
			back++;
		front = min_of(front, least - back);
	}
	for (size_t i = 0; i < n; i++) {
		if (i < front)
			map[i] = (int32_t)i;
		else if (i >= n - back)
			map[i] = (int32_t)(m - n + i);
		else
			map[i] = n == m ? (int32_t)i : -1;
	}
}

struct error *insns_check_map(const int32_t *map, size_t n, size_t m)
{
	int64_t last = -1;

	for (size_t i = 0; i < n; i++) {
		if (map[i] == -1)
			continue;
		if (map[i] <= last || (size_t)map[i] >= m)
			return error_new(EINVAL,
					 "instruction %zu is recorded at %d of %zu, after %lld", i,
					 map[i], m, (long long)last);
		last = map[i];
	}
	return NULL;
}

/* A function starts there; false: nobody knows which. */
static bool add_start(int64_t start, size_t m, const uint32_t *type_at, uint32_t *types, size_t *n)
{
	if (start < 0 || start >= (int64_t)m || !type_at[start])
		return false;
	*n += !types[start];
	types[start] = type_at[start];
	return true;
}

/* The functions of the new program, as the kernel finds them: types[i] is that of one at i. */
static bool find_starts(const struct bpf_insn *new, size_t m, const uint32_t *type_at,
			uint32_t *types, size_t *n)
{
	*n = 0;
	if (!add_start(0, m, type_at, types, n))
		return false;
	for (size_t i = 0; i < m; i++) {
		if (has_far_target(&new[i]) && !is_jump(&new[i]) &&
		    !add_start((int64_t)i + new[i].imm + 1, m, type_at, types, n))
			return false;
		i += is_wide(&new[i]);
	}
	return true;
}

/* The n instructions in front of the program, and the functions among them, are of one type. */
static void type_front(const struct bpf_insn *new, int32_t n, uint32_t type, uint32_t *type_at)
{
	type_at[0] = type;
	for (int32_t i = 0; i < n; i++) {
		const int64_t at = (int64_t)i + new[i].imm + 1;

		if (has_far_target(&new[i]) && !is_jump(&new[i]) && at > 0 && at < n)
			type_at[at] = type;
		i += is_wide(&new[i]);
	}
}

static struct error *move_funcs(const struct insn_info *old, const int32_t *map,
				const struct bpf_insn *new, size_t m, uint32_t *types,
				struct insn_info *to)
{
	_cleanup_free_ uint32_t *type_at = calloc(m, sizeof(*type_at));
	size_t n, found = 0;

	if (!type_at)
		return error_nomem();
	for (uint32_t i = 0; i < old->n_funcs; i++) {
		const uint32_t was = old->funcs[i].insn_off;

		if (map[was] >= 0)
			type_at[map[was]] = old->funcs[i].type_id;
		/* What was put in front may call the program; it is of its type, too. */
		if (!was)
			type_front(new, map[was], old->funcs[i].type_id, type_at);
	}
	if (!find_starts(new, m, type_at, types, &n))
		return NULL;
	struct bpf_func_info *funcs = calloc(n, sizeof(*funcs));
	if (!funcs)
		return error_nomem();
	for (size_t i = 0; i < m && found < n; i++)
		if (types[i])
			funcs[found++] = (struct bpf_func_info){.insn_off = (uint32_t)i,
								.type_id = types[i]};
	to->funcs = funcs;
	to->n_funcs = (uint32_t)n;
	return NULL;
}

static struct error *move_lines(const struct insn_info *old, const int32_t *map,
				const struct bpf_insn *new, size_t m, const uint32_t *types,
				struct insn_info *to)
{
	/* More: the functions before the first instruction are of its line, too. */
	struct bpf_line_info *lines =
		calloc((size_t)old->n_lines + to->n_funcs + 1, sizeof(*lines));
	uint32_t n = 0, starts = 0;

	if (!lines)
		return error_nomem();
	for (uint32_t i = 0; i < old->n_lines; i++) {
		const struct bpf_line_info *line = &old->lines[i];
		const int32_t at = map[line->insn_off];

		/* Of several records of the first instruction, one is enough. */
		const int32_t front = line->insn_off || i ? 0 : at < 0 ? 1 : at;
		for (int32_t k = 0; k < front; k++) {
			if (!types[k])
				continue;
			lines[n] = *line;
			lines[n++].insn_off = (uint32_t)k;
		}
		if (at < 0 || !new[at].code || (n && lines[n - 1].insn_off >= (uint32_t)at))
			continue;
		lines[n] = *line;
		lines[n++].insn_off = (uint32_t)at;
	}
	for (uint32_t i = 0; i < n; i++)
		starts += types[lines[i].insn_off] != 0;
	if (starts != to->n_funcs) {
		free(lines);
		return NULL;
	}
	to->lines = lines;
	to->n_lines = n;
	return NULL;
}

void insn_info_deinit(struct insn_info *info)
{
	free(info->funcs);
	free(info->lines);
	*info = (struct insn_info){0};
}

struct error *insn_info_move(const struct insn_info *old, const int32_t *map,
			     const struct bpf_insn *new, size_t m, struct insn_info *out)
{
	_cleanup_(insn_info_deinit) struct insn_info to = {0};
	_cleanup_free_ uint32_t *types = calloc(m ? m : 1, sizeof(*types));

	if (!types)
		return error_nomem();
	if (old->n_funcs && m)
		TRY(move_funcs(old, map, new, m, types, &to));
	if (to.n_funcs && old->n_lines)
		TRY(move_lines(old, map, new, m, types, &to));
	*out = to;
	to = (struct insn_info){0};
	return NULL;
}
