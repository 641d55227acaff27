// SPDX-License-Identifier: BSD-2-Clause
/*
 * What keys do in the table. Letters are those of perf's browser (tools/perf/ui/browsers/hists.c of
 * Linux 6.1): each is a line of the table `bindings`, from which the help is made. Where perf has
 * another meaning, the manual page says so.
 */
#include "browse/browser.h"

#include <stdlib.h>
#include <string.h>

#include "browse/internal.h"
#include "browse/scroll.h"
#include "lib/base/plain_text.h"

/* ---- zooming ---- */

static void drop_zoom(struct browser *b, enum zoom zoom)
{
	size_t n = 0;

	for (size_t i = 0; i < b->n_zooms; i++)
		if (b->zooms[i] != zoom)
			b->zooms[n++] = b->zooms[i];
	b->n_zooms = n;
}

static struct error *set_zoom(struct browser *b, enum zoom zoom, const char *text, int32_t tid)
{
	char **members[] = {
		[ZOOM_THREAD] = &b->view.comm,
		[ZOOM_DSO] = &b->view.dso,
		[ZOOM_SYMBOL] = &b->view.symbol,
		[ZOOM_FILTER] = &b->view.filter,
	};

	if (zoom == ZOOM_SOCKET) {
		b->view.has_socket = text;
		b->view.socket = tid;
	} else {
		TRY(browser_set_text(members[zoom], text));
	}
	if (zoom == ZOOM_THREAD)
		b->view.tid = tid;
	drop_zoom(b, zoom);
	if (tid || (text && *text))
		b->zooms[b->n_zooms++] = zoom;
	b->cursor = b->first = 0;
	return NULL;
}

static struct error *zoom(struct browser *b, enum zoom zoom, const char *text, int32_t tid,
			  enum browser_wish *wish)
{
	TRY(browser_keep_view(b));
	*wish = BROWSER_VIEW;
	return set_zoom(b, zoom, text, tid);
}

struct error *browser_zoom_symbol(struct browser *b, const char *symbol)
{
	return set_zoom(b, ZOOM_SYMBOL, symbol, 0);
}

/* Whether rows are told apart by one of these keys. */
static bool has_key(const struct browser *b, const char *name, const char *other)
{
	const struct result *r = browser_result(b);

	for (size_t i = 0; r && i < r->table.n_columns; i++) {
		const char *column = r->table.columns[i].name;

		if (r->table.columns[i].is_key && (!strcmp(column, name) || !strcmp(column, other)))
			return true;
	}
	return false;
}

static struct error *zoom_thread(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct browser_choice choice = browser_chosen(b);
	const bool by_tid = has_key(b, "pid", "tid");

	if (b->view.comm || b->view.tid)
		return zoom(b, ZOOM_THREAD, NULL, 0, wish);
	if (!by_tid && !has_key(b, "comm", "comm"))
		return browser_say(b, "A row can have several threads: sort by comm or pid first");
	if (!choice.comm)
		return NULL;
	return zoom(b, ZOOM_THREAD, by_tid ? NULL : choice.comm, by_tid ? choice.tid : 0, wish);
}

static struct error *zoom_dso(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct browser_choice choice = browser_chosen(b);

	if (b->view.dso)
		return zoom(b, ZOOM_DSO, NULL, 0, wish);
	if (!has_key(b, "dso", "symbol"))
		return browser_say(b, "A row can have several DSOs: sort by dso first");
	if (!choice.module)
		return browser_say(b, "The DSO is unknown");
	return zoom(b, ZOOM_DSO, choice.module, 0, wish);
}

static struct error *zoom_kernel(struct browser *b, size_t arg, enum browser_wish *wish)
{
	return zoom(b, ZOOM_DSO, "[kernel.kallsyms]", 0, wish);
}

