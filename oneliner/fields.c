// SPDX-License-Identifier: BSD-2-Clause
/*
 * The fields of a tracepoint as the members of a struct. The offsets are those of the format file;
 * the types are, too, where their size is that of the field. The arguments of a system call have 8
 * bytes each, whatever their type: on a little-endian machine, an int is the first 4 of them.
 */
#include <stdlib.h>

#include "oneliner/internal.h"
#include "perf/format/tracing.h"

void fields_free(struct event_fields *fields)
{
	struct event_field *f;

	vec_for_each (f, fields) {
		free(f->name);
		free(f->chain);
	}
	vec_deinit(fields);
}

/* Types whose numbers have a meaning, which the names of fields confirm. */
static const struct {
	const char *system, *field, *type, *key, *unit;
} meanings[] = {
	{NULL, NULL, "dev_t", "perf_bpf_dev", NULL},
	{NULL, "pid", NULL, "perf_bpf_pid", NULL},
	{NULL, "tid", NULL, "perf_bpf_pid", NULL},
	{NULL, "tgid", NULL, "perf_bpf_pid", NULL},
	{NULL, "prev_pid", NULL, "perf_bpf_pid", NULL},
	{NULL, "next_pid", NULL, "perf_bpf_pid", NULL},
	{NULL, "parent_pid", NULL, "perf_bpf_pid", NULL},
	{NULL, "child_pid", NULL, "perf_bpf_pid", NULL},
	{"raw_syscalls", "id", NULL, "perf_bpf_syscall", NULL},
	{"kmem", "call_site", NULL, "perf_bpf_ksym", NULL},
	{NULL, "bytes_req", NULL, NULL, "bytes"},
	{NULL, "bytes_alloc", NULL, NULL, "bytes"},
};

static void add_meaning(const char *system, const struct trace_field *f, struct value_type *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++) {
		if ((meanings[i].system && strcmp(meanings[i].system, system)) ||
		    (meanings[i].field && strcmp(meanings[i].field, f->name)) ||
		    (meanings[i].type && strcmp(meanings[i].type, f->type)))
			continue;
		type->key = meanings[i].key;
		type->unit = meanings[i].unit;
		return;
	}
}

/* The size of an argument's type, where it is less than the 8 bytes that it has. */
static uint32_t narrow_size(const char *type)
{
	static const char *const words[] = {
		"int",	     "unsigned int",	"pid_t", "uid_t",  "gid_t", "u32",
		"__u32",     "umode_t",		"key_t", "qid_t",  "mqd_t", "key_serial_t",
		"clockid_t", "const clockid_t", "rwf_t", "timer_t"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(type, words[i]))
			return strcmp(type, "umode_t") ? 4 : 2;
	return 8;
}

static bool is_narrow_signed(const char *type)
{
	return !strcmp(type, "int") || strstr(type, "pid_t") || strstr(type, "clockid_t") ||
	       !strcmp(type, "key_t") || !strcmp(type, "rwf_t") || !strcmp(type, "timer_t") ||
	       !strcmp(type, "key_serial_t") || !strcmp(type, "mqd_t");
}

static void number_type(struct event_field *out, uint32_t size, bool is_signed)
{
	snprintf(out->type.type, sizeof(out->type.type), "__%c%u", is_signed ? 's' : 'u', size * 8);
	out->type.is_signed = is_signed;
	out->size = size;
}

/* "const char *" of a pointer, whose type is kept where it is short. */
static void pointer_type(const struct trace_field *f, struct event_field *out)
{
	const bool is_plain = !strncmp(f->type, "const ", 6) || !strncmp(f->type, "struct ", 7) ||
			      !strncmp(f->type, "char", 4) || !strncmp(f->type, "void", 4) ||
			      !strncmp(f->type, "int ", 4);

	out->size = f->size;
	if (is_plain && strlen(f->type) < sizeof(out->type.type) && strchr(f->type, '*') &&
	    !strpbrk(f->type, "()[];{}") && strncmp(f->type, "const struct ", 13) &&
	    strncmp(f->type, "struct ", 7))
		snprintf(out->type.type, sizeof(out->type.type), "%s", f->type);
	else
		snprintf(out->type.type, sizeof(out->type.type), "const void *");
}

