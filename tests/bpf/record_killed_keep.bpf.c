// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
SEC("tracepoint/syscalls/sys_enter_getpriority")
int pbt_killed(struct trace_event_raw_sys_enter *ctx)
{
	return 1;
}
char _license[] SEC("license") = "Dual BSD/GPL";
