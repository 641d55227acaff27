// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which rows of a line table are a function's own: those within its code, of
 * its file, from its line to where the next function begins in the source. A
 * copy's code also has rows of what is around it, and of what is inlined in it.
 */
#include "probe/dwarf/places.h"

bool row_of(Dwarf_Lines *lines, size_t i, struct row *row)
{
	Dwarf_Line *line = dwarf_onesrcline(lines, i);
	bool flag;
	int number;

	if (!line || dwarf_lineendsequence(line, &flag) || flag ||
	    dwarf_linebeginstatement(line, &flag) || !flag || dwarf_lineno(line, &number) ||
	    number <= 0 || dwarf_lineaddr(line, &row->address))
		return false;
	row->file = dwarf_linesrc(line, NULL, NULL);
	row->line = (uint32_t)number;
	row->index = i;
	row->view = 0;
	Dwarf_Addr before;
	while (i-- && (line = dwarf_onesrcline(lines, i)) && !dwarf_lineendsequence(line, &flag) &&
	       !flag && !dwarf_lineaddr(line, &before) && before == row->address &&
	       row->view < 4096)
		row->view++;
	return row->file;
}

bool row_is_empty(Dwarf_Lines *lines, size_t n, size_t i, const struct row *row)
{
	Dwarf_Addr at;
	int number = 0;
	Dwarf_Line *line;

	/* The last row at an address has its code. */
	for (size_t k = i + 1; k < n && k < i + 4096; k++) {
		line = dwarf_onesrcline(lines, k);
		if (!line || dwarf_lineaddr(line, &at) || at != row->address)
			break;
		if (dwarf_lineno(line, &number))
			return true;
	}
	return number && (uint32_t)number != row->line;
}

bool in_inner_copy(Dwarf_Die *parent, Dwarf_Addr pc, int depth)
{
	Dwarf_Die child;

	if (depth > 32 || dwarf_child(parent, &child))
		return false;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&child, pc) > 0)
			return true;
		if (tag_is_block(tag) && dwarf_haspc(&child, pc) > 0 &&
		    in_inner_copy(&child, pc, depth + 1))
			return true;
	} while (!die_sibling(&child));
	return false;
}

/* clang's table may have "/build/./a.c" and "a.c" for one file. */
static bool same_file(const char *a, const char *b)
{
	while (a[0] == '.' && a[1] == '/')
		a += 2;
	while (b[0] == '.' && b[1] == '/')
		b += 2;
	return path_ends_with(a, b) || path_ends_with(b, a);
}

/* Rust's are not in the function that has them, but in a scope of its name. */
static bool is_closure(Dwarf_Die *function)
{
	const char *name = die_name(function);

	return name && *name == '{' && strstr(name, "closure");
}

/* The function that follows in the source: a copy's code also has rows of what is around it. */
static struct error *find_limit(struct dwarf_image *image, Dwarf_Die *parent,
				struct instance_lines *own, int depth)
{
	Dwarf_Die child;
	Dwarf_Word line;
	Dwarf_Attribute attr;
	bool have;

	if (depth > 8)
		return NULL;
	TRY(die_child(image, parent, &child, &have));
	while (have) {
		switch (dwarf_tag(&child)) {
		case DW_TAG_subprogram:
			if (!dwarf_attr(&child, DW_AT_decl_line, &attr) ||
			    dwarf_formudata(&attr, &line) || line <= own->first ||
			    line >= own->limit || is_closure(&child))
				break;
			const char *file = die_decl_file(image, &child);
			if (file && same_file(file, own->file) &&
			    !die_flag(&child, DW_AT_declaration))
				own->limit = (uint32_t)line;
			break;
		case DW_TAG_namespace:
			TRY(find_limit(image, &child, own, depth + 1));
			break;
		}
		TRY(die_next(image, &child, &have));
	}
	return NULL;
}

static struct error *line_of_entry(struct dwarf_image *image, Dwarf_Die *function,
				   const char **file, int *number)
{
	Dwarf_Lines *lines;
	Dwarf_Addr low;
	size_t n;

	if (dwarf_tag(function) != DW_TAG_subprogram || !die_entry(function, &low))
		return NULL;
	TRY(lines_of(image, function, &lines, &n));
	Dwarf_Line *line = n ? line_at(lines, n, low) : NULL;
	if (line && !dwarf_lineno(line, number))
		*file = dwarf_linesrc(line, NULL, NULL);
	return NULL;
}

struct error *instance_lines(struct dwarf_image *image, const struct instance *instance,
			     struct instance_lines *out, bool *known)
{
	Dwarf_Die die = instance->die, root;
	int line;

	*known = false;
	out->file = die_decl_file(image, &die);
	if (dwarf_decl_line(&die, &line)) {
		line = 0;
		/* Go tells it by the line table alone. */
		if (die_lang_is_go(&die))
			TRY(line_of_entry(image, &die, &out->file, &line));
	}
	if (!out->file || line <= 0)
		return NULL;
	out->first = (uint32_t)line;
	out->limit = UINT32_MAX;
	*known = true;
	return dwarf_diecu(&die, &root, NULL, NULL) ? find_limit(image, &root, out, 0) : NULL;
}

struct error *instance_rows(struct dwarf_image *image, const struct instance *instance,
			    const struct instance_lines *own, row_fn *fn, void *ctx)
{
	Dwarf_Die die = instance->die, function = instance->function;
	const char *last_file = NULL;
	bool last_same = false;
	Dwarf_Lines *lines;
	struct row row;
	size_t n;

	TRY(lines_of(image, &function, &lines, &n));
	for (size_t i = 0; i < n; i++) {
		if (!row_of(lines, i, &row) || row.line < own->first || row.line >= own->limit ||
		    dwarf_haspc(&die, row.address) <= 0)
			continue;
		if (row.file != last_file) {
			last_file = row.file;
			last_same = same_file(row.file, own->file);
		}
		if (!last_same)
			continue;
		TRY(fn(ctx, instance, &row, row_is_empty(lines, n, i, &row)));
	}
	return NULL;
}

bool unit_is_of_file(struct dwarf_unit *unit, const char *file)
{
	const char *name = dwarf_diename(&unit->die);

	return name && path_ends_with(name, file);
}
