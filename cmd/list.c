// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf-bpf list: the events that -e takes, the functions that can be probed, and the programs that
 * run has, with perf list's options, patterns and words. Names are collected from their sources one
 * by one and printed as they come; a pattern that nothing matched gets names that are near.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/list_details.h"
#include "cmd/options.h"
#include "cmd/privileges.h"
#include "lib/base/json_writer.h"
#include "lib/base/names.h"
#include "lib/base/plain_text.h"
#include "lib/base/vec.h"
#include "lib/sys/tracefs.h"
#include "perf/select/select.h"
#include "work/builtin.h"

enum list_kind {
	LIST_HARDWARE,
	LIST_SOFTWARE,
	LIST_CACHE,
	LIST_PMU,
	LIST_RAW,
	LIST_TRACEPOINT,
	LIST_BUILTIN,
	LIST_USDT,
	LIST_FUNCTION,
	N_LIST_KINDS,
};

/* How each is called in JSON, in text (perf list's words), and as an argument. */
static const struct {
	const char *name, *type, *words[3];
} kinds[] = {
	[LIST_HARDWARE] = {"hardware", "Hardware event", {"hw", "hardware"}},
	[LIST_SOFTWARE] = {"software", "Software event", {"sw", "software"}},
	[LIST_CACHE] = {"cache", "Hardware cache event", {"cache", "hwcache"}},
	[LIST_PMU] = {"pmu", "Kernel PMU event", {"pmu"}},
	[LIST_RAW] = {"raw", "Raw event descriptor", {"raw"}},
	[LIST_TRACEPOINT] = {"tracepoint", "Tracepoint event", {"tracepoint"}},
	[LIST_BUILTIN] = {"builtin", "Built-in program", {"builtin"}},
	[LIST_USDT] = {"usdt", "SDT event", {"sdt", "usdt"}},
	[LIST_FUNCTION] = {"function", "Function", {"function", "fentry"}},
};

/* Functions that a word shows below the events on a terminal; a pattern of "probe:" shows all. */
#define FUNCTIONS_SHOWN 20

struct list_pattern {
	const char *text; /* as given */
	char *glob;	  /* NULL: all of kind */
	enum list_kind kind;
	bool functions; /* "probe:GLOB": only functions, by GLOB */
	bool matched;
};

struct list {
	bool json;
	int verbose;
	char *exec; /* a binary, the first argument; NULL: the kernel */
	VEC(struct list_pattern) patterns;

	struct log log;
	struct probe_finder *finder;
	struct list_details *details;
	struct json_writer writer;
	struct strbuf out;
	struct names all;	/* what there is, for near names */
	size_t limit, n_hidden; /* of functions */
	const struct usdt_note *note;
	const struct elf_file *file;
};

static const struct argp_option argp_options[] = {
	{"verbose", 'v', NULL, 0,
	 "Show fields of tracepoints, parameters of functions and settings of programs"},
	{"long-desc", 'v', NULL, OPTION_ALIAS | OPTION_HIDDEN, NULL},
	{"json", 'j', NULL, 0, "Print one JSON object"},
	{NULL},
};

/* ---- patterns ---- */

/* A file: a path with a directory, which no event has but "PMU/TERMS/". */
static bool is_binary(const char *arg)
{
	struct stat st;

	return strchr(arg, '/') && !stat(arg, &st) && S_ISREG(st.st_mode);
}

static bool find_kind(const char *word, enum list_kind *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		for (size_t k = 0; k < ARRAY_SIZE(kinds[i].words) && kinds[i].words[k]; k++) {
			if (!strcmp(word, kinds[i].words[k])) {
				*kind = (enum list_kind)i;
				return true;
			}
		}
	}
	return false;
}

/* As perf list: a word is sought in the names; with a colon it is the whole name. */
static struct error *add_pattern(struct list *list, const char *arg)
{
	struct list_pattern *pattern = vec_push(&list->patterns);

	if (!pattern)
		return error_nomem();
	*pattern = (struct list_pattern){.text = arg};
	if (find_kind(arg, &pattern->kind))
		return NULL;
	if (!strncmp(arg, "probe:", 6)) {
		pattern->functions = true;
		pattern->glob = strdup(arg + 6);
	} else {
		pattern->glob = strchr(arg, ':') ? strdup(arg) : text_format("*%s*", arg);
	}
	return pattern->glob ? NULL : error_nomem();
}

