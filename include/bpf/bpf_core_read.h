/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Read kernel structures whose layout differs between kernels (CO-RE). clang
 * records which field of which type is accessed; the loader inserts the offsets
 * and sizes of the running kernel. Names and semantics are those of libbpf.
 */
#ifndef PERF_BPF_CORE_READ_H
#define PERF_BPF_CORE_READ_H

#include "bpf_helpers.h"

/*
 * The kinds of values that clang's builtins request from the loader. The numbers
 * are part of the object format (the kernel's enum bpf_core_relo_kind).
 */
enum bpf_field_info_kind {
	BPF_FIELD_BYTE_OFFSET = 0,
	BPF_FIELD_BYTE_SIZE = 1,
	BPF_FIELD_EXISTS = 2,
	BPF_FIELD_SIGNED = 3,
	BPF_FIELD_LSHIFT_U64 = 4,
	BPF_FIELD_RSHIFT_U64 = 5,
};

/* The second arguments of __builtin_btf_type_id and similar builtins. */
enum bpf_type_id_kind {
	BPF_TYPE_ID_LOCAL = 0,
	BPF_TYPE_ID_TARGET = 1,
};

enum bpf_type_info_kind {
	BPF_TYPE_EXISTS = 0,
	BPF_TYPE_SIZE = 1,
	BPF_TYPE_MATCHES = 2,
};

enum bpf_enum_value_kind {
	BPF_ENUMVAL_EXISTS = 0,
	BPF_ENUMVAL_VALUE = 1,
};

#define __CORE_RELO(src, field, info) __builtin_preserve_field_info((src)->field, BPF_FIELD_##info)

/* ---- queries ---- */

/* The arguments are either (ptr->field) or (struct type, field). */
#define ___bpf_field_ref1(field)       (field)
#define ___bpf_field_ref2(type, field) (((__typeof__(type) *)0)->field)
#define ___bpf_field_ref(args...)      ___bpf_apply(___bpf_field_ref, ___bpf_narg(args))(args)

#define bpf_core_field_exists(field...)                                                            \
	__builtin_preserve_field_info(___bpf_field_ref(field), BPF_FIELD_EXISTS)
/* In bytes. */
#define bpf_core_field_size(field...)                                                              \
	__builtin_preserve_field_info(___bpf_field_ref(field), BPF_FIELD_BYTE_SIZE)
#define bpf_core_field_offset(field...)                                                            \
	__builtin_preserve_field_info(___bpf_field_ref(field), BPF_FIELD_BYTE_OFFSET)

#define bpf_core_type_id_local(type)                                                               \
	__builtin_btf_type_id(*(__typeof__(type) *)0, BPF_TYPE_ID_LOCAL)
/* 0: the type does not exist in this kernel. */
#define bpf_core_type_id_kernel(type)                                                              \
	__builtin_btf_type_id(*(__typeof__(type) *)0, BPF_TYPE_ID_TARGET)
#define bpf_core_type_exists(type)                                                                 \
	__builtin_preserve_type_info(*(__typeof__(type) *)0, BPF_TYPE_EXISTS)
/* Whether the kernel's type has all members of this type. */
#define bpf_core_type_matches(type)                                                                \
	__builtin_preserve_type_info(*(__typeof__(type) *)0, BPF_TYPE_MATCHES)
/* In bytes; 0: the type does not exist in this kernel. */
#define bpf_core_type_size(type) __builtin_preserve_type_info(*(__typeof__(type) *)0, BPF_TYPE_SIZE)

#define bpf_core_enum_value_exists(enum_type, enum_value)                                          \
	__builtin_preserve_enum_value(*(__typeof__(enum_type) *)enum_value, BPF_ENUMVAL_EXISTS)
#define bpf_core_enum_value(enum_type, enum_value)                                                 \
	__builtin_preserve_enum_value(*(__typeof__(enum_type) *)enum_value, BPF_ENUMVAL_VALUE)

/* ---- bitfields ---- */

