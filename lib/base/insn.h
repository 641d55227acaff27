/* SPDX-License-Identifier: BSD-2-Clause */
/* What BPF instructions are made of (Documentation/bpf/standardization/instruction-set.rst). */
#ifndef PB_BASE_INSN_H
#define PB_BASE_INSN_H

#include <linux/bpf.h>
#include <linux/bpf_common.h>
#include <stdint.h>

/* The bytes that a load or store accesses. */
static inline uint32_t insn_access_bytes(const struct bpf_insn *insn)
{
	switch (BPF_SIZE(insn->code)) {
	case BPF_B:
		return 1;
	case BPF_H:
		return 2;
	case BPF_W:
		return 4;
	default:
		return 8;
	}
}

#endif
