// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where a variable is when the processor stands at an address.
 *
 * A variable has one expression for all of its scope, or a list of them by
 * address, or a constant. Five things are known to go wrong, and are met here:
 *
 *   - Several entries of a list may begin at one address, all but the last of
 *     them empty: the source moved on, the processor did not. "int f(int n)
 *     { n++; …" has n in its register first, then register plus one, both at the
 *     function's first address. gcc numbers such states (location views), and
 *     tells the numbers of an entry's ends, of an inlined copy's entry, and, by
 *     the count of rows at the address, of a line. Without them, at an entry the
 *     first one is meant.
 *   - One expression for all of the scope that names memory in the function's
 *     own frame (unoptimised code, and variables whose address is taken) is
 *     untrue until the value was stored there. At the first instruction a
 *     parameter is then where the calling convention has it (abi.c), and other
 *     variables have no value yet.
 *   - Where paths of the code join, the first of these states are those of the path above alone:
 *     registers have other values for those who jump there. There only the address decides.
 *   - clang does not write the empty entries: its list has n + 1 alone. At a
 *     function's entry the calling convention decides; for an inlined copy
 *     nothing does, it shows what the source holds at the copy's first
 *     instruction.
 *   - A frame base in a register (clang's %rbp) is the caller's until the
 *     prologue ran: the same.
 */
#include "probe/dwarf/internal.h"

struct error *location_bytes(struct dwarf_location *loc, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;

	if (n > 4096)
		return location_block(loc, "a constant of %zu bytes", n);
	for (size_t i = 0; i < n; i += 8) {
		struct location_part *part = vec_push(&loc->parts);
		size_t len = min_of(n - i, (size_t)8);
		uint64_t v = 0;

		if (!part)
			return error_nomem();
		memcpy(&v, p + i, len);
		part->is = PART_VALUE;
		part->bits = len * 8;
		if (!insns_add(&part->insns,
			       (struct fetch_insn){.op = FETCH_CONST, .imm = (int64_t)v}))
			return error_nomem();
	}
	return NULL;
}

static struct error *constant(struct context *ctx, Dwarf_Die *die, Dwarf_Attribute *attr,
			      struct dwarf_location *loc)
{
	Dwarf_Block block;
	Dwarf_Sword sword;
	Dwarf_Word word;
	const char *text;
	uint64_t v;

	switch (dwarf_whatform(attr)) {
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_data16:
		if (dwarf_formblock(attr, &block))
			return dw_error(ctx->image, "in a constant");
		return location_bytes(loc, block.data, block.length);
	case DW_FORM_string:
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
		text = dwarf_formstring(attr);
		if (!text)
			return dw_error(ctx->image, "in a constant");
		return location_bytes(loc, text, strlen(text) + 1);
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		if (dwarf_formsdata(attr, &sword))
			return dw_error(ctx->image, "in a constant");
		v = (uint64_t)sword;
		break;
	default:
		if (dwarf_formudata(attr, &word))
			return dw_error(ctx->image, "in a constant");
		v = word;
		/* data1 … data4: gcc writes what is not negative so, in as few bytes as it fits
		 * ("int n = 200" in one), and what is negative as sdata. */
	}
	TRY(location_bytes(loc, &v, 8));
	vec_last(&loc->parts)->bits = 0;
	return NULL;
}

static bool is_list(Dwarf_Attribute *attr)
{
	switch (dwarf_whatform(attr)) {
	case DW_FORM_exprloc:
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
		return false;
	default:
		return true;
	}
}

/*
 * Location views (DW_AT_GNU_locviews): a pair of numbers for each entry of the
 * list, before it in the same section.
 */
struct views {
	const uint8_t *p, *end;
};

static struct views views_of(struct context *ctx, Dwarf_Die *die)
{
	struct views views = {0};
	Dwarf_Attribute attr;
	uint32_t offset;
	size_t size;

	if (ctx->view < 0 || !dwarf_attr(die, 0x2137 /* DW_AT_GNU_locviews */, &attr) ||
	    dwarf_whatform(&attr) != DW_FORM_sec_offset || !attr.valp)
		return views;
	memcpy(&offset, attr.valp, sizeof(offset)); /* 32-bit DWARF: gcc writes no other */
	const uint8_t *data = die_locations(die, &size);
	if (data && offset < size)
		views = (struct views){data + offset, data + size};
	return views;
}

static bool views_next(struct views *views, uint64_t *number)
{
	*number = 0;
	for (unsigned int shift = 0; views->p && views->p < views->end && shift < 64; shift += 7) {
		uint8_t byte = *views->p++;

		*number |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return true;
	}
	return false;
}

/*
 * Whether a state that began before pc, and ends at one of the later views there, is that of
 * everyone who comes to pc. Where paths of the code join, it is of the path above only: what jumps
 * to pc comes from other states.
 */
static bool holds_on_arrival(struct context *ctx)
{
	struct flow *flow = &ctx->image->flow;

	if (flow->function != ctx->function.addr) {
		struct error *err = flow_read(ctx->image, &ctx->function, flow);

		if (err) {
			error_free(err);
			flow->known = false;
		}
	}
	return flow_falls_to(flow, ctx->pc);
}

/*
 * The list's entry for the context; *n 0: there is none. false: it cannot be
 * read, which libdw says also of entries that are sound (DW_OP_GNU_uninit);
 * then only the address decides.
 */
static bool list_entry(struct context *ctx, Dwarf_Die *die, Dwarf_Attribute *attr, Dwarf_Op **ops,
		       size_t *n, bool *any)
{
	struct views views = views_of(ctx, die);
	bool by_view = views.p;
	uint64_t view = (uint64_t)ctx->view;
	Dwarf_Addr base, start, end;
	ptrdiff_t offset = 0;
	Dwarf_Op *expr;
	size_t len;

	*n = 0;
	*any = false;
	for (int i = 0; i < 65536; i++) {
		uint64_t first_view = 0, last_view = 0;

		offset = dwarf_getlocations(attr, offset, &base, &start, &end, &expr, &len);
		if (offset <= 0)
			break;
		*any = *any || len;
		by_view = by_view && views_next(&views, &first_view) &&
			  views_next(&views, &last_view);
		/* Of a path that only some come by; what all have is what holds at the address. */
		if (by_view && start < ctx->pc && ctx->pc == end && view < last_view &&
		    !holds_on_arrival(ctx))
			by_view = false;
		bool takes;
		if (by_view)
			takes = (start < ctx->pc || (start == ctx->pc && first_view <= view)) &&
				(ctx->pc < end || (ctx->pc == end && view < last_view));
		else
			takes = (ctx->instance_entry && start == ctx->pc) ||
				(start <= ctx->pc && ctx->pc < end);
		if (takes) {
			*ops = expr;
			*n = len;
			return true;
		}
	}
	if (!offset)
		return true;
	int found = dwarf_getlocation_addr(attr, ctx->pc, ops, n, 1);
	if (found < 1)
		*n = 0;
	*any = true;
	return found >= 0;
}

bool variable_in_slot(struct context *ctx, Dwarf_Die *die)
{
	Dwarf_Attribute attr, base;
	Dwarf_Op *ops, *base_ops;
	size_t n, n_base;

	if (!die_location(die, DW_AT_location, true, &attr) || is_list(&attr) ||
	    dwarf_getlocation(&attr, &ops, &n) || !n)
		return false;
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31) {
		uint16_t reg;

		/* What is passed by reference stands where the caller made it. */
		for (size_t i = 0; regs_param(ctx->image->regs, i, &reg); i++)
			if (ops[0].atom - DW_OP_breg0 == reg)
				return false;
		return true;
	}
	if (ops[0].atom != DW_OP_fbreg)
		return false;
	bool by_cfa = ctx->function.addr &&
		      die_location(&ctx->function, DW_AT_frame_base, false, &base) &&
		      !is_list(&base) && !dwarf_getlocation(&base, &base_ops, &n_base) &&
		      n_base == 1 && base_ops[0].atom == DW_OP_call_frame_cfa;
	/* What the caller pushed is there from the start. */
	return !by_cfa || (int64_t)ops[0].number < 0;
}

/* A variable that is only declared here: its symbol has the address. */
static struct error *external_location(struct context *ctx, Dwarf_Die *die,
				       struct dwarf_location *loc, bool *found)
{
	struct dwarf_image *image = ctx->image;
	const char *linkage = die_linkage_name(die), *name = linkage ? linkage : die_name(die);
	struct location_part *part;

	*found = false;
	if (!name)
		return NULL;
	TRY(image_need_symbols(image));
	for (size_t i = 0; i < image->symbols.n; i++) {
		const struct dwarf_symbol *s = &image->symbols.v[i];

		if (!s->data || s->bind == STB_LOCAL || strcmp(s->name, name))
			continue;
		part = vec_push(&loc->parts);
		if (!part)
			return error_nomem();
		part->is = PART_MEMORY;
		*found = true;
		return insns_add(&part->insns,
				 (struct fetch_insn){.op = FETCH_STATIC, .imm = (int64_t)s->start})
			       ? NULL
			       : error_nomem();
	}
	return NULL;
}

/* The register that the frame base is, where it is one; else none. */
static uint16_t frame_register(struct context *ctx)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;

	if (ctx->function.addr && die_location(&ctx->function, DW_AT_frame_base, false, &attr) &&
	    !is_list(&attr) && !dwarf_getlocation(&attr, &ops, &n) && n == 1 &&
	    ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31)
		return (uint16_t)(ops[0].atom - DW_OP_reg0);
	return UINT16_MAX;
}