/* Whether any pattern lets it through; those that do are marked. */
static bool matches(struct list *list, enum list_kind kind, const char *name, const char *alias)
{
	struct list_pattern *pattern;
	bool any = !list->patterns.n;

	vec_for_each (pattern, &list->patterns) {
		if (pattern->glob ? (pattern->functions && kind != LIST_FUNCTION) ||
					    (!glob_match(pattern->glob, name) &&
					     !(alias && glob_match(pattern->glob, alias)))
				  : pattern->kind != kind)
			continue;
		pattern->matched = any = true;
	}
	return any;
}

/* Whether something of the kind may be asked for. */
static bool wants(const struct list *list, enum list_kind kind)
{
	const struct list_pattern *pattern;

	vec_for_each (pattern, &list->patterns)
		if (pattern->glob ? !pattern->functions || kind == LIST_FUNCTION
				  : pattern->kind == kind)
			return true;
	return !list->patterns.n && (kind != LIST_FUNCTION || list->exec);
}

/* ---- printing ---- */

static struct error *add_details(struct list *list, enum list_kind kind, const char *name,
				 const char *detail)
{
	struct json_writer *json = list->json ? &list->writer : NULL;
	const struct builtin *builtin;

	switch (kind) {
	case LIST_TRACEPOINT:
		return list_tracepoint(list->details, name, &list->out, json);
	case LIST_FUNCTION:
		return list_function(list->details, name, &list->out, json);
	case LIST_USDT:
		return list_usdt(list->file, list->note, &list->out, json);
	case LIST_BUILTIN:
		TRY(builtin_find(name, &builtin));
		return list_builtin(list->details, builtin, &list->out, json);
	default:
		if (json)
			jw_text_if(json, "terms", detail);
		else if (detail)
			strbuf_addf(&list->out, LIST_INDENT "%s\n", detail);
		return NULL;
	}
}

/* What is typed to use it: after -e; of a built-in program, after run. */
static void add_name(const struct list *list, enum list_kind kind, const char *name,
		     struct strbuf *out)
{
	if (kind == LIST_FUNCTION && list->exec)
		strbuf_addf(out, "probe:exec=%s;%s", list->exec, name);
	else if (kind == LIST_FUNCTION)
		strbuf_addf(out, "probe:%s", name);
	else if (kind == LIST_USDT)
		strbuf_addf(out, "usdt/%s:%s", list->exec, name);
	else
		strbuf_adds(out, name);
}

static struct error *print(struct list *list, enum list_kind kind, const char *name,
			   const char *alias, const char *detail)
{
	_cleanup_strbuf_ struct strbuf whole = STRBUF_INIT;

	add_name(list, kind, name, &whole);
	if (alias && !list->json)
		strbuf_addf(&whole, " OR %s", alias);
	if (strbuf_failed(&whole))
		return error_nomem();
	if (list->json) {
		jw_line(&list->writer);
		jw_object(&list->writer, NULL);
		jw_text(&list->writer, "name", strbuf_str(&whole));
		jw_text(&list->writer, "kind", kinds[kind].name);
		jw_text_if(&list->writer, "alias", alias);
	} else {
		strbuf_addf(&list->out, "  %-50s [%s]\n", strbuf_str(&whole), kinds[kind].type);
	}
	struct error *err = NULL;
	if (list->verbose)
		err = add_details(list, kind, name, detail);
	if (list->json)
		jw_end(&list->writer);
	if (err && (err->code == ENOENT || err->code == ENODEV)) { /* it has gone meanwhile */
		error_free(err);
		err = NULL;
	}
	return err ? err : strbuf_failed(&list->out) ? error_nomem() : NULL;
}

static struct error *offer(struct list *list, enum list_kind kind, const char *name,
			   const char *alias, const char *detail)
{
	if (matches(list, kind, name, alias))
		return print(list, kind, name, alias, detail);
	if (kind != LIST_FUNCTION || list->exec)
		if (!names_add(&list->all, name))
			return error_nomem();
	return NULL;
}

/* ---- where names come from ---- */

static struct error *offer_event(void *ctx, const struct select_known_event *event)
{
	static const enum list_kind as[] = {
		[SELECT_EVENT_HARDWARE] = LIST_HARDWARE, [SELECT_EVENT_SOFTWARE] = LIST_SOFTWARE,
		[SELECT_EVENT_CACHE] = LIST_CACHE,	 [SELECT_EVENT_PMU] = LIST_PMU,
		[SELECT_EVENT_RAW] = LIST_RAW,
	};

