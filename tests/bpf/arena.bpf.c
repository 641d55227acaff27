// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* An arena (6.9), with variables and a page of its own; clang 19 and newer. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#define ARENA __attribute__((address_space(1)))

#ifdef KIND
#define BPF_MAP_TYPE_ARENA_ KIND
#else
#define BPF_MAP_TYPE_ARENA_ 33
#endif
#ifndef PAGES
#define PAGES 100
#endif

struct {
	__uint(type, BPF_MAP_TYPE_ARENA_);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, PAGES);
#ifdef PLACE
	__ulong(map_extra, PLACE);
#endif
} arena SEC(".maps");

#ifdef TWO
struct {
	__uint(type, 33);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
} other SEC(".maps");
#endif

void ARENA *bpf_arena_alloc_pages(void *map, void ARENA *addr, __u32 count, int node,
				  __u64 flags) __ksym __weak;

ARENA int first = 41;
ARENA int second;
ARENA long *ARENA page;
#ifdef LARGE
ARENA char more[LARGE];
#endif

SEC("syscall") int count(void *ctx)
{
	first += 1;
	second = first * 2;
	page = bpf_arena_alloc_pages(&arena, 0, 1, -1, 0);
	if (!page)
		return -1;
	page[1] = 4321;
	return first;
}

char LICENSE[] SEC("license") = "GPL";
