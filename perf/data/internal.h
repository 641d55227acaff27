/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of perf/data share: the layout of the file, and the table of features. */
#ifndef PB_PERF_DATA_INTERNAL_H
#define PB_PERF_DATA_INTERNAL_H

#include "perf/data/data.h"

/* "PERFILE2", as a little-endian machine writes it; byte-swapped on the others. */
#define DATA_MAGIC 0x32454c4946524550ull

struct data_section {
	uint64_t offset, size;
};

/* The file's first bytes; the pipe form has magic and size alone. */
struct data_file_header {
	uint64_t magic;
	uint64_t size;
	uint64_t attr_size; /* of an attr and the section of its ids */
	struct data_section attrs, data, event_types;
	uint64_t features[DATA_FEATURE_BITS / 64];
};

/*
 * Bit 0 of the features is reserved and never set, but in the tables that the
 * writer leaves behind every round: there its entry is made up as a record, so
 * that the table may stand amid the records (see writer.c). The bytes of its
 * second word.
 */
#define DATA_CHECKPOINT_BIT   0
#define DATA_CHECKPOINT_MAGIC 0x3150434642465250ull /* "PRFBFCP1" */

/* How a feature is called and decoded; features.c. */
struct data_feature_ops {
	const char *name;
	struct error *(*decode)(struct data_header *h, struct cursor *c); /* NULL: kept as bytes */
	bool record; /* in the pipe form, a HEADER_FEATURE record brings it */
};
extern const struct data_feature_ops data_features[DATA_LAST_FEATURE];

#endif
