// SPDX-License-Identifier: BSD-2-Clause
/*
 * Types: their text as C (or C++) writes it, their sizes, and what kind of
 * value they are. Chains of types are followed DEPTH_MAX deep, never further:
 * in damaged DWARF a type may be made of itself.
 */
#include "probe/dwarf/internal.h"

struct type type_of(Dwarf_Die *die)
{
	struct type type = {.is_void = true};
	Dwarf_Die now = *die;

	for (int i = 0; i < 16; i++) {
		if (die_ref(&now, DW_AT_type, &type.die)) {
			type.is_void = false;
			/* A type in a type unit: this DIE only refers to it by its signature. */
			Dwarf_Die other;
			if (dwarf_hasattr(&type.die, DW_AT_signature) &&
			    die_ref(&type.die, DW_AT_signature, &other))
				type.die = other;
			break;
		}
		if (!die_ref(&now, DW_AT_abstract_origin, &now) &&
		    !die_ref(&now, DW_AT_specification, &now))
			break;
	}
	return type;
}

int type_tag(const struct type *type)
{
	return type->is_void ? 0 : dwarf_tag((Dwarf_Die *)&type->die);
}

static bool is_wrapping(int tag)
{
	switch (tag) {
	case DW_TAG_typedef:
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
	case DW_TAG_immutable_type:
	case DW_TAG_packed_type:
	case DW_TAG_shared_type:
	case DW_TAG_template_alias:
		return true;
	default:
		return false;
	}
}

/* A range of another type's values (Ada's "subtype Small is Integer range 1 .. 9"), in as many
 * bytes. */
static bool is_subtype(struct type *type)
{
	struct type base;
	uint64_t own, size;

	if (type_tag(type) != DW_TAG_subrange_type)
		return false;
	base = type_of(&type->die);
	if (base.is_void || !die_udata(&type->die, DW_AT_byte_size, &own))
		return !base.is_void;
	for (int i = 0; i < DEPTH_MAX && !base.is_void; i++) {
		if (die_udata(&base.die, DW_AT_byte_size, &size))
			return size == own;
		base = type_of(&base.die);
	}
	return false;
}

struct type type_peel(struct type type)
{
	for (int i = 0; i < DEPTH_MAX && !type.is_void; i++) {
		if (!is_wrapping(type_tag(&type)) && !is_subtype(&type))
			break;
		type = type_of(&type.die);
	}
	return type;
}

bool type_is_struct(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
	       tag == DW_TAG_union_type || tag == DW_TAG_interface_type;
}

bool type_is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

bool array_dimensions(Dwarf_Die *array, struct dimension *dims, size_t *n)
{
	Dwarf_Die child;
	Dwarf_Sword lower = 0;
	Dwarf_Die unit;

	*n = 0;
	if (dwarf_child(array, &child))
		return false;
	if (dwarf_diecu(array, &unit, NULL, NULL))
		dwarf_default_lower_bound(dwarf_srclang(&unit), &lower);
	do {
		Dwarf_Attribute attr;
		Dwarf_Sword from = lower, to;
		Dwarf_Word count;
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_subrange_type && tag != DW_TAG_enumeration_type)
			continue;
		if (*n == DIMENSIONS_MAX)
			return false;
		struct dimension *dim = &dims[(*n)++];
		if (dwarf_attr(&child, DW_AT_lower_bound, &attr) && dwarf_formsdata(&attr, &from))
			return false;
		*dim = (struct dimension){.lower = from};
		if (dwarf_attr(&child, DW_AT_count, &attr)) {
			if (!dwarf_formudata(&attr, &count))
				dim->count = count;
		} else if (dwarf_attr(&child, DW_AT_upper_bound, &attr)) {
			/* A variable one (int a[n]) has an expression here: then it is not known.
			 * gcc has 2^32-1 or 2^64-1 for "no elements". */
			if (!dwarf_formudata(&attr, &count) &&
			    dwarf_whatform(&attr) != DW_FORM_exprloc &&
			    dwarf_whatform(&attr) != DW_FORM_ref4) {
				to = (Dwarf_Sword)count;
				if (dwarf_whatform(&attr) == DW_FORM_sdata)
					dwarf_formsdata(&attr, &to);
				if (to >= from && count != UINT32_MAX &&
				    (uint64_t)to - (uint64_t)from < INT64_MAX)
					dim->count = (uint64_t)to - (uint64_t)from + 1;
			}
		}
	} while (!die_sibling(&child));
	return *n;
}

