// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TCP retransmissions, with source and destination.
 *
 *	perf-bpf run tcpretrans --interval 5
 *
 * Needs: tracepoints of TCP.
 *
 * Most are sent again by a timer, in nobody's name: there is no process to
 * tell, and -p and its like are refused.
 *
 * A tail loss probe is sent before the timeout, so that the other side
 * acknowledges what it has. It counts if it sends a segment again; if it sends
 * new data, nothing was sent again. What could not be sent (no route) is not counted.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

#define AF_INET 2

/* include/net/tcp_states.h */
enum tcpretrans_state {
	ESTABLISHED = 1,
	SYN_SENT,
	SYN_RECV,
	FIN_WAIT1,
	FIN_WAIT2,
	TIME_WAIT,
	CLOSE,
	CLOSE_WAIT,
	LAST_ACK,
	LISTEN,
	CLOSING,
	NEW_SYN_RECV,
};

/* icsk_pending of include/net/inet_connection_sock.h */
#define ICSK_TIME_LOSS_PROBE 5
/* enum tcp_ca_state of linux/tcp.h; a name of our own, since vmlinux.h has that one */
#define TCP_CA_RECOVERY 3

enum tcpretrans_kind {
	RETRANSMIT,
	LOSS_PROBE,
};

/* In newer kernels (6.18 is one) the tracepoint fires for errors also, with a third argument. */
struct trace_event_raw_tcp_retransmit_skb___err {
	int err;
} __attribute__((preserve_access_index));

struct tcpretrans_key {
	perf_bpf_ipv6 from;
	__u16 from_port; /* the host's byte order, as the kernel keeps it */
	perf_bpf_port to_port;
	perf_bpf_ipv6 to;
	enum tcpretrans_state state;
	enum tcpretrans_kind kind;
};

PERF_BPF_TABLE(retransmits, struct tcpretrans_key, __u64, 16384, "segments",
	       "TCP segments sent again");

static __always_inline void set_ipv4(perf_bpf_ipv6 *to, __u32 address)
{
	/* as IPv6 has it: ::ffff:a.b.c.d */
	to->bytes[10] = to->bytes[11] = 0xff;
	__builtin_memcpy(&to->bytes[12], &address, 4);
}

SEC("raw_tp/tcp_retransmit_skb")
int BPF_PROG(tcpretrans_again, struct sock *sk)
{
	struct inet_connection_sock *icsk = (void *)sk;
	struct tcpretrans_key key = {};

	if (bpf_core_field_exists(struct trace_event_raw_tcp_retransmit_skb___err, err) &&
	    (int)ctx[2])
		return 0;
	/* the timer of a probe can be set while acknowledgements show a loss: that is recovery */
	if (BPF_CORE_READ(icsk, icsk_pending) == ICSK_TIME_LOSS_PROBE &&
	    BPF_CORE_READ_BITFIELD_PROBED(icsk, icsk_ca_state) < TCP_CA_RECOVERY)
		key.kind = LOSS_PROBE;
	key.from_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	key.to_port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	key.state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET) {
		set_ipv4(&key.from, BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr));
		set_ipv4(&key.to, BPF_CORE_READ(sk, __sk_common.skc_daddr));
	} else {
		BPF_CORE_READ_INTO(&key.from, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&key.to, sk, __sk_common.skc_v6_daddr);
	}
	perf_bpf_table_add(&retransmits, &key, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
