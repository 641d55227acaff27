/* SPDX-License-Identifier: BSD-2-Clause */
/* How the results of perf-bpf run come out: its options, and what takes each look. */
#ifndef PB_CMD_RUN_OUTPUT_H
#define PB_CMD_RUN_OUTPUT_H

#include <argp.h>
#include <stdbool.h>

#include "cmd/export.h"
#include "lib/base/error.h"
#include "run/run_session.h"
#include "show/text_tables.h"

struct run_output_opts {
	struct export_opts export;
	bool live;
	bool callee; /* trees of stacks from the innermost function on */
	bool shades_given;
	bool top_given;		 /* how many rows are shown */
	enum text_shades shades; /* of heat maps, where given; else as the terminal can */
	bool series_given;
	size_t series;		  /* of a map, that scrapes get at most; 0: all */
	const char *openmetrics;  /* where scrapes are answered; NULL: nowhere */
	bool interval;		  /* there will be several looks */
	const char *const *files; /* what is run, for titles */
	size_t n_files;
	const char *command; /* the command line, for the page */
};

/* The options, for a child of the command's argp; the input is a struct run_output_opts. */
extern const struct argp run_output_argp;

struct run_output;

/* opts is borrowed until run_output_free(); what it needs of run's options is set there. */
struct error *run_output_new(const struct run_output_opts *opts, struct run_opts *run,
			     struct run_output **out);
void run_output_free(struct run_output *output);
DEFINE_FREEP(struct run_output, run_output_free)

/* Between run_new() and run_loop(); and before an error is printed: the terminal is as it was. */
/* Before the programs are attached: ENODATA if the options need stacks, and no map has any. */
struct error *run_output_check(const struct run_output_opts *opts, const struct run *run);
struct error *run_output_begin(struct run_output *output, struct run *run);
void run_output_end(struct run_output *output);

/* run_show_fn: ctx is a struct run_output. */
struct error *run_output_show(void *ctx, struct run *run, const struct results *results, bool last);

#endif