static struct error *add_field(const char *system, const struct trace_field *f,
			       struct event_fields *out)
{
	const bool is_call = !strcmp(system, "syscalls");
	struct event_field *field = vec_push(out);

	if (!field)
		return error_nomem();
	*field =
		(struct event_field){.name = strdup(f->name), .offset = f->offset, .size = f->size};
	if (!field->name)
		return error_nomem();
	if (f->dynamic || f->kind == TRACE_FIELD_STRING) {
		field->dynamic = f->dynamic;
		field->type.size = f->kind != TRACE_FIELD_STRING ? 0
				   : f->dynamic			 ? STR_SIZE
								 : f->size;
		if (f->dynamic)
			number_type(field, 4, false);
		return NULL;
	}
	if (f->kind == TRACE_FIELD_ARRAY && f->elem_size && f->size >= f->elem_size) {
		number_type(field, f->elem_size, f->elem_signed);
		field->size = f->size;
		field->length = f->size / f->elem_size;
		return NULL;
	}
	if (strchr(f->type, '*')) {
		pointer_type(f, field);
	} else if (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8) {
		const uint32_t size = is_call ? min_of(narrow_size(f->type), f->size) : f->size;

		number_type(field, size,
			    size < f->size ? is_narrow_signed(f->type)
					   : f->kind == TRACE_FIELD_SIGNED);
		if (is_call && size == 8 && f->size == 8 && !strcmp(f->type, "long"))
			field->type.is_signed = true;
	} else {
		number_type(field, 1, false);
		field->size = f->size;
		field->length = f->size;
	}
	add_meaning(system, f, &field->type);
	return NULL;
}

struct error *fields_of_tracepoint(const char *system, const char *format, size_t size,
				   struct event_fields *out)
{
	_cleanup_(tracing_freep) struct tracing *t = NULL;
	const char *id = strstr(format, "\nID:");
	uint32_t end = 8; /* the common fields, which a program cannot read */

	TRY(tracing_new_empty(&t));
	TRY(tracing_add_format(t, system, format, size));
	const struct trace_event *ev = id ? tracing_find(t, strtoull(id + 4, NULL, 10)) : NULL;
	if (!ev)
		return error_new(EINVAL, "its format is not known");
	for (size_t i = 0; i < trace_event_n_fields(ev); i++) {
		const struct trace_field *f = trace_event_field(ev, i);

		/* A damaged format has fields that overlap. */
		if (f->repeats || f->offset < end || f->size > 4096 || f->offset > 65536)
			continue;
		if (!f->size)
			continue;
		TRY(add_field(system, f, out));
		end = f->offset + f->size;
	}
	return NULL;
}

/* What a probe fetches is passed in members with the names of the values. */
static void write_fetched(const struct event_fields *fields, const char *name, struct strbuf *out)
{
	const struct event_field *f;

	strbuf_addf(out,
		    "struct %s_args {\n\tint err; /* of the first value that was not read */\n",
		    name);
	vec_for_each (f, fields) {
		if (f->type.size)
			strbuf_addf(out, "\tchar %s[%zu];\n", f->name, f->type.size);
		else
			strbuf_addf(out, "\t%s %s;\n", f->type.type, f->name);
	}
	strbuf_adds(out, "};\n\n");
}

void fields_write(const struct event_fields *fields, const char *name, struct strbuf *out)
{
	const struct event_field *f;
	uint32_t end = 8;
	unsigned n = 0;

	if (fields->n && fields->v[0].chain) {
		write_fetched(fields, name, out);
		return;
	}
	strbuf_addf(out, "struct %s_args {\n\t__u64 common; /* programs cannot read it */\n", name);
	vec_for_each (f, fields) {
		if (f->offset > end)
			strbuf_addf(out, "\tchar pad%u[%u];\n", n++, f->offset - end);
		if (f->dynamic)
			strbuf_addf(out, "\t%s __data_loc_%s;\n", f->type.type, f->name);
		else if (f->type.size)
			strbuf_addf(out, "\tchar %s[%zu];\n", f->name, f->type.size);
		else if (f->length)
			strbuf_addf(out, "\t%s %s[%u];\n", f->type.type, f->name, f->length);
		else
			strbuf_addf(out, "\t%s%s%s;\n", f->type.type,
				    strchr(f->type.type, '*') ? "" : " ", f->name);
		end = f->offset + f->size;
	}
	strbuf_adds(out, "};\n\n");
}
