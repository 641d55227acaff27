// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Counts what the USDT probes of usdt_client.c pass on. */
#include <linux/bpf.h>
#include <linux/ptrace.h>

#ifdef SPECS
#define BPF_USDT_MAX_SPEC_CNT SPECS
#endif
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>

#include "usdt.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct usdt_result result = {0};

static __always_inline int mine(void)
{
	return !result.pid || bpf_get_current_pid_tgid() >> 32 == (__u64)result.pid;
}

static __always_inline int hit(struct pt_regs *ctx)
{
	long value;

	if (!mine())
		return 0;
	result.calls++;
	result.cookies += bpf_usdt_cookie(ctx);
	result.count = bpf_usdt_arg_cnt(ctx);
	for (int i = 0; i < USDT_ARGS; i++) {
		if (i >= result.count)
			break;
		if (bpf_usdt_arg(ctx, i, &value))
			result.errors++;
		result.sums[i] += value;
		result.sizes[i] = bpf_usdt_arg_size(ctx, i);
	}
	result.beyond = bpf_usdt_arg(ctx, result.count, &value);
	return 0;
}

SEC("usdt")
int on_any(struct pt_regs *ctx)
{
	return hit(ctx);
}

SEC("usdt//proc/self/exe:perfbpf:twelve")
int BPF_USDT(on_section, int constant, signed char c, unsigned char uc, short s, unsigned short us,
	     int i, unsigned u, long l, unsigned long ul, int global, long element, void *pointer)
{
	if (!mine())
		return 0;
	result.calls++;
	result.sums[0] += constant;
	result.sums[1] += c;
	result.sums[2] += uc;
	result.sums[3] += s;
	result.sums[4] += us;
	result.sums[5] += i;
	result.sums[6] += u;
	result.sums[7] += l;
	result.sums[8] += ul;
	result.sums[9] += global;
	result.sums[10] += element;
	result.sums[11] += (unsigned long)pointer;
	return 0;
}

SEC("usdt//proc/self/exe:perfbpf:twelf")
int no_probe(struct pt_regs *ctx)
{
	return 0;
}

/* A program that was not loaded for uprobe.multi is attached place by place. */
SEC("uprobe")
int on_single(struct pt_regs *ctx)
{
	return hit(ctx);
}
