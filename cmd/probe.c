// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf-bpf probe: what can be probed, with perf probe's options: functions, the
 * lines of one, the variables at a place, and what a definition comes to.
 * Nothing is added to the kernel: a probe is given to record or run.
 */
#include "cmd/probe.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "probe/point/name_filter.h"
#include "lib/base/json.h"
#include "lib/base/vec.h"

enum {
	OPT_WAY = 256,
	OPT_EXTERNS,
	OPT_NO_INLINES,
	OPT_FILTER,
	OPT_CACHE,
};

static const struct argp_option options[] = {
	{"funcs", 'F', "FILTER", OPTION_ARG_OPTIONAL,
	 "List the functions that can be probed; FILTER is a glob, or several: 'a* | b*'"},
	{"vars", 'V', "DEFINITION", 0, "List the variables that can be read at a place"},
	{"line", 'L', "LINES", 0,
	 "Show the lines of a function or a file that can be probed: FUNC, FUNC:4+10, FILE:10-20"},
	{"add", 'a', "DEFINITION", 0, "Look the probe up; the same as DEFINITION alone"},
	{"definition", 'D', "DEFINITION", 0, "Show what the probe would be: the same as -n -a"},
	{"externs", OPT_EXTERNS, NULL, 0, "With -V, list global variables, too"},
	{"filter", OPT_FILTER, "FILTER", 0, "With -V and -F, list only these: '!_* & *len'"},
	{"no-inlines", OPT_NO_INLINES, NULL, 0, "Leave out where a function has been inlined"},
	/* Of perf probe, which keeps its probes in the kernel. */
	{"list", 'l', "EVENT", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL},
	{"del", 'd', "EVENT", OPTION_HIDDEN, NULL},
	{"force", 'f', NULL, OPTION_HIDDEN, NULL},
	{"cache", OPT_CACHE, NULL, OPTION_HIDDEN, NULL},
	{"dry-run", 'n', NULL, 0,
	 "Show what would be done: points, where the arguments are, the way of attaching, code"},
	{"exec", 'x', "PATH", 0, "Of this program or library, not of the kernel"},
	{"module", 'm', "NAME", 0, "Of this module of the kernel"},
	{"vmlinux", 'k', "PATH", 0, "The kernel's image with debug information"},
	{"source", 's', "PATH", 0, "Where the source is that -L shows"},
	{"way", OPT_WAY, "WAY", 0,
	 "Attach so: fentry, kprobe.multi, uprobe.multi, kprobe or uprobe"},
	{"json", 'j', NULL, 0, "Print JSON"},
	{"verbose", 'v', NULL, 0, "Say more; twice: much more"},
	{"quiet", 'q', NULL, 0, "Say nothing but errors and what was asked for"},
	{0},
};

enum action {
	ACTION_NONE,
	ACTION_FUNCS,
	ACTION_VARS,
	ACTION_LINES,
};

struct probe {
	enum action action;
	const char *filter; /* of -F and -V; NULL: all */
	const char *text;   /* of -V and -L */
	VEC(const char *) definitions;
	struct strbuf words; /* the arguments: one definition, as perf probe has it */
	char *here;	     /* -x of a file in this directory */
	const char *exec, *module, *vmlinux, *source;
	enum probe_way way;
	bool dry_run, json, quiet, externs, no_inlines;
	int verbose;

	struct log log;
	struct probe_finder *finder;
	struct strbuf out;
};

static void set_action(struct argp_state *state, enum action action, const char *text)
{
	struct probe *p = state->input;

	if (p->action != ACTION_NONE)
		argp_error(state, "one of -F, -V and -L is enough");
	p->action = action;
	p->text = text;
}

static void add_definition(struct argp_state *state, const char *text)
{
	struct probe *p = state->input;
	const char **slot = vec_push(&p->definitions);

	if (!slot)
		argp_failure(state, 1, ENOMEM, "options");
	*slot = text;
}

/* An absolute path before the definition: not "/src/shop.c:3". */
static bool is_program(const char *path)
{
	struct stat st;

	return *path == '/' && !stat(path, &st) && S_ISREG(st.st_mode);
}

