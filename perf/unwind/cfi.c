// SPDX-License-Identifier: BSD-2-Clause
/*
 * A section of call frame information is a list of entries. A common entry (CIE) has what several
 * functions share: the register of the return address, the factors of offsets, how addresses are
 * encoded, and the rules at a function's start. An entry of a function (FDE) has the range of its
 * addresses and a program that changes the rules as the function goes on. The row for an address
 * is the state of the rules when the program reaches it.
 *
 * .eh_frame_hdr has a table of all functions by address, which is searched as it is in the file.
 * Where it is missing, and for .debug_frame, which never has one, the entries are listed once and
 * sorted.
 *
 * The sections are anybody's. Each read is bounded by the entry, and a program is as long as its
 * entry, so each ends. A program that is not understood gives no row: a wrong row would give wrong
 * callers.
 */
#include "perf/unwind/cfi.h"

#include <stdlib.h>

#include "lib/base/util.h"
#include "lib/base/vec.h"

/* Encodings of addresses, DW_EH_PE_*. */
enum {
	PE_ABSOLUTE = 0x00,
	PE_ULEB = 0x01,
	PE_U2 = 0x02,
	PE_U4 = 0x03,
	PE_U8 = 0x04,
	PE_SLEB = 0x09,
	PE_S2 = 0x0a,
	PE_S4 = 0x0b,
	PE_S8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PC_RELATIVE = 0x10,
	PE_DATA_RELATIVE = 0x30,
	PE_BASE = 0x70,
	PE_INDIRECT = 0x80,
	PE_OMIT = 0xff,
};

/* Instructions, DW_CFA_*; the first three have an operand in their low six bits. */
enum {
	CFA_ADVANCE = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03,
	CFA_ADVANCE4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF = 0x0c,
	CFA_DEF_REGISTER = 0x0d,
	CFA_DEF_OFFSET = 0x0e,
	CFA_DEF_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_SF = 0x11,
	CFA_DEF_SF = 0x12,
	CFA_DEF_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_ARM64_NEGATE_WITH_PC = 0x2c,
	CFA_ARM64_NEGATE = 0x2d,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

/* Compilers nest remember_state once or twice. */
#define MAX_REMEMBERED 8

/* A function's entry, for the search. */
struct fde_at {
	uint64_t start, size;
	uint64_t offset; /* in the section */
};

struct cfi_table {
	struct cursor section; /* origin 0: positions are offsets in the section */
	uint64_t addr;
	bool is_debug;
	bool is_listed;
	VEC(struct fde_at) fdes; /* by start, once listed */
};

struct cfi {
	struct cfi_table eh, debug;
	struct cursor search; /* the table in .eh_frame_hdr; size 0: none of the usual encoding */
	uint64_t hdr_addr;
	bool is_arm64;
};

struct common_entry {
	uint64_t code_factor;
	int64_t data_factor;
	uint64_t return_reg;
	uint8_t encoding; /* of addresses in the functions' entries */
	bool is_signal, has_data;
	struct cursor program;
};

struct function_entry {
	uint64_t start, size;
	struct common_entry cie;
	struct cursor program;
};

bool cfi_uleb(struct cursor *c, uint64_t *v)
{
	uint64_t sum = 0;
	uint8_t byte;

	for (unsigned shift = 0; cursor_u8(c, &byte); shift += 7) {
		if (shift < 64)
			sum |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*v = sum;
			return true;
		}
	}
	return false;
}

bool cfi_sleb(struct cursor *c, int64_t *v)
{
	uint64_t sum = 0;
	uint8_t byte;

	for (unsigned shift = 0; cursor_u8(c, &byte); shift += 7) {
		if (shift < 64)
			sum |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (byte & 0x40 && shift + 7 < 64)
			sum |= ~0ull << (shift + 7);
		*v = (int64_t)sum;
		return true;
	}
	return false;
}

