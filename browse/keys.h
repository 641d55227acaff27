/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keys from the bytes that a terminal sends: a character of UTF-8, or a control sequence of
 * ECMA-48, as xterm and the Linux console have them. Buttons of the mouse are keys with a position:
 * "ESC [ < button ; column ; row M" (mode 1006 of xterm), or "ESC [ M" and three bytes, from
 * terminals that do not know that mode.
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

/* A button of the mouse, in a key that key_is_mouse(). */
enum mouse_button {
	MOUSE_LEFT,
	MOUSE_MIDDLE,
	MOUSE_RIGHT,
	MOUSE_WHEEL_UP,
	MOUSE_WHEEL_DOWN,
	MOUSE_OTHER, /* released, moved, another button */
};

enum {
	KEY_MOUSE = 1u << 30,
	KEY_MOUSE_BITS = 13,	/* of a row, of a column */
	KEY_MOUSE_MAX = 0x1fff, /* what is beyond is there */
};

struct mouse {
	enum mouse_button button;
	size_t row, column; /* from 0 */
};

static inline bool key_is_mouse(uint32_t key)
{
	return key & KEY_MOUSE;
}

static inline uint32_t key_of_mouse(struct mouse mouse)
{
	const uint32_t row = mouse.row < KEY_MOUSE_MAX ? (uint32_t)mouse.row : KEY_MOUSE_MAX;
	const uint32_t column =
		mouse.column < KEY_MOUSE_MAX ? (uint32_t)mouse.column : KEY_MOUSE_MAX;

	return KEY_MOUSE | (uint32_t)mouse.button << (2 * KEY_MOUSE_BITS) | row << KEY_MOUSE_BITS |
	       column;
}

static inline struct mouse mouse_of_key(uint32_t key)
{
	return (struct mouse){
		.button = (enum mouse_button)(key >> (2 * KEY_MOUSE_BITS) & 7),
		.row = key >> KEY_MOUSE_BITS & KEY_MOUSE_MAX,
		.column = key & KEY_MOUSE_MAX,
	};
}

enum { KEY_MAX_BYTES = 32 }; /* longer sequences are cut */

/*
 * The first key of n bytes, and how many of them it is made of. KEY_NONE: they are the beginning
 * of a sequence that is not complete, so there is no key yet, and *used is 0; with `all` nothing
 * follows, so that an ESC alone is KEY_ESCAPE.
 */
uint32_t key_decode(const unsigned char *bytes, size_t n, bool all, size_t *used);

#endif
