/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of a function in the file of a kernel module (.ko). It was not linked: addresses are
 * those in its section, and what the kernel fills in when it loads the module is named by
 * relocations.
 */
#ifndef PB_PERF_RESOLVE_MODULE_CODE_H
#define PB_PERF_RESOLVE_MODULE_CODE_H

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "sym/sym.h"

struct module_code {
	struct module_image image; /* owned */
	const struct elf_section *symtab;
	/* Of the last function that was found: */
	const struct elf_section *section;
	uint64_t address; /* in the section */
	const uint8_t *bytes;
	size_t size;
	VEC(struct elf_reloc) relocs; /* in it, by offset */
};

/* Sections whose bytes are wanted, to open an image with. */
bool module_code_wants(const struct elf_file *file, const struct elf_section *sec);

/* Takes the image. EBADMSG: it has no table of symbols. */
struct error *module_code_init(struct module_code *code, struct module_image *image);
void module_code_deinit(struct module_code *code);

/*
 * Finds a function. offset: from the start of the module in memory, which is that of .text; it
 * tells functions of one name apart. ENODATA: there is none, or several that it may be.
 */
struct error *module_code_find(struct module_code *code, const char *name, uint64_t offset);

/*
 * Adds "<NAME+0x10>": what the instruction at an offset in the function refers to by a relocation.
 * false: it has none.
 */
bool module_code_add_reference(const struct module_code *code, size_t offset, size_t size,
			       struct strbuf *out);
/* The same of an address in the function's section; false: no function is there. */
bool module_code_add_name(const struct module_code *code, uint64_t address, struct strbuf *out);

#endif
