// SPDX-License-Identifier: BSD-2-Clause
/*
 * Prologues of any fetch programs, valid or not: what is built would pass the
 * verifier, and fetches what the program says. See tests/unit/prologue_case.h.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/prologue_case.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct prologue_case *c = calloc(1, sizeof(*c));
	bool built;

	if (!c)
		return 0;
	c->at = data;
	c->end = data + size;
	if (!case_run(c, &built)) {
		fprintf(stderr, "%s\n", c->why);
		abort();
	}
	prologue_deinit(&c->built);
	free(c);
	return 0;
}
