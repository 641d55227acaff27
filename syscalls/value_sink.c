// SPDX-License-Identifier: BSD-2-Clause
#include "syscalls/value_sink.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

void sink_member(struct value_sink *s, const char *name)
{
	if (s->w) {
		s->key = name;
		return;
	}
	if (!s->first)
		strbuf_adds(s->out, ", ");
	s->first = false;
	if (sink_is_perf(s)) {
		if (!s->opts->hide_names)
			strbuf_addf(s->out, ".%s: ", name);
	} else {
		strbuf_adds(s->out, name);
		strbuf_addch(s->out, '=');
	}
}

void sink_item(struct value_sink *s)
{
	if (s->w)
		return;
	if (!s->first)
		strbuf_adds(s->out, ", ");
	s->first = false;
}

static const char *take_key(struct value_sink *s)
{
	const char *key = s->key;

	s->key = NULL;
	return key;
}

/* "{ .tv_sec: 1, .tv_nsec: 0 }", but "{1, 0}" without names, as perf has it. */
static bool has_blanks(const struct value_sink *s)
{
	return sink_is_perf(s) && !s->opts->hide_names;
}

static void begin(struct value_sink *s, bool is_struct)
{
	if (s->w && is_struct)
		jw_object(s->w, take_key(s));
	else if (s->w)
		jw_array(s->w, take_key(s));
	else
		strbuf_adds(s->out, !is_struct ? "[" : has_blanks(s) ? "{ " : "{");
	s->first = true;
}

void sink_struct(struct value_sink *s)
{
	begin(s, true);
}

void sink_array(struct value_sink *s)
{
	begin(s, false);
}

void sink_end_struct(struct value_sink *s)
{
	if (s->w)
		jw_end(s->w);
	else
		strbuf_adds(s->out, has_blanks(s) ? " }" : "}");
	s->first = false;
}

void sink_end_array(struct value_sink *s)
{
	if (s->w)
		jw_end(s->w);
	else
		strbuf_addch(s->out, ']');
	s->first = false;
}

void sink_more(struct value_sink *s)
{
	if (s->w)
		return;
	sink_item(s);
	strbuf_adds(s->out, "...");
}

void sink_i64(struct value_sink *s, int64_t v)
{
	if (s->w)
		jw_i64(s->w, take_key(s), v);
	else
		strbuf_addf(s->out, "%" PRId64, v);
}

void sink_u64(struct value_sink *s, uint64_t v)
{
	if (s->w)
		jw_u64(s->w, take_key(s), v);
	else
		strbuf_add_u64(s->out, v);
}

void sink_hex(struct value_sink *s, uint64_t v)
{
	if (s->w)
		jw_u64(s->w, take_key(s), v);
	else
		strbuf_addf(s->out, "%#" PRIx64, v);
}

void sink_octal(struct value_sink *s, uint64_t v)
{
	if (s->w)
		jw_textf(s->w, take_key(s), "%#03" PRIo64, v);
	else
		strbuf_addf(s->out, "%#03" PRIo64, v);
}

void sink_addr(struct value_sink *s, uint64_t v)
{
	if (s->w && v)
		jw_address(s->w, take_key(s), v);
	else if (s->w)
		jw_null(s->w, take_key(s));
	else if (v)
		strbuf_addf(s->out, "%#" PRIx64, v);
	else
		strbuf_adds(s->out, "NULL");
}

void sink_word(struct value_sink *s, const char *word)
{
	if (s->w)
		jw_text(s->w, take_key(s), word);
	else
		strbuf_adds(s->out, word);
}

void sink_wordf(struct value_sink *s, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	sink_word(s, strbuf_str(&text));
}

static bool is_strace(const struct value_sink *s)
{
	return !s->w && s->opts->style == CALL_STYLE_STRACE;
}

void sink_constf(struct value_sink *s, const char *name, const char *fmt, ...)
{
	va_list ap;

	if (!is_strace(s) || s->opts->constants == CONSTANTS_NAMED) {
		sink_word(s, name);
		return;
	}
	va_start(ap, fmt);
	strbuf_vaddf(s->out, fmt, ap);
	va_end(ap);
	if (s->opts->constants == CONSTANTS_VERBOSE)
		sink_comment(s, "%s", name);
}

