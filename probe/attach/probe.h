/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs whose section is a probe definition: their points are found, each
 * program becomes as many instances as there are different prologues, and the
 * instances are attached, by the cheapest way that the kernel has for each
 * point. The library is told by bpf_program__set_prep() alone.
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

struct probe_opts {
	enum probe_way way; /* forced */
	pid_t pid;	    /* of user probes: this process only; <= 0: all */
	bool count_hits;    /* each point counts its hits, for the report; costs some ns a hit */
	const struct log *log;
};

struct probe_set;
/* ENOENT and so on as of probe_points_find(), with the program's name. *out is NULL when no program
 * of the object has a definition. */
struct error *probe_set_new(struct probe_finder *finder, struct bpf_object *obj,
			    const struct probe_opts *opts, struct probe_set **out);
/* Fails only if a program could be attached nowhere; else refusals are in the report. */
struct error *probe_set_attach(struct probe_set *set);
void probe_set_free(struct probe_set *set);
DEFINE_FREEP(struct probe_set, probe_set_free)

/* Whether the set takes care of this program: who attaches the others leaves it alone. */
bool probe_set_has(const struct probe_set *set, const struct bpf_program *prog);

struct probe_report {
	const struct bpf_program *prog;
	const struct probe_point *point;
	enum probe_way way;
	const char *refused;   /* why; NULL: attached */
	uint64_t hits, misses; /* hits only when counted */
	size_t instance;
};
typedef struct error *probe_report_fn(void *ctx, const struct probe_report *report);
struct error *probe_set_report(const struct probe_set *set, probe_report_fn *fn, void *ctx);

#endif
