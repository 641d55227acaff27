/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Code as text: BPF instructions as the kernel's verifier writes them, and the
 * machine code that a JIT made of them. Bytes in, text out: nothing here asks
 * the kernel.
 *
 *	struct cursor c = cursor_make(insns, n * sizeof(*insns), "prologue");
 *
 *	while (!cursor_end(&c)) {
 *		strbuf_addf(out, "%4zu: ", c.pos / sizeof(*insns));
 *		if (!disasm_bpf(&c, NULL, out))
 *			break;
 *		strbuf_addch(out, '\n');
 *	}
 *
 * or, for just that, disasm_bpf_list().
 */
#ifndef PB_DISASM_DISASM_H
#define PB_DISASM_DISASM_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/cursor.h"
#include "lib/base/error.h"
#include "lib/base/strbuf.h"

/*
 * What code does not say of itself. Each adds a name and says true, or adds
 * nothing and says false: then the number stands there. NULL: nothing is known.
 */
struct disasm_names {
	/* Behind "call ": all of it; insn->src_reg says what kind of call it is. */
	bool (*call)(void *ctx, const struct bpf_insn *insn, struct strbuf *out);
	/* Behind "rN = " of a 64-bit constant. */
	bool (*constant)(void *ctx, const struct bpf_insn *insn, uint64_t value,
			 struct strbuf *out);
	void *ctx;
};

/*
 * Adds the instruction at c, "(b7) r0 = 0", and moves c behind it: one slot of
 * 8 bytes, two for a 64-bit constant. What no kernel accepts is added too, as
 * "(8f) unknown instruction: dst 3 src 1 off 0 imm 5". False: fewer than 8 bytes
 * are left.
 */
bool disasm_bpf(struct cursor *c, const struct disasm_names *names, struct strbuf *out);

/* All of it, a line each: "   0: (b7) r0 = 0\n". The number counts slots. */
void disasm_bpf_list(const struct bpf_insn *insns, size_t n, const struct disasm_names *names,
		     struct strbuf *out);

/* ---- machine code ---- */

struct disasm_machine;

struct disasm_machine_opts {
	uint16_t machine; /* EM_X86_64, EM_386, EM_AARCH64; EM_NONE: this machine's */
	bool intel;	  /* x86 in Intel's notation instead of AT&T's */
};

/*
 * opts NULL: this machine's code. ENOTSUP: built without capstone, or the machine is not one of
 * those above.
 */
struct error *disasm_machine_new(const struct disasm_machine_opts *opts,
				 struct disasm_machine **out);
void disasm_machine_free(struct disasm_machine *m);
DEFINE_FREEP(struct disasm_machine, disasm_machine_free)

/* What runs after an instruction. */
enum disasm_flow {
	DISASM_NEXT, /* the next one */
	DISASM_JUMP,
	DISASM_CALL,
	DISASM_RETURN,
};

/* One instruction; the texts last until the next one. */
struct disasm_machine_insn {
	const char *operation; /* "callq" */
	const char *operands;  /* "0xffffffff8110e2d0"; "" */
	enum disasm_flow flow;
	bool has_target; /* a jump or a call to an address that it names: */
	uint64_t target;
	bool has_data; /* it reads or writes at an address relative to its own: */
	uint64_t data;
};

/*
 * The instruction at c, which runs at addr; c moves behind it. Bytes that are not an instruction
 * are ".byte", one at a time or those of an instruction whose length is known, on arm64 ".inst",
 * four at a time. False: nothing is left.
 */
bool disasm_machine_next(struct disasm_machine *m, struct cursor *c, uint64_t addr,
			 struct disasm_machine_insn *insn);

/*
 * How many bytes the x86 instruction at code has, of at most size; 0: it is not whole, or it is not
 * an instruction. Works without capstone.
 */
size_t disasm_x86_length(const uint8_t *code, size_t size, bool is_64_bit);

/*
 * Whether what follows it does not run next: a jump, a call, a return, a system call, an interrupt,
 * or bytes that are not an instruction.
 */
bool disasm_x86_always_branches(const uint8_t *code, size_t size, bool is_64_bit);

/* "bpf_map_lookup_elem" of 1; NULL: no helper has the number. */
const char *disasm_helper_name(int32_t id);

#endif
