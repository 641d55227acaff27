/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs whose section is a probe definition: their points are found, each
 * program becomes as many instances as there are different prologues, and the
 * instances are attached, by the cheapest way that the kernel has for each
 * point:
 *
 *	fentry, fexit	up to PROBE_FENTRY_MOST points of a definition: each is a program
 *			of its own for the kernel; a fexit program still has the parameters
 *	kprobe.multi	more, or where fentry is not to be had: all points with equal
 *			arguments by one link
 *	kprobe		what is left: offsets, inlined copies, lines; old kernels
 *	uprobe.multi	all points of a binary with equal arguments by one link
 *	uprobe		each by itself, on older kernels
 *
 * bpf_get_attach_cookie() in a program is the point's number within its
 * definition, where the kernel has cookies; never with fentry.
 *
 *	struct probe_set *set;
 *	TRY(probe_set_new(finder, obj, &opts, &set));	// after open, before prepare and load
 *	… bpf_object__load(obj) …
 *	TRY(probe_set_attach(set));
 *	probe_set_report(set, show, ctx);
 *	probe_set_free(set);				// detaches
 */
#ifndef PB_PROBE_ATTACH_PROBE_H
#define PB_PROBE_ATTACH_PROBE_H

#include <bpf/libbpf.h>
#include <sys/types.h>

#include "lib/attach/attach.h"
#include "lib/base/log.h"
#include "probe/point/point.h"

/* The ways of attaching, cheapest first. */
enum probe_way {
	PROBE_WAY_ANY, /* chosen */
	PROBE_WAY_FENTRY,
	PROBE_WAY_KPROBE_MULTI,
	PROBE_WAY_UPROBE_MULTI,
	PROBE_WAY_KPROBE,
	PROBE_WAY_UPROBE,
};
const char *probe_way_name(enum probe_way way); /* "fentry", "kprobe.multi" */
/* EINVAL, with near names */
struct error *probe_way_parse(const char *text, enum probe_way *way);

#define PROBE_FENTRY_MOST 16

struct probe_opts {
	enum probe_way way; /* forced */
	pid_t pid;	    /* of user probes: this process only; <= 0: all */
	/*
	 * For who records the probes' perf events: only ways of which there are
	 * such (kprobe, uprobe), and what the programs return counts. Such a set is
	 * not attached: see probe_set_each_event().
	 */
	bool events;
	/*
	 * For who only looks, by probe_set_plan(): that a program can be attached
	 * nowhere is no error. Such an object is not loaded.
	 */
	bool only_plan;
	/*
	 * The programs are of probe/output/: a member "err" of their struct is the argument of
	 * that name, which who writes a program must call otherwise.
	 */
	bool own_struct;
	/*
	 * Of a definition's points only those whose number in part_of is part; there are n_points
	 * before that, and those that the kernel refuses are not among them. NULL: all.
	 */
	const uint32_t *part_of;
	size_t n_points;
	uint32_t part;
	bool count_hits; /* each point counts its hits, for the report; costs some ns a hit */
	const struct log *log;
};

struct probe_set;
/* ENOENT and so on as of probe_points_find(), with the program's name. *out is NULL when no program
 * of the object has a definition. */
struct error *probe_set_new(struct probe_finder *finder, struct bpf_object *obj,
			    const struct probe_opts *opts, struct probe_set **out);
/* Fails only if a program could be attached nowhere; else refusals are in the report. */
struct error *probe_set_attach(struct probe_set *set);
/* The programs stop; a report still tells of their hits and misses. */
void probe_set_detach(struct probe_set *set);
/* The same of one program. */
void probe_set_detach_program(struct probe_set *set, const struct bpf_program *prog);
void probe_set_free(struct probe_set *set);
DEFINE_FREEP(struct probe_set, probe_set_free)

/* Whether the set takes care of this program: who attaches the others leaves it alone. */
bool probe_set_has(const struct probe_set *set, const struct bpf_program *prog);

struct probe_report {
	const struct bpf_program *prog;
	const struct probe_points *points; /* all of the program's definition */
	const struct probe_point *point;
	enum probe_way way;  /* of those that are refused: PROBE_WAY_ANY, or the last tried */
	const char *refused; /* why; NULL: attached */
	uint64_t hits;	     /* only when counted */
	/*
	 * How often the kernel did not run the program there, because one ran already on that
	 * CPU: of so many points together, where that is all that the kernel tells.
	 */
	uint64_t misses;
	size_t miss_points;
	size_t instance; /* points of a program with the same number share its code */
};
typedef struct error *probe_report_fn(void *ctx, const struct probe_report *report);
/* "vfs_read%return", "ksys_write+0x1c (inlined file_ppos)" */
void probe_point_name(const struct probe_point *point, struct strbuf *out);
struct error *probe_set_report(const struct probe_set *set, probe_report_fn *fn, void *ctx);

/*
 * To the log, after attaching: how many points were refused, and why, each reason once; of each
 * point only to the debug log.
 */
struct error *probe_set_tell_attached(const struct probe_set *set);
/*
 * To the log: hits and misses, of at most PROBE_TELL_MOST points of a program, those that were hit
 * most, and the sum of the others, which the debug log has.
 */
#define PROBE_TELL_MOST 16
struct error *probe_set_tell_hits(const struct probe_set *set);

/* What a program's instances have counted together, also when it is detached. */
struct probe_cost {
	uint64_t runs, ns; /* while somebody has BPF_ENABLE_STATS on */
	uint64_t misses;
};
struct error *probe_set_cost(const struct probe_set *set, const struct bpf_program *prog,
			     struct probe_cost *cost);

/*
 * To the log: which of the processes still run a file that was replaced, so that they do not have
 * the probes. roots as of lib/sys/proc.h.
 */
struct sys_roots;
void probe_set_tell_replaced(const struct probe_set *set, const struct sys_roots *roots,
			     const pid_t *pids, size_t n);

/* The same before load: what would be done; refused only where no way is left. */
struct error *probe_set_plan(const struct probe_set *set, probe_report_fn *fn, void *ctx);

/* The prologue of each instance. */
struct probe_code {
	const struct bpf_program *prog;
	size_t instance;
	enum probe_way way;
	const struct bpf_insn *insns;
	size_t n;
};
typedef struct error *probe_code_fn(void *ctx, const struct probe_code *code);
struct error *probe_set_each_code(const struct probe_set *set, probe_code_fn *fn, void *ctx);

/* Each point's perf event, of a set made for events; form: bpf_program__nth_fd() of it filters. */
struct probe_event {
	const struct probe_def *def;
	const struct probe_points *points;
	struct bpf_program *prog;
	size_t form;
	struct attach_event *event; /* may be taken, and left all 0 */
};
typedef struct error *probe_event_fn(void *ctx, const struct probe_event *event);
struct error *probe_set_each_event(const struct probe_set *set, probe_event_fn *fn, void *ctx);

#endif
