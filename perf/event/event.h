/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of the perf ABI, as a kernel ring and the data section of perf.data
 * hold them: decoding and encoding, without a system call.
 *
 * Sources: struct perf_event_attr and enum perf_event_type in
 * include/uapi/linux/perf_event.h; man 2 perf_event_open; for the types from
 * 64 on, tools/perf/Documentation/perf.data-file-format.txt.
 *
 * A decoded record borrows the bytes it was decoded from.
 */
#ifndef PB_PERF_EVENT_EVENT_H
#define PB_PERF_EVENT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/base/cursor.h"
#include "lib/base/error.h"
#include "lib/sys/uapi.h"

/* Types that perf itself writes (PERF_RECORD_USER_TYPE_START is 64). */
enum {
	RECORD_HEADER_ATTR = 64,
	RECORD_HEADER_EVENT_TYPE = 65,
	RECORD_HEADER_TRACING_DATA = 66,
	RECORD_HEADER_BUILD_ID = 67,
	RECORD_FINISHED_ROUND = 68,
	RECORD_ID_INDEX = 69,
	RECORD_AUXTRACE_INFO = 70,
	RECORD_AUXTRACE = 71,
	RECORD_AUXTRACE_ERROR = 72,
	RECORD_THREAD_MAP = 73,
	RECORD_CPU_MAP = 74,
	RECORD_STAT_CONFIG = 75,
	RECORD_STAT = 76,
	RECORD_STAT_ROUND = 77,
	RECORD_EVENT_UPDATE = 78,
	RECORD_TIME_CONV = 79,
	RECORD_HEADER_FEATURE = 80,
	RECORD_COMPRESSED = 81,
	RECORD_FINISHED_INIT = 82,
	RECORD_COMPRESSED2 = 83,
	RECORD_BPF_METADATA = 84,
	RECORD_SCHEDSTAT_CPU = 85,
	RECORD_SCHEDSTAT_DOMAIN = 86,
	RECORD_MAX = 87, /* of perf 7.2 */
};

/* The field a RECORD_EVENT_UPDATE sets, PERF_EVENT_UPDATE__* in perf. */
enum { EVENT_UPDATE_UNIT, EVENT_UPDATE_SCALE, EVENT_UPDATE_NAME, EVENT_UPDATE_CPUS };

/* In the misc of a RECORD_HEADER_BUILD_ID: the byte behind the id is its size. */
#define RECORD_MISC_BUILD_ID_SIZE (1 << 15)

/* In the misc of LOST_SAMPLES, by perf since Linux 6.3: a BPF filter dropped them. */
#define RECORD_MISC_LOST_SAMPLES_BPF (1 << 15)

/* The bytes of 64-bit words that may be unaligned and in the other byte order. */
struct u64_array {
	const uint8_t *bytes;
	uint64_t n; /* words */
	bool swap;
};

static inline uint64_t u64_array_at(const struct u64_array *a, uint64_t i)
{
	uint64_t v;

	memcpy(&v, a->bytes + i * 8, 8);
	return a->swap ? bswap_64(v) : v;
}

/*
 * A sample, or the sample_id fields at the end of another record. Only what
 * `has` names (PERF_SAMPLE_* bits) is meaningful; the rest is 0, but pid, tid
 * and cpu are -1, time is 0.
 */
struct sample {
	uint64_t has;
	uint64_t ip;
	int32_t pid, tid;
	uint64_t time; /* ns of the event's clock */
	uint64_t addr;
	uint64_t id; /* from PERF_SAMPLE_ID or _IDENTIFIER */
	uint64_t stream_id;
	int32_t cpu;
	uint64_t period; /* attr's fixed period where the sample has none */
	uint8_t cpumode; /* PERF_RECORD_MISC_KERNEL, _USER, … of the header */
	uint16_t misc;
	struct u64_array chain; /* ips and PERF_CONTEXT_* markers, innermost first */
	bool is_unwound;	/* frames at the chain's end come from the copy of the stack */
	const void *raw;	/* PERF_SAMPLE_RAW's bytes, in the file's byte order */
	uint32_t raw_size;
	struct u64_array read;	   /* PERF_SAMPLE_READ, the words as read_format lays them out */
	struct u64_array branches; /* 3 words each */
	uint64_t branch_hw_idx;
	uint64_t user_regs_abi;
	struct u64_array user_regs;
	uint64_t intr_regs_abi;
	struct u64_array intr_regs;
	const void *user_stack;
	uint64_t user_stack_size; /* the dynamic size: what was really written */
	uint64_t weight;	  /* as recorded: see sample_weight() */
	uint64_t data_src;
	uint64_t transaction;
	uint64_t phys_addr;
	uint64_t data_page_size;
	uint64_t code_page_size;
	uint64_t cgroup;
};

/* With PERF_SAMPLE_WEIGHT_STRUCT, a weight is the low half of its word. */
static inline uint64_t sample_weight(const struct sample *sample)
{
	return sample->has & PERF_SAMPLE_WEIGHT_STRUCT ? (uint32_t)sample->weight : sample->weight;
}

