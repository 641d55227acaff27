/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes a JSON document into a string buffer. The writer puts the commas, the
 * quotes and the colons, escapes all text, and closes what was opened:
 *
 *	struct json_writer w = json_writer_make(&out);
 *
 *	jw_object(&w, NULL);			{
 *	jw_text(&w, "comm", comm);		"comm":"dd",
 *	jw_array(&w, "pids");			"pids":[
 *	jw_u64(&w, NULL, 12);			12,
 *	jw_u64(&w, NULL, 14);			14
 *	jw_end(&w);				],
 *	jw_bool(&w, "ours", true);		"ours":true
 *	jw_end(&w);				}
 *	json_writer_finish(&w);
 *
 * In an object each value has a key; in an array and at the top the key is
 * NULL. The writer holds no text, so out may be printed and emptied at any time.
 *
 * A key that is missing or too many, an end without a begin, a second value at
 * the top, what is open at the end, and more than JSON_DEPTH levels are mistakes
 * of the caller. The first one is kept in "fault", and out fails as it does
 * without memory: no document is better than a wrong one. Under the sanitizers
 * a key that its object has already is a mistake too.
 *
 * With "pretty" set the document has the layout of bpftool: each member begins a line, four blanks
 * deeper than its object, and what holds objects ends on a line of its own. Arrays of other things
 * stay on their line.
 *
 * Whoever builds a document in memory uses jansson.
 */
#ifndef PB_BASE_JSON_WRITER_H
#define PB_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/strbuf.h"

#define JSON_DEPTH 127

struct json_writer {
	struct strbuf *out;
	const char *fault; /* the first one; NULL: none */
	unsigned depth;
	bool pretty;
	unsigned indent;   /* with pretty: how deep the document itself is */
	bool line;	   /* the next value or end begins a line */
	bool unique;	   /* look for keys that come twice */
	bool is_object;	   /* the innermost level is an object */
	bool filled;	   /* … and has a value. Those around it have one: the inner level. */
	bool after_object; /* the last value was an object */
	uint64_t objects[(JSON_DEPTH + 1) / 64]; /* a bit for each level: it is an object */
	/* with unique: the keys of the open objects, each with its NUL; where those of a level
	 * begin */
	struct strbuf keys, starts;
};

struct json_writer json_writer_make(struct strbuf *out);

/* Checks that all is closed. Every writer is finished. */
void json_writer_finish(struct json_writer *w);

void jw_object(struct json_writer *w, const char *key);
void jw_array(struct json_writer *w, const char *key);
/* Closes the innermost object or array. */
void jw_end(struct json_writer *w);

void jw_text(struct json_writer *w, const char *key, const char *text);
/* Nothing if text is NULL. */
void jw_text_if(struct json_writer *w, const char *key, const char *text);
/* len bytes, with NULs where there are some. What is not UTF-8: see json_add_string(). */
void jw_text_n(struct json_writer *w, const char *key, const char *text, size_t len);
void jw_u64(struct json_writer *w, const char *key, uint64_t v);
void jw_i64(struct json_writer *w, const char *key, int64_t v);
/* The fewest digits that are read back as v; null for NaN and the infinities. */
void jw_double(struct json_writer *w, const char *key, double v);
void jw_bool(struct json_writer *w, const char *key, bool v);
void jw_null(struct json_writer *w, const char *key);

/* "0x…", a string: addresses do not fit the 53 bits that many readers keep. */
void jw_address(struct json_writer *w, const char *key, uint64_t v);
/* A string by printf's rules. */
void jw_textf(struct json_writer *w, const char *key, const char *fmt, ...) _printf_(3, 4);

/*
 * For values that others write: puts the comma and the key, and the caller adds
 * exactly one value of JSON to what is returned.
 */
struct strbuf *jw_value(struct json_writer *w, const char *key);

/* What comes next, a value or an end, begins a line. */
void jw_line(struct json_writer *w);

#endif
