/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of system calls by number: those that the build machine's headers have. */
#ifndef PB_SYSCALLS_CALL_NAMES_H
#define PB_SYSCALLS_CALL_NAMES_H

#include <stdint.h>

#include "syscalls/call_record.h"

/* NULL: a number without a name. */
const char *call_name(enum trace_abi abi, uint32_t nr);

#endif
