// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * TCP connections that are opened: process, address and port.
 *
 *	perf-bpf run tcpconnect
 *	perf-bpf run tcpconnect --comms curl --interval 1 --clear
 *
 * Needs: tracepoints of sockets.
 *
 * A socket that goes from CLOSE to SYN_SENT does so in the process that called
 * connect(2). The addresses are read from the socket: they are there by then.
 */
#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

#define AF_INET	     2
#define TCP_SYN_SENT 2 /* include/net/tcp_states.h */

struct tcpconnect_key {
	perf_bpf_pid pid;
	char comm[16];
	perf_bpf_ipv6 address;
	perf_bpf_port port;
} __attribute__((packed));

PERF_BPF_TABLE(connects, struct tcpconnect_key, __u64, 16384, "connects", "TCP connections begun");

SEC("raw_tp/inet_sock_set_state")
int BPF_PROG(tcpconnect_state, struct sock *sk, int oldstate, int newstate)
{
	struct tcpconnect_key key = {};

	if (newstate != TCP_SYN_SENT || !perf_bpf_wanted())
		return 0;
	key.pid = perf_bpf_pid_tgid() >> 32;
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	key.port = BPF_CORE_READ(sk, __sk_common.skc_dport);
	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET) {
		__u32 address = BPF_CORE_READ(sk, __sk_common.skc_daddr);

		/* as IPv6 has it: ::ffff:a.b.c.d */
		key.address.bytes[10] = key.address.bytes[11] = 0xff;
		__builtin_memcpy(&key.address.bytes[12], &address, 4);
	} else {
		BPF_CORE_READ_INTO(&key.address, sk, __sk_common.skc_v6_daddr);
	}
	perf_bpf_table_add(&connects, &key, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
