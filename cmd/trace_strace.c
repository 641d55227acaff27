// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/trace_strace.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/cleanup.h"
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
	{"quiet", "q", "-e signal=none prints no signals"},
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

/* "SIGCHLD", "chld" or "17"; 0: it is not a signal. */
static unsigned signal_of(const char *word)
{
	const char *name = strncasecmp(word, "SIG", 3) ? word : word + 3;
	char *end;
	const unsigned long n = strtoul(word, &end, 10);

	if (*word && !*end)
		return n <= 64 ? (unsigned)n : 0;
	for (int sig = 1; sig < 32; sig++)
		if (!strcasecmp(name, sigabbrev_np(sig)))
			return (unsigned)sig;
	return 0;
}

/* A list of signals, after a "!" if they are left out; "all" and "none". */
static struct error *parse_signals(const char *expr, const char *value, uint64_t *out)
{
	const bool negated = *value == '!';
	_cleanup_free_ char *words = strdup(value + negated);
	char *save = NULL;
	uint64_t set = 0;

	if (!words)
		return error_nomem();
	for (char *word = strtok_r(words, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		const unsigned sig = signal_of(word);

		if (!strcmp(word, "all"))
			set = UINT64_MAX;
		else if (sig)
			set |= 1ull << (sig - 1);
		else if (strcmp(word, "none") != 0)
			return error_hint(error_usage("-e %s: '%s' is not a signal", expr, word),
					  "-e signal=SIGCHLD,SIGUSR1 or -e 'signal=!SIGCHLD'");
	}
	*out = negated ? ~set : set;
	return NULL;
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
	out->has_signals = true;
	return parse_signals(expr, value, &out->signals);
}
