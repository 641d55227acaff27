/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PB_RUN_SYSCALLS_H
#define PB_RUN_SYSCALLS_H

#include <stdint.h>

/* "openat"; NULL: this program knows none of that number. Of 64-bit programs of this machine. */
const char *syscall_name(uint64_t nr);

#endif
