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

/* Behind "ESC [": parameters and what ends them. 0: the end is missing. */
static size_t control_sequence(const unsigned char *p, size_t n, uint32_t *key)
{
	unsigned number = 0;
	size_t i = 0;

	if (n >= 2 && p[0] == '[') { /* the Linux console: F1 is "ESC [ [ A" */
		*key = p[1] == 'A' ? KEY_F1 : KEY_UNKNOWN;
		return 2;
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
