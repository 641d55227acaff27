/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * USDT probes are probe points that the author of a program defined with
 * <sys/sdt.h>. Each has a name and up to twelve arguments. Include "vmlinux.h",
 * or <linux/ptrace.h> and <linux/bpf.h>, before this header.
 *
 *	SEC("usdt//usr/bin/python3:python:gc__start")
 *	int BPF_USDT(on_gc, int generation)
 *
 * The location of an argument (a constant, a register, memory) differs between
 * call sites. The library writes it to a map when it attaches the program, and
 * bpf_usdt_arg() reads it from there. Functions, maps and their formats are
 * those of libbpf.
 */
#ifndef PERF_BPF_USDT_BPF_H
#define PERF_BPF_USDT_BPF_H

#if __has_include(<linux/errno.h>) && __has_include(<asm/errno.h>)
#include <linux/errno.h>
#endif

#include "bpf_helpers.h"
#include "bpf_tracing.h"
#include "bpf_core_read.h"

#ifndef ENOENT
#define ENOENT 2
#endif
#ifndef ESRCH
#define ESRCH 3
#endif
#ifndef EINVAL
#define EINVAL 22
#endif

/* The maximum number of different argument specifications in all attached probes. */
#ifndef BPF_USDT_MAX_SPEC_CNT
#define BPF_USDT_MAX_SPEC_CNT 256
#endif
/* The maximum number of call sites, for kernels without cookies (before 5.15). */
#ifndef BPF_USDT_MAX_IP_CNT
#define BPF_USDT_MAX_IP_CNT (4 * BPF_USDT_MAX_SPEC_CNT)
#endif
/* For a CO-RE check whether the running kernel has bpf_get_attach_cookie(). */
#ifndef BPF_USDT_HAS_BPF_COOKIE
#define BPF_USDT_HAS_BPF_COOKIE                                                                    \
	bpf_core_enum_value_exists(enum bpf_func_id___usdt, BPF_FUNC_get_attach_cookie___usdt)
#endif

enum bpf_func_id___usdt {
	BPF_FUNC_get_attach_cookie___usdt = 0xbad, /* any value; the real one is in the BTF */
};

enum __bpf_usdt_arg_type {
	BPF_USDT_ARG_CONST,	/* val_off */
	BPF_USDT_ARG_REG,	/* the register at reg_off of struct pt_regs */
	BPF_USDT_ARG_REG_DEREF, /* memory at that register plus val_off */
	BPF_USDT_ARG_SIB,	/* the same, plus the register at idx_reg_off << scale_bitshift */
};

/*
 * An argument of fewer than 8 bytes is extended to 64 bits by a shift to the
 * left by arg_bitshift and a signed or unsigned shift back.
 */
struct __bpf_usdt_arg_spec {
	__u64 val_off;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	__u8 arg_type; /* enum __bpf_usdt_arg_type */
	__u8 scale_bitshift;
	__u16 idx_reg_off;
#else
	__u16 idx_reg_off;
	__u8 scale_bitshift;
	__u8 arg_type;
#endif
	short reg_off;
	_Bool arg_signed;
	char arg_bitshift;
};

#define BPF_USDT_MAX_ARG_CNT 12

struct __bpf_usdt_spec {
	struct __bpf_usdt_arg_spec args[BPF_USDT_MAX_ARG_CNT];
	__u64 usdt_cookie;
	short arg_cnt;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BPF_USDT_MAX_SPEC_CNT);
	__type(key, int);
	__type(value, struct __bpf_usdt_spec);
} __bpf_usdt_specs SEC(".maps") __weak;

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, BPF_USDT_MAX_IP_CNT);
	__type(key, long);
	__type(value, __u32);
} __bpf_usdt_ip_to_spec_id SEC(".maps") __weak;

/* The argument specification of the call site that was hit; NULL: unknown. */
static __always_inline struct __bpf_usdt_spec *__bpf_usdt_find(struct pt_regs *ctx)
{
	int id;

	if (BPF_USDT_HAS_BPF_COOKIE) {
		id = (int)bpf_get_attach_cookie(ctx);
	} else {
		long ip = PT_REGS_IP(ctx);
		__u32 *found = bpf_map_lookup_elem(&__bpf_usdt_ip_to_spec_id, &ip);

		if (!found)
			return NULL;
		id = (int)*found;
	}
	return bpf_map_lookup_elem(&__bpf_usdt_specs, &id);
}

