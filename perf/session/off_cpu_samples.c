// SPDX-License-Identifier: BSD-2-Clause
/*
 * Recordings of perf record --off-cpu. Its BPF program puts out who slept, for how long and where,
 * and perf leaves that in the raw data of the sample; the other members are those of the task that
 * gave up the CPU then, or 0. As of perf 7.2 (tools/perf/util/bpf_off_cpu.c and evsel.c,
 * __set_offcpu_sample), the raw data is, in words of 8 bytes:
 *
 *	process and thread, 4 bytes each
 *	nanoseconds
 *	n, and n words of the call chain, markers included
 *	cgroup
 *
 * What we record has ordinary samples: perf/record/off_cpu.c.
 */
#include "perf/session/internal.h"

#include <byteswap.h>
#include <errno.h>
#include <string.h>

bool session_event_is_off_cpu(const struct session_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT &&
	       !strcmp(event->name, "offcpu-time");
}

static uint32_t half_at(const struct u64_array *words, uint64_t i, unsigned int half, bool swap)
{
	uint32_t v;

	memcpy(&v, words->bytes + 8 * i + sizeof(v) * half, sizeof(v));
	return swap ? bswap_32(v) : v;
}

struct error *off_cpu_sample_use(const struct session *s, struct sample *sample)
{
	enum { TASK, NS, N_CHAIN, CHAIN };
	const struct u64_array words = {
		.bytes = sample->raw, .n = sample->raw_size / 8, .swap = s->header.swap};

	if (words.n <= CHAIN)
		return error_new(EPROTO, "the raw data of offcpu-time are too short");
	const uint64_t n = u64_array_at(&words, N_CHAIN);
	if (n >= words.n - CHAIN)
		return error_new(EPROTO, "the call chain ends past the end of the raw data");
	sample->pid = (int32_t)half_at(&words, TASK, 0, words.swap);
	sample->tid = (int32_t)half_at(&words, TASK, 1, words.swap);
	sample->period = u64_array_at(&words, NS);
	sample->chain = words;
	sample->chain.bytes += 8 * CHAIN;
	sample->chain.n = n;
	sample->ip = n > 1 ? u64_array_at(&sample->chain, 1) : 0;
	sample->cgroup = u64_array_at(&words, CHAIN + n);
	/* of user space, whoever had the CPU then */
	sample->misc = (sample->misc & ~PERF_RECORD_MISC_CPUMODE_MASK) | PERF_RECORD_MISC_USER;
	sample->cpumode = PERF_RECORD_MISC_USER;
	sample->has |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD |
		       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CGROUP;
	sample->has &= ~(uint64_t)PERF_SAMPLE_RAW;
	sample->raw = NULL;
	sample->raw_size = 0;
	return NULL;
}
