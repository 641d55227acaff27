/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps and sections as programs had them from 2015 to 2019. */
#include <bpf/bpf.h>

struct entry {
	int pid;
	char comm[16];
};

bpf_map(entries, HASH, int, struct entry, 32);
perf_output_map();

int syscall_enter(write)(struct syscall_enter_args *args)
{
	int key = 1;
	struct entry *entry = bpf_map_lookup_elem(&entries, &key);
	int size = (int)args->args[2];

	perf_output(args, &size, sizeof(size));
	return entry ? entry->pid : size == 1234;
}

SEC("events/sched/sched_switch")
int on_switch(void *ctx)
{
	return 0;
}

license(GPL);
