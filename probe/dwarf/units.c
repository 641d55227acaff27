// SPDX-License-Identifier: BSD-2-Clause
/*
 * Which units are to be read. A vmlinux has some three thousand, with 250 MB of
 * DIEs: walking them all takes seconds, and is never done for a name.
 *
 * By address: .debug_aranges, and for units that are not in it (clang writes
 * none) the ranges of the units' own DIEs, in small files those of the lines.
 *
 * By name: a unit that has a function of some name holds that name, either as
 * text (DW_FORM_string) or as a reference into .debug_str: the offset, or an
 * index into .debug_str_offsets. So the strings are searched for the name, and
 * then the raw bytes of .debug_info for any of the offsets found, with no DIE
 * taken apart: a quarter of a second for a vmlinux, read in small pieces, so
 * that it costs no memory. What is found by accident costs a unit too many;
 * nothing is missed, also no inlined copy, which the indexes that some
 * linkers make (.gdb_index, .debug_names) do not promise.
 *
 * The linker stores "b" within "ab" (strings that share an end are merged), so
 * an occurrence of the name in .debug_str counts wherever it begins.
 */
#include "probe/dwarf/internal.h"

#include <ctype.h>

#include <gelf.h>

#include "lib/sys/open_file.h"

/* From the headers of the units alone: reading the DIEs of all costs the tables of abbreviations.
 */
static struct error *list_units(struct dwarf_image *image)
{
	if (image->have_units)
		return NULL;

	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;
	int r;

	image->units.n = 0;
	errno = 0;
	while (!(r = dwarf_get_units(image->dw, cu, &cu, NULL, &type, &die, NULL))) {
		/* libdw 0.188 goes on with a unit that has no table for its abbreviations. */
		if (errno == ENOMEM)
			return error_nomem();
		if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
			continue;
		struct dwarf_unit *unit = vec_push(&image->units);
		if (!unit)
			return error_nomem();
		unit->die = die;
		unit->start = dwarf_dieoffset(&die);
		if (type != DW_UT_skeleton)
			unit->split = die;
		if (image->units.n > 1)
			unit[-1].end = unit->start;
		unit->end = UINT64_MAX;
	}
	if (errno == ENOMEM)
		return error_nomem();
	if (r < 0)
		return dw_error(image, "in the list of units");
	image->have_units = true;
	return NULL;
}

uint64_t image_info_size(const struct dwarf_image *image)
{
	Elf *elf = dwarf_getelf(image->dw);
	Elf_Scn *scn = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return 0;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		GElf_Chdr packed;
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && !strcmp(name, ".debug_info"))
			return gelf_getchdr(scn, &packed) ? packed.ch_size : shdr.sh_size;
	}
	return 0;
}

struct error *image_need_units(struct dwarf_image *image)
{
	size_t kept = 0;

	TRY(list_units(image));
	if (image->units_are_checked)
		return NULL;
	for (size_t i = 0; i < image->units.n; i++)
		if (dwarf_tag(&image->units.v[i].die) != DW_TAG_invalid)
			image->units.v[kept++] = image->units.v[i];
	image->units.n = kept;
	image->units_are_checked = true;
	return NULL;
}

struct error *unit_root(struct dwarf_image *image, struct dwarf_unit *unit, Dwarf_Die *root)
{
	if (!unit->split.addr && !unit->split_missing)
		split_root(image, unit);
	*root = unit->split_missing ? unit->die : unit->split;
	return NULL;
}

bool die_unit_die(Dwarf_Die *die, Dwarf_Die *out)
{
	Dwarf_Die unit, skeleton;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	memset(&skeleton, 0, sizeof(skeleton));
	/*
	 * Of a split unit's DIE the skeleton has the lines. A skeleton is not asked for its other
	 * half: libdw would open the .dwo, whatever it is; see split_root().
	 */
	uint8_t type = 0;
	if (!dwarf_cu_info(unit.cu, NULL, &type, NULL, NULL, NULL, NULL, NULL) &&
	    type == DW_UT_split_compile &&
	    !dwarf_cu_info(unit.cu, NULL, NULL, NULL, &skeleton, NULL, NULL, NULL) && skeleton.cu)
		*out = skeleton;
	else
		*out = unit;
	return true;
}

