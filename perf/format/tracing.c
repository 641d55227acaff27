// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tracepoints of a recording: perf/data takes TRACING_DATA apart, a format
 * file is parsed (format.c) when its event is first asked for and compiled
 * (compile_format.c) when it is first printed.
 */
#include "perf/format/internal.h"

#include <stdlib.h>

#define EVENTS_MAX  65536
#define PRINTKS_MAX (1 << 20)

static void printk_add(struct tracing *t, uint64_t addr, const char *text, size_t len)
{
	if (t->printks.n >= PRINTKS_MAX)
		return;
	/* As libtraceevent keeps them: without quotes and the \n at the end. */
	if (len && text[0] == '"') {
		text++;
		len--;
	}
	if (len && text[len - 1] == '"')
		len--;
	if (len >= 2 && text[len - 2] == '\\' && text[len - 1] == 'n')
		len -= 2;
	char *copy = strndup(text, len);
	struct printk_format *f = copy ? vec_push(&t->printks) : NULL;
	if (!f) {
		t->no_memory = true;
		free(copy);
		return;
	}
	*f = (struct printk_format){.addr = addr, .text = copy};
}

static int printk_cmp(const void *a, const void *b)
{
	const struct printk_format *fa = a, *fb = b;

	return fa->addr < fb->addr ? -1 : fa->addr > fb->addr;
}

const char *printk_find(const struct tracing *t, uint64_t addr)
{
	struct printk_format key = {.addr = addr};

	if (!t->printks.n)
		return NULL;
	struct printk_format *f =
		bsearch(&key, t->printks.v, t->printks.n, sizeof(key), printk_cmp);
	return f ? f->text : NULL;
}

/* Lines of "0xffffffff… : "text"". */
static void printks_parse(struct tracing *t, struct cursor c)
{
	const char *p = cursor_bytes(&c, c.size), *end = p + c.size;

	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		if (!eol)
			eol = end;
		const char *colon = memchr(p, ':', (size_t)(eol - p));
		char number[32];
		size_t n = colon ? (size_t)(colon - p) : 0;

		if (colon && n < sizeof(number)) {
			memcpy(number, p, n);
			number[n] = 0;
			const char *text = colon + 1;
			if (text < eol)
				text++;
			printk_add(t, strtoull(number, NULL, 16), text, (size_t)(eol - text));
		}
		p = eol + 1;
	}
	if (t->printks.n)
		qsort(t->printks.v, t->printks.n, sizeof(*t->printks.v), printk_cmp);
}

static void event_free(struct trace_event *ev)
{
	if (!ev)
		return;
	program_deinit(&ev->program);
	for (size_t i = 0; i < ev->memory.n; i++)
		free(ev->memory.v[i]);
	vec_deinit(&ev->memory);
	vec_deinit(&ev->format_fields);
	vec_deinit(&ev->fields);
	free(ev);
}
DEFINE_FREEP(struct trace_event, event_free)

bool format_is_float(const struct format_field *field)
{
	return (field->size == sizeof(double) && !strcmp(field->type, "double")) ||
	       (field->size == sizeof(float) && !strcmp(field->type, "float"));
}

static struct error *field_add(struct trace_event *ev, const struct format_field *from)
{
	const bool repeats = trace_event_find_field(ev, from->name);
	struct trace_field *f = vec_push(&ev->fields);

	if (!f)
		return error_nomem();
	*f = (struct trace_field){
		.repeats = repeats,
		.name = from->name,
		.type = from->type,
		.offset = from->offset,
		.size = from->size,
		.dynamic = from->flags & FIELD_DYNAMIC,
		.relative = from->flags & FIELD_RELATIVE,
	};
	if (from->flags & FIELD_ARRAY && strstr(from->type, "char")) {
		f->kind = TRACE_FIELD_STRING;
	} else if (from->flags & FIELD_ARRAY) {
		f->kind = TRACE_FIELD_ARRAY;
		f->elem_size = from->element_size;
		if (f->elem_size != 2 && f->elem_size != 4 && f->elem_size != 8)
			f->elem_size = 1;
		f->elem_signed = from->flags & FIELD_SIGNED;
	} else if (from->size != 1 && from->size != 2 && from->size != 4 && from->size != 8) {
		f->kind = TRACE_FIELD_ARRAY; /* a structure: its bytes */
		f->elem_size = 1;
	} else if (from->flags & FIELD_POINTER) {
		f->kind = TRACE_FIELD_POINTER;
	} else if (format_is_float(from)) {
		f->kind = TRACE_FIELD_FLOAT;
	} else {
		f->kind = from->flags & FIELD_SIGNED ? TRACE_FIELD_SIGNED : TRACE_FIELD_UNSIGNED;
	}
	return NULL;
}

