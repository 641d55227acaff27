// SPDX-License-Identifier: BSD-2-Clause
/*
 * Series are told apart by their labels alone, and no two of a family may have
 * the same. A series must also stay the same series while it is scraped again and
 * again: its labels are the key of its row and nothing that changes while the key
 * does not, such as a value's texts or the name of the process that has a pid, and
 * the name of its family does not depend on which other programs run. Keys can differ
 * only in bytes that are not shown, such as those after the NUL of a name: they have
 * the same labels, so their counts are summed. For that the series of a family are
 * sorted by their labels, which also gives a reader the same order each time.
 */
#include "show/openmetrics.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "lib/base/json.h"
#include "lib/base/names.h"
#include "lib/base/sum.h"
#include "lib/base/vec.h"
#include "show/plain.h"

enum {
	BOUNDS_MAX = 40,       /* of a histogram */
	LONGEST_SECONDS = 128, /* of times that are counted by powers of two */
};

enum family_type {
	FAMILY_COUNTER,
	FAMILY_GAUGE,
	FAMILY_UNKNOWN,
	FAMILY_HISTOGRAM,
};

/* What Prometheus calls a unit, and how many digits lie between the two. */
struct metric_unit {
	const char *name; /* NULL: none */
	unsigned digits;
};

/* Series of a map that are not served, as it has too many. */
struct series_left {
	const struct result *result;
	size_t n;
};

struct metrics_writer {
	enum openmetrics_format format;
	struct strbuf *out;
	struct names families;		  /* the names that were used */
	struct openmetrics_series *limit; /* NULL: all series are served */
	struct names keys;		  /* the series of this scrape, for the next */
	VEC(struct series_left) left;
};

/* One of a family: its labels without the braces. */
struct series {
	struct strbuf labels;
	size_t at; /* of its row, histogram or stack */
};

typedef VEC(struct series) series_vec;

