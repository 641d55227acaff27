/* SPDX-License-Identifier: BSD-2-Clause */
/* What programs written for libbpf before 1.0 still call. */
#ifndef PERF_BPF_LIBBPF_LEGACY_H
#define PERF_BPF_LIBBPF_LEGACY_H

#include <linux/bpf.h>
#include <stdbool.h>

#include "libbpf_common.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bpf_program;

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

#ifdef __cplusplus
}
#endif

#endif
