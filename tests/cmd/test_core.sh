#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
# One object: what libbpf and we make of its CO-RE relocations must be the
# same instructions.
source "$(dirname "$0")/../tap.sh"

cat_program() {
	cat <<'END'
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>
struct task_struct___gone { int no_such_field; int pid; } __attribute__((preserve_access_index));
struct not_there { int x; } __attribute__((preserve_access_index));
struct sk_buff___small { unsigned int len; unsigned char *data; __u16 transport_header; __u8 pkt_type:3; } __attribute__((preserve_access_index));
struct task_struct___old { volatile long state; unsigned short exit_state___nope; struct { struct { int dummy; } sub; } nested; char comm[16]; } __attribute__((preserve_access_index));
enum bpf_map_type___x { BPF_MAP_TYPE_HASH___x = 77, BPF_MAP_TYPE_NOPE___x = 78 };
volatile long out[64];
SEC("raw_tp/sched_switch") int prog(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *t = (void *)bpf_get_current_task();
	struct sk_buff___small *skb = (void *)t;
	int i = 0;
	out[i++] = BPF_CORE_READ(t, pid);
	out[i++] = BPF_CORE_READ(t, mm, pgd, pgd);
	out[i++] = BPF_CORE_READ(t, se.load.weight);
	out[i++] = BPF_CORE_READ(t, files, fdt, max_fds);
	out[i++] = BPF_CORE_READ(t, comm[3]);
	out[i++] = BPF_CORE_READ(t, signal, rlim[5].rlim_cur);
	out[i++] = BPF_CORE_READ(t, thread_info.flags);
	out[i++] = bpf_core_field_size(t->comm);
	out[i++] = bpf_core_field_exists(t->on_cpu);
	out[i++] = bpf_core_field_exists(((struct task_struct___gone *)t)->no_such_field);
	out[i++] = bpf_core_type_exists(struct not_there);
	out[i++] = bpf_core_type_size(struct task_struct);
	out[i++] = bpf_core_type_size(struct not_there);
	out[i++] = bpf_core_type_exists(struct sk_buff___small);
	out[i++] = bpf_core_enum_value_exists(enum bpf_map_type___x, BPF_MAP_TYPE_HASH___x);
	out[i++] = bpf_core_enum_value_exists(enum bpf_map_type___x, BPF_MAP_TYPE_NOPE___x);
	out[i++] = bpf_core_enum_value(enum bpf_map_type___x, BPF_MAP_TYPE_HASH___x);
	out[i++] = bpf_core_type_id_kernel(struct task_struct);
	out[i++] = bpf_core_type_id_local(struct task_struct___gone);
	out[i++] = BPF_CORE_READ_BITFIELD_PROBED(t, sched_reset_on_fork);
	out[i++] = BPF_CORE_READ_BITFIELD_PROBED(t, in_execve);
	out[i++] = BPF_CORE_READ_BITFIELD_PROBED(skb, pkt_type);
	out[i++] = BPF_CORE_READ(skb, len);
	out[i++] = BPF_CORE_READ(skb, transport_header);
	if (bpf_core_field_exists(((struct task_struct___old *)t)->state))
		out[i++] = BPF_CORE_READ((struct task_struct___old *)t, state);
	out[i++] = __builtin_preserve_field_info(t->prio, 3);
	out[i++] = __builtin_preserve_field_info(t->flags, 3);
	if (bpf_core_field_exists(((struct task_struct___gone *)t)->no_such_field))
		out[i++] = BPF_CORE_READ((struct task_struct___gone *)t, no_such_field);
	return 0;
}
SEC("tp_btf/sched_switch") int BPF_PROG(p2, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	out[40] = prev->pid + next->se.vruntime + next->comm[2] + next->mm->pgd->pgd + next->signal->nr_threads;
	out[41] = prev->sched_class->enqueue_task != 0;
	return 0;
}
char _license[] SEC("license") = "GPL";
END
}

# Prints the instructions after loading; those that refer to maps, whose fds
# differ, are left out, and calls that stand for a failed relocation are -1.
cat_loader() {
	cat <<'END'
#include <stdio.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
int main(int argc, char **argv)
{
	struct bpf_object *obj = bpf_object__open_file(argv[1], NULL);
	struct bpf_program *p;
	if (!obj || bpf_object__load(obj))
		return 1;
	bpf_object__for_each_program(p, obj) {
		const struct bpf_insn *insn = bpf_program__insns(p);
		size_t n = bpf_program__insn_cnt(p);
		printf("%s %zu\n", bpf_program__name(p), n);
		for (size_t i = 0; i < n; i++)
			if (BPF_CLASS(insn[i].code) != BPF_LD || !insn[i].src_reg)
				printf("%zu %02x %x %x %d %d\n", i, insn[i].code, insn[i].dst_reg,
				       insn[i].src_reg, insn[i].off,
				       insn[i].code == 0x85 && insn[i].imm > 1000000 ? -1 : insn[i].imm);
	}
	bpf_object__close(obj);
	return 0;
}
END
}

# compare CLANG
compare() {
	"$1" -target bpf -D__TARGET_ARCH_x86 -g -O2 -I. -c p.bpf.c -o p.o
	./with_libbpf p.o >theirs || fail "libbpf does not load it"
	./with_us p.o >ours || fail "we do not load it"
	[ "$(wc -l <theirs)" -gt 150 ] || fail "few instructions: $(wc -l <theirs)"
	diff theirs ours || fail "the instructions differ"
}

test_same_instructions_as_libbpf() {
	[ -r /sys/kernel/btf/vmlinux ] || skip "this kernel has no BTF"
	[ "$(uname -m)" = x86_64 ] || skip "the program reads x86-64's types"
	[ -r /usr/include/bpf/libbpf.h ] || skip "libbpf-dev is not installed"
	"$BUILD/tests/unit/btf_layout" header /sys/kernel/btf/vmlinux >vmlinux.h
	cat_program >p.bpf.c
	cat_loader >loader.c
	cc loader.c -o with_libbpf -lbpf
	cc ${SANITIZED:+-fsanitize=address,undefined} -I"$SRC/include" loader.c -o with_us \
		"$BUILD/libperfbpf.a" -lelf -lz
	compare clang
	if command -v clang-19 >clang-19.path; then
		compare clang-19
	fi
}

run_tests
