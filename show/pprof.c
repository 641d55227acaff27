// SPDX-License-Identifier: BSD-2-Clause
/*
 * Strings of a profile stand in one table, whose first entry is "", and are
 * named by their place in it. Mappings, locations and functions have ids from
 * 1 on. What is 0 need not be written.
 */
#include "show/pprof.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#include "lib/base/arena.h"
#include "lib/base/hash.h"
#include "lib/base/protobuf.h"

enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NS = 9,
	PROFILE_DURATION_NS = 10,
	PROFILE_COMMENT = 13,
	VALUE_TYPE = 1,
	VALUE_UNIT = 2,
	SAMPLE_LOCATIONS = 1,
	SAMPLE_VALUES = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_TEXT = 2,
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_OFFSET = 4,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION = 1,
	LINE_NUMBER = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
};

struct pprof_profile {
	struct strbuf *out;
	struct arena arena;
	struct strmap strings, mappings, functions, locations; /* to ids */
	uint64_t n_strings, n_mappings, n_functions, n_locations;
	struct strbuf message, inner, list; /* at work */
};

/* The id of a text, from 1 on; *is_new: it was not known. 0: no memory. */
static uint64_t id_of(struct pprof_profile *p, struct strmap *map, uint64_t *n, const char *text,
		      bool *is_new)
{
	uintptr_t id = (uintptr_t)strmap_get(map, text);
	char *copy;

	*is_new = !id;
	if (id)
		return id;
	copy = arena_strdup(&p->arena, text);
	if (!copy || !strmap_put(map, copy, (void *)(uintptr_t)(*n + 1))) {
		p->out->failed = true;
		return 0;
	}
	return ++*n;
}

/* Where a text stands in the table. */
static uint64_t string_of(struct pprof_profile *p, const char *text)
{
	bool is_new;
	uint64_t id;

	if (!*text)
		return 0;
	id = id_of(p, &p->strings, &p->n_strings, text, &is_new);
	if (id && is_new)
		protobuf_add_bytes(p->out, PROFILE_STRING, text, strlen(text));
	return id; /* the first one, "", is 0 */
}

/* A file at one place of an address space. Without its place it is known by its name alone. */
static uint64_t mapping_of(struct pprof_profile *p, const struct result_frame *frame)
{
	static const struct result_mapping unknown;
	const struct result_mapping *m = frame->mapping ? frame->mapping : &unknown;
	_cleanup_strbuf_ struct strbuf id_text = STRBUF_INIT;
	bool is_new;

	strbuf_reset(&p->inner);
	strbuf_addf(&p->inner, "%s\n%" PRIx64 " %" PRIx64 " %" PRIx64 " ", frame->module, m->start,
		    m->end, m->offset);
	strbuf_add_bytes(&id_text, m->build_id, m->build_id_size);
	strbuf_adds(&p->inner, strbuf_str(&id_text));
	p->out->failed |= strbuf_failed(&p->inner) || strbuf_failed(&id_text);
	uint64_t id = id_of(p, &p->mappings, &p->n_mappings, strbuf_str(&p->inner), &is_new);
	if (!id || !is_new)
		return id;
	strbuf_reset(&p->message);
	protobuf_add_number(&p->message, MAPPING_ID, id);
	protobuf_add_number(&p->message, MAPPING_START, m->start);
	protobuf_add_number(&p->message, MAPPING_LIMIT, m->end);
	protobuf_add_number(&p->message, MAPPING_OFFSET, m->offset);
	protobuf_add_number(&p->message, MAPPING_FILE, string_of(p, frame->module));
	protobuf_add_number(&p->message, MAPPING_BUILD_ID, string_of(p, strbuf_str(&id_text)));
	protobuf_add_number(&p->message, MAPPING_HAS_FUNCTIONS, 1);
	protobuf_add_message(p->out, PROFILE_MAPPING, &p->message);
	return id;
}

