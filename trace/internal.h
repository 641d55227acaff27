/* SPDX-License-Identifier: BSD-2-Clause */
/* A source, for the files that read its maps. */
#ifndef PB_TRACE_INTERNAL_H
#define PB_TRACE_INTERNAL_H

#include <bpf/libbpf.h>
#include <stddef.h>

#include "lib/base/vec.h"
#include "trace/source.h"
#include "trace/trace_maps.h"

/* The object of trace.bpf.c; size 0: perf-bpf was built without clang. */
extern const char trace_object[];
extern const size_t trace_object_size;

/* What programs do, in the order in which they are attached. */
enum trace_role {
	TRACE_ROLE_THREAD_EXIT,
	TRACE_ROLE_FORK,
	TRACE_ROLE_SIGNAL,
	TRACE_ROLE_EXIT,
	TRACE_ROLE_ENTER,
	TRACE_ROLES,
};

/* What nobody has seen; known at the end. */
struct trace_missed {
	uint64_t runs;	  /* of programs, that the kernel left out */
	uint64_t threads; /* that were not followed */
};

struct trace_drain;

struct trace_source {
	struct bpf_object *obj;
	const struct log *log;
	struct trace_config config;
	struct trace_live *live; /* shared with the program; NULL: another process loaded it */
	trace_ask_fn *ask;	 /* which this one has asked; NULL: it was loaded here */
	struct error *(*ask_end)(void *ctx);
	void *ask_ctx;
	bool no_inherit;
	bool by_events; /* programs are attached to perf events; see trace.bpf.c */
	struct bpf_link *links[TRACE_ROLES];
	struct bpf_link *iter; /* over calls that still run; NULL: the kernel has no such storage */
	int iter_fd;	       /* the same, where it was passed; -1 */
	int formats_fd;	       /* that was passed; -1 */
	int end_fd;	       /* that was passed, on both sides; -1 */
	struct ring_buffer *ring;
	int epoll_fd;
	VEC(uint32_t) rows; /* the index in calls of each row of the sums */
	/* Calls that still ran when tracing stopped: the next drain hands them on. */
	VEC(struct trace_state) running;
	size_t n_handed; /* of those */
	struct trace_missed missed;
	bool stopped;
	uint64_t stopped_ns;	   /* CLOCK_MONOTONIC */
	struct trace_drain *drain; /* while it runs */
};

/* passed_source.c: opts.ask instead of a load, for the calls of opts. */
struct error *trace_source_ask(struct trace_source *source, const struct trace_source_opts *opts);
/* At the end: of such a source, and for its reader if there is one. */
struct error *trace_source_end_asked(struct trace_source *source);
void trace_source_say_missed(const struct trace_source *source);

/* The descriptor of one of the program's maps. */
int trace_map_fd(const struct trace_source *source, const char *name);

#endif
