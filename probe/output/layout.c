// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the arguments stand, and the text that says so: tracefs's "format"
 * (Documentation/trace/events.rst, 3), as libtraceevent and perf/print read it.
 *
 * The same argument may be of another type at another point of the probe: it
 * gets room for the largest, and the prologue extends the others. Small signed
 * numbers are widened to four bytes, since print formats take a field's bytes
 * without their sign.
 */
#include "probe/output/output.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define COMMON_SIZE 8 /* type, flags, preempt_count, pid: of each tracepoint */
#define STRING_MIN  16

void output_layout_deinit(struct output_layout *layout)
{
	struct output_field *field;

	vec_for_each (field, &layout->fields)
		free(field->name);
	vec_deinit(&layout->fields);
}

static bool is_number(enum fetch_kind kind)
{
	return kind != FETCH_STRING && kind != FETCH_BYTES;
}

static bool is_signed(const struct output_field *field)
{
	if (field->kind == FETCH_CHAR)
		return CHAR_MIN < 0;
	return field->kind == FETCH_INT || (field->kind == FETCH_ENUM && field->size == 4);
}

/* The bytes that hold a number. */
static uint32_t room_for(const struct fetch_value *value)
{
	uint32_t size = 1;

	while (size < value->size && size < 8)
		size *= 2;
	return value->kind == FETCH_INT ? max_of(size, 4u) : size;
}

static struct error *join(struct output_field *field, const struct fetch_value *value, bool *any)
{
	if (value->obstacle)
		return NULL;
	/* What is wider than any number (__int128, long double) is its bytes. */
	const bool number = is_number(value->kind) && value->size <= 8;
	const enum fetch_kind kind = is_number(value->kind) && !number ? FETCH_BYTES : value->kind;
	const uint32_t size = number ? room_for(value) : value->size;

	if (!*any) {
		field->kind = kind;
		field->size = size;
		field->hex = value->hex;
		*any = true;
		return NULL;
	}
	if (field->kind != kind) {
		if (!is_number(field->kind) || !number)
			return error_hint(error_new(EINVAL,
						    "argument '%s' is a number at some probe "
						    "points but not at others",
						    field->name),
					  "give it a type: %s:u64 or %s:string", field->name,
					  field->name);
		/* Signed where any is, so that a small unsigned one keeps its value, too. */
		if (value->kind == FETCH_INT || field->kind == FETCH_INT)
			field->kind = FETCH_INT;
		else
			field->kind = FETCH_UINT;
	}
	field->hex |= value->hex;
	field->size = max_of(field->size, size);
	if (field->kind == FETCH_INT)
		field->size = max_of(field->size, 4u);
	return NULL;
}

/* What each string may have of the bytes that are left. */
static struct error *size_strings(struct output_layout *layout)
{
	uint32_t fixed = COMMON_SIZE + 16, strings = 0;
	struct output_field *field;

	vec_for_each (field, &layout->fields) {
		if (field->kind == FETCH_STRING)
			strings++;
		else
			fixed += (field->size + 7) & ~7u;
		if (fixed > OUTPUT_MAX)
			return error_hint(
				error_new(E2BIG,
					  "argument '%s' is too much: all arguments together have "
					  "more than %d bytes",
					  field->name, OUTPUT_MAX),
				"record single members of a struct or elements of an array");
	}
	const uint32_t each = strings ? ((OUTPUT_MAX - fixed) / strings) & ~7u : 0;
	if (strings && each < STRING_MIN)
		return error_new(E2BIG, "%u strings together with the other arguments are too many",
				 strings);
	vec_for_each (field, &layout->fields) {
		if (field->kind != FETCH_STRING)
			continue;
		const uint32_t most = min_of(each, (uint32_t)OUTPUT_STRING);

		field->size = field->size ? min_of(field->size, most) : most;
	}
	return NULL;
}

static void place(struct output_layout *layout)
{
	uint32_t at = COMMON_SIZE;
	struct output_field *field;

	vec_for_each (field, &layout->fields) {
		const uint32_t align = is_number(field->kind) ? field->size : 8;

		at = (at + align - 1) & ~(align - 1);
		field->offset = at;
		at += field->size;
	}
	layout->ip_offset = (at + 7) & ~7u;
	layout->err_offset = layout->ip_offset + 8;
	layout->size = layout->err_offset + 8;
}

static bool in_many_functions(const struct probe_points *points)
{
	for (size_t i = 1; i < points->n; i++)
		if (points->v[i].function && points->v[0].function &&
		    strcmp(points->v[i].function, points->v[0].function) != 0)
			return true;
	return false;
}

/* Of each sample, or of the program that puts it out. */
static struct error *check_name(const char *name)
{
	static const char *const taken[] = {OUTPUT_IP_FIELD, OUTPUT_ERROR_FIELD, "err_mask"};
	bool is_taken = !strncmp(name, "common_", 7);

	for (size_t i = 0; i < ARRAY_SIZE(taken); i++)
		is_taken |= !strcmp(name, taken[i]);
	if (!is_taken)
		return NULL;
	return error_hint(error_new(EINVAL,
				    "argument '%s' has the name of a standard field of samples",
				    name),
			  "give it another name: NAME=%s", name);
}

