// SPDX-License-Identifier: BSD-2-Clause
/*
 * The screen: a bar with what the table is of, the columns' titles, rows, and a bar with the last
 * message or what helps. Menus and questions are boxes above that.
 */
#include <inttypes.h>
#include <string.h>

#include "browse/internal.h"
#include "browse/scroll.h"
#include "show/plain.h"

enum {
	LEVEL_INDENT = 2, /* of entries in a hierarchy */
	CHAIN_INDENT = 3, /* of the frames of call chains */
	LAST_COLUMN = 30, /* as wide as this, the last column shows most symbols */
	BESIDE = 1024,	  /* columns to the right of the screen that are drawn to be scrolled to */
};

/* A row as it is drawn, on a canvas that is wider than the screen. */
struct wide_row {
	size_t fixed;	/* columns that are not scrolled */
	bool is_column; /* it is scrolled with the columns; else only as far as its end needs */
};

static void add_named(struct strbuf *out, const char *what, const char *name)
{
	if (!name)
		return;
	strbuf_addf(out, ", %s: ", what);
	plain_adds(out, name);
}

void browser_head(const struct browser *b, size_t room, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf count = STRBUF_INIT;
	const struct result *r = browser_result(b);
	const struct browser_view *view = &b->view;

	if (!r) {
		strbuf_adds(out, "No samples");
		return;
	}
	const struct perf_text_totals totals = perf_text_totals(r->table.profile);
	strbuf_addf(out, "Samples: %" PRIu64, totals.samples);
	if (totals.unit != ' ')
		strbuf_addch(out, totals.unit);
	strbuf_addf(out, " of event%s '", r->table.profile->is_leader ? "s" : "");
	plain_adds(out, r->name);
	strbuf_addch(out, '\'');
	if (r->table.profile->ref_chains)
		strbuf_adds(out, ", show reference callgraph");
	if (view->tid)
		strbuf_addf(out, ", Thread: %d", view->tid);
	else
		add_named(out, "Thread", view->comm);
	add_named(out, "DSO", view->dso);
	add_named(out, "Symbol", view->symbol);
	add_named(out, "Filter", view->filter);
	if (view->has_socket)
		strbuf_addf(out, ", Socket: %d", view->socket);
	if (view->no_kernel || view->no_user)
		strbuf_addf(out, ", without %s", view->no_kernel ? "kernel" : "user");
	if (view->frozen)
		strbuf_adds(out, " [paused]");
	if (b->status)
		strbuf_addf(out, ", %s", b->status);
	/* as it is the last, it would be cut, to another number */
	strbuf_addf(&count, ", Event count (approx.): %s%" PRIu64,
		    totals.period == UINT64_MAX ? "at least " : "", totals.period);
	if (plain_width(strbuf_str(out), out->len) + count.len <= room)
		strbuf_adds(out, strbuf_str(&count));
	out->failed |= count.failed;
}

static unsigned level_of(const struct browser *b, size_t c)
{
	return b->printer.t->columns[b->printer.from[c]].level;
}

/* Whether a row of an entry has the column. */
static bool has_column(const struct browser *b, size_t c, unsigned depth)
{
	return !b->printer.t->profile->n_levels || !level_of(b, c) || level_of(b, c) == depth + 1;
}

/* Rows below each other have columns; of a hierarchy only the first ones are below each other. */
static bool is_flat(const struct browser *b)
{
	return !b->printer.t->profile->n_levels;
}

/* Where the columns begin that are scrolled: the first one always stays. */
static size_t fixed_columns(const struct browser *b)
{
	return b->printer.n > 1 && is_flat(b) ? b->widths[0] + 4 : 0;
}

static struct wide_row draw_titles(const struct browser *b, struct canvas *canvas, size_t y)
{
	const struct table_printer *p = &b->printer;
	size_t x = 2;

