/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For BPF C files in the form that perf trace -e FILE.c compiled until Linux 6.3: the macros and
 * names that such files take for granted, by those of <bpf/bpf_helpers.h>. compile/ looks for the
 * headers of this directory first if a file has a line that begins with "license(".
 */
#ifndef PERF_BPF_OLD_FORM_H
#define PERF_BPF_OLD_FORM_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <linux/version.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_helpers.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s8 s8;
typedef __s16 s16;
typedef __s32 s32;
typedef __s64 s64;
typedef __kernel_pid_t pid_t;

/* Entries of maps by CPU: perf gave the number of this machine. */
#ifndef __NR_CPUS__
#define __NR_CPUS__ 8192
#endif

struct bpf_map {
	unsigned int type, key_size, value_size, max_entries, map_flags;
};

#define bpf_map(name, kind, key, value, entries)                                                   \
	struct bpf_map SEC("maps") name = {                                                        \
		.type = BPF_MAP_TYPE_##kind,                                                       \
		.key_size = sizeof(key),                                                           \
		.value_size = sizeof(value),                                                       \
		.max_entries = entries,                                                            \
	}

#define pid_map(name, value) bpf_map(name, HASH, pid_t, value, 64)

#define license(name) char _license[] SEC("license") = #name

#define probe(function, vars) SEC(#function "=" #function " " #vars) function
#define syscall_enter(name)   SEC("syscalls:sys_enter_" #name) syscall_enter_##name
#define syscall_exit(name)    SEC("syscalls:sys_exit_" #name) syscall_exit_##name

#define probe_read	  bpf_probe_read
#define probe_read_str	  bpf_probe_read_str
#define perf_event_output bpf_perf_event_output

#endif
