// SPDX-License-Identifier: BSD-2-Clause
/*
 * A line of code, from the left: a column for each event with what was counted; how many jumps go
 * there and its address, of a source line its number; the arrow of a jump; and the text.
 *
 *	  12.50 |    14 |     for (i = 0; i < n; i++)
 *	  37.50 |   1c: |+->  addq   %rbx, %rax
 *	        |       |+-^  jne    1c
 *
 * The arrow is that of the jump under the cursor, else of the innermost loop around it.
 */
#include "browse/code.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "browse/scroll.h"
#include "lib/base/error.h"
#include "show/plain.h"

enum {
	SHARE_WIDTH = 8,
	PERIOD_WIDTH = 12,
	ARROW_WIDTH = 3,
	MARK_WIDTH = 2,
	LEAST_ADDRESS_WIDTH = 5,
	MAX_TEXT_COLUMN = 1000,
	TAB_WIDTH = 8,
};

/* Where the columns are, and the arrow. */
struct code_layout {
	size_t count_width, jumps_width, address_width;
	/* Lines; from == to: there is none. */
	size_t from, to;
};

static size_t digits(uint64_t n, unsigned base)
{
	size_t width = 1;

	while (n /= base)
		width++;
	return width;
}

static bool has_whole_addresses(const struct code *code)
{
	return code->look.full || code->look.raw;
}

/* The arrow of the cursor's jump, else of the innermost loop that it is in. */
static void find_arrow(const struct code *code, struct code_layout *layout)
{
	const struct code_line *here = code_line(code);
	size_t least = SIZE_MAX;

	if (!here || code->look.no_arrows)
		return;
	const size_t at = (size_t)(here - code->lines.v);
	if (here->target != SIZE_MAX) {
		layout->from = at;
		layout->to = here->target;
		return;
	}
	for (size_t i = at; i < code->lines.n; i++) {
		const size_t target = code->lines.v[i].target;

		if (target > at || i - target >= least)
			continue;
		least = i - target;
		layout->from = i;
		layout->to = target;
	}
}

static struct code_layout layout_of(const struct code *code)
{
	struct code_layout layout = {.count_width = code->look.unit == CODE_PERIODS ? PERIOD_WIDTH
										    : SHARE_WIDTH};
	uint64_t last = 0, number = 0;

	for (size_t i = 0; i < code->lines.n; i++) {
		const struct annotation_line *line = code->lines.v[i].line;

		if (line->kind == ANNOTATION_CODE)
			last = has_whole_addresses(code) ? line->address
							 : line->address - code->a.address;
		else
			number = max_of(number, (uint64_t)line->number);
	}
	layout.address_width = max_of(digits(last, 16) + 1, (size_t)LEAST_ADDRESS_WIDTH);
	if (!code->look.no_numbers)
		layout.address_width = max_of(layout.address_width, digits(number, 10));
	if (code->look.jumps)
		layout.jumps_width = digits(code->most_jumps, 10) + 1;
	find_arrow(code, &layout);
	return layout;
}

/* ---- the parts of a row ---- */

static size_t draw_counts(const struct code *code, struct canvas *canvas, size_t y, size_t x,
			  const struct code_layout *layout, const struct annotation_line *line,
			  enum canvas_style style)
{
	for (size_t i = 0; i < code->a.n_events; i++, x += layout->count_width) {
		const struct annotation_count count =
			line->counts ? line->counts[i] : (struct annotation_count){0};
		const double share =
			annotation_share(&code->a.events[i], count, code->look.percent);
		char text[32];

		if (!count.samples)
			continue;
		if (code->look.unit == CODE_PERIODS)
			snprintf(text, sizeof(text), "%12" PRIu64, count.period);
		else if (code->look.unit == CODE_SAMPLES)
			snprintf(text, sizeof(text), "%8" PRIu64, count.samples);
		else
			snprintf(text, sizeof(text), "%8.2f", share);
		canvas_add(canvas, y, x, x + layout->count_width,
			   style == STYLE_NORMAL ? scroll_share_style(share) : style, text);
	}
	return x;
}

static bool has_address(const struct code *code, const struct code_line *line)
{
	if (code->look.raw || line->n_jumps)
		return true;
	return code->look.addresses == CODE_OF_ALL ||
	       (code->look.addresses == CODE_OF_CALLS && line->line->flow == FLOW_CALL);
}

static size_t draw_address(const struct code *code, struct canvas *canvas, size_t y, size_t x,
			   const struct code_layout *layout, const struct code_line *line,
			   enum canvas_style style)
{
	const struct annotation_line *l = line->line;
	const size_t end = x + layout->jumps_width + layout->address_width;
	char text[32] = "";

