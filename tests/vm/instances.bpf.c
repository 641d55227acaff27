// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A program whose second and third argument only a prologue can set. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

__u64 calls = 0;

static __noinline long twice(long v)
{
	barrier_var(v);
	return v * 2;
}

SEC("raw_tp/sched_process_hang")
int with_arguments(void *ctx, long err, long value)
{
	__sync_fetch_and_add(&calls, 1);
	return err ? -1 : (int)(twice(value) + 1);
}
