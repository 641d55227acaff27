// SPDX-License-Identifier: BSD-2-Clause
/*
 * A value as a C initializer:
 *
 *	(struct point){
 *		.x = (int)1,
 *		.name = (char[4])['a','b',],
 *	}
 *
 * Fields whose bytes are all zero are left out unless asked for. What lies
 * past the data that was given is not written; the result says so by -E2BIG.
 *
 * Every element costs output, so the data's size bounds the work; types
 * without a size (empty structs in arrays of 4 billion) could repeat for
 * free, and are written once.
 */
#include <inttypes.h>
#include <string.h>

#include "lib/btf/dump_internal.h"
#include "lib/btf/value.h"

#define DATA_MAX_DEPTH 64

struct show {
	struct btf_dump *d;
	const char *indent;
	int level;
	bool compact, no_names, zeroes, strings;

	const uint8_t *data; /* all of it */
	uint64_t size;
	bool cut; /* something lay past the data */
};

/* A value of that type at bit off; bits: a bitfield of so many, else 0. */
static struct error *show_value(struct show *s, uint32_t id, uint64_t off, uint32_t bits,
				const char *name, int depth);

static struct strbuf *out(struct show *s)
{
	return s->d->out;
}

static void newline(struct show *s)
{
	if (!s->compact)
		strbuf_addch(out(s), '\n');
}

static void indent(struct show *s, int depth)
{
	if (s->compact)
		return;
	for (int i = 0; i < s->level + depth; i++)
		strbuf_adds(out(s), s->indent);
}

/* Whether the bits are within the data; notes when not. */
static bool within(struct show *s, uint64_t off, uint64_t bits)
{
	if (off + bits <= s->size * 8)
		return true;
	s->cut = true;
	return false;
}

static bool all_zero(const struct show *s, uint64_t off, uint64_t bytes)
{
	for (uint64_t i = off / 8; i < off / 8 + bytes && i < s->size; i++)
		if (s->data[i])
			return false;
	return true;
}

static struct error *show_int(struct show *s, const struct value_scalar *v, const uint8_t *p,
			      bool is_field)
{
	const uint32_t width = v->bits ? v->bits : v->size * 8;

	if (width > 64 || !width) {
		if (width != 128)
			return error_new(EINVAL, "integers of %u bits are not supported", width);
		bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
		uint64_t lo = value_bits(p, v->bit + (big ? 64 : 0), 64);
		uint64_t hi = value_bits(p, v->bit + (big ? 0 : 64), 64);

		if (hi)
			strbuf_addf(out(s), "0x%" PRIx64 "%016" PRIx64, hi, lo);
		else
			strbuf_addf(out(s), "0x%" PRIx64, lo);
	} else if (is_field) { /* as libbpf has it */
		strbuf_addf(out(s), "0x%" PRIx64, value_bits(p, v->bit, v->bits));
	} else if (v->is_signed) {
		strbuf_addf(out(s), "%" PRId64, (int64_t)value_number(v, p));
	} else {
		strbuf_add_u64(out(s), value_number(v, p));
	}
	return NULL;
}

static struct error *show_enum(struct show *s, const struct btf_type *t,
			       const struct value_scalar *v, const uint8_t *p)
{
	const uint32_t width = v->bits ? v->bits : v->size * 8;

	if (!width || width > 64)
		return error_new(EINVAL, "enums of %u bits are not supported", width);
	const uint64_t number = value_number(v, p);
	const char *name = value_enum_name(s->d->btf, t, number);
	if (name)
		strbuf_adds(out(s), name);
	else if (v->is_signed)
		strbuf_addf(out(s), "%" PRId64, (int64_t)number);
	else
		strbuf_add_u64(out(s), number);
	return NULL;
}

static struct error *show_float(struct show *s, const struct value_scalar *v, const uint8_t *p)
{
	if (v->bits)
		return error_new(EINVAL, "a float cannot be a bitfield");
	if (!value_is_float_size(v->size))
		return error_new(EINVAL, "floats of %u bytes are not supported", v->size);
	strbuf_addf(out(s), "%Lf", value_float(p, v->size));
	return NULL;
}

/* The text up to the NUL, quoted; false: it is no string. */
static bool show_string(struct show *s, uint64_t off, uint32_t n)
{
	const uint8_t *p = s->data + off / 8;
	const uint8_t *nul = memchr(p, 0, n);
	static const char hex[] = "0123456789abcdef";

	if (!nul)
		return false;
	for (const uint8_t *q = nul; q < p + n; q++)
		if (*q)
			return false;
	strbuf_addch(out(s), '"');
	for (const uint8_t *q = p; q < nul; q++) {
		if (*q == '"' || *q == '\\') {
			strbuf_addch(out(s), '\\');
			strbuf_addch(out(s), *q);
		} else if (*q >= ' ' && *q < 0x7f) {
			strbuf_addch(out(s), *q);
		} else {
			strbuf_adds(out(s), "\\x");
			strbuf_addch(out(s), hex[*q >> 4]);
			strbuf_addch(out(s), hex[*q & 15]);
		}
	}
	strbuf_addch(out(s), '"');
	return true;
}

