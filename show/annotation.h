/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A function's code with what was counted at each of its instructions, and as text. What fills it
 * (perf/annotate) knows no output format, and what prints it knows no recording.
 */
#ifndef PB_SHOW_ANNOTATION_H
#define PB_SHOW_ANNOTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"

struct annotation_count {
	uint64_t samples, period;
};

enum annotation_line_kind {
	ANNOTATION_CODE,   /* a machine instruction */
	ANNOTATION_SOURCE, /* a source line, or where it is */
	ANNOTATION_BPF,	   /* an instruction of BPF */
};

/* What runs after an instruction. */
enum annotation_flow {
	FLOW_NEXT, /* the next one */
	FLOW_JUMP,
	FLOW_CALL,
	FLOW_RETURN,
};

struct annotation_line {
	enum annotation_line_kind kind;
	const char *text;
	/* Of code: */
	enum annotation_flow flow;
	bool has_target; /* of a jump or a call: where it goes is known */
	uint64_t target;
	uint32_t operands;  /* where they begin in the text; 0: there are none */
	const char *called; /* the name of the function at the target; NULL: not known */
	uint64_t address;   /* of code */
	uint32_t size;	    /* of code: its bytes */
	uint32_t number;    /* of source: in its file, 0: not known; of BPF: in its program */
	/* Of code: its line, "/src/loop.c:12"; NULL: not known. Equal ones are one string. */
	const char *place;
	const struct annotation_count *counts; /* of code: for each event; NULL: all are 0 */
};

struct annotation_event {
	const char *name;
	struct annotation_count function, all; /* in the function; all that were selected */
};

struct annotation {
	struct arena arena;	  /* what the others point into, unless it is the recording's */
	const char *symbol, *dso; /* its path */
	const char *event;	  /* "cpu-clock"; of a group: "anon group { cycles, faults }" */
	const struct annotation_event *events; /* of a group, the leader first */
	size_t n_events;
	uint64_t address; /* of the function's first byte, as its file has it */
	VEC(struct annotation_line) lines;
};

void annotation_deinit(struct annotation *a);
/* A copy that shares nothing; false: no memory, and to is empty. */
bool annotation_copy(const struct annotation *from, struct annotation *to);
#define _cleanup_annotation_ _cleanup_(annotation_deinit)

/* What a percentage is of: perf annotate --percent-type. */
struct annotation_percent {
	bool global; /* of all samples that are selected, else of the function's */
	bool hits;   /* of their number, else of their periods */
};

struct annotation_text_opts {
	struct annotation_percent percent;
	bool samples, periods; /* numbers in place of percentages; periods go before */
	bool places;	       /* print the line behind the instruction, and a summary of lines */
	bool full_paths;
};

/* As perf annotate --stdio prints it. */
void annotation_text(const struct annotation *a, const struct annotation_text_opts *opts,
		     struct strbuf *out);

/* Of one event's count; 0 where nothing was counted. */
double annotation_share(const struct annotation_event *event, struct annotation_count count,
			struct annotation_percent of);

#endif