static struct dwarf_unit *unit_at(struct dwarf_image *image, Dwarf_Off offset)
{
	const size_t low = count_before(image->units.n, i, image->units.v[i].start <= offset);
	return low && offset < image->units.v[low - 1].end ? &image->units.v[low - 1] : NULL;
}

static int range_cmp(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool add_range(struct dwarf_image *image, Dwarf_Addr start, Dwarf_Addr end, size_t unit)
{
	struct unit_range *range = start < end ? vec_push(&image->ranges) : NULL;

	if (range)
		*range = (struct unit_range){start, end, unit};
	return range || start >= end;
}

/* Of a unit that has nothing but lines, as perf inject --jit writes for code of a JIT compiler. */
static struct error *add_ranges_of_lines(struct dwarf_image *image, size_t unit)
{
	Dwarf_Die *die = &image->units.v[unit].die;
	Dwarf_Addr first = 0, at;
	bool within = false, end;
	Dwarf_Lines *lines;
	size_t n;

	if (dwarf_tag(die) != DW_TAG_compile_unit || die_has_code(die))
		return NULL;
	TRY(lines_fit(image, die));
	if (dwarf_getsrclines(die, &lines, &n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);

		if (!line || dwarf_lineaddr(line, &at) || dwarf_lineendsequence(line, &end))
			continue;
		first = within ? first : at;
		if (end && within && !add_range(image, first, at, unit))
			return error_nomem();
		within = !end;
	}
	return NULL;
}

/* Files of one or few functions; others would cost the reading of all their lines. */
#define MOST_UNITS_OF_LINES 16

static struct error *need_ranges(struct dwarf_image *image)
{
	if (image->have_ranges)
		return NULL;
	TRY(image_need_units(image));
	for (size_t i = 0; i < image->units.n; i++) {
		Dwarf_Addr base, start, end;
		ptrdiff_t pos = 0;

		while ((pos = dwarf_ranges(&image->units.v[i].die, pos, &base, &start, &end)) > 0)
			if (!add_range(image, start, end, i))
				return error_nomem();
		if (image->units.n <= MOST_UNITS_OF_LINES)
			TRY(add_ranges_of_lines(image, i));
	}
	if (image->ranges.n)
		qsort(image->ranges.v, image->ranges.n, sizeof(*image->ranges.v), range_cmp);
	image->have_ranges = true;
	return NULL;
}

struct error *unit_by_address(struct dwarf_image *image, Dwarf_Addr address,
			      struct dwarf_unit **out)
{
	Dwarf_Aranges *aranges;
	size_t n;
	Dwarf_Off offset;

	*out = NULL;
	TRY(list_units(image));
	if (!dwarf_getaranges(image->dw, &aranges, &n)) {
		Dwarf_Arange *range = dwarf_getarange_addr(aranges, address);

		if (range && !dwarf_getarangeinfo(range, NULL, NULL, &offset)) {
			*out = unit_at(image, offset);
			if (*out && dwarf_tag(&(*out)->die) != DW_TAG_invalid)
				return NULL;
			*out = NULL;
		}
	}
	TRY(need_ranges(image));
	const size_t low = count_before(image->ranges.n, i, image->ranges.v[i].start <= address);
	for (size_t i = low, tries = 0; i-- && tries < 16; tries++) {
		if (address < image->ranges.v[i].end) {
			*out = &image->units.v[image->ranges.v[i].unit];
			break;
		}
	}
	return NULL;
}

/* ---- By name ---- */

const uint8_t *die_locations(Dwarf_Die *die, size_t *size)
{
	Dwarf_Half version = 4;
	uint8_t type = 0;
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(die->cu));
	Elf_Scn *scn = NULL;
	size_t shstrndx;
	GElf_Shdr shdr;
	Dwarf_Die cu;

	if (!elf || elf_getshdrstrndx(elf, &shstrndx) ||
	    dwarf_cu_info(die->cu, &version, &type, &cu, NULL, NULL, NULL, NULL))
		return NULL;
	const char *want = version >= 5 ? ".debug_loclists" : ".debug_loc";
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, shstrndx, shdr.sh_name) : NULL;
		size_t n = strlen(want);

		if (!name || strncmp(name, want, n) || (name[n] && strcmp(name + n, ".dwo")))
			continue;
		Elf_Data *data = shdr.sh_type == SHT_NOBITS ? NULL : elf_getdata(scn, NULL);
		if (!data || !data->d_buf || (shdr.sh_flags & SHF_COMPRESSED))
			return NULL;
		/* In a split unit gcc counts from behind the section's header. */
		size_t header = version >= 5 && type == DW_UT_split_compile ? 12 : 0;
		if (data->d_size < header)
			return NULL;
		*size = data->d_size - header;
		return (const uint8_t *)data->d_buf + header;
	}
	return NULL;
}

