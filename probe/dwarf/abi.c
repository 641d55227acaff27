// SPDX-License-Identifier: BSD-2-Clause
/*
 * The calling conventions, for what DWARF does not tell: where a parameter is
 * at the first instruction of a function that stores it in its frame later, and
 * where what a function returns is.
 *
 * x86-64: System V ABI, 3.2.3. arm64: AAPCS64, 6.8 and 6.9. Only the integer
 * class is followed to registers; what travels in vector registers is an
 * obstacle, what is not sure (classes that C++ passes by hidden reference in
 * DWARF before 5, vectors, complex numbers) is said to be unknown. A wrong
 * class would shift all that come after it, so one unknown parameter makes the
 * later ones unknown too.
 */
#include "probe/dwarf/internal.h"

enum arg_class {
	CLASS_UNKNOWN,
	CLASS_INTEGER,
	CLASS_SSE,
	CLASS_MIXED, /* an integer and a vector eightbyte */
	CLASS_MEMORY,
	CLASS_REFERENCE, /* by the address of a copy */
	CLASS_NOTHING,	 /* an empty struct */
};

struct value_shape {
	uint64_t size;
	enum arg_class word[2]; /* CLASS_INTEGER, CLASS_SSE, or CLASS_NOTHING */
	uint64_t floats; /* members that are floating point: arm64's homogeneous aggregates */
	uint64_t others;
	bool unaligned, unknown;
};

static void add_field(struct value_shape *shape, uint64_t offset, uint64_t size, enum arg_class cls)
{
	for (uint64_t word = offset / 8; word <= (offset + size - 1) / 8 && word < 2; word++) {
		if (cls == CLASS_INTEGER || shape->word[word] == CLASS_NOTHING)
			shape->word[word] = cls;
	}
}

static void shape_of(struct value_shape *shape, struct type type, uint64_t offset, int depth)
{
	Dwarf_Die child;
	enum fetch_kind kind;
	uint64_t size;

	type = type_peel(type);
	int tag = type_tag(&type);
	if (depth > 8 || !type_size(type, &size)) {
		shape->unknown = true;
		return;
	}
	if (type_is_scalar(type, &kind)) {
		bool is_float = kind == FETCH_FLOAT;

		if (size > 8)
			shape->unknown = true; /* long double, __int128 within a struct */
		if (size && offset % size)
			shape->unaligned = true;
		if (is_float)
			shape->floats++;
		else
			shape->others++;
		if (size)
			add_field(shape, offset, size, is_float ? CLASS_SSE : CLASS_INTEGER);
		return;
	}
	if (tag == DW_TAG_ptr_to_member_type) {
		shape->others++;
		add_field(shape, offset, size, CLASS_INTEGER);
		return;
	}
	if (tag == DW_TAG_array_type) {
		struct type element = type_of(&type.die);
		uint64_t one;

		if (dwarf_hasattr(&type.die, DW_AT_GNU_vector) || !type_size(element, &one) ||
		    !one || size / one > 64) {
			shape->unknown = true;
			return;
		}
		for (uint64_t i = 0; i < size / one; i++)
			shape_of(shape, element, offset + i * one, depth + 1);
		return;
	}
	if (!type_is_struct(tag) || dwarf_child(&type.die, &child)) {
		shape->unknown = shape->unknown || !type_is_struct(tag);
		return;
	}
	do {
		uint64_t at = 0, bits = 0;
		int t = dwarf_tag(&child);

		if (t != DW_TAG_member && t != DW_TAG_inheritance)
			continue;
		if (die_flag(&child, DW_AT_external) || die_flag(&child, DW_AT_declaration))
			continue; /* a static member */
		if (die_udata(&child, DW_AT_bit_size, &bits)) {
			uint64_t first = 0;

			if (die_udata(&child, DW_AT_data_bit_offset, &first))
				add_field(shape, offset + first / 8,
					  bits ? (first % 8 + bits + 7) / 8 : 1, CLASS_INTEGER);
			else
				shape->unknown = true;
			shape->others++;
			continue;
		}
		if (dwarf_hasattr(&child, DW_AT_data_member_location) &&
		    !die_udata(&child, DW_AT_data_member_location, &at)) {
			shape->unknown = true; /* a virtual base */
			return;
		}
		shape_of(shape, type_of(&child), offset + at, depth + 1);
	} while (!shape->unknown && !die_sibling(&child));
}

