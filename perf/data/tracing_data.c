// SPDX-License-Identifier: BSD-2-Clause
/*
 * TRACING_DATA: the format that trace-cmd's version 0.6 had, which perf still
 * writes (tools/perf/util/trace-event-info.c tells the order):
 *
 *	23 8 68 "tracing" "0.6\0"  u8 big-endian  u8 sizeof(long)  u32 page size
 *	"header_page\0"  u64 size, text    "header_event\0"  u64 size, text
 *	u32 n: formats of events/ftrace/, each u64 size, text
 *	u32 n systems: name\0, u32 n: formats, each u64 size, text
 *	u32 size, kallsyms   u32 size, printk_formats   u64 size, saved_cmdlines
 *
 * Integers are in the byte order that the big-endian flag tells.
 */
#include <stdlib.h>

#include "lib/base/vec.h"
#include "perf/data/data.h"
#include "perf/data/features.h"

static const uint8_t signature[] = {23, 8, 68, 't', 'r', 'a', 'c', 'i', 'n', 'g'};

static struct error *cut(const struct cursor *c, const char *what)
{
	return cursor_error(c, "feature TRACING_DATA: %s ends too early", what);
}

static bool get_text(struct cursor *c, uint64_t size, struct data_bytes *out)
{
	const uint8_t *p = size <= cursor_left(c) ? cursor_bytes(c, (size_t)size) : NULL;

	if (!p)
		return false;
	*out = (struct data_bytes){p, (size_t)size};
	return true;
}

static bool get_text64(struct cursor *c, struct data_bytes *out)
{
	uint64_t size;

	return cursor_u64(c, &size) && get_text(c, size, out);
}

/* The rest of the line that begins with key. */
static const char *format_line(const char *text, size_t size, const char *key, size_t *len)
{
	size_t key_len = strlen(key);

	for (size_t at = 0; at + key_len <= size;) {
		const char *line = text + at;
		const char *end = memchr(line, '\n', size - at);
		size_t line_len = end ? (size_t)(end - line) : size - at;

		if (line_len >= key_len && !memcmp(line, key, key_len)) {
			while (key_len < line_len && line[key_len] == ' ')
				key_len++;
			*len = line_len - key_len;
			return line + key_len;
		}
		at += line_len + 1;
	}
	return NULL;
}

static struct error *add_format(struct cursor *c, const char *system, size_t *cap,
				struct data_tracing *t)
{
	struct data_bytes text;
	size_t len;

	if (!get_text64(c, &text))
		return cut(c, "an event's format");
	if (t->n_events == *cap) {
		size_t bigger = *cap ? *cap * 2 : 16;
		void *events = reallocarray(t->events, bigger, sizeof(*t->events));
		if (!events)
			return error_nomem();
		t->events = events;
		*cap = bigger;
	}
	struct data_tracing_event *ev = &t->events[t->n_events++];
	*ev = (struct data_tracing_event){
		.system = system,
		.format = (const char *)text.p,
		.format_size = text.size,
		.id = UINT64_MAX,
		.name = "",
	};
	const char *s = format_line(ev->format, ev->format_size, "name:", &len);
	if (s) {
		ev->name = s;
		ev->name_size = len;
	}
	s = format_line(ev->format, ev->format_size, "ID:", &len);
	if (s) {
		uint64_t id = 0;
		for (size_t i = 0; i < len && s[i] >= '0' && s[i] <= '9'; i++)
			id = id * 10 + (uint64_t)(s[i] - '0');
		ev->id = id;
	}
	return NULL;
}

static struct error *decode(struct cursor *c, struct data_tracing *t)
{
	const uint8_t *p = cursor_bytes(c, sizeof(signature));
	uint32_t n, systems, size;
	uint8_t big;
	size_t cap = 0;

