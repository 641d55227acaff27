// SPDX-License-Identifier: BSD-2-Clause
/* Text on the whole screen, the help or a function's code, and the keys that move in it. */
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
	case '<':
		b->pager.column -= min_of(b->pager.column, (size_t)8);
		break;
	case '>':
	case KEY_RIGHT:
		b->pager.column += 8;
		break;
	case '/':
		browser_ask(b, "Search for", answer_search);
		break;
	case 'n':
		return search_again(b, false);
	case 'N':
	case '?':
		return search_again(b, true);
	case 'H':
	case KEY_TAB:
		if (!pager_next_hot(&b->pager))
			return browser_say(b, "No line has samples");
		break;
	case KEY_LEFT:
		if (b->pager.column) {
			b->pager.column -= min_of(b->pager.column, (size_t)8);
			break;
		}
		/* fall through */
	case 'q':
	case KEY_ESCAPE:
	case KEY_CTRL_C:
		b->mode = MODE_TABLE;
	}
	return NULL;
}

static double line_share(const struct annotation *a, const struct annotation_line *line)
{
	double share = 0;

	for (size_t i = 0; line->counts && i < a->n_events; i++)
		share = max_of(share, annotation_share(&a->events[i], line->counts[i],
						       (struct annotation_percent){0}));
	return share;
}

enum {
	ANNOTATION_HEADS = 1,
	ANNOTATION_BEFORE = 3, /* lines of annotation_text() before those of the annotation */
};

/* The lines of the pager anew. */
static struct error *fill_pager(struct browser *b, const struct annotation *a)
{
	const struct annotation_text_opts opts = {0};
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, title = STRBUF_INIT;
	size_t n = 0;
	bool ok = true;

	annotation_text(a, &opts, &text);
	plain_adds(&title, a->symbol);
	strbuf_adds(&title, "  ");
	plain_adds(&title, a->dso);
	pager_deinit(&b->pager);
	for (const char *p = strbuf_str(&text); *p && ok; n++) {
		const size_t len = strcspn(p, "\n");
		const bool is_line = n >= ANNOTATION_BEFORE && n - ANNOTATION_BEFORE < a->lines.n;

		if (n != ANNOTATION_HEADS) /* without the line of dashes */
			ok = pager_add(&b->pager, p, len,
				       is_line ? line_share(a, &a->lines.v[n - ANNOTATION_BEFORE])
					       : 0);
		p += len + !!p[len];
	}
	ok = ok && pager_set_title(&b->pager, strbuf_str(&title));
	if (!ok || strbuf_failed(&text) || strbuf_failed(&title)) {
		pager_deinit(&b->pager);
		return error_nomem();
	}
	b->pager.n_heads = ANNOTATION_HEADS;
	return NULL;
}

struct error *browser_show_annotation(struct browser *b, const struct annotation *a)
{
	TRY(fill_pager(b, a));
	b->pager_is_code = true;
	b->mode = MODE_PAGER;
	pager_next_hot(&b->pager);
	return NULL;
}

bool browser_shows_code(const struct browser *b)
{
	const bool is_pager =
		b->mode == MODE_PAGER || (b->mode == MODE_PROMPT && b->prompt.back == MODE_PAGER);

	return is_pager && b->pager_is_code;
}

struct error *browser_update_annotation(struct browser *b, const struct annotation *a)
{
	const struct pager old = b->pager;
	const size_t n = old.lines.n;
	char *search = steal_ptr(b->pager.search);
	struct error *err = fill_pager(b, a);

	if (!err && search && !pager_set_search(&b->pager, search))
		err = error_nomem();
	free(search);
	TRY(err);
	if (b->pager.lines.n != n) { /* there was no code yet */
		pager_next_hot(&b->pager);
		return NULL;
	}
	b->pager.cursor = old.cursor;
	b->pager.first = old.first;
	b->pager.column = old.column;
	return NULL;
}

void browser_leave_code(struct browser *b)
{
	if (browser_shows_code(b))
		b->mode = MODE_TABLE;
}
