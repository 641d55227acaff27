// SPDX-License-Identifier: BSD-2-Clause
/*
 * DWARF expressions (DWARF 5, 2.5 and 2.6) to fetch programs.
 *
 * A program is computed in BPF, with no loop and no branch, so an expression
 * is translated, not run: each operation appends instructions, and what is
 * kept here is only the shape of the stack, an entry's type for each value.
 * Values without a type are 64 bits wide; those with one (DW_OP_convert and
 * the like) are kept extended from its size after every operation.
 *
 * gcc computes with narrow variables in registers as if these were 64 bits
 * wide: "%rbp, 3, DW_OP_shra" for a char that is shifted, whatever stands above
 * the char. Sums and products of such a register are right in their low bits;
 * what looks at upper bits (right shifts, quotients, comparisons) is right only
 * if the register was extended before, or when all of it is the variable. So
 * registers count as raw until they are masked, or shifted there and back.
 *
 * What a parameter's register held at the function's entry (DW_OP_entry_value) a
 * second probe keeps, at that entry; the frame's CFA says of which call it is.
 *
 * What cannot be translated becomes an obstacle that names the operation:
 * branches and calls, what needs the caller's frame, floating point, vector
 * registers. Never is a value guessed.
 */
#include "probe/dwarf/internal.h"

struct expr_entry {
	uint8_t size; /* 0: no type, 64 bits */
	bool is_signed;
	bool raw;	 /* bits above those that are meant may be anything */
	uint8_t shifted; /* raw, shifted left so far: shifted back it is clean */
};

struct machine {
	struct context *ctx;
	Dwarf_Attribute *attr;
	struct dwarf_location *loc;
	struct insns insns;
	struct expr_entry stack[FETCH_MAX_DEPTH];
	int depth;
	bool gnu;
	uint8_t suspect; /* the operation that looked at bits that may be anything */
	size_t suspect_at;
};

void location_deinit(struct dwarf_location *loc)
{
	struct location_part *part;

	vec_for_each (part, &loc->parts)
		free(part->insns.v);
	vec_deinit(&loc->parts);
	free(loc->obstacle);
	loc->obstacle = NULL;
}

struct error *location_block(struct dwarf_location *loc, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	location_deinit(loc);
	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	loc->obstacle = strbuf_steal(&sb);
	return loc->obstacle ? NULL : error_nomem();
}

bool insns_add(struct insns *insns, struct fetch_insn insn)
{
	struct fetch_insn *place = vec_push(insns);

	if (place)
		*place = insn;
	return place;
}

bool insns_copy(const struct insns *from, struct insns *to)
{
	for (size_t i = 0; i < from->n; i++) {
		if (!insns_add(to, from->v[i]))
			return false;
	}
	return true;
}

bool insns_plus(struct insns *insns, int64_t n)
{
	struct fetch_insn *last = insns->n ? &insns->v[insns->n - 1] : NULL;

	if (!n)
		return true;
	if (last && (last->op == FETCH_REG || last->op == FETCH_STATIC || last->op == FETCH_CONST ||
		     last->op == FETCH_TLS || (last->op == FETCH_DEREF && !last->size))) {
		last->imm = (int64_t)((uint64_t)last->imm + (uint64_t)n);
		return true;
	}
	return insns_add(insns, (struct fetch_insn){.op = FETCH_DEREF, .imm = n});
}