/* perf probe's -x takes a path: a file in this directory needs no "./". */
static void find_here(struct argp_state *state)
{
	struct probe *p = state->input;
	struct stat st;

	if (!p->exec || strchr(p->exec, '/') || stat(p->exec, &st) || !S_ISREG(st.st_mode))
		return;
	p->here = text_format("./%s", p->exec);
	if (!p->here)
		argp_failure(state, 1, ENOMEM, "options");
	p->exec = p->here;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct probe *p = state->input;

	switch (key) {
	case 'F':
		set_action(state, ACTION_FUNCS, NULL);
		p->filter = arg ? arg : p->filter;
		return 0;
	case OPT_FILTER:
		p->filter = arg;
		return 0;
	case OPT_EXTERNS:
		p->externs = true;
		return 0;
	case OPT_NO_INLINES:
		p->no_inlines = true;
		return 0;
	case 'D':
		p->dry_run = true;
		add_definition(state, arg);
		return 0;
	case 'l':
	case 'd':
	case OPT_CACHE:
		argp_error(state,
			   "nothing is kept in the kernel, so there is nothing to list or delete: "
			   "a probe lasts as long as the 'record' or 'run' that is given it; "
			   "'perf probe' has those that were added there");
		return 0;
	case 'f': /* no event's name is in the way */
		return 0;
	case 'V':
		set_action(state, ACTION_VARS, arg);
		return 0;
	case 'L':
		set_action(state, ACTION_LINES, arg);
		return 0;
	case 'a':
		add_definition(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		/* "perf probe /bin/zsh zfree": the program comes first. */
		if (!p->words.len && !p->exec && !p->module && is_program(arg))
			p->exec = arg;
		else
			strbuf_addf(&p->words, "%s%s", p->words.len ? " " : "", arg);
		return 0;
	case 'n':
		p->dry_run = true;
		return 0;
	case 'x':
		p->exec = arg;
		return 0;
	case 'm':
		p->module = arg;
		return 0;
	case 'k':
		p->vmlinux = arg;
		return 0;
	case 's':
		p->source = arg;
		return 0;
	case OPT_WAY: {
		struct error *err = probe_way_parse(arg, &p->way);
		char why[256];

		if (!err)
			return 0;
		snprintf(why, sizeof(why), "%s%s%s", err->msg, err->hint ? "; " : "",
			 err->hint ? err->hint : "");
		error_free(err);
		argp_error(state, "--way: %s", why);
		return 0;
	}
	case 'j':
		p->json = true;
		return 0;
	case 'v':
		p->verbose++;
		return 0;
	case 'q':
		p->quiet = true;
		return 0;
	case ARGP_KEY_END:
		if (strbuf_failed(&p->words))
			argp_failure(state, 1, ENOMEM, "options");
		if (p->action == ACTION_FUNCS && p->words.len && !p->filter)
			p->filter = strbuf_str(&p->words); /* "-F FILTER", as with "-FFILTER" */
		else if (p->words.len)
			add_definition(state, strbuf_str(&p->words));
		if (p->action != ACTION_NONE && p->definitions.n)
			argp_error(state, "'%s': -F, -V and -L take no other definition",
				   p->definitions.v[0]);
		if (p->action == ACTION_NONE && !p->definitions.n)
			argp_error(state, "a definition is missing, or one of -F, -V and -L");
		if (p->exec && p->module)
			argp_error(state, "-x and -m exclude each other");
		if (p->externs && p->action != ACTION_VARS)
			argp_error(state, "--externs is for -V");
		if (p->filter && p->action != ACTION_VARS && p->action != ACTION_FUNCS)
			argp_error(state, "--filter is for -V and -F");
		find_here(state);
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[PROGRAM] [DEFINITION]",
	.doc = "Show what can be probed, and what a probe comes to.\v"
	       "DEFINITION: [KEY=VALUE;]... [EVENT=]FUNC[@FILE][+OFFSET|%return|:LINE|;PATTERN] "
	       "[ARG ...]; see perf-bpf-probes(7).\n"
	       "Nothing is added to the kernel: a probe is recorded by\n"
	       "  perf-bpf record -e 'probe:DEFINITION'",
};

/* With -x or -m as the keys that they stand for; the caller's. */
static struct error *definition_text(const struct probe *p, const char *text, char **out)
{
	const char *inlines = p->no_inlines ? "inlines=no;" : "";

	if (p->exec) {
		/* A path is quoted, so that it may hold anything but that quote. */
		const char *quote = !strpbrk(p->exec, " ;=@\\\"'") ? ""
				    : strchr(p->exec, '"')	   ? "'"
								   : "\"";

		*out = text_format("exec=%s%s%s;%s%s", quote, p->exec, quote, inlines, text);
	} else if (p->module) {
		*out = text_format("module=%s;%s%s", p->module, inlines, text);
	} else {
		*out = text_format("%s%s", inlines, text);
	}
	return *out ? NULL : error_nomem();
}

static struct error *parse(const struct probe *p, const char *text, struct probe_def *def)
{
	_cleanup_free_ char *whole = NULL;

	TRY(definition_text(p, text, &whole));
	return probe_def_parse(whole, def);
}

void probe_point_text(const struct probe_point *point, struct strbuf *out)
{
	strbuf_adds(out, point->shown ? point->shown : point->function);
	if (point->at_return)
		strbuf_adds(out, "%return");
	else
		strbuf_addf(out, "+%" PRIu64, point->offset);
	if (point->inlined)
		strbuf_addf(out, ", a copy of %s", point->inlined);
}

static void add_key(struct strbuf *out, const char *key)
{
	strbuf_addf(out, ",\"%s\":", key);
}

static void add_string(struct strbuf *out, const char *key, const char *s)
{
	if (!s)
		return;
	add_key(out, key);
	json_add_string(out, s, strlen(s));
}

void probe_point_json(const struct probe_point *point, struct strbuf *out)
{
	static const char *const sources[] = {
		[POINT_BTF] = "btf",
		[POINT_DWARF] = "dwarf",
		[POINT_SYMBOLS] = "symbols",
	};

	const char *name = point->shown ? point->shown : point->function;

	strbuf_adds(out, "\"function\":");
	json_add_string(out, name, strlen(name));
	add_string(out, "symbol", point->function);
	strbuf_addf(out, ",\"offset\":%" PRIu64 ",\"return\":%s", point->offset,
		    point->at_return ? "true" : "false");
	add_string(out, "inlined", point->inlined);
	add_string(out, "module", point->module);
	if (point->address) {
		add_key(out, "address");
		json_add_address(out, point->address);
	}
	add_string(out, "file", point->file);
	if (point->file)
		strbuf_addf(out, ",\"line\":%u", point->line);
	add_string(out, "source", sources[point->source]);
}

/* ---- -F ---- */

struct names_out {
	struct strbuf *out;
	const char *filter; /* NULL: all */
	bool json;
	size_t n;
};

static struct error *add_function(void *ctx, const char *name)
{
	struct names_out *o = ctx;

	if (o->filter && !name_filter_match(o->filter, name))
		return NULL;
	if (o->json) {
		strbuf_adds(o->out, o->n ? ",\n" : "\n");
		json_add_string(o->out, name, strlen(name));
	} else {
		strbuf_addf(o->out, "%s\n", name);
	}
	o->n++;
	return strbuf_failed(o->out) ? error_nomem() : NULL;
}

/* Several globs, not a name of C++ with such characters. */
static bool is_filter(const char *text)
{
	return *text == '!' || (strpbrk(text, "|&") && !strstr(text, "operator"));
}

static struct error *show_functions(struct probe *p)
{
	const bool several = p->filter && is_filter(p->filter);
	struct names_out o = {
		.out = &p->out, .json = p->json, .filter = several ? p->filter : NULL};

	if (several)
		TRY(name_filter_check(p->filter));
	if (p->json)
		strbuf_adds(&p->out, "{\"functions\":[");
	TRY(probe_functions(p->finder, p->exec, p->module, p->filter && !several ? p->filter : "*",
			    add_function, &o));
	if (p->json)
		strbuf_adds(&p->out, "]}\n");
	return NULL;
}

/* ---- -V ---- */

struct vars_out {
	struct strbuf *out;
	const char *filter; /* NULL: all */
	bool json;
	bool any;
	struct strbuf *last; /* the last point, as people read it */
	size_t n;	     /* its variables */
};

static void end_point(struct vars_out *o)
{
	if (o->any && o->json)
		strbuf_adds(o->out, "]}");
	else if (o->any && !o->n)
		strbuf_adds(o->out, "\t\t(No variables)\n");
}

static void begin_point(struct vars_out *o, const struct probe_point *point)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	/* Not by the pointer: the next point may stand where the last one stood. */
	probe_point_text(point, &text);
	strbuf_addf(&text, "@%#" PRIx64, point->address);
	if (o->any && !strcmp(strbuf_str(o->last), strbuf_str(&text)))
		return;
	end_point(o);
	if (o->json) {
		strbuf_adds(o->out, o->any ? ",\n{" : "\n{");
		probe_point_json(point, o->out);
		strbuf_adds(o->out, ",\"variables\":[");
	} else {
		strbuf_adds(o->out, "\t@<");
		probe_point_text(point, o->out);
		strbuf_adds(o->out, ">\n");
	}
	strbuf_reset(o->last);
	strbuf_adds(o->last, strbuf_str(&text));
	o->any = true;
	o->n = 0;
}

static struct error *add_variable(void *ctx, const struct probe_point *point,
				  const struct probe_variable *v)
{
	struct vars_out *o = ctx;

	begin_point(o, point);
	if (!v || (o->filter && !name_filter_match(o->filter, v->name)))
		return NULL;
	if (o->json) {
		strbuf_adds(o->out, o->n ? ",{\"name\":" : "{\"name\":");
		json_add_string(o->out, v->name, strlen(v->name));
		add_string(o->out, "type", v->type);
		add_string(o->out, "obstacle", v->obstacle);
		strbuf_addf(o->out, ",\"parameter\":%s}", v->is_parameter ? "true" : "false");
	} else {
		strbuf_addf(o->out, "\t\t%s\t%s", v->type ? v->type : "?", v->name);
		if (v->obstacle)
			strbuf_addf(o->out, "\t(%s)", v->obstacle);
		strbuf_addch(o->out, '\n');
	}
	o->n++;
	return strbuf_failed(o->out) ? error_nomem() : NULL;
}

static struct error *show_variables(struct probe *p)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_strbuf_ struct strbuf last = STRBUF_INIT;
	struct vars_out o = {.out = &p->out, .json = p->json, .last = &last, .filter = p->filter};

	if (p->filter)
		TRY(name_filter_check(p->filter));
	TRY(parse(p, p->text, &def));
	if (p->json)
		strbuf_adds(&p->out, "{\"points\":[");
	else
		strbuf_addf(&p->out, "Available variables at %s\n", p->text);
	TRY(probe_variables(p->finder, &def, p->externs, add_variable, &o));
	end_point(&o);
	if (p->json)
		strbuf_adds(&p->out, "]}\n");
	return NULL;
}

