// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Keeps the openat() calls of one command, wherever it runs:
 *
 *	perf-bpf record -e examples/openat_by_comm.bpf.c -a -- sh -c 'cat /etc/hostname; ls /'
 *
 * Another command than cat: --clang-opt '-DCOMM=\"ls\"'.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>

#ifndef COMM
#define COMM "cat"
#endif

SEC("tracepoint/syscalls/sys_enter_openat")
int is_by_comm(void *ctx)
{
	const char wanted[] = COMM;
	char comm[16] = {};

	bpf_get_current_comm(comm, sizeof(comm));
	for (unsigned int i = 0; i < sizeof(wanted); i++)
		if (comm[i] != wanted[i])
			return 0;
	return 1;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
