/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of a recording as text, as perf script --header writes it. */
#ifndef PB_PERF_PRINT_HEADER_H
#define PB_PERF_PRINT_HEADER_H

#include "lib/base/strbuf.h"
#include "perf/data/data.h"
#include "perf/session/session.h"

/*
 * path is the file's, for its time and layout; "-" is a pipe. The features of a pipe are known once
 * its first sample was read. topology: print the CPUs, caches and memory of the machine, perf's -I.
 */
void print_header(const struct data_header *h, const char *path, bool topology, struct strbuf *out);

/* What a FEATURE record of a pipe says, as the header has it. */
void print_feature_record(const struct data_header *h, const struct record *rec, bool topology,
			  struct strbuf *out);

/*
 * CPU_TOPOLOGY, NUMA_TOPOLOGY, CACHE or MEM_TOPOLOGY, which the header has; false: it is damaged,
 * or of another kind, and nothing was printed.
 */
bool print_topology(const struct data_header *h, unsigned int feature, struct strbuf *out);

/* The socket of a CPU; false: the recording does not say it. */
bool topology_socket(const struct data_header *h, uint32_t cpu, uint32_t *socket);

#endif
