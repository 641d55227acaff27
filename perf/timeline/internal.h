/* SPDX-License-Identifier: BSD-2-Clause */
/* What was gathered, for the formats. */
#ifndef PB_PERF_TIMELINE_INTERNAL_H
#define PB_PERF_TIMELINE_INTERNAL_H

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "perf/timeline/timeline.h"

/* A name in a file; frames of it differ by their addresses. */
struct timeline_func {
	const char *name;
	const struct dso *dso; /* NULL: unknown */
};

struct timeline_frame {
	uint32_t func;
	uint64_t address; /* in the DSO's own addresses */
	bool is_kernel;
};

#define NO_STACK UINT32_MAX

/* Call chains as a tree: the caller's stack, and a frame. */
struct timeline_stack {
	uint32_t caller; /* NO_STACK: it is the outermost frame */
	uint32_t frame;
};

/* The fields of a sched_switch. */
struct timeline_switch {
	const char *prev_comm, *next_comm;
	uint64_t prev_pid, prev_prio, prev_state, next_pid, next_prio;
};

struct timeline_sample {
	uint64_t time;
	uint64_t period;
	const char *text;		     /* of a tracepoint; NULL: it is a sample of the CPU */
	const struct timeline_switch *sched; /* of sched_switch; NULL: it is another */
	uint32_t event;			     /* session_event.index */
	uint32_t thread;		     /* of timeline.threads */
	uint32_t stack;
	int32_t cpu; /* -1: not recorded */
	uint8_t cpumode;
};

struct timeline_thread {
	int32_t pid, tid;
	const char *comm; /* the last one */
};

struct timeline {
	struct timeline_opts opts;
	struct arena arena;
	VEC(struct timeline_func) funcs;
	VEC(struct timeline_frame) frames;
	VEC(struct timeline_stack) stacks;
	VEC(struct timeline_sample) samples; /* by time */
	VEC(struct timeline_thread) threads; /* by their first sample */
	/* Of the same by their members: index + 1. */
	struct u64map funcs_by_key, frames_by_key, stacks_by_key, threads_by_tid;
	struct strmap texts;
	struct location *chain;
	unsigned max_stack;
	struct strbuf text;
};

/* What a viewer calls a DSO: its path, or the name that perf has. */
const char *timeline_dso_name(const struct dso *dso);
/* The process's main thread, by its name; "" if it had no sample. */
const char *timeline_process_name(const struct timeline *t, int32_t pid);

#endif
