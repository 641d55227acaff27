// SPDX-License-Identifier: BSD-2-Clause
/*
 * Debug information that several files share: dwz moves it to a file that .gnu_debugaltlink names.
 *
 * libdw opens that file by itself, whatever it is, as soon as something refers to it: a FIFO makes
 * it wait, and opening a device can have an effect. So it never gets there: each Dwarf that names
 * such a file gets one from us before, the right one or, if there is none, one that is empty.
 */
#include "probe/dwarf/internal.h"

#include <elfutils/libdwelf.h>
#include <unistd.h>

enum {
	SH_NONE,
	SH_LINE,
	SH_NAMES,
	SECTIONS,
};

static const char names[] = "\0.debug_line\0.shstrtab";

/* An ELF file with debug information in which nothing is found; libdw wants one section. */
struct empty_elf {
	Elf64_Ehdr head;
	Elf64_Shdr sections[SECTIONS];
	char names[sizeof(names)];
	char line[4];
};

struct alt_file {
	Elf *elf;
	Dwarf *dw;
	int fd;			  /* -1: it is empty */
	struct empty_elf content; /* of that one */
};

static void alt_file_free(struct alt_file *alt)
{
	if (!alt)
		return;
	dwarf_end(alt->dw);
	elf_end(alt->elf);
	closep(&alt->fd);
	free(alt);
}
DEFINE_FREEP(struct alt_file, alt_file_free)

static void make_empty(struct empty_elf *e)
{
	*e = (struct empty_elf){
		.head =
			{
				.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					    ELFDATA2LSB, EV_CURRENT},
				.e_type = ET_DYN,
				.e_machine = EM_X86_64,
				.e_version = EV_CURRENT,
				.e_shoff = offsetof(struct empty_elf, sections),
				.e_ehsize = sizeof(Elf64_Ehdr),
				.e_shentsize = sizeof(Elf64_Shdr),
				.e_shnum = SECTIONS,
				.e_shstrndx = SH_NAMES,
			},
		.sections =
			{
				[SH_LINE] =
					{
						.sh_name = 1,
						.sh_type = SHT_PROGBITS,
						.sh_offset = offsetof(struct empty_elf, line),
						.sh_size = sizeof(e->line),
						.sh_addralign = 1,
					},
				[SH_NAMES] =
					{
						.sh_name = 1 + sizeof(".debug_line"),
						.sh_type = SHT_STRTAB,
						.sh_offset = offsetof(struct empty_elf, names),
						.sh_size = sizeof(names),
						.sh_addralign = 1,
					},
			},
	};
	memcpy(e->names, names, sizeof(names));
}

static struct error *open_empty(struct alt_file *alt)
{
	make_empty(&alt->content);
	alt->fd = -1;
	alt->elf = elf_memory((char *)&alt->content, sizeof(alt->content));
	alt->dw = alt->elf ? dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL) : NULL;
	return alt->dw ? NULL : error_nomem();
}

/* fd becomes the file's. false: it has no debug information. */
static bool open_found(struct alt_file *alt, int fd)
{
	alt->fd = fd;
	alt->elf = elf_begin(fd, ELF_C_READ, NULL);
	alt->dw = alt->elf ? dwarf_begin_elf(alt->elf, DWARF_C_READ, NULL) : NULL;
	if (alt->dw)
		return true;
	elf_end(alt->elf);
	closep(&alt->fd);
	return false;
}

struct error *alt_set(struct dwarf_image *image, Dwarf *dw, const char *path)
{
	_cleanup_(alt_file_freep) struct alt_file *alt = NULL;
	_cleanup_free_ char *found = NULL;
	const char *name;
	const void *id;
	const ssize_t size = dwelf_dwarf_gnu_debugaltlink(dw, &name, &id);

	if (size <= 0) /* libdw does not look for one either */
		return NULL;
	alt = calloc(1, sizeof(*alt));
	if (!alt)
		return error_nomem();
	int fd = path ? image_find_alt(image, path, name, id, (size_t)size, &found) : -1;
	if (fd < 0 || !open_found(alt, fd))
		TRY(open_empty(alt));
	struct alt_file **slot = vec_push(&image->alts);
	if (!slot)
		return error_nomem();
	dwarf_setalt(dw, alt->dw);
	*slot = steal_ptr(alt);
	return NULL;
}

void alt_free(struct dwarf_image *image)
{
	struct alt_file **alt;

	vec_for_each (alt, &image->alts)
		alt_file_free(*alt);
	vec_deinit(&image->alts);
}
