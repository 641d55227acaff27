// SPDX-License-Identifier: BSD-2-Clause
#include "run/group_labels.h"

#include <errno.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "lib/base/names.h"
#include "lib/sys/cgroup_names.h"
#include "show/columns.h"

static const char *const label_names[GROUP_LABELS] = {
	[GROUP_CGROUP] = "cgroup",
	[GROUP_UNIT] = "unit",
	[GROUP_CONTAINER] = "container",
	[GROUP_POD] = "pod",
};

static struct error *add_label(struct group_labels *labels, const char *word)
{
	struct nearest near = nearest_make(word);

	for (enum group_label k = 0; k < GROUP_LABELS; k++) {
		nearest_offer(&near, label_names[k]);
		if (strcmp(word, label_names[k]))
			continue;
		for (size_t i = 0; i < labels->n; i++)
			if (labels->v[i] == k)
				return error_new(EINVAL, "--labels: '%s' is there twice", word);
		labels->v[labels->n++] = k;
		return NULL;
	}
	return error_suggest(error_new(ENOENT,
				       "--labels: unknown label '%s' (cgroup, unit, container or "
				       "pod)",
				       word),
			     &near);
}

struct error *group_labels_parse(const char *list, struct group_labels *labels)
{
	_cleanup_free_ char *copy = strdup(list);
	char *at = copy, *word;

	if (!copy)
		return error_nomem();
	labels->n = 0;
	while ((word = strsep(&at, ",")))
		TRY(add_label(labels, word));
	return NULL;
}

/* NULL: not known. */
static const char *text_of(enum group_label label, const char *path,
			   const struct cgroup_names *names)
{
	const char *const texts[GROUP_LABELS] = {
		[GROUP_CGROUP] = path,
		[GROUP_UNIT] = names->unit,
		[GROUP_CONTAINER] = names->container,
		[GROUP_POD] = names->pod,
	};

	return path && *path && *texts[label] ? texts[label] : NULL;
}

static void names_of(const char *path, struct cgroup_names *names)
{
	if (path && *path)
		cgroup_names_of(path, names);
}

void group_labels_add_text(const struct group_labels *labels, const char *path, struct strbuf *out)
{
	struct cgroup_names names = {0};

	names_of(path, &names);
	for (size_t i = 0; i < labels->n; i++) {
		const char *text = text_of(labels->v[i], path, &names);

		if (text)
			strbuf_addf(out, "%s%s %s", out->len ? ", " : "", label_names[labels->v[i]],
				    text);
	}
}

/* Which column says whose the row is; n: none does. */
static size_t find_subject(const struct result_column *columns, size_t n)
{
	size_t process = n;

	for (size_t i = 0; i < n; i++) {
		if (columns[i].subject == COLUMN_OF_CGROUP)
			return i;
		if (columns[i].subject == COLUMN_OF_PROCESS && process == n)
			process = i;
	}
	return process;
}

static const char *path_of(struct run_names *names, const struct result_column *column,
			   const struct result_cell *cell)
{
	if (cell->kind == CELL_EMPTY)
		return NULL;
	return column->subject == COLUMN_OF_CGROUP ? run_names_cgroup(names, cell->u)
						   : run_names_cgroup_of(names, (uint32_t)cell->u);
}

/* The columns with n more behind `at`, whose names differ from theirs. */
static struct error *widen_columns(const struct group_labels *labels, struct arena *arena,
				   const struct result_column *columns, size_t n, size_t at,
				   const struct result_column **out)
{
	struct result_column *wide = arena_alloc(arena, (n + labels->n) * sizeof(*wide));
	_cleanup_names_ struct names taken = {0};

	if (!wide)
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		wide[i <= at ? i : i + labels->n] = columns[i];
		if (!column_take_name(&taken, &columns[i]))
			return error_nomem();
	}
	for (size_t i = 0; i < labels->n; i++) {
		struct result_column *column = &wide[at + 1 + i];

		*column = (struct result_column){.name = label_names[labels->v[i]],
						 .is_key = columns[at].is_key};
		const char *name = column_take_name(&taken, column);
		column->name = name ? arena_strdup(arena, name) : NULL;
		if (!column->name)
			return error_nomem();
	}
	*out = wide;
	return NULL;
}

static struct error *widen_row(const struct group_labels *labels, struct arena *arena,
			       const char *path, const struct result_cell *row, size_t n, size_t at,
			       struct result_cell *out)
{
	struct cgroup_names names = {0};

	memcpy(out, row, (at + 1) * sizeof(*row));
	memcpy(out + at + 1 + labels->n, row + at + 1, (n - at - 1) * sizeof(*row));
	names_of(path, &names);
	for (size_t i = 0; i < labels->n; i++) {
		const char *text = text_of(labels->v[i], path, &names);
		const char *kept = text ? arena_strdup(arena, text) : NULL;

		if (text && !kept)
			return error_nomem();
		out[at + 1 + i] = kept ? cell_of_text(kept) : (struct result_cell){0};
	}
	return NULL;
}

static struct error *widen_table(const struct group_labels *labels, struct run_names *names,
				 struct arena *arena, struct result_table *t)
{
	const size_t n = t->n_columns, at = find_subject(t->columns, n);

	if (at == n)
		return NULL;
	const struct result_column subject = t->columns[at];
	const size_t n_cells = t->n_rows * (n + labels->n);
	struct result_cell *cells = arena_alloc(arena, (n_cells + 1) * sizeof(*cells));
	if (!cells)
		return error_nomem();
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct result_cell *row = t->cells + i * n;

		TRY(widen_row(labels, arena, path_of(names, &subject, &row[at]), row, n, at,
			      cells + i * (n + labels->n)));
	}
	TRY(widen_columns(labels, arena, t->columns, n, at, &t->columns));
	t->n_columns += labels->n;
	t->cells = cells;
	return NULL;
}

static struct error *widen_hists(const struct group_labels *labels, struct run_names *names,
				 struct arena *arena, struct result *r)
{
	const size_t n = r->n_keys, at = find_subject(r->keys, n);

	if (at == n)
		return NULL;
	for (size_t i = 0; i < r->n_hists; i++) {
		struct result_hist *hist = &r->hists[i];
		const char *path = path_of(names, &r->keys[at], &hist->keys[at]);
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		struct result_cell *keys = arena_alloc(arena, (n + labels->n) * sizeof(*keys));

		if (!keys)
			return error_nomem();
		TRY(widen_row(labels, arena, path, hist->keys, n, at, keys));
		hist->keys = keys;
		strbuf_adds(&text, hist->label ? hist->label : "");
		group_labels_add_text(labels, path, &text);
		hist->label = strbuf_failed(&text) ? NULL
						   : arena_text(arena, strbuf_str(&text), text.len);
		if (!hist->label)
			return error_nomem();
	}
	TRY(widen_columns(labels, arena, r->keys, n, at, &r->keys));
	r->n_keys += labels->n;
	return NULL;
}

struct error *group_labels_add(const struct group_labels *labels, struct run_names *names,
			       struct results *results)
{
	for (size_t i = 0; labels->n && i < results->n; i++) {
		struct result *r = &results->v[i];

		if (r->kind == RESULT_TABLE)
			TRY(widen_table(labels, names, &results->arena, &r->table));
		else if (r->kind == RESULT_EVENTS)
			TRY(widen_table(labels, names, &results->arena, &r->events.table));
		else if (r->kind == RESULT_HIST && r->n_keys)
			TRY(widen_hists(labels, names, &results->arena, r));
	}
	return NULL;
}
