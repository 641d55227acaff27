/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records of the ring, checked before anybody reads them: another program may write to a ring
 * that it can reach.
 */
#ifndef PB_TRACE_RECORD_CHECK_H
#define PB_TRACE_RECORD_CHECK_H

#include <stddef.h>

#include "lib/base/error.h"
#include "syscalls/call_record.h"

/*
 * EBADMSG: the bytes are not a record. Of a record, the arguments and all pieces are within its
 * size, and the pieces fill it. The bytes are aligned to 8.
 */
struct error *trace_record_check(const void *data, size_t size);

#endif
