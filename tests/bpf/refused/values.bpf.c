/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Programs that the verifier refuses for what they do with memory and values.
 * A comment "refused: PROGRAM KIND[|KIND...] [as WHO]: TEXT" stands before the
 * line that the explanation must name, "refused at all:" where it can name
 * none; TEXT is in it. See tests/cmd/test_explain.sh.
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

struct numbers {
	__u32 n[4];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4);
	__type(key, __u32);
	__type(value, struct numbers);
} table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} ring SEC(".maps");

struct locked {
	struct bpf_spin_lock lock;
	int n;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct locked);
} guarded SEC(".maps");

const volatile int constant = 3;
__u32 total[8];

#define ANY ((__u32)bpf_get_prandom_u32())

SEC("?raw_tp/sys_enter")
int null_map_value(void *ctx)
{
	__u32 key = 1;
	struct numbers *v = bpf_map_lookup_elem(&table, &key);

	/* refused: null_map_value null-pointer: may be NULL here */
	v->n[0]++;
	return 0;
}

SEC("?raw_tp/sys_enter")
int null_ring_record(void *ctx)
{
	__u64 *record = bpf_ringbuf_reserve(&ring, 8, 0);

	/* refused: null_ring_record null-pointer: may be NULL here */
	*record = 1;
	bpf_ringbuf_submit(record, 0);
	return 0;
}

static __noinline int touch(__u32 key)
{
	struct numbers *v = bpf_map_lookup_elem(&table, &key);

	/* refused: null_in_function null-pointer: may be NULL here */
	v->n[1]++;
	return 0;
}

SEC("?raw_tp/sys_enter")
int null_in_function(void *ctx)
{
	return touch(ANY);
}

SEC("?raw_tp/sys_enter")
int null_spilled(void *ctx)
{
	__u32 key = 1;
	volatile __u64 slot;
	struct numbers *v = bpf_map_lookup_elem(&table, &key);

	asm volatile("*(u64 *)(r10 - 32) = %0" : : "r"(v) : "memory");
	bpf_ktime_get_ns();
	asm volatile("%0 = *(u64 *)(r10 - 32)" : "=r"(v) : : "memory");
	/* refused: null_spilled null-pointer: may be NULL here */
	return v->n[2];
}

SEC("?raw_tp/sys_enter")
int map_constant_offset(void *ctx)
{
	__u32 key = 1;
	struct numbers *v = bpf_map_lookup_elem(&table, &key);

	if (!v)
		return 0;
	/* refused: map_constant_offset map-bounds: 16 */
	return *((__u32 *)v + 9);
}

SEC("?raw_tp/sys_enter")
int map_index(void *ctx)
{
	__u32 key = 1, i = ANY;
	struct numbers *v = bpf_map_lookup_elem(&table, &key);

	if (!v)
		return 0;
	if (i > 4)
		return 0;
	/* refused: map_index map-bounds: 16 */
	return v->n[i];
}

SEC("?raw_tp/sys_enter")
int map_index_unbounded(void *ctx)
{
	__u32 key = 1;
	struct numbers *v = bpf_map_lookup_elem(&table, &key);

	if (!v)
		return 0;
	/* refused: map_index_unbounded map-bounds: index */
	return v->n[bpf_ktime_get_ns()];
}

SEC("?raw_tp/sys_enter")
int map_index_negative(void *ctx)
{
	__u32 key = 1;
	struct numbers *v = bpf_map_lookup_elem(&table, &key);
	long i = (long)bpf_ktime_get_ns();

	if (!v || i > 3)
		return 0;
	/* refused: map_index_negative map-bounds: negative */
	return v->n[i];
}

SEC("?raw_tp/sys_enter")
int global_index(void *ctx)
{
	__u32 i = ANY;

	if (i < 16)
		/* refused: global_index map-bounds: .bss */
		total[i]++;
	return 0;
}

SEC("?raw_tp/sys_enter")
int stack_offset(void *ctx)
{
	int n = 7;

	/* refused: stack_offset stack-bounds: stack */
	asm volatile("*(u32 *)(r10 + 8) = %0" : : "r"(n) : "memory");
	return n;
}

SEC("?raw_tp/sys_enter")
int stack_index(void *ctx)
{
	char buf[16] = {};
	__u32 i = ANY & 31;

	/* refused: stack_index stack-bounds: stack */
	*(volatile char *)&buf[i] = 1;
	return *(volatile char *)buf;
}

