// SPDX-License-Identifier: BSD-2-Clause
#include "browse/keys.h"

#include "lib/base/utf8.h"

/* What ends "ESC [" or "ESC O". */
static uint32_t key_of_letter(unsigned char letter)
{
	switch (letter) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case 'P':
		return KEY_F1;
	case 'Z':
		return KEY_BACK_TAB;
	case 'M': /* of the keypad */
		return KEY_ENTER;
	default:
		return KEY_UNKNOWN;
	}
}

/* "ESC [ number ~" */
static uint32_t key_of_number(unsigned number)
{
	switch (number) {
	case 1:
	case 7:
		return KEY_HOME;
	case 4:
	case 8:
		return KEY_END;
	case 5:
		return KEY_PAGE_UP;
	case 6:
		return KEY_PAGE_DOWN;
	case 11:
		return KEY_F1;
	default:
		return KEY_UNKNOWN;
	}
}

/* As xterm numbers buttons: those of the wheel have 64, modifiers and moves are bits. */
static uint32_t key_of_button(unsigned button, bool is_release, unsigned column, unsigned row)
{
	enum { MODIFIERS = 4 | 8 | 16 }; /* Shift, Meta, Ctrl */
	enum mouse_button which = MOUSE_OTHER;

	switch (button & ~(unsigned)MODIFIERS) {
	case 0:
		which = MOUSE_LEFT;
		break;
	case 1:
		which = MOUSE_MIDDLE;
		break;
	case 2:
		which = MOUSE_RIGHT;
		break;
	case 64:
		which = MOUSE_WHEEL_UP;
		break;
	case 65:
		which = MOUSE_WHEEL_DOWN;
		break;
	}
	return key_of_mouse((struct mouse){
		.button = is_release ? MOUSE_OTHER : which,
		.row = row ? row - 1 : 0,
		.column = column ? column - 1 : 0,
	});
}

/* Behind "ESC [ M": the button, the column and the row, each with 32 added. 0: the end is missing.
 */
static size_t old_mouse(const unsigned char *p, size_t n, uint32_t *key)
{
	enum { RELEASED = 3 };

	if (n < 3)
		return 0;
	*key = p[0] < 32 || p[1] < 32 || p[2] < 32
		       ? (uint32_t)KEY_UNKNOWN
		       : key_of_button(p[0] - 32u, (p[0] & 3) == RELEASED, p[1] - 32u, p[2] - 32u);
	return 3;
}

/* Behind "ESC [ <": three numbers, and M for pressed or m for released. 0: the end is missing. */
static size_t new_mouse(const unsigned char *p, size_t n, uint32_t *key)
{
	unsigned numbers[3] = {0};
	size_t i = 0, count = 0;

	for (; i < n && ((p[i] >= '0' && p[i] <= '9') || p[i] == ';'); i++) {
		if (p[i] == ';')
			count++;
		else if (count < 3 && numbers[count] < 100000)
			numbers[count] = numbers[count] * 10 + (p[i] - '0');
	}
	if (i == n)
		return 0;
	*key = count == 2 && (p[i] == 'M' || p[i] == 'm')
		       ? key_of_button(numbers[0], p[i] == 'm', numbers[1], numbers[2])
		       : (uint32_t)KEY_UNKNOWN;
	return i + 1;
}

/* Behind "ESC [": parameters and what ends them. 0: the end is missing. */
static size_t control_sequence(const unsigned char *p, size_t n, uint32_t *key)
{
	unsigned number = 0;
	size_t i = 0;

	if (n >= 2 && p[0] == '[') { /* the Linux console: F1 is "ESC [ [ A" */
		*key = p[1] == 'A' ? KEY_F1 : KEY_UNKNOWN;
		return 2;
	}
	if (n && (p[0] == 'M' || p[0] == '<')) {
		const size_t more =
			p[0] == 'M' ? old_mouse(p + 1, n - 1, key) : new_mouse(p + 1, n - 1, key);

		return more ? more + 1 : 0;
	}
	while (i < n && p[i] >= '0' && p[i] <= '9' && number < 1000)
		number = number * 10 + (p[i++] - '0');
	while (i < n && p[i] >= 0x20 && p[i] <= 0x3f) /* with Shift, Ctrl: "1;5" */
		i++;
	if (i == n)
		return 0;
	*key = p[i] == '~' ? key_of_number(number) : key_of_letter(p[i]);
	return i + 1;
}

static uint32_t escape_decode(const unsigned char *bytes, size_t n, bool all, size_t *used)
{
	uint32_t key = KEY_UNKNOWN;
	size_t more = 0;

	if (n > 2 && bytes[1] == '[') {
		more = control_sequence(bytes + 2, n - 2, &key);
	} else if (n > 2 && bytes[1] == 'O') {
		key = key_of_letter(bytes[2]);
		more = 1;
	} else if (n > 1 && bytes[1] != '[' && bytes[1] != 'O') {
		*used = 1;
		return KEY_ESCAPE;
	}
	if (more) {
		*used = 2 + more;
		return key;
	}
	/* The end is missing: more bytes come, or ESC was all, or what cannot be understood. */
	*used = all || n >= KEY_MAX_BYTES ? n : 0;
	return !*used ? KEY_NONE : n == 1 ? KEY_ESCAPE : KEY_UNKNOWN;
}

uint32_t key_decode(const unsigned char *bytes, size_t n, bool all, size_t *used)
{
	*used = 0;
	if (!n)
		return KEY_NONE;
	if (bytes[0] == KEY_ESCAPE)
		return escape_decode(bytes, n, all, used);
	*used = 1;
	if (bytes[0] < 0x80)
		return bytes[0] == '\n'	  ? KEY_ENTER
		       : bytes[0] == '\b' ? KEY_BACKSPACE
		       : bytes[0] == 0	  ? KEY_UNKNOWN
					  : bytes[0];
	const size_t len = utf8_length(bytes, n);
	if (len) {
		*used = len;
		return utf8_decode(bytes, len);
	}
	if (!all && n < 4 && bytes[0] >= 0xc0) {
		*used = 0; /* of a character that is not complete */
		return KEY_NONE;
	}
	return KEY_UNKNOWN;
}
