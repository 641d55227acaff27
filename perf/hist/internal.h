/* SPDX-License-Identifier: BSD-2-Clause */
/* What the files of perf/hist/ share. */
#ifndef PB_PERF_HIST_INTERNAL_H
#define PB_PERF_HIST_INTERNAL_H

#include "lib/base/arena.h"
#include "perf/hist/hist.h"
#include "lib/base/rbtree.h"

/* Samples that differ in nothing that matters. */
struct hist_stack {
	uint64_t hash;
	const struct thread *thread;
	const char *comm;
	const struct hist_frame *leaf;
	const struct result_frame *const *chain; /* interned: equal chains, one pointer */
	const uint64_t *ips; /* of the chain's frames in the first sample; NULL: not kept */
	const char *trace;
	const struct hist_value *const *values; /* as many as the spec's; NULL: none */
	uint64_t ip;
	uint64_t time;
	uint64_t period, n;
	int32_t cpu;
	uint32_t depth; /* frames in chain */
	char level;
	uint8_t cpumode;
	bool filtered;
};

const struct hist_spec *hist_spec_of(const struct hist *h);
/* Those that were counted, in the order of their first samples. */
struct hist_stack *const *hist_stacks(const struct hist *h, size_t *n);
/* perf's letter for where the names of a DSO come from. */
char hist_dso_origin(const struct hist *h, const struct dso *dso);

/* Entries in the order in which perf keeps them while it collects: > 0, a comes first. */
int64_t hist_entry_cmp(const struct hist_spec *spec, const struct hist_entry *a,
		       const struct hist_entry *b);
/* What a column that is a measure has; the same of a member of the entry's group. */
uint64_t hist_entry_measure(const struct hist_entry *he, enum hist_field field);
uint64_t hist_member_measure(const struct hist_entry *he, size_t member, enum hist_field field);
/* In the order of the report: > 0, a comes first. */
int64_t hist_entry_sort(const struct hist_spec *spec, const struct hist_entry *a,
			const struct hist_entry *b);

#endif
