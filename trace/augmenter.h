/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program of the user that copies what the arguments of system calls point to, and that can leave
 * calls out, in the form of perf trace's augmented_raw_syscalls.c, where it is now built in:
 *
 *	__augmented_syscalls__		a PERF_EVENT_ARRAY: what the program puts out
 *	SEC("raw_syscalls:sys_enter")	runs at each entry, and calls by syscalls_sys_enter
 *	syscalls_sys_enter		a PROG_ARRAY by the number of the call; filled here with
 *	SEC("!syscalls:sys_enter_NAME")	  the program of that call, or of one whose arguments that
 *					  are pointers have the same types, or
 *	SEC("!raw_syscalls:unaugmented")  the one of those that have none
 *	syscalls			an ARRAY by number: whether the call is traced, and how many
 *					bytes of its strings are copied
 *	pids_filtered			a HASH: excluded processes
 *
 * All but the first two may be missing. What is put out is struct syscall_enter_args (8 bytes, the
 * number, six arguments), then for each argument that is a string, in their order, its size with
 * the NUL, an error, and the bytes; or a structure as it is.
 *
 * A call of which nothing is put out is shown only if the program returns 1: then
 * the entry itself is a sample, UNAUGMENTED_EVENT, which begins as what is put out.
 *
 *	TRY(augmenter_open("augment.bpf.c", compile, log, &a));	// NULL: it is another object
 *	TRY(augmenter_load(a, table, calls));
 *	… the events of a's map are filled: augmenter_map() …
 *	TRY(augmenter_start(a));
 *	… augmenter_note() for each sample of the map, augmenter_apply() for each call …
 */
#ifndef PB_TRACE_AUGMENTER_H
#define PB_TRACE_AUGMENTER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "syscalls/call_table.h"

struct augmenter;
struct compile_opts;

/* *out is NULL if the object has no map __augmented_syscalls__. path, a .c or .o, is borrowed. */
struct error *augmenter_open(const char *path, const struct compile_opts *compile,
			     const struct log *log, struct augmenter **out);
void augmenter_free(struct augmenter *a);
DEFINE_FREEP(struct augmenter, augmenter_free)

/* calls: TRACE_ABIS * TRACE_NRS, which are traced; borrowed. */
struct error *augmenter_load(struct augmenter *a, const struct call_table *table,
			     const struct trace_call *calls, const pid_t *exclude,
			     size_t n_exclude);

/* The descriptor of __augmented_syscalls__, and its entries. */
int augmenter_map(const struct augmenter *a, uint32_t *entries);

struct error *augmenter_start(struct augmenter *a);
void augmenter_stop(struct augmenter *a);

/*
 * What the program put out at the entry of a call of the thread, or the entry that it let through,
 * before that call's record.
 */
struct error *augmenter_note(struct augmenter *a, uint32_t tid, uint64_t time, const void *payload,
			     size_t size);

/*
 * The record with what was put out in place of what trace copied of the same arguments; the
 * caller's. *out is left as it is if nothing was put out for the call. *filtered: the program
 * neither put it out nor let it through.
 */
struct error *augmenter_apply(struct augmenter *a, const struct trace_record *rec,
			      struct trace_record **out, bool *filtered);

#endif
