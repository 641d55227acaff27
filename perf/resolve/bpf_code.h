/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of a function of a BPF program as the recording has it in BPF_PROG_INFO: the machine
 * code, the BPF instructions that it was made of, and the table that leads from source lines to
 * both. The texts of the lines are in the program's BTF.
 */
#ifndef PB_PERF_RESOLVE_BPF_CODE_H
#define PB_PERF_RESOLVE_BPF_CODE_H

#include "perf/data/data.h"

struct btf;

struct bpf_code {
	const struct data_bpf_prog *prog;
	bool swap;	  /* its integers are in the other byte order */
	struct btf *btf;  /* owned; NULL: the recording does not have it */
	uint16_t machine; /* EM_… */
	uint64_t address; /* where the kernel had the function */
	const uint8_t *bytes;
	size_t size;
	size_t n_lines; /* of the whole program, by address */
};

/* out is all zero. ENODATA: the recording does not have it; EBADMSG: its arrays do not fit. */
struct error *bpf_code_find(const struct data_header *header, uint64_t address,
			    struct bpf_code *out);
void bpf_code_deinit(struct bpf_code *code);

struct bpf_code_line {
	uint64_t address;	 /* of its machine code */
	uint32_t insn;		 /* its first BPF instruction, in slots of the program */
	uint32_t number;	 /* in its file; 0: the compiler's own */
	const char *file, *text; /* "": not known */
};

/* The i-th line; false: the recording has no such line. */
bool bpf_code_line(const struct bpf_code *code, size_t i, struct bpf_code_line *out);

/* EM_… of a kernel, by the name that uname(2) has for it; NULL: this one's. */
uint16_t bpf_code_machine(const char *arch);

/* The kernel's address of the i-th function of the program; 0: there is none. */
uint64_t bpf_code_function(const struct bpf_code *code, size_t i);

#endif