static const char *op_name(uint8_t op, char buf[16])
{
	static const struct {
		uint8_t op;
		const char *name;
	} names[] = {
		{DW_OP_xderef, "DW_OP_xderef"},
		{DW_OP_xderef_size, "DW_OP_xderef_size"},
		{DW_OP_bra, "DW_OP_bra"},
		{DW_OP_skip, "DW_OP_skip"},
		{DW_OP_call2, "DW_OP_call2"},
		{DW_OP_call4, "DW_OP_call4"},
		{DW_OP_call_ref, "DW_OP_call_ref"},
		{DW_OP_push_object_address, "DW_OP_push_object_address"},
		{DW_OP_convert, "DW_OP_convert"},
		{DW_OP_GNU_convert, "DW_OP_GNU_convert"},
		{DW_OP_reinterpret, "DW_OP_reinterpret"},
		{DW_OP_GNU_reinterpret, "DW_OP_GNU_reinterpret"},
		{DW_OP_regval_type, "DW_OP_regval_type"},
		{DW_OP_GNU_regval_type, "DW_OP_GNU_regval_type"},
		{DW_OP_const_type, "DW_OP_const_type"},
		{DW_OP_GNU_const_type, "DW_OP_GNU_const_type"},
		{DW_OP_deref_type, "DW_OP_deref_type"},
		{DW_OP_GNU_deref_type, "DW_OP_GNU_deref_type"},
		{DW_OP_xderef_type, "DW_OP_xderef_type"},
		{DW_OP_entry_value, "DW_OP_entry_value"},
		{DW_OP_GNU_entry_value, "DW_OP_GNU_entry_value"},
		{DW_OP_GNU_parameter_ref, "DW_OP_GNU_parameter_ref"},
		{DW_OP_GNU_variable_value, "DW_OP_GNU_variable_value"},
		{DW_OP_GNU_uninit, "DW_OP_GNU_uninit"},
		{DW_OP_GNU_encoded_addr, "DW_OP_GNU_encoded_addr"},
		{DW_OP_form_tls_address, "DW_OP_form_tls_address"},
		{DW_OP_GNU_push_tls_address, "DW_OP_GNU_push_tls_address"},
		{DW_OP_div, "DW_OP_div"},
		{DW_OP_mod, "DW_OP_mod"},
		{DW_OP_abs, "DW_OP_abs"},
		{DW_OP_implicit_pointer, "DW_OP_implicit_pointer"},
		{DW_OP_GNU_implicit_pointer, "DW_OP_GNU_implicit_pointer"},
		{DW_OP_call_frame_cfa, "DW_OP_call_frame_cfa"},
		{DW_OP_fbreg, "DW_OP_fbreg"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (names[i].op == op)
			return names[i].name;
	}
	snprintf(buf, 16, "DW_OP 0x%02x", op);
	return buf;
}

/*
 * What every function returns once an obstacle is set: it ends the expression as an error
 * does, and expr_location() alone takes it for success, with loc->obstacle for its result.
 */
static struct error obstacle_is_set = {.code = ECANCELED, .msg = (char *)"obstacle"};

static struct error *obstacle(struct machine *m, const char *fmt, ...) _printf_(2, 3);
static struct error *obstacle(struct machine *m, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&sb, fmt, ap);
	va_end(ap);
	if (strbuf_failed(&sb))
		return error_nomem();
	TRY(location_block(m->loc, "%s", strbuf_str(&sb)));
	return &obstacle_is_set;
}

static struct error *block(struct machine *m, uint8_t op, const char *why)
{
	char buf[16];

	return obstacle(m, "%s%s%s", op_name(op, buf), *why ? " " : "", why);
}

static struct error *emit(struct machine *m, struct fetch_insn insn)
{
	if (m->insns.n >= FETCH_MAX_INSNS / 2)
		return obstacle(m, "its DWARF expression is too long");
	return insns_add(&m->insns, insn) ? NULL : error_nomem();
}

static struct error *push(struct machine *m, struct fetch_insn insn, struct expr_entry entry)
{
	if (m->depth >= FETCH_MAX_DEPTH - 2)
		return obstacle(m, "its DWARF expression needs a stack that is too deep");
	m->stack[m->depth++] = entry;
	return emit(m, insn);
}

static struct error *push_generic(struct machine *m, struct fetch_insn insn)
{
	return push(m, insn, (struct expr_entry){0});
}

/* Registers that a probe does not see stand in the way, by name. */
static struct error *check_register(struct machine *m, uint64_t reg)
{
	const struct regs *regs = m->ctx->image->regs;
	uint16_t offset;

	if (reg < UINT16_MAX && regs_offset(regs, (uint16_t)reg, &offset))
		return NULL;
	uint16_t machine = m->ctx->image->machine;
	const char *kind = NULL;
	uint64_t number = 0;
	if (machine == EM_X86_64 && reg >= 17 && reg <= 32)
		kind = "xmm", number = reg - 17;
	else if (machine == EM_X86_64 && reg >= 33 && reg <= 40)
		kind = "st", number = reg - 33;
	else if (machine == EM_AARCH64 && reg >= 64 && reg <= 95)
		kind = "v", number = reg - 64;
	if (kind)
		return obstacle(m, "it is in register %s%llu, which probes cannot read", kind,
				(unsigned long long)number);
	return obstacle(m, "it is in DWARF register %llu, which probes cannot read",
			(unsigned long long)reg);
}

