/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command found out, before it is known how it will look: counts,
 * tables, histograms, heat maps, stacks and events, each with a name and a
 * title. What makes them (a BPF map's collector, say) knows no output format,
 * and what prints them (text, JSON, CSV, a page) knows no map.
 *
 * Everything belongs to the struct results, and lasts until it is freed.
 */
#ifndef PB_SHOW_RESULT_H
#define PB_SHOW_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/error.h"
#include "lib/base/strbuf.h"

enum result_kind {
	RESULT_COUNT,  /* one number */
	RESULT_TABLE,  /* rows of cells */
	RESULT_HIST,   /* how often values were in which range; several of them by key */
	RESULT_STACKS, /* call stacks and how often they were met */
	RESULT_HEAT,   /* a heat map: how often values were in which range, over time */
	RESULT_EVENTS, /* what came through a ring, in order: a table */
};

enum cell_kind {
	CELL_EMPTY,
	CELL_TEXT,
	CELL_UINT,
	CELL_INT,
	CELL_FLOAT,
	CELL_BOOL,
	CELL_SYMBOL, /* u is the address, text the function's name; NULL: not known */
};

/* A number may have a text too, which is what people read: 3237 "dd". */
struct result_cell {
	enum cell_kind kind;
	/* Of a CELL_SYMBOL, letters of perf's: */
	char level;	  /* 'k' the kernel, '.' a program */
	char origin;	  /* which file names it; '!': none */
	bool has_offset;  /* data, not a function: the text ends in "+0x…" */
	bool is_inlined;  /* a function that is inlined in others */
	const char *text; /* NULL: the number as it is */
	union {
		uint64_t u;
		int64_t i;
		double f;
	};
};

static inline struct result_cell cell_of_number(uint64_t number)
{
	return (struct result_cell){.kind = CELL_UINT, .u = number};
}

/* The text is borrowed. */
static inline struct result_cell cell_of_text(const char *text)
{
	return (struct result_cell){.kind = CELL_TEXT, .text = text};
}

/* Whether people read a text besides the number. */
static inline bool cell_has_text(const struct result_cell *cell)
{
	return cell->text && cell->kind != CELL_TEXT && cell->kind != CELL_EMPTY &&
	       cell->kind != CELL_SYMBOL;
}

/* The name of a CELL_SYMBOL, or its address: "0x…". */
void cell_add_symbol(const struct result_cell *cell, struct strbuf *out);

/* What perf report's text does with a column. Other formats only leave a filler out. */
enum column_style {
	COLUMN_PLAIN,
	COLUMN_SHARE,  /* the number as a share of all: 12.50% */
	COLUMN_NUMBER, /* the number */
	COLUMN_NAME,   /* text, filled up and cut to the column's width */
	COLUMN_LOOSE,  /* text, cut */
	COLUMN_RIGHT,  /* text at the right side; where no row has any there is no column */
	COLUMN_THREAD, /* a thread's number, and its name as the text */
	COLUMN_FILLER, /* nothing but a place in perf's layout */
	/* Of a diff; an empty cell may have a text that is shown in its place: */
	COLUMN_PERCENT,	   /* 12.50% */
	COLUMN_CHANGE,	   /* of percentages: +12.50% */
	COLUMN_RATIO,	   /* 1.250000 */
	COLUMN_DIFFERENCE, /* -12 */
	COLUMN_VALUE,	   /* a number or a text as it is, at the right side */
};

/* Whose number a column has. */
enum column_subject {
	COLUMN_OF_NOTHING,
	COLUMN_OF_PROCESS, /* its id */
	COLUMN_OF_CGROUP,  /* its id */
};

struct result_column {
	const char *name;
	const char *unit; /* "bytes", "ns"; NULL: none is known */
	bool is_key;
	/*
	 * Its numbers have texts too, if what they mean is known: a column of its own where a
	 * format has no other room for them, the same whatever is known at the moment.
	 */
	bool has_text;
	/* The same number may have another text later: a process has another name after exec. */
	bool text_changes;
	enum column_subject subject;
	/* Of tables of samples: */
	enum column_style style;
	const char *title; /* "Shared Object" */
	unsigned width;	   /* of its rows in perf's layout, at least */
	bool fixed;	   /* their texts may be longer, and are cut */
	bool narrow;	   /* in perf's layout, a share as wide as its title alone */
	bool is_latency;   /* its shares are of the totals' latency, not of the period */
	bool hidden;	   /* not in perf's layout, for which the result has it nevertheless */
	unsigned level;	   /* of a hierarchy, which of its levels has it; 0: all of them */
	/*
	 * Of a table of a group of events: whose number it is, of the profile's members; its
	 * name. In perf's layout the columns of all members are one.
	 */
	size_t member;
	const char *event; /* NULL: the table is of one event, or this is a key */
};

struct stack_tree;

struct result_totals {
	uint64_t samples;
	uint64_t period;       /* of these samples */
	uint64_t chain_period; /* of those that were counted with their call chains */
	uint64_t latency;      /* of columns that are latencies */
};

/* An event of a group whose table this is. */
struct result_member {
	const char *event;
	struct result_totals all, shown;
};

/* One of the samples that a row is the sum of. */
struct result_sample {
	uint64_t time;
	int32_t cpu, tid; /* -1: not recorded */
};

/* What a table of samples has besides its cells. */
struct result_profile {
	/* shown: without those that a filter left out; of a group these are the leader's */
	struct result_totals all, shown;
	const struct result_member *members; /* of the group, the leader first */
	size_t n_members;		     /* 0: it is one event's */
	bool is_leader;			     /* of a group, for perf's head */
	bool ref_chains;		     /* call chains are of samples of other events */
	/* The periods are weights of accesses to memory, with these keys; NULL: they are not. */
	const char *weights_by;
	bool relative;	      /* shares are of what is shown, else of all */
	double least_percent; /* rows below are not shown */
	/*
	 * Of a hierarchy, where each row is followed by those below it: its levels, of which the
	 * first is that of the columns that all have. 0: it is none.
	 */
	size_t n_levels;
	struct result_sum {
		uint64_t period; /* the row's, with what it called where that counts */
		const struct stack_tree *tree; /* its call chains; NULL: none */
		uint8_t depth; /* of a hierarchy: how many rows it is below; its level is one more
				*/
		bool is_leaf;  /* no rows can be below it */
		/* Whose it is: of its first sample, where no key says it. NULL: not known. */
		int32_t tid;
		const char *comm, *module, *function;
		const struct result_sample *samples; /* some of them, by time */
		size_t n_samples;
	} * rows; /* as many as the table's */
};

struct result_table {
	const struct result_column *columns;
	size_t n_columns;
	struct result_cell *cells; /* n_rows of n_columns */
	size_t n_rows;
	uint64_t left_out; /* rows that are not here, because only the top ones were wanted */
	const struct result_profile *profile; /* NULL: it is not one of samples */
};

/* The share in percent that a cell of the column has. */
double result_percent(const struct result_profile *profile, const struct result_column *column,
		      uint64_t value);

/* What shares of a table of samples are shares of. */
uint64_t result_whole(const struct result_profile *profile, size_t member);

/* Whether a row is shown, or below the least share. */
bool result_row_shown(const struct result_table *table, size_t row);

/*
 * A range of values. Powers of two are unsigned; the bounds of linear ranges
 * are int64_t, and the first and the last of those go on without end: INT64_MIN
 * and INT64_MAX.
 */
struct result_bucket {
	uint64_t low, high; /* both within */
	uint64_t count;
};

/* One of its bounds, in digits. */
void bound_add(struct strbuf *out, uint64_t bound, bool log2);

static inline bool bucket_has_low(const struct result_bucket *b, bool log2)
{
	return log2 || (int64_t)b->low != INT64_MIN;
}

static inline bool bucket_has_high(const struct result_bucket *b, bool log2)
{
	return log2 ? b->high != UINT64_MAX : (int64_t)b->high != INT64_MAX;
}

struct result_hist {
	const char *label;		/* the key's text; NULL: the only one */
	const struct result_cell *keys; /* the key's cells, as many as the result's n_keys */
	struct result_bucket *buckets;	/* ascending, empty ones between full ones are here */
	size_t n_buckets;
	uint64_t total;
};

/* Where a process had the frame's file: [start, end) is the file from offset on. */
struct result_mapping {
	uint64_t start, end; /* end 0: not known */
	uint64_t offset;
	uint8_t build_id[20];
	uint8_t build_id_size; /* 0: not known */
};

struct result_frame {
	const char *name;   /* "vfs_write"; "[unknown]": offset is the address then; "[lost]" */
	const char *module; /* "[kernel]", "/usr/bin/dd"; NULL: not known */
	uint64_t offset;    /* in the function */
	bool is_kernel;
	bool is_inlined; /* in the function of the next frame outward that is not */
	/* It stands for all of the function: there is no offset. */
	bool is_function;
	/* By which a tree of stacks in perf's order compares (show/stack_tree.h); else unused. */
	bool has_start;
	uint32_t rank;	/* of the module */
	uint64_t start; /* of the function, if has_start */
	uint64_t addr;
	uint64_t ip;	  /* the address in the process, of is_function the function's first; 0: not
			     known */
	const char *file; /* of the source; NULL: not known, or not asked for */
	uint32_t line;
	const char *line_text; /* "file.c:12", where stacks are shown by it; NULL: not known */
	const struct result_mapping *mapping; /* NULL: not known */
};

struct result_stack {
	const char *label;			  /* "dd", who it was; NULL: not known */
	const struct result_frame *const *frames; /* the innermost first */
	size_t n_frames;
	uint64_t count;
	uint64_t samples; /* that it is the sum of; 0: not known */
	const char *key;  /* the label with numbers for names that change; NULL: it has none */
};

/*
 * A heat map: n_times slots of time, each with n_ranges ranges of values. The
 * count of slot t and range r is counts[t * n_ranges + r].
 */
struct result_heat {
	uint64_t start, step; /* ns since 1970; ns for each slot */
	size_t n_times;
	struct result_bucket *ranges; /* ascending; their count is the sum over all times */
	size_t n_ranges;
	uint64_t *counts;
	uint64_t max; /* the largest of the counts */
};

/*
 * Events. They come in results of their own (struct results, events) as soon
 * as they are read; the results of a look have the columns and the totals, and
 * no rows.
 *
 * Column 0, whose unit is "time", is in ns since 1970, a CELL_UINT: "time" is the time of
 * the event, which the program stored in it (CELL_EMPTY if it did not), "time_read" the time
 * at which it was read. The others are the fields of the event's struct. An
 * event that is shorter than its struct has CELL_EMPTY for what it lacks.
 */
struct result_events {
	struct result_table table;
	uint64_t total, lost; /* since the start: those read, those that did not fit into the ring
			       */
	bool lost_counted;    /* else lost is not known */
	const char *format; /* each is a line: printf(3) with its cells; NULL: a row of the table */
};

/* How often something failed, since the start. */
struct result_failures {
	bool counted; /* else n is not known */
	uint64_t n;
};

struct result {
	enum result_kind kind;
	const char *name;    /* the map's, or the event's */
	const char *program; /* of a map: the program that has it; NULL: not known */
	const char *title;   /* NULL: the name is all there is */
	const char *unit;    /* of the count, or of a histogram's values; NULL: none */
	const char *note;  /* what the reader must know: "full: 12 updates failed"; NULL: nothing */
	bool note_is_good; /* the note says that nothing is missing */
	bool declared;	   /* the map's author said how it is shown: it counts, and only grows */
	bool log2;	   /* a histogram's or heat map's ranges are powers of two */
	const struct result_column *keys; /* of the histograms */
	size_t n_keys;
	struct result_failures updates;	    /* of the map, which had no room */
	struct result_failures lost_stacks; /* calls that got no id of a stack: "[lost]" */
	union {
		uint64_t count;
		struct result_table table;
		struct {
			struct result_hist *hists;
			size_t n_hists;
		};
		struct {
			struct result_stack *stacks; /* the largest first */
			size_t n_stacks;
			size_t stacks_left_out; /* because only the top ones were wanted */
			uint64_t total;		/* of all, those left out too */
			uint64_t lost;		/* of total: of whose stacks a part is "[lost]" */
			/* What they are compared with, in a page; NULL: nothing. */
			const struct result_stack *base_stacks;
			size_t n_base_stacks;
		};
		struct result_heat heat;
		struct result_events events;
	};
};

/* What the results are of, and so what their names are names of. */
enum results_subject {
	RESULTS_OF_MAPS,   /* of programs that ran */
	RESULTS_OF_EVENTS, /* of a recording */
	RESULTS_OF_CALLS,  /* of a trace of system calls */
};

/* A column that is left out, because a filter leaves it one value. */
struct result_only {
	const char *title, *value;
};

#define RESULTS_MAX_ONLY 3

struct results {
	enum results_subject subject;
	struct result_only only[RESULTS_MAX_ONLY];
	size_t n_only;
	uint64_t lost;	   /* samples that the recording lost */
	bool lost_unknown; /* the recording is not complete: lost is the least that it can be */
	uint64_t time;	   /* ns since 1970; 0: not known */
	uint64_t span;	   /* ns that they cover; 0: not known */
	bool events;	   /* what came through the rings between two looks, RESULT_EVENTS only */
	struct result *v;
	size_t n, cap;
	struct arena arena;
};

/* "map", "event", "summary": what the names are names of. */
const char *results_subject_name(const struct results *results);

void results_deinit(struct results *results);
#define _cleanup_results_ __attribute__((cleanup(results_deinit)))

/* A new, empty result at the end; NULL: no memory. */
struct result *results_add(struct results *results, enum result_kind kind, const char *name);

#endif
