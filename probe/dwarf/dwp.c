// SPDX-License-Identifier: BSD-2-Clause
/*
 * A .dwp holds the split units of a program, the parts of all .dwo files one
 * behind the other, section by section. .debug_cu_index tells which part is
 * which unit's: a hash table from the unit's id (the one in its skeleton) to a
 * row, and for each row an offset and a size in each of the sections (DWARF 5,
 * 7.3.5; of version 2 is what DWARF 4's tools wrote before).
 *
 *	version, columns N, units U, slots S
 *	S ids, S rows (from 1 on; 0: the slot is free)
 *	N section ids
 *	U x N offsets, U x N sizes
 *
 * libdw 0.188 knows .dwo files only. So a unit that is wanted is written as one:
 * its parts, and those strings of .debug_str.dwo that it names.
 */
#include "probe/dwarf/dwp.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/cleanup.h"
#include "lib/base/util.h"
#include "lib/sys/open_file.h"

#define COLUMNS_MAX 16

/* Which part a column is; DWP_PARTS: one that is not needed. */
static enum dwp_part part_of(unsigned int version, uint32_t column)
{
	switch (column) {
	case 1:
		return DWP_INFO;
	case 3:
		return DWP_ABBREV;
	case 4:
		return DWP_LINE;
	case 5:
		return DWP_LOC;
	case 6:
		return DWP_STR_OFFSETS;
	case 8:
		return version == 5 ? DWP_RNGLISTS : DWP_PARTS; /* .debug_macro.dwo */
	default:
		return DWP_PARTS;
	}
}

struct error *dwp_index_find(struct cursor c, uint64_t id, struct dwp_unit *unit, bool *found)
{
	uint32_t version, columns, units, slots, row = 0, ids[COLUMNS_MAX];

	*found = false;
	*unit = (struct dwp_unit){0};
	if (!cursor_u32(&c, &version) || !cursor_u32(&c, &columns) || !cursor_u32(&c, &units) ||
	    !cursor_u32(&c, &slots))
		return cursor_error(&c, "the header is truncated");
	/* In version 5 two bytes, and two for later use. */
	unit->version = version & 0xffff;
	if (unit->version != 2 && unit->version != 5)
		return cursor_error(&c, "version %u is not supported", unit->version);
	if (columns > COLUMNS_MAX || slots & (slots - 1) || units > slots)
		return cursor_error(&c, "%u columns, %u units in %u slots", columns, units, slots);
	const size_t table = c.pos;
	const uint64_t rows = table + slots * 8ull, head = rows + slots * 4ull,
		       offsets = head + columns * 4ull,
		       sizes = offsets + (uint64_t)units * columns * 4;
	/* The id's low bits are the slot, its high ones the step to the next. */
	uint64_t slot = slots ? id & (slots - 1) : 0;
	const uint64_t step = slots ? ((id >> 32) & (slots - 1)) | 1 : 0;
	for (uint32_t tries = 0; tries < slots; tries++) {
		uint64_t own;

		if (!cursor_seek(&c, table + slot * 8) || !cursor_u64(&c, &own) ||
		    !cursor_seek(&c, rows + slot * 4) || !cursor_u32(&c, &row))
			return cursor_error(&c, "the table is truncated");
		if (!row || own == id)
			break;
		row = 0;
		slot = (slot + step) & (slots - 1);
	}
	if (!row)
		return NULL;
	if (row > units)
		return cursor_error(&c, "row %u of %u", row, units);
	if (!cursor_seek(&c, head))
		return cursor_error(&c, "the table is truncated");
	for (uint32_t i = 0; i < columns; i++)
		if (!cursor_u32(&c, &ids[i]))
			return cursor_error(&c, "the columns are truncated");
	for (uint32_t i = 0; i < columns; i++) {
		const uint64_t cell = ((uint64_t)(row - 1) * columns + i) * 4;
		const enum dwp_part part = part_of(unit->version, ids[i]);
		uint32_t offset, size;

		if (!cursor_seek(&c, offsets + cell) || !cursor_u32(&c, &offset) ||
		    !cursor_seek(&c, sizes + cell) || !cursor_u32(&c, &size))
			return cursor_error(&c, "the rows are truncated");
		if (part != DWP_PARTS) {
			unit->part[part].offset = offset;
			unit->part[part].size = size;
		}
	}
	*found = true;
	return NULL;
}

struct error *dwp_strings(struct cursor c, const struct cursor *strings, unsigned int version,
			  struct strbuf *table, struct strbuf *text)
{
	uint32_t word;