/* A register as it stands; at a function's first instruction as the parameter that it is. */
static struct error *push_register(struct machine *m, uint64_t reg, int64_t plus,
				   struct expr_entry entry)
{
	struct fetch_insn insn = {.op = FETCH_REG, .reg = (uint16_t)reg, .imm = plus};
	uint16_t param;

	TRY(check_register(m, reg));
	for (size_t i = 0; m->ctx->at_entry && regs_param(m->ctx->image->regs, i, &param); i++) {
		if (param != reg)
			continue;
		insn = (struct fetch_insn){.op = FETCH_PARAM, .reg = (uint16_t)i};
		TRY(push(m, insn, entry));
		return insns_plus(&m->insns, plus) ? NULL : error_nomem();
	}
	return push(m, insn, entry);
}

/* Whether an operation makes a raw result, or looks at what is above the low bits. */
static void follow_raw(struct machine *m, enum fetch_op op, struct expr_entry *a,
		       const struct expr_entry *b)
{
	const struct fetch_insn *last = m->insns.n ? &m->insns.v[m->insns.n - 1] : NULL;
	uint64_t by = last && last->op == FETCH_CONST ? (uint64_t)last->imm : 0;
	bool raw = a->raw || b->raw;

	if (a->size) {
		a->raw = false; /* typed values are kept extended */
		return;
	}
	switch (op) {
	case FETCH_AND:
		a->raw = a->raw && b->raw;
		a->shifted = 0;
		return;
	case FETCH_SHL:
		a->shifted = a->raw && by >= 32 && by < 64 ? (uint8_t)by : 0;
		return;
	case FETCH_SHR:
	case FETCH_SHRA:
		if (a->raw && a->shifted && a->shifted == by) {
			a->raw = false;
			a->shifted = 0;
			return;
		}
		break;
	case FETCH_DIV:
	case FETCH_MOD:
	case FETCH_EQ:
	case FETCH_NE:
	case FETCH_LT:
	case FETCH_LE:
	case FETCH_GT:
	case FETCH_GE:
		break;
	default:
		a->raw = raw;
		a->shifted = 0;
		return;
	}
	/* Two that were shifted up alike may be compared. */
	bool compares = op >= FETCH_EQ && op <= FETCH_GE;
	if (raw && m->gnu && !(compares && (!a->raw || a->shifted) && (!b->raw || b->shifted))) {
		m->suspect = (uint8_t)op;
		m->suspect_at = m->insns.n;
	}
	a->raw = false;
	a->shifted = 0;
}

/* Keeps a typed value extended from its own size. */
static struct error *normalize(struct machine *m)
{
	struct expr_entry *top = &m->stack[m->depth - 1];

	if (!top->size || top->size >= 8)
		return NULL;
	if (top->is_signed)
		return emit(m, (struct fetch_insn){.op = FETCH_SEXT, .size = top->size});
	TRY(emit(m, (struct fetch_insn){.op = FETCH_CONST,
					.imm = (int64_t)(UINT64_MAX >> (64 - 8 * top->size))}));
	return emit(m, (struct fetch_insn){.op = FETCH_AND});
}

/* An integer type. A zero offset means no type. */
static struct error *base_type(struct machine *m, Dwarf_Op *op, struct expr_entry *entry)
{
	Dwarf_Die die;
	struct type type = {0};
	enum fetch_kind kind;
	uint64_t size;

	*entry = (struct expr_entry){0};
	if (dwarf_getlocation_die(m->attr, op, &die))
		return block(m, op->atom, "refers to no type");
	type.die = die;
	if (!type_is_scalar(type, &kind) || kind == FETCH_FLOAT)
		return block(m, op->atom, "(of a floating-point type)");
	if (!type_size(type, &size) || (size != 1 && size != 2 && size != 4 && size != 8))
		return block(m, op->atom, "(of a wide type)");
	uint64_t encoding = 0;
	die_udata(&die, DW_AT_encoding, &encoding);
	entry->size = (uint8_t)size;
	entry->is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
	return NULL;
}

/* The stack has at least n values; else it is no expression. */
static struct error *need(struct machine *m, uint8_t op, int n)
{
	return m->depth >= n ? NULL : block(m, op, "on an empty stack");
}

static struct error *unary(struct machine *m, uint8_t atom, enum fetch_op op)
{
	TRY(need(m, atom, 1));
	TRY(emit(m, (struct fetch_insn){.op = op}));
	return normalize(m);
}

