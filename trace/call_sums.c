// SPDX-License-Identifier: BSD-2-Clause
#include "trace/call_sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/kernel_errno.h"
#include "lib/base/sum.h"
#include "lib/base/vec.h"
#include "lib/sys/cgroup_paths.h"
#include "show/plain.h"

struct errno_count {
	uint64_t id; /* see row_id() */
	uint32_t nr;
	enum trace_abi abi;
	int err;
	uint64_t n;
};

struct call_sums {
	const struct call_table *table;
	enum trace_sums_by by;
	struct cgroup_paths cgroups;
	VEC(struct trace_sum) rows;
	VEC(struct errno_count) errnos;
	bool sorted;
};

struct error *call_sums_new(const struct call_table *table, enum trace_sums_by by,
			    struct call_sums **out)
{
	struct call_sums *sums = calloc(1, sizeof(*sums));

	if (!sums)
		return error_nomem();
	sums->table = table;
	sums->by = by;
	*out = sums;
	return NULL;
}

void call_sums_free(struct call_sums *sums)
{
	if (!sums)
		return;
	vec_deinit(&sums->rows);
	vec_deinit(&sums->errnos);
	cgroup_paths_deinit(&sums->cgroups);
	free(sums);
}

/* The thread or cgroup; 0 in total. */
static uint64_t row_id(const struct trace_sum *row)
{
	return row->cgroup ? row->cgroup : row->tid;
}

struct error *call_sums_add(void *ctx, const struct trace_sum *sum)
{
	struct call_sums *sums = ctx;
	struct trace_sum *row = sum->calls ? vec_push(&sums->rows) : NULL;

	if (!sum->calls)
		return NULL;
	if (!row)
		return error_nomem();
	*row = *sum;
	sums->sorted = false;
	return NULL;
}

struct error *call_sums_add_errno(void *ctx, const struct trace_sum *sum, int err, uint64_t n)
{
	struct call_sums *sums = ctx;
	struct errno_count *count = vec_push(&sums->errnos);

	if (!count)
		return error_nomem();
	*count = (struct errno_count){row_id(sum), sum->nr, sum->abi, err, n};
	sums->sorted = false;
	return NULL;
}

/* By thread or cgroup; of each the calls that took most time first. */
static int compare_rows(const void *x, const void *y)
{
	const struct trace_sum *a = x, *b = y;

	if (row_id(a) != row_id(b))
		return row_id(a) < row_id(b) ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (a->abi != b->abi)
		return a->abi < b->abi ? -1 : 1;
	return (a->nr > b->nr) - (a->nr < b->nr);
}

static int compare_errnos(const void *x, const void *y)
{
	const struct errno_count *a = x, *b = y;

	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	if (a->abi != b->abi)
		return a->abi < b->abi ? -1 : 1;
	if (a->nr != b->nr)
		return a->nr < b->nr ? -1 : 1;
	return (a->err > b->err) - (a->err < b->err);
}

static void sort(struct call_sums *sums)
{
	if (sums->sorted)
		return;
	if (sums->rows.n)
		qsort(sums->rows.v, sums->rows.n, sizeof(*sums->rows.v), compare_rows);
	if (sums->errnos.n)
		qsort(sums->errnos.v, sums->errnos.n, sizeof(*sums->errnos.v), compare_errnos);
	sums->sorted = true;
}

/* The standard deviation of the mean, in percent of the mean, as perf has it. */
static double deviation_percent(const struct trace_sum *row)
{
	const double n = (double)row->calls, mean = (double)row->total_ns / n;
	const double squares = row->sum_of_squares - n * mean * mean;

	if (row->calls < 2 || mean <= 0 || squares <= 0)
		return 0;
	return 100 * sqrt(squares / (n - 1) / n) / mean;
}

/* "openat", "openat (32)", "syscall_999"; in *buf where it has to be made. */
static const char *row_name(const struct call_sums *sums, enum trace_abi abi, uint32_t nr,
			    char buf[64])
{
	const struct call *call = call_by_nr(sums->table, abi, nr);
	const char *suffix = abi == TRACE_ABI_32 ? " (32)" : abi == TRACE_ABI_X32 ? " (x32)" : "";

	if (nr == TRACE_NR_OTHER) {
		snprintf(buf, 64, "unknown%s", suffix);
		return buf;
	}
	if (call && !*suffix)
		return call->name;
	if (call)
		snprintf(buf, 64, "%s%s", call->name, suffix);
	else
		snprintf(buf, 64, "syscall_%u%s", nr, suffix);
	return buf;
}

