/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BTF: the type information of the kernel and of BPF objects, described in
 * Documentation/bpf/btf.rst of the kernel. Names and semantics are those of
 * libbpf 1.x: programs written for it compile unchanged.
 *
 * Type IDs start at 1; ID 0 is void. A split BTF continues the type IDs and
 * string offsets of its base. It refers to the base, so free the base last.
 * Types, names and raw data returned by these functions belong to struct btf;
 * they are valid until btf__free() or the next btf__add_*() call.
 *
 * Errors: a function that returns a pointer returns NULL and sets errno; a
 * function that returns an integer returns a negative errno and also sets
 * errno. Common errors: EINVAL, invalid argument or malformed BTF; ENOMEM;
 * ENOENT, the type, name, file or ID does not exist.
 *
 * Threads: the first call for a lookup by name, a pointer size or an alignment
 * builds a table. Threads can share a struct btf for calls that do not need
 * these tables (types by ID, names by offset); other calls need a lock.
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

/* ---- opening and freeing ---- */

/* Frees btf and closes its fd. NULL is allowed; the base is not freed. */
LIBBPF_API void btf__free(struct btf *btf);

/*
 * Parses a copy of the BTF in data, in either byte order. Every type is
 * checked: kinds, lengths, names, and that all type IDs exist.
 */
LIBBPF_API struct btf *btf__new(const void *data, __u32 size);
LIBBPF_API struct btf *btf__new_split(const void *data, __u32 size, struct btf *base_btf);

/* Creates an empty BTF, to which types can be added. base_btf can be NULL. */
LIBBPF_API struct btf *btf__new_empty(void);
LIBBPF_API struct btf *btf__new_empty_split(struct btf *base_btf);

/*
 * Parse a file: raw BTF, or the .BTF section of an ELF file; btf__parse()
 * detects the format. If btf_ext is not NULL, it is set to the content of the
 * .BTF.ext section, which the caller frees, or to NULL if there is none.
 * EPROTO: the file is neither ELF nor BTF. ENODATA: no .BTF section.
 */
LIBBPF_API struct btf *btf__parse(const char *path, struct btf_ext **btf_ext);
LIBBPF_API struct btf *btf__parse_split(const char *path, struct btf *base_btf);
LIBBPF_API struct btf *btf__parse_elf(const char *path, struct btf_ext **btf_ext);
LIBBPF_API struct btf *btf__parse_elf_split(const char *path, struct btf *base_btf);
LIBBPF_API struct btf *btf__parse_raw(const char *path);
LIBBPF_API struct btf *btf__parse_raw_split(const char *path, struct btf *base_btf);

/*
 * The BTF of the running kernel: /sys/kernel/btf/vmlinux, mapped if the kernel
 * supports it (6.16), otherwise read. If it does not exist, the vmlinux files
 * in the usual directories. The BTF of a module is split BTF with the base
 * vmlinux_btf.
 */
LIBBPF_API struct btf *btf__load_vmlinux_btf(void);
LIBBPF_API struct btf *btf__load_module_btf(const char *module_name, struct btf *vmlinux_btf);

/* Gets a BTF object from the kernel by ID. ENOENT: unknown ID; EPERM: missing privilege. */
LIBBPF_API struct btf *btf__load_from_kernel_by_id(__u32 id);
LIBBPF_API struct btf *btf__load_from_kernel_by_id_split(__u32 id, struct btf *base_btf);

/*
 * Loads btf into the kernel. btf__fd() then returns its file descriptor, which
 * btf owns. EEXIST: it has already been loaded. If the kernel rejects it, its
 * log is passed to the print callback.
 */
LIBBPF_API int btf__load_into_kernel(struct btf *btf);

/* The file descriptor; -1: not loaded. btf__set_fd() passes ownership; btf__free() closes it. */
LIBBPF_API int btf__fd(const struct btf *btf);
LIBBPF_API void btf__set_fd(struct btf *btf, int fd);

/* ---- queries ---- */

/* The header, types and strings as one buffer, in the byte order btf__endianness(). */
LIBBPF_API const void *btf__raw_data(const struct btf *btf, __u32 *size);

/* The number of type IDs, including void and the base: IDs are 0 … cnt - 1. */
LIBBPF_API __u32 btf__type_cnt(const struct btf *btf);
LIBBPF_API const struct btf *btf__base_btf(const struct btf *btf);

/* Always in the host's byte order. NULL: unknown ID. ID 0 returns a type of kind UNKN. */
LIBBPF_API const struct btf_type *btf__type_by_id(const struct btf *btf, __u32 id);

/*
 * The ID of the first type with this name, of any kind or of the given kind;
 * the base of a split BTF is searched first. -ENOENT: not found. "void" is 0.
 * The first call builds a hash table.
 */
LIBBPF_API __s32 btf__find_by_name(const struct btf *btf, const char *type_name);
LIBBPF_API __s32 btf__find_by_name_kind(const struct btf *btf, const char *type_name, __u32 kind);

/*
 * The size of a pointer in bytes, 4 or 8: the value that was set, otherwise the
 * size of the type "long", otherwise 0 (unknown). Set it for BTF without "long".
 */
