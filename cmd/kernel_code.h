/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The code of the running kernel for a command that gives up its privileges: another process opens
 * /proc/kcore when it is first asked, and reads code for it, and nothing else.
 */
#ifndef PB_CMD_KERNEL_CODE_H
#define PB_CMD_KERNEL_CODE_H

#include "lib/base/cleanup.h"
#include "lib/base/log.h"
#include "lib/base/strbuf.h"
#include "work/keeper.h"

struct kernel_code;

/* *out is NULL if the kernel does not have the file or does not allow to open it. */
struct error *kernel_code_new(struct keeper *keeper, const struct log *log,
			      struct kernel_code **out);
/* Ends the other process. */
void kernel_code_free(struct kernel_code *code);
DEFINE_FREEP(struct kernel_code, kernel_code_free)

/* Of struct resolver_opts; ctx is a struct kernel_code. Errors as kcore_read(). */
struct error *kernel_code_read(void *ctx, uint64_t address, uint64_t size, struct strbuf *out);

#endif
