// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Programs that use the kernel's test module bpf_testmod in every way that a module can be
 * used, all of them optional: tests/vm/testmod_client.c loads and attaches them. Its structs are
 * declared here as they are not: with fewer members, in another order. `out` has the results.
 */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

typedef __u64 u64;
typedef __s64 s64;

u64 out[4];

#define COUNT(i) __sync_fetch_and_add(&out[i], 1)

/* ---- types ---- */

struct task_struct {
	int tgid;
} __attribute__((preserve_access_index));

struct bpf_testmod_test_read_ctx {
	unsigned long len;
	long off;
} __attribute__((preserve_access_index));

struct bpf_testmod_test_write_ctx {
	unsigned long len;
} __attribute__((preserve_access_index));

struct bpf_testmod_test_writable_ctx {
	int val;
	_Bool early_ret;
} __attribute__((preserve_access_index));

struct bpf_testmod_struct_arg_2 {
	long a, b;
};

struct bpf_testmod_no_such_struct {
	int a;
};

SEC("?tc") int types(struct __sk_buff *skb)
{
	out[0] = bpf_core_field_offset(struct bpf_testmod_test_read_ctx, len);
	out[1] = bpf_core_type_size(struct bpf_testmod_struct_arg_2);
	out[2] = bpf_core_type_exists(struct bpf_testmod_no_such_struct);
	out[3] = bpf_core_type_id_kernel(struct bpf_testmod_struct_arg_2) != 0;
	return 0;
}

/* ---- functions and variables ---- */

extern void bpf_testmod_test_mod_kfunc(int value) __ksym;
extern const int bpf_testmod_ksym_percpu __ksym;

SEC("?tc") int typed_variable(struct __sk_buff *skb)
{
	const int *variable = bpf_this_cpu_ptr(&bpf_testmod_ksym_percpu);

	bpf_testmod_test_mod_kfunc(41);
	out[0] = *(volatile const int *)variable;
	bpf_testmod_test_mod_kfunc(42);
	out[1] = *(volatile const int *)variable;
	return 0;
}

extern const void bpf_testmod_fentry_ok __ksym;

SEC("?tc") int typeless_variable(struct __sk_buff *skb)
{
	int value = 0;

	out[0] = (u64)&bpf_testmod_fentry_ok;
	bpf_probe_read_kernel(&value, sizeof(value), &bpf_testmod_fentry_ok);
	out[1] = value;
	return 0;
}

extern void bpf_testmod_no_such_kfunc(void) __ksym __weak;
extern const int bpf_testmod_no_such_variable __ksym __weak;
extern void bpf_kfunc_common_test(void) __ksym __weak;

SEC("?tc") int weak(struct __sk_buff *skb)
{
	out[0] = !bpf_testmod_no_such_kfunc;
	out[1] = !&bpf_testmod_no_such_variable;
	if (bpf_kfunc_common_test) {
		bpf_kfunc_common_test();
		out[2] = 1;
	}
	return 0;
}

struct bpf_iter_testmod_seq {
	u64 : 64;
	u64 : 64;
} __attribute__((aligned(8)));

extern int bpf_iter_testmod_seq_new(struct bpf_iter_testmod_seq *it, s64 value, int count) __ksym;
extern s64 *bpf_iter_testmod_seq_next(struct bpf_iter_testmod_seq *it) __ksym;
extern void bpf_iter_testmod_seq_destroy(struct bpf_iter_testmod_seq *it) __ksym;

SEC("?raw_tp") int iterates(void *ctx)
{
	struct bpf_iter_testmod_seq it;
	u64 sum = 0;
	s64 *value;

	bpf_iter_testmod_seq_new(&it, 7, 5);
	while ((value = bpf_iter_testmod_seq_next(&it)))
		sum += *value;
	bpf_iter_testmod_seq_destroy(&it);
	out[0] = sum;
	return 0;
}

/* Of two more modules: each call names the BTF it is in. */
extern int bpf_test_modorder_retx(void) __ksym;
extern int bpf_test_modorder_rety(void) __ksym;

SEC("?tc") int of_three_modules(struct __sk_buff *skb)
{
	out[0] = bpf_test_modorder_rety();
	bpf_testmod_test_mod_kfunc(1);
	out[1] = bpf_test_modorder_retx();
	out[2] = bpf_test_modorder_rety();
	return 0;
}

/* ---- struct_ops ---- */

struct bpf_testmod_ops {
	int data;
	void (*test_2)(int a, int b);
	int (*test_1)(void);
};

SEC("struct_ops/test_1") int BPF_PROG(ops_test_1)
{
	COUNT(0);
	return 0;
}

SEC("struct_ops") void BPF_PROG(ops_test_2, int a, int b)
{
	out[1] += a;
	out[2] += b;
}

SEC("?.struct_ops.link")
struct bpf_testmod_ops ops = {
	.data = 17,
	.test_1 = (void *)ops_test_1,
	.test_2 = (void *)ops_test_2,
};

struct bpf_testmod_ops2 {
	int (*test_1)(void);
};

SEC("struct_ops.s/test_1") int BPF_PROG(ops2_test_1)
{
	COUNT(0);
	return 0;
}

SEC("?.struct_ops") struct bpf_testmod_ops2 ops2 = {.test_1 = (void *)ops2_test_1};

struct bpf_testmod_ops3___other {
	int (*test_2)(void);
	int (*test_1)(void);
};

SEC("struct_ops") int BPF_PROG(ops3_test_1)
{
	COUNT(0);
	return 0;
}

SEC("?.struct_ops.link")
struct bpf_testmod_ops3___other ops3 = {.test_1 = (void *)ops3_test_1};

struct st_ops_args {
	u64 a;
};

