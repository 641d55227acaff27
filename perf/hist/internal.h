/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of perf/hist/ share. */
#ifndef PB_PERF_HIST_INTERNAL_H
#define PB_PERF_HIST_INTERNAL_H

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/memo.h"
#include "lib/base/rbtree.h"
#include "lib/base/sum.h"
#include "lib/base/vec.h"
#include "perf/hist/branch_stats.h"
#include "perf/hist/hist.h"
#include "perf/hist/hist_owned.h"
#include "show/mappings.h"

/* Samples that differ in nothing that matters. */
struct hist_stack {
	uint64_t hash;
	const struct thread *thread;
	const char *comm;
	const struct hist_frame *leaf;
	const struct result_frame *const *chain; /* interned: equal chains, one pointer */
	const uint64_t *ips; /* of the chain's frames in the first sample; NULL: not kept */
	const char *trace;
	const struct session_cgroup *cgroup;	/* NULL: not recorded, or not a key */
	const struct hist_value *const *values; /* as many as the spec's; NULL: none */
	const struct hist_numbers *numbers;	/* NULL: none is a key */
	const struct hist_branch *branch;	/* of spec.branches; NULL: without */
	const struct hist_access *access;	/* of spec.accesses; NULL: without */
	uint64_t ip;
	uint64_t time;
	uint64_t period, n, latency;
	int32_t cpu;
	uint32_t depth; /* frames in chain */
	char level;
	uint8_t cpumode;
	bool filtered;
	struct {
		double period, n;
	} weight;    /* of a live spec: as they fade, while period and n are whole numbers */
	bool hidden; /* once it is finished: no row that is shown counts it */
};

struct results_maker;
struct hist_samples;

struct hist {
	const struct hist_spec *spec;
	struct resolver *resolver;
	struct session *session;
	struct arena arena;
	struct hist_owned owned; /* of a live session */
	uint64_t generation;	 /* likewise */
	struct branch_cache *branch_cache;
	struct hist_blocks *blocks; /* of spec.blocks; NULL: no branch has cycles */
	struct {
		uint64_t all, shown;	 /* samples that had branches */
		uint64_t branches_shown; /* of those that are shown */
		struct branch_stats stats;
	} branched;
	/* Of spec.n_samples: struct hist_samples of each struct hist_stack *, and hist_entry *. */
	struct u64map samples, entry_samples;
	/* Of spec.branch_history: of each frame of the last sample; of all of a stack. */
	struct branch_counts *history;
	struct u64map histories;
	uint64_t n_thinned;	   /* stacks that were left out, for which others stand */
	struct hist *shown_before; /* what results may refer to; NULL: nothing but this one */
	struct arena entry_arena;  /* of what hist_finish_group() makes */
	struct result_totals totals, shown;

	struct cached_frame *cache;
	struct cached_leaf *leaves; /* the frames of samples' own addresses */
	struct cached_text *texts;  /* of tracepoints */
	struct memo known;	    /* hist_known.c */
	bool knows;		    /* hist_known_helps() */
	bool is_unsure;		    /* of the sample at hand: what it is of may change */
	struct u64map frames;	    /* by symbol, or by DSO and address */
	bool by_address;	    /* frames are of addresses, not of functions */
	struct u64map inlined;	    /* struct inline_frames * -> struct inlined_frames * */
	struct u64map ranks;	    /* DSO -> rank */
	struct result_mappings mappings;
	uint32_t n_ranks;
	struct strmap build_ids; /* of the header: a path's first, counted from 1 */
	size_t *next_build_id;	 /* that has the path of the i-th, likewise; 0: none */
	struct strmap strings;
	struct strmap values; /* of dynamic keys, by kind and text */
	struct strbuf text;   /* scratch */
	const char *last_comm, *last_comm_interned;

	VEC(struct hist_stack *) stacks;
	struct hist_stack **stack_slots;
	size_t stack_mask;
	struct chain_slot *chain_slots;
	size_t chain_mask, n_chains;

	struct sorted_entry **entry_slots;
	size_t entry_mask, n_entries;
	struct rb_tree in;
	VEC(const struct hist_entry *) sorted; /* first as they were made */
	struct hist_level levels[HIST_MAX_FIELDS];
	size_t n_levels;
};

/* One pointer for equal strings; NULL: no memory. */
const char *hist_intern(struct hist *h, const char *s);
/* Frees what is only used while samples are added; until there are entries. */
void hist_samples_end(struct hist *h);
void hist_index_free(struct hist *h);

/*
 * Whether the name of a frame's function, if it is not inlined, matches; known is where that is
 * kept, for the next time.
 */
bool hist_frame_matches(const struct hist_frame *frame, const regex_t *regex, int8_t *known);

