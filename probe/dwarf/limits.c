// SPDX-License-Identifier: BSD-2-Clause
/*
 * What debug information may cost. libdw keeps a line table as rows of some hundred bytes, each of
 * which can come from one byte, and a compressed section can have a thousand times the bytes that
 * it has on disk: a file of 28 KB would take gigabytes. So the memory that a file can take is
 * linear in the bytes that it has on disk; holes do not count. The limits are far above what
 * compilers write: sections shrink to a quarter when they are compressed, and a row takes three
 * bytes.
 */
#include "probe/dwarf/internal.h"

#include <gelf.h>
#include <sys/stat.h>

#include "lib/base/cursor.h"
#include "lib/sys/open_file.h"

enum {
	MOST_EXPANSION = 16, /* of compressed sections, by the bytes on disk */
	LEAST_BYTES = 16 << 20,
	LEAST_ROWS = 1 << 20,
	MOST_ROWS_OF_OTHERS = 3 << 20, /* about 400 MB */
};

static uint64_t bytes_on_disk(const struct stat *st)
{
	return min_of((uint64_t)st->st_size, (uint64_t)st->st_blocks * 512);
}

/* The size that a section has when it is decompressed; 0: it is not compressed. */
static uint64_t expanded_size(Elf *elf, Elf_Scn *scn, const GElf_Shdr *shdr, size_t names)
{
	const char *name = elf_strptr(elf, names, shdr->sh_name);
	GElf_Chdr chdr;

	if (shdr->sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &chdr) ? chdr.ch_size : 0;
	if (!name || strncmp(name, ".zdebug", strlen(".zdebug")) != 0)
		return 0;
	/* "ZLIB" and the size, big-endian */
	Elf_Data *data = elf_rawdata(scn, NULL);
	uint64_t size;
	if (!data || data->d_size < 12)
		return 0;
	memcpy(&size, (const char *)data->d_buf + 4, sizeof(size));
	return be64toh(size);
}

struct error *debug_sections_fit(int fd)
{
	struct error *err = NULL;
	Elf_Scn *scn = NULL;
	uint64_t total = 0;
	GElf_Shdr shdr;
	size_t names;
	struct stat st;

	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || fstat(fd, &st) || elf_getshdrstrndx(elf, &names)) {
		elf_end(elf);
		return NULL; /* whoever reads it says what is wrong */
	}
	const uint64_t most = LEAST_BYTES + MOST_EXPANSION * bytes_on_disk(&st);
	while (!err && (scn = elf_nextscn(elf, scn))) {
		const uint64_t size =
			gelf_getshdr(scn, &shdr) ? expanded_size(elf, scn, &shdr, names) : 0;

		total += min_of(size, most + 1);
		if (total > most)
			err = error_new(EFBIG,
					"its compressed debug information would take more than "
					"%llu MB",
					(unsigned long long)most >> 20);
	}
	elf_end(elf);
	return err;
}

bool file_is_mostly_hole(int fd)
{
	struct stat st;

	return fstat(fd, &st) || bytes_on_disk(&st) < (uint64_t)st.st_size / 16;
}

/* ---- line tables ---- */

static bool skip_leb(struct cursor *c)
{
	uint8_t byte;

	do {
		if (!cursor_u8(c, &byte))
			return false;
	} while (byte & 0x80);
	return true;
}

