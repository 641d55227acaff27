// SPDX-License-Identifier: BSD-2-Clause
/*
 * A function's code in the browser: keys of perf annotate (tools/perf/ui/browsers/annotate.c of
 * Linux 7.2), each a line of the table `bindings`, and the way from a call to the function that is
 * called, and back.
 */
#include <stdlib.h>
#include <string.h>

#include "browse/internal.h"
#include "show/plain.h"

enum {
	MAX_BACK = 64,	 /* calls that can be left again */
	SCROLL = 8,	 /* columns */
	LEAST_NAME = 13, /* columns of a name that is cut */
};

/* ---- from function to function ---- */

static void place_free(struct code_place *place)
{
	free(place->module);
	free(place->function);
	*place = (struct code_place){0};
}

static void forget_places(struct browser *b)
{
	while (b->back.n)
		place_free(&b->back.v[--b->back.n]);
}

void browser_code_deinit(struct browser *b)
{
	forget_places(b);
	vec_deinit(&b->back);
	place_free(&b->here);
	free(b->wanted.callee);
	code_deinit(&b->code);
}

static uint64_t address_of(const struct code_line *line)
{
	return line && line->line->kind == ANNOTATION_CODE ? line->line->address : 0;
}

static bool place_set(struct code_place *place, const char *module, const char *function,
		      uint64_t address)
{
	const struct code_place copy = {strdup(module), strdup(function), address};

	place_free(place);
	*place = copy;
	return copy.module && copy.function;
}

struct browser_choice browser_wanted(const struct browser *b)
{
	struct browser_choice choice = browser_chosen(b);

	if (b->going == GOING_ROW)
		return choice;
	choice.event = b->event;
	choice.module = b->here.module;
	choice.function = b->here.function;
	if (b->going == GOING_CALL) {
		choice.is_call = true;
		choice.called = b->wanted.address;
		choice.callee = b->wanted.callee;
	} else {
		choice.module = vec_last(&b->back)->module;
		choice.function = vec_last(&b->back)->function;
	}
	return choice;
}

/* The function that is shown can be come back to. */
static struct error *keep_place(struct browser *b)
{
	struct code_place *place;

	if (b->back.n == MAX_BACK) {
		place_free(&b->back.v[0]);
		memmove(b->back.v, b->back.v + 1, --b->back.n * sizeof(*b->back.v));
	}
	place = vec_push(&b->back);
	if (!place)
		return error_nomem();
	*place = b->here;
	place->address = address_of(code_line(&b->code));
	b->here = (struct code_place){0};
	return NULL;
}

struct error *browser_show_annotation(struct browser *b, const struct annotation *a)
{
	uint64_t address = 0;

	if (b->going == GOING_CALL) {
		TRY(keep_place(b));
	} else if (b->going == GOING_BACK) {
		address = vec_last(&b->back)->address;
		place_free(&b->back.v[--b->back.n]);
	} else {
		forget_places(b);
	}
	b->going = GOING_ROW;
	if (!place_set(&b->here, a->dso, a->symbol, 0))
		return error_nomem();
	TRY(code_set(&b->code, a));
	if (address)
		code_go_address(&b->code, address);
	b->mode = MODE_CODE;
	return NULL;
}

bool browser_shows_code(const struct browser *b)
{
	const enum browser_mode mode = b->mode == MODE_PROMPT  ? b->prompt.back
				       : b->mode == MODE_PAGER ? b->pager_back
							       : b->mode;

	return mode == MODE_CODE;
}

struct error *browser_update_annotation(struct browser *b, const struct annotation *a)
{
	return code_update(&b->code, a);
}

void browser_leave_code(struct browser *b)
{
	if (browser_shows_code(b))
		b->mode = MODE_TABLE;
}

static struct error *quit(struct browser *b, size_t arg, enum browser_wish *wish)
{
	forget_places(b);
	b->mode = MODE_TABLE;
	if (b->opts.code_only)
		*wish = BROWSER_QUIT;
	return NULL;
}

/* To the function with the call, or to the table. */
static struct error *leave(struct browser *b, size_t arg, enum browser_wish *wish)
{
	if (!b->back.n)
		return quit(b, 0, wish);
	b->going = GOING_BACK;
	*wish = BROWSER_ANNOTATE;
	return NULL;
}

