// SPDX-License-Identifier: BSD-2-Clause
/*
 * Terminals differ in few things that matter here, and terminfo(5) has them:
 * how to get the second screen, place the cursor, erase. Each line is written
 * at its place and never as wide as to wrap, so that whatever somebody else
 * writes there meanwhile is gone with the next drawing.
 */
#include "cmd/run_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/tty.h"
#include "lib/base/names.h"
#include "lib/base/vec.h"
#include "show/screen.h"

enum {
	MAX_EVENTS = 100, /* lines of events that are kept */
};

struct live {
	struct run *run;
	struct text_opts text;
	const char *title;
	struct tty *tty;

	struct strbuf body, events;
	struct text_events event_columns;
	uint64_t time;
	size_t first;
	bool paused, looked, delta;
	struct names columns; /* by which can be sorted */
	char *sort;	      /* NULL: by what each map is sorted itself */
};

struct error *live_new(const struct text_opts *text, const char *title, struct live **out)
{
	_cleanup_(live_freep) struct live *live = calloc(1, sizeof(*live));

	if (!live)
		return error_nomem();
	live->text = *text;
	live->text.cut = true;
	live->text.events = NULL;
	live->title = title;
	*out = NULL;
	TRY(tty_new(&live->tty));
	if (live->tty)
		*out = steal_ptr(live);
	return NULL;
}

static void draw(struct live *live);
static struct error *on_ready(void *ctx, uint32_t events);

struct error *live_begin(struct live *live, struct run *run)
{
	TRY(tty_begin(live->tty));
	TRY(tty_listen(live->tty));
	live->run = run;
	live->delta = run_collect_opts(run)->delta;
	TRY(run_watch(run, tty_fd(live->tty), on_ready, live));
	draw(live);
	return NULL;
}

void live_end(struct live *live)
{
	tty_end(live->tty);
}

bool live_stalled(const struct live *live)
{
	return tty_stalled(live->tty);
}

void live_free(struct live *live)
{
	if (!live)
		return;
	tty_free(live->tty);
	strbuf_deinit(&live->body);
	strbuf_deinit(&live->events);
	text_events_deinit(&live->event_columns);
	names_deinit(&live->columns);
	free(live->sort);
	free(live);
}

/* ---- drawing ---- */

static void take_size(struct screenful *screen)
{
	const struct tty_size size = tty_size();

	screen->rows = size.rows;
	screen->columns = size.columns;
}

/* "prog.bpf.c  12:03:07  paused" */
static void add_head(const struct live *live, struct strbuf *out)
{
	time_t when = (time_t)(live->time / 1000000000);
	struct tm tm;
	char text[32];

	strbuf_adds(out, live->title);
	if (live->looked) {
		localtime_r(&when, &tm);
		strftime(text, sizeof(text), "  %H:%M:%S", &tm);
		strbuf_adds(out, text);
	}
	if (live->paused)
		strbuf_adds(out, "  paused");
}

static void add_foot(const struct live *live, struct strbuf *out)
{
	if (!tty_has_keys(live->tty)) {
		strbuf_adds(out, "Ctrl-C ends");
		return;
	}
	strbuf_addf(out, "q quit  p %s  ", live->paused ? "continue" : "pause");
	if (live->columns.n)
		strbuf_addf(out, "s sort: %s  ", live->sort ? live->sort : "value");
	strbuf_addf(out, "c %s", live->delta ? "since last interval" : "since start");
}

static void draw(struct live *live)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT, head = STRBUF_INIT, foot = STRBUF_INIT,
				       lines = STRBUF_INIT;
	struct screenful screen = {.ascii = live->text.ascii, .first = live->first};
	const struct terminal *terminal = tty_terminal(live->tty);
	size_t row = 0;

	if (!tty_take(live->tty))
		return;
	take_size(&screen);
	add_head(live, &head);
	add_foot(live, &foot);
	screen.head = strbuf_str(&head);
	screen.foot = strbuf_str(&foot);
	screen.body = strbuf_str(&live->body);
	screen.tail = strbuf_str(&live->events);
	live->first = min_of(live->first, screen_hidden(&screen));
	screen_add(&screen, &lines);
	for (const char *p = strbuf_str(&lines); *p && row < screen.rows; row++) {
		size_t n = strcspn(p, "\n");
		bool last = row + 1 == screen.rows;

		terminal_place(terminal, row, &out);
		terminal_add(&out, terminal->normal);
		terminal_add(&out, terminal->erase_line);
		if (last)
			terminal_add(&out, terminal->reverse);
		strbuf_add(&out, p, n);
		p += n + !!p[n];
	}
	terminal_add(&out, terminal->normal);
	tty_write(live->tty, &out);
}

