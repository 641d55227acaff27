// SPDX-License-Identifier: BSD-2-Clause
#include "run/probes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/strbuf.h"
#include "probe/def/def.h"

void probes_deinit(struct run_probes *probes)
{
	for (size_t i = 0; i < probes->sets.n; i++)
		probe_set_free(probes->sets.v[i]);
	vec_deinit(&probes->sets);
	probe_finder_free(probes->finder);
	probes->finder = NULL;
}

static bool has_definition(const struct bpf_object *obj)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj)
		if (bpf_program__autoload(prog) && probe_def_is(bpf_program__section_name(prog)))
			return true;
	return false;
}

struct error *probes_prepare(struct run_probes *probes, struct bpf_object *obj,
			     const struct probe_opts *opts)
{
	const struct finder_opts finder_opts = {.log = opts->log};
	struct probe_set *set = NULL;

	if (!has_definition(obj))
		return NULL;
	if (!probes->finder)
		TRY(probe_finder_new(&finder_opts, &probes->finder));
	TRY(probe_set_new(probes->finder, obj, opts, &set));
	struct probe_set **slot = vec_push(&probes->sets);
	if (!slot) {
		probe_set_free(set);
		return error_nomem();
	}
	*slot = set;
	return NULL;
}

bool probes_have(const struct run_probes *probes, const struct bpf_program *prog)
{
	for (size_t i = 0; i < probes->sets.n; i++)
		if (probe_set_has(probes->sets.v[i], prog))
			return true;
	return false;
}

/* The points of one program that were refused. */
struct refused {
	const struct log *log;
	const struct bpf_program *prog;
	size_t n, of;
	const char *name, *why; /* the first's */
};

static void tell_refused(struct refused *r)
{
	if (r->n)
		log_warn(r->log, "program %s: %zu of %zu points are not attached: %s: %s%s",
			 bpf_program__name(r->prog), r->n, r->of, r->name, r->why,
			 r->n > 1 ? " (-v tells of the others)" : "");
}

static const char *shown(const struct probe_point *point)
{
	return point->shown ? point->shown : point->function;
}

/* probe_report_fn */
static struct error *see_refused(void *ctx, const struct probe_report *report)
{
	struct refused *r = ctx;

	if (r->prog != report->prog) {
		tell_refused(r);
		*r = (struct refused){.log = r->log, .prog = report->prog};
	}
	r->of++;
	if (report->refused && !r->n++) {
		r->name = shown(report->point);
		r->why = report->refused;
	}
	return NULL;
}

struct error *probes_attach(const struct run_probes *probes, const struct log *log)
{
	for (size_t i = 0; i < probes->sets.n; i++) {
		struct refused refused = {.log = log};

		TRY(probe_set_attach(probes->sets.v[i]));
		TRY(probe_set_report(probes->sets.v[i], see_refused, &refused));
		tell_refused(&refused);
	}
	return NULL;
}

void probes_detach(const struct run_probes *probes)
{
	for (size_t i = 0; i < probes->sets.n; i++)
		probe_set_detach(probes->sets.v[i]);
}

/* probe_report_fn */
static struct error *tell(void *ctx, const struct probe_report *report)
{
	const struct probe_point *point = report->point;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "program %s: %s", bpf_program__name(report->prog), shown(point));
	if (point->at_return)
		strbuf_adds(&sb, "%return");
	else if (point->offset)
		strbuf_addf(&sb, "+0x%" PRIx64, point->offset);
	if (point->inlined)
		strbuf_addf(&sb, " (inlined %s)", point->inlined);
	if (report->refused) {
		strbuf_addf(&sb, ": not attached: %s", report->refused);
	} else {
		strbuf_addf(&sb, ": %s, instance %zu, %" PRIu64 " hits",
			    probe_way_name(report->way), report->instance, report->hits);
		if (report->misses)
			strbuf_addf(&sb, ", %" PRIu64 " misses%s", report->misses,
				    report->link_points > 1 ? " of all of its link" : "");
	}
	if (strbuf_failed(&sb))
		return error_nomem();
	log_info((const struct log *)ctx, "%s", strbuf_str(&sb));
	return NULL;
}

struct error *probes_tell(const struct run_probes *probes, const struct log *log)
{
	for (size_t i = 0; i < probes->sets.n; i++)
		TRY(probe_set_report(probes->sets.v[i], tell, (void *)(uintptr_t)log));
	return NULL;
}
