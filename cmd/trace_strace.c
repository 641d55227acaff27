// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/trace_strace.h"

#include <string.h>

#include "lib/base/util.h"

/* The qualifiers of strace's -e, with their short names. */
static const struct {
	const char *name, *alias;
	const char *hint; /* of those that have no meaning here, however they are set */
} qualifiers[] = {
	{"trace", "t", NULL},
	{"status", NULL, NULL},
	{"signal", "s", NULL},
	{"abbrev", "a", NULL},
	{"raw", "x", NULL},
	{"signals", NULL, NULL},
	{"verbose", "v", "structs are always decoded; --no-abbrev prints them in full"},
	{"read", "r", "--string-size 1000 prints more of buffers"},
	{"write", "w", "--string-size 1000 prints more of buffers"},
	{"quiet", "q", "there are no messages about processes that start or end"},
	{"decode-fds", NULL, "-y prints the files of descriptors"},
	{"fault", NULL, "trace does not change what it traces"},
	{"inject", NULL, "trace does not change what it traces"},
	{"kvm", NULL, "trace does not decode the exits of KVM"},
};

/* The number of the qualifier; SIZE_MAX: it is none. */
static size_t qualifier_of(const char *expr)
{
	const char *equals = strchr(expr, '=');
	const size_t len = equals ? (size_t)(equals - expr) : 0;

	for (size_t i = 0; len && i < ARRAY_SIZE(qualifiers); i++)
		if ((strlen(qualifiers[i].name) == len && !memcmp(expr, qualifiers[i].name, len)) ||
		    (qualifiers[i].alias && strlen(qualifiers[i].alias) == len &&
		     !memcmp(expr, qualifiers[i].alias, len)))
			return i;
	return SIZE_MAX;
}

bool is_strace_expr(const char *expr)
{
	return qualifier_of(expr) != SIZE_MAX;
}

static struct error *refuse(const char *expr, const char *hint)
{
	return error_hint(error_usage("-e %s: not supported", expr), "%s", hint);
}

struct error *strace_expr_parse(const char *expr, struct strace_expr *out)
{
	const size_t which = qualifier_of(expr);
	const char *name = qualifiers[which].name;
	const char *value = strchr(expr, '=') + 1;
	const bool none = !strcmp(value, "none") || !strcmp(value, "!all");

	*out = (struct strace_expr){0};
	if (qualifiers[which].hint)
		return refuse(expr, qualifiers[which].hint);
	if (!strcmp(name, "trace")) {
		out->calls = value;
		return NULL;
	}
	if (!strcmp(name, "status")) {
		out->failed_only = !strcmp(value, "failed") || !strcmp(value, "!successful");
		if (out->failed_only || !strcmp(value, "all"))
			return NULL;
		return refuse(expr, "--where 'ret >= 0' selects the calls that succeed, and "
				    "-e status=failed those that fail");
	}
	if (!strcmp(name, "abbrev")) {
		out->full = none;
		return none || !strcmp(value, "all")
			       ? NULL
			       : refuse(expr,
					"-e abbrev=none prints the structs of all calls in full");
	}
	if (!strcmp(name, "raw")) {
		out->raw = !strcmp(value, "all");
		return none || out->raw ? NULL
					: refuse(expr, "-e raw=all prints the arguments of all "
						       "calls as numbers");
	}
	return none ? NULL
		    : refuse(expr, "trace prints no signals; '-e signal:signal_deliver' prints "
				   "the tracepoint of each signal that is delivered");
}
