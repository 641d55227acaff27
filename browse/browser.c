// SPDX-License-Identifier: BSD-2-Clause
/* What the browser shows, and what its keys go to: the table (browser_keys.c), a menu, a question.
 */
#include "browse/browser.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "browse/internal.h"
#include "browse/scroll.h"
#include "lib/base/plain_text.h"

enum {
	MAX_PROMPT = 512, /* bytes of an answer */
};

/* ---- the view ---- */

static void view_deinit(struct browser_view *view)
{
	free(view->sort);
	free(view->comm);
	free(view->dso);
	free(view->symbol);
	free(view->filter);
	*view = (struct browser_view){0};
}

static bool copy_text(const char *from, char **to)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

static bool view_copy(const struct browser_view *from, struct browser_view *to)
{
	*to = *from;
	to->sort = to->comm = to->dso = to->symbol = to->filter = NULL;
	return copy_text(from->sort, &to->sort) && copy_text(from->comm, &to->comm) &&
	       copy_text(from->dso, &to->dso) && copy_text(from->symbol, &to->symbol) &&
	       copy_text(from->filter, &to->filter);
}

struct browser_view *browser_view(struct browser *b)
{
	return &b->view;
}

struct error *browser_keep_view(struct browser *b)
{
	view_deinit(&b->old_view);
	memcpy(b->old_zooms, b->zooms, sizeof(b->zooms));
	b->n_old_zooms = b->n_zooms;
	return view_copy(&b->view, &b->old_view) ? NULL : error_nomem();
}

void browser_undo(struct browser *b)
{
	view_deinit(&b->view);
	b->view = b->old_view;
	b->old_view = (struct browser_view){0};
	memcpy(b->zooms, b->old_zooms, sizeof(b->zooms));
	b->n_zooms = b->n_old_zooms;
}

struct error *browser_set_text(char **member, const char *text)
{
	char *copy = text && *text ? strdup(text) : NULL;

	if (!copy && text && *text)
		return error_nomem();
	free(*member);
	*member = copy;
	return NULL;
}

/* ---- what is shown ---- */

struct error *browser_new(const struct browser_opts *opts, struct browser **out)
{
	struct browser *b = calloc(1, sizeof(*b));

	if (!b)
		return error_nomem();
	memcpy(&b->opts, opts, min_of(opts->sz, sizeof(b->opts)));
	b->code.look = b->opts.look;
	*out = b;
	return NULL;
}

static void clear_printer(struct browser *b)
{
	if (b->has_printer)
		table_printer_deinit(&b->printer);
	b->has_printer = false;
}

void browser_free(struct browser *b)
{
	if (!b)
		return;
	clear_printer(b);
	view_deinit(&b->view);
	view_deinit(&b->old_view);
	browse_rows_deinit(&b->rows);
	pager_deinit(&b->pager);
	browser_code_deinit(b);
	menu_reset(&b->menu, "");
	free(b->menu.title);
	strbuf_deinit(&b->prompt.text);
	free(b->message);
	free(b->status);
	free(b);
}

static bool is_shown(const struct result *r)
{
	return r->kind == RESULT_TABLE && r->table.profile;
}

size_t browser_n_events(const struct browser *b)
{
	size_t n = 0;

	for (size_t i = 0; b->results && i < b->results->n; i++)
		n += is_shown(&b->results->v[i]);
	return n;
}

const struct result *browser_result(const struct browser *b)
{
	return b->results && b->event < b->results->n && is_shown(&b->results->v[b->event])
		       ? &b->results->v[b->event]
		       : NULL;
}

/* To the next event that has a table, in steps of 1 or -1. */
static void find_event(struct browser *b, ptrdiff_t step)
{
	const size_t n = b->results ? b->results->n : 0;

	for (size_t i = 0; i < n && !browser_result(b); i++)
		b->event = (b->event + n + (size_t)step) % n;
}

static struct error *show_event(struct browser *b)
{
	const struct result *r = browser_result(b);

