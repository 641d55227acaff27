// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's counters of a program (struct bpf_prog_info) only grow: what a
 * stretch of time cost is the difference of two readings. The shares are of the
 * wall clock's time, of one CPU and of all that are online: a program that ran
 * on two CPUs all the time took 200 % of one.
 *
 * The limit is held against the last stretch, not against all the time since
 * the start: a program that begins to cost late is found as soon as one that
 * does so from the beginning, and one that was expensive once is judged at
 * once. A stretch is a second: a run that another guest or an interrupt
 * stretched does not weigh much in it.
 *
 * A program's counters stay when its link is gone; a link's go with it.
 */
#include "run/cost.h"

#include <bpf/bpf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/attach/attach.h"
#include "lib/base/vec.h"
#include "lib/sys/missing_caps.h"
#include "lib/sys/sys.h"
#include "run/internal.h"
#include "run/run_probes.h"

enum {
	STRETCH_MS = 1000,
};

struct cost_reading {
	uint64_t at; /* monotonic ns */
	uint64_t runs, ns, missed;
};

struct counted_program {
	const struct bpf_program *prog;
	bool attached;
	struct bpf_link *link; /* NULL: it is detached, or one of probes */
	const struct run_probes *probes;
	struct cost_reading now;
	struct cost_reading start;   /* when it was attached */
	struct cost_reading checked; /* at the last cost_check() */
	struct cost_reading shown;   /* at the last results of delta */
	uint64_t link_missed;	     /* what the link said last */
	uint64_t until;		     /* when it was detached; 0: it is not */
	double excess;		     /* the share for which it was detached; 0: it was not */
	double share;		     /* in the last stretch, of all CPUs */
};

struct cost {
	struct cost_opts opts;
	VEC(struct counted_program) programs;
	unsigned cpus;
	int stats_fd;
};

static struct error *count_time(struct cost *cost)
{
	int enabled = 0;

	cost->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (cost->stats_fd >= 0)
		return NULL;
	const int code = errno;
	error_free(sys_sysctl(NULL, "kernel/bpf_stats_enabled", &enabled));
	if (enabled)
		return NULL;
	struct error *err = error_errno(code == EINVAL ? ENOTSUP : code,
					"the kernel does not collect the cost of programs");
	if (code == EPERM || code == EACCES)
		return sys_hint_caps(err, NULL, SYS_CAP(SYS_CAP_SYS_ADMIN),
				     "type: sysctl kernel.bpf_stats_enabled=1");
	return error_hint(err, "type: sysctl kernel.bpf_stats_enabled=1 (Linux 5.1)");
}

struct error *cost_new(const struct cost_opts *opts, struct cost **out)
{
	_cleanup_(cost_freep) struct cost *cost = calloc(1, sizeof(*cost));
	_cleanup_cpus_ struct sys_cpus cpus = {0};

	if (!cost)
		return error_nomem();
	cost->opts = *opts;
	cost->stats_fd = -1;
	TRY(sys_cpus_online(NULL, &cpus));
	cost->cpus = max_of((unsigned)cpus.n, 1u);
	if (opts->show || opts->max_share > 0)
		TRY(count_time(cost));
	*out = steal_ptr(cost);
	return NULL;
}

void cost_free(struct cost *cost)
{
	if (!cost)
		return;
	vec_deinit(&cost->programs);
	closep(&cost->stats_fd);
	free(cost);
}

static struct error *read_counters(struct counted_program *p)
{
	struct bpf_prog_info info = {0};
	uint32_t len = sizeof(info);

	if (p->probes) {
		struct probe_cost cost;

		TRY(probes_cost(p->probes, p->prog, &cost));
		p->now = (struct cost_reading){
			.at = p->until ? p->until : clock_ns(CLOCK_MONOTONIC),
			.runs = cost.runs,
			.ns = cost.ns,
			.missed = cost.misses,
		};
		return NULL;
	}
	if (bpf_obj_get_info_by_fd(bpf_program__fd(p->prog), &info, &len))
		return error_errno(errno, "program %s: cannot read its counters",
				   bpf_program__name(p->prog));
	if (p->link)
		p->link_missed = link_missed(p->link);
	p->now = (struct cost_reading){
		.at = p->until ? p->until : clock_ns(CLOCK_MONOTONIC),
		.runs = info.run_cnt,
		.ns = info.run_time_ns,
		.missed = info.recursion_misses + p->link_missed,
	};
	return NULL;
}

static struct error *add(struct cost *cost, const struct counted_program *counted)
{
	struct counted_program *p = vec_push(&cost->programs);

	if (!p)
		return error_nomem();
	*p = *counted;
	p->attached = true;
	/* it may have run between attaching and now, so that the counters begin at 0 */
	p->start.at = clock_ns(CLOCK_MONOTONIC);
	p->checked = p->shown = p->start;
	return NULL;
}

struct error *cost_add(struct cost *cost, const struct bpf_program *prog, struct bpf_link *link)
{
	return add(cost, &(struct counted_program){.prog = prog, .link = link});
}

struct error *cost_add_probe(struct cost *cost, const struct bpf_program *prog,
			     const struct run_probes *probes)
{
	return add(cost, &(struct counted_program){.prog = prog, .probes = probes});
}

unsigned cost_interval_ms(const struct cost *cost)
{
	return cost->opts.max_share > 0 ? STRETCH_MS : 0;
}

/* Of one CPU's time. */
static double share_of(const struct cost_reading *from, const struct cost_reading *to)
{
	return to->at > from->at ? (double)(to->ns - from->ns) / (to->at - from->at) : 0;
}

struct error *cost_check(struct cost *cost)
{
	struct counted_program *p;

