// SPDX-License-Identifier: BSD-2-Clause
/* A program that outputs bytes for each write. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(key_size, 4);
	__uint(value_size, 4);
} __bpf_stdout__ SEC(".maps");

SEC("tracepoint/syscalls/sys_enter_write")
int on_write(void *ctx)
{
	char text[11] = "from below";

	bpf_perf_event_output(ctx, &__bpf_stdout__, BPF_F_CURRENT_CPU, text, sizeof(text));
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
