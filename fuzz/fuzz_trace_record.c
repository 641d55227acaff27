// SPDX-License-Identifier: BSD-2-Clause
/*
 * The input's bytes as a record of trace. If the check lets it pass, all that it has is read as
 * its readers do, the size of each part taken from the record.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "trace/record_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void see(const struct trace_record *rec)
{
	const uint8_t *at = (const uint8_t *)&rec->args[rec->n_args];
	uint64_t sum = 0;

	for (unsigned i = 0; i < rec->n_args; i++)
		sum += rec->args[i];
	for (unsigned i = 0; i < rec->n_pieces; i++) {
		const struct trace_piece *piece = (const void *)at;

		for (unsigned k = 0; k < piece->len; k++)
			sum += piece->data[k];
		at += sizeof(*piece) + ((piece->len + 7u) & ~7u);
	}
	if (at != (const uint8_t *)rec + rec->size)
		__builtin_trap();
	/* so that nothing is optimized away */
	__asm__ volatile("" : : "r"(sum));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* aligned, and with nothing behind it */
	_cleanup_free_ uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	struct error *err = trace_record_check(copy, size);
	if (!err)
		see((const struct trace_record *)copy);
	error_free(err);
	return 0;
}
