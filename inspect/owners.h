/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who holds what is loaded: the processes with a descriptor of it, as
 * /proc/PID/fdinfo shows them ("map_id:", "prog_id:", "link_id:", "btf_id:").
 * Processes that we have no right to look into are left out.
 */
#ifndef PB_INSPECT_OWNERS_H
#define PB_INSPECT_OWNERS_H

#include "inspect/find_object.h"
#include "lib/sys/proc.h"

struct owner {
	enum kobj_kind kind;
	uint32_t id;
	pid_t pid;
	char comm[16];
};

/* Sorted by kind, id and pid, each pid once. */
struct owners {
	struct owner *v;
	size_t n;
	size_t cap;
};

void owners_deinit(struct owners *owners);
#define _cleanup_owners_ __attribute__((cleanup(owners_deinit)))

struct error *owners_find(const struct sys_roots *roots, struct owners *owners);

/* The first of that object; *n of them follow each other. */
const struct owner *owners_of(const struct owners *owners, enum kobj_kind kind, uint32_t id,
			      size_t *n);

/* A field of /proc/self/fdinfo/FD, "memlock" or "frozen"; false: it has none. */
bool fdinfo_u64(int fd, const char *field, uint64_t *value);

#endif
