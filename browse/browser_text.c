// SPDX-License-Identifier: BSD-2-Clause
/* Text on the whole screen, the help or a header, and the keys that move in it. */
#include <stdlib.h>
#include <string.h>

#include "browse/internal.h"
#include "lib/base/plain_text.h"

static struct error *answer_search(struct browser *b, const char *text, enum browser_wish *wish)
{
	if (*text && !pager_set_search(&b->pager, text))
		return error_nomem();
	if (!b->pager.search || pager_find(&b->pager, b->pager.search, false))
		return NULL;
	return browser_say(b, "'%s' was not found", b->pager.search);
}

static struct error *search_again(struct browser *b, bool backwards)
{
	if (b->pager.search && !pager_find(&b->pager, b->pager.search, backwards))
		return browser_say(b, "'%s' was not found", b->pager.search);
	return NULL;
}

struct error *browser_press_pager(struct browser *b, uint32_t key)
{
	const ptrdiff_t page = (ptrdiff_t)max_of(b->page, (size_t)2) - 1;

	switch (key) {
	case KEY_UP:
	case 'k':
		pager_move(&b->pager, -1);
		break;
	case KEY_DOWN:
	case 'j':
		pager_move(&b->pager, 1);
		break;
	case KEY_PAGE_UP:
		pager_move(&b->pager, -page);
		break;
	case KEY_PAGE_DOWN:
	case ' ':
		pager_move(&b->pager, page);
		break;
	case KEY_HOME:
		b->pager.cursor = 0;
		break;
	case KEY_END:
		pager_move(&b->pager, PTRDIFF_MAX);
		break;
	case '/':
		browser_ask(b, "Search for", answer_search);
		break;
	case 'n':
		return search_again(b, false);
	case 'N':
	case '?':
		return search_again(b, true);
	case KEY_RIGHT:
		pager_scroll(&b->pager, true);
		break;
	case KEY_LEFT:
		if (!pager_scroll(&b->pager, false))
			b->mode = b->pager_back;
		break;
	case 'h':
	case 'q':
	case KEY_ESCAPE:
	case KEY_CTRL_C:
		b->mode = b->pager_back;
	}
	return NULL;
}

struct error *browser_find_text(struct browser *b, const char *text)
{
	if (!pager_set_search(&b->pager, text))
		return error_nomem();
	pager_move(&b->pager, PTRDIFF_MAX);
	if (!pager_find(&b->pager, text, false))
		b->pager.cursor = 0;
	return NULL;
}

static void open_pager(struct browser *b)
{
	b->pager_back = b->mode;
	b->mode = MODE_PAGER;
}

struct error *browser_help(struct browser *b, const char *of,
			   const struct browser_binding *bindings, size_t n)
{
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	bool ok = true;

	pager_deinit(&b->pager);
	for (size_t i = 0; i < n && ok; i++) {
		_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
		const struct browser_binding *binding = &bindings[i];

		if (!binding->name || (binding->live && !b->opts.live))
			continue;
		strbuf_addf(&line, "  %-16s%s", binding->name, binding->help);
		ok = !strbuf_failed(&line) && pager_add(&b->pager, strbuf_str(&line), line.len);
	}
	strbuf_addf(&title, "perf-bpf %s: keys%s", b->opts.command, of);
	ok = ok && !strbuf_failed(&title) && pager_set_title(&b->pager, strbuf_str(&title));
	if (!ok) {
		pager_deinit(&b->pager);
		return error_nomem();
	}
	open_pager(b);
	return NULL;
}

struct error *browser_show_text(struct browser *b, const char *title, const char *text)
{
	bool ok = true;

	pager_deinit(&b->pager);
	for (const char *p = text; *p && ok;) {
		_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
		const size_t len = strcspn(p, "\n");

		strbuf_add(&line, p, len);
		plain_since(&line, 0, false);
		ok = !strbuf_failed(&line) && pager_add(&b->pager, strbuf_str(&line), line.len);
		p += len + !!p[len];
	}
	if (!ok || !pager_set_title(&b->pager, title)) {
		pager_deinit(&b->pager);
		return error_nomem();
	}
	open_pager(b);
	return NULL;
}
