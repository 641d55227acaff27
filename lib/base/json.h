/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The leaves of JSON text, for what writes it line by line or a million
 * entries at a time. Whoever builds a document in memory uses jansson.
 */
#ifndef PB_BASE_JSON_H
#define PB_BASE_JSON_H

#include "lib/base/strbuf.h"

/*
 * Adds s, len bytes of it, as a JSON string with its quotes. Bytes that are not
 * UTF-8 become U+DC80 … U+DCFF ("\udc80"), as Python's surrogateescape does,
 * so that they can be had back. Characters that act on a terminal are escaped, see plain_text.h.
 */
void json_add_string(struct strbuf *out, const char *s, size_t len);

/* Copies n bytes of text; false: some of them need escapes, or are not ASCII. */
bool json_copy_plain(char *to, const char *from, size_t n);

void json_add_i64(struct strbuf *out, int64_t v);

/*
 * The float, double or long double at p: the shortest text that reads back as the
 * same value; "nan", "inf", "-inf" as strings.
 */
void json_add_float(struct strbuf *out, const void *p, size_t size);

/* "0x…", a string: addresses do not fit the 53 bits that many readers keep. */
void json_add_address(struct strbuf *out, uint64_t v);

/* A string of two hexadecimal digits per byte. */
void json_add_bytes(struct strbuf *out, const void *data, size_t n);

#endif
