/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the files around bpf(2) share. The kernel takes an attr that is longer
 * than the one it knows as long as the rest is zero (since 4.14's
 * bpf_check_uarg_tail_zero()), and fills an attr that is shorter with zeros.
 * So each command is given the newest layout, written down field by field from
 * include/uapi/linux/bpf.h: the headers of the machine this is built on may be
 * older than the kernel it runs on.
 */
#ifndef PB_SYS_BPF_CALL_H
#define PB_SYS_BPF_CALL_H

#include <errno.h>
#include <stdint.h>

#include "lib/base/edge.h"
#include "lib/base/util.h"
#include "lib/sys/bpf_syscall.h"
#include "lib/sys/uapi.h"

static inline uint64_t ptr_to_u64(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* For commands that give a descriptor: moved away from stdin, stdout and stderr. */
int sys_bpf_fd(int cmd, void *attr, unsigned int size);

/* A negative errno also goes to errno: the public contract. */
static inline int give(long result)
{
	if (result < 0)
		errno = (int)-result;
	return (int)result;
}

#endif