	canvas_fill(canvas, y, 0, canvas->columns, STYLE_HEAD, "");
	for (size_t c = 0; c < p->n; c++) {
		const struct show_column *column = &p->columns[c];
		const char *title = column->title;

		if (p->t->profile->n_levels && level_of(b, c) > 1) {
			x = canvas_add(canvas, y, x, canvas->columns, STYLE_HEAD, "/ ");
			title += strspn(title, " ");
		}
		const size_t width = plain_width(title, strlen(title));
		const size_t from =
			column->right && b->widths[c] > width ? x + b->widths[c] - width : x;
		const size_t end = canvas_add(canvas, y, from, canvas->columns, STYLE_HEAD, title);
		x = max_of(p->t->profile->n_levels && level_of(b, c) ? end : x + b->widths[c],
			   end) +
		    (p->t->profile->n_levels && level_of(b, c) ? 1 : 2);
	}
	return (struct wide_row){fixed_columns(b), is_flat(b)};
}

/* A share is coloured by its size, that of a group by its largest. */
static enum canvas_style cell_style(const struct result_table *t, size_t entry, size_t column)
{
	const size_t n = max_of(t->profile->n_members, (size_t)1);
	double share = 0;

	if (t->columns[column].style != COLUMN_SHARE)
		return STYLE_NORMAL;
	for (size_t c = column; c < min_of(column + n, t->n_columns); c++) {
		const struct result_cell *cell = &t->cells[entry * t->n_columns + c];

		if (cell->kind != CELL_EMPTY)
			share = max_of(share, result_percent(t->profile, &t->columns[c], cell->u));
	}
	return scroll_share_style(share);
}

size_t browser_sign_column(const struct browser *b, const struct browse_row *row)
{
	const struct result_profile *profile = b->printer.t->profile;

	if (!row->node)
		return row->depth * LEVEL_INDENT;
	return profile->rows[row->entry].depth * LEVEL_INDENT + (row->depth + 1) * CHAIN_INDENT;
}

static struct wide_row draw_entry(struct browser *b, struct canvas *canvas, size_t y,
				  const struct browse_row *row, enum canvas_style style)
{
	struct wide_row wide = {fixed_columns(b), is_flat(b)};
	struct table_printer *p = &b->printer;
	const size_t indent = browser_sign_column(b, row);
	const char *sign = row->is_open ? "-" : row->can_open ? "+" : " ";
	size_t x = indent + 2;

	canvas_add(canvas, y, indent, canvas->columns, style, sign);
	for (size_t c = 0; c < p->n; c++) {
		if (!has_column(b, c, row->depth))
			continue;
		_cleanup_strbuf_ struct strbuf cell = STRBUF_INIT;
		const bool is_level = p->t->profile->n_levels && level_of(b, c);

		/* without tabs, and without the blanks that fill it up */
		plain_adds(&cell, table_printer_cell(p, row->entry, c));
		while (cell.len && cell.str[cell.len - 1] == ' ')
			strbuf_cut(&cell, cell.len - 1);
		const char *text = strbuf_str(&cell);
		if (is_level && !wide.fixed)
			wide.fixed = x;
		const size_t end = canvas_add(
			canvas, y, x, canvas->columns,
			style == STYLE_CURSOR ? style : cell_style(p->t, row->entry, p->from[c]),
			is_level ? text + strspn(text, " ") : text);
		x = max_of(end, is_level ? end : x + b->widths[c]) + 2;
	}
	return wide;
}

static struct wide_row draw_frame(struct browser *b, struct canvas *canvas, size_t y,
				  const struct browse_row *row, enum canvas_style style)
{
	const struct result_profile *profile = b->printer.t->profile;
	struct stack_text_opts opts =
		perf_text_chains(profile, &profile->rows[row->entry], b->opts.text);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint64_t total = stack_node_total(row->node);
	const uint64_t whole = row->whole ? row->whole : profile->rows[row->entry].period;
	size_t x = min_of(browser_sign_column(b, row), canvas->columns);

	canvas_add(canvas, y, x, canvas->columns, style,
		   row->is_open	   ? "- "
		   : row->can_open ? "+ "
				   : "  ");
	x += 2;
	if (!row->is_lone) {
		const double share = whole ? 100.0 * (double)total / (double)whole : 0;

		stack_value_add(&opts, total, stack_node_samples(row->node), whole, &text);
		x = canvas_add(canvas, y, x, canvas->columns,
			       style == STYLE_CURSOR ? style : scroll_share_style(share),
			       strbuf_str(&text));
		x = canvas_add(canvas, y, x, canvas->columns, style, " ");
		strbuf_reset(&text);
	}
	opts.with_module = b->shows_modules;
	stack_node_frame_add(&opts, row->node, row->frame, &text);
	canvas_add(canvas, y, x, canvas->columns, style, strbuf_str(&text));
	return (struct wide_row){.fixed = x};
}

