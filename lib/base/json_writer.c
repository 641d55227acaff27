// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/json_writer.h"

#include <math.h>

#include "lib/base/json.h"

#if defined(__SANITIZE_ADDRESS__)
#define LOOK_FOR_KEYS true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOOK_FOR_KEYS true
#endif
#endif
#ifndef LOOK_FOR_KEYS
#define LOOK_FOR_KEYS false
#endif

struct json_writer json_writer_make(struct strbuf *out)
{
	return (struct json_writer){.out = out, .unique = LOOK_FOR_KEYS};
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
	if (w->unique)
		strbuf_deinit(&w->keys);
}

/* Whether the innermost object has no such key yet; it has now. */
static bool is_new_key(struct json_writer *w, const char *key)
{
	for (size_t at = w->first_key[w->depth]; at < w->keys.len;
	     at += strlen(w->keys.str + at) + 1)
		if (!strcmp(w->keys.str + at, key))
			return false;
	strbuf_add(&w->keys, key, strlen(key) + 1);
	return true;
}

/* "key": with what goes before it; most keys need no escapes, and there are millions of them. */
static void add_key(struct strbuf *out, const char *key, bool comma, bool line)
{
	const size_t n = strlen(key);
	char *p;
	size_t i = 0;

	if (!strbuf_reserve(out, n + 5))
		return;
	p = out->str + out->len;
	if (comma)
		*p++ = ',';
	if (line)
		*p++ = '\n';
	*p = '"';
	for (; i < n; i++) {
		const unsigned char c = (unsigned char)key[i];

		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			break;
		p[i + 1] = (char)c;
	}
	if (i < n) {
		strbuf_cut(out, (size_t)(p - out->str));
		json_add_string(out, key, n);
		strbuf_addch(out, ':');
		return;
	}
	p[n + 1] = '"';
	p[n + 2] = ':';
	strbuf_cut(out, (size_t)(p + n + 3 - out->str));
}

/* The comma and the key. */
static void begin(struct json_writer *w, const char *key)
{
	const uint64_t level = 1ull << w->depth;
	const bool filled = w->filled & level;

	if (w->objects & level) {
		if (!key)
			fault(w, "a member has no key");
		else if (w->unique && !is_new_key(w, key))
			fault(w, "an object has a key twice");
	} else if (key) {
		fault(w, "a key outside of an object");
	} else if (!w->depth && filled) {
		fault(w, "a second value after the document");
	}
	if (key) {
		add_key(w->out, key, filled, w->line);
	} else {
		if (filled)
			strbuf_addch(w->out, ',');
		if (w->line)
			strbuf_addch(w->out, '\n');
	}
	w->line = false;
	w->filled |= level;
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
	const uint64_t level = 1ull << w->depth;
	w->objects = is_object ? w->objects | level : w->objects & ~level;
	w->filled &= ~level;
	w->first_key[w->depth] = (uint32_t)w->keys.len;
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
	if (w->line)
		strbuf_addch(w->out, '\n');
	w->line = false;
	if (w->unique)
		strbuf_cut(&w->keys, w->first_key[w->depth]);
	strbuf_addch(w->out, w->objects >> w->depth & 1 ? '}' : ']');
	w->depth--;
}

void jw_text(struct json_writer *w, const char *key, const char *text)
{
	jw_text_n(w, key, text, strlen(text));
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
