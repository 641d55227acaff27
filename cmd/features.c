// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf features: what this host can do, and why not. */
#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "lib/base/strbuf.h"
#include "lib/sys/bpf_syscall.h"
#include "lib/sys/probe_features.h"

enum {
	WIDTH = 80,
};

struct features_options {
	bool json;
	const char *pattern; /* NULL: all */
};

static const struct argp_option argp_options[] = {
	{"json", 'j', NULL, 0, "Print one JSON object"},
	{NULL},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct features_options *options = state->input;

	switch (key) {
	case 'j':
		options->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (options->pattern)
			argp_error(state, "only one pattern is supported: '%s'", arg);
		options->pattern = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	argp_options,
	parse_option,
	"[PATTERN]",
	"Show what this host supports, by probing it, and the reason for what does not "
	"work.\vPATTERN is a glob over feature names: 'attach.*'. The exit status is 1 if PATTERN "
	"is a plain name and that feature does not work.",
};

/* Words from column on, wrapped to lines that begin there. */
static void print_wrapped(const char *text, size_t column)
{
	size_t at = column;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (at > column && at + 1 + word > WIDTH) {
			printf("\n%*s", (int)column, "");
			at = column;
		} else if (at > column) {
			putchar(' ');
			at++;
		}
		printf("%.*s", (int)word, text);
		at += word;
		text += word;
		text += strspn(text, " ");
	}
}

static size_t longest_name(void)
{
	const struct sys_feature *feature;
	size_t longest = 0;

	for (size_t i = 0; (feature = sys_feature_at(i)); i++)
		longest = max_of(longest, strlen(feature->name));
	return longest;
}

static void print_text(const struct sys_feature *feature, const struct sys_feature_result *result,
		       size_t name_width)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	printf("  %-*s  %-3s  ", (int)name_width, feature->name, result->works ? "yes" : "no");
	strbuf_adds(&sb, feature->purpose);
	if (result->works && *result->reason)
		strbuf_addf(&sb, " (%s)", result->reason);
	if (!result->works)
		strbuf_addf(&sb, ": %s%s%s", result->reason, *result->hint ? "; " : "",
			    result->hint);
	print_wrapped(strbuf_str(&sb), name_width + 9);
	putchar('\n');
}

static json_t *as_json(const struct sys_feature *feature, const struct sys_feature_result *result)
{
	json_t *entry = json_object();

	json_object_set_new(entry, "name", json_string(feature->name));
	json_object_set_new(entry, "group", json_string(feature->group));
	json_object_set_new(entry, "purpose", json_string(feature->purpose));
	json_object_set_new(entry, "works", json_boolean(result->works));
	if (result->works) {
		if (*result->reason)
			json_object_set_new(entry, "info", json_string(result->reason));
		return entry;
	}
	json_object_set_new(entry, "reason", json_string(result->reason));
	if (*result->hint)
		json_object_set_new(entry, "hint", json_string(result->hint));
	if (result->code)
		json_object_set_new(entry, "errno", json_integer(result->code));
	return entry;
}

int cmd_features(int argc, char **argv)
{
	struct features_options options = {0};
	const char *group = "";
	size_t matches = 0, broken = 0, name_width = longest_name();

	if (cmd_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options))
		return 2;
	_cleanup_features_ struct sys_features *features = sys_features_new(NULL);
	json_t *list = options.json ? json_array() : NULL;
	if (!features || (options.json && !list))
		return cmd_fail(error_nomem());
	sys_bpf_bump_memlock();

	const struct sys_feature *feature;
	for (size_t i = 0; (feature = sys_feature_at(i)); i++) {
		if (options.pattern && !glob_match(options.pattern, feature->name))
			continue;
		const struct sys_feature_result *result = sys_feature_get(features, feature->name);
		matches++;
		broken += !result->works;
		if (options.json) {
			json_array_append_new(list, as_json(feature, result));
			continue;
		}
		if (strcmp(group, feature->group))
			printf("%s%s\n", *group ? "\n" : "", feature->group);
		group = feature->group;
		print_text(feature, result, name_width);
	}
	if (!matches) {
		struct nearest near = nearest_make(options.pattern);
		struct error *err = error_new(ENOENT, "unknown feature '%s'", options.pattern);

		json_decref(list);
		for (size_t i = 0; (feature = sys_feature_at(i)); i++)
			nearest_offer(&near, feature->name);
		err = error_suggest(err, &near);
		return cmd_fail(err);
	}
	if (options.json) {
		json_t *top = json_object();

		json_object_set_new(top, "features", list);
		json_dumpf(top, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(top);
	}
	return options.pattern && !glob_is_pattern(options.pattern) && broken ? 1 : 0;
}
