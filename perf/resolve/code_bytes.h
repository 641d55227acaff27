/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine code at an address: from the file that ran or was loaded into the kernel, from what
 * the recording has of a BPF program, from what a JIT compiler has written, or from the memory of
 * the running kernel. Each file is read once.
 */
#ifndef PB_PERF_RESOLVE_CODE_BYTES_H
#define PB_PERF_RESOLVE_CODE_BYTES_H

#include "lib/base/hash.h"
#include "perf/resolve/bpf_code.h"
#include "perf/resolve/module_code.h"
#include "perf/resolve/resolve.h"

struct code_files {
	struct u64map by_dso;  /* struct dso * to struct elf_file * */
	struct u64map modules; /* struct dso * to struct module_code * */
	struct strbuf running; /* of the last function of the kernel */
	struct bpf_code bpf;   /* of the last program */
};

void code_files_deinit(struct code_files *files);

struct code_bytes {
	const uint8_t *bytes; /* the file's; of programs and the kernel: until the next call */
	size_t size;	      /* to the end of the section, or of the program's function */
	uint64_t address;     /* of the first, as the file has it */
	uint16_t machine;     /* EM_… */
	bool in_kernel;	      /* addresses are the kernel's own, of all that is loaded */
	const struct module_code *module; /* of a file that was not linked; NULL: it was */
};

/*
 * From a location on, whose map is set; a symbol is needed for modules and the memory of the
 * kernel. ENOENT: the file is not there; ESTALE: it is another build; ENODATA: it has no such code,
 * or nothing has it.
 */
struct error *code_bytes_find(struct code_files *files, struct resolver *r,
			      const struct location *at, struct code_bytes *out);

#endif
