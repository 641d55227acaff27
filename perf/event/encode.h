/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records, written: what perf record synthesises from /proc and bpf(2), in
 * the host's byte order, appended to a growing buffer. Each call appends one
 * whole record whose size is a multiple of 8 (but for COMPRESSED). Lack of
 * memory is remembered in the buffer: check strbuf_failed() once.
 *
 * Strings longer than a record can hold are cut.
 */
#ifndef PB_PERF_EVENT_ENCODE_H
#define PB_PERF_EVENT_ENCODE_H

#include "lib/base/strbuf.h"
#include "perf/event/event.h"

/*
 * The kernel's records. attr gives the sample_id fields that end them; they
 * are taken from id, or 0 with id NULL, as perf has them in what it
 * synthesises. attr NULL: no such fields. misc is PERF_RECORD_MISC_USER or
 * _KERNEL, with flags; MISC_COMM_EXEC and MISC_MMAP_BUILD_ID are added where
 * the record asks for them.
 */
void record_encode_mmap(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			const struct record_mmap *mmap, const struct sample *id);
/* MMAP2: with the build id when there is one, else with maj, min, ino. */
void record_encode_mmap2(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			 const struct record_mmap *mmap, const struct sample *id);
void record_encode_comm(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			const struct record_comm *comm, const struct sample *id);
void record_encode_fork(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			const struct record_task *task, const struct sample *id);
void record_encode_exit(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			const struct record_task *task, const struct sample *id);
void record_encode_lost(struct strbuf *out, const struct perf_event_attr *attr,
			const struct record_lost *lost, const struct sample *id);
/* The event that lost them is told by id->id. */
void record_encode_lost_samples(struct strbuf *out, const struct perf_event_attr *attr,
				uint64_t lost, const struct sample *id);
void record_encode_ksymbol(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			   const struct record_ksymbol *ksymbol, const struct sample *id);
void record_encode_bpf_event(struct strbuf *out, const struct perf_event_attr *attr, uint16_t misc,
			     const struct record_bpf_event *ev, const struct sample *id);
void record_encode_cgroup(struct strbuf *out, const struct perf_event_attr *attr,
			  const struct record_cgroup *cgroup, const struct sample *id);
void record_encode_namespaces(struct strbuf *out, const struct perf_event_attr *attr,
			      const struct record_namespaces *ns, const struct sample *id);
void record_encode_text_poke(struct strbuf *out, const struct perf_event_attr *attr,
			     const struct record_text_poke *poke, const struct sample *id);
/* A sample of all that attr->sample_type asks for. */
void record_encode_sample(struct strbuf *out, const struct perf_event_attr *attr,
			  const struct sample *sample);

/* perf's own records, type 64 and on. */
void record_encode_header_attr(struct strbuf *out, const struct perf_event_attr *attr,
			       const uint64_t *ids, size_t n_ids);
/* The record and, after it, the data: what the TRACING_DATA feature holds. */
void record_encode_tracing_data(struct strbuf *out, const void *data, uint32_t size);
void record_encode_build_id(struct strbuf *out, uint16_t misc, int32_t pid, const uint8_t *build_id,
			    uint8_t size, const char *filename);
void record_encode_finished_round(struct strbuf *out);
void record_encode_finished_init(struct strbuf *out);
struct record_id_index_entry {
	uint64_t id;
	uint64_t idx; /* of the ring */
	uint64_t cpu; /* UINT64_MAX: any */
	uint64_t tid; /* UINT64_MAX: any */
};
/* Cut into several records where one cannot hold them. */
void record_encode_id_index(struct strbuf *out, const struct record_id_index_entry *entries,
			    size_t n);
/* Gives the event with this id its name (PERF_EVENT_UPDATE__NAME). */
void record_encode_event_name(struct strbuf *out, uint64_t id, const char *name);
/* false: data is too large for one record; nothing was added. */
bool record_encode_header_feature(struct strbuf *out, uint64_t feature, const void *data,
				  size_t size);

/*
 * What only perf-bpf writes: a line of the loss ledger, as a record of the
 * long deprecated type HEADER_EVENT_TYPE, which every perf skips.
 */
enum ledger_kind {
	LEDGER_RING_LOST = 1,	    /* samples the kernel found no room for in a ring */
	LEDGER_BPF_OUTPUT_LOST = 2, /* bpf_perf_event_output() calls that failed */
	LEDGER_PROG_MISSED = 3,	    /* runs of a program that the kernel skipped (recursion) */
	LEDGER_LOST_SAMPLES = 4,    /* samples a filter or throttling dropped (PERF_FORMAT_LOST) */
	LEDGER_SIDEBAND_LOST = 5,   /* side-band records that found no room in a ring */
	LEDGER_RECORDS_LOST = 6,    /* records of any type, before 6.0: an upper limit of samples */
	LEDGER_FILTERED = 7,	    /* count: how many BPF programs of others filtered the event */
	LEDGER_CPU_OFFLINE = 8,	    /* count: ns for which the CPU of this id was not recorded */
	LEDGER_OVERWRITTEN = 9,	    /* count: bytes of records that newer ones have replaced */
	LEDGER_PIPE = 10,	    /* count: a recording in a pipe begins (0), ends (1) */
};
struct record_ledger {
	uint32_t kind;	  /* enum ledger_kind */
	uint64_t id;	  /* the event's sample id, or the program's id; 0: none */
	uint64_t count;	  /* how many were lost */
	const char *name; /* of the event or program */
};
void record_encode_ledger(struct strbuf *out, const struct record_ledger *ledger);
/* false: this HEADER_EVENT_TYPE record is no line of the ledger. */
bool record_ledger_decode(struct cursor c, struct record_ledger *out);

#endif