static bool read_format(struct cursor *c, uint8_t encoding, uint64_t *v)
{
	uint16_t u2;
	uint32_t u4;
	int64_t s;

	switch (encoding & PE_FORMAT) {
	case PE_ABSOLUTE:
	case PE_U8:
	case PE_S8:
		return cursor_u64(c, v);
	case PE_ULEB:
		return cfi_uleb(c, v);
	case PE_SLEB:
		if (!cfi_sleb(c, &s))
			return false;
		*v = (uint64_t)s;
		return true;
	case PE_U2:
	case PE_S2:
		if (!cursor_u16(c, &u2))
			return false;
		*v = encoding & 0x08 ? (uint64_t)(int16_t)u2 : u2;
		return true;
	case PE_U4:
	case PE_S4:
		if (!cursor_u32(c, &u4))
			return false;
		*v = encoding & 0x08 ? (uint64_t)(int32_t)u4 : u4;
		return true;
	}
	return false;
}

/* An encoded address; here is the address of its first byte. */
static bool read_address(struct cursor *c, uint8_t encoding, uint64_t here, uint64_t data,
			 uint64_t *v)
{
	uint64_t base = 0;

	if (encoding == PE_OMIT || encoding & PE_INDIRECT)
		return false;
	if ((encoding & PE_BASE) == PE_PC_RELATIVE)
		base = here;
	else if ((encoding & PE_BASE) == PE_DATA_RELATIVE)
		base = data;
	else if (encoding & PE_BASE)
		return false;
	if (!read_format(c, encoding, v))
		return false;
	*v += base;
	return true;
}

static uint64_t address_of(const struct cfi_table *t, const struct cursor *c)
{
	return t->addr + c->origin + c->pos;
}

/*
 * The entry at an offset: its bytes behind the id, the offset of the common entry that it names,
 * and whether it is one itself. false: the list ends there.
 */
static bool read_entry(const struct cfi_table *t, uint64_t offset, struct cursor *body,
		       uint64_t *common, bool *is_common)
{
	struct cursor c = t->section;
	uint32_t small;
	uint64_t length, id;

	if (offset > c.size || !cursor_seek(&c, (size_t)offset) || !cursor_u32(&c, &small))
		return false;
	const bool is_wide = small == UINT32_MAX;
	length = small;
	if (is_wide && !cursor_u64(&c, &length))
		return false;
	if (!length || !cursor_take(&c, length, body))
		return false;
	const uint64_t id_at = body->origin;
	if (is_wide && t->is_debug) {
		if (!cursor_u64(body, &id))
			return false;
		*is_common = id == UINT64_MAX;
	} else {
		if (!cursor_u32(body, &small))
			return false;
		id = small;
		*is_common = t->is_debug ? small == UINT32_MAX : !small;
	}
	*common = t->is_debug ? id : id_at - id;
	return true;
}

/* The augmentation's data: how addresses are encoded, and what kind of frame it is. */
static bool read_augmentation(struct cursor *c, const char *letters, struct common_entry *cie)
{
	struct cursor data;
	uint64_t length, ignored;
	uint8_t encoding;

	if (!cfi_uleb(c, &length) || !cursor_take(c, length, &data))
		return false;
	cie->has_data = true;
	for (const char *l = letters + 1; *l; l++) {
		switch (*l) {
		case 'L':
			if (!cursor_u8(&data, &encoding))
				return false;
			break;
		case 'P':
			if (!cursor_u8(&data, &encoding) || !read_format(&data, encoding, &ignored))
				return false;
			break;
		case 'R':
			if (!cursor_u8(&data, &cie->encoding))
				return false;
			break;
		case 'S':
			cie->is_signal = true;
			break;
		case 'B': /* the other key of pointer authentication */
		case 'G': /* tagged memory */
			break;
		default: /* the length says where its data ends */
			return true;
		}
	}
	return true;
}