	if (!p || memcmp(p, signature, sizeof(signature)))
		return cursor_error(c, "feature TRACING_DATA does not start with its magic number");
	if (!cursor_cstr(c) || !cursor_u8(c, &big) || !cursor_u8(c, &t->long_size))
		return cut(c, "its header");
	t->big_endian = big;
	c->swap = t->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	if (!cursor_u32(c, &t->page_size))
		return cut(c, "its header");
	p = cursor_bytes(c, 12);
	if (!p || memcmp(p, "header_page", 12) || !get_text64(c, &t->header_page))
		return cut(c, "header_page");
	p = cursor_bytes(c, 13);
	if (!p || memcmp(p, "header_event", 13) || !get_text64(c, &t->header_event))
		return cut(c, "header_event");
	if (!cursor_u32(c, &n))
		return cut(c, "the ftrace events");
	for (uint32_t i = 0; i < n; i++)
		TRY(add_format(c, "ftrace", &cap, t));
	if (!cursor_u32(c, &systems))
		return cut(c, "the events");
	for (uint32_t i = 0; i < systems; i++) {
		const char *system = cursor_cstr(c);
		if (!system || !cursor_u32(c, &n))
			return cut(c, "the events");
		for (uint32_t j = 0; j < n; j++)
			TRY(add_format(c, system, &cap, t));
	}
	if (!cursor_u32(c, &size) || !get_text(c, size, &t->kallsyms))
		return cut(c, "kallsyms");
	if (!cursor_u32(c, &size) || !get_text(c, size, &t->printk_formats))
		return cut(c, "printk_formats");
	get_text64(c, &t->cmdlines); /* not there before version 0.6 */
	return NULL;
}

struct error *data_tracing_decode(struct cursor c, struct data_tracing *out)
{
	struct data_tracing t = {0};
	struct error *err = decode(&c, &t);

	if (err) {
		data_tracing_deinit(&t);
		return err;
	}
	*out = t;
	return NULL;
}

void data_tracing_deinit(struct data_tracing *t)
{
	free(t->events);
	*t = (struct data_tracing){0};
}

const struct data_tracing_event *data_tracing_find(const struct data_tracing *t, uint64_t id)
{
	for (size_t i = 0; i < t->n_events; i++)
		if (t->events[i].id == id)
			return &t->events[i];
	return NULL;
}

static void put_u32(struct strbuf *out, uint32_t v)
{
	strbuf_add(out, &v, sizeof(v));
}

static void put_text64(struct strbuf *out, const struct feature_text *t)
{
	uint64_t size = t->size;

	strbuf_add(out, &size, sizeof(size));
	strbuf_add(out, t->text, t->size);
}

static void put_text32(struct strbuf *out, const struct feature_text *t)
{
	put_u32(out, (uint32_t)t->size);
	strbuf_add(out, t->text, t->size);
}

/* Whether an earlier event is of the same system. */
static bool system_seen(const struct feature_tracing *t, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(t->events[j].system, t->events[i].system))
			return true;
	return false;
}

void feature_build_tracing_data(struct strbuf *out, const struct feature_tracing *t)
{
	uint32_t systems = 0;

	strbuf_add(out, signature, sizeof(signature));
	strbuf_add(out, "0.6", 4);
	strbuf_addch(out, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	strbuf_addch(out, sizeof(long));
	put_u32(out, t->page_size);
	strbuf_add(out, "header_page", 12);
	put_text64(out, &t->header_page);
	strbuf_add(out, "header_event", 13);
	put_text64(out, &t->header_event);
	put_u32(out, (uint32_t)t->n_ftrace);
	for (size_t i = 0; i < t->n_ftrace; i++)
		put_text64(out, &t->ftrace[i]);
	for (size_t i = 0; i < t->n_events; i++)
		systems += !system_seen(t, i);
	put_u32(out, systems);
	for (size_t i = 0; i < t->n_events; i++) {
		uint32_t n = 0;

		if (system_seen(t, i))
			continue;
		for (size_t j = i; j < t->n_events; j++)
			n += !strcmp(t->events[j].system, t->events[i].system);
		strbuf_add(out, t->events[i].system, strlen(t->events[i].system) + 1);
		put_u32(out, n);
		for (size_t j = i; j < t->n_events; j++)
			if (!strcmp(t->events[j].system, t->events[i].system))
				put_text64(out, &t->events[j].format);
	}
	put_text32(out, &t->kallsyms);
	put_text32(out, &t->printk_formats);
	put_text64(out, &t->cmdlines);
}