const char *openmetrics_type(enum openmetrics_format format)
{
	return format == OPENMETRICS_1_0
		       ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
		       : "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- names, numbers, texts ---- */

/* "(cost)" is not a map's name, but it is served as one. */
static void add_name(struct strbuf *out, const char *name)
{
	for (; *name; name++)
		if (*name != '(' && *name != ')')
			strbuf_addch(out,
				     isalnum((unsigned char)*name) && (unsigned char)*name < 0x80
					     ? *name
					     : '_');
}

static struct metric_unit unit_of(const char *name)
{
	static const struct {
		const char *from;
		struct metric_unit unit;
	} units[] = {
		{"ns", {"seconds", 9}}, {"us", {"seconds", 6}}, {"µs", {"seconds", 6}},
		{"ms", {"seconds", 3}}, {"s", {"seconds", 0}},	{"B", {"bytes", 0}},
	};

	for (size_t i = 0; name && i < ARRAY_SIZE(units); i++)
		if (!strcmp(units[i].from, name))
			return units[i].unit;
	return (struct metric_unit){name, 0};
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

/* v / 10^digits, exactly; with `point` always with one. */
static void add_scaled(struct strbuf *out, uint64_t v, unsigned digits, bool point)
{
	uint64_t one = 1;
	char text[24];

	for (unsigned i = 0; i < digits; i++)
		one *= 10;
	strbuf_add_u64(out, v / one);
	if (v % one) {
		int n = snprintf(text, sizeof(text), ".%0*" PRIu64, (int)digits, v % one);

		while (text[n - 1] == '0')
			n--;
		strbuf_add(out, text, (size_t)n);
	} else if (point) {
		strbuf_adds(out, ".0");
	}
}

/* A label's value, or a help text: within quotes the quote is escaped, too. */
static void add_escaped(struct strbuf *out, const char *text, bool quoted)
{
	_cleanup_strbuf_ struct strbuf plain = STRBUF_INIT;

	plain_add(&plain, text, strlen(text));
	out->failed |= strbuf_failed(&plain);
	for (size_t i = 0; i < plain.len; i++) {
		if (plain.str[i] == '\\' || (quoted && plain.str[i] == '"'))
			strbuf_addch(out, '\\');
		strbuf_addch(out, plain.str[i]);
	}
}

/* ---- labels ---- */

/* NAME="; the labels of one series differ in name, and "le" is a histogram's own. */
static void add_label_name(struct strbuf *out, struct names *used, const char *name,
			   const char *end)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (isdigit((unsigned char)*name) || !*name)
		strbuf_addch(&text, '_');
	add_name(&text, name);
	/* names that begin with two are Prometheus's */
	while (text.len > 1 && text.str[0] == '_' && text.str[1] == '_') {
		memmove(text.str, text.str + 1, text.len);
		text.len--;
	}
	strbuf_adds(&text, end);
	if (!strcmp(strbuf_str(&text), "le"))
		strbuf_addch(&text, '_');
	const size_t len = text.len;
	unsigned again = 1;
	for (size_t i = 0; i < used->n && !strbuf_failed(&text); i++) {
		if (strcmp(used->v[i], strbuf_str(&text)))
			continue;
		strbuf_cut(&text, len);
		strbuf_addf(&text, "_%u", ++again);
		i = SIZE_MAX; /* from the start: that name may be used, too */
	}
	if (strbuf_failed(&text) || !names_add(used, strbuf_str(&text)))
		out->failed = true;
	strbuf_addf(out, "%s%s=\"", out->len ? "," : "", strbuf_str(&text));
}

static void add_label(struct strbuf *out, struct names *used, const char *name, const char *end,
		      const char *value)
{
	add_label_name(out, used, name, end);
	add_escaped(out, value, true);
	strbuf_addch(out, '"');
}

static void add_cell_labels(struct strbuf *out, struct names *used,
			    const struct result_column *column, const struct result_cell *cell)
{
	_cleanup_strbuf_ struct strbuf symbol = STRBUF_INIT;

	add_label_name(out, used, column->name, "");
	/* a call's name is of use in a query, its number is not: one of the two is enough */
	if (cell_has_text(cell) && !column->text_changes) {
		add_escaped(out, cell->text, true);
		strbuf_addch(out, '"');
		return;
	}
	switch (cell->kind) {
	case CELL_EMPTY:
	case CELL_TEXT:
		add_escaped(out, cell->text ? cell->text : "", true);
		break;
	case CELL_UINT:
		strbuf_add_u64(out, cell->u);
		break;
	case CELL_INT:
		json_add_i64(out, cell->i);
		break;
	case CELL_FLOAT:
		strbuf_add_double(out, cell->f);
		break;
	case CELL_BOOL:
		strbuf_adds(out, cell->u ? "true" : "false");
		break;
	case CELL_SYMBOL:
		cell_add_symbol(cell, &symbol);
		add_escaped(out, strbuf_str(&symbol), true);
		out->failed |= strbuf_failed(&symbol);
		break;
	}
	strbuf_addch(out, '"');
}

static void series_deinit(series_vec *series)
{
	struct series *s;

	vec_for_each (s, series)
		strbuf_deinit(&s->labels);
	vec_deinit(series);
}

static int compare_series(const void *a, const void *b)
{
	const struct series *x = a, *y = b;
	int order = strcmp(strbuf_str(&x->labels), strbuf_str(&y->labels));

	return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Whether the next one has the same labels, so that the two are one. */
static bool goes_on(const series_vec *series, size_t i)
{
	return i + 1 < series->n &&
	       !strcmp(strbuf_str(&series->v[i].labels), strbuf_str(&series->v[i + 1].labels));
}

/* ---- the limit of series ---- */

void openmetrics_series_deinit(struct openmetrics_series *series)
{
	strmap_deinit(&series->served);
	names_deinit(&series->keys);
}

/* What tells the series from those of other maps. */
static bool series_key(const struct result *r, const struct series *s, struct strbuf *key)
{
	strbuf_reset(key);
	strbuf_addf(key, "%s\n%s\n%s", r->program ? r->program : "", r->name,
		    strbuf_str(&s->labels));
	return !strbuf_failed(key);
}

/*
 * Leaves out what is more than the limit. A series that was served is served again, or a scraper
 * would see gaps; new ones come in while there is room. The series are sorted.
 */
static void limit_series(struct metrics_writer *w, const struct result *r, series_vec *series)
{
	_cleanup_strbuf_ struct strbuf key = STRBUF_INIT;
	_cleanup_free_ bool *keep = calloc(series->n + 1, sizeof(*keep));
	size_t n = 0, left = 0, kept = 0;

	if (!w->limit || !w->limit->max)
		return;
	if (!keep) {
		w->out->failed = true;
		return;
	}
	for (int known = 1; known >= 0; known--) {
		for (size_t i = 0; i < series->n; i++) {
			const bool again = i && goes_on(series, i - 1); /* one with the last */

			w->out->failed |= !series_key(r, &series->v[i], &key);
			if (!again &&
			    (strmap_get(&w->limit->served, strbuf_str(&key)) != NULL) == known) {
				keep[i] = n < w->limit->max;
				n += keep[i];
				left += !keep[i];
			} else if (again && !keep[i]) {
				keep[i] = keep[i - 1];
			}
		}
	}
	for (size_t i = 0; i < series->n; i++) {
		if (!keep[i]) {
			strbuf_deinit(&series->v[i].labels);
			continue;
		}
		if (!series_key(r, &series->v[i], &key) || !names_add(&w->keys, strbuf_str(&key)))
			w->out->failed = true;
		series->v[kept++] = series->v[i];
	}
	series->n = kept;
	struct series_left *slot = left ? vec_push(&w->left) : NULL;
	w->out->failed |= left && !slot;
	if (slot)
		*slot = (struct series_left){r, left};
}

/* What was served is remembered until the next scrape. */
static void remember_series(struct metrics_writer *w)
{
	struct openmetrics_series *limit = w->limit;

	if (!limit)
		return;
	openmetrics_series_deinit(limit);
	limit->keys = w->keys;
	limit->served = (struct strmap){0};
	w->keys = (struct names){0};
	for (size_t i = 0; i < limit->keys.n; i++)
		if (!strmap_put(&limit->served, limit->keys.v[i], limit->keys.v[i]))
			w->out->failed = true;
}

/* ---- families ---- */

/*
 * Begins the family of a map, or of a column of it: HELP, TYPE and UNIT. name
 * gets what its samples begin with.
 */
static void begin_family(struct metrics_writer *w, const struct result *r, const char *column,
			 enum family_type type, struct metric_unit unit, struct strbuf *name)
{
	static const char *const types[] = {
		[FAMILY_COUNTER] = "counter",
		[FAMILY_GAUGE] = "gauge",
		[FAMILY_UNKNOWN] = "unknown",
		[FAMILY_HISTOGRAM] = "histogram",
	};
	static const char *const reserved[] = {"_total",   "_sum",  "_count", "_bucket",
					       "_created", "_info", "_gsum",  "_gcount"};
	_cleanup_strbuf_ struct strbuf suffix = STRBUF_INIT;
	const bool old = w->format == PROMETHEUS_0_0_4;
	unsigned again = 1;

	strbuf_adds(name, "perf_bpf_");
	if (r->program && strcmp(r->program, r->name) != 0) {
		add_name(name, r->program);
		strbuf_addch(name, '_');
	}
	add_name(name, r->name);
	if (column) {
		_cleanup_strbuf_ struct strbuf end = STRBUF_INIT;

		strbuf_addch(&end, '_');
		add_name(&end, column);
		if (!ends_with(strbuf_str(name), strbuf_str(&end)))
			strbuf_adds(name, strbuf_str(&end));
		w->out->failed |= strbuf_failed(&end);
	}
	if (type == FAMILY_COUNTER && ends_with(strbuf_str(name), "_total"))
		name->str[name->len -= strlen("_total")] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (ends_with(strbuf_str(name), reserved[i]))
			strbuf_adds(name, "_value");
	if (unit.name) {
		strbuf_addch(&suffix, '_');
		add_name(&suffix, unit.name);
		if (!ends_with(strbuf_str(name), strbuf_str(&suffix)))
			strbuf_adds(name, strbuf_str(&suffix));
	}
	/* two objects may have maps of one name */
	size_t len = name->len - min_of(suffix.len, name->len);
	for (size_t i = 0; i < w->families.n; i++) {
		if (strcmp(w->families.v[i], strbuf_str(name)))
			continue;
		name->len = len;
		strbuf_addf(name, "_%u%s", ++again, strbuf_str(&suffix));
		i = SIZE_MAX; /* from the start */
	}
	if (strbuf_failed(name) || strbuf_failed(&suffix) ||
	    !names_add(&w->families, strbuf_str(name))) {
		w->out->failed = true;
		return;
	}
	/* 0.0.4 has no units, and names a counter with its ending */
	const char *end = old && type == FAMILY_COUNTER ? "_total" : "";
	strbuf_addf(w->out, "# HELP %s%s ", strbuf_str(name), end);
	add_escaped(w->out, r->title ? r->title : r->name, !old);
	strbuf_addf(w->out, "\n# TYPE %s%s %s\n", strbuf_str(name), end,
		    old && type == FAMILY_UNKNOWN ? "untyped" : types[type]);
	if (unit.name && !old)
		strbuf_addf(w->out, "# UNIT %s %s\n", strbuf_str(name), strbuf_str(&suffix) + 1);
	if (type == FAMILY_COUNTER)
		strbuf_adds(name, "_total");
}

/* NAME{LABELS} and a blank. */
static void begin_sample(struct metrics_writer *w, const struct strbuf *name,
			 const struct series *series)
{
	strbuf_adds(w->out, strbuf_str(name));
	if (series && series->labels.len)
		strbuf_addf(w->out, "{%s}", strbuf_str(&series->labels));
	strbuf_addch(w->out, ' ');
}

static void add_count(struct metrics_writer *w, const struct result *r)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct metric_unit unit = unit_of(r->unit);

	begin_family(w, r, NULL, r->declared ? FAMILY_COUNTER : FAMILY_UNKNOWN, unit, &name);
	begin_sample(w, &name, NULL);
	add_scaled(w->out, r->count, unit.digits, false);
	strbuf_addch(w->out, '\n');
}

static bool is_value(const struct result_column *column, const struct result_cell *cell)
{
	return !column->is_key && !cell->text &&
	       (cell->kind == CELL_UINT || cell->kind == CELL_INT || cell->kind == CELL_FLOAT ||
		cell->kind == CELL_BOOL);
}

/* The sum of a column over series that have the same labels. */
static void add_column_value(struct metrics_writer *w, const struct result_table *t, size_t c,
			     struct metric_unit unit, const series_vec *series, size_t *i)
{
	const struct result_cell *cell = &t->cells[series->v[*i].at * t->n_columns + c];
	__int128 all = 0;
	uint64_t sum;

	if (cell->kind == CELL_FLOAT) {
		while (goes_on(series, *i))
			cell = &t->cells[series->v[++*i].at * t->n_columns + c];
		if (isnan(cell->f))
			strbuf_adds(w->out, "NaN");
		else if (isinf(cell->f))
			strbuf_adds(w->out, cell->f < 0 ? "-Inf" : "+Inf");
		else
			strbuf_add_double(w->out, cell->f);
		return;
	}
	for (;; ++*i) {
		const struct result_cell *part = &t->cells[series->v[*i].at * t->n_columns + c];

		all += part->kind == CELL_INT ? part->i : (__int128)part->u;
		if (!goes_on(series, *i))
			break;
	}
	sum_fit(all, sizeof(sum), cell->kind == CELL_INT, &sum);
	if (cell->kind == CELL_INT && (int64_t)sum < 0) {
		strbuf_addch(w->out, '-');
		sum = 0 - sum;
	}
	add_scaled(w->out, sum, unit.digits, false);
}

static void add_table(struct metrics_writer *w, const struct result *r)
{
	const struct result_table *t = &r->table;
	_cleanup_free_ bool *values = calloc(t->n_columns + 1, sizeof(*values));
	_cleanup_free_ bool *negative = calloc(t->n_columns + 1, sizeof(*negative));
	_cleanup_(series_deinit) series_vec series = {0};

	if (!values || !negative) {
		w->out->failed = true;
		return;
	}
	bool has_key = false;
	for (size_t c = 0; c < t->n_columns; c++)
		has_key |= t->columns[c].is_key;
	/* what is a number in some row is one in all */
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns;

		values[c] |= is_value(&t->columns[c], &t->cells[i]);
		negative[c] |= t->cells[i].kind != CELL_UINT;
	}
	for (size_t i = 0; i < t->n_rows; i++) {
		_cleanup_names_ struct names used = {0};
		struct series *s = vec_push(&series);

		if (!s) {
			w->out->failed = true;
			return;
		}
		s->at = i;
		for (size_t c = 0; c < t->n_columns; c++)
			if (!values[c] && (t->columns[c].is_key || !has_key))
				add_cell_labels(&s->labels, &used, &t->columns[c],
						&t->cells[i * t->n_columns + c]);
		w->out->failed |= strbuf_failed(&s->labels);
	}
	if (series.n)
		qsort(series.v, series.n, sizeof(*series.v), compare_series);
	limit_series(w, r, &series);
	for (size_t c = 0; c < t->n_columns; c++) {
		_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
		const struct result_column *column = &t->columns[c];
		struct metric_unit unit = unit_of(column->unit);

		if (!values[c])
			continue;
		begin_family(w, r, column->name,
			     negative[c]   ? FAMILY_GAUGE
			     : r->declared ? FAMILY_COUNTER
					   : FAMILY_UNKNOWN,
			     unit, &name);
		for (size_t i = 0; i < series.n; i++) {
			begin_sample(w, &name, &series.v[i]);
			add_column_value(w, t, c, unit, &series, &i);
			strbuf_addch(w->out, '\n');
		}
	}
}