/* What a stack refers to until it is added. */
#define HIST_MAX_STACK 2048
struct stack_parts {
	const struct thread *thread;
	const struct result_frame *frames[HIST_MAX_STACK];
	uint64_t ips[HIST_MAX_STACK];
	const struct hist_value *values[HIST_MAX_DYNAMIC];
	struct hist_numbers numbers;
	struct hist_access access;
};
/* The stack of a sample, which refers to the parts. */
struct error *hist_stack_make(struct hist *h, const struct sample *sample,
			      const struct session_event *event, const struct thread *thread,
			      const struct location *leaf, const struct hist_context *context,
			      struct stack_parts *parts, struct hist_stack *s);

/* ---- hist_frames.c ---- */

bool hist_frames_init(struct hist *h); /* false: no memory */
/* '.', 'k' or 'H', as perf prints it before a function. */
char hist_level_of(uint8_t cpumode);
/* perf's rank of a DSO by its first appearance; 0: no memory. */
uint32_t hist_dso_rank(struct hist *h, const struct dso *dso);
/* The frame of a location without inlined functions; NULL: no memory. */
const struct hist_frame *hist_frame_of(struct hist *h, const struct location *loc);
/* The frame of a sample's own address; NULL: no memory. */
const struct hist_frame *hist_leaf_frame(struct hist *h, const struct location *leaf);
/*
 * Adds the frames of an address, innermost first, to n of parts; room: how many more addresses
 * follow. How many there are then; -1: no memory.
 */
int hist_frames_add(struct hist *h, const struct thread *thread, uint8_t cpumode, uint64_t ip,
		    size_t room, struct stack_parts *parts, size_t n);
/* The known frame of what `like` is of; NULL: none, and the key that it gets in h->frames. */
const struct hist_frame *hist_frame_find(const struct hist *h, const struct hist_frame *like,
					 uint64_t *key);

/* ---- hist_stacks.c ---- */

/* One pointer for equal chains; NULL: no memory. */
const struct result_frame *const *hist_chain_intern(struct hist *h,
						    const struct result_frame **frames, size_t n);
/* Adds to the stack that is equal, or a copy as a new one; its thread is then this one. */
struct error *hist_stack_add(struct hist *h, const struct hist_stack *s,
			     const struct thread *thread, struct hist_stack **out);

/* ---- branches, memory accesses ---- */

/* branch_history.c: the call chain of a sample with its branches; then, once its stack is known. */
struct error *hist_history_make(struct hist *h, const struct session_event *event,
				const struct sample *sample, const struct thread *thread,
				struct stack_parts *parts, struct hist_stack *s);
struct error *hist_history_add(struct hist *h, const struct hist_stack *s);
/* All of the branches in an entry's call chains. */
struct branch_counts hist_history_of(const struct hist_entry *he);
/* Of the samples that had branches, in place of the branches. */
void hist_count_branched(struct hist *h);
/* Where an address of code lies whose mode is unknown; frame NULL: no memory. */
struct hist_branch_end hist_find_end(struct hist *h, const struct thread *thread, uint64_t addr);
/* hist_access.c: of spec.accesses. */
bool hist_is_of_accesses(enum hist_field field);
struct error *hist_access_make(struct hist *h, const struct sample *sample,
			       const struct thread *thread, struct hist_access *access);
int64_t hist_access_cmp(enum hist_field field, const struct hist_access *a,
			const struct hist_access *b);
/* How many words; equal ones where hist_access_cmp() is 0. */
size_t hist_access_words(enum hist_field field, const struct hist_access *a, uint64_t *words);
struct result_cell hist_access_cell(struct results_maker *m, enum hist_field field,
				    const struct hist_entry *he);
size_t hist_access_width(enum hist_field field, const struct hist_access *a);
void hist_branch_cache_free(struct branch_cache *cache);
/* Of spec.blocks: a branch with its cycles; before: where the one before it went to, or NULL. */
struct error *hist_blocks_add(struct hist *h, const struct hist_branch_end *from,
			      const struct hist_branch_end *before, uint64_t cycles);
void hist_blocks_free(struct hist_blocks *blocks);

/* ---- what is kept of stacks, what keys look at ---- */

/* With spec.n_samples: one of those that the stack is the sum of. */
struct error *hist_stack_keep(struct hist *h, const struct hist_stack *s,
			      const struct sample *sample);
/* What was kept of a stack, or of an entry, counts for this entry, too; false: no memory. */
bool hist_entry_keep(struct hist *h, const struct hist_entry *he, const struct hist_samples *from);
/* NULL: none were kept. */
const struct hist_samples *hist_entry_samples(const struct hist *h, const struct hist_entry *he);
/* Further samples that are equal. */
static inline void hist_stack_count(struct hist_stack *s, uint64_t period, uint64_t latency,
				    uint64_t n)
{
	sum_add(&s->period, period);
	sum_add(&s->latency, latency);
	s->n += n;
	s->weight.period += (double)period;
	s->weight.n += (double)n;
}

