/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bytes of a function's machine code: from the file that ran or was loaded into the kernel,
 * from what the recording has of a BPF program, from a JIT compiler, or from the running kernel.
 */
#ifndef PB_PERF_ANNOTATE_FUNCTION_CODE_H
#define PB_PERF_ANNOTATE_FUNCTION_CODE_H

#include "perf/annotate/address_counts.h"
#include "perf/resolve/code_bytes.h"

struct function_code {
	const uint8_t *bytes; /* the file's */
	size_t size;
	uint64_t address;	    /* of the first, as the file has it */
	uint16_t machine;	    /* EM_… */
	const struct bpf_code *bpf; /* of a BPF program; NULL: it is not one */
	bool in_kernel;		    /* addresses are the kernel's own, of all that is loaded */
	const struct module_code *module; /* of a file that was not linked; NULL: it was */
};

/*
 * ENOENT: the file is not there; ESTALE: it is another build; ENODATA: it has no such code, or
 * nothing has it; EFBIG: it is too large.
 */
struct error *function_code_find(struct code_files *files, struct resolver *r,
				 const struct counted_function *f, struct function_code *out);

#endif
