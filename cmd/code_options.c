// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/code_options.h"

#include <limits.h>
#include <string.h>

#include "cmd/options.h"

/* Above the keys of the commands' own options and of other children. */
enum {
	OPT_SOURCE = 3072,
	OPT_NO_SOURCE,
	OPT_ASM_RAW,
	OPT_PERCENT_TYPE,
	OPT_PREFIX,
	OPT_PREFIX_STRIP,
};

static const struct argp_option options[] = {
	{"source", OPT_SOURCE, NULL, 0, "Show source lines between the instructions (default)", 0},
	{"no-source", OPT_NO_SOURCE, NULL, 0, "Do not show source lines", 0},
	{"prefix", OPT_PREFIX, "PATH", 0, "Look for source files below PATH", 0},
	{"prefix-strip", OPT_PREFIX_STRIP, "N", 0,
	 "Remove the first N directories from a source file's path before PATH is added", 0},
	{"percent-type", OPT_PERCENT_TYPE, "TYPE", 0,
	 "Show percentages of the function's or of all samples, by period or by number: "
	 "local-period (default), local-hits, global-period, global-hits",
	 0},
	{"asm-raw", OPT_ASM_RAW, NULL, 0, "Show the bytes of each instruction", 0},
	{"disassembler-style", 'M', "STYLE", 0, "Show x86 instructions as att (default) or intel",
	 0},
	{0},
};

static const struct option_member members[] = {
	OPTION_CLEARS(OPT_SOURCE, struct code_opts, no_source),
	OPTION_SETS(OPT_NO_SOURCE, struct code_opts, no_source),
	OPTION_SETS(OPT_ASM_RAW, struct code_opts, raw),
	OPTION_SETS(OPT_PREFIX, struct code_opts, prefix.text),
	{0},
};

/* The two words are in either order, as in perf. */
static void parse_percent_type(struct argp_state *state, const char *text,
			       struct annotation_percent *percent)
{
	static const char *const types[][2] = {
		{"local-period", "period-local"},
		{"local-hits", "hits-local"},
		{"global-period", "period-global"},
		{"global-hits", "hits-global"},
	};

	for (unsigned i = 0; i < 4; i++)
		if (!strcmp(text, types[i][0]) || !strcmp(text, types[i][1])) {
			*percent = (struct annotation_percent){.global = i & 2, .hits = i & 1};
			return;
		}
	argp_error(state,
		   "--percent-type: '%s' is not local-period, local-hits, global-period or "
		   "global-hits",
		   text);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct code_opts *opts = state->input;
	uint64_t number;

	switch (key) {
	case 'M':
		opts->intel = option_is_intel(state, arg);
		return 0;
	case OPT_PERCENT_TYPE:
		parse_percent_type(state, arg, &opts->percent);
		return 0;
	case OPT_PREFIX_STRIP:
		if (!option_number(arg, UINT_MAX, &number))
			argp_error(state, "--prefix-strip: '%s' is not a number", arg);
		opts->prefix.strip = (unsigned)number;
		opts->has_strip = true;
		return 0;
	case ARGP_KEY_END:
		if (opts->has_strip && !opts->prefix.text)
			argp_error(state, "--prefix-strip needs --prefix");
		return 0;
	}
	return option_set(members, key, arg, opts) ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp code_argp = {.options = options, .parser = parse_option};