/* What keys look at. */
static inline bool hist_keyed_by_thread(const struct hist_spec *spec)
{
	return spec->keeps || spec->has[HIST_PID] || spec->has[HIST_TID];
}
bool hist_keyed_by_cgroup(const struct hist_spec *spec);
bool hist_has_numbers(const struct hist_spec *spec);
static inline bool hist_wants_trace(const struct hist *h, const struct session_event *event)
{
	return h->spec->has[HIST_TRACE] && h->spec->trace &&
	       event->attr.type == PERF_TYPE_TRACEPOINT;
}
/* The text of a tracepoint's sample, interned. */
struct error *hist_trace_text(struct hist *h, const struct session_event *event,
			      const struct sample *sample, const char **out);
uint64_t hist_latency_of(uint64_t period, unsigned parallelism);

/* Whether samples can be told apart by what hist_known.c keeps of them. */
bool hist_known_helps(const struct hist_spec *spec);
/* What stack the sample is of, for hist_add_known(). */
void hist_known_keep(struct hist *h, const struct sample *sample, const struct thread *thread,
		     struct hist_stack *stack);
void hist_known_free(struct hist *h);

/* Of a live spec: */
bool hist_stack_has_faded(const struct hist_stack *s);
/* Frees all that no stack with weight refers to. */
struct error *hist_compact(struct hist *h);
/* Before a sample is added: thins stacks out if they take more than the spec's room. */
struct error *hist_make_room(struct hist *h);
/* The same by half, as their entries take too much, unless there are few. */
bool hist_can_halve(const struct hist *h);
struct error *hist_halve(struct hist *h);

const struct hist_spec *hist_spec_of(const struct hist *h);
/* Those that were counted, in the order of their first samples. */
struct hist_stack *const *hist_stacks(const struct hist *h, size_t *n);
/* perf's letter for where the names of a DSO come from. */
char hist_dso_origin(const struct hist *h, const struct dso *dso);

/* Entries in the order in which perf keeps them while it collects: > 0, a comes first. */
int64_t hist_entry_cmp(const struct hist_spec *spec, const struct hist_entry *a,
		       const struct hist_entry *b);
/* The same by n of the keys. */
int64_t hist_fields_cmp(const struct hist_spec *spec, const enum hist_field *fields, size_t n,
			const struct hist_entry *a, const struct hist_entry *b);
/* Of the keys unit, container and pod; "" if the cgroup's path does not show it. */
const char *hist_cgroup_text(const struct session_cgroup *cgroup, enum hist_field field);
/* The name without its digits: what tells entries with HIST_COMM_NODIGIT apart; and as shown. */
void hist_comm_strip_digits(const char *comm, struct strbuf *out);
void hist_comm_mark_digits(const char *comm, struct strbuf *out);
/* Bytes; 0: there is no symbol. */
uint64_t hist_symbol_size(const struct hist_entry *he);
/* What a column that is a measure has; the same of a member of the entry's group. */
uint64_t hist_entry_measure(const struct hist_entry *he, enum hist_field field);
uint64_t hist_member_measure(const struct hist_entry *he, size_t member, enum hist_field field);
/* In the order of the report: > 0, a comes first. */
int64_t hist_entry_sort(const struct hist_spec *spec, const struct hist_entry *a,
			const struct hist_entry *b);

/*
 * hist_order.c: brings n entries, given in the order in which they came, into the order of perf's
 * trees: that in which it collects them, whose entries it inserts so many times, or the report's.
 * *done: false if the keys need hist_entry_cmp() or hist_entry_sort(). false: no memory.
 */
bool hist_order(const struct hist_spec *spec, bool is_report, const struct hist_entry **v, size_t n,
		unsigned times, bool *done);

/* Makes a table of entries (results.c). The columns that are no keys can be the caller's. */
struct results_maker {
	const struct hist *h;
	const struct hist_spec *spec;
	const struct hist_results_opts *opts;
	struct arena *arena; /* of the results */
	struct result_table *table;
	struct result_column *columns; /* the table's */
	enum hist_field *fields;       /* of the columns */
	bool failed;		       /* no memory */
	bool has_wide_dso; /* a row has the name of a DSO that is as wide as an address */
};

/* Of a column that is no field of an entry. */
#define RESULTS_NO_FIELD HIST_N_FIELDS

/* A column of the table, for which there is room; member: of a group, else 0. */
void results_add_column(struct results_maker *m, enum hist_field field, size_t member);
struct result_cell results_cell(struct results_maker *m, size_t column,
				const struct hist_entry *he);
/* How wide a field is in perf's layout besides what is shown in it. */
struct result_cell results_dso_cell(const struct hist_frame *frame);
struct result_cell results_page_size_cell(struct results_maker *m, uint64_t size);
size_t results_width(const struct results_maker *m, enum hist_field field,
		     const struct hist_entry *he);
/* In the arena; NULL: no memory, which the maker knows. */
const char *results_format(struct results_maker *m, const char *fmt, ...) _printf_(2, 3);

/* Room for what the n members of its group have with its keys; false: no memory. */
bool hist_entry_lead(struct hist *h, struct hist_entry *he, size_t n);
/* Makes a hierarchy of h->sorted, the entries by all keys, of each hist of a group. */
struct error *hist_make_levels(struct hist *const *hists, size_t n);

#endif
