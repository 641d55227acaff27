/* SPDX-License-Identifier: BSD-2-Clause */
/* What tracing.c, compile.c and run.c share: a tracepoint and its program. */
#ifndef PB_PERF_PRINT_INTERNAL_H
#define PB_PERF_PRINT_INTERNAL_H

#include <traceevent/event-parse.h>

#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "perf/print/tracing.h"

/*
 * Nothing that a format file names may lie past this: PERF_SAMPLE_RAW holds at
 * most 64 KiB, and offsets of dynamic fields have 16 bits.
 */
#define PAYLOAD_MAX 65536

/* TEP_FIELD_IS_RELATIVE, which came with libtraceevent 1.5.1. */
#define FIELD_IS_RELATIVE 256

enum expr_op {
	EX_CONST,    /* value */
	EX_LOAD,     /* size bytes at off */
	EX_MASK,     /* a & value: a cast */
	EX_ELEM,     /* size bytes at off + b * value; & mask */
	EX_DYN_ELEM, /* size bytes at (u32 at off & 0xffff) + b; & mask */
	EX_DYN_LEN,  /* number at off (size bytes) >> 16 */
	EX_COND,     /* a ? b : c */
	EX_NOT,	     /* !b */
	EX_INV,	     /* ~b */
	EX_NE,	     /* from here on: a OP b */
	EX_EQ,
	EX_OROR,
	EX_OR,
	EX_ANDAND,
	EX_AND,
	EX_XOR,
	EX_LT,
	EX_LE,
	EX_SHL,
	EX_GT,
	EX_GE,
	EX_SHR,
	EX_SUB,
	EX_ADD,
	EX_DIV,
	EX_MOD,
	EX_MUL,
};

/* A node of an expression; a, b and c are indices of nodes. */
struct expr {
	uint8_t op;
	uint8_t size;
	uint16_t a, b, c;
	uint32_t off;
	uint64_t value;
	uint64_t mask;
};

/* A printf conversion, taken apart. */
struct conv {
	bool left, zero, alt, plus, space;
	bool width_arg, prec_arg; /* '*': the value of item.len */
	int width;		  /* 0: none */
	int prec;		  /* -1: none */
	char conv;		  /* d u x X o s p */
	char mod;		  /* 'H' hh, 'h', 0, 'l', 'z' */
};

/* Where the text of a %s comes from. */
enum text_kind {
	TEXT_LITERAL,
	TEXT_FIELD,   /* char array of size bytes at off, up to its NUL; 0: to the end */
	TEXT_POINTER, /* an address at off, perhaps of a known printk format */
	TEXT_DYN,     /* __get_str() */
	TEXT_FLAGS,   /* __print_flags() */
	TEXT_SYMBOL,  /* __print_symbolic() */
	TEXT_HEX,     /* __print_hex(), __print_hex_str() */
	TEXT_ARRAY,   /* __print_array() */
	TEXT_BITMASK, /* __get_bitmask() */
	TEXT_COND,    /* a ? left : right */
	TEXT_NOTHING,
};

struct flag {
	int64_t value;
	const char *str;
	uint32_t len;
};

struct text {
	uint8_t kind;
	uint8_t size;	      /* TEXT_POINTER's; of TEXT_HEX and ARRAY: of the dynamic field */
	bool dynamic;	      /* TEXT_HEX, ARRAY: off is a dynamic field's */
	bool relative;	      /* TEXT_DYN, BITMASK: offsets count from the field's end */
	bool spaces;	      /* TEXT_HEX: between the bytes */
	uint16_t a, b;	      /* expressions: value or condition or count; element size */
	uint16_t left, right; /* texts of TEXT_COND */
	uint32_t off, len;
	const char *str; /* TEXT_LITERAL; TEXT_FLAGS: the delimiter */
	uint32_t first_flag, n_flags;
};

enum item_kind {
	ITEM_LITERAL,
	ITEM_NUMBER,
	ITEM_DECIMAL,  /* %d of an int, %ld of a long: sign and digits alone */
	ITEM_UNSIGNED, /* %u, %lu */
	ITEM_HEX,      /* %x, %lx, %0Nx */
	ITEM_TEXT,
	ITEM_FUNCTION, /* %ps, %pS */
	ITEM_POINTER,  /* %p */
};

struct item {
	uint8_t kind;
	uint8_t bits;	 /* of the number: 8, 16, 32, 64 */
	bool offset;	 /* ITEM_FUNCTION: with +0x… */
	bool has_len;	 /* '*' is the value of len */
	uint16_t expr;	 /* the value; of ITEM_TEXT: the text */
	uint16_t len;	 /* an expression */
	uint32_t n;	 /* bytes of str */
	const char *str; /* ITEM_LITERAL: owned by the program */
	struct conv conv;
};

/* An event's print format, compiled. */
struct program {
	VEC(struct item) items;
	VEC(struct expr) exprs;
	VEC(struct text) texts;
	VEC(struct flag) flags;
	VEC(char *) strings; /* owned */
};

struct trace_event {
	struct tep_event *tep;
	struct tracing *tracing;
	VEC(struct trace_field) fields;
	uint32_t extent; /* the end of the last fixed field */
	enum { EVENT_NEW, EVENT_COMPILED, EVENT_SLOW, EVENT_RAW } state;
	struct program program;
};

struct printk_format {
	uint64_t addr;
	char *text;
};

struct tracing {
	struct tep_handle *tep;
	const struct data_tracing *data; /* NULL: formats are added one by one */
	const struct log *log;
	bool swap; /* the recording's byte order is not the host's */
	uint8_t long_size;
	VEC(struct trace_event *) events;
	struct u64map by_id;
	VEC(struct printk_format) printks; /* by address */
	trace_symbol_fn *symbol;
	void *symbol_ctx;
	uint8_t *padded; /* a payload with zeroes behind it, for libtraceevent */
};

/* Sets ev->state and, when it can be compiled, ev->program. */
void program_compile(struct trace_event *ev);
/* May the library print this event, whatever its payload says? */
bool program_library_is_safe(const struct trace_event *ev);
void program_deinit(struct program *p);
void program_run(const struct trace_event *ev, const uint8_t *raw, uint32_t size,
		 struct strbuf *out);

/* Takes a conversion apart; *p points past its '%' and is moved past it. false: unknown. */
bool conv_parse(const char **p, struct conv *c);

const char *printk_find(const struct tracing *t, uint64_t addr);

/* The little-or-big-endian number of 1, 2, 4 or 8 bytes at off; 0 past the end. */
static inline uint64_t payload_number(const struct tracing *t, const uint8_t *raw, uint32_t size,
				      uint64_t off, unsigned n)
{
	if (n > size || off > size - n)
		return 0;
	raw += off;
	switch (n) {
	case 1:
		return *raw;
	case 2: {
		uint16_t v;

		memcpy(&v, raw, 2);
		return t->swap ? bswap_16(v) : v;
	}
	case 4: {
		uint32_t v;

		memcpy(&v, raw, 4);
		return t->swap ? bswap_32(v) : v;
	}
	case 8: {
		uint64_t v;

		memcpy(&v, raw, 8);
		return t->swap ? bswap_64(v) : v;
	}
	default:
		return 0;
	}
}

#endif
