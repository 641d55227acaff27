// SPDX-License-Identifier: BSD-2-Clause
/*
 * ELF files that are made here, in both classes and both byte orders: opened
 * as a whole, from memory, and by parts. What is read must be the same, and
 * what is cut off or beyond the file must be refused.
 */
#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/elf/elf_read.h"

#define GAP (64 * 1024)

enum { NONE, TEXT, DEBUG, DATA, BSS, STRTAB, SYMTAB, REL, COUNT };

static const char names[] = "\0.text\0.debug_info\0.data\0.bss\0.strtab\0.symtab\0.rel.text\0f\0x";

struct image {
	uint8_t bytes[3 * GAP];
	size_t size;
	size_t sections; /* where the section headers stand */
	bool is64;
	bool big;
};

static uint32_t name_of(const char *name)
{
	for (size_t i = 0; i < sizeof(names); i += strlen(names + i) + 1)
		if (!strcmp(names + i, name))
			return (uint32_t)i;
	fail_msg("no name %s", name);
	return 0;
}

static void put(struct image *image, size_t at, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size; i++)
		image->bytes[at + (image->big ? size - 1 - i : i)] = (uint8_t)(value >> 8 * i);
	if (at + size > image->size)
		image->size = at + size;
}

/* Fields of these sizes one after the other, wide ones as wide as the class has them. */
static size_t put_fields(struct image *image, size_t at, const char *sizes, ...)
{
	va_list ap;

	va_start(ap, sizes);
	for (; *sizes; sizes++) {
		const size_t size = *sizes == 'w' ? (image->is64 ? 8 : 4) : (size_t)(*sizes - '0');

		put(image, at, va_arg(ap, uint64_t), size);
		at += size;
	}
	va_end(ap);
	return at;
}

#define U(x) ((uint64_t)(x))

static void put_section(struct image *image, int index, const char *name, uint32_t type,
			uint64_t offset, uint64_t size, uint32_t link, uint32_t info)
{
	const size_t at = image->sections + (size_t)index * (image->is64 ? 64 : 40);

	put_fields(image, at, "44wwww44ww", U(name_of(name)), U(type), U(SHF_ALLOC), U(0x1000),
		   U(offset), U(size), U(link), U(info), U(8), U(0));
}

/* The tables stand at the end, .debug_info is far larger than the rest. */
static struct image *image_new(bool is64, bool big)
{
	struct image *image = calloc(1, sizeof(*image));
	const size_t sym = is64 ? 24 : 16, rel = is64 ? 16 : 8;
	size_t at;

	assert_non_null(image);
	image->is64 = is64;
	image->big = big;
	memcpy(image->bytes, ELFMAG, SELFMAG);
	image->bytes[EI_CLASS] = is64 ? ELFCLASS64 : ELFCLASS32;
	image->bytes[EI_DATA] = big ? ELFDATA2MSB : ELFDATA2LSB;
	image->bytes[EI_VERSION] = EV_CURRENT;
	memset(image->bytes + 0x100, 0x11, 0x40);	  /* .text */
	memset(image->bytes + 0x1000, 0x22, 2 * GAP);	  /* .debug_info */
	memset(image->bytes + 2 * GAP + 0x2003, 0x33, 5); /* .data, unaligned */
	memcpy(image->bytes + 2 * GAP + 0x3000, names, sizeof(names));
	at = 2 * GAP + 0x4000 + sym;
	if (is64)
		put_fields(image, at, "411288", U(name_of("f")),
			   U(ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)), U(STV_HIDDEN), U(TEXT), U(8),
			   U(0x38));
	else
		put_fields(image, at, "444112", U(name_of("f")), U(8), U(0x38),
			   U(ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)), U(STV_HIDDEN), U(TEXT));
	put_fields(image, 2 * GAP + 0x4100, "ww", U(0x10),
		   is64 ? ELF64_R_INFO(1, 10) : U(ELF32_R_INFO(1, 10)));
	image->sections = 2 * GAP + 0x5000;
	image->size = image->sections + COUNT * (is64 ? 64 : 40);
	put_section(image, TEXT, ".text", SHT_PROGBITS, 0x100, 0x40, 0, 0);
	put_section(image, DEBUG, ".debug_info", SHT_PROGBITS, 0x1000, 2 * GAP, 0, 0);
	put_section(image, DATA, ".data", SHT_PROGBITS, 2 * GAP + 0x2003, 5, 0, 0);
	put_section(image, BSS, ".bss", SHT_NOBITS, 1u << 30, 1u << 30, 0, 0);
	put_section(image, STRTAB, ".strtab", SHT_STRTAB, 2 * GAP + 0x3000, sizeof(names), 0, 0);
	put_section(image, SYMTAB, ".symtab", SHT_SYMTAB, 2 * GAP + 0x4000, 2 * sym, STRTAB, 1);
	put_section(image, REL, ".rel.text", SHT_REL, 2 * GAP + 0x4100, rel, SYMTAB, TEXT);
	put_fields(image, EI_NIDENT, "224www4222222", U(ET_REL), U(EM_BPF), U(EV_CURRENT), U(0),
		   U(0), U(image->sections), U(0), U(is64 ? 64 : 52), U(is64 ? 56 : 32), U(0),
		   U(is64 ? 64 : 40), U(COUNT), U(STRTAB));
	return image;
}

