/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inside: verifier_log.c reads the log into steps, trace_register.c follows a register
 * backwards through them, kernel_words.c puts a register's state into words, match.c
 * holds a line of the log against a pattern, and explain_refusal.c tries the rules,
 * whose functions are in bounds.c, pointers.c, calls.c and log_flow.c.
 */
#ifndef PB_VERIFIER_INTERNAL_H
#define PB_VERIFIER_INTERNAL_H

#include "lib/base/vec.h"
#include "lib/verifier/verifier.h"

/* Some bytes of the log, or of any text. */
struct piece {
	const char *at; /* NULL: nothing */
	size_t len;
};

static inline struct piece piece_of(const char *s)
{
	return (struct piece){s, s ? strlen(s) : 0};
}

bool piece_starts(struct piece p, const char *with);
bool piece_has(struct piece p, const char *what);
bool piece_is(struct piece p, const char *what);

/* One instruction that the verifier walked through. */
struct log_step {
	uint32_t insn;
	uint32_t depth;	     /* of calls: 0 is the program itself */
	struct piece text;   /* "r1 = *(u32 *)(r0 +0)" */
	struct piece before; /* what was said of registers before it */
	struct piece after;  /* and behind it */
	bool popped;	     /* a later path went on from here */
};

/* Lines of the kernel's own words at the log's end. */
#define COMPLAINTS_MAX 8

struct vlog {
	VEC(struct log_step) steps; /* the path that was refused */
	struct piece complaints[COMPLAINTS_MAX];
	size_t n_complaints;
	struct piece last_state; /* what was said of registers behind the last step */
	struct piece comment;	 /* the last "; source @ file:line" */
	uint32_t *hits;		 /* by instruction: how often it was walked through */
	uint64_t total_hits;
	uint64_t processed; /* what the verifier says it walked through; 0: it does not */
	bool nomem;
};

void vlog_parse(struct vlog *log, const char *text, uint32_t n_insns);
void vlog_deinit(struct vlog *log);

/* What register reg is before a step (steps.n: behind the last one); at NULL: not said. */
struct piece vlog_state(const struct vlog *log, const struct verifier_input *in, size_t step,
			unsigned reg);

/* ---- where a value comes from (trace_register.c) ---- */

enum origin_kind {
	ORIGIN_UNKNOWN,
	ORIGIN_CALL,	/* a helper or a function of the kernel returned it */
	ORIGIN_LOAD,	/* it was read from memory */
	ORIGIN_CONST,	/* a number, or a map */
	ORIGIN_MATH,	/* it was computed */
	ORIGIN_ARG,	/* it is an argument of the function */
	ORIGIN_CLOBBER, /* a call left nothing in it */
};

struct origin {
	enum origin_kind kind;
	long step;	     /* that made it; -1: none */
	struct piece callee; /* ORIGIN_CALL, ORIGIN_CLOBBER: the helper's name */
	unsigned reg;	     /* ORIGIN_LOAD: the register it was read through */
	long added_step;     /* a pointer's last addition of a register; -1: none */
	unsigned added;	     /* that register */
};

struct origin trace_origin(const struct vlog *log, const struct verifier_input *in, size_t step,
			   unsigned reg);

/* The name of what a call step calls: "bpf_map_lookup_elem". */
struct piece step_callee(const struct log_step *step);

/* ---- registers in words (kernel_words.c) ---- */

struct value_range {
	bool is_number; /* a scalar */
	bool is_const;
	bool has_min, has_max; /* anything is known */
	bool may_be_negative;
	int64_t min; /* signed where negative, else unsigned */
	uint64_t max;
};

struct value_range state_range(struct piece state);
/* The type's name: "map_value_or_null"; "scalar" for numbers however spelt. */
struct piece state_type(struct piece state);
/* A parameter: "vs" of "map_value(off=0,ks=4,vs=16)"; false: there is none. */
bool state_param(struct piece state, const char *key, int64_t *value);
bool state_param_text(struct piece state, const char *key, struct piece *value);
void state_words(struct piece state, struct strbuf *sb);
/* The words for a type by its name alone: "a number". */
void type_words(struct piece type, struct strbuf *sb);
void range_words(const struct value_range *range, struct strbuf *sb);

/* ---- patterns (match.c) ---- */

/* What a pattern's %d and %s stood for, in order. */
struct match {
	int64_t d[6];
	struct piece s[4];
};

/*
 * Whether line begins as pattern says: %d is a number (within 2^40), %s any text up to what
 * follows it in the pattern (to the end, where nothing does). A leading '*'
 * lets the rest begin anywhere.
 */
bool match_line(struct piece line, const char *pattern, struct match *m);
/* The number that p begins with, decimal or "0x…", as large as it is; false: there is none. */
bool piece_number(struct piece p, int64_t *value);

/* ---- explaining ---- */

struct explain {
	const struct verifier_input *in;
	struct vlog log;
	struct failure *f;
	const char *kind;
	long step;	   /* the one at fault; -1: none */
	long insn;	   /* its number, or one that the kernel named; -1 */
	long place;	   /* the instruction whose source line is the place; -1: insn */
	struct piece line; /* of the log, that matched */
	struct match m;
	struct strbuf msg, hint, detail;
};

/* How a rule's function tells: ex->msg, and mostly ex->hint; false: the rule is not for this. */
typedef bool explain_fn(struct explain *ex);

struct rule {
	const char *pattern;
	const char *kind;
	explain_fn *fn;
	const char *msg; /* where fn is NULL */
	const char *hint;
};

extern const struct rule rules_bounds[], rules_pointers[], rules_calls[], rules_flow[];

/* calls.c: an argument of a call that is of the wrong type, whatever the rules' room. */
bool explain_argument(struct explain *ex);

/* The line of an instruction; NULL: unknown. */
const struct verifier_line *line_of(const struct verifier_input *in, uint32_t insn);
const struct verifier_note *note_of(const struct verifier_input *in, uint32_t insn,
				    enum verifier_note_kind kind);
/* "" where it is not known. */
const char *function_of(const struct verifier_input *in, uint32_t insn);
const struct bpf_insn *insn_at(const struct verifier_input *in, long insn);
/* The code at fault is a store; a call. */
bool insn_stores(const struct bpf_insn *insn);
bool insn_calls(const struct bpf_insn *insn);

/* Notes the register, its state in words, and since when; the origin is returned. */
struct origin explain_register(struct explain *ex, unsigned reg);
/* The instruction that loads the map which reg points to; NULL: unknown. */
const struct verifier_note *explain_map(struct explain *ex, unsigned reg);
/* "v" of "struct x *v = lookup(…);", the variable that a step's line sets; at NULL: unclear. */
struct piece variable_set_at(const struct explain *ex, long step);
/* What the source indexes with at the step at fault: "i" of "v->n[i]"; at NULL: unclear. */
struct piece index_at(const struct explain *ex);
bool is_name_char(char c);
void add_piece(struct strbuf *sb, struct piece p);
void set_piece(char **to, struct piece p);
bool set_expected(struct explain *ex, const char *fmt, ...) _printf_(2, 3);

#endif
