// SPDX-License-Identifier: BSD-2-Clause
/*
 * Cycles of basic blocks: report --total-cycles. A branch record has the cycles since the branch
 * before it, so they were spent in the code from where that one went to up to this one. A block is
 * told apart by its end, the branch; its start is known if it is in the same function and before
 * the end, and the longest block counts, as several can have one end.
 *
 * As in perf, only samples whose newest branch has cycles count. Unlike in perf, a block has its
 * share of the average cycles once, however many rows of the report have its function.
 */
#include "perf/hist/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sum.h"
#include "perf/resolve/line_text.h"

struct block {
	const struct hist_frame *frame; /* of the end: of its function */
	uint64_t start, end;		/* from the start of the function */
	bool has_start;
	uint64_t cycles, n;	 /* of all that end there */
	uint64_t longest_cycles; /* of those from the start */
};

struct hist_blocks {
	struct u64map by_end;
	VEC(struct block *) v;
	uint64_t cycles; /* of all branches, whether their blocks are known or not */
};

void hist_blocks_free(struct hist_blocks *blocks)
{
	if (!blocks)
		return;
	u64map_deinit(&blocks->by_end);
	vec_deinit(&blocks->v);
	free(blocks);
}

/* NULL: no memory. */
static struct block *block_of(struct hist *h, const struct hist_frame *frame, uint64_t end)
{
	struct hist_blocks *blocks = h->blocks;
	uint64_t key = hash_u64((uintptr_t)frame->sym ^ hash_u64(end)) | 1;
	struct block *b;

	for (; (b = u64map_get(&blocks->by_end, key)); key += 2)
		if (b->frame->sym == frame->sym && b->end == end)
			return b;
	struct block **slot = vec_push(&blocks->v);
	b = slot ? arena_alloc(&h->arena, sizeof(*b)) : NULL;
	if (!b) {
		blocks->v.n -= slot != NULL;
		return NULL;
	}
	*b = (struct block){.frame = frame, .end = end};
	*slot = b;
	return u64map_put(&blocks->by_end, key, b) ? b : NULL;
}

static void account(struct block *b, bool has_start, uint64_t start, uint64_t cycles)
{
	b->n++;
	sum_add(&b->cycles, cycles);
	if (has_start && (!b->has_start || start < b->start)) {
		b->has_start = true;
		b->start = start;
		b->longest_cycles = 0;
	}
	if (has_start == b->has_start && start == b->start)
		sum_add(&b->longest_cycles, cycles);
}

struct error *hist_blocks_add(struct hist *h, const struct hist_branch_end *from,
			      const struct hist_branch_end *before, uint64_t cycles)
{
	const struct symbol *sym = from->frame->sym;
	bool has_start = before && before->frame->sym == sym && before->dso_addr < from->dso_addr;

	if (!cycles)
		return NULL;
	if (!h->blocks)
		h->blocks = calloc(1, sizeof(*h->blocks));
	if (!h->blocks)
		return error_nomem();
	sum_add(&h->blocks->cycles, cycles);
	if (!sym || from->dso_addr < sym->start || from->dso_addr >= sym->end)
		return NULL;
	if (has_start && before->dso_addr < sym->start)
		return NULL;
	struct block *b = block_of(h, from->frame, from->dso_addr - sym->start);
	if (!b)
		return error_nomem();
	account(b, has_start, has_start ? before->dso_addr - sym->start : 0, cycles);
	return NULL;
}

/* ---- the table ---- */

enum {
	SHARE,
	CYCLES,
	AVERAGE_SHARE,
	AVERAGE,
	RANGE,
	DSO,
	SYMBOL,
	START,
	END,
	N_COLUMNS,
};

/* perf's titles and widths; what only other formats have is hidden. */
static const struct result_column columns[N_COLUMNS] = {
	[SHARE] = {.name = "cycles_percent",
		   .title = "Sampled Cycles%",
		   .style = COLUMN_PERCENT,
		   .width = 15},
	[CYCLES] = {.name = "cycles",
		    .title = "Sampled Cycles",
		    .style = COLUMN_VALUE,
		    .width = 14},
	[AVERAGE_SHARE] = {.name = "average_percent",
			   .title = "Avg Cycles%",
			   .style = COLUMN_PERCENT,
			   .width = 11},
	[AVERAGE] = {.name = "average", .title = "Avg Cycles", .style = COLUMN_VALUE, .width = 10},
	[RANGE] = {.name = "range",
		   .is_key = true,
		   .title = "[Program Block Range]",
		   .style = COLUMN_VALUE,
		   .width = 70},
	[DSO] = {.name = "dso",
		 .is_key = true,
		 .title = "Shared Object",
		 .style = COLUMN_VALUE,
		 .width = 20},
	[SYMBOL] = {.name = "symbol", .is_key = true, .title = "Symbol", .hidden = true},
	[START] = {.name = "start", .is_key = true, .title = "Start", .hidden = true},
	[END] = {.name = "end", .is_key = true, .title = "End", .hidden = true},
};

static double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole * 100 : 0;
}

