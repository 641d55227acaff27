/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Macros for BPF programs: section names, map definitions, helpers, loops, and
 * printing. Include "vmlinux.h" or <linux/bpf.h> first, or <linux/types.h> first
 * and <linux/bpf.h> afterwards; without any of these, this header includes
 * <linux/bpf.h> itself. Names and semantics are those of libbpf.
 */
#ifndef PERF_BPF_HELPERS_H
#define PERF_BPF_HELPERS_H

#if !defined(__VMLINUX_H__) && !defined(_UAPI__LINUX_BPF_H__) && !defined(__LINUX_BPF_H__) &&      \
	!defined(_LINUX_TYPES_H) && !defined(_UAPI_LINUX_TYPES_H)
#include <linux/bpf.h>
#include <linux/types.h>
#endif

#if defined(__LINUX_BPF_H__) || defined(_UAPI__LINUX_BPF_H__)
#include "perf_bpf_uapi.h"
#endif
#include "bpf_helper_defs.h"

/* ---- macros that join names and count arguments ---- */

#define ___bpf_concat_(a, b) a##b
#define ___bpf_concat(a, b)  ___bpf_concat_(a, b)

#define ___bpf_nth(_, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, N, ...) N
#define ___bpf_narg(...)							 ___bpf_nth(_, ##__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)

/* ___bpf_apply(f, n)(…) calls the macro f##n. */
#define ___bpf_apply(macro, n) ___bpf_concat(macro, n)

/* Disable warnings around casts between words and typed arguments. */
/* clang-format off */
#define ___bpf_quiet_begin                                                                         \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wint-conversion\"")
#define ___bpf_quiet_end _Pragma("GCC diagnostic pop")
/* clang-format on */

/* ---- attributes ---- */

/*
 * Puts a program, a map or the license in a section, whose name sets its type:
 * SEC("tracepoint/sched/sched_switch"). GCC's warning about sections that
 * contain both code and data does not matter here and is disabled.
 */
/* clang-format off */
#if __GNUC__ && !__clang__
#define SEC(name) __attribute__((section(name), used))
#else
#define SEC(name)                                                                                  \
	_Pragma("GCC diagnostic push")                                                             \
	_Pragma("GCC diagnostic ignored \"-Wignored-attributes\"")                                 \
	__attribute__((section(name), used))                                                       \
	_Pragma("GCC diagnostic pop")
#endif
/* clang-format on */

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#ifndef __noinline
#define __noinline __attribute__((noinline))
#endif
#ifndef __weak
#define __weak __attribute__((weak))
#endif

/* A global function that the verifier checks for each caller, like a static function. */
#ifndef __hidden
#define __hidden __attribute__((visibility("hidden")))
#endif

/* extern variables: kernel configuration values and kernel symbols. */
#define __kconfig __attribute__((section(".kconfig")))
#define __ksym	  __attribute__((section(".ksyms")))

/* Tags for the verifier: pointers in map values, and arguments of global functions. */
#if __has_attribute(btf_type_tag)
#define __kptr_untrusted __attribute__((btf_type_tag("kptr_untrusted")))
#define __kptr		 __attribute__((btf_type_tag("kptr")))
#define __percpu_kptr	 __attribute__((btf_type_tag("percpu_kptr")))
#define __uptr __attribute__((btf_type_tag("uptr")))
/* The name of a reference-counted __kptr before Linux 6.4. */
#define __kptr_ref __attribute__((btf_type_tag("kptr_ref")))
#else
#define __kptr_untrusted
#define __kptr
#define __percpu_kptr
#define __uptr
#define __kptr_ref
#endif
#if __has_attribute(btf_decl_tag)
#define __arg_ctx	__attribute__((btf_decl_tag("arg:ctx")))
#define __arg_nonnull	__attribute__((btf_decl_tag("arg:nonnull")))
#define __arg_nullable	__attribute__((btf_decl_tag("arg:nullable")))
#define __arg_trusted	__attribute__((btf_decl_tag("arg:trusted")))
#define __arg_untrusted __attribute__((btf_decl_tag("arg:untrusted")))
#define __arg_arena	__attribute__((btf_decl_tag("arg:arena")))
#else
#define __arg_ctx
#define __arg_nonnull
#define __arg_nullable
#define __arg_trusted
#define __arg_untrusted
#define __arg_arena
#endif

