// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf list -v: fields of tracepoints, parameters of functions, constants of programs. */
#include "cmd/list_details.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "inspect/variable.h"
#include "lib/base/cleanup.h"
#include "lib/btf/open.h"
#include "lib/sys/tracefs.h"
#include "perf/format/tracing.h"
#include "probe/def/def.h"
#include "show/value_text.h"

struct list_details {
	struct probe_finder *finder;
	const char *exec; /* NULL: functions of the kernel */
	const struct log *log;
	struct tracing *tracing;
	struct btf *btf; /* NULL: not read yet, or the kernel has none */
	struct btf_dump *dump;
	bool without_btf;
	struct strbuf decl; /* what dump writes to */
};

struct error *list_details_new(struct probe_finder *finder, const char *exec, const struct log *log,
			       struct list_details **out)
{
	_cleanup_(list_details_freep) struct list_details *details = calloc(1, sizeof(*details));

	if (!details)
		return error_nomem();
	*details = (struct list_details){.finder = finder, .exec = exec, .log = log};
	TRY(tracing_new_empty(&details->tracing));
	*out = steal_ptr(details);
	return NULL;
}

void list_details_free(struct list_details *details)
{
	if (!details)
		return;
	tracing_free(details->tracing);
	btf_dump__free(details->dump);
	btf__free(details->btf);
	strbuf_deinit(&details->decl);
	free(details);
}

/* ---- tracepoints ---- */

struct error *list_tracepoint(struct list_details *details, const char *name, struct strbuf *out,
			      struct json_writer *json)
{
	const char *colon = strchr(name, ':');
	_cleanup_free_ char *system = colon ? strndup(name, colon - name) : NULL, *text = NULL;
	size_t size;
	uint64_t id;

	if (!colon)
		return NULL;
	if (!system)
		return error_nomem();
	TRY(sys_tracepoint_id(NULL, system, colon + 1, &id));
	TRY(sys_tracepoint_format(NULL, system, colon + 1, &text, &size));
	TRY(error_at(tracing_add_format(details->tracing, system, text, size), "%s", name));
	const struct trace_event *ev = tracing_find(details->tracing, id);
	if (!ev)
		return NULL;
	if (json) {
		trace_event_describe(ev, json);
		return NULL;
	}
	for (size_t i = 0; i < trace_event_n_fields(ev); i++) {
		strbuf_adds(out, LIST_INDENT);
		trace_field_declare(trace_event_field(ev, i), out);
		strbuf_addch(out, '\n');
	}
	return NULL;
}

/* ---- functions ---- */

static void add_text(void *ctx, const char *fmt, va_list args)
{
	strbuf_vaddf(ctx, fmt, args);
}

/* The kernel's types, once; false: there are none. */
static bool has_types(struct list_details *details)
{
	if (details->dump || details->without_btf)
		return details->dump;
	details->btf = btf__load_vmlinux_btf();
	if (details->btf)
		details->dump = btf_dump__new(details->btf, add_text, &details->decl, NULL);
	details->without_btf = !details->dump;
	return details->dump;
}

/* The declaration of a name, or of nothing but the type; to details->decl. */
static struct error *declare(struct list_details *details, struct btf_dump *dump, uint32_t type,
			     const char *name)
{
	LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = name);
	int code = btf_dump__emit_type_decl(dump, type, &opts);

	if (code)
		return error_errno(-code, "cannot declare %s", *name ? name : "a type");
	return strbuf_failed(&details->decl) ? error_nomem() : NULL;
}

static struct error *add_prototype(struct list_details *details, const char *name,
				   const struct btf_type *proto, struct strbuf *out)
{
	const struct btf_param *params = btf_params(proto);

	strbuf_reset(&details->decl);
	TRY(declare(details, details->dump, proto->type, name));
	strbuf_addch(&details->decl, '(');
	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		const char *its = btf__name_by_offset(details->btf, params[i].name_off);

		strbuf_adds(&details->decl, i ? ", " : "");
		if (!params[i].type && i + 1 == btf_vlen(proto))
			strbuf_adds(&details->decl, "...");
		else
			TRY(declare(details, details->dump, params[i].type, its ? its : ""));
	}
	strbuf_adds(&details->decl, btf_vlen(proto) ? ")" : "void)");
	strbuf_addf(out, LIST_INDENT "%s\n", strbuf_str(&details->decl));
	return NULL;
}