/* Once all fields are there: every sample asks for them. */
static void find_probe_fields(struct trace_event *ev)
{
	const struct trace_field *last = ev->fields.n ? vec_last(&ev->fields) : NULL;

	if (!last || strcmp(last->name, TRACE_ERROR_FIELD))
		return;
	ev->probe_err = last;
	ev->probe_ip = trace_event_find_field(ev, TRACE_IP_FIELD);
}

struct error *tracing_add_format(struct tracing *t, const char *system, const char *text,
				 size_t size)
{
	_cleanup_(event_freep) struct trace_event *ev = calloc(1, sizeof(*ev));

	if (t->events.n >= EVENTS_MAX)
		return error_new(E2BIG, "more than %d events", EVENTS_MAX);
	if (!ev)
		return error_nomem();
	ev->tracing = t;
	char *copy = strdup(system);
	void **slot = copy ? vec_push(&ev->memory) : NULL;
	if (!slot) {
		free(copy);
		return error_nomem();
	}
	*slot = copy;
	ev->system = copy;
	struct error *err = format_parse(ev, text, size);
	if (err)
		return ev->name ? error_at(err, "format of %s:%s", system, ev->name)
				: error_at(err, "a format of system %s", system);
	for (size_t i = 0; i < ev->format_fields.n; i++)
		if (!ev->format_fields.v[i]->common)
			TRY(field_add(ev, ev->format_fields.v[i]));
	find_probe_fields(ev);
	if (!vec_reserve(&t->events, t->events.n + 1) || !u64map_put(&t->by_id, ev->id, ev))
		return error_nomem();
	*vec_push(&t->events) = steal_ptr(ev);
	return NULL;
}

struct error *tracing_new_empty(struct tracing **out)
{
	struct tracing *t = calloc(1, sizeof(*t));

	if (!t)
		return error_nomem();
	t->long_size = sizeof(long);
	*out = t;
	return NULL;
}

struct error *tracing_new(const struct data_tracing *data, const struct log *log,
			  struct tracing **out)
{
	_cleanup_(tracing_freep) struct tracing *t = NULL;

	TRY(tracing_new_empty(&t));
	t->data = data;
	t->log = log;
	t->swap = data->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	t->long_size = data->long_size == 4 ? 4 : 8;
	printks_parse(t, cursor_make(data->printk_formats.p, data->printk_formats.size, NULL));
	*out = steal_ptr(t);
	return NULL;
}

void tracing_free(struct tracing *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->events.n; i++)
		event_free(t->events.v[i]);
	vec_deinit(&t->events);
	u64map_deinit(&t->by_id);
	for (size_t i = 0; i < t->printks.n; i++)
		free(t->printks.v[i].text);
	vec_deinit(&t->printks);
	free(t);
}

void tracing_set_symbols(struct tracing *t, trace_symbol_fn *fn, void *ctx)
{
	t->symbol = fn;
	t->symbol_ctx = ctx;
}

/* Stands in by_id for an id that has no format, so that it is sought once. */
static const struct trace_event no_event;

struct trace_event *tracing_find(struct tracing *t, uint64_t id)
{
	struct trace_event *ev = u64map_get(&t->by_id, id);

	if (ev || !t->data)
		return ev != &no_event ? ev : NULL;
	const struct data_tracing_event *d = data_tracing_find(t->data, id);
	if (d) {
		_cleanup_error_ struct error *err =
			tracing_add_format(t, d->system, d->format, d->format_size);
		ev = u64map_get(&t->by_id, id);
		t->no_memory |= err && err->code == ENOMEM;
		if (err && !t->no_memory)
			log_warn(t->log, "%s: cannot print its fields",
				 err->where ? err->where : err->msg);
	}
	if (!ev && !u64map_put(&t->by_id, id, (void *)&no_event))
		t->no_memory = true;
	return ev;
}