static struct error *binary(struct machine *m, uint8_t atom, enum fetch_op op)
{
	TRY(need(m, atom, 2));
	struct expr_entry *a = &m->stack[m->depth - 2], *b = &m->stack[m->depth - 1];
	bool is_unsigned = a->size && !a->is_signed;
	bool is_shift = op == FETCH_SHL || op == FETCH_SHR || op == FETCH_SHRA;

	if (!is_shift && (a->size != b->size || a->is_signed != b->is_signed))
		return block(m, atom, "on two different types");
	/* Fetch programs compare and divide signed numbers: narrow unsigned ones are some. */
	if (is_unsigned && a->size == 8 && (op == FETCH_DIV || (op >= FETCH_LT && op <= FETCH_GE)))
		return block(m, atom, "on unsigned 64-bit numbers");
	if (op == FETCH_MOD && a->size && a->is_signed)
		return block(m, atom, "on signed numbers");
	if (op == FETCH_SHRA && is_unsigned && a->size < 8) {
		TRY(emit(m, (struct fetch_insn){.op = FETCH_SWAP}));
		TRY(emit(m, (struct fetch_insn){.op = FETCH_SEXT, .size = a->size}));
		TRY(emit(m, (struct fetch_insn){.op = FETCH_SWAP}));
	}
	if (op == FETCH_SHR && a->size && a->is_signed && a->size < 8)
		return block(m, atom, "on a narrow signed number");
	struct expr_entry right = *b;
	follow_raw(m, op, a, &right);
	m->depth--;
	TRY(emit(m, (struct fetch_insn){.op = op}));
	if (op >= FETCH_EQ && op <= FETCH_GE) {
		m->stack[m->depth - 1] = (struct expr_entry){0};
		return NULL;
	}
	return normalize(m);
}

static struct error *absolute(struct machine *m)
{
	static const struct fetch_insn code[] = {
		/* x; sign = x >> 63; (x ^ sign) - sign */
		{.op = FETCH_DUP},
		{.op = FETCH_CONST, .imm = 63},
		{.op = FETCH_SHRA},
		{.op = FETCH_SWAP},
		{.op = FETCH_PICK, .imm = 1},
		{.op = FETCH_XOR},
		{.op = FETCH_SWAP},
		{.op = FETCH_MINUS},
	};
	TRY(need(m, DW_OP_abs, 1));
	for (size_t i = 0; i < ARRAY_SIZE(code); i++)
		TRY(emit(m, code[i]));
	return normalize(m);
}

static struct error *deref(struct machine *m, uint8_t atom, uint64_t size, struct expr_entry entry)
{
	TRY(need(m, atom, 1));
	if (size != 1 && size != 2 && size != 4 && size != 8)
		return block(m, atom, "of an odd size");
	m->stack[m->depth - 1] = entry;
	TRY(emit(m, (struct fetch_insn){.op = FETCH_DEREF, .size = (uint8_t)size}));
	return normalize(m);
}

/* Appends what another location's one part is: an address, or a register's value. */
static struct error *push_part(struct machine *m, uint8_t atom, struct dwarf_location *other)
{
	if (other->obstacle)
		return obstacle(m, "%s", other->obstacle);
	if (other->parts.n != 1 ||
	    (other->parts.v[0].is != PART_VALUE && other->parts.v[0].is != PART_MEMORY))
		return block(m, atom, "of an odd base");
	if (m->depth >= FETCH_MAX_DEPTH - 4)
		return block(m, atom, "needs too deep a stack");
	m->stack[m->depth++] = (struct expr_entry){0};
	return insns_copy(&other->parts.v[0].insns, &m->insns) ? NULL : error_nomem();
}

static struct error *frame_cfa(struct machine *m)
{
	struct dwarf_image *image = m->ctx->image;
	Dwarf_Addr bias[2] = {0, 0}, file_pc = m->ctx->pc + image->bias + image->symbol_bias;
	Dwarf_CFI *cfis[2];

