/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Every kind of map and of global data, subprograms, callbacks, constants. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct sample {
	__u64 count;
	__u32 last;
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct sample);
} samples SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u64));
} per_cpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 4);
	__type(key, __u32);
	__array(
		values, struct {
			__uint(type, BPF_MAP_TYPE_ARRAY);
			__uint(max_entries, 3);
			__type(key, __u32);
			__type(value, __u64);
		});
} outer SEC(".maps");

const volatile __u64 wanted = 1234;
const volatile char text[] SEC(".rodata.named") = "constant";
__u64 seen;
__u64 start = 7;
__u64 named SEC(".data.named") = 0x1122334455667788;
static __u64 hidden_count;

static __noinline __u64 add(__u64 n)
{
	hidden_count += n;
	return hidden_count + start;
}

__noinline int global_add(__u32 n)
{
	return (int)add(n) + 1;
}

static long each(__u32 i, void *ctx)
{
	__sync_fetch_and_add(&named, i);
	return 0;
}

/* Run by BPF_PROG_TEST_RUN: retval tells what it saw. */
SEC("raw_tp/sys_enter")
int count(void *ctx)
{
	__u32 key = 0;
	struct sample first = {.count = wanted, .last = text[0]};
	__u64 *cell = bpf_map_lookup_elem(&per_cpu, &key);

	if (cell)
		*cell += 1;
	bpf_map_update_elem(&samples, &key, &first, BPF_ANY);
	seen++;
	return global_add(3);
}

SEC("?raw_tp/sys_exit")
int loop(void *ctx)
{
	bpf_loop(5, each, NULL, 0);
	return (int)add(1);
}

SEC("?socket")
int missing_map_or_not(struct __sk_buff *skb)
{
	__u32 key = 0;

	return bpf_map_lookup_elem(&outer, &key) ? 1 : 2;
}

char LICENSE[] SEC("license") = "GPL";
__u32 VERSION SEC("version") = 0x060100;
int config_words[2] SEC("config") = {1, 2};
