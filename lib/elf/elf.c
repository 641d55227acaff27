// SPDX-License-Identifier: BSD-2-Clause
/*
 * ELF over libelf. libelf parses the ELF header and the section headers
 * (including the extended numbering of files with more than 65,279 sections);
 * the tables behind them are read here, straight from the file's bytes, so
 * that no section is copied and every access is checked against the file.
 *
 * What must never happen: a read beyond the file, whatever the headers say; a
 * name without its NUL; an allocation larger than the number of section
 * headers that the file has room for.
 */
#include "lib/elf/elf.h"

#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Files up to this are read, larger ones mapped. */
#define READ_MAX (1024 * 1024)

struct elf_file {
	char *name;
	const uint8_t *data;
	size_t size;
	void *owned; /* what data was read into; NULL: borrowed or mapped */
	bool mapped;
	Elf *elf;
	GElf_Ehdr header;
	bool is64;
	bool swap;
	struct elf_section *sections;
	size_t n_sections;
};

static struct error *libelf_error(const char *name)
{
	return error_at(error_new(EBADMSG, "malformed ELF file: %s", elf_errmsg(-1)), "%s", name);
}

/* The bytes [off, off + len) of the file; NULL: not all within it. */
static const void *file_bytes(const struct elf_file *file, uint64_t off, uint64_t len)
{
	if (off > file->size || len > file->size - off)
		return NULL;
	return file->data + off;
}

/* A string of a string table section, "" when it is not one. */
static const char *string_at(const struct elf_section *strtab, uint64_t off)
{
	if (!strtab || !strtab->data || off >= strtab->size)
		return "";
	const char *s = (const char *)strtab->data + off;
	return memchr(s, 0, strtab->size - off) ? s : "";
}

static struct error *section_read(struct elf_file *file, size_t index)
{
	struct elf_section *sec = &file->sections[index];
	GElf_Shdr h;

	if (!gelf_getshdr(elf_getscn(file->elf, index), &h))
		return libelf_error(file->name);
	*sec = (struct elf_section){
		.name = "",
		.index = (uint32_t)index,
		.type = h.sh_type,
		.link = h.sh_link,
		.info = h.sh_info,
		.flags = h.sh_flags,
		.addr = h.sh_addr,
		.offset = h.sh_offset,
		.size = h.sh_size,
		.entsize = h.sh_entsize,
	};
	if (h.sh_type == SHT_NULL || h.sh_type == SHT_NOBITS)
		return NULL;
	sec->data = file_bytes(file, h.sh_offset, h.sh_size);
	if (!sec->data)
		return error_at(error_new(EBADMSG,
					  "section %zu: 0x%" PRIx64 " bytes at offset 0x%" PRIx64
					  " reach beyond the file's %zu bytes",
					  index, sec->size, sec->offset, file->size),
				"%s", file->name);
	return NULL;
}

static struct error *sections_read(struct elf_file *file)
{
	size_t names_index;

	if (elf_getshdrnum(file->elf, &file->n_sections) ||
	    elf_getshdrstrndx(file->elf, &names_index))
		return libelf_error(file->name);
	/* No more than the file has room for, whatever it claims. */
	if (file->n_sections > file->size / sizeof(Elf32_Shdr))
		return error_at(error_new(EBADMSG, "%zu sections in %zu bytes", file->n_sections,
					  file->size),
				"%s", file->name);
	file->sections = calloc(file->n_sections ? file->n_sections : 1, sizeof(*file->sections));
	if (!file->sections)
		return error_nomem();
	for (size_t i = 0; i < file->n_sections; i++)
		TRY(section_read(file, i));
	if (names_index >= file->n_sections)
		return NULL;

	const struct elf_section *names = &file->sections[names_index];
	for (size_t i = 1; i < file->n_sections; i++) {
		GElf_Shdr h;

		if (!gelf_getshdr(elf_getscn(file->elf, i), &h))
			return libelf_error(file->name);
		file->sections[i].name = string_at(names, h.sh_name);
	}
	return NULL;
}

