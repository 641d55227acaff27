// SPDX-License-Identifier: BSD-2-Clause
/*
 * How long an x86 instruction is, without its meaning: prefixes, an opcode of one of the maps, the
 * byte ModRM with what it asks for (SIB, displacement), and an immediate. Which opcodes have a
 * ModRM and which immediate they have is in the opcode maps of Intel's manual (volume 2, appendix
 * A). Capstone would know, too, but it is not always there, and older versions do not know newer
 * instructions, whose lengths follow the same rules.
 */
#include "disasm/disasm.h"

#define MAX_LENGTH 15

enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_OTHER };

struct decoder {
	struct cursor c;
	bool is_64_bit;
	bool has_66, has_67, rex_w;
	bool is_vex; /* or EVEX */
	enum map map;
	uint8_t opcode;
};

/* What follows an opcode. */
enum {
	IMM_8 = 1 << 0,
	IMM_16 = 1 << 1,
	IMM_Z = 1 << 2, /* 4 bytes, or 2 with the prefix 66 */
	IMM_V = 1 << 3, /* the same, or 8 with REX.W */
	IMM_A = 1 << 4, /* as wide as an address */
	REL = 1 << 5,	/* IMM_Z, but always 4 bytes in 64-bit code */
	MODRM = 1 << 6,
	TEST = 1 << 7, /* the immediate is only there for the first two of the group */
	BAD = 1 << 8,
};

static bool peek(const struct decoder *d, uint8_t *byte)
{
	struct cursor c = d->c;

	return cursor_u8(&c, byte);
}

/* Opcodes of one byte from 0x60 on, except where IMM says so for both kinds of code. */
static unsigned parts_of_one(const struct decoder *d)
{
	const uint8_t op = d->opcode;
	const unsigned only_32 = d->is_64_bit ? BAD : 0;

	if (op < 0x40) {
		static const uint8_t arithmetic[8] = {MODRM, MODRM, MODRM, MODRM, IMM_8, IMM_Z};

		return arithmetic[op & 7];
	}
	switch (op) {
	case 0x62: /* bound, where it is not EVEX */
	case 0xc4:
	case 0xc5:
		return MODRM | only_32;
	case 0x63:
	case 0x84 ... 0x8f:
	case 0xd0 ... 0xd3:
	case 0xd8 ... 0xdf:
	case 0xfe:
	case 0xff:
		return MODRM;
	case 0x68:
	case 0xa9:
		return IMM_Z;
	case 0x69:
	case 0x81:
	case 0xc7:
		return MODRM | IMM_Z;
	case 0x82:
		return MODRM | IMM_8 | only_32;
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xc0:
	case 0xc1:
	case 0xc6:
		return MODRM | IMM_8;
	case 0x6a:
	case 0x70 ... 0x7f:
	case 0xa8:
	case 0xb0 ... 0xb7:
	case 0xcd:
	case 0xe0 ... 0xe7:
	case 0xeb:
		return IMM_8;
	case 0xd4:
	case 0xd5:
		return IMM_8 | only_32;
	case 0x9a: /* far: a selector, too */
	case 0xea:
		return IMM_Z | IMM_16 | only_32;
	case 0xa0 ... 0xa3:
		return IMM_A;
	case 0xb8 ... 0xbf:
		return IMM_V;
	case 0xc2:
	case 0xca:
		return IMM_16;
	case 0xc8: /* enter */
		return IMM_16 | IMM_8;
	case 0xe8:
	case 0xe9:
		return REL;
	case 0xf6:
		return MODRM | IMM_8 | TEST;
	case 0xf7:
		return MODRM | IMM_Z | TEST;
	default:
		return 0;
	}
}

static unsigned parts_of_0f(const struct decoder *d)
{
	switch (d->opcode) {
	case 0x77: /* emms, vzeroupper */
		return 0;
	case 0x70 ... 0x73:
	case 0xc2:
	case 0xc4 ... 0xc6:
		return MODRM | IMM_8;
	}
	if (d->is_vex)
		return MODRM;
	switch (d->opcode) {
	case 0x04 ... 0x0c:
	case 0x0e:
	case 0x24 ... 0x27:
	case 0x30 ... 0x3f:
	case 0xa0 ... 0xa2:
	case 0xa8 ... 0xaa:
	case 0xc8 ... 0xcf:
		return 0;
	case 0x80 ... 0x8f:
		return REL;
	case 0x0f: /* 3DNow! has its opcode last */
	case 0xa4:
	case 0xac:
	case 0xba:
		return MODRM | IMM_8;
	default:
		return MODRM;
	}
}

static unsigned parts_of(const struct decoder *d)
{
	switch (d->map) {
	case MAP_ONE:
		return parts_of_one(d);
	case MAP_0F:
		return parts_of_0f(d);
	case MAP_0F3A:
		return MODRM | IMM_8;
	case MAP_0F38:
	case MAP_OTHER:
		break;
	}
	return MODRM;
}

