// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/export.h"

#include "cmd/cmd.h"
#include "cmd/options.h"
#include "show/folded.h"
#include "show/pprof.h"
#include "show/result_json.h"

enum {
	OPT_JSON = 1024,
	OPT_CSV,
	OPT_HTML,
	OPT_FOLDED,
	OPT_PPROF,
};

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "Print one line of JSON per result"},
	{"csv", OPT_CSV, NULL, 0, "Print one table of comma-separated values per result"},
	{"html", OPT_HTML, "FILE", 0, "Also write the results to FILE as one HTML page"},
	{"folded", OPT_FOLDED, NULL, 0, "Print stacks as folded lines for flamegraph.pl"},
	{"pprof", OPT_PPROF, "FILE", 0, "Also write stacks to FILE as a pprof profile"},
	{0},
};

static const struct option_member members[] = {
	OPTION_SETS(OPT_JSON, struct export_opts, json),
	OPTION_SETS(OPT_CSV, struct export_opts, csv),
	OPTION_SETS(OPT_HTML, struct export_opts, html),
	OPTION_SETS(OPT_FOLDED, struct export_opts, folded),
	OPTION_SETS(OPT_PPROF, struct export_opts, pprof),
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	return option_set(members, key, arg, state->input) ? 0 : ARGP_ERR_UNKNOWN;
}

const struct argp export_argp = {.options = options, .parser = parse_option};

struct error *export_check(const struct export_opts *opts)
{
	if (opts->html)
		TRY(cmd_check_writable(opts->html));
	return opts->pprof ? cmd_check_writable(opts->pprof) : NULL;
}

bool export_print(const struct export_opts *opts, const struct results *results, bool last,
		  struct csv *csv, struct strbuf *out)
{
	if (opts->json)
		results_json(results, last, out);
	else if (opts->csv)
		results_csv(csv, results, out);
	else if (opts->folded)
		results_folded(results, out);
	return opts->json || opts->csv || opts->folded;
}

static struct error *write_file(const char *path, struct export_process *process,
				enum export_file which, const struct strbuf *text)
{
	if (strbuf_failed(text))
		return error_nomem();
	return process ? export_process_write(process, which, text)
		       : cmd_write_file(path, text, true);
}

struct error *export_pprof(const struct export_opts *opts, struct export_process *process,
			   const struct results *results)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	TRY(results_pprof(results, &out));
	return write_file(opts->pprof, process, EXPORT_PPROF, &out);
}

struct error *export_html(const struct export_opts *opts, struct export_process *process,
			  const struct results *results, const struct html_about *about,
			  const struct html_events *events)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	results_html(results, about, events, &text);
	return write_file(opts->html, process, EXPORT_HTML, &text);
}

static struct error *export_page(const struct export_opts *opts, const struct opened_recording *r,
				 const struct results *results)
{
	const struct data_header *header = session_header(r->session);
	_cleanup_strbuf_ struct strbuf command = STRBUF_INIT;
	const struct html_events none = {0};

	for (size_t i = 0; i < header->n_cmdline; i++)
		strbuf_addf(&command, "%s%s", i ? " " : "", header->cmdline[i]);
	if (strbuf_failed(&command))
		return error_nomem();
	const struct html_about about = {
		.title = r->path,
		.command = command.len ? command.str : NULL,
		.host = header->hostname,
		.kernel = header->osrelease,
		.version = "perf-bpf " PERF_BPF_VERSION,
	};
	return export_html(opts, NULL, results, &about, &none);
}

struct error *export_recording(const struct export_opts *opts, const struct opened_recording *r,
			       const struct results *results)
{
	if (opts->pprof)
		TRY(export_pprof(opts, NULL, results));
	return opts->html ? export_page(opts, r, results) : NULL;
}
