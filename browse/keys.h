/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys from the bytes that a terminal sends: a character of UTF-8, or a control sequence of
 * ECMA-48, as xterm and the Linux console have them.
 */
#ifndef PB_BROWSE_KEYS_H
#define PB_BROWSE_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Other keys are characters: 'q', or above 0x7f a code point. */
enum key {
	KEY_NONE = 0,
	KEY_CTRL_C = 3,
	KEY_TAB = '\t',
	KEY_ENTER = '\r',
	KEY_ESCAPE = 27,
	KEY_BACKSPACE = 127,
	KEY_UP = 0x110000,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_HOME,
	KEY_END,
	KEY_F1,
	KEY_BACK_TAB,
	KEY_UNKNOWN,
};

enum { KEY_MAX_BYTES = 32 }; /* longer sequences are cut */

/*
 * The first key of n bytes, and how many of them it is made of. KEY_NONE: they are the beginning
 * of a sequence that is not complete, so there is no key yet, and *used is 0; with `all` nothing
 * follows, so that an ESC alone is KEY_ESCAPE.
 */
uint32_t key_decode(const unsigned char *bytes, size_t n, bool all, size_t *used);

#endif