	return offer(ctx, as[event->kind], event->name, event->alias, event->detail);
}

/* Without the right to read tracefs all else is listed, with a warning. */
static struct error *list_tracepoints(struct list *list)
{
	_cleanup_names_ struct names tracepoints = {0};
	struct error *err = sys_tracepoint_all(NULL, &tracepoints);

	if (err && err->code != ENOMEM) {
		log_warn(&list->log, "tracepoints are not listed: %s%s%s", err->msg,
			 err->hint ? "; " : "", err->hint ? err->hint : "");
		error_free(err);
		return NULL;
	}
	TRY(err);
	for (size_t i = 0; i < tracepoints.n; i++)
		TRY(offer(list, LIST_TRACEPOINT, tracepoints.v[i], NULL, NULL));
	return NULL;
}

static struct error *offer_function(void *ctx, const char *name)
{
	struct list *list = ctx;

	if (!matches(list, LIST_FUNCTION, name, NULL))
		return offer(list, LIST_FUNCTION, name, NULL, NULL);
	if (list->limit == 0) {
		list->n_hidden++;
		return NULL;
	}
	list->limit--;
	return print(list, LIST_FUNCTION, name, NULL, NULL);
}

/* The functions of a list for a terminal end where events would leave the screen. */
static struct error *list_functions(struct list *list)
{
	const struct list_pattern *pattern;
	bool bounded = !list->json && !list->exec && isatty(STDOUT_FILENO);

	vec_for_each (pattern, &list->patterns)
		bounded &= pattern->glob && !pattern->functions;
	list->limit = bounded ? FUNCTIONS_SHOWN : SIZE_MAX;
	struct error *err = probe_functions(
		list->finder, list->exec, NULL,
		list->patterns.n == 1 && list->patterns.v[0].glob ? list->patterns.v[0].glob : "*",
		offer_function, list);
	if (err && err->code == ENOENT) { /* none, which is said with near names of all */
		error_free(err);
		err = NULL;
	}
	TRY(err);
	if (list->n_hidden)
		strbuf_addf(&list->out, "  %zu more functions: perf-bpf list 'probe:%s'\n",
			    list->n_hidden, list->patterns.v[0].glob);
	return NULL;
}

static struct error *list_kernel(struct list *list)
{
	if (wants(list, LIST_HARDWARE) || wants(list, LIST_SOFTWARE) || wants(list, LIST_CACHE) ||
	    wants(list, LIST_PMU) || wants(list, LIST_RAW))
		TRY(select_known_events(NULL, offer_event, list));
	if (wants(list, LIST_TRACEPOINT))
		TRY(list_tracepoints(list));
	for (const struct builtin *b = builtins; wants(list, LIST_BUILTIN) && b->name; b++)
		TRY(offer(list, LIST_BUILTIN, b->name, NULL, NULL));
	return wants(list, LIST_FUNCTION) ? list_functions(list) : NULL;
}

/* ---- a binary ---- */

static bool is_notes(const struct elf_file *file, const struct elf_section *sec)
{
	return !strcmp(sec->name, ".note.stapsdt");
}

static int compare_notes(const void *a, const void *b)
{
	const struct usdt_note *x = a, *y = b;
	int order = strcmp(x->provider, y->provider);

	order = order ? order : strcmp(x->name, y->name);
	return order ? order
		     : (x->note_offset > y->note_offset) - (x->note_offset < y->note_offset);
}

struct note_list {
	VEC(struct usdt_note) notes;
};

static void note_list_deinit(struct note_list *list)
{
	vec_deinit(&list->notes);
}

static struct error *read_notes(const struct elf_file *file, struct note_list *list)
{
	struct usdt_notes notes;
	struct usdt_note note;
	bool more = false;
	struct error *err = usdt_notes_open(file, &notes);

	if (err && err->code == ENOENT) {
		error_free(err);
		return NULL;
	}
	TRY(err);
	for (;;) {
		TRY(usdt_notes_next(&notes, &note, &more));
		if (!more)
			return NULL;
		struct usdt_note *slot = vec_push(&list->notes);
		if (!slot)
			return error_nomem();
		*slot = note;
	}
}

/* A probe at several addresses is listed once, with the parameters of the first. */
static struct error *list_usdt_probes(struct list *list)
{
	_cleanup_elf_ struct elf_file *file = NULL;
	_cleanup_(note_list_deinit) struct note_list found = {0};
	const struct usdt_note *note, *last = NULL;

