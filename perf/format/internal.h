/* SPDX-License-Identifier: BSD-2-Clause */
/* What tracing.c, compile_format.c and print_format.c share: a tracepoint and its program. */
#ifndef PB_PERF_FORMAT_INTERNAL_H
#define PB_PERF_FORMAT_INTERNAL_H

#include "lib/base/hash.h"
#include "lib/base/vec.h"
#include "perf/format/tracing.h"

/*
 * Nothing that a format file names may lie past this: PERF_SAMPLE_RAW holds at
 * most 64 KiB, and offsets of dynamic fields have 16 bits.
 */
#define PAYLOAD_MAX 65536

/* The largest format files of Linux 6.18 are some 20 KB. */
#define FORMAT_MAX (256 * 1024)

/* A field as the format file has it. */
enum {
	FIELD_ARRAY = 1,
	FIELD_POINTER = 2,
	FIELD_SIGNED = 4,
	FIELD_STRING = 8, /* of char, u8 or s8 */
	FIELD_DYNAMIC = 16,
	FIELD_LONG = 32,
	FIELD_RELATIVE = 64,
};

struct format_field {
	const char *name, *type;
	uint32_t offset, size, element_size, array_len;
	uint32_t flags;
	bool common;	  /* one of the fields that every event has */
	bool unprintable; /* a string that once was none: bytes from then on */
};

/* A node of the print format's expressions. */
enum arg_type {
	ARG_NULL,
	ARG_ATOM,  /* text: a number, a name or a string */
	ARG_FIELD, /* field */
	ARG_TYPE,  /* (text)left */
	ARG_OP,	   /* left text right; of ? the right is an op : */
	ARG_FLAGS, /* left, flags; text is the delimiter or NULL */
	ARG_SYMBOL,
	ARG_HEX, /* left: bytes, right: how many */
	ARG_HEX_STR,
	ARG_INT_ARRAY, /* left: bytes, right: count, third: size of each */
	ARG_STRING,    /* __get_str(text) */
	ARG_BITMASK,
	ARG_CPUMASK,
	ARG_DYNAMIC_ARRAY,
	ARG_DYNAMIC_ARRAY_LEN,
};

struct flag_name {
	struct flag_name *next;
	int64_t value;
	const char *name;
};

struct arg {
	enum arg_type type;
	const char *text;
	struct format_field *field; /* of ARG_STRING and the masks: may be NULL */
	struct arg *left, *right, *third;
	struct flag_name *flags;
	int prio;
	struct arg *next;
};

enum expr_op {
	EX_CONST,    /* value */
	EX_LOAD,     /* size bytes at off */
	EX_MASK,     /* a & value: a cast */
	EX_ELEM,     /* size bytes at off + b * value; & mask */
	EX_DYN_ELEM, /* size bytes at (u32 at off & 0xffff) + value + b; & mask */
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
	TEXT_CPUMASK, /* __get_cpumask() */
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
	bool relative;	      /* the offset counts from the end of the field, off + len */
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
	ITEM_FLOAT,    /* any conversion of a float or double: its bits */
	ITEM_TEXT,
	ITEM_FUNCTION, /* %ps, %pS */
	ITEM_POINTER,  /* %p */
	ITEM_BYTES,    /* %pI4, %pU, …: bits is the kind, str its letters, n the offset */
};

enum pointer_kind {
	POINTER_SOCKADDR,
	POINTER_IP4,
	POINTER_IP6,
	POINTER_MAC,
	POINTER_UUID,
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
struct print_program {
	VEC(struct item) items;
	VEC(struct expr) exprs;
	VEC(struct text) texts;
	VEC(struct flag) flags;
	VEC(char *) strings; /* owned */
};

struct trace_event {
	struct tracing *tracing;
	const char *system, *name;
	uint64_t id;
	VEC(void *) memory; /* what the parser allocated */
	VEC(struct format_field *) format_fields;
	VEC(struct trace_field) fields;			/* without the common ones */
	const struct trace_field *probe_err, *probe_ip; /* of a probe's sample; NULL: it is none */
	const char *print;				/* the print format's string; NULL: none */
	struct arg *args;
	bool parsed;	 /* print and args are whole */
	uint32_t extent; /* the end of the last fixed field */
	enum { EVENT_NEW, EVENT_COMPILED, EVENT_BY_FIELD } state;
	bool only_numbers; /* once compiled: all that it prints is numbers and printable ASCII */
	struct print_program program;
};

struct printk_format {
	uint64_t addr;
	char *text;
};

struct tracing {
	const struct data_tracing *data; /* NULL: formats are added one by one */
	const struct log *log;
	bool swap; /* the recording's byte order is not the host's */
	uint8_t long_size;
	VEC(struct trace_event *) events;
	struct u64map by_id;
	bool no_memory;			   /* for a format: what is printed may not be whole */
	VEC(struct printk_format) printks; /* by address */
	trace_symbol_fn *symbol;
	void *symbol_ctx;
};

/*
 * Reads a format file into ev; its strings are ev's own. A print format that
 * is not understood leaves parsed unset, what else is wrong is an error.
 */
struct error *format_parse(struct trace_event *ev, const char *text, size_t size);
/* A float or a double. */
bool format_is_float(const struct format_field *field);
struct format_field *format_find_field(const struct trace_event *ev, const char *name);

/* a OP b, of EX_NE and those behind it. */
uint64_t expr_operate(uint8_t op, uint64_t a, uint64_t b);

/* Sets ev->state and, when it can be compiled, ev->program. */
void program_compile(struct trace_event *ev);
void program_deinit(struct print_program *p);
/* " NAME=VALUE" for each field, as libtraceevent has it where it cannot do better. */
void program_run(const struct trace_event *ev, const uint8_t *raw, uint32_t size,
		 struct strbuf *out);

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
