// SPDX-License-Identifier: BSD-2-Clause
/*
 * Demangling by libiberty, as perf does it: every style it finds out by
 * itself (Itanium C++, both of Rust's), names without parameters.
 *
 * Names of OCaml, as perf does it: camlStdlib__List__map_123 is Stdlib.List.map_123. "__" stands
 * for a dot, and "$" with two hexadecimal digits for a character.
 */
#include "sym/internal.h"

#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

char *ocaml_demangle(const char *name)
{
	char *text = malloc(strlen(name) + 1), *to = text;

	for (const char *s = name + strlen("caml"); text && *s; s++) {
		if (s[0] == '_' && s[1] == '_') {
			*to++ = '.';
			s++;
		} else if (s[0] == '$' && hex_digit(s[1]) >= 0 && hex_digit(s[2]) >= 0) {
			*to++ = (char)(hex_digit(s[1]) << 4 | hex_digit(s[2]));
			s += 2;
		} else {
			*to++ = *s;
		}
	}
	if (text)
		*to = 0;
	return text;
}

#ifdef HAVE_LIBIBERTY
#include <libiberty/demangle.h>

char *libiberty_demangle(const char *name, bool parameters)
{
	return cplus_demangle(name, parameters ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS);
}
#else
char *libiberty_demangle(const char *name, bool parameters)
{
	return NULL;
}
#endif
