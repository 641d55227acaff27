/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of what programs count by number: processes, users, cgroups, the
 * kernel's functions. Each is looked up once; what has no name any more (a
 * process that ended) gives none.
 */
#ifndef PB_RUN_NAMES_H
#define PB_RUN_NAMES_H

#include "lib/base/strbuf.h"
#include "lib/sys/sys.h"
#include "run/fields.h"

struct run_names;

/* roots NULL: the running system. NULL: no memory. */
struct run_names *run_names_new(const struct sys_roots *roots);
void run_names_free(struct run_names *names);
DEFINE_FREEP(struct run_names, run_names_free)

/*
 * Forgets the processes, whose ids come back; called before each look at the
 * maps of a program that runs for long. Those seen before they ended keep
 * their names until their ids are somebody else's.
 */
void run_names_refresh(struct run_names *names);

/* A process that may end soon, or has and was not waited for yet: its name is looked up now. */
void run_names_see(struct run_names *names, uint32_t pid);

/*
 * Adds what people read in place of a field's number, "dd(3237)" for a
 * process; false: the number is all there is. btf is for enums, and may be
 * NULL for others.
 */
bool run_name_add(struct run_names *names, const struct btf *btf, const struct field *field,
		  const void *data, struct strbuf *out);

/*
 * The kernel's function at an address: of the kernel ("[kernel]"), a module
 * ("[ext4]") or a BPF program ("[bpf]"). The texts live as long as names.
 * false: none is known, and nothing is written.
 */
bool run_ksym_find(struct run_names *names, uint64_t addr, const char **name, const char **module,
		   uint64_t *offset);

#endif
