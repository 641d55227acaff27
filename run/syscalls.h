/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PB_RUN_SYSCALLS_H
#define PB_RUN_SYSCALLS_H

#include <stdint.h>

#include "lib/base/strbuf.h"

/*
 * Adds the name of a perf_bpf_syscall: "openat", "32-bit getpid" or "x32 read", or the number
 * after such a prefix; false, and nothing is added: the number of a 64-bit call has no name.
 */
bool syscall_add_name(uint32_t nr, struct strbuf *out);

#endif
