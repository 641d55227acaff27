/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Histograms of samples: entries that share the values of the sort keys, their
 * periods summed up, with a tree of call chains each, and, with children, the
 * periods of all they called.
 *
 *	struct hist_spec spec;
 *	TRY(hist_spec_init(&spec, &opts));		// which keys and columns
 *	TRY(hist_new(&spec, resolver, &h));		// one for each event
 *	TRY(hist_add(h, …));				// each sample
 *	TRY(hist_finish_group(&h, 1));			// sums, trees, order
 *	TRY(hist_results(h, &opts, &results));		// a table; stacks
 *	hist_free(h);
 *
 * Keys, their order, abbreviations and columns are those of perf report 6.1.
 */
#ifndef PB_PERF_HIST_HIST_H
#define PB_PERF_HIST_HIST_H

#include <regex.h>

#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "perf/hist/branch_stats.h"
#include "perf/resolve/resolve.h"
#include "show/stack_text.h"

/* A sort key or a column. The first ones are measures: they never tell entries apart. */
enum hist_field {
	HIST_OVERHEAD,
	HIST_OVERHEAD_SYS,
	HIST_OVERHEAD_US,
	HIST_OVERHEAD_GUEST_SYS,
	HIST_OVERHEAD_GUEST_US,
	HIST_OVERHEAD_CHILDREN,
	HIST_LATENCY, /* as the overhead, but each period divided by the parallelism */
	HIST_LATENCY_CHILDREN,
	HIST_SAMPLE,
	HIST_PERIOD,
	HIST_N_MEASURES,

	HIST_PID = HIST_N_MEASURES,
	HIST_TID,
	HIST_COMM,
	HIST_DSO,
	HIST_SYMBOL,
	HIST_PARENT,
	HIST_CPU,
	HIST_TRACE,
	/* Of the branches in call chains. */
	HIST_CHAIN_PREDICTED,
	HIST_CHAIN_ABORT,
	HIST_CHAIN_CYCLES,
	HIST_IPC_NULL, /* what perf adds after "symbol": a column of dashes */
	HIST_TIME,
	HIST_CGROUP,
	HIST_UNIT,
	HIST_CONTAINER,
	HIST_POD,
	HIST_SYMBOL_SIZE,
	HIST_ADDR,
	HIST_DSO_SIZE,
	HIST_LOCAL_WEIGHT, /* of a sample */
	HIST_WEIGHT,	   /* of all samples of the entry */
	HIST_LOCAL_INS_LAT,
	HIST_INS_LAT,
	HIST_CODE_PAGE_SIZE,
	HIST_COMM_NODIGIT, /* names that differ in digits only are one */
	HIST_SRCLINE,
	HIST_SRCFILE,
	HIST_SOCKET,
	HIST_CGROUP_ID,
	HIST_PARALLELISM,
	HIST_TRANSACTION,
	HIST_LOCAL_RETIRE_LAT,
	HIST_RETIRE_LAT,
	/* Of a branch before a sample: spec.branches. */
	HIST_DSO_FROM,
	HIST_DSO_TO,
	HIST_SYMBOL_FROM,
	HIST_SYMBOL_TO,
	HIST_MISPREDICT,
	HIST_IN_TX, /* within a transaction */
	HIST_ABORT, /* of a transaction */
	HIST_CYCLES,
	HIST_SRCLINE_FROM,
	HIST_SRCLINE_TO,
	HIST_IPC_LBR, /* as HIST_IPC_NULL */
	HIST_ADDR_FROM,
	HIST_ADDR_TO,
	/* Of a sample's access to memory: spec.accesses. */
	HIST_SYMBOL_DADDR,
	HIST_DSO_DADDR,
	HIST_LOCKED,
	HIST_TLB,
	HIST_MEM,
	HIST_SNOOP,
	HIST_DCACHELINE,
	HIST_SYMBOL_IADDR,
	HIST_PHYS_DADDR,
	HIST_DATA_PAGE_SIZE,
	HIST_BLOCKED,
	/* Fields of tracepoints by name, as many as there are in the keys: spec.dynamic[]. */
	HIST_DYNAMIC,
	HIST_N_FIELDS = HIST_DYNAMIC + 32,
};

#define HIST_MAX_DYNAMIC (HIST_N_FIELDS - HIST_DYNAMIC)