static bool read_common(const struct cfi_table *t, uint64_t offset, struct common_entry *cie)
{
	struct cursor c;
	uint64_t ignored;
	uint8_t version, byte;
	bool is_common;

	*cie = (struct common_entry){.encoding = PE_ABSOLUTE};
	if (!read_entry(t, offset, &c, &ignored, &is_common) || !is_common ||
	    !cursor_u8(&c, &version) || (version != 1 && version != 3 && version != 4))
		return false;
	const char *letters = cursor_cstr(&c);
	if (!letters)
		return false;
	/* The sizes of an address and of a segment's selector. */
	if (version == 4 &&
	    (!cursor_u8(&c, &byte) || byte != 8 || !cursor_u8(&c, &byte) || byte != 0))
		return false;
	if (!cfi_uleb(&c, &cie->code_factor) || !cfi_sleb(&c, &cie->data_factor))
		return false;
	if (version == 1) {
		if (!cursor_u8(&c, &byte))
			return false;
		cie->return_reg = byte;
	} else if (!cfi_uleb(&c, &cie->return_reg)) {
		return false;
	}
	/* Without 'z', letters say of data that cannot be skipped. */
	if (*letters && (*letters != 'z' || !read_augmentation(&c, letters, cie)))
		return false;
	cie->program = c;
	return true;
}

/* false: the list ends; is_common: it is not a function's. */
static bool read_function(const struct cfi_table *t, uint64_t offset, struct function_entry *fde,
			  bool *is_common)
{
	struct cursor c;
	uint64_t common, length;

	if (!read_entry(t, offset, &c, &common, is_common) || *is_common ||
	    !read_common(t, common, &fde->cie))
		return false;
	if (!read_address(&c, fde->cie.encoding, address_of(t, &c), 0, &fde->start) ||
	    !read_format(&c, fde->cie.encoding, &fde->size))
		return false;
	if (fde->cie.has_data && (!cfi_uleb(&c, &length) || !cursor_skip(&c, length)))
		return false;
	fde->program = c;
	return true;
}

