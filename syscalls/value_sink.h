/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the decoders of arguments write their values: one form for each style.
 *
 *	strace	{tv_sec=1, tv_nsec=0}, [3, 4], "text"...
 *	perf	{ .tv_sec: 1, .tv_nsec: 0 }, [3, 4], "text"...
 *	JSON	{"tv_sec":1,"tv_nsec":0}, [3,4], "text"
 *
 * Text of a process is escaped: nothing that a terminal obeys leaves a sink.
 */
#ifndef PB_SYSCALLS_VALUE_SINK_H
#define PB_SYSCALLS_VALUE_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/json_writer.h"
#include "lib/base/strbuf.h"
#include "syscalls/call_style.h"
#include "syscalls/flag_set.h"

struct value_sink {
	struct strbuf *out;    /* text */
	struct json_writer *w; /* JSON; NULL: text */
	const struct call_text_opts *opts;
	const char *key; /* JSON: of the next value */
	bool first;	 /* no comma before the next member or item */
};

static inline bool sink_is_perf(const struct value_sink *s)
{
	return !s->w && s->opts->style == CALL_STYLE_PERF;
}

/* The next value is a member of the struct, or an item of the array. */
void sink_member(struct value_sink *s, const char *name);
void sink_item(struct value_sink *s);

void sink_struct(struct value_sink *s);
void sink_end_struct(struct value_sink *s);
void sink_array(struct value_sink *s);
void sink_end_array(struct value_sink *s);
/* "..." in the place of members or items that are not shown. */
void sink_more(struct value_sink *s);

void sink_i64(struct value_sink *s, int64_t v);
void sink_u64(struct value_sink *s, uint64_t v);
void sink_hex(struct value_sink *s, uint64_t v);
void sink_octal(struct value_sink *s, uint64_t v);
void sink_addr(struct value_sink *s, uint64_t v); /* NULL or 0x… */
/* Words as they are: "AT_FDCWD", a formatted number. No text of a process. */
void sink_word(struct value_sink *s, const char *word);
void sink_wordf(struct value_sink *s, const char *fmt, ...) _printf_(2, 3);
/*
 * The name of a constant whose number is formatted: the strace style shows one of them, or both
 * (enum call_constants).
 */
void sink_constf(struct value_sink *s, const char *name, const char *fmt, ...) _printf_(3, 4);
/* len bytes between quotes; cut: "..." follows. */
void sink_string(struct value_sink *s, const void *bytes, size_t len, bool cut);
/* The text between the quotes: escaped as in C, also the characters of `also`. */
void add_escaped_text(struct strbuf *out, const void *bytes, size_t len, const char *also);
/* The same of what is read or written: perf's columns without names have it without quotes. */
void sink_buffer(struct value_sink *s, const void *bytes, size_t len, bool cut);
/* Each byte in hexadecimal. */
void sink_hex_string(struct value_sink *s, const void *bytes, size_t len);
/* A comment, in text only: " <slash>* text *<slash>". */
void sink_comment(struct value_sink *s, const char *fmt, ...) _printf_(2, 3);

void sink_flags(struct value_sink *s, enum flag_set_id set, uint64_t v);
void sink_enum(struct value_sink *s, enum flag_set_id set, uint64_t v);

/* Flags as text, as sink_flags() shows them; false: nothing has a name. */
bool flags_text(const struct value_sink *s, enum flag_set_id set, uint64_t v, struct strbuf *out);
/* The name without its prefix in perf style. */
const char *sink_cut_prefix(const struct value_sink *s, enum flag_set_id set, const char *name);

#endif
