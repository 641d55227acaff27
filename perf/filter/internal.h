/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files of perf/filter share: lists and spans of time (lists.c, time.c), and the
 * parsed condition (where.h: parsed by where_parse.c, evaluated by where.c).
 */
#ifndef PB_PERF_FILTER_INTERNAL_H
#define PB_PERF_FILTER_INTERNAL_H

#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "perf/filter/where.h"

/* No kernel has more CPUs (NR_CPUS is 8192 at most). */
#define FILTER_CPUS_MAX 65536

/* option is as the user knows it, "--cpu", for messages. */

/* "0,2-3": a bitmap of FILTER_CPUS_MAX bits, the caller's to free(). */
struct error *cpus_parse(const char *option, const char *text, uint64_t **bits);

struct filter_numbers {
	int32_t *v; /* ascending */
	size_t n, cap;
};

/* "17,1234" */
struct error *numbers_parse(const char *option, const char *text, struct filter_numbers *out);
bool numbers_have(const struct filter_numbers *numbers, int32_t number);

/* "bash,dd" */
struct error *names_parse(const char *option, const char *text, struct names *out);
bool names_have(const struct names *names, const char *name);

/* From start to end, both included. */
struct time_span {
	uint64_t start, end; /* ns */
	bool has_start, has_end;
	double from, to; /* of a share of the recording: 0 … 1 */
};

struct time_spans {
	struct time_span *v;
	size_t n, cap;
	bool is_share; /* start and end are not known before time_spans_set_bounds() */
};

/*
 * perf's forms: "START,STOP" in seconds, either may be empty, several with blanks
 * between; "10%", "10%/2" (the second tenth), "10%-20%", several with commas.
 */
struct error *time_spans_parse(const char *option, const char *text, struct time_spans *out);
void time_spans_set_bounds(struct time_spans *spans, uint64_t first, uint64_t last);
bool time_spans_have(const struct time_spans *spans, uint64_t time);

/* A condition as a tree; nodes refer to each other by their index, 0 is the root of none. */
enum node_op {
	NODE_NUMBER,
	NODE_STRING,
	NODE_FIELD,
	NODE_AND,
	NODE_OR,
	NODE_NOT,
	NODE_EQ,
	NODE_NE,
	NODE_LT,
	NODE_LE,
	NODE_GT,
	NODE_GE,
	NODE_MATCH,
	NODE_NO_MATCH,
	NODE_MASK,
};

struct node {
	enum node_op op;
	uint16_t a, b;		  /* operands; of NODE_FIELD a is the field */
	uint32_t at;		  /* where the text has it: an operator's own place */
	struct where_value value; /* of NODE_NUMBER, and NODE_STRING */
	const char *pattern;	  /* of NODE_STRING: with the '\' of a glob's special characters */
};

struct where {
	char *text;
	VEC(struct node) nodes;
	VEC(struct where_field) fields;
	uint16_t root;
	struct names strings; /* of literals and names of fields */
};

/* MESSAGE below the text, with a mark at a byte of it. */
#define where_error(text, at, ...)                                                                 \
	error_mark_usage(error_in_text(EINVAL, "condition", text, at, __VA_ARGS__))

#endif