/*
 * clang (14 at least) forgets to load a spilled variable whose location has a
 * DW_OP_convert: "DW_OP_breg7 +12, DW_OP_convert, DW_OP_stack_value" is then the
 * slot's address, cut to a char. A number that is computed from the stack pointer
 * with nothing loaded is none.
 */
static bool is_spill_address(struct context *ctx, Dwarf_Die *die, const struct dwarf_location *loc)
{
	enum fetch_kind kind;

	/* Of a struct in parts each may be one; a pointer may well be to the stack. */
	struct type type = type_peel(type_of(die));
	if (die_is_gnu(die) || (type_is_scalar(type, &kind) && kind == FETCH_POINTER))
		return false;
	for (size_t i = 0; i < loc->parts.n; i++) {
		const struct location_part *part = &loc->parts.v[i];
		bool frame = false, loaded = false;

		for (size_t k = 0; k < part->insns.n; k++) {
			const struct fetch_insn *insn = &part->insns.v[k];

			if (insn->op == FETCH_REG && insn->reg == regs_stack(ctx->image->regs))
				frame = true;
			if ((insn->op == FETCH_DEREF && insn->size) || insn->op == FETCH_ENTRY)
				loaded = true;
		}
		if (part->is == PART_VALUE && frame && !loaded)
			return true;
		if (part->is == PART_VALUE && part->insns.n && !loaded &&
		    part->insns.v[0].op == FETCH_REG && part->insns.v[0].imm &&
		    part->insns.v[0].reg == frame_register(ctx))
			return true;
	}
	return false;
}

