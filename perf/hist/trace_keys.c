// SPDX-License-Identifier: BSD-2-Clause
#include "perf/hist/trace_keys.h"

#include <string.h>

#include "perf/print/probed.h"

void trace_keys_deinit(struct trace_keys *keys)
{
	tracing_free(keys->tracing);
}

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

/*
 * trace_symbol_fn. Only of a probe in a program the address is the process's: others print
 * addresses of a process as such, a name would hide them.
 */
static const char *symbol_at(void *ctx, uint64_t addr, uint64_t *start)
{
	struct trace_keys *keys = ctx;
	struct location at;

	resolve_addr(keys->resolver, NULL, PERF_RECORD_MISC_KERNEL, addr, &at);
	if (!at.sym && keys->thread &&
	    probed_is_one(trace_keys_event(keys, keys->event), keys->sample))
		resolve_addr(keys->resolver, keys->thread, PERF_RECORD_MISC_USER, addr, &at);
	if (!at.sym)
		return NULL;
	*start = addr - at.offset;
	return at.sym->name;
}

struct error *trace_keys_open(struct trace_keys *keys)
{
	if (keys->tracing || !session_tracing(keys->session))
		return NULL;
	TRY(tracing_new(session_tracing(keys->session), keys->log, &keys->tracing));
	if (keys->resolver)
		tracing_set_symbols(keys->tracing, symbol_at, keys);
	return NULL;
}

struct trace_event *trace_keys_event(struct trace_keys *keys, const struct session_event *event)
{
	if (event->attr.type != PERF_TYPE_TRACEPOINT)
		return NULL;
	error_free(trace_keys_open(keys));
	return keys->tracing ? tracing_find(keys->tracing, event->attr.config) : NULL;
}

struct error *trace_keys_text(void *ctx, const struct session_event *event,
			      const struct sample *sample, struct strbuf *out)
{
	struct trace_keys *keys = ctx;

	TRY(trace_keys_open(keys));
	struct trace_event *ev = trace_keys_event(keys, event);
	if (ev)
		trace_event_print(ev, sample->raw, sample->raw_size, out);
	return NULL;
}

/* A pipe's fields are not known before its samples are. */
bool trace_keys_have(void *ctx, const struct hist_dynamic *field)
{
	struct trace_keys *keys = ctx;

	if (session_header(keys->session)->pipe)
		return true;
	for (size_t i = 0; i < session_n_events(keys->session); i++) {
		struct trace_event *ev = trace_keys_event(keys, session_event(keys->session, i));

		if (ev && names_event(field, ev) && trace_event_find_field(ev, field->field))
			return true;
	}
	return false;
}

void trace_keys_offer(void *ctx, struct nearest *near)
{
	struct trace_keys *keys = ctx;

	for (size_t i = 0; i < session_n_events(keys->session); i++) {
		struct trace_event *ev = trace_keys_event(keys, session_event(keys->session, i));

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
	struct trace_keys *keys = ctx;
	struct trace_event *ev = trace_keys_event(keys, event);
	const struct trace_field *f =
		ev && names_event(want, ev) ? trace_event_find_field(ev, want->field) : NULL;
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
