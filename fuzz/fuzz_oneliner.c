// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs typed as text: any text becomes C or an error. The first byte says where the text ends
 * and an event's format file begins, which may be anything, too.
 */
#include <stdlib.h>
#include <string.h>

#include "oneliner/oneliner.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct error *match(void *ctx, const char *system, const char *name, struct names *found)
{
	(void)ctx;
	if (!*system || !*name)
		return error_new(ENOENT, "unknown tracepoint");
	return names_add(found, "sched:sched_switch") &&
			       (!glob_is_pattern(name) || names_add(found, "sched:second"))
		       ? NULL
		       : error_nomem();
}

static struct error *format(void *ctx, const char *system, const char *name, char **text,
			    size_t *size)
{
	(void)system;
	(void)name;
	*text = strdup(ctx);
	if (!*text)
		return error_nomem();
	*size = strlen(*text);
	return NULL;
}

/* Whatever is typed is within the text, and each part of it is where it is said to be. */
static void check(const struct oneliner *o, const char *text)
{
	for (size_t i = 0; i < o->n_origins; i++) {
		const struct oneliner_origin *v = &o->origins[i];

		if (v->at + v->len > strlen(text) || v->out + v->len > strlen(o->source) ||
		    memcmp(text + v->at, o->source + v->out, v->len))
			__builtin_trap();
	}
	size_t at;
	for (unsigned line = 1; line < 60; line++)
		if (oneliner_find(o, line, line, &at) && at > strlen(text))
			__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_oneliner_ struct oneliner o = {0};
	_cleanup_free_ char *text = NULL, *file = NULL;

	if (!size)
		return 0;
	const size_t n = size - 1 < data[0] ? size - 1 : data[0];
	text = strndup((const char *)data + 1, n);
	file = strndup((const char *)data + 1 + n, size - 1 - n);
	if (!text || !file)
		return 0;
	const struct oneliner_env env = {.match = match, .format = format, .ctx = file};
	struct error *err =
		oneliner_generate(text, &(const struct oneliner_opts){.name = "program"}, &env, &o);

	if (!err)
		check(&o, text);
	else if (o.source)
		__builtin_trap();
	error_free(err);
	return 0;
}
