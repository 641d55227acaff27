/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tracefs: the kernel's tracepoints by name
 * (Documentation/trace/events.rst, "events/SYSTEM/NAME/{id,format}").
 */
#ifndef PB_SYS_TRACEFS_H
#define PB_SYS_TRACEFS_H

#include <stdint.h>

#include "lib/sys/sys.h"

/*
 * The tree's folder, the caller's string: roots->tracefs where that is set;
 * else where tracefs is mounted (/sys/kernel/tracing, or below debugfs);
 * else it is mounted at /sys/kernel/tracing, which takes root. The error says
 * what to type.
 */
struct error *sys_tracefs_dir(const struct sys_roots *roots, char **dir);

/* A file of the tree, whole; the caller's. size may be NULL. */
struct error *sys_tracefs_read(const struct sys_roots *roots, const char *file, size_t max,
			       char **data, size_t *size);

/* Hints how to get access to the directory, if the error is a refusal. NULL stays NULL. */
struct error *sys_hint_tracefs(struct error *err, const struct sys_roots *roots, const char *dir,
			       bool write);

/* attr.config of PERF_TYPE_TRACEPOINT. ENOENT with near names: no such one. */
struct error *sys_tracepoint_id(const struct sys_roots *roots, const char *system, const char *name,
				uint64_t *id);
/* The text of its format file; the caller's. */
struct error *sys_tracepoint_format(const struct sys_roots *roots, const char *system,
				    const char *name, char **text, size_t *size);
/* Whether it exists; false too when tracefs cannot be read. */
bool sys_tracepoint_exists(const struct sys_roots *roots, const char *system, const char *name);

/* Added to *systems, sorted. */
struct error *sys_tracepoint_systems(const struct sys_roots *roots, struct names *systems);
/* The events of one system, without its name; added, sorted. */
struct error *sys_tracepoint_events(const struct sys_roots *roots, const char *system,
				    struct names *events);
/* Adds "SYSTEM:NAME" of all that can be perf events, sorted; by one file, for lists of thousands.
 */
struct error *sys_tracepoint_all(const struct sys_roots *roots, struct names *found);
/*
 * Adds each "SYSTEM:NAME" that matches both globs, sorted. None at all is
 * ENOENT with near names.
 */
struct error *sys_tracepoint_match(const struct sys_roots *roots, const char *system_glob,
				   const char *name_glob, struct names *found);

#endif