/* Whether the strace style shows numbers alone. */
static bool is_raw(const struct value_sink *s)
{
	return is_strace(s) && s->opts->constants == CONSTANTS_RAW;
}

/*
 * One byte as C has it, those of `also` as numbers. An octal number takes three digits where an
 * octal digit follows.
 */
static void add_escaped(struct strbuf *out, const uint8_t *p, const uint8_t *end, const char *also)
{
	static const char letters[] = "tnvfr"; /* 9 to 13 */

	if (*p == '"' || *p == '\\') {
		strbuf_addch(out, '\\');
		strbuf_addch(out, (char)*p);
	} else if (*p >= 9 && *p <= 13) {
		strbuf_addch(out, '\\');
		strbuf_addch(out, letters[*p - 9]);
	} else if (*p >= 0x20 && *p < 0x7f && !strchr(also, *p)) {
		strbuf_addch(out, (char)*p);
	} else if (p + 1 < end && p[1] >= '0' && p[1] <= '7') {
		strbuf_addf(out, "\\%03o", *p);
	} else {
		strbuf_addf(out, "\\%o", *p);
	}
}

void add_escaped_text(struct strbuf *out, const void *bytes, size_t len, const char *also)
{
	const uint8_t *p = bytes;

	for (size_t i = 0; i < len; i++)
		add_escaped(out, p + i, p + len, also);
}

/* Whether -x shows all of the bytes in hexadecimal: one of them is not printed as it is. */
static bool in_hex(const struct value_sink *s, const uint8_t *p, size_t len)
{
	if (s->opts->hex_strings > 1)
		return true;
	if (!s->opts->hex_strings)
		return false;
	for (size_t i = 0; i < len; i++)
		if (p[i] >= 0x7f || (p[i] < 0x20 && !(p[i] >= 9 && p[i] <= 13)))
			return true;
	return false;
}

static void add_text(struct value_sink *s, const uint8_t *p, size_t len)
{
	if (in_hex(s, p, len))
		for (size_t i = 0; i < len; i++)
			strbuf_addf(s->out, "\\x%02x", p[i]);
	else
		add_escaped_text(s->out, p, len, "");
}

void sink_string(struct value_sink *s, const void *bytes, size_t len, bool cut)
{
	const uint8_t *p = bytes;

	if (s->w) {
		jw_text_n(s->w, take_key(s), bytes, len);
		return;
	}
	strbuf_addch(s->out, '"');
	add_text(s, p, len);
	strbuf_adds(s->out, cut ? "\"..." : "\"");
}

void sink_buffer(struct value_sink *s, const void *bytes, size_t len, bool cut)
{
	if (!sink_is_perf(s) || !s->opts->hide_names) {
		sink_string(s, bytes, len, cut);
		return;
	}
	add_text(s, bytes, len);
	strbuf_adds(s->out, cut ? "..." : "");
}

void sink_hex_string(struct value_sink *s, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	if (s->w) {
		sink_string(s, bytes, len, false);
		return;
	}
	strbuf_addch(s->out, '"');
	for (size_t i = 0; i < len; i++)
		strbuf_addf(s->out, "\\x%02x", p[i]);
	strbuf_addch(s->out, '"');
}

void sink_comment(struct value_sink *s, const char *fmt, ...)
{
	va_list ap;

	if (s->w)
		return;
	strbuf_adds(s->out, " /* ");
	va_start(ap, fmt);
	strbuf_vaddf(s->out, fmt, ap);
	va_end(ap);
	strbuf_adds(s->out, " */");
}

const char *sink_cut_prefix(const struct value_sink *s, enum flag_set_id set, const char *name)
{
	const char *prefix = flag_sets[set].prefix;
	const size_t len = strlen(prefix);

	if (!sink_is_perf(s) || s->opts->show_prefix || strncmp(name, prefix, len) || !name[len])
		return name;
	return name + len;
}

static void add_name(const struct value_sink *s, enum flag_set_id set, const char *name,
		     struct strbuf *out, size_t start)
{
	if (out->len > start)
		strbuf_addch(out, '|');
	strbuf_adds(out, sink_cut_prefix(s, set, name));
}

