// SPDX-License-Identifier: BSD-2-Clause
/*
 * Events: what a body is attached to, and what `args` has there.
 *
 *	SYSTEM:NAME			tracepoints
 *	kprobe:FUNC, fentry:FUNC	the entry of a kernel function, which can be a glob
 *	kretprobe:FUNC, fexit:FUNC	its return
 *	uprobe:BINARY:FUNC, uretprobe:	the same of a program or library
 *	probe:DEFINITION		a probe definition with the values that it fetches
 *	NAME/TERMS/			a clock, hardware or software event
 *	interval:TIME			on one CPU, every TIME, whatever task runs
 *	begin				once, before the others are attached
 *
 * A function's parameters are fetched by a probe definition: each args->CHAIN of the body becomes a
 * value in it, under the name of its last member. So the types are those of the debug information,
 * and pointers are followed in the kernel and in programs alike.
 */
#include <ctype.h>
#include <stdlib.h>

#include "oneliner/internal.h"
#include "probe/def/def.h"

void clause_event_deinit(struct event *e)
{
	free(e->name);
	free(e->section);
	free(e->function);
	fields_free(&e->fields);
}

/* ---- fetched values ---- */

static void number_of_arg(const struct probe_arg *arg, struct value_type *type)
{
	const unsigned bits = arg->bits ? arg->bits : 64;
	const bool is_unsigned = arg->type == PROBE_TYPE_UNSIGNED || arg->type == PROBE_TYPE_HEX ||
				 arg->type == PROBE_TYPE_BITS || arg->type == PROBE_TYPE_BOOL;

	*type = (struct value_type){.is_signed = !is_unsigned};
	snprintf(type->type, sizeof(type->type), "__%c%u", is_unsigned ? 'u' : 's', bits);
}

static struct error *add_fetched(const char *name, const char *chain, const struct value_type *type,
				 struct event_fields *out)
{
	struct event_field *f = vec_push(out);

	if (!f)
		return error_nomem();
	*f = (struct event_field){.name = strdup(name), .chain = strdup(chain), .type = *type};
	return f->name && f->chain ? NULL : error_nomem();
}

/* "probe:DEFINITION": the values have their names. */
static struct error *read_definition(const char *text, struct event *e)
{
	_cleanup_probe_def_ struct probe_def def = {0};

	TRY(probe_def_parse(text, &def));
	for (size_t i = 0; i < def.n_args; i++) {
		const struct probe_arg *arg = &def.args[i];
		struct value_type type;

		if (arg->base == PROBE_PARAMS || arg->base == PROBE_VARS)
			return error_new(EINVAL, "$params and $vars have no names that a body can "
						 "use");
		number_of_arg(arg, &type);
		if (arg->type == PROBE_TYPE_STRING || arg->type == PROBE_TYPE_USTRING ||
		    arg->base == PROBE_COMM)
			type = (struct value_type){.size = STR_SIZE};
		TRY(add_fetched(arg->name, arg->name, &type, &e->fields));
		vec_last(&e->fields)->is_variable = true;
	}
	e->section = strdup(text);
	e->function = strdup(def.event ? def.event : def.function ? def.function : "probe");
	return e->section && e->function ? NULL : error_nomem();
}

static bool is(const char *text, const struct tokens *tokens, size_t i, const char *word)
{
	return i < tokens->n && token_is(text, &tokens->v[i], word);
}

/* Behind args->CHAIN at token i. */
static size_t chain_end(const char *text, const struct tokens *tokens, size_t i)
{
	i++;
	while (i + 1 < tokens->n) {
		if ((is(text, tokens, i, "->") || is(text, tokens, i, ".")) &&
		    tokens->v[i + 1].kind == TOKEN_NAME)
			i += 2;
		else if (is(text, tokens, i, "[") && tokens->v[i + 1].kind == TOKEN_NUMBER &&
			 is(text, tokens, i + 2, "]"))
			i += 3;
		else
			break;
	}
	return i;
}

/* The chain without "args->". */
static struct error *chain_text(const char *text, const struct tokens *tokens, size_t from,
				size_t to, char **out)
{
	_cleanup_strbuf_ struct strbuf chain = STRBUF_INIT;

	for (size_t i = from + 2; i < to; i++)
		strbuf_add(&chain, text + tokens->v[i].at, tokens->v[i].len);
	*out = strbuf_steal(&chain);
	return *out ? NULL : error_nomem();
}

static const struct event_field *find_chain(const struct event_fields *fields, const char *chain,
					    bool is_string)
{
	const struct event_field *f;

	vec_for_each (f, fields)
		if (!strcmp(f->chain, chain) && !f->type.size == !is_string)
			return f;
	return NULL;
}

/* A name for the member: the chain's last one, with a number if it is taken. */
static struct error *member_name(const struct event_fields *fields, const char *chain, char **out)
{
	const char *p = chain + strlen(chain);
	const struct event_field *f;
	bool taken = false;

