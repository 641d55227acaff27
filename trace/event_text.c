// SPDX-License-Identifier: BSD-2-Clause
#include "trace/event_text.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/json.h"
#include "lib/btf/value.h"
#include "perf/format/tracing.h"
#include "show/plain.h"

/* Whether the event has the field; a probe may not have been able to read one. */
static bool has_field(const struct other_event *e, size_t i)
{
	const struct trace_field *f = trace_event_field(e->format, i);

	return !trace_field_is_inner(e->format, f) &&
	       trace_event_has_value(e->format, i, e->raw, e->raw_size);
}

/* The name of an enumerator of the type that the format names; false: there is none. */
static bool add_enumerator(struct strbuf *out, const struct event_text_opts *opts, const char *type,
			   uint64_t v)
{
	static const char prefix[] = "enum ";

	if (!opts->btf || strncmp(type, prefix, sizeof(prefix) - 1) != 0)
		return false;
	const int id = btf__find_by_name_kind(opts->btf, type + sizeof(prefix) - 1, BTF_KIND_ENUM);
	return id > 0 &&
	       value_enum_add(opts->btf, btf__type_by_id(opts->btf, (uint32_t)id), v, out);
}

/* A number, or an enumerator by its name, also if it is 0; false: it is left out. */
static bool add_number(struct strbuf *out, const struct other_event *e, const struct trace_field *f,
		       const char *name, const struct event_text_opts *opts)
{
	_cleanup_strbuf_ struct strbuf enumerator = STRBUF_INIT;
	uint64_t v;

	if (!trace_field_number(e->format, f, e->raw, e->raw_size, &v))
		return false;
	if (add_enumerator(&enumerator, opts, f->type, v)) {
		strbuf_addf(out, "%s%s", name, strbuf_str(&enumerator));
		return true;
	}
	if (!v && !opts->show_zeros)
		return false;
	strbuf_adds(out, name);
	if (f->kind == TRACE_FIELD_POINTER)
		strbuf_addf(out, "%#" PRIx64, v);
	else
		strbuf_addf(out, f->kind == TRACE_FIELD_SIGNED ? "%" PRId64 : "%" PRIu64, v);
	if (strcmp(f->type, "pid_t") != 0)
		return true;
	const char *comm = v == e->tid && v ? e->comm
			   : opts->comm	    ? opts->comm(opts->ctx, (uint32_t)v)
					    : NULL;
	if (comm) {
		strbuf_adds(out, " (");
		plain_add(out, comm, strlen(comm));
		strbuf_addch(out, ')');
	}
	return true;
}

static bool add_field(struct strbuf *out, const struct other_event *e, const struct trace_field *f,
		      const char *name, const struct event_text_opts *opts)
{
	const uint8_t *bytes;
	uint32_t len;

	switch (f->kind) {
	case TRACE_FIELD_UNSIGNED:
	case TRACE_FIELD_SIGNED:
	case TRACE_FIELD_POINTER:
		return add_number(out, e, f, name, opts);
	case TRACE_FIELD_STRING:
		if (!trace_field_bytes(e->format, f, e->raw, e->raw_size, &bytes, &len))
			return false;
		strbuf_adds(out, name);
		strbuf_addch(out, '"');
		plain_add(out, (const char *)bytes, len);
		strbuf_addch(out, '"');
		return true;
	default:
		strbuf_adds(out, name);
		trace_field_print(e->format, f, e->raw, e->raw_size, out);
		return true;
	}
}

/* What a program put out, without the zeros at its end; NULL: nothing, or the event has fields. */
static const char *output_of(const struct other_event *e, size_t *n)
{
	*n = e->format || !e->raw ? 0 : e->raw_size;
	while (*n && !((const char *)e->raw)[*n - 1])
		--*n;
	return *n ? e->raw : NULL;
}

