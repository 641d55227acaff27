// SPDX-License-Identifier: BSD-2-Clause
#include "inspect/value_input.h"

#include <float.h>
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/names.h"
#include "lib/base/strbuf.h"
#include "lib/btf/open.h"
#include "lib/btf/value.h"

enum {
	MAX_DEPTH = 32,
};

struct value_input {
	const struct btf *btf;
	uint8_t *data;
	size_t size;
};

static struct error *put(struct value_input *in, uint32_t type, uint64_t bit, uint32_t bits,
			 json_t *value, int depth);

/* As strtoull() with base 0. *end: behind the last digit. */
static struct error *read_digits(const char *text, const char **end, unsigned __int128 *v)
{
	const unsigned __int128 max = ~(unsigned __int128)0;
	unsigned base = 10;

	if (*text == '0') {
		const bool is_hex = (text[1] | 0x20) == 'x' && isxdigit((unsigned char)text[2]);

		base = is_hex ? 16 : 8;
		text += is_hex ? 2 : 0;
	}
	*v = 0;
	for (*end = text; isxdigit((unsigned char)**end); ++*end) {
		const char c = **end;
		const unsigned digit = isdigit((unsigned char)c)
					       ? (unsigned)(c - '0')
					       : (unsigned)((c | 0x20) - 'a') + 10;

		if (digit >= base)
			break;
		if (*v > (max - digit) / base)
			return error_new(ERANGE, "%s does not fit into 128 bits", text);
		*v = *v * base + digit;
	}
	return NULL;
}

/* An integer's text; "-" for negative ones. */
static struct error *read_number(const char *text, bool *negative, unsigned __int128 *v)
{
	const char *end;
	const char *digits = text + (*text == '-');

	if (text[0] == '\'' && text[1] && text[2] == '\'' && !text[3]) {
		*negative = false;
		*v = (uint8_t)text[1];
		return NULL;
	}
	if (!isdigit((unsigned char)*digits))
		return error_new(EINVAL, "'%s' is not a number", text);
	TRY(read_digits(digits, &end, v));
	if (*end)
		return error_new(EINVAL, "'%s' is not a number", text);
	*negative = *text == '-';
	return NULL;
}

struct error *value_input_number(const char *text, void *data, size_t size)
{
	unsigned __int128 v = 0;
	bool negative = false;

	TRY(read_number(text, &negative, &v));
	if (v >> (size * 8 - negative) &&
	    !(negative && v == (unsigned __int128)1 << (size * 8 - 1)))
		return error_new(ERANGE, "%s does not fit into %zu bytes", text, size);
	if (negative)
		v = 0 - v;
	value_put_uint(data, (uint32_t)size, (uint64_t)v);
	return NULL;
}

/* width bits at a bit of the data. */
static struct error *put_bits(struct value_input *in, uint64_t bit, uint32_t width, uint64_t v)
{
	if (value_bytes(bit, width) > in->size)
		return error_new(EINVAL, "the type is larger than the value");
	value_put_bits(in->data, bit, width, v);
	return NULL;
}

static struct error *put_number(struct value_input *in, uint64_t bit, uint32_t width,
				bool is_signed, const char *text)
{
	bool negative = false;
	unsigned __int128 v = 0;

	TRY(read_number(text, &negative, &v));
	if (width < 1 || (width > 64 && (width != 128 || bit % 8)))
		return error_new(ENOTSUP, "integers of %u bits are not supported here", width);
	unsigned __int128 max = ~(unsigned __int128)0 >> (128 - width);
	if (is_signed)
		max >>= 1;
	if (negative && v && !is_signed)
		return error_new(ERANGE, "%s is negative, but the type is unsigned", text);
	if (v > max + (negative ? 1 : 0))
		return error_new(ERANGE, "%s does not fit into %u %s bits", text, width,
				 is_signed ? "signed" : "unsigned");
	if (negative)
		v = 0 - v;
	if (width <= 64)
		return put_bits(in, bit, width, (uint64_t)v);
	if (bit / 8 + sizeof(v) > in->size)
		return error_new(EINVAL, "the type is larger than the value");
	memcpy(in->data + bit / 8, &v, sizeof(v));
	return NULL;
}