	while (p > chain && p[-1] != '>' && p[-1] != '.')
		p--;
	p += *p == '$'; /* $retval */
	const size_t len =
		strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
	vec_for_each (f, fields)
		taken |= strlen(f->name) == len && !strncmp(f->name, p, len);
	taken |= (len == 3 && !strncmp(p, "err", 3)) || len != strlen(p);
	*out = taken ? text_format("%.*s_%zu", (int)len, p, fields->n + 1) : strndup(p, len);
	return *out ? NULL : error_nomem();
}

static struct error *fetch_chain(struct event *e, const char *chain, bool is_string)
{
	_cleanup_free_ char *name = NULL;
	const struct value_type string = {.size = STR_SIZE}, number = {"__s64", .is_signed = true};

	if (find_chain(&e->fields, chain, is_string))
		return NULL;
	TRY(member_name(&e->fields, chain, &name));
	TRY(add_fetched(name, chain, is_string ? &string : &number, &e->fields));
	vec_last(&e->fields)->is_variable = *chain == '$';
	return NULL;
}

/* The values that the body names, and the definition that fetches them. */
static struct error *read_function(const char *text, const struct tokens *tokens,
				   const char *target, bool is_return, struct event *e)
{
	_cleanup_strbuf_ struct strbuf def = STRBUF_INIT;
	const struct event_field *f;

	for (size_t i = 0; i < tokens->n; i++) {
		_cleanup_free_ char *chain = NULL;
		const bool is_member =
			i && (is(text, tokens, i - 1, "->") || is(text, tokens, i - 1, "."));

		if (is_member)
			continue;
		if (is(text, tokens, i, "retval") && is_return)
			TRY(fetch_chain(e, "$retval", false));
		if (!is(text, tokens, i, "args") || !is(text, tokens, i + 1, "->"))
			continue;
		const size_t end = chain_end(text, tokens, i);
		const bool is_string = i >= 2 && is(text, tokens, i - 1, "(") &&
				       is(text, tokens, i - 2, "str") &&
				       (is(text, tokens, end, ")") || is(text, tokens, end, ","));
		TRY(chain_text(text, tokens, i, end, &chain));
		TRY(fetch_chain(e, chain, is_string));
	}
	const char *function = target + strcspn(target, ";=");
	e->function = text_format("%s%s",
				  strchr(target, ';') ? strrchr(target, ';') + 1
				  : *function	      ? function + 1
						      : target,
				  is_return ? "_return" : "");
	if (!e->function)
		return error_nomem();
	strbuf_addf(&def, "%s%s", target, is_return ? "%return" : "");
	vec_for_each (f, &e->fields)
		strbuf_addf(&def, " %s=%s%s", f->name, f->chain, f->type.size ? ":string" : "");
	e->section = strbuf_steal(&def);
	return e->section ? NULL : error_nomem();
}

/* ---- kinds ---- */

static const char *behind(const char *text, const char *prefix)
{
	const size_t len = strlen(prefix);

	return !strncmp(text, prefix, len) && text[len] ? text + len : NULL;
}

static struct error *read_kernel_function(const struct generator *g, const struct tokens *tokens,
					  struct event *e, bool *known)
{
	static const struct {
		const char *prefix;
		bool is_return;
	} prefixes[] = {
		{"kprobe:", false}, {"fentry:", false}, {"kretprobe:", true}, {"fexit:", true}};

	*known = false;
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		const char *function = behind(e->name, prefixes[i].prefix);
		_cleanup_free_ char *target = NULL;

		if (!function)
			continue;
		*known = true;
		/* A definition that fetches nothing is one by its event's name. */
		target = strchr(function, '*') ? strdup(function)
					       : text_format("%s=%s", function, function);
		if (!target)
			return error_nomem();
		e->kind = EVENT_PROBE;
		return read_function(g->text, tokens, target, prefixes[i].is_return, e);
	}
	return NULL;
}

/* "uprobe:BINARY:FUNCTION" */
static struct error *read_user_function(const struct generator *g, const struct tokens *tokens,
					struct event *e, bool *known)
{
	const bool is_return = !strncmp(e->name, "uretprobe:", 10);
	const char *binary = behind(e->name, is_return ? "uretprobe:" : "uprobe:");
	const char *colon = binary ? strchr(binary, ':') : NULL;

	*known = binary != NULL;
	if (!binary)
		return NULL;
	if (!colon || colon == binary || !colon[1])
		return error_hint(error_new(EINVAL, "the function is missing"),
				  "write uprobe:BINARY:FUNCTION, for example "
				  "uprobe:libc.so.6:malloc");
	_cleanup_free_ char *target =
		text_format("exec=%.*s;%s", (int)(colon - binary), binary, colon + 1);
	if (!target)
		return error_nomem();
	e->kind = EVENT_PROBE;
	return read_function(g->text, tokens, target, is_return, e);
}

/* "interval:1s", also with "ms", "us", "m". */
static struct error *read_interval(struct event *e, bool *known)
{
	const char *time = behind(e->name, "interval:");
	char *end;