/* Reads the bytes that contain the field into the low end of a 64-bit word. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define __CORE_BITFIELD_PROBE_READ(dst, src, fld)                                                  \
	bpf_probe_read_kernel((void *)dst, __CORE_RELO(src, fld, BYTE_SIZE),                       \
			      (const void *)src + __CORE_RELO(src, fld, BYTE_OFFSET))
#else
#define __CORE_BITFIELD_PROBE_READ(dst, src, fld)                                                  \
	bpf_probe_read_kernel((void *)dst + (8 - __CORE_RELO(src, fld, BYTE_SIZE)),                \
			      __CORE_RELO(src, fld, BYTE_SIZE),                                    \
			      (const void *)src + __CORE_RELO(src, fld, BYTE_OFFSET))
#endif

#define ___bpf_extract_bits(val, s, field)                                                         \
	({                                                                                         \
		unsigned long long bits_ = (val) << __CORE_RELO(s, field, LSHIFT_U64);             \
		__CORE_RELO(s, field, SIGNED)                                                      \
		? (unsigned long long)((long long)bits_ >> __CORE_RELO(s, field, RSHIFT_U64))      \
		: bits_ >> __CORE_RELO(s, field, RSHIFT_U64);                                      \
	})

/* Reads from any kernel pointer, with a helper. */
#define BPF_CORE_READ_BITFIELD_PROBED(s, field)                                                    \
	({                                                                                         \
		unsigned long long word_ = 0;                                                      \
		__CORE_BITFIELD_PROBE_READ(&word_, s, field);                                      \
		___bpf_extract_bits(word_, s, field);                                              \
	})

/* Reads directly, from a pointer that the verifier lets the program dereference. */
#define BPF_CORE_READ_BITFIELD(s, field)                                                           \
	({                                                                                         \
		const void *at_ = (const void *)(s) + __CORE_RELO(s, field, BYTE_OFFSET);          \
		unsigned long long word_ = 0;                                                      \
		barrier_var(at_);                                                                  \
		switch (__CORE_RELO(s, field, BYTE_SIZE)) {                                        \
		case 1:                                                                            \
			word_ = *(const unsigned char *)at_;                                       \
			break;                                                                     \
		case 2:                                                                            \
			word_ = *(const unsigned short *)at_;                                      \
			break;                                                                     \
		case 4:                                                                            \
			word_ = *(const unsigned int *)at_;                                        \
			break;                                                                     \
		case 8:                                                                            \
			word_ = *(const unsigned long long *)at_;                                  \
			break;                                                                     \
		}                                                                                  \
		___bpf_extract_bits(word_, s, field);                                              \
	})

/* Writes to memory that the verifier lets the program write; other bits are unchanged. */
#define BPF_CORE_WRITE_BITFIELD(s, field, new_val)                                                 \
	({                                                                                         \
		void *at_ = (void *)(s) + __CORE_RELO(s, field, BYTE_OFFSET);                      \
		const unsigned int shift_ =                                                        \
			__CORE_RELO(s, field, RSHIFT_U64) - __CORE_RELO(s, field, LSHIFT_U64);     \
		const unsigned long long mask_ = ~0ULL >> __CORE_RELO(s, field, RSHIFT_U64)        \
								  << shift_;                       \
		const unsigned long long bits_ = (unsigned long long)(new_val) << shift_ & mask_;  \
		barrier_var(at_);                                                                  \
		switch (__CORE_RELO(s, field, BYTE_SIZE)) {                                        \
		case 1:                                                                            \
			*(unsigned char *)at_ = (*(unsigned char *)at_ & ~mask_) | bits_;          \
			break;                                                                     \
		case 2:                                                                            \
			*(unsigned short *)at_ = (*(unsigned short *)at_ & ~mask_) | bits_;        \
			break;                                                                     \
		case 4:                                                                            \
			*(unsigned int *)at_ = (*(unsigned int *)at_ & ~mask_) | bits_;            \
			break;                                                                     \
		case 8:                                                                            \
			*(unsigned long long *)at_ =                                               \
				(*(unsigned long long *)at_ & ~mask_) | bits_;                     \
			break;                                                                     \
		}                                                                                  \
	})

/* ---- single reads ---- */

#define ___bpf_preserved(src) ((const void *)__builtin_preserve_access_index(src))

#define bpf_core_read(dst, sz, src) bpf_probe_read_kernel(dst, sz, ___bpf_preserved(src))
/* Only for kernel types in user memory: types of user space are not relocated. */
#define bpf_core_read_user(dst, sz, src)     bpf_probe_read_user(dst, sz, ___bpf_preserved(src))
#define bpf_core_read_str(dst, sz, src)	     bpf_probe_read_kernel_str(dst, sz, ___bpf_preserved(src))
#define bpf_core_read_user_str(dst, sz, src) bpf_probe_read_user_str(dst, sz, ___bpf_preserved(src))

/* Casts to a pointer to a kernel type, for direct reads with CO-RE (needs a kfunc of 6.2). */
#define bpf_core_cast(ptr, type)                                                                   \
	((__typeof__(type) *)bpf_rdonly_cast((ptr), bpf_core_type_id_kernel(type)))
extern void *bpf_rdonly_cast(const void *obj, __u32 btf_id) __weak __ksym;

/* ---- chains: a->b->c->d, with one read for each arrow ---- */

