// SPDX-License-Identifier: BSD-2-Clause
/*
 * Outputs an event for each packet of losses_xdp_work by bpf_xdp_output(), every second one to a
 * CPU that there is none of: the helper refuses that, and the kernel's records of losses do not
 * know of it. tests/vm/guest/run-losses counts both.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

#define OUR_BYTES (14 + 20 + 8 + 1151) /* headers, and what losses_xdp_work sends */
#define NO_CPU	  0xfffff

struct xdp_buff {
	void *data, *data_end;
} __attribute__((preserve_access_index));

struct losses_xdp_event {
	__u64 n;
};
const struct losses_xdp_event *losses_xdp_event_type;

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} packets SEC(".maps") PERF_BPF_SHOW("events,type=struct losses_xdp_event");

static __u64 n_packets;

static int output(struct xdp_buff *xdp)
{
	struct losses_xdp_event e = {};

	if (xdp->data_end - xdp->data != OUR_BYTES)
		return 0;
	e.n = n_packets++; /* the workload waits for each packet */
	bpf_xdp_output(xdp, &packets, e.n & 1 ? NO_CPU : BPF_F_CURRENT_CPU, &e, sizeof(e));
	return 0;
}

/* Where a generic XDP program has run: since 5.14, and before. */
SEC("?fexit/bpf_prog_run_generic_xdp")
PERF_BPF_ONE_OF("after_xdp")
int BPF_PROG(after_run, struct sk_buff *skb, struct xdp_buff *xdp)
{
	return output(xdp);
}

SEC("?fexit/netif_receive_generic_xdp")
PERF_BPF_ONE_OF("after_xdp")
int BPF_PROG(after_receive, struct sk_buff *skb, struct xdp_buff *xdp)
{
	return output(xdp);
}

char LICENSE[] SEC("license") = "GPL";
