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

#include "lib/base/cursor.h"
#include "lib/base/error.h"
#include "lib/base/log.h"
#include "lib/sys/prog_info.h"

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
	DATA_E_MACHINE = 33, /* of perf 7.2, as CLN_SIZE; 32 is CPU_DOMAIN_INFO */
	DATA_CLN_SIZE = 34,
	DATA_LAST_FEATURE,
	DATA_FEATURE_BITS = 256, /* room in the header */
};

/* "HOSTNAME", …; NULL: no such feature is known. */
const char *data_feature_name(unsigned int feature);

/* Bytes within the file, which outlives what points into it. */
struct data_bytes {
	const uint8_t *p; /* NULL: absent */
	size_t size;
};

/* One event of the file. */
struct data_event {
	struct perf_event_attr attr; /* host byte order; members newer than the file are 0 */
	char *name;		     /* from EVENT_DESC or EVENT_UPDATE; NULL: the file has none */
	uint64_t *ids;
	size_t n_ids;
};

struct data_build_id {
	uint16_t misc; /* PERF_RECORD_MISC_USER, _KERNEL, … */
	int32_t pid;
	uint8_t id[20];
	uint8_t size;
	const char *filename;
};

/* A capability of a PMU, as in its directory caps in sysfs. */
struct data_pmu_cap {
	unsigned int feature; /* DATA_CPU_PMU_CAPS or DATA_PMU_CAPS */
	const char *pmu;
	const char *name, *value; /* NULL: the PMU has no capabilities */
};

struct data_pmu {
	uint32_t type;
	const char *name;
};

/* Events that stand one behind the other; groups do not overlap. */
struct data_group {
	const char *name;   /* "" when the user gave none */
	uint32_t leader;    /* index of the first event */
	uint32_t n_members; /* with the leader */
};

/* One program of BPF_PROG_INFO; its integers are in the file's byte order. */
struct data_bpf_prog {
	uint32_t id, type, btf_id;
	uint8_t tag[8];
	char name[17];
	struct data_bytes info;			   /* struct bpf_prog_info as the kernel gave it */
	struct data_bytes arrays[SYS_PROG_ARRAYS]; /* that came with it */
	uint32_t rec_size[SYS_PROG_ARRAYS];	   /* bytes of an element */
};

/* One of BPF_BTF. */
struct data_btf {
	uint32_t id;
	struct data_bytes data;
};

/*
 * A perf.data header, decoded. Strings point into the file, or are NULL when
 * the feature is absent or damaged. What a pipe brings as HEADER_FEATURE
 * records is added while it is read.
 */
struct data_header {
	bool swap;	   /* the file is in the other byte order */
	bool pipe;	   /* the pipe form: events and features come as records */
	bool unclean;	   /* the recording was killed, or data.size was never written */
	bool features_cut; /* a feature, or the table of them, is behind the end of the file */
	uint64_t missing; /* with unclean: bytes of events that the header promises; 0: not known */
	uint64_t data_offset, data_size;

	struct data_event *events;
	size_t n_events;

	struct data_bytes features[DATA_FEATURE_BITS]; /* as they stand in the file */

	const char *hostname, *osrelease, *version, *arch, *cpudesc, *cpuid;
	uint32_t cpus_available, cpus_online;
	uint64_t total_mem; /* KiB */
	const char **cmdline;
	size_t n_cmdline;
	struct data_build_id *build_ids;
	size_t n_build_ids;
	struct data_pmu *pmus;
	size_t n_pmus;
	struct data_pmu_cap *pmu_caps; /* of CPU_PMU_CAPS and PMU_CAPS */
	size_t n_pmu_caps;
	struct data_group *groups;
	size_t n_groups;
	uint64_t first_sample_time, last_sample_time; /* ns; 0: not known */
	uint64_t clockid_resolution;		      /* ns; 0: not known */
	uint64_t dir_version; /* DIR_FORMAT: the records are in further files; 0: all are here */
	uint32_t e_machine, e_flags;
	uint32_t cacheline_size;
	uint32_t clockid;
	uint64_t clock_wall_ns, clock_ns; /* CLOCK_DATA */
	struct data_bpf_prog *bpf_progs;
	size_t n_bpf_progs;
	struct data_btf *btfs;
	size_t n_btfs;
	struct {
		uint32_t version, type, level, ratio, mmap_len;
	} compressed;
	struct data_bytes tracing; /* TRACING_DATA: see data_tracing_decode() */
};

static inline bool data_has_feature(const struct data_header *h, unsigned int feature)
{
	return feature < DATA_FEATURE_BITS && h->features[feature].p;
}

/*
 * Decodes a file's header, attrs and features; bytes are the whole file and
 * outlive the result. Without events or with a header that makes no sense it
 * fails; a feature that makes no sense is warned of and left out. name is the
 * path, for errors.
 */
struct error *data_header_decode(const void *bytes, uint64_t size, const char *name,
				 const struct log *log, struct data_header *out);
void data_header_deinit(struct data_header *h);

#define DATA_PIPE_HEADER_SIZE 16
/* The first bytes of a pipe: fills swap and pipe. */
struct error *data_header_decode_pipe(struct cursor *c, struct data_header *out);
/* The bytes begin with the magic number, and they are of the pipe form. */
bool data_is_perf_data(const void *bytes, size_t size);
bool data_is_pipe(const void *bytes, size_t size);

/*
 * One feature's bytes, which outlive h; failure leaves h as it was, but for
 * features[].
 */
struct error *data_feature_decode(struct data_header *h, unsigned int feature, struct cursor c);

/* The group of two events or more that this one belongs to; NULL: none. */
const struct data_group *data_group_of(const struct data_header *h, size_t event);

/* One RECORD_HEADER_BUILD_ID, which outlives h: added to build_ids. */
struct error *data_build_id_decode(struct data_header *h, struct cursor c);

/*
 * One struct perf_event_attr as a file has it, of attr->size bytes or the
 * oldest size when that is 0, at most max; what is newer than our headers is
 * cut. The cursor moves past it.
 */
struct error *data_attr_decode(struct cursor *c, size_t max, struct perf_event_attr *out);
/* A new event of the header, zeroed; NULL: no memory. */
struct data_event *data_header_add_event(struct data_header *h);

/*
 * The perf name of an event that has no name in the file: "cpu-clock:u",
 * "cycles", "raw 0x1a8", "tracepoint 312" (an id whose name TRACING_DATA may
 * tell), …; the caller frees it; NULL: no memory.
 */
char *data_event_name(const struct perf_event_attr *attr);

/*
 * TRACING_DATA, taken apart: the texts of tracefs, which perf/print parses.
 * They point into the file.
 */
struct data_tracing_event {
	const char *system; /* "ftrace" for the formats of events/ftrace/ */
	const char *format;
	size_t format_size;
	uint64_t id;	  /* the format's "ID:" line */
	const char *name; /* not NUL-terminated: the format's "name:" line */
	size_t name_size;
};
struct data_tracing {
	bool big_endian;
	uint8_t long_size;
	uint32_t page_size;
	struct data_bytes header_page, header_event;
	struct data_tracing_event *events;
	size_t n_events;
	struct data_bytes kallsyms, printk_formats, cmdlines;
};
struct error *data_tracing_decode(struct cursor c, struct data_tracing *out);
void data_tracing_deinit(struct data_tracing *t);
/* NULL: the data holds no such tracepoint. */
const struct data_tracing_event *data_tracing_find(const struct data_tracing *t, uint64_t id);

#endif
