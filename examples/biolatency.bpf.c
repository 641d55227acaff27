// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Block I/O latency by device, from the driver to completion.
 *
 *	perf-bpf run biolatency -- sleep 10
 *	perf-bpf run biolatency --comms dd -- dd if=/dev/zero of=file bs=4k count=1000 oflag=direct
 *
 * Needs: tracepoints of the block layer.
 *
 * --comms and its like ask who starts the request: for buffered writes that is
 * a thread of the kernel's.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

struct biolatency_request {
	perf_bpf_dev dev;
	__u32 unused;
	__u64 sector;
};

PERF_BPF_LOG2_BY(latency, perf_bpf_dev, 256, "us", "block I/O by device");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct biolatency_request);
	__type(value, __u64);
} begun SEC(".maps") PERF_BPF_SHOW("none");

/* The end's record has another name since 5.18; vmlinux.h has one of the two. */
struct trace_event_raw_block_rq_completion___new {
	dev_t dev;
	sector_t sector;
} __attribute__((preserve_access_index));
struct trace_event_raw_block_rq_complete___old {
	dev_t dev;
	sector_t sector;
} __attribute__((preserve_access_index));

SEC("tracepoint/block/block_rq_issue")
int biolatency_issue(struct trace_event_raw_block_rq *ctx)
{
	struct biolatency_request request = {.dev = ctx->dev, .sector = ctx->sector};
	__u64 now = bpf_ktime_get_ns();

	/* a flush has no sector: it is ~0 for all of them */
	if (request.sector != ~0ull && perf_bpf_wanted())
		perf_bpf_put(&begun, &request, &now);
	return 0;
}

SEC("tracepoint/block/block_rq_complete")
int biolatency_complete(void *ctx)
{
	struct trace_event_raw_block_rq_completion___new *new = ctx;
	struct trace_event_raw_block_rq_complete___old *old = ctx;
	struct biolatency_request request = {};

	if (bpf_core_type_exists(struct trace_event_raw_block_rq_completion___new)) {
		request.dev = BPF_CORE_READ(new, dev);
		request.sector = BPF_CORE_READ(new, sector);
	} else {
		request.dev = BPF_CORE_READ(old, dev);
		request.sector = BPF_CORE_READ(old, sector);
	}
	__u64 *since = bpf_map_lookup_elem(&begun, &request);
	if (!since)
		return 0;
	perf_bpf_log2_by(&latency, &request.dev, (bpf_ktime_get_ns() - *since) / 1000);
	bpf_map_delete_elem(&begun, &request);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