LIBBPF_API size_t btf__pointer_size(const struct btf *btf);
LIBBPF_API int btf__set_pointer_size(struct btf *btf, size_t ptr_sz);

/* The byte order of btf__raw_data(). */
LIBBPF_API enum btf_endianness btf__endianness(const struct btf *btf);
LIBBPF_API int btf__set_endianness(struct btf *btf, enum btf_endianness endian);

/*
 * The size of a value of the type in bytes; typedefs, modifiers and arrays are
 * resolved. -EINVAL: the type does not have a size (void, functions); -E2BIG:
 * the size exceeds 4 GiB, or more than 32 types have to be followed.
 */
LIBBPF_API __s64 btf__resolve_size(const struct btf *btf, __u32 type_id);
/* The ID of the type without typedefs, modifiers and VAR. */
LIBBPF_API int btf__resolve_type(const struct btf *btf, __u32 type_id);
/* The alignment of the type in C, in bytes; 0 with errno set: not available. */
LIBBPF_API int btf__align_of(const struct btf *btf, __u32 id);

/* The string at an offset; NULL with EINVAL: the offset is outside of the strings. */
LIBBPF_API const char *btf__name_by_offset(const struct btf *btf, __u32 offset);
LIBBPF_API const char *btf__str_by_offset(const struct btf *btf, __u32 offset);

/* ---- adding types: each returns the new type ID (or string offset) or a negative errno ---- */

LIBBPF_API int btf__find_str(struct btf *btf, const char *s);
/* Adds a string, or finds it if it already exists. */
LIBBPF_API int btf__add_str(struct btf *btf, const char *s);

/* Copies one type of src_btf: names are added; type IDs in it are not changed. */
LIBBPF_API int btf__add_type(struct btf *btf, const struct btf *src_btf,
			     const struct btf_type *src_type);
/* Copies all types of src_btf and adjusts type IDs; returns the first ID. Not for split BTF. */
LIBBPF_API int btf__add_btf(struct btf *btf, const struct btf *src_btf);

/* encoding: 0 or one of BTF_INT_SIGNED, BTF_INT_CHAR, BTF_INT_BOOL; byte_sz: 1, 2, 4, 8 or 16 */
LIBBPF_API int btf__add_int(struct btf *btf, const char *name, size_t byte_sz, int encoding);
LIBBPF_API int btf__add_float(struct btf *btf, const char *name, size_t byte_sz);
LIBBPF_API int btf__add_ptr(struct btf *btf, int ref_type_id);
LIBBPF_API int btf__add_array(struct btf *btf, int index_type_id, int elem_type_id, __u32 nr_elems);

/*
 * Add a struct or union, then its fields in order; name can be NULL. bit_size 0
 * means that the field is not a bitfield. A field is added to the last type.
 */
LIBBPF_API int btf__add_struct(struct btf *btf, const char *name, __u32 sz);
LIBBPF_API int btf__add_union(struct btf *btf, const char *name, __u32 sz);
LIBBPF_API int btf__add_field(struct btf *btf, const char *name, int field_type_id,
			      __u32 bit_offset, __u32 bit_size);

/* Add an enumeration, then its values in order. */
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

/* component_idx: the index of a member or parameter, or -1 for the type itself */
LIBBPF_API int btf__add_decl_tag(struct btf *btf, const char *value, int ref_type_id,
				 int component_idx);
LIBBPF_API int btf__add_decl_attr(struct btf *btf, const char *value, int ref_type_id,
				  int component_idx);

/* ---- changing a BTF: all type IDs and types returned before become invalid ---- */

struct btf_dedup_opts {
	size_t sz;
	struct btf_ext *btf_ext; /* also adjusted; NULL: none */
	bool force_collisions;	 /* for tests: everything has the same hash */
	size_t : 0;
};
#define btf_dedup_opts__last_field force_collisions

/*
 * Removes duplicate types and strings. A forward declaration is replaced by its
 * struct if that is unambiguous. Variables and data sections are never
 * duplicates. Types of a split BTF can be duplicates of types in its base. On
 * failure, nothing is changed.
 */
LIBBPF_API int btf__dedup(struct btf *btf, const struct btf_dedup_opts *opts);

/*
 * For a split BTF that is used after the type IDs of its base have changed, for
 * example that of a module after the kernel was rebuilt. *new_base gets the
 * types that src_btf refers to, as far as they are needed to find them again
 * (numbers; structs, unions and enumerations with name and size). *new_split
 * gets all types of src_btf, and the unnamed types of the base that it uses.
 * The caller frees both, the split BTF first. EINVAL: src_btf is not a split
 * BTF, or it refers to a function or variable of its base.
 */
LIBBPF_API int btf__distill_base(const struct btf *src_btf, struct btf **new_base_btf,
				 struct btf **new_split_btf);

/*
 * Changes the base of a split BTF to base_btf, which must have all types of the
 * current base: with the same name, and with the same size if the split BTF
 * embeds the type in its own structs. EINVAL: a type is missing or ambiguous.
 * On failure, nothing is changed; on success, the old base can be freed.
 */
