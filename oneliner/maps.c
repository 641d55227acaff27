// SPDX-License-Identifier: BSD-2-Clause
/*
 * Maps with names: NAME[KEY, ...] is an element, which is 0 until something is stored. A map is
 * made by its first use; the types of its keys are those of that use, and the type of its values
 * that of the first value that is stored. All clauses share it. In C, each use is the call of a
 * function of the map.
 */
#include <stdlib.h>

#include "oneliner/internal.h"

struct named_map *named_map_at(const struct body *b, size_t i)
{
	struct named_map *map;

	if (!body_outer_name(b, i))
		return NULL;
	vec_for_each (map, &b->g->named)
		if (token_is(b->g->text, body_token(b, i), map->name))
			return map;
	return NULL;
}

/* The keys in tokens (open, close). */
static struct error *split_keys(const struct body *b, size_t open, size_t close,
				struct argument keys[VALUES_MAX], size_t *n)
{
	size_t depth = 0, from = open + 1;

	*n = 0;
	for (size_t i = open + 1; i <= close; i++) {
		if (i < close && (body_is(b, i, "(") || body_is(b, i, "[")))
			depth++;
		else if (i < close && depth && (body_is(b, i, ")") || body_is(b, i, "]")))
			depth--;
		if (i < close && (depth || !body_is(b, i, ",")))
			continue;
		if (from == i)
			return oneliner_error(EINVAL, b->g->name, b->g->text, body_token(b, i)->at,
					      "a key is missing here");
		if (*n == VALUES_MAX)
			return oneliner_error(EINVAL, b->g->name, b->g->text,
					      body_token(b, from)->at, "these are too many keys");
		keys[*n] = (struct argument){.from = from, .to = i};
		TRY(body_type((struct body *)b, from, i, &keys[*n].type));
		++*n;
		from = i + 1;
	}
	return NULL;
}

/* ---- which maps there are ---- */

/* The end of the value that is stored: a bracket, a comma or a semicolon. */
static size_t value_end(const struct body *b, size_t i, size_t to)
{
	size_t depth = 0;

	for (; i < to; i++) {
		if (body_is(b, i, "(") || body_is(b, i, "[") || body_is(b, i, "{"))
			depth++;
		else if (!depth && (body_is(b, i, ";") || body_is(b, i, ",") ||
				    body_is(b, i, ")") || body_is(b, i, "]") || body_is(b, i, "}")))
			break;
		else if (body_is(b, i, ")") || body_is(b, i, "]") || body_is(b, i, "}"))
			depth--;
	}
	return i;
}

static struct error *add_map(struct body *b, size_t i, size_t close)
{
	struct argument keys[VALUES_MAX];
	size_t n;

	TRY(split_keys(b, i + 1, close, keys, &n));
	struct named_map *map = vec_push(&b->g->named);
	if (!map)
		return error_nomem();
	*map = (struct named_map){.at = body_token(b, i)->at,
				  .name = strndup(b->g->text + body_token(b, i)->at,
						  body_token(b, i)->len),
				  .value = {"__s64", .is_signed = true}};
	if (!map->name)
		return error_nomem();
	for (size_t k = 0; k < n; k++)
		TRY(column_add(b, &keys[k], &map->keys));
	return NULL;
}

/* Values are 8 bytes, which can be added to, or strings. */
static void set_type(struct named_map *map, const struct value_type *type)
{
	const bool keeps = type->key && (!strcmp(type->key, "perf_bpf_ns") ||
					 !strcmp(type->key, "perf_bpf_time") ||
					 !strcmp(type->key, "perf_bpf_cgroup"));

	map->has_value = true;
	map->value = *type;
	if (type->size)
		return;
	map->value.key = keeps ? type->key : NULL;
	strcpy(map->value.type, type->is_signed ? "__s64" : "__u64");
}