static void add_bucket(struct metrics_writer *w, const struct strbuf *name,
		       const struct series *series, const uint64_t *bound, bool log2,
		       unsigned digits, uint64_t sum)
{
	bool negative = bound && !log2 && (int64_t)*bound < 0;

	strbuf_addf(w->out, "%s_bucket{%s%sle=\"%s", strbuf_str(name),
		    series ? strbuf_str(&series->labels) : "",
		    series && series->labels.len ? "," : "", negative ? "-" : "");
	if (bound)
		add_scaled(w->out, negative ? -*bound : *bound, digits, true);
	else
		strbuf_adds(w->out, "+Inf");
	strbuf_adds(w->out, "\"} ");
	strbuf_add_u64(w->out, sum);
	strbuf_addch(w->out, '\n');
}

/*
 * How many buckets have a bound of their own. A map of powers of two has room for whatever fits in
 * 64 bits: what takes longer than two minutes, or is more than 2^39, is in the last bucket.
 */
static size_t served_bounds(const struct result_bucket *buckets, size_t n, bool log2,
			    unsigned digits)
{
	uint64_t longest = LONGEST_SECONDS;

	for (unsigned i = 0; i < digits; i++)
		longest *= 10;
	while (log2 && digits && n > 1 && buckets[n - 1].high / 2 > longest)
		n--;
	return log2 ? min_of(n, (size_t)BOUNDS_MAX) : n;
}

