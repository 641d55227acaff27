// SPDX-License-Identifier: BSD-2-Clause
/*
 * /tmp/perf-PID.map as any user may write it for root to read: the first two bytes say how much
 * memory its table may take, the rest is the file. A table that was made is in order, and within
 * its room.
 */
#include <stdio.h>
#include <string.h>

#include "sym/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	LAST_BLOCK = 128 << 10, /* of names, and the line that reached the limit */
};

static void check(struct symtab *st, size_t room)
{
	const size_t n = symtab_size(st);

	if (!n || symtab_memory(st) > room + LAST_BLOCK)
		__builtin_trap();
	for (size_t i = 0; i < n; i++) {
		const struct symbol *sym = symtab_at(st, i);

		if (!sym->name || !*sym->name || strchr(sym->name, '\n') || sym->end < sym->start)
			__builtin_trap();
		if (i && symtab_at(st, i - 1)->start > sym->start)
			__builtin_trap();
		if (!symtab_find(st, sym->start))
			__builtin_trap();
		symtab_find(st, sym->end);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(symtab_freep) struct symtab *st = NULL;
	_cleanup_fclose_ FILE *f = NULL;

	if (size < 3)
		return 0;
	const size_t room = (size_t)(data[0] | data[1] << 8) << 8;
	f = fmemopen((void *)(data + 2), size - 2, "r");
	if (!f)
		return 0;
	struct error *err = symtab_read_perf_map(f, room, &st);
	if (!err)
		check(st, room);
	else if (st || (err->code != EFBIG && err->code != ENODATA))
		__builtin_trap();
	error_free(err);
	return 0;
}
