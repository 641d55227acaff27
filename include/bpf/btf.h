/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BTF: the type information of the kernel and of BPF objects, as
 * Documentation/bpf/btf.rst of the kernel describes it. The names and the
 * semantics are those of libbpf 1.x, so that programs written for it compile
 * unchanged.
 *
 * Types have ids from 1; id 0 is void. A split BTF continues the ids and the
 * string offsets of its base, which it borrows: the base is freed last.
 * Everything that struct btf hands out (types, names, raw data) is borrowed
 * too and lasts until btf__free(), or until the next btf__add_*() call.
 *
 * Errors: a function that returns a pointer gives NULL and sets errno; one
 * that returns an integer gives the negative errno and sets errno too. Common
 * to all: EINVAL, a bad argument or malformed BTF; ENOMEM; ENOENT, no such
 * type, name, file or id.
 *
 * Threads: lookups by name, sizes of pointers and alignments build tables when
 * first asked for. Threads may share a struct btf for what needs none of them
 * (types by id, names by offset), and take turns for the rest.
 */
#ifndef PERFBPF_BTF_H
#define PERFBPF_BTF_H

#include <linux/btf.h>
#include <linux/types.h>
#include <linux/version.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/libbpf_common.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BTF_ELF_SEC	 ".BTF"
#define BTF_EXT_ELF_SEC	 ".BTF.ext"
#define BTF_BASE_ELF_SEC ".BTF.base"
#define MAPS_ELF_SEC	 ".maps"

struct btf;
struct btf_ext;
struct btf_type;
struct bpf_object;

enum btf_endianness {
	BTF_LITTLE_ENDIAN = 0,
	BTF_BIG_ENDIAN = 1,
};

/* ---- making and freeing ---- */

/* Frees btf and closes its fd. NULL is allowed; the base is not freed. */
LIBBPF_API void btf__free(struct btf *btf);

/*
 * Parses the BTF in data, which is copied, of either byte order. Every type
 * is checked: kinds, lengths, names, and that all ids exist.
 */
LIBBPF_API struct btf *btf__new(const void *data, __u32 size);
LIBBPF_API struct btf *btf__new_split(const void *data, __u32 size, struct btf *base_btf);

/* An empty BTF to add types to. base_btf may be NULL. */
LIBBPF_API struct btf *btf__new_empty(void);
LIBBPF_API struct btf *btf__new_empty_split(struct btf *base_btf);

/*
 * From a file: raw BTF, or the .BTF section of an ELF file (the plain form
 * finds out which). btf_ext may be NULL; else it gets the .BTF.ext section's
 * content, or NULL when the file has none, and is freed by the caller.
 * EPROTO: neither ELF nor BTF. ENODATA: the ELF file has no .BTF section.
 */
LIBBPF_API struct btf *btf__parse(const char *path, struct btf_ext **btf_ext);
LIBBPF_API struct btf *btf__parse_split(const char *path, struct btf *base_btf);
LIBBPF_API struct btf *btf__parse_elf(const char *path, struct btf_ext **btf_ext);
LIBBPF_API struct btf *btf__parse_elf_split(const char *path, struct btf *base_btf);
LIBBPF_API struct btf *btf__parse_raw(const char *path);
LIBBPF_API struct btf *btf__parse_raw_split(const char *path, struct btf *base_btf);

/*
 * The running kernel's BTF: /sys/kernel/btf/vmlinux, mapped where the kernel
 * allows it (6.16), else read; without it the vmlinux files at the usual
 * places. A module's BTF is split on vmlinux_btf.
 */
LIBBPF_API struct btf *btf__load_vmlinux_btf(void);
LIBBPF_API struct btf *btf__load_module_btf(const char *module_name, struct btf *vmlinux_btf);

/* What the kernel holds under a BTF id. ENOENT: no such id; EPERM: no right to ask. */
LIBBPF_API struct btf *btf__load_from_kernel_by_id(__u32 id);
LIBBPF_API struct btf *btf__load_from_kernel_by_id_split(__u32 id, struct btf *base_btf);

/*
 * Loads btf into the kernel; its fd is then btf__fd(), owned by btf.
 * EEXIST: it is loaded already. The verifier's reason goes to the print
 * callback.
 */
LIBBPF_API int btf__load_into_kernel(struct btf *btf);

/* The kernel's fd, -1: not loaded. btf__set_fd() hands an fd over; it is closed by btf__free(). */
LIBBPF_API int btf__fd(const struct btf *btf);
LIBBPF_API void btf__set_fd(struct btf *btf, int fd);

/* ---- asking ---- */

