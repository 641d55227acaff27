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
	TRACE_ROLE_EXIT,
	TRACE_ROLE_ENTER,
	TRACE_ROLES,
};

struct trace_drain;

struct trace_source {
	struct bpf_object *obj;
	const struct log *log;
	struct trace_config config;
	struct trace_live *live; /* shared with the program */
	bool no_inherit;
	bool by_events; /* programs are attached to perf events; see trace.bpf.c */
	struct bpf_link *links[TRACE_ROLES];
	struct bpf_link *iter; /* over calls that still run; NULL: the kernel has no such storage */
	struct ring_buffer *ring;
	int epoll_fd;
	VEC(uint32_t) rows; /* the index in calls of each row of the sums */
	/* Calls that still ran when tracing stopped: the next drain hands them on. */
	VEC(struct trace_state) running;
	size_t n_handed; /* of those */
	bool stopped;
	uint64_t stopped_ns;	   /* CLOCK_MONOTONIC */
	struct trace_drain *drain; /* while it runs */
};

/* The descriptor of one of the program's maps. */
int trace_map_fd(const struct trace_source *source, const char *name);

#endif
