// SPDX-License-Identifier: BSD-2-Clause
/*
 * The notes of USDT probes. <sys/sdt.h> makes of each mark a nop and a note in
 * the section .note.stapsdt, which no segment holds, so that it costs nothing
 * at run time (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation):
 *
 *	u32 name's size (8), u32 description's size, u32 type (3)
 *	"stapsdt\0", padded to 4 bytes
 *	address of the nop, of .stapsdt.base, of the semaphore (0: none)
 *	"provider\0name\0arguments\0", padded to 4 bytes
 *
 * An address has the size of the file's class. The linker writes them; prelink
 * moves a library's segments afterwards, but knows nothing of the notes. It
 * does move the one byte of the section .stapsdt.base, so that the difference
 * between where that is and where the note says it was is what the other two
 * addresses are to be moved by.
 *
 * Nothing here allocates, and a note never reaches beyond its section.
 */
#include "lib/attach/usdt.h"

#include <string.h>

#define NOTE_SECTION ".note.stapsdt"
#define BASE_SECTION ".stapsdt.base"
#define NOTE_NAME    "stapsdt"
#define NOTE_TYPE    3

struct error *usdt_notes_open(const struct elf_file *file, struct usdt_notes *notes)
{
	const struct elf_section *sec = pb_elf_section_find(file, NOTE_SECTION);
	const struct elf_section *base = pb_elf_section_find(file, BASE_SECTION);

	if (!sec)
		return error_hint(error_new(ENOENT, "%s has no USDT probes (no section %s)",
					    pb_elf_file_name(file), NOTE_SECTION),
				  "it was built without probes of <sys/sdt.h>; they may be in one "
				  "of its libraries: see 'ldd' and 'readelf -n'");
	if (sec->type != SHT_NOTE || !sec->data)
		return pb_elf_section_error(file, sec, 0, "the section has no notes");
	*notes = (struct usdt_notes){
		.file = file,
		.sec = sec,
		.c = pb_elf_section_cursor(file, sec),
		.base = base ? base->addr : 0,
	};
	return NULL;
}

/* Bytes to the next multiple of 4. The last note may do without. */
static void skip_padding(struct cursor *c)
{
	cursor_skip(c, min_of((size_t)(-c->pos & 3), cursor_left(c)));
}

static bool read_address(const struct usdt_notes *notes, struct cursor *c, uint64_t *addr)
{
	uint32_t word;

	if (pb_elf_file_is64(notes->file))
		return cursor_u64(c, addr);
	if (!cursor_u32(c, &word))
		return false;
	*addr = word;
	return true;
}

static struct error *read_probe(const struct usdt_notes *notes, uint64_t offset,
				struct cursor *desc, struct usdt_note *note)
{
	uint64_t location, base, semaphore;

	if (!read_address(notes, desc, &location) || !read_address(notes, desc, &base) ||
	    !read_address(notes, desc, &semaphore))
		return pb_elf_section_error(notes->file, notes->sec, offset,
					    "the addresses of a probe are truncated");
	const char *provider = cursor_cstr(desc);
	const char *name = cursor_cstr(desc);
	const char *args = cursor_cstr(desc);
	if (!provider || !name || !args)
		return pb_elf_section_error(notes->file, notes->sec, offset,
					    "the names of a probe are truncated");

	const uint64_t moved = notes->base && base ? notes->base - base : 0;
	*note = (struct usdt_note){
		.provider = provider,
		.name = name,
		.args = args,
		.location = location + moved,
		.semaphore = semaphore ? semaphore + moved : 0,
		.note_offset = offset,
	};
	return NULL;
}

struct error *usdt_notes_next(struct usdt_notes *notes, struct usdt_note *note, bool *more)
{
	struct cursor *c = &notes->c;

	while (!cursor_end(c)) {
		const uint64_t offset = c->pos;
		uint32_t name_size, desc_size, type;
		struct cursor name, desc;

		if (!cursor_u32(c, &name_size) || !cursor_u32(c, &desc_size) ||
		    !cursor_u32(c, &type) || !cursor_take(c, name_size, &name))
			return pb_elf_section_error(notes->file, notes->sec, offset,
						    "a note is truncated");
		skip_padding(c);
		if (!cursor_take(c, desc_size, &desc))
			return pb_elf_section_error(notes->file, notes->sec, offset,
						    "a note is truncated");
		skip_padding(c);
		if (type != NOTE_TYPE || name_size != sizeof(NOTE_NAME) ||
		    memcmp(name.base, NOTE_NAME, sizeof(NOTE_NAME)))
			continue;
		TRY(read_probe(notes, offset, &desc, note));
		*more = true;
		return NULL;
	}
	*more = false;
	return NULL;
}
