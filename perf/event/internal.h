/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of perf/event share. */
#ifndef PB_PERF_EVENT_INTERNAL_H
#define PB_PERF_EVENT_INTERNAL_H

#include "perf/event/event.h"

/* The fields of sample_id, one word each. */
#define SAMPLE_ID_FIELDS                                                                           \
	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |             \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER)

/*
 * "PERFBPF1" as bytes, in either byte order of the file: which of the records
 * of the deprecated type HEADER_EVENT_TYPE is a line of the loss ledger.
 */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LEDGER_MAGIC 0x3146504246524550ull
#else
#define LEDGER_MAGIC 0x5045524642504631ull
#endif

#endif
