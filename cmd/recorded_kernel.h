/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's symbols and code in the directory of a recording: record --kcore. */
#ifndef PB_CMD_RECORDED_KERNEL_H
#define PB_CMD_RECORDED_KERNEL_H

#include "perf/resolve/resolve.h"

struct recorded_kernel;

/*
 * dir: session_kcore_dir(). What cannot be read is an error; without force, also what belongs to
 * another user but root.
 */
struct error *recorded_kernel_new(const char *dir, bool force, struct recorded_kernel **out);
void recorded_kernel_free(struct recorded_kernel *kernel);
DEFINE_FREEP(struct recorded_kernel, recorded_kernel_free)

/* Names and code are those of the directory, which lives longer than the resolver. */
void recorded_kernel_use(struct recorded_kernel *kernel, struct resolver_opts *opts);

#endif