struct bpf_testmod_multi_st_ops {
	int (*test_1)(struct st_ops_args *args);
};

SEC("struct_ops") int BPF_PROG(multi_first, struct st_ops_args *args)
{
	return 1111;
}

SEC("struct_ops") int BPF_PROG(multi_second, struct st_ops_args *args)
{
	return 2222;
}

SEC("?.struct_ops.link")
struct bpf_testmod_multi_st_ops first = {.test_1 = (void *)multi_first};
SEC("?.struct_ops.link")
struct bpf_testmod_multi_st_ops second = {.test_1 = (void *)multi_second};

extern int bpf_kfunc_multi_st_ops_test_1_assoc(struct st_ops_args *args) __ksym __weak;

SEC("?syscall") int calls_first(void *ctx)
{
	struct st_ops_args args = {};

	out[0] = bpf_kfunc_multi_st_ops_test_1_assoc(&args);
	return 0;
}

SEC("?syscall") int calls_second(void *ctx)
{
	struct st_ops_args args = {};

	out[1] = bpf_kfunc_multi_st_ops_test_1_assoc(&args);
	return 0;
}

/* ---- tracepoints ---- */

SEC("?tp_btf/bpf_testmod_test_read")
int BPF_PROG(tp_btf, struct task_struct *task, struct bpf_testmod_test_read_ctx *ctx_)
{
	COUNT(0);
	out[1] = ctx_->off;
	out[2] = ctx_->len;
	out[3] = task->tgid == bpf_get_current_pid_tgid() >> 32;
	return 0;
}

SEC("?tp_btf/bpf_testmod_test_write_bare_tp")
int BPF_PROG(tp_btf_bare, struct task_struct *task, struct bpf_testmod_test_write_ctx *ctx_)
{
	if (!ctx_)
		return 0;
	COUNT(0);
	out[1] = ctx_->len;
	return 0;
}

SEC("?raw_tp/bpf_testmod_test_read") int raw_tp(struct bpf_raw_tracepoint_args *ctx)
{
	struct bpf_testmod_test_read_ctx *read = (void *)ctx->args[1];

	COUNT(0);
	out[1] = BPF_CORE_READ(read, off);
	out[2] = BPF_CORE_READ(read, len);
	return 0;
}

SEC("?raw_tp.w/bpf_testmod_test_writable_bare_tp")
int BPF_PROG(raw_tp_writes, struct bpf_testmod_test_writable_ctx *writable)
{
	COUNT(0);
	out[1] = writable->val;
	writable->val = 77;
	writable->early_ret = 1;
	return 0;
}

struct read_event {
	u64 common;
	int pid;
	char comm[16];
	int padding;
	s64 off;
	u64 len;
};

SEC("?tp/bpf_testmod/bpf_testmod_test_read") int tracepoint(struct read_event *ctx)
{
	COUNT(0);
	out[1] = ctx->off;
	out[2] = ctx->len;
	out[3] = ctx->pid == (int)bpf_get_current_pid_tgid();
	return 0;
}

/* ---- functions that are traced ---- */

SEC("?fentry/bpf_testmod_fentry_test7")
int BPF_PROG(fentry, u64 a, void *b, short c, int d, void *e, char f, int g)
{
	COUNT(0);
	out[1] = a + (long)b + c + d + (long)e + f + g;
	return 0;
}

SEC("?fentry/bpf_testmod:bpf_testmod_fentry_test2")
int BPF_PROG(fentry_of_the_module, int a, u64 b)
{
	COUNT(0);
	out[1] = a * 10 + b;
	return 0;
}

SEC("?fexit/bpf_testmod_test_struct_arg_1")
int BPF_PROG2(fexit, struct bpf_testmod_struct_arg_2, a, int, b, int, c, int, ret)
{
	COUNT(0);
	out[1] = a.a * 1000 + a.b * 100 + b * 10 + c;
	out[2] = ret;
	return 0;
}

/* The one function of the module that may be modified. gcc leaves out the call: it does nothing. */
SEC("?fmod_ret/bpf_testmod_trampoline_count_test") int BPF_PROG(fmod_ret)
{
	COUNT(0);
	return -28;
}

SEC("?fentry") int BPF_PROG(set_target, int n)
{
	COUNT(0);
	out[1] = n;
	return 0;
}

SEC("?fsession/bpf_testmod_fentry_test1") int BPF_PROG(fsession, int a)
{
	COUNT(0);
	out[1] = a;
	return 0;
}

SEC("?kprobe/bpf_testmod_fentry_test2") int BPF_KPROBE(kprobe, int a, u64 b)
{
	COUNT(0);
	out[1] = a * 10 + b;
	return 0;
}

SEC("?kretprobe/bpf_testmod_fentry_test2") int BPF_KRETPROBE(kretprobe, int ret)
{
	COUNT(2);
	out[3] = ret;
	return 0;
}

SEC("?kprobe.multi/bpf_testmod_fentry_test*") int multi(struct pt_regs *ctx)
{
	COUNT(0);
	return 0;
}

SEC("?kretprobe.multi/bpf_testmod_fentry_test*") int multi_return(struct pt_regs *ctx)
{
	COUNT(1);
	return 0;
}

SEC("?kprobe.multi") int multi_of_names(struct pt_regs *ctx)
{
	COUNT(0);
	out[1] += bpf_get_attach_cookie(ctx);
	return 0;
}

extern _Bool bpf_session_is_return(void *ctx) __ksym __weak;

SEC("?kprobe.session/bpf_testmod_fentry_test*") int session(struct pt_regs *ctx)
{
	if (bpf_session_is_return(ctx))
		COUNT(1);
	else
		COUNT(0);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
