/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The recorder: opens events for a target, loads the BPF programs that filter
 * them, and writes what comes to a perf.data file until the workload ends or
 * a signal says so.
 *
 *	struct recording *rec;
 *	TRY(recording_new(&opts, &rec));
 *	err = recording_run(rec);	// also on an error: see the result
 *	const struct record_result *result = recording_result(rec);
 *	recording_free(rec);
 *
 * While it runs, SIGINT, SIGTERM and SIGCHLD are blocked and read from a
 * signalfd, SIGPIPE is ignored; recording_free() puts all back as it was.
 */
#ifndef PB_PERF_RECORD_RECORD_H
#define PB_PERF_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/sys/confine.h"
#include "lib/sys/sys.h"
#include "perf/event/encode.h"
#include "perf/select/select.h"
#include "probe/attach/probe.h"
#include "work/cgroup_choice.h"

struct compile_opts;

/* What the command line names, in its order. */
enum record_arg_kind {
	RECORD_EVENTS,	/* -e TEXT: see perf/select/select.h */
	RECORD_FILTER,	/* --filter TEXT: for the events of the RECORD_EVENTS before it */
	RECORD_OBJECT,	/* --object FILE: as -e FILE */
	RECORD_CGROUPS, /* -G LIST: of the events before it, in their order */
	RECORD_OUTPUT,	/* what a program of the caller puts out: see live_events_fill_map() */
};

/* Whether the kernel adds the build ids of files to their mappings. */
enum record_buildid_mmap {
	RECORD_BUILDID_MMAP_AUTO, /* where the kernel can: since 5.12 */
	RECORD_BUILDID_MMAP_YES,  /* an error where it cannot */
	RECORD_BUILDID_MMAP_NO,
};

/* When the recording goes on in another file. */
enum record_switch_by {
	RECORD_SWITCH_NEVER,
	RECORD_SWITCH_SIGNAL, /* SIGUSR2 */
	RECORD_SWITCH_SIZE,   /* of the file, in bytes */
	RECORD_SWITCH_TIME,   /* in seconds */
};

/* OUTPUT is the file that is written, OUTPUT.DATE those that are complete: work/file_series.h. */
struct record_switch {
	enum record_switch_by by;
	uint64_t value;
	unsigned max_files; /* the oldest beyond so many are removed; 0: none */
	const char *event;  /* also when it happens, which is not recorded; NULL: none */
};

struct record_arg {
	enum record_arg_kind kind;
	const char *text;
};

/* From here on the recorder needs fewer privileges. */
enum record_phase {
	RECORD_COPYING,	  /* in the process that copies files to buildid_dir, before it does */
	RECORD_RUNNING,	  /* all is attached and the workload runs */
	RECORD_FINISHING, /* nothing is recorded any more; binaries are read for their build ids */
};

/* Milliseconds since the start of the workload. */
struct record_span {
	uint32_t start_ms, end_ms;
};

/* Everything is borrowed until recording_free(). */
struct record_opts {
	size_t sz; /* sizeof(struct record_opts) */
	const struct record_arg *args;
	size_t n_args;	    /* 0: cycles, or cpu-clock where there is no PMU */
	const char *output; /* "perf.data"; "-" is stdout, in the pipe form */

	/* The target: the workload, or all of the system when none is given. */
	bool all_cpus;
	const char *cpus; /* CPU list; NULL: all */
	const char *pids; /* comma-separated; with all their threads */
	const char *tids;
	const char *users;	      /* the processes that they have at the start; names or ids */
	struct cgroup_choice cgroups; /* all of the system, but of these cgroups only */
	const char *uids; /* users, for programs that call perf_bpf_wanted(); NULL: all */
	const struct program_owner *owner; /* likewise; see work/program_filter.h */
	const char *const *sets;	   /* "NAME=VALUE" for all objects */
	size_t n_sets;
	char *const *workload; /* argv, NULL-terminated; NULL: none */