/* The columns of numbers that tables may be sorted by. */
static bool take_columns(struct live *live, const struct results *results)
{
	names_deinit(&live->columns);
	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];

		for (size_t c = 0;
		     r->kind == RESULT_TABLE && r->name[0] != '(' && c < r->table.n_columns; c++) {
			const char *name = r->table.columns[c].name;
			bool known = false;

			for (size_t k = 0; k < live->columns.n; k++)
				known |= !strcmp(live->columns.v[k], name);
			if (!known && !names_add(&live->columns, name))
				return false;
		}
	}
	return true;
}

static struct error *render(struct live *live, const struct results *results)
{
	struct screenful screen;

	take_size(&screen);
	live->text.width = (unsigned)screen.columns;
	live->time = results->time;
	live->looked = true;
	strbuf_reset(&live->body);
	results_text(results, &live->text, &live->body);
	if (strbuf_failed(&live->body) || !take_columns(live, results))
		return error_nomem();
	return NULL;
}

/* The last lines of what came through the rings. */
static struct error *take_events(struct live *live, const struct results *results)
{
	struct text_opts opts = live->text;
	size_t lines = 0, at;

	opts.events = &live->event_columns;
	for (size_t i = 0; i < results->n; i++) {
		struct result one = results->v[i];
		struct results last = {.events = true, .v = &one, .n = 1};
		struct result_table *t = &one.events.table;
		size_t skip = t->n_rows > MAX_EVENTS ? t->n_rows - MAX_EVENTS : 0;

		t->cells += skip * t->n_columns;
		t->n_rows -= skip;
		results_text(&last, &opts, &live->events);
	}
	if (strbuf_failed(&live->events))
		return error_nomem();
	for (at = live->events.len; at; at--) {
		lines += live->events.str[at - 1] == '\n';
		if (lines > MAX_EVENTS)
			break;
	}
	if (!at)
		return NULL;
	memmove(live->events.str, live->events.str + at, live->events.len - at + 1);
	live->events.len -= at;
	return NULL;
}

struct error *live_show(struct live *live, const struct results *results)
{
	if (results->events)
		return take_events(live, results);
	if (live->paused)
		return NULL;
	TRY(render(live, results));
	draw(live);
	return NULL;
}

/* ---- keys and signals ---- */

/* A look at once: what was asked for must not wait for the interval. */
static struct error *look_now(struct live *live)
{
	struct collect_opts *opts = run_collect_opts(live->run);

	if (!opts->delta && !live->paused) {
		_cleanup_results_ struct results results = {0};

		TRY(run_look(live->run, opts, &results));
		TRY(render(live, &results));
	}
	draw(live);
	return NULL;
}

/* The next column; behind the last one none again. */
static bool sort_next(struct live *live, struct collect_opts *opts)
{
	size_t at = 0;

	while (live->sort && at < live->columns.n && strcmp(live->columns.v[at], live->sort))
		at++;
	if (live->sort)
		at++;
	free(live->sort);
	live->sort = at < live->columns.n ? strdup(live->columns.v[at]) : NULL;
	opts->sort = live->sort;
	opts->sort_if_any = true;
	return live->sort || at >= live->columns.n;
}

/* What is shown from now on came since this moment. */
static struct error *toggle_delta(struct live *live)
{
	struct collect_opts *opts = run_collect_opts(live->run);
	_cleanup_results_ struct results before = {0};

	opts->delta = live->delta = !opts->delta;
	return opts->delta ? run_look(live->run, opts, &before) : NULL;
}

static struct error *press(struct live *live, uint32_t key)
{
	struct screenful screen;

	take_size(&screen);
	const size_t page = screen.rows > 4 ? screen.rows - 3 : 1;
	switch (key) {
	case 'q':
	case KEY_CTRL_C:
		run_stop(live->run);
		break;
	case 'p':
	case ' ':
		live->paused = !live->paused;
		break;
	case 'c':
		return toggle_delta(live);
	case 's':
		return sort_next(live, run_collect_opts(live->run)) ? NULL : error_nomem();
	case KEY_UP:
		live->first -= live->first > 0;
		break;
	case KEY_DOWN:
		live->first += live->first < SIZE_MAX / 2;
		break;
	case KEY_PAGE_UP:
		live->first -= min_of(live->first, page);
		break;
	case KEY_PAGE_DOWN:
		live->first += page;
		break;
	case KEY_HOME:
		live->first = 0;
		break;
	case KEY_END:
		live->first = SIZE_MAX / 2;
		break;
	}
	return NULL;
}

static struct error *on_ready(void *ctx, uint32_t events)
{
	struct live *live = ctx;

	uint32_t key;

	while ((key = tty_key(live->tty)) != KEY_NONE)
		TRY(press(live, key));
	/* a key, another size, or the way back from a stop */
	return look_now(live);
}
