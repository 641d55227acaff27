// SPDX-License-Identifier: BSD-2-Clause
/*
 * argp says of a mistyped option only that it is unknown, and to look for it in
 * a list of fifty. So the words are walked once before argp sees them, in the
 * way getopt_long(3) does: long options by any unambiguous beginning, options
 * with a value that is the rest of the word or the next one, "--" as the end.
 * What is found to be unknown is an error here; all else is left to argp.
 */
#include "cmd/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "lib/base/names.h"
#include "lib/base/util.h"
#include "perf/select/select.h"

/* argp's own, which stand in no table. */
static const struct argp_option builtin[] = {
	{"help", '?', NULL, 0, NULL, 0},
	{"usage", 1 << 24, NULL, 0, NULL, 0},
	{"version", 'V', NULL, 0, NULL, 0},
	{0},
};

static bool is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
}

/* The options of a parser and its children, one after the other: fn says to stop. */
typedef bool option_fn(const struct argp_option *o, void *ctx);

static bool table_walk(const struct argp_option *o, option_fn *fn, void *ctx)
{
	for (; o && !is_end(o); o++)
		if (fn(o, ctx))
			return true;
	return false;
}

static bool options_walk(const struct argp *argp, option_fn *fn, void *ctx)
{
	if (table_walk(argp->options, fn, ctx))
		return true;
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		if (options_walk(c->argp, fn, ctx))
			return true;
	return false;
}

struct wanted_option {
	const char *name; /* of a long option, len characters of it */
	size_t len;
	int key; /* of a short one */
	const struct argp_option *found;
};

/* An alias has no value of its own: it takes that of the option before it, which is not seen here.
 */
static bool is_wanted(const struct argp_option *o, void *ctx)
{
	struct wanted_option *w = ctx;

	if (w->name ? o->name && !strncmp(o->name, w->name, w->len) : o->key == w->key) {
		w->found = o;
		return !w->name || !o->name[w->len]; /* a whole name goes before a beginning */
	}
	return false;
}

static const struct argp_option *find(const struct argp *argp, struct wanted_option w)
{
	if (!options_walk(argp, is_wanted, &w) && !w.found)
		table_walk(builtin, is_wanted, &w);
	return w.found;
}

/* Adds "--NAME"; true: no memory. */
static bool add_name(const struct argp_option *o, void *ctx)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!o->name || o->flags & OPTION_HIDDEN)
		return false;
	strbuf_addf(&text, "--%s", o->name);
	return strbuf_failed(&text) || !names_add(ctx, strbuf_str(&text));
}

/* "perf-bpf record" of "perf-bpf record", or of a path before it. */
static const char *command_name(const char *argv0)
{
	const char *slash = strrchr(argv0, '/');

	return slash ? slash + 1 : argv0;
}

static struct error *unknown(const struct argp *argp, const char *command, const char *word)
{
	_cleanup_strbuf_ struct strbuf want = STRBUF_INIT;
	_cleanup_names_ struct names known = {0};

	strbuf_add(&want, word, strcspn(word, "="));
	if (strbuf_failed(&want) || options_walk(argp, add_name, &known))
		return error_nomem();
	struct nearest near = nearest_make(strbuf_str(&want) + 2);
	for (size_t i = 0; i < known.n; i++)
		nearest_offer_as(&near, known.v[i] + 2, known.v[i]);
	struct error *err = error_new(EINVAL, "%s has no option %s", command, strbuf_str(&want));
	return error_suggest_and(err, &near, "'%s --help' lists them", command);
}

/* The letter in the other case may have been meant. */
static struct error *unknown_letter(const struct argp *argp, const char *command, char letter)
{
	const int other = islower((unsigned char)letter) ? toupper((unsigned char)letter)
							 : tolower((unsigned char)letter);
	const struct argp_option *o =
		other != letter ? find(argp, (struct wanted_option){.key = other}) : NULL;
	struct error *err = isgraph((unsigned char)letter)
				    ? error_new(EINVAL, "%s has no option -%c", command, letter)
				    : error_new(EINVAL, "%s has no option of byte %#x", command,
						(unsigned char)letter);

	if (o && o->name)
		return error_hint(err, "did you mean -%c (--%s)? '%s --help' lists all options",
				  other, o->name, command);
	return error_hint(err, "'%s --help' lists them", command);
}