#define ___bpf_arrow1(a)			     (a)
#define ___bpf_arrow2(a, b)			     (a)->b
#define ___bpf_arrow3(a, b, c)			     (a)->b->c
#define ___bpf_arrow4(a, b, c, d)		     (a)->b->c->d
#define ___bpf_arrow5(a, b, c, d, e)		     (a)->b->c->d->e
#define ___bpf_arrow6(a, b, c, d, e, f)		     (a)->b->c->d->e->f
#define ___bpf_arrow7(a, b, c, d, e, f, g)	     (a)->b->c->d->e->f->g
#define ___bpf_arrow8(a, b, c, d, e, f, g, h)	     (a)->b->c->d->e->f->g->h
#define ___bpf_arrow9(a, b, c, d, e, f, g, h, i)     (a)->b->c->d->e->f->g->h->i
#define ___bpf_arrow10(a, b, c, d, e, f, g, h, i, j) (a)->b->c->d->e->f->g->h->i->j
#define ___bpf_arrow(args...)			     ___bpf_apply(___bpf_arrow, ___bpf_narg(args))(args)

/*
 * ___bpf_follow_N(read, a, b, …) reads each pointer of the chain, except the last
 * field, into next_. A chain of two needs no such read: `a` is already a pointer.
 */
#define ___bpf_step(read, of, field)                                                               \
	read((void *)(&next_), sizeof(next_), &((__typeof__(of))(from_))->field);                  \
	from_ = next_;
#define ___bpf_follow2(read, a, b)
#define ___bpf_follow3(read, a, b, c) ___bpf_step(read, ___bpf_arrow(a), b)
#define ___bpf_follow4(read, a, b, c, d)                                                           \
	___bpf_follow3(read, a, b, c) ___bpf_step(read, ___bpf_arrow(a, b), c)
#define ___bpf_follow5(read, a, b, c, d, e)                                                        \
	___bpf_follow4(read, a, b, c, d) ___bpf_step(read, ___bpf_arrow(a, b, c), d)
#define ___bpf_follow6(read, a, b, c, d, e, f)                                                     \
	___bpf_follow5(read, a, b, c, d, e) ___bpf_step(read, ___bpf_arrow(a, b, c, d), e)
#define ___bpf_follow7(read, a, b, c, d, e, f, g)                                                  \
	___bpf_follow6(read, a, b, c, d, e, f) ___bpf_step(read, ___bpf_arrow(a, b, c, d, e), f)
#define ___bpf_follow8(read, a, b, c, d, e, f, g, h)                                               \
	___bpf_follow7(read, a, b, c, d, e, f, g)                                                  \
		___bpf_step(read, ___bpf_arrow(a, b, c, d, e, f), g)
#define ___bpf_follow9(read, a, b, c, d, e, f, g, h, i)                                            \
	___bpf_follow8(read, a, b, c, d, e, f, g, h)                                               \
		___bpf_step(read, ___bpf_arrow(a, b, c, d, e, f, g), h)
#define ___bpf_follow10(read, a, b, c, d, e, f, g, h, i, j)                                        \
	___bpf_follow9(read, a, b, c, d, e, f, g, h, i)                                            \
		___bpf_step(read, ___bpf_arrow(a, b, c, d, e, f, g, h), i)

/* Returns the chain without its last field, and the last field. */
#define ___bpf_front2(a, b)			     a
#define ___bpf_front3(a, b, c)			     a, b
#define ___bpf_front4(a, b, c, d)		     a, b, c
#define ___bpf_front5(a, b, c, d, e)		     a, b, c, d
#define ___bpf_front6(a, b, c, d, e, f)		     a, b, c, d, e
#define ___bpf_front7(a, b, c, d, e, f, g)	     a, b, c, d, e, f
#define ___bpf_front8(a, b, c, d, e, f, g, h)	     a, b, c, d, e, f, g
#define ___bpf_front9(a, b, c, d, e, f, g, h, i)     a, b, c, d, e, f, g, h
#define ___bpf_front10(a, b, c, d, e, f, g, h, i, j) a, b, c, d, e, f, g, h, i
#define ___bpf_front(args...)			     ___bpf_apply(___bpf_front, ___bpf_narg(args))(args)
#define ___bpf_last2(a, b)			     b
#define ___bpf_last3(a, b, c)			     c
#define ___bpf_last4(a, b, c, d)		     d
#define ___bpf_last5(a, b, c, d, e)		     e
#define ___bpf_last6(a, b, c, d, e, f)		     f
#define ___bpf_last7(a, b, c, d, e, f, g)	     g
#define ___bpf_last8(a, b, c, d, e, f, g, h)	     h
#define ___bpf_last9(a, b, c, d, e, f, g, h, i)	     i
#define ___bpf_last10(a, b, c, d, e, f, g, h, i, j)  j
#define ___bpf_last(args...)			     ___bpf_apply(___bpf_last, ___bpf_narg(args))(args)
#define ___bpf_follow(read, args...)		     ___bpf_apply(___bpf_follow, ___bpf_narg(args))(read, args)

