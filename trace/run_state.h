/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace, for the files that open it (trace_open.c) and run it (trace_run.c). */
#ifndef PB_TRACE_RUN_STATE_H
#define PB_TRACE_RUN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/sys/proc.h"
#include "lib/sys/sys.h"
#include "perf/select/select.h"
#include "trace/call_conditions.h"
#include "trace/thread_counts.h"
#include "trace/trace_run.h"
#include "trace/waiting_calls.h"
#include "work/tasks.h"

enum { TRACE_MAX_STACK = 127 }; /* frames, as in perf */

struct trace_run {
	struct trace_run_opts opts;
	struct btf *vmlinux; /* NULL: none */
	struct call_table *table;
	struct trace_call *calls; /* TRACE_ABIS * TRACE_NRS */
	struct call_conditions conditions;
	struct loop *loop;
	struct tasks tasks;
	struct trace_source *source;	      /* NULL: no system calls */
	struct names call_exprs, event_exprs; /* of -e */
	struct names body_calls, bodies;      /* of -e 'CALLS { BODY }' */
	bool *seen_exprs;		      /* of event_exprs: the recording (-i) has it */
	size_t n_named_events;		      /* of event_exprs: by -e, not by the configuration */
	struct other_events *others;	      /* NULL: only system calls */
	struct augmenter *augmenter;	      /* NULL: none */
	char *augmenter_path;
	struct sys_pids exclude;
	struct thread_counts counts;	 /* for the summary */
	struct waiting_calls waiting;	 /* for their call chains */
	VEC(struct trace_record *) held; /* calls that ended after the events were read */
	uint64_t read_ns;		 /* when that was */
	uint64_t n_paths;		 /* of descriptors, in the records */
	struct call_lines *lines;
	struct call_sums *sums;
	struct record_sums *replayed; /* with a summary of a recording */
	struct call_recording *recording;
	struct strbuf existing; /* records for it of what there was before it was opened */
	struct sys_cpus cpus;
	struct strbuf out;
	VEC(struct lost_calls) losses;
	uint64_t lost;
	uint64_t n_lines, n_records, n_bytes, n_drains;
	uint64_t n_events;    /* that were recorded */
	VEC(size_t) recorded; /* which event of the recording each other event is; -1: none */
	size_t n_recorded;
	int drain_timer, delay_timer;
	bool started;
	bool began;	/* the workload's own program runs */
	bool closed;	/* nobody reads the lines */
	int net_socket; /* for names of interfaces; -1: none */
};

#endif
