// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
SEC("raw_tp/sched_process_exec") int nothing(void *ctx)
{
	return 0;
}
char LICENSE[] SEC("license") = "GPL";
