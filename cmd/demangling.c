// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/demangling.h"

#include "cmd/privileges.h"

static struct error *confine_demangler(void *ctx)
{
	return privileges_of_demangler(ctx);
}

static void serve(void *ctx, int socket)
{
	const struct demangler_opts opts = {.confine = confine_demangler, .ctx = ctx};

	demangler_serve(&opts, socket);
}

static bool ended(void *ctx, int socket, int status)
{
	return demangler_ended(socket, status);
}

struct error *demangling_begin(struct keeper *keeper, const struct log *log, struct demangler **out)
{
	const struct late_process process = {
		.name = "perf-bpf-names",
		.serve = serve,
		.ended = ended,
		.ctx = (void *)log,
		.keep = -1,
	};
	int socket;

	TRY(keeper_add(keeper, &process, &socket));
	struct error *err = demangler_new(socket, log, out);
	if (err)
		close(socket);
	return err;
}
