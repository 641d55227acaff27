// SPDX-License-Identifier: BSD-2-Clause
#include "perf/print/read_counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/plain_text.h"

enum { MAX_CELLS = 1 << 20 }; /* of the table */

struct read_count {
	int32_t pid, tid;
	uint32_t row, column;
	uint64_t value;
};

/* The number of the key, from 1, in the order in which they came; 0: no memory. */
static uintptr_t number_of(struct u64map *map, uint64_t key)
{
	uintptr_t number = (uintptr_t)u64map_get(map, key);

	if (!number && u64map_put(map, key, (void *)(uintptr_t)(map->n + 1)))
		number = map->n;
	return number;
}

struct error *read_counts_add(struct read_counts *counts, const struct record *rec)
{
	struct cursor c = rec->body;
	uint32_t pid, tid;
	uint64_t value;

	cursor_seek(&c, sizeof(struct perf_event_header));
	if (!cursor_u32(&c, &pid) || !cursor_u32(&c, &tid) || !cursor_u64(&c, &value))
		return NULL;
	const uintptr_t row = number_of(&counts->threads, (uint64_t)pid << 32 | tid);
	const uintptr_t column =
		number_of(&counts->events, rec->event ? (uint64_t)rec->event->index + 1 : 0);
	if (!row || !column)
		return error_nomem();
	if (column > counts->columns.n) {
		const struct session_event **event = vec_push(&counts->columns);
		if (!event)
			return error_nomem();
		*event = rec->event;
	}
	struct read_count *count = vec_push(&counts->counts);
	if (!count)
		return error_nomem();
	*count = (struct read_count){
		.pid = (int32_t)pid,
		.tid = (int32_t)tid,
		.row = (uint32_t)row - 1,
		.column = (uint32_t)column - 1,
		.value = value,
	};
	return NULL;
}

static int by_cell(const void *pa, const void *pb)
{
	const struct read_count *a = pa, *b = pb;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	return a->column < b->column ? -1 : a->column > b->column;
}

/* A thread has a record for each CPU that its event was opened on. */
static void add_up(struct read_counts *counts)
{
	struct read_count *v = counts->counts.v;
	size_t n = 0;

	qsort(v, counts->counts.n, sizeof(*v), by_cell);
	for (size_t i = 0; i < counts->counts.n; i++)
		if (n && !by_cell(&v[n - 1], &v[i]))
			v[n - 1].value += v[i].value;
		else
			v[n++] = v[i];
	counts->counts.n = n;
}

static const char *column_name(const struct read_counts *counts, size_t column)
{
	const struct session_event *event = counts->columns.v[column];

	return event ? event->name : "unknown";
}

/* As perf's Raw. */
static unsigned column_number(const struct read_counts *counts, size_t column)
{
	const struct session_event *event = counts->columns.v[column];

	return event ? (unsigned)event->index : (unsigned)column;
}

static void widen(int *width, const char *format, ...) _printf_(2, 3);
static void widen(int *width, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	*width = max_of(*width, vsnprintf(NULL, 0, format, ap));
	va_end(ap);
}

static void add_name(const char *name, int width, struct strbuf *out)
{
	const size_t size = strlen(name);

	strbuf_addf(out, "  %*s", size < (size_t)width ? width - (int)size : 0, "");
	plain_adds(out, name);
}

static void print_list(const struct read_counts *counts, int pid_width, int tid_width,
		       struct strbuf *out)
{
	int name_width = sizeof("Name") - 1, raw_width = sizeof("Raw") - 1,
	    count_width = sizeof("Count") - 1;
	const struct read_count *c;

	for (size_t i = 0; i < counts->columns.n; i++) {
		widen(&name_width, "%s", column_name(counts, i));
		widen(&raw_width, "%x", column_number(counts, i));
	}
	vec_for_each (c, &counts->counts)
		widen(&count_width, "%" PRIu64, c->value);
	strbuf_addf(out, "# %*s  %*s  %*s  %*s  %*s\n", pid_width, "PID", tid_width, "TID",
		    name_width, "Name", raw_width, "Raw", count_width, "Count");
	vec_for_each (c, &counts->counts) {
		strbuf_addf(out, "  %*d  %*d", pid_width, c->pid, tid_width, c->tid);
		add_name(column_name(counts, c->column), name_width, out);
		strbuf_addf(out, "  %*x  %*" PRIu64 "\n", raw_width,
			    column_number(counts, c->column), count_width, c->value);
	}
}

static struct error *print_table(const struct read_counts *counts, int pid_width, int tid_width,
				 struct strbuf *out)
{
	const size_t n_columns = counts->columns.n, n_rows = counts->threads.n;
	const struct read_count *c = counts->counts.v, *end = c + counts->counts.n;

	if (n_columns > MAX_CELLS / max_of(n_rows, (size_t)1))
		return error_hint(error_new(E2BIG,
					    "%zu threads and %zu events are too many for a table",
					    n_rows, n_columns),
				  "--pretty raw prints them as a list");
	_cleanup_free_ int *widths = calloc(n_columns + 1, sizeof(*widths));
	if (!widths)
		return error_nomem();
	for (size_t i = 0; i < n_columns; i++)
		widen(&widths[i], "%s", column_name(counts, i));
	for (; c < end; c++)
		widen(&widths[c->column], "%" PRIu64, c->value);
	strbuf_addf(out, "# %*s  %*s", pid_width, "PID", tid_width, "TID");
	for (size_t i = 0; i < n_columns; i++)
		add_name(column_name(counts, i), widths[i], out);
	strbuf_addch(out, '\n');
	for (c = counts->counts.v; c < end;) {
		const uint32_t row = c->row;

		strbuf_addf(out, "  %*d  %*d", pid_width, c->pid, tid_width, c->tid);
		for (size_t i = 0; i < n_columns; i++) {
			const bool has = c < end && c->row == row && c->column == i;

			strbuf_addf(out, "  %*" PRIu64, widths[i], has ? c->value : 0);
			c += has;
		}
		strbuf_addch(out, '\n');
	}
	return NULL;
}

struct error *read_counts_print(struct read_counts *counts, bool raw, struct strbuf *out)
{
	int pid_width = sizeof("PID") - 1, tid_width = sizeof("TID") - 1;
	const struct read_count *c;

	add_up(counts);
	vec_for_each (c, &counts->counts) {
		widen(&pid_width, "%d", c->pid);
		widen(&tid_width, "%d", c->tid);
	}
	if (!raw)
		TRY(print_table(counts, pid_width, tid_width, out));
	else
		print_list(counts, pid_width, tid_width, out);
	return strbuf_failed(out) ? error_nomem() : NULL;
}

void read_counts_deinit(struct read_counts *counts)
{
	vec_deinit(&counts->counts);
	vec_deinit(&counts->columns);
	u64map_deinit(&counts->threads);
	u64map_deinit(&counts->events);
}
