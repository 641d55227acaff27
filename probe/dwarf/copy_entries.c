// SPDX-License-Identifier: BSD-2-Clause
/*
 * The entries of an inlined copy whose code was duplicated.
 *
 * gcc -O3 unrolls loops, and gives each side of a branch a copy of what follows. What was inlined
 * there then begins at several addresses, but DW_AT_entry_pc names one of them: a probe on that
 * one alone misses calls. The line table has them all: where a copy begins, gcc marks the line and
 * the column of the function's declaration as a statement (-ginline-points, the default), and it
 * duplicates the mark with the code.
 *
 * Only code whose one known entry has this mark is searched, so other compilers' code is not.
 * Copies of a function within copies of it (recursion) have marks that look alike: of several at
 * one address, the last is the innermost copy's.
 */
#include "probe/dwarf/places.h"

/* What the rows of a copy's entries have in common. */
struct entry_mark {
	const char *file;
	int line, column;
};

static bool has_mark(Dwarf_Line *line, const struct entry_mark *mark)
{
	int number, column;
	bool flag;

	if (!line || dwarf_linebeginstatement(line, &flag) || !flag ||
	    dwarf_lineno(line, &number) || number != mark->line || dwarf_linecol(line, &column) ||
	    column != mark->column)
		return false;
	const char *file = dwarf_linesrc(line, NULL, NULL);
	return file && (!mark->file || file == mark->file || !strcmp(file, mark->file));
}

/* Sets the file of the mark at the known entry; false: it has none. */
static bool find_mark(Dwarf_Lines *lines, size_t n, Dwarf_Die *copy, Dwarf_Addr entry,
		      struct entry_mark *mark)
{
	uint64_t line, column;
	Dwarf_Addr at;

	if (!die_udata(copy, DW_AT_decl_line, &line) ||
	    !die_udata(copy, DW_AT_decl_column, &column) || line > INT32_MAX || column > INT32_MAX)
		return false;
	*mark = (struct entry_mark){.line = (int)line, .column = (int)column};
	for (size_t i = line_lower_bound(lines, n, entry); i < n; i++) {
		Dwarf_Line *row = dwarf_onesrcline(lines, i);

		if (!row || dwarf_lineaddr(row, &at) || at != entry)
			return false;
		if (has_mark(row, mark)) {
			mark->file = dwarf_linesrc(row, NULL, NULL);
			return true;
		}
	}
	return false;
}

/* Whether a copy's code is at the address, or it has none there but was entered. */
static bool holds(Dwarf_Die *die, Dwarf_Addr pc)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t pos = 0;

	if (dwarf_haspc(die, pc) > 0)
		return true;
	while ((pos = dwarf_ranges(die, pos, &base, &start, &end)) > 0)
		if (start == pc)
			return true;
	return false;
}

/*
 * How many copies of the function hold the address inside of the scope: one within the other, or
 * one behind the other, of which all but one have no code there.
 */
static size_t copies_within(Dwarf_Die *scope, Dwarf_Die *copy, Dwarf_Addr pc, int depth)
{
	Dwarf_Die child;
	size_t n = 0;

	if (depth > DEPTH_MAX || dwarf_child(scope, &child))
		return 0;
	do {
		int tag = dwarf_tag(&child);

		if ((tag != DW_TAG_inlined_subroutine && tag != DW_TAG_lexical_block &&
		     tag != DW_TAG_try_block && tag != DW_TAG_catch_block) ||
		    !holds(&child, pc))
			continue;
		/* A part of the function, which has no entry of its own, has no mark either. */
		size_t is_copy = tag == DW_TAG_inlined_subroutine &&
				 die_same_origin(&child, copy) &&
				 dwarf_hasattr(&child, DW_AT_entry_pc);
		n += is_copy + copies_within(&child, copy, pc, depth + 1);
	} while (!die_sibling(&child));
	return n;
}

struct entry_search {
	struct places_search *s;
	const struct instance *instance;
	Dwarf_Lines *lines;
	size_t n;
	struct entry_mark mark;
	Dwarf_Addr entry;	   /* the known one */
	Dwarf_Addr function_entry; /* of a recursive function: its own first row has the mark too */
};

/* The marks at one address, whose rows are those from first to end. */
static struct error *entries_at(struct entry_search *e, Dwarf_Addr address, size_t first,
				size_t end)
{
	Dwarf_Die die = e->instance->die, function = e->instance->function;
	size_t marks = 0, seen = 0;

	for (size_t i = first; i < end; i++)
		marks += has_mark(dwarf_onesrcline(e->lines, i), &e->mark);
	if (!marks || address == e->function_entry)
		return NULL;
	size_t within = copies_within(&die, &die, address, 0);
	bool alone = !within && copies_within(&function, &die, address, 0) == 1 &&
		     !die_same_origin(&function, &die);
	/* Without recursion two marks are two iterations of a loop, the first without code. */
	if (within >= marks || (!alone && address == e->entry))
		return NULL;
	bool skip = address == e->entry;
	for (size_t i = first; i < end; i++) {
		if (!has_mark(dwarf_onesrcline(e->lines, i), &e->mark) ||
		    (++seen != marks - within && !alone))
			continue;
		if (skip) { /* the known entry itself */
			skip = false;
			continue;
		}
		int view = (int)min_of(i - first, (size_t)INT32_MAX - 1);
		view += view_begins_statement(e->lines, e->n, address, (uint64_t)view + 1);
		TRY(place_add(e->s, e->instance, address, true, false, false, view, NULL));
	}
	return NULL;
}

static struct error *entries_in_range(struct entry_search *e, Dwarf_Addr start, Dwarf_Addr end)
{
	size_t next;

	for (size_t i = line_lower_bound(e->lines, e->n, start); i < e->n; i = next) {
		Dwarf_Addr address, at;
		Dwarf_Line *row = dwarf_onesrcline(e->lines, i);

		if (!row || dwarf_lineaddr(row, &address) || address >= end)
			break;
		for (next = i + 1; next < e->n; next++) {
			row = dwarf_onesrcline(e->lines, next);
			if (!row || dwarf_lineaddr(row, &at) || at != address)
				break;
		}
		TRY(entries_at(e, address, i, next));
	}
	return NULL;
}

struct error *copy_entries(struct places_search *s, const struct instance *instance,
			   Dwarf_Addr entry)
{
	struct entry_search e = {.s = s, .instance = instance, .entry = entry};
	Dwarf_Die die = instance->die, function = instance->function;
	Dwarf_Addr base, start, end;
	ptrdiff_t pos = 0;

	if (!instance->inlined || !die_is_gnu(&function))
		return NULL;
	TRY(lines_of(s->image, &function, &e.lines, &e.n));
	if (!e.n || !find_mark(e.lines, e.n, &die, entry, &e.mark))
		return NULL;
	if (!die_same_origin(&die, &function) || !die_entry(&function, &e.function_entry))
		e.function_entry = (Dwarf_Addr)-1;
	while ((pos = dwarf_ranges(&die, pos, &base, &start, &end)) > 0)
		TRY(entries_in_range(&e, start, max_of(end, start + 1)));
	return NULL;
}