/* The members of a class that decide how it is passed, as far as its author declared them. */
struct special_members {
	unsigned copies, deleted; /* constructors that copy or move; of these */
	bool has_own; /* a copy or move constructor or a destructor with code of its own */
};

/* Whether the constructor's first own parameter is a reference to its class. */
static bool copies_itself(Dwarf_Die *constructor, struct type class)
{
	Dwarf_Die child;

	if (dwarf_child(constructor, &child))
		return false;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter ||
		    die_flag(&child, DW_AT_artificial))
			continue;
		struct type param = type_peel(type_of(&child));
		const int tag = type_tag(&param);

		if (tag != DW_TAG_reference_type && tag != DW_TAG_rvalue_reference_type)
			return false;
		struct type target = type_peel(type_of(&param.die));
		return !target.is_void && target.die.addr == class.die.addr;
	} while (!die_sibling(&child));
	return false;
}

static void note_method(Dwarf_Die *method, struct type class, struct special_members *m)
{
	const char *name = die_name(method), *own = die_name(&class.die);
	uint64_t defaulted = 0;

	if (!name || !own || die_flag(method, DW_AT_artificial))
		return;
	const size_t n = strcspn(own, "<");
	const bool destroys = name[0] == '~';
	const bool copies = !strncmp(name, own, n) && (!name[n] || name[n] == '<') &&
			    copies_itself(method, class);
	if (!destroys && !copies)
		return;
	const bool deleted = die_flag(method, DW_AT_deleted);
	die_udata(method, DW_AT_defaulted, &defaulted);
	m->copies += copies;
	m->deleted += copies && deleted;
	m->has_own |= !deleted && defaulted != DW_DEFAULTED_in_class;
}

/*
 * g++ writes no DW_AT_calling_convention for classes. The C++ ABI of Itanium (1.1, "non-trivial for
 * the purposes of calls"): a class goes by reference if it, a base or a member has a copy or move
 * constructor or a destructor with code, or something virtual, or if it cannot be copied.
 */
static bool is_non_trivial(struct type type, int depth)
{
	struct special_members special = {0};
	Dwarf_Die child;
	uint64_t virtuality = 0;

	type = type_peel(type);
	while (type_tag(&type) == DW_TAG_array_type)
		type = type_peel(type_of(&type.die));
	if (type.is_void || !type_is_struct(type_tag(&type)) || dwarf_child(&type.die, &child))
		return false;
	if (depth > 16)
		return true;
	do {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (die_udata(&child, DW_AT_virtuality, &virtuality) && virtuality)
				return true;
			note_method(&child, type, &special);
			break;
		case DW_TAG_inheritance:
			if ((die_udata(&child, DW_AT_virtuality, &virtuality) && virtuality) ||
			    is_non_trivial(type_of(&child), depth + 1))
				return true;
			break;
		case DW_TAG_member:
			if (!die_flag(&child, DW_AT_external) &&
			    !die_flag(&child, DW_AT_declaration) &&
			    is_non_trivial(type_of(&child), depth + 1))
				return true;
			break;
		}
	} while (!die_sibling(&child));
	return special.has_own || (special.copies && special.copies == special.deleted);
}

/* Whether C++ passes it by a reference to a copy; *known false: not sure. */
static bool by_reference(struct type type, bool *known)
{
	uint64_t convention;

	*known = true;
	if (die_udata(&type.die, DW_AT_calling_convention, &convention)) {
		if (convention == DW_CC_pass_by_reference)
			return true;
		if (convention == DW_CC_pass_by_value)
			return false;
	}
	if (die_lang_is_cxx(&type.die) && die_is_gnu(&type.die))
		return is_non_trivial(type, 0);
	if (!die_lang_is_c(&type.die))
		*known = false;
	return false;
}

