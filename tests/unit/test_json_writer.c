// SPDX-License-Identifier: BSD-2-Clause
/* JSON as it is written: commas, levels, hostile text, numbers; jansson reads it back. */
#include <math.h>
#include <jansson.h>

#include "lib/base/json.h"
#include "lib/base/json_writer.h"

#define WRITER(w)                                                                                  \
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;                                          \
	struct json_writer w = json_writer_make(&out)

static void finish(struct json_writer *w, const char *text)
{
	json_error_t err;

	json_writer_finish(w);
	assert_null(w->fault);
	assert_false(strbuf_failed(w->out));
	assert_string_equal(strbuf_str(w->out), text);
	json_t *tree = json_loadb(w->out->str, w->out->len,
				  JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &err);
	assert_non_null(tree);
	json_decref(tree);
}

TEST(commas_are_where_they_belong)
{
	WRITER(w);

	jw_object(&w, NULL);
	jw_array(&w, "empty");
	jw_end(&w);
	jw_object(&w, "none");
	jw_end(&w);
	jw_array(&w, "list");
	jw_u64(&w, NULL, 1);
	jw_array(&w, NULL);
	jw_object(&w, NULL);
	jw_null(&w, "a");
	jw_end(&w);
	jw_bool(&w, NULL, false);
	jw_end(&w);
	jw_object(&w, NULL);
	jw_text(&w, "a", "b");
	jw_end(&w);
	jw_end(&w);
	jw_bool(&w, "list ends", true);
	jw_end(&w);
	finish(&w, "{\"empty\":[],\"none\":{},\"list\":[1,[{\"a\":null},false],{\"a\":\"b\"}],"
		   "\"list ends\":true}");
}

TEST(a_value_may_stand_alone)
{
	WRITER(w);

	jw_text(&w, NULL, "");
	finish(&w, "\"\"");
}

TEST(lines_begin_where_they_are_asked_for)
{
	WRITER(w);

	jw_array(&w, NULL);
	for (int i = 0; i < 3; i++) {
		jw_line(&w);
		jw_i64(&w, NULL, i - 1);
	}
	jw_line(&w);
	jw_end(&w);
	finish(&w, "[\n-1,\n0,\n1\n]");
}

TEST(pretty_is_the_layout_of_bpftool)
{
	WRITER(w);

	w.pretty = true;
	jw_array(&w, NULL);
	jw_object(&w, NULL);
	jw_u64(&w, "a", 1);
	jw_array(&w, "none");
	jw_end(&w);
	jw_array(&w, "numbers");
	jw_u64(&w, NULL, 1);
	jw_u64(&w, NULL, 2);
	jw_end(&w);
	jw_array(&w, "arrays");
	jw_array(&w, NULL);
	jw_object(&w, NULL);
	jw_u64(&w, "b", 1);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
	jw_object(&w, NULL);
	jw_end(&w);
	jw_end(&w);
	finish(&w, "[{\n"
		   "        \"a\": 1,\n"
		   "        \"none\": [],\n"
		   "        \"numbers\": [1,2],\n"
		   "        \"arrays\": [[{\n"
		   "                \"b\": 1\n"
		   "            }\n"
		   "        ]]\n"
		   "    },{}\n"
		   "]");
}

TEST(numbers_keep_their_value)
{
	WRITER(w);

	jw_array(&w, NULL);
	jw_u64(&w, NULL, 0);
	jw_u64(&w, NULL, UINT64_MAX);
	jw_i64(&w, NULL, INT64_MIN);
	jw_i64(&w, NULL, INT64_MAX);
	jw_double(&w, NULL, 0.1);
	jw_double(&w, NULL, 5e-324);
	jw_double(&w, NULL, NAN);
	jw_double(&w, NULL, INFINITY);
	jw_double(&w, NULL, -INFINITY);
	jw_address(&w, NULL, 0xffffffff81000000);
	jw_textf(&w, NULL, "%d \"%s\"", 7, "x");
	jw_end(&w);
	json_writer_finish(&w);
	assert_string_equal(out.str,
			    "[0,18446744073709551615,-9223372036854775808,9223372036854775807,0.1,"
			    "4.94065645841247e-324,null,null,null,\"0xffffffff81000000\","
			    "\"7 \\\"x\\\"\"]");
}

/* Each byte, alone and within others, as a key and as text. */
TEST(all_text_is_escaped)
{
	for (unsigned c = 1; c < 0x80; c++) {
		char text[4] = {'a', (char)c, 'b'};
		WRITER(w);

		jw_object(&w, NULL);
		jw_text(&w, text, text);
		jw_end(&w);
		json_writer_finish(&w);
		json_t *tree = json_loadb(out.str, out.len, 0, NULL);
		assert_non_null(tree);
		assert_string_equal(json_string_value(json_object_get(tree, text)), text);
		json_decref(tree);
	}
	for (unsigned c = 0x80; c < 0x100; c++) {
		const char text[3] = {'a', (char)c, 'b'};
		char wanted[16];
		WRITER(w);

		jw_text_n(&w, NULL, text, sizeof(text));
		json_writer_finish(&w);
		snprintf(wanted, sizeof(wanted), "\"a\\u%04xb\"", 0xdc00 + c);
		assert_string_equal(out.str, wanted);
	}
	WRITER(w);
	jw_text_n(&w, NULL, "\0\xc3\xa4\xed\xa0\x80", 6);
	json_writer_finish(&w);
	assert_string_equal(out.str, "\"\\u0000\xc3\xa4\\udced\\udca0\\udc80\"");
}

