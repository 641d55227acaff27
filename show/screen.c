// SPDX-License-Identifier: BSD-2-Clause
#include "show/screen.h"

#include "show/plain.h"

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; n++) {
		text += strcspn(text, "\n");
		text += !!*text;
	}
	return n;
}

static const char *skip_lines(const char *text, size_t n)
{
	for (; n && *text; n--) {
		text += strcspn(text, "\n");
		text += !!*text;
	}
	return text;
}

/* Where the rows go: the head and the foot have one each where there is room for them. */
struct screen_layout {
	size_t head, body, tail, foot;
};

static struct screen_layout layout_of(const struct screenful *s)
{
	size_t lines = count_lines(s->body), tail = count_lines(s->tail);
	struct screen_layout l = {.head = s->rows > 2, .foot = s->rows > 1};
	size_t left = s->rows - l.head - l.foot;

	/* the body first, but a third is the tail's if it wants it; an empty line between them */
	l.tail = min_of(tail ? tail + 1 : 0, max_of(left / 3, left - min_of(left, lines)));
	l.body = left - l.tail;
	return l;
}

size_t screen_hidden(const struct screenful *s)
{
	size_t lines = count_lines(s->body), room = layout_of(s).body;

	return lines > room ? lines - room : 0;
}

/* n lines of text, and empty ones for those that it lacks. */
static void add_lines(const struct screenful *s, const char *text, size_t n, struct strbuf *out)
{
	size_t have = min_of(count_lines(text), n);
	const char *end = skip_lines(text, have);

	plain_cut_lines(out, text, (size_t)(end - text), s->columns, s->ascii);
	if (have && end[-1] != '\n')
		strbuf_addch(out, '\n');
	for (size_t i = have; i < n; i++)
		strbuf_addch(out, '\n');
}

void screen_add(const struct screenful *s, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf foot = STRBUF_INIT;
	size_t lines = count_lines(s->body), tail = count_lines(s->tail);
	struct screen_layout l = layout_of(s);
	size_t hidden = screen_hidden(s), first = min_of(s->first, hidden);

	if (l.head)
		add_lines(s, s->head, 1, out);
	add_lines(s, skip_lines(s->body, first), l.body, out);
	if (l.tail) {
		strbuf_addch(out, '\n');
		add_lines(s, skip_lines(s->tail, tail - min_of(tail, l.tail - 1)), l.tail - 1, out);
	}
	if (hidden)
		strbuf_addf(&foot, "%zu-%zu/%zu  ", first + 1, first + l.body, lines);
	strbuf_adds(&foot, s->foot);
	if (l.foot)
		add_lines(s, strbuf_str(&foot), 1, out);
	out->failed |= strbuf_failed(&foot);
}