static struct error *add_type(struct list_details *details, struct btf_dump *dump, uint32_t type,
			      const char *key, struct json_writer *json)
{
	strbuf_reset(&details->decl);
	TRY(declare(details, dump, type, ""));
	jw_text(json, key, strbuf_str(&details->decl));
	return NULL;
}

static struct error *add_parameters(struct list_details *details, const struct btf_type *proto,
				    struct json_writer *json)
{
	const struct btf_param *params = btf_params(proto);

	TRY(add_type(details, details->dump, proto->type, "returns", json));
	jw_array(json, "parameters");
	for (uint32_t i = 0; i < btf_vlen(proto); i++) {
		const char *name = btf__name_by_offset(details->btf, params[i].name_off);

		jw_object(json, NULL);
		jw_text(json, "name", name ? name : "");
		if (params[i].type)
			TRY(add_type(details, details->dump, params[i].type, "type", json));
		jw_end(json);
	}
	jw_end(json);
	return NULL;
}

static struct error *kernel_function(struct list_details *details, const char *name,
				     struct strbuf *out, struct json_writer *json)
{
	const int id = has_types(details)
			       ? btf__find_by_name_kind(details->btf, name, BTF_KIND_FUNC)
			       : -ENOENT;
	const struct btf_type *func = id > 0 ? btf__type_by_id(details->btf, (uint32_t)id) : NULL;
	const struct btf_type *proto = func ? btf__type_by_id(details->btf, func->type) : NULL;

	if (!proto || !btf_is_func_proto(proto))
		return NULL;
	return json ? add_parameters(details, proto, json)
		    : add_prototype(details, name, proto, out);
}

struct parameters_out {
	struct strbuf *out;
	struct json_writer *json;
	uint64_t address;
	bool any;
};

static bool is_pointer(const char *type)
{
	const size_t len = strlen(type);

	return len && type[len - 1] == '*';
}

/* The parameters at the function's first point, where it was inlined too. */
static struct error *add_parameter(void *ctx, const struct probe_point *point,
				   const struct probe_variable *v)
{
	struct parameters_out *o = ctx;
	const char *type = v && v->type ? v->type : "?";

	if (!v || !v->is_parameter || (o->any && point->address != o->address))
		return NULL;
	if (!o->any && o->json)
		jw_array(o->json, "parameters");
	o->any = true;
	o->address = point->address;
	if (o->json) {
		jw_object(o->json, NULL);
		jw_text(o->json, "name", v->name);
		jw_text_if(o->json, "type", v->type);
		jw_end(o->json);
	} else {
		strbuf_addf(o->out, LIST_INDENT "%s%s%s\n", type, is_pointer(type) ? "" : " ",
			    v->name);
	}
	return strbuf_failed(o->out) ? error_nomem() : NULL;
}

/* By DWARF. What it does not have, or cannot say, is left out. */
static struct error *binary_function(struct list_details *details, const char *name,
				     struct strbuf *out, struct json_writer *json)
{
	_cleanup_probe_def_ struct probe_def def = {0};
	struct parameters_out o = {.out = out, .json = json};

	def.exec = strdup(details->exec);
	def.function = strdup(name);
	def.text = strdup(name);
	if (!def.exec || !def.function || !def.text)
		return error_nomem();
	struct error *err = probe_variables(details->finder, &def, false, add_parameter, &o);
	if (o.any && json)
		jw_end(json);
	if (err && err->code == ENOMEM)
		return err;
	error_free(err);
	return NULL;
}

struct error *list_function(struct list_details *details, const char *name, struct strbuf *out,
			    struct json_writer *json)
{
	return details->exec ? binary_function(details, name, out, json)
			     : kernel_function(details, name, out, json);
}

/* ---- built-in programs ---- */

struct constants_out {
	struct list_details *details;
	const struct btf *btf;
	struct btf_dump *dump;
	struct strbuf *out;
	struct json_writer *json;
};

