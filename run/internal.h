/* SPDX-License-Identifier: BSD-2-Clause */
/* A collector, for the files that make results of its rows: one for each kind. */
#ifndef PB_RUN_INTERNAL_H
#define PB_RUN_INTERNAL_H

#include <time.h>

#include "inspect/map_reader.h"
#include "lib/base/clock.h"
#include "lib/base/keyset.h"
#include "lib/base/sum.h"
#include "lib/base/vec.h"
#include "run/collect.h"
#include "run/record_fields.h"

enum {
	HIST_LOG2_SLOTS = 65,
	RUN_MAX_BATCH = 1024, /* events at a time: their cells stay in a cache */
};

struct heat;
struct stream;

struct row_set {
	uint8_t *v;
	size_t n, cap; /* cap in bytes */
	struct keyset set;
};

struct collector {
	const struct bpf_map *map;
	const struct btf *btf;
	const struct display *display;
	struct map_reader *reader;
	struct fields key, value;
	size_t slots_at, n_slots; /* the value's fields that are the slots of a histogram */
	bool per_cpu;		  /* rows are per CPU: from the last look's options */
	size_t key_bytes;	  /* of a row: the CPU, the key, up to a multiple of 8 */
	size_t row_bytes;
	struct row_set now, before;
	bool looked;
	struct heat *heat;		    /* of a heat map */
	const struct bpf_map *stacks;	    /* that the ids in the key belong to; NULL: none */
	const struct bpf_map *short_stacks; /* which those of few frames are in; NULL: none */
	bool has_inner;	       /* a map of maps: the rows are those of the inner maps */
	struct stream *stream; /* of events: there is no reader then */
};

/* Reads the map: c->now has its entries. */
struct error *collector_look(struct collector *c, bool per_cpu);

uint8_t *row_at(const struct collector *c, const struct row_set *rows, size_t i);
const uint8_t *row_key(const struct collector *c, const uint8_t *row);
const uint8_t *row_value(const struct collector *c, const uint8_t *row);
/* The sum of all numbers of the row's value; too_large is set if it is not exact. */
uint64_t row_sum(const struct collector *c, const uint8_t *row, bool *too_large);
/* Whether it is of global variables, whose types are known. */
bool collector_is_section(const struct collector *c);

/* Pointers to the rows worth showing, in order; the caller's. */
struct error *sort_rows(struct collector *c, const struct collect_opts *opts, const uint8_t ***rows,
			size_t *n);

static inline enum column_subject field_subject(const struct record_field *f)
{
	return f->role == ROLE_PID	? COLUMN_OF_PROCESS
	       : f->role == ROLE_CGROUP ? COLUMN_OF_CGROUP
					: COLUMN_OF_NOTHING;
}

/* Where names and texts of a result come from. */
struct making {
	struct collector *c;
	struct run_names *names;
	const struct fields
		*fields; /* of the struct at work: whose address it is stands beside it */
	struct arena *arena;
	struct strbuf text;
	const struct group_labels *labels; /* of stacks; NULL: none */
	bool too_large;			   /* a sum is not exact, which the result's note says */
};

static inline void making_add(struct making *m, uint64_t *sum, uint64_t by)
{
	m->too_large |= !sum_add(sum, by);
}

/* Keeps m->text. */
struct error *make_text(struct making *m, const char **text);

struct error *make_cell(struct making *m, const struct record_field *f, const uint8_t *data,
			struct result_cell *cell);
/* The columns of the key, and with `values` those of the value. */
struct error *make_columns(struct making *m, bool values, struct result_column **columns,
			   size_t *n);

/* The values that slot i of n counts. */
void slot_range(const struct display *d, size_t i, size_t n, struct result_bucket *b);

/* ---- heat maps: heat.c ---- */

struct error *heat_new(size_t n_ranges, struct heat **out);
void heat_free(struct heat *heat);
/* Slots of `step` ns from now (monotonic; ns since 1970: real) on. */
void heat_begin(struct heat *heat, uint64_t step, uint64_t now, uint64_t real);
/* What the ranges have counted in all by now. */
void heat_add(struct heat *heat, uint64_t now, const uint64_t *totals);
struct error *make_heat(struct making *m, const struct collect_opts *opts, struct result *r);

/* ---- stacks: stacks.c ---- */

/*
 * Whether it holds stacks: by the kernel's ids, or by a hash of their addresses, as
 * PERF_BPF_STACKS() has them.
 */
bool is_stack_map(const struct bpf_map *map);
/* Whether a key of these fields has ids of stacks. */
bool fields_have_stacks(const struct fields *fields);
/* Whether frames are needed for what they say: stacks, or addresses of a process. */
bool fields_need_frames(const struct fields *fields);
/*
 * Adds a stack's functions, the outermost first, or an address's to m->text;
 * nothing where none is known.
 */
struct error *make_frames_text(struct making *m, const struct record_field *f, const uint8_t *data);
/* Whether what is declared as stacks can be shown. */
struct error *check_stacks(const struct collector *c);
struct error *make_stacks(struct making *m, const struct collect_opts *opts, struct result *r);

/* ---- value_notes.c ---- */

/* Gives the result its note: with --clear, which numbers are not changes; which are too large. */
struct error *note_values(struct making *m, const struct collect_opts *opts, struct result *r);

/* ---- inner_maps.c ---- */

/*
 * Opens the reader of a map of maps, and takes the fields of its inner maps apart, which are as
 * map_inner_shown() has it.
 */
struct error *inner_maps_open(const struct bpf_map *inner, struct collector *c);

/* ---- stack_ids.c ---- */

/* Finds plain integers that are ids of the object's stacks, and gives them their roles. */
void find_stack_ids(const struct bpf_object *obj, struct fields *fields);

/* ---- events: ring_events.c ---- */

/* Fills c->stream, also where it fails half-way. */
struct error *stream_new(const struct bpf_object *obj, struct collector *c);
void stream_free(struct stream *s);
const struct fields *stream_fields(const struct stream *s);
/*
 * The cells of an event of `size` bytes, as many as it has fields (one, where
 * they are none); what it is too short for is left as it is. Of m->c the btf
 * alone is used.
 */
struct error *make_event(struct making *m, const struct fields *fields, const void *data,
			 size_t size, struct result_cell *cells);
/* The columns and totals, without rows. */
void make_events(struct collector *c, struct result *r);

#endif
