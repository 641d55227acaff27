// SPDX-License-Identifier: BSD-2-Clause
/*
 * Where the arguments stand, and the text that says so: tracefs's "format"
 * (Documentation/trace/events.rst, 3), as libtraceevent and perf/print read it.
 *
 * The same argument may have another type at another point of the probe. Integers
 * share a field that has all their values, and the prologue extends them. What
 * no field can hold together (a float and a double, a number and a pointer) goes into
 * different layouts, which become different events: a sample is always read with
 * the type that its point has. Small signed numbers are widened to four bytes, since
 * print formats take a field's bytes without their sign.
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

/* What the sample holds of an argument: numbers wider than any (__int128, long double) are bytes.
 */
static struct output_field field_of(const struct fetch_value *value)
{
	const bool wide = is_number(value->kind) && value->size > 8;
	const bool number = is_number(value->kind) && !wide;

	return (struct output_field){
		.kind = wide ? FETCH_BYTES : value->kind,
		.size = number ? room_for(value) : value->size,
		.hex = value->hex,
	};
}

/*
 * The field takes a further type; false, and it is unchanged: no field can hold both without
 * changing the values of one of them.
 */
static bool join(struct output_field *field, const struct output_field *other)
{
	const bool integers = (field->kind == FETCH_INT || field->kind == FETCH_UINT) &&
			      (other->kind == FETCH_INT || other->kind == FETCH_UINT);
	uint32_t size = max_of(field->size, other->size);

	if (field->hex != other->hex)
		return false;
	if (field->kind == FETCH_STRING && other->kind == FETCH_STRING) {
		field->size = size;
		return true;
	}
	if (!integers)
		return field->kind == other->kind && field->size == other->size;
	if (field->kind != other->kind) {
		/* A signed number that has all values of the unsigned one is twice as wide. */
		const uint32_t of_unsigned = field->kind == FETCH_UINT ? field->size : other->size;

		size = max_of(size, 2 * of_unsigned);
		if (size > 8)
			return false;
		field->kind = FETCH_INT;
	}
	field->size = size;
	return true;
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
					  "argument '%s' does not fit: all arguments together have "
					  "more than %d bytes",
					  field->name, OUTPUT_MAX),
				"record single members of a struct or elements of an array");
	}
	const uint32_t each = strings ? ((OUTPUT_MAX - fixed) / strings) & ~7u : 0;
	if (strings && each < STRING_MIN)
		return error_new(E2BIG,
				 "%u strings and the other arguments do not fit into a sample",
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

/* An empty layout for all arguments of the points. */
static struct error *add_layout(const struct probe_points *points, struct output_layouts *layouts)
{
	struct output_layout *layout;

	if (layouts->v.n == OUTPUT_LAYOUTS_MAX)
		return error_hint(error_new(E2BIG,
					    "the arguments have more than %d different "
					    "combinations of types at the probe points",
					    OUTPUT_LAYOUTS_MAX),
				  "match fewer functions, record fewer arguments, or give each a "
				  "type: NAME:u64");
	layout = vec_push(&layouts->v);
	if (!layout)
		return error_nomem();
	layout->many = in_many_functions(points);
	for (size_t i = 0; i < points->n_args; i++) {
		struct output_field *field = vec_push(&layout->fields);

		if (!field || !(field->name = strdup(points->names[i])))
			return error_nomem();
		field->kind = FETCH_UINT;
		field->size = 8;
		field->is_open = true;
	}
	return NULL;
}

/* Whether the layout can hold all arguments of the point; then it does. */
static bool take_point(struct output_layout *layout, const struct fetch_value *args)
{
	for (int change = 0; change < 2; change++) {
		for (size_t i = 0; i < layout->fields.n; i++) {
			struct output_field *field = &layout->fields.v[i], joined = *field;
			struct output_field other = field_of(&args[i]);

			if (args[i].obstacle)
				continue;
			other.name = field->name;
			if (field->is_open)
				joined = other;
			else if (!join(&joined, &other))
				return false;
			if (change)
				*field = joined;
		}
	}
	return true;
}

static struct error *choose_layout(const struct probe_points *points, size_t point,
				   struct output_layouts *layouts)
{
	for (size_t i = 0;; i++) {
		if (i == layouts->v.n)
			TRY(add_layout(points, layouts));
		if (take_point(&layouts->v.v[i], points->v[point].args)) {
			layouts->of[point] = (uint32_t)i;
			return NULL;
		}
	}
}

void output_layouts_deinit(struct output_layouts *layouts)
{
	struct output_layout *layout;

	vec_for_each (layout, &layouts->v)
		output_layout_deinit(layout);
	vec_deinit(&layouts->v);
	free(layouts->of);
	layouts->of = NULL;
}

struct error *output_layouts_of(const struct probe_points *points, struct output_layouts *layouts)
{
	_cleanup_output_layouts_ struct output_layouts l = {0};
	struct output_layout *layout;

	for (size_t i = 0; i < points->n_args; i++)
		TRY(check_name(points->names[i]));
	l.of = calloc(points->n + 1, sizeof(*l.of));
	if (!l.of)
		return error_nomem();
	for (size_t p = 0; p < points->n; p++)
		TRY(choose_layout(points, p, &l));
	vec_for_each (layout, &l.v) {
		TRY(size_strings(layout));
		place(layout);
	}
	*layouts = l;
	l = (struct output_layouts){0};
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