/* A section's bytes: a piece at a time from the file, or in memory where libdw changed them. */
struct unit_section {
	int fd;
	uint64_t offset, size;
	const uint8_t *data; /* not NULL: all of it */
	uint16_t index;
};

static bool section_open(struct dwarf_image *image, const char *name, int fd,
			 struct unit_section *sec)
{
	Elf *elf = dwarf_getelf(image->dw);
	Elf_Scn *scn = NULL;
	size_t shstrndx;
	GElf_Shdr shdr;

	if (!elf || elf_getshdrstrndx(elf, &shstrndx))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *s =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, shstrndx, shdr.sh_name) : NULL;
		if (!s ||
		    (strcmp(s, name) && !(s[0] == '.' && s[1] == 'z' && !strcmp(s + 2, name + 1))))
			continue;
		*sec = (struct unit_section){
			.fd = fd, .offset = shdr.sh_offset, .size = shdr.sh_size};
		/* elf_rawfile() has the file's bytes; those of an inflated section stand elsewhere.
		 */
		size_t file_size = 0;
		const char *file = elf_rawfile(elf, &file_size);
		Elf_Data *data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf)
			return false;
		const char *buf = data->d_buf;
		if (fd < 0 || image->is_rel || !file || buf < file || buf >= file + file_size) {
			sec->data = data->d_buf;
			sec->size = data->d_size;
		}
		return true;
	}
	return false;
}

/* The next piece, at *pos; 0 at the end, -1 where it cannot be read. */
static ssize_t section_read(const struct unit_section *sec, uint64_t pos, uint8_t *buf, size_t n)
{
	if (pos >= sec->size)
		return 0;
	n = (size_t)min_of((uint64_t)n, sec->size - pos);
	if (sec->data) {
		memcpy(buf, sec->data + pos, n);
		return (ssize_t)n;
	}
	return pread(sec->fd, buf, n, (off_t)(sec->offset + pos));
}

/* The numbers that are looked for in the bytes, behind a filter of their low 16 bits. */
struct unit_numbers {
	struct u64map map;
	uint8_t filter[65536];
	size_t n;
};

static bool numbers_add(struct unit_numbers *set, uint32_t number)
{
	set->filter[number & 0xffff] = 1;
	set->n++;
	return u64map_put(&set->map, (uint64_t)number + 1, set);
}

static bool numbers_have(const struct unit_numbers *set, uint32_t number)
{
	return set->filter[number & 0xffff] && u64map_get(&set->map, (uint64_t)number + 1);
}

static void numbers_free(struct unit_numbers **set)
{
	if (*set)
		u64map_deinit(&(*set)->map);
	free(*set);
}

/*
 * Where the name that is looked for may stand in a string: a name is a whole
 * string, or is followed by a template's or a generic's arguments.
 */
struct needle {
	char *literal; /* what all matching names begin with */
	size_t n;
	const char *pattern; /* of the whole name; NULL: the literal is */
};