	/* Length, version and padding: they stay. */
	if (version == 5) {
		const uint8_t *header = cursor_bytes(&c, 8);

		if (!header)
			return cursor_error(&c, "the header is truncated");
		if (!memcmp(header, "\xff\xff\xff\xff", 4))
			return cursor_error(&c, "64-bit DWARF");
		strbuf_add(table, header, 8);
	}
	while (cursor_u32(&c, &word)) {
		struct cursor at = *strings;
		const char *s = cursor_seek(&at, word) ? cursor_cstr(&at) : NULL;
		const uint32_t to = (uint32_t)text->len;

		if (!s)
			return cursor_error(&c, "offset %#x is outside of the strings", word);
		/* Several units' strings, each once: never more than there is. */
		if (text->len + strlen(s) >= INT32_MAX)
			return cursor_error(&c, "the strings are too long");
		strbuf_add(table, &to, sizeof(to));
		strbuf_add(text, s, strlen(s) + 1);
	}
	return strbuf_failed(table) || strbuf_failed(text) ? error_nomem() : NULL;
}

/* ---- The file ---- */

struct dwp_section {
	const char *name;
	struct cursor bytes;
};

enum { STR = DWP_PARTS, INDEX, LOCLISTS, SECTIONS };

static const char *const names[SECTIONS] = {
	[DWP_INFO] = ".debug_info.dwo",
	[DWP_ABBREV] = ".debug_abbrev.dwo",
	[DWP_LINE] = ".debug_line.dwo",
	[DWP_LOC] = ".debug_loc.dwo",
	[DWP_STR_OFFSETS] = ".debug_str_offsets.dwo",
	[DWP_RNGLISTS] = ".debug_rnglists.dwo",
	[STR] = ".debug_str.dwo",
	[INDEX] = ".debug_cu_index",
	[LOCLISTS] = ".debug_loclists.dwo",
};

struct dwp {
	char *path;
	int fd;
	Elf *elf;
	uint16_t machine;
	struct cursor sections[SECTIONS]; /* size 0: there is none */
};

void dwp_free(struct dwp *dwp)
{
	if (!dwp)
		return;
	elf_end(dwp->elf);
	if (dwp->fd >= 0)
		close(dwp->fd);
	free(dwp->path);
	free(dwp);
}

const char *dwp_path(const struct dwp *dwp)
{
	return dwp->path;
}

static struct error *read_sections(struct dwp *dwp)
{
	Elf_Scn *scn = NULL;
	size_t shstrndx;
	GElf_Ehdr ehdr;
	GElf_Shdr shdr;

	elf_version(EV_CURRENT);
	dwp->elf = elf_begin(dwp->fd, ELF_C_READ_MMAP, NULL);
	if (!dwp->elf || elf_kind(dwp->elf) != ELF_K_ELF || !gelf_getehdr(dwp->elf, &ehdr) ||
	    ehdr.e_ident[EI_CLASS] != ELFCLASS64 || ehdr.e_ident[EI_DATA] != ELFDATA2LSB ||
	    elf_getshdrstrndx(dwp->elf, &shstrndx))
		return error_new(EBADMSG, "not a valid ELF file of a 64-bit little-endian machine");
	dwp->machine = ehdr.e_machine;
	while ((scn = elf_nextscn(dwp->elf, scn))) {
		const char *name = gelf_getshdr(scn, &shdr)
					   ? elf_strptr(dwp->elf, shstrndx, shdr.sh_name)
					   : NULL;

		for (size_t i = 0; name && i < SECTIONS; i++) {
			if (strcmp(name, names[i]))
				continue;
			if (shdr.sh_flags & SHF_COMPRESSED && elf_compress(scn, 0, 0) < 0)
				return error_new(EBADMSG, "cannot decompress %s", name);
			Elf_Data *data = elf_getdata(scn, NULL);
			if (!data || (data->d_size && !data->d_buf))
				return error_new(EBADMSG, "cannot read %s", name);
			dwp->sections[i] = cursor_make(data->d_buf, data->d_size, names[i]);
		}
	}
	return cursor_left(&dwp->sections[INDEX])
		       ? NULL
		       : error_new(EBADMSG, "it has no section .debug_cu_index, so it is not a "
					    "package of split units");
}

uid_t dwp_owner(const struct dwp *dwp)
{
	struct stat st;

	return fstat(dwp->fd, &st) ? 0 : st.st_uid;
}

struct error *dwp_open(const char *path, struct dwp **out)
{
	_cleanup_(dwp_freep) struct dwp *dwp = calloc(1, sizeof(*dwp));

	if (!dwp)
		return error_nomem();
	dwp->fd = -1;
	dwp->path = strdup(path);
	if (!dwp->path)
		return error_nomem();
	TRY(open_regular(path, NULL, &dwp->fd));
	struct error *err = read_sections(dwp);
	if (err)
		return error_at(err, "%s", path);
	*out = steal_ptr(dwp);
	return NULL;
}

