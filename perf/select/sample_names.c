// SPDX-License-Identifier: BSD-2-Clause
/* Names that options of record have for values of the kernel: clocks, and kinds of branches. */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "lib/base/names.h"
#include "perf/select/select.h"

struct named_value {
	const char *name;
	uint64_t value;
};

static const struct named_value clocks[] = {
	{"monotonic", CLOCK_MONOTONIC},
	{"monotonic_raw", CLOCK_MONOTONIC_RAW},
	{"realtime", CLOCK_REALTIME},
	{"boottime", CLOCK_BOOTTIME},
	{"tai", CLOCK_TAI},
	{"mono", CLOCK_MONOTONIC},
	{"raw", CLOCK_MONOTONIC_RAW},
	{"real", CLOCK_REALTIME},
	{"boot", CLOCK_BOOTTIME},
};

static const struct named_value branches[] = {
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
	{"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"priv", PERF_SAMPLE_BRANCH_PRIV_SAVE},
};

static struct error *find(const char *option, const struct named_value *values, size_t n,
			  const char *name, size_t len, uint64_t *value)
{
	_cleanup_free_ char *copy = strndup(name, len);
	struct nearest near;

	if (!copy)
		return error_nomem();
	near = nearest_make(copy);
	for (size_t i = 0; i < n; i++) {
		if (!strcasecmp(values[i].name, copy)) {
			*value = values[i].value;
			return NULL;
		}
		nearest_offer(&near, values[i].name);
	}
	return error_suggest(error_usage("%s: unknown name '%s'", option, copy), &near);
}

struct error *select_clock_parse(const char *text, int32_t *clock)
{
	const char *name = strncasecmp(text, "CLOCK_", 6) ? text : text + 6;
	uint64_t value;
	char *end;

	const long number = strtol(text, &end, 10);
	if (end != text && !*end && number >= 0 && number <= INT32_MAX) {
		*clock = (int32_t)number;
		return NULL;
	}
	TRY(find("--clockid", clocks, ARRAY_SIZE(clocks), name, strlen(name), &value));
	*clock = (int32_t)value;
	return NULL;
}

struct error *select_branches_parse(const char *text, uint64_t *mask)
{
	const uint64_t levels =
		PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV;
	uint64_t sum = 0, value;

	for (const char *p = text;; p++) {
		const size_t n = strcspn(p, ",");

		TRY(find("--branch-filter", branches, ARRAY_SIZE(branches), p, n, &value));
		sum |= value;
		p += n;
		if (!*p)
			break;
	}
	/* levels alone are of all branches */
	*mask = sum & ~levels ? sum : sum | PERF_SAMPLE_BRANCH_ANY;
	return NULL;
}
