// SPDX-License-Identifier: BSD-2-Clause
/*
 * TRACING_DATA from hostile bytes: taken apart, its format files parsed and
 * compiled, described, and a payload printed by each. The input begins with the
 * payload's length and the payload.
 */
#include "perf/format/tracing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_all(struct trace_event *ev, const void *raw, uint32_t size)
{
	struct strbuf out = STRBUF_INIT;
	const uint8_t *bytes;
	uint32_t len;
	uint64_t v;

	trace_event_print(ev, raw, size, &out);
	struct json_writer w = json_writer_make(&out);
	jw_object(&w, NULL);
	trace_event_describe(ev, &w);
	jw_end(&w);
	json_writer_finish(&w);
	for (size_t i = 0; i < trace_event_n_fields(ev); i++) {
		const struct trace_field *f = trace_event_field(ev, i);

		trace_field_number(ev, f, raw, size, &v);
		if (trace_field_bytes(ev, f, raw, size, &bytes, &len) &&
		    f->kind == TRACE_FIELD_ARRAY)
			for (uint32_t k = 0; k < len / f->elem_size; k++)
				trace_field_elem(ev, f, bytes, k);
	}
	strbuf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracing *t = NULL;
	struct data_tracing parts;

	if (size < 1 || size < 1u + data[0])
		return 0;
	const uint8_t *raw = data + 1;
	uint32_t raw_size = data[0];
	struct cursor c = cursor_make(raw + raw_size, size - 1 - raw_size, "fuzz");
	struct error *err = data_tracing_decode(c, &parts);

	if (err) {
		error_free(err);
		return 0;
	}
	err = tracing_new(&parts, NULL, &t);
	if (err)
		error_free(err);
	for (size_t i = 0; t && i < parts.n_events && i < 64; i++) {
		struct trace_event *ev = tracing_find(t, parts.events[i].id);

		if (ev)
			print_all(ev, raw, raw_size);
	}
	tracing_free(t);
	data_tracing_deinit(&parts);
	return 0;
}
