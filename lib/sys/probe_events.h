/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Probes made through tracefs (uprobe_events, kprobe_events): trace events of
 * their own, for kernels without the PMUs "uprobe" and "kprobe" (before 4.17),
 * and where a caller asks for it. One lives at the longest until its process
 * has ended, also by kill -9.
 */
#ifndef PB_SYS_PROBE_EVENTS_H
#define PB_SYS_PROBE_EVENTS_H

#include <stdint.h>

#include "lib/sys/sys.h"

struct sys_probe;

struct sys_probe_spec {
	bool in_kernel;	   /* a kprobe; else a uprobe */
	bool at_return;	   /* of the function that begins there */
	const char *place; /* kernel: a function or "0x…"; else a file's path */
	uint64_t offset;   /* from the function, or in the file */
	uint64_t ref_ctr_offset;
	const char *label; /* for people who read the list of probes: part of its name */
};

/* Whether this kernel's tracefs has the file that such probes are made by. */
bool sys_probe_possible(const struct sys_roots *roots, bool in_kernel);

/*
 * The errno is the kernel's for the place, as from the PMUs; EOPNOTSUPP: this
 * kernel's tracefs makes no such probes.
 */
struct error *sys_probe_make(const struct sys_roots *roots, const struct sys_probe_spec *spec,
			     struct sys_probe **probe);
/* attr.config of its tracepoint. */
uint64_t sys_probe_id(const struct sys_probe *probe);
/* Takes it away; what still uses it (an open event of a child) keeps it until its end. */
void sys_probe_free(struct sys_probe *probe);
DEFINE_FREEP(struct sys_probe, sys_probe_free)
#define _cleanup_probe_ _cleanup_(sys_probe_freep)
/* Frees the handle only: the probe goes with this process. */
void sys_probe_leave(struct sys_probe *probe);

#endif