/* C4, C5 and 62 are prefixes in 64-bit code, and where what follows cannot be a ModRM of memory. */
static bool take_vex(struct decoder *d, uint8_t first)
{
	static const enum map maps[8] = {MAP_OTHER, MAP_0F,    MAP_0F38,  MAP_0F3A,
					 MAP_OTHER, MAP_OTHER, MAP_OTHER, MAP_OTHER};
	uint8_t next;

	if ((first != 0xc4 && first != 0xc5 && first != 0x62) || !peek(d, &next))
		return false;
	if (!d->is_64_bit && next < 0xc0)
		return false;
	d->is_vex = true;
	d->map = first == 0xc5 ? MAP_0F : maps[next & (first == 0x62 ? 7 : 0x1f & 7)];
	return cursor_skip(&d->c, first == 0xc5	  ? 1
				  : first == 0xc4 ? 2
						  : 3) &&
	       cursor_u8(&d->c, &d->opcode);
}

static bool take_opcode(struct decoder *d)
{
	uint8_t byte;

	do {
		if (!cursor_u8(&d->c, &byte))
			return false;
		d->has_66 |= byte == 0x66;
		d->has_67 |= byte == 0x67;
	} while (byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
		 byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 ||
		 byte == 0x65);
	if (d->is_64_bit && (byte & 0xf0) == 0x40) {
		d->rex_w = byte & 8;
		if (!cursor_u8(&d->c, &byte))
			return false;
	}
	if (take_vex(d, byte))
		return true;
	if (d->is_vex)
		return false;
	if (byte == 0x0f) {
		d->map = MAP_0F;
		if (!cursor_u8(&d->c, &byte))
			return false;
		if (byte == 0x38 || byte == 0x3a) {
			d->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
			if (!cursor_u8(&d->c, &byte))
				return false;
		}
	}
	d->opcode = byte;
	return true;
}

/* ModRM with SIB and displacement. */
static bool take_modrm(struct decoder *d, uint8_t *modrm)
{
	const bool is_16_bit = !d->is_64_bit && d->has_67;
	uint8_t sib = 0;

	if (!cursor_u8(&d->c, modrm))
		return false;
	const unsigned mod = *modrm >> 6, rm = *modrm & 7;
	if (mod == 3)
		return true;
	if (is_16_bit)
		return cursor_skip(&d->c, mod ? mod : rm == 6 ? 2 : 0);
	if (rm == 4 && !cursor_u8(&d->c, &sib))
		return false;
	const bool is_absolute = mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5));
	return cursor_skip(&d->c, mod == 1 ? 1 : mod == 2 || is_absolute ? 4 : 0);
}

static size_t immediate_size(const struct decoder *d, unsigned parts)
{
	const size_t z = d->has_66 && !d->rex_w ? 2 : 4;
	size_t n = 0;

	n += parts & IMM_8 ? 1 : 0;
	n += parts & IMM_16 ? 2 : 0;
	n += parts & IMM_Z ? z : 0;
	n += parts & IMM_V ? (d->rex_w ? 8 : z) : 0;
	n += parts & REL ? (d->is_64_bit ? 4 : z) : 0;
	if (parts & IMM_A)
		n += (d->is_64_bit ? 8u : 4u) >> d->has_67;
	return n;
}

size_t disasm_x86_length(const uint8_t *code, size_t size, bool is_64_bit)
{
	struct decoder d = {
		.c = cursor_make(code, size < MAX_LENGTH ? size : MAX_LENGTH, "code"),
		.is_64_bit = is_64_bit,
	};
	uint8_t modrm = 0;

	if (!take_opcode(&d))
		return 0;
	unsigned parts = parts_of(&d);
	if (parts & BAD || (parts & MODRM && !take_modrm(&d, &modrm)))
		return 0;
	if (parts & TEST && (modrm >> 3 & 7) > 1)
		parts = 0;
	return cursor_skip(&d.c, immediate_size(&d, parts)) ? d.c.pos : 0;
}

bool disasm_x86_always_branches(const uint8_t *code, size_t size, bool is_64_bit)
{
	struct decoder d = {.c = cursor_make(code, size, "code"), .is_64_bit = is_64_bit};
	uint8_t modrm = 0;

	if (!disasm_x86_length(code, size, is_64_bit))
		return true;
	if (!take_opcode(&d) || d.is_vex)
		return false;
	if (d.map == MAP_0F)
		return d.opcode == 0x05 || d.opcode == 0x07 || d.opcode == 0x34 || d.opcode == 0x35;
	if (d.map != MAP_ONE)
		return false;
	switch (d.opcode) {
	case 0x9a:
	case 0xc2:
	case 0xc3:
	case 0xca ... 0xcf:
	case 0xe8 ... 0xeb:
		return true;
	case 0xff:
		return peek(&d, &modrm) && (modrm >> 3 & 7) >= 2 && (modrm >> 3 & 7) <= 5;
	}
	return false;
}
