// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

SEC("tracepoint/syscalls/sys_enter_getppid")
int pbt_even(void *ctx)
{
	return !(bpf_get_current_pid_tgid() & 1);
}

SEC("perf_event/page-faults")
int pbt_odd(void *ctx)
{
	return bpf_get_current_pid_tgid() & 1;
}

char LICENSE[] SEC("license") = "GPL";