#define HIST_MAX_FIELDS 48

/* A key "[EVENT.]FIELD[/raw]": a field of a tracepoint or a probe. */
struct hist_dynamic {
	char event[128]; /* "sched:sched_switch" or "sched_switch"; "": whichever has the field */
	char field[64];
	/*
	 * Of "trace_fields" and "EVENT.*": not the field of a name, but the nth one of each event,
	 * counted from 1. 0: by its name.
	 */
	unsigned nth;
	bool raw; /* as stored, not as the event prints it */
};

/* What a sample has there. Equal ones are one object within a histogram. */
struct hist_value {
	const char *text;
	enum {
		HIST_VALUE_TEXT,
		HIST_VALUE_UNSIGNED,
		HIST_VALUE_SIGNED,
	} kind;
	uint64_t number; /* by which it is sorted, unless it is text */
};

struct hist_spec_opts {
	size_t sz;	       /* sizeof(struct hist_spec_opts) */
	const char *sort;      /* "comm,dso"; "+cpu" adds to the default; NULL: the default */
	const char *fields;    /* the columns, likewise; NULL: derived from sort */
	bool tracepoints_only; /* the default is then "trace" */
	bool raw_trace;	       /* then "trace_fields"; all fields are shown as stored */
	bool children;
	bool show_nr_samples;
	bool show_total_period;
	bool show_cpu_utilization;
	bool has_switches;   /* context switches were recorded: latencies are known */
	bool prefer_latency; /* they are the first columns, and what is sorted by */
	bool add_parent;     /* -p: as if "parent" was a key */
	/* For a diff: its default keys and no columns of measures; entries stay as collected. */
	bool diff;
	bool hierarchy; /* entries of the first key, below each those of the second, and so on */
	bool branches;	/* hist_add_branches() will be called: more keys, other default ones */
	bool blocks;	/* likewise, and hist_block_results() */
	bool branch_history; /* more keys */
	bool accesses;	     /* more keys, other default ones; the periods are weights */
	/*
	 * Whether some event has this field; NULL: none has any. each_field offers
	 * the names of all fields, for hints; they live as long as field_ctx.
	 */
	bool (*has_field)(void *ctx, const struct hist_dynamic *field);
	/* How many fields the event has that has the most of those that field->event names. */
	size_t (*n_fields)(void *ctx, const struct hist_dynamic *field);
	void (*each_field)(void *ctx, struct nearest *near);
	void *field_ctx;
};

/* What is shown of what was counted; all zero: all of it. The texts are borrowed. */
struct hist_zoom {
	const char *comm;
	int32_t tid; /* 0: all; the spec keeps threads, or a key is one */
	bool no_kernel, no_user;
	bool has_socket;	/* the key is one of those that were collected */
	int32_t socket;		/* with has_socket */
	uint64_t least_samples; /* entries with fewer are left out of the results */
	/* Of entries, as spec.symbol_filter: the DSO's path, and the symbol's whole name. */
	const char *dso, *symbol;
};

