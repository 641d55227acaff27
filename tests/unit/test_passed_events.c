// SPDX-License-Identifier: BSD-2-Clause
/* perf/record/passed_events: the description that one process gives to another. */
#include <string.h>

#include "perf/record/passed_events.h"

static void add_event(struct passed_events *passed, const char *name, const char *format)
{
	struct passed_event *event = vec_push(&passed->events);

	assert_non_null(event);
	event->name = strdup(name);
	event->system = strdup(*format ? "sched" : "");
	event->format = strdup(format);
	event->attr = (struct perf_event_attr){
		.size = sizeof(event->attr),
		.type = PERF_TYPE_TRACEPOINT,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	};
	assert_true(vec_reserve(&event->ids, 2));
	event->ids.v[event->ids.n++] = 7;
	event->ids.v[event->ids.n++] = UINT64_MAX;
}

static void make(struct passed_events *passed)
{
	*passed = (struct passed_events){
		.pages = 1024, .header_page = strdup("page"), .header_event = strdup("")};
	assert_true(vec_reserve(&passed->cpus, 2));
	passed->cpus.v[passed->cpus.n++] = 0;
	passed->cpus.v[passed->cpus.n++] = 3;
	add_event(passed, "sched:sched_switch", "name: sched_switch\n");
	add_event(passed, "dummy:HG", "");
}

static bool parses(const struct strbuf *text, size_t size)
{
	struct passed_events got = {0};
	struct error *err = passed_events_parse(text->str, size, &got);

	passed_events_deinit(&got);
	error_free(err);
	return !err;
}

static bool parses_changed(void (*change)(struct passed_events *passed))
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct passed_events passed;

	make(&passed);
	change(&passed);
	passed_events_write(&passed, &text);
	passed_events_deinit(&passed);
	return parses(&text, text.len);
}

TEST(test_round)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_strbuf_ struct strbuf again = STRBUF_INIT;
	struct passed_events passed, got = {0};

	make(&passed);
	passed_events_write(&passed, &text);
	passed_events_deinit(&passed);
	assert_null(passed_events_parse(text.str, text.len, &got));
	assert_int_equal(got.pages, 1024);
	assert_int_equal(got.cpus.v[1], 3);
	assert_string_equal(got.events.v[0].name, "sched:sched_switch");
	assert_string_equal(got.events.v[1].system, "");
	assert_true(got.events.v[0].ids.v[1] == UINT64_MAX);
	passed_events_write(&got, &again);
	passed_events_deinit(&got);
	assert_int_equal(text.len, again.len);
	assert_memory_equal(text.str, again.str, text.len);
	for (size_t size = 0; size < text.len; size++)
		assert_false(parses(&text, size));
	strbuf_addch(&text, 0);
	assert_false(parses(&text, text.len));
}

static void other_pages(struct passed_events *passed)
{
	passed->pages = 3;
}

static void same_cpu(struct passed_events *passed)
{
	passed->cpus.v[1] = 0;
}

static void no_cpus(struct passed_events *passed)
{
	passed->cpus.n = 0;
}

/* Samples are read as if they had none. */
static void with_address(struct passed_events *passed)
{
	passed->events.v[0].attr.sample_type |= PERF_SAMPLE_IP;
}

static void without_ids(struct passed_events *passed)
{
	passed->events.v[1].ids.n = 0;
}

static void without_name(struct passed_events *passed)
{
	*passed->events.v[0].name = '\0';
}

TEST(test_wrong)
{
	assert_false(parses_changed(other_pages));
	assert_false(parses_changed(same_cpu));
	assert_false(parses_changed(no_cpus));
	assert_false(parses_changed(with_address));
	assert_false(parses_changed(without_ids));
	assert_false(parses_changed(without_name));
}