/* The latency of the instruction in cycles, which is in the next 16 bits, as on x86; 0: unknown. */
static inline uint16_t sample_ins_lat(const struct sample *sample)
{
	return sample->has & PERF_SAMPLE_WEIGHT_STRUCT ? (uint16_t)(sample->weight >> 32) : 0;
}

/* The cycles from then until the instruction was retired, likewise; 0: unknown. */
static inline uint16_t sample_retire_lat(const struct sample *sample)
{
	return sample->has & PERF_SAMPLE_WEIGHT_STRUCT ? (uint16_t)(sample->weight >> 48) : 0;
}

/*
 * Whether the sample's call chain is to be made from a copy of its stack (record --call-graph
 * dwarf) and the kernel gave none of it: it is known of no frame but its own.
 */
bool sample_has_only_stack(const struct sample *sample);

/*
 * Decodes the body of a PERF_RECORD_SAMPLE of an event with this attr; c
 * spans the whole record, header included.
 */
struct error *sample_decode(const struct perf_event_attr *attr, struct cursor c,
			    struct sample *out);

/*
 * The same, faster, for the many samples of one event: what the attr asks for
 * is looked at once. With swap, records are in the other byte order.
 */
struct sample_layout {
	const struct perf_event_attr *attr; /* outlives the layout */
	bool swap;
	uint64_t type;	 /* attr->sample_type */
	uint32_t fixed;	 /* bytes of header and fixed words, which every sample has */
	uint32_t id_all; /* bytes of the sample_id fields of other records; 0: none */
	int8_t ip, tid, time, addr, id, stream_id, cpu, period; /* words from the body; -1: none */
	int8_t back_tid, back_time, back_id, back_stream_id, back_cpu; /* words from the end */
};
void sample_layout_init(struct sample_layout *layout, const struct perf_event_attr *attr,
			bool swap);
/* false: the record is shorter than its event says; sample_decode() tells where. */
bool sample_layout_decode(const struct sample_layout *layout, const void *rec, size_t size,
			  struct sample *out);
/* The sample_id fields of a record that is no sample. */
bool sample_layout_id_decode(const struct sample_layout *layout, const void *rec, size_t size,
			     struct sample *out);

/*
 * Where the id stands when several attrs share a stream: for a sample, words
 * from the body's start; for others, words back from the record's end. -1:
 * these events' records hold no id.
 */
int sample_id_pos(const struct perf_event_attr *attr);
int sample_id_pos_back(const struct perf_event_attr *attr);

/* Bytes of the sample_id fields that this attr appends to other records. */
size_t sample_id_size(const struct perf_event_attr *attr);

/* Kernel records other than samples, decoded; strings point into the record. */
struct record_mmap { /* MMAP and MMAP2 */
	int32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint32_t prot, flags;	 /* prot is PROT_EXEC for MMAP without MISC_MMAP_DATA */
	const uint8_t *build_id; /* NULL: the record holds none */
	uint8_t build_id_size;
	const char *filename;
};

struct record_comm {
	int32_t pid, tid;
	const char *comm;
	bool exec; /* PERF_RECORD_MISC_COMM_EXEC */
};

struct record_task { /* FORK and EXIT */
	int32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct record_lost { /* LOST and LOST_SAMPLES (then id comes from the sample id) */
	uint64_t id;
	uint64_t lost;
};

struct record_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t type; /* PERF_RECORD_KSYMBOL_TYPE_* */
	uint16_t flags;
	const char *name;
};

struct record_bpf_event {
	uint16_t type; /* PERF_BPF_EVENT_* */
	uint16_t flags;
	uint32_t id;	    /* of the program */
	const uint8_t *tag; /* 8 bytes */
};

struct record_cgroup {
	uint64_t id; /* in samples: sample.cgroup */
	const char *path;
};

struct record_namespaces {
	int32_t pid, tid;
	struct u64_array links; /* 2 words each, a device and an inode, in the kernel's order */
};

/* Code of the kernel that it has changed: old_len bytes were replaced by new_len. */
struct record_text_poke {
	uint64_t addr;
	uint16_t old_len, new_len;
	const uint8_t *bytes; /* the old ones, then the new ones */
};

/* "net", "uts", …: which namespace the link is of; "unknown" for later ones. */
const char *namespace_name(uint64_t link);

/* The header, in the host's byte order; false: fewer than 8 bytes are left. */
bool record_header_peek(const struct cursor *c, struct perf_event_header *out);

/* Each takes a cursor over the whole record, header included. */
struct error *record_mmap_decode(struct cursor c, struct record_mmap *out);
struct error *record_comm_decode(struct cursor c, struct record_comm *out);
struct error *record_task_decode(struct cursor c, struct record_task *out);
struct error *record_lost_decode(struct cursor c, struct record_lost *out);
struct error *record_ksymbol_decode(struct cursor c, struct record_ksymbol *out);
struct error *record_bpf_event_decode(struct cursor c, struct record_bpf_event *out);
struct error *record_cgroup_decode(struct cursor c, struct record_cgroup *out);
struct error *record_namespaces_decode(struct cursor c, struct record_namespaces *out);
struct error *record_text_poke_decode(struct cursor c, struct record_text_poke *out);

/* "SAMPLE", "MMAP2", …; NULL: no such type is known. */
const char *record_type_name(uint32_t type);

#endif