bool tracing_lacks_memory(const struct tracing *t)
{
	return t && t->no_memory;
}

const char *trace_event_system(const struct trace_event *ev)
{
	return ev->system;
}

const char *trace_event_name(const struct trace_event *ev)
{
	return ev->name;
}

size_t trace_event_n_fields(const struct trace_event *ev)
{
	return ev->fields.n;
}

const struct trace_field *trace_event_field(const struct trace_event *ev, size_t i)
{
	return i < ev->fields.n ? &ev->fields.v[i] : NULL;
}

const struct trace_field *trace_event_find_field(const struct trace_event *ev, const char *name)
{
	for (size_t i = 0; i < ev->fields.n; i++)
		if (!strcmp(ev->fields.v[i].name, name))
			return &ev->fields.v[i];
	return NULL;
}

bool trace_field_is_inner(const struct trace_event *ev, const struct trace_field *f)
{
	return ev->probe_err && (f == ev->probe_err || f == ev->probe_ip);
}

bool trace_event_probe_ip(const struct trace_event *ev, const void *raw, uint32_t size,
			  uint64_t *ip)
{
	return ev->probe_ip && trace_field_number(ev, ev->probe_ip, raw, size, ip);
}

bool trace_event_has_value(const struct trace_event *ev, size_t i, const void *raw, uint32_t size)
{
	const struct trace_field *error = ev->probe_err;
	uint64_t failed;

	return !error || i >= 64 || !trace_field_number(ev, error, raw, size, &failed) ||
	       !(failed >> i & 1);
}

static uint64_t sign_extend(uint64_t v, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;

	return bytes && bytes < 8 ? (uint64_t)((int64_t)(v << shift) >> shift) : v;
}

bool trace_field_number(const struct trace_event *ev, const struct trace_field *f, const void *raw,
			uint32_t size, uint64_t *value)
{
	if (f->size > size || f->offset > size - f->size)
		return false;
	uint64_t v = payload_number(ev->tracing, raw, size, f->offset, f->size);
	*value = f->kind == TRACE_FIELD_SIGNED ? sign_extend(v, f->size) : v;
	return true;
}

bool trace_field_bytes(const struct trace_event *ev, const struct trace_field *f, const void *raw,
		       uint32_t size, const uint8_t **bytes, uint32_t *len)
{
	uint64_t off = f->offset, n = f->size;

	if (f->dynamic) {
		if (f->size != 4 || size < 4 || f->offset > size - 4)
			return false;
		uint64_t v = payload_number(ev->tracing, raw, size, f->offset, 4);
		off = (v & 0xffff) + (f->relative ? f->offset + f->size : 0);
		n = v >> 16;
	} else if (!n && f->offset <= size) {
		n = size - f->offset; /* "the rest of the payload" */
	}
	if (n > size || off > size - n)
		return false;
	*bytes = (const uint8_t *)raw + off;
	*len = (uint32_t)n;
	if (f->kind == TRACE_FIELD_STRING)
		*len = (uint32_t)strnlen((const char *)*bytes, n);
	return true;
}

uint64_t trace_field_elem(const struct trace_event *ev, const struct trace_field *f,
			  const uint8_t *bytes, uint32_t i)
{
	uint32_t end = (i + 1) * f->elem_size;
	uint64_t v = payload_number(ev->tracing, bytes, end, end - f->elem_size, f->elem_size);

	return f->elem_signed ? sign_extend(v, f->elem_size) : v;
}

bool trace_event_is_plain(const struct trace_event *ev)
{
	return ev->only_numbers;
}

void trace_event_print(struct trace_event *ev, const void *raw, uint32_t size, struct strbuf *out)
{
	if (ev->state == EVENT_NEW)
		program_compile(ev);
	if (ev->state == EVENT_COMPILED) {
		program_run(ev, raw, size, out);
		return;
	}
	strbuf_adds(out, "[FAILED TO PARSE]");
	trace_event_print_fields(ev, raw, size, out);
}
