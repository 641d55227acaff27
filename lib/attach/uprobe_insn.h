/* SPDX-License-Identifier: BSD-2-Clause */
/* Instructions on which Linux does not put a uprobe; pure functions. */
#ifndef PB_ATTACH_UPROBE_INSN_H
#define PB_ATTACH_UPROBE_INSN_H

#include <stddef.h>
#include <stdint.h>

/* So many bytes tell of any instruction; at the end of a file there may be fewer. */
#define UPROBE_INSN_MAX 16

/*
 * Why a uprobe cannot be on the instruction that code begins with: "it has a lock prefix"; a static
 * text. machine is that of the ELF file (EM_X86_64, EM_386, EM_AARCH64). NULL: nothing is known
 * against it.
 */
const char *uprobe_insn_obstacle(uint16_t machine, const uint8_t *code, size_t n);

#endif
