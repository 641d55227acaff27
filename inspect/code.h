/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A loaded program's code: the BPF instructions as the kernel has them after
 * verification ("xlated"), and the machine code made of them ("jited"), with
 * functions and source lines by BTF, and with the names of what is called.
 *
 *	TRY(code_read(fd, log, &code));
 *	err = code_xlated(code, &opts, &out);
 *	code_free(code);
 */
#ifndef PB_INSPECT_CODE_H
#define PB_INSPECT_CODE_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"

struct code_opts {
	bool json;    /* an array of instructions, or of functions: the members are bpftool's */
	bool linum;   /* lines with file, number and column */
	bool opcodes; /* the bytes below each instruction */
};

struct code;

/*
 * Reads it all; fd is the caller's. What is missing for the names alone is said
 * to log as a warning: BTF that cannot be read, hidden kernel symbols.
 */
struct error *code_read(int fd, const struct log *log, struct code **out);
void code_free(struct code *code);
DEFINE_FREEP(struct code, code_free)

/* EPERM: the kernel hides it. */
struct error *code_xlated(struct code *code, const struct code_opts *opts, struct strbuf *out);

/* The flow of each function as a graph in the DOT language. */
struct error *code_xlated_dot(struct code *code, struct strbuf *out);

/*
 * ENODATA: the program was not compiled; EPERM: the kernel hides it; ENOTSUP:
 * there is no disassembler for this machine.
 */
struct error *code_jited(struct code *code, const struct code_opts *opts, struct strbuf *out);

/* The bytes, borrowed from code. Errors as above. */
struct error *code_image(const struct code *code, bool jited, const void **data, size_t *size);

#endif