static bool size_at(struct type type, uint64_t *size, int depth)
{
	type = type_peel(type);
	if (type.is_void || depth > 32)
		return false;

	int tag = type_tag(&type);
	uint64_t one, stride;
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if (dwarf_attr(&type.die, DW_AT_byte_size, &attr)) {
		if (dwarf_formudata(&attr, &word))
			return false;
		*size = word;
		return word <= INT64_MAX;
	}
	if (type_is_pointer(tag) || tag == DW_TAG_ptr_to_member_type) {
		*size = 8;
		return true;
	}
	if (tag == DW_TAG_enumeration_type)
		return size_at(type_of(&type.die), size, depth + 1);
	if (tag != DW_TAG_array_type || !size_at(type_of(&type.die), &one, depth + 1))
		return false;
	struct dimension dims[DIMENSIONS_MAX];
	size_t n;
	if (!array_dimensions(&type.die, dims, &n))
		return false;
	if (die_udata(&type.die, DW_AT_byte_stride, &stride))
		one = stride;
	for (size_t i = 0; i < n; i++) {
		if (__builtin_mul_overflow(one, dims[i].count, &one) || one > INT64_MAX)
			return false;
		if (!dims[i].count && i == 0 && n == 1) {
			*size = 0;
			return false;
		}
	}
	*size = one;
	return true;
}

bool type_size(struct type type, uint64_t *size)
{
	return size_at(type, size, 0);
}

bool type_is_char(struct type type)
{
	uint64_t encoding = 0, size = 0;

	if (type.is_void || type_tag(&type) != DW_TAG_base_type ||
	    !die_udata(&type.die, DW_AT_encoding, &encoding) || !type_size(type, &size) ||
	    size != 1)
		return false;
	/* Rust's u8 is only unsigned. */
	return encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char ||
	       encoding == DW_ATE_UTF || encoding == DW_ATE_unsigned;
}

static bool is_plain_char(struct type *type)
{
	const char *name = dwarf_diename(&type->die);

	return name && !strcmp(name, "char");
}

bool type_is_scalar(struct type type, enum fetch_kind *kind)
{
	uint64_t encoding = 0;

	switch (type_tag(&type)) {
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		*kind = FETCH_POINTER;
		return true;
	case DW_TAG_enumeration_type:
		*kind = FETCH_ENUM;
		return true;
	case DW_TAG_unspecified_type: /* std::nullptr_t */
		*kind = FETCH_POINTER;
		return false;
	case DW_TAG_ptr_to_member_type: /* one word, or two for a function */
		*kind = FETCH_BYTES;
		return false;
	case DW_TAG_base_type:
		break;
	default:
		*kind = FETCH_BYTES;
		return false;
	}
	die_udata(&type.die, DW_AT_encoding, &encoding);
	switch (encoding) {
	case DW_ATE_boolean:
		*kind = FETCH_BOOL;
		return true;
	case DW_ATE_signed_char:
	case DW_ATE_unsigned_char:
		/* "signed char" and "unsigned char" are small numbers, whose sign is known. */
		*kind = type_is_char(type) && is_plain_char(&type) ? FETCH_CHAR
			: encoding == DW_ATE_signed_char	   ? FETCH_INT
								   : FETCH_UINT;
		return true;
	case DW_ATE_UTF:
	case DW_ATE_unsigned:
	case DW_ATE_address:
	case DW_ATE_unsigned_fixed:
		*kind = FETCH_UINT;
		return true;
	case DW_ATE_signed:
	case DW_ATE_signed_fixed:
		*kind = FETCH_INT;
		return true;
	case DW_ATE_float:
	case DW_ATE_imaginary_float:
		*kind = FETCH_FLOAT;
		return true;
	default: /* complex, decimal */
		*kind = FETCH_BYTES;
		return false;
	}
}