/* ---- A unit of its own ---- */

static bool add_section(Elf *elf, struct strbuf *shstrtab, const char *name, const void *bytes,
			size_t size, uint32_t type)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = scn ? elf_newdata(scn) : NULL;
	GElf_Shdr shdr;

	if (!data || !gelf_getshdr(scn, &shdr))
		return false;
	data->d_buf = (void *)bytes;
	data->d_size = size;
	data->d_align = 1;
	data->d_version = EV_CURRENT;
	shdr.sh_name = (uint32_t)shstrtab->len;
	shdr.sh_type = type;
	shdr.sh_flags = type == SHT_PROGBITS ? SHF_EXCLUDE : 0;
	strbuf_add(shstrtab, name, strlen(name) + 1);
	return gelf_update_shdr(scn, &shdr);
}

static struct error *write_elf(struct dwp *dwp, const struct dwp_unit *unit, int fd)
{
	_cleanup_strbuf_ struct strbuf shstrtab = STRBUF_INIT, table = STRBUF_INIT,
				       text = STRBUF_INIT;
	struct cursor parts[DWP_PARTS];

	for (size_t i = 0; i < DWP_PARTS; i++) {
		const size_t from = i == DWP_LOC && unit->version == 5 ? LOCLISTS : i;
		if (!cursor_sub(&dwp->sections[from], unit->part[i].offset, unit->part[i].size,
				&parts[i]) &&
		    unit->part[i].size)
			return error_new(EBADMSG, "a part of a unit is outside of %s", names[from]);
		if (!unit->part[i].size)
			parts[i] = cursor_make(NULL, 0, names[from]);
	}
	TRY(dwp_strings(parts[DWP_STR_OFFSETS], &dwp->sections[STR], unit->version, &table, &text));
	Elf *elf = elf_begin(fd, ELF_C_WRITE, NULL);
	GElf_Ehdr ehdr;
	bool ok = elf && gelf_newehdr(elf, ELFCLASS64) && gelf_getehdr(elf, &ehdr);
	strbuf_addch(&shstrtab, 0);
	for (size_t i = 0; ok && i < DWP_PARTS; i++) {
		const size_t from = i == DWP_LOC && unit->version == 5 ? LOCLISTS : i;

		if (i != DWP_STR_OFFSETS && unit->part[i].size)
			ok = add_section(elf, &shstrtab, names[from], parts[i].base, parts[i].size,
					 SHT_PROGBITS);
	}
	ok = ok &&
	     add_section(elf, &shstrtab, names[DWP_STR_OFFSETS], table.str, table.len,
			 SHT_PROGBITS) &&
	     add_section(elf, &shstrtab, names[STR], text.str, text.len, SHT_PROGBITS);
	static const char own[] = ".shstrtab";
	if (ok) {
		/* Its own name is the last one in it. */
		strbuf_add(&shstrtab, own, sizeof(own));
		struct strbuf ignored = STRBUF_INIT;
		ok = !strbuf_failed(&shstrtab) &&
		     add_section(elf, &ignored, own, shstrtab.str, shstrtab.len, SHT_STRTAB);
		strbuf_deinit(&ignored);
	}
	if (ok) {
		Elf_Scn *scn = NULL, *last = NULL;
		GElf_Shdr shdr;

		while ((scn = elf_nextscn(elf, scn)))
			last = scn;
		ok = gelf_getshdr(last, &shdr);
		shdr.sh_name = (uint32_t)(shstrtab.len - sizeof(own));
		ok = ok && gelf_update_shdr(last, &shdr);
		ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
		ehdr.e_type = ET_REL;
		ehdr.e_machine = dwp->machine;
		ehdr.e_version = EV_CURRENT;
		ehdr.e_shstrndx = (uint16_t)elf_ndxscn(last);
		ok = ok && gelf_update_ehdr(elf, &ehdr) && elf_update(elf, ELF_C_WRITE) >= 0;
	}
	struct error *err = ok ? NULL : error_new(EIO, "cannot write a unit: %s", elf_errmsg(-1));
	elf_end(elf);
	return err;
}

struct error *dwp_write_unit(struct dwp *dwp, uint64_t id, unsigned int version, const char *path,
			     bool *found)
{
	struct dwp_unit unit;
	struct error *err = dwp_index_find(dwp->sections[INDEX], id, &unit, found);

	*found = *found && (unit.version == 5) == (version >= 5);
	if (!err && *found) {
		_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		err = fd < 0 ? error_at(error_errno(errno, "cannot be written"), "%s", path)
			     : write_elf(dwp, &unit, fd);
	}
	return error_at(err, "%s", dwp->path);
}
