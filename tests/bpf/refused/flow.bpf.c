/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs that the verifier refuses for how they run; see values.bpf.c. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define ANY ((__u32)bpf_get_prandom_u32())

SEC("?raw_tp/sys_enter")
int endless(void *ctx)
{
	volatile int n = 0;

	for (;;)
		/* refused: endless endless-loop: loop */
		n++;
	return n;
}

SEC("?socket")
int loop_of_nobody(void *ctx)
{
	int sum = 0;

	/* refused: loop_of_nobody back-edge|not-permitted as nobody: loop */
	for (volatile int i = 0; i < 20; i++)
		sum += i;
	return sum;
}

SEC("?raw_tp/sys_enter")
int too_long(void *ctx)
{
	volatile int sum = 0;

	for (int i = 0; i < 2000; i++)
		for (int k = 0; k < 2000; k++)
			/* refused at all: too_long too-many-insns: the lines with the most */
			sum += k;
	return sum;
}

SEC("?raw_tp/sys_enter")
int too_branchy(void *ctx)
{
	/* No arithmetic on what is unknown: some 6.18 kernels fall over their own full stack. */
	for (int i = 0; i < 10000; i++)
		/* refused at all: too_branchy too-complex: 8192 */
		if (ANY > 1000)
			bpf_ktime_get_ns();
	return 0;
}

SEC("?raw_tp/sys_enter")
int never_reached(void *ctx)
{
	/* refused: never_reached unreachable: never */
	asm volatile("goto +1; r1 = 1");
	return 0;
}

static __noinline int fills(__u32 n)
{
	volatile char buf[300];

	buf[n & 63] = 1;
	return buf[1];
}

SEC("?socket")
int stack_of_two(void *ctx)
{
	volatile char buf[400];

	buf[ANY & 63] = 1;
	/* refused at all: stack_of_two stack-too-large: 512 */
	return fills(ANY) + buf[2];
}

SEC("?raw_tp/sys_enter")
int stack_of_one(void *ctx)
{
	/* refused: stack_of_one stack-too-large|stack-bounds: 512 */
	asm volatile("r1 = 1; *(u64 *)(r10 - 600) = r1" : : : "r1", "memory");
	return 0;
}

#define LEVEL(n, next)                                                                             \
	static __noinline int level##n(int v)                                                      \
	{                                                                                          \
		return next(v + (int)ANY) + 1;                                                     \
	}
static __noinline int level9(int v)
{
	return v * (int)ANY;
}
LEVEL(8, level9)
LEVEL(7, level8)
LEVEL(6, level7)
LEVEL(5, level6)
LEVEL(4, level5)
LEVEL(3, level4)
LEVEL(2, level3)
LEVEL(1, level2)

SEC("?raw_tp/sys_enter")
int calls_too_deep(void *ctx)
{
	/* refused at all: calls_too_deep call-depth|loads: 8 */
	return level1(1);
}

static __noinline __u32 itself(__u32 v)
{
	if (v & 1)
		return 3;
	return itself(v / 2) + ANY;
}

SEC("?raw_tp/sys_enter")
int calls_itself(void *ctx)
{
	/* refused at all: calls_itself call-depth|endless-loop: itself */
	return itself(ANY);
}

SEC("?raw_tp/sys_enter")
int may_not_sleep(void *ctx)
{
	char buf[8];

	/* refused: may_not_sleep sleepable: bpf_copy_from_user */
	bpf_copy_from_user(buf, sizeof(buf), (void *)8);
	return buf[0];
}

SEC("?cgroup_skb/egress")
int returns_too_much(struct __sk_buff *skb)
{
	/* refused: returns_too_much return-range: 7 */
	return 7;
}

SEC("?cgroup_skb/ingress")
int returns_anything(struct __sk_buff *skb)
{
	/* refused: returns_anything return-range: */
	return skb->len;
}

/* Takes any pointer, also NULL. */
__noinline int of_pointer(int *at)
{
	/* refused: global_function null-pointer|argument-type: of_pointer */
	return *at;
}

SEC("?raw_tp/sys_enter")
int global_function(void *ctx)
{
	int n = (int)ANY;

	return of_pointer(&n);
}

SEC("?raw_tp/sys_enter")
int no_such_opcode(void *ctx)
{
	/* refused: no_such_opcode bad-code: opcode */
	asm volatile(".byte 0xff, 0, 0, 0, 0, 0, 0, 0");
	return 0;
}

#ifdef LARGE
SEC("?raw_tp/sys_enter")
int larger_than_any(void *ctx)
{
	asm volatile(".rept 1000001; r0 = 0; .endr" : : : "r0");
	return 0;
}
#endif

char LICENSE[] SEC("license") = "GPL";