/* An opcode that is followed by its length. */
static bool skip_extended(struct cursor *c, uint64_t *rows)
{
	uint64_t length = 0;
	uint8_t byte, opcode;

	for (unsigned shift = 0;; shift += 7) {
		if (shift > 56 || !cursor_u8(c, &byte))
			return false;
		length |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	if (!length)
		return true;
	if (!cursor_u8(c, &opcode) || length - 1 > cursor_left(c))
		return false;
	*rows += opcode == DW_LNE_end_sequence;
	return cursor_skip(c, (size_t)length - 1);
}

/* How many rows the opcodes make; of damaged ones those before the damage. */
static uint64_t count_rows(struct cursor *c, uint8_t opcode_base, const uint8_t *lengths,
			   uint64_t most)
{
	uint64_t rows = 0;
	uint8_t opcode;

	while (rows <= most && cursor_u8(c, &opcode)) {
		bool ok = true;

		if (opcode >= opcode_base || opcode == DW_LNS_copy)
			rows++;
		else if (!opcode)
			ok = skip_extended(c, &rows);
		else if (opcode == DW_LNS_fixed_advance_pc)
			ok = cursor_skip(c, 2);
		else
			for (uint8_t i = 0; ok && i < lengths[opcode - 1]; i++)
				ok = skip_leb(c);
		if (!ok)
			break;
	}
	return rows;
}

/* The header of a line table, DWARF 2 to 5, up to its opcodes. */
static bool read_head(struct cursor *c, struct cursor *program, uint8_t *opcode_base,
		      const uint8_t **lengths)
{
	uint64_t size = 0, head = 0;
	uint32_t word;
	uint16_t version;
	bool is_64 = false;

	if (!cursor_u32(c, &word))
		return false;
	size = word;
	if (word == 0xffffffff) {
		is_64 = true;
		if (!cursor_u64(c, &size))
			return false;
	}
	if (!cursor_take(c, min_of(size, (uint64_t)cursor_left(c)), program) ||
	    !cursor_u16(program, &version) || (version >= 5 && !cursor_skip(program, 2)))
		return false;
	if (is_64 ? !cursor_u64(program, &head) : !cursor_u32(program, &word))
		return false;
	head = (is_64 ? head : word) + (size_t)(program->pos);
	/* min_inst_length, max_ops, default_is_stmt, line_base, line_range */
	if (!cursor_skip(program, version >= 4 ? 5 : 4) || !cursor_u8(program, opcode_base) ||
	    !*opcode_base)
		return false;
	*lengths = cursor_bytes(program, *opcode_base - 1u);
	return *lengths && head <= SIZE_MAX && cursor_seek(program, (size_t)head);
}

static uint64_t most_rows(const struct dwarf_image *image)
{
	const uint64_t most = LEAST_ROWS + image->bytes_on_disk;

	return image->author ? min_of(most, (uint64_t)MOST_ROWS_OF_OTHERS) : most;
}

void image_count_file(struct dwarf_image *image, int fd)
{
	struct stat st;

	if (!fstat(fd, &st))
		image->bytes_on_disk += bytes_on_disk(&st);
}

static Elf_Data *line_section(Dwarf *dw)
{
	Elf *elf = dwarf_getelf(dw);
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &shdr) ? elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && (!strcmp(name, ".debug_line") || !strcmp(name, ".zdebug_line") ||
			     !strcmp(name, ".debug_line.dwo")))
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

/* Where the line table of a unit begins; that of a split unit is of its own file. */
static bool table_offset(Dwarf_Die *unit, Dwarf_Word *offset)
{
	Dwarf_Attribute attr;

	return dwarf_attr(unit, DW_AT_stmt_list, &attr) && !dwarf_formudata(&attr, offset);
}

struct error *lines_fit(struct dwarf_image *image, Dwarf_Die *unit)
{
	Dwarf *dw = dwarf_cu_getdwarf(unit->cu);
	Dwarf_Word offset;
	uint8_t opcode_base;
	const uint8_t *lengths;
	struct cursor program;

	if (!table_offset(unit, &offset))
		return NULL;
	const uint64_t key = hash_u64((uintptr_t)dw) ^ hash_u64(offset + 1);
	if (u64map_get(&image->counted_lines, key))
		return NULL;
	Elf_Data *data = line_section(dw);
	if (!data || !data->d_buf || offset >= data->d_size)
		return NULL;
	struct cursor c =
		cursor_make((const char *)data->d_buf + offset, data->d_size - offset, image->path);
	const uint64_t most = most_rows(image);
	if (read_head(&c, &program, &opcode_base, &lengths))
		image->n_rows += count_rows(&program, opcode_base, lengths, most);
	if (image->n_rows > most) {
		if (!image->rows_warned)
			log_warn(
				image->log,
				"%s: its line tables have more than %llu rows for %llu KB on disk; "
				"the rest is not used",
				image->debug_path ? image->debug_path : image->path,
				(unsigned long long)most,
				(unsigned long long)image->bytes_on_disk >> 10);
		image->rows_warned = true;
		return error_at(error_new(EFBIG, "its line tables are too large"), "%s",
				image->debug_path ? image->debug_path : image->path);
	}
	return u64map_put(&image->counted_lines, key, image) ? NULL : error_nomem();
}
