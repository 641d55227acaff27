/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registers of a sample (PERF_SAMPLE_REGS_USER, _INTR): bits of a mask, by the kernel's numbers
 * in arch/x86/include/uapi/asm/perf_regs.h and arch/arm64/include/uapi/asm/perf_regs.h.
 */
#ifndef PB_PERF_EVENT_SAMPLE_REGS_H
#define PB_PERF_EVENT_SAMPLE_REGS_H

#include <stdint.h>

#include "lib/base/error.h"
#include "lib/base/strbuf.h"

/* "AX", "x29": perf's name of a register by its number; arch NULL: x86-64. */
const char *sample_reg_name(const char *arch, unsigned reg, char name[16]);

/* Of the machine that this was built for: all that may be asked for, and what unwinding needs. */
uint64_t sample_regs_all(void);
uint64_t sample_regs_least(void);

/* "ip,sp,ax", in either case, as a mask of this machine. Errors are of usage. */
struct error *sample_regs_parse(const char *text, uint64_t *mask);

/* The names of this machine's registers, separated by spaces. */
void sample_regs_list(struct strbuf *out);

#endif
