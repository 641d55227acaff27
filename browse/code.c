// SPDX-License-Identifier: BSD-2-Clause
#include "browse/code.h"

#include <stdlib.h>
#include <string.h>

#include "browse/scroll.h"
#include "lib/base/error.h"
#include "lib/base/hash.h"

static void clear(struct code *code)
{
	vec_deinit(&code->lines);
	vec_deinit(&code->rows);
	annotation_deinit(&code->a);
	code->a = (struct annotation){0};
}

void code_deinit(struct code *code)
{
	clear(code);
	free(code->search);
	*code = (struct code){0};
}

/* Which line each jump goes to. */
static struct error *find_targets(struct code *code)
{
	_cleanup_(u64map_deinit) struct u64map by_address = {0};
	struct code_line *line;

	vec_for_each (line, &code->lines)
		if (line->line->kind == ANNOTATION_CODE &&
		    !u64map_put(&by_address, line->line->address, line))
			return error_nomem();
	code->most_jumps = 0;
	vec_for_each (line, &code->lines) {
		const struct annotation_line *l = line->line;
		struct code_line *target = NULL;

		if (l->kind == ANNOTATION_CODE && l->flow == FLOW_JUMP && l->has_target)
			target = u64map_get(&by_address, l->target);
		line->target = target ? (size_t)(target - code->lines.v) : SIZE_MAX;
		if (target)
			code->most_jumps = max_of(code->most_jumps, ++target->n_jumps);
	}
	return NULL;
}

static bool is_seen(const struct code *code, const struct annotation_line *line)
{
	return line->kind == ANNOTATION_CODE ||
	       !(line->kind == ANNOTATION_SOURCE ? code->look.no_source : code->look.no_bpf);
}

static struct error *choose_rows(struct code *code)
{
	code->rows.n = 0;
	if (!vec_reserve(&code->rows, max_of(code->lines.n, (size_t)1)))
		return error_nomem();
	for (size_t i = 0; i < code->lines.n; i++) {
		code->lines.v[i].row = code->rows.n;
		if (is_seen(code, code->lines.v[i].line))
			*vec_push(&code->rows) = i;
	}
	return NULL;
}

static struct error *take(struct code *code, const struct annotation *a)
{
	clear(code);
	if (!annotation_copy(a, &code->a))
		return error_nomem();
	for (size_t i = 0; i < code->a.lines.n; i++) {
		struct code_line *line = vec_push(&code->lines);

		if (!line)
			return error_nomem();
		line->line = &code->a.lines.v[i];
	}
	TRY(find_targets(code));
	return choose_rows(code);
}

struct error *code_set(struct code *code, const struct annotation *a)
{
	code->cursor = code->column = 0;
	code->first = SIZE_MAX; /* nothing is on the screen yet */
	code->is_jump = true;
	TRY(take(code, a));
	code_go_hot(code, 0);
	return NULL;
}

struct error *code_update(struct code *code, const struct annotation *a)
{
	const size_t n = code->lines.n;

	if (a->lines.n != n) /* there was no code yet */
		return code_set(code, a);
	return take(code, a);
}

struct error *code_look_anew(struct code *code)
{
	const struct code_line *line = code_line(code);
	const size_t at = line ? (size_t)(line - code->lines.v) : 0;
	const size_t above = code->cursor - min_of(code->first, code->cursor);

	TRY(choose_rows(code));
	code_go(code, at);
	code->first = code->cursor - min_of(above, code->cursor);
	return NULL;
}

const struct code_line *code_line(const struct code *code)
{
	return code->cursor < code->rows.n ? &code->lines.v[code->rows.v[code->cursor]] : NULL;
}

void code_move(struct code *code, ptrdiff_t by)
{
	code->cursor = scroll_moved(code->cursor, by, code->rows.n);
}

void code_go(struct code *code, size_t line)
{
	code->cursor = line < code->lines.n ? code->lines.v[line].row : 0;
	code_move(code, 0);
	code->is_jump = true;
}

bool code_go_address(struct code *code, uint64_t address)
{
	for (size_t i = 0; i < code->lines.n; i++) {
		const struct annotation_line *line = code->lines.v[i].line;

		if (line->kind != ANNOTATION_CODE || line->address != address)
			continue;
		code_go(code, i);
		return true;
	}
	return false;
}

double code_share(const struct code *code, const struct annotation_line *line)
{
	double share = 0;

	for (size_t i = 0; line->counts && i < code->a.n_events; i++)
		share = max_of(share, annotation_share(&code->a.events[i], line->counts[i],
						       code->look.percent));
	return share;
}

/* Whether the row i is cooler than the row j: a smaller share, or the same further down. */
static bool is_cooler(const struct code *code, size_t i, size_t j)
{
	const double a = code_share(code, code->lines.v[code->rows.v[i]].line);
	const double b = code_share(code, code->lines.v[code->rows.v[j]].line);

	return a < b || (a == b && i > j);
}

bool code_go_hot(struct code *code, int step)
{
	const size_t n = code->rows.n;
	const struct code_line *here = code_line(code);
	const bool is_hot = step && here && code_share(code, here->line) > 0;
	/* the hottest of all, the coolest of all, and the one that is next */
	size_t hottest = n, coolest = n, next = n;

	for (size_t i = 0; i < n; i++) {
		if (code_share(code, code->lines.v[code->rows.v[i]].line) <= 0)
			continue;
		if (hottest == n || is_cooler(code, hottest, i))
			hottest = i;
		if (coolest == n || is_cooler(code, i, coolest))
			coolest = i;
		if (!is_hot || i == code->cursor)
			continue;
		if (step > 0 && is_cooler(code, i, code->cursor) &&
		    (next == n || is_cooler(code, next, i)))
			next = i;
		if (step < 0 && is_cooler(code, code->cursor, i) &&
		    (next == n || is_cooler(code, i, next)))
			next = i;
	}
	if (hottest == n)
		return false;
	code->cursor = next < n ? next : is_hot && step < 0 ? coolest : hottest;
	code->is_jump = true;
	return true;
}

bool code_find(struct code *code, bool backwards)
{
	const size_t n = code->rows.n;

	for (size_t step = 1; code->search && step <= n; step++) {
		const size_t i = (code->cursor + (backwards ? n - step : step)) % n;

		if (strstr(code->lines.v[code->rows.v[i]].line->text, code->search)) {
			code->cursor = i;
			code->is_jump = true;
			return true;
		}
	}
	return false;
}
