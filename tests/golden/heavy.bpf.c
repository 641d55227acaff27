// SPDX-License-Identifier: BSD-2-Clause
/* A program that takes most of the time of the system calls. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

volatile unsigned long total;

SEC("raw_tp/sys_enter")
int rbpf_heavy(void *ctx)
{
	unsigned long s = bpf_ktime_get_ns();

	if ((__u32)bpf_get_current_pid_tgid() == 0)
		return 0;
	for (int i = 0; i < 2000; i++)
		s = s * 31 + (s >> 7); /* the hot line */
	total += s;
	return 0;
}