static int compare_fdes(const void *a, const void *b)
{
	const struct fde_at *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Lists the functions of a table without a search table. */
static bool list_functions(struct cfi_table *t)
{
	struct function_entry fde;
	struct cursor c = t->section;
	uint32_t small;
	bool is_common;

	t->is_listed = true;
	while (!cursor_end(&c)) {
		const uint64_t offset = c.pos;
		uint64_t length;

		if (!cursor_u32(&c, &small))
			break;
		length = small;
		if (small == UINT32_MAX && !cursor_u64(&c, &length))
			break;
		if (!cursor_skip(&c, length))
			break;
		/* An empty entry ends the list of a linked object; more may follow. */
		if (!length || !read_function(t, offset, &fde, &is_common) || !fde.size)
			continue;
		struct fde_at *slot = vec_push(&t->fdes);
		if (!slot)
			return false;
		*slot = (struct fde_at){fde.start, fde.size, offset};
	}
	if (t->fdes.n)
		qsort(t->fdes.v, t->fdes.n, sizeof(*t->fdes.v), compare_fdes);
	return true;
}

static bool find_listed(struct cfi_table *t, uint64_t addr, uint64_t *offset)
{
	if (!t->is_listed && !list_functions(t))
		return false;
	const size_t low = count_before(t->fdes.n, i, t->fdes.v[i].start <= addr);
	if (!low)
		return false;
	*offset = t->fdes.v[low - 1].offset;
	return true;
}

/* Pairs of 32-bit numbers relative to the header: a function's start and its entry. */
static bool find_in_search_table(const struct cfi *cfi, uint64_t addr, uint64_t *offset)
{
	size_t low = 0, high = cfi->search.size / 8;
	uint32_t start = 0, entry = 0;

	while (low < high) {
		const size_t mid = low + (high - low) / 2;
		struct cursor c = cfi->search;

		cursor_seek(&c, mid * 8);
		cursor_u32(&c, &start);
		if (cfi->hdr_addr + (uint64_t)(int32_t)start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return false;
	struct cursor c = cfi->search;
	cursor_seek(&c, (low - 1) * 8 + 4);
	cursor_u32(&c, &entry);
	*offset = cfi->hdr_addr + (uint64_t)(int32_t)entry - cfi->eh.addr;
	return true;
}

/* The rules while a program runs. */
struct cfi_state {
	struct cfi_rule cfa;
	bool is_signed;
	struct cfi_rule rules[CFI_REGISTERS];
};

struct cfi_program {
	const struct cfi *cfi;
	const struct cfi_table *table;
	const struct common_entry *cie;
	struct cfi_state state, initial;
	struct cfi_state remembered[MAX_REMEMBERED];
	unsigned n_remembered;
	uint64_t location, wanted;
};

/* false: the offset is too large to be one. */
static bool set_rule(struct cfi_program *p, uint64_t reg, enum cfi_kind kind, int64_t offset)
{
	if (offset != (int32_t)offset)
		return false;
	if (reg < CFI_REGISTERS)
		p->state.rules[reg] = (struct cfi_rule){
			.reg = (uint8_t)reg, .kind = kind, .offset = (int32_t)offset};
	return true;
}

static bool set_offset(struct cfi_program *p, uint64_t reg, enum cfi_kind kind, int64_t factored)
{
	int64_t offset;

	return !__builtin_mul_overflow(factored, p->cie->data_factor, &offset) &&
	       set_rule(p, reg, kind, offset);
}

static void restore_rule(struct cfi_program *p, uint64_t reg)
{
	if (reg < CFI_REGISTERS)
		p->state.rules[reg] = p->initial.rules[reg];
}

static bool set_cfa(struct cfi_program *p, uint64_t reg, int64_t offset)
{
	if (reg >= CFI_REGISTERS || offset != (int32_t)offset)
		return false;
	p->state.cfa = (struct cfi_rule){
		.reg = (uint8_t)reg, .kind = CFI_IS_CFA, .offset = (int32_t)offset};
	return true;
}

/* The expression that follows in the program. */
static bool read_expression(struct cursor *c, enum cfi_kind kind, struct cfi_rule *rule)
{
	uint64_t length;

	if (!cfi_uleb(c, &length) || length > UINT16_MAX || length > cursor_left(c) ||
	    c->origin + c->pos > INT32_MAX)
		return false;
	rule->kind = kind;
	rule->length = (uint16_t)length;
	rule->offset = (int32_t)(c->origin + c->pos);
	return cursor_skip(c, length);
}

static bool set_expression(struct cfi_program *p, struct cursor *c, enum cfi_kind kind)
{
	struct cfi_rule rule = {0};
	uint64_t reg;

	if (!cfi_uleb(c, &reg) || !read_expression(c, kind, &rule))
		return false;
	if (reg >= CFI_REGISTERS)
		return true;
	rule.reg = (uint8_t)reg;
	p->state.rules[reg] = rule;
	return true;
}

static void advance(struct cfi_program *p, uint64_t units)
{
	const uint64_t bytes = units * p->cie->code_factor;

	/* What leads past the end of the address space leads past the wanted address. */
	p->location = p->location + bytes < p->location ? UINT64_MAX : p->location + bytes;
}

static bool do_advance(struct cfi_program *p, struct cursor *c, uint8_t op)
{
	uint8_t u1;
	uint16_t u2;
	uint32_t u4;

	switch (op) {
	case CFA_ADVANCE1:
		if (!cursor_u8(c, &u1))
			return false;
		advance(p, u1);
		return true;
	case CFA_ADVANCE2:
		if (!cursor_u16(c, &u2))
			return false;
		advance(p, u2);
		return true;
	case CFA_ADVANCE4:
		if (!cursor_u32(c, &u4))
			return false;
		advance(p, u4);
		return true;
	default:
		return read_address(c, p->cie->encoding, address_of(p->table, c), 0, &p->location);
	}
}

/* Instructions that set the CFA. */
static bool do_cfa(struct cfi_program *p, struct cursor *c, uint8_t op)
{
	const struct cfi_rule cfa = p->state.cfa;
	uint64_t reg = cfa.reg, u = 0;
	int64_t s;

	switch (op) {
	case CFA_DEF:
		return cfi_uleb(c, &reg) && cfi_uleb(c, &u) && set_cfa(p, reg, (int64_t)u);
	case CFA_DEF_SF:
		return cfi_uleb(c, &reg) && cfi_sleb(c, &s) &&
		       !__builtin_mul_overflow(s, p->cie->data_factor, &s) && set_cfa(p, reg, s);
	case CFA_DEF_REGISTER:
		return cfi_uleb(c, &reg) && cfa.kind == CFI_IS_CFA && set_cfa(p, reg, cfa.offset);
	case CFA_DEF_OFFSET:
		return cfi_uleb(c, &u) && cfa.kind == CFI_IS_CFA && set_cfa(p, reg, (int64_t)u);
	case CFA_DEF_OFFSET_SF:
		return cfi_sleb(c, &s) && cfa.kind == CFI_IS_CFA &&
		       !__builtin_mul_overflow(s, p->cie->data_factor, &s) && set_cfa(p, reg, s);
	default:
		return read_expression(c, CFI_EXPR_IS, &p->state.cfa);
	}
}

/* Instructions that set the rule of a register. */
static bool do_register(struct cfi_program *p, struct cursor *c, uint8_t op)
{
	uint64_t reg, u;
	int64_t s;

	if (op == CFA_EXPRESSION || op == CFA_VAL_EXPRESSION)
		return set_expression(p, c, op == CFA_EXPRESSION ? CFI_EXPR_AT : CFI_EXPR_IS);
	if (!cfi_uleb(c, &reg))
		return false;
	switch (op) {
	case CFA_OFFSET_EXTENDED:
		return cfi_uleb(c, &u) && set_offset(p, reg, CFI_SAVED_AT, (int64_t)u);
	case CFA_OFFSET_SF:
		return cfi_sleb(c, &s) && set_offset(p, reg, CFI_SAVED_AT, s);
	case CFA_GNU_NEGATIVE_OFFSET:
		return cfi_uleb(c, &u) && u <= INT32_MAX &&
		       set_offset(p, reg, CFI_SAVED_AT, -(int64_t)u);
	case CFA_VAL_OFFSET:
		return cfi_uleb(c, &u) && set_offset(p, reg, CFI_IS_CFA, (int64_t)u);
	case CFA_VAL_OFFSET_SF:
		return cfi_sleb(c, &s) && set_offset(p, reg, CFI_IS_CFA, s);
	case CFA_REGISTER:
		return cfi_uleb(c, &u) && u < CFI_REGISTERS &&
		       set_rule(p, reg, CFI_REGISTER, (int64_t)u);
	case CFA_UNDEFINED:
		return set_rule(p, reg, CFI_UNDEFINED, 0);
	case CFA_SAME_VALUE:
		return set_rule(p, reg, CFI_SAME, 0);
	default:
		restore_rule(p, reg);
		return true;
	}
}

/* One instruction; false: it is unknown or damaged. */
static bool do_instruction(struct cfi_program *p, struct cursor *c, uint8_t op)
{
	uint64_t u;

	switch (op & 0xc0) {
	case CFA_ADVANCE:
		advance(p, op & 0x3f);
		return true;
	case CFA_OFFSET:
		return cfi_uleb(c, &u) && set_offset(p, op & 0x3f, CFI_SAVED_AT, (int64_t)u);
	case CFA_RESTORE:
		restore_rule(p, op & 0x3f);
		return true;
	}
	switch (op) {
	case CFA_NOP:
		return true;
	case CFA_SET_LOC:
	case CFA_ADVANCE1:
	case CFA_ADVANCE2:
	case CFA_ADVANCE4:
		return do_advance(p, c, op);
	case CFA_DEF:
	case CFA_DEF_SF:
	case CFA_DEF_REGISTER:
	case CFA_DEF_OFFSET:
	case CFA_DEF_OFFSET_SF:
	case CFA_DEF_EXPRESSION:
		return do_cfa(p, c, op);
	case CFA_OFFSET_EXTENDED:
	case CFA_OFFSET_SF:
	case CFA_GNU_NEGATIVE_OFFSET:
	case CFA_VAL_OFFSET:
	case CFA_VAL_OFFSET_SF:
	case CFA_REGISTER:
	case CFA_UNDEFINED:
	case CFA_SAME_VALUE:
	case CFA_RESTORE_EXTENDED:
	case CFA_EXPRESSION:
	case CFA_VAL_EXPRESSION:
		return do_register(p, c, op);
	case CFA_REMEMBER:
		if (p->n_remembered == MAX_REMEMBERED)
			return false;
		p->remembered[p->n_remembered++] = p->state;
		return true;
	case CFA_RESTORE_STATE:
		if (!p->n_remembered)
			return false;
		p->state = p->remembered[--p->n_remembered];
		return true;
	case CFA_ARM64_NEGATE:
	case CFA_ARM64_NEGATE_WITH_PC:
		p->state.is_signed ^= true;
		return p->cfi->is_arm64;
	case CFA_GNU_ARGS_SIZE:
		return cfi_uleb(c, &u);
	}
	return false;
}

/* Until the wanted address; false: an instruction is damaged. */
static bool run_program(struct cfi_program *p, struct cursor c)
{
	uint8_t op;

	while (p->location <= p->wanted && cursor_u8(&c, &op))
		if (!do_instruction(p, &c, op))
			return false;
	return true;
}

static void row_from(const struct cfi_state *state, struct cfi_row *row)
{
	row->cfa = state->cfa;
	row->is_signed = state->is_signed;
	row->n = 0;
	for (unsigned reg = 0; reg < CFI_REGISTERS; reg++)
		if (state->rules[reg].kind != CFI_SAME)
			row->rules[row->n++] = state->rules[reg];
}

static bool row_of(const struct cfi *cfi, const struct cfi_table *t, uint64_t offset, uint64_t addr,
		   struct cfi_row *row)
{
	struct function_entry fde;
	bool is_common;

	if (!read_function(t, offset, &fde, &is_common) || addr < fde.start ||
	    addr - fde.start >= fde.size || fde.cie.return_reg >= CFI_REGISTERS)
		return false;
	struct cfi_program p = {
		.cfi = cfi, .table = t, .cie = &fde.cie, .location = 0, .wanted = UINT64_MAX - 1};
	for (unsigned reg = 0; reg < CFI_REGISTERS; reg++)
		p.state.rules[reg].reg = (uint8_t)reg;
	if (!run_program(&p, fde.cie.program))
		return false;
	p.initial = p.state;
	p.location = fde.start;
	p.wanted = addr;
	if (!run_program(&p, fde.program) || p.state.cfa.kind == CFI_SAME)
		return false;
	row_from(&p.state, row);
	row->return_reg = (uint8_t)fde.cie.return_reg;
	row->is_signal = fde.cie.is_signal;
	row->in_debug_frame = t->is_debug;
	return true;
}

bool cfi_find(struct cfi *cfi, uint64_t addr, struct cfi_row *row)
{
	uint64_t offset;

	if (cfi->search.size) {
		if (find_in_search_table(cfi, addr, &offset) &&
		    row_of(cfi, &cfi->eh, offset, addr, row))
			return true;
	} else if (find_listed(&cfi->eh, addr, &offset) &&
		   row_of(cfi, &cfi->eh, offset, addr, row)) {
		return true;
	}
	return find_listed(&cfi->debug, addr, &offset) &&
	       row_of(cfi, &cfi->debug, offset, addr, row);
}

/* ---- all rows ---- */

/* A function of either section, for a walk through all of them. */
struct listed_function {
	struct fde_at at;
	const struct cfi_table *table;
};

struct row_walk {
	struct cfi *cfi;
	cfi_row_fn *fn;
	void *ctx;
	VEC(struct listed_function) functions;
	uint64_t budget; /* instructions that may still be run */
	const struct cfi_table *initial_of;
	uint64_t initial_at; /* of the common entry whose rules `initial` are */
	bool initial_known, initial_ok;
	struct cfi_state initial;
};

static int compare_functions(const void *a, const void *b)
{
	const struct listed_function *x = a, *y = b;

	if (x->at.start == y->at.start && x->table->is_debug != y->table->is_debug)
		return x->table->is_debug ? 1 : -1;
	return compare_fdes(&x->at, &y->at);
}

static bool add_functions(struct row_walk *w, struct cfi_table *t)
{
	const struct fde_at *fde;

	if (!t->is_listed && !list_functions(t))
		return false;
	vec_for_each (fde, &t->fdes) {
		struct listed_function *slot = vec_push(&w->functions);

		if (!slot)
			return false;
		*slot = (struct listed_function){*fde, t};
	}
	return true;
}

/* The rules at a function's start; most functions have the same common entry. */
static bool initial_rules(struct row_walk *w, const struct cfi_table *t,
			  const struct function_entry *fde)
{
	const uint64_t at = fde->cie.program.origin;
	struct cfi_program p = {.cfi = w->cfi,
				.table = t,
				.cie = &fde->cie,
				.location = 0,
				.wanted = UINT64_MAX - 1};
	struct cursor c = fde->cie.program;
	uint8_t op;

	if (w->initial_known && w->initial_of == t && w->initial_at == at)
		return w->initial_ok;
	for (unsigned reg = 0; reg < CFI_REGISTERS; reg++)
		p.state.rules[reg].reg = (uint8_t)reg;
	w->initial_ok = true;
	while (w->initial_ok && cursor_u8(&c, &op))
		w->initial_ok = w->budget && w->budget-- && do_instruction(&p, &c, op);
	w->initial_known = true;
	w->initial_of = t;
	w->initial_at = at;
	w->initial = p.state;
	return w->initial_ok;
}

static struct error *pass_row(struct row_walk *w, const struct cfi_program *p,
			      const struct function_entry *fde, uint64_t start, uint64_t end,
			      bool is_ok)
{
	struct cfi_row row;

	if (start >= end)
		return NULL;
	if (!is_ok || p->state.cfa.kind == CFI_SAME)
		return w->fn(w->ctx, start, end, NULL);
	row_from(&p->state, &row);
	row.return_reg = (uint8_t)fde->cie.return_reg;
	row.is_signal = fde->cie.is_signal;
	row.in_debug_frame = p->table->is_debug;
	return w->fn(w->ctx, start, end, &row);
}

/* The rows of a function below `limit`, where the next one starts. */
static struct error *function_rows(struct row_walk *w, const struct listed_function *f,
				   uint64_t limit)
{
	struct function_entry fde;
	bool is_common, is_ok = true;
	uint8_t op;

	if (!read_function(f->table, f->at.offset, &fde, &is_common))
		return NULL;
	const uint64_t end = min_of(
		fde.size > UINT64_MAX - fde.start ? UINT64_MAX : fde.start + fde.size, limit);
	struct cfi_program p = {.cfi = w->cfi, .table = f->table, .cie = &fde.cie};
	if (fde.cie.return_reg >= CFI_REGISTERS || !initial_rules(w, f->table, &fde))
		return pass_row(w, &p, &fde, fde.start, end, false);
	p.state = p.initial = w->initial;
	p.location = fde.start;
	p.wanted = UINT64_MAX;
	uint64_t start = fde.start;
	struct cursor c = fde.program;
	while (start < end && cursor_u8(&c, &op)) {
		is_ok = w->budget && w->budget-- && do_instruction(&p, &c, op);
		if (!is_ok)
			break;
		/* Only what changes no rule changes the location. */
		TRY(pass_row(w, &p, &fde, start, min_of(p.location, end), true));
		start = max_of(start, p.location);
	}
	return pass_row(w, &p, &fde, start, end, is_ok);
}

/* Instructions for each byte of a section; a compiler's entries have less than one. */
#define BUDGET_PER_BYTE 4

/* A function that both sections have is described by .eh_frame. */
static void drop_duplicates(struct row_walk *w)
{
	uint64_t end = 0; /* of the last function of .eh_frame */
	size_t kept = 0;

	for (size_t i = 0; i < w->functions.n; i++) {
		const struct listed_function f = w->functions.v[i];

		if (f.table->is_debug && f.at.start < end)
			continue;
		if (!f.table->is_debug)
			end = f.at.size > UINT64_MAX - f.at.start ? UINT64_MAX
								  : f.at.start + f.at.size;
		w->functions.v[kept++] = f;
	}
	w->functions.n = kept;
}

static struct error *walk_rows(struct row_walk *w)
{
	if (!add_functions(w, &w->cfi->eh) || !add_functions(w, &w->cfi->debug))
		return error_nomem();
	if (!w->functions.n)
		return NULL;
	w->budget =
		BUDGET_PER_BYTE * ((uint64_t)w->cfi->eh.section.size + w->cfi->debug.section.size);
	qsort(w->functions.v, w->functions.n, sizeof(*w->functions.v), compare_functions);
	drop_duplicates(w);
	for (size_t i = 0; i < w->functions.n; i++) {
		const struct listed_function *f = &w->functions.v[i];

		TRY(function_rows(w, f, i + 1 < w->functions.n ? f[1].at.start : UINT64_MAX));
	}
	return NULL;
}

struct error *cfi_each_row(struct cfi *cfi, cfi_row_fn *fn, void *ctx)
{
	struct row_walk w = {.cfi = cfi, .fn = fn, .ctx = ctx};
	struct error *err = walk_rows(&w);

	vec_deinit(&w.functions);
	return err;
}

struct cursor cfi_expression(const struct cfi *cfi, const struct cfi_row *row,
			     const struct cfi_rule *rule)
{
	const struct cfi_table *t = row->in_debug_frame ? &cfi->debug : &cfi->eh;
	struct cursor c = cursor_make(NULL, 0, NULL);

	cursor_sub(&t->section, (uint64_t)(uint32_t)rule->offset, rule->length, &c);
	return c;
}

/* The search table of .eh_frame_hdr; any other encoding than the linkers' is not used. */
static void open_search_table(struct cfi *cfi, const struct cfi_input *in)
{
	struct cursor c = cursor_make(in->eh_frame_hdr.data, in->eh_frame_hdr.size, NULL);
	uint8_t version, frame, count, table;
	uint64_t ignored, n;

	c.swap = in->swap;
	if (!cursor_u8(&c, &version) || version != 1 || !cursor_u8(&c, &frame) ||
	    !cursor_u8(&c, &count) || !cursor_u8(&c, &table) ||
	    table != (PE_DATA_RELATIVE | PE_S4) || !read_format(&c, frame, &ignored) ||
	    count == PE_OMIT || !read_format(&c, count, &n))
		return;
	n = min_of(n, (uint64_t)(cursor_left(&c) / 8));
	cursor_take(&c, n * 8, &cfi->search);
	cfi->hdr_addr = in->eh_frame_hdr.addr;
}

static void table_init(struct cfi_table *t, const struct cfi_section *section, bool swap,
		       bool is_debug)
{
	t->section = cursor_make(section->data, section->size, NULL);
	t->section.swap = swap;
	t->addr = section->addr;
	t->is_debug = is_debug;
}

struct error *cfi_new(const struct cfi_input *in, struct cfi **out)
{
	struct cfi *cfi = calloc(1, sizeof(*cfi));

	if (!cfi)
		return error_nomem();
	cfi->is_arm64 = in->is_arm64;
	table_init(&cfi->eh, &in->eh_frame, in->swap, false);
	table_init(&cfi->debug, &in->debug_frame, in->swap, true);
	open_search_table(cfi, in);
	*out = cfi;
	return NULL;
}

void cfi_free(struct cfi *cfi)
{
	if (!cfi)
		return;
	vec_deinit(&cfi->eh.fdes);
	vec_deinit(&cfi->debug.fdes);
	free(cfi);
}
