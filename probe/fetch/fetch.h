/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a value is fetched at a point: what the finders (BTF, DWARF) hand to the
 * prologue's generator. It is a small stack machine's program, the part of
 * DWARF's expressions (DWARF 5, 2.5) that can be computed in a BPF program
 * with no loop and no branch. Pure data; no room below lib/ knows of it.
 *
 * Registers have the numbers of the architecture's DWARF ABI.
 */
#ifndef PB_PROBE_FETCH_FETCH_H
#define PB_PROBE_FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

enum fetch_op {
	FETCH_CONST,  /* push imm */
	FETCH_REG,    /* push register reg, plus imm */
	FETCH_PARAM,  /* push the reg-th word (from 0) of the function's parameters at its entry:
			 the register of that number, beyond the last one the words above the
			 return address on the stack, or fentry's argument. A parameter is one
			 word, a struct of up to 16 bytes has one or two */
	FETCH_RETVAL, /* push what the function returns */
	FETCH_STATIC, /* push the address of static data: imm is its address in the image, to
			 which the image's load address is added (user PIE; the kernel's KASLR) */
	FETCH_TLS,    /* push the address imm bytes into the thread's block of this image */
	FETCH_COMM,   /* the address of the thread's name */
	FETCH_DEREF,  /* pop an address, add imm, push the size bytes there (1, 2, 4, 8),
			 zero-extended; size 0: only the sum, nothing is read */
	FETCH_SEXT,   /* sign-extend the top from size bytes */
	FETCH_PLUS,
	FETCH_MINUS,
	FETCH_MUL,
	FETCH_DIV,
	FETCH_MOD, /* DIV is signed, as DW_OP_div */
	FETCH_AND,
	FETCH_OR,
	FETCH_XOR,
	FETCH_SHL,
	FETCH_SHR,
	FETCH_SHRA,
	FETCH_NEG,
	FETCH_NOT,
	FETCH_EQ,
	FETCH_NE,
	FETCH_LT,
	FETCH_LE,
	FETCH_GT,
	FETCH_GE, /* signed; push 1 or 0 */
	FETCH_DUP,
	FETCH_DROP,
	FETCH_SWAP,
	FETCH_ROT,
	FETCH_PICK, /* push a copy of the entry imm below the top (0: the top) */
	/*
	 * Pop the frame's CFA, push what the register of the function's reg-th parameter held when
	 * the function was entered. imm: the address of its first instruction in the image, where
	 * a second probe keeps it.
	 */
	FETCH_ENTRY,
};

/* No architecture passes more parameters in registers: what reg is below. */
#define FETCH_ENTRY_REGS 8

struct fetch_insn {
	enum fetch_op op;
	uint8_t size;
	bool user; /* of FETCH_DEREF: the memory is the process's */
	/*
	 * Of FETCH_DEREF: the kernel's BTF types this pointer, so that a program with typed
	 * arguments may load directly. Of FETCH_PARAM: the verifier lets such a program read the
	 * word from its context: numbers, pointers to void, to structs and (kernels since 5.11) to
	 * numbers; others only bpf_get_func_arg() gives. What is not followed by a FETCH_DEREF, and
	 * gives no address, is then no pointer.
	 */
	bool typed;
	uint16_t reg;
	int64_t imm;
};

/* No program is longer, and no stack deeper. */
#define FETCH_MAX_INSNS 256
#define FETCH_MAX_DEPTH 12

/* What stands on top at the end. */
enum fetch_gives {
	FETCH_VALUE,   /* the bytes themselves, at most 8 */
	FETCH_ADDRESS, /* where the bytes are */
	FETCH_NOTHING, /* the piece was optimised out: its bytes are not known */
};

/* A part of a value; most have one piece. */
struct fetch_piece {
	struct fetch_insn *insns;
	size_t n_insns;
	enum fetch_gives gives;
	bool user;	     /* of FETCH_ADDRESS: the memory is the process's */
	uint32_t bit_offset; /* into the source, from its least significant bit */
	uint32_t bit_size; /* how much of the value it is, from the low bits up; whole bytes unless
			      the value is a bit field */
};

enum fetch_kind {
	FETCH_UINT,
	FETCH_INT,
	FETCH_BOOL,
	FETCH_CHAR,
	FETCH_FLOAT,
	FETCH_POINTER,
	FETCH_ENUM,
	/*
	 * The first piece gives the address of a string. It ends with 0, or a second piece gives
	 * the number of its bytes.
	 */
	FETCH_STRING,
	FETCH_BYTES, /* a struct, a union, an array: size bytes */
};

/* An argument at a point. */
struct fetch_value {
	char *name;
	char *type; /* "struct file *", "int", as C writes it; NULL: not known */
	enum fetch_kind kind;
	bool hex;	   /* to be shown so (x64, pointers) */
	uint32_t size;	   /* bytes; of FETCH_STRING the largest, with its 0: 0 is the default */
	uint32_t bit_size; /* of a bit field, else 0 */
	struct fetch_piece *pieces;
	size_t n_pieces;
	/*
	 * Why it cannot be read at this point ("optimized out", "DW_OP_entry_value (of rdi)
	 * needs the caller's frame"); the pieces are none then. NULL: it can.
	 */
	char *obstacle;
};

void fetch_value_deinit(struct fetch_value *value);

/* Equal in all that the prologue sees: points with equal values share an instance. */
bool fetch_values_equal(const struct fetch_value *a, const struct fetch_value *b, size_t n);

/* A hash that goes with it. */
uint64_t fetch_values_hash(const struct fetch_value *v, size_t n);

struct strbuf;
/* For people: "%di+0x18 → u64 → +0x28 string". names: of the registers, see fetch/regs.h. */
struct regs;
void fetch_value_text(const struct fetch_value *value, const struct regs *regs, struct strbuf *out);

#endif
