/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `-e`: from text to events. Two steps. select_parse() takes the text apart
 * and makes no system call; select_events() also looks the names up (tracefs,
 * sysfs) and fills attrs. Objects (FILE.c, FILE.o) are handed on with their
 * terms: what they hold is perf/record's matter.
 *
 *	LIST   := ITEM | '{' ITEM ',' … '}' [':' MODIFIERS] , comma separated
 *	ITEM   := EVENT ['/' TERMS '/'] [':' MODIFIERS] ['|' PROG '|']
 *	EVENT  := SYSTEM ':' NAME, both with globs     tracepoints
 *		| NAME                                 cpu-clock, cycles, L1-dcache-load-misses …
 *		| 'r' HEX                              a raw event of the CPU's PMU
 *		| PMU '/' TERMS '/'                    cpu/event=0x3c,umask=0/
 *		| 'probe:' DEFINITION                  a probe; it is the rest of the text
 *		| FILE '.c' | FILE '.o'                a BPF program
 *	TERMS  := NAME ['=' VALUE] , comma separated; of a BPF program: its constants and maps
 *	PROG   := 'bpf_fd=' N | 'bpf_id=' N | 'bpf_pin=' PATH
 */
#ifndef PB_PERF_SELECT_SELECT_H
#define PB_PERF_SELECT_SELECT_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "lib/base/error.h"
#include "lib/base/vec.h"
#include "lib/sys/sys.h"

/* name or name=value between slashes; strings belong to the list. */
struct select_term {
	char *name;
	char *value; /* NULL: there was no '=' */
	size_t pos;  /* of the name, in the text */
};

enum select_kind {
	SELECT_TRACEPOINT, /* system:name */
	SELECT_NAMED,	   /* name, with or without terms of its own */
	SELECT_RAW,	   /* raw */
	SELECT_PMU,	   /* name is the PMU, terms its configuration */
	SELECT_OBJECT,	   /* name is the path */
	SELECT_PROBE,	   /* name is the definition */
};

/* An already loaded program for an event: |bpf_fd=N|. */
enum select_prog_kind {
	SELECT_PROG_NONE,
	SELECT_PROG_FD,
	SELECT_PROG_ID,
	SELECT_PROG_PIN,
};

struct select_prog {
	enum select_prog_kind kind;
	uint32_t number; /* fd or id */
	char *path;	 /* pin */
};

/* What modifiers (":ukpp") ask for. */
struct select_modifiers {
	bool given_levels; /* any of u, k, h: the others are excluded */
	bool user, kernel, hv;
	bool given_hosts; /* G or H: the other is excluded */
	bool guest, host;
	bool idle_excluded; /* I */
	unsigned precise;   /* p … ppp */
	bool precise_max;   /* P */
	bool sample_read;   /* S: the group's values with the leader's samples */
	bool pinned;	    /* D */
	bool exclusive;	    /* e */
	bool weak;	    /* W: no group, where the kernel does not allow it */
};

struct select_item {
	enum select_kind kind;
	char *text;   /* as written, terms and program left out: "cycles:u" */
	char *system; /* SELECT_TRACEPOINT */
	char *name;
	uint64_t raw; /* SELECT_RAW */
	VEC(struct select_term) terms;
	struct select_modifiers modifiers;
	struct select_prog prog;
	int group;  /* which {} of the list, from 0; -1: none */
	size_t pos; /* in the text */
};

struct select_list {
	char *text;
	VEC(struct select_item) items;
	int n_groups;
};

/* EINVAL: the text is wrong, the message shows where. */
struct error *select_parse(const char *text, struct select_list *list);
void select_list_deinit(struct select_list *list);

/* A syntax error with the text and a mark below pos. */
#define select_error(text, pos, ...)                                                               \
	error_in_text(EINVAL, "event syntax error", text, pos, __VA_ARGS__)

enum select_callgraph {
	SELECT_CALLGRAPH_DEFAULT, /* as -g says */
	SELECT_CALLGRAPH_NO,
	SELECT_CALLGRAPH_FP,
	SELECT_CALLGRAPH_LBR,	/* calls that the CPU keeps as branch records */
	SELECT_CALLGRAPH_DWARF, /* a copy of the stack, which is unwound later */
};