static struct error *zoom_symbol(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct browser_choice choice = browser_chosen(b);

	if (b->view.symbol)
		return zoom(b, ZOOM_SYMBOL, NULL, 0, wish);
	return choice.function ? zoom(b, ZOOM_SYMBOL, choice.function, 0, wish) : NULL;
}

/* The row's cell of a key; NULL: rows are not told apart by it. */
static const struct result_cell *key_cell(const struct browser *b, const char *name)
{
	const struct result *r = browser_result(b);
	const struct browse_row *row = browser_row(b);

	for (size_t i = 0; r && row && i < r->table.n_columns; i++)
		if (r->table.columns[i].is_key && !strcmp(r->table.columns[i].name, name))
			return &r->table.cells[row->entry * r->table.n_columns + i];
	return NULL;
}

static struct error *zoom_socket(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct result_cell *cell = key_cell(b, "socket");

	if (b->view.has_socket)
		return zoom(b, ZOOM_SOCKET, NULL, 0, wish);
	if (!cell)
		return browser_say(b, "A row can have several sockets: sort by socket first");
	return zoom(b, ZOOM_SOCKET, "socket", (int32_t)cell->i, wish);
}

static struct error *answer_filter(struct browser *b, const char *text, enum browser_wish *wish)
{
	return zoom(b, ZOOM_FILTER, text, 0, wish);
}

static struct error *ask_filter(struct browser *b, size_t arg, enum browser_wish *wish)
{
	browser_ask(b, "Show only symbols that contain (empty: all)", answer_filter);
	return NULL;
}

/* The last zoom is undone; without one, the question whether that is all. */
static struct error *leave(struct browser *b, size_t ask_first, enum browser_wish *wish)
{
	if (b->n_zooms)
		return zoom(b, b->zooms[b->n_zooms - 1], NULL, 0, wish);
	if (ask_first)
		b->mode = MODE_EXIT;
	return NULL;
}

static struct error *toggle(struct browser *b, bool *member, enum browser_wish *wish)
{
	TRY(browser_keep_view(b));
	*member = !*member;
	*wish = BROWSER_VIEW;
	return NULL;
}

static struct error *hide_kernel(struct browser *b, size_t arg, enum browser_wish *wish)
{
	TRY(toggle(b, &b->view.no_kernel, wish));
	b->view.no_user = false;
	return NULL;
}

static struct error *hide_user(struct browser *b, size_t arg, enum browser_wish *wish)
{
	TRY(toggle(b, &b->view.no_user, wish));
	b->view.no_kernel = false;
	return NULL;
}

static struct error *toggle_relative(struct browser *b, size_t arg, enum browser_wish *wish)
{
	TRY(toggle(b, &b->view.relative, wish));
	return browser_say(b, "Percentages are of %s",
			   b->view.relative ? "what is shown" : "all samples");
}

static struct error *answer_limit(struct browser *b, const char *text, enum browser_wish *wish)
{
	char *end;
	const double limit = strtod(text, &end);

	if (end == text || *end || !(limit >= 0 && limit <= 100))
		return browser_say(b, "'%s' is not a percentage", text);
	TRY(browser_keep_view(b));
	b->view.least_percent = limit;
	*wish = BROWSER_VIEW;
	return NULL;
}

static struct error *ask_limit(struct browser *b, size_t arg, enum browser_wish *wish)
{
	browser_ask(b, "Hide rows and branches below this percentage", answer_limit);
	return NULL;
}

/* ---- the order ---- */

static const char *const orders[] = {
	NULL, "comm,dso,symbol", "symbol", "dso,symbol", "dso", "comm", "pid", "cpu",
};

static struct error *sort_as(struct browser *b, const char *keys, enum browser_wish *wish)
{
	TRY(browser_keep_view(b));
	TRY(browser_set_text(&b->view.sort, keys));
	b->cursor = b->first = b->left = 0;
	*wish = BROWSER_VIEW;
	return NULL;
}

static struct error *choose_order(struct browser *b, size_t arg, enum browser_wish *wish)
{
	return sort_as(b, orders[arg], wish);
}

