// SPDX-License-Identifier: BSD-2-Clause
/*
 * Line tables, and what stands on a line in the source.
 *
 * The end of a prologue is where the table says so (clang), else the second
 * row of the function: compilers write one row for its first instruction, and
 * the next one where its first statement begins. That is what debuggers rely
 * on, and it holds for code that was not optimised; it is asked for no other.
 */
#include "probe/dwarf/internal.h"

struct error *lines_of(struct dwarf_image *image, Dwarf_Die *die, Dwarf_Lines **lines, size_t *n)
{
	Dwarf_Die unit;

	*n = 0;
	if (!die_unit_die(die, &unit) || !dwarf_hasattr(&unit, DW_AT_stmt_list))
		return NULL;
	TRY(lines_fit(image, &unit));
	errno = 0;
	const int failed = dwarf_getsrclines(&unit, lines, n);
	if (errno == ENOMEM)
		return error_nomem();
	if (failed)
		return dw_error(image, "in the line table of unit %#llx",
				(unsigned long long)dwarf_dieoffset(&unit));
	return NULL;
}

Dwarf_Line *line_at(Dwarf_Lines *lines, size_t n, Dwarf_Addr address)
{
	size_t low = 0, high = n;
	Dwarf_Addr at;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		Dwarf_Line *line = dwarf_onesrcline(lines, mid);

		if (line && !dwarf_lineaddr(line, &at) && at <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	/* Of several rows at one address the last is the one that holds. */
	Dwarf_Line *line = dwarf_onesrcline(lines, low - 1);
	bool end = false;
	if (!line || dwarf_lineendsequence(line, &end) || end)
		return NULL;
	return line;
}

size_t line_lower_bound(Dwarf_Lines *lines, size_t n, Dwarf_Addr address)
{
	size_t low = 0, high = n;
	Dwarf_Addr at;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		Dwarf_Line *line = dwarf_onesrcline(lines, mid);

		if (line && !dwarf_lineaddr(line, &at) && at < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool view_begins_statement(Dwarf_Lines *lines, size_t n, Dwarf_Addr address, uint64_t view)
{
	size_t low = line_lower_bound(lines, n, address);
	Dwarf_Addr at;
	bool flag;

	Dwarf_Line *line = view < n - low ? dwarf_onesrcline(lines, low + view) : NULL;
	return line && !dwarf_lineaddr(line, &at) && at == address &&
	       !dwarf_linebeginstatement(line, &flag) && flag;
}

bool prologue_end(Dwarf_Lines *lines, size_t n, Dwarf_Die *function, Dwarf_Addr low,
		  Dwarf_Addr *address)
{
	Dwarf_Addr at, second = 0;
	bool flag;

	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);

		if (!line || dwarf_lineaddr(line, &at) || at < low ||
		    dwarf_haspc(function, at) <= 0)
			continue;
		if (!dwarf_lineprologueend(line, &flag) && flag) {
			*address = at;
			return true;
		}
		if (at > low && !second && !dwarf_linebeginstatement(line, &flag) && flag)
			second = at;
	}
	if (second)
		*address = second;
	return second;
}

static struct error *find_line(struct dwarf_image *image, Dwarf_Addr address, Dwarf_Line **line)
{
	struct dwarf_unit *unit;
	Dwarf_Lines *lines;
	size_t n;

	TRY(unit_by_address(image, address, &unit));
	if (!unit)
		return NULL;
	TRY(lines_of(image, &unit->die, &lines, &n));
	*line = line_at(lines, n, address);
	return NULL;
}

struct error *pb_dwarf_line_at(struct dwarf_image *image, uint64_t address, const char **file,
			       uint32_t *line)
{
	Dwarf_Line *found = NULL;
	int number;

	TRY(find_line(image, address - image->bias, &found));
	const char *path = found ? dwarf_linesrc(found, NULL, NULL) : NULL;
	const bool is_known = path && !dwarf_lineno(found, &number) && number >= 0;
	*file = is_known ? path : NULL;
	*line = is_known ? (uint32_t)number : 0;
	return NULL;
}

char *line_source_path(Dwarf_Die *unit, const char *file)
{
	Dwarf_Attribute attr;
	const char *dir = NULL;

	if (file[0] != '/' && dwarf_attr(unit, DW_AT_comp_dir, &attr))
		dir = dwarf_formstring(&attr);
	return dir ? text_format("%s/%s", dir, file) : strdup(file);
}
