// SPDX-License-Identifier: BSD-2-Clause
#include <sys/mman.h>

#include "lib/base/arena.h"
#include "lib/base/cursor.h"
#include "lib/base/digits.h"
#include "lib/base/error.h"
#include "lib/base/hash.h"
#include "lib/base/sha256.h"
#include "lib/base/strbuf.h"
#include "lib/base/vec.h"

TEST(error_names_the_place_from_the_outside_in)
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

TEST(usage_is_a_mark_of_its_own)
{
	_cleanup_error_ struct error *err = error_usage("--%s: wrong", "cpu");
	_cleanup_error_ struct error *other = error_new(EINVAL, "damaged");

	assert_true(err->usage);
	assert_int_equal(err->code, EINVAL);
	assert_string_equal(err->msg, "--cpu: wrong");
	assert_false(other->usage);
	assert_true(error_mark_usage(other)->usage);
	assert_false(error_mark_usage(error_nomem())->usage);
	assert_null(error_mark_usage(NULL));
}

TEST(cursor_stays_within_its_bounds_at_a_page_edge)
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

TEST(strbuf_grows_and_formats)
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
	strbuf_cut(&sb, 2);
	strbuf_add_bytes(&sb, "\x00\x9f\xe1", 3);
	assert_string_equal(strbuf_str(&sb), "18009fe1");
	char bytes[5] = "xxxx";
	text_bytes(bytes, "\xab\xcd", 2);
	assert_string_equal(bytes, "abcd");
	text_bytes(bytes, NULL, 0);
	assert_string_equal(bytes, "");
	strbuf_cut(&sb, 2);
	strbuf_add_double(&sb, 0.1);
	strbuf_addch(&sb, ' ');
	strbuf_add_double(&sb, 0.1 + 0.2);
	strbuf_addch(&sb, ' ');
	strbuf_add_double(&sb, 1e300);
	assert_string_equal(strbuf_str(&sb), "180.1 0.30000000000000004 1e+300");
	/* around each power of 10 and of 2, where the count of digits changes */
	for (unsigned i = 0; i < 64 + 20; i++) {
		uint64_t power = i < 64 ? 1ull << i : 1;

		for (unsigned k = 64; k < i; k++)
			power *= 10;
		for (uint64_t v = power - 1; v - (power - 1) < 3; v++) {
			char text[64];

			snprintf(text, sizeof(text), "%llu %llx", (unsigned long long)v,
				 (unsigned long long)v);
			strbuf_reset(&sb);
			strbuf_add_u64(&sb, v);
			strbuf_addch(&sb, ' ');
			strbuf_add_hex(&sb, v);
			assert_string_equal(strbuf_str(&sb), text);
		}
	}
}

/* Digits of all lengths, and with zeros in front, as printf() writes them. */
TEST(digits_are_those_of_printf)
{
	char text[64], want[64];
	uint64_t v = 1;

	for (unsigned i = 0; i < 20000; i++) {
		v = hash_u64(v + 1);
		const uint64_t some = v >> i % 64;

		snprintf(want, sizeof(want), "%020llu", (unsigned long long)some);
		for (unsigned n = 1; n <= 20; n++) {
			memset(text, 'x', sizeof(text));
			char *end = digits_put(text + 8, some, n);
			assert_ptr_equal(end, text + 8 + n);
			assert_memory_equal(text + 8, want + 20 - n, n);
			assert_memory_equal(text, "xxxxxxxx", 8);
			assert_int_equal(end[DIGITS_SLACK], 'x');
		}
		snprintf(want, sizeof(want), "%16llx", (unsigned long long)some);
		memset(text, 'x', sizeof(text));
		digits_put_hex16(text + 8, some);
		assert_memory_equal(text + 8, want, 16);
		assert_memory_equal(text, "xxxxxxxx", 8);
		assert_int_equal(text[8 + 2 * 16], 'x');
	}
}

TEST(u64map_agrees_with_a_plain_array)
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

TEST(strmap_finds_what_was_put)
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

TEST(vec_pushes_zeroed_elements)
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

TEST(arena_gives_zeroed_memory_that_stays)
{
	struct arena arena = {0};
	uint64_t *pieces[1000];

	for (size_t i = 0; i < 1000; i++) {
		pieces[i] = arena_alloc(&arena, sizeof(uint64_t) * (i % 50 + 1));
		assert_non_null(pieces[i]);
		assert_int_equal((uintptr_t)pieces[i] % 8, 0);
		for (size_t k = 0; k <= i % 50; k++) {
			assert_int_equal(pieces[i][k], 0);
			pieces[i][k] = i;
		}
	}
	for (size_t i = 0; i < 1000; i++)
		for (size_t k = 0; k <= i % 50; k++)
			assert_int_equal(pieces[i][k], i);
	char *large = arena_alloc(&arena, 1 << 20);
	assert_non_null(large);
	large[(1 << 20) - 1] = 1;
	assert_string_equal(arena_text(&arena, "abcdef", 3), "abc");
	assert_string_equal(arena_strdup(&arena, ""), "");
	assert_null(arena_alloc(&arena, SIZE_MAX));
	assert_in_range(arena.total, (1 << 20) + 8 * 25500, (2 << 20));
	arena_deinit(&arena);
	assert_null(arena.blocks);
	assert_int_equal(arena.total, 0);
}

/* The examples of FIPS 180-2, and lengths around the end of a block. */
TEST(sha256_gives_the_standards_digests)
{
	static const struct {
		const char *text;
		size_t repeat;
		const char *digest;
	} examples[] = {
		{"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
		{"a", 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
		{"a", 56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
		{"a", 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
		uint8_t digest[SHA256_BYTES];
		char hex[2 * SHA256_BYTES + 1];

		for (size_t r = 0; r < examples[i].repeat; r++)
			strbuf_adds(&text, examples[i].text);
		sha256(text.str, text.len, digest);
		for (int b = 0; b < SHA256_BYTES; b++)
			sprintf(hex + 2 * b, "%02x", digest[b]);
		assert_string_equal(hex, examples[i].digest);
	}
}

TEST(errors_in_texts_have_a_mark)
{
	struct error *err = error_in_text(ENOENT, "condition", "a\tx > 5", 2, "unknown '%s'", "x");

	assert_int_equal(err->code, ENOENT);
	assert_string_equal(err->msg, "condition, column 3:\n  'a x > 5'\n     \\___ unknown 'x'");
	error_free(err);
	err = error_in_text(EINVAL, "filter", "a", 100, "more");
	assert_string_equal(err->msg, "filter, column 2:\n  'a'\n    \\___ more");
	error_free(err);
}
