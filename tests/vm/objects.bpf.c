// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What only some kernels have: each program is loaded by itself and says by its
 * result what it found. guest/run-tests knows what that is on which kernel.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

struct task_struct {
	unsigned in_execve : 1;
	unsigned in_iowait : 1;
} __attribute__((preserve_access_index));

unsigned char space[4096] __attribute__((aligned(8)));

/* The bits beside a bitfield that is written stay. */
SEC("raw_tp/sys_enter")
int bits(void *ctx)
{
	struct task_struct *t = (void *)space;
	unsigned char *at = space + bpf_core_field_offset(t->in_execve);
	int result = 0;

	BPF_CORE_WRITE_BITFIELD(t, in_execve, 3);
	result += BPF_CORE_READ_BITFIELD(t, in_execve) == 1;
	result += 10 * (BPF_CORE_READ_BITFIELD(t, in_iowait) == 0);
	__builtin_memset(at, 0xff, 8);
	BPF_CORE_WRITE_BITFIELD(t, in_execve, 0);
	result += 100 * (BPF_CORE_READ_BITFIELD(t, in_execve) == 0);
	result += 1000 * (BPF_CORE_READ_BITFIELD(t, in_iowait) == 1);
	return result;
}

/* A function of the kernel's (6.2) as it is, and as it is not. */
extern void bpf_rcu_read_lock___right(void) __ksym __weak;
extern void bpf_rcu_read_lock___wrong(void *ctx, int flags) __ksym __weak;

SEC("raw_tp/sys_enter")
int flavours(void *ctx)
{
	return 1 + 10 * bpf_ksym_exists(bpf_rcu_read_lock___right) +
	       100 * bpf_ksym_exists(bpf_rcu_read_lock___wrong);
}

/* It lies at address 0, until 6.15 moved it. */
extern const void __per_cpu_start __ksym;

SEC("raw_tp/sys_enter")
int at_zero(void *ctx)
{
	unsigned long address = (unsigned long)&__per_cpu_start;

	barrier_var(address);
	return address ? 1 : 2;
}

/* A jump through a table (6.19), as clang 22 writes it, in a subprogram. */
static __attribute__((naked, noinline, used)) int jump(void)
{
	__asm__ volatile(".pushsection .jumptables,\"\",@progbits\n"
			 ".global jump_table\n"
			 "jump_table: .quad jump_0 - .text\n"
			 ".quad jump_1 - .text\n"
			 ".size jump_table, 16\n"
			 ".popsection\n"
			 "r0 = jump_table ll\n"
			 "r0 += 8\n"
			 "r0 = *(u64 *)(r0 + 0)\n"
			 ".8byte 0x0d\n" /* gotox r0 */
			 "jump_0: r0 = 40\n"
			 "exit\n"
			 "jump_1: r0 = 41\n"
			 "exit\n");
}

SEC("raw_tp/sys_enter")
int jumps(void *ctx)
{
	return jump() + 1;
}

/* What bpf_throw() (6.7) runs: it stands in the program, and nothing calls it. */
__noinline int caught(__u64 cookie)
{
	return (int)cookie + space[0];
}

SEC("raw_tp/sys_enter")
__attribute__((btf_decl_tag("exception_callback:caught"))) int throws(void *ctx)
{
	return 7;
}

char LICENSE[] SEC("license") = "GPL";
