// SPDX-License-Identifier: BSD-2-Clause
/*
 * DIEs, asked with care. libdw checks that what it reads lies within its
 * sections; that a reference leads to a DIE of another kind, or round in a
 * circle, is for the caller to notice.
 */
#include <time.h>

#include "lib/base/clock.h"
#include "probe/dwarf/internal.h"

struct error *die_child(const struct dwarf_image *image, Dwarf_Die *die, Dwarf_Die *child,
			bool *have)
{
	int r = dwarf_child(die, child);

	if (r < 0)
		return dw_error(image, "at the child of DIE %#llx",
				(unsigned long long)dwarf_dieoffset(die));
	*have = !r;
	return NULL;
}

int die_sibling(Dwarf_Die *die)
{
	const void *before = die->addr;
	int r = dwarf_siblingof(die, die);

	return r || die->addr > before ? r : -1;
}

struct error *die_next(const struct dwarf_image *image, Dwarf_Die *die, bool *have)
{
	Dwarf_Off at = dwarf_dieoffset(die);
	int r = die_sibling(die);

	if (r < 0)
		return dw_error(image, "behind DIE %#llx", (unsigned long long)at);
	*have = !r;
	return NULL;
}

struct error *die_too_deep(const struct dwarf_image *image, Dwarf_Die *die)
{
	return error_new(EFBIG, "%s: DWARF: the scopes around DIE %#llx are nested too deeply",
			 image->debug_path, (unsigned long long)dwarf_dieoffset(die));
}

enum {
	USUAL_DEPTH = 16,
	NS_OF_BYTE = 500, /* libdw takes some 30 for each level */
};

uint64_t deadline_of(uint64_t time)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID) + time;
}

uint64_t time_of_walk(const struct dwarf_image *image)
{
	return 2000000000 + NS_OF_BYTE * image_info_size(image);
}

struct error *die_next_of_tree(const struct dwarf_image *image, Dwarf_Die *die, int depth,
			       uint64_t deadline, bool *have)
{
	TRY(die_next(image, die, have));
	if (depth > USUAL_DEPTH && clock_ns(CLOCK_THREAD_CPUTIME_ID) > deadline)
		return die_too_deep(image, die);
	return NULL;
}

bool die_ref(Dwarf_Die *die, unsigned int name, Dwarf_Die *out)
{
	Dwarf_Attribute attr;
	Dwarf_Die target;

	if (!dwarf_attr(die, name, &attr) || !dwarf_formref_die(&attr, &target) ||
	    dwarf_tag(&target) == DW_TAG_invalid)
		return false;
	*out = target;
	return true;
}

void die_origin(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Die now = *die;

	for (int i = 0; i < 16; i++) {
		if (!die_ref(&now, DW_AT_abstract_origin, &now) &&
		    !die_ref(&now, DW_AT_specification, &now))
			break;
	}
	*out = now;
}

bool die_same_origin(Dwarf_Die *a, Dwarf_Die *b)
{
	Dwarf_Die x, y;

	if (a->addr == b->addr)
		return true;
	die_origin(a, &x);
	die_origin(b, &y);
	return x.addr == y.addr;
}

/* An attribute of the DIE, or of what it is a copy or the definition of. */
static bool die_attr(Dwarf_Die *die, unsigned int name, Dwarf_Attribute *attr)
{
	Dwarf_Die now = *die;

	for (int i = 0; i < 16; i++) {
		if (dwarf_attr(&now, name, attr))
			return true;
		if (!die_ref(&now, DW_AT_abstract_origin, &now) &&
		    !die_ref(&now, DW_AT_specification, &now))
			break;
	}
	return false;
}

const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return die_attr(die, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;
}

const char *die_linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (die_attr(die, DW_AT_linkage_name, &attr) ||
	    die_attr(die, DW_AT_MIPS_linkage_name, &attr))
		return dwarf_formstring(&attr);
	return NULL;
}

bool die_flag(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	bool flag;

	return die_attr(die, name, &attr) && !dwarf_formflag(&attr, &flag) && flag;
}