LIBBPF_API int btf__relocate(struct btf *btf, const struct btf *base_btf);

struct btf_permute_opts {
	size_t sz;
	struct btf_ext *btf_ext; /* also adjusted; NULL: none */
	size_t : 0;
};
#define btf_permute_opts__last_field btf_ext

/*
 * Changes the order of the types: id_map[i] is the new ID of type i, counted
 * without the base (the ID of the first is 1, or btf__type_cnt() of the base).
 * EINVAL: id_map does not have exactly one ID for each type. On failure, nothing
 * is changed.
 */
LIBBPF_API int btf__permute(struct btf *btf, __u32 *id_map, __u32 id_map_cnt,
			    const struct btf_permute_opts *opts);

/* ---- .BTF.ext: function information, line information and CO-RE relocations ---- */

/* Parses a copy of data, in either byte order; its names are offsets into the BTF's strings. */
LIBBPF_API struct btf_ext *btf_ext__new(const __u8 *data, __u32 size);
LIBBPF_API void btf_ext__free(struct btf_ext *btf_ext);
LIBBPF_API const void *btf_ext__raw_data(const struct btf_ext *btf_ext, __u32 *size);
/* The byte order of btf_ext__raw_data(). */
LIBBPF_API enum btf_endianness btf_ext__endianness(const struct btf_ext *btf_ext);
/* Sets the byte order of btf_ext__raw_data(). -EINVAL: unknown byte order; -ENOMEM. */
LIBBPF_API int btf_ext__set_endianness(struct btf_ext *btf_ext, enum btf_endianness endian);

/* ---- printing as C ---- */

struct btf_dump;

struct btf_dump_opts {
	size_t sz;
};
#define btf_dump_opts__last_field sz

/* Called with each piece of the text. */
typedef void (*btf_dump_printf_fn_t)(void *ctx, const char *fmt, va_list args);

/* btf is not copied: free it after the btf_dump. opts can be NULL. */
LIBBPF_API struct btf_dump *btf_dump__new(const struct btf *btf, btf_dump_printf_fn_t printf_fn,
					  void *ctx, const struct btf_dump_opts *opts);
LIBBPF_API void btf_dump__free(struct btf_dump *d);

/*
 * Prints the definition of the type, after the types that it depends on and that
 * have not been printed yet. Calling it for all IDs prints a header that compiles.
 */
LIBBPF_API int btf_dump__dump_type(struct btf_dump *d, __u32 id);

struct btf_dump_emit_type_decl_opts {
	size_t sz;
	/* the declared name: "int (*NAME)[4]"; NULL or "": a bare type */
	const char *field_name;
	/* tabs before each line after the first */
	int indent_level;
	/* print no const, volatile and restrict */
	bool strip_mods;
	size_t : 0;
};
#define btf_dump_emit_type_decl_opts__last_field strip_mods

/* Prints one declaration, without a semicolon and without the types that it depends on. */
LIBBPF_API int btf_dump__emit_type_decl(struct btf_dump *d, __u32 id,
					const struct btf_dump_emit_type_decl_opts *opts);

struct btf_dump_type_data_opts {
	size_t sz;
	/* the indentation of one level; NULL: a tab */
	const char *indent_str;
	int indent_level;  /* levels before each line, including the first */
	bool compact;	   /* print all on one line */
	bool skip_names;   /* print no member and type names */
	bool emit_zeroes;  /* also print fields whose bytes are all zero */
	bool emit_strings; /* print char arrays as "text" */
	size_t : 0;
};
#define btf_dump_type_data_opts__last_field emit_strings

/*
 * Prints the value in data as a C initializer of the type. Returns the size of
 * the type in bytes; -E2BIG: data_sz is smaller (the available part is
 * printed); -EINVAL; -ENOTSUP: values of this type do not exist.
 */
LIBBPF_API int btf_dump__dump_type_data(struct btf_dump *d, __u32 id, const void *data,
					size_t data_sz, const struct btf_dump_type_data_opts *opts);

/* ---- fields of struct btf_type ---- */

/* Definitions that <linux/btf.h> of older kernels does not have; see perf_bpf_uapi.h. */
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

/*
 * The kind has 7 bits and the number of members 24 since Linux 7.2; <linux/btf.h> may be
 * older and have 5 and 16. Older BTF has zeros in the others.
 */
static inline __u16 btf_kind(const struct btf_type *t)
{
	return t->info >> 24 & 0x7f;
}

/* The number of members, values, parameters or variables. */
static inline __u32 btf_vlen(const struct btf_type *t)
{
	return t->info & 0xffffff;
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

/* Whether two types have the same kind for CO-RE, which ignores the width of enumerations. */
static inline bool btf_kind_core_compat(const struct btf_type *t1, const struct btf_type *t2)
{
	return btf_kind(t1) == btf_kind(t2) || (btf_is_any_enum(t1) && btf_is_any_enum(t2));
}

/* INT: the encoding, the bit offset within its bytes (always 0 today), the number of bits. */
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

/* The data that follows a struct btf_type of this kind. */
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

/* 0: the member is not a bitfield. */
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
