/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of what programs count by number: processes, users, cgroups, the
 * kernel's functions. Each is looked up once; what has no name any more (a
 * process that ended) gives none.
 */
#ifndef PB_RUN_NAMES_H
#define PB_RUN_NAMES_H

#include "lib/base/log.h"
#include "lib/base/strbuf.h"
#include "lib/sys/sys.h"
#include "run/record_fields.h"
#include "show/result.h"

struct demangler;
struct live_source;
struct record_mmap;
struct python_maps;
struct resolver;
struct run_names;

/* roots NULL: the running system. lines: frames have source lines. demangler: of
 * resolver_opts. NULL: no memory. */
struct run_names *run_names_new(const struct sys_roots *roots, bool lines,
				struct demangler *demangler);
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
 * The path of a cgroup, or of that of a process, in version 2 of cgroups (else in the first
 * hierarchy); NULL or "": not known. A process that has ended has the last one that was read;
 * of a pid that two processes had it is not known.
 */
const char *run_names_cgroup(struct run_names *names, uint64_t id);
const char *run_names_cgroup_of(struct run_names *names, uint32_t pid);

/*
 * Adds what people read in place of a field's number, "dd(3237)" for a
 * process; false: the number is all there is. btf is for enums, and may be
 * NULL for others.
 */
bool run_name_add(struct run_names *names, const struct btf *btf, const struct record_field *field,
		  const void *data, struct strbuf *out);

/*
 * Follows processes from now on, so that addresses of those that end can be
 * named too: what they map, when they exec and end.
 */
struct error *run_names_follow(struct run_names *names, const struct log *log);
/*
 * What processes that are followed do to their executable mappings, told by run_names_update():
 * map NULL: the process has ended. Failures are returned by it.
 */
typedef struct error *run_maps_fn(void *ctx, uint32_t pid, const struct record_mmap *map);
/* The same, and live_source_fd() becomes readable at once when there is something to tell. */
struct error *run_names_follow_maps(struct run_names *names, const struct log *log, run_maps_fn *fn,
				    void *ctx);
/* The processes that are followed; NULL: none are. */
struct live_source *run_names_live(const struct run_names *names);
/* Where functions of Python are found that stacks have in place of addresses; NULL: nowhere. */
void run_names_set_python(struct run_names *names, struct python_maps *python);
/* What finds their files. */
struct resolver *run_names_resolver(const struct run_names *names);
/*
 * Takes in what processes have done since. Names of functions that were handed
 * out before are not valid any more.
 */
struct error *run_names_update(struct run_names *names);

/*
 * The function of an address: of a process that is followed, as of a time
 * (CLOCK_MONOTONIC; 0: unknown), or with pid NULL of the kernel ("[kernel]"), a
 * module ("[ext4]") or a BPF program ("[bpf]"). Where there is none the name is
 * "[unknown]" and the offset the address. is_return: of a caller.
 * false: no memory; the address is a number then.
 */
bool run_frame_find(struct run_names *names, const uint32_t *pid, uint64_t time, uint64_t addr,
		    bool is_return, struct result_frame *frame);

#endif