SEC("?xdp")
int packet_unchecked(struct xdp_md *ctx)
{
	__u8 *data = (__u8 *)(long)ctx->data;

	/* refused: packet_unchecked packet-bounds: packet */
	return data[3] ? XDP_PASS : XDP_DROP;
}

SEC("?tc")
int packet_beyond(struct __sk_buff *skb)
{
	__u8 *data = (__u8 *)(long)skb->data, *end = (__u8 *)(long)skb->data_end;

	if (data + 14 > end)
		return 0;
	/* refused: packet_beyond packet-bounds: 14 */
	return data[14];
}

SEC("?raw_tp/sys_enter")
int record_beyond(void *ctx)
{
	__u64 *record = bpf_ringbuf_reserve(&ring, 8, 0);

	if (!record)
		return 0;
	/* refused: record_beyond memory-bounds: 8 bytes */
	record[2] = 1;
	bpf_ringbuf_submit(record, 0);
	return 0;
}

SEC("?raw_tp/sys_enter")
int size_unbounded(void *ctx)
{
	char buf[16];
	__u32 n = ANY;

	/* refused: size_unbounded size-argument: bpf_probe_read_kernel */
	bpf_probe_read_kernel(buf, n, ctx);
	return buf[0];
}

SEC("?raw_tp/sys_enter")
int size_too_large(void *ctx)
{
	char buf[16];
	__u32 n = ANY & 31;

	/* refused: size_too_large size-argument|stack-bounds: 16 */
	bpf_probe_read_kernel(buf, n, ctx);
	return buf[0];
}

SEC("?raw_tp/sys_enter")
int size_negative(void *ctx)
{
	char buf[16];
	long n = (long)bpf_ktime_get_ns();

	if (n > 16)
		return 0;
	/* refused: size_negative size-argument: negative */
	bpf_probe_read_kernel(buf, n, ctx);
	return buf[0];
}

SEC("?raw_tp/sys_enter")
int size_zero(void *ctx)
{
	__u32 key = 0, n = ANY & 7;
	struct numbers *v = bpf_map_lookup_elem(&table, &key);

	if (!v)
		return 0;
	/* refused: size_zero size-argument: 0 */
	return bpf_get_current_comm(v, n);
}

SEC("?socket")
int stack_not_set(void *ctx)
{
	__u64 n;

	/* refused: stack_not_set uninit-stack as bpf: before */
	asm volatile("%0 = *(u64 *)(r10 - 8)" : "=r"(n));
	return n;
}

SEC("?socket")
int key_not_set(void *ctx)
{
	__u64 key;

	/* refused: key_not_set uninit-stack as bpf: before */
	return bpf_map_lookup_elem(&table, &key) != 0;
}

SEC("?raw_tp/sys_enter")
int register_not_set(void *ctx)
{
	int n;

	/* refused: register_not_set uninit-register: R7 */
	asm volatile("%0 = r7" : "=r"(n));
	return n;
}

SEC("?raw_tp/sys_enter")
int clobbered_by_call(void *ctx)
{
	int n;

	asm volatile("r3 = 1" : : : "r3");
	bpf_ktime_get_ns();
	/* refused: clobbered_by_call uninit-register: bpf_ktime_get_ns */
	asm volatile("%0 = r3" : "=r"(n));
	return n;
}

SEC("?raw_tp/sys_enter")
int nothing_returned(void *ctx)
{
	/* refused: nothing_returned uninit-register: return */
	asm volatile("if r1 != 0 goto +1; goto +1; exit" : : : "r0");
	return 0;
}

SEC("?raw_tp/sys_enter")
int follows_number(unsigned long long *ctx)
{
	/* refused: follows_number scalar-pointer: number */
	return *(int *)ctx[1];
}

SEC("?raw_tp/sys_enter")
int follows_probed_pointer(unsigned long long *ctx)
{
	struct {
		struct numbers *next;
	} at;

	if (bpf_probe_read_kernel(&at, sizeof(at), (void *)ctx[0]))
		return 0;
	/* refused: follows_probed_pointer scalar-pointer: number */
	return at.next->n[1];
}