/* The types and strings as one piece, with its header, in btf__endianness() order. */
LIBBPF_API const void *btf__raw_data(const struct btf *btf, __u32 *size);

/* The number of ids, void's and the base's included: ids are 0 … cnt - 1. */
LIBBPF_API __u32 btf__type_cnt(const struct btf *btf);
LIBBPF_API const struct btf *btf__base_btf(const struct btf *btf);

/* In the host's byte order, always. NULL: no such id. Id 0 gives a type of kind UNKN. */
LIBBPF_API const struct btf_type *btf__type_by_id(const struct btf *btf, __u32 id);

/*
 * The id of the first type of that name, with any kind or this kind; a split
 * BTF's base is asked first. -ENOENT: there is none. "void" is 0. One lookup
 * in a hash table, which the first call builds.
 */
LIBBPF_API __s32 btf__find_by_name(const struct btf *btf, const char *type_name);
LIBBPF_API __s32 btf__find_by_name_kind(const struct btf *btf, const char *type_name, __u32 kind);

/*
 * Bytes per pointer, 4 or 8: as set, else told by the size of "long" in the
 * types, else 0 for unknown. Setting is for BTF that does not tell.
 */
LIBBPF_API size_t btf__pointer_size(const struct btf *btf);
LIBBPF_API int btf__set_pointer_size(struct btf *btf, size_t ptr_sz);

/* The byte order of btf__raw_data(). */
LIBBPF_API enum btf_endianness btf__endianness(const struct btf *btf);
LIBBPF_API int btf__set_endianness(struct btf *btf, enum btf_endianness endian);

/*
 * Bytes that a value of the type takes, through typedefs, modifiers and
 * arrays. -EINVAL: the type has no size (void, functions); -E2BIG: it is
 * larger than 4 GiB, or the chain is longer than 32.
 */
LIBBPF_API __s64 btf__resolve_size(const struct btf *btf, __u32 type_id);
/* The id behind typedefs and modifiers (and VAR). */
LIBBPF_API int btf__resolve_type(const struct btf *btf, __u32 type_id);
/* The alignment in bytes that C gives the type; 0 with errno set: it has none. */
LIBBPF_API int btf__align_of(const struct btf *btf, __u32 id);

/* The string at an offset, NULL (EINVAL): outside of the strings. */
LIBBPF_API const char *btf__name_by_offset(const struct btf *btf, __u32 offset);
LIBBPF_API const char *btf__str_by_offset(const struct btf *btf, __u32 offset);

/* ---- writing: each returns the new id (or string offset), or the negative errno ---- */

LIBBPF_API int btf__find_str(struct btf *btf, const char *s);
/* Each string is kept once. */
LIBBPF_API int btf__add_str(struct btf *btf, const char *s);

/* A copy of one type of src_btf: names are added, ids inside are kept as they are. */
LIBBPF_API int btf__add_type(struct btf *btf, const struct btf *src_btf,
			     const struct btf_type *src_type);
/* All types of src_btf, ids inside moved along; the id of the first. Not for split BTF. */
LIBBPF_API int btf__add_btf(struct btf *btf, const struct btf *src_btf);

/* encoding: 0 or one of BTF_INT_SIGNED, BTF_INT_CHAR, BTF_INT_BOOL; byte_sz: 1, 2, 4, 8 or 16 */
LIBBPF_API int btf__add_int(struct btf *btf, const char *name, size_t byte_sz, int encoding);
LIBBPF_API int btf__add_float(struct btf *btf, const char *name, size_t byte_sz);
LIBBPF_API int btf__add_ptr(struct btf *btf, int ref_type_id);
LIBBPF_API int btf__add_array(struct btf *btf, int index_type_id, int elem_type_id, __u32 nr_elems);

/*
 * A struct or union, then its fields in order; name may be NULL. bit_size 0
 * is no bitfield. A field goes to the type that was added last.
 */
LIBBPF_API int btf__add_struct(struct btf *btf, const char *name, __u32 sz);
LIBBPF_API int btf__add_union(struct btf *btf, const char *name, __u32 sz);
LIBBPF_API int btf__add_field(struct btf *btf, const char *name, int field_type_id,
			      __u32 bit_offset, __u32 bit_size);

/* An enumeration, then its values in order. */
LIBBPF_API int btf__add_enum(struct btf *btf, const char *name, __u32 bytes_sz);
LIBBPF_API int btf__add_enum_value(struct btf *btf, const char *name, __s64 value);
LIBBPF_API int btf__add_enum64(struct btf *btf, const char *name, __u32 bytes_sz, bool is_signed);
LIBBPF_API int btf__add_enum64_value(struct btf *btf, const char *name, __u64 value);

