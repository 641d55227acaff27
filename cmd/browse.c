// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/browse.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/cmd.h"

struct browse {
	struct browse_opts opts;
	struct canvas drawn; /* what is on the screen */
	unsigned generation; /* of the tty, of what is drawn */
	bool ascii, colours;
};

struct error *browse_say(struct browse *browse, struct error *err)
{
	if (!err || err->code == ENOMEM)
		return err;
	struct error *late =
		browser_say(browse->opts.browser, "%s%s%s%s%s", err->where ? err->where : "",
			    err->where ? ": " : "", err->msg, err->hint ? "; " : "",
			    err->hint ? err->hint : "");
	error_free(err);
	return late;
}

/* As less +/TIME. */
static struct error *show_sample(struct browse *browse)
{
	const struct browser_sample of = browser_sample(browse->opts.browser);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, time = STRBUF_INIT;

	TRY(browse->opts.sample(browse->opts.ctx, &of, &text));
	strbuf_addf(&time, "%" PRIu64 ".%09" PRIu64 ":", of.sample.time / 1000000000,
		    of.sample.time % 1000000000);
	if (strbuf_failed(&text) || strbuf_failed(&time))
		return error_nomem();
	TRY(browser_show_text(browse->opts.browser, "Samples", strbuf_str(&text)));
	return browser_find_text(browse->opts.browser, strbuf_str(&time));
}

static struct error *answer(struct browse *browse, enum browser_wish wish)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct browse_opts *o = &browse->opts;
	struct error *err = NULL;
	unsigned number;

	switch (wish) {
	case BROWSER_QUIT:
		loop_end(o->loop);
		break;
	case BROWSER_VIEW:
		err = o->show(o->ctx);
		break;
	case BROWSER_ANNOTATE: {
		const struct browser_choice choice = browser_wanted(o->browser);

		err = o->annotate(o->ctx, &choice);
		break;
	}
	case BROWSER_HEADER:
		err = o->header(o->ctx, &text);
		if (!err)
			err = browser_show_text(o->browser, "The recording", strbuf_str(&text));
		break;
	case BROWSER_SAMPLE:
		err = show_sample(browse);
		break;
	case BROWSER_MOUSE:
		if (!tty_terminal(o->tty)->has_mouse)
			err = browser_say(o->browser, "The mouse of this terminal is not known");
		else if (tty_set_mouse(o->tty, !tty_has_mouse(o->tty)))
			err = browser_say(o->browser, "The mouse chooses rows and scrolls");
		else
			err = browser_say(o->browser, "The mouse selects text of the terminal");
		break;
	case BROWSER_PRINT: {
		const bool is_code = browser_shows_code(o->browser);

		err = browser_text(o->browser, &text);
		if (!err)
			err = tty_save(o->tty, &text, is_code, &number);
		if (!err)
			err = browser_say(o->browser, "Printed to %s.%u", tty_save_name(is_code),
					  number);
		break;
	}
	default:
		break;
	}
	return browse_say(browse, err);
}

struct error *browse_press(struct browse *browse, uint32_t key)
{
	enum browser_wish wish;

	TRY(browser_press(browse->opts.browser, key, &wish));
	return answer(browse, wish);
}

static struct error *on_ready(void *ctx, uint32_t events)
{
	struct browse *browse = ctx;
	uint32_t key;

	while (!loop_ended(browse->opts.loop) && (key = tty_key(browse->opts.tty)) != KEY_NONE)
		TRY(browse_press(browse, key));
	if (tty_has_hung_up(browse->opts.tty))
		loop_end(browse->opts.loop);
	return loop_ended(browse->opts.loop) ? NULL : browse_draw(browse);
}

struct error *browse_new(const struct browse_opts *opts, struct browse **out)
{
	_cleanup_(browse_freep) struct browse *browse = calloc(1, sizeof(*browse));
	const char *no_colour = getenv("NO_COLOR");

