// SPDX-License-Identifier: BSD-2-Clause
/*
 * Selections of samples: the first byte chooses which, the rest is the text. Any text
 * is one, or an error of usage; a condition that was taken can be checked and evaluated.
 */
#include <stdlib.h>
#include <string.h>

#include "perf/filter/internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a field is depends on its name alone. */
static struct where_value value_of(void *ctx, size_t i)
{
	const struct where_field *field = where_field(ctx, i);
	struct where_value v = {.number = (uint64_t)field->name[0] << (field->name[0] & 63)};

	switch (field->name[0] % 4) {
	case 0:
		break;
	case 1:
		v.type = WHERE_NUMBER;
		v.is_signed = strlen(field->name) & 1;
		break;
	case 2:
		v.type = WHERE_NUMBER;
		v.is_float = true;
		v.real = (double)field->name[0] / 7;
		break;
	default:
		v.type = WHERE_STRING;
		v.str = field->name;
		v.len = strlen(field->name);
		break;
	}
	return v;
}

static struct error *condition(const char *text)
{
	_cleanup_(where_freep) struct where *w = NULL;
	_cleanup_free_ enum where_type *types = NULL;
	size_t misfit = SIZE_MAX;

	struct error *err = where_parse(text, &w);
	if (err) {
		if (w || (!strstr(err->msg, "column ") && !strstr(err->msg, "at most")))
			__builtin_trap();
		return err;
	}
	const size_t n = where_n_fields(w);
	types = calloc(n + 1, sizeof(*types));
	if (!types)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		if (where_field(w, i)->at >= strlen(text))
			__builtin_trap();
		types[i] = value_of(w, i).type;
	}
	err = where_check(w, types, &misfit);
	if (err && misfit >= n)
		__builtin_trap();
	where_is_true(w, value_of, w);
	return err;
}

static struct error *spans(const char *text)
{
	struct time_spans spans = {0};

	struct error *err = time_spans_parse("--time", text, &spans);
	time_spans_set_bounds(&spans, 1000, 123456789);
	/* A span that was taken holds both its ends. */
	for (size_t i = 0; !err && i < spans.n; i++)
		if (!time_spans_have(&spans, spans.v[i].start) ||
		    (spans.v[i].has_end && !time_spans_have(&spans, spans.v[i].end)))
			__builtin_trap();
	vec_deinit(&spans);
	return err;
}

static struct error *lists(const char *text)
{
	_cleanup_free_ uint64_t *bits = NULL;
	_cleanup_names_ struct names names = {0};
	struct filter_numbers numbers = {0};

	struct error *err = numbers_parse("--pid", text, &numbers);
	for (size_t i = 0; i < numbers.n; i++)
		if (!err && (numbers.v[i] < 0 || !numbers_have(&numbers, numbers.v[i])))
			__builtin_trap();
	vec_deinit(&numbers);
	/* A list of ids is one of names, too; below the limit, also one of CPUs. */
	struct error *of_names = names_parse("--comms", text, &names);
	if (!err && of_names)
		__builtin_trap();
	error_free(of_names);
	error_free(cpus_parse("--cpu", text, &bits));
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = malloc(size + 1);

	if (!text || !size)
		return 0;
	memcpy(text, data + 1, size - 1);
	text[size - 1] = 0;
	struct error *err = data[0] % 3 == 0   ? condition(text)
			    : data[0] % 3 == 1 ? spans(text)
					       : lists(text);
	if (err && !err->usage)
		__builtin_trap();
	error_free(err);
	return 0;
}