/* A byte of an array of characters: as libbpf has it, what cannot be printed is a number. */
static struct error *show_char(struct show *s, uint32_t type, uint64_t off, int depth)
{
	uint8_t c = s->data[off / 8];

	if (!c)
		strbuf_adds(out(s), "'\\0'");
	else if (c >= ' ' && c < 0x7f)
		strbuf_addf(out(s), "'%c'", c);
	else
		return show_value(s, type, off, 0, NULL, depth);
	return NULL;
}

static struct error *show_array(struct show *s, const struct btf_type *t, uint64_t off, int depth)
{
	const struct btf_array *array = btf_array(t);
	int64_t size = btf__resolve_size(s->d->btf, array->type);
	uint32_t n = array->nelems;
	bool text = btf_is_char(s->d->btf, array->type);

	if (size < 0)
		return error_new(EINVAL, "array element type %u has no size", array->type);
	if (text && s->strings && !(off % 8) && n && off / 8 + n <= s->size &&
	    show_string(s, off, n))
		return NULL;
	if (!size && n > 1)
		n = 1;
	strbuf_addch(out(s), '[');
	newline(s);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t at = off + (uint64_t)i * size * 8;

		if (!within(s, at, (uint64_t)size * 8))
			break;
		const bool is_text = text && !(at % 8), nul = is_text && !s->data[at / 8];
		if (nul && !s->zeroes)
			continue;
		indent(s, depth + 1);
		if (is_text)
			TRY(show_char(s, array->type, at, depth + 1));
		else
			TRY(show_value(s, array->type, at, 0, NULL, depth + 1));
		strbuf_addch(out(s), ',');
		newline(s);
		if (nul)
			break; /* text ends there */
	}
	indent(s, depth);
	strbuf_addch(out(s), ']');
	return NULL;
}

static struct error *show_members(struct show *s, const struct btf_type *t, uint64_t off, int depth)
{
	strbuf_addch(out(s), '{');
	newline(s);
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = btf_members(t) + i;
		uint32_t bits = btf_member_bitfield_size(t, i);
		uint64_t at = off + btf_member_bit_offset(t, i);
		int64_t size = btf__resolve_size(s->d->btf, m->type);
		const char *name = btf__name_by_offset(s->d->btf, m->name_off);

		if (size < 0)
			return error_new(EINVAL, "member %s has no size", name ? name : "");
		if (!within(s, at, bits ? bits : (uint64_t)size * 8))
			continue;
		if (!s->zeroes &&
		    (bits ? !value_bits(s->data, at, min_of(bits, 64)) : all_zero(s, at, size)))
			continue;
		indent(s, depth + 1);
		TRY(show_value(s, m->type, at, bits, name ? name : "", depth + 1));
		strbuf_addch(out(s), ',');
		newline(s);
	}
	indent(s, depth);
	strbuf_addch(out(s), '}');
	return NULL;
}

static struct error *show_cast(struct show *s, uint32_t id, const char *name)
{
	if (s->no_names)
		return NULL;
	if (name && *name) {
		strbuf_addch(out(s), '.');
		strbuf_adds(out(s), name);
		strbuf_adds(out(s), " = ");
	}
	strbuf_addch(out(s), '(');
	/* A type without a name would be written out in full. */
	const struct btf_type *t = btf_type_at(s->d->btf, id);
	if ((btf_is_composite(t) || btf_is_any_enum(t)) && !*btf_name(s->d->btf, t))
		strbuf_adds(out(s), btf_is_struct(t)  ? "struct"
				    : btf_is_union(t) ? "union"
						      : "enum");
	else
		TRY(dump_decl(s->d, id, "", 0, true, 0));
	strbuf_addch(out(s), ')');
	return NULL;
}