/* NULL, or what must be said beside the rows: a total that has no room for its sum. */
static const char *note_totals(const struct trace_sum *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].total_ns == UINT64_MAX)
			return "a total is larger than 18446744073709551615 ns, which is shown "
			       "instead; the average and the deviation are not exact";
	return NULL;
}

/* ---- perf's text ---- */

static void add_errnos(const struct call_sums *sums, const struct trace_sum *row,
		       struct strbuf *out)
{
	const struct errno_count first = {.id = row_id(row), .nr = row->nr, .abi = row->abi};
	const struct errno_count *errnos = sums->errnos.v;

	for (size_t i = count_before(sums->errnos.n, k, compare_errnos(&errnos[k], &first) < 0);
	     i < sums->errnos.n; i++) {
		const struct errno_count *e = &errnos[i];
		const char *name = kernel_errno_name(e->err);

		if (e->id != first.id || e->nr != first.nr || e->abi != first.abi)
			break;
		if (name)
			strbuf_addf(out, "\t\t\t\t%s: %" PRIu64 "\n", name, e->n);
		else
			strbuf_addf(out, "\t\t\t\t%d: %" PRIu64 "\n", e->err, e->n);
	}
}

static void add_row(const struct call_sums *sums, const struct trace_sum *row, bool errors,
		    struct strbuf *out)
{
	char buf[64];

	strbuf_addf(out, "   %-15s %8" PRIu64 " %6" PRIu64 " %9.3f %9.3f %9.3f %9.3f %9.2f%%\n",
		    row_name(sums, row->abi, row->nr, buf), row->calls, row->errors,
		    (double)row->total_ns / 1e6, (double)row->min_ns / 1e6,
		    (double)row->total_ns / 1e6 / (double)row->calls, (double)row->max_ns / 1e6,
		    deviation_percent(row));
	if (errors)
		add_errnos(sums, row, out);
}

/* "/system.slice", or "id:42" of a cgroup that does not exist any more; in *buf if it is made. */
static const char *cgroup_label(struct call_sums *sums, uint64_t id, char buf[32])
{
	const char *path = cgroup_paths_get(&sums->cgroups, NULL, id);

	if (path && *path)
		return path;
	snprintf(buf, 32, "id:%" PRIu64, id);
	return buf;
}

/* "sleep (1234), 45 events, 98.2%, 3 majfaults, 120 minfaults, 1.234 msec" */
static void add_thread_head(const char *comm, uint32_t tid, uint64_t calls, uint64_t all,
			    const struct thread_counts *counts, struct strbuf *out)
{
	const struct thread_count *count = thread_counts_get(counts, tid);

	plain_add(out, comm, strnlen(comm, 16));
	strbuf_addf(out, " (%u), %" PRIu64 " events, %.1f%%", tid, calls,
		    all ? 100.0 * (double)calls / (double)all : 0);
	if (count && count->major_faults)
		strbuf_addf(out, ", %" PRIu64 " majfaults", count->major_faults);
	if (count && count->minor_faults)
		strbuf_addf(out, ", %" PRIu64 " minfaults", count->minor_faults);
	if (counts->runtime)
		strbuf_addf(out, ", %.3f msec", count ? (double)count->runtime_ns / 1e6 : 0);
}

static void add_group(struct call_sums *sums, size_t first, size_t end, uint64_t all, bool errors,
		      const struct thread_counts *counts, struct strbuf *out)
{
	const struct trace_sum *row = &sums->rows.v[first];
	const char *note = note_totals(row, end - first);
	uint64_t calls = 0;
	char buf[32];

	for (size_t i = first; i < end; i++)
		sum_add(&calls, sums->rows.v[i].calls);
	strbuf_addch(out, ' ');
	if (sums->by == TRACE_SUMS_BY_THREAD) {
		add_thread_head(row->comm, row->tid, calls, all, counts, out);
	} else if (sums->by == TRACE_SUMS_BY_CGROUP) {
		const char *label = cgroup_label(sums, row->cgroup, buf);

		strbuf_adds(out, "cgroup ");
		plain_add(out, label, strlen(label));
		strbuf_addf(out, ", %" PRIu64 " events", calls);
	} else {
		strbuf_addf(out, "total, %" PRIu64 " events", calls);
	}
	strbuf_adds(out,
		    "\n\n   syscall            calls  errors  total       min       avg       max "
		    "      stddev\n"
		    "                                     (msec)    (msec)    (msec)    (msec)     "
		    "   (%)\n"
		    "   --------------- --------  ------ -------- --------- --------- ---------   "
		    "  ------\n");
	for (size_t i = first; i < end; i++)
		add_row(sums, &sums->rows.v[i], errors, out);
	if (note)
		strbuf_addf(out, "   %s\n", note);
	strbuf_adds(out, "\n\n");
}