enum btf_fwd_kind {
	BTF_FWD_STRUCT = 0,
	BTF_FWD_UNION = 1,
	BTF_FWD_ENUM = 2,
};

LIBBPF_API int btf__add_fwd(struct btf *btf, const char *name, enum btf_fwd_kind fwd_kind);
LIBBPF_API int btf__add_typedef(struct btf *btf, const char *name, int ref_type_id);
LIBBPF_API int btf__add_volatile(struct btf *btf, int ref_type_id);
LIBBPF_API int btf__add_const(struct btf *btf, int ref_type_id);
LIBBPF_API int btf__add_restrict(struct btf *btf, int ref_type_id);
LIBBPF_API int btf__add_type_tag(struct btf *btf, const char *value, int ref_type_id);
LIBBPF_API int btf__add_type_attr(struct btf *btf, const char *value, int ref_type_id);

LIBBPF_API int btf__add_func(struct btf *btf, const char *name, enum btf_func_linkage linkage,
			     int proto_type_id);
LIBBPF_API int btf__add_func_proto(struct btf *btf, int ret_type_id);
LIBBPF_API int btf__add_func_param(struct btf *btf, const char *name, int type_id);

/* linkage: BTF_VAR_STATIC, BTF_VAR_GLOBAL_ALLOCATED or BTF_VAR_GLOBAL_EXTERN */
LIBBPF_API int btf__add_var(struct btf *btf, const char *name, int linkage, int type_id);
LIBBPF_API int btf__add_datasec(struct btf *btf, const char *name, __u32 byte_sz);
LIBBPF_API int btf__add_datasec_var_info(struct btf *btf, int var_type_id, __u32 offset,
					 __u32 byte_sz);

/* component_idx: a member's or parameter's number, or -1 for the whole */
LIBBPF_API int btf__add_decl_tag(struct btf *btf, const char *value, int ref_type_id,
				 int component_idx);
LIBBPF_API int btf__add_decl_attr(struct btf *btf, const char *value, int ref_type_id,
				  int component_idx);

/* ---- rewriting: all ids and types that were handed out before are void ---- */

struct btf_dedup_opts {
	size_t sz;
	struct btf_ext *btf_ext; /* changed along; NULL: none */
	bool force_collisions;	 /* for tests: everything has the same hash */
	size_t : 0;
};
#define btf_dedup_opts__last_field force_collisions

/*
 * Leaves one of types that are the same, and of strings; forward declarations
 * become the struct that they stand for where that is clear. Variables and data
 * sections are never the same. A split BTF's types may be the same as its base's.
 * On failure nothing was changed.
 */
LIBBPF_API int btf__dedup(struct btf *btf, const struct btf_dedup_opts *opts);

/*
 * For a split BTF that is to outlive its base's ids, as a module's outlives the
 * kernel's build: *new_base gets what src_btf refers to, so far as that is needed
 * to find it again (numbers; structs, unions and enumerations by name and size),
 * and *new_split all of src_btf's types upon it, then what it used of the base
 * that has no name. Both are the caller's; the split is freed first. EINVAL:
 * src_btf is no split BTF, or refers to a function or variable of its base.
 */
LIBBPF_API int btf__distill_base(const struct btf *src_btf, struct btf **new_base_btf,
				 struct btf **new_split_btf);

/*
 * Puts a split BTF upon another base, base_btf, which must have all that its
 * present one has: by name, and by size where the split has it within its own
 * structs. EINVAL: it has not, or several that fit. On failure nothing was
 * changed; afterwards the old base may be freed.
 */
LIBBPF_API int btf__relocate(struct btf *btf, const struct btf *base_btf);

struct btf_permute_opts {
	size_t sz;
	struct btf_ext *btf_ext; /* changed along; NULL: none */
	size_t : 0;
};
#define btf_permute_opts__last_field btf_ext

/*
 * The types in another order: id_map[i] is the new id of the i-th own type (the
 * first one's id is 1, or the base's btf__type_cnt()). EINVAL: it is not one id
 * for each. On failure nothing was changed.
 */
LIBBPF_API int btf__permute(struct btf *btf, __u32 *id_map, __u32 id_map_cnt,
			    const struct btf_permute_opts *opts);

/* ---- .BTF.ext: which function, line and CO-RE relocation an instruction belongs to ---- */