/* A scalar's text, whether it came as a number, a string or a word. */
static struct error *text_of(json_t *value, struct strbuf *text)
{
	if (json_is_integer(value))
		strbuf_addf(text, "%lld", (long long)json_integer_value(value));
	else if (json_is_string(value))
		strbuf_adds(text, json_string_value(value));
	else if (json_is_boolean(value))
		strbuf_adds(text, json_is_true(value) ? "true" : "false");
	else if (json_is_real(value))
		strbuf_addf(text, "%.17g", json_real_value(value));
	else
		return error_new(EINVAL, "expected a single value here");
	return strbuf_failed(text) ? error_nomem() : NULL;
}

static struct error *put_int(struct value_input *in, const struct value_scalar *v, uint64_t bit,
			     uint32_t width, const char *text)
{
	if (v->kind == VALUE_BOOL || !strcmp(text, "true") || !strcmp(text, "false")) {
		if (!strcmp(text, "true"))
			text = "1";
		else if (!strcmp(text, "false"))
			text = "0";
		else if (strcmp(text, "0") && strcmp(text, "1"))
			return error_new(EINVAL, "'%s' is neither true nor false", text);
	}
	return put_number(in, bit, width, v->is_signed, text);
}

/* The value of a name. */
static struct error *enum_value(const struct value_input *in, const struct btf_type *t,
				const char *name, uint64_t *v)
{
	struct nearest near = nearest_make(name);

	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_enumerator e = btf_enumerator_at(in->btf, t, i);

		*v = e.value;
		if (*e.name && !strcmp(e.name, name))
			return NULL;
		nearest_offer(&near, e.name);
	}
	struct error *err =
		error_new(ENOENT, "enum %s has no value '%s'", btf_name(in->btf, t), name);
	return error_suggest(err, &near);
}

/* "A|B|0x40", as value_enum_add() writes it. */
static struct error *put_flags(struct value_input *in, const struct btf_type *t, uint64_t bit,
			       uint32_t bits, const char *text)
{
	uint64_t all = 0, v;

	for (const char *s = text;; s++) {
		const size_t n = strcspn(s, "|");
		_cleanup_free_ char *name = strndup(s, n);
		bool negative = false;

		if (!name)
			return error_nomem();
		if (isdigit((unsigned char)*name)) {
			unsigned __int128 number;

			TRY(read_number(name, &negative, &number));
			if (number > UINT64_MAX)
				return error_new(ERANGE, "%s does not fit into 64 bits", name);
			v = (uint64_t)number;
		} else {
			TRY(enum_value(in, t, name, &v));
			v = value_enum_bits(v, t->size);
		}
		all |= v;
		s += n;
		if (!*s)
			break;
	}
	if (bits < 64 && all >> bits)
		return error_new(ERANGE, "'%s' does not fit into %u bits", text, bits);
	return put_bits(in, bit, bits, all);
}

static struct error *put_enum(struct value_input *in, const struct btf_type *t, uint64_t bit,
			      uint32_t bits, const char *text)
{
	uint64_t v;

	if (strchr(text, '|'))
		return put_flags(in, t, bit, bits, text);
	if (isdigit((unsigned char)*text) || *text == '-')
		return put_number(in, bit, bits, btf_kflag(t), text);
	TRY(enum_value(in, t, text, &v));
	return put_bits(in, bit, bits, v);
}

static struct error *put_float(struct value_input *in, const struct btf_type *t, uint64_t bit,
			       const char *text)
{
	char *end;
	const long double ld = strtold(text, &end);
	const double d = strtod(text, NULL); /* rounded once, as strtof() does */
	const float f = strtof(text, NULL);
	const void *v = t->size == sizeof(f) ? &f : t->size == sizeof(d) ? (const void *)&d : &ld;

	if (end == text || *end)
		return error_new(EINVAL, "'%s' is not a number", text);
	if (!value_is_float_size(t->size))
		return error_new(ENOTSUP, "floats of %u bytes are not supported here", t->size);
	if (bit % 8 || bit / 8 + t->size > in->size)
		return error_new(EINVAL, "the type is larger than the value");
	memset(in->data + bit / 8, 0, t->size);
	memcpy(in->data + bit / 8, v,
	       t->size == sizeof(ld) && sizeof(ld) == 16 && LDBL_MANT_DIG == 64
		       ? 10 /* x86's has 80 bits; the rest is padding */
		       : t->size);
	return NULL;
}

