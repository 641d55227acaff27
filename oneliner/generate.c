// SPDX-License-Identifier: BSD-2-Clause
/*
 * The C file: the text as a comment, the headers, the structs of events and keys, the maps, and a
 * program for each event. It is what somebody would write who begins with a line and goes on with a
 * file; perf-bpf run --source prints it.
 *
 * Each piece remembers which of its bytes were typed, and where. So a message about a line of the C
 * file can be shown at the typed text.
 */
#include <ctype.h>
#include <stdlib.h>

#include "oneliner/internal.h"

void oneliner_deinit(struct oneliner *o)
{
	free(o->source);
	free(o->origins);
	*o = (struct oneliner){0};
}

struct error *oneliner_error(int code, const char *name, const char *text, size_t at,
			     const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf what = STRBUF_INIT;
	size_t line = 1, begin = 0;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&what, fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < at && text[i]; i++) {
		if (text[i] != '\n')
			continue;
		line++;
		begin = i + 1;
	}
	_cleanup_free_ char *one = strndup(text + begin, strcspn(text + begin, "\n"));
	_cleanup_free_ char *title =
		strchr(text, '\n') ? text_format("%s, line %zu", name, line) : strdup(name);
	if (strbuf_failed(&what) || !one || !title)
		return error_nomem();
	return error_in_text(code, title, one, at - begin, "%s", strbuf_str(&what));
}

/* ---- pieces ---- */

void piece_deinit(struct piece *p)
{
	strbuf_deinit(&p->text);
	vec_deinit(&p->origins);
}

void piece_typed(struct piece *p, const char *text, const struct token *t)
{
	struct oneliner_origin *o = vec_push(&p->origins);

	if (!o) {
		p->text.failed = true;
		return;
	}
	*o = (struct oneliner_origin){p->text.len, t->at, t->len};
	strbuf_add(&p->text, text + t->at, t->len);
}

void piece_append(struct piece *to, const struct piece *from)
{
	const struct oneliner_origin *o;

	vec_for_each (o, &from->origins) {
		struct oneliner_origin *copy = vec_push(&to->origins);

		if (!copy) {
			to->text.failed = true;
			return;
		}
		*copy = *o;
		copy->out += to->text.len;
	}
	strbuf_add(&to->text, strbuf_str(&from->text), from->text.len);
	to->text.failed |= strbuf_failed(&from->text);
}

bool oneliner_find(const struct oneliner *o, unsigned line, unsigned column, size_t *at)
{
	const char *p = o->source;
	const struct oneliner_origin *best = NULL;

	for (unsigned i = 1; i < line; i++) {
		p = strchr(p, '\n');
		if (!p)
			return false;
		p++;
	}
	const size_t begin = p - o->source, wanted = begin + (column ? column - 1 : 0);
	const size_t end = begin + strcspn(p, "\n");
	for (size_t i = 0; i < o->n_origins; i++) {
		const struct oneliner_origin *v = &o->origins[i];

		if (v->out < begin || v->out >= end)
			continue;
		if (!best || v->out <= wanted)
			best = v;
	}
	if (!best)
		return false;
	*at = best->at +
	      (wanted > best->out && wanted < best->out + best->len ? wanted - best->out : 0);
	return true;
}

bool oneliner_find_program(const struct oneliner *o, const char *function, size_t *at)
{
	_cleanup_free_ char *head = text_format("\nint %s(", function);
	const char *p = head ? strstr(o->source, head) : NULL;

	for (size_t i = 0; p && i < o->n_origins; i++) {
		if (o->origins[i].out < (size_t)(p - o->source))
			continue;
		*at = o->origins[i].at;
		return true;
	}
	return false;
}

/* ---- programs ---- */

/* A name that is not in the list, which has it from then on. */
static struct error *unique_name(struct names *taken, const char *base, size_t len, char **out)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;

	for (size_t n = 1;; n++) {
		bool found = false;

		strbuf_reset(&name);
		for (size_t i = 0; i < len; i++)
			strbuf_addch(&name, isalnum((unsigned char)base[i]) ? base[i] : '_');
		if (n > 1)
			strbuf_addf(&name, "_%zu", n);
		if (strbuf_failed(&name))
			return error_nomem();
		for (size_t i = 0; i < taken->n; i++)
			found |= !strcmp(taken->v[i], strbuf_str(&name));
		if (!found)
			break;
	}
	if (!names_add(taken, strbuf_str(&name)))
		return error_nomem();
	*out = strbuf_steal(&name);
	return *out ? NULL : error_nomem();
}