/* Parses a copy of data, of either byte order; its names are offsets into the BTF's strings. */
LIBBPF_API struct btf_ext *btf_ext__new(const __u8 *data, __u32 size);
LIBBPF_API void btf_ext__free(struct btf_ext *btf_ext);
LIBBPF_API const void *btf_ext__raw_data(const struct btf_ext *btf_ext, __u32 *size);
/* The byte order of btf_ext__raw_data(). */
LIBBPF_API enum btf_endianness btf_ext__endianness(const struct btf_ext *btf_ext);
/* What btf_ext__raw_data() gives from now on. -EINVAL: no such order; -ENOMEM. */
LIBBPF_API int btf_ext__set_endianness(struct btf_ext *btf_ext, enum btf_endianness endian);

/* ---- as C ---- */

struct btf_dump;

struct btf_dump_opts {
	size_t sz;
};
#define btf_dump_opts__last_field sz

/* Gets the text piece by piece. */
typedef void (*btf_dump_printf_fn_t)(void *ctx, const char *fmt, va_list args);

/* btf is borrowed. opts may be NULL. */
LIBBPF_API struct btf_dump *btf_dump__new(const struct btf *btf, btf_dump_printf_fn_t printf_fn,
					  void *ctx, const struct btf_dump_opts *opts);
LIBBPF_API void btf_dump__free(struct btf_dump *d);

/*
 * Writes the type's definition, preceded by what it needs that this dump has
 * not written yet: called for all ids it gives a compilable header.
 */
LIBBPF_API int btf_dump__dump_type(struct btf_dump *d, __u32 id);

struct btf_dump_emit_type_decl_opts {
	size_t sz;
	/* the declared name: "int (*NAME)[4]"; NULL or "": a bare type */
	const char *field_name;
	/* tabs before each line after the first */
	int indent_level;
	/* leave out const, volatile and restrict */
	bool strip_mods;
	size_t : 0;
};
#define btf_dump_emit_type_decl_opts__last_field strip_mods

/* Writes one declaration, without the semicolon and without what it depends on. */
LIBBPF_API int btf_dump__emit_type_decl(struct btf_dump *d, __u32 id,
					const struct btf_dump_emit_type_decl_opts *opts);

struct btf_dump_type_data_opts {
	size_t sz;
	/* what one level is indented by; NULL: a tab */
	const char *indent_str;
	int indent_level;  /* as many of them before each line, the first too */
	bool compact;	   /* all on one line */
	bool skip_names;   /* no member and type names */
	bool emit_zeroes;  /* fields whose bytes are all zero too */
	bool emit_strings; /* char arrays as "text" */
	size_t : 0;
};
#define btf_dump_type_data_opts__last_field emit_strings

/*
 * Writes the value of that type in data as a C initializer. Returns the bytes
 * that the type takes; -E2BIG: data_sz is less (what is there is written);
 * -EINVAL; -ENOTSUP: the type has no values.
 */
LIBBPF_API int btf_dump__dump_type_data(struct btf_dump *d, __u32 id, const void *data,
					size_t data_sz, const struct btf_dump_type_data_opts *opts);

/* ---- struct btf_type taken apart ---- */

/* What <linux/btf.h> of older kernels lacks; see perf_bpf_uapi.h. */
#ifndef PERF_BPF_OWN_UAPI
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 13, 0)
#define BTF_KIND_FLOAT 16
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
#define BTF_KIND_DECL_TAG 17

struct btf_decl_tag {
	__s32 component_idx; /* the member or parameter; -1: the type itself */
};
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 17, 0)
#define BTF_KIND_TYPE_TAG 18
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
#define BTF_KIND_ENUM64 19

struct btf_enum64 {
	__u32 name_off;
	__u32 val_lo32;
	__u32 val_hi32;
};
#endif
#endif /* PERF_BPF_OWN_UAPI */

static inline __u16 btf_kind(const struct btf_type *t)
{
	return BTF_INFO_KIND(t->info);
}

/* The number of members, values, parameters or variables. */
static inline __u16 btf_vlen(const struct btf_type *t)
{
	return BTF_INFO_VLEN(t->info);
}

static inline bool btf_kflag(const struct btf_type *t)
{
	return BTF_INFO_KFLAG(t->info);
}

#define PERFBPF_BTF_IS(name, kind)                                                                 \
	static inline bool btf_is_##name(const struct btf_type *t)                                 \
	{                                                                                          \
		return btf_kind(t) == (kind);                                                      \
	}