/* The names of v's bits, in the order of the set; what is left of v. */
static uint64_t add_flag_names(const struct value_sink *s, enum flag_set_id id, uint64_t v,
			       struct strbuf *out, size_t start)
{
	const struct flag_set *set = &flag_sets[id];

	for (size_t i = 0; i < set->n && v; i++) {
		const struct flag_name *f = &set->names[i];

		if (f->value && (f->value & ~v) == 0) {
			add_name(s, id, f->name, out, start);
			v &= ~f->value;
		}
	}
	return v;
}

bool flags_text(const struct value_sink *s, enum flag_set_id id, uint64_t v, struct strbuf *out)
{
	const struct flag_set *set = &flag_sets[id];
	const uint64_t shifted = set->shift_name ? v >> set->shift & set->shift_mask : 0;
	const size_t start = out->len;

	v &= ~(shifted << set->shift);
	if (set->base) {
		const char *name = flag_set_name((enum flag_set_id)set->base, v & set->mask);

		const char *unknown = flag_sets[set->base].unknown;

		if (name)
			add_name(s, (enum flag_set_id)set->base, name, out, start);
		else if (!set->base_optional && !sink_is_perf(s))
			strbuf_addf(out, "%#" PRIx64 " /* %s */", v & set->mask, unknown);
		else if (!set->base_optional)
			strbuf_addf(out, "%#" PRIx64, v & set->mask);
		if (name || !set->base_optional)
			v &= ~set->mask;
	} else if (!v && !shifted) {
		const char *name = flag_set_name(id, 0);

		if (name)
			add_name(s, id, name, out, start);
		return name != NULL;
	}
	const uint64_t left = add_flag_names(s, id, v, out, start);
	const bool named = left != v;
	if (out->len == start && !shifted)
		return false;
	if (left)
		strbuf_addf(out, "%s%#" PRIx64, out->len > start ? "|" : "", left);
	if (left && !named && !sink_is_perf(s) && set->unknown[0])
		strbuf_addf(out, " /* %s */", set->unknown);
	if (shifted)
		strbuf_addf(out, "%s%" PRIu64 "<<%s", out->len > start ? "|" : "", shifted,
			    set->shift_name);
	return true;
}

/* Numbers of which one part is an enumerator: 0x6 <slash>* PER_BSD *<slash>|0x7000000. */
static void add_apart(struct value_sink *s, enum flag_set_id id, uint64_t v)
{
	const struct flag_set *set = &flag_sets[id];
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint64_t rest = v & ~set->mask;

	sink_enum(s, (enum flag_set_id)set->base, v & set->mask);
	if (!rest)
		return;
	strbuf_addch(s->out, '|');
	const uint64_t left = add_flag_names(s, id, rest, &text, 0);
	if (text.len && left)
		strbuf_addf(&text, "|%#" PRIx64, left);
	if (text.len)
		sink_constf(s, strbuf_str(&text), "%#" PRIx64, rest);
	else
		sink_hex(s, rest);
}

void sink_flags(struct value_sink *s, enum flag_set_id set, uint64_t v)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	const struct flag_set *f = &flag_sets[set];
	const bool has_base =
		!f->base_optional || flag_set_name((enum flag_set_id)f->base, v & f->mask);

	if (f->base_apart && has_base && is_strace(s) && s->opts->constants != CONSTANTS_NAMED) {
		add_apart(s, set, v);
		return;
	}
	if (flags_text(s, set, v, &text)) {
		sink_constf(s, strbuf_str(&text), "%#" PRIx64, v);
		return;
	}
	sink_hex(s, v);
	if (v && !is_raw(s) && !sink_is_perf(s) && f->unknown[0])
		sink_comment(s, "%s", f->unknown);
}

void sink_enum(struct value_sink *s, enum flag_set_id set, uint64_t v)
{
	const char *name = flag_set_name(set, v);

	if (name) {
		sink_constf(s, sink_cut_prefix(s, set, name), "%#" PRIx64, v);
		return;
	}
	sink_hex(s, v);
	if (!sink_is_perf(s) && !is_raw(s))
		sink_comment(s, "%s", flag_sets[set].unknown);
}
