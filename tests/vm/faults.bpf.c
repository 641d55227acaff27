// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Each page fault of maps_work is a sample, by its stack. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_STACKS(faults, 1024, "faults", "page faults");

SEC("perf_event/page-faults/period=1/")
int on_fault(struct bpf_perf_event_data *ctx)
{
	char comm[16] = {};

	bpf_get_current_comm(comm, sizeof(comm));
	if (comm[0] == 'm' && comm[1] == 'a' && comm[2] == 'p' && comm[3] == 's')
		perf_bpf_user_stack_add(ctx, faults, 1);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
