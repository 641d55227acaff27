// SPDX-License-Identifier: BSD-2-Clause
/*
 * perf-bpf probe: what can be probed, with perf probe's options: functions, the
 * lines of one, the variables at a place, and what a definition comes to.
 * Nothing is added to the kernel: a probe is given to record or run.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/privileges.h"
#include "lib/base/plain_text.h"
#include "lib/base/vec.h"
#include "lib/sys/bpf_syscall.h"
#include "probe/def/def.h"
#include "probe/show/show.h"

enum {
	OPT_ATTACH = 256,
	OPT_EXTERNS,
	OPT_NO_INLINES,
	OPT_FILTER,
	OPT_CACHE,
};

static const struct argp_option options[] = {
	{"funcs", 'F', "FILTER", OPTION_ARG_OPTIONAL,
	 "List the functions that can be probed; FILTER is a glob or a list of globs: 'a* | b*'"},
	{"vars", 'V', "DEFINITION", 0, "List the variables that can be read at a probe point"},
	{"line", 'L', "LINES", 0,
	 "Show the lines of a function or a file that can be probed: FUNC, FUNC:4+10, FILE:10-20"},
	{"add", 'a', "DEFINITION", 0, "Look up the probe; the same as DEFINITION alone"},
	{"definition", 'D', "DEFINITION", 0, "Show the probe without adding it: the same as -n -a"},
	{"externs", OPT_EXTERNS, NULL, 0, "With -V, also list global variables"},
	{"filter", OPT_FILTER, "FILTER", 0,
	 "With -V and -F, list only names that match FILTER: '!_* & *len'"},
	{"no-inlines", OPT_NO_INLINES, NULL, 0, "Skip inlined copies of functions"},
	/* Of perf probe, which keeps its probes in the kernel. */
	{"list", 'l', "EVENT", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL},
	{"del", 'd', "EVENT", OPTION_HIDDEN, NULL},
	{"force", 'f', NULL, OPTION_HIDDEN, NULL},
	{"cache", OPT_CACHE, NULL, OPTION_HIDDEN, NULL},
	{"dry-run", 'n', NULL, 0,
	 "Show what would be done: probe points, argument locations, attach method, code"},
	{"exec", 'x', "PATH", 0, "Probe this program or library instead of the kernel"},
	{"module", 'm', "NAME", 0, "Probe this kernel module"},
	{"vmlinux", 'k', "PATH", 0, "Kernel image with debug information"},
	{"source", 's', "PATH", 0, "Directory of the source files for -L"},
	{"attach", OPT_ATTACH, "METHOD", 0,
	 "Attach method: fentry, kprobe.multi, uprobe.multi, kprobe or uprobe"},
	{"way", OPT_ATTACH, "METHOD", OPTION_HIDDEN, NULL, 0}, /* its name in 0.1.0 */
	{"json", 'j', NULL, 0, "Print JSON"},
	{"verbose", 'v', NULL, 0, "Be verbose (-vv for debugging)"},
	{"quiet", 'q', NULL, 0, "Print only errors and the requested output"},
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
	const char *text; /* of -V and -L */
	VEC(const char *) definitions;
	struct strbuf words; /* the arguments: one definition, as perf probe has it */
	char *here;	     /* -x of a file in this directory */
	const char *vmlinux;
	bool quiet;
	int verbose;
	struct probe_view view;
};

static void set_action(struct argp_state *state, enum action action, const char *text)
{
	struct probe *p = state->input;

	if (p->action != ACTION_NONE)
		argp_error(state, "only one of -F, -V and -L can be used");
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

	if (!p->view.exec || strchr(p->view.exec, '/') || stat(p->view.exec, &st) ||
	    !S_ISREG(st.st_mode))
		return;
	p->here = text_format("./%s", p->view.exec);
	if (!p->here)
		argp_failure(state, 1, ENOMEM, "options");
	p->view.exec = p->here;
}

