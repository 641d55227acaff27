// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A congestion control that does next to nothing, three times: registered by
 * its value, and two that are put into one link in turn. The struct is not as
 * the kernel has it: fewer members, in another order, and two it never had.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

struct sock;

struct tcp_congestion_ops___short {
	void (*init)(struct sock *sk);
	char name[16];
	int no_such_number;
	void (*no_such_function)(struct sock *sk);
	__u32 (*undo_cwnd)(struct sock *sk);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, __u32 ack, __u32 acked);
};

unsigned int inits, inits_of_second;

SEC("struct_ops/init") void BPF_PROG(on_init, struct sock *sk)
{
	__sync_fetch_and_add(&inits, 1);
}

SEC("struct_ops") void BPF_PROG(on_init_of_second, struct sock *sk)
{
	__sync_fetch_and_add(&inits_of_second, 1);
}

SEC("struct_ops") __u32 BPF_PROG(on_ssthresh, struct sock *sk)
{
	return 10;
}

SEC("struct_ops") __u32 BPF_PROG(on_undo, struct sock *sk)
{
	return 10;
}

SEC("struct_ops") void BPF_PROG(on_avoid, struct sock *sk, __u32 ack, __u32 acked)
{
}

/* Refused by the verifier: it must not be loaded unless it is asked for. */
SEC("struct_ops") void BPF_PROG(never, struct sock *sk)
{
	*(volatile int *)sk = 0;
}

#define CONTROL(INIT, ...)                                                                         \
	{                                                                                          \
		.name = "pb_plain", .init = (void *)INIT, .ssthresh = (void *)on_ssthresh,         \
		.undo_cwnd = (void *)on_undo, .cong_avoid = (void *)on_avoid, ##__VA_ARGS__        \
	}

SEC(".struct_ops")
struct tcp_congestion_ops___short plain = CONTROL(on_init, .no_such_function = (void *)never);
SEC("?.struct_ops.link") struct tcp_congestion_ops___short first = CONTROL(on_init);
SEC("?.struct_ops.link") struct tcp_congestion_ops___short second = CONTROL(on_init_of_second);

char LICENSE[] SEC("license") = "GPL";
