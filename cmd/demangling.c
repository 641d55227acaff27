// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/demangling.h"

#include "cmd/privileges.h"

static struct error *confine_demangler(void *ctx)
{
	return privileges_of_demangler(ctx);
}

struct error *demangling_begin(const struct log *log, struct demangler **out)
{
	const struct demangler_opts opts = {
		.confine = confine_demangler,
		.ctx = (void *)log,
		.log = log,
	};

	return demangler_new(&opts, out);
}
