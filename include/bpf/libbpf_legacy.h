/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions for programs written for libbpf before 1.0. */
#ifndef PERF_BPF_LIBBPF_LEGACY_H
#define PERF_BPF_LIBBPF_LEGACY_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libbpf_common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bpf_insn;
struct bpf_map;
struct bpf_program;
struct btf;
struct btf_ext;

enum libbpf_strict_mode {
	LIBBPF_STRICT_NONE = 0x00,
	LIBBPF_STRICT_CLEAN_PTRS = 0x01,
	LIBBPF_STRICT_DIRECT_ERRS = 0x02,
	LIBBPF_STRICT_SEC_NAME = 0x04,
	LIBBPF_STRICT_NO_OBJECT_LIST = 0x08,
	LIBBPF_STRICT_AUTO_RLIMIT_MEMLOCK = 0x10,
	LIBBPF_STRICT_MAP_DEFINITIONS = 0x20,
	__LIBBPF_STRICT_LAST,
	LIBBPF_STRICT_ALL = 0xffffffff,
};

/* Does nothing and returns 0: all useful modes are always on. */
LIBBPF_API int libbpf_set_strict_mode(enum libbpf_strict_mode mode);

/* For the pointer that a function has returned: 0, or -errno if ptr is NULL. */
LIBBPF_API long libbpf_get_error(const void *ptr);

LIBBPF_API enum bpf_prog_type bpf_program__get_type(const struct bpf_program *prog);
LIBBPF_API enum bpf_attach_type
bpf_program__get_expected_attach_type(const struct bpf_program *prog);

/* Old names of bpf_map__pin_path(), btf__raw_data(), btf_ext__raw_data() and
 * btf__load_vmlinux_btf(). */
LIBBPF_API const char *bpf_map__get_pin_path(const struct bpf_map *map);
LIBBPF_API const void *btf__get_raw_data(const struct btf *btf, __u32 *size);
LIBBPF_API const void *btf_ext__get_raw_data(const struct btf_ext *btf_ext, __u32 *size);
LIBBPF_API struct btf *libbpf_find_kernel_btf(void);

/*
 * Program instances: a program is loaded nr_instance times, each time with its
 * own instructions. bpf_object__load() calls prep() for n = 0 … nr_instance - 1
 * with a copy of the program's final instructions (subprograms appended, all
 * relocations applied), which prep() can change. The library has finished with
 * new_insn_ptr before it calls prep() again, so prep() can reuse its buffer. If
 * prep() returns non-zero, loading fails; the message names negative errnos.
 */
struct bpf_prog_prep_result {
	struct bpf_insn *new_insn_ptr; /* NULL: skip this instance */
	int new_insn_cnt;
	int *pfd; /* if not NULL, the file descriptor of the instance is also stored here */
	/*
	 * The new index of each of the insns_cnt instructions passed to prep(), in
	 * ascending order; -1: removed. It is used to adjust function and line
	 * information, so that kernels accept it and errors name the right lines. If
	 * NULL, old and new instructions are compared from both ends, which is enough
	 * if instructions change in only one range, for example with a prologue.
	 */
	const __s32 *new_insn_at;
};

typedef int (*bpf_program_prep_t)(struct bpf_program *prog, int n, struct bpf_insn *insns,
				  int insns_cnt, struct bpf_prog_prep_result *res);

/* Call it before load, otherwise it fails with EBUSY. A second call replaces prep. */
LIBBPF_API int bpf_program__set_prep(struct bpf_program *prog, int nr_instance,
				     bpf_program_prep_t prep);

/*
 * The file descriptor of instance n. The program owns it; do not close it.
 * Identical instances share one. ENOENT: the instance was skipped or is not
 * loaded. EINVAL: n is too large. A program without prep has one instance.
 * bpf_program__fd() and the functions that pin or attach programs use instance
 * 0; attach the other instances through their file descriptors, with
 * bpf_link_create() or PERF_EVENT_IOC_SET_BPF.
 */
LIBBPF_API int bpf_program__nth_fd(const struct bpf_program *prog, int n);

#ifdef __cplusplus
}
#endif

#endif