static struct wide_row draw_row(struct browser *b, struct canvas *canvas, size_t y, size_t i,
				bool chosen)
{
	const struct browse_row *row = &b->rows.v.v[i];
	const enum canvas_style style = chosen ? STYLE_CURSOR : STYLE_NORMAL;

	canvas_fill(canvas, y, 0, canvas->columns, style, "");
	return row->node ? draw_frame(b, canvas, y, row, style)
			 : draw_entry(b, canvas, y, row, style);
}

/* ---- what is wider than the screen ---- */

/* The column after the last character. */
static size_t row_end(const struct canvas *wide, size_t y)
{
	const struct canvas_cell *cells = canvas_row(wide, y);
	size_t end = wide->columns;

	while (end && cells[end - 1].c == ' ')
		end--;
	return end;
}

/* Brings a row to the screen without `left` of the columns behind those that stay. */
static void show_scrolled(const struct canvas *wide, size_t y, const struct wide_row *row,
			  size_t left, struct canvas *canvas, size_t to)
{
	const size_t end = row_end(wide, y), fixed = min_of(row->fixed, canvas->columns);

	if (!row->is_column)
		left = min_of(left, end - min_of(end, canvas->columns));
	canvas_copy(wide, y, 0, canvas, to, 0, fixed);
	canvas_copy(wide, y, fixed + left, canvas, to, fixed, canvas->columns - fixed);
}

/* How wide the text of a column is in some rows of entries, and its title. */
static size_t widest_text(struct browser *b, size_t c, size_t n)
{
	struct table_printer *p = &b->printer;
	size_t widest = plain_width(p->columns[c].title, strlen(p->columns[c].title));

	for (size_t i = b->first; i < b->first + n; i++) {
		if (b->rows.v.v[i].node)
			continue;
		const char *text = table_printer_cell(p, b->rows.v.v[i].entry, c);
		size_t size = strlen(text);

		while (size && text[size - 1] == ' ')
			size--;
		widest = max_of(widest, plain_width(text, size));
	}
	return widest;
}

/* As wide as all rows need. */
static void unfit_columns(struct browser *b)
{
	for (size_t c = 0; c < b->printer.n; c++)
		b->widths[c] = b->printer.columns[c].width;
}

/*
 * A single long name makes a column wide, so that nothing of the symbols is seen. Where there is
 * little room, names before the last column are as wide as those that are on the screen.
 */
static void fit_columns(struct browser *b, size_t screen, size_t n)
{
	struct table_printer *p = &b->printer;
	size_t room = 2;

	unfit_columns(b);
	if (!is_flat(b) || !n || p->n < 3)
		return;
	for (size_t c = 0; c + 1 < p->n; c++)
		room += p->columns[c].width + 2;
	if (room + min_of(p->columns[p->n - 1].width, (unsigned)LAST_COLUMN) <= screen)
		return;
	for (size_t c = 1; c + 1 < p->n; c++)
		if (!p->columns[c].right && !p->user[c])
			b->widths[c] = (unsigned)min_of((size_t)b->widths[c], widest_text(b, c, n));
}

/*
 * Rows from b->first on. All are drawn on a wider canvas at first: whether something is to the
 * right of the screen decides what keys do, and nothing is scrolled when all fits.
 */
static struct error *draw_rows(struct browser *b, struct canvas *canvas, size_t y)
{
	const size_t titles = b->top - y;
	const size_t n = titles + min_of(b->page, b->rows.v.n - b->first);
	_cleanup_canvas_ struct canvas wide = {0};
	struct wide_row *rows _cleanup_free_ = calloc(n + !n, sizeof(*rows));
	size_t widest = 0;

