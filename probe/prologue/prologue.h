/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From fetch programs to BPF instructions: the code that fetches the arguments
 * and calls the user's program, which stands right behind it. Pure.
 *
 *	int prog(void *ctx, int err, unsigned long a, unsigned long b, unsigned long c)
 *	int prog(void *ctx, struct NAME *args)		// any number, strings, structs
 *
 * err is 0 or the negative errno of the first argument that could not be read,
 * which is then 0; in the second form a member "int err" of struct NAME gets it, and a member
 * "__u64 err_mask", bit i for argument i, tells all that failed; a member
 * "__u64 __probe_ip" gets the address of the point that was hit.
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

/* What a counter's map holds for each point, on each CPU. */
struct prologue_count {
	uint64_t hits;
	uint64_t address; /* the point's; put there before it is attached */
};

/* Which element of an array of struct prologue_count (one for each CPU) counts the hits. */
struct prologue_counter {
	bool wanted;
	int map_fd;
	bool by_cookie; /* bpf_get_attach_cookie() is the number; else: */
	uint32_t index;
};

struct prologue_way {
	enum prologue_context context;
	const struct regs *regs;
	bool user;	   /* the image is a process's, and so is all memory that is read */
	bool at_return;	   /* the instruction pointer is the caller's */
	bool ftrace_regs;  /* kprobe.multi: of pt_regs only what a function is called with is set */
	bool sleepable;	   /* pages in what it reads by copy_from_user; strings may have no end */
	bool keeps_return; /* what the program returns counts; else it is 0. Never with TYPED */
	uint16_t n_params; /* of PROLOGUE_TYPED: where the returned value stands */
	bool has_func_arg; /* bpf_get_func_arg() and bpf_get_func_ret() (5.17) */
	/*
	 * Of PROLOGUE_TYPED: bit i, value i may be read by loads that the verifier types, as far as
	 * its fetch program says so (5.5; which of them it takes differs from kernel to kernel).
	 */
	uint64_t direct;
	bool has_func_ip; /* bpf_get_func_ip() (5.15; at uretprobes 6.6 or 6.7, before that 0) */
	/*
	 * FETCH_STATIC. A process's image may lie anywhere: the instruction pointer is at this
	 * point, whose address in the image is known.
	 */
	uint64_t address;
	uint64_t bias; /* of the kernel: what is added to the addresses of its debug information */
	struct prologue_counter counter;
	int entries; /* the map of struct prologue_entry, for FETCH_ENTRY */
};

/*
 * What a second probe keeps at a function's entry, in a hash map, until the same frame of the same
 * process is used again.
 */
struct prologue_entry_key {
	uint32_t tgid;
	uint32_t function; /* the low half of its address in the image */
	uint64_t cfa;
};
struct prologue_entry {
	uint64_t regs[FETCH_ENTRY_REGS]; /* of parameters */
};

/* Where a value goes in struct NAME; of registers only the size counts (1, 2, 4 or 8). */
struct prologue_member {
	uint32_t offset, size;
};

struct prologue_shape {
	bool in_struct;			       /* false: three registers at most */
	uint32_t size;			       /* of struct NAME */
	const struct prologue_member *members; /* one for each value */
	int32_t err_offset, err_mask_offset;   /* 4 and 8 bytes, aligned; -1: no such member */
	/*
	 * Of the point's address, 8 bytes, aligned; -1: it is not wanted. Of a process it is the
	 * instruction pointer, at a return what has_func_ip gives, or 0; of the kernel what the
	 * counter's map has.
	 */
	int32_t ip_offset;
	bool marks_cut; /* strings that are longer than their member end in "..." */
};

struct prologue {
	struct bpf_insn *insns;
	size_t n;
};

void prologue_deinit(struct prologue *prologue);
#define _cleanup_prologue_ _cleanup_(prologue_deinit)

/* No struct NAME is larger; what the program itself has on its stack comes out of these 512. */
#define PROLOGUE_MAX_STRUCT 480

/*
 * out is all zero. E2BIG: more than fits on the stack or into three registers;
 * EINVAL: a fetch program that is none (an empty stack, an unknown register);
 * EOPNOTSUPP: one that no BPF program can compute. The error names the argument.
 */
struct error *prologue_build(const struct fetch_value *values, size_t n,
			     const struct prologue_way *way, const struct prologue_shape *shape,
			     struct prologue *out);

/* The program of the second probe; address: the function's first instruction in the image. */
struct error *prologue_entry_program(const struct regs *regs, uint64_t address, int map_fd,
				     struct prologue *out);

/* Of which values some load could be direct: what may be tried in way.direct. */
uint64_t prologue_direct(const struct fetch_value *values, size_t n,
			 const struct prologue_way *way);

/*
 * Why these values cannot be fetched in this way, though perhaps in another; NULL:
 * they can. Whatever is in the way of all of them prologue_build() tells.
 */
const char *prologue_obstacle(const struct fetch_value *values, size_t n,
			      const struct prologue_way *way);

#endif
