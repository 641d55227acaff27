/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All that the kernel tells of a loaded program: struct bpf_prog_info with the
 * arrays it points to.
 */
#ifndef PB_SYS_PROG_INFO_H
#define PB_SYS_PROG_INFO_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stdint.h>

#include "lib/base/error.h"

enum sys_prog_array {
	SYS_PROG_JITED_INSNS,
	SYS_PROG_XLATED_INSNS,
	SYS_PROG_MAP_IDS,	  /* u32 */
	SYS_PROG_JITED_KSYMS,	  /* u64: the address of each function */
	SYS_PROG_JITED_FUNC_LENS, /* u32: bytes of each */
	SYS_PROG_FUNC_INFO,	  /* struct bpf_func_info, info.func_info_rec_size apart */
	SYS_PROG_LINE_INFO,
	SYS_PROG_JITED_LINE_INFO,
	SYS_PROG_TAGS, /* 8 bytes each */
	SYS_PROG_ARRAYS,
};

/* Where struct bpf_prog_info has what belongs to an array. */
struct sys_prog_array_desc {
	int pointer, count; /* offsets of members */
	int size; /* bytes of an element: the offset of the member that has them; < 0: -N */
};
extern const struct sys_prog_array_desc sys_prog_arrays[SYS_PROG_ARRAYS];

#define SYS_PROG_ALL ((1u << SYS_PROG_ARRAYS) - 1)
#define SYS_PROG_CODE                                                                              \
	(1u << SYS_PROG_JITED_INSNS | 1u << SYS_PROG_XLATED_INSNS | 1u << SYS_PROG_LINE_INFO |     \
	 1u << SYS_PROG_JITED_LINE_INFO)

struct sys_prog_info {
	/*
	 * The count of an array that was read is how many elements there are in
	 * arrays[]. Its pointer is 0 when the kernel hides the contents; they are
	 * zeros then.
	 */
	struct bpf_prog_info info;
	uint32_t len;		       /* bytes of info that this kernel knows */
	void *arrays[SYS_PROG_ARRAYS]; /* owned; NULL: not asked for, or empty */
};

/* fd is the program's; arrays is a bit (1 << SYS_PROG_…) for each that is wanted. */
struct error *sys_prog_info_read(int fd, unsigned arrays, struct sys_prog_info *out);
void sys_prog_info_deinit(struct sys_prog_info *prog);
#define _cleanup_prog_info_ __attribute__((cleanup(sys_prog_info_deinit)))

/* How many elements arrays[which] has. */
uint32_t sys_prog_info_count(const struct sys_prog_info *prog, enum sys_prog_array which);

/* The kernel has it, and does not show it to us. */
bool sys_prog_info_hides(const struct sys_prog_info *prog, enum sys_prog_array which);

#endif