	uint64_t period;		 /* -c; 0: by frequency */
	uint64_t freq;			 /* -F; 0: 4000; or SELECT_FREQ_MAX */
	bool strict_freq;		 /* a freq above the kernel's limit is an error */
	enum select_callgraph callgraph; /* of events whose terms do not say it */
	uint32_t stack_size;		 /* of SELECT_CALLGRAPH_DWARF; 0: SELECT_STACK_DEFAULT */
	bool user_chains;		 /* of RECORD_OUTPUT: without the kernel's frames */
	bool data_addresses;  /* in samples of counters, with maps of data: for page faults */
	uint64_t sample_type; /* more members of these samples and of tracepoints': a mask */
	bool switches;	      /* a record of each context switch of the target */
	uint64_t user_regs;   /* in each sample, a mask; 0: those that copies of stacks need */
	uint64_t intr_regs;   /* those at the interrupt, likewise; 0: none */
	uint64_t branches;    /* PERF_SAMPLE_BRANCH_*: the last branches, in each sample; 0: none */
	bool data_maps;	      /* mappings of data, which data_addresses records too */
	bool has_clock;	      /* times are those of this clock; else those of perf events */
	int32_t clock;	      /* CLOCK_* */
	/* Of all call chains; at most one of them. */
	bool no_kernel_chains, no_user_chains;
	bool all_cgroups;    /* the cgroup of each sample, and the names of all cgroups */
	bool namespaces;     /* the namespaces of processes */
	bool with_ids;	     /* samples begin with an IDENTIFIER also if there is only one event */
	bool thread_counts;  /* what each inherited event counted, when its thread ends */
	bool running_time;   /* how long events were enabled and counted, where they are read */
	bool off_cpu;	     /* how long tasks sleep, as samples of the event offcpu-time */
	uint64_t off_cpu_ns; /* those of at least so long have samples of their own */
	bool no_bpf_events;  /* without the loading of BPF programs, and their code */
	/* Of the selected events; at most one of them. */
	bool only_user, only_kernel;
	bool no_samples; /* events are open, but take no samples */
	/* Of what exists when the file begins. */
	bool no_existing_tasks, no_existing_maps, no_existing_cgroups;
	bool no_inherit;
	bool one_group; /* of all events that are selected, but for probes and programs */
	/* A ring for each thread, and none for their children; not with all_cpus or cpus. */
	bool per_thread;
	bool no_buffering; /* write at every record */
	/*
	 * "cpu", "core", "package", "numa" or "RINGS/RUNS:..." (lists of CPUs): output is a
	 * directory, with a file for each ring, which several threads write; NULL: one file.
	 */
	const char *threads;
	bool kcore;	/* output is a directory, which has the kernel's symbols and code, too */
	bool overwrite; /* the rings keep the last samples, and are read at the end of a file */
	bool tail_synthesize; /* what exists is recorded at the end of the file */
	size_t mmap_pages;    /* 0: a good size within what may be locked */
	uint64_t mmap_flush;  /* rings with fewer bytes are left alone until a file ends */
	int delay_ms;	      /* enable so long after the workload began; -1: never by itself */
	const struct record_span *spans; /* enable in these only; then delay_ms is not used */
	size_t n_spans;
	const char *control; /* "fifo:PATH[,ACK]", "fd:N[,ACK]": commands while it runs; NULL */
	void (*say)(void *ctx, const char *text); /* what commands answer people; NULL: nothing */
	void *say_ctx;
	int realtime;	   /* the priority of SCHED_FIFO; 0: as the caller */
	uint64_t max_size; /* stop after so many bytes; 0: none */
	struct record_switch switch_output;
	/* Confines the process that creates the files; NULL: it is not confined. */
	struct error *(*confine_files)(void *ctx);
	void *confine_files_ctx;
	int zstd_level;	  /* 0: no compression */
	bool compressed2; /* as COMPRESSED2 records */
	enum record_buildid_mmap buildid_mmap;
	bool all_build_ids;	 /* also of code that was mapped, but not hit */
	bool no_build_ids;	 /* do not look for the build ids of what was hit */
	const char *buildid_dir; /* copy the files with them to perf's cache; NULL: do not */
	const struct compile_opts *compile; /* for FILE.c */
	const char *vmlinux;	  /* the kernel's image with debug information, for probes; NULL */
	enum probe_way probe_way; /* how probes are attached */
	const struct sys_roots *roots; /* NULL: the running system */
	/* In the process that finds probe points; NULL: in this process. */
	confine_fn *confine_finder;
	const struct log *log;
	/*
	 * For a recording in two processes (perf/record/passed_events.h). track: with all_cpus, the
	 * side-band records are those of this process and of its children from now on alone. adopt:
	 * the events are those that another process has opened; gives its descriptors, which are
	 * the recording's then, and args and the target are not used.
	 */
	pid_t track;
	struct error *(*adopt)(void *ctx, int *fds, size_t max, size_t *n);
	/* Called when the fd of recording_watch() can be read, which ends the recording. */
	void (*adopted_end)(void *ctx);
	void *adopt_ctx;
	struct error *(*enter)(void *ctx, enum record_phase phase); /* NULL: not called */
	void *enter_ctx;
	int argc; /* for the CMDLINE feature */
	const char *const *argv;
};