/* How much of the stack is copied where nothing says it, and the most, in bytes, as in perf. */
#define SELECT_STACK_DEFAULT 8192
#define SELECT_STACK_MAX     65528

/*
 * The mode of --call-graph: "fp", "dwarf" or "dwarf,BYTES"; the size is rounded up to whole words,
 * and 0 for fp. NULL is -g: fp, unless --call-graph was given before. Errors are of usage.
 */
struct error *select_callgraph_parse(const char *text, enum select_callgraph *mode,
				     uint32_t *stack_size);

#define SELECT_FREQ_MAX UINT64_MAX /* as often as the kernel allows */

struct select_freq_opts {
	uint64_t asked;	    /* -F; 0: nothing is asked for */
	uint64_t otherwise; /* what is taken then */
	bool strict;	    /* an error instead of a warning */
	const struct log *log;
};

/*
 * How often to sample, in Hz. The kernel has a limit, which it lowers when samples take it long:
 * what is above it becomes the limit, with a warning if it was asked for.
 * EINVAL with opts->strict.
 */
struct error *select_freq(const struct sys_roots *roots, const struct select_freq_opts *opts,
			  uint64_t *freq);

/*
 * An event with its names looked up. Of attr only these are filled: type,
 * config*, exclude_*, precise_ip, pinned, exclusive, and sample_period or
 * sample_freq with freq where a term gives one.
 */
struct select_event {
	char *name; /* as the recording calls it */
	struct perf_event_attr attr;
	char *system, *tracepoint;     /* NULL: no tracepoint */
	char *object;		       /* FILE.c or FILE.o; NULL: an event */
	char *probe;		       /* a probe's definition; NULL: none */
	VEC(struct select_term) terms; /* of the object */
	bool has_period, has_freq;
	enum select_callgraph callgraph;
	uint32_t stack_size; /* of a copy; 0: as the command line says */
	uint16_t max_stack;  /* 0: as the command line says */
	int inherit;	     /* -1: as the command line says */
	int overwrite;	     /* likewise */
	bool precise_max;
	bool sample_read;
	struct select_prog prog;
	int group; /* unique within one selection; -1: none */
	bool weak; /* it may be recorded without its group */
	size_t pos;
};

struct selection {
	VEC(struct select_event) events;
	int n_groups;
};

void selection_deinit(struct selection *selection);

/*
 * Parses the text, looks up what it names and appends it; a glob gives one event for each
 * tracepoint. ENOENT: no such event, with near names. On failure the selection is as before.
 */
struct error *select_events(const struct sys_roots *roots, const char *text,
			    struct selection *selection);

/*
 * The events that this machine can count, for lists. Tracepoints are in lib/sys/tracefs.h. In the
 * order of perf list: hardware, software and cache events, of PMUs, and what PMUs take.
 */
enum select_event_kind {
	SELECT_EVENT_HARDWARE,
	SELECT_EVENT_SOFTWARE,
	SELECT_EVENT_CACHE,
	SELECT_EVENT_PMU, /* "msr/tsc/"; detail is what it stands for: "event=0x00" */
	SELECT_EVENT_RAW, /* "msr/event=N/"; detail has the bits of each term: "event=config:0-63"
			   */
};
struct select_known_event {
	enum select_event_kind kind;
	const char *name;
	const char *alias;  /* NULL: none */
	const char *detail; /* NULL: none */
};
typedef struct error *select_known_fn(void *ctx, const struct select_known_event *event);
struct error *select_known_events(const struct sys_roots *roots, select_known_fn *fn, void *ctx);

/* "monotonic", "CLOCK_TAI", "raw", "1": a CLOCK_*. Errors are of usage. */
struct error *select_clock_parse(const char *text, int32_t *clock);

/* "any_call,u": PERF_SAMPLE_BRANCH_*; of all branches where only levels are named. Likewise. */
struct error *select_branches_parse(const char *text, uint64_t *mask);

/* Whether it is the name of a hardware, software or cache event, which can be sampled. */
bool select_is_name(const char *name);

#endif
