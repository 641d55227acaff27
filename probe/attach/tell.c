// SPDX-License-Identifier: BSD-2-Clause
/*
 * What became of the points, for the log. A glob stands for a thousand of them:
 * what they have in common is said once, and each by itself only to who wants
 * everything (-vv).
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "probe/attach/internal.h"

void probe_point_name(const struct probe_point *point, struct strbuf *out)
{
	strbuf_adds(out, point->shown ? point->shown : point->function);
	if (point->at_return)
		strbuf_adds(out, "%return");
	else if (point->offset)
		strbuf_addf(out, "+0x%" PRIx64, point->offset);
	if (point->inlined)
		strbuf_addf(out, " (inlined %s)", point->inlined);
}

/* ---- refused ---- */

struct attach_refusal {
	const char *why, *first;
	size_t n;
};

struct refusals {
	VEC(struct attach_refusal) v;
	size_t n;
};

static struct error *note_refusal(struct refusals *r, const struct probe_point *point,
				  const char *why)
{
	struct attach_refusal *one;

	r->n++;
	vec_for_each (one, &r->v) {
		if (strcmp(one->why, why) != 0)
			continue;
		one->n++;
		return NULL;
	}
	one = vec_push(&r->v);
	if (!one)
		return error_nomem();
	*one = (struct attach_refusal){
		.why = why, .first = point->shown ? point->shown : point->function, .n = 1};
	return NULL;
}

/* The first reasons are a warning; the others are for -v. */
static void tell_refusals(const struct set_prog *prog, const struct refusals *r)
{
	enum {
		WARNED = 3,
	};
	const struct log *log = prog->set->opts.log;
	const char *name = bpf_program__name(prog->prog);
	_cleanup_strbuf_ struct strbuf warning = STRBUF_INIT;

	for (size_t i = 0; i < r->v.n; i++) {
		const struct attach_refusal *one = &r->v.v[i];
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		strbuf_adds(&text, one->first);
		if (one->n > 1)
			strbuf_addf(&text, " and %zu more", one->n - 1);
		strbuf_addf(&text, ": %s", one->why);
		if (i < WARNED)
			strbuf_addf(&warning, "%s%s", i ? "; " : "", strbuf_str(&text));
		else
			log_info(log, "program %s: not attached: %s", name, strbuf_str(&text));
	}
	if (r->n)
		log_warn(log, "program %s: %zu of %zu probe points are not attached: %s%s", name,
			 r->n, prog->points.n, strbuf_str(&warning),
			 r->v.n > WARNED ? " (-v shows other reasons)" : "");
}

/* A set for events has no links: their events are opened by others. */
static bool is_attached(const struct probe_set *set, const struct place *place)
{
	return set->opts.events ? place->way != PROBE_WAY_ANY : place->link != 0;
}

struct error *probe_set_tell_attached(const struct probe_set *set)
{
	if (set->opts.pid > 0)
		probe_set_tell_replaced(set, NULL, &set->opts.pid, 1);
	for (size_t k = 0; k < set->progs.n; k++) {
		const struct set_prog *prog = set->progs.v[k];
		struct refusals r = {0};
		struct error *err = NULL;

		for (size_t i = 0; !err && i < prog->points.n; i++) {
			const struct probe_point *point = &prog->points.v[i];
			const struct place *place = &prog->places[i];
			const bool attached = is_attached(set, place);
			_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

			if (!attached)
				err = note_refusal(&r, point,
						   place->refused ? place->refused : "unknown");
			probe_point_name(point, &text);
			log_debug(set->opts.log, "program %s: %s%s%s",
				  bpf_program__name(prog->prog), strbuf_str(&text),
				  attached ? " is attached by " : " is not attached: ",
				  attached	   ? probe_way_name(place->way)
				  : place->refused ? place->refused
						   : "unknown");
		}
		if (!err)
			tell_refusals(prog, &r);
		vec_deinit(&r.v);
		TRY(err);
	}
	return NULL;
}

/* ---- hits ---- */

struct told {
	const struct probe_set *set;
	VEC(struct probe_report) rows; /* of one program, those that are attached */
};

static int by_hits(const void *a, const void *b)
{
	const struct probe_report *x = a, *y = b;

	if (x->hits != y->hits)
		return x->hits > y->hits ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static void tell_row(const struct log *log, enum log_level level, const struct probe_report *row)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	probe_point_name(row->point, &sb);
	strbuf_addf(&sb, ": %s, instance %zu, %" PRIu64 " hits", probe_way_name(row->way),
		    row->instance, row->hits);
	if (row->misses) {
		strbuf_addf(&sb, ", %" PRIu64 " misses", row->misses);
		if (row->miss_points > 1)
			strbuf_addf(&sb, " of %zu probe points together", row->miss_points);
	}
	log_at(log, level, "program %s: %s", bpf_program__name(row->prog), strbuf_str(&sb));
}

static struct error *tell_program(struct told *told)
{
	const struct log *log = told->set->opts.log;
	struct probe_cost cost = {0};
	uint64_t hits = 0;
	size_t n_hit = 0;

	if (!told->rows.n)
		return NULL;
	const struct bpf_program *prog = told->rows.v[0].prog;
	if (told->rows.n > PROBE_TELL_MOST) {
		TRY(probe_set_cost(told->set, prog, &cost));
		qsort(told->rows.v, told->rows.n, sizeof(*told->rows.v), by_hits);
	}
	for (size_t i = 0; i < told->rows.n; i++) {
		const struct probe_report *row = &told->rows.v[i];
		const bool in_short =
			told->rows.n <= PROBE_TELL_MOST || (i < PROBE_TELL_MOST && row->hits);

		tell_row(log, in_short ? LOG_INFO : LOG_DEBUG, row);
		hits += row->hits;
		n_hit += row->hits != 0;
	}
	if (told->rows.n > PROBE_TELL_MOST)
		log_info(log,
			 "program %s: %zu of %zu probe points were hit, %" PRIu64
			 " times in total, %" PRIu64 " misses",
			 bpf_program__name(prog), n_hit, told->rows.n, hits, cost.misses);
	told->rows.n = 0;
	return NULL;
}

/* probe_report_fn */
static struct error *take_row(void *ctx, const struct probe_report *report)
{
	struct told *told = ctx;

	if (told->rows.n && told->rows.v[0].prog != report->prog)
		TRY(tell_program(told));
	if (report->refused)
		return NULL;
	struct probe_report *row = vec_push(&told->rows);
	if (!row)
		return error_nomem();
	*row = *report;
	return NULL;
}

struct error *probe_set_tell_hits(const struct probe_set *set)
{
	struct told told = {.set = set};

	if (!set->opts.count_hits || !set->opts.log || set->opts.log->level < LOG_INFO)
		return NULL;
	struct error *err = probe_set_report(set, take_row, &told);
	if (!err)
		err = tell_program(&told);
	vec_deinit(&told.rows);
	return err;
}