	vec_for_each (p, &cost->programs) {
		p->share = 0;
		if (!p->attached)
			continue;
		TRY(read_counters(p));
		p->share = share_of(&p->checked, &p->now) / cost->cpus;
		p->checked = p->now;
	}
	return NULL;
}

static void detached(struct counted_program *p)
{
	if (!p->attached)
		return;
	if (p->link)
		p->link_missed = link_missed(p->link);
	p->link = NULL;
	p->attached = false;
	p->until = clock_ns(CLOCK_MONOTONIC);
}

const struct bpf_program *cost_take_excess(struct cost *cost, const struct log *log,
					   struct bpf_link **link)
{
	struct counted_program *p;

	vec_for_each (p, &cost->programs) {
		if (!p->attached || p->share <= cost->opts.max_share)
			continue;
		p->excess = p->share;
		*link = p->link;
		detached(p);
		log_warn(log,
			 "program %s is detached: it used %.3g %% of all CPUs' time; "
			 "--max-overhead allows %.3g %%",
			 bpf_program__name(p->prog), p->excess * 100, cost->opts.max_share * 100);
		return p->prog;
	}
	return NULL;
}

size_t cost_n_taken(const struct cost *cost)
{
	size_t n = 0;

	for (size_t i = 0; i < cost->programs.n; i++)
		n += cost->programs.v[i].excess > 0;
	return n;
}

size_t cost_n_attached(const struct cost *cost)
{
	size_t n = 0;

	for (size_t i = 0; i < cost->programs.n; i++)
		n += cost->programs.v[i].attached;
	return n;
}

void cost_stop(struct cost *cost)
{
	struct counted_program *p;

	vec_for_each (p, &cost->programs)
		detached(p);
}

/* ---- results ---- */

/* Their names say the units, so that every format shows them. */
static const struct result_column cost_columns[] = {
	{.name = "program", .is_key = true},
	{.name = "runs"},
	{.name = "time_ns"},
	{.name = "ns_per_run"},
	{.name = "cpu_percent"},
	{.name = "total_percent"},
	{.name = "missed"},
};

static const struct result_column missed_columns[] = {
	{.name = "program", .is_key = true},
	{.name = "missed"},
};

/* To three digits behind the point: the rest is noise. */
static struct result_cell fraction(double v)
{
	return (struct result_cell){.kind = CELL_FLOAT, .f = round(v * 1000) / 1000};
}

static void fill_cost(const struct cost *cost, const struct counted_program *p,
		      const struct cost_reading *from, struct result_cell *cells)
{
	const uint64_t runs = p->now.runs - from->runs, ns = p->now.ns - from->ns;
	const double share = share_of(from, &p->now);

	cells[1] = cell_of_number(runs);
	cells[2] = cell_of_number(ns);
	if (runs)
		cells[3] = fraction((double)ns / runs);
	cells[4] = fraction(share * 100);
	cells[5] = fraction(share * 100 / cost->cpus);
	cells[6] = cell_of_number(p->now.missed - from->missed);
}

/* Which were detached, and for what. */
static struct error *add_note(const struct cost *cost, struct results *results, struct result *r)
{
	_cleanup_strbuf_ struct strbuf note = STRBUF_INIT;
	const struct counted_program *p;

	vec_for_each (p, &cost->programs)
		if (p->excess > 0)
			strbuf_addf(&note,
				    "%s%s was detached: it used %.3g %% of all CPUs' time "
				    "(--max-overhead %.3g%%)",
				    note.len ? "; " : "", bpf_program__name(p->prog),
				    p->excess * 100, cost->opts.max_share * 100);
	if (!note.len)
		return NULL;
	r->note = arena_strdup(&results->arena, strbuf_str(&note));
	return r->note ? NULL : error_nomem();
}

static struct error *add_table(struct cost *cost, bool delta, struct results *results, bool all)
{
	const size_t n_columns = all ? ARRAY_SIZE(cost_columns) : ARRAY_SIZE(missed_columns);
	struct result *r = results_add(results, RESULT_TABLE, all ? "(cost)" : "(missed)");
	size_t row = 0;

	if (!r)
		return error_nomem();
	r->title = all ? "Cost of the programs" : "Runs skipped by the kernel";
	r->table.columns = all ? cost_columns : missed_columns;
	r->table.n_columns = n_columns;
	r->table.cells = arena_alloc(&results->arena,
				     cost->programs.n * n_columns * sizeof(struct result_cell));
	if (!r->table.cells)
		return error_nomem();
	for (size_t i = 0; i < cost->programs.n; i++) {
		const struct counted_program *p = &cost->programs.v[i];
		const struct cost_reading *from = delta ? &p->shown : &p->start;
		struct result_cell *cells = r->table.cells + row * n_columns;

		if (!all && p->now.missed == from->missed)
			continue;
		cells[0].kind = CELL_TEXT;
		cells[0].text = arena_strdup(&results->arena, bpf_program__name(p->prog));
		if (!cells[0].text)
			return error_nomem();
		if (all)
			fill_cost(cost, p, from, cells);
		else
			cells[1] = cell_of_number(p->now.missed - from->missed);
		row++;
	}
	r->table.n_rows = row;
	return all ? add_note(cost, results, r) : NULL;
}

struct error *cost_add_results(struct cost *cost, bool delta, struct results *results)
{
	bool missed = false;
	struct counted_program *p;

	vec_for_each (p, &cost->programs) {
		TRY(read_counters(p));
		missed |= p->now.missed > (delta ? p->shown : p->start).missed;
	}
	if (cost->opts.show || cost_n_taken(cost) || missed)
		TRY(add_table(cost, delta, results, cost->opts.show || cost_n_taken(cost)));
	vec_for_each (p, &cost->programs)
		if (delta)
			p->shown = p->now;
	return NULL;
}