bool die_udata(Dwarf_Die *die, unsigned int name, uint64_t *value)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if (!die_attr(die, name, &attr) || dwarf_formudata(&attr, &word))
		return false;
	*value = word;
	return true;
}

bool die_location(Dwarf_Die *die, unsigned int attr, bool integrate, Dwarf_Attribute *out)
{
	if (!(integrate ? dwarf_attr_integrate(die, attr, out) : dwarf_attr(die, attr, out)))
		return false;
	/* The length is one byte of the same value in both. */
	if (dwarf_whatform(out) == DW_FORM_block1 && out->valp && *out->valp < 128)
		out->form = DW_FORM_exprloc;
	return true;
}

bool tag_has_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
	case DW_TAG_interface_type:
	case DW_TAG_enumeration_type:
		return true;
	default:
		return false;
	}
}

bool tag_is_block(int tag)
{
	switch (tag) {
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_with_stmt:
		return true;
	default:
		return false;
	}
}

bool die_entry(Dwarf_Die *die, Dwarf_Addr *address)
{
	Dwarf_Addr base, start, end;

	if (dwarf_hasattr(die, DW_AT_entry_pc) && !dwarf_entrypc(die, address))
		return true;
	if (!dwarf_lowpc(die, address))
		return true;
	if (dwarf_ranges(die, 0, &base, &start, &end) > 0) {
		*address = start;
		return true;
	}
	return false;
}

bool die_has_code(Dwarf_Die *die)
{
	return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

static int die_lang(Dwarf_Die *die)
{
	Dwarf_Die unit;

	return dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;
}

bool die_lang_is_c(Dwarf_Die *die)
{
	switch (die_lang(die)) {
	case DW_LANG_C:
	case DW_LANG_C89:
	case DW_LANG_C99:
	case DW_LANG_C11:
	case 0x2c:   /* DW_LANG_C17 */
	case 0x8001: /* DW_LANG_Mips_Assembler */
		return true;
	default:
		return false;
	}
}

bool die_lang_is_cxx(Dwarf_Die *die)
{
	switch (die_lang(die)) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2b: /* DW_LANG_C_plus_plus_17 */
	case 0x2d: /* DW_LANG_C_plus_plus_20 */
		return true;
	default:
		return false;
	}
}

bool die_is_gnu(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Die unit;
	const char *producer =
		dwarf_diecu(die, &unit, NULL, NULL) && dwarf_attr(&unit, DW_AT_producer, &attr)
			? dwarf_formstring(&attr)
			: NULL;

	return producer && !strncmp(producer, "GNU ", 4);
}

bool die_lang_is_go(Dwarf_Die *die)
{
	return die_lang(die) == DW_LANG_Go;
}

bool die_lang_is_rust(Dwarf_Die *die)
{
	return die_lang(die) == DW_LANG_Rust;
}

/*
 * dwarf_decl_file() of libdw before 0.190 takes file 0 for none, which in
 * DWARF 5 is the unit's own.
 */
const char *die_file(struct dwarf_image *image, Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Die now = *die, unit;
	Dwarf_Files *files;
	Dwarf_Half version;
	Dwarf_Word index;
	size_t n;

	for (int i = 0; !dwarf_attr(&now, name, &attr); i++) {
		if (i == 16 || (!die_ref(&now, DW_AT_abstract_origin, &now) &&
				!die_ref(&now, DW_AT_specification, &now)))
			return NULL;
	}
	if (dwarf_formudata(&attr, &index) || !dwarf_diecu(&now, &unit, NULL, NULL) ||
	    dwarf_cu_info(unit.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    (!index && version < 5))
		return NULL;
	struct error *err = lines_fit(image, &unit); /* which libdw reads with the files */
	const bool fits = !err;
	error_free(err);
	if (!fits || dwarf_getsrcfiles(&unit, &files, &n) || index >= n)
		return NULL;
	return dwarf_filesrc(files, index, NULL, NULL);
}

const char *die_decl_file(struct dwarf_image *image, Dwarf_Die *die)
{
	return die_file(image, die, DW_AT_decl_file);
}

bool path_ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), m = strlen(end);

	return m <= n && !strcmp(path + n - m, end) &&
	       (m == n || end[0] == '/' || path[n - m - 1] == '/');
}
