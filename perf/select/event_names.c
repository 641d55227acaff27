// SPDX-License-Identifier: BSD-2-Clause
/*
 * The events that have a name of their own in every perf: software and
 * hardware ones, and the cache events "TYPE-OP-RESULT", where OP and RESULT
 * may be left out and each part has several spellings
 * (man perf-list; enum perf_hw_id, perf_sw_ids and perf_hw_cache_* in
 * include/uapi/linux/perf_event.h). Spellings are compared without case.
 */
#include "perf/select/internal.h"
#include "perf/select/select.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/sys/uapi.h"

static const struct {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
} names[] = {
	{"cpu-cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branch-instructions", "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE,
	 PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	{"dummy", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
	{"bpf-output", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT},
	{"cgroup-switches", NULL, PERF_TYPE_SOFTWARE, 11 /* PERF_COUNT_SW_CGROUP_SWITCHES, 5.13 */},
};

/* Spellings of one part of a cache event, the usual one first; by the kernel's numbers. */
static const char *const cache_types[][5] = {
	{"L1-dcache", "l1-d", "l1d", "L1-data"},
	{"L1-icache", "l1-i", "l1i", "L1-instruction"},
	{"LLC", "L2"},
	{"dTLB", "d-tlb", "Data-TLB"},
	{"iTLB", "i-tlb", "Instruction-TLB"},
	{"branch", "branches", "bpu", "btb", "bpc"},
	{"node"},
};
static const char *const cache_ops[][5] = {
	{"loads", "load", "read"},
	{"stores", "store", "write"},
	{"prefetches", "prefetch", "speculative-read", "speculative-load"},
};
static const char *const cache_results[][5] = {
	{"refs", "Reference", "ops", "access"},
	{"misses", "miss"},
};

/* The longest spelling at the beginning of s that ends at '-' or the end. */
static int match_part(const char *s, const char *const spellings[][5], size_t n, size_t *len)
{
	int best = -1;

	*len = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < 5 && spellings[i][k]; k++) {
			size_t l = strlen(spellings[i][k]);

			if (l > *len && !strncasecmp(s, spellings[i][k], l) &&
			    (!s[l] || s[l] == '-')) {
				best = i;
				*len = l;
			}
		}
	}
	return best;
}

static bool cache_find(const char *name, uint64_t *config)
{
	size_t len;
	int type = match_part(name, cache_types, ARRAY_SIZE(cache_types), &len);
	int op = -1, result = -1;

	if (type < 0)
		return false;
	for (name += len; *name == '-'; name += len) {
		name++;
		int part;
		if (op < 0 &&
		    (part = match_part(name, cache_ops, ARRAY_SIZE(cache_ops), &len)) >= 0)
			op = part;
		else if (result < 0 && (part = match_part(name, cache_results,
							  ARRAY_SIZE(cache_results), &len)) >= 0)
			result = part;
		else
			return false;
	}
	if (*name)
		return false;
	*config = (uint64_t)type | (uint64_t)max_of(op, 0) << 8 | (uint64_t)max_of(result, 0) << 16;
	return true;
}

bool select_name_find(const char *name, uint32_t *type, uint64_t *config)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(name, names[i].name) ||
		    (names[i].alias && !strcmp(name, names[i].alias))) {
			*type = names[i].type;
			*config = names[i].config;
			return true;
		}
	}
	if (!cache_find(name, config))
		return false;
	*type = PERF_TYPE_HW_CACHE;
	return true;
}

bool select_name_known(const char *name)
{
	uint32_t type;
	uint64_t config;

	return select_name_find(name, &type, &config);
}

static struct error *cache_names_each(select_name_fn *fn, void *ctx)
{
	for (size_t t = 0; t < ARRAY_SIZE(cache_types); t++) {
		for (size_t o = 0; o < ARRAY_SIZE(cache_ops); o++) {
			const uint64_t config = t | o << 8;
			char name[64];

			snprintf(name, sizeof(name), "%s-%s", cache_types[t][0], cache_ops[o][0]);
			TRY(fn(ctx, name, NULL, PERF_TYPE_HW_CACHE, config));
			snprintf(name, sizeof(name), "%s-%s-misses", cache_types[t][0],
				 cache_ops[o][1]);
			TRY(fn(ctx, name, NULL, PERF_TYPE_HW_CACHE, config | 1 << 16));
		}
	}
	return NULL;
}

struct error *select_names_by_type(uint32_t type, select_name_fn *fn, void *ctx)
{
	if (type == PERF_TYPE_HW_CACHE)
		return cache_names_each(fn, ctx);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].type == type)
			TRY(fn(ctx, names[i].name, names[i].alias, type, names[i].config));
	return NULL;
}

struct each_name {
	void (*fn)(void *ctx, const char *name);
	void *ctx;
};

static struct error *both_names(void *ctx, const char *name, const char *alias, uint32_t type,
				uint64_t config)
{
	const struct each_name *each = ctx;

	each->fn(each->ctx, name);
	if (alias)
		each->fn(each->ctx, alias);
	return NULL;
}

void select_names_each(void (*fn)(void *ctx, const char *name), void *ctx)
{
	static const uint32_t types[] = {PERF_TYPE_HARDWARE, PERF_TYPE_SOFTWARE,
					 PERF_TYPE_HW_CACHE};
	struct each_name each = {fn, ctx};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		error_free(select_names_by_type(types[i], both_names, &each));
}

bool select_is_name(const char *name)
{
	uint32_t type;
	uint64_t config;

	return select_name_find(name, &type, &config);
}
