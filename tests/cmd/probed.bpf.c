// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Sums over the arguments of tests/cmd/probed.c, as it prints them itself. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

#ifndef EXEC
#define EXEC "exec=./probed;"
#endif

struct name {
	char text[16];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, struct name);
	__type(value, long);
	__uint(max_entries, 64);
} sums SEC(".maps");

static __always_inline void add(const struct name *name, long v)
{
	long zero = 0, *sum;

	bpf_map_update_elem(&sums, name, &zero, BPF_NOEXIST);
	sum = bpf_map_lookup_elem(&sums, name);
	if (sum)
		__sync_fetch_and_add(sum, v);
}
#define ADD(what, v)                                                                               \
	do {                                                                                       \
		const struct name name_ = {what};                                                  \
		add(&name_, v);                                                                    \
	} while (0)

SEC(EXEC "order_place count total=placed_total")
int in_registers(void *ctx, int err, int count, long total)
{
	ADD("calls", 1);
	ADD("errors", err != 0);
	ADD("counts", count);
	ADD("totals", total);
	return 1;
}

struct order_args {
	__u64 err_mask;
	int err;
	int kind;
	char note[8]; /* shorter than what there is */
	char label[12];
	__u16 small;
	long other;
};

/* The note is NULL each fourth time: what else there is, is read all the same. */
SEC(EXEC "order_place note:string kind=order->items[2].kind label=order->items[1].label "
	 "small=order->small other=order->other")
int in_a_struct(void *ctx, struct order_args *args)
{
	char keep[64];

	/* The program's own stack is its own. */
	__builtin_memset(keep, 0xff, sizeof(keep));
	__asm__ volatile("" : : "r"(keep) : "memory");
	ADD("nulls", args->err == -14 && args->err_mask == 1 && !args->note[0]);
	ADD("odd", args->note[0] == 'o' && args->note[6] == 'e' && !args->note[7]);
	ADD("labels", args->label[0] == 't' && args->label[2] == 'o' && !args->label[3]);
	ADD("kinds", args->kind);
	ADD("bits", args->small * 4096L + args->other);
	return 0;
}

SEC(EXEC "order_place%return $retval discount")
int at_return(void *ctx, int err, long retval, long discount)
{
	ADD("retvals", retval);
	ADD("discounts", discount);
	return 0;
}

SEC(EXEC "step_* n")
int steps(void *ctx, int err, unsigned long n)
{
	ADD("steps", n);
	return 0;
}
