// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/recorded_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/sys/open_file.h"
#include "sym/kcore.h"

struct recorded_kernel {
	bool force;
	char *kcore, *kallsyms, *modules;
	struct kcore *image; /* NULL: there is none */
};

/*
 * Nothing that could wait is opened, nothing that a link leads to, and nothing of other users, who
 * could put something else there before it is opened again.
 */
static struct error *find_file(const struct recorded_kernel *kernel, const char *dir,
			       const char *name, char **path)
{
	const struct open_regular_opts opts = {.no_link = true, .owned = !kernel->force};
	_cleanup_free_ char *text = text_format("%s/%s", dir, name);
	_cleanup_close_ int fd = -1;

	if (!text)
		return error_nomem();
	struct error *err = open_regular(text, &opts, &fd);
	if (err)
		return err->code == EPERM && opts.owned
			       ? error_hint(err, "-f reads it if you trust its owner")
			       : err;
	*path = steal_ptr(text);
	return NULL;
}

static struct error *open_image(struct recorded_kernel *kernel, const char *dir)
{
	TRY(find_file(kernel, dir, "kcore", &kernel->kcore));
	TRY(find_file(kernel, dir, "modules", &kernel->modules));
	return kcore_open(&(struct kcore_opts){kernel->kcore, kernel->kallsyms, kernel->modules},
			  &kernel->image);
}

struct error *recorded_kernel_new(const char *dir, bool force, struct recorded_kernel **out)
{
	_cleanup_(recorded_kernel_freep) struct recorded_kernel *kernel =
		calloc(1, sizeof(*kernel));

	if (!kernel)
		return error_nomem();
	kernel->force = force;
	TRY(find_file(kernel, dir, "kallsyms", &kernel->kallsyms));
	struct error *err = open_image(kernel, dir);
	if (err && err->code != ENOENT)
		return err;
	error_free(err); /* names alone, as perf */
	*out = steal_ptr(kernel);
	return NULL;
}

void recorded_kernel_free(struct recorded_kernel *kernel)
{
	if (!kernel)
		return;
	kcore_free(kernel->image);
	free(kernel->kcore);
	free(kernel->kallsyms);
	free(kernel->modules);
	free(kernel);
}

static struct error *read_code(void *ctx, uint64_t address, uint64_t size, struct strbuf *out)
{
	return kcore_read(((struct recorded_kernel *)ctx)->image, address, size, out);
}

void recorded_kernel_use(struct recorded_kernel *kernel, struct resolver_opts *opts)
{
	opts->kallsyms = kernel->kallsyms;
	opts->code_is_recorded = kernel->image;
	opts->kernel_code = kernel->image ? read_code : NULL;
	opts->kernel_code_ctx = kernel;
}
