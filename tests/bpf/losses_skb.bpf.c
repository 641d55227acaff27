// SPDX-License-Identifier: BSD-2-Clause
#include "losses.h"
#include <bpf/bpf_tracing.h>
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} buffer SEC(".maps") PERF_BPF_SHOW("events,type=struct pbt_event");
SEC("tp_btf/netif_receive_skb") int BPF_PROG(on_packet, struct sk_buff *skb)
{
	struct pbt_event e = {};
	if (skb->len == 1179)
		bpf_skb_output(skb, &buffer,
			       bpf_get_prandom_u32() & 1 ? BPF_F_CURRENT_CPU : 0xfffff, &e,
			       sizeof(e));
	return 0;
}
