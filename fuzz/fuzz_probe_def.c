// SPDX-License-Identifier: BSD-2-Clause
/* Probe definitions: any text is one, or an error that names a column. */
#include <stdlib.h>
#include <string.h>

#include "probe/def/def.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct probe_def *def)
{
	if ((!def->function && !def->file) || def->n_args > PROBE_MAX_ARGS)
		__builtin_trap();
	for (size_t i = 0; i < def->n_args; i++) {
		const struct probe_arg *arg = &def->args[i];

		if (!arg->name || !arg->name[0] || !arg->text ||
		    arg->at + strlen(arg->text) > strlen(def->text) ||
		    arg->n_steps > PROBE_MAX_STEPS || arg->bit_width + arg->bit_shift > arg->bits)
			__builtin_trap();
		for (const char *c = arg->name; *c; c++)
			if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_",
				    *c))
				__builtin_trap();
		for (size_t j = 0; j < i; j++)
			if (!strcmp(arg->name, def->args[j].name))
				__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_free_ char *text = malloc(size + 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	probe_def_is(text);
	struct error *err = probe_def_parse(text, &def);
	if (!err)
		check(&def);
	else if (def.text || (err->code == EINVAL && !strstr(err->msg, "column ")))
		__builtin_trap();
	error_free(err);
	return 0;
}