/* ---- definitions ---- */

static struct error *show_lines(struct probe *p)
{
	const struct probe_lines_view view = {
		.finder = p->finder,
		.source = p->source,
		.json = p->json,
		.verbose = p->verbose,
	};
	_cleanup_free_ char *keys = NULL;

	TRY(definition_text(p, "", &keys));
	return probe_lines_show(&view, keys, p->text, &p->out);
}

/* Within the shell's '…'. */
static void add_quoted(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			strbuf_adds(out, "'\\''");
		else
			strbuf_addch(out, *text);
}

static struct error *show_points(struct probe *p)
{
	const struct probe_view view = {
		.finder = p->finder,
		.way = p->way,
		.json = p->json,
		.code = p->dry_run,
		.log = &p->log,
	};

	for (size_t i = 0; i < p->definitions.n; i++) {
		_cleanup_free_ char *text = NULL;
		_cleanup_probe_def_ struct probe_def def = {0};

		TRY(definition_text(p, p->definitions.v[i], &text));
		TRY(probe_def_parse(text, &def));
		TRY(probe_points_show(&view, &def, &p->out));
		if (!p->dry_run && !p->json && !p->quiet) {
			strbuf_adds(&p->out,
				    "\nYou can record it by:\n\n\tperf-bpf record -e 'probe:");
			add_quoted(&p->out, text);
			strbuf_adds(&p->out, "' -a sleep 1\n\n");
		}
	}
	return NULL;
}

static struct error *run(struct probe *p)
{
	const struct finder_opts opts = {.vmlinux = p->vmlinux, .log = &p->log};

	TRY(probe_finder_new(&opts, &p->finder));
	switch (p->action) {
	case ACTION_FUNCS:
		return show_functions(p);
	case ACTION_VARS:
		return show_variables(p);
	case ACTION_LINES:
		return show_lines(p);
	default:
		return show_points(p);
	}
}

int cmd_probe(int argc, char **argv)
{
	struct probe p = {0};
	struct error *err;

	if (cmd_parse(&argp, argc, argv, 0, NULL, &p)) {
		strbuf_deinit(&p.words);
		free(p.here);
		vec_deinit(&p.definitions);
		return 2;
	}
	p.log = cmd_log(p.verbose);
	if (p.quiet)
		p.log.write = NULL;
	err = run(&p);
	if (!err && strbuf_failed(&p.out))
		err = error_nomem();
	if (!err)
		fwrite(strbuf_str(&p.out), 1, p.out.len, stdout);
	probe_finder_free(p.finder);
	strbuf_deinit(&p.out);
	strbuf_deinit(&p.words);
	free(p.here);
	vec_deinit(&p.definitions);
	return err ? cmd_fail(err) : 0;
}
