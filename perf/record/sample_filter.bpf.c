// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * record --filter of events that are not tracepoints: the tests of a sample, before it is in the
 * ring. The kernel has prepared the sample by then, with what the event's sample_type asks for.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "perf/record/sample_filter_shared.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

const volatile struct sample_filter_config config SEC(".rodata.config") = {};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

union perf_sample_weight {
	__u64 full;
	struct {
		__u32 var1_dw;
		__u16 var2_w;
		__u16 var3_w;
	};
};

union perf_mem_data_src {
	__u64 val;
};

struct perf_sample_data {
	__u64 sample_flags;
	__u64 period;
	struct {
		__u32 pid;
		__u32 tid;
	} tid_entry;
	__u64 time;
	__u64 id;
	struct {
		__u32 cpu;
	} cpu_entry;
	__u64 ip;
	union perf_sample_weight weight;
	union perf_mem_data_src data_src;
	__u64 txn;
	__u64 cgroup;
	__u64 addr;
	__u64 phys_addr;
	__u64 data_page_size;
	__u64 code_page_size;
};

struct bpf_perf_event_data_kern {
	struct perf_sample_data *data;
};

#pragma clang attribute pop

extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;

/* Of linux/perf_event.h: where data_src has mem_snoop (5 bits) and mem_snoopx (2). */
#define SNOOP(src) (((src) >> 19 & 0x1f) | ((src) >> 38 & 3) << 5)

static __always_inline __u64 value_of(const struct perf_sample_data *data,
				      const volatile struct sample_filter_test *test)
{
	switch (test->term) {
	case SAMPLE_IP:
		return data->ip;
	case SAMPLE_ID:
		return data->id;
	case SAMPLE_TID:
		return data->tid_entry.tid;
	case SAMPLE_PID:
		return data->tid_entry.pid;
	case SAMPLE_CPU:
		return data->cpu_entry.cpu;
	case SAMPLE_TIME:
		return data->time;
	case SAMPLE_ADDR:
		return data->addr;
	case SAMPLE_PERIOD:
		return data->period;
	case SAMPLE_TXN:
		return data->txn;
	case SAMPLE_WEIGHT:
		return data->weight.full;
	case SAMPLE_WEIGHT1:
		return data->weight.var1_dw;
	case SAMPLE_WEIGHT2:
		return data->weight.var2_w;
	case SAMPLE_WEIGHT3:
		return data->weight.var3_w;
	case SAMPLE_PHYS_ADDR:
		return data->phys_addr;
	case SAMPLE_CODE_PAGE_SIZE:
		return data->code_page_size;
	case SAMPLE_DATA_PAGE_SIZE:
		return data->data_page_size;
	case SAMPLE_CGROUP:
		return data->cgroup;
	case SAMPLE_MEMORY:
		return data->data_src.val >> (test->shift & 63) & ((1ull << (test->bits & 63)) - 1);
	case SAMPLE_SNOOP:
		return SNOOP(data->data_src.val);
	case SAMPLE_UID:
		return (__u32)bpf_get_current_uid_gid();
	default:
		return bpf_get_current_uid_gid() >> 32;
	}
}

static __always_inline int is_true(__u64 value, __u8 op, __u64 wanted)
{
	switch (op) {
	case SAMPLE_EQUAL:
		return value == wanted;
	case SAMPLE_DIFFERS:
		return value != wanted;
	case SAMPLE_ABOVE:
		return value > wanted;
	case SAMPLE_AT_LEAST:
		return value >= wanted;
	case SAMPLE_BELOW:
		return value < wanted;
	case SAMPLE_AT_MOST:
		return value <= wanted;
	default:
		return (value & wanted) != 0;
	}
}

/* 0: the sample is dropped. */
SEC("perf_event")
int sample_filter(void *ctx)
{
	const struct bpf_perf_event_data_kern *kernel = bpf_cast_to_kern_ctx(ctx);
	const struct perf_sample_data *data = kernel->data;
	int any = 0;

	for (__u32 i = 0; i < SAMPLE_FILTER_TESTS && i < config.n; i++) {
		const volatile struct sample_filter_test *test = &config.tests[i];

		if (!test->flags || data->sample_flags & test->flags)
			any |= is_true(value_of(data, test), test->op, test->value);
		if (!test->is_last)
			continue;
		if (!any)
			return 0;
		any = 0;
	}
	return 1;
}
