// SPDX-License-Identifier: BSD-2-Clause
/*
 * jit-PID.dump as any user may write it for root to read. Functions do not overlap, and have their
 * code; each is in the table of symbols.
 */
#include "sym/internal.h"
#include "sym/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct jitdump *dump, const uint8_t *data, size_t size)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	struct jit_function function;
	const char *file;
	uint32_t line;

	struct error *err = jitdump_symtab(dump, &st);
	if (err || !symtab_size(st))
		__builtin_trap();
	for (size_t i = 0; i < symtab_size(st); i++) {
		const struct symbol *sym = symtab_at(st, i);

		if (i && symtab_at(st, i - 1)->end > sym->start)
			__builtin_trap();
		if (!jitdump_function(dump, sym->end - 1, &function) ||
		    function.start != sym->start || function.size != sym->end - sym->start)
			__builtin_trap();
		if (function.code < data || function.size > size - (size_t)(function.code - data))
			__builtin_trap();
		if (jitdump_line(dump, sym->start, &file, &line) &&
		    ((const uint8_t *)file < data || (const uint8_t *)file >= data + size))
			__builtin_trap();
		jitdump_line(dump, sym->end, &file, &line);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(jitdump_freep) struct jitdump *dump = NULL;
	struct error *err = jitdump_parse(data, size, 0, &dump);

	if (!err)
		check(dump, data, size);
	else if (dump || (err->code != EBADMSG && err->code != ENODATA))
		__builtin_trap();
	error_free(err);
	return 0;
}
