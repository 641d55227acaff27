/* SPDX-License-Identifier: BSD-2-Clause */
/* UTF-8, as the Unicode Standard has it: no overlong forms, no surrogates, nothing over U+10FFFF.
 */
#ifndef PB_BASE_UTF8_H
#define PB_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* How many of the left bytes at s (at least one) make one character; 0: they begin none. */
size_t utf8_length(const uint8_t *s, size_t left);

/* The character of n bytes at s; n is what utf8_length() said. */
uint32_t utf8_decode(const uint8_t *s, size_t n);

/* The bytes of a character, of at most 0x10ffff; returns how many there are. */
size_t utf8_encode(uint32_t c, char out[4]);

#endif