static struct error *find_in(struct body *b, bool values)
{
	for (size_t i = 0; i < b->tokens->n; i++) {
		const struct event_field *field;
		struct value_type type;
		size_t close, n;

		if ((body_is(b, i, "take") || body_is(b, i, "drop")) && body_is(b, i + 1, "(") &&
		    i + 2 < b->tokens->n && named_map_at(b, i + 2))
			named_map_at(b, i + 2)->is_hidden = true;
		if (!body_outer_name(b, i) || !body_is(b, i + 1, "[") || body_is(b, i, "args") ||
		    variable_find(b->g->text, body_token(b, i)) || body_declares(b, i))
			continue;
		TRY(body_field(b, i, b->tokens->n, &field, &n));
		/* "char text[16]" */
		if (field || (i && body_token(b, i - 1)->kind == TOKEN_NAME &&
			      !body_is(b, i - 1, "return") && !body_is(b, i - 1, "else") &&
			      !body_is(b, i - 1, "do")))
			continue;
		TRY(body_close(b, i + 1, b->tokens->n, &close));
		struct named_map *map = named_map_at(b, i);
		if (!map && !values)
			TRY(add_map(b, i, close));
		if (!map || !values || map->has_value)
			continue;
		if (body_is(b, close + 1, "=")) {
			TRY(body_type(b, close + 2, value_end(b, close + 2, b->tokens->n), &type));
			set_type(map, &type);
		} else if (body_is(b, close + 1, "++") || body_is(b, close + 1, "+=")) {
			set_type(map, &(struct value_type){"__u64"});
		}
	}
	return NULL;
}

struct error *named_maps_find(struct generator *g)
{
	for (int values = 0; values < 2; values++) {
		const struct clause *c;

		vec_for_each (c, &g->clauses) {
			const struct event *e = c->resolved.v;
			struct body b = {.g = g,
					 .tokens = &c->tokens,
					 .event = e->name,
					 .fields = &e->fields};

			TRY(find_in(&b, values));
		}
	}
	return NULL;
}

/* ---- uses ---- */

/* A string as the address of its bytes. */
static struct error *write_address(struct body *b, const struct argument *a, struct piece *out)
{
	const struct event_field *field;
	size_t n;

	TRY(body_field(b, a->from, a->to, &field, &n));
	if (field && field->dynamic) {
		strbuf_addf(&out->text, "(void *)args + (args->__data_loc_%s & 0xffff)",
			    field->name);
		return NULL;
	}
	if (body_is(b, a->from, "str") && body_is(b, a->from + 1, "(")) {
		const size_t end = value_end(b, a->from + 2, a->to);

		strbuf_adds(&out->text, "(const void *)(");
		TRY(body_expression(b, a->from + 2, end, out));
		strbuf_addch(&out->text, ')');
		b->g->uses_values = true;
		return NULL;
	}
	return body_expression(b, a->from, a->to, out);
}

static struct error *write_value(struct body *b, const struct argument *a, struct piece *out)
{
	return a->type.size ? write_address(b, a, out) : body_expression(b, a->from, a->to, out);
}

static struct error *write_keys(struct body *b, const struct named_map *map,
				const struct argument *keys, size_t n, size_t at,
				const char *function, struct piece *out)
{
	if (n != map->keys.n)
		return oneliner_error(EINVAL, b->g->name, b->g->text, body_token(b, at)->at,
				      "map %s has %zu key%s at its first use, and %zu here",
				      map->name, map->keys.n, map->keys.n == 1 ? "" : "s", n);
	strbuf_addf(&out->text, "%s_%s(", map->name, function);
	for (size_t i = 0; i < n; i++) {
		if (!keys[i].type.size != !map->keys.v[i].type.size)
			return oneliner_error(EINVAL, b->g->name, b->g->text,
					      body_token(b, keys[i].from)->at,
					      "this key of map %s is a %s at its first use",
					      map->name,
					      map->keys.v[i].type.size ? "string" : "number");
		if (i)
			strbuf_adds(&out->text, ", ");
		TRY(write_value(b, &keys[i], out));
	}
	return NULL;
}

