/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* Programs that the verifier refuses, each for its reason. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __noinline int touch(__u32 key)
{
	__u64 *count = bpf_map_lookup_elem(&counts, &key);

	*count += 1; /* not tested */
	return 0;
}

SEC("?raw_tp/sys_enter")
int unchecked(void *ctx)
{
	return touch((__u32)bpf_get_prandom_u32());
}

SEC("?raw_tp/sys_enter")
int follows_number(unsigned long long *ctx)
{
	return *(int *)ctx[1];
}

SEC("?raw_tp/sys_enter")
int endless(void *ctx)
{
	volatile int n = 0;

	for (;;)
		n++;
	return n;
}

#ifndef TEXT
#define TEXT "GPL"
#endif
char LICENSE[] SEC("license") = TEXT;
