// SPDX-License-Identifier: BSD-2-Clause
/* An event's format as JSON, for programs that decode the payload themselves. */
#include "perf/format/internal.h"

/* As deep as print formats nest; the parser has refused what is deeper. */
#define DEPTH_MAX 64

static void add_values(struct json_writer *w, const struct format_field *field,
		       const struct arg *arg)
{
	jw_object(w, NULL);
	jw_text(w, "field", field->name);
	if (arg->type == ARG_FLAGS)
		jw_text(w, "delimiter", arg->text ? arg->text : "");
	jw_array(w, "values");
	for (const struct flag_name *flag = arg->flags; flag; flag = flag->next) {
		jw_array(w, NULL);
		jw_i64(w, NULL, flag->value);
		jw_text(w, NULL, flag->name);
		jw_end(w);
	}
	jw_end(w);
	jw_end(w);
}

/* Adds the lists of names below arg. *field: the last one before, whose names they are. */
static void add_symbols(struct json_writer *w, const struct arg *arg,
			const struct format_field **field, unsigned depth)
{
	for (; arg && depth < DEPTH_MAX; arg = arg->next) {
		switch (arg->type) {
		case ARG_FIELD:
			*field = arg->field;
			break;
		case ARG_FLAGS:
		case ARG_SYMBOL:
			add_symbols(w, arg->left, field, depth + 1);
			if (*field)
				add_values(w, *field, arg);
			break;
		case ARG_TYPE:
		case ARG_HEX:
			add_symbols(w, arg->left, field, depth + 1);
			break;
		case ARG_OP:
			add_symbols(w, arg->left, field, depth + 1);
			add_symbols(w, arg->right, field, depth + 1);
			break;
		default:
			break;
		}
	}
}

/* The format file has the length of arrays behind the name; what is dynamic has none. */
static void declare(const char *type, const char *name, bool dynamic, uint32_t n,
		    struct strbuf *out)
{
	const char *words[] = {"__data_loc ", "__rel_loc "};

	for (size_t i = 0; dynamic && i < ARRAY_SIZE(words); i++)
		if (!strncmp(type, words[i], strlen(words[i])))
			type += strlen(words[i]);
	const char *bracket = strrchr(type, '[');
	const size_t len = bracket ? (size_t)(bracket - type) : strlen(type);
	strbuf_addf(out, "%.*s%s%s", (int)len, type, len && type[len - 1] == '*' ? "" : " ", name);
	if (bracket)
		strbuf_adds(out, bracket);
	else if (n)
		strbuf_addf(out, "[%u]", n);
}

void trace_field_declare(const struct trace_field *f, struct strbuf *out)
{
	const bool array = f->kind == TRACE_FIELD_STRING || f->kind == TRACE_FIELD_ARRAY;
	const uint32_t size = f->kind == TRACE_FIELD_STRING ? 1 : f->elem_size;

	declare(f->type, f->name, f->dynamic, array && !f->dynamic && size ? f->size / size : 0,
		out);
}

static void add_field(struct json_writer *w, const struct format_field *f)
{
	const bool array = f->flags & FIELD_ARRAY && !(f->flags & FIELD_DYNAMIC);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	declare(f->type, f->name, f->flags & FIELD_DYNAMIC,
		array && f->element_size ? f->size / f->element_size : 0, &text);
	jw_object(w, NULL);
	jw_text(w, "name", f->name);
	jw_text(w, "declaration", strbuf_str(&text));
	jw_u64(w, "offset", f->offset);
	jw_u64(w, "size", f->size);
	jw_bool(w, "common", f->common);
	jw_bool(w, "array", f->flags & FIELD_ARRAY);
	jw_bool(w, "string", f->flags & FIELD_STRING);
	jw_bool(w, "signed", f->flags & FIELD_SIGNED);
	jw_bool(w, "dynamic", f->flags & FIELD_DYNAMIC);
	jw_bool(w, "relative", f->flags & FIELD_RELATIVE);
	jw_end(w);
}

void trace_event_describe(const struct trace_event *ev, struct json_writer *w)
{
	const struct format_field *field = NULL;

	jw_text(w, "system", ev->system);
	jw_text(w, "tracepoint", ev->name);
	jw_bool(w, "swap", ev->tracing->swap);
	jw_array(w, "fields");
	for (size_t i = 0; i < ev->format_fields.n; i++)
		add_field(w, ev->format_fields.v[i]);
	jw_end(w);
	jw_array(w, "symbols");
	add_symbols(w, ev->args, &field, 0);
	jw_end(w);
}
