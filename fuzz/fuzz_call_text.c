// SPDX-License-Identifier: BSD-2-Clause
/*
 * The input's bytes as a record of a system call, shown in each style. The first byte chooses the
 * options; the record follows it. Text must be free of what a terminal obeys.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/cleanup.h"
#include "syscalls/call_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct call_table *table;

static void check_text(const struct strbuf *out)
{
	for (size_t i = 0; i < out->len; i++)
		if ((uint8_t)out->str[i] < 0x20 || (uint8_t)out->str[i] >= 0x7f)
			__builtin_trap();
}

static void show(const struct trace_record *rec, const struct call_text_opts *opts)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, json = STRBUF_INIT;
	struct json_writer w = json_writer_make(&json);
	struct error *err = call_text_add(&text, table, rec, opts);

	if (!err)
		check_text(&text);
	error_free(err);
	if (rec->flags & TRACE_EVENT) {
		strbuf_reset(&text);
		err = call_text_add_signal(&text, table, rec, opts);
		call_text_add_end(&text, (int)rec->ret, opts);
		if (!err)
			check_text(&text);
		error_free(err);
	}
	jw_object(&w, NULL);
	err = call_json_add(&w, table, rec, opts);
	if (!err)
		jw_end(&w);
	json_writer_finish(&w);
	if (!err && w.fault)
		__builtin_trap();
	error_free(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!table) {
		const struct call_table_opts opts = {.sz = sizeof(opts)};

		error_free(call_table_new(&opts, &table));
	}
	if (!size || size - 1 < sizeof(struct trace_record))
		return 0;
	/* aligned, and with nothing behind it */
	_cleanup_free_ struct trace_record *rec = malloc(size - 1);

	if (!rec || !table)
		return 0;
	memcpy(rec, data + 1, size - 1);
	rec->size = (uint32_t)(size - 1);
	const struct call_text_opts opts = {
		.style = data[0] & 1 ? CALL_STYLE_STRACE : CALL_STYLE_PERF,
		.raw = data[0] >> 1 & 1,
		.full = data[0] >> 2 & 1,
		.hex_strings = data[0] >> 3 & 3,
		.show_zeros = data[0] >> 5 & 1,
		.show_prefix = data[0] >> 6 & 1,
		.fd_paths = data[0] >> 7,
	};
	show(rec, &opts);
	return 0;
}