static uint64_t function_of(struct pprof_profile *p, const struct result_frame *frame)
{
	const char *module = frame->module ? frame->module : "";
	/* A function has one file, but the code of a header may be inlined into it. */
	const char *file = frame->file ? frame->file : module;
	bool is_new;

	strbuf_reset(&p->inner);
	strbuf_addf(&p->inner, "%s\n%s\n%s", frame->name, module, file);
	uint64_t id = id_of(p, &p->functions, &p->n_functions, strbuf_str(&p->inner), &is_new);
	if (!id || !is_new)
		return id;
	uint64_t name = string_of(p, frame->name);
	strbuf_reset(&p->message);
	protobuf_add_number(&p->message, FUNCTION_ID, id);
	protobuf_add_number(&p->message, FUNCTION_NAME, name);
	protobuf_add_number(&p->message, FUNCTION_SYSTEM_NAME, name);
	protobuf_add_number(&p->message, FUNCTION_FILE, string_of(p, file));
	protobuf_add_message(p->out, PROFILE_FUNCTION, &p->message);
	return id;
}

/* An address; without addresses a function has one location. */
static uint64_t location_of(struct pprof_profile *p, const struct result_frame *frame)
{
	const uint64_t function = function_of(p, frame);
	const uint64_t mapping = frame->module && *frame->module ? mapping_of(p, frame) : 0;
	bool is_new;

	strbuf_reset(&p->inner);
	strbuf_addf(&p->inner, "%" PRIx64 " %" PRIx64 " %" PRIx64, function, mapping, frame->ip);
	uint64_t id = id_of(p, &p->locations, &p->n_locations, strbuf_str(&p->inner), &is_new);
	if (!id || !is_new)
		return id;
	strbuf_reset(&p->inner);
	protobuf_add_number(&p->inner, LINE_FUNCTION, function);
	if (frame->file)
		protobuf_add_number(&p->inner, LINE_NUMBER, frame->line);
	strbuf_reset(&p->message);
	protobuf_add_number(&p->message, LOCATION_ID, id);
	protobuf_add_number(&p->message, LOCATION_MAPPING, mapping);
	protobuf_add_number(&p->message, LOCATION_ADDRESS, frame->ip);
	protobuf_add_message(&p->message, LOCATION_LINE, &p->inner);
	protobuf_add_message(p->out, PROFILE_LOCATION, &p->message);
	return id;
}

/* The values of the stack, from the i-th of n sample types on; the others have none of it. */
static void add_sample(struct pprof_profile *p, const struct result_stack *s, size_t i, size_t n,
		       bool has_samples)
{
	strbuf_reset(&p->list);
	for (size_t f = 0; f < s->n_frames; f++)
		protobuf_add_varint(&p->list, location_of(p, s->frames[f]));
	strbuf_reset(&p->inner);
	for (size_t k = 0; k < n; k++)
		protobuf_add_varint(&p->inner, k == i			   ? s->count
					       : has_samples && k == i + 1 ? s->samples
									   : 0);
	strbuf_reset(&p->message);
	protobuf_add_message(&p->message, SAMPLE_LOCATIONS, &p->list);
	protobuf_add_message(&p->message, SAMPLE_VALUES, &p->inner);
	if (s->label) {
		uint64_t key = string_of(p, "who"), text = string_of(p, s->label);

		strbuf_reset(&p->inner);
		protobuf_add_number(&p->inner, LABEL_KEY, key);
		protobuf_add_number(&p->inner, LABEL_TEXT, text);
		protobuf_add_message(&p->message, SAMPLE_LABEL, &p->inner);
	}
	protobuf_add_message(p->out, PROFILE_SAMPLE, &p->message);
}

/*
 * The units that pprof scales, by its names for them (internal/measurement). It shows other
 * units as they are. "count" is what it calls a number of things.
 */