/*
 * The samples of one histogram: each bucket counts those below, too. All of
 * them are there from the start: one that came later would seem to have begun
 * at what it holds. n histograms of the same buckets are summed.
 */
static void add_buckets(struct metrics_writer *w, const struct strbuf *name,
			const struct series *series, const struct result_bucket *const *buckets,
			size_t n, size_t n_buckets, bool log2, unsigned digits)
{
	uint64_t sum = 0;

	const size_t served = served_bounds(buckets[0], n_buckets, log2, digits);
	const size_t step = (served + BOUNDS_MAX - 1) / BOUNDS_MAX;

	for (size_t b = 0; b < n_buckets; b++) {
		for (size_t i = 0; i < n; i++)
			sum_add(&sum, buckets[i][b].count);
		if (b < served && (b + 1) % step == 0 && bucket_has_high(&buckets[0][b], log2))
			add_bucket(w, name, series, &buckets[0][b].high, log2, digits, sum);
	}
	add_bucket(w, name, series, NULL, log2, digits, sum);
	if (w->format == PROMETHEUS_0_0_4)
		strbuf_addf(w->out, "%s_count%s%s%s %" PRIu64 "\n", strbuf_str(name),
			    series && series->labels.len ? "{" : "",
			    series ? strbuf_str(&series->labels) : "",
			    series && series->labels.len ? "}" : "", sum);
}