static struct error *answer_order(struct browser *b, const char *text, enum browser_wish *wish)
{
	return sort_as(b, text, wish);
}

static struct error *ask_order(struct browser *b, size_t arg, enum browser_wish *wish)
{
	browser_ask(b, "Sort by these keys, separated by commas", answer_order);
	return NULL;
}

static struct error *sort_menu(struct browser *b, size_t arg, enum browser_wish *wish)
{
	bool ok = true;

	menu_reset(&b->menu, "Sort by");
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		ok = ok && menu_add(&b->menu, choose_order, i, "%s",
				    orders[i] ? orders[i] : "as at the start");
	ok = ok && menu_add(&b->menu, ask_order, 0, "other keys...");
	b->mode = MODE_MENU;
	return ok && b->menu.title ? NULL : error_nomem();
}

/* A digit: the event of a group by which rows are sorted. */
static struct error *sort_by_member(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct result *r = browser_result(b);
	const size_t n = r ? r->table.profile->n_members : 0;

	if (n < 2)
		return browser_say(b,
				   "Only the events of a group can be chosen to sort by (--group)");
	if (arg >= n)
		return browser_say(b, "The group has the events 0 to %zu", n - 1);
	TRY(browser_keep_view(b));
	b->view.has_group_sort = true;
	b->view.group_sort = arg;
	b->cursor = b->first = 0;
	*wish = BROWSER_VIEW;
	return browser_say(b, "Sorted by event %zu of the group", arg);
}

/* ---- rows ---- */

static struct error *move_by(struct browser *b, ptrdiff_t by)
{
	b->cursor = scroll_moved(b->cursor, by, b->rows.v.n);
	return NULL;
}

static struct error *move_rows(struct browser *b, size_t arg, enum browser_wish *wish)
{
	return move_by(b, (ptrdiff_t)arg);
}

static struct error *move_pages(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const ptrdiff_t page = (ptrdiff_t)max_of(b->page, (size_t)1);

	/* what is seen moves, too */
	b->first = scroll_moved(b->first, (ptrdiff_t)arg * page, b->rows.v.n);
	return move_by(b, (ptrdiff_t)arg * page);
}

static struct error *move_end(struct browser *b, size_t arg, enum browser_wish *wish)
{
	b->cursor = arg && b->rows.v.n ? b->rows.v.n - 1 : 0;
	return NULL;
}

/* The row stays where it is, or its entry does if it is folded away. */
static struct error *done_folding(struct browser *b, bool ok, uint64_t id, size_t entry)
{
	size_t at = browse_rows_find(&b->rows, id);

	for (size_t i = 0; at == b->rows.v.n && i < b->rows.v.n; i++)
		if (b->rows.v.v[i].entry == entry && !b->rows.v.v[i].node)
			at = i;
	b->cursor = min_of(at, b->rows.v.n ? b->rows.v.n - 1 : 0);
	return ok ? NULL : error_nomem();
}

static struct error *fold(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct browse_row *row = browser_row(b);

	if (!row)
		return NULL;
	const uint64_t id = row->id;
	const size_t entry = row->entry;
	return done_folding(b, browse_rows_toggle(&b->rows, b->cursor), id, entry);
}

static struct error *fold_entry(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct browse_row *row = browser_row(b);

	if (!row)
		return NULL;
	const uint64_t id = row->id;
	const size_t entry = row->entry;
	return done_folding(b, browse_rows_toggle_entry(&b->rows, b->cursor), id, entry);
}

static struct error *fold_all(struct browser *b, size_t open, enum browser_wish *wish)
{
	const struct browse_row *row = browser_row(b);

	if (!row)
		return NULL;
	const uint64_t id = row->id;
	const size_t entry = row->entry;
	return done_folding(b, browse_rows_open_all(&b->rows, open), id, entry);
}