static struct error *scroll_left(struct browser *b, size_t arg, enum browser_wish *wish)
{
	if (!b->code.column)
		return leave(b, 0, wish);
	b->code.column -= min_of(b->code.column, (size_t)SCROLL);
	return NULL;
}

static struct error *scroll_right(struct browser *b, size_t arg, enum browser_wish *wish)
{
	b->code.column += SCROLL;
	return NULL;
}

static struct error *open_call(struct browser *b, const struct annotation_line *line,
			       enum browser_wish *wish)
{
	if (!line->has_target)
		return browser_say(b, "Where it goes is known only when it runs");
	free(b->wanted.callee);
	b->wanted.callee = line->called ? strdup(line->called) : NULL;
	if (line->called && !b->wanted.callee)
		return error_nomem();
	b->wanted.address = line->target;
	b->going = GOING_CALL;
	*wish = BROWSER_ANNOTATE;
	return NULL;
}

static struct error *go(struct browser *b, size_t is_enter, enum browser_wish *wish)
{
	const struct code_line *line = code_line(&b->code);
	const enum annotation_flow flow = line ? line->line->flow : FLOW_NEXT;

	if (flow == FLOW_JUMP && line->target != SIZE_MAX) {
		code_go(&b->code, line->target);
		return NULL;
	}
	if (flow == FLOW_JUMP || flow == FLOW_CALL)
		return open_call(b, line->line, wish);
	if (!is_enter)
		return scroll_right(b, 0, wish);
	if (flow == FLOW_RETURN)
		return leave(b, 0, wish);
	return browser_say(b, "Enter follows jumps, calls and returns");
}

/* Another row of the table, with a function. */
static struct error *next_function(struct browser *b, size_t step, enum browser_wish *wish)
{
	const size_t n = b->rows.v.n;

	for (size_t at = b->cursor + step; at < n; at += step) {
		const struct browse_row *row = &b->rows.v.v[at];

		if (row->node || !b->rows.table->profile->rows[row->entry].function)
			continue;
		b->cursor = at;
		*wish = BROWSER_ANNOTATE;
		return NULL;
	}
	return browser_say(b, "There is no %s function", step == 1 ? "next" : "previous");
}

/* ---- lines ---- */

static struct error *move_lines(struct browser *b, size_t by, enum browser_wish *wish)
{
	code_move(&b->code, (ptrdiff_t)by);
	return NULL;
}

static struct error *move_pages(struct browser *b, size_t by, enum browser_wish *wish)
{
	const size_t page = max_of(b->page, (size_t)3) - 2; /* the head, and a line of before */

	code_move(&b->code, (ptrdiff_t)by * (ptrdiff_t)page);
	return NULL;
}

static struct error *move_end(struct browser *b, size_t last, enum browser_wish *wish)
{
	code_move(&b->code, last ? PTRDIFF_MAX : -PTRDIFF_MAX);
	return NULL;
}

static struct error *go_hot(struct browser *b, size_t step, enum browser_wish *wish)
{
	if (!code_go_hot(&b->code, (int)step))
		return browser_say(b, "No line has samples");
	return NULL;
}

static struct error *search(struct browser *b, bool backwards)
{
	if (b->code.search && !code_find(&b->code, backwards))
		return browser_say(b, "'%s' was not found", b->code.search);
	return NULL;
}

static struct error *answer_search(struct browser *b, const char *text, enum browser_wish *wish)
{
	if (*text) {
		char *copy = strdup(text);

		if (!copy)
			return error_nomem();
		free(b->code.search);
		b->code.search = copy;
	}
	return search(b, b->code.backwards);
}

static struct error *ask_search(struct browser *b, size_t backwards, enum browser_wish *wish)
{
	b->code.backwards = backwards;
	browser_ask(b, backwards ? "Search backwards for" : "Search for", answer_search);
	return NULL;
}

static struct error *search_again(struct browser *b, size_t turn, enum browser_wish *wish)
{
	if (!b->code.search)
		return ask_search(b, turn, wish);
	return search(b, b->code.backwards != (bool)turn);
}