PERFBPF_BTF_IS(void, BTF_KIND_UNKN)
PERFBPF_BTF_IS(int, BTF_KIND_INT)
PERFBPF_BTF_IS(ptr, BTF_KIND_PTR)
PERFBPF_BTF_IS(array, BTF_KIND_ARRAY)
PERFBPF_BTF_IS(struct, BTF_KIND_STRUCT)
PERFBPF_BTF_IS(union, BTF_KIND_UNION)
PERFBPF_BTF_IS(enum, BTF_KIND_ENUM)
PERFBPF_BTF_IS(enum64, BTF_KIND_ENUM64)
PERFBPF_BTF_IS(fwd, BTF_KIND_FWD)
PERFBPF_BTF_IS(typedef, BTF_KIND_TYPEDEF)
PERFBPF_BTF_IS(volatile, BTF_KIND_VOLATILE)
PERFBPF_BTF_IS(const, BTF_KIND_CONST)
PERFBPF_BTF_IS(restrict, BTF_KIND_RESTRICT)
PERFBPF_BTF_IS(func, BTF_KIND_FUNC)
PERFBPF_BTF_IS(func_proto, BTF_KIND_FUNC_PROTO)
PERFBPF_BTF_IS(var, BTF_KIND_VAR)
PERFBPF_BTF_IS(datasec, BTF_KIND_DATASEC)
PERFBPF_BTF_IS(float, BTF_KIND_FLOAT)
PERFBPF_BTF_IS(decl_tag, BTF_KIND_DECL_TAG)
PERFBPF_BTF_IS(type_tag, BTF_KIND_TYPE_TAG)
#undef PERFBPF_BTF_IS

static inline bool btf_is_composite(const struct btf_type *t)
{
	return btf_is_struct(t) || btf_is_union(t);
}

static inline bool btf_is_mod(const struct btf_type *t)
{
	return btf_is_volatile(t) || btf_is_const(t) || btf_is_restrict(t) || btf_is_type_tag(t);
}

static inline bool btf_is_any_enum(const struct btf_type *t)
{
	return btf_is_enum(t) || btf_is_enum64(t);
}

/* The same kind, as CO-RE sees it: the width of an enumeration does not matter. */
static inline bool btf_kind_core_compat(const struct btf_type *t1, const struct btf_type *t2)
{
	return btf_kind(t1) == btf_kind(t2) || (btf_is_any_enum(t1) && btf_is_any_enum(t2));
}

/* INT: encoding, bit offset in its bytes (0 today), bits. */
static inline __u8 btf_int_encoding(const struct btf_type *t)
{
	return BTF_INT_ENCODING(*(const __u32 *)(t + 1));
}

static inline __u8 btf_int_offset(const struct btf_type *t)
{
	return BTF_INT_OFFSET(*(const __u32 *)(t + 1));
}

static inline __u8 btf_int_bits(const struct btf_type *t)
{
	return BTF_INT_BITS(*(const __u32 *)(t + 1));
}

/* What follows a type of the kind in the name. */
static inline struct btf_array *btf_array(const struct btf_type *t)
{
	return (struct btf_array *)(t + 1);
}

static inline struct btf_enum *btf_enum(const struct btf_type *t)
{
	return (struct btf_enum *)(t + 1);
}

static inline struct btf_enum64 *btf_enum64(const struct btf_type *t)
{
	return (struct btf_enum64 *)(t + 1);
}

static inline __u64 btf_enum64_value(const struct btf_enum64 *e)
{
	return (__u64)e->val_hi32 << 32 | e->val_lo32;
}

static inline struct btf_member *btf_members(const struct btf_type *t)
{
	return (struct btf_member *)(t + 1);
}

/* Bits from the start of the struct. */
static inline __u32 btf_member_bit_offset(const struct btf_type *t, __u32 member_idx)
{
	__u32 offset = btf_members(t)[member_idx].offset;

	return btf_kflag(t) ? BTF_MEMBER_BIT_OFFSET(offset) : offset;
}

/* 0: no bitfield. */
static inline __u32 btf_member_bitfield_size(const struct btf_type *t, __u32 member_idx)
{
	return btf_kflag(t) ? BTF_MEMBER_BITFIELD_SIZE(btf_members(t)[member_idx].offset) : 0;
}

static inline struct btf_param *btf_params(const struct btf_type *t)
{
	return (struct btf_param *)(t + 1);
}

static inline struct btf_var *btf_var(const struct btf_type *t)
{
	return (struct btf_var *)(t + 1);
}

static inline struct btf_var_secinfo *btf_var_secinfos(const struct btf_type *t)
{
	return (struct btf_var_secinfo *)(t + 1);
}

static inline struct btf_decl_tag *btf_decl_tag(const struct btf_type *t)
{
	return (struct btf_decl_tag *)(t + 1);
}

#ifdef __cplusplus
}
#endif

#endif
