// SPDX-License-Identifier: BSD-2-Clause
/*
 * The name of an event that has none in the file, as perf would call it:
 * enum perf_sw_ids, perf_hw_id and perf_hw_cache_* of linux/perf_event.h, and
 * the modifiers of man perf-list.
 */
#include <inttypes.h>

#include "lib/base/strbuf.h"
#include "perf/data/data.h"

static const char *const hardware[] = {
	"cycles",
	"instructions",
	"cache-references",
	"cache-misses",
	"branches",
	"branch-misses",
	"bus-cycles",
	"stalled-cycles-frontend",
	"stalled-cycles-backend",
	"ref-cycles",
};
static const char *const software[] = {
	"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
	"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
	"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
};
static const char *const caches[] = {"L1-dcache", "L1-icache", "LLC", "dTLB",
				     "iTLB",	  "branch",    "node"};
static const char *const cache_ops[] = {"load", "store", "prefetch"};
static const char *const cache_op_plurals[] = {"loads", "stores", "prefetches"};

static void add_cache(struct strbuf *sb, uint64_t config)
{
	uint64_t cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= ARRAY_SIZE(caches) || op >= ARRAY_SIZE(cache_ops) || result > 1)
		strbuf_addf(sb, "unknown cache event 0x%" PRIx64, config);
	else if (result)
		strbuf_addf(sb, "%s-%s-misses", caches[cache], cache_ops[op]);
	else
		strbuf_addf(sb, "%s-%s", caches[cache], cache_op_plurals[op]);
}

static void add_breakpoint(struct strbuf *sb, const struct perf_event_attr *attr)
{
	strbuf_addf(sb, "mem:0x%" PRIx64 ":", (uint64_t)attr->bp_addr);
	if (attr->bp_type & 1)
		strbuf_addch(sb, 'r');
	if (attr->bp_type & 2)
		strbuf_addch(sb, 'w');
	if (attr->bp_type & 4)
		strbuf_addch(sb, 'x');
}

static void add_modifiers(struct strbuf *sb, const struct perf_event_attr *attr)
{
	char mods[16];
	size_t n = 0;
	bool host_default = false;

	if (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv) {
		if (!attr->exclude_kernel)
			mods[n++] = 'k';
		if (!attr->exclude_user)
			mods[n++] = 'u';
		if (!attr->exclude_hv)
			mods[n++] = 'h';
		host_default = true;
	}
	for (unsigned int i = 0; i < attr->precise_ip; i++) {
		mods[n++] = 'p';
		host_default = true;
	}
	if (attr->exclude_host || attr->exclude_guest == host_default) {
		if (!attr->exclude_host)
			mods[n++] = 'H';
		if (!attr->exclude_guest)
			mods[n++] = 'G';
	}
	if (!n)
		return;
	strbuf_addch(sb, ':');
	strbuf_add(sb, mods, n);
}

char *data_event_name(const struct perf_event_attr *attr)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		if (attr->config < ARRAY_SIZE(hardware))
			strbuf_adds(&sb, hardware[attr->config]);
		else
			strbuf_addf(&sb, "unknown-hardware-%" PRIu64, (uint64_t)attr->config);
		break;
	case PERF_TYPE_SOFTWARE:
		if (attr->config < ARRAY_SIZE(software))
			strbuf_adds(&sb, software[attr->config]);
		else
			strbuf_addf(&sb, "unknown-software-%" PRIu64, (uint64_t)attr->config);
		break;
	case PERF_TYPE_HW_CACHE:
		add_cache(&sb, attr->config);
		break;
	case PERF_TYPE_RAW:
		strbuf_addf(&sb, "raw 0x%" PRIx64, (uint64_t)attr->config);
		break;
	case PERF_TYPE_BREAKPOINT:
		add_breakpoint(&sb, attr);
		break;
	case PERF_TYPE_TRACEPOINT:
		strbuf_addf(&sb, "tracepoint %" PRIu64, (uint64_t)attr->config);
		return strbuf_steal(&sb);
	default:
		strbuf_addf(&sb, "pmu %u config 0x%" PRIx64, attr->type, (uint64_t)attr->config);
		return strbuf_steal(&sb);
	}
	add_modifiers(&sb, attr);
	return strbuf_steal(&sb);
}