/* Which fields to sort by and which to show. Holds no memory. */
struct hist_spec {
	enum hist_field sort[HIST_MAX_FIELDS];
	size_t n_sort;
	enum hist_field out[HIST_MAX_FIELDS];
	size_t n_out;
	struct hist_dynamic dynamic[HIST_MAX_DYNAMIC];
	size_t n_dynamic;
	bool has[HIST_N_FIELDS];   /* among the sort keys */
	bool elide[HIST_N_FIELDS]; /* not shown: a filter leaves one value */
	bool hierarchy;
	bool branches;	      /* of samples are counted, not samples; not of a live session */
	bool blocks;	      /* that end with them are counted, too */
	bool branch_history;  /* branches are frames of call chains; not of a live session */
	bool accesses;	      /* to memory: a sample counts as much as its weight */
	bool no_block_starts; /* not all branches were recorded */
	/*
	 * Of a hierarchy: keys of the same number are one level; which number it is says nothing.
	 * Those that share it with the first key, as measures do, are shown on all levels.
	 */
	int8_t level[HIST_N_FIELDS];
	/* Of accesses: the keys as they were written, and those that are added to them. Borrowed.
	 */
	const char *order, *more_order;
	size_t group_sort; /* the member of a group whose measures entries are sorted by */
	bool as_collected; /* entries stay in the order of the sort keys */
	bool children;
	bool says_self;	    /* the overhead's title is Self */
	bool strict_fields; /* the columns are those that were asked for */
	bool use_chain;	    /* keep chains */
	bool hide_unresolved;
	bool exclude_other; /* only entries with a parent */
	bool only_dsos;	    /* nothing but DSOs is asked for: symbols are not looked up */
	bool long_dso;	    /* -v: paths for DSOs */
	bool full_paths;    /* of source files */
	size_t max_stack;
	uint64_t time_quantum; /* ns */
	bool nanoseconds;      /* times have nine digits */
	struct chain_opts chain;
	const regex_t *parent; /* for HIST_PARENT; borrowed */
	/* What functions whose names match call counts for them; NULL: none; borrowed. */
	const regex_t *ignore_callees;
	/* Only entries of functions whose name holds it are shown; NULL: all; borrowed. */
	const char *symbol_filter;
	struct hist_zoom zoom;
	/*
	 * Samples of different threads, CPUs and cgroups are told apart whatever the keys are, and
	 * entries can be made again by other keys (hist_unfinish()).
	 */
	bool keeps;
	/*
	 * Samples come from a live session, which frees threads, maps and DSOs: what is referred
	 * to is copied. Samples can lose weight (hist_fade()).
	 */
	bool live;
	/* Of a live one: bytes for the samples, and again for their entries; 0: as many as come. */
	size_t room;
	uint32_t n_samples; /* how many samples of each entry are kept */
	/* The text of a tracepoint's sample, for HIST_TRACE. */
	struct error *(*trace)(void *ctx, const struct session_event *event,
			       const struct sample *sample, struct strbuf *out);
	/* The field of a sample, for HIST_DYNAMIC: its text goes to out; *none: there is none. */
	struct error *(*field)(void *ctx, const struct hist_dynamic *field,
			       const struct session_event *event, const struct sample *sample,
			       struct hist_value *value, bool *none, struct strbuf *out);
	/* The name of the nth field of an event; NULL: it has none. */
	const char *(*nth_field)(void *ctx, const struct hist_dynamic *field,
				 const struct session_event *event);
	void *trace_ctx;
};

/* EINVAL for a key that is not known, with the nearest ones in the hint. */
struct error *hist_spec_init(struct hist_spec *spec, const struct hist_spec_opts *opts);

/* Whether hist_add() looks at the call chain of a sample, which a copied stack has to be unwound
 * for. */
static inline bool hist_spec_wants_chain(const struct hist_spec *spec)
{
	return spec->use_chain || spec->children || spec->has[HIST_PARENT] || spec->ignore_callees;
}

/* The recording has no chains after all: no children. */
void hist_spec_cancel_children(struct hist_spec *spec);
/* One thread ran at a time: latencies are what overheads are. */
void hist_spec_cancel_latency(struct hist_spec *spec, const char *sort);

/*
 * What a function, or an address without one, is within a DSO; one object for each. Its frame has
 * the path of the DSO as its module, and the address as it was recorded first.
 */
struct hist_frame {
	struct result_frame frame;     /* first */
	const struct dso *dso;	       /* NULL: unknown */
	const struct symbol *sym;      /* NULL: unknown */
	const struct map *map;	       /* where it was first seen */
	const char *dso_name;	       /* interned: equal names are one pointer; NULL: no DSO */
	const char *sym_name;	       /* interned; NULL: no symbol */
	const char *srcline, *srcfile; /* interned; NULL: not asked for */
	bool is_caller;		       /* of functions that are inlined at the address */
	char level;		       /* 'k', '.', 'g', 'u', 'H'; 0: as the one before */
	/* Whether it matches the regex of the spec: 1, does not: -1, not asked: 0. */
	int8_t parent, ignores_callees;
};

/* Where a branch is from, or to. */
struct hist_branch_end {
	const struct hist_frame *frame;
	uint64_t addr,
		dso_addr; /* in the process, in the DSO; 0 where no key and no cell needs it */
};

/* A branch before a sample. Branches that are equal in all keys are equal in all bytes. */
struct hist_branch {
	struct hist_branch_end from, to;
	uint32_t cycles; /* since the branch before */
	bool mispredicted, predicted, in_transaction, aborts;
};

