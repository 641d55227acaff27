/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Text from outside (names of processes, files, functions; strings in events) as a terminal and a
 * line-oriented reader may have it. A process names itself: what it writes there must not move the
 * cursor, end a line, or turn the writing direction.
 */
#ifndef PB_BASE_PLAIN_TEXT_H
#define PB_BASE_PLAIN_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/strbuf.h"

/*
 * Whether a terminal or an editor obeys the character instead of showing it: controls, characters
 * without width, and those that turn the direction of writing. The one rule for all outputs: text
 * has "\xHH" of its bytes, JSON "\uHHHH".
 */
bool character_acts(uint32_t c);

/*
 * Adds n bytes of s. Control characters (C0, DEL, C1), those that turn the
 * direction of writing, and bytes that are not UTF-8 are written as "\xHH".
 */
void plain_add(struct strbuf *out, const char *s, size_t n);

/* Whether they are all printable ASCII, so that plain_add() would add them as they are. */
bool text_is_plain(const char *s, size_t n);

static inline void plain_adds(struct strbuf *out, const char *s)
{
	plain_add(out, s, strlen(s));
}

/* Does the same to what sb has from `from` on: to a name, or a cell of a table. */
void plain_whole_since(struct strbuf *sb, size_t from);

/*
 * Does the same to lines that sb has from `from` on. Tabs are kept; newlines with lines, else only
 * one at the end.
 */
void plain_since(struct strbuf *sb, size_t from, bool lines);

#endif