static char path[] = "/tmp/pb-elf-XXXXXX";

static void write_file(const struct image *image, size_t size)
{
	const int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, image->bytes, size), size);
	close(fd);
}

static bool no_debug(const struct elf_file *file, const struct elf_section *sec)
{
	return strncmp(sec->name, ".debug", 6);
}

static void check(const struct elf_file *file, const struct image *image, bool with_debug)
{
	struct elf_symbol sym;
	struct elf_reloc reloc;

	assert_int_equal(pb_elf_file_is64(file), image->is64);
	assert_int_equal(pb_elf_file_swapped(file), image->big == (BYTE_ORDER == LITTLE_ENDIAN));
	assert_int_equal(pb_elf_file_machine(file), EM_BPF);
	assert_int_equal(pb_elf_file_type(file), ET_REL);
	assert_int_equal(pb_elf_section_count(file), COUNT);
	for (int i = 1; i < COUNT; i++) {
		const struct elf_section *sec = pb_elf_section_at(file, i);

		assert_int_equal(sec->index, i);
		assert_int_equal(sec->flags, SHF_ALLOC);
		assert_int_equal(sec->addr, 0x1000);
		if (i == BSS || (i == DEBUG && !with_debug)) {
			assert_null(sec->data);
			continue;
		}
		assert_memory_equal(sec->data, image->bytes + sec->offset, sec->size);
		/* What is aligned in the file is in memory: BTF and code are used in place. */
		if (sec->offset % 8 == 0)
			assert_int_equal((uintptr_t)sec->data % 8, 0);
	}
	assert_string_equal(pb_elf_section_at(file, DEBUG)->name, ".debug_info");
	assert_int_equal(pb_elf_section_at(file, DEBUG)->size, 2 * GAP);
	assert_ptr_equal(pb_elf_section_find(file, ".data"), pb_elf_section_at(file, DATA));
	assert_null(pb_elf_section_find(file, ".dat"));

	const struct elf_section *symtab = pb_elf_section_by_type(file, SHT_SYMTAB);
	assert_int_equal(pb_elf_symbol_count(file, symtab), 2);
	assert_null(pb_elf_symbol_at(file, symtab, 1, &sym));
	assert_string_equal(sym.name, "f");
	assert_int_equal(sym.value, 8);
	assert_int_equal(sym.size, 0x38);
	assert_int_equal(sym.section, TEXT);
	assert_int_equal(sym.bind, STB_GLOBAL);
	assert_int_equal(sym.type, STT_FUNC);
	assert_int_equal(sym.visibility, STV_HIDDEN);
	const struct elf_section *rel = pb_elf_section_at(file, REL);
	assert_int_equal(pb_elf_reloc_count(file, rel), 1);
	assert_null(pb_elf_reloc_at(file, rel, 0, &reloc));
	assert_int_equal(reloc.offset, 0x10);
	assert_int_equal(reloc.symbol, 1);
	assert_int_equal(reloc.type, 10);
	assert_int_equal(reloc.addend, 0);
}

static void reads_the_same_in_every_way(void **state)
{
	for (int kind = 0; kind < 4; kind++) {
		struct image *image = image_new(kind & 1, kind & 2);
		struct elf_file *file = NULL;

		assert_null(pb_elf_file_open_mem(image->bytes, image->size, "memory", &file));
		check(file, image, true);
		assert_false(pb_elf_section_may_write(file, pb_elf_section_at(file, DATA)));
		pb_elf_file_free(file);
		write_file(image, image->size);
		assert_null(pb_elf_file_open(path, &file));
		check(file, image, true);
		pb_elf_file_free(file);
		assert_null(pb_elf_file_open_parts(path, no_debug, &file));
		check(file, image, false);
		assert_true(pb_elf_section_may_write(file, pb_elf_section_at(file, DATA)));
		pb_elf_file_free(file);
		free(image);
	}
}