/* Whether a name of the body is `word`, and not a member. */
static bool names_word(const struct generator *g, const struct tokens *tokens, const char *word)
{
	for (size_t i = 0; i < tokens->n; i++)
		if (token_is(g->text, &tokens->v[i], word) &&
		    !(i && (token_is(g->text, &tokens->v[i - 1], ".") ||
			    token_is(g->text, &tokens->v[i - 1], "->"))))
			return true;
	return false;
}

/* The built-in variables that the body names. */
static void write_variables(struct generator *g, const struct tokens *tokens, struct piece *out)
{
	for (const struct variable *v = variables; v->name; v++) {
		if (!v->declaration || !names_word(g, tokens, v->name))
			continue;
		strbuf_addf(&out->text, "\t%s\n", v->declaration);
		g->uses_vmlinux |= !strcmp(v->name, "task");
		g->uses_values |= !strcmp(v->name, "elapsed");
	}
}

/* The struct of the event's fields, if the body names it: *args is its name. */
static struct error *write_args(struct generator *g, const struct clause *clause,
				const struct event *e, const char *name, char **args)
{
	const bool fetches = e->kind == EVENT_PROBE && e->fields.n;

	*args = NULL;
	if (!fetches && (e->kind != EVENT_TRACEPOINT || !names_word(g, &clause->tokens, "args")))
		return NULL;
	TRY(unique_name(&g->structs, name, strlen(name), args));
	strbuf_addf(&g->types.text, "/* %s */\n", e->name);
	fields_write(&e->fields, *args, &g->types.text);
	return NULL;
}

/* The section in a string of C. */
static void write_section(const char *section, struct strbuf *out)
{
	strbuf_adds(out, "\nSEC(\"");
	for (const char *p = section; *p; p++)
		strbuf_addf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
	strbuf_adds(out, "\")\n");
}

static void write_head(struct generator *g, const struct event *e, const char *function,
		       const char *args, struct strbuf *out)
{
	g->uses_values |= e->kind == EVENT_BEGIN || e->kind == EVENT_INTERVAL;
	write_section(e->section, out);
	if (e->kind == EVENT_BEGIN)
		strbuf_adds(out, "PERF_BPF_BEGIN\n");
	if (e->kind == EVENT_INTERVAL)
		strbuf_adds(out, "PERF_BPF_INTERVAL\n");
	strbuf_addf(out, "int on_%s(", function);
	if (e->kind == EVENT_TRACEPOINT)
		strbuf_addf(out, "%s%s%s *args", args ? "struct " : "", args ? args : "void",
			    args ? "_args" : "");
	else if (args)
		strbuf_addf(out, "void *ctx, struct %s_args *args", args);
	else
		strbuf_adds(out, "void *ctx");
	strbuf_adds(out, ")\n{\n");
}

/* Whom the program is for: the options of run. */
static void write_check(const struct generator *g, const struct event *e, struct strbuf *out)
{
	if (e->kind != EVENT_INTERVAL && e->kind != EVENT_BEGIN && !g->filters)
		strbuf_adds(out, "\tif (!perf_bpf_wanted())\n\t\treturn 0;");
}

static struct error *write_program(struct generator *g, const struct clause *clause,
				   const struct event *e)
{
	struct piece *out = &g->programs;
	struct body b = {.g = g,
			 .tokens = &clause->tokens,
			 .event = e->name,
			 .fields = &e->fields,
			 .ctx = e->kind == EVENT_TRACEPOINT ? "args" : "ctx",
			 .indent = 1,
			 .out = out};
	_cleanup_free_ char *function = NULL, *args = NULL;
	const char *colon = e->kind == EVENT_TRACEPOINT ? strchr(e->name, ':') : NULL;
	const char *name = colon ? colon + 1 : e->kind == EVENT_PROBE ? e->function : e->name;
	const struct event_name *last = vec_last(&clause->events);

	b.clause.at = g->text + clause->events.v[0].at;
	b.clause.len = last->at + last->len - clause->events.v[0].at;
	TRY(unique_name(&g->functions, name, min_of(strcspn(name, " "), (size_t)60), &function));
	TRY(write_args(g, clause, e, function, &args));
	write_head(g, e, function, args, &out->text);
	const size_t begin = out->text.len;
	write_variables(g, &clause->tokens, out);
	if (out->text.len != begin)
		strbuf_addch(&out->text, '\n');
	write_check(g, e, &out->text);
	if (names_word(g, &clause->tokens, "comm"))
		strbuf_adds(&out->text, "\n\tbpf_get_current_comm(comm, sizeof(comm));");
	TRY(body_write(&b));
	strbuf_adds(&out->text, "\n\treturn 0;\n}\n");
	return NULL;
}