static bool needle_ends(const struct needle *needle, const char *s)
{
	if (needle->pattern)
		return glob_match(needle->pattern, s);
	char next = s[needle->n];
	return !next || next == '<';
}

typedef struct error *found_fn(void *ctx, uint64_t pos);

#define PIECE	     0x40000
#define NAME_MAX_LEN 4096 /* a longer name is cut where pieces meet, and is then not found */

static struct error *strings_search(const struct unit_section *sec, const struct needle *needle,
				    bool whole_string, found_fn *fn, void *ctx)
{
	_cleanup_free_ uint8_t *buf = malloc(PIECE + 1);
	uint64_t pos = 0;
	ssize_t n;

	if (!buf)
		return error_nomem();
	while ((n = section_read(sec, pos, buf, PIECE)) > 0) {
		bool last = pos + (uint64_t)n >= sec->size;
		/* What begins in the last bytes is seen whole in the next piece. */
		size_t limit = last || n <= NAME_MAX_LEN ? (size_t)n : (size_t)n - NAME_MAX_LEN;
		const uint8_t *p = buf, *end = buf + n;

		buf[n] = 0;
		while ((p = memmem(p, (size_t)(end - p), needle->literal, needle->n))) {
			if ((size_t)(p - buf) >= limit)
				break;
			if (!whole_string || needle_ends(needle, (const char *)p))
				TRY(fn(ctx, pos + (uint64_t)(p - buf)));
			p++;
		}
		if (last)
			break;
		pos += limit;
	}
	return n < 0 ? error_errno(errno, "cannot read the debug information") : NULL;
}

static struct error *add_offset(void *ctx, uint64_t pos)
{
	if (pos > UINT32_MAX)
		return NULL; /* 64-bit DWARF: such units are walked anyway */
	return numbers_add(ctx, (uint32_t)pos) ? NULL : error_nomem();
}

struct marks {
	struct dwarf_image *image;
	uint8_t *units;
};

static struct error *mark_unit(void *ctx, uint64_t pos)
{
	struct marks *m = ctx;
	struct dwarf_unit *unit = unit_at(m->image, pos);

	if (unit)
		m->units[unit - m->image->units.v] = 1;
	return NULL;
}

/* Each place in a section where four bytes are one of the numbers. */
static struct error *numbers_search(const struct unit_section *sec, const struct unit_numbers *set,
				    size_t step, found_fn *fn, void *ctx)
{
	_cleanup_free_ uint8_t *buf = malloc(PIECE);
	uint64_t pos = 0;
	ssize_t n;

	if (!buf)
		return error_nomem();
	while ((n = section_read(sec, pos, buf, PIECE)) >= 4) {
		for (size_t i = 0; i + 4 <= (size_t)n; i += step) {
			uint32_t v;

			memcpy(&v, buf + i, 4);
			if (set->filter[v & 0xffff] && numbers_have(set, v))
				TRY(fn(ctx, pos + i));
		}
		if (pos + (uint64_t)n >= sec->size)
			break;
		pos += (uint64_t)n - (step == 1 ? 3 : 0);
	}
	return n < 0 ? error_errno(errno, "cannot read the debug information") : NULL;
}

/*
 * "ns::Class<int*>::method" is stored as "method": the last part of a path. "operator<" stays
 * whole, and so does what has no end.
 */
static const char *last_part(const char *name)
{
	const char *base = name;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		if (p == base && !strncmp(p, "operator", 8) && !isalnum((unsigned char)p[8]) &&
		    p[8] != '_' && p[8] != ':')
			break;
		depth += (*p == '<' || *p == '(') - (*p == '>' || *p == ')');
		if (!depth && p[0] == ':' && p[1] == ':')
			base = p + 2;
	}
	return base;
}

