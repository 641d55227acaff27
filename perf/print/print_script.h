/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A whole recording as text, as perf script prints it: its header, its samples and
 * the other records that were asked for, line by line or as lines of JSON.
 */
#ifndef PB_PERF_PRINT_SCRIPT_H
#define PB_PERF_PRINT_SCRIPT_H

#include "perf/filter/filter.h"
#include "perf/print/print.h"
#include "perf/timeline/timeline.h"

/* script_driver.py: the Python program that runs a script on the lines of script_opts.python. */
extern const char script_driver[];
extern const size_t script_driver_size;

struct script_opts {
	size_t sz;				  /* sizeof(struct script_opts) */
	const struct opened_recording *recording; /* borrowed */
	const struct field_choice *fields;
	bool json, ns, hide_chain, short_start;
	bool python;		       /* lines for script_driver.py */
	uint64_t python_fields;	       /* printer_opts.python_fields */
	bool full_paths;	       /* of source lines */
	struct timeline *timeline;     /* takes the samples, which are not printed; NULL: none */
	enum time_base time_base;      /* of the text */
	const struct names *chain_end; /* printer_opts.chain_end */
	/* DUMP_REPORT: no lines, but the number of records of each type; DUMP_STATS: that alone */
	enum dump_style dump;
	bool count_empty;		    /* also types and events without records */
	bool header, header_only, topology; /* topology: in the header */
	/* Print what FEATURE records of a dump say, as in the header. */
	bool dump_features;
	bool show_task, show_mmap, show_lost, show_bpf, show_switch;
	bool show_cgroups, show_namespaces, show_rounds, show_text_pokes;
	bool kernel_path;    /* printer_opts.kernel_path */
	unsigned max_stack;  /* 0: 127 */
	unsigned max_blocks; /* printer_opts.max_blocks */
	const char *head;    /* printed first; NULL: nothing */

	/* Takes what has gathered, and leaves out to the caller; SESSION_STOP: nobody reads on. */
	struct error *(*write)(void *ctx, const struct strbuf *out);
	void *write_ctx;
	/*
	 * Takes text of n samples of an event instead; at first nothing of each event. NULL: all
	 * text goes where write() has it.
	 */
	struct error *(*write_event)(void *ctx, const struct session_event *event,
				     const struct strbuf *text, uint64_t n);
};

/* What could be read before an error is written. SESSION_STOP from write is no error. */
struct error *script_print(const struct script_opts *opts);

#endif