struct error *named_map_call(struct body *b, struct named_map *map, const struct argument *keys,
			     size_t n, size_t at, bool takes, struct piece *out)
{
	*(takes ? &map->takes : &map->drops) = true;
	TRY(write_keys(b, map, keys, n, at, takes ? "take" : "drop", out));
	strbuf_addch(&out->text, ')');
	return NULL;
}

/* What is stored: the operator at token op. */
static struct error *write_store(struct body *b, struct named_map *map, size_t op, size_t to,
				 size_t *next, struct piece *out)
{
	struct argument value = {.from = op + 1, .to = value_end(b, op + 1, to)};
	const bool minus = body_is(b, op, "-=") || body_is(b, op, "--");

	strbuf_adds(&out->text, ", ");
	if (body_is(b, op, "++") || body_is(b, op, "--")) {
		strbuf_addf(&out->text, "%s1)", minus ? "-" : "");
		*next = op + 1;
		return NULL;
	}
	if (value.from == value.to)
		return oneliner_error(EINVAL, b->g->name, b->g->text, body_token(b, op)->at,
				      "the value is missing");
	TRY(body_type(b, value.from, value.to, &value.type));
	if (!value.type.size != !map->value.size || (map->value.size && !body_is(b, op, "=")))
		return oneliner_error(EINVAL, b->g->name, b->g->text, body_token(b, value.from)->at,
				      "the values of map %s are %s", map->name,
				      map->value.size ? "strings" : "numbers");
	if (minus)
		strbuf_adds(&out->text, "-(");
	TRY(write_value(b, &value, out));
	strbuf_adds(&out->text, minus ? "))" : ")");
	*next = value.to;
	return NULL;
}

struct error *named_map_write(struct body *b, struct named_map *map, size_t i, size_t to,
			      size_t *next, struct piece *out)
{
	struct argument keys[VALUES_MAX];
	size_t n, close;

	if (b->depth == DEPTH_MAX)
		return oneliner_error(EINVAL, b->g->name, b->g->text, body_token(b, i)->at,
				      "these maps are too deep");
	TRY(body_close(b, i + 1, to, &close));
	TRY(split_keys(b, i + 1, close, keys, &n));
	const size_t op = close + 1;
	const bool sets = op < to && body_is(b, op, "=");
	const bool adds = op < to && (body_is(b, op, "++") || body_is(b, op, "--") ||
				      body_is(b, op, "+=") || body_is(b, op, "-="));
	*(sets ? &map->sets : adds ? &map->adds : &map->gets) = true;
	b->depth++;
	TRY(write_keys(b, map, keys, n, i, sets ? "set" : adds ? "add" : "get", out));
	if (sets || adds) {
		TRY(write_store(b, map, op, to, next, out));
	} else {
		strbuf_addch(&out->text, ')');
		*next = op;
	}
	b->depth--;
	return NULL;
}

/* ---- the C of a map ---- */

static void write_function(const struct named_map *map, const char *type, const char *name,
			   const char *value, const char *body, struct strbuf *out)
{
	const struct map_column *k;

	strbuf_addf(out, "\nstatic __always_inline %s%s%s_%s(", type,
		    type[strlen(type) - 1] == '*' ? "" : " ", map->name, name);
	vec_for_each (k, &map->keys)
		strbuf_addf(out, "%s%s%s%s", k == map->keys.v ? "" : ", ",
			    k->type.size ? "const void *" : k->type.type,
			    k->type.size || strchr(k->type.type, '*') ? "" : " ", k->name);
	strbuf_addf(out, "%s)\n{\n\tstruct %s_key key = {};\n", value, map->name);
	if (strstr(body, "VALUE"))
		strbuf_addf(out, "\tstruct %s_value stored = {};\n", map->name);
	strbuf_addch(out, '\n');
	vec_for_each (k, &map->keys) {
		if (k->type.size)
			strbuf_addf(out, "\tperf_bpf_str(key.%s, %s);\n", k->name, k->name);
		else
			strbuf_addf(out, "\tkey.%s = %s;\n", k->name, k->name);
	}
	for (const char *p = body; *p; p++) {
		if (!strncmp(p, "MAP", 3)) {
			strbuf_adds(out, map->name);
			p += 2;
		} else if (!strncmp(p, "TYPE", 4)) {
			strbuf_adds(out, type);
			p += 3;
		} else if (!strncmp(p, "VALUE", 5)) {
			strbuf_adds(out, "stored");
			p += 4;
		} else {
			strbuf_addch(out, *p);
		}
	}
	strbuf_adds(out, "}\n");
}

