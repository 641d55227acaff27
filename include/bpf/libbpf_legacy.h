/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs written for libbpf before 1.0 still call. */
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

/* Does nothing and returns 0: all modes that make sense are always on. */
LIBBPF_API int libbpf_set_strict_mode(enum libbpf_strict_mode mode);

/* For the result of a function that returns a pointer: 0, or -errno for NULL. */
LIBBPF_API long libbpf_get_error(const void *ptr);

LIBBPF_API enum bpf_prog_type bpf_program__get_type(const struct bpf_program *prog);
LIBBPF_API enum bpf_attach_type
bpf_program__get_expected_attach_type(const struct bpf_program *prog);

/* Other names of bpf_map__pin_path(), btf__raw_data(), btf_ext__raw_data() and
 * btf__load_vmlinux_btf(). */
LIBBPF_API const char *bpf_map__get_pin_path(const struct bpf_map *map);
LIBBPF_API const void *btf__get_raw_data(const struct btf *btf, __u32 *size);
LIBBPF_API const void *btf_ext__get_raw_data(const struct btf_ext *btf_ext, __u32 *size);
LIBBPF_API struct btf *libbpf_find_kernel_btf(void);

/*
 * Instances: a program is loaded nr_instance times, each time with
 * instructions of its own. While bpf_object__load() loads it, it calls prep()
 * for n = 0 … nr_instance - 1 with a copy of the program's final instructions
 * (subprograms appended, all relocations done), which prep() may change. What
 * prep() points to is used before it is called again, so that one buffer will
 * do. Not 0: it failed, and so does loading; negative errnos are named.
 */
struct bpf_prog_prep_result {
	struct bpf_insn *new_insn_ptr; /* NULL: no such instance, it is skipped */
	int new_insn_cnt;
	int *pfd; /* where the instance's descriptor is written to, too; may be NULL */
	/*
	 * Where each of the insns_cnt instructions that were given is now, ascending;
	 * -1: nowhere. With it function and line records go with the instructions, so
	 * that kernels accept them and errors name the right lines. NULL: the
	 * instructions are compared from both ends, which finds it for what is put in,
	 * taken out or replaced in one place, as a prologue.
	 */
	const __s32 *new_insn_at;
};

typedef int (*bpf_program_prep_t)(struct bpf_program *prog, int n, struct bpf_insn *insns,
				  int insns_cnt, struct bpf_prog_prep_result *res);

/* Before load (EBUSY); again: it takes the former one's place. */
LIBBPF_API int bpf_program__set_prep(struct bpf_program *prog, int nr_instance,
				     bpf_program_prep_t prep);

/*
 * The n-th instance's descriptor: the program's, do not close it; equal
 * instances share one. ENOENT: it was skipped, or is not loaded. EINVAL: there
 * are not so many. A program without prep has one instance.
 * bpf_program__fd(), pinning and all that attaches programs mean instance 0: the
 * others are attached by their descriptors, with bpf_link_create() or
 * PERF_EVENT_IOC_SET_BPF.
 */
LIBBPF_API int bpf_program__nth_fd(const struct bpf_program *prog, int n);

#ifdef __cplusplus
}
#endif

#endif