	if (style == STYLE_NORMAL)
		style = STYLE_DIM;
	if (l->kind == ANNOTATION_CODE && line->n_jumps && code->look.jumps) {
		snprintf(text, sizeof(text), "%*" PRIu32, (int)layout->jumps_width, line->n_jumps);
		canvas_add(canvas, y, x, end, line->n_jumps > 1 ? STYLE_WARM : style, text);
		*text = 0;
	}
	x += layout->jumps_width;
	if (l->kind == ANNOTATION_CODE && has_address(code, line))
		snprintf(text, sizeof(text), "%*" PRIx64 ":", (int)layout->address_width - 1,
			 has_whole_addresses(code) ? l->address : l->address - code->a.address);
	else if (l->kind == ANNOTATION_BPF)
		snprintf(text, sizeof(text), "%*" PRIu32 ":", (int)layout->address_width - 1,
			 l->number);
	else if (l->kind == ANNOTATION_SOURCE && l->number && !code->look.no_numbers)
		snprintf(text, sizeof(text), "%*" PRIu32, (int)layout->address_width, l->number);
	canvas_add(canvas, y, x, end, style, text);
	return end;
}

/* The piece of the arrow beside a line. */
static const char *arrow_piece(const struct code_layout *layout, size_t line, bool ascii)
{
	const size_t top = min_of(layout->from, layout->to);
	const size_t bottom = max_of(layout->from, layout->to);

	if (top == bottom || line < top || line > bottom)
		return "";
	if (line != top && line != bottom)
		return ascii ? "|" : "│";
	if (line == layout->to)
		return ascii ? "+->" : line == top ? "┌─→" : "└─→";
	return ascii ? "+--" : line == top ? "┌──" : "└──";
}

/* Where an instruction goes on. */
static const char *flow_mark(const struct code_line *line, bool ascii)
{
	const struct annotation_line *l = line->line;

	switch (l->flow) {
	case FLOW_JUMP:
		if (!l->has_target)
			return "";
		return l->target > l->address ? ascii ? "v" : "↓" : ascii ? "^" : "↑";
	case FLOW_CALL:
		return ascii ? ">" : "→";
	case FLOW_RETURN:
		return ascii ? "<" : "←";
	default:
		return "";
	}
}

/* Where the target begins in the text: of some jumps of arm64 it is the last of several operands.
 */
static size_t target_operand(const struct annotation_line *l)
{
	size_t from = l->operands;

	for (size_t i = from; l->text[i] && l->text[i] != '<'; i++)
		if (l->text[i] == '#')
			from = i;
	return from;
}

/* The text of a line without control characters and tabs. */
static void add_text(const struct code *code, const struct code_line *line, struct strbuf *out)
{
	const struct annotation_line *l = line->line;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t column = 0;

	if (code->look.raw || l->kind != ANNOTATION_CODE || !l->operands) {
		strbuf_adds(&text, l->text);
	} else if (line->target != SIZE_MAX) {
		const uint64_t base = has_whole_addresses(code) ? 0 : code->a.address;

		strbuf_add(&text, l->text, target_operand(l));
		strbuf_addf(&text, "%" PRIx64, l->target - base);
	} else if (l->called && (l->flow == FLOW_CALL || l->flow == FLOW_JUMP)) {
		strbuf_add(&text, l->text, l->operands);
		strbuf_adds(&text, l->called);
	} else {
		strbuf_adds(&text, l->text);
	}
	plain_since(&text, 0, false);
	for (const char *p = strbuf_str(&text); *p; p++) {
		if (*p != '\t') {
			column += (*p & 0xc0) != 0x80;
			strbuf_addch(out, *p);
			continue;
		}
		do
			strbuf_addch(out, ' ');
		while (++column % TAB_WIDTH);
	}
	out->failed |= text.failed;
}

static void add_place(const struct code *code, const struct code_line *line, struct strbuf *out)
{
	const char *place = line->line->place;

	if (!code->look.places || !place)
		return;
	strbuf_adds(out, "  // ");
	plain_adds(out, last_component(place));
}

static struct error *draw_text(const struct code *code, struct canvas *canvas, size_t y, size_t x,
			       const struct code_line *line, enum canvas_style style)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	add_text(code, line, &text);
	add_place(code, line, &text);
	if (strbuf_failed(&text))
		return error_nomem();
	const char *p = strbuf_str(&text);
	for (size_t i = 0; i < code->column && *p; i++) /* whole characters */
		for (p++; (*p & 0xc0) == 0x80;)
			p++;
	canvas_add(canvas, y, x, canvas->columns, style, p);
	return NULL;
}

