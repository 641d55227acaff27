/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For BPF programs that perf-bpf compiles: bpf_helpers.h, and on top of it the
 * short spellings that perf's own headers for BPF programs had from 2018 to
 * 2023 (SEC, bpf_map, license, syscall_enter …), so that programs of that time
 * compile as they are.
 *
 *	#include <bpf/perf_bpf_prog.h>
 *
 *	bpf_map(sizes, ARRAY, int, __u64, 64);
 *
 *	int syscall_enter(write)(struct syscall_enter_args *args)
 *	{
 *		return args->args[2] > 4096;	// non-zero: record the event
 *	}
 *
 *	license(GPL);
 */
#ifndef PERF_BPF_PROG_H
#define PERF_BPF_PROG_H

#include "bpf_helpers.h"

/* ---- maps ---- */

/* A map's definition in section "maps", in its long form. */
struct bpf_map_def {
	unsigned int type;
	unsigned int key_size;
	unsigned int value_size;
	unsigned int max_entries;
	unsigned int map_flags;
};

/*
 * A map, with the types of its keys and values in a struct ____btf_map_NAME
 * that the loader looks for. The type goes without its BPF_MAP_TYPE_.
 */
#define bpf_map(name, map_type, key_type, value_type, entries)                                     \
	struct bpf_map_def name SEC("maps") = {                                                    \
		.type = BPF_MAP_TYPE_##map_type,                                                   \
		.key_size = sizeof(key_type),                                                      \
		.value_size = sizeof(value_type),                                                  \
		.max_entries = entries,                                                            \
	};                                                                                         \
	struct ____btf_map_##name {                                                                \
		key_type key;                                                                      \
		value_type value;                                                                  \
	};                                                                                         \
	struct ____btf_map_##name __attribute__((section(".maps." #name), used))                   \
	____btf_map_##name = {}

/* A map from process ids. */
#define pid_map(name, value_type) bpf_map(name, HASH, int, value_type, 64)

/* ---- the license ---- */

/* license(GPL); or license("Dual BSD/GPL") by the plain form: char LICENSE[] SEC("license"). */
#define license(name) char _license[] SEC("license") = #name

/* ---- contexts of system call tracepoints ---- */

/* syscalls:sys_enter_NAME and raw_syscalls:sys_enter. */
struct syscall_enter_args {
	unsigned long long common_tp_fields; /* not for programs to read */
	long syscall_nr;
	unsigned long args[6];
};

/* syscalls:sys_exit_NAME and raw_syscalls:sys_exit. */
struct syscall_exit_args {
	unsigned long long common_tp_fields;
	long syscall_nr;
	long ret;
};

/* int syscall_enter(openat)(struct syscall_enter_args *args) { … } */
#define syscall_enter(name) SEC("syscalls:sys_enter_" #name) syscall_enter_##name
#define syscall_exit(name)  SEC("syscalls:sys_exit_" #name) syscall_exit_##name

/* ---- output into the recording ---- */

/*
 * perf_output_map(); defines the map whose events the recording takes in, and
 * perf_output(ctx, data, size) adds bytes to it, which stand in perf.data as
 * samples of the event __bpf_stdout__.
 */
#define perf_output_map()                                                                          \
	struct bpf_map_def __bpf_stdout__ SEC("maps") = {                                          \
		.type = BPF_MAP_TYPE_PERF_EVENT_ARRAY,                                             \
		.key_size = sizeof(int),                                                           \
		.value_size = sizeof(__u32),                                                       \
	}
#define perf_output(ctx, data, size)                                                               \
	bpf_perf_event_output((ctx), &__bpf_stdout__, BPF_F_CURRENT_CPU, (data), (size))

#endif
