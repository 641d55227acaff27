/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Refusals as text, which tests/cmd/refused.c writes: a program as the loader
 * knows it, and per kernel the verifier's log of it. The unit test and the fuzz
 * target of lib/verifier read them.
 *
 *	program NAME			case NAME
 *	type …, license …, sleepable …	code ERRNO
 *	insns HEX			log
 *	line INSN LINE FILE TEXT	… the log
 *	func INSN NAME			end
 *	note INSN KIND SIZE|NAME|…|…	want
 *	field NAME			… the explanation
 *	end				end
 */
#ifndef PB_TESTS_UNIT_VERIFIER_CASE_H
#define PB_TESTS_UNIT_VERIFIER_CASE_H

#include <stdlib.h>
#include <string.h>

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "lib/verifier/verifier.h"

struct refused_program {
	const char *name;
	const char *type;
	const char *license;
	const char *field;
	bool sleepable;
	VEC(struct bpf_insn) insns;
	VEC(struct verifier_line) lines;
	VEC(struct verifier_func) funcs;
	VEC(struct verifier_note) notes;
};

struct refused_case {
	const char *name;
	int code;
	const char *log;
	const char *want; /* NULL: none */
};

/* The line at *at without its newline, in place; NULL: the end. */
static inline char *text_line(char **at)
{
	char *line = *at, *nl = strchr(line, '\n');

	if (!*line)
		return NULL;
	*at = nl ? nl + 1 : line + strlen(line);
	if (nl)
		*nl = 0;
	return line;
}

/* What follows a word and a blank; NULL: the line begins otherwise. */
static inline char *text_after(char *line, const char *word)
{
	const size_t n = strlen(word);

	return !strncmp(line, word, n) && line[n] == ' ' ? line + n + 1 : NULL;
}

static inline uint32_t text_number(char **at)
{
	return (uint32_t)strtoul(*at, at, 10);
}

/* Up to a separator, which is skipped. */
static inline char *text_field(char **at, char separator)
{
	char *field = *at, *end = strchr(field, separator);

	*at = end ? end + 1 : field + strlen(field);
	if (end)
		*end = 0;
	return field;
}

/* Lines up to "end", which becomes the block's NUL. */
static inline char *text_block(char **at)
{
	char *block = *at;

	for (char *line = block; *line;) {
		char *nl = strchr(line, '\n');

		if (!strncmp(line, "end\n", 4)) {
			*line = 0;
			*at = line + 4;
			return block;
		}
		if (!nl)
			break;
		line = nl + 1;
	}
	*at = block + strlen(block);
	return block;
}

static inline void program_insns(struct refused_program *p, const char *hex)
{
	for (; strlen(hex) >= 16; hex += 16) {
		char one[17] = "";
		struct bpf_insn *insn = vec_push(&p->insns);

		if (!insn)
			return;
		memcpy(one, hex, 16);
		const uint64_t raw = strtoull(one, NULL, 16);
		memcpy(insn, &raw, sizeof(*insn));
	}
}

static inline void program_line(struct refused_program *p, char *line)
{
	struct verifier_line *l;
	struct verifier_func *f;
	struct verifier_note *n;
	char *rest;

	if ((rest = text_after(line, "type"))) {
		p->type = rest;
	} else if ((rest = text_after(line, "license"))) {
		p->license = rest;
	} else if ((rest = text_after(line, "sleepable"))) {
		p->sleepable = *rest == '1';
	} else if ((rest = text_after(line, "field"))) {
		p->field = rest;
	} else if ((rest = text_after(line, "insns"))) {
		program_insns(p, rest);
	} else if ((rest = text_after(line, "line")) && (l = vec_push(&p->lines))) {
		l->insn = text_number(&rest);
		l->line = text_number(&rest);
		rest += *rest == ' ';
		l->file = text_field(&rest, ' ');
		l->text = rest;
	} else if ((rest = text_after(line, "func")) && (f = vec_push(&p->funcs))) {
		f->insn = text_number(&rest);
		f->name = rest + (*rest == ' ');
	} else if ((rest = text_after(line, "note")) && (n = vec_push(&p->notes))) {
		n->insn = text_number(&rest);
		n->kind = text_number(&rest) % (VERIFIER_NOTE_KSYM + 1);
		n->size = text_number(&rest);
		rest += *rest == '|';
		n->name = text_field(&rest, '|');
		n->text = text_field(&rest, '|');
		n->hint = *rest ? rest : NULL;
	}
}

/* The program at *at, in place; false: there is none. */
static inline bool program_read(char **at, struct refused_program *p)
{
	char *line;

	*p = (struct refused_program){0};
	while ((line = text_line(at))) {
		char *name = text_after(line, "program");

		if (name)
			p->name = name;
		else if (!strcmp(line, "end"))
			break;
		else if (p->name)
			program_line(p, line);
	}
	return p->name != NULL;
}

static inline void program_deinit(struct refused_program *p)
{
	vec_deinit(&p->insns);
	vec_deinit(&p->lines);
	vec_deinit(&p->funcs);
	vec_deinit(&p->notes);
}

/* The case at *at, in place; false: there is none. */
static inline bool case_read(char **at, struct refused_case *c)
{
	char *line;

	*c = (struct refused_case){0};
	while ((line = text_line(at))) {
		char *rest;

		if ((rest = text_after(line, "case")))
			c->name = rest;
		else if ((rest = text_after(line, "code")))
			c->code = (int)text_number(&rest);
		else if (!strcmp(line, "log")) {
			c->log = text_block(at);
			break;
		}
	}
	if (!strncmp(*at, "want\n", 5)) {
		*at += 5;
		c->want = text_block(at);
	}
	return c->name && c->log;
}

static inline void case_field(void *ctx, uint32_t offset, struct strbuf *sb)
{
	const struct refused_program *p = ctx;

	(void)offset;
	if (p->field)
		strbuf_adds(sb, p->field);
}

static inline struct verifier_input case_input(const struct refused_program *p,
					       const struct refused_case *c)
{
	return (struct verifier_input){
		.code = c->code,
		.log = c->log,
		.insns = p->insns.v,
		.n_insns = (uint32_t)p->insns.n,
		.lines = p->lines.v,
		.n_lines = (uint32_t)p->lines.n,
		.funcs = p->funcs.v,
		.n_funcs = (uint32_t)p->funcs.n,
		.notes = p->notes.v,
		.n_notes = (uint32_t)p->notes.n,
		.type_name = p->type,
		.license = p->license,
		.sleepable = p->sleepable,
		.ctx_field = case_field,
		.ctx = (void *)p,
	};
}

#endif
