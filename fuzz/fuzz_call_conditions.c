// SPDX-License-Identifier: BSD-2-Clause
/*
 * Conditions of trace --where: any text is one, or an error of usage. What is made of it fits the
 * BPF program: each call's condition and each pattern exist.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "trace/call_body.h"
#include "trace/call_conditions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The condition of a body has the columns of the text, which it becomes. */
static void check_body(char **text)
{
	_cleanup_free_ char *names = NULL, *condition = NULL;
	struct error *err = call_body_read(*text, &names, &condition);

	if ((err && !err->usage) || (!err && strlen(condition) > strlen(*text)))
		__builtin_trap();
	if (!err) {
		free(*text);
		*text = steal_ptr(condition);
	}
	error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct trace_call selected[TRACE_ABIS * TRACE_NRS];
	static struct call_table *table;
	struct call_conditions conditions = {0};

	if (!table) {
		const struct call_table_opts opts = {.sz = sizeof(opts)};

		error_free(call_table_new(&opts, &table));
		for (int abi = 0; table && abi < TRACE_ABIS; abi++)
			for (uint32_t nr = 0; nr < TRACE_NRS; nr++) {
				const struct call *call =
					call_by_nr(table, (enum trace_abi)abi, nr);

				if (!call)
					continue;
				selected[abi * TRACE_NRS + nr] = call->copies;
				selected[abi * TRACE_NRS + nr].traced = 1;
			}
	}
	_cleanup_free_ char *text = strndup((const char *)data, size);
	_cleanup_free_ struct trace_call *calls = malloc(sizeof(selected));
	if (!table || !text || !calls)
		return 0;
	if (call_body_is(text))
		check_body(&text);
	memcpy(calls, selected, sizeof(selected));
	struct error *err = call_conditions_make(text, table, calls, &conditions);
	if (err && !err->usage)
		__builtin_trap();
	for (size_t i = 0; !err && i < TRACE_ABIS * TRACE_NRS; i++)
		if (calls[i].where > conditions.n_wheres)
			__builtin_trap();
	error_free(err);
	call_conditions_deinit(&conditions);
	return 0;
}
