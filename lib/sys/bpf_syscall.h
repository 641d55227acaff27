/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2) as other rooms use it: <bpf/bpf.h> has a function per command, all
 * of them made of sys_bpf() in bpf_syscall.c, which is the only caller of the system
 * call. Beyond that: what is known of the kernel's bpf(2).
 */
#ifndef PB_SYS_BPF_H
#define PB_SYS_BPF_H

#include <bpf/bpf.h>
#include <stdbool.h>

/*
 * The system call with an attr of size bytes. A new descriptor is close-on-exec
 * and never 0, 1 or 2. Returns the result or a negative errno.
 */
long sys_bpf(int cmd, void *attr, unsigned int size);

/* Features that decide how objects are prepared and loaded; see bpf_features.c. */
enum sys_bpf_feature {
	SYS_BPF_PROG_NAME,	 /* 4.15: names of programs and maps */
	SYS_BPF_GLOBAL_DATA,	 /* 5.2: maps behind .data, .rodata, .bss */
	SYS_BPF_ARRAY_MMAP,	 /* 5.5: BPF_F_MMAPABLE */
	SYS_BPF_EXP_ATTACH_TYPE, /* 4.17: expected_attach_type of BPF_PROG_LOAD */
	SYS_BPF_PROBE_READ_KERN, /* 5.5: bpf_probe_read_kernel() */
	SYS_BPF_BTF,		 /* 4.18: BPF_BTF_LOAD at all */
	SYS_BPF_BTF_FUNC,	 /* 5.0 */
	SYS_BPF_BTF_FUNC_GLOBAL, /* 5.6 */
	SYS_BPF_BTF_DATASEC,	 /* 5.2 */
	SYS_BPF_BTF_FLOAT,	 /* 5.13 */
	SYS_BPF_BTF_DECL_TAG,	 /* 5.16 */
	SYS_BPF_BTF_TYPE_TAG,	 /* 5.17 */
	SYS_BPF_BTF_ENUM64,	 /* 6.0 */
	SYS_BPF_BTF_QMARK,	 /* 6.9: "?" in the name of a data section */
	SYS_BPF_PERF_LINK,	 /* 5.15: a BPF link for a perf event */
	SYS_BPF_COOKIE,		 /* 5.15: bpf_get_attach_cookie() */
	SYS_BPF_UPROBE_MULTI,	 /* 6.6, and the process it names is one, not a thread (6.10) */
	SYS_BPF_FUNC_IP,	 /* 5.15: bpf_get_func_ip() in a kprobe */
	SYS_BPF_FEATURES,
};

/* Found out by trying, once per process: the kernel does not change under it. */
bool sys_bpf_has(enum sys_bpf_feature feature);

/*
 * Whether a program may hold a kernel function's address, to test whether the
 * function is there: since 6.4. btf_fd is that of the module it is in, 0 for the
 * kernel itself. Asks the kernel each time.
 */
bool sys_bpf_takes_func_address(uint32_t btf_id, int btf_fd);

/*
 * Raises RLIMIT_MEMLOCK as far as the hard limit allows, for kernels before
 * 5.11, which charge maps to it. Failure is no error.
 */
void sys_bpf_bump_memlock(void);

/* Copies of name's first 15 bytes as the kernel takes them: [A-Za-z0-9_.], others become '_'. */
#define SYS_BPF_NAME_SIZE 16
void sys_bpf_name(const char *name, char out[SYS_BPF_NAME_SIZE]);

#endif