/* A sample's access to memory, without what no key needs. Equal ones are equal in all bytes. */
struct hist_access {
	struct hist_branch_end data, code;
	uint64_t data_src, phys_addr, data_page_size;
	/* Of the cache line: its address in the DSO, whose it is, and perf's letter for it. */
	uint64_t line;
	int32_t pid; /* 0: it is not of one process alone */
	uint8_t cpumode;
	char line_level;
};

/* What samples have for keys that are numbers; 0 where it is not a key. */
struct hist_numbers {
	uint64_t addr; /* of the instruction, in the process */
	uint64_t dso_size;
	uint64_t weight;
	uint64_t ins_lat;    /* cycles */
	uint64_t retire_lat; /* likewise */
	uint64_t transaction;
	uint64_t code_page_size;
	uint64_t parallelism;
	uint64_t cgroup_dev, cgroup_ino; /* of the namespace of cgroups */
	int64_t socket;
};
/* Equal ones are equal in all bytes: there is nothing between the members, and nothing behind. */
_Static_assert(sizeof(struct hist_numbers) == 11 * sizeof(uint64_t), "no padding");

struct hist_stat {
	uint64_t period, sys, us, guest_sys, guest_us;
	uint64_t latency; /* thousandths, as in perf */
	uint64_t n;	  /* samples */
};

struct hist_entry {
	struct hist_stat stat;
	uint64_t acc;	      /* the period with children */
	uint64_t acc_latency; /* likewise */
	const char *comm;
	const struct thread *thread; /* of the first sample */
	const struct hist_frame *frame;
	uint64_t ip; /* in the DSO's addresses where a map is known */
	char level;
	int32_t cpu;
	uint64_t time;			    /* rounded down to the quantum */
	const struct hist_numbers *numbers; /* NULL: none is a key */
	const struct hist_branch *branch;   /* of spec.branches; NULL: without */
	const struct hist_access *access;   /* of spec.accesses; NULL: without */
	const char *trace;
	const struct session_cgroup *cgroup;	/* NULL: not recorded */
	const struct hist_value *const *values; /* of the dynamic keys; NULL: none */
	const struct symbol *parent;
	bool filtered;
	struct stack_tree *chain; /* NULL: none */
	/*
	 * Of a group's leader: what each member of the group, itself the first, has with the
	 * same keys; NULL: nothing.
	 */
	const struct hist_entry **members;
	size_t n_members;
	/* Of a hierarchy: how many entries it is below, and whether it has none below it. */
	uint8_t depth;
	bool is_leaf;
};

/* NULL: the event has no such field. */
static inline const struct hist_value *hist_entry_value(const struct hist_entry *he, size_t i)
{
	return he->values ? he->values[i] : NULL;
}

struct hist;

struct error *hist_new(const struct hist_spec *spec, struct resolver *r, struct hist **out);
void hist_free(struct hist *h);
DEFINE_FREEP(struct hist, hist_free)

/* What was going on when a sample was taken, as far as records tell it. */
struct hist_context {
	unsigned parallelism;		 /* threads that ran; at least 1 */
	uint64_t cgroup_dev, cgroup_ino; /* the thread's namespace of cgroups; 0: not recorded */
	int32_t socket;			 /* the CPU's; -1: not recorded */
};

/*
 * Adds a sample; leaf is where its ip lies. filtered: it counts for the
 * totals but is not shown.
 */
struct error *hist_add(struct hist *h, const struct sample *sample,
		       const struct session_event *event, const struct thread *thread,
		       const struct location *leaf, const struct hist_context *context,
		       bool filtered);

/*
 * The same of a spec with `branches`: adds the branches before the sample, each with a period of 1.
 * The address that a branch goes to takes the place of the sample's own.
 */
struct error *hist_add_branches(struct hist *h, const struct sample *sample,
				const struct session_event *event, const struct thread *thread,
				const struct location *leaf, const struct hist_context *context,
				bool filtered);

/*
 * Adds a sample as hist_add() does, if it is like one before it, without a look at what it is of:
 * no filter may look either. false: none is known, and it was not added. Its stack was unwound, if
 * it has one (sample_reader_unwound()).
 */
bool hist_add_known(struct hist *h, const struct sample *sample, const struct session_event *event,
		    const struct thread *thread, const struct hist_context *context);