static void add_hists(struct metrics_writer *w, const struct result *r)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	_cleanup_(series_deinit) series_vec series = {0};
	struct metric_unit unit = unit_of(r->unit);

	for (size_t i = 0; i < r->n_hists; i++) {
		const struct result_hist *hist = &r->hists[i];
		_cleanup_names_ struct names used = {0};
		struct series *s = vec_push(&series);

		if (!s) {
			w->out->failed = true;
			return;
		}
		s->at = i;
		for (size_t k = 0; hist->keys && k < r->n_keys; k++)
			add_cell_labels(&s->labels, &used, &r->keys[k], &hist->keys[k]);
		if (!hist->keys && hist->label)
			add_label(&s->labels, &used, "key", "", hist->label);
		w->out->failed |= strbuf_failed(&s->labels);
	}
	if (series.n)
		qsort(series.v, series.n, sizeof(*series.v), compare_series);
	limit_series(w, r, &series);
	begin_family(w, r, NULL, FAMILY_HISTOGRAM, unit, &name);
	_cleanup_free_ const struct result_bucket **same = calloc(series.n + 1, sizeof(*same));
	if (!same) {
		w->out->failed = true;
		return;
	}
	for (size_t i = 0; i < series.n; i++) {
		size_t n = 0;

		same[n++] = r->hists[series.v[i].at].buckets;
		for (; goes_on(&series, i); i++)
			same[n++] = r->hists[series.v[i + 1].at].buckets;
		add_buckets(w, &name, &series.v[i], same, n, r->hists[series.v[i].at].n_buckets,
			    r->log2, unit.digits);
	}
}

