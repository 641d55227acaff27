// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sizes of blocks requested from malloc() and similar functions.
 *
 *	perf-bpf run mallocsizes --comms python3 -- python3 -c 'x = bytes(10000000)'
 *
 * Needs: uprobes, and libc.so.6.
 *
 * Programs that are linked statically, or with another allocator, have functions
 * of their own, which are not seen; nor are 32-bit programs, which have a libc.so.6
 * of their own.
 *
 * Counted are malloc(), calloc(), realloc(), reallocarray(), posix_memalign(),
 * aligned_alloc() and memalign().
 * They call each other, depending on the version of the C library:
 * realloc(NULL, size) calls malloc(size), and two names may be one function. A
 * call is counted once: the first one notes its size, where it was called
 * from and where its stack is, by which the inner one is recognized.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/perf_bpf_prog.h>

struct mallocsizes_comm {
	char comm[16];
};

PERF_BPF_LOG2(sizes, "bytes", "blocks asked of malloc() and the like");
PERF_BPF_TABLE(bytes, struct mallocsizes_comm, __u64, 4096, "bytes", "by command");

enum mallocsizes_function {
	MALLOC,
	CALLOC,
	REALLOC,
	REALLOCARRAY,
	POSIX_MEMALIGN,
	ALIGNED_ALLOC,
	MEMALIGN,
};

struct mallocsizes_call {
	__u64 size, stack, function, caller;
	__u32 what;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32); /* thread */
	__type(value, struct mallocsizes_call);
} outer SEC(".maps") PERF_BPF_SHOW("none");

/* How far apart the functions of malloc.c are. */
#define NEAR 65536

/* Whether a call is made by the outer one, or is the same under another name. */
static __always_inline int is_inner(const struct mallocsizes_call *in,
				    const struct mallocsizes_call *out)
{
	if (in->size != out->size || in->what == out->what)
		return 0;
	if (in->stack == out->stack) /* two names, or a jump instead of a call */
		return in->caller == out->caller;
	return in->stack < out->stack && in->caller - out->function + NEAR < 2 * NEAR;
}

static __always_inline int count(struct pt_regs *ctx, enum mallocsizes_function what, __u64 size)
{
	struct mallocsizes_call call =
					{
						.size = size,
						.stack = PT_REGS_SP(ctx),
						.function = PT_REGS_IP(ctx),
						.what = what,
					},
				*out;
	struct mallocsizes_comm key = {};
	__u32 thread = bpf_get_current_pid_tgid();

	if (!perf_bpf_wanted())
		return 0;
#ifdef __TARGET_ARCH_x86
	bpf_probe_read_user(&call.caller, sizeof(call.caller), (void *)call.stack);
#else
	call.caller = PT_REGS_RET(ctx);
#endif
	out = bpf_map_lookup_elem(&outer, &thread);
	if (out && is_inner(&call, out)) {
		if (what == MALLOC)
			out->size = -1; /* it was the innermost */
		return 0;
	}
	if (what != MALLOC)
		bpf_map_update_elem(&outer, &thread, &call, BPF_ANY);
	else if (out)
		out->size = -1;
	bpf_get_current_comm(key.comm, sizeof(key.comm));
	perf_bpf_log2(&sizes, size);
	perf_bpf_table_add(&bytes, &key, size);
	return 0;
}

/* Otherwise the function fails without asking for anything. */
static __always_inline int product_fits(__u64 n, __u64 size)
{
	__u64 product = n * size;

	barrier_var(product); /* clang would multiply 128 bits, which BPF cannot */
	return !n || product / n == size;
}

SEC("uprobe/libc.so.6:malloc")
int BPF_UPROBE(mallocsizes_malloc, __u64 size)
{
	return count(ctx, MALLOC, size);
}

SEC("?uprobe/libc.so.6:calloc")
int BPF_UPROBE(mallocsizes_calloc, __u64 n, __u64 size)
{
	return product_fits(n, size) ? count(ctx, CALLOC, n * size) : 0;
}

/* realloc(block, 0) frees it. */
SEC("?uprobe/libc.so.6:realloc")
int BPF_UPROBE(mallocsizes_realloc, __u64 block, __u64 size)
{
	return size || !block ? count(ctx, REALLOC, size) : 0;
}

SEC("?uprobe/libc.so.6:reallocarray")
int BPF_UPROBE(mallocsizes_reallocarray, __u64 block, __u64 n, __u64 size)
{
	if (!product_fits(n, size) || (!(n * size) && block))
		return 0;
	return count(ctx, REALLOCARRAY, n * size);
}

SEC("?uprobe/libc.so.6:posix_memalign")
int BPF_UPROBE(mallocsizes_posix_memalign, __u64 block, __u64 alignment, __u64 size)
{
	return count(ctx, POSIX_MEMALIGN, size);
}

SEC("?uprobe/libc.so.6:aligned_alloc")
int BPF_UPROBE(mallocsizes_aligned_alloc, __u64 alignment, __u64 size)
{
	return count(ctx, ALIGNED_ALLOC, size);
}

SEC("?uprobe/libc.so.6:memalign")
int BPF_UPROBE(mallocsizes_memalign, __u64 alignment, __u64 size)
{
	return count(ctx, MEMALIGN, size);
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
