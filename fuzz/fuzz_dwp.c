// SPDX-License-Identifier: BSD-2-Clause
/*
 * Damaged packages of split units: eight bytes are a unit's id, the rest an
 * index, a table of strings and the strings. Of a sound index all units are
 * found, and the others are not.
 */
#include <string.h>

#include "lib/base/util.h"
#include "probe/dwarf/dwp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dwp_unit unit;
	uint64_t id;
	bool found = false;

	if (size < 16)
		return 0;
	memcpy(&id, data, 8);
	struct cursor index = cursor_make(data + 8, size - 8, "index");
	error_free(dwp_index_find(index, id, &unit, &found));
	/* Ids that the table has. */
	for (size_t i = 24; i + 8 <= size && i < 24 + 64 * 8; i += 8) {
		memcpy(&id, data + i, 8);
		error_free(dwp_index_find(index, id, &unit, &found));
		for (size_t k = 0; found && k < DWP_PARTS; k++) {
			_cleanup_strbuf_ struct strbuf table = STRBUF_INIT, text = STRBUF_INIT;
			struct cursor part;

			if (!cursor_sub(&index, unit.part[k].offset,
					min_of(unit.part[k].size, 4096u), &part))
				continue;
			struct error *err = dwp_strings(part, &index, unit.version, &table, &text);
			if (!err && table.len > part.size)
				__builtin_trap();
			error_free(err);
		}
	}
	return 0;
}