static struct error *file_parse(struct elf_file *file)
{
	if (elf_version(EV_CURRENT) == EV_NONE)
		return error_new(ENOTSUP, "libelf is too old");
	if (file->size < EI_NIDENT || memcmp(file->data, ELFMAG, SELFMAG))
		return error_at(error_new(ENOEXEC, "not an ELF file"), "%s", file->name);
	file->elf = elf_memory((char *)file->data, file->size);
	if (!file->elf)
		return libelf_error(file->name);
	if (elf_kind(file->elf) != ELF_K_ELF || !gelf_getehdr(file->elf, &file->header))
		return error_at(error_new(EBADMSG, "the ELF header is cut off or malformed"), "%s",
				file->name);

	const uint8_t order = file->header.e_ident[EI_DATA];
	file->is64 = file->header.e_ident[EI_CLASS] == ELFCLASS64;
	file->swap =
		order != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
	return sections_read(file);
}

/* All of fd, into memory of our own or mapped. */
static struct error *file_fill(struct elf_file *file, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_errno(errno, "cannot read");
	if (!S_ISREG(st.st_mode))
		return error_new(S_ISDIR(st.st_mode) ? EISDIR : EINVAL, "not a regular file");
	file->size = (size_t)st.st_size;
	if (file->size > READ_MAX) {
		void *map = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (map == MAP_FAILED)
			return error_errno(errno, "cannot map");
		file->data = map;
		file->mapped = true;
		return NULL;
	}
	file->owned = malloc(file->size + 1);
	if (!file->owned)
		return error_nomem();
	size_t got = 0;
	while (got < file->size) {
		ssize_t n = read(fd, (char *)file->owned + got, file->size - got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno(errno, "cannot read");
		if (!n)
			break;
		got += (size_t)n;
	}
	file->size = got;
	file->data = file->owned;
	return NULL;
}

struct error *elf_file_open(const char *path, struct elf_file **out)
{
	_cleanup_elf_ struct elf_file *file = calloc(1, sizeof(*file));

	if (!file || !(file->name = strdup(path)))
		return error_nomem();
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_at(error_errno(errno, "cannot open"), "%s", path);
	TRY(error_at(file_fill(file, fd), "%s", path));
	TRY(file_parse(file));
	*out = steal_ptr(file);
	return NULL;
}

struct error *elf_file_open_mem(const void *data, size_t size, const char *name,
				struct elf_file **out)
{
	_cleanup_elf_ struct elf_file *file = calloc(1, sizeof(*file));

	if (!file || !(file->name = strdup(name)))
		return error_nomem();
	file->data = data;
	file->size = size;
	TRY(file_parse(file));
	*out = steal_ptr(file);
	return NULL;
}

void elf_file_free(struct elf_file *file)
{
	if (!file)
		return;
	elf_end(file->elf);
	if (file->mapped)
		munmap((void *)file->data, file->size);
	free(file->owned);
	free(file->sections);
	free(file->name);
	free(file);
}

const char *elf_file_name(const struct elf_file *file)
{
	return file->name;
}

uint16_t elf_file_machine(const struct elf_file *file)
{
	return file->header.e_machine;
}

uint16_t elf_file_type(const struct elf_file *file)
{
	return file->header.e_type;
}

bool elf_file_is64(const struct elf_file *file)
{
	return file->is64;
}

bool elf_file_swapped(const struct elf_file *file)
{
	return file->swap;
}

size_t elf_section_count(const struct elf_file *file)
{
	return file->n_sections;
}

const struct elf_section *elf_section_at(const struct elf_file *file, size_t index)
{
	return index < file->n_sections ? &file->sections[index] : NULL;
}

const struct elf_section *elf_section_find(const struct elf_file *file, const char *name)
{
	for (size_t i = 1; i < file->n_sections; i++)
		if (!strcmp(file->sections[i].name, name))
			return &file->sections[i];
	return NULL;
}

const struct elf_section *elf_section_by_type(const struct elf_file *file, uint32_t type)
{
	for (size_t i = 1; i < file->n_sections; i++)
		if (file->sections[i].type == type)
			return &file->sections[i];
	return NULL;
}

struct cursor elf_section_cursor(const struct elf_file *file, const struct elf_section *sec)
{
	struct cursor c = cursor_make(sec->data, sec->data ? sec->size : 0, file->name);

	c.swap = file->swap;
	c.origin = sec->offset;
	return c;
}

struct error *elf_section_error(const struct elf_file *file, const struct elf_section *sec,
				uint64_t offset, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct error *err = error_vnew(EBADMSG, fmt, ap);
	va_end(ap);
	error_at(err, "offset 0x%" PRIx64, offset);
	error_at(err, "section %s", sec->name[0] ? sec->name : "without a name");
	return error_at(err, "%s", file->name);
}

static size_t symbol_size(const struct elf_file *file)
{
	return file->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
}

size_t elf_symbol_count(const struct elf_file *file, const struct elf_section *symtab)
{
	return symtab->data ? symtab->size / symbol_size(file) : 0;
}

struct error *elf_symbol_at(const struct elf_file *file, const struct elf_section *symtab,
			    size_t index, struct elf_symbol *sym)
{
	struct cursor c = elf_section_cursor(file, symtab);
	uint8_t info = 0, other = 0;
	uint16_t section = 0;
	uint32_t name = 0;

	if (index >= elf_symbol_count(file, symtab))
		return elf_section_error(file, symtab, symtab->size, "there is no symbol %zu",
					 index);
	cursor_seek(&c, index * symbol_size(file));
	/* The bounds were checked: none of these reads fails. */
	if (file->is64) {
		cursor_u32(&c, &name);
		cursor_u8(&c, &info);
		cursor_u8(&c, &other);
		cursor_u16(&c, &section);
		cursor_u64(&c, &sym->value);
		cursor_u64(&c, &sym->size);
	} else {
		uint32_t value = 0, size = 0;

		cursor_u32(&c, &name);
		cursor_u32(&c, &value);
		cursor_u32(&c, &size);
		cursor_u8(&c, &info);
		cursor_u8(&c, &other);
		cursor_u16(&c, &section);
		sym->value = value;
		sym->size = size;
	}
	sym->section = section;
	sym->bind = ELF64_ST_BIND(info);
	sym->type = ELF64_ST_TYPE(info);
	sym->visibility = ELF64_ST_VISIBILITY(other);
	sym->name = string_at(elf_section_at(file, symtab->link), name);
	return NULL;
}

static size_t reloc_size(const struct elf_file *file, const struct elf_section *rel)
{
	if (file->is64)
		return rel->type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
	return rel->type == SHT_RELA ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
}

size_t elf_reloc_count(const struct elf_file *file, const struct elf_section *rel)
{
	return rel->data ? rel->size / reloc_size(file, rel) : 0;
}

struct error *elf_reloc_at(const struct elf_file *file, const struct elf_section *rel, size_t index,
			   struct elf_reloc *reloc)
{
	struct cursor c = elf_section_cursor(file, rel);

	if (index >= elf_reloc_count(file, rel))
		return elf_section_error(file, rel, rel->size, "there is no relocation %zu", index);
	cursor_seek(&c, index * reloc_size(file, rel));
	reloc->addend = 0;
	if (file->is64) {
		uint64_t info = 0, addend;

		cursor_u64(&c, &reloc->offset);
		cursor_u64(&c, &info);
		reloc->symbol = (uint32_t)ELF64_R_SYM(info);
		reloc->type = (uint32_t)ELF64_R_TYPE(info);
		if (rel->type == SHT_RELA && cursor_u64(&c, &addend))
			reloc->addend = (int64_t)addend;
	} else {
		uint32_t offset = 0, info = 0, addend;

		cursor_u32(&c, &offset);
		cursor_u32(&c, &info);
		reloc->offset = offset;
		reloc->symbol = ELF32_R_SYM(info);
		reloc->type = ELF32_R_TYPE(info);
		if (rel->type == SHT_RELA && cursor_u32(&c, &addend))
			reloc->addend = (int32_t)addend;
	}
	return NULL;
}

bool elf_file_offset(const struct elf_file *file, uint64_t addr, uint64_t *offset)
{
	size_t n;

	if (elf_getphdrnum(file->elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr h;

		if (!gelf_getphdr(file->elf, (int)i, &h) || h.p_type != PT_LOAD)
			continue;
		if (addr < h.p_vaddr || addr - h.p_vaddr >= h.p_memsz)
			continue;
		*offset = h.p_offset + (addr - h.p_vaddr);
		return true;
	}
	return false;
}
