// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Packets that a network device receives, each as it arrives.
 *
 *	perf-bpf run tracex1 -- ping -c 3 127.0.0.1
 *	perf-bpf run tracex1 --set device=eth0 --timeout 1
 *
 * Needs: tracepoints of network devices.
 *
 * The device is compared in the kernel, through the packet's pointer to it;
 * what comes from another device costs no more than that.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

const volatile char device[16] = "lo";

struct tracex1_packet {
	perf_bpf_time time;
	char device[16];
	perf_bpf_bytes length; /* without the link's header */
	__u16 protocol;	       /* linux/if_ether.h: 0x800 is IPv4 */
};

PERF_BPF_EVENTS(packets, struct tracex1_packet, 1024 * 1024, "packets received");

SEC("raw_tp/netif_receive_skb")
int BPF_PROG(tracex1_receive, struct sk_buff *skb)
{
	char name[16] = {};

	BPF_CORE_READ_STR_INTO(&name, skb, dev, name);
#pragma clang loop unroll(full)
	for (int i = 0; i < 16; i++) {
		if (name[i] != device[i])
			return 0;
		if (!name[i])
			break;
	}
	struct tracex1_packet *e = perf_bpf_event_reserve(&packets, struct tracex1_packet);
	if (!e)
		return 0;
	e->time = bpf_ktime_get_ns();
	__builtin_memcpy(e->device, name, sizeof(e->device));
	e->length = BPF_CORE_READ(skb, len);
	e->protocol = bpf_ntohs(BPF_CORE_READ(skb, protocol));
	perf_bpf_event_submit(e);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