/* ---- Text ---- */

/*
 * C writes types from the inside out: a declarator stands between what is
 * before and what is behind it. text_before() and text_behind() write the two
 * halves.
 */
static void text_before(struct type type, struct strbuf *sb, int depth);
static void text_behind(struct type type, struct strbuf *sb, int depth);

static void text_params(Dwarf_Die *function, struct strbuf *sb, int depth)
{
	Dwarf_Die child;
	size_t n = 0;

	strbuf_addch(sb, '(');
	if (!dwarf_child(function, &child)) {
		do {
			int tag = dwarf_tag(&child);

			if (tag != DW_TAG_formal_parameter && tag != DW_TAG_unspecified_parameters)
				continue;
			if (n++)
				strbuf_adds(sb, ", ");
			if (tag == DW_TAG_unspecified_parameters) {
				strbuf_adds(sb, "...");
				continue;
			}
			struct type type = type_of(&child);
			text_before(type, sb, depth + 1);
			text_behind(type, sb, depth + 1);
		} while (n < 64 && !die_sibling(&child));
	}
	if (!n && die_lang_is_c(function))
		strbuf_adds(sb, "void");
	strbuf_addch(sb, ')');
}

/* Whether a pointer to it needs parentheses. */
static bool binds_behind(struct type type)
{
	int tag = type_tag(&type);

	return tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type;
}

static void add_pointer(struct strbuf *sb, const char *mark)
{
	if (sb->len && sb->str[sb->len - 1] != '*' && sb->str[sb->len - 1] != '(' &&
	    sb->str[sb->len - 1] != ' ')
		strbuf_addch(sb, ' ');
	strbuf_adds(sb, mark);
}

static void text_before(struct type type, struct strbuf *sb, int depth)
{
	const char *qualifier = NULL, *mark = "*", *keyword = "";

	if (depth > 24 || sb->len > 1000) {
		strbuf_adds(sb, "...");
		return;
	}
	if (type.is_void) {
		strbuf_adds(sb, "void");
		return;
	}
	int tag = type_tag(&type);
	const char *name = die_name(&type.die);
	struct type inner = type_of(&type.die);
	switch (tag) {
	case DW_TAG_const_type:
		qualifier = "const";
		break;
	case DW_TAG_volatile_type:
		qualifier = "volatile";
		break;
	case DW_TAG_restrict_type:
		qualifier = "restrict";
		break;
	case DW_TAG_atomic_type:
		qualifier = "_Atomic";
		break;
	case DW_TAG_reference_type:
		mark = "&";
		break;
	case DW_TAG_rvalue_reference_type:
		mark = "&&";
		break;
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
		keyword = "struct ";
		break;
	case DW_TAG_union_type:
		keyword = "union ";
		break;
	case DW_TAG_enumeration_type:
		keyword = "enum ";
		break;
	}
	if (qualifier) {
		if (type_is_pointer(type_tag(&inner))) { /* char *const */
			text_before(inner, sb, depth + 1);
			strbuf_adds(sb, sb->len && sb->str[sb->len - 1] == '*' ? "" : " ");
			strbuf_adds(sb, qualifier);
		} else {
			strbuf_addf(sb, "%s ", qualifier);
			text_before(inner, sb, depth + 1);
		}
		return;
	}
	if (type_is_pointer(tag)) {
		if (die_lang_is_rust(&type.die) && name) {
			strbuf_adds(sb, name);
			return;
		}
		text_before(inner, sb, depth + 1);
		if (binds_behind(inner)) {
			strbuf_adds(sb, " (");
			strbuf_adds(sb, mark);
		} else {
			add_pointer(sb, mark);
		}
		return;
	}
	if (tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type) {
		text_before(inner, sb, depth + 1);
		return;
	}
	if (*keyword && !die_lang_is_c(&type.die) && name)
		keyword = "";
	strbuf_addf(sb, "%s%s", keyword, name ? name : *keyword ? "{...}" : "?");
}

