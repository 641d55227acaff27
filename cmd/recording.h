/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The options of every command that reads a recording: which file, where its
 * symbols are, and which of its samples count. An argp child, whose input is a
 * struct recording_opts that the parent sets:
 *
 *	static const struct argp_child children[] = {RECORDING_CHILD, {0}};
 *	...
 *	case ARGP_KEY_INIT:
 *		state->child_inputs[0] = &mine->recording;
 *
 * Letters and meanings are perf's. --dsos is not among them: its letter is -d for
 * perf report only.
 */
#ifndef PB_CMD_RECORDING_H
#define PB_CMD_RECORDING_H

#include <argp.h>

#include "perf/filter/filter.h"

struct recording_opts {
	const char *input; /* NULL: a pipe on standard input, else perf.data */
	bool force;
	const char *kallsyms, *vmlinux, *symfs;
	bool ignore_vmlinux; /* of resolver_opts; set by the command */
	bool no_demangle, demangle_kernel;
	bool parameters;		     /* of C++ functions are shown; set by the command */
	unsigned max_stack;		     /* 0: not given */
	bool lines, inlines;		     /* of resolver_opts; set by the command */
	struct filter_opts filter;	     /* sz is set by recording_open() */
	bool interactive;		     /* of privileges_of_reader(); set by the command */
	const char *outputs[2];		     /* files that the command writes later; NULL: none */
	bool code;			     /* of functions is shown; set by the command */
	bool confined;			     /* by recording_open() of an earlier recording */
	struct demangler *demangler;	     /* of that one */
	struct process_files *process_files; /* likewise */
};

extern const struct argp recording_argp;
/* The same without --input, --comms, --cpu and --max-stack, whose letters diff has for others. */
extern const struct argp recording_filter_argp;
#define RECORDING_CHILD                                                                            \
	{                                                                                          \
		&recording_argp, 0, "Recording and samples:", 1                                    \
	}

/*
 * Drops the privileges of the process, then opens what the options say; log outlives it. Wrong
 * values are errors of usage.
 */
struct error *recording_open(struct recording_opts *opts, const struct log *log,
			     struct opened_recording *r);
/* The file that they name; "-": standard input. */
const char *recording_path(const struct recording_opts *opts);
/* Whether they name standard input. */
bool recording_is_input(const struct recording_opts *opts);
/* Of script_opts. A reader that has gone ends the command quietly. */
struct error *recording_write_out(void *ctx, const struct strbuf *out);
void recording_close(struct opened_recording *r);
#define _cleanup_recording_ _cleanup_(recording_close)

#endif
