// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/mman.h>

#include "lib/base/cursor.h"
#include "lib/base/error.h"
#include "lib/base/hash.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"

static void error_names_the_place_from_the_outside_in(void **state)
{
	_cleanup_error_ struct error *err = error_new(EBADMSG, "%d bytes missing", 3);

	error_at(err, "section %s", "maps");
	error_at(err, "filter.o");
	error_prefix(err, "cannot open");
	error_hint(err, "compile it again");
	error_hint(err, "an outer hint does not replace an inner one");
	assert_string_equal(err->where, "filter.o: section maps");
	assert_string_equal(err->msg, "cannot open: 3 bytes missing");
	assert_string_equal(err->hint, "compile it again");
	assert_int_equal(error_to_errno(err), -EBADMSG);
	assert_null(error_at(NULL, "nowhere"));
}

static void cursor_stays_within_its_bounds_at_a_page_edge(void **state)
{
	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(pages, MAP_FAILED);
	assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
	uint8_t *edge = pages + 4096 - 7;
	memcpy(edge,
	       "\x01\x02\x03\x04"
	       "abc",
	       7);

	struct cursor c = cursor_make(edge, 7, "edge");
	uint64_t wide = 99;
	uint32_t v = 0;
	assert_false(cursor_u64(&c, &wide));
	assert_int_equal(wide, 99);
	assert_true(cursor_u32(&c, &v));
	assert_int_equal(v, 0x04030201);
	assert_null(cursor_cstr(&c)); /* no NUL before the edge */
	assert_int_equal(c.pos, 4);
	assert_false(cursor_skip(&c, 4));
	assert_non_null(cursor_bytes(&c, 3));
	assert_true(cursor_end(&c));
	assert_non_null(cursor_bytes(&c, 0));

	struct cursor sub;
	assert_false(cursor_sub(&c, 5, UINT64_MAX, &sub));
	assert_true(cursor_sub(&c, 0, 4, &sub));
	sub.swap = true;
	assert_true(cursor_u32(&sub, &v));
	assert_int_equal(v, 0x01020304);
	munmap(pages, 8192);
}

static void strbuf_grows_and_formats(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	assert_string_equal(strbuf_str(&sb), "");
	for (int i = 0; i < 1000; i++)
		strbuf_addf(&sb, "%d,", i);
	assert_int_equal(sb.len, 3890);
	strbuf_reset(&sb);
	strbuf_add_u64(&sb, UINT64_MAX);
	strbuf_addch(&sb, ' ');
	strbuf_add_hex(&sb, 0xffffffff81000000ull);
	strbuf_addf(&sb, " %0200d", 1);
	assert_int_equal(sb.len, 20 + 1 + 16 + 1 + 200);
	assert_memory_equal(sb.str, "18446744073709551615 ffffffff81000000 000", 41);
}

static void u64map_agrees_with_a_plain_array(void **state)
{
	struct u64map map = {0};
	static char present[4096];
	uint64_t seed = 1;

	for (int i = 0; i < 40000; i++) {
		seed = hash_u64(seed + 1);
		uint64_t key = seed % ARRAY_SIZE(present);
		if (seed & 0x10000000) {
			assert_true(u64map_put(&map, key * 64, &present[key]));
			present[key] = 1;
		} else {
			assert_ptr_equal(u64map_remove(&map, key * 64),
					 present[key] ? &present[key] : NULL);
			present[key] = 0;
		}
	}
	size_t n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(present); i++) {
		n += present[i];
		assert_ptr_equal(u64map_get(&map, i * 64), present[i] ? &present[i] : NULL);
	}
	assert_int_equal(map.n, n);
	size_t pos = 0, walked = 0;
	while (u64map_next(&map, &pos))
		walked++;
	assert_int_equal(walked, n);
	u64map_deinit(&map);
}

static void strmap_finds_what_was_put(void **state)
{
	static char keys[1000][8];
	struct strmap map = {0};

	assert_null(strmap_get(&map, "k1"));
	for (int i = 0; i < 1000; i++) {
		snprintf(keys[i], sizeof(keys[i]), "k%d", i);
		assert_true(strmap_put(&map, keys[i], keys[i]));
	}
	assert_int_equal(map.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_ptr_equal(strmap_get(&map, keys[i]), keys[i]);
	assert_null(strmap_get(&map, "k1000"));
	strmap_deinit(&map);
}

static void vec_pushes_zeroed_elements(void **state)
{
	VEC(int) v = {0};
	int *it, sum = 0;

	for (int i = 0; i < 100; i++) {
		int *p = vec_push(&v);
		assert_non_null(p);
		assert_int_equal(*p, 0);
		*p = i;
	}
	vec_for_each (it, &v)
		sum += *it;
	assert_int_equal(sum, 4950);
	assert_int_equal(*vec_last(&v), 99);
	vec_deinit(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(error_names_the_place_from_the_outside_in),
		cmocka_unit_test(cursor_stays_within_its_bounds_at_a_page_edge),
		cmocka_unit_test(strbuf_grows_and_formats),
		cmocka_unit_test(u64map_agrees_with_a_plain_array),
		cmocka_unit_test(strmap_finds_what_was_put),
		cmocka_unit_test(vec_pushes_zeroed_elements),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