	fit_columns(b, canvas->columns, n - titles);
	if (!rows || !canvas_init(&wide, n + !n, canvas->columns + b->left + BESIDE, canvas->ascii))
		return error_nomem();
	for (size_t i = 0; i < n; i++) {
		const size_t row = b->first + i - titles;

		rows[i] = titles && !i ? draw_titles(b, &wide, i)
				       : draw_row(b, &wide, i, row, row == b->cursor);
		widest = max_of(widest, row_end(&wide, i));
	}
	b->beyond = widest - min_of(widest, canvas->columns);
	for (size_t i = 0; i < n; i++)
		show_scrolled(&wide, i, &rows[i], browser_left(b), canvas, y + i);
	if (titles && browser_has_more(b))
		canvas_add(canvas, y, canvas->columns - 1, canvas->columns, STYLE_HEAD, ">");
	return NULL;
}

/* The next place to the right or to the left where a column begins; else some columns on. */
size_t browser_scrolled(const struct browser *b, bool to_right)
{
	enum { SCROLL = 10 };
	const struct table_printer *p = &b->printer;
	const size_t left = browser_left(b), n = b->has_printer && is_flat(b) ? p->n : 0;
	size_t before = 0, stop = 0; /* the first column that is scrolled begins at 0 */

	for (size_t c = 1; c + 1 < n && stop <= left; c++) {
		if (stop < left)
			before = stop;
		stop += b->widths[c] + 2;
	}
	if (to_right)
		return stop > left ? stop : left + SCROLL;
	if (stop >= left)
		return before;
	return max_of(stop, left - min_of(left, (size_t)SCROLL));
}

static struct error *draw_table(struct browser *b, struct canvas *canvas, size_t y, size_t end)
{
	if (!b->has_printer)
		return NULL;
	b->top = y + (!b->hides_titles && y < end);
	b->page = end > b->top ? end - b->top : 0;
	b->cursor = scroll_moved(b->cursor, 0, b->rows.v.n);
	b->first = scroll_first(b->first, b->cursor, b->page, b->rows.v.n);
	TRY(draw_rows(b, canvas, y));
	if (!b->rows.v.n && b->page)
		canvas_add(canvas, b->top, 2, canvas->columns, STYLE_DIM,
			   b->n_zooms ? "No rows; Esc zooms out" : "No rows");
	return NULL;
}

/* A box in the middle, as large as needed and possible; the first row and column within. */
static void draw_box(struct canvas *canvas, const char *title, size_t *rows, size_t *columns,
		     size_t *y, size_t *x)
{
	*rows = min_of(*rows, canvas->rows > 4 ? canvas->rows - 4 : 1);
	*columns = min_of(*columns, canvas->columns > 6 ? canvas->columns - 6 : 1);
	*y = (canvas->rows - min_of(*rows + 2, canvas->rows)) / 2 + 1;
	*x = (canvas->columns - min_of(*columns + 4, canvas->columns)) / 2 + 2;
	canvas_box(canvas, *y - 1, *x - 2, *rows + 2, *columns + 4, title);
}

static size_t item_tail(const struct menu_item *item)
{
	return item->tail ? 1 + strlen(item->tail) : 0;
}

static bool draw_item(const struct menu_item *item, struct canvas *canvas, size_t y, size_t x,
		      size_t columns, enum canvas_style style)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const size_t room = columns - min_of(columns, item_tail(item));

	plain_add_cut(&text, item->text, strlen(item->text), room, canvas->ascii);
	if (item->tail)
		strbuf_addf(&text, " %s", item->tail);
	canvas_fill(canvas, y, x - 1, x + columns + 1, style, "");
	canvas_add(canvas, y, x, x + columns, style, strbuf_str(&text));
	return !strbuf_failed(&text);
}

static struct error *draw_menu(struct browser *b, struct canvas *canvas)
{
	struct menu *menu = &b->menu;
	size_t rows = menu->items.n, columns = plain_width(menu->title, strlen(menu->title)), y, x;

	for (size_t i = 0; i < menu->items.n; i++) {
		const struct menu_item *item = &menu->items.v[i];

		columns = max_of(columns,
				 plain_width(item->text, strlen(item->text)) + item_tail(item));
	}
	draw_box(canvas, menu->title, &rows, &columns, &y, &x);
	menu->y = y;
	menu->x = x;
	menu->rows = rows;
	menu->columns = columns;
	menu->first = scroll_first(menu->first, menu->cursor, rows, menu->items.n);
	for (size_t i = 0; i < rows; i++)
		if (!draw_item(&menu->items.v[menu->first + i], canvas, y + i, x, columns,
			       menu->first + i == menu->cursor ? STYLE_CHOSEN : STYLE_FRAME))
			return error_nomem();
	return NULL;
}

