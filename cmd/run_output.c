// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/run_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "cmd/privileges.h"
#include "cmd/run_live.h"
#include "cmd/tty.h"
#include "serve/server_process.h"
#include "show/openmetrics.h"
#include "show/text_tables.h"

enum {
	OPT_CALLEE = 512,
	OPT_SHADES,
	OPT_OPENMETRICS,
	OPT_LIVE,
	OPT_SERIES,
};

enum {
	TERMINAL_TOP = 10, /* rows of a table where a terminal scrolls, unless --top is given */
	SERIES_MAX = 1000, /* of a map, for --openmetrics */
	LIVE_TOP = 100,	   /* rows of a table on a screen, unless --top says another number */
	HEAD_MS = 1000,	   /* what a client of --openmetrics has for its request */
	SCRAPE_MS = 10000, /* and for all, as Prometheus does by itself */
};

static const struct argp_option options[] = {
	{"callee", OPT_CALLEE, NULL, 0, "Show stack trees starting with the innermost function"},
	{"shades", OPT_SHADES, "HOW", 0, "Draw heat maps in chars, gray or color"},
	{"live", OPT_LIVE, NULL, 0, "Redraw the results in place, every second or --interval"},
	{"openmetrics", OPT_OPENMETRICS, "ADDR:PORT", 0,
	 "Also serve the maps to Prometheus at http://ADDR:PORT/metrics"},
	{"openmetrics-series", OPT_SERIES, "N", 0,
	 "Serve at most N label sets of a map (default 1000; 0: all)"},
	{0},
};

static bool parse_shades(const char *text, enum text_shades *shades)
{
	static const char *const names[] = {
		[SHADES_CHARS] = "chars",
		[SHADES_GRAY] = "gray",
		[SHADES_COLOUR] = "color",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(text, names[i]))
			continue;
		*shades = i;
		return true;
	}
	return false;
}

/* Colours where the terminal has 256 of them. */
static enum text_shades choose_shades(void)
{
	const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
	bool has = getenv("COLORTERM") || (term && strstr(term, "256color"));

	return has && isatty(STDOUT_FILENO) && !(no && *no) ? SHADES_COLOUR : SHADES_CHARS;
}

static const struct option_member members[] = {
	OPTION_SETS(OPT_CALLEE, struct run_output_opts, callee),
	OPTION_SETS(OPT_LIVE, struct run_output_opts, live),
	OPTION_SETS(OPT_OPENMETRICS, struct run_output_opts, openmetrics),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct run_output_opts *opts = state->input;
	uint64_t number;

	switch (key) {
	case OPT_SHADES:
		if (!parse_shades(arg, &opts->shades))
			argp_error(state, "--shades %s: expected chars, gray or color", arg);
		opts->shades_given = true;
		return 0;
	case OPT_SERIES:
		if (!option_number(arg, SIZE_MAX, &number))
			argp_error(state,
				   "--openmetrics-series %s: expected a number, or 0 for all", arg);
		opts->series = number;
		opts->series_given = true;
		return 0;
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &opts->export;
		return 0;
	case ARGP_KEY_END:
		if (opts->export.json + opts->export.csv + opts->export.folded + opts->live > 1)
			argp_error(state,
				   "only one of --json, --csv, --folded and --live can be used");
		if (opts->series_given && !opts->openmetrics)
			argp_error(state, "--openmetrics-series works only with --openmetrics");
		return 0;
	}
	return option_set(members, key, arg, opts) ? 0 : ARGP_ERR_UNKNOWN;
}

static const struct argp_child children[] = {
	{&export_argp, 0, NULL, 0},
	{0},
};

const struct argp run_output_argp = {
	.options = options, .parser = parse_option, .children = children};

struct run_output {
	const struct run_output_opts *opts;
	struct csv csv;
	enum text_shades shades;
	bool ascii;
	struct text_events events;
	struct html_events page_events;
	struct export_process *files;
	struct live *live; /* NULL: what is printed stays */
	char *title;	   /* of the page */
	struct utsname host;
	const struct log *log;
	bool closed; /* nobody reads standard output any more */
	struct server_process *server;
	struct openmetrics_series series;
	size_t top;		     /* that was given */
	struct collect_opts collect; /* of a scrape */
	struct run *run;	     /* once it begins */
};

/* "prog.bpf.c, other.o" */
static struct error *make_title(struct run_output *output)
{
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;

