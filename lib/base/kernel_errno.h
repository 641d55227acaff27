/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef PB_BASE_KERNEL_ERRNO_H
#define PB_BASE_KERNEL_ERRNO_H

/*
 * "EINTR", and "ERESTARTSYS": numbers from 512 on are the kernel's own. A program does not see
 * them, but a tracepoint does. NULL: it has no name.
 */
const char *kernel_errno_name(int error);

#endif