static void draw_prompt(const struct browser *b, struct canvas *canvas)
{
	size_t rows = 1, columns = max_of(strlen(b->prompt.title), (size_t)50), y, x;
	const size_t width = plain_width(strbuf_str(&b->prompt.text), b->prompt.text.len);
	const char *text = strbuf_str(&b->prompt.text);

	draw_box(canvas, b->prompt.title, &rows, &columns, &y, &x);
	for (size_t i = width; i >= columns && *text; i--) /* its end is seen */
		for (text++; (*text & 0xc0) == 0x80;)
			text++;
	canvas_fill(canvas, y, x, x + columns, STYLE_FRAME, text);
	canvas_add(canvas, y, x + min_of(width, columns - 1), x + columns, STYLE_CHOSEN, " ");
}

/* How many bytes of a text fit into a line: whole words, or as much of one as fits. */
static size_t line_of(const char *text, size_t columns)
{
	size_t n = 0, words = 0;

	while (text[n]) {
		size_t next = n + 1;

		while ((text[next] & 0xc0) == 0x80)
			next++;
		if (plain_width(text, next) > columns)
			return words ? words : max_of(n, next * !n);
		if (text[n] == ' ')
			words = n;
		n = next;
	}
	return n;
}

static size_t lines_of(const char *text, size_t columns)
{
	size_t n = 0;

	for (; *text; n++) {
		text += line_of(text, columns);
		text += strspn(text, " ");
	}
	return n;
}

/* A question, or a message that is longer than the last line. A small screen is its box. */
static void draw_message(struct canvas *canvas, const char *text)
{
	const size_t room = canvas->columns > 10 ? canvas->columns - 10 : 1;
	size_t columns = min_of(plain_width(text, strlen(text)), room), y, x = 0;
	size_t rows = lines_of(text, columns);

	if (rows + 4 <= canvas->rows) {
		draw_box(canvas, "", &rows, &columns, &y, &x);
	} else {
		columns = canvas->columns;
		rows = min_of(lines_of(text, columns), canvas->rows);
		y = canvas->rows - rows;
	}
	for (size_t i = 0; i < rows && *text; i++) {
		_cleanup_free_ char *line = strndup(text, line_of(text, columns));

		if (line)
			canvas_fill(canvas, y + i, x, x + columns, STYLE_FRAME, line);
		text += line_of(text, columns);
		text += strspn(text, " ");
	}
}

/* Where the cursor is, and of how many. */
static size_t place_of(const struct browser *b, enum browser_mode screen, size_t *n)
{
	switch (screen) {
	case MODE_PAGER:
		*n = b->pager.lines.n;
		return b->pager.cursor;
	case MODE_CODE:
		*n = b->code.rows.n;
		return b->code.cursor;
	default:
		*n = b->rows.v.n;
		return b->cursor;
	}
}

static const char *keys_of(const struct browser *b, enum browser_mode screen)
{
	switch (screen) {
	case MODE_PAGER:
		return b->pager.beyond ? "q back  Right scroll  / search  n next"
				       : "q back  / search  n next";
	case MODE_CODE:
		return "h help  Enter follow  Tab hottest  s source  / search  q back";
	default:
		if (b->opts.opens_code)
			return browser_has_more(b) ? "h help  Enter code  m menu  Right scroll  / "
						     "filter  q quit"
						   : "h help  Enter code  m menu  / filter  q quit";
		if (browser_has_more(b))
			return "h help  Enter open or menu  Right scroll  a annotate  / filter  "
			       "q quit";
		return "h help  Enter open or menu  a annotate  / filter  q quit";
	}
}

/* Adds the keys that have room before a column, each with what it does. */
static void draw_keys(struct canvas *canvas, size_t y, size_t end, const char *keys)
{
	size_t fit = 0, n = 0;

	while (keys[n]) {
		n += strcspn(keys + n, " ");
		while (keys[n] == ' ' && keys[n + 1] != ' ')
			n += 1 + strcspn(keys + n + 1, " ");
		if (n <= end)
			fit = n;
		n += strspn(keys + n, " ");
	}
	canvas_add(canvas, y, 0, fit ? fit : end, STYLE_BAR, keys);
}