	for (size_t i = 0; i < output->opts->n_files; i++) {
		const char *slash = strrchr(output->opts->files[i], '/');

		strbuf_addf(&title, "%s%s", i ? ", " : "",
			    slash ? slash + 1 : output->opts->files[i]);
	}
	free(output->title);
	output->title = strbuf_steal(&title);
	return output->title ? NULL : error_nomem();
}

/* What the page's head says. */
static struct error *page_new(struct run_output *output)
{
	uname(&output->host);
	return make_title(output);
}

static struct error *write_page(struct run_output *output, const struct results *results)
{
	const struct html_about about = {
		.title = output->title,
		.command = output->opts->command,
		.host = output->host.nodename,
		.kernel = output->host.release,
		.version = "perf-bpf " PERF_BPF_VERSION,
	};

	if (results->events) {
		html_events_add(&output->page_events, results);
		return NULL;
	}
	return export_html(&output->opts->export, output->files, results, &about,
			   &output->page_events);
}

/* Answers to requests. */
enum page {
	PAGE_NONE,
	PAGE_HINT,
	PAGE_PROMETHEUS,
	PAGE_OPENMETRICS,
};

/* server_choose_fn */
static uint8_t choose_page(const struct http_request *request)
{
	bool named, old_named;

	if (request->path_len == 1)
		return PAGE_HINT;
	if (request->path_len != strlen("/metrics") ||
	    memcmp(request->path, "/metrics", request->path_len))
		return PAGE_NONE;
	const unsigned wants = http_wants(request, "application/openmetrics-text", &named);
	return named && wants && wants >= http_wants(request, "text/plain", &old_named)
		       ? PAGE_OPENMETRICS
		       : PAGE_PROMETHEUS;
}

/* server_make_fn */
static struct error *make_page(void *ctx, uint8_t page, struct server_answer *answer)
{
	struct run_output *output = ctx;
	_cleanup_results_ struct results results = {0};
	const struct openmetrics_opts opts = {
		.format = page == PAGE_OPENMETRICS ? OPENMETRICS_1_0 : PROMETHEUS_0_0_4,
		.version = PERF_BPF_VERSION,
		.series = &output->series,
	};

	switch (page) {
	case PAGE_HINT:
		strbuf_adds(&answer->body, "perf-bpf run: the maps are at /metrics\n");
		return NULL;
	case PAGE_PROMETHEUS:
	case PAGE_OPENMETRICS:
		TRY(run_look(output->run, &output->collect, &results));
		results_openmetrics(&results, &opts, &answer->body);
		answer->type = openmetrics_type(opts.format);
		return strbuf_failed(&answer->body) ? error_nomem() : NULL;
	}
	answer->status = 404;
	strbuf_adds(&answer->body, "The only page is /metrics.\n");
	return NULL;
}

/* loop_fn */
static struct error *serve(void *ctx, uint32_t events)
{
	struct run_output *output = ctx;
	bool ended;

	TRY(server_process_work(output->server, make_page, output, &ended));
	if (ended) {
		log_warn(output->log, "--openmetrics: the process of the server has ended");
		run_unwatch(output->run, server_process_fd(output->server));
	}
	return NULL;
}

/* Of server_process_opts. */
static struct error *confine_server(void *ctx)
{
	return privileges_of_server(ctx);
}

/* The port is taken, and the server's process forked, before anything is loaded. */
static struct error *serve_new(struct run_output *output, const struct run_opts *run)
{
	const struct server_deadlines deadlines = {.head_ms = HEAD_MS, .all_ms = SCRAPE_MS};
	struct server *server;

	TRY(error_at(server_new(output->opts->openmetrics, &deadlines, &server), "--openmetrics"));
	const struct server_process_opts opts = {
		.server = server,
		.choose = choose_page,
		.confine = confine_server,
		.confine_ctx = (void *)run->log,
	};
	_cleanup_free_ char *address = strdup(server_address(server));
	TRY(error_at(server_process_new(&opts, &output->server), "--openmetrics"));
	output->series.max = output->opts->series_given ? output->opts->series : SERIES_MAX;
	output->collect = run->collect;
	output->collect.delta = false;
	output->collect.totals = true;
	if (run->log)
		cmd_say("perf-bpf: metrics are at http://%s/metrics\n",
			address ? address : output->opts->openmetrics);
	return NULL;
}

/* Forked, too, before anything is loaded. */
static struct error *files_new(struct run_output *output)
{
	const struct export_opts *export = &output->opts->export;
	const char *const paths[EXPORT_FILES] = {
		[EXPORT_HTML] = export->html, [EXPORT_PPROF] = export->pprof};

	return export->html || export->pprof
		       ? export_process_new(paths, output->log, &output->files)
		       : NULL;
}

