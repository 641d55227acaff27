/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What each command gives up, and when: see doc/security.md. With -v it says so. It never fails
 * for what the kernel does not have.
 */
#ifndef PB_CMD_PRIVILEGES_H
#define PB_CMD_PRIVILEGES_H

#include <stddef.h>

#include "lib/base/error.h"
#include "lib/base/log.h"
#include "perf/record/record.h"

/*
 * script, report and annotate, before they open anything that others may have written. outputs: the
 * files that the options name and that are written later; NULL among them: none.
 */
enum {
	READER_WAITS = 1 << 0, /* for keys of the terminal, and it can be stopped */
	READER_ASKS = 1 << 1,  /* other processes, which have the privileges below */
};
struct error *privileges_of_reader(const char *const *outputs, size_t n, unsigned needs,
				   const struct log *log);
/* The process that reads code of the kernel from a file that is open. */
struct error *privileges_of_kernel_reader(const struct log *log);
/* The process that opens perf maps below the root directories of processes. */
struct error *privileges_of_map_opener(const struct log *log);
/* Of the process that demangles names. */
struct error *privileges_of_demangler(const struct log *log);

/*
 * record, as each phase begins. buildid_dir: where RECORD_COPYING copies files to. gets_files:
 * another process passes it files, which has privileges_of_file_series().
 */
struct error *privileges_of_recorder(enum record_phase phase, const char *buildid_dir,
				     bool gets_files, const struct log *log);
/* The process that creates the files of --switch-output. */
struct error *privileges_of_file_series(const char *output, const struct log *log);

/* The process that writes files for a command; outputs as above. */
struct error *privileges_of_writer(const char *const *outputs, size_t n, const struct log *log);

/*
 * run, when its programs are attached. opens_events: on CPUs that come back. finds_maps: it opens
 * maps by their ids.
 */
struct error *privileges_of_run(bool opens_events, bool finds_maps, const struct log *log);
/*
 * trace, when all is attached. reads_processes: files of others in procfs. opens_events: of a CPU
 * that comes back. has_workload: it may have to end it.
 */
struct error *privileges_of_trace(bool reads_processes, bool opens_events, bool has_workload,
				  const struct log *log);
/* top, when its events are enabled. filters_tasks: it reads a BPF map. asks: as READER_ASKS */
struct error *privileges_of_top(bool opens_events, bool filters_tasks, bool asks,
				const struct log *log);
/* watch, when it listens; not if it runs commands, which have the rights of the user. */
struct error *privileges_of_watch(const struct log *log);

/*
 * probe, before it opens a binary. tries_programs: how a kernel function can be probed is found out
 * by loading programs that do nothing.
 */
struct error *privileges_of_probe(bool tries_programs, const struct log *log);

/* The process that finds probe points for record, run, trace and top. */
struct error *privileges_of_finder(const struct log *log);

/* What an action of map, prog, link or btf does with the objects that it finds. */
enum inspect_access {
	INSPECT_LIST = 1 << 0,	 /* it looks for the processes that use them */
	INSPECT_CHANGE = 1 << 1, /* entries, links */
	INSPECT_PIN = 1 << 2,
	INSPECT_WAIT = 1 << 3, /* it waits for a signal, a command */
	INSPECT_KILL = 1 << 4, /* it may have to end the command */
	INSPECT_FILE = 1 << 5, /* it reads a file, and no object */
};

/* Before anything is opened. output: as of privileges_of_reader(). */
struct error *privileges_of_inspector(unsigned access, const char *output, const struct log *log);

/* The process that answers requests for run --openmetrics. */
struct error *privileges_of_server(const struct log *log);

#endif