	/* The first instruction's is the convention's, whatever the tables lack. */
	if (m->ctx->at_entry) {
		int64_t plus = image->machine == EM_X86_64 ? 8 : 0;

		return push_generic(m, (struct fetch_insn){.op = FETCH_REG,
							   .reg = regs_stack(image->regs),
							   .imm = plus});
	}
	cfis[0] = dwfl_module_eh_cfi(image->module, &bias[0]);
	cfis[1] = dwfl_module_dwarf_cfi(image->module, &bias[1]);
	for (int i = 0; i < 2; i++) {
		Dwarf_Frame *frame = NULL;
		Dwarf_Op *ops;
		size_t n;

		if (!cfis[i] || dwarf_cfi_addrframe(cfis[i], file_pc - bias[i], &frame))
			continue;
		_cleanup_free_ Dwarf_Frame *owned = frame;
		if (dwarf_frame_cfa(owned, &ops, &n) || !n || ++m->ctx->depth > 8)
			continue;
		_cleanup_location_ struct dwarf_location cfa = {0};
		struct error *err = expr_location(m->ctx, NULL, ops, n, NULL, &cfa);
		m->ctx->depth--;
		TRY(err);
		return push_part(m, DW_OP_call_frame_cfa, &cfa);
	}
	return obstacle(m, "DW_OP_call_frame_cfa without unwind information (.eh_frame, "
			   ".debug_frame) at this address");
}

static struct error *frame_base(struct machine *m, int64_t offset)
{
	_cleanup_location_ struct dwarf_location base = {0};
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (!m->ctx->function.addr ||
	    !die_location(&m->ctx->function, DW_AT_frame_base, false, &attr))
		return block(m, DW_OP_fbreg, "in a function without a frame base");
	if (m->ctx->depth > 8)
		return block(m, DW_OP_fbreg, "in a circle");
	if (dwarf_getlocation_addr(&attr, m->ctx->pc, &ops, &n, 1) != 1)
		return block(m, DW_OP_fbreg, "without a frame base at this address");
	m->ctx->depth++;
	struct error *err = expr_location(m->ctx, &attr, ops, n, NULL, &base);
	m->ctx->depth--;
	TRY(err);
	TRY(push_part(m, DW_OP_fbreg, &base));
	return insns_plus(&m->insns, offset) ? NULL : error_nomem();
}

/* Whether both addresses are in one segment: who attaches finds the one's offset by the other's. */
static bool is_same_segment(struct dwarf_image *image, uint64_t a, uint64_t b)
{
	Dwarf_Addr bias;
	Elf *elf = dwfl_module_getelf(image->module, &bias);
	GElf_Phdr phdr;
	size_t n = 0;

	if (!elf || elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n && gelf_getphdr(elf, (int)i, &phdr); i++)
		if (phdr.p_type == PT_LOAD && a - phdr.p_vaddr < phdr.p_filesz &&
		    b - phdr.p_vaddr < phdr.p_filesz)
			return true;
	return false;
}

/* Whether a second probe can keep a register of the function's entry: a parameter's, of a process.
 */
static bool can_keep(struct machine *m, uint64_t reg, size_t *param, Dwarf_Addr *entry)
{
	struct dwarf_image *image = m->ctx->image;
	uint16_t number;

	if (!image->entry_values || m->ctx->at_return || !m->ctx->function.addr ||
	    !die_entry(&m->ctx->function, entry))
		return false;
	*entry = image_address(image, *entry);
	for (*param = 0; *param < FETCH_ENTRY_REGS && regs_param(image->regs, *param, &number);
	     (*param)++)
		if (number == reg)
			return is_same_segment(image, *entry, image_address(image, m->ctx->pc));
	return false;
}

static struct error *kept_value(struct machine *m, size_t param, Dwarf_Addr entry)
{
	TRY(frame_cfa(m));
	m->stack[m->depth - 1] = (struct expr_entry){.raw = true};
	return emit(m, (struct fetch_insn){
			       .op = FETCH_ENTRY, .reg = (uint16_t)param, .imm = (int64_t)entry});
}

static struct error *entry_value(struct machine *m, Dwarf_Op *op)
{
	Dwarf_Attribute inner;
	Dwarf_Op *ops;
	size_t n;
	char buf[16];

