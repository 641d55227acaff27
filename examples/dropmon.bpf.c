// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Where the kernel drops network packets; in BPF instructions.
 *
 *	perf-bpf run dropmon --interval 1
 *
 * Needs: tracepoints of packets.
 *
 * The program is written as the machine has it, each instruction a line, by
 * the macros of <bpf/bpf_insn.h>: 'perf-bpf prog dump xlated' shows the same
 * lines. tracex2 says it in C.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_insn.h>
#include <bpf/perf_bpf_prog.h>

PERF_BPF_TABLE(drops, perf_bpf_ksym, __u64, 1024, "packets", "packets dropped, by place");

SEC("tracepoint/skb/kfree_skb")
BPF_INSN_PROGRAM(dropmon_count)
{
	/* *(u64 *)(fp - 8) = ctx->location, behind 8 bytes of perf's and the packet's address */
	BPF_LDX_MEM(BPF_DW, BPF_REG_2, BPF_REG_1, 16);
	BPF_STX_MEM(BPF_DW, BPF_REG_10, BPF_REG_2, -8);

	/* r0 = bpf_map_lookup_elem(&drops, fp - 8) */
	BPF_MOV64_REG(BPF_REG_2, BPF_REG_10);
	BPF_ALU64_IMM(BPF_ADD, BPF_REG_2, -8);
	BPF_LD_MAP(BPF_REG_1, drops);
	BPF_EMIT_CALL(BPF_FUNC_map_lookup_elem);

	/* if (r0) atomically *r0 += 1 */
	BPF_JMP_IMM(BPF_JEQ, BPF_REG_0, 0, 4);
	BPF_MOV64_IMM(BPF_REG_1, 1);
	BPF_ATOMIC_OP(BPF_DW, BPF_ADD, BPF_REG_0, BPF_REG_1, 0);
	BPF_MOV64_IMM(BPF_REG_0, 0);
	BPF_EXIT_INSN();

	/* else bpf_map_update_elem(&drops, fp - 8, &(u64){1}, BPF_ANY) */
	BPF_ST_MEM(BPF_DW, BPF_REG_10, -16, 1);
	BPF_MOV64_IMM(BPF_REG_4, BPF_ANY);
	BPF_MOV64_REG(BPF_REG_3, BPF_REG_10);
	BPF_ALU64_IMM(BPF_ADD, BPF_REG_3, -16);
	BPF_MOV64_REG(BPF_REG_2, BPF_REG_10);
	BPF_ALU64_IMM(BPF_ADD, BPF_REG_2, -8);
	BPF_LD_MAP(BPF_REG_1, drops);
	BPF_EMIT_CALL(BPF_FUNC_map_update_elem);
	BPF_MOV64_IMM(BPF_REG_0, 0);
	BPF_EXIT_INSN();
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