static const char *unit_of(const struct result *r)
{
	static const char *const units[][2] = {
		{"ns", "nanoseconds"},	{"us", "microseconds"}, {"µs", "microseconds"},
		{"ms", "milliseconds"}, {"s", "seconds"},	{"B", "bytes"},
		{"samples", "count"},	{"calls", "count"},	{"events", "count"},
	};

	if (!r->unit || !*r->unit)
		return "count";
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(r->unit, units[i][0]))
			return units[i][1];
	return r->unit;
}

static void add_type(struct pprof_profile *p, const char *name, const char *unit)
{
	uint64_t type = string_of(p, name), unit_id = string_of(p, unit);

	strbuf_reset(&p->message);
	protobuf_add_number(&p->message, VALUE_TYPE, type);
	protobuf_add_number(&p->message, VALUE_UNIT, unit_id);
	protobuf_add_message(p->out, PROFILE_SAMPLE_TYPE, &p->message);
}

/* "samples: 12 of 100 samples have a stack that was lost: …" */
static void add_comment(struct pprof_profile *p, const struct result *r)
{
	_cleanup_free_ char *text = r->note ? text_format("%s: %s", r->name, r->note) : NULL;
	const char *kept = text ? arena_strdup(&p->arena, text) : NULL;

	p->out->failed |= r->note && !kept;
	if (kept)
		protobuf_add_number(p->out, PROFILE_COMMENT, string_of(p, kept));
}

static void add_profile(struct pprof_profile *p, const struct results *results)
{
	bool has_samples = results->subject == RESULTS_OF_EVENTS;
	size_t n = 0, at = 0, step = has_samples ? 2 : 1;

	protobuf_add_bytes(p->out, PROFILE_STRING, "", 0);
	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];
		_cleanup_strbuf_ struct strbuf samples = STRBUF_INIT;

		if (r->kind != RESULT_STACKS)
			continue;
		add_type(p, r->name, unit_of(r));
		n += step;
		if (!has_samples)
			continue;
		strbuf_addf(&samples, "%s samples", r->name);
		add_type(p, strbuf_str(&samples), "count");
		p->out->failed |= strbuf_failed(&samples);
	}
	for (size_t i = 0; i < results->n; i++) {
		const struct result *r = &results->v[i];

		if (r->kind != RESULT_STACKS)
			continue;
		add_comment(p, r);
		for (size_t k = 0; k < r->n_stacks; k++)
			add_sample(p, &r->stacks[k], at, n, has_samples);
		at += step;
	}
	if (!results->time)
		return;
	protobuf_add_number(p->out, PROFILE_TIME_NS, results->time - results->span);
	protobuf_add_number(p->out, PROFILE_DURATION_NS, results->span);
}

static struct error *compress_to(const struct strbuf *plain, struct strbuf *out)
{
	z_stream z = {0};
	int err;

	if (plain->len > UINT32_MAX)
		return error_new(EFBIG, "the profile is larger than 4 GB");
	/* 15 bits of window, and 16: with gzip's header */
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return error_nomem();
	size_t bound = deflateBound(&z, plain->len);
	if (!strbuf_reserve(out, bound)) {
		deflateEnd(&z);
		return error_nomem();
	}
	z.next_in = (Bytef *)strbuf_str(plain);
	z.avail_in = plain->len;
	z.next_out = (Bytef *)out->str + out->len;
	z.avail_out = bound;
	err = deflate(&z, Z_FINISH);
	out->len += z.total_out;
	out->str[out->len] = 0;
	deflateEnd(&z);
	return err == Z_STREAM_END ? NULL : error_new(EIO, "cannot compress the profile");
}

struct error *results_pprof(const struct results *results, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf plain = STRBUF_INIT;
	struct pprof_profile p = {.out = &plain};

	add_profile(&p, results);
	strbuf_deinit(&p.message);
	strbuf_deinit(&p.inner);
	strbuf_deinit(&p.list);
	strmap_deinit(&p.strings);
	strmap_deinit(&p.mappings);
	strmap_deinit(&p.functions);
	strmap_deinit(&p.locations);
	arena_deinit(&p.arena);
	return strbuf_failed(&plain) ? error_nomem() : compress_to(&plain, out);
}