/* The first row of a thread or cgroup, or where it would be. */
static size_t first_row(const struct call_sums *sums, uint64_t id)
{
	return count_before(sums->rows.n, i, row_id(&sums->rows.v[i]) < id);
}

static bool has_row(const struct call_sums *sums, uint32_t tid)
{
	const size_t i = first_row(sums, tid);

	return i < sums->rows.n && row_id(&sums->rows.v[i]) == tid;
}

/* Threads that made no call, and their counts. */
static struct error *add_others(const struct call_sums *sums, uint64_t all,
				const struct thread_counts *counts, struct strbuf *out)
{
	_cleanup_free_ struct thread_count *threads = NULL;
	size_t n = 0;

	if (sums->by != TRACE_SUMS_BY_THREAD)
		return NULL;
	TRY(thread_counts_list(counts, &threads, &n));
	for (size_t i = 0; i < n; i++) {
		if (has_row(sums, threads[i].tid))
			continue;
		strbuf_addch(out, ' ');
		add_thread_head(threads[i].comm, threads[i].tid, 0, all, counts, out);
		strbuf_adds(out, "\n\n");
	}
	return NULL;
}

struct error *call_sums_text(struct call_sums *sums, bool errors,
			     const struct thread_counts *counts, struct strbuf *out)
{
	const struct trace_sum *row;
	uint64_t all = 0;

	sort(sums);
	vec_for_each (row, &sums->rows)
		sum_add(&all, row->calls);
	strbuf_adds(out, "\n Summary of events:\n\n");
	for (size_t first = 0, end; first < sums->rows.n; first = end) {
		for (end = first + 1; end < sums->rows.n &&
				      row_id(&sums->rows.v[end]) == row_id(&sums->rows.v[first]);)
			end++;
		add_group(sums, first, end, all, errors, counts, out);
	}
	return add_others(sums, all, counts, out);
}

/* ---- results ---- */

struct cells {
	struct result_cell *v;
	size_t n;
};

static struct result_cell *next_cell(struct cells *cells)
{
	return &cells->v[cells->n++];
}

static struct error *add_key(struct call_sums *sums, struct results *results,
			     const struct trace_sum *row, struct cells *cells)
{
	char buf[64];

	if (sums->by == TRACE_SUMS_BY_CGROUP) {
		const char *label = cgroup_label(sums, row->cgroup, buf);

		label = arena_text(&results->arena, label, strlen(label));
		if (!label)
			return error_nomem();
		*next_cell(cells) = cell_of_text(label);
	}
	if (sums->by == TRACE_SUMS_BY_THREAD) {
		const char *comm = arena_text(&results->arena, row->comm,
					      strnlen(row->comm, sizeof(row->comm)));

		if (!comm)
			return error_nomem();
		*next_cell(cells) = cell_of_number(row->pid);
		*next_cell(cells) = cell_of_number(row->tid);
		*next_cell(cells) = cell_of_text(comm);
	}
	const char *name = row_name(sums, row->abi, row->nr, buf);
	name = arena_text(&results->arena, name, strlen(name));
	if (!name)
		return error_nomem();
	*next_cell(cells) = cell_of_text(name);
	return NULL;
}

static const struct result_column thread_keys[] = {
	{.name = "pid", .is_key = true},
	{.name = "tid", .is_key = true},
	{.name = "comm", .is_key = true},
	{.name = "syscall", .is_key = true},
};

static const struct result_column cgroup_keys[] = {
	{.name = "cgroup", .is_key = true},
	{.name = "syscall", .is_key = true},
};

static const struct result_column total_keys[] = {
	{.name = "syscall", .is_key = true},
};

