// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/failure.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/json.h"

struct failure *failure_new(const char *kind)
{
	struct failure *failure = calloc(1, sizeof(*failure));

	if (failure) {
		failure->kind = kind;
		failure->insn = -1;
	}
	return failure;
}

void failure_free(struct failure *failure)
{
	if (!failure)
		return;
	free(failure->object);
	free(failure->program);
	free(failure->section);
	free(failure->function);
	free(failure->file);
	free(failure->source);
	free(failure->insn_text);
	free(failure->reg);
	free(failure->state);
	free(failure->expected);
	free(failure->since_file);
	free(failure->since_source);
	free(failure->detail);
	free(failure->kernel);
	free(failure);
}

struct error *error_kind(struct error *err, const char *kind)
{
	if (err && err != error_nomem() && !err->failure)
		err->failure = failure_new(kind);
	return err;
}

/* A source line stands behind its number, what is said about it below its text. */
#define MARGIN "      "

static void add_source(const struct failure *f, struct strbuf *sb)
{
	if (f->line && f->source)
		strbuf_addf(sb, "\n%5u | %s", f->line, f->source);
	if (f->insn >= 0 && f->insn_text && !(f->line && f->source))
		strbuf_addf(sb, "\n" MARGIN "instruction %ld: %s", f->insn, f->insn_text);
	if (f->reg && f->state) {
		strbuf_addf(sb, "\n" MARGIN "%s is %s", f->reg, f->state);
		if (f->since_line && f->since_line == f->line)
			strbuf_adds(sb, ", from this line on");
		else if (f->since_line)
			strbuf_addf(sb, ", since line %u", f->since_line);
		if (f->since_line && f->since_line != f->line && f->since_source)
			strbuf_addf(sb, ": %s", f->since_source);
	}
}

void error_text(const struct error *err, struct strbuf *sb)
{
	const struct failure *f = err->failure;

	if (err->where)
		strbuf_addf(sb, "%s: ", err->where);
	strbuf_adds(sb, err->msg);
	if (!f)
		return;
	add_source(f, sb);
	for (const char *line = f->detail; line && *line;) {
		const size_t n = strcspn(line, "\n");

		strbuf_addf(sb, "\n" MARGIN "%.*s", (int)n, line);
		line += n + (line[n] == '\n');
	}
	if (f->kernel)
		strbuf_addf(sb, "\n" MARGIN "the kernel says: %s", f->kernel);
}

static void add_key(struct strbuf *sb, const char *key)
{
	if (sb->len && sb->str[sb->len - 1] != '{')
		strbuf_addch(sb, ',');
	strbuf_addf(sb, "\"%s\":", key);
}

static void add_str(struct strbuf *sb, const char *key, const char *value)
{
	if (!value)
		return;
	add_key(sb, key);
	json_add_string(sb, value, strlen(value));
}

static void add_number(struct strbuf *sb, const char *key, long value)
{
	add_key(sb, key);
	strbuf_addf(sb, "%ld", value);
}

void error_json(const struct error *err, struct strbuf *sb)
{
	const struct failure *f = err->failure;

	strbuf_addch(sb, '{');
	add_str(sb, "kind", f ? f->kind : "other");
	add_number(sb, "errno", err->code);
	add_str(sb, "where", err->where);
	add_str(sb, "message", err->msg);
	add_str(sb, "hint", err->hint);
	if (f) {
		add_str(sb, "object", f->object);
		add_str(sb, "program", f->program);
		add_str(sb, "section", f->section);
		add_str(sb, "function", f->function);
		add_str(sb, "file", f->file);
		if (f->line)
			add_number(sb, "line", f->line);
		add_str(sb, "source", f->source);
		if (f->insn >= 0)
			add_number(sb, "insn", f->insn);
		add_str(sb, "insn_text", f->insn_text);
		add_str(sb, "register", f->reg);
		add_str(sb, "state", f->state);
		add_str(sb, "expected", f->expected);
		add_str(sb, "since_file", f->since_file);
		if (f->since_line)
			add_number(sb, "since_line", f->since_line);
		add_str(sb, "since_source", f->since_source);
		add_str(sb, "detail", f->detail);
		add_str(sb, "kernel", f->kernel);
	}
	strbuf_addch(sb, '}');
}