/* The number of arguments; -ESRCH: this is not a USDT probe. */
__weak __hidden int bpf_usdt_arg_cnt(struct pt_regs *ctx)
{
	struct __bpf_usdt_spec *spec = __bpf_usdt_find(ctx);

	return spec ? spec->arg_cnt : -ESRCH;
}

/* The size of argument arg_num (from 0) in bytes; -ENOENT: the probe has fewer arguments. */
__weak __hidden int bpf_usdt_arg_size(struct pt_regs *ctx, __u64 arg_num)
{
	struct __bpf_usdt_spec *spec = __bpf_usdt_find(ctx);

	if (!spec)
		return -ESRCH;
	barrier_var(arg_num);
	if (arg_num >= BPF_USDT_MAX_ARG_CNT || arg_num >= (__u64)spec->arg_cnt)
		return -ENOENT;
	return (64u - (unsigned char)spec->args[arg_num].arg_bitshift) / 8;
}

/*
 * Sets *res to argument arg_num (from 0), extended to 64 bits, and returns 0. On
 * failure *res is 0, and the function returns -ENOENT (the probe has fewer
 * arguments), -EFAULT (the memory is paged out or not mapped), -EINVAL or -ESRCH.
 */
__weak __hidden int bpf_usdt_arg(struct pt_regs *ctx, __u64 arg_num, long *res)
{
	struct __bpf_usdt_spec *spec = __bpf_usdt_find(ctx);
	struct __bpf_usdt_arg_spec *arg;
	unsigned long value = 0, index = 0;
	int err;

	*res = 0;
	if (!spec)
		return -ESRCH;
	/* Without this, clang checks one register and uses another as the index. */
	barrier_var(arg_num);
	if (arg_num >= BPF_USDT_MAX_ARG_CNT || arg_num >= (__u64)spec->arg_cnt)
		return -ENOENT;
	arg = &spec->args[arg_num];
	if (arg->arg_type > BPF_USDT_ARG_SIB)
		return -EINVAL;

	if (arg->arg_type == BPF_USDT_ARG_CONST) {
		value = arg->val_off;
	} else {
		/* The verifier rejects a direct read, since the offset is not constant. */
		err = bpf_probe_read_kernel(&value, sizeof(value), (char *)ctx + arg->reg_off);
		if (err)
			return err;
	}
	if (arg->arg_type == BPF_USDT_ARG_SIB) {
		err = bpf_probe_read_kernel(&index, sizeof(index), (char *)ctx + arg->idx_reg_off);
		if (err)
			return err;
		value += index << (arg->scale_bitshift & 3);
	}
	if (arg->arg_type >= BPF_USDT_ARG_REG_DEREF) {
		err = bpf_probe_read_user(&value, sizeof(value), (void *)(value + arg->val_off));
		if (err)
			return err;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
		value >>= arg->arg_bitshift & 63;
#endif
	}

	value <<= arg->arg_bitshift & 63;
	if (arg->arg_signed)
		*res = (long)value >> (arg->arg_bitshift & 63);
	else
		*res = (long)(value >> (arg->arg_bitshift & 63));
	return 0;
}

/* The cookie set by struct bpf_usdt_opts.usdt_cookie when attaching; 0: none was set. */
__weak __hidden long bpf_usdt_cookie(struct pt_regs *ctx)
{
	struct __bpf_usdt_spec *spec = __bpf_usdt_find(ctx);

	return spec ? (long)spec->usdt_cookie : 0;
}

/*
 * SEC("usdt/libc.so.6:libc:memory_sbrk_more")
 * int BPF_USDT(on_sbrk, void *start, long bytes)
 *
 * Up to twelve arguments. An argument that cannot be read is 0.
 */
#define ___bpf_usdt_word(n)                                                                        \
	({                                                                                         \
		long word_;                                                                        \
		bpf_usdt_arg(ctx, n, &word_);                                                      \
		___bpf_cast(word_);                                                                \
	})
#define BPF_USDT(name, args...) ___bpf_typed(struct pt_regs *, name, ___bpf_usdt_word, ##args)

#endif