	if (!m->attr || dwarf_getlocation_attr(m->attr, op, &inner) ||
	    dwarf_getlocation(&inner, &ops, &n) || !n)
		return block(m, op->atom, "of nothing");
	uint64_t reg = ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31
			       ? (uint64_t)(ops[0].atom - DW_OP_reg0)
		       : ops[0].atom == DW_OP_regx ? ops[0].number
						   : UINT64_MAX;
	if (n != 1 || reg == UINT64_MAX)
		return block(m, op->atom, "of an expression");
	if (!m->ctx->at_entry) {
		const char *name =
			reg < UINT16_MAX ? regs_name(m->ctx->image->regs, (uint16_t)reg) : NULL;
		size_t param;
		Dwarf_Addr entry;

		if (can_keep(m, reg, &param, &entry))
			return kept_value(m, param, entry);

		return obstacle(m,
				"%s (the value of %s at function entry) needs the caller's frame",
				op_name(op->atom, buf), name ? name : "a register");
	}
	return push_register(m, reg, 0, (struct expr_entry){.raw = true});
}

static struct error *tls_address(struct machine *m, uint8_t atom)
{
	TRY(need(m, atom, 1));
	struct fetch_insn *last = &m->insns.v[m->insns.n - 1];
	if (last->op != FETCH_CONST && last->op != FETCH_STATIC)
		return block(m, atom, "of a computed offset");
	*last = (struct fetch_insn){.op = FETCH_TLS, .imm = last->imm};
	return NULL;
}

/* One operation on the stack; not those that end a location. */
static struct error *operation(struct machine *m, Dwarf_Op *op, const struct insns *object)
{
	static const struct {
		uint8_t atom, op;
	} binaries[] = {
		{DW_OP_and, FETCH_AND},	  {DW_OP_div, FETCH_DIV}, {DW_OP_minus, FETCH_MINUS},
		{DW_OP_mod, FETCH_MOD},	  {DW_OP_mul, FETCH_MUL}, {DW_OP_or, FETCH_OR},
		{DW_OP_plus, FETCH_PLUS}, {DW_OP_shl, FETCH_SHL}, {DW_OP_shr, FETCH_SHR},
		{DW_OP_shra, FETCH_SHRA}, {DW_OP_xor, FETCH_XOR}, {DW_OP_eq, FETCH_EQ},
		{DW_OP_ne, FETCH_NE},	  {DW_OP_lt, FETCH_LT},	  {DW_OP_le, FETCH_LE},
		{DW_OP_gt, FETCH_GT},	  {DW_OP_ge, FETCH_GE},
	};
	const struct expr_entry raw = {.raw = true};
	uint8_t atom = op->atom;
	struct expr_entry entry;

