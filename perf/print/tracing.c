// SPDX-License-Identifier: BSD-2-Clause
/*
 * The tracepoints of a recording. perf/data takes TRACING_DATA apart; here
 * libtraceevent parses the format file of an event when it is first asked for.
 * The library trusts what it is given, so what reaches it is held back: texts
 * of bounded size, nesting and number of operators (its parser recurses over
 * them), fields that lie within a payload's largest size, and payloads copied
 * in front of enough zeroes for any offset that 16 bits can name.
 */
#include "perf/print/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <traceevent/trace-seq.h>

/* The largest format files of Linux 6.18 are some 20 KB; of 6.1, less. */
#define FORMAT_MAX  (256 * 1024)
#define FORMAT_NEST 64
#define FORMAT_OPS  4096
#define EVENTS_MAX  65536
#define STRING_MAX  4096
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
		free(copy);
		return;
	}
	*f = (struct printk_format){.addr = addr, .text = copy};
	tep_register_print_string(t->tep, copy, addr);
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

/* Would libtraceevent's recursion over this text stay within a small stack? */
static bool format_is_sane(const char *text, size_t size)
{
	unsigned nest = 0, ops = 0;
	bool quoted = false;

	if (size > FORMAT_MAX || memchr(text, 0, size))
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '"' && (!i || text[i - 1] != '\\'))
			quoted = !quoted;
		if (quoted)
			continue;
		switch (text[i]) {
		case '(':
		case '[':
		case '{':
			if (++nest > FORMAT_NEST)
				return false;
			break;
		case ')':
		case ']':
		case '}':
			nest -= nest > 0;
			break;
		case '!':
		case '~':
		case '-':
		case '+':
		case '*':
		case '/':
		case '%':
		case '|':
		case '&':
		case '^':
		case '?':
		case '<':
		case '>':
		case '=':
			if (++ops > FORMAT_OPS)
				return false;
			break;
		}
	}
	return !quoted;
}

static void event_free(struct trace_event *ev)
{
	if (!ev)
		return;
	program_deinit(&ev->program);
	vec_deinit(&ev->fields);
	free(ev);
}
DEFINE_FREEP(struct trace_event, event_free)

static struct error *field_add(struct trace_event *ev, const struct tep_format_field *tf)
{
	uint32_t flags = (uint32_t)tf->flags;
	bool dynamic = flags & TEP_FIELD_IS_DYNAMIC;

	if (tf->offset < 0 || tf->size < 0 || tf->offset > PAYLOAD_MAX ||
	    tf->size > PAYLOAD_MAX - tf->offset)
		return error_new(EBADMSG, "field %s lies at %d, %d bytes: outside of any payload",
				 tf->name, tf->offset, tf->size);
	ev->extent = max_of(ev->extent, (uint32_t)(tf->offset + tf->size));

	struct trace_field *f = vec_push(&ev->fields);
	if (!f)
		return error_nomem();
	*f = (struct trace_field){
		.name = tf->name,
		.type = tf->type,
		.offset = (uint32_t)tf->offset,
		.size = (uint32_t)tf->size,
		.dynamic = dynamic,
		.relative = dynamic && (flags & FIELD_IS_RELATIVE),
	};
	if (flags & TEP_FIELD_IS_STRING) {
		f->kind = TRACE_FIELD_STRING;
	} else if (flags & TEP_FIELD_IS_ARRAY) {
		f->kind = TRACE_FIELD_ARRAY;
		f->elem_size = tf->elementsize;
		if (f->elem_size != 2 && f->elem_size != 4 && f->elem_size != 8)
			f->elem_size = 1;
		f->elem_signed = flags & TEP_FIELD_IS_SIGNED;
	} else if (flags & TEP_FIELD_IS_POINTER) {
		f->kind = TRACE_FIELD_POINTER;
	} else {
		f->kind = flags & TEP_FIELD_IS_SIGNED ? TRACE_FIELD_SIGNED : TRACE_FIELD_UNSIGNED;
	}
	if (f->kind != TRACE_FIELD_STRING && f->kind != TRACE_FIELD_ARRAY && f->size != 1 &&
	    f->size != 2 && f->size != 4 && f->size != 8) {
		/* A structure by value: its bytes. */
		f->kind = TRACE_FIELD_ARRAY;
		f->elem_size = 1;
	}
	return NULL;
}

