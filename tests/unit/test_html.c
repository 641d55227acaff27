// SPDX-License-Identifier: BSD-2-Clause
/* The page of --html as text; tests/cmd/test_html.sh has it in a browser. */
#include <string.h>

#include <jansson.h>

#include "show/html.h"
#include "tests/unit/results.h"

static size_t count_of(const char *text, const char *what)
{
	size_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* The JSON that stands in the page; the caller's. */
static json_t *data_of(const char *page)
{
	static const char begin[] = "<script type=\"application/json\" id=\"data\">";
	const char *data = strstr(page, begin);

	assert_non_null(data);
	data += strlen(begin);
	const char *end = strstr(data, "</script>");
	assert_non_null(end);
	assert_null(memchr(data, '<', (size_t)(end - data)));
	/* what was no UTF-8 is a lone surrogate, which jansson refuses */
	char *copy = strndup(data, (size_t)(end - data));
	for (char *p = copy; (p = strstr(p, "\\udcff"));)
		memcpy(p, "\\u0020", 6);
	json_t *json = json_loads(copy, JSON_DECODE_INT_AS_REAL, NULL);
	free(copy);
	assert_non_null(json);
	return json;
}

TEST(test_hostile)
{
	_cleanup_results_ struct results results = {.time = 1}, came = {.events = true};
	const struct html_about about = {.title = HOSTILE, .host = HOSTILE, .command = HOSTILE};
	_cleanup_strbuf_ struct strbuf page = STRBUF_INIT;
	struct html_events events = {0};

	for (enum result_kind kind = RESULT_COUNT; kind <= RESULT_EVENTS; kind++) {
		struct result *r = results_put(&results, kind, HOSTILE);

		r->title = r->unit = r->note = HOSTILE;
	}
	results_put(&came, RESULT_EVENTS, HOSTILE);
	html_events_add(&events, &came);
	results_html(&results, &about, &events, &page);
	assert_false(strbuf_failed(&page));
	assert_int_equal(count_of(strbuf_str(&page), "</script"), 2);
	assert_int_equal(count_of(strbuf_str(&page), "<b>"), 0);
	assert_int_equal(count_of(strbuf_str(&page), "\xff"), 0);
	json_t *json = data_of(strbuf_str(&page));
	assert_int_equal(json_array_size(json_object_get(json, "results")), 6);
	assert_int_equal(json_array_size(json_object_get(json, "events")), 2);
	json_decref(json);
	html_events_deinit(&events);
}

TEST(test_the_last_events_are_kept)
{
	_cleanup_results_ struct results results = {0};
	_cleanup_strbuf_ struct strbuf page = STRBUF_INIT;
	const struct html_about about = {.title = "t"};
	struct html_events events = {0};
	struct result_cell cells[2] = {{.kind = CELL_UINT}, {.kind = CELL_UINT}};

	for (uint64_t i = 1; i <= HTML_MAX_EVENTS * 2; i++) {
		_cleanup_results_ struct results came = {.events = true};
		struct result *r = results_add(&came, RESULT_EVENTS, "ring");

		cells[1].u = i;
		r->events.table = (struct result_table){result_event_columns, 2, cells, 1, 0};
		html_events_add(&events, &came);
	}
	results_html(&results, &about, &events, &page);
	json_t *json = data_of(strbuf_str(&page)), *kept = json_object_get(json, "events");
	assert_int_equal(json_array_size(kept), HTML_MAX_EVENTS);
	for (size_t i = 0; i < HTML_MAX_EVENTS; i++) {
		json_t *event = json_object_get(json_array_get(kept, i), "event");

		assert_int_equal(json_real_value(json_object_get(event, "name")),
				 HTML_MAX_EVENTS + i + 1);
	}
	json_decref(json);
	html_events_deinit(&events);
}
