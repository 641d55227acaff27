// SPDX-License-Identifier: BSD-2-Clause
#include "perf/hist/trace_keys.h"

#include <string.h>

/* The event's name as a key has it: "sched:sched_switch", or "sched_switch" alone. */
static bool names_event(const struct hist_dynamic *field, const struct trace_event *ev)
{
	const char *colon = strchr(field->event, ':');

	if (!*field->event)
		return true;
	if (!colon)
		return glob_match(field->event, trace_event_name(ev));
	return strlen(trace_event_system(ev)) == (size_t)(colon - field->event) &&
	       !strncmp(field->event, trace_event_system(ev), colon - field->event) &&
	       glob_match(colon + 1, trace_event_name(ev));
}

struct error *trace_keys_text(void *ctx, const struct session_event *event,
			      const struct sample *sample, struct strbuf *out)
{
	struct sample_reader *reader = ctx;

	struct trace_event *ev = sample_reader_format(reader, event);
	if (ev)
		trace_event_print(ev, sample->raw, sample->raw_size, out);
	return NULL;
}

struct error *trace_keys_raw_text(void *ctx, const struct session_event *event,
				  const struct sample *sample, struct strbuf *out)
{
	struct trace_event *ev = sample_reader_format(ctx, event);

	if (ev)
		trace_event_print_fields(ev, sample->raw, sample->raw_size, out);
	return NULL;
}

/* A pipe's fields are not known before its samples are. */
bool trace_keys_have(void *ctx, const struct hist_dynamic *field)
{
	struct sample_reader *reader = ctx;

	if (session_header(reader->recording->session)->pipe)
		return true;
	for (size_t i = 0; i < session_n_events(reader->recording->session); i++) {
		struct trace_event *ev =
			sample_reader_format(reader, session_event(reader->recording->session, i));

		if (ev && names_event(field, ev) && trace_event_find_field(ev, field->field))
			return true;
	}
	return false;
}

size_t trace_keys_count(void *ctx, const struct hist_dynamic *field)
{
	struct sample_reader *reader = ctx;
	struct session *session = reader->recording->session;
	size_t most = 0;

	if (session_header(session)->pipe)
		return HIST_MAX_DYNAMIC;
	for (size_t i = 0; i < session_n_events(session); i++) {
		struct trace_event *ev = sample_reader_format(reader, session_event(session, i));

		if (ev && names_event(field, ev))
			most = max_of(most, trace_event_n_fields(ev));
	}
	return most;
}

/* NULL: the event is another, or has no such field. */
static const struct trace_field *field_of(const struct hist_dynamic *want,
					  const struct trace_event *ev)
{
	if (!ev || !names_event(want, ev))
		return NULL;
	if (!want->nth)
		return trace_event_find_field(ev, want->field);
	return want->nth <= trace_event_n_fields(ev) ? trace_event_field(ev, want->nth - 1) : NULL;
}

const char *trace_keys_name(void *ctx, const struct hist_dynamic *field,
			    const struct session_event *event)
{
	const struct trace_field *f = field_of(field, sample_reader_format(ctx, event));

	return f ? f->name : NULL;
}

void trace_keys_offer(void *ctx, struct nearest *near)
{
	struct sample_reader *reader = ctx;

	for (size_t i = 0; i < session_n_events(reader->recording->session); i++) {
		struct trace_event *ev =
			sample_reader_format(reader, session_event(reader->recording->session, i));

		for (size_t k = 0; ev && k < trace_event_n_fields(ev); k++)
			nearest_offer(near, trace_event_field(ev, k)->name);
	}
}

/* What stands after "NAME=" in the event's text, up to a blank; false: it does not stand there. */
static bool printed_value(const char *text, const char *name, struct strbuf *out)
{
	size_t n = strlen(name);

	for (const char *p = text; p; p = strchr(p, ' ')) {
		p += *p == ' ';
		if (strncmp(p, name, n) || p[n] != '=')
			continue;
		strbuf_add(out, p + n + 1, strcspn(p + n + 1, " "));
		return true;
	}
	return false;
}

/*
 * As perf report has it: a number as the event's format prints it ("S" for a
 * state), where that has the form NAME=VALUE.
 */
struct error *trace_keys_value(void *ctx, const struct hist_dynamic *want,
			       const struct session_event *event, const struct sample *sample,
			       struct hist_value *value, bool *none, struct strbuf *out)
{
	struct sample_reader *reader = ctx;
	struct trace_event *ev = sample_reader_format(reader, event);
	const struct trace_field *f = field_of(want, ev);
	const uint8_t *bytes;
	uint32_t len;

	*none = true;
	if (!f || !sample->raw)
		return NULL;
	if (f->kind == TRACE_FIELD_STRING) {
		if (!trace_field_bytes(ev, f, sample->raw, sample->raw_size, &bytes, &len))
			return NULL;
		strbuf_add(out, bytes, len);
	} else {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		if (f->kind != TRACE_FIELD_ARRAY) {
			if (!trace_field_number(ev, f, sample->raw, sample->raw_size,
						&value->number))
				return NULL;
			value->kind = f->kind == TRACE_FIELD_SIGNED ? HIST_VALUE_SIGNED
								    : HIST_VALUE_UNSIGNED;
		}
		if (!want->raw)
			trace_event_print(ev, sample->raw, sample->raw_size, &text);
		if (!printed_value(strbuf_str(&text), f->name, out))
			trace_field_print(ev, f, sample->raw, sample->raw_size, out);
	}
	*none = false;
	return NULL;
}