/* The columns that say what a row is about. */
static const struct key_columns {
	const struct result_column *v;
	size_t n;
} key_columns[] = {
	[TRACE_SUMS_TOTAL] = {total_keys, ARRAY_SIZE(total_keys)},
	[TRACE_SUMS_BY_THREAD] = {thread_keys, ARRAY_SIZE(thread_keys)},
	[TRACE_SUMS_BY_CGROUP] = {cgroup_keys, ARRAY_SIZE(cgroup_keys)},
};

static const struct result_column call_columns[] = {
	{.name = "calls"},
	{.name = "errors"},
	{.name = "total_ns", .unit = "ns"},
	{.name = "min_ns", .unit = "ns"},
	{.name = "avg_ns", .unit = "ns"},
	{.name = "max_ns", .unit = "ns"},
	{.name = "stddev_percent"},
};

static const struct result_column errno_columns[] = {
	{.name = "errno", .has_text = true},
	{.name = "count"},
};

/* A table with the key's columns in front of `more`; its cells are empty. */
static struct error *add_table(struct results *results, const char *name, enum trace_sums_by by,
			       const struct result_column *more, size_t n_more, size_t n_rows,
			       struct result **out)
{
	const struct key_columns *keys = &key_columns[by];
	const size_t n = keys->n + n_more;
	struct result *r = results_add(results, RESULT_TABLE, name);
	struct result_column *columns = arena_alloc(&results->arena, n * sizeof(*columns));

	if (!r || !columns)
		return error_nomem();
	memcpy(columns, keys->v, keys->n * sizeof(*columns));
	memcpy(columns + keys->n, more, n_more * sizeof(*columns));
	r->table.columns = columns;
	r->table.n_columns = n;
	r->table.n_rows = n_rows;
	r->table.cells = arena_alloc(&results->arena, (n * n_rows + 1) * sizeof(*r->table.cells));
	if (!r->table.cells)
		return error_nomem();
	*out = r;
	return NULL;
}

static struct error *add_calls(struct call_sums *sums, struct results *results)
{
	const struct trace_sum *row;
	struct result *r;

	TRY(add_table(results, "calls", sums->by, call_columns, ARRAY_SIZE(call_columns),
		      sums->rows.n, &r));
	r->note = note_totals(sums->rows.v, sums->rows.n);
	struct cells cells = {r->table.cells, 0};
	vec_for_each (row, &sums->rows) {
		TRY(add_key(sums, results, row, &cells));
		*next_cell(&cells) = cell_of_number(row->calls);
		*next_cell(&cells) = cell_of_number(row->errors);
		*next_cell(&cells) = cell_of_number(row->total_ns);
		*next_cell(&cells) = cell_of_number(row->min_ns);
		*next_cell(&cells) = cell_of_number(row->total_ns / row->calls);
		*next_cell(&cells) = cell_of_number(row->max_ns);
		*next_cell(&cells) =
			(struct result_cell){.kind = CELL_FLOAT, .f = deviation_percent(row)};
	}
	return NULL;
}

static const struct trace_sum *row_of(const struct call_sums *sums, const struct errno_count *e)
{
	for (size_t i = first_row(sums, e->id); i < sums->rows.n; i++) {
		const struct trace_sum *row = &sums->rows.v[i];

		if (row_id(row) != e->id)
			break;
		if (row->nr == e->nr && row->abi == e->abi)
			return row;
	}
	return NULL;
}

static struct error *add_errors(struct call_sums *sums, struct results *results)
{
	const struct errno_count *e;
	struct result *r;

	TRY(add_table(results, "errors", sums->by, errno_columns, ARRAY_SIZE(errno_columns),
		      sums->errnos.n, &r));
	struct cells cells = {r->table.cells, 0};
	size_t n = 0;
	vec_for_each (e, &sums->errnos) {
		const struct trace_sum *row = row_of(sums, e);

		if (!row)
			continue;
		TRY(add_key(sums, results, row, &cells));
		*next_cell(&cells) = (struct result_cell){
			.kind = CELL_INT, .i = e->err, .text = kernel_errno_name(e->err)};
		*next_cell(&cells) = cell_of_number(e->n);
		n++;
	}
	r->table.n_rows = n;
	return NULL;
}

static struct error *add_buckets(struct results *results, const uint64_t slots[64],
				 struct result_hist *hist)
{
	size_t first = 64, end = 0;

