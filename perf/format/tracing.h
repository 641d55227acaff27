/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tracepoints as text: the format files of a recording (feature TRACING_DATA)
 * and, by them, the payload of a sample as its event's "print fmt" writes it.
 *
 *	struct tracing *t;
 *	TRY(tracing_new(session_tracing(s), NULL, &t));
 *	const struct trace_event *ev = tracing_find(t, attr->config);
 *	if (ev)
 *		trace_event_print(ev, sample->raw, sample->raw_size, out);
 *	tracing_free(t);
 *
 * Parsing and printing are our own, bounded against whatever a file holds, and
 * compiled per event; the text is byte for byte what libtraceevent would write.
 */
#ifndef PB_PERF_FORMAT_TRACING_H
#define PB_PERF_FORMAT_TRACING_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cursor.h"
#include "lib/base/error.h"
#include "lib/base/json_writer.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"
#include "perf/data/data.h"

struct tracing;
struct trace_event;

/*
 * data and log outlive the result. Format files are parsed when their event is
 * first sought; one that makes no sense is said in the log.
 */
struct error *tracing_new(const struct data_tracing *data, const struct log *log,
			  struct tracing **out);
void tracing_free(struct tracing *t);
DEFINE_FREEP(struct tracing, tracing_free)

/* Adds one format file; system is "sched". For live sessions and tests. */
struct error *tracing_add_format(struct tracing *t, const char *system, const char *text,
				 size_t size);
/* An empty set, for tracing_add_format(): events of the host's byte order and long. */
struct error *tracing_new_empty(struct tracing **out);

/*
 * Names kernel addresses for %ps and %pS. The name and *start (the symbol's
 * first address) are read before the next call; NULL: no name.
 */
typedef const char *trace_symbol_fn(void *ctx, uint64_t addr, uint64_t *start);
void tracing_set_symbols(struct tracing *t, trace_symbol_fn *fn, void *ctx);

/* By the id that attr.config holds; NULL: no such event. */
struct trace_event *tracing_find(struct tracing *t, uint64_t id);

/* There was no memory for a format: what was printed by it is not whole. t may be NULL. */
bool tracing_lacks_memory(const struct tracing *t);

const char *trace_event_system(const struct trace_event *ev);
const char *trace_event_name(const struct trace_event *ev);

/*
 * Adds the payload as text, without a newline at the end unless the format has one. Never fails:
 * what is past the payload's end reads as zeroes. If the print format cannot be compiled, the
 * payload is printed field by field, after "[FAILED TO PARSE]", as libtraceevent does.
 */
void trace_event_print(struct trace_event *ev, const void *raw, uint32_t size, struct strbuf *out);

/* Adds " NAME=VALUE" for each of its own fields, as they are stored: tep_print_fields(). */
void trace_event_print_fields(const struct trace_event *ev, const void *raw, uint32_t size,
			      struct strbuf *out);

/*
 * Whether trace_event_print() has only added numbers and printable ASCII: true once it was called
 * and the format has no text from payloads. Else plain_since() makes what it adds safe to show.
 */
bool trace_event_is_plain(const struct trace_event *ev);

/* The event's own fields (without common_*), typed. */
enum trace_field_kind {
	TRACE_FIELD_UNSIGNED,
	TRACE_FIELD_SIGNED,
	TRACE_FIELD_POINTER,
	TRACE_FIELD_STRING, /* char arrays, __data_loc and __rel_loc strings */
	TRACE_FIELD_ARRAY,  /* of integers of elem_size bytes */
	TRACE_FIELD_FLOAT,  /* its bits; no event of the kernel has one, probes have */
};

struct trace_field {
	const char *name;
	const char *type; /* as the format file has it */
	enum trace_field_kind kind;
	uint32_t offset, size; /* in the payload */
	uint32_t elem_size;    /* of arrays: 1, 2, 4 or 8 */
	bool elem_signed;
	bool dynamic;  /* the payload holds offset and length of the value */
	bool relative; /* … counted from the end of the field */
	bool repeats;  /* an earlier field has the same name; only a damaged format has that */
};

size_t trace_event_n_fields(const struct trace_event *ev);
const struct trace_field *trace_event_field(const struct trace_event *ev, size_t i);
/* NULL: no such field. */
const struct trace_field *trace_event_find_field(const struct trace_event *ev, const char *name);

/*
 * Probes of perf-bpf record say in a field of this name which of the event's
 * other fields could not be read: bit i is the i-th one's.
 */
#define TRACE_ERROR_FIELD "__probe_err"
/* … and in the field before it, which point was hit. */
#define TRACE_IP_FIELD "__probe_ip"
/* false: the event is no such probe. 0: it is one, and does not know the address. */
bool trace_event_probe_ip(const struct trace_event *ev, const void *raw, uint32_t size,
			  uint64_t *ip);
/* Whether the field belongs to the sample and is none of the probe's arguments. */
bool trace_field_is_inner(const struct trace_event *ev, const struct trace_field *f);
/* Whether the i-th field holds a value, by that word. */
bool trace_event_has_value(const struct trace_event *ev, size_t i, const void *raw, uint32_t size);

/*
 * A field's value: an integer, sign-extended when signed; for a string or an
 * array its bytes, which lie in raw, *len of them (a string's end before its
 * NUL). false: the payload is too short.
 */
bool trace_field_number(const struct trace_event *ev, const struct trace_field *f, const void *raw,
			uint32_t size, uint64_t *value);
bool trace_field_bytes(const struct trace_event *ev, const struct trace_field *f, const void *raw,
		       uint32_t size, const uint8_t **bytes, uint32_t *len);
/* The field by itself, as libtraceevent's tep_print_field() writes it. */
void trace_field_print(const struct trace_event *ev, const struct trace_field *f, const void *raw,
		       uint32_t size, struct strbuf *out);
/* Adds the field as C declares it: "char comm[16]"; without a length if it is dynamic. */
void trace_field_declare(const struct trace_field *f, struct strbuf *out);
/*
 * Adds members to an object: "system", "tracepoint"; "fields": of each, as the format file has
 * them, those that all events share too, "name", "declaration" (as above), "offset", "size", and
 * whether it is "common", an "array", a "string", "signed", "dynamic", "relative"; "symbols": of
 * each list of names in the print format the "field", the "values" with their names, and the
 * "delimiter" of flags; "swap": the payload is not in the byte order of this machine.
 */
void trace_event_describe(const struct trace_event *ev, struct json_writer *w);
/* The i-th element of an array that trace_field_bytes() gave. */
uint64_t trace_field_elem(const struct trace_event *ev, const struct trace_field *f,
			  const uint8_t *bytes, uint32_t i);

#endif
