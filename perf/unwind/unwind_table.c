// SPDX-License-Identifier: BSD-2-Clause
/*
 * A walk in the kernel follows three registers: the program counter, the stack pointer and the
 * frame pointer (on arm64 also the link register, in the innermost frame). That is enough for
 * nearly all code: compilers compute the CFA from one of the two pointers. A rule is what a row
 * says about them, with the few expressions that compilers and C libraries have:
 *
 * - where the stack is aligned, the CFA is a word that was saved relative to the frame pointer, or
 *   that word plus a constant, as OpenSSL's functions in assembler have it;
 * - the trampoline of signals has all registers relative to the stack pointer;
 * - an entry of the PLT pushes a word in its last instructions.
 *
 * A row that needs more (the CFA in another register, which ld.so has where it resolves symbols) is
 * counted and becomes unknown; a wrong rule would give wrong callers.
 */
#include "perf/unwind/unwind_table.h"

#include <stdlib.h>
#include <string.h>

#include "perf/unwind/step.h"

/* Of 8 bytes. The C library has some 28,000, LLVM 14 some 950,000. */
#define MAX_ROWS (8u << 20)

struct table_maker {
	const struct cfi *cfi;
	bool is_arm64;
	struct unwind_rules *rules;
	struct unwind_table *table;
	uint64_t lowest; /* the table begins there at the latest */
	bool is_open;	 /* the last row is not of unknown code */
	uint64_t end;	 /* of what the last row holds for */
};

struct error *unwind_rules_new(size_t max, struct unwind_rules **out)
{
	_cleanup_(unwind_rules_freep) struct unwind_rules *rules = calloc(1, sizeof(*rules));

	if (!rules)
		return error_nomem();
	rules->max = max;
	rules->set = keyset_make(sizeof(*rules->rules.v), sizeof(*rules->rules.v));
	if (!vec_push(&rules->rules) || !keyset_reserve(&rules->set, rules->rules.v, 1))
		return error_nomem();
	keyset_add(&rules->set, rules->rules.v, 0);
	*out = steal_ptr(rules);
	return NULL;
}

void unwind_rules_free(struct unwind_rules *rules)
{
	if (!rules)
		return;
	keyset_deinit(&rules->set);
	vec_deinit(&rules->rules);
	free(rules);
}

static struct error *rule_number(struct unwind_rules *rules,
				 const struct perf_bpf_unwind_rule *rule, uint32_t *number)
{
	const size_t known = keyset_find(&rules->set, rules->rules.v, rule);

	*number = known == SIZE_MAX ? 0 : (uint32_t)known;
	if (known != SIZE_MAX)
		return NULL;
	if (rules->rules.n >= rules->max) {
		rules->left_out++;
		return NULL;
	}
	if (!keyset_reserve(&rules->set, rules->rules.v, 1))
		return error_nomem();
	struct perf_bpf_unwind_rule *slot = vec_push(&rules->rules);
	if (!slot)
		return error_nomem();
	*slot = *rule;
	*number = (uint32_t)keyset_add(&rules->set, rules->rules.v, rules->rules.n - 1);
	return NULL;
}

/* ---- from rows to rules ---- */

enum {
	OP_DEREF = 0x06,
	OP_PLUS_UCONST = 0x23,
	OP_LIT0 = 0x30,
	OP_BREG0 = 0x70,
	X86_RETURN = 16,
};

/*
 * "REG + offset", and whether the word there is meant, which *more is added to; false: it is
 * another expression.
 */
static bool read_location(struct cursor c, unsigned *reg, int32_t *offset, bool *deref,
			  uint32_t *more)
{
	uint64_t added;
	uint8_t op;
	int64_t v;

	if (!cursor_u8(&c, &op) || op < OP_BREG0 || op > OP_BREG0 + 31 || !cfi_sleb(&c, &v) ||
	    v != (int32_t)v)
		return false;
	*reg = op - OP_BREG0;
	*offset = (int32_t)v;
	*more = 0;
	*deref = cursor_u8(&c, &op);
	if (!*deref)
		return true;
	if (op != OP_DEREF || cursor_end(&c))
		return op == OP_DEREF;
	if (!cursor_u8(&c, &op) || op != OP_PLUS_UCONST || !cfi_uleb(&c, &added) ||
	    added > INT32_MAX)
		return false;
	*more = (uint32_t)added;
	return cursor_end(&c);
}

/*
 * GNU ld's: SP + 8 + ((PC & 15) >= N) * 8. *from becomes N, behind the instruction that pushes the
 * number of the entry.
 */
static bool is_plt_expression(struct cursor c, int32_t *from)
{
	static const uint8_t begin[] = {0x77, 8, 0x80, 0, 0x3f, 0x1a},
			     end[] = {0x2a, 0x33, 0x24, 0x22};
	uint8_t bytes[sizeof(begin) + 1 + sizeof(end)];

	if (cursor_left(&c) != sizeof(bytes))
		return false;
	for (size_t i = 0; i < sizeof(bytes); i++)
		cursor_u8(&c, &bytes[i]);
	*from = bytes[sizeof(begin)] - OP_LIT0;
	return !memcmp(bytes, begin, sizeof(begin)) && *from > 0 && *from < 16 &&
	       !memcmp(bytes + sizeof(begin) + 1, end, sizeof(end));
}