static struct error *put_array(struct value_input *in, const struct btf_type *t, uint64_t bit,
			       json_t *value, int depth)
{
	const struct btf_array *a = btf_array(t);
	const struct btf_type *elem = btf_skip_mods_and_typedefs(in->btf, a->type, NULL);
	int64_t size = btf__resolve_size(in->btf, a->type);

	if (size < 0)
		return error_new(EINVAL, "the array's elements have no size");
	if (json_is_string(value) && btf_is_int(elem) && elem->size == 1) {
		const char *s = json_string_value(value);
		size_t n = strlen(s);

		/* as C has it: the NUL may be left out where it does not fit */
		if (n > a->nelems)
			return error_new(ERANGE, "'%s' is longer than %u bytes", s, a->nelems);
		if (bit % 8 || bit / 8 + a->nelems > in->size)
			return error_new(EINVAL, "the type is larger than the value");
		memcpy(in->data + bit / 8, s, n);
		return NULL;
	}
	if (!json_is_array(value))
		return error_new(EINVAL, "expected an array here: [1, 2]");
	if (json_array_size(value) > a->nelems)
		return error_new(ERANGE, "%zu elements do not fit an array of %u",
				 json_array_size(value), a->nelems);
	for (size_t i = 0; i < json_array_size(value); i++)
		TRY(error_prefix(put(in, a->type, bit + i * (uint64_t)size * 8, 0,
				     json_array_get(value, i), depth + 1),
				 "element %zu", i));
	return NULL;
}

/* The member of that name, those of nameless members among them. */
static const struct btf_member *find_member(const struct btf *btf, const struct btf_type *t,
					    const char *name, uint64_t *bit, uint32_t *bits,
					    struct nearest *near, int depth)
{
	for (uint32_t i = 0; i < btf_vlen(t) && depth < MAX_DEPTH; i++) {
		const struct btf_member *m = btf_members(t) + i;
		const char *its = btf__name_by_offset(btf, m->name_off);

		if (its && *its) {
			nearest_offer(near, its);
			if (strcmp(its, name))
				continue;
			*bit += btf_member_bit_offset(t, i);
			*bits = btf_member_bitfield_size(t, i);
			return m;
		}
		const struct btf_type *inner = btf_skip_mods_and_typedefs(btf, m->type, NULL);
		if (!btf_is_composite(inner))
			continue;
		uint64_t at = *bit + btf_member_bit_offset(t, i);
		const struct btf_member *found =
			find_member(btf, inner, name, &at, bits, near, depth + 1);
		if (found) {
			*bit = at;
			return found;
		}
	}
	return NULL;
}

/* A data section: an object of its variables. */
static struct error *put_datasec(struct value_input *in, const struct btf_type *t, json_t *value)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);
	const char *name;
	json_t *member;

	if (!json_is_object(value))
		return error_hint(error_new(EINVAL, "expected values of variables here"),
				  "write them as JSON: '{\"variable\": 1}'");
	json_object_foreach(value, name, member)
	{
		struct nearest near = nearest_make(name);
		uint32_t i;

		for (i = 0; i < btf_vlen(t); i++) {
			const char *its = btf_name(in->btf, btf__type_by_id(in->btf, v[i].type));

			if (!strcmp(its, name))
				break;
			nearest_offer(&near, its);
		}
		if (i < btf_vlen(t)) {
			TRY(error_prefix(put(in, btf__type_by_id(in->btf, v[i].type)->type,
					     (uint64_t)v[i].offset * 8, 0, member, 1),
					 "variable %s", name));
			continue;
		}
		struct error *err = error_new(ENOENT, "unknown variable '%s'", name);
		return error_suggest(err, &near);
	}
	return NULL;
}