SEC("?raw_tp/sys_enter")
int map_pointer_arithmetic(void *ctx)
{
	/* refused: map_pointer_arithmetic pointer-arithmetic: map */
	asm volatile("r1 = %[map] ll; r1 += 8" : : [map] "i"(&table) : "r1");
	return 0;
}

SEC("?raw_tp/sys_enter")
int pointer_multiplied(void *ctx)
{
	/* refused: pointer_multiplied pointer-arithmetic: * */
	asm volatile("r1 = r10; r1 *= 2" : : : "r1");
	return 0;
}

SEC("?raw_tp/sys_enter")
int arithmetic_before_check(void *ctx)
{
	__u32 key = 1;
	struct numbers *v = bpf_map_lookup_elem(&table, &key);

	/* refused: arithmetic_before_check null-pointer|pointer-arithmetic: NULL */
	asm volatile("%0 += 4" : "+r"(v));
	return v ? v->n[0] : 0;
}

SEC("?raw_tp/sys_enter")
int writes_constant(void *ctx)
{
	/* refused: writes_constant read-only: .rodata */
	*(volatile int *)&constant = 4;
	return 0;
}

SEC("?raw_tp/sys_enter")
int writes_context(unsigned long long *ctx)
{
	/* refused: writes_context context-access|read-only: context */
	ctx[0] = 1;
	return 0;
}

SEC("?socket")
int returns_pointer(void *ctx)
{
	/* refused: returns_pointer pointer-leak as bpf: address */
	return (long)ctx;
}

SEC("?socket")
int stores_pointer(void *ctx)
{
	__u32 key = 1;
	struct numbers *v = bpf_map_lookup_elem(&table, &key);

	if (v)
		/* refused: stores_pointer pointer-leak as bpf: address */
		*(void *volatile *)v = ctx;
	return 0;
}

SEC("?raw_tp/sys_enter")
int misaligned_atomic(void *ctx)
{
	char buf[16] = {};

	/* refused: misaligned_atomic misaligned: multiple of 4 */
	__sync_fetch_and_add((int *)(buf + 1), 1);
	return buf[2];
}

SEC("?raw_tp/sys_enter")
int record_kept(void *ctx)
{
	__u64 *record = bpf_ringbuf_reserve(&ring, 8, 0);

	if (!record)
		return 0;
	*record = 1;
	if (ANY & 1)
		bpf_ringbuf_submit(record, 0);
	return 0;
	/* refused: record_kept unreleased: bpf_ringbuf_reserve */
}

SEC("?tc")
int lock_kept(void *ctx)
{
	__u32 key = 0;
	struct locked *v = bpf_map_lookup_elem(&guarded, &key);

	if (!v)
		return 0;
	bpf_spin_lock(&v->lock);
	v->n++;
	return 0;
	/* refused: lock_kept lock: lock */
}

SEC("?tc")
int call_under_lock(void *ctx)
{
	__u32 key = 0;
	struct locked *v = bpf_map_lookup_elem(&guarded, &key);

	if (!v)
		return 0;
	bpf_spin_lock(&v->lock);
	/* refused: call_under_lock lock: lock */
	v->n = bpf_ktime_get_ns();
	bpf_spin_unlock(&v->lock);
	return 0;
}

SEC("?tc")
int lock_touched(void *ctx)
{
	__u32 key = 0;
	struct locked *v = bpf_map_lookup_elem(&guarded, &key);

	if (!v)
		return 0;
	/* refused: lock_touched lock: lock */
	*(volatile int *)v = 1;
	return 0;
}

SEC("?raw_tp/sys_enter")
int key_is_number(void *ctx)
{
	/* refused: key_is_number argument-type: argument 2 */
	return bpf_map_lookup_elem(&table, (void *)8) != 0;
}

SEC("?raw_tp/sys_enter")
int map_is_not_the_kind(void *ctx)
{
	__u64 n = 1;

	/* refused: map_is_not_the_kind argument-type: ring */
	return bpf_ringbuf_output(&table, &n, sizeof(n), 0);
}

SEC("?raw_tp/sys_enter")
int map_is_no_map(void *ctx)
{
	__u64 n = 1;

	/* refused: map_is_no_map argument-type: argument 1 */
	return bpf_map_lookup_elem(&n, &n) != 0;
}

char LICENSE[] SEC("license") = "GPL";
