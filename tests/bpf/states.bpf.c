// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What tests/cmd/states_client.c sets: programs, and maps of several kinds. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, int);
	__type(value, long);
} map SEC(".maps"), absent SEC(".maps"), reused SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 2);
	__type(key, int);
	__type(value, int);
} outer SEC(".maps");

long counted = 5;

SEC("socket") int prog(void *ctx)
{
	return 1;
}

SEC("?socket") int off(void *ctx)
{
	int key = 0;

	bpf_map_lookup_elem(&map, &key);
	return (int)counted;
}

char LICENSE[] SEC("license") = "GPL";
