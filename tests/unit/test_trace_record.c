// SPDX-License-Identifier: BSD-2-Clause
/* Records of trace: each that is cut, or says what cannot be, is refused. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/util.h"
#include "trace/record_check.h"

/* A record with two arguments and two pieces: 5 bytes, and none. */
union whole {
	struct trace_record head;
	uint8_t bytes[sizeof(struct trace_record) + 2 * 8 + 24 + 8 + 24];
};

#define REST (sizeof(struct trace_record) + 2 * 8) /* where the pieces begin */

static union whole make(void)
{
	union whole w = {.bytes = {0}};
	struct trace_piece first = {.arg = 5, .copy = 5, .part = TRACE_PART_CONTROL, .len = 5},
			   second = {.arg = 1};

	w.head.size = sizeof(w);
	w.head.nr = 1023;
	w.head.abi = TRACE_ABI_X32;
	w.head.n_args = 2;
	w.head.n_pieces = 2;
	memcpy(w.bytes + REST, &first, sizeof(first));
	memcpy(w.bytes + REST + 32, &second, sizeof(second));
	return w;
}

/* On the heap, so that the sanitizers see what is read behind it. */
static bool fits(const union whole *w, size_t size)
{
	void *copy = malloc(size ? size : 1);
	struct error *err;

	memcpy(copy, w, size);
	err = trace_record_check(copy, size);
	free(copy);
	if (err)
		assert_int_equal(err->code, EBADMSG);
	bool good = !err;
	error_free(err);
	return good;
}

TEST(test_whole)
{
	union whole w = make();

	assert_int_equal(sizeof(w), 64 + 16 + 56);
	assert_true(fits(&w, sizeof(w)));
	union whole bare = {.head = {.size = sizeof(w.head)}};
	assert_true(fits(&bare, sizeof(bare.head)));
}

TEST(test_cut)
{
	for (size_t size = 0; size < sizeof(union whole); size++) {
		union whole w = make();

		assert_false(fits(&w, size));
		/* and one that knows its size */
		w.head.size = (uint32_t)size;
		assert_false(fits(&w, size));
	}
}

TEST(test_more_than_it_says)
{
	union whole w = make();

	w.head.n_pieces = 1;
	assert_false(fits(&w, sizeof(w)));
	w = make();
	w.head.n_args = 1;
	assert_false(fits(&w, sizeof(w)));
}

TEST(test_what_cannot_be)
{
	const struct {
		size_t at;
		uint8_t value;
	} changes[] = {
		{offsetof(struct trace_record, size), 0},
		{offsetof(struct trace_record, size) + 3, 0x80},
		{offsetof(struct trace_record, abi), TRACE_ABIS},
		{offsetof(struct trace_record, n_args), TRACE_ARGS + 1},
		{offsetof(struct trace_record, n_args), 255},
		{offsetof(struct trace_record, n_pieces), 3},
		{offsetof(struct trace_record, n_pieces), 255},
		{REST + offsetof(struct trace_piece, arg), TRACE_ARGS},
		{REST + offsetof(struct trace_piece, copy), TRACE_COPIES},
		{REST + offsetof(struct trace_piece, part), TRACE_PART_POINTED + 1},
		{REST + offsetof(struct trace_piece, len), 9},
		{REST + offsetof(struct trace_piece, len) + 1, 255},
		{REST + 32 + offsetof(struct trace_piece, len), 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		union whole w = make();

		((uint8_t *)&w)[changes[i].at] = changes[i].value;
		assert_false(fits(&w, sizeof(w)));
	}
}