static const struct option_member members[] = {
	OPTION_SETS(OPT_FILTER, struct probe, view.filter),
	OPTION_SETS(OPT_EXTERNS, struct probe, view.externs),
	OPTION_SETS(OPT_NO_INLINES, struct probe, view.no_inlines),
	OPTION_SETS('n', struct probe, view.code),
	OPTION_SETS('x', struct probe, view.exec),
	OPTION_SETS('m', struct probe, view.module),
	OPTION_SETS('k', struct probe, vmlinux),
	OPTION_SETS('s', struct probe, view.source),
	OPTION_SETS('j', struct probe, view.json),
	OPTION_SETS('v', struct probe, verbose),
	OPTION_SETS('q', struct probe, quiet),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct probe *p = state->input;

	switch (key) {
	case 'F':
		set_action(state, ACTION_FUNCS, NULL);
		p->view.filter = arg ? arg : p->view.filter;
		return 0;
	case 'D':
		p->view.code = true;
		add_definition(state, arg);
		return 0;
	case 'l':
	case 'd':
	case OPT_CACHE:
		argp_error(state, "perf-bpf keeps no probes in the kernel to list or delete: a "
				  "probe exists only while its 'record' or 'run' runs; use 'perf "
				  "probe' for probes added with perf");
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
		if (!p->words.len && !p->view.exec && !p->view.module && is_program(arg))
			p->view.exec = arg;
		else
			strbuf_addf(&p->words, "%s%s", p->words.len ? " " : "", arg);
		return 0;
	case OPT_ATTACH:
		option_check(state, "--attach", probe_way_parse(arg, &p->view.way));
		return 0;
	case ARGP_KEY_END:
		if (strbuf_failed(&p->words))
			argp_failure(state, 1, ENOMEM, "options");
		if (p->action == ACTION_FUNCS && p->words.len && !p->view.filter)
			p->view.filter =
				strbuf_str(&p->words); /* "-F FILTER", as with "-FFILTER" */
		else if (p->words.len)
			add_definition(state, strbuf_str(&p->words));
		if (p->action != ACTION_NONE && p->definitions.n)
			argp_error(state, "'%s': -F, -V and -L do not take another definition",
				   p->definitions.v[0]);
		if (p->action == ACTION_NONE && !p->definitions.n)
			argp_error(state, "give a probe definition, or one of -F, -V and -L");
		if (p->view.exec && p->view.module)
			argp_error(state, "-x and -m cannot be used together");
		if (p->view.externs && p->action != ACTION_VARS)
			argp_error(state, "--externs works only with -V");
		if (p->view.filter && p->action != ACTION_VARS && p->action != ACTION_FUNCS)
			argp_error(state, "--filter works only with -V and -F");
		find_here(state);
		return 0;
	}
	return option_set(members, key, arg, p) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = options,
	.parser = parse_option,
	.args_doc = "[PROGRAM] [DEFINITION]",
	.doc = "Show what can be probed, and how a probe would be placed.\vDEFINITION: "
	       "[KEY=VALUE;]... [EVENT=]FUNC[@FILE][+OFFSET|%return|:LINE|;PATTERN] [ARG ...]; see "
	       "perf-bpf-probes(7).\nNothing is added to the kernel. To record a probe:\n  "
	       "perf-bpf record -e 'probe:DEFINITION'",
};

static struct error *show_definitions(const struct probe *p, struct strbuf *out)
{
	for (size_t i = 0; i < p->definitions.n; i++) {
		TRY(probe_show_points(&p->view, p->definitions.v[i], out));
		if (!p->view.code && !p->view.json && !p->quiet)
			TRY(probe_show_command(&p->view, p->definitions.v[i], out));
	}
	return NULL;
}

static struct error *show(const struct probe *p, struct strbuf *out)
{
	switch (p->action) {
	case ACTION_FUNCS:
		return probe_show_functions(&p->view, out);
	case ACTION_VARS:
		return probe_show_variables(&p->view, p->text, out);
	case ACTION_LINES:
		return probe_show_lines(&p->view, p->text, out);
	default:
		return show_definitions(p, out);
	}
}

/*
 * How a function of the kernel can be probed is found out by trying. Binaries may be anybody's, so
 * what is to be known of the kernel for them is asked before.
 */
static struct error *drop_privileges(const struct probe *p, const struct log *log)
{
	static const enum sys_bpf_feature of_binaries[] = {
		SYS_BPF_UPROBE_MULTI,
		SYS_BPF_COOKIE,
		SYS_BPF_PERF_LINK,
		SYS_BPF_FUNC_IP,
	};
	bool in_kernel = false;

	for (size_t i = 0; i < p->definitions.n && !p->view.exec; i++) {
		_cleanup_probe_def_ struct probe_def def = {0};

		TRY(probe_def_parse(p->definitions.v[i], &def));
		in_kernel |= !def.exec;
	}
	for (size_t i = 0; p->definitions.n && !in_kernel && i < ARRAY_SIZE(of_binaries); i++)
		sys_bpf_has(of_binaries[i]);
	return privileges_of_probe(in_kernel, log);
}

static struct error *run(struct probe *p)
{
	struct log log = cmd_log(p->verbose);
	const struct finder_opts opts = {.vmlinux = p->vmlinux, .log = &log};
	_cleanup_(probe_finder_freep) struct probe_finder *finder = NULL;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	if (p->quiet)
		log.write = NULL;
	TRY(drop_privileges(p, &log));
	TRY(probe_finder_new(&opts, &finder));
	p->view.finder = finder;
	p->view.verbose = p->verbose;
	p->view.log = &log;
	TRY(show(p, &out));
	if (!p->view.json)
		plain_since(&out, 0, true); /* names and lines of binaries of anybody */
	return cmd_print(&out);
}

static void probe_deinit(struct probe *p)
{
	strbuf_deinit(&p->words);
	free(p->here);
	vec_deinit(&p->definitions);
}

int cmd_probe(int argc, char **argv)
{
	_cleanup_(probe_deinit) struct probe p = {0};

	if (cmd_parse(&argp, argc, argv, 0, NULL, &p))
		return 2;
	struct error *err = run(&p);
	return err ? cmd_fail(err) : 0;
}