	clear_printer(b);
	b->rows.v.n = 0;
	b->rows.table = NULL;
	if (!r)
		return NULL;
	table_printer_init(&b->printer, &r->table, b->opts.text);
	table_printer_fit(&b->printer);
	for (size_t c = 0; c < b->printer.n; c++)
		b->widths[c] = b->printer.columns[c].width;
	b->has_printer = true;
	return browse_rows_set(&b->rows, &r->table, b->opts.text) ? NULL : error_nomem();
}

struct error *browser_next_event(struct browser *b, ptrdiff_t step)
{
	const size_t n = b->results->n;

	b->event = (b->event + n + (size_t)step) % n;
	find_event(b, step);
	b->cursor = b->first = 0;
	return show_event(b);
}

static struct error *choose_event(struct browser *b, size_t arg, enum browser_wish *wish)
{
	b->event = arg;
	b->cursor = b->first = b->left = 0;
	return show_event(b);
}

struct error *browser_event_menu(struct browser *b)
{
	bool ok = true;

	menu_reset(&b->menu, "Events");
	for (size_t i = 0; b->results && i < b->results->n; i++) {
		const struct result *r = &b->results->v[i];
		_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

		if (!is_shown(r))
			continue;
		const struct perf_text_totals totals = perf_text_totals(r->table.profile);
		plain_adds(&name, r->name);
		ok = ok && menu_add(&b->menu, choose_event, i, "%6" PRIu64 "%c %s", totals.samples,
				    totals.unit, strbuf_str(&name));
		if (i == b->event)
			b->menu.cursor = b->menu.items.n - 1;
	}
	b->mode = MODE_MENU;
	return ok && b->menu.title ? NULL : error_nomem();
}

struct error *browser_set_results(struct browser *b, const struct results *results)
{
	const struct browse_row *row = browser_row(b);
	const uint64_t id = row ? row->id : 0;
	const bool is_moved = b->cursor > 0;

	if (!results) { /* they are about to be freed */
		b->results = NULL;
		clear_printer(b);
		b->rows.table = NULL;
		return NULL;
	}
	const bool is_first = !b->was_shown;
	b->results = results;
	if (b->event >= results->n)
		b->event = 0;
	find_event(b, 1);
	TRY(show_event(b));
	/* The first row stays the first one; another is followed to its new place. */
	const size_t at = id && is_moved ? browse_rows_find(&b->rows, id) : b->rows.v.n;
	if (at < b->rows.v.n) {
		b->first += at - min_of(at, b->cursor);
		b->first -= min_of(b->first, b->cursor - min_of(at, b->cursor));
		b->cursor = at;
	}
	b->was_shown = true;
	/* as perf, which asks at first which of several events is to be shown */
	return is_first && browser_n_events(b) > 1 ? browser_event_menu(b) : NULL;
}

const struct browse_row *browser_row(const struct browser *b)
{
	return b->cursor < b->rows.v.n ? &b->rows.v.v[b->cursor] : NULL;
}

struct browser_choice browser_chosen(const struct browser *b)
{
	const struct browse_row *row = b->rows.table ? browser_row(b) : NULL;
	struct browser_choice choice = {.event = b->event};

	if (!row)
		return choice;
	const struct result_sum *sum = &b->rows.table->profile->rows[row->entry];
	choice.tid = sum->tid;
	choice.comm = sum->comm;
	choice.module = sum->module;
	choice.function = sum->function;
	if (row->node) {
		const struct result_frame *f = row->node->frames[row->frame];

		choice.module = f->module;
		choice.function = f->has_start ? f->name : NULL;
	}
	return choice;
}

struct error *browser_say(struct browser *b, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	plain_since(&text, 0, false);
	free(b->message);
	b->message = strbuf_steal(&text);
	return b->message ? NULL : error_nomem();
}

struct error *browser_set_status(struct browser *b, const char *text)
{
	return browser_set_text(&b->status, text);
}

/* ---- questions ---- */

