// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How large the blocks are that programs ask of the C library's malloc().
 *
 *	perf bpf run mallocsizes --comm python3 -- python3 -c 'x = bytes(10000000)'
 *
 * Needs: uprobes, and libc.so.6.
 *
 * Programs that are linked statically have a malloc() of their own, which is
 * not seen.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

struct mallocsizes_comm {
	char comm[16];
};

PERF_BPF_LOG2(sizes, "bytes", "blocks asked of malloc()");
PERF_BPF_TABLE(bytes, struct mallocsizes_comm, __u64, 4096, "bytes", "by command");

SEC("uprobe/libc.so.6:malloc")
int BPF_UPROBE(mallocsizes_malloc, __u64 size)
{
	struct mallocsizes_comm key = {};

	if (!perf_bpf_wanted())
		return 0;
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	perf_bpf_log2(&sizes, size);
	perf_bpf_table_add(&bytes, &key, size);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
