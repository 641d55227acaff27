// SPDX-License-Identifier: BSD-2-Clause
/* Symbol tables from hostile bytes: an ELF image, kallsyms, notes; then look-ups in them. */
#include "sym/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_around(struct symtab *st)
{
	for (size_t i = 0; i < symtab_size(st) && i < 1000; i++) {
		const struct symbol *sym = symtab_at(st, i);

		if (!symtab_find(st, sym->start))
			__builtin_trap();
		symtab_find(st, sym->end);
		symtab_offset_to_addr(st, sym->start);
	}
	symtab_free(st);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sym_opts opts = {.sz = sizeof(opts), .demangle = true};
	uint8_t id[20];

	if (size < 1)
		return 0;
	opts.space = (enum sym_space)(data[0] % 3);
	data++;
	size--;
	notes_find_build_id(data, size, opts.space == SYM_ADDRESS, id);
	if (size >= 4 && !memcmp(data, ELFMAG, 4)) {
		struct symtab *st = NULL;
		struct error *err = symtab_load_elf_mem(data, size, &opts, &st);

		if (err)
			error_free(err);
		else
			look_around(st);
		return 0;
	}
	_cleanup_(kallsyms_freep) struct kallsyms *k = NULL;
	struct error *err = kallsyms_parse((const char *)data, size, "fuzz", &k);
	if (err) {
		error_free(err);
		return 0;
	}
	for (int i = 0; i < 2; i++) {
		struct symtab *st = NULL;

		err = kallsyms_symtab(k, i ? "m" : NULL, size, &st);
		if (err)
			error_free(err);
		else
			look_around(st);
	}
	return 0;
}