struct error *output_layout_of(const struct probe_points *points, struct output_layout *layout)
{
	_cleanup_output_layout_ struct output_layout l = {0};

	for (size_t i = 0; i < points->n_args; i++) {
		struct output_field *field;
		bool any = false;

		TRY(check_name(points->names[i]));
		field = vec_push(&l.fields);
		if (!field || !(field->name = strdup(points->names[i])))
			return error_nomem();
		field->kind = FETCH_UINT;
		field->size = 8;
		for (size_t p = 0; p < points->n; p++)
			TRY(join(field, &points->v[p].args[i], &any));
	}
	TRY(size_strings(&l));
	place(&l);
	l.many = in_many_functions(points);
	*layout = l;
	l = (struct output_layout){0};
	return NULL;
}

/* ---- the format file ---- */

static void add_field(struct strbuf *out, const char *type, const char *name, const char *array,
		      uint32_t offset, uint32_t size, bool has_sign)
{
	strbuf_addf(out, "\tfield:%s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", type, name, array,
		    offset, size, has_sign);
}

static const char *number_type(const struct output_field *field)
{
	switch (field->kind) {
	case FETCH_BOOL:
		return field->size == 1 ? "bool" : "u32";
	case FETCH_CHAR:
		return "char";
	case FETCH_POINTER:
		return "void *";
	case FETCH_FLOAT:
		return field->size == 4 ? "float" : "double";
	default:
		break;
	}
	if (is_signed(field))
		return field->size == 8 ? "s64" : "s32";
	return field->size == 8	  ? "u64"
	       : field->size == 4 ? "u32"
	       : field->size == 2 ? "u16"
				  : "u8";
}

static void add_format_field(const struct output_field *field, struct strbuf *out)
{
	char array[24];

	snprintf(array, sizeof(array), "[%u]", field->size);
	if (field->kind == FETCH_STRING)
		add_field(out, "char", field->name, array, field->offset, field->size, false);
	else if (field->kind == FETCH_BYTES)
		add_field(out, "u8", field->name, array, field->offset, field->size, false);
	else
		add_field(out, number_type(field), field->name, "", field->offset, field->size,
			  is_signed(field));
}

static const char *conversion(const struct output_field *field)
{
	const bool wide = field->size == 8;

	if (field->kind == FETCH_FLOAT) /* its bits; readers of ours know better */
		return wide ? "%#llx" : "%#x";
	if (field->kind == FETCH_POINTER || field->hex)
		return wide ? "0x%llx" : "0x%x";
	if (is_signed(field))
		return wide ? "%lld" : "%d";
	return wide ? "%llu" : "%u";
}

void output_format(const struct output_layout *layout, const char *name, uint32_t id,
		   struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf args = STRBUF_INIT;
	const struct output_field *field;

	strbuf_addf(out, "name: %s\nID: %u\nformat:\n", name, id);
	add_field(out, "unsigned short", "common_type", "", 0, 2, false);
	add_field(out, "unsigned char", "common_flags", "", 2, 1, false);
	add_field(out, "unsigned char", "common_preempt_count", "", 3, 1, false);
	add_field(out, "int", "common_pid", "", 4, 4, true);
	strbuf_addch(out, '\n');
	vec_for_each (field, &layout->fields)
		add_format_field(field, out);
	add_field(out, "unsigned long", OUTPUT_IP_FIELD, "", layout->ip_offset, 8, false);
	add_field(out, "u64", OUTPUT_ERROR_FIELD, "", layout->err_offset, 8, false);
	strbuf_adds(out, "\nprint fmt: \"");
	if (layout->many) {
		strbuf_addf(out, "(%%ps)%s", layout->fields.n ? " " : "");
		strbuf_addf(&args, ", (void *)REC->%s", OUTPUT_IP_FIELD);
	}
	for (size_t i = 0; i < layout->fields.n; i++) {
		field = &layout->fields.v[i];
		strbuf_addf(out, "%s%s=", i ? " " : "", field->name);
		if (field->kind == FETCH_STRING)
			strbuf_adds(out, "\\\"%s\\\"");
		else if (field->kind == FETCH_BYTES)
			strbuf_adds(out, "{%s}");
		else
			strbuf_adds(out, conversion(field));
		strbuf_adds(out, "%s"); /* what could not be read says so */
		if (field->kind == FETCH_BYTES)
			strbuf_addf(&args, ", __print_hex(REC->%s, %u)", field->name, field->size);
		else
			strbuf_addf(&args, ", REC->%s", field->name);
		strbuf_addf(&args, ", (REC->%s & 0x%llx) ? \"(fault)\" : \"\"", OUTPUT_ERROR_FIELD,
			    1ull << i % 64);
	}
	if (!layout->fields.n && !layout->many) {
		strbuf_adds(out, "%s");
		strbuf_adds(&args, ", \"\"");
	}
	strbuf_addf(out, "\"%s\n", strbuf_str(&args));
	out->failed |= args.failed;
}
