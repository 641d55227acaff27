/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From fetch programs to BPF instructions: the code before the user's program
 * that fetches the arguments and hands them over. Pure.
 *
 *	int prog(void *ctx, int err, unsigned long a, unsigned long b, unsigned long c)
 *	int prog(void *ctx, struct NAME *args)		// any number, strings, structs
 *
 * err is 0 or the negative errno of the first read that failed, whose argument
 * is then 0; in the second form a member "int err" of struct NAME gets it, and a member
 * "__u64 err_mask", bit i for argument i, tells all that failed.
 */
#ifndef PB_PROBE_PROLOGUE_PROLOGUE_H
#define PB_PROBE_PROLOGUE_PROLOGUE_H

#include <linux/bpf.h>

#include "probe/fetch/fetch.h"
#include "probe/fetch/regs.h"

/* What the context is. */
enum prologue_context {
	PROLOGUE_PT_REGS, /* kprobe, uprobe, their returns and multi forms */
	PROLOGUE_TYPED,	  /* fentry, fexit: an array of 8-byte arguments, then what is returned */
};

struct prologue_way {
	enum prologue_context context;
	bool user;	   /* the image is a process's: memory is read by probe_read_user */
	uint16_t n_params; /* of PROLOGUE_TYPED: where the returned value stands */
	bool sleepable;	   /* copy_from_user may be called: paged-out memory is read too */
	const struct regs *regs;
};

/* Where a value goes in struct NAME. */
struct prologue_member {
	uint32_t offset, size;
};

struct prologue_shape {
	bool in_struct;			       /* false: three registers at most */
	uint32_t size;			       /* of struct NAME */
	const struct prologue_member *members; /* one for each value */
	int32_t err_offset, err_mask_offset;   /* -1: no such member */
};

struct prologue {
	struct bpf_insn *insns;
	size_t n;
};

void prologue_deinit(struct prologue *prologue);

/*
 * out is all zero. E2BIG: more than fits on the stack or into three registers;
 * EINVAL: a fetch program that is none (an empty stack, an unknown register),
 * which names the argument.
 */
struct error *prologue_build(const struct fetch_value *values, size_t n,
			     const struct prologue_way *way, const struct prologue_shape *shape,
			     struct prologue *out);

#endif