/* Whether the option takes the next word as its value, when none stands in its own. */
static bool takes_next(const struct argp_option *o)
{
	return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

static struct error *check(const struct argp *argp, int argc, char **argv, unsigned int flags)
{
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];

		if (word[0] != '-' || !word[1]) {
			if (flags & ARGP_IN_ORDER)
				break;
			continue;
		}
		if (!strcmp(word, "--"))
			break;
		if (word[1] == '-') {
			const char *name = word + 2;
			const size_t len = strcspn(name, "=");
			const struct argp_option *o =
				find(argp, (struct wanted_option){.name = name, .len = len});

			if (!o)
				return unknown(argp, command_name(argv[0]), word);
			if (!name[len] && takes_next(o))
				i++;
			continue;
		}
		for (const char *c = word + 1; *c; c++) {
			const struct argp_option *o = find(argp, (struct wanted_option){.key = *c});

			if (!o && *c == 'h' && !word[2]) {
				argv[i] = (char *)"--help"; /* as perf has it */
				break;
			}
			if (!o)
				return unknown_letter(argp, command_name(argv[0]), *c);
			if (o->arg) {
				if (!c[1] && takes_next(o))
					i++;
				break;
			}
		}
	}
	return NULL;
}

error_t cmd_parse(const struct argp *argp, int argc, char **argv, unsigned int flags, int *index,
		  void *input)
{
	struct error *err = check(argp, argc, argv, flags);

	if (err) {
		cmd_fail(err);
		exit(argp_err_exit_status);
	}
	const error_t code = argp_parse(argp, argc, argv, flags, index, input);
	if (code) { /* of memory alone: argp ends the process for all other reasons */
		cmd_fail(error_errno(code, "cannot read the options"));
		exit(argp_err_exit_status);
	}
	return 0;
}

void option_check(struct argp_state *state, const char *name, struct error *err)
{
	if (err)
		argp_error(state, "%s: %s%s%s", name, err->msg, err->hint ? "; " : "",
			   err->hint ? err->hint : "");
	error_free(err);
}

bool option_number(const char *text, uint64_t max, uint64_t *v)
{
	bool hex = !strncmp(text, "0x", 2);
	char *end;

	/* strtoull() would take blanks and signs */
	if (hex)
		text += 2;
	if (!isxdigit((unsigned char)*text))
		return false;
	errno = 0;
	uint64_t number = strtoull(text, &end, hex ? 16 : 10);
	if (errno || *end || number > max)
		return false;
	*v = number;
	return true;
}

bool option_set(const struct option_member *members, int key, const char *arg, void *object)
{
	for (; members->key; members++) {
		void *member = (char *)object + members->offset;

		if (members->key != key)
			continue;
		switch (members->kind) {
		case OPTION_TRUE:
		case OPTION_FALSE:
			*(bool *)member = members->kind == OPTION_TRUE;
			break;
		case OPTION_TEXT:
			*(const char **)member = arg;
			break;
		case OPTION_COUNT:
			++*(int *)member;
			break;
		}
		return true;
	}
	return false;
}

static bool parse_time(const char *text, uint64_t *ms)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}};
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	double v = strtod(text, &end);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (strcmp(end, units[i].name))
			continue;
		v *= units[i].ms;
		*ms = (uint64_t)v;
		return v >= 1 && v <= 1e12;
	}
	return false;
}

void option_percent(struct argp_state *state, const char *name, const char *arg, double *share)
{
	char *end = NULL;

	if (isdigit((unsigned char)*arg) || *arg == '.') {
		*share = strtod(arg, &end) / 100;
		end += *end == '%';
	}
	if (!end || *end || !(*share > 0 && *share <= 1))
		argp_error(state, "%s %s: expected a share of all CPUs' time such as 2%% or 0.5%%",
			   name, arg);
}

void option_time(struct argp_state *state, const char *name, const char *arg, uint64_t *ms)
{
	if (!parse_time(arg, ms))
		argp_error(state, "%s %s: expected a time such as 10, 1.5s, 200ms or 5m", name,
			   arg);
}

bool option_is_intel(struct argp_state *state, const char *arg)
{
	if (strcmp(arg, "att") && strcmp(arg, "intel"))
		argp_error(state, "--disassembler-style: '%s' is neither att nor intel", arg);
	return *arg == 'i';
}

int option_realtime(struct argp_state *state, const char *arg)
{
	uint64_t v;

	if (!option_number(arg, 99, &v) || !v)
		argp_error(state, "-r %s: expected a priority from 1 to 99", arg);
	return (int)v;
}

uint64_t option_period(struct argp_state *state, const char *arg)
{
	uint64_t v;

	if (!option_number(arg, INT64_MAX, &v) || !v)
		argp_error(state, "-c %s: expected a count of at least 1", arg);
	return v;
}

uint64_t option_frequency(struct argp_state *state, const char *arg)
{
	uint64_t v;

	if (!strcmp(arg, "max"))
		return SELECT_FREQ_MAX;
	if (!option_number(arg, INT32_MAX, &v) || !v)
		argp_error(state, "-F %s: expected a number of samples per second or 'max'", arg);
	return v;
}
