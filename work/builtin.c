// SPDX-License-Identifier: BSD-2-Clause
#include "work/builtin.h"

#include <bpf/libbpf.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "lib/object/object.h"

bool builtin_is_name(const char *word)
{
	size_t n = strlen(word);

	return !strchr(word, '/') &&
	       (n < 2 || (strcmp(word + n - 2, ".c") != 0 && strcmp(word + n - 2, ".o") != 0));
}

struct error *builtin_find(const char *name, const struct builtin **out)
{
	struct nearest near = nearest_make(name);

	for (const struct builtin *b = builtins; b->name; b++) {
		if (!strcmp(b->name, name)) {
			*out = b;
			return NULL;
		}
		nearest_offer(&near, b->name);
	}
	struct error *err = error_new(ENOENT, "unknown built-in program '%s'", name);
	if (access(name, F_OK) == 0)
		return error_hint(err, "to use the file of this name, write './%s'", name);
	return error_hint(error_suggest(err, &near),
			  "'perf-bpf run --list' lists the programs; files end in .c or .o, or are "
			  "given with their directory");
}

struct error *builtin_open(const char *name, const struct log *log, struct bpf_object **obj)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .object_name = name};
	const struct builtin *builtin;

	TRY(builtin_find(name, &builtin));
	if (!builtin->object)
		return error_hint(error_new(ENOTSUP,
					    "this perf-bpf was built without clang and has only "
					    "the source of %s",
					    builtin->name),
				  "perf-bpf run --source %s >%s.bpf.c; perf-bpf run %s.bpf.c",
				  builtin->name, builtin->name, builtin->name);
	return object_open_mem_of(builtin->object, builtin->object_size, builtin->name, &opts, log,
				  obj);
}