/* Whether it is static data, whose address only the linker knows. */
static bool is_unlinked(struct context *ctx, const struct dwarf_location *loc)
{
	for (size_t i = 0; ctx->image->is_rel && i < loc->parts.n; i++) {
		for (size_t k = 0; k < loc->parts.v[i].insns.n; k++) {
			if (loc->parts.v[i].insns.v[k].op == FETCH_STATIC)
				return true;
		}
	}
	return false;
}

struct error *variable_location(struct context *ctx, Dwarf_Die *die, struct dwarf_location *loc)
{
	Dwarf_Attribute attr;
	Dwarf_Op *ops;
	size_t n;
	bool any = false;

	if (ctx->depth > 16)
		return location_block(loc, "its location refers to itself");
	if (dwarf_tag(die) == DW_TAG_formal_parameter && ctx->at_entry) {
		bool known = false, slot = variable_in_slot(ctx, die);

		if (ctx->instance_entry &&
		    (slot || (!die_is_gnu(die) && dwarf_hasattr(die, DW_AT_location))))
			TRY(abi_parameter(ctx, die, loc, &known));
		if (known)
			return NULL;
		if (die_flag(die, DW_AT_variable_parameter) && die_lang_is_go(die))
			return location_block(loc, "it is a result, which has no value yet (probe "
						   "a line)");
		if (slot)
			return location_block(loc, "it is stored in memory only after the "
						   "function's prologue (probe a line)");
	}
	if (dwarf_attr_integrate(die, DW_AT_const_value, &attr))
		return constant(ctx, die, &attr, loc);
	if (!die_location(die, DW_AT_location, true, &attr)) {
		if (die_flag(die, DW_AT_external) || die_flag(die, DW_AT_declaration)) {
			TRY(external_location(ctx, die, loc, &any));
			if (any)
				return NULL;
			return location_block(loc, "it is not in this binary");
		}
		return location_block(loc, "optimized out");
	}
	if (is_list(&attr)) {
		if (!list_entry(ctx, die, &attr, &ops, &n, &any))
			return location_block(loc, "its location is damaged (%s)",
					      dwarf_errmsg(-1));
		if (!n && any && ctx->at_entry && ctx->instance_entry &&
		    dwarf_tag(die) == DW_TAG_formal_parameter) {
			/* It is changed before anything is done; the convention has it. */
			TRY(abi_parameter(ctx, die, loc, &any));
			if (any)
				return NULL;
			any = true;
		}
		if (!n)
			return location_block(loc, any ? "it has no location at this address"
						       : "optimized out");
	} else {
		if (dwarf_getlocation(&attr, &ops, &n))
			return location_block(loc, "its location is damaged (%s)",
					      dwarf_errmsg(-1));
		if (!n)
			return location_block(loc, "optimized out");
		if (ctx->instance_entry && !ctx->at_entry && !ctx->unsure &&
		    variable_in_slot(ctx, die))
			return location_block(
				loc, "it is stored in memory, possibly only after the first "
				     "instruction of the inlined copy (probe a line; unsure=yes; "
				     "reads it anyway)");
		if (ctx->at_entry && variable_in_slot(ctx, die))
			return location_block(loc, "it has no value yet at the function's first "
						   "instruction (probe a line)");
	}
	if (ctx->at_return && ops[0].atom != DW_OP_addr && ops[0].atom != DW_OP_addrx &&
	    ops[0].atom != DW_OP_GNU_addr_index && ops[0].atom != DW_OP_const8u)
		return location_block(loc, "the function has returned: only $retval and global "
					   "variables are available (also probe its entry)");
	uint64_t size;
	bool was_wide = ctx->wide;
	ctx->wide = type_size(type_of(die), &size) && size == 8;
	ctx->depth++;
	struct error *err = expr_location(ctx, &attr, ops, n, NULL, loc);
	ctx->depth--;
	ctx->wide = was_wide;
	if (!err && !loc->obstacle && is_unlinked(ctx, loc))
		return location_block(loc, "static data of an unlinked file has no address yet");
	if (!err && !loc->obstacle && is_spill_address(ctx, die, loc))
		return location_block(loc, "its location is the address of a stack slot instead of "
					   "its contents (a clang bug)");
	return err;
}

struct error *place_context(struct dwarf_image *image, const struct dwarf_place *place,
			    struct context *ctx)
{
	if (place->function_die >= image->dies.n || place->scope_die >= image->dies.n)
		return error_new(EINVAL, "its location is in another binary");
	*ctx = (struct context){
		.image = image,
		.pc = place->address - image->bias,
		.at_return = place->at_return,
		.function = image->dies.v[place->function_die],
		.instance = image->dies.v[place->scope_die],
	};
	Dwarf_Addr low;
	ctx->at_entry = !place->at_return && die_entry(&ctx->function, &low) && low == ctx->pc;
	/* A line may begin at the function's first instruction too, moved there: that is no entry,
	 * the source is further. */
	ctx->instance_entry = place->is_entry && !place->after_prologue;
	ctx->view = place->view;
	ctx->unsure = place->unsure;
	return NULL;
}
