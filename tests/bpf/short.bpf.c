/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Map definitions of other lengths: four words, and words of a loader's own. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#ifndef TAIL
#define TAIL 0
#endif

struct short_def {
	unsigned int type, key_size, value_size, max_entries;
};

struct long_def {
	unsigned int type, key_size, value_size, max_entries, flags, id, pinning;
};

#ifdef LONG
struct long_def counts SEC("maps") = {BPF_MAP_TYPE_ARRAY, 4, 8, 3, 0, 0, TAIL};
struct long_def others SEC("maps") = {BPF_MAP_TYPE_HASH, 8, 4, 5, BPF_F_NO_PREALLOC};
#else
struct short_def counts SEC("maps") = {BPF_MAP_TYPE_ARRAY, 4, 8, 3};
struct short_def others SEC("maps") = {BPF_MAP_TYPE_HASH, 8, 4, 5};
#endif

SEC("raw_tp/sys_enter")
int use(void *ctx)
{
	__u32 key = 1;
	__u64 wide = 1;

	return bpf_map_lookup_elem(&counts, &key) != NULL ||
	       bpf_map_lookup_elem(&others, &wide) != NULL;
}

char LICENSE[] SEC("license") = "GPL";
