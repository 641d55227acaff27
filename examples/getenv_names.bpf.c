// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which environment variables programs ask for.
 *
 *	perf-bpf run examples/getenv_names.bpf.c --comms bash -- bash -c true
 *
 * The section is a probe definition, see perf-bpf-probes(7): a function of a
 * library, and what is to be read there, by name. The library has no debug
 * information, so its first parameter goes by its number.
 */
#include "vmlinux.h"
#include <bpf/perf_bpf_prog.h>

struct asked {
	int err;
	char name[32];
};

struct getenv_key {
	char comm[16];
	char name[32];
};
PERF_BPF_TABLE(asked_for, struct getenv_key, __u64, 10240, "calls", "variables asked for");

SEC("exec=libc.so.6;asks=getenv name=$arg1:string")
int asks(void *ctx, struct asked *args)
{
	struct getenv_key key = {};

	if (args->err || !perf_bpf_wanted())
		return 0;
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	__builtin_memcpy(key.name, args->name, sizeof(key.name));
	perf_bpf_table_add(&asked_for, &key, 1);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
