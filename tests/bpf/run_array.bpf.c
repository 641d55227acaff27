// SPDX-License-Identifier: BSD-2-Clause
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
const volatile int limits[4];
int sums[2];
SEC("?raw_tp/sched_process_exec") int add(void *ctx)
{
	sums[0] += limits[0] + limits[3];
	return 0;
}
char LICENSE[] SEC("license") = "GPL";
