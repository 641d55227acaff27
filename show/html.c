// SPDX-License-Identifier: BSD-2-Clause
#include "show/html.h"

#include "lib/base/json_writer.h"
#include "show/plain.h"
#include "show/result_json.h"

/* Text between tags. */
static void add_markup(struct strbuf *out, const char *s)
{
	_cleanup_strbuf_ struct strbuf plain = STRBUF_INIT;

	plain_add(&plain, s, strlen(s));
	out->failed |= strbuf_failed(&plain);
	for (size_t i = 0; i < plain.len; i++) {
		char c = plain.str[i];

		if (c == '<' || c == '>' || c == '&')
			strbuf_addf(out, "&#%d;", c);
		else
			strbuf_addch(out, c);
	}
}

/*
 * JSON within a script element, which ends at "</script" wherever that stands:
 * a '<' is within a string, where it may be written as an escape.
 */
static void add_data(struct strbuf *out, const char *json, size_t n)
{
	while (n) {
		const char *mark = memchr(json, '<', n);
		size_t len = mark ? (size_t)(mark - json) : n;

		strbuf_add(out, json, len);
		if (mark)
			strbuf_adds(out, "\\u003c");
		json += len + !!mark;
		n -= len + !!mark;
	}
}

/* Lines of JSON as an array. None of their strings contains a newline. */
static void add_lines(struct json_writer *w, const char *key, const struct strbuf *lines)
{
	size_t n = lines->len ? lines->len - 1 : 0; /* without the last line's end */
	const char *p = strbuf_str(lines);

	jw_line(w);
	jw_array(w, key);
	while (n) {
		const char *end = memchr(p, '\n', n);
		size_t len = end ? (size_t)(end - p) : n;

		jw_line(w);
		add_data(jw_value(w, NULL), p, len);
		p += len + !!end;
		n -= len + !!end;
	}
	jw_end(w);
}

static void add_about(struct strbuf *json, const struct results *results,
		      const struct html_about *about)
{
	const struct {
		const char *key, *text;
	} texts[] = {
		{"command", about->command},
		{"host", about->host},
		{"kernel", about->kernel},
		{"version", about->version},
	};

	struct json_writer w = json_writer_make(json);

	jw_object(&w, NULL);
	jw_text(&w, "title", about->title);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].text)
			jw_text(&w, texts[i].key, texts[i].text);
	jw_u64(&w, "time_ns", results->time);
	jw_u64(&w, "span_ns", results->span);
	jw_end(&w);
	json_writer_finish(&w);
}

void html_events_deinit(struct html_events *events)
{
	strbuf_deinit(&events->lines);
}

void html_events_add(struct html_events *events, const struct results *results)
{
	for (size_t i = 0; i < results->n; i++)
		events->n += results->v[i].events.table.n_rows;
	results_json(results, false, &events->lines);
	if (events->n < 2 * HTML_MAX_EVENTS || strbuf_failed(&events->lines))
		return;
	const char *p = strbuf_str(&events->lines), *end = p + events->lines.len;
	for (; events->n > HTML_MAX_EVENTS && p < end; events->n--)
		p = (const char *)memchr(p, '\n', (size_t)(end - p)) + 1;
	memmove(events->lines.str, p, (size_t)(end - p) + 1);
	events->lines.len = (size_t)(end - p);
}

void results_html(const struct results *results, const struct html_about *about,
		  const struct html_events *events, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf json = STRBUF_INIT;

	strbuf_adds(out, html_begin);
	add_markup(out, about->title);
	strbuf_adds(out, html_title);
	add_about(&json, results, about);
	struct json_writer w = json_writer_make(out);
	jw_object(&w, NULL);
	add_data(jw_value(&w, "page"), strbuf_str(&json), json.len);
	out->failed |= strbuf_failed(&json);
	strbuf_reset(&json);
	results_json_whole(results, &json);
	add_lines(&w, "results", &json);
	add_lines(&w, "events", &events->lines);
	jw_end(&w);
	json_writer_finish(&w);
	strbuf_adds(out, html_data);
	out->failed |= strbuf_failed(&json) || strbuf_failed(&events->lines);
}