/* Of a parameter or a result. words: how many integer registers. */
static enum arg_class classify(const struct dwarf_image *image, struct type type, uint64_t *words,
			       uint64_t *size)
{
	struct value_shape shape = {.word = {CLASS_NOTHING, CLASS_NOTHING}};
	enum fetch_kind kind;
	bool known;
	uint64_t encoding = 0;

	*words = 0;
	type = type_peel(type);
	if (type.is_void || !type_size(type, size))
		return CLASS_UNKNOWN;
	if (type_is_scalar(type, &kind)) {
		if (kind == FETCH_FLOAT) {
			if (*size <= 8)
				return CLASS_SSE;
			/* long double: x86-64 has it in memory, returns it on the x87 stack. */
			return image->machine == EM_X86_64 ? CLASS_UNKNOWN : CLASS_SSE;
		}
		*words = (*size + 7) / 8;
		return *words == 1 ? CLASS_INTEGER : CLASS_UNKNOWN;
	}
	if (type_tag(&type) == DW_TAG_base_type) {
		die_udata(&type.die, DW_AT_encoding, &encoding);
		return CLASS_UNKNOWN;
	}
	if (!type_is_struct(type_tag(&type)))
		return CLASS_UNKNOWN;
	if (by_reference(type, &known)) {
		*words = 1;
		return CLASS_REFERENCE;
	}
	if (!known)
		return CLASS_UNKNOWN;
	if (!*size)
		return die_lang_is_c(&type.die) ? CLASS_NOTHING : CLASS_UNKNOWN;
	if (*size > 16) {
		if (image->machine == EM_X86_64)
			return CLASS_MEMORY;
		shape_of(&shape, type, 0, 0);
		if (shape.unknown || (shape.floats && !shape.others && shape.floats <= 4))
			return CLASS_UNKNOWN;
		*words = 1;
		return CLASS_REFERENCE;
	}
	shape_of(&shape, type, 0, 0);
	if (shape.unknown)
		return CLASS_UNKNOWN;
	if (shape.unaligned)
		return image->machine == EM_X86_64 ? CLASS_MEMORY : CLASS_UNKNOWN;
	*words = (*size + 7) / 8;
	if (image->machine == EM_AARCH64)
		return shape.floats && !shape.others ? CLASS_SSE : CLASS_INTEGER;
	size_t vectors = 0;
	for (uint64_t i = 0; i < *words; i++) {
		if (shape.word[i] == CLASS_NOTHING)
			return CLASS_UNKNOWN;
		vectors += shape.word[i] == CLASS_SSE;
	}
	return !vectors ? CLASS_INTEGER : vectors == *words ? CLASS_SSE : CLASS_MIXED;
}

/* Whether a function may have been given another signature by the optimizer. */
static struct error *signature_changed(struct context *ctx, bool *changed)
{
	static const char *const marks[] = {".isra.", ".constprop.", ".part.", ".cold",
					    ".specialized."};
	const struct dwarf_symbol *s;
	uint64_t convention;

	*changed = true;
	if (die_udata(&ctx->function, DW_AT_calling_convention, &convention) &&
	    convention != DW_CC_normal)
		return NULL;
	TRY(image_need_symbols(ctx->image));
	s = image_symbol_at(ctx->image, image_address(ctx->image, ctx->pc));
	for (size_t i = 0; s && i < ARRAY_SIZE(marks); i++) {
		if (strstr(s->name, marks[i]))
			return NULL;
	}
	/* LLVM drops unused parameters of internal functions and keeps their names; the DIEs
	 * of those have no location. */
	Dwarf_Attribute attr;
	Dwarf_Die child;
	*changed = false;
	if (die_is_gnu(&ctx->function) || die_flag(&ctx->function, DW_AT_external) ||
	    dwarf_child(&ctx->function, &child))
		return NULL;
	do {
		if (dwarf_tag(&child) == DW_TAG_formal_parameter &&
		    (!dwarf_attr(&child, DW_AT_location, &attr) ||
		     dwarf_whatform(&attr) != DW_FORM_exprloc))
			*changed = true;
	} while (!*changed && !die_sibling(&child));
	return NULL;
}

