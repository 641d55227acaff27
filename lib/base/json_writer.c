// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/json_writer.h"

#include <math.h>

#include "lib/base/json.h"
#include "lib/base/sanitized.h"

struct json_writer json_writer_make(struct strbuf *out)
{
	return (struct json_writer){.out = out, .unique = SANITIZED};
}

static void fault(struct json_writer *w, const char *what)
{
	if (!w->fault)
		w->fault = what;
	w->out->failed = true;
}

void json_writer_finish(struct json_writer *w)
{
	if (w->depth)
		fault(w, "an object or array is open");
	if (w->unique) {
		strbuf_deinit(&w->keys);
		strbuf_deinit(&w->starts);
	}
}

/* ---- keys that come twice ---- */

static size_t start_of_keys(const struct json_writer *w)
{
	size_t start = 0;

	if (w->starts.len)
		memcpy(&start, w->starts.str + w->starts.len - sizeof(start), sizeof(start));
	return start;
}

static void begin_keys(struct json_writer *w)
{
	strbuf_add(&w->starts, &w->keys.len, sizeof(w->keys.len));
	w->out->failed |= strbuf_failed(&w->starts);
}

static void end_keys(struct json_writer *w)
{
	if (strbuf_failed(&w->starts))
		return;
	strbuf_cut(&w->keys, start_of_keys(w));
	strbuf_cut(&w->starts, w->starts.len - sizeof(size_t));
}

/* Whether the innermost object does not have the key yet; it has it now. */
static bool is_new_key(struct json_writer *w, const char *key)
{
	for (size_t at = start_of_keys(w); at < w->keys.len; at += strlen(w->keys.str + at) + 1)
		if (!strcmp(w->keys.str + at, key))
			return false;
	strbuf_add(&w->keys, key, strlen(key) + 1);
	return true;
}

/* ---- levels ---- */

static bool level_is_object(const struct json_writer *w, unsigned depth)
{
	return w->objects[depth / 64] >> depth % 64 & 1;
}

/*
 * A line as deep as the levels that are open; an array counts where the level within it is an
 * object. Of the innermost array that is the level that was just closed.
 */
static void pretty_line(struct json_writer *w)
{
	unsigned n = w->indent;

	for (unsigned i = 1; i <= w->depth; i++)
		n += level_is_object(w, i) || level_is_object(w, i + 1);
	strbuf_addch(w->out, '\n');
	while (n--)
		strbuf_adds(w->out, "    ");
}

/* "key": with the comma and the line before it; there are millions of them. */
static void add_key(struct strbuf *out, const char *key, bool comma, bool line)
{
	const size_t n = strlen(key);

	if (!strbuf_reserve(out, n + 5))
		return;
	char *p = out->str + out->len;
	*p = ',';
	p += comma;
	*p = '\n';
	p += line;
	*p = '"';
	if (!json_copy_plain(p + 1, key, n)) {
		strbuf_cut(out, (size_t)(p - out->str));
		json_add_string(out, key, n);
		strbuf_addch(out, ':');
		return;
	}
	memcpy(p + n + 1, "\":", 2);
	strbuf_cut(out, (size_t)(p + n + 3 - out->str));
}

/* A value begins where none may, or without what it must have. */
static void check_place(struct json_writer *w, const char *key)
{
	if (w->is_object && !key)
		fault(w, "a member has no key");
	else if (w->is_object && w->unique && !is_new_key(w, key))
		fault(w, "an object has a key twice");
	else if (!w->is_object && key)
		fault(w, "a key outside of an object");
	else if (!w->is_object && !w->depth && w->filled)
		fault(w, "a second value after the document");
}

/* The comma and the key. */
static void begin(struct json_writer *w, const char *key)
{
	if (w->is_object != (key != NULL) || !w->depth || w->unique)
		check_place(w, key);
	if (key && w->pretty) {
		if (w->filled)
			strbuf_addch(w->out, ',');
		pretty_line(w);
		json_add_string(w->out, key, strlen(key));
		strbuf_adds(w->out, ": ");
	} else if (key) {
		add_key(w->out, key, w->filled, w->line);
	} else {
		if (w->filled)
			strbuf_addch(w->out, ',');
		if (w->line)
			strbuf_addch(w->out, '\n');
	}
	w->line = false;
	w->filled = true;
	w->after_object = false;
}

static void open(struct json_writer *w, const char *key, bool is_object)
{
	if (w->depth == JSON_DEPTH) {
		fault(w, "too many levels");
		return;
	}
	begin(w, key);
	strbuf_addch(w->out, is_object ? '{' : '[');
	w->depth++;
	const uint64_t level = 1ull << w->depth % 64;
	uint64_t *objects = &w->objects[w->depth / 64];
	*objects = is_object ? *objects | level : *objects & ~level;
	w->is_object = is_object;
	w->filled = false;
	if (w->unique)
		begin_keys(w);
}

void jw_object(struct json_writer *w, const char *key)
{
	open(w, key, true);
}

void jw_array(struct json_writer *w, const char *key)
{
	open(w, key, false);
}

void jw_end(struct json_writer *w)
{
	if (!w->depth) {
		fault(w, "an end without a begin");
		return;
	}
	const bool was_object = w->is_object;
	w->depth--;
	w->is_object = level_is_object(w, w->depth);
	if (w->pretty && (was_object ? w->filled : w->after_object))
		pretty_line(w);
	else if (w->line)
		strbuf_addch(w->out, '\n');
	w->line = false;
	if (w->unique)
		end_keys(w);
	strbuf_addch(w->out, was_object ? '}' : ']');
	w->filled = true;
	w->after_object = was_object;
}

void jw_text(struct json_writer *w, const char *key, const char *text)
{
	jw_text_n(w, key, text, strlen(text));
}

void jw_text_if(struct json_writer *w, const char *key, const char *text)
{
	if (text)
		jw_text(w, key, text);
}

void jw_text_n(struct json_writer *w, const char *key, const char *text, size_t len)
{
	begin(w, key);
	json_add_string(w->out, text, len);
}

void jw_u64(struct json_writer *w, const char *key, uint64_t v)
{
	begin(w, key);
	strbuf_add_u64(w->out, v);
}

void jw_i64(struct json_writer *w, const char *key, int64_t v)
{
	begin(w, key);
	json_add_i64(w->out, v);
}

void jw_double(struct json_writer *w, const char *key, double v)
{
	begin(w, key);
	if (isfinite(v))
		strbuf_add_double(w->out, v);
	else
		strbuf_adds(w->out, "null");
}

void jw_bool(struct json_writer *w, const char *key, bool v)
{
	begin(w, key);
	strbuf_adds(w->out, v ? "true" : "false");
}

void jw_null(struct json_writer *w, const char *key)
{
	begin(w, key);
	strbuf_adds(w->out, "null");
}

void jw_address(struct json_writer *w, const char *key, uint64_t v)
{
	begin(w, key);
	json_add_address(w->out, v);
}

void jw_textf(struct json_writer *w, const char *key, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	w->out->failed |= strbuf_failed(&text);
	jw_text_n(w, key, strbuf_str(&text), text.len);
}

struct strbuf *jw_value(struct json_writer *w, const char *key)
{
	begin(w, key);
	return w->out;
}

void jw_line(struct json_writer *w)
{
	w->line = true;
}