/* "--set min_us=0": the type, the name and the value that it has by default. */
static struct error *add_constant(void *ctx, const char *name, const struct map_variable *v)
{
	struct constants_out *o = ctx;
	struct list_details *details = o->details;
	_cleanup_(value_plan_freep) struct value_plan *plan = NULL;
	_cleanup_strbuf_ struct strbuf value = STRBUF_INIT;

	if (!strncmp(name, "perf_bpf_", 9)) /* of the headers: options of run set them */
		return NULL;
	TRY(value_plan_new(o->btf, v->type, VALUE_COMPACT, 0, &plan));
	if (value_plan_size(plan) <= v->size)
		value_plan_json(plan, v->data, &value);
	else
		strbuf_adds(&value, "null");
	if (strbuf_failed(&value))
		return error_nomem();
	strbuf_reset(&details->decl);
	LIBBPF_OPTS(btf_dump_emit_type_decl_opts, opts, .field_name = o->json ? "" : name,
		    .strip_mods = true);
	int code = btf_dump__emit_type_decl(o->dump, v->type, &opts);
	if (code || strbuf_failed(&details->decl))
		return code ? error_errno(-code, "cannot declare %s", name) : error_nomem();
	if (!o->json) {
		strbuf_addf(o->out, LIST_INDENT "--set %s = %s\n", strbuf_str(&details->decl),
			    strbuf_str(&value));
		return NULL;
	}
	jw_object(o->json, NULL);
	jw_text(o->json, "name", name);
	jw_text(o->json, "type", strbuf_str(&details->decl));
	strbuf_adds(jw_value(o->json, "default"), strbuf_str(&value));
	jw_end(o->json);
	return NULL;
}

struct error *list_builtin(struct list_details *details, const struct builtin *builtin,
			   struct strbuf *out, struct json_writer *json)
{
	struct bpf_object *obj = NULL;

	if (json) {
		jw_text(json, "answers", builtin->summary);
		jw_text(json, "needs", builtin->needs);
	} else {
		strbuf_addf(out, LIST_INDENT "%s\n" LIST_INDENT "needs %s\n", builtin->summary,
			    builtin->needs);
	}
	if (!builtin->object)
		return NULL;
	TRY(builtin_open(builtin->name, details->log, &obj));
	struct constants_out o = {
		.details = details, .btf = bpf_object__btf(obj), .out = out, .json = json};
	struct error *err = NULL;

	o.dump = o.btf ? btf_dump__new(o.btf, add_text, &details->decl, NULL) : NULL;
	if (json)
		jw_array(json, "settings");
	if (o.dump)
		err = object_constants_each(obj, add_constant, &o);
	if (json)
		jw_end(json);
	btf_dump__free(o.dump);
	bpf_object__close(obj);
	return err;
}

/* ---- USDT probes ---- */

/* Registers and memory of arguments are for the attaching; here their types count. */
struct error *list_usdt(const struct elf_file *file, const struct usdt_note *note,
			struct strbuf *out, struct json_writer *json)
{
	const struct usdt_frame frame = {.machine = pb_elf_file_machine(file),
					 .location = note->location};
	struct usdt_arg args[USDT_ARGS_MAX];
	size_t n = 0;
	struct error *err = usdt_args_parse(note->args, &frame, args, &n);

	if (json) {
		jw_text(json, "provider", note->provider);
		jw_text(json, "probe", note->name);
		jw_text(json, "note", note->args);
		jw_array(json, "parameters");
	}
	if (err && !json)
		strbuf_addf(out, LIST_INDENT "%s\n", note->args);
	for (size_t i = 0; !err && i < n; i++) {
		_cleanup_free_ char *type =
			text_format("%c%u", args[i].is_signed ? 's' : 'u', args[i].size * 8);
		_cleanup_free_ char *name = text_format("arg%zu", i);

		if (!type || !name)
			return error_nomem();
		if (!json) {
			strbuf_addf(out, LIST_INDENT "%s %s\n", type, name);
			continue;
		}
		jw_object(json, NULL);
		jw_text(json, "name", name);
		jw_text(json, "type", type);
		jw_end(json);
	}
	if (json)
		jw_end(json);
	error_free(err);
	return NULL;
}
