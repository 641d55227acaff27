// SPDX-License-Identifier: BSD-2-Clause
#include "show/columns.h"

static bool is_taken(const struct names *taken, const char *name, const char *behind)
{
	const size_t n = strlen(name);

	for (size_t i = 0; i < taken->n; i++)
		if (!strncmp(taken->v[i], name, n) && !strcmp(taken->v[i] + n, behind))
			return true;
	return false;
}

const char *column_take_name(struct names *taken, const struct result_column *column)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	strbuf_adds(&name, column->name);
	for (unsigned i = 1; !strbuf_failed(&name); i++) {
		if (!is_taken(taken, strbuf_str(&name), "") &&
		    !(column->has_text && is_taken(taken, strbuf_str(&name), "_text")))
			break;
		strbuf_reset(&name);
		strbuf_addf(&name, "%s.%s", column->is_key ? "key" : "value", column->name);
		if (i > 1)
			strbuf_addf(&name, "_%u", i);
	}
	const size_t n = name.len;

	/* The name goes last: the caller gets a pointer to it. */
	if (column->has_text) {
		strbuf_adds(&name, "_text");
		if (strbuf_failed(&name) || !names_add(taken, name.str))
			return NULL;
		strbuf_cut(&name, n);
	}
	if (strbuf_failed(&name) || !names_add(taken, strbuf_str(&name)))
		return NULL;
	return taken->v[taken->n - 1];
}

struct error *columns_distinguish(struct arena *arena, struct result_column *columns, size_t n)
{
	_cleanup_names_ struct names taken = {0};

	for (size_t i = 0; i < n; i++) {
		const char *name = column_take_name(&taken, &columns[i]);

		if (!name)
			return error_nomem();
		if (strcmp(name, columns[i].name) && !(columns[i].name = arena_strdup(arena, name)))
			return error_nomem();
	}
	return NULL;
}