struct record_loss {
	enum ledger_kind kind;
	char *name;
	uint64_t id;
	uint64_t count;
};

enum loss_accuracy {
	LOST_EXACT,
	LOST_UP_TO,	  /* before 6.0: side-band records are among lost_total */
	LOST_NOT_COUNTED, /* and there may be more: a ring was full at the end */
};

/* What found no room in a ring. */
struct record_no_room {
	uint64_t samples;
	uint64_t sideband; /* records about processes; before 6.0 they are among the samples */
	enum loss_accuracy accuracy;
};

struct record_result {
	bool started;	  /* events were enabled, a file was written */
	uint64_t samples; /* in the file, up to its last full round */
	uint64_t bytes;	  /* of the file, or of all files */
	uint64_t wakeups; /* rounds in which there was something to write */
	const char *output;
	bool has_dates;			  /* the files are OUTPUT.DATE */
	const struct record_loss *losses; /* the ledger: what was lost, never 0 */
	size_t n_losses;
	uint64_t lost_total; /* ring losses and BPF output drops */
	enum loss_accuracy lost;
	uint64_t unwritten; /* of lost_total: samples that were taken, and found no room in the file
			     */
	bool overwrites;    /* only the last samples are in the file, if some were overwritten */
	bool workload_ended;
	int workload_status; /* of waitpid(2); meaningful with workload_ended */
	/* Of the stacks examined, those that end in code without frame pointers; see perf/unwind/.
	 */
	uint64_t stacks_examined, stacks_broken;
	int signal; /* that ended it: SIGINT, SIGTERM, …; 0: none */
};

/*
 * -m: a number of pages, or a size ("512K", "1M", "16MB", "1G"), rounded up
 * to a power of two of pages.
 */
struct error *record_pages_parse(const char *text, size_t page_size, size_t *pages);

/* -D "10-20,30-40": in ascending order, at most max. Errors are of usage. */
struct error *record_spans_parse(const char *text, struct record_span *spans, size_t max,
				 size_t *n);

/* --switch-output: "signal", "100M", "10s"; max_files is 0. Errors are of usage. */
struct error *record_switch_parse(const char *text, struct record_switch *out);

/* --synth: "task", "mmap", "cgroup", "all" or "no", comma-separated. Errors are of usage. */
struct error *record_synth_parse(const char *text, struct record_opts *opts);

struct recording;

struct error *recording_new(const struct record_opts *opts, struct recording **out);
/*
 * Records. On an error after the file was begun, the file is readable up to
 * the last round, and the result says what it holds. ECHILD with a hint: the
 * workload could not be started.
 */
struct error *recording_run(struct recording *rec);
/* Instead: looks up the events and opens the objects that the options name. */
struct error *recording_check(struct recording *rec);
const struct record_result *recording_result(const struct recording *rec);
/* opts.adopt: the recording ends when this fd, which is the caller's, can be read. */
struct error *recording_watch(struct recording *rec, int fd);
/* Detaches and closes everything; ends a workload that still runs. */
void recording_free(struct recording *rec);
DEFINE_FREEP(struct recording, recording_free)

#endif