/* What all names that match begin with, "" when nothing is sure. */
static bool needle_make(const char *name, bool is_glob, struct needle *needle)
{
	const char *base = last_part(name);

	needle->pattern = NULL;
	needle->n = strlen(base);
	const char *generic = strchr(base, '<');
	if (is_glob && glob_is_pattern(base)) {
		needle->pattern = base;
		needle->n = strcspn(base, "*?[\\");
	}
	/* The arguments of a template are written in several ways. */
	if (generic && generic > base && strncmp(base, "operator", 8)) {
		needle->n = min_of(needle->n, (size_t)(generic - base));
		if (needle->n == (size_t)(generic - base))
			needle->pattern = NULL;
	}
	needle->literal = strndup(base, needle->n);
	return needle->literal;
}

struct slots {
	VEC(uint64_t) v;
};

static struct error *add_slot(void *ctx, uint64_t pos)
{
	struct slots *slots = ctx;
	uint64_t *slot = vec_push(&slots->v);

	if (!slot)
		return error_nomem();
	*slot = pos;
	return NULL;
}

/* Units that name strings by index: their part of .debug_str_offsets holds one that is wanted. */
static struct error *mark_by_index(struct marks *m, const struct unit_section *offsets,
				   const struct unit_numbers *set)
{
	struct slots slots = {0};
	struct error *err = numbers_search(offsets, set, 4, add_slot, &slots);

	for (size_t i = 0; !err && i < m->image->units.n && slots.v.n; i++) {
		Dwarf_Die *die = &m->image->units.v[i].die;
		Dwarf_Attribute attr;
		Dwarf_Word base;
		uint8_t header[8];
		uint32_t length;

		if (!dwarf_attr(die, DW_AT_str_offsets_base, &attr) ||
		    dwarf_formudata(&attr, &base) || base < 8 ||
		    section_read(offsets, base - 8, header, 8) != 8)
			continue;
		memcpy(&length, header, 4);
		uint64_t end = base - 4 + (uint64_t)length;
		for (size_t k = 0; k < slots.v.n; k++) {
			if (slots.v.v[k] >= base && slots.v.v[k] < end) {
				m->units[i] = 1;
				break;
			}
		}
	}
	vec_deinit(&slots.v);
	return err;
}

static bool image_has_section(struct dwarf_image *image, const char *name)
{
	struct unit_section sec;

	return section_open(image, name, -1, &sec);
}

struct error *units_with_name(struct dwarf_image *image, const char *name, bool is_glob,
			      uint8_t **out)
{
	_cleanup_(numbers_free) struct unit_numbers *set = NULL;
	struct needle needle = {0};
	struct unit_section info, str, offsets;

	TRY(image_need_units(image));
	_cleanup_free_ uint8_t *units = calloc(image->units.n + 1, 1);
	set = calloc(1, sizeof(*set));
	if (!units || !set || !needle_make(name, is_glob, &needle))
		return error_nomem();
	_cleanup_free_ char *literal = needle.literal;

	const int fd = image->debug_fd;
	/* Shared files (dwz) hold names of their own, to which units refer unseen. */
	if (!*literal || !section_open(image, ".debug_info", fd, &info) ||
	    image_has_section(image, ".gnu_debugaltlink")) {
		memset(units, 1, image->units.n);
		*out = steal_ptr(units);
		return NULL;
	}
	struct marks m = {image, units};
	if (section_open(image, ".debug_str", fd, &str)) {
		TRY(strings_search(&str, &needle, true, add_offset, set));
		if (set->n) {
			TRY(numbers_search(&info, set, 1, mark_unit, &m));
			if (section_open(image, ".debug_str_offsets", fd, &offsets))
				TRY(mark_by_index(&m, &offsets, set));
		}
	}
	TRY(strings_search(&info, &needle, true, mark_unit, &m));
	bool shared = false;
	for (size_t i = 0; i < image->units.n; i++) {
		Dwarf_Die *die = &image->units.v[i].die;
		const char *file = dwarf_diename(die);

		/* The names of split units stand in their own files, those of units that link-time
		 * optimization made in the units that they were made of. */
		if (dwarf_hasattr(die, DW_AT_dwo_name) || dwarf_hasattr(die, DW_AT_GNU_dwo_name) ||
		    (file && !strcmp(file, "<artificial>")))
			units[i] = 1;
		shared = shared || (units[i] && dwarf_tag(die) == DW_TAG_partial_unit);
	}
	/* Who imports a partial unit refers to its names unseen. */
	if (shared)
		memset(units, 1, image->units.n);
	*out = steal_ptr(units);
	return NULL;
}

