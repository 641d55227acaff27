/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The maps and functions of <bpf/usdt.bpf.h>. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_helpers.h>
#include <bpf/usdt.bpf.h>

__u64 sum;

SEC("usdt/libc.so.6:libc:setjmp")
int BPF_USDT(on_probe, long first, int second)
{
	sum += first + second + bpf_usdt_cookie(ctx);
	return bpf_usdt_arg_cnt(ctx) + bpf_usdt_arg_size(ctx, 0);
}

char LICENSE[] SEC("license") = "GPL";