static struct error *next_event(struct browser *b, size_t arg, enum browser_wish *wish)
{
	if (browser_n_events(b) < 2)
		return browser_say(b, "There is one event");
	return browser_next_event(b, (ptrdiff_t)arg);
}

static struct error *switch_event(struct browser *b, size_t arg, enum browser_wish *wish)
{
	return browser_event_menu(b);
}

static struct error *toggle_titles(struct browser *b, size_t arg, enum browser_wish *wish)
{
	b->hides_titles = !b->hides_titles;
	return NULL;
}

static struct error *annotate(struct browser *b, size_t arg, enum browser_wish *wish)
{
	if (!b->opts.annotates)
		return browser_say(b, "Code cannot be shown here");
	if (!has_key(b, "symbol", "symbol") && !(browser_row(b) && browser_row(b)->node))
		return browser_say(b, "A row can have several functions: sort by symbol first");
	if (!browser_chosen(b).function)
		return browser_say(b, "The function is unknown");
	*wish = BROWSER_ANNOTATE;
	return NULL;
}

static struct error *toggle_modules(struct browser *b, size_t arg, enum browser_wish *wish)
{
	b->shows_modules = !b->shows_modules;
	return NULL;
}

/* perf lists the scripts that are installed with it; there are none of perf-bpf. */
static struct error *say_script(struct browser *b, size_t arg, enum browser_wish *wish)
{
	return browser_say(b, "To run a script: perf-bpf script -i RECORDING -s SCRIPT.py");
}

static struct error *print(struct browser *b, size_t arg, enum browser_wish *wish)
{
	*wish = BROWSER_PRINT;
	return NULL;
}

static struct error *show_header(struct browser *b, size_t arg, enum browser_wish *wish)
{
	if (!b->opts.has_header)
		return browser_say(b, "There is no recording");
	*wish = BROWSER_HEADER;
	return NULL;
}

struct error *browser_switch_mouse(struct browser *b, size_t arg, enum browser_wish *wish)
{
	*wish = BROWSER_MOUSE;
	return NULL;
}

static struct error *quit(struct browser *b, size_t arg, enum browser_wish *wish)
{
	*wish = BROWSER_QUIT;
	return NULL;
}

/* ---- of a live one ---- */

static struct error *freeze(struct browser *b, size_t arg, enum browser_wish *wish)
{
	return toggle(b, &b->view.frozen, wish);
}

static struct error *toggle_zero(struct browser *b, size_t arg, enum browser_wish *wish)
{
	TRY(toggle(b, &b->view.zero, wish));
	return browser_say(b, "Samples of earlier intervals %s",
			   b->view.zero ? "are dropped" : "lose weight slowly");
}

static struct error *answer_delay(struct browser *b, const char *text, enum browser_wish *wish)
{
	char *end;
	const double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds >= 0.1 && seconds <= 86400))
		return browser_say(b, "'%s' is not a number of seconds from 0.1 on", text);
	TRY(browser_keep_view(b));
	b->view.delay_ms = (uint64_t)(seconds * 1000);
	*wish = BROWSER_VIEW;
	return NULL;
}

static struct error *ask_delay(struct browser *b, size_t arg, enum browser_wish *wish)
{
	browser_ask(b, "Update interval in seconds", answer_delay);
	return NULL;
}

static struct error *answer_count(struct browser *b, const char *text, enum browser_wish *wish)
{
	char *end;
	const unsigned long long n = strtoull(text, &end, 10);

	if (end == text || *end || *text == '-')
		return browser_say(b, "'%s' is not a number", text);
	TRY(browser_keep_view(b));
	b->view.least_samples = n;
	*wish = BROWSER_VIEW;
	return NULL;
}

static struct error *ask_count(struct browser *b, size_t arg, enum browser_wish *wish)
{
	browser_ask(b, "Hide rows with fewer samples", answer_count);
	return NULL;
}

/* ---- the menu of a row ---- */