	TRY(pb_elf_file_open_parts(list->exec, is_notes, &file));
	TRY(read_notes(file, &found));
	if (found.notes.n)
		qsort(found.notes.v, found.notes.n, sizeof(*found.notes.v), compare_notes);
	list->file = file;
	vec_for_each (note, &found.notes) {
		if (last && !strcmp(last->provider, note->provider) &&
		    !strcmp(last->name, note->name))
			continue;
		_cleanup_free_ char *name = text_format("%s:%s", note->provider, note->name);
		if (!name)
			return error_nomem();
		list->note = last = note;
		TRY(offer(list, LIST_USDT, name, NULL, NULL));
	}
	list->file = NULL;
	return NULL;
}

static struct error *list_binary(struct list *list)
{
	TRY(privileges_of_probe(false, &list->log));
	if (wants(list, LIST_USDT))
		TRY(list_usdt_probes(list));
	return wants(list, LIST_FUNCTION) ? list_functions(list) : NULL;
}

/* ---- the command ---- */

/* A kind of which there are none is an empty list; a pattern that fits nothing is a mistake. */
static struct error *check_patterns(const struct list *list)
{
	const struct list_pattern *pattern;

	vec_for_each (pattern, &list->patterns) {
		struct nearest near = nearest_make(pattern->text);

		if (pattern->matched || !pattern->glob)
			continue;
		struct error *err = error_new(ENOENT, "no %s matches '%s'",
					      list->exec	   ? "function or USDT probe"
					      : pattern->functions ? "function of the kernel"
								   : "event",
					      pattern->text);
		for (size_t i = 0; i < list->all.n; i++)
			nearest_offer(&near, list->all.v[i]);
		err = error_suggest(err, &near);
		return error_hint(err, "a word is searched for in the names; a pattern with ':' is "
				       "compared with the whole name");
	}
	return NULL;
}

static struct error *run(struct list *list)
{
	const struct finder_opts opts = {.log = &list->log};

	list->log = cmd_log(0);
	TRY(probe_finder_new(&opts, &list->finder));
	TRY(list_details_new(list->finder, list->exec, &list->log, &list->details));
	list->writer = json_writer_make(&list->out);
	if (list->json) {
		jw_object(&list->writer, NULL);
		jw_array(&list->writer, "events");
	}
	struct error *err = list->exec ? list_binary(list) : list_kernel(list);
	if (list->json && !err) {
		jw_end(&list->writer);
		jw_end(&list->writer);
		strbuf_addch(&list->out, '\n');
	}
	json_writer_finish(&list->writer);
	TRY(err);
	if (!list->json)
		plain_since(&list->out, 0, true);
	err = check_patterns(list);
	if (err && !list->json && !list->out.len)
		return err;
	struct error *unprinted = cmd_print(&list->out);
	if (!unprinted)
		return err;
	error_free(err);
	return unprinted;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct list *list = state->input;
	struct error *err;

	switch (key) {
	case 'v':
		list->verbose++;
		return 0;
	case 'j':
		list->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (!list->exec && !list->patterns.n && is_binary(arg)) {
			list->exec = realpath(arg, NULL);
			if (!list->exec)
				argp_failure(state, 1, errno, "%s", arg);
			return 0;
		}
		err = add_pattern(list, arg);
		if (err)
			argp_failure(state, 1, err->code, "options");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	argp_options,
	parse_option,
	"[BINARY] [PATTERN...]",
	"List events, functions that can be probed, and built-in programs.\vPATTERN is hw, sw, "
	"cache, "
	"pmu, raw, tracepoint, function or builtin, or a glob as in perf list: a word is searched "
	"for "
	"in all names; with ':' it is compared with the whole name ('sched:*', 'probe:tcp_*'). "
	"Without "
	"it, all but the functions of the kernel are listed. With BINARY, its functions and USDT "
	"probes.",
};

static void list_deinit(struct list *list)
{
	struct list_pattern *pattern;

	vec_for_each (pattern, &list->patterns)
		free(pattern->glob);
	vec_deinit(&list->patterns);
	names_deinit(&list->all);
	list_details_free(list->details);
	probe_finder_free(list->finder);
	strbuf_deinit(&list->out);
	free(list->exec);
}

int cmd_list(int argc, char **argv)
{
	_cleanup_(list_deinit) struct list list = {0};

	if (cmd_parse(&argp, argc, argv, 0, NULL, &list))
		return 2;
	struct error *err = run(&list);
	return err ? cmd_fail(err) : 0;
}