static struct error *event_add(struct tracing *t, struct tep_event *tep)
{
	_cleanup_(event_freep) struct trace_event *ev = calloc(1, sizeof(*ev));

	if (!ev)
		return error_nomem();
	ev->tep = tep;
	ev->tracing = t;
	for (const struct tep_format_field *f = tep->format.common_fields; f; f = f->next)
		if (f->offset < 0 || f->size < 0 || f->offset > PAYLOAD_MAX ||
		    f->size > PAYLOAD_MAX - f->offset)
			return error_new(EBADMSG, "field %s lies outside of any payload", f->name);
	for (const struct tep_format_field *f = tep->format.fields; f; f = f->next)
		TRY(field_add(ev, f));
	if (!vec_reserve(&t->events, t->events.n + 1) ||
	    !u64map_put(&t->by_id, (uint64_t)(uint32_t)tep->id, ev))
		return error_nomem();
	*vec_push(&t->events) = steal_ptr(ev);
	return NULL;
}

struct error *tracing_add_format(struct tracing *t, const char *system, const char *text,
				 size_t size)
{
	struct tep_event *tep = NULL;

	if (!format_is_sane(text, size))
		return error_new(EBADMSG, "a format file of system %s is no such file", system);
	if (t->events.n >= EVENTS_MAX)
		return error_new(E2BIG, "more than %d events", EVENTS_MAX);

	if (tep_parse_format(t->tep, &tep, text, size, system) || !tep)
		return error_new(EBADMSG, "a format file of system %s cannot be parsed", system);
	return error_at(event_add(t, tep), "format of %s:%s", tep->system, tep->name);
}

struct error *tracing_new_empty(struct tracing **out)
{
	_cleanup_(tracing_freep) struct tracing *t = calloc(1, sizeof(*t));

	if (!t)
		return error_nomem();
	t->tep = tep_alloc();
	if (!t->tep)
		return error_nomem();
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_flag(t->tep, TEP_NSEC_OUTPUT);
	tep_set_flag(t->tep, TEP_DISABLE_PLUGINS);
	tep_set_local_bigendian(t->tep, tep_is_bigendian());
	tep_set_file_bigendian(t->tep, tep_is_bigendian());
	tep_set_long_size(t->tep, sizeof(long));
	tep_set_page_size(t->tep, 4096);
	t->long_size = sizeof(long);
	*out = steal_ptr(t);
	return NULL;
}

struct error *tracing_new(const struct data_tracing *data, const struct log *log,
			  struct tracing **out)
{
	_cleanup_(tracing_freep) struct tracing *t = NULL;
	int big = data->big_endian ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN;

	TRY(tracing_new_empty(&t));
	t->data = data;
	t->log = log;
	t->swap = big != tep_is_bigendian();
	t->long_size = data->long_size == 4 ? 4 : 8;
	tep_set_file_bigendian(t->tep, big);
	tep_set_long_size(t->tep, t->long_size);
	tep_set_page_size(t->tep, data->page_size < INT32_MAX ? (int)data->page_size : 4096);
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
	if (t->tep)
		tep_free(t->tep);
	free(t->padded);
	free(t);
}

static char *resolve_symbol(void *ctx, unsigned long long *addr, char **module)
{
	struct tracing *t = ctx;
	uint64_t start = *addr;
	const char *name = t->symbol(t->symbol_ctx, *addr, &start);

	*module = NULL;
	if (name)
		*addr = start;
	return (char *)name;
}

