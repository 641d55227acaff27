// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/terminal.h"

#include <string.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

static const char *find(const char *name)
{
	const char *s = tigetstr(name);

	return s == (char *)-1 ? NULL : s;
}

bool terminal_find(int fd, struct terminal *t)
{
	int code;

	if (!isatty(fd) || setupterm(NULL, fd, &code) != OK)
		return false;
	t->enter = find("smcup");
	t->leave = find("rmcup");
	t->hide = find("civis");
	t->show = find("cnorm");
	t->place = find("cup");
	t->erase_line = find("el");
	t->reverse = find("rev");
	t->bold = find("bold");
	t->colour = find("setaf");
	t->normal = find("sgr0");
	const char *mouse = find("kmous");
	t->has_mouse = mouse && (!strcmp(mouse, "\033[M") || !strcmp(mouse, "\033[<"));
	if (t->place && t->erase_line)
		return true;
	del_curterm(cur_term);
	*t = (struct terminal){0};
	return false;
}

void terminal_free(struct terminal *t)
{
	if (t->place)
		del_curterm(cur_term);
	*t = (struct terminal){0};
}

void terminal_add(struct strbuf *out, const char *s)
{
	while (s && *s) {
		/* delays ("$<5>"), which no terminal of today needs */
		const char *end = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;

		if (end) {
			s = end + 1;
			continue;
		}
		strbuf_addch(out, *s++);
	}
}

void terminal_place(const struct terminal *t, size_t row, struct strbuf *out)
{
	terminal_add(out, tiparm(t->place, (int)row, 0));
}

/*
 * xterm's modes 1000, buttons, and 1006, numbers as text; terminfo has the first key's beginning
 * only. A terminal that does not know 1006 ignores it, and sends bytes.
 */
void terminal_mouse(const struct terminal *t, bool on, struct strbuf *out)
{
	if (t->has_mouse)
		strbuf_adds(out, on ? "\033[?1000h\033[?1006h" : "\033[?1006l\033[?1000l");
}

void terminal_colour(const struct terminal *t, int colour, struct strbuf *out)
{
	if (t->colour)
		terminal_add(out, tiparm(t->colour, colour));
}
