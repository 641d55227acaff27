/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces system calls until the command, the processes or the user end it: selects the calls and
 * the tasks, hands over the lines while they come, and keeps the sums for the end.
 *
 *	TRY(trace_run_new(&opts, &run));
 *	TRY(trace_run_loop(run));
 *	… trace_run_sums(), trace_run_losses(), trace_run_workload_status() …
 *	trace_run_free(run);
 *
 * Everything in the kernel is gone when the process is, however it ends.
 */
#ifndef PB_TRACE_TRACE_RUN_H
#define PB_TRACE_TRACE_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"
#include "lib/sys/confine.h"
#include "perf/record/record.h"
#include "perf/select/select.h"
#include "trace/call_lines.h"
#include "trace/call_sums.h"
#include "trace/source.h"
#include "work/cgroup_choice.h"
#include "work/loop.h"

struct compile_opts;
struct thread_counts;
struct trace_run;

/*
 * Writes lines. *closed: nobody reads them any more; the trace ends. What is left is passed all the
 * same, to be counted.
 */
typedef struct error *trace_write_fn(void *ctx, const struct strbuf *lines, bool *closed);

/* Everything is borrowed until trace_run_free(). */
struct trace_run_opts {
	size_t sz; /* sizeof(struct trace_run_opts) */
	const struct log *log;
	const char *const *calls; /* lists of -e, also of other events; none: all calls */
	size_t n_calls;
	const char *add_events; /* of the configuration: a list of events besides; NULL: none */
	const struct compile_opts *compile; /* for FILE.c */
	/* In the process that finds probe points; NULL: in this process. */
	confine_fn *confine_finder;
	const char *where; /* a condition on them: trace/call_conditions.h; NULL: none */
	/* Whom; lists "1,2,3", NULL: not restricted. Users by name or uid. */
	char *const *workload; /* argv; NULL: none */
	bool everyone;	       /* also with a workload, which then only says when it ends */
	const char *pids, *tids, *users;
	struct cgroup_choice cgroups; /* of which there is one, with its descendants */
	const char *exclude;	      /* processes besides our own */
	bool no_inherit;
	bool failed_only;
	uint64_t min_ns;      /* shorter calls are left out */
	uint64_t signals;     /* bit N - 1: lines of signal N, in strace's layout */
	uint32_t string_size; /* bytes of strings and buffers */
	uint32_t ring_bytes;  /* 0: the source's default */
	uint64_t delay_ms;    /* tracing starts so long after the workload */
	uint64_t max_lines;   /* ends after so many; 0: no limit */
	bool lines;	      /* of calls */
	const char *input;    /* a recording to print in place of a live trace; NULL: none */
	bool force;	      /* read one of another user */
	const char *output;   /* a perf.data file for the calls; NULL: none */
	int argc;	      /* the command line, for its header */
	const char *const *argv;
	bool no_calls;			 /* only other events */
	bool major_faults, minor_faults; /* page faults, among the calls */
	bool runtime;			 /* of threads, in the summary */
	/* Call chains of calls and other events. */
	enum select_callgraph callgraph;
	uint32_t stack_size; /* of a copy of the stack; 0: a default */
	bool kernel_frames;  /* also in the call chains of calls */
	unsigned max_stack;  /* frames that are shown; 0: 127 */
	unsigned min_stack;  /* calls and events with fewer frames are left out */
	bool summary;
	enum trace_sums_by sums_by;
	enum call_lines_style style;
	bool raw, fd_paths, full_time, no_comm;
	bool prefer_btf; /* see struct call_table_opts */
	/* Of strace's layout: see struct call_text_opts. */
	bool full;
	uint8_t hex_strings;
	enum call_constants constants;
	/* Of perf's columns, as perf's configuration has it: see struct call_text_opts. */
	bool no_time, no_duration, hide_names, show_prefix, show_zeros;
	unsigned alignment;
	const char *cpus; /* calls that end on these: "0,2-3"; NULL: all. Not of the sums */
	/* See struct trace_source_opts; NULL: the program is loaded. */
	trace_ask_fn *ask;
	struct error *(*ask_end)(void *ctx);
	void *ask_ctx;
	trace_write_fn *write;
	/* NULL, or called once, when all is loaded and attached and nothing has been read. */
	struct error *(*attached)(void *ctx);
	void *ctx;
};

/* Loads the program; EINVAL and usage set: what was selected is wrong. */
struct error *trace_run_new(const struct trace_run_opts *opts, struct trace_run **out);
void trace_run_free(struct trace_run *run);
DEFINE_FREEP(struct trace_run, trace_run_free)

/* EBADMSG: the recording (opts.input) is damaged; the lines and sums before that are there. */
struct error *trace_run_loop(struct trace_run *run);

/*
 * What the loop needs besides what is open: files of processes in procfs, for paths of
 * descriptors, symbols and names.
 */
bool trace_run_reads_processes(const struct trace_run *run);
/* And whether events are opened again when a CPU comes back. */
bool trace_run_opens_events_later(const struct trace_run *run);

/* A map of the program; see trace_source_map(). */
struct error *trace_run_map(const struct trace_run *run, const char *name, int *fd);

/* During the loop: fn is called when fd can be read; and an end as by Ctrl-C. */
struct error *trace_run_watch(struct trace_run *run, int fd, loop_fn *fn, void *ctx);
void trace_run_unwatch(struct trace_run *run, int fd);
void trace_run_end(struct trace_run *run);

/* After the loop: */

/* The run's; NULL without a summary. */
struct call_sums *trace_run_sums(const struct trace_run *run);
/* The run's: page faults and run times, with a summary. */
const struct thread_counts *trace_run_counts(const struct trace_run *run);
bool trace_run_workload_status(const struct trace_run *run, int *status);

/* What a call lost on a CPU. */
struct lost_calls {
	enum trace_loss_kind kind;
	uint32_t cpu;
	enum trace_abi abi;
	uint32_t nr;
	const char *name; /* NULL: the number has no name */
	uint64_t n;
};

struct trace_stats {
	uint64_t lines;	 /* calls that were printed or written, and events that were printed */
	uint64_t events; /* that were written */
	uint64_t records, record_bytes, drains;
	uint64_t fd_paths;		   /* of descriptors, in the records */
	uint64_t file_bytes;		   /* of the perf.data file */
	uint64_t lost;			   /* calls that were neither printed nor written */
	struct record_no_room lost_events; /* of other events */
	const struct lost_calls *losses;   /* the run's */
	size_t n_losses;
};

void trace_run_stats(const struct trace_run *run, struct trace_stats *stats);

#endif