static struct error *row_menu(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct browser_choice choice = browser_chosen(b);
	const struct browse_row *row = browser_row(b);
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	char tid[16];
	bool ok = true;

	snprintf(tid, sizeof(tid), "%d", b->view.tid ? b->view.tid : choice.tid);
	menu_reset(&b->menu, "");
	plain_adds(&name, choice.function ? choice.function : "");
	if (b->opts.annotates && choice.function && (has_key(b, "symbol", "symbol") || row->node))
		ok = menu_add(&b->menu, annotate, 0, "Annotate %s", strbuf_str(&name));
	if (has_key(b, "pid", "tid"))
		ok = ok &&
		     menu_add_zoom(&b->menu, zoom_thread, b->view.tid ? tid : NULL, tid, "thread");
	else if (has_key(b, "comm", "comm") || b->view.comm)
		ok = ok &&
		     menu_add_zoom(&b->menu, zoom_thread, b->view.comm, choice.comm, "thread");
	if (has_key(b, "dso", "symbol") || b->view.dso)
		ok = ok && menu_add_zoom(&b->menu, zoom_dso, b->view.dso, choice.module, "DSO");
	if (has_key(b, "symbol", "symbol") || b->view.symbol)
		ok = ok && menu_add_zoom(&b->menu, zoom_symbol, b->view.symbol, choice.function,
					 "symbol");
	if (row && row->can_open)
		ok = ok && menu_add(&b->menu, fold, 0, row->is_open ? "Fold" : "Open");
	ok = ok && menu_add(&b->menu, sort_menu, 0, "Sort by...") && browser_add_samples(b);
	if (browser_n_events(b) > 1)
		ok = ok && menu_add(&b->menu, switch_event, 0, "Switch to another event");
	ok = ok && menu_add(&b->menu, print, 0, "Print all rows to a file") &&
	     menu_add(&b->menu, quit, 0, "Exit");
	b->mode = MODE_MENU;
	return ok && b->menu.title && !strbuf_failed(&name) ? NULL : error_nomem();
}

/* As perf, by a column; where all is seen, there is nothing to scroll. */
static struct error *go_right(struct browser *b, size_t arg, enum browser_wish *wish)
{
	if (browser_has_more(b))
		b->left = browser_scrolled(b, true);
	else if (!browser_left(b))
		return row_menu(b, 0, wish);
	return NULL;
}

static struct error *go_left(struct browser *b, size_t arg, enum browser_wish *wish)
{
	if (!browser_left(b))
		return leave(b, 0, wish);
	b->left = browser_scrolled(b, false);
	return NULL;
}

static struct error *open_or_menu(struct browser *b, size_t arg, enum browser_wish *wish)
{
	const struct browse_row *row = browser_row(b);

	if (b->opts.opens_code)
		return annotate(b, 0, wish);
	return row && row->can_open ? fold(b, 0, wish) : row_menu(b, 0, wish);
}

static struct error *help(struct browser *b, size_t arg, enum browser_wish *wish);

/* ---- keys ---- */