/* A message that does not fit has a box. */
static void draw_foot(const struct browser *b, struct canvas *canvas, size_t y,
		      enum browser_mode screen)
{
	size_t n;
	const size_t at = place_of(b, screen, &n);
	_cleanup_strbuf_ struct strbuf place = STRBUF_INIT;

	canvas_fill(canvas, y, 0, canvas->columns, STYLE_BAR, "");
	if (n)
		strbuf_addf(&place, " %zu/%zu ", at + 1, n);
	const size_t from = canvas->columns - min_of(place.len, canvas->columns);
	canvas_add(canvas, y, from, canvas->columns, STYLE_BAR, strbuf_str(&place));
	const bool fits = !b->message || plain_width(b->message, strlen(b->message)) <= from;
	if (b->message && fits)
		canvas_add(canvas, y, 0, from, STYLE_BAR, b->message);
	else
		draw_keys(canvas, y, from, keys_of(b, screen));
	if (!fits)
		draw_message(canvas, b->message);
}

/* What is below menus and questions. */
static enum browser_mode screen_of(const struct browser *b)
{
	const enum browser_mode mode = b->mode == MODE_PROMPT ? b->prompt.back : b->mode;

	return mode == MODE_PAGER || mode == MODE_CODE ? mode : MODE_TABLE;
}

static struct error *draw_first(const struct browser *b, struct canvas *canvas,
				enum browser_mode screen)
{
	_cleanup_strbuf_ struct strbuf head = STRBUF_INIT, cut = STRBUF_INIT;
	const size_t room = canvas->columns;

	if (screen == MODE_PAGER)
		strbuf_adds(&head, b->pager.title);
	else if (screen == MODE_CODE)
		browser_code_head(b, room, canvas->ascii, &head);
	else
		browser_head(b, room, &head);
	plain_add_cut(&cut, strbuf_str(&head), head.len, room, canvas->ascii);
	if (strbuf_failed(&head) || strbuf_failed(&cut))
		return error_nomem();
	canvas_fill(canvas, 0, 0, room, STYLE_BAR, strbuf_str(&cut));
	return NULL;
}

struct error *browser_draw(struct browser *b, struct canvas *canvas)
{
	const enum browser_mode screen = screen_of(b);
	const size_t first = canvas->rows > 2, end = canvas->rows - (canvas->rows > 1);

	if (first)
		TRY(draw_first(b, canvas, screen));
	if (screen != MODE_TABLE) {
		b->page = end - first;
		b->top = first + (screen == MODE_CODE); /* below the titles of the columns */
	}
	if (screen == MODE_PAGER && !pager_draw(&b->pager, canvas, first, end - first))
		return error_nomem();
	if (screen == MODE_CODE)
		TRY(code_draw(&b->code, canvas, first, end - first));
	if (screen == MODE_TABLE)
		TRY(draw_table(b, canvas, first, end));
	if (end < canvas->rows)
		draw_foot(b, canvas, end, screen);
	if (b->mode == MODE_MENU)
		TRY(draw_menu(b, canvas));
	if (b->mode == MODE_PROMPT)
		draw_prompt(b, canvas);
	if (b->mode == MODE_EXIT)
		draw_message(canvas, "Do you really want to exit? (y/n)");
	return NULL;
}

struct printed_row {
	struct browser *b;
	size_t line; /* 0: the titles */
};

static struct error *print_row(void *ctx, struct canvas *canvas)
{
	const struct printed_row *row = ctx;

	if (!row->line)
		draw_titles(row->b, canvas, 0);
	else
		draw_row(row->b, canvas, 0, row->line - 1, false);
	return NULL;
}

struct error *browser_text(struct browser *b, struct strbuf *out)
{
	if (browser_shows_code(b)) {
		browser_code_head(b, SIZE_MAX, false, out);
		strbuf_addch(out, '\n');
		return code_text(&b->code, out);
	}
	browser_head(b, SIZE_MAX, out);
	strbuf_addch(out, '\n');
	unfit_columns(b);
	for (size_t i = 0; i <= b->rows.v.n && b->has_printer; i++)
		TRY(canvas_print_row(print_row, &(struct printed_row){b, i}, out));
	return strbuf_failed(out) ? error_nomem() : NULL;
}
