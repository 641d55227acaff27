/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files about a program's code share. */
#ifndef PB_INSPECT_CODE_INTERNAL_H
#define PB_INSPECT_CODE_INTERNAL_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "disasm/disasm.h"
#include "inspect/code.h"
#include "lib/base/json_writer.h"
#include "lib/base/vec.h"
#include "lib/sys/prog_info.h"
#include "sym/sym.h"

struct map_name {
	uint32_t id;
	char name[BPF_OBJ_NAME_LEN];
};

struct code {
	struct sys_prog_info prog;
	struct btf *btf;		  /* NULL: the program has none */
	struct btf *vmlinux;		  /* read when a kfunc asks for it */
	struct bpf_prog_linfo *lines;	  /* NULL: none */
	struct kallsyms *kallsyms;	  /* NULL: hidden */
	struct symtab *kernel, *programs; /* NULL: none; they borrow from kallsyms */
	uint64_t call_base; /* __bpf_call_base: what calls of helpers count from; 0: unknown */
	VEC(struct map_name) maps;
};

/* The instructions' names in this program. */
struct disasm_names code_names(struct code *code);

/* "int sub(int a)"; false: BTF does not tell. */
bool code_add_prototype(const struct code *code, uint32_t type, struct strbuf *out);

/* The function that begins at the instruction, or the index-th; NULL: none is known. */
const struct bpf_func_info *code_function_at(const struct code *code, uint32_t insn);
const struct bpf_func_info *code_function(const struct code *code, uint32_t index);

/* The symbol that begins at addr, of the kernel or of a program; NULL: none. */
const char *code_symbol(struct code *code, uint64_t addr);

/*
 * The line as text, "; SOURCE\n", or with opts->json as members "src" and others
 * of an instruction's object in w; nothing without BTF.
 */
void code_add_line(const struct code *code, const struct bpf_line_info *line,
		   const struct code_opts *opts, struct json_writer *w);

/* "NAME":["0x01",…] */
void code_add_bytes_json(struct json_writer *w, const char *name, const uint8_t *data, size_t n);

#endif