static void add_heat(struct metrics_writer *w, const struct result *r)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	const struct result_bucket *ranges = r->heat.ranges;
	struct metric_unit unit = unit_of(r->unit);

	begin_family(w, r, NULL, FAMILY_HISTOGRAM, unit, &name);
	add_buckets(w, &name, NULL, &ranges, 1, r->heat.n_ranges, r->log2, unit.digits);
}

static void add_stacks(struct metrics_writer *w, const struct result *r)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	_cleanup_(series_deinit) series_vec series = {0};
	struct metric_unit unit = unit_of(r->unit);

	for (size_t i = 0; i < r->n_stacks; i++) {
		const struct result_stack *stack = &r->stacks[i];
		_cleanup_strbuf_ struct strbuf frames = STRBUF_INIT;
		_cleanup_names_ struct names used = {0};
		struct series *s = vec_push(&series);

		if (!s) {
			w->out->failed = true;
			return;
		}
		s->at = i;
		if (stack->key || stack->label)
			add_label(&s->labels, &used, "label", "",
				  stack->key ? stack->key : stack->label);
		for (size_t f = stack->n_frames; f-- > 0;)
			strbuf_addf(&frames, "%s%s", stack->frames[f]->name, f ? ";" : "");
		add_label(&s->labels, &used, "stack", "", strbuf_str(&frames));
		w->out->failed |= strbuf_failed(&s->labels) || strbuf_failed(&frames);
	}
	if (series.n)
		qsort(series.v, series.n, sizeof(*series.v), compare_series);
	limit_series(w, r, &series);
	begin_family(w, r, NULL, FAMILY_COUNTER, unit, &name);
	for (size_t i = 0; i < series.n; i++) {
		uint64_t sum = r->stacks[series.v[i].at].count;

		begin_sample(w, &name, &series.v[i]);
		for (; goes_on(&series, i); i++)
			sum_add(&sum, r->stacks[series.v[i + 1].at].count);
		add_scaled(w->out, sum, unit.digits, false);
		strbuf_addch(w->out, '\n');
	}
}

static void add_total(struct metrics_writer *w, const struct result *r, const char *what,
		      uint64_t count)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	begin_family(w, r, what, FAMILY_COUNTER, (struct metric_unit){0}, &name);
	begin_sample(w, &name, NULL);
	strbuf_add_u64(w->out, count);
	strbuf_addch(w->out, '\n');
}

