// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What tests/cmd/api_client.c makes the library's calls on. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

int counted;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, int);
	__type(value, long);
} first SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 3);
	__type(key, int);
	__type(value, long);
} second SEC(".maps");

SEC("raw_tp/task_rename")
int on_raw(void *ctx)
{
	counted++;
	return 0;
}

SEC("tp_btf/task_rename")
int on_typed(void *ctx)
{
	counted++;
	return 0;
}
