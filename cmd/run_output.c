// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/run_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "show/csv.h"
#include "show/result_json.h"
#include "show/text.h"

enum {
	OPT_JSON = 512,
	OPT_CSV,
};

static const struct argp_option options[] = {
	{"json", OPT_JSON, NULL, 0, "Print a line of JSON for each map"},
	{"csv", OPT_CSV, NULL, 0, "Print a table of comma-separated values for each map"},
	{0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct run_output_opts *opts = state->input;

	switch (key) {
	case OPT_JSON:
		opts->json = true;
		return 0;
	case OPT_CSV:
		opts->csv = true;
		return 0;
	case ARGP_KEY_END:
		if (opts->json + opts->csv > 1)
			argp_error(state, "--json and --csv are two ways to print the same: choose "
					  "one");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp run_output_argp = {.options = options, .parser = parse_option};

struct run_output {
	const struct run_output_opts *opts;
	struct csv csv;
	enum text_shades shades;
	struct text_events events;
};

struct error *run_output_new(const struct run_output_opts *opts, struct run_output **out)
{
	_cleanup_(run_output_freep) struct run_output *output = calloc(1, sizeof(*output));

	if (!output)
		return error_nomem();
	output->opts = opts;
	output->csv.looks = opts->interval;
	*out = steal_ptr(output);
	return NULL;
}

void run_output_free(struct run_output *output)
{
	if (!output)
		return;
	csv_deinit(&output->csv);
	text_events_deinit(&output->events);
	free(output);
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
	bool look = output->opts->interval && !results->events;
	struct text_opts opts = {
		.width = terminal_width(),
		.shades = output->shades,
		.events = &output->events,
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

struct error *run_output_show(void *ctx, const struct results *results, bool last)
{
	struct run_output *output = ctx;
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	if (output->opts->json)
		results_json(results, last, &out);
	else if (output->opts->csv)
		results_csv(&output->csv, results, &out);
	else
		add_text(output, results, &out);
	if (strbuf_failed(&out))
		return error_nomem();
	fwrite(strbuf_str(&out), 1, out.len, stdout);
	if (fflush(stdout))
		return error_errno(errno, "the output cannot be written");
	return NULL;
}