static void add_events(struct metrics_writer *w, const struct result *r)
{
	add_total(w, r, "events", r->events.total);
	if (r->events.lost_counted)
		add_total(w, r, "lost", r->events.lost);
}

/* What a map had no room for; nothing where that was not counted. */
static void add_failures(struct metrics_writer *w, const struct result *r)
{
	if (r->updates.counted)
		add_total(w, r, "failed_updates", r->updates.n);
	if (r->lost_stacks.counted)
		add_total(w, r, "lost_stacks", r->lost_stacks.n);
}

/* What --top left out of the tables is told, so that nobody takes them for all. */
static void add_left_out(struct metrics_writer *w, const struct results *results)
{
	bool began = false;

	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];
		_cleanup_names_ struct names used = {0};
		_cleanup_strbuf_ struct strbuf labels = STRBUF_INIT;

		if (r->kind != RESULT_TABLE || !r->table.left_out)
			continue;
		if (!began)
			strbuf_adds(w->out, "# HELP perf_bpf_rows_left_out Rows of a map that are "
					    "not served.\n# TYPE perf_bpf_rows_left_out gauge\n");
		began = true;
		if (r->program)
			add_label(&labels, &used, "program", "", r->program);
		add_label(&labels, &used, "map", "", r->name);
		strbuf_addf(w->out, "perf_bpf_rows_left_out{%s} %" PRIu64 "\n", strbuf_str(&labels),
			    r->table.left_out);
		w->out->failed |= strbuf_failed(&labels);
	}
}

static void add_series_left(struct metrics_writer *w)
{
	const struct series_left *left;

	if (w->left.n)
		strbuf_adds(w->out, "# HELP perf_bpf_series_left_out Series of a map that are not "
				    "served, because it has too many.\n"
				    "# TYPE perf_bpf_series_left_out gauge\n");
	vec_for_each (left, &w->left) {
		_cleanup_names_ struct names used = {0};
		_cleanup_strbuf_ struct strbuf labels = STRBUF_INIT;

		if (left->result->program)
			add_label(&labels, &used, "program", "", left->result->program);
		add_label(&labels, &used, "map", "", left->result->name);
		strbuf_addf(w->out, "perf_bpf_series_left_out{%s} %zu\n", strbuf_str(&labels),
			    left->n);
		w->out->failed |= strbuf_failed(&labels);
	}
}

static void add_build_info(struct metrics_writer *w, const char *version)
{
	_cleanup_names_ struct names used = {0};
	_cleanup_strbuf_ struct strbuf labels = STRBUF_INIT;
	const bool old = w->format == PROMETHEUS_0_0_4;

	add_label(&labels, &used, "version", "", version);
	strbuf_addf(w->out,
		    "# HELP perf_bpf_build%s The version of perf-bpf.\n# TYPE perf_bpf_build%s\n"
		    "perf_bpf_build_info{%s} 1\n",
		    old ? "_info" : "", old ? "_info gauge" : " info", strbuf_str(&labels));
	w->out->failed |= strbuf_failed(&labels);
}

void results_openmetrics(const struct results *results, const struct openmetrics_opts *opts,
			 struct strbuf *out)
{
	struct metrics_writer w = {.format = opts->format, .out = out, .limit = opts->series};

	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];

		switch (r->kind) {
		case RESULT_COUNT:
			add_count(&w, r);
			break;
		case RESULT_TABLE:
			add_table(&w, r);
			break;
		case RESULT_HIST:
			add_hists(&w, r);
			break;
		case RESULT_STACKS:
			add_stacks(&w, r);
			break;
		case RESULT_HEAT:
			add_heat(&w, r);
			break;
		case RESULT_EVENTS:
			add_events(&w, r);
			break;
		}
		add_failures(&w, r);
	}
	add_left_out(&w, results);
	add_series_left(&w);
	if (opts->version)
		add_build_info(&w, opts->version);
	if (opts->format == OPENMETRICS_1_0)
		strbuf_adds(out, "# EOF\n");
	remember_series(&w);
	names_deinit(&w.families);
	names_deinit(&w.keys);
	vec_deinit(&w.left);
}
