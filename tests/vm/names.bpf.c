// SPDX-License-Identifier: BSD-2-Clause
/* Is called through a trampoline, and spends its time in a subprogram: tests/vm/guest/run-names. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

volatile unsigned names_sum;

static __attribute__((noinline)) int names_spin(int n)
{
	for (int i = 0; i < 4000; i++)
		names_sum += i ^ n;
	return 0;
}

SEC("fentry/do_sys_openat2") int names_entry(void *ctx)
{
	return names_spin(3);
}

char LICENSE[] SEC("license") = "GPL";