	if (atom >= DW_OP_lit0 && atom <= DW_OP_lit31)
		return push_generic(m, (struct fetch_insn){.op = FETCH_CONST,
							   .imm = atom - DW_OP_lit0});
	if (atom >= DW_OP_breg0 && atom <= DW_OP_breg31)
		return push_register(m, atom - DW_OP_breg0, (int64_t)op->number, raw);
	for (size_t i = 0; i < ARRAY_SIZE(binaries); i++) {
		if (binaries[i].atom == atom)
			return binary(m, atom, (enum fetch_op)binaries[i].op);
	}
	switch (atom) {
	case DW_OP_nop:
		return NULL;
	case DW_OP_addr:
		return push_generic(m, (struct fetch_insn){.op = FETCH_STATIC,
							   .imm = (int64_t)image_address(
								   m->ctx->image, op->number)});
	case DW_OP_addrx:
	case DW_OP_GNU_addr_index:
	case DW_OP_constx:
	case DW_OP_GNU_const_index: {
		Dwarf_Attribute attr;
		Dwarf_Addr address;

		if (!m->attr || dwarf_getlocation_attr(m->attr, op, &attr) ||
		    dwarf_formaddr(&attr, &address))
			return block(m, atom, "of an index that is not there");
		bool is_address = atom == DW_OP_addrx || atom == DW_OP_GNU_addr_index;
		return push_generic(
			m,
			is_address
				? (struct fetch_insn){.op = FETCH_STATIC,
						      .imm = (int64_t)image_address(m->ctx->image,
										    address)}
				: (struct fetch_insn){.op = FETCH_CONST, .imm = (int64_t)address});
	}
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return push_generic(m, (struct fetch_insn){.op = FETCH_CONST,
							   .imm = (int64_t)op->number});
	case DW_OP_bregx:
		return push_register(m, op->number, (int64_t)op->number2, raw);
	case DW_OP_fbreg:
		return frame_base(m, (int64_t)op->number);
	case DW_OP_call_frame_cfa:
		return frame_cfa(m);
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_pick: {
		uint64_t index = atom == DW_OP_dup ? 0 : atom == DW_OP_over ? 1 : op->number;

		TRY(need(m, atom, index < INT32_MAX ? (int)index + 1 : INT32_MAX));
		entry = m->stack[m->depth - 1 - (int)index];
		return push(m,
			    index ? (struct fetch_insn){.op = FETCH_PICK, .imm = (int64_t)index}
				  : (struct fetch_insn){.op = FETCH_DUP},
			    entry);
	}
	case DW_OP_drop:
		TRY(need(m, atom, 1));
		m->depth--;
		return emit(m, (struct fetch_insn){.op = FETCH_DROP});
	case DW_OP_swap:
		TRY(need(m, atom, 2));
		entry = m->stack[m->depth - 1];
		m->stack[m->depth - 1] = m->stack[m->depth - 2];
		m->stack[m->depth - 2] = entry;
		return emit(m, (struct fetch_insn){.op = FETCH_SWAP});
	case DW_OP_rot:
		TRY(need(m, atom, 3));
		entry = m->stack[m->depth - 1];
		m->stack[m->depth - 1] = m->stack[m->depth - 2];
		m->stack[m->depth - 2] = m->stack[m->depth - 3];
		m->stack[m->depth - 3] = entry;
		return emit(m, (struct fetch_insn){.op = FETCH_ROT});
	case DW_OP_abs:
		return absolute(m);
	case DW_OP_neg:
		return unary(m, atom, FETCH_NEG);
	case DW_OP_not:
		return unary(m, atom, FETCH_NOT);
	case DW_OP_plus_uconst:
		TRY(need(m, atom, 1));
		return insns_plus(&m->insns, (int64_t)op->number) ? normalize(m) : error_nomem();
	case DW_OP_deref:
		return deref(m, atom, 8, (struct expr_entry){0});
	case DW_OP_deref_size:
		return deref(m, atom, op->number, (struct expr_entry){0});
	case DW_OP_deref_type:
	case DW_OP_GNU_deref_type:
		TRY(base_type(m, op, &entry));
		return deref(m, atom, op->number, entry);
	case DW_OP_regval_type:
	case DW_OP_GNU_regval_type:
		TRY(base_type(m, op, &entry));
		TRY(push_register(m, op->number, 0, entry));
		return normalize(m);
	case DW_OP_const_type:
	case DW_OP_GNU_const_type: {
		Dwarf_Attribute attr;
		Dwarf_Block bytes;
		uint64_t v = 0;

		TRY(base_type(m, op, &entry));
		if (dwarf_getlocation_attr(m->attr, op, &attr) || dwarf_formblock(&attr, &bytes) ||
		    bytes.length > 8)
			return block(m, atom, "of an odd size");
		memcpy(&v, bytes.data, bytes.length);
		TRY(push(m, (struct fetch_insn){.op = FETCH_CONST, .imm = (int64_t)v}, entry));
		return normalize(m);
	}
	case DW_OP_convert:
	case DW_OP_GNU_convert:
	case DW_OP_reinterpret:
	case DW_OP_GNU_reinterpret:
		TRY(need(m, atom, 1));
		entry = (struct expr_entry){0};
		if (op->number)
			TRY(base_type(m, op, &entry));
		m->stack[m->depth - 1] = entry;
		return normalize(m);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return entry_value(m, op);
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return tls_address(m, atom);
	case DW_OP_push_object_address:
		if (!object)
			return block(m, atom, "of no object");
		if (m->depth >= FETCH_MAX_DEPTH - 4)
			return block(m, atom, "needs too deep a stack");
		m->stack[m->depth++] = (struct expr_entry){0};
		return insns_copy(object, &m->insns) ? NULL : error_nomem();
	case DW_OP_GNU_parameter_ref:
		return block(m, atom, "needs the caller's frame");
	default:
		return block(m, atom, "cannot be computed in a probe");
	}
}

static bool is_register(const Dwarf_Op *op, uint64_t *reg)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		*reg = op->atom - DW_OP_reg0;
	else if (op->atom == DW_OP_regx)
		*reg = op->number;
	else
		return false;
	return true;
}

static struct error *add_part(struct machine *m, enum part_is is, uint64_t bit_offset,
			      uint64_t bits)
{
	struct location_part *part = vec_push(&m->loc->parts);

	if (!part)
		return error_nomem();
	part->is = is;
	part->bit_offset = bit_offset;
	part->bits = bits;
	if (is != PART_NOTHING && is != PART_POINTER)
		part->insns = m->insns;
	else
		free(m->insns.v);
	m->insns = (struct insns){0};
	m->depth = 0;
	return NULL;
}

