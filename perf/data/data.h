/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.data: the header with its features, read and written over one
 * description of the format (tools/perf/Documentation/perf.data-file-format.txt).
 * The parser makes no system call: it is given bytes.
 */
#ifndef PB_PERF_DATA_DATA_H
#define PB_PERF_DATA_DATA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "lib/base/error.h"

/* Feature bits of the header, HEADER_* in perf. */
enum data_feature {
	DATA_TRACING_DATA = 1,
	DATA_BUILD_ID = 2,
	DATA_HOSTNAME = 3,
	DATA_OSRELEASE = 4,
	DATA_VERSION = 5,
	DATA_ARCH = 6,
	DATA_NRCPUS = 7,
	DATA_CPUDESC = 8,
	DATA_CPUID = 9,
	DATA_TOTAL_MEM = 10,
	DATA_CMDLINE = 11,
	DATA_EVENT_DESC = 12,
	DATA_CPU_TOPOLOGY = 13,
	DATA_NUMA_TOPOLOGY = 14,
	DATA_BRANCH_STACK = 15,
	DATA_PMU_MAPPINGS = 16,
	DATA_GROUP_DESC = 17,
	DATA_AUXTRACE = 18,
	DATA_STAT = 19,
	DATA_CACHE = 20,
	DATA_SAMPLE_TIME = 21,
	DATA_MEM_TOPOLOGY = 22,
	DATA_CLOCKID = 23,
	DATA_DIR_FORMAT = 24,
	DATA_BPF_PROG_INFO = 25,
	DATA_BPF_BTF = 26,
	DATA_COMPRESSED = 27,
	DATA_CPU_PMU_CAPS = 28,
	DATA_CLOCK_DATA = 29,
	DATA_HYBRID_TOPOLOGY = 30,
	DATA_PMU_CAPS = 31,
	DATA_LAST_FEATURE,
};

struct data_header; /* the decoded header; see reader.h */

#endif
