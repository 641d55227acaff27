/* SPDX-License-Identifier: BSD-2-Clause */
/* ELF files with USDT notes, made by hand. */
#ifndef PB_TESTS_UNIT_USDT_IMAGE_H
#define PB_TESTS_UNIT_USDT_IMAGE_H

#include <elf.h>

#include "lib/base/util.h"
#include "tests/unit/image.h"

struct probe {
	const char *provider, *name, *args;
	uint64_t location, base, semaphore;
};

static inline void put_note(struct image *im, const struct probe *p)
{
	const size_t start = im->sb.len;

	image_u32(im, 8);
	image_u32(im, 0);
	image_u32(im, 3);
	strbuf_add(&im->sb, "stapsdt", 8);
	const size_t desc = im->sb.len;
	image_u64(im, p->location);
	image_u64(im, p->base);
	image_u64(im, p->semaphore);
	strbuf_add(&im->sb, p->provider, strlen(p->provider) + 1);
	strbuf_add(&im->sb, p->name, strlen(p->name) + 1);
	strbuf_add(&im->sb, p->args, strlen(p->args) + 1);
	const uint32_t size = (uint32_t)(im->sb.len - desc);
	const uint32_t stored = im->swap ? bswap_32(size) : size;
	memcpy(im->sb.str + start + 4, &stored, 4);
	image_zeros(im, -im->sb.len & 3);
}

static inline void put_section(struct image *im, uint32_t name, uint32_t type, uint64_t addr,
			       uint64_t off, uint64_t size)
{
	image_u32(im, name);
	image_u32(im, type);
	image_u64(im, 0);
	image_u64(im, addr);
	image_u64(im, off);
	image_u64(im, size);
	image_u64(im, 0);
	image_u64(im, 4);
	image_u64(im, 0);
}

enum {
	CODE = 0x401000, /* addresses of the segments; they lie at 0x1000 and 0x2000 */
	DATA = 0x603000,
	NOTES_AT = 0x100, /* in the file */
};

static inline void put_segment(struct image *im, uint32_t flags, uint64_t off, uint64_t addr)
{
	image_u32(im, PT_LOAD);
	image_u32(im, flags);
	image_u64(im, off);
	image_u64(im, addr);
	image_u64(im, addr);
	image_u64(im, 0x1000);
	image_u64(im, 0x1000);
	image_u64(im, 0x1000);
}

/*
 * A 64-bit ELF file with two segments, .note.stapsdt of these bytes, and
 * .stapsdt.base at an address.
 */
static inline void make_file(struct image *im, uint16_t elf_type, const void *notes, size_t size,
			     uint32_t type, uint64_t base)
{
	static const char names[] = "\0.note.stapsdt\0.stapsdt.base\0.shstrtab";
	const size_t names_at = NOTES_AT + round_up(size, 8);
	const size_t sections_at = round_up(names_at + sizeof(names), 8);
	const uint8_t order =
		im->swap == (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ? ELFDATA2MSB : ELFDATA2LSB;

	strbuf_add(&im->sb, ELFMAG, SELFMAG);
	image_u8(im, ELFCLASS64);
	image_u8(im, order);
	image_u8(im, EV_CURRENT);
	image_zeros(im, 9);
	image_u16(im, elf_type);
	image_u16(im, EM_X86_64);
	image_u32(im, EV_CURRENT);
	image_u64(im, 0);
	image_u64(im, 64);
	image_u64(im, sections_at);
	image_u32(im, 0);
	image_u16(im, 64);
	image_u16(im, 56);
	image_u16(im, 2);
	image_u16(im, 64);
	image_u16(im, 4);
	image_u16(im, 3);
	put_segment(im, PF_R | PF_X, 0x1000, CODE);
	put_segment(im, PF_R | PF_W, 0x2000, DATA);
	image_zeros(im, NOTES_AT - im->sb.len);
	strbuf_add(&im->sb, notes, size);
	image_zeros(im, names_at - im->sb.len);
	strbuf_add(&im->sb, names, sizeof(names));
	image_zeros(im, sections_at - im->sb.len);
	put_section(im, 0, SHT_NULL, 0, 0, 0);
	put_section(im, 1, type, 0, NOTES_AT, size);
	put_section(im, 15, SHT_NOBITS, base, NOTES_AT, base ? 1 : 0);
	put_section(im, 29, SHT_STRTAB, 0, names_at, sizeof(names));
}

#endif