static struct error *add_word(struct dwarf_location *loc, uint64_t word, uint64_t bits)
{
	struct location_part *part = vec_push(&loc->parts);

	if (!part)
		return error_nomem();
	part->is = PART_VALUE;
	part->bits = bits;
	return insns_add(&part->insns,
			 (struct fetch_insn){.op = FETCH_PARAM, .reg = (uint16_t)word})
		       ? NULL
		       : error_nomem();
}

static struct error *add_memory(struct context *ctx, struct dwarf_location *loc, int64_t offset)
{
	struct location_part *part = vec_push(&loc->parts);

	if (!part)
		return error_nomem();
	part->is = PART_MEMORY;
	return insns_add(&part->insns, (struct fetch_insn){.op = FETCH_REG,
							   .reg = regs_stack(ctx->image->regs),
							   .imm = offset})
		       ? NULL
		       : error_nomem();
}

struct error *abi_parameter(struct context *ctx, Dwarf_Die *param, struct dwarf_location *loc,
			    bool *known)
{
	struct dwarf_image *image = ctx->image;
	uint64_t word = 0, stack = image->machine == EM_X86_64 ? 8 : 0, n_regs = 0;
	uint64_t words, size;
	Dwarf_Die function, child;
	uint16_t reg;
	bool changed;

	*known = false;
	if (!die_lang_is_c(&ctx->function) && !die_lang_is_cxx(&ctx->function))
		return NULL;
	TRY(signature_changed(ctx, &changed));
	if (changed)
		return NULL;
	while (regs_param(image->regs, n_regs, &reg))
		n_regs++;
	struct type result = type_of(&ctx->function);
	if (!result.is_void) {
		switch (classify(image, result, &words, &size)) {
		case CLASS_MEMORY:
			word = 1; /* where to put it */
			break;
		case CLASS_REFERENCE:
			word = image->machine == EM_X86_64;
			break;
		case CLASS_UNKNOWN: {
			/* Vectors and wide numbers go to registers of their own. */
			struct type peeled = type_peel(result);
			if (type_is_struct(type_tag(&peeled)))
				return NULL;
			break;
		}
		default:
			break;
		}
	}
	/* The abstract function has all of them, also those that a copy lost. */
	if (!die_ref(&ctx->function, DW_AT_abstract_origin, &function))
		function = ctx->function;
	if (dwarf_child(&function, &child))
		return NULL;
	do {
		if (dwarf_tag(&child) != DW_TAG_formal_parameter)
			continue;
		bool wanted = die_same_origin(&child, param);
		enum arg_class cls = classify(image, type_of(&child), &words, &size);

		switch (cls) {
		case CLASS_UNKNOWN:
			return NULL;
		case CLASS_NOTHING:
			if (wanted)
				return NULL;
			continue;
		case CLASS_SSE:
			if (wanted) {
				*known = true;
				return location_block(loc, "it is passed in a vector register, "
							   "which probes cannot read");
			}
			continue; /* those on the stack come behind eight of them: see below */
		case CLASS_MIXED:
			return NULL;
		case CLASS_MEMORY:
			if (wanted) {
				*known = true;
				return add_memory(ctx, loc, (int64_t)stack);
			}
			stack += round_up(size, 8);
			continue;
		case CLASS_INTEGER:
		case CLASS_REFERENCE:
			break;
		}
		bool in_regs = word + words <= n_regs;
		if (!in_regs && image->machine == EM_AARCH64)
			return NULL;
		if (!wanted) {
			if (in_regs)
				word += words;
			else
				stack += 8 * words;
			continue;
		}
		*known = true;
		if (!in_regs)
			return add_memory(ctx, loc, (int64_t)stack);
		if (cls == CLASS_REFERENCE) {
			struct location_part *part = vec_push(&loc->parts);

			if (!part)
				return error_nomem();
			part->is = PART_MEMORY;
			return insns_add(&part->insns, (struct fetch_insn){.op = FETCH_PARAM,
									   .reg = (uint16_t)word})
				       ? NULL
				       : error_nomem();
		}
		for (uint64_t i = 0; i < words; i++)
			TRY(add_word(loc, word + i,
				     words == 1 ? 0 : min_of(size - 8 * i, 8ull) * 8));
		return NULL;
	} while (!die_sibling(&child));
	return NULL;
}

