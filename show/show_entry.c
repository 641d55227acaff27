// SPDX-License-Identifier: BSD-2-Clause
#include "show/show_entry.h"

#include <bpf/btf.h>
#include <stdlib.h>

#include "lib/base/cleanup.h"
#include "lib/base/json_writer.h"
#include "lib/btf/value.h"

enum {
	BYTES_A_LINE = 24, /* key and value of that many bytes stand in one line */
	LINE = 16,
};

struct entry_format {
	struct entry_layout layout;
	struct value_plan *key, *value; /* NULL: bytes */
	bool pretty;
	bool bytes_only; /* no types at all, in pretty style: lines instead of JSON */
	size_t n;	 /* entries of the dump so far */
	struct json_writer json;
};

void entry_format_free(struct entry_format *f)
{
	if (!f)
		return;
	value_plan_free(f->key);
	value_plan_free(f->value);
	free(f);
}

/* The plan for a type, if it has the size it must have. */
static struct error *plan_for(const struct entry_layout *l, uint32_t type, uint32_t size,
			      const char *what, enum value_style style, unsigned depth,
			      struct value_plan **plan, struct strbuf *note)
{
	_cleanup_(value_plan_freep) struct value_plan *p = NULL;

	if (!l->btf || !type)
		return NULL;
	struct error *err = value_plan_new(l->btf, type, style, depth, &p);
	if (err && err->code == ENOMEM)
		return err;
	if (err) {
		strbuf_addf(note, "%sthe %s's type: %s", note->len ? "; " : "", what, err->msg);
		error_free(err);
	} else if (value_plan_size(p) != size) {
		strbuf_addf(note, "%sthe %s's type has %zu bytes, but the map's %s has %u",
			    note->len ? "; " : "", what, value_plan_size(p), what, size);
	} else {
		*plan = steal_ptr(p);
	}
	return NULL;
}

struct error *entry_format_new(const struct entry_layout *layout, enum value_style style,
			       enum entry_place place, struct entry_format **format, char **note)
{
	_cleanup_(entry_format_freep) struct entry_format *f = calloc(1, sizeof(*f));
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (!f)
		return error_nomem();
	const unsigned depth = place == ENTRY_IN_DUMP ? 2 : 1;
	f->layout = *layout;
	f->pretty = style == VALUE_PRETTY;
	TRY(plan_for(layout, layout->key_type, layout->key_size, "key", style, depth, &f->key,
		     &text));
	TRY(plan_for(layout, layout->value_type, layout->value_size, "value", style,
		     depth + (layout->cpus ? 2 : 0), &f->value, &text));
	f->bytes_only = f->pretty && !f->key && !f->value;
	f->layout.btf = NULL;
	if (strbuf_failed(&text))
		return error_nomem();
	*note = text.len ? strbuf_steal(&text) : NULL;
	*format = steal_ptr(f);
	return NULL;
}

/* ---- JSON ---- */

/* ["0x01","0x02"] */
static void add_bytes(const uint8_t *p, size_t n, struct strbuf *out)
{
	static const char hex[] = "0123456789abcdef";

	strbuf_addch(out, '[');
	for (size_t i = 0; i < n; i++) {
		char text[7] = {',', '"', '0', 'x', hex[p[i] >> 4], hex[p[i] & 15], '"'};

		strbuf_add(out, i ? text : text + 1, i ? 7 : 6);
	}
	strbuf_addch(out, ']');
}

static void put_value(struct json_writer *w, const char *name, const struct value_plan *plan,
		      const void *data, size_t size)
{
	struct strbuf *out = jw_value(w, name);

	if (plan)
		value_plan_json(plan, data, out);
	else
		add_bytes(data, size, out);
}

static void put_entry(const struct entry_format *f, const void *key, const void *value,
		      struct json_writer *w)
{
	const struct entry_layout *l = &f->layout;

	jw_object(w, NULL);
	if (!f->key && l->index && l->key_size == sizeof(uint32_t))
		jw_u64(w, "key", value_uint(key, l->key_size));
	else
		put_value(w, "key", f->key, key, l->key_size);
	if (!l->cpus) {
		put_value(w, "value", f->value, value, l->value_size);
	} else {
		jw_array(w, "values");
		for (unsigned cpu = 0; cpu < l->cpus; cpu++) {
			jw_object(w, NULL);
			jw_u64(w, "cpu", cpu);
			put_value(w, "value", f->value, (const uint8_t *)value + cpu * l->stride,
				  l->value_size);
			jw_end(w);
		}
		jw_end(w);
	}
	jw_end(w);
}

/* ---- bytes ---- */

/* "label: 01 02", the bytes below it where they need lines of their own. */
static void add_hex(const char *label, const uint8_t *p, size_t n, bool lines, struct strbuf *out)
{
	strbuf_adds(out, label);
	strbuf_addch(out, ':');
	for (size_t i = 0; i < n; i++) {
		strbuf_addch(out, lines && i % LINE == 0 ? '\n' : ' ');
		strbuf_addf(out, "%02x", p[i]);
	}
}

static void add_entry_bytes(const struct entry_format *f, const uint8_t *key, const uint8_t *value,
			    struct strbuf *out)
{
	const struct entry_layout *l = &f->layout;
	bool lines = l->cpus || l->key_size + l->value_size > BYTES_A_LINE;

	add_hex("key", key, l->key_size, lines, out);
	if (!l->cpus) {
		strbuf_adds(out, lines ? "\n" : "  ");
		add_hex("value", value, l->value_size, lines, out);
	}
	for (unsigned cpu = 0; cpu < l->cpus; cpu++) {
		char label[32];

		snprintf(label, sizeof(label), "value (CPU %02u)", cpu);
		strbuf_addch(out, '\n');
		add_hex(label, value + cpu * l->stride, l->value_size,
			l->value_size > BYTES_A_LINE - 8, out);
	}
	strbuf_addch(out, '\n');
}

static void begin_json(struct entry_format *f, struct strbuf *out)
{
	f->json = json_writer_make(out);
	f->json.pretty = f->pretty;
	f->json.unique = false; /* a dump that fails has no end */
}

static void end_json(struct entry_format *f, struct strbuf *out)
{
	json_writer_finish(&f->json);
	strbuf_addch(out, '\n');
}

void entry_dump_begin(struct entry_format *f, struct strbuf *out)
{
	f->n = 0;
	begin_json(f, out);
	if (!f->bytes_only)
		jw_array(&f->json, NULL);
}

void entry_dump_add(struct entry_format *f, const void *key, const void *value, struct strbuf *out)
{
	f->n++;
	if (f->bytes_only)
		add_entry_bytes(f, key, value, out);
	else
		put_entry(f, key, value, &f->json);
}

void entry_dump_end(struct entry_format *f, struct strbuf *out)
{
	if (f->bytes_only) {
		strbuf_addf(out, "Found %zu element%s\n", f->n, f->n == 1 ? "" : "s");
		return;
	}
	jw_end(&f->json);
	end_json(f, out);
}

void entry_show(struct entry_format *f, const void *key, const void *value, struct strbuf *out)
{
	if (f->bytes_only) {
		add_entry_bytes(f, key, value, out);
		return;
	}
	begin_json(f, out);
	put_entry(f, key, value, &f->json);
	end_json(f, out);
}
