/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A condition on a system call, as call_where.bpf.h evaluates it: a list of comparisons, each with
 * the number of the next one if it is true and if it is not. Numbers are compared as they are in
 * registers; strings run through an automaton that where_compile.c makes of a glob.
 *
 * Included by BPF programs: no includes but <linux/types.h>.
 */
#ifndef PB_TRACE_CALL_WHERE_H
#define PB_TRACE_CALL_WHERE_H

#include <linux/types.h>

enum {
	CALL_WHERE_TESTS = 32,
	CALL_WHERE_SELECT = CALL_WHERE_TESTS, /* behind the tests: what the condition says */
	CALL_WHERE_REJECT,
	/* Bytes of a text that are compared; a path has at most 4095. */
	CALL_WHERE_TEXT = 4096,
	/* Bytes of a text that are compared at a time. */
	CALL_WHERE_CHUNK = 64,
	/* Words of the automaton: a pattern has up to 255 characters, besides stars. */
	CALL_WHERE_WORDS = 4,
};

/* Where numbers come from: the values of a struct where_input. */
enum call_where_value {
	WHERE_ARG, /* 6 of them */
	WHERE_RET = 6,
	WHERE_ERRNO,	/* of a call that failed; else 0 */
	WHERE_DURATION, /* ns */
	WHERE_PID,
	WHERE_TID,
	WHERE_UID,
	WHERE_GID,
	WHERE_LITERAL, /* the test's number */
	WHERE_VALUES = 16,
};

/* What must be known for a comparison; without it is neither true nor false. */
enum call_where_needs {
	WHERE_NEEDS_RET = 1 << 0,
	WHERE_NEEDS_DURATION = 1 << 1,
	WHERE_NEEDS_ENTRY = 1 << 2,   /* memory as it was at the entry */
	WHERE_NEEDS_SUCCESS = 1 << 3, /* memory that the call wrote */
};

enum call_where_kind {
	WHERE_NUMBERS,
	WHERE_TEXT_AT,	  /* a string at an address, up to its NUL */
	WHERE_TEXT_BYTES, /* as many bytes at an address as `length` says */
	WHERE_TEXT_COMM,
};

/* For which results of a comparison it is true. */
enum call_where_order {
	WHERE_LESS = 1 << 0,
	WHERE_EQUAL = 1 << 1,
	WHERE_GREATER = 1 << 2,
};

struct call_where_side {
	__u8 value;	/* enum call_where_value; of a text: its address */
	__u8 shift;	/* 64 minus the bits of the value */
	__u8 is_signed; /* those bits are a signed number */
	__u8 masked;	/* only the bits of mask, as an unsigned number */
	__u32 reserved;
	__u64 mask;
};

struct call_where_test {
	__u8 kind;  /* enum call_where_kind */
	__u8 needs; /* enum call_where_needs */
	__u8 yes, no;
	__u8 order;  /* of numbers: enum call_where_order */
	__u8 negate; /* of texts */
	__u8 length; /* of WHERE_TEXT_BYTES: enum call_where_value */
	__u8 literal_is_negative;
	__u64 literal; /* the number of WHERE_LITERAL; of texts the number of the pattern */
	struct call_where_side left, right;
};

/* A value of the map "wheres". */
struct call_where {
	__u32 n;
	__u32 reserved;
	struct call_where_test tests[CALL_WHERE_TESTS];
};

/*
 * A value of the map "patterns": an automaton that is in several states at a time. State i means
 * that i characters of the pattern, besides its stars, matched what was read so far; a star behind
 * character i means that state i remains. Bits of state i: word i / 64, bit i % 64.
 */
struct call_pattern {
	__u32 n;    /* characters, and the number of the state that matches all */
	__u32 wide; /* more than one word is needed */
	__u64 stay[CALL_WHERE_WORDS];
	/* For each byte: the states that are reached by it from the one before. */
	__u64 next[256][CALL_WHERE_WORDS];
};

/* A CPU's place to evaluate: one for entries, one for exits, as the scratches. */
struct where_input {
	__u64 values[WHERE_VALUES];
	/* Bits: which tests may be reached, and which are reached if nothing unknown is true;
	 * CALL_WHERE_SELECT and CALL_WHERE_REJECT at the end. */
	__u64 may, sure;
	/* Bits of the texts at the entry: what is known, and what is true. */
	__u32 known, matched;
	__u32 len;   /* of the text */
	__u8 cut;    /* it is longer */
	__u8 unread; /* a text could not be read */
	__u8 reserved[2];
	__u64 states[CALL_WHERE_WORDS]; /* of the automaton */
	__u8 text[CALL_WHERE_TEXT];
};

#endif