static const struct browser_binding bindings[] = {
	{KEY_UP, move_rows, (size_t)-1, false, "Up, Down", "move by a row"},
	{KEY_DOWN, move_rows, 1, false, NULL, NULL},
	{KEY_PAGE_UP, move_pages, (size_t)-1, false, "PgUp, PgDn", "move by a screen"},
	{KEY_PAGE_DOWN, move_pages, 1, false, NULL, NULL},
	{' ', move_pages, 1, false, NULL, NULL},
	{KEY_HOME, move_end, 0, false, "Home, End", "to the first row, to the last one"},
	{KEY_END, move_end, 1, false, NULL, NULL},
	{KEY_ENTER, open_or_menu, 0, false, "Enter",
	 "open or fold the row, else its menu; in annotate: its code"},
	{'m', row_menu, 0, false, "m", "the menu of the row"},
	{KEY_RIGHT, go_right, 0, false, "Right, Left",
	 "scroll the columns; if all fit: the menu of the row, zoom out"},
	{KEY_LEFT, go_left, 0, false, NULL, NULL},
	{'+', fold, 0, false, "+", "open or fold the row"},
	{'e', fold_entry, 0, false, "e, c", "open or fold the row with all that is in it"},
	{'c', fold_entry, 0, false, NULL, NULL},
	{'E', fold_all, 1, false, "E", "open all rows"},
	{'C', fold_all, 0, false, "C", "fold all rows"},
	{'a', annotate, 0, false, "a", "show the code of the function with its samples"},
	{'t', zoom_thread, 0, false, "t", "zoom into the row's thread, or out of it"},
	{'d', zoom_dso, 0, false, "d", "zoom into the row's DSO, or out of it"},
	{'k', zoom_kernel, 0, false, "k", "zoom into the kernel"},
	{'S', zoom_socket, 0, false, "S", "zoom into the row's processor socket, or out of it"},
	{'/', ask_filter, 0, false, "/", "show only symbols that contain a text"},
	{KEY_ESCAPE, leave, 1, false, "Esc", "zoom out"},
	{'F', toggle_relative, 0, false, "F", "percentages of what is shown, or of all samples"},
	{'L', ask_limit, 0, false, "L", "hide rows below a percentage"},
	{'s', sort_menu, 0, false, "s", "sort by other keys"},
	{'0', sort_by_member, 0, false, "0 to 9", "sort by an event of the group (--group)"},
	{'1', sort_by_member, 1, false, NULL, NULL},
	{'2', sort_by_member, 2, false, NULL, NULL},
	{'3', sort_by_member, 3, false, NULL, NULL},
	{'4', sort_by_member, 4, false, NULL, NULL},
	{'5', sort_by_member, 5, false, NULL, NULL},
	{'6', sort_by_member, 6, false, NULL, NULL},
	{'7', sort_by_member, 7, false, NULL, NULL},
	{'8', sort_by_member, 8, false, NULL, NULL},
	{'9', sort_by_member, 9, false, NULL, NULL},
	{KEY_TAB, next_event, 1, false, "Tab, Shift-Tab", "the next event, the one before"},
	{KEY_BACK_TAB, next_event, (size_t)-1, false, NULL, NULL},
	{'K', hide_kernel, 0, false, "K", "hide samples of the kernel"},
	{'U', hide_user, 0, false, "U", "hide samples of user space"},
	{'H', toggle_titles, 0, false, "H", "show or hide the titles of the columns"},
	{'V', toggle_modules, 0, false, "V", "show or hide the DSOs of frames of call chains"},
	{'i', show_header, 0, false, "i", "header of the recording"},
	{'P', print, 0, false, "P", "print all rows to perf.hist.N"},
	{'r', say_script, 0, false, "r",
	 "how to run a script: script -s FILE (no menu as in perf)"},
	{'p', freeze, 0, true, "p", "pause; go on"},
	{'f', ask_count, 0, true, "f", "hide rows with fewer samples"},
	{'z', toggle_zero, 0, true, "z", "drop samples of earlier intervals, or let them fade"},
	{'D', ask_delay, 0, true, "D", "the time between two results"},
	{'M', browser_switch_mouse, 0, false, "M",
	 "the mouse is for rows, or for the terminal's text"},
	{'h', help, 0, false, "h, ?, F1", "this help"},
	{'?', help, 0, false, NULL, NULL},
	{KEY_F1, help, 0, false, NULL, NULL},
	{'q', quit, 0, false, "q, Ctrl-C", "quit"},
	{KEY_CTRL_C, quit, 0, false, NULL, NULL},
};

static struct error *help(struct browser *b, size_t arg, enum browser_wish *wish)
{
	return browser_help(b, "", bindings, ARRAY_SIZE(bindings));
}

struct error *browser_press_table(struct browser *b, uint32_t key, enum browser_wish *wish)
{
	return browser_bound(b, bindings, ARRAY_SIZE(bindings), key, wish);
}
