// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "browse/internal.h"

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
	*item = (struct menu_item){copy, fn, arg};
	return true;
}
