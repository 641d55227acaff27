// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps one read in nth, counted by size class; nth stands in a map, and can
 * be changed from outside while the recording runs:
 *
 *	perf-bpf record -e examples/every_nth.bpf.c/map:settings.value[0]=10/ -a -- sleep 1
 *
 * Written as the BPF programs of perf trace were: bpf_map() defines a map with
 * its types, and syscall_enter(read) names section, event and function.
 */
#include <linux/bpf.h>
#include <bpf/perf_bpf_prog.h>

bpf_map(settings, ARRAY, int, unsigned long, 1);
bpf_map(reads_by_log2, ARRAY, int, unsigned long, 64);

int syscall_enter(read)(struct syscall_enter_args *ctx)
{
	int first = 0, log2 = 0;
	unsigned long count = ctx->args[2];
	unsigned long *nth = bpf_map_lookup_elem(&settings, &first);

	for (int bit = 32; bit; bit /= 2)
		if (count >> (log2 + bit))
			log2 += bit;
	unsigned long *seen = bpf_map_lookup_elem(&reads_by_log2, &log2);
	if (!seen || !nth)
		return 1;
	unsigned long number = __sync_fetch_and_add(seen, 1);
	return *nth < 2 || number % *nth == 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