static struct error *run(struct machine *m, Dwarf_Op *ops, size_t n, const struct insns *object)
{
	enum part_is is = PART_NOTHING;
	bool any = false, pointer = false, bytes = false;
	Dwarf_Die target;
	int64_t target_offset = 0;

	if (object) {
		if (!insns_copy(object, &m->insns))
			return error_nomem();
		m->stack[m->depth++] = (struct expr_entry){0};
		is = PART_MEMORY, any = true;
	}
	for (size_t i = 0; i < n; i++) {
		Dwarf_Op *op = &ops[i];
		uint64_t reg;

		if (op->atom == DW_OP_piece || op->atom == DW_OP_bit_piece) {
			uint64_t bits = op->atom == DW_OP_piece ? op->number * 8 : op->number;
			uint64_t offset = op->atom == DW_OP_piece ? 0 : op->number2;

			if (!bits || bits > UINT32_MAX || offset > UINT32_MAX)
				return block(m, op->atom, "of an odd size");
			if (bytes) {
				bytes = any = false; /* the parts are there */
				continue;
			}
			TRY(add_part(m, any ? is : PART_NOTHING, offset, bits));
			if (pointer) {
				vec_last(&m->loc->parts)->die = target;
				vec_last(&m->loc->parts)->offset = target_offset;
			}
			any = pointer = false;
			continue;
		}
		if (is_register(op, &reg)) {
			if (any)
				return block(m, op->atom, "behind other operations");
			TRY(push_register(m, reg, 0, (struct expr_entry){0}));
			is = PART_VALUE, any = true;
		} else if (op->atom == DW_OP_stack_value) {
			TRY(need(m, op->atom, 1));
			is = PART_VALUE, any = true;
		} else if (op->atom == DW_OP_implicit_value) {
			Dwarf_Block block_;

			if (!m->attr || dwarf_getlocation_implicit_value(m->attr, op, &block_))
				return block(m, op->atom, "without bytes");
			TRY(location_bytes(m->loc, block_.data, block_.length));
			bytes = any = true;
		} else if (op->atom == DW_OP_implicit_pointer ||
			   op->atom == DW_OP_GNU_implicit_pointer) {
			if (!m->attr || dwarf_getlocation_die(m->attr, op, &target))
				return block(m, op->atom, "to nothing");
			target_offset = (int64_t)op->number2;
			is = PART_POINTER, any = pointer = true;
		} else if (op->atom == DW_OP_GNU_uninit) {
			return block(m, op->atom, "(it has no value yet)");
		} else {
			TRY(operation(m, op, object));
			if (!any)
				is = PART_MEMORY;
			any = true;
		}
	}
	if ((!any && m->loc->parts.n) || bytes)
		return NULL;
	if (!any)
		return obstacle(m, "optimized out");
	if (m->loc->parts.n)
		return obstacle(m, "the DWARF expression lacks its last DW_OP_piece");
	if (!pointer && m->depth < 1)
		return obstacle(m, "the DWARF expression leaves no value");
	TRY(add_part(m, is, 0, 0));
	if (pointer) {
		vec_last(&m->loc->parts)->die = target;
		vec_last(&m->loc->parts)->offset = target_offset;
	}
	return NULL;
}

struct error *expr_location(struct context *ctx, Dwarf_Attribute *attr, Dwarf_Op *ops, size_t n,
			    const struct insns *object, struct dwarf_location *loc)
{
	struct machine m = {.ctx = ctx, .attr = attr, .loc = loc};

	m.gnu = ctx->function.addr && die_is_gnu(&ctx->function);
	struct error *err = run(&m, ops, n, object);
	if (err == &obstacle_is_set)
		err = NULL;
	if (!err && m.suspect && !loc->obstacle) {
		/* A whole 64-bit register that is shifted last of all is what it seems to be. */
		const struct location_part *part = loc->parts.n == 1 ? &loc->parts.v[0] : NULL;

		if (!ctx->wide || !part || part->bits || part->is != PART_VALUE ||
		    part->insns.n != m.suspect_at + 1)
			err = location_block(
				loc,
				"its location uses bits of a register that gcc leaves undefined");
	}

	free(m.insns.v);
	return err;
}
