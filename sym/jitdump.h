/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jit-PID.dump: what a JIT compiler writes for profilers: names, code and source lines of the
 * functions that it has made (tools/perf/Documentation/jitdump-specification.txt). The compiler
 * maps the file, so a recording has its path.
 */
#ifndef PB_SYM_JITDUMP_H
#define PB_SYM_JITDUMP_H

#include <sys/types.h>

#include "sym/sym.h"

struct jitdump;

/*
 * Errors of a file as symtab_load_perf_map(). EBADMSG: it is not a dump; ENODATA: it has no code.
 * A dump that ends within a record is read up to there.
 */
struct error *jitdump_load(const char *path, uid_t owner, size_t room, struct jitdump **out);
/* The same of bytes in memory, which are borrowed; author: whose file it was. */
struct error *jitdump_parse(const void *bytes, size_t size, uid_t author, struct jitdump **out);
void jitdump_free(struct jitdump *dump);
DEFINE_FREEP(struct jitdump, jitdump_free)

/* Its functions by address; the names are copied. Of several at one address, the last one. */
struct error *jitdump_symtab(const struct jitdump *dump, struct symtab **out);
/* The memory of the dump, in bytes. */
size_t jitdump_memory(const struct jitdump *dump);

struct jit_function {
	uint64_t start;
	const uint8_t *code; /* size bytes */
	size_t size;
	uint16_t machine; /* EM_… */
};

/* The function at an address; false: there is none. What it points to is the dump's. */
bool jitdump_function(const struct jitdump *dump, uint64_t address, struct jit_function *out);
/* The source line at an address; false: the compiler did not write it. */
bool jitdump_line(const struct jitdump *dump, uint64_t address, const char **file, uint32_t *line);
/* Who wrote the dump. */
uid_t jitdump_author(const struct jitdump *dump);

#endif