static struct error *draw_line(const struct code *code, struct canvas *canvas, size_t y,
			       const struct code_layout *layout, size_t index, bool chosen)
{
	const struct code_line *line = &code->lines.v[index];
	const enum canvas_style style = chosen ? STYLE_CURSOR : STYLE_NORMAL;
	const bool is_code = line->line->kind == ANNOTATION_CODE;
	const enum canvas_style dim = chosen ? style : STYLE_DIM;
	size_t x = 0;

	canvas_fill(canvas, y, 0, canvas->columns, style, "");
	x = draw_counts(code, canvas, y, x, layout, line->line, style);
	canvas_add(canvas, y, x, canvas->columns, dim, canvas->ascii ? " | " : " │ ");
	x = draw_address(code, canvas, y, x + 2, layout, line, style) + 1;
	if (!code->look.no_arrows) {
		canvas_add(canvas, y, x, canvas->columns, dim,
			   arrow_piece(layout, index, canvas->ascii));
		x += ARROW_WIDTH;
	}
	if (is_code) {
		canvas_add(canvas, y, x, canvas->columns, dim, flow_mark(line, canvas->ascii));
		x += MARK_WIDTH;
	}
	return draw_text(code, canvas, y, x, line,
			 chosen	   ? style
			 : is_code ? STYLE_NORMAL
				   : STYLE_SOURCE);
}

/* ---- the head ---- */

static const char *unit_title(const struct code *code)
{
	static const char *const titles[] = {
		[CODE_PERCENT] = "Percent",
		[CODE_PERIODS] = "Period",
		[CODE_SAMPLES] = "Samples",
	};

	return titles[code->look.unit];
}

/* What the columns are of; what they are percent of is in the first line of the screen. */
static struct error *draw_head(const struct code *code, struct canvas *canvas, size_t y,
			       const struct code_layout *layout)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const size_t n = code->a.n_events;
	const size_t end = n * layout->count_width;

	canvas_fill(canvas, y, 0, canvas->columns, STYLE_HEAD, "");
	for (size_t i = 0; i < n && n > 1; i++) {
		_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
		const char *whole = code->a.events[i].name;
		const size_t width = plain_add_cut(&name, whole, strlen(whole),
						   layout->count_width - 1, canvas->ascii);

		canvas_add(canvas, y, (i + 1) * layout->count_width - width,
			   (i + 1) * layout->count_width, STYLE_HEAD, strbuf_str(&name));
		text.failed |= name.failed;
	}
	if (n <= 1)
		canvas_add(canvas, y, end - min_of(end, strlen(unit_title(code))), end, STYLE_HEAD,
			   unit_title(code));
	strbuf_adds(&text, canvas->ascii ? " | " : " │ ");
	strbuf_adds(&text, "Source code & Disassembly of ");
	plain_adds(&text, last_component(code->a.dso));
	strbuf_adds(&text, " for ");
	plain_adds(&text, code->a.event);
	canvas_add(canvas, y, end, canvas->columns, STYLE_HEAD, strbuf_str(&text));
	return strbuf_failed(&text) ? error_nomem() : NULL;
}

struct error *code_draw(struct code *code, struct canvas *canvas, size_t first_row, size_t n)
{
	struct code_layout layout;

	if (!n)
		return NULL;
	code_move(code, 0);
	layout = layout_of(code);
	code->column = min_of(code->column, (size_t)MAX_TEXT_COLUMN);
	if (code->is_jump && (code->cursor < code->first || code->cursor - code->first >= n - 1))
		code->first = code->cursor - min_of(code->cursor, (n - 1) / 2);
	code->is_jump = false;
	code->first = scroll_first(code->first, code->cursor, n - 1, code->rows.n);
	TRY(draw_head(code, canvas, first_row, &layout));
	for (size_t i = 0; i + 1 < n && code->first + i < code->rows.n; i++)
		TRY(draw_line(code, canvas, first_row + 1 + i, &layout,
			      code->rows.v[code->first + i], code->first + i == code->cursor));
	return NULL;
}

struct printed_line {
	const struct code *code;
	const struct code_layout *layout;
	size_t line; /* 0: the titles */
};

static struct error *print_line(void *ctx, struct canvas *canvas)
{
	const struct printed_line *p = ctx;

	return p->line ? draw_line(p->code, canvas, 0, p->layout, p->code->rows.v[p->line - 1],
				   false)
		       : draw_head(p->code, canvas, 0, p->layout);
}

struct error *code_text(struct code *code, struct strbuf *out)
{
	const struct code_layout layout = layout_of(code);
	const size_t column = code->column;
	struct error *err = NULL;

	code->column = 0;
	for (size_t i = 0; i <= code->rows.n && !err; i++)
		err = canvas_print_row(print_line, &(struct printed_line){code, &layout, i}, out);
	code->column = column;
	return err;
}