static struct error *read_clause(struct generator *g, struct clause *clause)
{
	TRY(tokens_read(g->name, g->text, clause->body, clause->body_end, &clause->tokens));
	if (!clause->tokens.n)
		return error_hint(oneliner_error(EINVAL, g->name, g->text, clause->body,
						 "this body is empty"),
				  "count();");
	return events_resolve(g, clause);
}

static struct error *write_programs(struct generator *g)
{
	const struct clause *c;
	const struct event *e;

	vec_for_each (c, &g->clauses) {
		vec_for_each (e, &c->resolved) {
			if (g->functions.n == EVENTS_MAX)
				return oneliner_error(E2BIG, g->name, g->text, e->at,
						      "these are more than %d events", EVENTS_MAX);
			TRY(write_program(g, c, e));
		}
	}
	return NULL;
}

/* ---- the file ---- */

/* The text in a comment, which nothing in it ends. */
static void write_text(const char *text, struct strbuf *out)
{
	strbuf_adds(out, "/*\n * perf-bpf run --source wrote this file from:\n *\n *\t");
	for (const char *p = text; *p; p++) {
		if (*p == '\n')
			strbuf_adds(out, p[1] ? "\n *\t" : "");
		else if ((*p == '*' && p[1] == '/') || (*p == '/' && p[1] == '*'))
			strbuf_addf(out, "%c ", *p);
		else
			strbuf_addch(out, iscntrl((unsigned char)*p) && *p != '\t' ? ' ' : *p);
	}
	strbuf_adds(out, "\n */\n");
}

static struct error *join(struct generator *g, struct oneliner *out)
{
	struct piece file = {STRBUF_INIT};
	struct strbuf *text = &file.text;
	_cleanup_strbuf_ struct strbuf named = STRBUF_INIT;

	named_maps_write(g, &named);

	write_text(g->text, text);
	if (g->uses_vmlinux)
		strbuf_adds(text, "#include \"vmlinux.h\"\n");
	strbuf_adds(text, "#include <bpf/perf_bpf_prog.h>\n");
	if (g->uses_values)
		strbuf_adds(text, "#include <bpf/perf_bpf_values.h>\n");
	strbuf_addch(text, '\n');
	constants_write(g, text);
	piece_append(&file, &g->types);
	if (g->uses_stack_ids)
		strbuf_adds(text, "PERF_BPF_STACK_IDS(stack_ids, 16384);\n");
	strbuf_add(text, strbuf_str(&named), named.len);
	strbuf_add(text, strbuf_str(&g->map_text), g->map_text.len);
	piece_append(&file, &g->programs);
	strbuf_adds(text, "\nchar LICENSE[] SEC(\"license\") = \"GPL\";\n");
	if (strbuf_failed(text) || strbuf_failed(&g->map_text) || strbuf_failed(&named)) {
		piece_deinit(&file);
		return error_nomem();
	}
	out->source = strbuf_steal(text);
	out->origins = file.origins.v;
	out->n_origins = file.origins.n;
	return NULL;
}

static void generator_deinit(struct generator *g)
{
	struct own_map *map;
	struct map_column *column;

	vec_for_each (map, &g->maps) {
		vec_for_each (column, &map->columns)
			free(column->name);
		vec_deinit(&map->columns);
		free(map->name);
	}
	vec_deinit(&g->maps);
	named_maps_deinit(g);
	constants_deinit(g);
	clauses_deinit(&g->clauses);
	piece_deinit(&g->types);
	piece_deinit(&g->programs);
	strbuf_deinit(&g->map_text);
	names_deinit(&g->functions);
	names_deinit(&g->structs);
}

struct error *oneliner_generate(const char *text, const struct oneliner_opts *opts,
				const struct oneliner_env *env, struct oneliner *out)
{
	struct generator g = {.name = opts->name,
			      .filters = opts->filters,
			      .text = text,
			      .env = env,
			      .types = {STRBUF_INIT},
			      .programs = {STRBUF_INIT},
			      .map_text = STRBUF_INIT};
	struct error *err = clauses_read(opts->name, text, &g.clauses);

	for (size_t i = 0; i < g.clauses.n && !err; i++)
		err = read_clause(&g, &g.clauses.v[i]);
	if (!err)
		err = constants_find(&g);
	if (!err)
		err = named_maps_find(&g);
	if (!err)
		err = write_programs(&g);
	if (!err)
		err = join(&g, out);
	generator_deinit(&g);
	return err;
}
