/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Fills a ring: 1000 records of 40 bytes for each run. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} perf SEC(".maps");

SEC("raw_tp/sys_enter")
int fill_ring(void *ctx)
{
	__u64 data[5] = {1, 2, 3, 4, 5};

	for (int i = 0; i < 1000; i++)
		bpf_ringbuf_output(&ring, data, sizeof(data), BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("raw_tp/sys_enter")
int fill_perf(void *ctx)
{
	__u64 data[5] = {1, 2, 3, 4, 5};

	for (int i = 0; i < 1000; i++)
		bpf_perf_event_output(ctx, &perf, BPF_F_CURRENT_CPU, data, sizeof(data));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
