/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The parts of oneliner/: tokens.c takes text apart, clauses.c finds events and bodies, events.c
 * what the events are, fields.c their fields; constants.c has the numbers of names, variables.c the
 * built-in variables, maps.c the maps with names, calls.c the functions; body.c writes bodies, and
 * generate.c joins them.
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

/* ---- types of values, fields.c: of an event ---- */

struct value_type {
	char type[64];	 /* "__u32"; of strings empty */
	size_t size;	 /* of a string, with its NUL; 0: a number */
	const char *key; /* the type by which it is shown, "perf_bpf_pid"; NULL: type */
	const char *unit;
	bool is_signed;
};

struct event_field {
	char *name;
	struct value_type type;
	uint32_t offset;
	uint32_t size;	  /* in the event */
	uint32_t length;  /* elements of an array; 0: it is none */
	bool dynamic;	  /* a string that is elsewhere in the event */
	char *chain;	  /* of a probe: what is fetched, "order->id"; NULL: a tracepoint's */
	bool is_variable; /* of a probe: named without args-> */
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

/* ---- events.c: what the events of clauses are ---- */

enum event_kind {
	EVENT_TRACEPOINT,
	EVENT_PROBE,	/* a probe definition, which fetches values */
	EVENT_SAMPLED,	/* a clock, hardware or software event */
	EVENT_INTERVAL, /* of time, on one CPU */
	EVENT_BEGIN,	/* once, before the others are attached */
};

struct event {
	char *name;	/* "syscalls:sys_exit_read" */
	char *section;	/* "tracepoint/syscalls/sys_exit_read" */
	char *function; /* of a probe: for the names of programs */
	enum event_kind kind;
	struct event_fields fields;
	size_t at; /* in the text */
};

struct generator;
struct clause;
void clause_event_deinit(struct event *e);
/* Fills clause->resolved; the errors have their place in the text. */
struct error *events_resolve(const struct generator *g, struct clause *clause);

/* ---- clauses.c: events and bodies ---- */

struct event_name {
	size_t at, len; /* in the text */
};

struct clause {
	VEC(struct event_name) events;
	size_t body, body_end; /* what is between the braces */
	struct tokens tokens;  /* of the body */
	VEC(struct event) resolved;
};

struct clauses {
	struct clause *v;
	size_t n, cap;
};

void clauses_deinit(struct clauses *clauses);
/* The events and bodies, which are not looked at. */
struct error *clauses_read(const char *name, const char *text, struct clauses *out);

/* ---- generate.c ---- */

struct map_column {
	char *name;
	struct value_type type;
};

struct map_columns {
	struct map_column *v;
	size_t n, cap;
};

/* Tokens [from, to) of a call or between brackets. */
struct argument {
	size_t from, to;
	struct value_type type;
};

/* A map that a call, or several for other events of the same clause, writes to. */
struct own_map {
	char *name;
	size_t at; /* of its call, in the text */
	struct map_columns columns;
	struct value_type value;
	bool adds_pid; /* of the process whose addresses are keys */
};

/* A map that clauses share. Its types are those of the first value that is stored. */
struct named_map {
	char *name;
	size_t at; /* of its first use, in the text */
	struct map_columns keys;
	struct value_type value;
	bool has_value;
	bool is_hidden; /* what is taken out of it is no result */
	bool gets, sets, adds, takes, drops;
};

/* A piece of C with the origins of what was typed. */
struct piece {
	struct strbuf text;
	VEC(struct oneliner_origin) origins;
};

struct constant {
	char *name;
	uint64_t value;
};

struct generator {
	const char *name, *text;
	bool filters; /* what a body returns decides whether the event is recorded */
	struct clauses clauses;
	const struct oneliner_env *env;
	VEC(struct own_map) maps;
	VEC(struct named_map) named;
	VEC(struct constant) constants; /* in the order of their first use */
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
	const char *ctx;   /* the name of the context of the program */
	struct {
		const char *at;
		size_t len;
	} clause;			   /* the events as they were typed */
	const struct event_fields *fields; /* NULL: none are known */
	unsigned depth, indent;
	struct piece *out;
};

static inline const struct token *body_token(const struct body *b, size_t i)
{
	return &b->tokens->v[i];
}

static inline bool body_is(const struct body *b, size_t i, const char *word)
{
	return i < b->tokens->n && token_is(b->g->text, body_token(b, i), word);
}

/* Whether token i is the name of a variable or function, not of a member. */
static inline bool body_outer_name(const struct body *b, size_t i)
{
	return body_token(b, i)->kind == TOKEN_NAME &&
	       !(i && (body_is(b, i - 1, ".") || body_is(b, i - 1, "->")));
}

void piece_deinit(struct piece *p);
void piece_typed(struct piece *p, const char *text, const struct token *t);
/* The piece and its origins at the end of another one. */
void piece_append(struct piece *to, const struct piece *from);

/* ---- maps.c ---- */

struct error *named_maps_find(struct generator *g);
struct named_map *named_map_at(const struct body *b, size_t i);
/* An element at token i, and what is stored in it; or take(NAME, …) or drop(NAME, …). */
struct error *named_map_write(struct body *b, struct named_map *map, size_t i, size_t to,
			      size_t *next, struct piece *out);
struct error *named_map_call(struct body *b, struct named_map *map, const struct argument *keys,
			     size_t n, size_t at, bool takes, struct piece *out);
/* The maps and their functions. */
void named_maps_write(struct generator *g, struct strbuf *out);
void named_maps_deinit(struct generator *g);

/* ---- variables.c: built-in variables ---- */

struct variable {
	const char *name;
	const char *declaration; /* "const perf_bpf_pid pid = …;" */
	struct value_type type;
};

const struct variable *variable_find(const char *text, const struct token *t);
extern const struct variable variables[]; /* ended by a NULL name */

/* ---- constants.c: O_CREAT, EAGAIN ---- */

/* Those that the bodies name. */
struct error *constants_find(struct generator *g);
bool constant_is(const struct generator *g, const struct token *t);
/* As macros, unless a header has the name. */
void constants_write(const struct generator *g, struct strbuf *out);
void constants_deinit(struct generator *g);

/* ---- body.c ---- */

/* The statements of a body, each with its indent. */
struct error *body_write(struct body *b);
/* The expression of tokens [from, to). */
struct error *body_expression(struct body *b, size_t from, size_t to, struct piece *out);
/*
 * The field that the n tokens from `from` on name: args->FIELD, or the name of a fetched value;
 * NULL: they are something else.
 */
struct error *body_field(const struct body *b, size_t from, size_t to,
			 const struct event_field **field, size_t *n);
/* Whether the token is the name of a variable that the body declares. */
bool body_declares(const struct body *b, size_t i);
/* Its type, as far as it is known without a compiler. */
struct error *body_type(struct body *b, size_t from, size_t to, struct value_type *type);
/* The index of the bracket that closes the one at `open`; EINVAL: there is none before `end`. */
struct error *body_close(const struct body *b, size_t open, size_t end, size_t *close);

/* ---- calls.c: functions ---- */

/* A column for a value, named as its last name was typed. */
struct error *column_add(const struct body *b, const struct argument *a,
			 struct map_columns *columns);
/* "struct NAME_SUFFIX { … };", of which `first` are the first members. */
void columns_write(const char *name, const struct map_columns *columns, const char *suffix,
		   const char *first, struct strbuf *out);

enum function_kind {
	CALL_COUNT,
	CALL_SUM,
	CALL_HIST,
	CALL_LHIST,
	CALL_HEAT,
	CALL_STACKS,
	CALL_PRINT,
	CALL_PRINTF,
	CALL_EMIT,
	CALL_STATS, /* of numbers: how many, their sum, the least and the largest */
	CALL_TAKE,  /* out of a map with a name */
	CALL_DROP,
	CALL_STR,  /* a string in memory */
	CALL_CAST, /* a number with a meaning */
};

struct function {
	const char *name;
	enum function_kind kind;
	const char *map;       /* the name of its first map; of CALL_CAST: the type */
	unsigned values;       /* arguments that are no keys */
	unsigned min, max;     /* of all arguments */
	const char *arguments; /* for messages */
};

struct call {
	const struct function *f;
	size_t name; /* its token */
	struct argument v[VALUES_MAX];
	size_t n;
	struct own_map *map;
	bool is_statement;
};

/* An error at token i, with the hint how the function is called. */
struct error *call_error(const struct body *b, size_t i, const struct function *f,
			 const char *what);

/* ---- formats.c ---- */

/* The format of printf() in a string of C, for the view: without the newline at its end. */
void format_write(const struct body *b, const struct argument *a, struct strbuf *out);
/* printf()'s format is a string whose conversions are those of the values. */
struct error *format_check(struct body *b, const struct call *c);

/* ---- calls.c ---- */

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