/* Whether a weak __ksym exists in this kernel. */
#define bpf_ksym_exists(sym)                                                                       \
	({                                                                                         \
		_Static_assert(!__builtin_constant_p(!!(sym)), #sym " must be declared __weak");   \
		!!(sym);                                                                           \
	})

/* ---- map definitions ---- */

/*
 * struct {
 *	__uint(type, BPF_MAP_TYPE_HASH);
 *	__uint(max_entries, 1024);
 *	__type(key, __u32);
 *	__type(value, struct stat);
 * } stats SEC(".maps");
 */
#define __uint(name, val)  int(*name)[val]
#define __type(name, val)  __typeof__(val) *name
#define __array(name, val) __typeof__(val) *name[]
/* A number with more than 31 bits. */
#define __ulong(name, val) enum { ___bpf_concat(__unique_value, __COUNTER__) = val } name

/* __uint(pinning, …) */
enum libbpf_pin_type {
	LIBBPF_PIN_NONE,
	LIBBPF_PIN_BY_NAME,
};

/* Values of boolean and tristate CONFIG_… variables. */
enum libbpf_tristate {
	TRI_NO = 0,
	TRI_YES = 1,
	TRI_MODULE = 2,
};

/* ---- kernel macros that programs use ---- */

#ifndef likely
#define likely(x) (__builtin_expect(!!(x), 1))
#endif
#ifndef unlikely
#define unlikely(x) (__builtin_expect(!!(x), 0))
#endif
#ifndef NULL
#define NULL ((void *)0)
#endif
#ifndef KERNEL_VERSION
#define KERNEL_VERSION(a, b, c) (((a) << 16) + ((b) << 8) + ((c) > 255 ? 255 : (c)))
#endif
#ifndef offsetof
#define offsetof(type, member) __builtin_offsetof(type, member)
#endif
#ifndef container_of
#define container_of(ptr, type, member)                                                            \
	({                                                                                         \
		const void *member_ = (const void *)(ptr);                                         \
		(type *)(member_ - offsetof(type, member));                                        \
	})
#endif

/* The compiler does not move memory accesses across it. */
#ifndef barrier
#define barrier() __asm__ volatile("" ::: "memory")
#endif
/* After this, the compiler makes no assumptions about the value of var. */
#ifndef barrier_var
#define barrier_var(var) __asm__ volatile("" : "+r"(var))
#endif

/* Loading fails if this code is reachable, and linking fails if it is not optimized away. */
#ifndef __bpf_unreachable
#define __bpf_unreachable() __builtin_trap()
#endif

/* ---- tail calls ---- */

/*
 * A tail call with a constant slot, which newer kernels turn into a jump. For
 * this, the map and the slot must be loaded into their registers right before
 * the call.
 */
#if __clang__ && __bpf__
static __always_inline void bpf_tail_call_static(void *ctx, const void *map, const __u32 slot)
{
	if (!__builtin_constant_p(slot))
		__bpf_unreachable();
	__asm__ volatile("r1 = %[ctx]\n\t"
			 "r2 = %[map]\n\t"
			 "r3 = %[slot]\n\t"
			 "call 12" /* bpf_tail_call */
			 :
			 : [ctx] "r"(ctx), [map] "r"(map), [slot] "i"(slot)
			 : "r0", "r1", "r2", "r3", "r4", "r5");
}
#endif

/* ---- printing ---- */

/* The arguments as an array of 64-bit words. */
#define ___bpf_fill0(arr, p, ...)
#define ___bpf_fill1(arr, p, x)	     (arr)[p] = (unsigned long long)(x);
#define ___bpf_fill2(arr, p, x, ...) ___bpf_fill1(arr, p, x) ___bpf_fill1(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill3(arr, p, x, ...) ___bpf_fill1(arr, p, x) ___bpf_fill2(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill4(arr, p, x, ...) ___bpf_fill1(arr, p, x) ___bpf_fill3(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill5(arr, p, x, ...) ___bpf_fill1(arr, p, x) ___bpf_fill4(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill6(arr, p, x, ...) ___bpf_fill1(arr, p, x) ___bpf_fill5(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill7(arr, p, x, ...) ___bpf_fill1(arr, p, x) ___bpf_fill6(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill8(arr, p, x, ...) ___bpf_fill1(arr, p, x) ___bpf_fill7(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill9(arr, p, x, ...) ___bpf_fill1(arr, p, x) ___bpf_fill8(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill10(arr, p, x, ...)                                                              \
	___bpf_fill1(arr, p, x) ___bpf_fill9(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill11(arr, p, x, ...)                                                              \
	___bpf_fill1(arr, p, x) ___bpf_fill10(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill12(arr, p, x, ...)                                                              \
	___bpf_fill1(arr, p, x) ___bpf_fill11(arr, (p) + 1, __VA_ARGS__)
#define ___bpf_fill(arr, args...) ___bpf_apply(___bpf_fill, ___bpf_narg(args))(arr, 0, ##args)

/* Converts fmt and args for helpers: fmt in read-only data, args as an array of words. */
#define ___bpf_formatted(call, fmt, args...)                                                       \
	({                                                                                         \
		static const char fmt_[] = fmt;                                                    \
		unsigned long long words_[___bpf_narg(args) ? ___bpf_narg(args) : 1];              \
		___bpf_quiet_begin;                                                                \
		___bpf_fill(words_, args);                                                         \
		___bpf_quiet_end;                                                                  \
		call;                                                                              \
	})
#define ___bpf_words_size(args...) (___bpf_narg(args) * sizeof(unsigned long long))

/* Prints to the seq_file of an iterator. */
#define BPF_SEQ_PRINTF(seq, fmt, args...)                                                          \
	___bpf_formatted(bpf_seq_printf(seq, fmt_, sizeof(fmt_), words_, ___bpf_words_size(args)), \
			 fmt, ##args)

#define BPF_SNPRINTF(out, out_size, fmt, args...)                                                  \
	___bpf_formatted(bpf_snprintf(out, out_size, fmt_, words_, ___bpf_words_size(args)), fmt,  \
			 ##args)

/* Kernels before 5.2 do not support read-only data: there the text is on the stack. */
#ifdef BPF_NO_GLOBAL_DATA
#define ___bpf_printk_text char
#else
#define ___bpf_printk_text static const char
#endif

/* Up to three arguments work on every kernel; more need a helper of Linux 5.16. */
#define ___bpf_trace_printk(fmt, args...)                                                          \
	({                                                                                         \
		___bpf_printk_text fmt_[] = fmt;                                                   \
		bpf_trace_printk(fmt_, sizeof(fmt_), ##args);                                      \
	})
#define ___bpf_trace_vprintk(fmt, args...)                                                         \
	___bpf_formatted(bpf_trace_vprintk(fmt_, sizeof(fmt_), words_, ___bpf_words_size(args)),   \
			 fmt, ##args)
#define __bpf_vprintk(fmt, args...) ___bpf_trace_vprintk(fmt, ##args)
#define ___bpf_printk0		    ___bpf_trace_printk
#define ___bpf_printk1		    ___bpf_trace_printk
#define ___bpf_printk2		    ___bpf_trace_printk
#define ___bpf_printk3		    ___bpf_trace_printk
#define ___bpf_printk4		    ___bpf_trace_vprintk
#define ___bpf_printk5		    ___bpf_trace_vprintk
#define ___bpf_printk6		    ___bpf_trace_vprintk
#define ___bpf_printk7		    ___bpf_trace_vprintk
#define ___bpf_printk8		    ___bpf_trace_vprintk
#define ___bpf_printk9		    ___bpf_trace_vprintk
#define ___bpf_printk10		    ___bpf_trace_vprintk
#define ___bpf_printk11		    ___bpf_trace_vprintk
#define ___bpf_printk12		    ___bpf_trace_vprintk

/* Prints to the trace pipe (/sys/kernel/tracing/trace_pipe), for debugging. */
#define bpf_printk(fmt, args...) ___bpf_apply(___bpf_printk, ___bpf_narg(args))(fmt, ##args)

/* Prints to a stream of the program (6.17): 1 is stdout, 2 is stderr. */
extern int bpf_stream_vprintk(int stream_id, const char *fmt__str, const void *args,
			      __u32 len__sz) __weak __ksym;
#define bpf_stream_printk(stream_id, fmt, args...)                                                 \
	___bpf_formatted(bpf_stream_vprintk(stream_id, fmt_, words_, ___bpf_words_size(args)),     \
			 fmt, ##args)

/* ---- loops that the verifier does not have to unroll (6.4) ---- */

struct bpf_iter_num;

extern int bpf_iter_num_new(struct bpf_iter_num *it, int start, int end) __weak __ksym;
extern int *bpf_iter_num_next(struct bpf_iter_num *it) __weak __ksym;
extern void bpf_iter_num_destroy(struct bpf_iter_num *it) __weak __ksym;

/* The iterator is on the stack; it is destroyed on every exit from the loop. */
#ifndef bpf_for_each
#define bpf_for_each(type, cur, args...)                                                           \
	for (struct bpf_iter_##type it_                                                            \
	     __attribute__((aligned(8), cleanup(bpf_iter_##type##_destroy))),                      \
	     *it_start_                                                                            \
	     __attribute__((aligned(8), unused)) = (bpf_iter_##type##_new(&it_, ##args),           \
						    (void)bpf_iter_##type##_destroy, (void *)0);   \
	     ((cur) = bpf_iter_##type##_next(&it_));)
#endif

/* for (i = start; i < end; i++) */
#ifndef bpf_for
#define bpf_for(i, start, end)                                                                     \
	for (struct bpf_iter_num it_ __attribute__((aligned(8), cleanup(bpf_iter_num_destroy))),   \
	     *it_start_                                                                            \
	     __attribute__((aligned(8), unused)) = (bpf_iter_num_new(&it_, (start), (end)),        \
						    (void)bpf_iter_num_destroy, (void *)0);        \
	     ({                                                                                    \
		     int *next_ = bpf_iter_num_next(&it_);                                         \
		     (i) = next_ ? *next_ : 0;                                                     \
		     next_ && (i) >= (start) && (i) < (end);                                       \
	     });)
#endif

/* Runs the body n times. */
#ifndef bpf_repeat
#define bpf_repeat(n)                                                                              \
	for (struct bpf_iter_num it_ __attribute__((aligned(8), cleanup(bpf_iter_num_destroy))),   \
	     *it_start_ __attribute__((aligned(8), unused)) =                                      \
		     (bpf_iter_num_new(&it_, 0, (n)), (void)bpf_iter_num_destroy, (void *)0);      \
	     bpf_iter_num_next(&it_);)
#endif

#endif