	*known = time != NULL;
	if (!time)
		return NULL;
	const double n = strtod(time, &end);
	const double unit = !strcmp(end, "s")	 ? 1e9
			    : !strcmp(end, "ms") ? 1e6
			    : !strcmp(end, "us") ? 1e3
			    : !strcmp(end, "m")	 ? 60e9
						 : 0;
	if (end == time || !unit || !(n * unit >= 1000) || n * unit > 1e18)
		return error_hint(error_new(EINVAL, "'%s' is not a time", time),
				  "write interval:1s, interval:500ms");
	e->kind = EVENT_INTERVAL;
	e->section = text_format("perf_event/cpu-clock/period=%.0f/", n * unit);
	return e->section ? NULL : error_nomem();
}

static struct error *read_begin(struct event *e, bool *known)
{
	*known = !strcmp(e->name, "begin");
	if (!*known)
		return NULL;
	e->kind = EVENT_BEGIN;
	e->section = strdup("raw_tp");
	return e->section ? NULL : error_nomem();
}

/* A clock, hardware or software event: clang and perf know what it is. */
static struct error *read_sampled(const struct generator *g, struct event *e, bool *known)
{
	const size_t len = strcspn(e->name, "/");
	_cleanup_free_ char *name = strndup(e->name, len);

	if (!name)
		return error_nomem();
	*known = !strpbrk(e->name, " \t\n\"\\") && g->env->is_sampled && g->env->is_sampled(name);
	if (!*known)
		return NULL;
	e->kind = EVENT_SAMPLED;
	e->section = text_format("perf_event/%s", e->name);
	return e->section ? NULL : error_nomem();
}

static struct error *add_tracepoint(const struct generator *g, const char *name, size_t at,
				    struct clause *clause)
{
	struct event *e = vec_push(&clause->resolved);
	const char *colon = strchr(name, ':');
	_cleanup_free_ char *format = NULL, *system = NULL;
	size_t size;

	if (!e)
		return error_nomem();
	*e = (struct event){.name = strdup(name), .kind = EVENT_TRACEPOINT, .at = at};
	system = strndup(name, colon - name);
	e->section = text_format("tracepoint/%.*s/%s", (int)(colon - name), name, colon + 1);
	if (!e->name || !system || !e->section)
		return error_nomem();
	TRY(g->env->format(g->env->ctx, system, colon + 1, &format, &size));
	return error_at(fields_of_tracepoint(system, format, size, &e->fields), "%s", name);
}

static struct error *add_tracepoints(const struct generator *g, const char *text, size_t at,
				     struct clause *clause)
{
	_cleanup_free_ char *copy = strdup(text);
	_cleanup_names_ struct names found = {0};
	char *colon = copy ? strchr(copy, ':') : NULL;

	if (!copy)
		return error_nomem();
	if (!colon || strpbrk(copy, " \t\n\"\\/"))
		return error_hint(
			error_new(EINVAL, "'%s' is not an event", text),
			"write a tracepoint: syscalls:sys_exit_read { hist(args->ret); }");
	*colon = 0;
	TRY(g->env->match(g->env->ctx, copy, colon + 1, &found));
	for (size_t i = 0; i < found.n; i++) {
		if (clause->resolved.n >= EVENTS_MAX)
			return error_new(E2BIG, "these are more than %d events", EVENTS_MAX);
		TRY(add_tracepoint(g, found.v[i], at, clause));
	}
	return NULL;
}

static struct error *resolve(const struct generator *g, const char *text, size_t at,
			     struct clause *clause)
{
	const char *definition = behind(text, "probe:");
	struct event e = {.name = strdup(text), .kind = EVENT_PROBE, .at = at};
	struct error *err = e.name ? NULL : error_nomem();
	bool known = definition != NULL;

	if (!err && definition)
		err = read_definition(definition, &e);
	if (!err && !known)
		err = read_kernel_function(g, &clause->tokens, &e, &known);
	if (!err && !known)
		err = read_user_function(g, &clause->tokens, &e, &known);
	if (!err && !known)
		err = read_interval(&e, &known);
	if (!err && !known)
		err = read_begin(&e, &known);
	if (!err && !known)
		err = read_sampled(g, &e, &known);
	if (err || !known) {
		clause_event_deinit(&e);
		return err ? err : add_tracepoints(g, text, at, clause);
	}
	struct event *slot = vec_push(&clause->resolved);
	if (!slot) {
		clause_event_deinit(&e);
		return error_nomem();
	}
	*slot = e;
	return NULL;
}

/* The error of an event, at its place in the text. */
static struct error *at_event(const struct generator *g, size_t at, struct error *err)
{
	if (!err || err->code == ENOMEM)
		return err;
	_cleanup_error_ struct error *inner = err;

	err = strchr(inner->msg, '\n')
		      ? error_new(inner->code, "%s", inner->msg)
		      : oneliner_error(inner->code, g->name, g->text, at, "%s", inner->msg);
	return inner->hint ? error_hint(err, "%s", inner->hint) : err;
}

struct error *events_resolve(const struct generator *g, struct clause *clause)
{
	const struct event_name *e;

	vec_for_each (e, &clause->events) {
		_cleanup_free_ char *text = strndup(g->text + e->at, e->len);

		if (!text)
			return error_nomem();
		TRY(at_event(g, e->at, resolve(g, text, e->at, clause)));
	}
	return NULL;
}
