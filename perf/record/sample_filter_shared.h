/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What sample_filter.c tells the program sample_filter.bpf.c: tests of a sample. Tests up to one
 * with is_last are joined by "or", and those groups by "and".
 */
#ifndef PB_PERF_RECORD_SAMPLE_FILTER_SHARED_H
#define PB_PERF_RECORD_SAMPLE_FILTER_SHARED_H

#include <linux/types.h>

#define SAMPLE_FILTER_TESTS 64

enum sample_filter_op {
	SAMPLE_EQUAL,
	SAMPLE_DIFFERS,
	SAMPLE_ABOVE,
	SAMPLE_AT_LEAST,
	SAMPLE_BELOW,
	SAMPLE_AT_MOST,
	SAMPLE_HAS_BITS, /* one of them */
};

enum sample_filter_term {
	SAMPLE_IP,
	SAMPLE_ID,
	SAMPLE_TID,
	SAMPLE_PID,
	SAMPLE_CPU,
	SAMPLE_TIME,
	SAMPLE_ADDR,
	SAMPLE_PERIOD,
	SAMPLE_TXN,
	SAMPLE_WEIGHT,
	SAMPLE_WEIGHT1,
	SAMPLE_WEIGHT2,
	SAMPLE_WEIGHT3,
	SAMPLE_PHYS_ADDR,
	SAMPLE_CODE_PAGE_SIZE,
	SAMPLE_DATA_PAGE_SIZE,
	SAMPLE_CGROUP,
	SAMPLE_MEMORY, /* a part of data_src */
	SAMPLE_SNOOP,  /* mem_snoop and mem_snoopx of it, which are apart */
	SAMPLE_UID,
	SAMPLE_GID,
};

struct sample_filter_test {
	__u64 value;
	__u64 flags; /* the sample must have one of these; 0: it always has the value */
	__u8 term, op, is_last;
	__u8 shift, bits; /* of SAMPLE_MEMORY */
	__u8 reserved[3];
};

struct sample_filter_config {
	__u32 n;
	__u32 reserved;
	struct sample_filter_test tests[SAMPLE_FILTER_TESTS];
};

#endif
