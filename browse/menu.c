// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "browse/internal.h"
#include "lib/base/plain_text.h"

void menu_reset(struct menu *menu, const char *title)
{
	struct menu_item *item;

	vec_for_each (item, &menu->items)
		free(item->text);
	vec_deinit(&menu->items);
	free(menu->title);
	*menu = (struct menu){.title = strdup(title)};
}

bool menu_add(struct menu *menu, browser_fn *fn, size_t arg, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	char *copy = strbuf_steal(&text);
	struct menu_item *item = copy ? vec_push(&menu->items) : NULL;
	if (!item) {
		free(copy);
		return false;
	}
	*item = (struct menu_item){.text = copy, .fn = fn, .arg = arg};
	return true;
}

bool menu_add_zoom(struct menu *menu, browser_fn *fn, const char *zoomed, const char *name,
		   const char *what)
{
	_cleanup_strbuf_ struct strbuf plain = STRBUF_INIT;

	if (!zoomed && !name)
		return true;
	plain_adds(&plain, zoomed ? zoomed : name);
	if (strbuf_failed(&plain) ||
	    !menu_add(menu, fn, 0, "Zoom %s %s", zoomed ? "out of" : "into", strbuf_str(&plain)))
		return false;
	vec_last(&menu->items)->tail = what;
	return true;
}
