/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the registers of a program hold that comes from a map: the map itself, a
 * pointer to one of its values, or a number that was loaded from a value.
 * Private to lib/object/. Pure: it makes no system calls.
 *
 * It answers two questions without the author's help: which map a call of a
 * helper is about, and whether a program adds to a field or sets it.
 */
#ifndef PB_OBJECT_INSN_FLOW_H
#define PB_OBJECT_INSN_FLOW_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/error.h"

enum flow_kind {
	FLOW_UNSEEN,   /* the instruction was not reached */
	FLOW_OTHER,    /* anything else, or different things on different paths */
	FLOW_NEGATIVE, /* a negative number, on one path at least */
	FLOW_MAP,      /* a map */
	FLOW_VALUE,    /* a pointer to a byte of a map's value */
	FLOW_LOADED,   /* the number that was at a byte of a map's value */
	FLOW_SUM,      /* that number, with something added */
	FLOW_DERIVED,  /* made of that number in another way */
};

struct flow_value {
	enum flow_kind kind;
	bool varies; /* at some byte from off on: an element of an array */
	int32_t map; /* its descriptor, as the instructions have it */
	int32_t off; /* byte of the value */
};

struct flow_visitor {
	void *ctx;
	/* A call of a helper; regs are r0 to r5 before it. */
	struct error *(*call)(void *ctx, size_t insn, const struct flow_value *regs);
	/*
	 * A store of size bytes to a map's value. adds: what was there before, plus something that
	 * is not known to be negative.
	 */
	struct error *(*store)(void *ctx, const struct flow_value *to, uint32_t size, bool adds);
};

/*
 * Calls the visitor for each reachable instruction, in order. ENOTSUP: the program
 * jumps through tables. E2BIG: it is too large.
 */
struct error *insn_flow_visit(const struct bpf_insn *insns, size_t n,
			      const struct flow_visitor *visitor);

#endif
