// SPDX-License-Identifier: BSD-2-Clause
/* What must be said beside the numbers of a map: which are no changes, and which are too large. */
#include <inttypes.h>

#include "run/internal.h"

enum {
	MAX_NAMES = 8, /* in a note */
};

/* Adds "a, b and 3 more: WHAT" of the values' fields that `is` picks. */
static void note_fields(struct making *m, const struct result *r,
			bool (*is)(const struct record_field *), const char *what)
{
	const struct collector *c = m->c;
	const bool is_table = r->kind == RESULT_TABLE && !collector_is_section(c);
	size_t n = 0;

	for (size_t i = 0; i < c->value.n; i++) {
		const struct record_field *f = &c->value.v[i];

		if (!is(f) || ++n > MAX_NAMES)
			continue;
		strbuf_adds(&m->text, n > 1 ? ", " : m->text.len ? "; " : "");
		strbuf_adds(&m->text, is_table	 ? r->table.columns[c->per_cpu + c->key.n + i].name
				      : *f->name ? f->name
						 : "the value");
	}
	if (n > MAX_NAMES)
		strbuf_addf(&m->text, " and %zu more", n - MAX_NAMES);
	if (n)
		strbuf_addf(&m->text, ": %s", what);
}

static bool is_level(const struct record_field *f)
{
	return field_is_counter(f) && !field_is_additive(f);
}

static bool is_too_large(const struct record_field *f)
{
	return f->too_large;
}

struct error *note_values(struct making *m, const struct collect_opts *opts, struct result *r)
{
	strbuf_reset(&m->text);
	if (opts->delta && m->c->reader)
		note_fields(m, r, is_level, "current, not the change");
	note_fields(m, r, is_too_large,
		    "too large for the type of the value, the nearest number is shown");
	if (m->too_large)
		strbuf_addf(&m->text, "%sa sum is larger than %" PRIu64 " and shown as that",
			    m->text.len ? "; " : "", UINT64_MAX);
	return m->text.len || strbuf_failed(&m->text) ? make_text(m, &r->note) : NULL;
}