/* Keys are copied by pieces: of each length, with what needs an escape at each place. */
TEST(keys_of_each_length_are_escaped)
{
	static const char hostile[] = "\x01\x1f\"\\\x7f\x80\xff";

	for (size_t n = 0; n < 40; n++) {
		for (size_t at = 0; at < n; at++) {
			for (size_t i = 0; i < strlen(hostile); i++) {
				_cleanup_strbuf_ struct strbuf wanted = STRBUF_INIT;
				char key[40] = "";
				WRITER(w);

				memset(key, 'k', n);
				key[at] = hostile[i];
				jw_object(&w, NULL);
				jw_bool(&w, key, true);
				jw_end(&w);
				json_writer_finish(&w);
				strbuf_addch(&wanted, '{');
				json_add_string(&wanted, key, n);
				strbuf_adds(&wanted, ":true}");
				assert_string_equal(out.str, wanted.str);
			}
		}
		char plain[40] = "";
		WRITER(w);

		memset(plain, '~', n);
		jw_object(&w, NULL);
		jw_null(&w, plain);
		jw_end(&w);
		json_writer_finish(&w);
		assert_int_equal(out.len, n + strlen("{\"\":null}"));
		assert_memory_equal(out.str + 2, plain, n);
	}
}

TEST(levels_are_kept_as_deep_as_allowed)
{
	WRITER(w);

	for (unsigned i = 0; i < JSON_DEPTH; i++)
		if (i % 3)
			jw_object(&w, i % 3 == 2 ? "o" : NULL);
		else
			jw_array(&w, i ? "a" : NULL);
	for (unsigned i = 0; i < JSON_DEPTH; i++)
		jw_end(&w);
	json_writer_finish(&w);
	assert_null(w.fault);
	json_t *tree = json_loadb(out.str, out.len, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(tree);
	json_decref(tree);
}

TEST(values_of_others_fit_in)
{
	WRITER(w);

	jw_object(&w, NULL);
	jw_u64(&w, "a", 1);
	json_add_bytes(jw_value(&w, "b"), "\x01\xff", 2);
	strbuf_adds(jw_value(&w, "c"), "[2]");
	jw_end(&w);
	finish(&w, "{\"a\":1,\"b\":\"01ff\",\"c\":[2]}");
}

TEST(out_may_be_emptied_at_any_time)
{
	WRITER(w);

	jw_array(&w, NULL);
	jw_u64(&w, NULL, 1);
	strbuf_reset(&out);
	jw_u64(&w, NULL, 2);
	jw_end(&w);
	json_writer_finish(&w);
	assert_string_equal(out.str, ",2]");
}

static void is_faulty(struct json_writer *w, const char *fault)
{
	json_writer_finish(w);
	assert_string_equal(w->fault, fault);
	assert_true(strbuf_failed(w->out));
}

TEST(mistakes_spoil_the_document)
{
	{
		WRITER(w);
		jw_end(&w);
		is_faulty(&w, "an end without a begin");
	}
	{
		WRITER(w);
		jw_array(&w, NULL);
		is_faulty(&w, "an object or array is open");
	}
	{
		WRITER(w);
		jw_object(&w, NULL);
		jw_u64(&w, NULL, 1);
		jw_end(&w);
		is_faulty(&w, "a member has no key");
	}
	{
		WRITER(w);
		jw_array(&w, NULL);
		jw_u64(&w, "a", 1);
		jw_end(&w);
		is_faulty(&w, "a key outside of an object");
	}
	{
		WRITER(w);
		jw_u64(&w, NULL, 1);
		jw_u64(&w, NULL, 2);
		is_faulty(&w, "a second value after the document");
	}
	{
		WRITER(w);
		for (int i = 0; i < 1000; i++)
			jw_array(&w, NULL);
		for (int i = 0; i < 1000; i++)
			jw_end(&w);
		is_faulty(&w, "too many levels");
	}
}

TEST(a_key_that_comes_twice_is_found)
{
	WRITER(w);

	w.unique = true;
	jw_object(&w, NULL);
	jw_u64(&w, "a", 1);
	jw_object(&w, "b");
	jw_u64(&w, "a", 1);
	jw_end(&w);
	jw_object(&w, "bb");
	jw_u64(&w, "a", 1);
	jw_end(&w);
	assert_null(w.fault);
	jw_u64(&w, "b", 1);
	jw_end(&w);
	is_faulty(&w, "an object has a key twice");
}
