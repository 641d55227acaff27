/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The features of a perf.data header, made from what the caller gathered:
 * values in, bytes out, ready for data_writer_feature(). Lack of memory is
 * remembered in the buffer.
 */
#ifndef PB_PERF_DATA_FEATURES_H
#define PB_PERF_DATA_FEATURES_H

#include "lib/base/strbuf.h"
#include "perf/data/data.h"

/* HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID */
void feature_build_string(struct strbuf *out, const char *s);
/* NRCPUS */
void feature_build_nrcpus(struct strbuf *out, uint32_t available, uint32_t online);
/* TOTAL_MEM, in KiB */
void feature_build_total_mem(struct strbuf *out, uint64_t kib);
/* CMDLINE */
void feature_build_cmdline(struct strbuf *out, int argc, const char *const *argv);
/* EVENT_DESC; the writer makes it by itself when it was not given. */
void feature_build_event_desc(struct strbuf *out, const struct data_event *events, size_t n);
/* SAMPLE_TIME: of the first and the last sample, ns */
void feature_build_sample_time(struct strbuf *out, uint64_t first, uint64_t last);
/* CLOCKID: the resolution of the clock of the times; CLOCK_DATA: the same moment by two clocks */
void feature_build_clockid(struct strbuf *out, uint64_t resolution_ns);
void feature_build_clock_data(struct strbuf *out, uint32_t clockid, uint64_t wall_ns,
			      uint64_t clock_ns);
/* PMU_MAPPINGS: types and names of /sys/bus/event_source/devices */
void feature_build_pmu_mappings(struct strbuf *out, const uint32_t *types, const char *const *names,
				size_t n);
/* BUILD_ID: one call per DSO, appended; misc is PERF_RECORD_MISC_USER or _KERNEL. */
void feature_build_group_desc(struct strbuf *out, const struct data_group *groups, size_t n);

void feature_build_build_id(struct strbuf *out, uint16_t misc, int32_t pid, const uint8_t *id,
			    uint8_t size, const char *filename);
/*
 * BPF_PROG_INFO: the programs, whose pointers are replaced by offsets. Each array has as many bytes
 * as the info's count and element size say; NULL: absent.
 */
void feature_build_bpf_prog_info(struct strbuf *out, const struct sys_prog_info *const *progs,
				 size_t n);
/* BPF_BTF */
struct feature_btf {
	uint32_t id;
	const void *data;
	uint32_t size;
};
void feature_build_bpf_btf(struct strbuf *out, const struct feature_btf *btfs, size_t n);

/*
 * TRACING_DATA: the tracefs files that describe the recorded tracepoints, as
 * trace-cmd and perf lay them out. Texts may be NULL with size 0.
 */
struct feature_text {
	const char *text;
	size_t size;
};
struct feature_tracepoint {
	const char *system; /* "syscalls"; those of one system need not stand together */
	struct feature_text format;
};
struct feature_tracing {
	struct feature_text header_page;   /* events/header_page */
	struct feature_text header_event;  /* events/header_event */
	const struct feature_text *ftrace; /* formats of events/ftrace/; perf writes none when no
					      ftrace event is recorded */
	size_t n_ftrace;
	const struct feature_tracepoint *events;
	size_t n_events;
	struct feature_text kallsyms; /* may be left empty */
	struct feature_text printk_formats;
	struct feature_text cmdlines; /* saved_cmdlines */
	uint32_t page_size;
};
void feature_build_tracing_data(struct strbuf *out, const struct feature_tracing *tracing);

#endif