/* perf's order: by the share to a thousandth of a percent, then by name from the last one on. */
static int compare_blocks(const void *a, const void *b, void *total)
{
	const struct block *x = *(struct block *const *)a, *y = *(struct block *const *)b;
	const uint64_t whole = *(uint64_t *)total;
	const int64_t sx = (int64_t)(percent_of(x->cycles, whole) * 1000);
	const int64_t sy = (int64_t)(percent_of(y->cycles, whole) * 1000);

	if (sx != sy)
		return sx < sy ? 1 : -1;
	const int cmp = strcmp(y->frame->sym_name, x->frame->sym_name);
	if (cmp)
		return cmp;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return strcmp(x->frame->dso_name, y->frame->dso_name);
}

/* "1.2K" */
static struct result_cell cycles_cell(struct results_maker *m, uint64_t cycles)
{
	struct result_cell cell = cell_of_number(cycles);

	if (cycles >= 1000000)
		cell.text = results_format(m, "%.1fM", (double)cycles / 1e6);
	else if (cycles >= 1000)
		cell.text = results_format(m, "%.1fK", (double)cycles / 1e3);
	return cell;
}

/* The source line of an offset in the function; false: it is not known. */
static bool add_line(struct results_maker *m, const struct block *b, uint64_t offset,
		     struct strbuf *out)
{
	struct resolver *r = m->h->resolver;
	const struct map *map = b->frame->map;
	const uint64_t addr = location_unmap(map, b->frame->sym->start + offset);
	struct location at;

	resolve_addr_in(r, map,
			b->frame->frame.is_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER,
			addr, &at);
	line_text(r, &at, NULL, m->spec->full_paths, out);
	return strcmp(strbuf_str(out), "??:0") != 0;
}

static struct result_cell range_cell(struct results_maker *m, const struct block *b)
{
	_cleanup_strbuf_ struct strbuf start = STRBUF_INIT, end = STRBUF_INIT;
	const bool known =
		b->frame->map && add_line(m, b, b->start, &start) && add_line(m, b, b->end, &end);

	m->failed |= strbuf_failed(&start) || strbuf_failed(&end);
	return cell_of_text(
		known ? results_format(m, "[%s -> %s]", strbuf_str(&start), strbuf_str(&end))
		      : results_format(m, "[%7" PRIx64 " -> %7" PRIx64 "]", b->start, b->end));
}

static struct result_cell percent_cell(double percent)
{
	return (struct result_cell){.kind = CELL_FLOAT, .f = percent};
}

static void add_row(struct results_maker *m, const struct block *b, uint64_t averages,
		    struct result_sum *sum)
{
	struct result_cell *cells = &m->table->cells[m->table->n_rows++ * N_COLUMNS];
	const char *dso = b->frame->dso ? b->frame->dso->short_name : "[unknown]";

	cells[SHARE] = percent_cell(percent_of(b->cycles, m->h->blocks->cycles));
	cells[CYCLES] = cycles_cell(m, b->cycles);
	cells[AVERAGE_SHARE] = percent_cell(percent_of(b->cycles / b->n, averages));
	cells[AVERAGE] = cycles_cell(m, b->cycles / b->n);
	cells[RANGE] = range_cell(m, b);
	cells[DSO] = cell_of_text(dso);
	cells[SYMBOL] = cell_of_text(b->frame->sym_name);
	cells[START] = cell_of_number(b->start);
	cells[END] = cell_of_number(b->end);
	*sum = (struct result_sum){
		.period = b->cycles,
		.module = b->frame->dso ? b->frame->dso->path : NULL,
		.function = b->frame->sym_name,
	};
}

static void make_rows(struct results_maker *m, struct result_sum *rows)
{
	struct hist_blocks *blocks = m->h->blocks;
	uint64_t averages = 0;

	qsort_r(blocks->v.v, blocks->v.n, sizeof(*blocks->v.v), compare_blocks, &blocks->cycles);
	for (size_t i = 0; i < blocks->v.n; i++)
		sum_add(&averages, blocks->v.v[i]->cycles / blocks->v.v[i]->n);
	for (size_t i = 0; i < blocks->v.n && !m->failed; i++) {
		const struct block *b = blocks->v.v[i];

		if (percent_of(b->longest_cycles, blocks->cycles) >= m->opts->least_percent)
			add_row(m, b, averages, rows++);
	}
}

struct error *hist_block_results(const struct hist *h, const struct hist_results_opts *opts,
				 struct results *results)
{
	struct result *r = results_add(results, RESULT_TABLE, opts->name);
	struct results_maker m = {
		.h = h,
		.spec = hist_spec_of(h),
		.opts = opts,
		.arena = &results->arena,
	};
	const size_t n = h->blocks ? h->blocks->v.n : 0;
	struct result_profile *profile = arena_alloc(m.arena, sizeof(*profile));
	struct result_sum *rows = arena_alloc(m.arena, n * sizeof(*rows) + !n);

	if (!r || !profile || !rows)
		return error_nomem();
	m.table = &r->table;
	*profile = (struct result_profile){
		.all = *hist_totals(h),
		.shown = *hist_shown_totals(h),
		.relative = opts->relative,
		.is_leader = opts->is_leader,
		.rows = rows,
	};
	r->unit = opts->unit;
	r->table.profile = profile;
	r->table.columns = columns;
	r->table.n_columns = N_COLUMNS;
	r->table.cells = arena_alloc(m.arena, n * N_COLUMNS * sizeof(*r->table.cells) + !n);
	m.failed = !r->table.cells;
	if (n && !m.failed)
		make_rows(&m, rows);
	return m.failed ? error_nomem() : NULL;
}
