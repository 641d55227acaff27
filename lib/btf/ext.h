/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The content of an object's .BTF.ext section: for each code section, which
 * function starts at an instruction (func_info), which source line it comes
 * from (line_info), and which instructions CO-RE adjusts (core_relo). Layout:
 * Documentation/bpf/btf.rst and llvm_reloc.rst of the kernel.
 *
 * Records come out sorted by insn_off, in the host's byte order. Newer
 * compilers may append fields: a record is rec_size bytes, of which these
 * structs are the beginning.
 */
#ifndef PB_BTF_EXT_H
#define PB_BTF_EXT_H

#include <stdint.h>

#include "lib/btf/open.h"

enum btf_ext_kind {
	BTF_EXT_FUNC,
	BTF_EXT_LINE,
	BTF_EXT_CORE,
	BTF_EXT_KINDS,
};

/* insn_off is in bytes from the start of the code section in all three. */
struct btf_func_info {
	uint32_t insn_off;
	uint32_t type_id; /* a FUNC */
};

struct btf_line_info {
	uint32_t insn_off;
	uint32_t file_name_off;
	uint32_t line_off; /* the text of the source line */
	uint32_t line_col; /* line << 10 | column */
};

#define BTF_LINE_NUMBER(line_col) ((line_col) >> 10)
#define BTF_LINE_COLUMN(line_col) ((line_col)&0x3ff)

/* The kinds of enum core_relo_kind in lib/core/core.h. */
struct btf_core_relo {
	uint32_t insn_off;
	uint32_t type_id;
	uint32_t access_str_off; /* "0:1:2" */
	uint32_t kind;
};

/* The records of one code section. */
struct btf_ext_section {
	uint32_t sec_name_off; /* the code section's name in the BTF's strings */
	uint32_t n;
	uint32_t rec_size; /* bytes, a multiple of 4, at least the struct's */
	const void *recs;
};

/* Parses a copy of the bytes; name is for errors. */
struct error *btf_ext_open(const void *data, size_t size, const char *name, struct btf_ext **out);
/* The same, of bytes that outlive it. */
struct error *btf_ext_open_borrowed(const void *data, size_t size, const char *name,
				    struct btf_ext **out);

/* Its bytes become copies that btf_ext_map() may change. */
struct error *btf_ext_make_writable(struct btf_ext *ext);

/* Replaces all type ids and all offsets of strings. Either function may be NULL: they stay. */
void btf_ext_map(struct btf_ext *ext, uint32_t (*id)(void *ctx, uint32_t id),
		 uint32_t (*str)(void *ctx, uint32_t off), void *ctx);

/* All sections of a kind; *n becomes their number. */
const struct btf_ext_section *btf_ext_sections(const struct btf_ext *ext, enum btf_ext_kind kind,
					       size_t *n);

/* The section of that name; NULL: none. btf gives the names. */
const struct btf_ext_section *btf_ext_find(const struct btf_ext *ext, enum btf_ext_kind kind,
					   const struct btf *btf, const char *sec_name);

/* The i-th record, i < sec->n. */
static inline const void *btf_ext_rec(const struct btf_ext_section *sec, uint32_t i)
{
	return (const char *)sec->recs + (size_t)i * sec->rec_size;
}

/* The number of the first record whose insn_off is at least that; sec->n: none. */
uint32_t btf_ext_lower_bound(const struct btf_ext_section *sec, uint32_t insn_off);

#endif