static struct error *screen_new(struct run_output *output, struct run_opts *run)
{
	const struct text_opts text = {
		.shades = output->shades,
		.ascii = output->ascii,
		.callee = output->opts->callee,
	};

	TRY(make_title(output));
	TRY(live_new(&text, output->title, &output->live));
	if (!output->live)
		return NULL;
	if (!run->collect.top)
		run->collect.top = LIVE_TOP;
	return NULL;
}

struct error *run_output_new(const struct run_output_opts *opts, struct run_opts *run,
			     struct run_output **out)
{
	_cleanup_(run_output_freep) struct run_output *output = calloc(1, sizeof(*output));

	if (!output)
		return error_nomem();
	output->opts = opts;
	output->csv.looks = opts->interval;
	output->log = run->log;
	output->top = run->collect.top;
	output->ascii = !tty_is_utf8();
	output->shades = opts->shades_given ? opts->shades : choose_shades();
	TRY(export_check(&opts->export));
	TRY(files_new(output));
	if (opts->export.html)
		TRY(page_new(output));
	if (opts->openmetrics)
		TRY(serve_new(output, run));
	if (opts->live)
		TRY(screen_new(output, run));
	*out = steal_ptr(output);
	return NULL;
}

void run_output_free(struct run_output *output)
{
	if (!output)
		return;
	csv_deinit(&output->csv);
	text_events_deinit(&output->events);
	html_events_deinit(&output->page_events);
	live_free(output->live);
	server_process_free(output->server);
	openmetrics_series_deinit(&output->series);
	export_process_free(output->files);
	free(output->title);
	free(output);
}

struct error *run_output_check(const struct run_output_opts *opts, const struct run *run)
{
	const char *option = opts->export.folded  ? "--folded"
			     : opts->export.pprof ? "--pprof"
						  : NULL;

	if (!option || run_has_stacks(run))
		return NULL;
	return error_hint(error_new(ENODATA, "%s: none of the maps that are shown has stacks",
				    option),
			  "--json and --csv work with all maps; the built-in programs profile and "
			  "offcputime have stacks");
}

struct error *run_output_begin(struct run_output *output, struct run *run)
{
	output->run = run;
	if (output->server)
		TRY(run_watch(run, server_process_fd(output->server), serve, output));
	return output->live ? live_begin(output->live, run) : NULL;
}

void run_output_end(struct run_output *output)
{
	if (!output || !output->live)
		return;
	live_end(output->live);
	output->closed |= live_stalled(output->live);
}

static unsigned terminal_width(void)
{
	struct winsize size;

	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 80;
}

static void add_text(struct run_output *output, const struct results *results, struct strbuf *out)
{
	const bool look = output->opts->interval && !results->events;
	const bool terminal = isatty(STDOUT_FILENO);
	struct text_opts opts = {
		.width = terminal_width(),
		.cut = terminal,
		.units = terminal,
		.top = !terminal		 ? 0
		       : output->opts->top_given ? output->top
						 : TERMINAL_TOP,
		.ascii = output->ascii,
		.shades = output->shades,
		.events = &output->events,
		.callee = output->opts->callee,
	};

	if (look) {
		time_t when = results->time / 1000000000;
		struct tm tm;
		char text[32];

		localtime_r(&when, &tm);
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
		strbuf_addf(out, "--- %s ---\n", text);
	}
	results_text(results, &opts, out);
	if (look)
		strbuf_addch(out, '\n');
}

/* Folded lines have no room for what a reader of the stacks must know. */
static void warn_of_notes(const struct run_output *output, const struct results *results)
{
	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];

		if (r->kind == RESULT_STACKS && r->note)
			log_warn(output->log, "%s: %s", r->name, r->note);
	}
}

struct error *run_output_show(void *ctx, struct run *run, const struct results *results, bool last)
{
	struct run_output *output = ctx;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	if (last)
		run_output_end(output); /* what was found out stays on the other screen */
	if (output->live && !last)
		TRY(live_show(output->live, results));
	else if (!export_print(&output->opts->export, results, last, &output->csv, &out))
		add_text(output, results, &out);
	if (strbuf_failed(&out))
		return error_nomem();
	TRY(cmd_write_out(strbuf_str(&out), out.len, &output->closed));
	if (output->closed)
		run_stop(run); /* files that were asked for are written at the end all the same */
	if (last && output->opts->export.folded)
		warn_of_notes(output, results);
	if (last && output->opts->export.pprof)
		TRY(export_pprof(&output->opts->export, output->files, results));
	return output->opts->export.html ? write_page(output, results) : NULL;
}
