/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of oneliner/: tokens.c takes text apart, clauses.c finds events and bodies, fields.c
 * has the fields of an event, types.c the types of values, calls.c the functions, body.c writes
 * bodies, and generate.c joins them.
 */
#ifndef PB_ONELINER_INTERNAL_H
#define PB_ONELINER_INTERNAL_H

#include "lib/base/strbuf.h"
#include "lib/base/vec.h"
#include "oneliner/oneliner.h"

enum {
	TEXT_MAX = 64 * 1024,
	EVENTS_MAX = 1000, /* of a program: each becomes a BPF program */
	DEPTH_MAX = 50,	   /* of calls within calls */
	VALUES_MAX = 16,   /* of a call */
	STR_SIZE = 64,	   /* of str(); a BPF program has 512 bytes of stack */
};

/* ---- tokens.c: C, as far as is needed to find names, calls and brackets ---- */

enum token_kind {
	TOKEN_END,
	TOKEN_NAME,
	TOKEN_NUMBER,
	TOKEN_STRING,
	TOKEN_CHAR,
	TOKEN_PUNCT,
	TOKEN_LINE, /* a line for the preprocessor */
};

struct token {
	enum token_kind kind;
	bool spaced; /* blanks or comments are before it */
	size_t at, len;
};

struct tokens {
	struct token *v;
	size_t n, cap; /* n does not count the TOKEN_END that is behind them */
};

/* Takes [at, end) of a text apart. name: of oneliner_error(). */
struct error *tokens_read(const char *name, const char *text, size_t at, size_t end,
			  struct tokens *out);
bool token_is(const char *text, const struct token *t, const char *word);

/* ---- clauses.c: events and bodies ---- */

struct event_name {
	size_t at, len; /* in the text */
};

struct clause {
	VEC(struct event_name) events;
	size_t body, body_end; /* what is between the braces */
};

struct clauses {
	struct clause *v;
	size_t n, cap;
};

void clauses_deinit(struct clauses *clauses);
struct error *clauses_read(const char *name, const char *text, struct clauses *out);

/* ---- types.c: of values ---- */

struct value_type {
	char type[64];	 /* "__u32"; of strings empty */
	size_t size;	 /* of a string, with its NUL; 0: a number */
	const char *key; /* the type by which it is shown, "perf_bpf_pid"; NULL: type */
	const char *unit;
	bool is_signed;
};

/* ---- fields.c: of an event ---- */

struct event_field {
	char *name;
	struct value_type type;
	uint32_t offset;
	uint32_t size;	 /* in the event */
	uint32_t length; /* elements of an array; 0: it is none */
	bool dynamic;	 /* a string that is elsewhere in the event */
};

struct event_fields {
	struct event_field *v;
	size_t n, cap;
};

void fields_free(struct event_fields *fields);
struct error *fields_of_tracepoint(const char *system, const char *format, size_t size,
				   struct event_fields *out);
/* "struct NAME_args { … };" */
void fields_write(const struct event_fields *fields, const char *name, struct strbuf *out);

/* ---- generate.c ---- */

/* A map that a call, or several for other events of the same clause, writes to. */
struct own_map {
	char *name;
	size_t at; /* of its call, in the text */
	VEC(struct map_column {
		char *name;
		struct value_type type;
	})
	columns;
	struct value_type value;
	bool adds_pid; /* of the process whose addresses are keys */
};

/* A piece of C with the origins of what was typed. */
struct piece {
	struct strbuf text;
	VEC(struct oneliner_origin) origins;
};

struct generator {
	const char *name, *text;
	const struct oneliner_env *env;
	VEC(struct own_map) maps;
	struct piece types, programs;
	struct strbuf map_text;
	struct names functions, structs; /* names in use */
	bool uses_values;		 /* <bpf/perf_bpf_values.h> */
	bool uses_stack_ids;		 /* the map of stacks that are keys */
	bool uses_vmlinux;
};

/* The event whose body is written. */
struct body {
	struct generator *g;
	const struct tokens *tokens;
	const char *event; /* "syscalls:sys_exit_read" */
	struct {
		const char *at;
		size_t len;
	} clause;			   /* the events as they were typed */
	const struct event_fields *fields; /* NULL: none are known */
	unsigned depth, indent;
	struct piece *out;
};

void piece_deinit(struct piece *p);
void piece_typed(struct piece *p, const char *text, const struct token *t);
/* The piece and its origins at the end of another one. */
void piece_append(struct piece *to, const struct piece *from);

/* ---- variables.c: built-in variables ---- */

struct variable {
	const char *name;
	const char *declaration; /* "const perf_bpf_pid pid = …;" */
	struct value_type type;
};

const struct variable *variable_find(const char *text, const struct token *t);
extern const struct variable variables[]; /* ended by a NULL name */

/* ---- body.c ---- */

/* The statements of a body, each with its indent. */
struct error *body_write(struct body *b);
/* The expression of tokens [from, to). */
struct error *body_expression(struct body *b, size_t from, size_t to, struct piece *out);
/* The field that args->FIELD at token `from` names; NULL: the tokens are something else. */
struct error *body_field(const struct body *b, size_t from, size_t to,
			 const struct event_field **field);
/* Its type, as far as it is known without a compiler. */
struct error *body_type(struct body *b, size_t from, size_t to, struct value_type *type);
/* The index of the bracket that closes the one at `open`; EINVAL: there is none before `end`. */
struct error *body_close(const struct body *b, size_t open, size_t end, size_t *close);

/* ---- calls.c ---- */

struct function;
const struct function *function_find(const char *text, const struct token *t);
/* The type of the call's value, if it has one. */
struct error *call_type(struct body *b, const struct function *f, size_t i, struct value_type *type,
			bool *known);
/*
 * The call whose name is token i, and whose arguments are (open, close). is_statement: it stands
 * alone, and is written with its semicolon.
 */
struct error *call_write(struct body *b, const struct function *f, size_t i, size_t close,
			 bool is_statement, struct piece *out);
/* For near names. */
void functions_offer(struct nearest *near);

#endif