static void write_functions(struct generator *g, const struct named_map *map, struct strbuf *out)
{
	const bool text = map->value.size;
	const char *type = text ? "const char *" : map->value.type;
	const char *value = text				? ", const void *value"
			    : !strcmp(map->value.type, "__u64") ? ", __u64 value"
								: ", __s64 value";
	const struct map_column *k;

	g->uses_values |= text;
	vec_for_each (k, &map->keys)
		g->uses_values |= k->type.size != 0;
	if (map->gets)
		write_function(
			map, type, "get", "",
			text ? "\tstruct MAP_value *found = bpf_map_lookup_elem(&MAP, &key);\n"
			       "\n\treturn found ? found->text : 0;\n"
			     : "\tTYPE *found = bpf_map_lookup_elem(&MAP, &key);\n\n"
			       "\treturn found ? *found : 0;\n",
			out);
	if (map->takes && !text)
		write_function(map, type, "take", "",
			       "\tTYPE *found = bpf_map_lookup_elem(&MAP, &key);\n"
			       "\tconst TYPE value = found ? *found : 0;\n\n"
			       "\tif (found)\n\t\tbpf_map_delete_elem(&MAP, &key);\n"
			       "\treturn value;\n",
			       out);
	if (map->sets)
		write_function(map, "void", "set", value,
			       text ? "\tperf_bpf_str(VALUE.text, value);\n"
				      "\tperf_bpf_put(&MAP, &key, &VALUE);\n"
				    : "\tperf_bpf_put(&MAP, &key, &value);\n",
			       out);
	if (map->adds)
		write_function(map, "void", "add", value,
			       "\tperf_bpf_table_add(&MAP, &key, value);\n", out);
	if (map->drops)
		write_function(map, "void", "drop", "", "\tbpf_map_delete_elem(&MAP, &key);\n",
			       out);
}

void named_maps_write(struct generator *g, struct strbuf *out)
{
	const struct named_map *map;

	vec_for_each (map, &g->named) {
		const struct map_column *k;

		columns_write(map->name, &map->keys, "key", "", out);
		if (map->value.size)
			strbuf_addf(out, "struct %s_value {\n\tchar text[%zu];\n};\n\n", map->name,
				    map->value.size);
		strbuf_addf(out,
			    "struct {\n\t__uint(type, BPF_MAP_TYPE_HASH);\n"
			    "\t__uint(max_entries, 16384);\n\t__type(key, struct %s_key);\n"
			    "\t__type(value, ",
			    map->name);
		if (map->value.size)
			strbuf_addf(out, "struct %s_value", map->name);
		else
			strbuf_adds(out, map->value.key ? map->value.key : map->value.type);
		strbuf_addf(out, ");\n} %s SEC(\".maps\") PERF_BPF_SHOW(\"%s", map->name,
			    map->is_hidden ? "none" : "table,");
		if (!map->is_hidden) {
			if (map->value.unit)
				strbuf_addf(out, "unit=%s,", map->value.unit);
			strbuf_addf(out, "title=%s by ", map->name);
			vec_for_each (k, &map->keys)
				strbuf_addf(out, "%s%s", k == map->keys.v ? "" : ", ", k->name);
		}
		strbuf_adds(out, "\");\n");
		write_functions(g, map, out);
		strbuf_addch(out, '\n');
	}
}

void named_maps_deinit(struct generator *g)
{
	struct named_map *map;
	struct map_column *k;

	vec_for_each (map, &g->named) {
		vec_for_each (k, &map->keys)
			free(k->name);
		vec_deinit(&map->keys);
		free(map->name);
	}
	vec_deinit(&g->named);
}