/* ---- the look ---- */

static struct error *toggle_source(struct browser *b, size_t arg, enum browser_wish *wish)
{
	struct code_look *look = &b->code.look;
	bool has_bpf = false;

	for (size_t i = 0; i < b->code.lines.n && !has_bpf; i++)
		has_bpf = b->code.lines.v[i].line->kind == ANNOTATION_BPF;
	/* source, then no source, then of a BPF program no instructions of BPF */
	if (!look->no_source) {
		look->no_source = true;
	} else if (has_bpf && !look->no_bpf) {
		look->no_bpf = true;
	} else {
		look->no_source = look->no_bpf = false;
	}
	TRY(code_look_anew(&b->code));
	return browser_say(b, "%s",
			   !look->no_source ? "Source lines are shown"
			   : look->no_bpf   ? "Only machine instructions are shown"
					    : "Source lines are hidden");
}

static struct error *next_unit(struct browser *b, size_t arg, enum browser_wish *wish)
{
	b->code.look.unit = (b->code.look.unit + 1) % N_CODE_UNITS;
	return NULL;
}

static struct error *next_addresses(struct browser *b, size_t arg, enum browser_wish *wish)
{
	static const char *const of[] = {
		[CODE_OF_TARGETS] = "targets of jumps have",
		[CODE_OF_CALLS] = "targets of jumps and calls have",
		[CODE_OF_ALL] = "all instructions have",
	};
	struct code_look *look = &b->code.look;

	look->addresses = (look->addresses + 1) % N_CODE_ADDRESSES;
	return browser_say(b, "Now %s their address", of[look->addresses]);
}

/* Which member of the look a key turns on and off. */
enum look_switch {
	LOOK_RAW,
	LOOK_ARROWS,
	LOOK_JUMPS,
	LOOK_NUMBERS,
	LOOK_PLACES,
	LOOK_FULL,
	LOOK_GLOBAL,
	LOOK_HITS,
};

static struct error *turn(struct browser *b, size_t which, enum browser_wish *wish)
{
	struct code_look *look = &b->code.look;
	bool *const members[] = {
		[LOOK_RAW] = &look->raw,
		[LOOK_ARROWS] = &look->no_arrows,
		[LOOK_JUMPS] = &look->jumps,
		[LOOK_NUMBERS] = &look->no_numbers,
		[LOOK_PLACES] = &look->places,
		[LOOK_FULL] = &look->full,
		[LOOK_GLOBAL] = &look->percent.global,
		[LOOK_HITS] = &look->percent.hits,
	};

	*members[which] = !*members[which];
	return NULL;
}

static struct error *print(struct browser *b, size_t arg, enum browser_wish *wish)
{
	*wish = BROWSER_PRINT;
	return NULL;
}

/* ---- keys ---- */

static struct error *help(struct browser *b, size_t arg, enum browser_wish *wish);