/* ---- By source file ---- */

/* A line table, and a unit of it. */
struct table {
	uint64_t start;
	size_t unit;
};

struct tables {
	VEC(struct table) v; /* by start */
	uint8_t *units;
};

static int table_cmp(const void *a, const void *b)
{
	const struct table *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* All units of the table that holds a byte of .debug_line. */
static struct error *mark_table(void *ctx, uint64_t pos)
{
	struct tables *t = ctx;
	const size_t low = count_before(t->v.n, i, t->v.v[i].start <= pos);
	for (size_t i = low; i-- && t->v.v[i].start == t->v.v[low - 1].start;)
		t->units[t->v.v[i].unit] = 1;
	return NULL;
}

/* A table may name the string from any byte on before the file's name: its folder. */
struct suffixes {
	struct unit_numbers *set;
	const struct unit_section *strings;
};

static struct error *add_suffixes(void *ctx, uint64_t pos)
{
	struct suffixes *s = ctx;
	uint8_t before[512];
	size_t n = (size_t)min_of(pos, (uint64_t)sizeof(before));

	if (pos > UINT32_MAX || section_read(s->strings, pos - n, before, n) != (ssize_t)n)
		return NULL;
	for (size_t i = 0;; i++) {
		if (!numbers_add(s->set, (uint32_t)(pos - i)))
			return error_nomem();
		if (i == n || !before[n - i - 1])
			return NULL;
	}
}

static struct error *tables_of(struct dwarf_image *image, struct tables *t)
{
	for (size_t i = 0; i < image->units.n; i++) {
		Dwarf_Attribute attr;
		Dwarf_Word start;

		if (!dwarf_attr(&image->units.v[i].die, DW_AT_stmt_list, &attr) ||
		    dwarf_formudata(&attr, &start))
			continue;
		struct table *table = vec_push(&t->v);
		if (!table)
			return error_nomem();
		*table = (struct table){start, i};
	}
	if (t->v.n)
		qsort(t->v.v, t->v.n, sizeof(*t->v.v), table_cmp);
	return NULL;
}

static struct error *search_tables(struct dwarf_image *image, const struct needle *needle,
				   struct tables *t)
{
	static const char *const strings[] = {".debug_line_str", ".debug_str"};
	_cleanup_(numbers_free) struct unit_numbers *set = calloc(1, sizeof(*set));
	struct unit_section lines, str;

	if (!set)
		return error_nomem();
	const int fd = image->debug_fd;
	if (!section_open(image, ".debug_line", fd, &lines))
		return NULL;
	TRY(tables_of(image, t));
	TRY(strings_search(&lines, needle, true, mark_table, t));
	for (size_t i = 0; i < ARRAY_SIZE(strings); i++) {
		struct suffixes s = {set, &str};

		if (section_open(image, strings[i], fd, &str))
			TRY(strings_search(&str, needle, true, add_suffixes, &s));
	}
	return set->n ? numbers_search(&lines, set, 1, mark_table, t) : NULL;
}

struct error *units_with_file(struct dwarf_image *image, const char *file, uint8_t **out)
{
	const char *slash = strrchr(file, '/');
	struct needle needle = {.literal = (char *)(slash ? slash + 1 : file)};

	TRY(image_need_units(image));
	_cleanup_free_ uint8_t *units = calloc(image->units.n + 1, 1);
	struct tables t = {.units = units};
	struct error *err = NULL;

	if (!units)
		return error_nomem();
	needle.n = strlen(needle.literal);
	if (needle.n)
		err = search_tables(image, &needle, &t);
	else
		memset(units, 1, image->units.n);
	vec_deinit(&t.v);
	if (err)
		return err;
	*out = steal_ptr(units);
	return NULL;
}
