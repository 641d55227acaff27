/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cleaning up in the kernel when this process has ended, however it ended: see
 * janitor.c. For what has no descriptor that would take it along.
 */
#ifndef PB_SYS_JANITOR_H
#define PB_SYS_JANITOR_H

#include <stddef.h>

#include "lib/base/error.h"

/*
 * When the last copy of *keep is closed (by this process, or by its end; a
 * child that this process forks has a copy too), text is written to fd by
 * another process, until the kernel takes it or has no such thing. fd and text
 * stay the caller's. *keep is close-on-exec.
 */
struct error *sys_janitor_start(int fd, const char *text, int *keep);

#endif
