// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Maps of several kinds for test_map.sh, which pins them and writes to them. */
#include <linux/types.h>
#include <bpf/bpf.h>

enum pbt_state {
	PBT_RUNNING = 1,
	PBT_ASLEEP,
};

struct pbt_key {
	__u32 pid;
	char comm[16];
	enum pbt_state state;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, int);
	__type(value, _Bool);
} pbt_pids SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, struct pbt_key);
	__type(value, __u64);
} pbt_by_key SEC(".maps");

struct pbt_number {
	__u64 large;
	__s64 small;
	__int128 huge;
	enum pbt_state asleep : 4;
	_Bool on : 1;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, int);
	__type(value, struct pbt_number);
} pbt_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, __u64);
} pbt_percpu SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 200000);
	__type(key, __u32);
	__type(value, __u64);
} pbt_many SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, 4);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, __u32);
} pbt_trie SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 4);
	__type(value, __u32);
} pbt_queue SEC(".maps");

#define STORAGE(kind, name)                                                                        \
	struct {                                                                                   \
		__uint(type, kind);                                                                \
		__uint(map_flags, BPF_F_NO_PREALLOC);                                              \
		__type(key, int);                                                                  \
		__type(value, __u64);                                                              \
	} name SEC(".maps")
STORAGE(BPF_MAP_TYPE_TASK_STORAGE, pbt_task);
STORAGE(BPF_MAP_TYPE_INODE_STORAGE, pbt_inode);
STORAGE(BPF_MAP_TYPE_SK_STORAGE, pbt_sk);

char _license[] SEC("license") = "GPL";