static struct error *show_value(struct show *s, uint32_t id, uint64_t off, uint32_t bits,
				const char *name, int depth)
{
	const struct btf_type *t = btf_skip_mods_and_typedefs(s->d->btf, id, NULL);

	if (depth > DATA_MAX_DEPTH)
		return dump_too_deep(id);
	if (out(s)->len + s->d->written > s->d->max_bytes + 64 * s->size)
		return error_new(E2BIG, "the text of the value is too large");
	if (name || depth == 0)
		TRY(show_cast(s, id, name));
	const struct value_scalar v = value_scalar_of(s->d->btf, t, off, bits);
	const uint8_t *p = s->data + off / 8;
	switch (v.kind) {
	case VALUE_INT:
	case VALUE_WIDE:
	case VALUE_BOOL:
		return show_int(s, &v, p, bits);
	case VALUE_ENUM:
		return show_enum(s, t, &v, p);
	case VALUE_FLOAT:
		return show_float(s, &v, p);
	case VALUE_POINTER:
		if (v.bits > 64)
			return error_new(EINVAL, "pointers of %u bits are not supported", v.bits);
		if (!value_number(&v, p) && !depth)
			strbuf_adds(out(s), "NULL");
		else
			strbuf_addf(out(s), "0x%" PRIx64, value_number(&v, p));
		return NULL;
	case VALUE_NONE:
		break;
	}
	switch (btf_kind(t)) {
	case BTF_KIND_ARRAY:
		return show_array(s, t, off, depth);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return show_members(s, t, off, depth);
	default:
		return error_new(ENOTSUP, "a %s has no value", btf_kind_name(btf_kind(t)));
	}
}

/* A variable is "linkage type name = value", a section all of its variables. */
static struct error *show_var(struct show *s, const struct btf_type *var, uint64_t off)
{
	static const char *const linkage[] = {"static ", "", "extern "};
	uint32_t l = btf_var(var)->linkage;
	int64_t size = btf__resolve_size(s->d->btf, var->type);

	if (size < 0)
		return error_new(EINVAL, "variable %s has no size", btf_name(s->d->btf, var));
	if (!within(s, off, (uint64_t)size * 8))
		return NULL;
	if (!s->no_names) {
		strbuf_adds(out(s), l < ARRAY_SIZE(linkage) ? linkage[l] : "");
		TRY(dump_decl(s->d, var->type, btf_name(s->d->btf, var), 0, false, 0));
		strbuf_adds(out(s), " = ");
	}
	return show_value(s, var->type, off, 0, NULL, 0);
}

static struct error *show_datasec(struct show *s, const struct btf_type *t)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(t);

	strbuf_addf(out(s), "SEC(\"%s\") ", btf_name(s->d->btf, t));
	for (uint32_t i = 0; i < btf_vlen(t); i++) {
		const struct btf_type *var = btf_type_at(s->d->btf, v[i].type);

		if (i)
			strbuf_adds(out(s), s->compact ? " " : "\n");
		indent(s, 0);
		if (btf_is_var(var))
			TRY(show_var(s, var, (uint64_t)v[i].offset * 8));
		strbuf_addch(out(s), ';');
	}
	return NULL;
}

struct error *dump_data(struct btf_dump *d, uint32_t id, const void *data, size_t size,
			const struct btf_dump_type_data_opts *opts, int64_t *bytes)
{
	const char *indent_str = OPTS_GET(opts, indent_str, NULL);
	struct show s = {
		.d = d,
		.indent = indent_str ? indent_str : "\t",
		.level = min_of(OPTS_GET(opts, indent_level, 0), 255),
		.compact = OPTS_GET(opts, compact, false),
		.no_names = OPTS_GET(opts, skip_names, false),
		.zeroes = OPTS_GET(opts, emit_zeroes, false),
		.strings = OPTS_GET(opts, emit_strings, false),
		.data = data,
		.size = size,
	};
	const struct btf_type *t = btf_type_at(d->btf, id);

	if (btf_is_void(t) || btf_is_func(t) || btf_is_func_proto(t) || btf_is_fwd(t) ||
	    btf_is_decl_tag(t))
		return error_new(ENOTSUP, "a %s has no value", btf_kind_name(btf_kind(t)));
	int64_t need = btf__resolve_size(d->btf, id);
	if (need < 0)
		return error_new(EINVAL, "type %u has no size", id);
	const struct btf_type *plain = btf_skip_mods_and_typedefs(d->btf, id, NULL);
	if (!btf_is_datasec(t) && !btf_is_var(t) && size < (uint64_t)need &&
	    !btf_is_composite(plain) && !btf_is_array(plain)) {
		*bytes = -E2BIG;
		return NULL;
	}
	indent(&s, 0);
	if (btf_is_datasec(t))
		TRY(show_datasec(&s, t));
	else if (btf_is_var(t))
		TRY(show_var(&s, t, 0));
	else
		TRY(show_value(&s, id, 0, 0, NULL, 0));
	*bytes = s.cut || size < (uint64_t)need ? -E2BIG : need;
	return NULL;
}
