// SPDX-License-Identifier: BSD-2-Clause
#include "lib/base/failure.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/json_writer.h"

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

static void add_failure(struct json_writer *w, const struct failure *f)
{
	jw_text_if(w, "object", f->object);
	jw_text_if(w, "program", f->program);
	jw_text_if(w, "section", f->section);
	jw_text_if(w, "function", f->function);
	jw_text_if(w, "file", f->file);
	if (f->line)
		jw_i64(w, "line", f->line);
	jw_text_if(w, "source", f->source);
	if (f->insn >= 0)
		jw_i64(w, "insn", f->insn);
	jw_text_if(w, "insn_text", f->insn_text);
	jw_text_if(w, "register", f->reg);
	jw_text_if(w, "state", f->state);
	jw_text_if(w, "expected", f->expected);
	jw_text_if(w, "since_file", f->since_file);
	if (f->since_line)
		jw_i64(w, "since_line", f->since_line);
	jw_text_if(w, "since_source", f->since_source);
	jw_text_if(w, "detail", f->detail);
	jw_text_if(w, "kernel", f->kernel);
}

void error_json(const struct error *err, struct strbuf *sb)
{
	struct json_writer w = json_writer_make(sb);

	jw_object(&w, NULL);
	jw_text(&w, "kind", err->failure ? err->failure->kind : "other");
	jw_i64(&w, "errno", err->code);
	jw_text_if(&w, "where", err->where);
	jw_text_if(&w, "message", err->msg);
	jw_text_if(&w, "hint", err->hint);
	if (err->failure)
		add_failure(&w, err->failure);
	jw_end(&w);
	json_writer_finish(&w);
}