void browser_ask(struct browser *b, const char *title, prompt_fn *fn)
{
	b->prompt.title = title;
	b->prompt.fn = fn;
	b->prompt.back = b->mode;
	strbuf_reset(&b->prompt.text);
	b->mode = MODE_PROMPT;
}

/* A character without its last byte is none. */
static void erase_last(struct strbuf *text)
{
	size_t len = text->len;

	while (len && (text->str[len - 1] & 0xc0) == 0x80)
		len--;
	if (len)
		strbuf_cut(text, len - 1);
}

static struct error *press_prompt(struct browser *b, uint32_t key, enum browser_wish *wish)
{
	struct prompt *prompt = &b->prompt;

	switch (key) {
	case KEY_ESCAPE:
	case KEY_CTRL_C:
		b->mode = prompt->back;
		return NULL;
	case KEY_ENTER:
		b->mode = prompt->back;
		return prompt->fn(b, strbuf_str(&prompt->text), wish);
	case KEY_BACKSPACE:
		erase_last(&prompt->text);
		return NULL;
	default:
		if (key >= ' ' && key < KEY_UP && prompt->text.len < MAX_PROMPT) {
			const struct canvas_cell cell = {.c = key};

			canvas_cell_add(&cell, &prompt->text);
		}
		return strbuf_failed(&prompt->text) ? error_nomem() : NULL;
	}
}

static struct error *press_menu(struct browser *b, uint32_t key, enum browser_wish *wish)
{
	struct menu *menu = &b->menu;

	switch (key) {
	case KEY_UP:
		menu->cursor = scroll_moved(menu->cursor, -1, menu->items.n);
		return NULL;
	case KEY_DOWN:
	case KEY_TAB:
		menu->cursor = scroll_moved(menu->cursor, 1, menu->items.n);
		return NULL;
	case KEY_HOME:
	case KEY_PAGE_UP:
		menu->cursor = 0;
		return NULL;
	case KEY_END:
	case KEY_PAGE_DOWN:
		menu->cursor = menu->items.n - 1;
		return NULL;
	case KEY_ENTER:
	case KEY_RIGHT: {
		const struct menu_item item = menu->items.v[menu->cursor];

		b->mode = MODE_TABLE;
		return item.fn(b, item.arg, wish);
	}
	case KEY_ESCAPE:
	case KEY_LEFT:
	case KEY_CTRL_C:
	case 'q':
		b->mode = MODE_TABLE;
	}
	return NULL;
}

struct error *browser_bound(struct browser *b, const struct browser_binding *bound, size_t n,
			    uint32_t key, enum browser_wish *wish)
{
	for (size_t i = 0; i < n; i++)
		if (bound[i].key == key && (!bound[i].live || b->opts.live))
			return bound[i].fn(b, bound[i].arg, wish);
	return NULL;
}

struct error *browser_press(struct browser *b, uint32_t key, enum browser_wish *wish)
{
	const struct mouse mouse = mouse_of_key(key);

	*wish = BROWSER_NOTHING;
	b->going = GOING_ROW;
	/* the end of a click must not take away what its beginning has shown */
	if (key_is_mouse(key) && (mouse.button == MOUSE_MIDDLE || mouse.button == MOUSE_OTHER))
		return NULL;
	free(steal_ptr(b->message));
	if (key_is_mouse(key)) {
		key = browser_mouse(b, mouse);
		if (key == KEY_NONE)
			return NULL;
	}
	switch (b->mode) {
	case MODE_PAGER:
		return browser_press_pager(b, key);
	case MODE_MENU:
		return press_menu(b, key, wish);
	case MODE_PROMPT:
		return press_prompt(b, key, wish);
	case MODE_EXIT:
		b->mode = MODE_TABLE;
		if (key == 'y' || key == 'Y' || key == KEY_ENTER)
			*wish = BROWSER_QUIT;
		return NULL;
	case MODE_CODE:
		return browser_press_code(b, key, wish);
	default:
		return browser_press_table(b, key, wish);
	}
}