/* Follows the chain src, a, … and then reads the last field into dst with `last`. */
#define ___bpf_chain(read, last, dst, size, chain...)                                              \
	({                                                                                         \
		const void *from_ = (const void *)(___bpf_first(chain));                           \
		const void *next_ __attribute__((unused));                                         \
		___bpf_follow(read, chain)                                                         \
			last((void *)(dst), size,                                                  \
			     &((__typeof__(___bpf_arrow(___bpf_front(chain))))(from_))             \
				      ->___bpf_last(chain));                                       \
	})
#define ___bpf_first(a, ...) a

#define BPF_CORE_READ_INTO(dst, src, a, ...)                                                       \
	___bpf_chain(bpf_core_read, bpf_core_read, dst, sizeof(*(dst)), src, a, ##__VA_ARGS__)
#define BPF_CORE_READ_USER_INTO(dst, src, a, ...)                                                  \
	___bpf_chain(bpf_core_read_user, bpf_core_read_user, dst, sizeof(*(dst)), src, a,          \
		     ##__VA_ARGS__)
#define BPF_CORE_READ_STR_INTO(dst, src, a, ...)                                                   \
	___bpf_chain(bpf_core_read, bpf_core_read_str, dst, sizeof(*(dst)), src, a, ##__VA_ARGS__)
#define BPF_CORE_READ_USER_STR_INTO(dst, src, a, ...)                                              \
	___bpf_chain(bpf_core_read_user, bpf_core_read_user_str, dst, sizeof(*(dst)), src, a,      \
		     ##__VA_ARGS__)
/* The same without CO-RE, for types whose layout is the same in all kernels. */
#define BPF_PROBE_READ_INTO(dst, src, a, ...)                                                      \
	___bpf_chain(bpf_probe_read_kernel, bpf_probe_read_kernel, dst, sizeof(*(dst)), src, a,    \
		     ##__VA_ARGS__)
#define BPF_PROBE_READ_USER_INTO(dst, src, a, ...)                                                 \
	___bpf_chain(bpf_probe_read_user, bpf_probe_read_user, dst, sizeof(*(dst)), src, a,        \
		     ##__VA_ARGS__)
#define BPF_PROBE_READ_STR_INTO(dst, src, a, ...)                                                  \
	___bpf_chain(bpf_probe_read_kernel, bpf_probe_read_kernel_str, dst, sizeof(*(dst)), src,   \
		     a, ##__VA_ARGS__)
#define BPF_PROBE_READ_USER_STR_INTO(dst, src, a, ...)                                             \
	___bpf_chain(bpf_probe_read_user, bpf_probe_read_user_str, dst, sizeof(*(dst)), src, a,    \
		     ##__VA_ARGS__)

/*
 * BPF_CORE_READ(task, mm, exe_file, f_inode, i_ino) is
 * task->mm->exe_file->f_inode->i_ino, or 0 if a pointer cannot be read.
 */
#define ___bpf_read_value(into, src, a, ...)                                                       \
	({                                                                                         \
		___bpf_value_type(src, a, ##__VA_ARGS__) value_;                                   \
		into(&value_, src, a, ##__VA_ARGS__);                                              \
		value_;                                                                            \
	})
#define ___bpf_value_type(args...) ___bpf_typeof_unqual(___bpf_arrow(args))
/* The variable is written later, so it cannot be const; clang 21 and newer warn about that. */
#define ___bpf_typeof_unqual __typeof__
#ifdef __has_warning
#if __has_warning("-Wdefault-const-init-var-unsafe")
#undef ___bpf_typeof_unqual
#define ___bpf_typeof_unqual __typeof_unqual__
#endif
#endif

#define BPF_CORE_READ(src, a, ...) ___bpf_read_value(BPF_CORE_READ_INTO, src, a, ##__VA_ARGS__)
#define BPF_CORE_READ_USER(src, a, ...)                                                            \
	___bpf_read_value(BPF_CORE_READ_USER_INTO, src, a, ##__VA_ARGS__)
#define BPF_PROBE_READ(src, a, ...) ___bpf_read_value(BPF_PROBE_READ_INTO, src, a, ##__VA_ARGS__)
#define BPF_PROBE_READ_USER(src, a, ...)                                                           \
	___bpf_read_value(BPF_PROBE_READ_USER_INTO, src, a, ##__VA_ARGS__)

#endif