struct followed_regs {
	unsigned sp, fp, ra;
};

static bool set_cfa(const struct cfi *cfi, const struct cfi_row *row,
		    const struct followed_regs *regs, struct perf_bpf_unwind_rule *rule)
{
	bool deref = false;
	unsigned reg = row->cfa.reg;

	rule->cfa_offset = row->cfa.offset;
	if (row->cfa.kind == CFI_EXPR_IS) {
		const struct cursor c = cfi_expression(cfi, row, &row->cfa);

		if (regs->sp == X86_REG_SP && is_plt_expression(c, &rule->fp_offset)) {
			rule->cfa = PERF_BPF_CFA_PLT;
			rule->cfa_offset = 8;
			return true;
		}
		if (!read_location(c, &reg, &rule->cfa_offset, &deref, &rule->cfa_more))
			return false;
	}
	if (reg == regs->sp)
		rule->cfa = deref ? PERF_BPF_CFA_AT_SP : PERF_BPF_CFA_SP;
	else if (reg == regs->fp)
		rule->cfa = deref ? PERF_BPF_CFA_AT_FP : PERF_BPF_CFA_FP;
	return reg == regs->sp || reg == regs->fp;
}

/* Where a register of the caller is. */
static enum perf_bpf_unwind_where where_is(const struct cfi *cfi, const struct cfi_row *row,
					   const struct followed_regs *regs, unsigned wanted,
					   int32_t *offset)
{
	const struct cfi_rule *rule = NULL;
	uint32_t more;
	unsigned reg;
	bool deref;

	for (unsigned i = 0; i < row->n; i++)
		if (row->rules[i].reg == wanted)
			rule = &row->rules[i];
	if (!rule)
		return PERF_BPF_REG_SAME;
	if (rule->kind == CFI_SAVED_AT) {
		*offset = rule->offset;
		return PERF_BPF_REG_AT_CFA;
	}
	if (rule->kind == CFI_EXPR_AT &&
	    read_location(cfi_expression(cfi, row, rule), &reg, offset, &deref, &more) && !deref) {
		if (reg == regs->sp)
			return PERF_BPF_REG_AT_SP;
		if (reg == regs->fp)
			return PERF_BPF_REG_AT_FP;
	}
	*offset = 0;
	return PERF_BPF_REG_LOST;
}

static bool is_outmost(const struct cfi_row *row)
{
	for (unsigned i = 0; i < row->n; i++)
		if (row->rules[i].reg == row->return_reg && row->rules[i].kind == CFI_UNDEFINED)
			return true;
	return false;
}

bool unwind_rule_of_row(const struct cfi *cfi, const struct cfi_row *row, bool is_arm64,
			struct perf_bpf_unwind_rule *out)
{
	const struct followed_regs regs =
		is_arm64 ? (struct followed_regs){ARM64_REG_SP, ARM64_REG_FP, ARM64_REG_LR}
			 : (struct followed_regs){X86_REG_SP, X86_REG_BP, X86_RETURN};
	struct perf_bpf_unwind_rule rule = {.is_signal = row->is_signal};

	if (is_outmost(row)) {
		*out = (struct perf_bpf_unwind_rule){.cfa = PERF_BPF_CFA_END};
		return true;
	}
	if (row->return_reg != regs.ra || !set_cfa(cfi, row, &regs, &rule))
		return false;
	rule.ra = where_is(cfi, row, &regs, regs.ra, &rule.ra_offset);
	if (rule.ra == PERF_BPF_REG_LOST || (rule.ra == PERF_BPF_REG_SAME && !is_arm64))
		return false;
	if (rule.cfa != PERF_BPF_CFA_PLT)
		rule.fp = where_is(cfi, row, &regs, regs.fp, &rule.fp_offset);
	*out = rule;
	return true;
}

/* ---- tables ---- */

static struct error *add_row(struct table_maker *m, uint64_t start, uint32_t rule)
{
	struct unwind_table *t = m->table;

	if (!t->rows.n)
		t->base = min_of(start, m->lowest);
	/* The last pc ends blocks that are not full. */
	if (start - t->base >= UINT32_MAX || t->rows.n >= MAX_ROWS) {
		t->left_out++;
		return NULL;
	}
	if (t->rows.n && vec_last(&t->rows)->rule == rule)
		return NULL;
	struct perf_bpf_unwind_row *row = vec_push(&t->rows);
	if (!row)
		return error_nomem();
	*row = (struct perf_bpf_unwind_row){(uint32_t)(start - t->base), rule};
	return NULL;
}

/* Between functions there is no rule. */
static struct error *end_range(struct table_maker *m)
{
	m->is_open = false;
	return add_row(m, m->end, 0);
}

static struct error *take_row(void *ctx, uint64_t start, uint64_t end, const struct cfi_row *row)
{
	struct perf_bpf_unwind_rule rule = {0};
	struct table_maker *m = ctx;
	uint32_t number;

