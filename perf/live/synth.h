/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What runs already, as the records that the kernel would have written for it:
 * for a recording's begin, and for a live session.
 *
 *	struct synth s = {.attr = &attr, .write = write, .ctx = ctx};
 *	synth_kernel(&s);
 *	TRY(synth_processes(&s));
 *	TRY(synth_flush(&s, true));
 *	strbuf_deinit(&s.out);
 */
#ifndef PB_PERF_LIVE_SYNTH_H
#define PB_PERF_LIVE_SYNTH_H

#include <sys/types.h>

#include "lib/base/log.h"
#include "lib/base/strbuf.h"
#include "lib/sys/sys.h"

struct perf_event_attr;
struct sys_map;

struct synth {
	const struct log *log;
	const struct sys_roots *roots;	    /* NULL: the running system */
	const struct perf_event_attr *attr; /* its sample_id fields end each record, all 0 */
	bool data_maps;			    /* also mappings that are not executable */
	bool namespaces;		    /* those of each thread */
	bool no_programs;		    /* without BPF programs */
	bool no_tasks, no_maps;		    /* of processes */
	/* Takes whole records, at each process once there are enough of them. */
	struct error *(*write)(void *ctx, const void *records, size_t size);
	/* The build id of a mapped file, for its record; 0: none, or not known. NULL: of no file.
	 */
	size_t (*build_id)(void *ctx, const struct sys_map *map, const char *path, uint8_t id[20]);
	void *ctx;
	bool images; /* with code that the kernel has made for programs; reads all of kallsyms */
	struct strbuf out; /* records that were not written yet; the caller frees it */
};

/* The kernel's text, its modules, the BPF programs and the code that the kernel made for them. */
void synth_kernel(struct synth *s);
/* The cgroups of perf events, each by its id. */
void synth_cgroups(struct synth *s);
/* All processes, or one, with their threads, names and maps. */
struct error *synth_processes(struct synth *s);
struct error *synth_process(struct synth *s, pid_t pid);
/* One thread; nothing where it has ended. */
void synth_thread(struct synth *s, pid_t pid, pid_t tid);
/* Writes what waits, with `all` however little it is. */
struct error *synth_flush(struct synth *s, bool all);

#endif
