/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of probe/attach share. */
#ifndef PB_PROBE_ATTACH_INTERNAL_H
#define PB_PROBE_ATTACH_INTERNAL_H

#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/object/object.h"
#include "lib/sys/kfuncs.h"
#include "probe/attach/probe.h"
#include "probe/prologue/prologue.h"

/* ---- shape.c: how the program takes its arguments ---- */

struct attach_shape {
	struct prologue_shape prologue;
	struct prologue_member *members; /* owned; n */
	size_t *args;			 /* owned; the argument of each member */
	size_t n;
};

void shape_deinit(struct attach_shape *shape);
/*
 * By the prototype in the program's BTF. EINVAL: it does not fit the
 * definition's arguments, with what would. own_struct: as of struct probe_opts.
 * shape is all zero.
 */
struct error *shape_of(const struct btf *btf, const char *function, const struct probe_def *def,
		       const struct probe_points *points, bool own_struct,
		       struct attach_shape *shape);

/* ---- trial.c: what this kernel lets us do ---- */

enum trial_answer {
	TRIAL_UNKNOWN,
	TRIAL_NO,
	TRIAL_YES,
};

/* What is the same for all points, asked when first needed. */
struct trials {
	enum trial_answer func_arg, func_ip, kprobe_multi;
	char *no_kprobe_multi; /* why not; owned */
};

void trials_deinit(struct trials *trials);
/* Why a fentry or fexit program cannot be loaded for the function; the caller's. NULL: it can. */
char *trial_fentry(struct trials *trials, uint32_t btf_id, bool at_return);
/* Whether the function's prologue, and a program behind it that does nothing, can be loaded. */
bool trial_prologue(uint32_t btf_id, bool at_return, const struct prologue *prologue);
bool trial_kprobe_multi(struct trials *trials);
bool trial_func_ip(struct trials *trials);

/* ---- attach_points.c ---- */

/* What becomes of a point. */
struct place {
	enum probe_way way; /* PROBE_WAY_ANY: none */
	size_t form;
	size_t link;	 /* its number + 1; 0: it is not attached */
	char *refused;	 /* owned */
	uint64_t number; /* of its counter */
};

/* One of the programs that the kernel gets. */
struct form {
	enum probe_way way;
	bool at_return;
	size_t point; /* the first one that it is for */
	size_t n_points;
	uint64_t direct; /* bit i: its value i is read by direct loads, which this kernel takes */
};

struct set_link {
	struct bpf_link *link;
	size_t n_points;
	size_t form;
	uint64_t missed; /* of one that is gone (link is NULL) */
};

struct set_prog {
	struct probe_set *set;
	struct bpf_program *prog;
	struct probe_def def;
	struct probe_points points;
	struct attach_shape shape;
	struct place *places; /* one for each point */
	VEC(struct form) forms;
	VEC(struct set_link) links;
	VEC(int) fault_links; /* of fault_in.c */

	/* of the form that is being loaded */
	struct prologue built;
	char *target;
};

struct probe_set {
	struct probe_opts opts;
	VEC(struct set_prog *) progs;
	struct trials trials;
	size_t n_points;
	int counters; /* the map; -1: none */
	int entries;  /* the map of keep_entries.c; -1: none */
	VEC(int) entry_links;
};

/* The point's values, in the order of the shape's members; has room for all. */
void place_values(const struct set_prog *prog, size_t point, struct fetch_value *values);
/* Whether its points have counters: also who asks for their addresses needs those of the kernel. */
bool set_prog_counts(const struct set_prog *prog);
struct prologue_way place_way(const struct set_prog *prog, size_t point, enum probe_way way);

struct prologue_way form_way(const struct set_prog *prog, const struct form *form);

/* try_direct.c: of the forms that may, which values are read by direct loads. */
struct error *forms_try_direct(struct set_prog *prog);

/* choose_method.c: a way for each point, and the forms that follow from that. */
bool way_has_cookie(enum probe_way way);
struct error *places_choose(struct set_prog *prog);
/* links.c */
struct error *places_attach(struct set_prog *prog);
/* *n_points: of so many together. */
uint64_t link_misses(const struct set_prog *prog, const struct set_link *link, size_t *n_points);

/* fault_in.c: strings of processes that are not paged in, at the points of a form. */
struct error *fault_in_attach(struct set_prog *prog, size_t form);
void fault_in_detach(struct set_prog *prog);

/* keep_entries.c: programs at the entries of functions whose parameters are read later. */
struct error *entries_keep(struct probe_set *set);
void entries_detach(struct probe_set *set);

struct error *place_refuse(struct place *place, const char *fmt, ...) _printf_(2, 3);

#endif