static struct error *put_struct(struct value_input *in, const struct btf_type *t, uint64_t bit,
				json_t *value, int depth)
{
	const char *name;
	json_t *member;

	if (!json_is_object(value))
		return error_hint(error_new(EINVAL, "expected a value of struct %s here",
					    btf_name(in->btf, t)),
				  "write it as JSON: '{\"member\": 1}'");
	json_object_foreach(value, name, member)
	{
		struct nearest near = nearest_make(name);
		uint64_t at = bit;
		uint32_t bits = 0;
		const struct btf_member *m = find_member(in->btf, t, name, &at, &bits, &near, 0);

		if (!m) {
			struct error *err = error_new(ENOENT, "struct %s has no member '%s'",
						      btf_name(in->btf, t), name);

			return error_suggest(err, &near);
		}
		TRY(error_prefix(put(in, m->type, at, bits, member, depth + 1), "member %s", name));
	}
	return NULL;
}

static struct error *put(struct value_input *in, uint32_t type, uint64_t bit, uint32_t bits,
			 json_t *value, int depth)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(in->btf, type, NULL);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (depth > MAX_DEPTH)
		return error_new(E2BIG, "the types are nested more than %d deep", MAX_DEPTH);
	if (btf_is_array(t))
		return put_array(in, t, bit, value, depth);
	if (btf_is_composite(t))
		return put_struct(in, t, bit, value, depth);
	TRY(text_of(value, &text));
	const struct value_scalar v = value_scalar_of(in->btf, t, bit, bits);
	const uint32_t width = v.bits ? v.bits : v.size * 8;
	switch (v.kind) {
	case VALUE_INT:
	case VALUE_WIDE:
	case VALUE_BOOL:
		return put_int(in, &v, bit, width, strbuf_str(&text));
	case VALUE_ENUM:
		return put_enum(in, t, bit, width, strbuf_str(&text));
	case VALUE_FLOAT:
		return put_float(in, t, bit, strbuf_str(&text));
	case VALUE_POINTER:
		return put_number(in, bit, v.size * 8, false, strbuf_str(&text));
	case VALUE_NONE:
		break;
	}
	return error_new(EINVAL, "values of a %s cannot be written", btf_kind_name(btf_kind(t)));
}

/*
 * JSON in which integers of 19 or more digits are strings, which put() takes as well: jansson's
 * integers end at 2^63 - 1.
 */
static struct error *quote_large(const char *text, struct strbuf *out)
{
	enum { SAFE_DIGITS = 18 };

	for (const char *s = text; *s;) {
		const char *from = s;
		bool large = false;

		if (*s == '"') {
			for (s++; *s && *s != '"'; s++)
				s += *s == '\\' && s[1];
			s += *s == '"';
		} else if (*s == '-' || isdigit((unsigned char)*s)) {
			const char *digits = s + (*s == '-');
			const size_t n = strspn(digits, "0123456789");

			s = digits + n;
			large = n > SAFE_DIGITS && !strchr(".eE", *s);
			/* A float stays one: 1e5 is not 1 and e5. */
			s += strspn(s, "0123456789.eE+-");
		} else {
			s++;
		}
		strbuf_adds(out, large ? "\"" : "");
		strbuf_add(out, from, (size_t)(s - from));
		strbuf_adds(out, large ? "\"" : "");
	}
	return strbuf_failed(out) ? error_nomem() : NULL;
}

struct error *value_input(const struct btf *btf, uint32_t type, const char *text, void *data,
			  size_t size)
{
	struct value_input in = {.btf = btf, .data = data, .size = size};
	const struct btf_type *t = btf__type_by_id(btf, type);
	json_error_t wrong;

	if (!t)
		return error_new(EINVAL, "the BTF has no type %u", type);
	if (btf_is_var(t))
		t = btf__type_by_id(btf, type = t->type);
	memset(data, 0, size);
	_cleanup_strbuf_ struct strbuf json = STRBUF_INIT;
	if (*text == '{' || *text == '[')
		TRY(quote_large(text, &json));
	_cleanup_(json_decrefp) json_t *value =
		*text == '{' || *text == '['
			? json_loads(strbuf_str(&json), JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
				     &wrong)
			: json_stringn_nocheck(text, strlen(text));
	if (!value && (*text == '{' || *text == '['))
		return error_new(EINVAL, "'%s' is not JSON: column %d: %s", text, wrong.column,
				 wrong.text);
	if (!value)
		return error_nomem();
	return btf_is_datasec(t) ? put_datasec(&in, t, value) : put(&in, type, 0, 0, value, 0);
}