/* What only an optimizer writes: calls' values, lists of locations. */
static bool is_optimized(Dwarf_Die *function)
{
	Dwarf_Attribute attr;
	Dwarf_Die child;

	if (dwarf_hasattr(function, DW_AT_call_all_calls) ||
	    dwarf_hasattr(function, DW_AT_GNU_all_call_sites) || dwarf_child(function, &child))
		return true;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_call_site ||
		    tag == DW_TAG_GNU_call_site)
			return true;
		if ((tag == DW_TAG_formal_parameter || tag == DW_TAG_variable) &&
		    (!dwarf_attr(&child, DW_AT_location, &attr) ||
		     dwarf_whatform(&attr) != DW_FORM_exprloc))
			return true;
	} while (!die_sibling(&child));
	return false;
}

struct error *abi_returned(struct context *ctx, struct type type, struct dwarf_location *loc)
{
	struct dwarf_image *image = ctx->image;
	uint64_t words, size;
	enum arg_class cls = classify(image, type, &words, &size);
	struct type peeled = type_peel(type);
	enum fetch_kind kind;
	/* The second word's register: %rdx, x1. */
	uint16_t second = image->machine == EM_X86_64 ? 1 : 1;

	if (cls == CLASS_UNKNOWN && type_is_scalar(peeled, &kind) && kind != FETCH_FLOAT &&
	    size == 16) {
		cls = CLASS_INTEGER; /* __int128 */
		words = 2;
	}
	if (!die_lang_is_c(&ctx->function) && !die_lang_is_cxx(&ctx->function) &&
	    (cls != CLASS_INTEGER || type_is_struct(type_tag(&peeled))))
		return location_block(loc, "how its language returns this type is not known");
	/* LLVM drops what an internal function returns when all callers know or ignore it. */
	if (!die_is_gnu(&ctx->function) && !die_flag(&ctx->function, DW_AT_external) &&
	    is_optimized(&ctx->function))
		return location_block(loc,
				      "LLVM may omit the return value of a static function (it "
				      "would be in register %%%s)",
				      regs_name(image->regs, regs_retval(image->regs)));
	switch (cls) {
	case CLASS_INTEGER:
		for (uint64_t i = 0; i < words; i++) {
			struct location_part *part = vec_push(&loc->parts);

			if (!part)
				return error_nomem();
			part->is = PART_VALUE;
			part->bits = words == 1 ? 0 : min_of(size - 8 * i, 8ull) * 8;
			struct fetch_insn insn = {.op = i ? FETCH_REG : FETCH_RETVAL,
						  .reg = i ? second : 0};
			if (!insns_add(&part->insns, insn))
				return error_nomem();
		}
		return NULL;
	case CLASS_MEMORY:
	case CLASS_REFERENCE: {
		if (image->machine != EM_X86_64)
			return location_block(loc,
					      "it is returned in memory, and the address is lost");
		struct location_part *part = vec_push(&loc->parts);

		if (!part)
			return error_nomem();
		part->is = PART_MEMORY;
		return insns_add(&part->insns, (struct fetch_insn){.op = FETCH_RETVAL})
			       ? NULL
			       : error_nomem();
	}
	case CLASS_SSE:
	case CLASS_MIXED:
		return location_block(
			loc, "it is returned in a vector register, which probes cannot read");
	case CLASS_NOTHING:
		return location_block(loc, "its size is 0");
	case CLASS_UNKNOWN:
		break;
	}
	return location_block(loc, "how this type is returned is not known");
}