void tracing_set_symbols(struct tracing *t, trace_symbol_fn *fn, void *ctx)
{
	t->symbol = fn;
	t->symbol_ctx = ctx;
	tep_reset_function_resolver(t->tep);
	if (fn)
		tep_set_function_resolver(t->tep, resolve_symbol, t);
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
		if (err)
			log_warn(t->log, "%s: its fields cannot be printed",
				 err->where ? err->where : err->msg);
	}
	if (!ev)
		u64map_put(&t->by_id, id, (void *)&no_event);
	return ev;
}

struct trace_event *tracing_find_name(struct tracing *t, const char *system, const char *name)
{
	for (size_t i = 0; i < t->events.n; i++) {
		struct trace_event *ev = t->events.v[i];
		if (!strcmp(ev->tep->name, name) && (!system || !strcmp(ev->tep->system, system)))
			return ev;
	}
	return NULL;
}

struct trace_event *tracing_at(struct tracing *t, size_t i)
{
	return i < t->events.n ? t->events.v[i] : NULL;
}

const char *trace_event_system(const struct trace_event *ev)
{
	return ev->tep->system;
}

const char *trace_event_name(const struct trace_event *ev)
{
	return ev->tep->name;
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

/*
 * libtraceevent with the payload in front of zeroes: the furthest that a
 * dynamic field of 16 bits, counted from the end of the last fixed field, can
 * reach with a length of 16 bits.
 */
static const uint8_t *payload_padded(struct tracing *t, const void *raw, uint32_t *size)
{
	const size_t room = 4 * PAYLOAD_MAX + 64;

	if (!t->padded)
		t->padded = malloc(room);
	if (!t->padded)
		return NULL;
	*size = min_of(*size, (uint32_t)PAYLOAD_MAX);
	memcpy(t->padded, raw, *size);
	memset(t->padded + *size, 0, room - *size);
	return t->padded;
}

static void print_by_library(struct trace_event *ev, const void *raw, uint32_t size, bool fields,
			     struct strbuf *out)
{
	const uint8_t *padded = payload_padded(ev->tracing, raw, &size);
	struct tep_record record = {0};
	struct trace_seq seq;

	if (!padded) {
		out->failed = true;
		return;
	}
	record.data = (void *)padded;
	record.size = (int)max_of(size, ev->extent);
	trace_seq_init(&seq);
	if (fields) {
		tep_print_fields(&seq, record.data, record.size, ev->tep);
	} else {
		/* It finds the event by the id in the payload, which is not to be trusted. */
		const struct tep_format_field *type = tep_find_common_field(ev->tep, "common_type");
		if (type && (type->size == 2 || type->size == 4)) {
			uint32_t id = (uint32_t)ev->tep->id;
			uint16_t id16 = (uint16_t)id;

			if (ev->tracing->swap) {
				id = bswap_32(id);
				id16 = bswap_16(id16);
			}
			if (type->size == 2)
				memcpy(ev->tracing->padded + type->offset, &id16, 2);
			else
				memcpy(ev->tracing->padded + type->offset, &id, 4);
			tep_print_event(ev->tep->tep, &seq, &record, "%s", TEP_PRINT_INFO);
		}
	}
	if (seq.state == TRACE_SEQ__GOOD)
		strbuf_add(out, seq.buffer, seq.len);
	trace_seq_destroy(&seq);
}

bool trace_event_print_slowly(struct trace_event *ev, const void *raw, uint32_t size,
			      struct strbuf *out)
{
	if (!program_library_is_safe(ev))
		return false;
	print_by_library(ev, raw, size, false, out);
	return true;
}

bool trace_event_is_compiled(struct trace_event *ev)
{
	if (ev->state == EVENT_NEW)
		program_compile(ev);
	return ev->state == EVENT_COMPILED;
}

void trace_event_print(struct trace_event *ev, const void *raw, uint32_t size, struct strbuf *out)
{
	if (ev->state == EVENT_NEW)
		program_compile(ev);
	if (ev->state == EVENT_COMPILED)
		program_run(ev, raw, size, out);
	else
		print_by_library(ev, raw, size, ev->state == EVENT_RAW, out);
}
