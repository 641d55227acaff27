// SPDX-License-Identifier: BSD-2-Clause
/* Lines of call chains that were printed before: the text that is found is the key's own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perf/print/frame_cache.h"

static const int place, other_place;

static void keep(struct frame_cache *cache, const struct frame_key *key, const char *text)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	strbuf_adds(&out, "before ");
	const size_t from = out.len;
	strbuf_adds(&out, text);
	frame_cache_keep(cache, key, &out, from);
}

/* NULL: it is not known. */
static char *known(const struct frame_cache *cache, const struct frame_key *key)
{
	struct strbuf out = STRBUF_INIT;

	strbuf_addch(&out, '>');
	if (frame_cache_add(cache, key, &out))
		return strbuf_steal(&out);
	assert_int_equal(out.len, 1);
	strbuf_deinit(&out);
	return NULL;
}

static void check_known(const struct frame_cache *cache, const struct frame_key *key,
			const char *text)
{
	char *found = known(cache, key);

	assert_non_null(found);
	assert_string_equal(found, text);
	free(found);
}

TEST(a_text_is_of_its_key)
{
	const struct frame_key key = {&place, 0x1234, 3};
	const struct frame_key others[] = {
		{&other_place, 0x1234, 3}, {&place, 0x1235, 3}, {&place, 0x1234, 2}, {NULL, 0, 0}};
	struct frame_cache cache = {0};

	assert_null(known(&cache, &key));
	keep(&cache, &key, "\t1234 main+0x4 (prog)\n");
	check_known(&cache, &key, ">\t1234 main+0x4 (prog)\n");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		assert_null(known(&cache, &others[i]));
	/* an address without a map is a key as well; a text can be empty */
	keep(&cache, &others[3], "");
	check_known(&cache, &others[3], ">");
	check_known(&cache, &key, ">\t1234 main+0x4 (prog)\n");
	frame_cache_deinit(&cache);
	assert_null(known(&cache, &key));
}

/* Far more keys than there is room for, with texts of all lengths: each has its own or none. */
TEST(a_full_cache_forgets)
{
	struct frame_cache cache = {0};
	char text[100];
	size_t n_known = 0;

	for (unsigned i = 0; i < 60000; i++) {
		snprintf(text, sizeof(text), "%*u", (int)(i * 7 % 90), i);
		keep(&cache, &(struct frame_key){&place, i * 16, i % 3}, text);
	}
	for (unsigned i = 0; i < 60000; i++) {
		char *found = known(&cache, &(struct frame_key){&place, i * 16, i % 3});

		snprintf(text, sizeof(text), ">%*u", (int)(i * 7 % 90), i);
		if (found)
			assert_string_equal(found, text);
		n_known += !!found;
		free(found);
	}
	assert_true(n_known > 8000 && n_known < 60000);
	frame_cache_deinit(&cache);
}

/* Keys that differ in one part only: of so many, some share a slot. */
TEST(one_slot_has_one_text)
{
	struct frame_cache cache = {0};

	for (uint64_t addr = 0; addr < 300000; addr++) {
		keep(&cache, &(struct frame_key){&place, addr, 3}, "text");
		assert_null(known(&cache, &(struct frame_key){&other_place, addr, 3}));
		assert_null(known(&cache, &(struct frame_key){&place, addr, 3 | 1ull << 40}));
	}
	frame_cache_deinit(&cache);
}

/* C++ has names of kilobytes: they would take more memory than all others. */
TEST(long_texts_are_not_kept)
{
	const struct frame_key key = {&place, 1, 1};
	struct frame_cache cache = {0};
	char text[600];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	keep(&cache, &key, "short");
	keep(&cache, &key, text);
	check_known(&cache, &key, ">short");
	frame_cache_deinit(&cache);
}

/* What was not added whole is not a text. */
TEST(a_failed_buffer_is_not_kept)
{
	const struct frame_key key = {&place, 1, 1};
	struct frame_cache cache = {0};
	struct strbuf out = STRBUF_INIT;

	strbuf_adds(&out, "half");
	out.failed = true;
	frame_cache_keep(&cache, &key, &out, 0);
	assert_null(known(&cache, &key));
	strbuf_deinit(&out);
	frame_cache_deinit(&cache);
}