/* Sections may share bytes: then nobody may change them. */
static void shared_bytes_are_not_written(void **state)
{
	struct image *image = image_new(true, false);
	struct elf_file *file = NULL;

	put_section(image, DATA, ".data", SHT_PROGBITS, 0x130, 0x20, 0, 0);
	write_file(image, image->size);
	assert_null(pb_elf_file_open_parts(path, no_debug, &file));
	assert_false(pb_elf_section_may_write(file, pb_elf_section_at(file, DATA)));
	assert_false(pb_elf_section_may_write(file, pb_elf_section_at(file, TEXT)));
	assert_true(pb_elf_section_may_write(file, pb_elf_section_at(file, SYMTAB)));
	assert_memory_equal(pb_elf_section_at(file, DATA)->data, image->bytes + 0x130, 0x20);
	pb_elf_file_free(file);
	free(image);
}

static void refuse(const char *what, bool parts)
{
	struct elf_file *file = NULL;
	struct error *err = parts ? pb_elf_file_open_parts(path, no_debug, &file)
				  : pb_elf_file_open(path, &file);

	assert_non_null(err);
	assert_null(file);
	if (!strstr(err->msg, what))
		fail_msg("'%s' is not in '%s'", what, err->msg);
	assert_non_null(strstr(err->where, path));
	error_free(err);
}

static void cut_off_files_are_refused(void **state)
{
	struct image *image = image_new(true, false);

	for (int parts = 0; parts < 2; parts++) {
		write_file(image, 3);
		refuse("not an ELF file", parts);
		write_file(image, 40);
		refuse("the ELF header is truncated", parts);
		write_file(image, 64);
		refuse("sections do not fit", parts);
		write_file(image, image->size - 1);
		refuse("sections do not fit", parts);
	}
	put_section(image, DATA, ".data", SHT_PROGBITS, image->size - 4, 5, 0, 0);
	write_file(image, image->size);
	refuse("section 3 (.data): 0x5 bytes at offset", true);
	put_section(image, DATA, ".data", SHT_PROGBITS, UINT64_MAX - 1, 5, 0, 0);
	write_file(image, image->size);
	refuse("section 3 (.data): 0x5 bytes at offset", true);
	refuse("section 3 (.data): 0x5 bytes at offset", false);
	/* the names' own section, too: nothing is read of it, an earlier one is told of */
	put_section(image, STRTAB, ".strtab", SHT_STRTAB, UINT64_MAX / 2, sizeof(names), 0, 0);
	write_file(image, image->size);
	refuse("section 3: 0x5 bytes at offset", true);
	refuse("section 3: 0x5 bytes at offset", false);
	put_section(image, DATA, ".data", SHT_PROGBITS, 0x100, 5, 0, 0);
	/* a string table without an end gives no names */
	put_section(image, STRTAB, ".strtab", SHT_STRTAB, 0x101, 3, 0, 0);
	write_file(image, image->size);
	struct elf_file *file = NULL;
	assert_null(pb_elf_file_open_parts(path, no_debug, &file));
	assert_string_equal(pb_elf_section_at(file, TEXT)->name, "");
	pb_elf_file_free(file);
	free(image);
}

/* Many sections: their number and the names' index stand in section 0. */
static void large_numbers_are_in_section_0(void **state)
{
	for (int parts = 0; parts < 2; parts++) {
		struct image *image = image_new(true, parts);
		struct elf_file *file = NULL;

		put(image, 60, 0, 2);			     /* e_shnum */
		put(image, 62, SHN_XINDEX, 2);		     /* e_shstrndx */
		put(image, image->sections + 32, COUNT, 8);  /* sh_size */
		put(image, image->sections + 40, STRTAB, 4); /* sh_link */
		write_file(image, image->size);
		assert_null(pb_elf_file_open_parts(path, no_debug, &file));
		check(file, image, false);
		pb_elf_file_free(file);
		put(image, image->sections + 32, UINT32_MAX, 8);
		write_file(image, image->size);
		refuse("4294967295 sections do not fit", parts);
		free(image);
	}
}

static int setup(void **state)
{
	const int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int teardown(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_the_same_in_every_way),
		cmocka_unit_test(shared_bytes_are_not_written),
		cmocka_unit_test(cut_off_files_are_refused),
		cmocka_unit_test(large_numbers_are_in_section_0),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
