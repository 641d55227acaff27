/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The registers of the machines that probes are set on: names, DWARF numbers,
 * where they stand in the struct pt_regs that BPF programs are given, and the
 * calling convention (integer class).
 *
 * x86-64: System V ABI, figure 3.36; struct pt_regs of arch/x86/include/asm/ptrace.h.
 * arm64: DWARF for the Arm 64-bit Architecture, 4.1; struct user_pt_regs.
 */
#ifndef PB_PROBE_FETCH_REGS_H
#define PB_PROBE_FETCH_REGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct regs;

/* By e_machine (EM_X86_64, EM_AARCH64); NULL: not known. EM_NONE: of this machine. */
const struct regs *regs_of(uint16_t machine);

/* "di", "x0"; NULL: no such register. */
const char *regs_name(const struct regs *regs, uint16_t dwarf);
/* The DWARF number by name, with or without '%', "rdi", "di" and "edi" alike; false: none. */
bool regs_by_name(const struct regs *regs, const char *name, uint16_t *dwarf);
/* The byte in pt_regs; false: pt_regs does not hold it (vector registers). */
bool regs_offset(const struct regs *regs, uint16_t dwarf, uint16_t *offset);
/* The register of the n-th integer parameter; false: it is passed in memory. */
bool regs_param(const struct regs *regs, size_t n, uint16_t *dwarf);
/* At a function's entry: from the stack pointer to the n-th, which no register has. */
uint32_t regs_param_on_stack(const struct regs *regs, size_t n);
uint16_t regs_retval(const struct regs *regs);
uint16_t regs_stack(const struct regs *regs);
uint16_t regs_ip(const struct regs *regs);

#endif
