/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * System calls as they happen: the BPF program that pairs entries and exits in the kernel, and
 * its records in the order in which the calls ended.
 *
 *	TRY(trace_source_new(&opts, &source));	// loaded, not attached
 *	TRY(trace_source_start(source));
 *	… wait for trace_source_fd(), or as long as trace_source_interval_ms() …
 *	TRY(trace_source_drain(source, fn, ctx));
 *	TRY(trace_source_stop(source));		// detached; drain once more
 *	trace_source_losses(source, fn, ctx);
 *	trace_source_free(source);
 */
#ifndef PB_TRACE_SOURCE_H
#define PB_TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"
#include "syscalls/call_record.h"
#include "trace/trace_maps.h"

struct bpf_program;
struct trace_source;
struct trace_request;
struct call_conditions;

/* Another process than this one, for which is traced. */
struct trace_reader {
	uint32_t pid_ns; /* in which it knows processes: as sys_pid_ns() */
	pid_t self;	 /* as it knows itself */
	bool own;	 /* it sees only processes that this user may trace: <bpf/perf_bpf_own.h> */
	uint32_t uid, gid;
};

/*
 * Asks a process that may load the program, for one that may not. The n descriptors are the
 * caller's: of the program's maps in their order, then TRACE_PASSED_OTHERS. -1: it was not passed.
 */
typedef struct error *trace_ask_fn(void *ctx, const struct trace_request *request, int *fds,
				   size_t n);
enum {
	TRACE_PASSED_RUNNING, /* an iterator: the states of calls that still run */
	TRACE_PASSED_FORMATS, /* a file with the text of call_recording_formats() */
	TRACE_PASSED_END,     /* a file with struct trace_missed, written at the end */
	TRACE_PASSED_OTHERS,
};

struct trace_source_opts {
	size_t sz; /* sizeof(struct trace_source_opts) */
	const struct log *log;
	/* TRACE_ABIS * TRACE_NRS: what is traced, and what is copied. */
	const struct trace_call *calls;
	/* Whom: nothing set is everybody but the excluded. Children of pids and tids are followed
	 * unless no_inherit. */
	const pid_t *pids, *tids;
	size_t n_pids, n_tids;
	const uint32_t *uids;
	size_t n_uids;
	const char *cgroup; /* with its descendants */
	bool no_inherit;
	/* Processes that are left out, with their threads but not their children. */
	const pid_t *exclude;
	size_t n_exclude;
	/* What calls' `where` refers to; NULL: no conditions. */
	const struct call_conditions *where;
	bool failed_only;     /* records of failed calls only; the sums have all */
	uint64_t min_ns;      /* no records of shorter calls; the sums have all */
	uint32_t string_size; /* limit of TRACE_COPY_LIMITED */
	uint32_t ring_bytes;  /* 0: a default */
	bool events;	      /* records to the ring */
	bool fds;	      /* with the files of descriptors */
	uint64_t signals;     /* bit N - 1: with signal N */
	bool ends;	      /* with the ends of threads */
	bool stacks;	      /* with the call chains of calls: see trace_source_stacks() */
	bool summary;	      /* sums, kept in the kernel */
	enum trace_sums_by sums_by;
	/* How much the program keeps; 0: a default. What has no room is lost, and counted. */
	uint32_t max_rows;		   /* of sums by thread or cgroup, and of errors */
	uint32_t max_states;		   /* threads, whose states are in a hash then */
	const struct trace_reader *reader; /* NULL: this process */
	/* Instead of loading the program; NULL: it is loaded. It is attached at once, then. */
	trace_ask_fn *ask;
	/* When it returns, the program is detached. */
	struct error *(*ask_end)(void *ctx);
	void *ask_ctx;
};

struct error *trace_source_new(const struct trace_source_opts *opts, struct trace_source **out);
void trace_source_free(struct trace_source *source);
DEFINE_FREEP(struct trace_source, trace_source_free)

/*
 * A map of the BPF program by its name; "pids_filtered", as perf trace has it, is "excluded". The
 * descriptor is the source's. ENOENT, with near names: it has no such map.
 */
struct error *trace_source_map(const struct trace_source *source, const char *name, int *fd);

/* Adds a process to those that are traced, before or after the start: the workload. */
struct error *trace_source_add_pid(struct trace_source *source, pid_t pid);

/*
 * With opts.stacks: the PERF_EVENT_ARRAY by CPU that the caller fills with events (bpf-output)
 * before the start. The payload of each sample is a struct trace_stack_key, and the record of that
 * call, which comes later, has the flag TRACE_STACK.
 */
int trace_source_stacks(const struct trace_source *source, uint32_t *entries);

struct error *trace_source_start(struct trace_source *source);

/* The programs that trace_source_start() has attached. */
typedef struct error *trace_program_fn(void *ctx, const struct bpf_program *prog);
struct error *trace_source_each_program(const struct trace_source *source, trace_program_fn *fn,
					void *ctx);
/*
 * Of a source with a reader, once it is started: the descriptors that a trace_ask_fn hands on.
 * E2BIG: there are more than max.
 */
struct error *trace_source_pass(struct trace_source *source, int *fds, size_t max, size_t *n);
/* What was passed as TRACE_PASSED_FORMATS; ENOENT: nothing was, or the program was loaded here. */
struct error *trace_source_formats(const struct trace_source *source, struct strbuf *out);
/* Ends it, for a reader: nothing is traced any more. */
void trace_source_detach(struct trace_source *source);

/* The bytes of the program; size 0: perf-bpf was built without clang. */
const void *trace_source_program(size_t *size);

/* Calls that have not ended by now are sent as TRACE_NO_EXIT. */
struct error *trace_source_stop(struct trace_source *source);

/* Readable when the ring is half full. */
int trace_source_fd(const struct trace_source *source);
unsigned trace_source_interval_ms(const struct trace_source *source);

/* The record lives until fn returns. An error of fn ends the drain. */
typedef struct error *trace_record_fn(void *ctx, const struct trace_record *rec);
struct error *trace_source_drain(struct trace_source *source, trace_record_fn *fn, void *ctx);

/* What was lost: each CPU and call that lost any. */
struct trace_loss {
	enum trace_loss_kind kind;
	uint32_t cpu;
	enum trace_abi abi;
	uint32_t nr;
	uint64_t n;
};
typedef void trace_loss_fn(void *ctx, const struct trace_loss *loss);
struct error *trace_source_losses(struct trace_source *source, trace_loss_fn *fn, void *ctx);

/* A row of the sums. */
struct trace_sum {
	uint32_t tid, pid; /* 0 but by thread */
	uint64_t cgroup;   /* 0 but by cgroup */
	char comm[16];
	enum trace_abi abi;
	uint32_t nr;
	uint64_t calls, errors; /* calls that have ended, and those of them that failed */
	uint64_t unfinished;	/* that did not end, or whose entry was not seen; not in calls */
	uint64_t total_ns;	/* UINT64_MAX: that or more */
	uint64_t min_ns, max_ns;
	double sum_of_squares; /* ns^2 */
	uint64_t slots[64];    /* slots[i]: calls of 2^i ns and more, but less than 2^(i+1) */
};
typedef struct error *trace_sum_fn(void *ctx, const struct trace_sum *sum);
typedef struct error *trace_errno_fn(void *ctx, const struct trace_sum *sum, int err, uint64_t n);
/* Complete also where the ring lost records. errno_fn may be NULL. */
struct error *trace_source_sums(struct trace_source *source, trace_sum_fn *fn,
				trace_errno_fn *errno_fn, void *ctx);

#endif