	for (size_t i = 0; i < 64; i++) {
		if (!slots[i])
			continue;
		first = min_of(first, i);
		end = i + 1;
		sum_add(&hist->total, slots[i]);
	}
	hist->n_buckets = end > first ? end - first : 0;
	hist->buckets =
		arena_alloc(&results->arena, (hist->n_buckets + 1) * sizeof(*hist->buckets));
	if (!hist->buckets)
		return error_nomem();
	for (size_t i = 0; i < hist->n_buckets; i++)
		hist->buckets[i] = (struct result_bucket){
			.low = first + i ? 1ull << (first + i) : 0,
			.high = first + i < 63 ? (2ull << (first + i)) - 1 : UINT64_MAX,
			.count = slots[first + i],
		};
	return NULL;
}

static struct error *add_histograms(struct call_sums *sums, struct results *results)
{
	const struct key_columns *columns = &key_columns[sums->by];
	struct result *r = results_add(results, RESULT_HIST, "durations");
	struct result_cell *keys =
		arena_alloc(&results->arena, (sums->rows.n * columns->n + 1) * sizeof(*keys));

	if (!r || !keys)
		return error_nomem();
	r->unit = "ns";
	r->log2 = true;
	r->keys = columns->v;
	r->n_keys = columns->n;
	r->hists = arena_alloc(&results->arena, (sums->rows.n + 1) * sizeof(*r->hists));
	if (!r->hists)
		return error_nomem();
	struct cells cells = {keys, 0};
	for (size_t i = 0; i < sums->rows.n; i++) {
		const struct trace_sum *row = &sums->rows.v[i];
		struct result_hist *hist = &r->hists[r->n_hists++];
		_cleanup_strbuf_ struct strbuf label = STRBUF_INIT;

		*hist = (struct result_hist){.keys = keys + cells.n};
		TRY(add_key(sums, results, row, &cells));
		if (sums->by == TRACE_SUMS_BY_CGROUP)
			strbuf_addf(&label, "%s ", keys[cells.n - 2].text);
		if (sums->by == TRACE_SUMS_BY_THREAD)
			strbuf_addf(&label, "%.*s (%u) ", (int)sizeof(row->comm), row->comm,
				    row->tid);
		strbuf_adds(&label, keys[cells.n - 1].text);
		hist->label = arena_text(&results->arena, strbuf_str(&label), label.len);
		if (!hist->label)
			return error_nomem();
		TRY(add_buckets(results, row->slots, hist));
	}
	return NULL;
}

static const struct result_column thread_columns[] = {
	{.name = "pid", .is_key = true},  {.name = "tid", .is_key = true},
	{.name = "comm", .is_key = true}, {.name = "major_faults"},
	{.name = "minor_faults"},	  {.name = "runtime_ns", .unit = "ns"},
};

/* Page faults and run times: of each thread, whatever calls are summed by. */
static struct error *add_threads(const struct thread_counts *counts, struct results *results)
{
	_cleanup_free_ struct thread_count *threads = NULL;
	struct result *r = results_add(results, RESULT_TABLE, "threads");
	size_t n = 0;

	if (!r)
		return error_nomem();
	TRY(thread_counts_list(counts, &threads, &n));
	r->table.columns = thread_columns;
	r->table.n_columns = ARRAY_SIZE(thread_columns);
	r->table.n_rows = n;
	r->table.cells = arena_alloc(&results->arena, (ARRAY_SIZE(thread_columns) * n + 1) *
							      sizeof(*r->table.cells));
	if (!r->table.cells)
		return error_nomem();
	struct cells cells = {r->table.cells, 0};
	for (size_t i = 0; i < n; i++) {
		const struct thread_count *t = &threads[i];
		const char *comm =
			arena_text(&results->arena, t->comm, strnlen(t->comm, sizeof(t->comm)));

		if (!comm)
			return error_nomem();
		*next_cell(&cells) = cell_of_number(t->pid);
		*next_cell(&cells) = cell_of_number(t->tid);
		*next_cell(&cells) = cell_of_text(comm);
		*next_cell(&cells) = cell_of_number(t->major_faults);
		*next_cell(&cells) = cell_of_number(t->minor_faults);
		*next_cell(&cells) = cell_of_number(t->runtime_ns);
	}
	return NULL;
}

struct error *call_sums_results(struct call_sums *sums, bool errors, bool histograms,
				const struct thread_counts *counts, struct results *results)
{
	sort(sums);
	TRY(add_calls(sums, results));
	if (errors)
		TRY(add_errors(sums, results));
	if (counts->faults || counts->runtime)
		TRY(add_threads(counts, results));
	return histograms ? add_histograms(sums, results) : NULL;
}