/* Of all branches that were added. */
const struct branch_stats *hist_branch_stats(const struct hist *h);

/* A level of a hierarchy: the keys by which it tells entries apart. */
struct hist_level {
	enum hist_field fields[HIST_MAX_FIELDS];
	size_t n;
};

/*
 * Makes the entries of an event, or of a group of events with its leader first, and puts them in
 * order. Nothing is added afterwards. Each of the leader's entries knows those of the others that
 * have its keys, and it has one for each that is in any of the others.
 */
struct error *hist_finish_group(struct hist *const *hists, size_t n);

/*
 * Back to before hist_finish_group(), of a spec that keeps: the keys, columns and filters of the
 * spec may change then. Results of the entries are gone.
 */
void hist_unfinish(struct hist *h);

/*
 * Of a live spec, which keeps: what was counted so far loses an eighth of its weight, as in perf
 * top, or with `all` all of it. Entries that were made stay as they are.
 */
void hist_fade(struct hist *h, bool all);
/* Unfinished: frees the memory of what has no weight any more, once that is worth it. */
struct error *hist_forget(struct hist *h);
/*
 * What is kept of a live one. Samples that differ so much that they do not fit into the spec's room
 * are thinned out: sums stay as they are, but a few samples stand for others.
 */
struct hist_kept {
	size_t stacks;	  /* samples that differ */
	size_t bytes;	  /* for them and what was made of them, without indices */
	uint64_t thinned; /* of them, those that were left out since the start */
};
struct hist_kept hist_kept(const struct hist *h);

size_t hist_size(const struct hist *h);
/* The i-th entry by the sort keys, filtered ones included; of a hierarchy those below it follow. */
const struct hist_entry *hist_at(const struct hist *h, size_t i);
/*
 * Of a hierarchy; NULL: it is none. The first level has no entries: its keys, the measures, are
 * those of all others. Entries below d others are of the level d + 1. Once it is finished.
 */
const struct hist_level *hist_levels(const struct hist *h, size_t *n);
const struct result_totals *hist_totals(const struct hist *h);
/* The same of the samples that are not filtered. */
const struct result_totals *hist_shown_totals(const struct hist *h);

/* An event of a group. */
struct hist_member {
	const struct hist *hist;
	const char *name, *unit;
};

struct hist_results_opts {
	const char *name;		   /* the event's, or the group's */
	const char *unit;		   /* of its periods */
	const struct session_event *event; /* or the group's leader */
	/* The group, the leader first, if hist_finish_group() was given it; n_members: 0, none. */
	const struct hist_member *members;
	size_t n_members;
	bool ref_chains;      /* its call chains are those of other events */
	bool is_leader;	      /* of a group, even if it is alone here */
	bool relative;	      /* shares are of what is shown */
	double least_percent; /* rows below are not shown */
	bool stacks;	      /* a result of stacks, too, and the number of samples of each row */
	bool origins;	      /* look up where each symbol comes from */
	bool wide_dso;	      /* perf's layout: room for an address where the DSO is not known */
};

/*
 * Adds what is not filtered to results: a table, and with opts->stacks the stacks. Names and
 * trees are borrowed: the results are freed before the hist and the session.
 */
struct error *hist_results(const struct hist *h, const struct hist_results_opts *opts,
			   struct results *results);

/*
 * The same of a spec with `blocks`: a table of blocks of instructions without branches, and how
 * many cycles were spent in each. Without stacks.
 */
struct error *hist_block_results(const struct hist *h, const struct hist_results_opts *opts,
				 struct results *results);

/*
 * Adds the stacks of an event as hist_results() does, with those of the same event of another
 * recording, with which a page compares them; NULL: it has none. title is copied.
 */
struct error *hist_stacks_against(const struct hist_member *of, const struct hist *base,
				  const char *title, struct results *results);

/* The name of a DSO as the spec says; "[unknown]" for NULL. */
const char *hist_dso_name(const struct hist_spec *spec, const struct dso *dso);

/* A column's key: "overhead", "dso"; not of a tracepoint's field. */
const char *hist_field_name(enum hist_field field);

/* A column's title: "Shared Object"; children decides "Self" or "Overhead". */
const char *hist_field_title(const struct hist_spec *spec, enum hist_field field);

#endif
