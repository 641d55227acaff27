/* SPDX-License-Identifier: BSD-2-Clause */
/* What sample.c, print_record.c and json_sample.c share. */
#ifndef PB_PERF_PRINT_PRINTER_H
#define PB_PERF_PRINT_PRINTER_H

#include <time.h>

#include "perf/print/frame_cache.h"
#include "perf/print/print.h"
#include "perf/print/probed.h"
#include "perf/print/put_text.h"

enum {
	KEPT_TASKS = 64,
	KEPT_EVENTS = 8,
};

/* What "comm  pid/tid [cpu] " is made of, and as what it was printed. Equal names are one string.
 */
struct line_task {
	const char *comm; /* NULL: nothing is kept */
	uint64_t fields;
	int32_t pid, tid, cpu;
	bool is_narrow; /* the name is not padded */
};

struct kept_task {
	struct line_task of;
	struct kept_text text;
};

/* "  250000 cpu-clock: ", likewise. An event that gets another name gets another string. */
struct line_event {
	const char *name;
	uint64_t fields, period;
};

struct kept_event {
	struct line_event of;
	struct kept_text text;
};

struct script_printer {
	struct printer_opts opts;
	struct field_choice choice; /* narrowed to what the samples hold */
	struct tracing *tracing;
	bool json;
	bool use_chain;
	size_t name_width; /* of the longest of the first n_named names */
	size_t n_named;
	size_t n_checked;   /* events that the choice was checked against */
	size_t n_described; /* events that print_sample_python() has described */
	bool type_checked[FIELD_N_TYPES];
	uint64_t all_sample_types; /* of all events */
	unsigned max_stack;
	struct location *chain;
	struct strbuf text; /* scratch */
	const struct session_event *last_event;
	struct trace_event *last_trace;
	struct probed probed;
	struct kept_task tasks[KEPT_TASKS]; /* of the last lines, by thread and CPU */
	struct kept_event events[KEPT_EVENTS];
	uint64_t second; /* of second_text, "12345." */
	struct kept_text second_text;
	uint64_t base_time; /* of opts.time_base; 0: none yet */
	time_t day_second;  /* of day_text, "2026-11-28 10:20:03"; that of the epoch: none yet */
	char day_text[32];
	size_t data_src_width;
	struct sample_code *code; /* what sample_code.c keeps; NULL: no field of code is chosen */
	struct frame_cache frames;
};

/* " 68 69" in the room of width bytes, then "hi" likewise and a newline; n up to width. */
void add_hex_row(struct strbuf *out, const uint8_t *bytes, size_t n, size_t width);

/* comm, pid, tid, cpu, misc and time, as far as they are chosen. */
void print_start(struct script_printer *p, const struct session_event *event, uint32_t type,
		 const struct sample *sample, const struct thread *thread, struct strbuf *out);

/* "PERF_RECORD_COMM", then ": ls:7/7" and a newline. */
void print_record_name(const struct record *rec, struct strbuf *out);
void print_record_body(const struct record *rec, struct strbuf *out);

/* What perf calls the map's DSO; "[unknown]" for NULL. */
const char *map_dso_name(const struct map *map);
/* The same, as opts.kernel_path says. */
const char *printer_dso_name(const struct script_printer *p, const struct map *map);

/* Whether addr of the event's samples is one of the process: perf's sample_addr_correlates_sym().
 */
bool addr_is_place(const struct perf_event_attr *attr);

/* The format of a tracepoint; NULL: there is none. */
struct trace_event *printer_trace_event(struct script_printer *p,
					const struct session_event *event);

/*
 * The k-th function at the i-th place of p->chain, the innermost one first; false: there are not so
 * many. *frame has its line; NULL: it is the only one.
 */
bool printer_frame(struct script_printer *p, size_t i, size_t k, struct location *at,
		   const struct inline_frame **frame);

/* Names the sample's call chain in p->chain; how many places it has, 0 without a resolver. */
size_t printer_resolve_chain(struct script_printer *p, const struct sample *sample,
			     const struct thread *thread);

#endif