static const struct browser_binding bindings[] = {
	{KEY_UP, move_lines, (size_t)-1, false, "Up, Down", "move by a line"},
	{KEY_DOWN, move_lines, 1, false, NULL, NULL},
	{KEY_PAGE_UP, move_pages, (size_t)-1, false, "PgUp, PgDn", "move by a screen"},
	{KEY_PAGE_DOWN, move_pages, 1, false, NULL, NULL},
	{' ', move_pages, 1, false, NULL, NULL},
	{KEY_HOME, move_end, 0, false, "Home, End", "to the first line, to the last one"},
	{KEY_END, move_end, 1, false, NULL, NULL},
	{KEY_ENTER, go, 1, false, "Enter, Right", "follow a jump; open the function of a call"},
	{KEY_RIGHT, go, 0, false, NULL, NULL},
	{KEY_ESCAPE, leave, 0, false, "Esc, Left", "back to the call, or to the table"},
	{KEY_LEFT, scroll_left, 0, false, NULL, NULL},
	{'<', next_function, (size_t)-1, false, "<, >", "the code of the row above, below"},
	{'>', next_function, 1, false, NULL, NULL},
	{KEY_TAB, go_hot, 1, false, "Tab, Shift-Tab", "the line with fewer samples, with more"},
	{KEY_BACK_TAB, go_hot, (size_t)-1, false, NULL, NULL},
	{'H', go_hot, 0, false, "H", "to the line with the most samples"},
	{'/', ask_search, 0, false, "/, ?", "search, search backwards"},
	{'?', ask_search, 1, false, NULL, NULL},
	{'n', search_again, 0, false, "n, N", "search again, in the other direction"},
	{'N', search_again, 1, false, NULL, NULL},
	{'s', toggle_source, 0, false, "s", "show or hide source lines, BPF instructions"},
	{'t', next_unit, 0, false, "t", "percentages, sums of periods, numbers of samples"},
	{'p', turn, LOOK_GLOBAL, false, "p", "percentages of the function, or of all samples"},
	{'b', turn, LOOK_HITS, false, "b", "percentages by period, or by number of samples"},
	{'o', turn, LOOK_RAW, false, "o", "whole operands and addresses, or short ones"},
	{'O', next_addresses, 0, false, "O", "which instructions have their address before them"},
	{'f', turn, LOOK_FULL, false, "f", "addresses, or offsets in the function"},
	{'j', turn, LOOK_ARROWS, false, "j", "the arrow of the jump, or of the loop"},
	{'J', turn, LOOK_JUMPS, false, "J", "how many jumps go to an instruction"},
	{'k', turn, LOOK_NUMBERS, false, "k", "numbers of source lines"},
	{'l', turn, LOOK_PLACES, false, "l", "file and line after each instruction"},
	{'P', print, 0, false, "P", "print the code to perf.annotation.N"},
	{'M', browser_switch_mouse, 0, false, "M",
	 "the mouse is for lines, or for the terminal's text"},
	{'h', help, 0, false, "h, F1", "this help"},
	{KEY_F1, help, 0, false, NULL, NULL},
	{'q', quit, 0, false, "q, Ctrl-C", "back to the table"},
	{KEY_CTRL_C, quit, 0, false, NULL, NULL},
};

static struct error *help(struct browser *b, size_t arg, enum browser_wish *wish)
{
	return browser_help(b, " of code", bindings, ARRAY_SIZE(bindings));
}

struct error *browser_press_code(struct browser *b, uint32_t key, enum browser_wish *wish)
{
	return browser_bound(b, bindings, ARRAY_SIZE(bindings), key, wish);
}

/* ---- the first and the last line of the screen ---- */

static void add_rest(const struct browser *b, struct strbuf *out)
{
	const struct annotation *a = &b->code.a;
	const struct annotation_percent percent = b->code.look.percent;

	strbuf_addf(out, "  [Percent: %s %s]", percent.global ? "global" : "local",
		    percent.hits ? "hits" : "period");
	if (a->n_events)
		strbuf_addf(out, "  %llu samples",
			    (unsigned long long)a->events[0].function.samples);
	if (b->view.frozen)
		strbuf_adds(out, " [paused]");
}

/*
 * Names of C++ and Rust alone can be wider than the screen. What is left out first is the directory
 * of the DSO, then the end of the name, then the DSO: not what the percentages are of.
 */
void browser_code_head(const struct browser *b, size_t room, bool ascii, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT, path = STRBUF_INIT, rest = STRBUF_INIT;
	const struct annotation *a = &b->code.a;

	plain_adds(&name, a->symbol ? a->symbol : "");
	plain_adds(&path, a->dso ? a->dso : "");
	add_rest(b, &rest);
	const size_t width = plain_width(strbuf_str(&name), name.len);
	const size_t least = min_of(width, (size_t)LEAST_NAME);
	const char *dso = strbuf_str(&path);
	size_t others = 2 + plain_width(dso, strlen(dso)) + rest.len;

	if (width + others > room) {
		dso = last_component(dso);
		others = 2 + plain_width(dso, strlen(dso)) + rest.len;
	}
	const bool has_dso = least + others <= room;
	if (!has_dso)
		others = rest.len;
	plain_add_cut(out, strbuf_str(&name), name.len, max_of(room - min_of(room, others), least),
		      ascii);
	if (has_dso)
		strbuf_addf(out, "  %s", dso);
	strbuf_adds(out, strbuf_str(&rest));
	out->failed |= name.failed || path.failed || rest.failed;
}
