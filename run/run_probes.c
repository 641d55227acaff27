// SPDX-License-Identifier: BSD-2-Clause
#include "run/run_probes.h"

#include <stdlib.h>
#include <string.h>

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

static struct error *need_finder(struct run_probes *probes, const struct log *log)
{
	const struct finder_opts opts = {.confine = probes->confine, .log = log};

	return probes->finder ? NULL : probe_finder_new(&opts, &probes->finder);
}

/* The definition that means the same as the section; NULL: there is none. */
static char *definition_of(const char *section)
{
	static const char prefix[] = "uprobe/";
	const char *file = section + strlen(prefix);
	const char *colon = strrchr(section, ':'), *plus = colon ? strchr(colon, '+') : NULL;

	if (strncmp(section, prefix, strlen(prefix)) != 0 || !plus || colon < file)
		return NULL;
	return text_format("exec=\"%.*s\";%s", (int)(colon - file), file, colon + 1);
}

static struct error *check_offset(struct run_probes *probes, const char *section,
				  const struct log *log)
{
	_cleanup_probe_points_ struct probe_points points = {0};
	_cleanup_probe_def_ struct probe_def def = {0};
	_cleanup_free_ char *text = definition_of(section);

	if (!text)
		return NULL;
	TRY(need_finder(probes, log));
	struct error *err = probe_def_parse(text, &def);
	if (!err)
		err = probe_points_find(probes->finder, &def, &points);
	/* All else is said when the program is attached. */
	if (err && err->code != EILSEQ) {
		error_free(err);
		err = NULL;
	}
	return err;
}

struct error *probes_check_offsets(struct run_probes *probes, const struct bpf_object *obj,
				   const struct log *log)
{
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj)
		if (bpf_program__autoload(prog))
			TRY(program_error_at(
				prog, check_offset(probes, bpf_program__section_name(prog), log)));
	return NULL;
}

struct error *probes_prepare(struct run_probes *probes, struct bpf_object *obj,
			     const struct probe_opts *opts)
{
	struct probe_set *set = NULL;

	if (!has_definition(obj))
		return NULL;
	TRY(need_finder(probes, opts->log));
	TRY(probe_set_new(probes->finder, obj, opts, &set));
	struct probe_set **slot = vec_push(&probes->sets);
	if (!slot) {
		probe_set_free(set);
		return error_nomem();
	}
	*slot = set;
	return NULL;
}

bool probes_of_user(const struct bpf_program *prog)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	const char *section = bpf_program__section_name(prog);

	if (!probe_def_is(section))
		return false;
	error_free(probe_def_parse(section, &def));
	return def.exec != NULL;
}

/* The set that takes care of the program; NULL: none. */
static struct probe_set *set_of(const struct run_probes *probes, const struct bpf_program *prog)
{
	for (size_t i = 0; i < probes->sets.n; i++)
		if (probe_set_has(probes->sets.v[i], prog))
			return probes->sets.v[i];
	return NULL;
}

bool probes_have(const struct run_probes *probes, const struct bpf_program *prog)
{
	return set_of(probes, prog) != NULL;
}

struct error *probes_attach(const struct run_probes *probes)
{
	for (size_t i = 0; i < probes->sets.n; i++) {
		TRY(probe_set_attach(probes->sets.v[i]));
		TRY(probe_set_tell_attached(probes->sets.v[i]));
	}
	return NULL;
}

void probes_detach(const struct run_probes *probes)
{
	for (size_t i = 0; i < probes->sets.n; i++)
		probe_set_detach(probes->sets.v[i]);
}

void probes_detach_program(const struct run_probes *probes, const struct bpf_program *prog)
{
	struct probe_set *set = set_of(probes, prog);

	if (set)
		probe_set_detach_program(set, prog);
}

struct error *probes_cost(const struct run_probes *probes, const struct bpf_program *prog,
			  struct probe_cost *cost)
{
	return probe_set_cost(set_of(probes, prog), prog, cost);
}