	if (!browse)
		return error_nomem();
	browse->opts = *opts;
	browse->ascii = !tty_is_utf8();
	browse->colours = tty_terminal(opts->tty)->colour && !(no_colour && *no_colour);
	tty_set_mouse(opts->tty, true);
	TRY(loop_watch(opts->loop, tty_fd(opts->tty), on_ready, browse));
	*out = steal_ptr(browse);
	return NULL;
}

void browse_free(struct browse *browse)
{
	if (!browse)
		return;
	loop_unwatch(browse->opts.loop, tty_fd(browse->opts.tty));
	canvas_deinit(&browse->drawn);
	free(browse);
}

static void say(void *ctx, enum log_level level, const char *fmt, va_list ap)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_vaddf(&text, fmt, ap);
	error_free(browser_say(ctx, "%s", strbuf_str(&text)));
}

struct log browse_log(struct browser *browser)
{
	return (struct log){.level = LOG_WARN, .write = say, .ctx = browser};
}

/* ---- drawing ---- */

static void set_style(const struct browse *browse, enum canvas_style style, struct strbuf *out)
{
	static const int colours[STYLE_MAX] = {[STYLE_HEAD] = 6,
					       [STYLE_HOT] = 1,
					       [STYLE_WARM] = 2,
					       [STYLE_DIM] = 5,
					       [STYLE_SOURCE] = 6};
	const struct terminal *t = tty_terminal(browse->opts.tty);

	terminal_add(out, t->normal);
	switch (style) {
	case STYLE_BAR:
	case STYLE_CURSOR:
	case STYLE_FRAME:
		terminal_add(out, t->reverse);
		break;
	case STYLE_NORMAL:
	case STYLE_CHOSEN: /* a box is in reverse */
		break;
	default:
		if (browse->colours)
			terminal_colour(t, colours[style], out);
		else if (style == STYLE_HOT || style == STYLE_HEAD)
			terminal_add(out, t->bold);
		break;
	}
}

static void draw_row(const struct browse *browse, const struct canvas *canvas, size_t row,
		     struct strbuf *out)
{
	const struct terminal *t = tty_terminal(browse->opts.tty);
	const struct canvas_cell *cells = canvas_row(canvas, row);
	enum canvas_style style = STYLE_NORMAL;
	size_t end = canvas->columns;

	/* the last character of the last row would scroll some terminals */
	if (row + 1 == canvas->rows)
		end--;
	while (end && cells[end - 1].c == ' ' && cells[end - 1].style == STYLE_NORMAL)
		end--;
	terminal_place(t, row, out);
	terminal_add(out, t->normal);
	terminal_add(out, t->erase_line);
	for (size_t i = 0; i < end; i++) {
		if (cells[i].style != style) {
			style = cells[i].style;
			set_style(browse, style, out);
		}
		canvas_cell_add(&cells[i], out);
	}
	terminal_add(out, t->normal);
}

struct error *browse_draw(struct browse *browse)
{
	_cleanup_canvas_ struct canvas canvas = {0};
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const struct tty_size size = tty_size();

	if (!tty_take(browse->opts.tty))
		return NULL;
	if (!canvas_init(&canvas, size.rows, size.columns, browse->ascii))
		return error_nomem();
	TRY(browser_draw(browse->opts.browser, &canvas));
	const bool all = browse->generation != tty_generation(browse->opts.tty) ||
			 browse->drawn.rows != canvas.rows ||
			 browse->drawn.columns != canvas.columns;
	for (size_t row = 0; row < canvas.rows; row++)
		if (all || !canvas_row_equal(&browse->drawn, &canvas, row))
			draw_row(browse, &canvas, row, &out);
	if (strbuf_failed(&out))
		return error_nomem();
	tty_write(browse->opts.tty, &out);
	browse->generation = tty_generation(browse->opts.tty);
	canvas_deinit(&browse->drawn);
	browse->drawn = canvas;
	canvas = (struct canvas){0};
	return NULL;
}
