// SPDX-License-Identifier: BSD-2-Clause
/* How call chains are recorded, as --call-graph has it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perf/select/select.h"

static struct error *parse_stack_size(const char *text, uint32_t *size)
{
	char *end;

	errno = 0;
	const unsigned long long n = strtoull(text, &end, 0);
	if (errno || end == text || *end || text[0] == '-' || !n || n > SELECT_STACK_MAX)
		return error_hint(error_usage("--call-graph dwarf: invalid stack size '%s'", text),
				  "give a number of bytes from 1 to %d", SELECT_STACK_MAX);
	*size = (uint32_t)round_up(n, 8);
	return NULL;
}

struct error *select_callgraph_parse(const char *text, enum select_callgraph *mode,
				     uint32_t *stack_size)
{
	if (!text) {
		if (*mode == SELECT_CALLGRAPH_DEFAULT)
			*mode = SELECT_CALLGRAPH_FP;
		return NULL;
	}
	const size_t n = strcspn(text, ",");
	const char *size = text[n] ? text + n + 1 : "";

	if (n == 5 && !strncmp(text, "dwarf", n)) {
		uint32_t bytes = SELECT_STACK_DEFAULT;

		if (*size)
			TRY(parse_stack_size(size, &bytes));
		*mode = SELECT_CALLGRAPH_DWARF;
		*stack_size = bytes;
		return NULL;
	}
	if (n == 3 && !strncmp(text, "lbr", n) && !text[n]) {
		*mode = SELECT_CALLGRAPH_LBR;
		*stack_size = 0;
		return NULL;
	}
	if (n != 2 || strncmp(text, "fp", n) || text[n])
		return error_hint(error_usage("--call-graph: invalid mode '%s'", text),
				  "use fp, lbr or dwarf[,BYTES]");
	*mode = SELECT_CALLGRAPH_FP;
	*stack_size = 0;
	return NULL;
}