void event_text_add(struct strbuf *out, const struct other_event *e,
		    const struct event_text_opts *opts)
{
	bool any = false;

	strbuf_addf(out, "%s(", e->name);
	for (size_t i = 0; e->format && i < trace_event_n_fields(e->format); i++) {
		const struct trace_field *f = trace_event_field(e->format, i);
		_cleanup_free_ char *name =
			text_format("%s%s%s", any ? ", " : "", opts->hide_names ? "" : f->name,
				    opts->hide_names ? "" : ": ");

		/* the event's name says which call it is; perf trace leaves the number out, too */
		if (!strcmp(f->name, "__syscall_nr"))
			continue;
		if (name && has_field(e, i))
			any |= add_field(out, e, f, name, opts);
	}
	size_t n;
	const char *output = output_of(e, &n);
	if (output) {
		strbuf_addch(out, '"');
		plain_add(out, output, n);
		strbuf_addch(out, '"');
	}
	strbuf_addch(out, ')');
}

static void add_json_array(struct json_writer *w, const struct other_event *e,
			   const struct trace_field *f)
{
	const uint8_t *bytes;
	uint32_t len;

	jw_array(w, f->name);
	if (trace_field_bytes(e->format, f, e->raw, e->raw_size, &bytes, &len))
		for (uint32_t i = 0; f->elem_size && i < len / f->elem_size; i++) {
			const uint64_t v = trace_field_elem(e->format, f, bytes, i);

			if (f->elem_signed)
				jw_i64(w, NULL, (int64_t)v);
			else
				jw_u64(w, NULL, v);
		}
	jw_end(w);
}

static void add_json_field(struct json_writer *w, const struct other_event *e,
			   const struct trace_field *f)
{
	const uint8_t *bytes;
	uint32_t len;
	uint64_t v;

	if (f->kind == TRACE_FIELD_ARRAY) {
		add_json_array(w, e, f);
	} else if (f->kind == TRACE_FIELD_STRING) {
		if (trace_field_bytes(e->format, f, e->raw, e->raw_size, &bytes, &len))
			jw_text_n(w, f->name, (const char *)bytes, len);
	} else if (trace_field_number(e->format, f, e->raw, e->raw_size, &v)) {
		if (f->kind == TRACE_FIELD_SIGNED)
			jw_i64(w, f->name, (int64_t)v);
		else
			jw_u64(w, f->name, v);
	}
}

void event_json_add(struct json_writer *w, const struct other_event *e)
{
	if (!e->format && e->raw) {
		json_add_bytes(jw_value(w, "output"), e->raw, e->raw_size);
		return;
	}
	jw_object(w, "fields");
	for (size_t i = 0; e->format && i < trace_event_n_fields(e->format); i++)
		if (has_field(e, i) && !trace_event_field(e->format, i)->repeats)
			add_json_field(w, e, trace_event_field(e->format, i));
	jw_end(w);
}

void fault_text_add(struct strbuf *out, const struct page_fault *fault)
{
	const struct location *code = &fault->code, *data = &fault->data;

	strbuf_addf(out, "%sfault [", fault->major ? "maj" : "min");
	if (code->sym) {
		plain_add(out, code->sym->name, strlen(code->sym->name));
		strbuf_addf(out, "+0x%" PRIx64, code->offset);
	} else {
		strbuf_addf(out, "0x%" PRIx64, code->map ? code->dso_addr : code->addr);
	}
	strbuf_adds(out, "] => ");
	if (data->map) {
		plain_add(out, data->map->dso->path, strlen(data->map->dso->path));
		strbuf_addf(out, "@0x%" PRIx64, data->dso_addr);
	} else {
		strbuf_addf(out, "0x%" PRIx64, data->addr);
	}
	strbuf_addf(out, " (%c%c)", data->map ? 'd' : '?', fault->in_kernel ? 'k' : '.');
}

static void add_json_place(struct json_writer *w, const char *key, const char *name,
			   const struct location *at)
{
	jw_object(w, key);
	jw_address(w, name, at->addr);
	if (at->sym) {
		jw_text(w, "sym", at->sym->name);
		jw_u64(w, "off", at->offset);
	}
	if (at->map) {
		jw_text(w, "dso", at->map->dso->path);
		jw_address(w, "dso_addr", at->dso_addr);
	}
	jw_end(w);
}

void fault_json_add(struct json_writer *w, const struct page_fault *fault)
{
	add_json_place(w, "code", "ip", &fault->code);
	add_json_place(w, "data", "addr", &fault->data);
}