	if (m->is_open && m->end != start)
		TRY(end_range(m));
	if (row && !unwind_rule_of_row(m->cfi, row, m->is_arm64, &rule)) {
		rule = (struct perf_bpf_unwind_rule){0};
		m->table->not_expressible++;
	}
	TRY(rule_number(m->rules, &rule, &number));
	m->is_open = true;
	m->end = end;
	return add_row(m, start, number);
}

static struct error *make_table(struct table_maker *m, struct cfi *cfi, struct unwind_table **out)
{
	_cleanup_(unwind_table_freep) struct unwind_table *table = calloc(1, sizeof(*table));

	if (!table)
		return error_nomem();
	m->cfi = cfi;
	m->table = table;
	TRY(cfi_each_row(cfi, take_row, m));
	if (m->is_open)
		TRY(end_range(m));
	*out = steal_ptr(table);
	return NULL;
}

struct error *unwind_table_of_cfi(struct cfi *cfi, bool is_arm64, struct unwind_rules *rules,
				  struct unwind_table **out)
{
	struct table_maker m = {.is_arm64 = is_arm64, .rules = rules, .lowest = UINT64_MAX};

	return make_table(&m, cfi, out);
}

uint32_t unwind_table_find(const struct unwind_table *t, uint64_t addr)
{
	const uint64_t pc = addr - t->base;

	if (addr < t->base || pc >= UINT32_MAX)
		return 0;
	const size_t low = count_before(t->rows.n, i, t->rows.v[i].pc <= pc);
	return low ? t->rows.v[low - 1].rule : 0;
}

/* A range without rows, of one rule from `start` to `end`. */
static struct error *insert_rule(struct table_maker *m, uint64_t start, uint64_t end,
				 struct perf_bpf_unwind_rule rule)
{
	struct unwind_table *t = m->table;
	uint32_t number;

	TRY(rule_number(m->rules, &rule, &number));
	if (start >= end || start < t->base || end - t->base >= UINT32_MAX)
		return NULL;
	const uint32_t from = (uint32_t)(start - t->base), to = (uint32_t)(end - t->base);
	const size_t at = count_before(t->rows.n, i, t->rows.v[i].pc <= from);
	if ((at && t->rows.v[at - 1].rule) || (at < t->rows.n && t->rows.v[at].pc < to))
		return NULL;
	if (!vec_reserve(&t->rows, t->rows.n + 2))
		return error_nomem();
	const bool is_followed = at < t->rows.n && t->rows.v[at].pc == to;
	memmove(&t->rows.v[at + 2 - is_followed], &t->rows.v[at],
		(t->rows.n - at) * sizeof(*t->rows.v));
	t->rows.v[at] = (struct perf_bpf_unwind_row){from, number};
	if (!is_followed)
		t->rows.v[at + 1] = (struct perf_bpf_unwind_row){to, 0};
	t->rows.n += 2 - is_followed;
	return NULL;
}

/* As unwind_image_plt() has it, where the linker made no unwind information. */
static struct error *add_plt(struct table_maker *m, const struct plt_range *plt)
{
	const uint64_t start = plt->start, end = start + plt->size;
	struct perf_bpf_unwind_rule rule = {
		.cfa = PERF_BPF_CFA_SP,
		.cfa_offset = 8,
		.ra = PERF_BPF_REG_AT_CFA,
		.ra_offset = -8,
	};

	if (end < start || start % 16)
		return NULL;
	if (m->is_arm64) {
		rule = (struct perf_bpf_unwind_rule){.cfa = PERF_BPF_CFA_SP};
		return insert_rule(m, start + (plt->is_lazy ? 32 : 0), end, rule);
	}
	if (!plt->is_lazy)
		return insert_rule(m, start, end, rule);
	rule.cfa = PERF_BPF_CFA_PLT;
	rule.fp_offset = 11;
	TRY(insert_rule(m, start + 16, end, rule));
	rule.cfa = PERF_BPF_CFA_SP;
	rule.fp_offset = 0;
	rule.cfa_offset = 24;
	TRY(insert_rule(m, start + 6, min_of(end, start + 16), rule));
	rule.cfa_offset = 16;
	return insert_rule(m, start, min_of(end, start + 6), rule);
}

struct error *unwind_table_new(const struct unwind_image *image, struct unwind_rules *rules,
			       struct unwind_table **out)
{
	_cleanup_(unwind_table_freep) struct unwind_table *table = NULL;
	struct table_maker m = {.is_arm64 = image->is_arm64, .rules = rules, .lowest = UINT64_MAX};
	const struct plt_range *plt;

	vec_for_each (plt, &image->plt)
		m.lowest = min_of(m.lowest, plt->start);
	TRY(make_table(&m, image->cfi, &table));
	vec_for_each (plt, &image->plt)
		TRY(add_plt(&m, plt));
	*out = steal_ptr(table);
	return NULL;
}

void unwind_table_free(struct unwind_table *table)
{
	if (!table)
		return;
	vec_deinit(&table->rows);
	free(table);
}