static void text_behind(struct type type, struct strbuf *sb, int depth)
{
	struct dimension dims[DIMENSIONS_MAX];
	size_t n;

	if (depth > 24 || sb->len > 1000 || type.is_void)
		return;
	int tag = type_tag(&type);
	struct type inner = type_of(&type.die);
	switch (tag) {
	case DW_TAG_const_type:
	case DW_TAG_volatile_type:
	case DW_TAG_restrict_type:
	case DW_TAG_atomic_type:
		text_behind(inner, sb, depth + 1);
		break;
	case DW_TAG_pointer_type:
	case DW_TAG_reference_type:
	case DW_TAG_rvalue_reference_type:
		if (die_lang_is_rust(&type.die) && die_name(&type.die))
			break;
		if (binds_behind(inner))
			strbuf_addch(sb, ')');
		text_behind(inner, sb, depth + 1);
		break;
	case DW_TAG_subroutine_type:
		if (!depth || sb->str[sb->len - 1] != ')')
			strbuf_addch(sb, ' ');
		text_params(&type.die, sb, depth + 1);
		text_behind(inner, sb, depth + 1);
		break;
	case DW_TAG_array_type:
		if (sb->len && sb->str[sb->len - 1] != ')' && sb->str[sb->len - 1] != ']')
			strbuf_addch(sb, ' ');
		if (!array_dimensions(&type.die, dims, &n))
			n = 0;
		for (size_t i = 0; i < n; i++) {
			if (dims[i].count)
				strbuf_addf(sb, "[%llu]", (unsigned long long)dims[i].count);
			else
				strbuf_adds(sb, "[]");
		}
		if (!n)
			strbuf_adds(sb, "[]");
		text_behind(inner, sb, depth + 1);
		break;
	}
}

void type_text(struct type type, struct strbuf *sb)
{
	_cleanup_strbuf_ struct strbuf own = STRBUF_INIT;

	text_before(type, &own, 0);
	text_behind(type, &own, 0);
	if (own.failed)
		sb->failed = true;
	else
		strbuf_add(sb, own.str, own.len);
}

/* ---- Incomplete structs ---- */

static bool is_declaration(Dwarf_Die *die)
{
	return die_flag(die, DW_AT_declaration) && !dwarf_hasattr(die, DW_AT_byte_size);
}

/* A struct of that name below a DIE, through the namespaces. */
static struct error *find_definition(struct dwarf_image *image, Dwarf_Die *parent, int tag,
				     const char *name, Dwarf_Die *out, bool *found, int depth)
{
	Dwarf_Die child;
	bool have;

	if (depth > 16)
		return NULL;
	TRY(die_child(image, parent, &child, &have));
	while (have && !*found) {
		int t = dwarf_tag(&child);
		const char *s;

		if (t == DW_TAG_namespace)
			TRY(find_definition(image, &child, tag, name, out, found, depth + 1));
		else if (type_is_struct(t) && (t == tag || type_is_struct(tag)) &&
			 (s = dwarf_diename(&child)) && !strcmp(s, name) &&
			 !is_declaration(&child)) {
			*out = child;
			*found = true;
		}
		if (!*found)
			TRY(die_next(image, &child, &have));
	}
	return NULL;
}

struct error *type_complete(struct dwarf_image *image, struct type *type)
{
	struct type peeled = type_peel(*type);

	if (!type_is_struct(type_tag(&peeled)) || !is_declaration(&peeled.die))
		return NULL;
	const char *name = die_name(&peeled.die);
	if (!name)
		return NULL;
	_cleanup_free_ uint8_t *units = NULL;
	Dwarf_Die other;
	TRY(units_with_name(image, name, false, &units));
	for (size_t i = 0; i < image->units.n; i++) {
		Dwarf_Die root;
		bool found = false;

		if (!units[i])
			continue;
		TRY(unit_root(image, &image->units.v[i], &root));
		TRY(find_definition(image, &root, type_tag(&peeled), name, &other, &found, 0));
		if (found) {
			type->die = other;
			return NULL;
		}
	}
	return NULL;
}