struct error *probes_tell(const struct run_probes *probes)
{
	for (size_t i = 0; i < probes->sets.n; i++)
		TRY(probe_set_tell_hits(probes->sets.v[i]));
	return NULL;
}

/* ---- the table of points ---- */

static const struct result_column point_columns[] = {
	{.name = "program", .is_key = true},
	{.name = "point", .is_key = true},
	{.name = "way"},
	{.name = "instance"},
	{.name = "hits"},
	{.name = "misses"},
	{.name = "miss_points"},
	{.name = "refused"},
};

struct probe_rows {
	struct results *results;
	VEC(struct probe_report) v;
};

/* probe_report_fn */
static struct error *take_row(void *ctx, const struct probe_report *report)
{
	struct probe_rows *rows = ctx;
	struct probe_report *row = vec_push(&rows->v);

	if (!row)
		return error_nomem();
	*row = *report;
	return NULL;
}

/* Those that were hit most come first, what was refused last; else as they were found. */
static int by_hits(const void *a, const void *b)
{
	const struct probe_report *x = a, *y = b;

	if (x->prog != y->prog)
		return x->prog < y->prog ? -1 : 1;
	if (!x->refused != !y->refused)
		return x->refused ? 1 : -1;
	if (x->hits != y->hits)
		return x->hits > y->hits ? -1 : 1;
	return x->point < y->point ? -1 : x->point > y->point;
}

static struct error *fill_row(struct results *results, const struct probe_report *row,
			      struct result_cell *cells)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	probe_point_name(row->point, &name);
	cells[0] = cell_of_text(arena_strdup(&results->arena, bpf_program__name(row->prog)));
	cells[1] = cell_of_text(arena_strdup(&results->arena, strbuf_str(&name)));
	if (!cells[0].text || !cells[1].text || strbuf_failed(&name))
		return error_nomem();
	if (row->refused) {
		cells[7] = cell_of_text(arena_strdup(&results->arena, row->refused));
		return cells[7].text ? NULL : error_nomem();
	}
	cells[2] = cell_of_text(arena_strdup(&results->arena, probe_way_name(row->way)));
	cells[3] = cell_of_number(row->instance);
	cells[4] = cell_of_number(row->hits);
	cells[5] = cell_of_number(row->misses);
	cells[6] = cell_of_number(row->miss_points);
	return cells[2].text ? NULL : error_nomem();
}

static struct error *add_table(const struct probe_rows *rows, size_t top)
{
	struct result *r = results_add(rows->results, RESULT_TABLE, "(probes)");
	const size_t n = top ? min_of(top, rows->v.n) : rows->v.n;
	const size_t n_columns = ARRAY_SIZE(point_columns);

	if (!r)
		return error_nomem();
	r->title = "Probe points";
	r->table.columns = point_columns;
	r->table.n_columns = n_columns;
	r->table.n_rows = n;
	r->table.left_out = rows->v.n - n;
	r->table.cells = arena_alloc(&rows->results->arena,
				     (n * n_columns + 1) * sizeof(struct result_cell));
	if (!r->table.cells)
		return error_nomem();
	for (size_t i = 0; i < n; i++)
		TRY(fill_row(rows->results, &rows->v.v[i], r->table.cells + i * n_columns));
	return NULL;
}

struct error *probes_add_results(const struct run_probes *probes, size_t top,
				 struct results *results)
{
	struct probe_rows rows = {.results = results};
	struct error *err = NULL;

	for (size_t i = 0; !err && i < probes->sets.n; i++)
		err = probe_set_report(probes->sets.v[i], take_row, &rows);
	if (!err && rows.v.n) {
		qsort(rows.v.v, rows.v.n, sizeof(*rows.v.v), by_hits);
		err = add_table(&rows, top);
	}
	vec_deinit(&rows.v);
	return err;
}
