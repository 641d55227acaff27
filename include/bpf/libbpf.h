/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open, prepare, load and attach BPF objects. Names and semantics are those
 * of libbpf, as far as it is covered. Functions that libbpf does not have are
 * in perf_bpf.h.
 *
 *	struct bpf_object *obj = bpf_object__open("filter.o");
 *	…					// set sizes, constants, types
 *	bpf_object__load(obj);			// prepare, then create and load
 *	struct bpf_link *link = bpf_program__attach(prog);
 *	…
 *	bpf_link__destroy(link);
 *	bpf_object__close(obj);
 *
 * On failure, functions that return a pointer return NULL and set errno;
 * functions that return an int return a negative errno and also set errno. The
 * message is passed to the print callback. Strings and pointers returned by
 * accessors belong to the object and are valid until it is closed. Use an
 * object, its programs and its maps from one thread at a time; different
 * objects are independent.
 */
#ifndef PERF_BPF_LIBBPF_H
#define PERF_BPF_LIBBPF_H

#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "libbpf_common.h"
#include "libbpf_legacy.h"
#include "perf_bpf_uapi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct bpf_insn;
struct bpf_link;
struct bpf_map;
struct bpf_object;
struct bpf_prog_assoc_struct_ops_opts; /* bpf.h */
struct bpf_prog_load_opts;	       /* bpf.h */
struct bpf_program;
struct btf;

LIBBPF_API __u32 libbpf_major_version(void);
LIBBPF_API __u32 libbpf_minor_version(void);
/* "vMAJOR.MINOR" of the libbpf whose semantics the library has. */
LIBBPF_API const char *libbpf_version_string(void);

/* Error numbers in addition to those of errno; libbpf_strerror() supports them. */
enum libbpf_errno {
	__LIBBPF_ERRNO__START = 4000,
	LIBBPF_ERRNO__LIBELF = __LIBBPF_ERRNO__START,
	LIBBPF_ERRNO__FORMAT,
	LIBBPF_ERRNO__KVERSION,
	LIBBPF_ERRNO__ENDIAN,
	LIBBPF_ERRNO__INTERNAL,
	LIBBPF_ERRNO__RELOC,
	LIBBPF_ERRNO__LOAD,
	LIBBPF_ERRNO__VERIFY,
	LIBBPF_ERRNO__PROG2BIG,
	LIBBPF_ERRNO__KVER,
	LIBBPF_ERRNO__PROGTYPE,
	LIBBPF_ERRNO__WRNGPID,
	LIBBPF_ERRNO__INVSEQ,
	LIBBPF_ERRNO__NLPARSE,
	__LIBBPF_ERRNO__END,
};

/* Writes the text of err (positive or negative) to buf, always NUL-terminated. */
LIBBPF_API int libbpf_strerror(int err, char *buf, size_t size);

/* "tracepoint", "hash", …; NULL if the value is unknown. */
LIBBPF_API const char *libbpf_bpf_attach_type_str(enum bpf_attach_type t);
LIBBPF_API const char *libbpf_bpf_link_type_str(enum bpf_link_type t);
LIBBPF_API const char *libbpf_bpf_map_type_str(enum bpf_map_type t);
LIBBPF_API const char *libbpf_bpf_prog_type_str(enum bpf_prog_type t);

enum libbpf_print_level {
	LIBBPF_WARN,
	LIBBPF_INFO,
	LIBBPF_DEBUG,
};

typedef int (*libbpf_print_fn_t)(enum libbpf_print_level level, const char *fmt, va_list ap);

/*
 * Sets the callback for the library's messages; each message ends with a
 * newline. NULL (the default) prints nothing. Returns the previous callback.
 * This is the only setting that all threads share.
 */
LIBBPF_API libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t fn);

/* Values of boolean and tristate CONFIG_… variables in skeletons. */
enum libbpf_tristate {
	TRI_NO = 0,
	TRI_YES = 1,
	TRI_MODULE = 2,
};

/* The types that bpf_object__open() selects for a section name; -ESRCH: unknown section. */
LIBBPF_API int libbpf_prog_type_by_name(const char *name, enum bpf_prog_type *prog_type,
					enum bpf_attach_type *expected_attach_type);
LIBBPF_API int libbpf_attach_type_by_name(const char *name, enum bpf_attach_type *attach_type);
/* The kernel BTF ID of the target name for a program of this attach type. */
LIBBPF_API int libbpf_find_vmlinux_btf_id(const char *name, enum bpf_attach_type attach_type);

/* A per-CPU map has one value per key for each possible CPU. */
LIBBPF_API int libbpf_num_possible_cpus(void);

/* 1: the running kernel supports it, 0: it does not. opts must be NULL. */
LIBBPF_API int libbpf_probe_bpf_prog_type(enum bpf_prog_type prog_type, const void *opts);
LIBBPF_API int libbpf_probe_bpf_map_type(enum bpf_map_type map_type, const void *opts);
LIBBPF_API int libbpf_probe_bpf_helper(enum bpf_prog_type prog_type, enum bpf_func_id helper_id,
				       const void *opts);

/* Objects */

struct bpf_object_open_opts {
	size_t sz;
	const char *object_name;   /* instead of the file's; open_mem: instead of an address */
	bool relaxed_maps;	   /* ignore unknown attributes of BTF maps */
	const char *pin_root_path; /* for maps pinned by name; NULL: /sys/fs/bpf */
	__u32 : 32;
	const char *kconfig; /* CONFIG_…=… lines that override those of the running kernel */
	/* BTF to relocate against, instead of the running kernel's */
	const char *btf_custom_path;
	/* Buffer for the verifier logs of all programs if level > 0; NULL: allocate one. */
	char *kernel_log_buf;
	size_t kernel_log_size;
	__u32 kernel_log_level;
	/*
	 * A mounted BPF file system to create a token from (6.9); if that fails,
	 * bpf_object__load() fails. "": no token. NULL: the environment variable
	 * LIBBPF_BPF_TOKEN_PATH, else /sys/fs/bpf if it provides a token.
	 */
	const char *bpf_token_path;
	size_t : 0;
};
#define bpf_object_open_opts__last_field bpf_token_path

/*
 * Read the object without any bpf() system call. open_mem() does not copy
 * obj_buf: keep it until bpf_object__close().
 */
LIBBPF_API struct bpf_object *bpf_object__open(const char *path);
LIBBPF_API struct bpf_object *bpf_object__open_file(const char *path,
						    const struct bpf_object_open_opts *opts);
LIBBPF_API struct bpf_object *bpf_object__open_mem(const void *obj_buf, size_t obj_buf_sz,
						   const struct bpf_object_open_opts *opts);

/*
 * prepare() relocates the programs, loads the BTF and creates the maps; then
 * bpf_program__insns() returns the instructions that will be loaded. load()
 * prepares the object, if that has not been done, and loads the programs. If
 * one of them fails, the maps are closed; the object can then only be closed.
 */
LIBBPF_API int bpf_object__prepare(struct bpf_object *obj);
LIBBPF_API int bpf_object__load(struct bpf_object *obj);

/* Closes all file descriptors; programs stay attached until their links are destroyed. */
LIBBPF_API void bpf_object__close(struct bpf_object *obj);

/*
 * Pin or unpin all maps, all programs, or both, as path/NAME. pin_maps with
 * path NULL pins the maps that have a pin path.
 */
LIBBPF_API int bpf_object__pin_maps(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__unpin_maps(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__pin_programs(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__unpin_programs(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__pin(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__unpin(struct bpf_object *obj, const char *path);

LIBBPF_API const char *bpf_object__name(const struct bpf_object *obj);
/* The content of the license section; "" if there is none. */
LIBBPF_API const char *bpf_object__license(const struct bpf_object *obj);
/* The number in the version section, or the LINUX_VERSION_CODE of the running kernel. */
LIBBPF_API unsigned int bpf_object__kversion(const struct bpf_object *obj);
LIBBPF_API int bpf_object__set_kversion(struct bpf_object *obj, __u32 kern_version);
/* NULL: the object does not have BTF. */
LIBBPF_API struct btf *bpf_object__btf(const struct bpf_object *obj);
LIBBPF_API int bpf_object__btf_fd(const struct bpf_object *obj);
/* The BPF token used by prepare(); -1: none. The object owns it. */
LIBBPF_API int bpf_object__token_fd(const struct bpf_object *obj);

/* Programs, in the order of the file, without subprograms. */
LIBBPF_API struct bpf_program *bpf_object__next_program(const struct bpf_object *obj,
							struct bpf_program *prog);
LIBBPF_API struct bpf_program *bpf_object__prev_program(const struct bpf_object *obj,
							struct bpf_program *prog);
#define bpf_object__for_each_program(pos, obj)                                                     \
	for ((pos) = bpf_object__next_program((obj), NULL); (pos) != NULL;                         \
	     (pos) = bpf_object__next_program((obj), (pos)))
LIBBPF_API struct bpf_program *bpf_object__find_program_by_name(const struct bpf_object *obj,
								const char *name);

LIBBPF_API const char *bpf_program__name(const struct bpf_program *prog);
LIBBPF_API const char *bpf_program__section_name(const struct bpf_program *prog);

/* Whether bpf_object__load() loads it. The default is yes, except for sections "?…". */
LIBBPF_API bool bpf_program__autoload(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_autoload(struct bpf_program *prog, bool autoload);
LIBBPF_API bool bpf_program__autoattach(const struct bpf_program *prog);
LIBBPF_API void bpf_program__set_autoattach(struct bpf_program *prog, bool autoattach);

/*
 * Before prepare() the instructions in the file; afterwards with the
 * subprograms appended and all relocations applied.
 */
LIBBPF_API const struct bpf_insn *bpf_program__insns(const struct bpf_program *prog);
LIBBPF_API size_t bpf_program__insn_cnt(const struct bpf_program *prog);
/* Replaces the instructions with a copy; between prepare() and load(), or in a handler. */
LIBBPF_API int bpf_program__set_insns(struct bpf_program *prog, struct bpf_insn *new_insns,
				      size_t new_insn_cnt);

/* Negative: not loaded. The object owns it; do not close it. */
LIBBPF_API int bpf_program__fd(const struct bpf_program *prog);
LIBBPF_API void bpf_program__unload(struct bpf_program *prog);
LIBBPF_API int bpf_program__pin(struct bpf_program *prog, const char *path);
LIBBPF_API int bpf_program__unpin(struct bpf_program *prog, const char *path);

/*
 * The function and line information that is passed to the kernel, available
 * after prepare(). Offsets are instructions of the prepared program; type IDs
 * and strings are those of bpf_object__btf(). NULL and 0: not available.
 */
LIBBPF_API struct bpf_func_info *bpf_program__func_info(const struct bpf_program *prog);
LIBBPF_API __u32 bpf_program__func_info_cnt(const struct bpf_program *prog);
LIBBPF_API struct bpf_line_info *bpf_program__line_info(const struct bpf_program *prog);
LIBBPF_API __u32 bpf_program__line_info_cnt(const struct bpf_program *prog);

/*
 * The source lines of a loaded program. info must have line_info and, for
 * JITed code, jited_line_info, jited_ksyms and jited_func_lens; the arrays are
 * copied. NULL with EINVAL: there are no lines, or the arrays are
 * inconsistent; ENOMEM.
 */
struct bpf_prog_linfo;
LIBBPF_API struct bpf_prog_linfo *bpf_prog_linfo__new(const struct bpf_prog_info *info);
LIBBPF_API void bpf_prog_linfo__free(struct bpf_prog_linfo *prog_linfo);
/*
 * Find the line of an instruction, or of an address in a function (func_idx
 * is its index in jited_ksyms). The search skips the first nr_skip lines, for
 * callers that search forward. NULL with ENOENT: not found. The result is
 * valid until prog_linfo is freed.
 */
LIBBPF_API const struct bpf_line_info *
bpf_prog_linfo__lfind(const struct bpf_prog_linfo *prog_linfo, __u32 insn_off, __u32 nr_skip);
LIBBPF_API const struct bpf_line_info *
bpf_prog_linfo__lfind_addr_func(const struct bpf_prog_linfo *prog_linfo, __u64 addr, __u32 func_idx,
				__u32 nr_skip);

/* The setters fail with EBUSY after the program has been loaded. */
LIBBPF_API enum bpf_prog_type bpf_program__type(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_type(struct bpf_program *prog, enum bpf_prog_type type);
LIBBPF_API enum bpf_attach_type bpf_program__expected_attach_type(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_expected_attach_type(struct bpf_program *prog,
						     enum bpf_attach_type type);
LIBBPF_API __u32 bpf_program__flags(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_flags(struct bpf_program *prog, __u32 flags);
LIBBPF_API void bpf_program__set_ifindex(struct bpf_program *prog, __u32 ifindex);

/* The verifier log. Level 0: only if the load failed; levels 1 and 2: always. */
LIBBPF_API __u32 bpf_program__log_level(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_log_level(struct bpf_program *prog, __u32 log_level);
LIBBPF_API const char *bpf_program__log_buf(const struct bpf_program *prog, size_t *log_size);
/* log_buf is not copied: keep it until the program is loaded. */
LIBBPF_API int bpf_program__set_log_buf(struct bpf_program *prog, char *log_buf, size_t log_size);

/*
 * Sets the function or tracepoint that an fentry, tp_btf, lsm or freplace
 * program attaches to. attach_prog_fd is the BPF program that has the
 * function; 0: the kernel.
 */
LIBBPF_API int bpf_program__set_attach_target(struct bpf_program *prog, int attach_prog_fd,
					      const char *attach_func_name);

/* Maps, in the order of the file. The maps of data sections are internal, and are last. */
LIBBPF_API struct bpf_map *bpf_object__next_map(const struct bpf_object *obj,
						const struct bpf_map *map);
LIBBPF_API struct bpf_map *bpf_object__prev_map(const struct bpf_object *obj,
						const struct bpf_map *map);
#define bpf_object__for_each_map(pos, obj)                                                         \
	for ((pos) = bpf_object__next_map((obj), NULL); (pos) != NULL;                             \
	     (pos) = bpf_object__next_map((obj), (pos)))
#define bpf_map__for_each bpf_object__for_each_map
/* An internal map is found by its section name (".rodata") and by its full name. */
LIBBPF_API struct bpf_map *bpf_object__find_map_by_name(const struct bpf_object *obj,
							const char *name);
LIBBPF_API int bpf_object__find_map_fd_by_name(const struct bpf_object *obj, const char *name);

/* Negative: not created. The object owns it; do not close it. */
LIBBPF_API int bpf_map__fd(const struct bpf_map *map);
/* Use the map of fd instead of creating one; the file descriptor is duplicated. */
LIBBPF_API int bpf_map__reuse_fd(struct bpf_map *map, int fd);
/* Whether load() creates it. Programs must not use a map that is not created. */
LIBBPF_API bool bpf_map__autocreate(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_autocreate(struct bpf_map *map, bool autocreate);
/* Whether a skeleton attaches it; only struct_ops maps can be attached. */
LIBBPF_API bool bpf_map__autoattach(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_autoattach(struct bpf_map *map, bool autoattach);

/*
 * For example "counts". The name of an internal map is its section or, as in
 * libbpf, at most 8 bytes of the object's name and the section:
 * "filter.rodata".
 */
LIBBPF_API const char *bpf_map__name(const struct bpf_map *map);
/* The setters fail with EBUSY after the map has been created. Sizes are in bytes. */
LIBBPF_API enum bpf_map_type bpf_map__type(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_type(struct bpf_map *map, enum bpf_map_type type);
LIBBPF_API __u32 bpf_map__max_entries(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_max_entries(struct bpf_map *map, __u32 max_entries);
LIBBPF_API __u32 bpf_map__map_flags(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_map_flags(struct bpf_map *map, __u32 flags);
LIBBPF_API __u32 bpf_map__numa_node(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_numa_node(struct bpf_map *map, __u32 numa_node);
LIBBPF_API __u32 bpf_map__key_size(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_key_size(struct bpf_map *map, __u32 size);
LIBBPF_API __u32 bpf_map__value_size(const struct bpf_map *map);
/*
 * For the map of a data section, before load: the content moves, so call
 * bpf_map__initial_value() again; new bytes are 0. If the last variable is an
 * array, its number of elements changes; otherwise the map loses its BTF types.
 */
LIBBPF_API int bpf_map__set_value_size(struct bpf_map *map, __u32 size);
/* Type IDs in bpf_object__btf(); 0: unknown. */
LIBBPF_API __u32 bpf_map__btf_key_type_id(const struct bpf_map *map);
LIBBPF_API __u32 bpf_map__btf_value_type_id(const struct bpf_map *map);
LIBBPF_API __u32 bpf_map__ifindex(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_ifindex(struct bpf_map *map, __u32 ifindex);
LIBBPF_API __u64 bpf_map__map_extra(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_map_extra(struct bpf_map *map, __u64 map_extra);

/*
 * The content of a data section, writable until load(); afterwards the memory
 * of the map itself, if the kernel can map it (5.5), with .rodata read-only.
 * For a struct_ops map: the struct as declared in the object, with a struct
 * bpf_program * in each function member; changes have an effect until load().
 * For an arena: its global variables; after load(), the arena itself, at
 * another address. NULL: the map is of another type.
 */
LIBBPF_API int bpf_map__set_initial_value(struct bpf_map *map, const void *data, size_t size);
LIBBPF_API void *bpf_map__initial_value(const struct bpf_map *map, size_t *psize);

LIBBPF_API bool bpf_map__is_internal(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_pin_path(struct bpf_map *map, const char *path);
LIBBPF_API const char *bpf_map__pin_path(const struct bpf_map *map);
LIBBPF_API bool bpf_map__is_pinned(const struct bpf_map *map);
/* path NULL: use the pin path of the map. */
LIBBPF_API int bpf_map__pin(struct bpf_map *map, const char *path);
LIBBPF_API int bpf_map__unpin(struct bpf_map *map, const char *path);

/*
 * Only this program, of the same object, can use the map (6.18); NULL: all
 * can. EINVAL: the map has been created, or the program is in another object.
 * Loading any other program that uses the map fails with EACCES.
 */
LIBBPF_API int bpf_map__set_exclusive_program(struct bpf_map *map, struct bpf_program *prog);
LIBBPF_API struct bpf_program *bpf_map__exclusive_program(struct bpf_map *map);

LIBBPF_API int bpf_map__set_inner_map_fd(struct bpf_map *map, int fd);
/* The definition of the inner maps of a map of maps; NULL: not available. */
LIBBPF_API struct bpf_map *bpf_map__inner_map(struct bpf_map *map);

/* Like bpf_map_*() in bpf.h, but wrong sizes fail with EINVAL. */
LIBBPF_API int bpf_map__lookup_elem(const struct bpf_map *map, const void *key, size_t key_sz,
				    void *value, size_t value_sz, __u64 flags);
LIBBPF_API int bpf_map__update_elem(const struct bpf_map *map, const void *key, size_t key_sz,
				    const void *value, size_t value_sz, __u64 flags);
LIBBPF_API int bpf_map__delete_elem(const struct bpf_map *map, const void *key, size_t key_sz,
				    __u64 flags);
LIBBPF_API int bpf_map__lookup_and_delete_elem(const struct bpf_map *map, const void *key,
					       size_t key_sz, void *value, size_t value_sz,
					       __u64 flags);
LIBBPF_API int bpf_map__get_next_key(const struct bpf_map *map, const void *cur_key, void *next_key,
				     size_t key_sz);

/* A link owns the file descriptors opened by attaching; destroying it detaches. */

LIBBPF_API struct bpf_link *bpf_link__open(const char *path);
LIBBPF_API int bpf_link__fd(const struct bpf_link *link);
LIBBPF_API const char *bpf_link__pin_path(const struct bpf_link *link);
LIBBPF_API int bpf_link__pin(struct bpf_link *link, const char *path);
LIBBPF_API int bpf_link__unpin(struct bpf_link *link);
LIBBPF_API int bpf_link__update_program(struct bpf_link *link, struct bpf_program *prog);
/* After this, bpf_link__destroy() frees the link without detaching. */
LIBBPF_API void bpf_link__disconnect(struct bpf_link *link);
LIBBPF_API int bpf_link__detach(struct bpf_link *link);
/* NULL is allowed. */
LIBBPF_API int bpf_link__destroy(struct bpf_link *link);

/* Attaches to the target that the program's section names. */
LIBBPF_API struct bpf_link *bpf_program__attach(const struct bpf_program *prog);

/*
 * How a kprobe or uprobe is attached; DEFAULT: the best mode that the kernel
 * supports. EOPNOTSUPP: the kernel does not support the mode. Only LINK (and
 * DEFAULT, if it selects LINK) supports cookies and links that can be pinned.
 */
enum probe_attach_mode {
	PROBE_ATTACH_MODE_DEFAULT = 0,
	PROBE_ATTACH_MODE_LEGACY, /* through tracefs; also removed when this process ends */
	PROBE_ATTACH_MODE_PERF,	  /* through the PMU */
	PROBE_ATTACH_MODE_LINK,	  /* through the PMU, with a BPF link (5.15) */
};

struct bpf_perf_event_opts {
	size_t sz;
	__u64 bpf_cookie;	 /* bpf_get_attach_cookie() (5.15) */
	bool force_ioctl_attach; /* no BPF link */
	bool dont_enable;	 /* do not enable the event; a disabled event runs no program */
	size_t : 0;
};
#define bpf_perf_event_opts__last_field dont_enable

/* The link takes ownership of pfd and enables it; on failure the caller still owns it. */
LIBBPF_API struct bpf_link *bpf_program__attach_perf_event(const struct bpf_program *prog, int pfd);
LIBBPF_API struct bpf_link *
bpf_program__attach_perf_event_opts(const struct bpf_program *prog, int pfd,
				    const struct bpf_perf_event_opts *opts);

struct bpf_kprobe_opts {
	size_t sz;
	__u64 bpf_cookie;
	size_t offset; /* bytes from the function's start */
	bool retprobe;
	enum probe_attach_mode attach_mode;
	size_t : 0;
};
#define bpf_kprobe_opts__last_field attach_mode

LIBBPF_API struct bpf_link *bpf_program__attach_kprobe(const struct bpf_program *prog,
						       bool retprobe, const char *func_name);
LIBBPF_API struct bpf_link *bpf_program__attach_kprobe_opts(const struct bpf_program *prog,
							    const char *func_name,
							    const struct bpf_kprobe_opts *opts);

struct bpf_kprobe_multi_opts {
	size_t sz;
	const char **syms;	    /* cnt names */
	const unsigned long *addrs; /* or cnt start addresses of functions */
	const __u64 *cookies;	    /* cnt cookies, or NULL */
	size_t cnt;
	bool retprobe; /* at the return */
	bool session;  /* at the entry, and at the return if the program returned 0 there (6.10) */
	bool unique_match; /* EINVAL unless the pattern matches one function */
	size_t : 0;
};
#define bpf_kprobe_multi_opts__last_field unique_match

/*
 * Attaches to many kernel functions with one link (5.18): those that match the
 * glob pattern or, if pattern is NULL, those in opts. The program has section
 * SEC("kprobe.multi") or SEC("kprobe.session"). Functions that match a pattern
 * but cannot be traced are skipped. ENOENT: no function matches. EOPNOTSUPP:
 * this kernel does not support such links.
 */
LIBBPF_API struct bpf_link *
bpf_program__attach_kprobe_multi_opts(const struct bpf_program *prog, const char *pattern,
				      const struct bpf_kprobe_multi_opts *opts);

struct bpf_ksyscall_opts {
	size_t sz;
	__u64 bpf_cookie;
	bool retprobe;
	size_t : 0;
};
#define bpf_ksyscall_opts__last_field retprobe

/*
 * Attaches a kprobe to the function of a system call ("openat"), whose name
 * depends on the architecture. System calls of 32-bit programs use other
 * functions and are not traced.
 */
LIBBPF_API struct bpf_link *bpf_program__attach_ksyscall(const struct bpf_program *prog,
							 const char *syscall_name,
							 const struct bpf_ksyscall_opts *opts);

struct bpf_uprobe_opts {
	size_t sz;
	size_t ref_ctr_offset; /* file offset of a USDT semaphore (4.20) */
	__u64 bpf_cookie;
	bool retprobe;
	const char *func_name; /* SYMBOL or SYMBOL@VERSION; func_offset is relative to it */
	enum probe_attach_mode attach_mode;
	size_t : 0;
};
#define bpf_uprobe_opts__last_field attach_mode

/*
 * pid -1: all processes, 0: this process. Without func_name, func_offset is a
 * file offset. A binary_path without '/' is searched like the dynamic linker
 * or the shell does. EOPNOTSUPP: the kernel would not place a uprobe on the
 * instruction (with a lock prefix, for example), so prog would never run; or it
 * would take the instruction for another one.
 */
LIBBPF_API struct bpf_link *bpf_program__attach_uprobe(const struct bpf_program *prog,
						       bool retprobe, pid_t pid,
						       const char *binary_path, size_t func_offset);
LIBBPF_API struct bpf_link *bpf_program__attach_uprobe_opts(const struct bpf_program *prog,
							    pid_t pid, const char *binary_path,
							    size_t func_offset,
							    const struct bpf_uprobe_opts *opts);

struct bpf_uprobe_multi_opts {
	size_t sz;
	const char **syms;		      /* cnt names of functions */
	const unsigned long *offsets;	      /* or cnt offsets in the file */
	const unsigned long *ref_ctr_offsets; /* cnt file offsets of semaphores, or NULL */
	const __u64 *cookies;		      /* cnt cookies, or NULL */
	size_t cnt;
	bool retprobe;
	bool session; /* like for kprobes (6.13) */
	size_t : 0;
};
#define bpf_uprobe_multi_opts__last_field session

/*
 * Attaches to many functions of one file with one link (6.6): those that match
 * the glob func_pattern or, if it is NULL, those in opts. pid and binary_path:
 * see bpf_program__attach_uprobe(); kernels before 6.10 use pid as a thread
 * ID. The program has section SEC("uprobe.multi") or SEC("uprobe.session").
 * EOPNOTSUPP: this kernel does not support such links, or does not place a
 * uprobe on one of the instructions; of func_pattern, such functions are left
 * out.
 */
LIBBPF_API struct bpf_link *
bpf_program__attach_uprobe_multi(const struct bpf_program *prog, pid_t pid, const char *binary_path,
				 const char *func_pattern,
				 const struct bpf_uprobe_multi_opts *opts);

struct bpf_usdt_opts {
	size_t sz;
	__u64 usdt_cookie; /* bpf_usdt_cookie() of <bpf/usdt.bpf.h> */
	size_t : 0;
};
#define bpf_usdt_opts__last_field usdt_cookie

/*
 * Attaches to all call sites of a USDT probe (<sys/sdt.h>) in the file. pid
 * -1: all processes, 0: this process; binary_path is searched like for uprobes.
 * ENOENT: the probe does not exist; the hint lists similar names. EOPNOTSUPP:
 * an argument or an instruction is not supported; or the kernel is older than 5.15, where a
 * shared library or a position-independent executable needs a single process.
 * EEXIST: on such a kernel, a call site is attached twice. E2BIG: see
 * BPF_USDT_MAX_SPEC_CNT. Before 6.6, each call site is attached separately;
 * then the link does not have a file descriptor and cannot be pinned.
 */
LIBBPF_API struct bpf_link *bpf_program__attach_usdt(const struct bpf_program *prog, pid_t pid,
						     const char *binary_path,
						     const char *usdt_provider,
						     const char *usdt_name,
						     const struct bpf_usdt_opts *opts);

struct bpf_tracepoint_opts {
	size_t sz;
	__u64 bpf_cookie;
};
#define bpf_tracepoint_opts__last_field bpf_cookie

LIBBPF_API struct bpf_link *bpf_program__attach_tracepoint(const struct bpf_program *prog,
							   const char *tp_category,
							   const char *tp_name);
LIBBPF_API struct bpf_link *
bpf_program__attach_tracepoint_opts(const struct bpf_program *prog, const char *tp_category,
				    const char *tp_name, const struct bpf_tracepoint_opts *opts);

struct bpf_raw_tracepoint_opts {
	size_t sz;
	__u64 cookie; /* 6.10 */
	size_t : 0;
};
#define bpf_raw_tracepoint_opts__last_field cookie

LIBBPF_API struct bpf_link *bpf_program__attach_raw_tracepoint(const struct bpf_program *prog,
							       const char *tp_name);
LIBBPF_API struct bpf_link *
bpf_program__attach_raw_tracepoint_opts(const struct bpf_program *prog, const char *tp_name,
					struct bpf_raw_tracepoint_opts *opts);

/*
 * A freplace program replaces the function attach_func_name of the program
 * target_fd; 0 and NULL: the target that it was loaded for. EINVAL: only one of
 * the two is given. ENOENT: the program does not have this function.
 */
LIBBPF_API struct bpf_link *bpf_program__attach_freplace(const struct bpf_program *prog,
							 int target_fd,
							 const char *attach_func_name);

/* Attaches to the LSM hook that section lsm/… names, which was fixed at load. */
LIBBPF_API struct bpf_link *bpf_program__attach_lsm(const struct bpf_program *prog);

struct bpf_iter_attach_opts {
	size_t sz;
	/* Selects the map, the cgroup tree or the task to iterate over */
	union bpf_iter_link_info *link_info;
	__u32 link_info_len; /* sizeof(*link_info) */
};
#define bpf_iter_attach_opts__last_field link_info_len

/*
 * An iterator runs when it is read: bpf_iter_create() on the link's file
 * descriptor returns a file descriptor for read(2). A pinned link is a file;
 * each open file iterates from the start.
 */
LIBBPF_API struct bpf_link *bpf_program__attach_iter(const struct bpf_program *prog,
						     const struct bpf_iter_attach_opts *opts);

/*
 * The position among the attached programs: before (BPF_F_BEFORE) or after
 * (BPF_F_AFTER) the program of relative_fd or relative_id (with BPF_F_LINK,
 * the link); without these, first or last. If expected_revision is not 0, it
 * must be the revision of the list (bpf_prog_query_opts()), otherwise ESTALE.
 */
struct bpf_cgroup_opts {
	size_t sz;
	__u32 flags;
	__u32 relative_fd;
	__u32 relative_id;
	__u64 expected_revision;
	size_t : 0;
};
#define bpf_cgroup_opts__last_field expected_revision

/* cgroup_fd: an open directory in the cgroup v2 tree. Options need 6.17. */
LIBBPF_API struct bpf_link *bpf_program__attach_cgroup(const struct bpf_program *prog,
						       int cgroup_fd);
LIBBPF_API struct bpf_link *bpf_program__attach_cgroup_opts(const struct bpf_program *prog,
							    int cgroup_fd,
							    const struct bpf_cgroup_opts *opts);

/* For flow_dissector and sk_lookup. netns_fd: a file descriptor of /proc/PID/ns/net. */
LIBBPF_API struct bpf_link *bpf_program__attach_netns(const struct bpf_program *prog, int netns_fd);

/* For sk_skb and sk_msg, on the sockets of a sockmap or sockhash (6.10). */
LIBBPF_API struct bpf_link *bpf_program__attach_sockmap(const struct bpf_program *prog, int map_fd);

/* ifindex: if_nametoindex() of the interface (5.9). */
LIBBPF_API struct bpf_link *bpf_program__attach_xdp(const struct bpf_program *prog, int ifindex);

struct bpf_tcx_opts {
	size_t sz;
	__u32 flags;
	__u32 relative_fd;
	__u32 relative_id;
	__u64 expected_revision;
	size_t : 0;
};
#define bpf_tcx_opts__last_field expected_revision

/* tcx/ingress and tcx/egress, without a qdisc (6.6). Options: see bpf_cgroup_opts. */
LIBBPF_API struct bpf_link *bpf_program__attach_tcx(const struct bpf_program *prog, int ifindex,
						    const struct bpf_tcx_opts *opts);

struct bpf_netkit_opts {
	size_t sz;
	__u32 flags;
	__u32 relative_fd;
	__u32 relative_id;
	__u64 expected_revision;
	size_t : 0;
};
#define bpf_netkit_opts__last_field expected_revision

/* netkit/primary and netkit/peer of a netkit device (6.7). Options: see bpf_cgroup_opts. */
LIBBPF_API struct bpf_link *bpf_program__attach_netkit(const struct bpf_program *prog, int ifindex,
						       const struct bpf_netkit_opts *opts);

struct bpf_netfilter_opts {
	size_t sz;
	__u32 pf;	/* NFPROTO_IPV4 or NFPROTO_IPV6 */
	__u32 hooknum;	/* NF_INET_LOCAL_IN … */
	__s32 priority; /* lowest runs first; the minimum and the maximum are not allowed */
	__u32 flags;	/* BPF_F_NETFILTER_IP_DEFRAG */
};
#define bpf_netfilter_opts__last_field flags

/* Attaches in the network namespace of the caller (6.4). */
LIBBPF_API struct bpf_link *bpf_program__attach_netfilter(const struct bpf_program *prog,
							  const struct bpf_netfilter_opts *opts);

/*
 * Registers the struct with the kernel, which then calls its programs. In
 * section .struct_ops.link it is registered as long as the link exists (6.4).
 * In section .struct_ops it is registered until bpf_link__destroy(), even if
 * the process ends (5.6). EINVAL: the map is not a struct_ops map or has not
 * been created; EEXIST: a struct with this name is already registered.
 */
LIBBPF_API struct bpf_link *bpf_map__attach_struct_ops(const struct bpf_map *map);
/* Atomically replaces the map of the link; both must be in .struct_ops.link (6.4). */
LIBBPF_API int bpf_link__update_map(struct bpf_link *link, const struct bpf_map *map);

/*
 * See bpf_prog_assoc_struct_ops(). EINVAL: one of them is not loaded, or the
 * map is not a struct_ops map.
 */
LIBBPF_API int bpf_program__assoc_struct_ops(struct bpf_program *prog, struct bpf_map *map,
					     struct bpf_prog_assoc_struct_ops_opts *opts);

struct bpf_trace_opts {
	size_t sz;
	__u64 cookie; /* 5.19 */
};
#define bpf_trace_opts__last_field cookie

/* For tp_btf, fentry, fexit and fmod_ret, whose target was fixed at load. */
LIBBPF_API struct bpf_link *bpf_program__attach_trace(const struct bpf_program *prog);
LIBBPF_API struct bpf_link *bpf_program__attach_trace_opts(const struct bpf_program *prog,
							   const struct bpf_trace_opts *opts);

/*
 * Skeletons: these functions are called by headers generated with 'perf-bpf gen
 * skeleton' (or bpftool), which fill in these structs. Programs use the
 * functions of the header. The *_sz fields are the sizes of the structs when the
 * header was generated; fields beyond that size are not used.
 */

struct bpf_map_skeleton {
	const char *name;
	struct bpf_map **map;
	void **mmaped;		/* content of a data section; can be NULL */
	struct bpf_link **link; /* of a struct_ops map (1.5); can be NULL */
};

struct bpf_prog_skeleton {
	const char *name;
	struct bpf_program **prog;
	struct bpf_link **link;
};

/* Allocate it and its tables with malloc(); bpf_object__destroy_skeleton() frees them. */
struct bpf_object_skeleton {
	size_t sz;
	const char *name; /* of the object, unless the options set another */
	const void *data; /* the ELF file, not copied */
	size_t data_sz;
	struct bpf_object **obj;
	int map_cnt;
	int map_skel_sz; /* sizeof(struct bpf_map_skeleton) */
	struct bpf_map_skeleton *maps;
	int prog_cnt;
	int prog_skel_sz; /* sizeof(struct bpf_prog_skeleton) */
	struct bpf_prog_skeleton *progs;
};

/* Opens the object and fills in the pointers. ESRCH: a map or program does not exist. */
LIBBPF_API int bpf_object__open_skeleton(struct bpf_object_skeleton *s,
					 const struct bpf_object_open_opts *opts);
LIBBPF_API int bpf_object__load_skeleton(struct bpf_object_skeleton *s);
/*
 * Attaches each program that is loaded, whose section names an attach target,
 * whose autoattach is on, and whose link is NULL; then struct_ops maps by the
 * same rules. It stops at the first failure and keeps the links created so far.
 */
LIBBPF_API int bpf_object__attach_skeleton(struct bpf_object_skeleton *s);
/* Destroys all links of s. */
LIBBPF_API void bpf_object__detach_skeleton(struct bpf_object_skeleton *s);
/* Detaches, closes the object, and frees s. NULL is allowed. */
LIBBPF_API void bpf_object__destroy_skeleton(struct bpf_object_skeleton *s);

struct bpf_var_skeleton {
	const char *name;
	struct bpf_map **map; /* of the section with the variable */
	void **addr;
};

/* A library's view of an object that its user opened; also allocated with malloc(). */
struct bpf_object_subskeleton {
	size_t sz;
	const struct bpf_object *obj; /* owned by the caller */
	int map_cnt;
	int map_skel_sz;
	struct bpf_map_skeleton *maps;
	int prog_cnt;
	int prog_skel_sz;
	struct bpf_prog_skeleton *progs;
	int var_cnt;
	int var_skel_sz; /* sizeof(struct bpf_var_skeleton) */
	struct bpf_var_skeleton *vars;
};

/* Fills in the pointers. ESRCH: a name does not exist; ENOENT: the object has no BTF. */
LIBBPF_API int bpf_object__open_subskeleton(struct bpf_object_subskeleton *s);
/* Frees s, but not the object. NULL is allowed. */
LIBBPF_API void bpf_object__destroy_subskeleton(struct bpf_object_subskeleton *s);

/*
 * Handlers for custom section names:
 * - prog_setup_fn is called at the end of open for each program of the section.
 *   It can call the setters.
 * - prog_prepare_load_fn is called before the program is loaded. It can change
 *   the options, and the program with bpf_program__set_insns().
 * - prog_attach_fn is called by bpf_program__attach() and skeletons. It sets
 *   *link; NULL means that the program is not attached, which is an error only
 *   in bpf_program__attach().
 * Each can be NULL, gets the cookie, and returns 0 or a negative errno.
 */
typedef int (*libbpf_prog_setup_fn_t)(struct bpf_program *prog, long cookie);
typedef int (*libbpf_prog_prepare_load_fn_t)(struct bpf_program *prog,
					     struct bpf_prog_load_opts *opts, long cookie);
typedef int (*libbpf_prog_attach_fn_t)(const struct bpf_program *prog, long cookie,
				       struct bpf_link **link);

struct libbpf_prog_handler_opts {
	size_t sz;
	long cookie;
	libbpf_prog_setup_fn_t prog_setup_fn;
	libbpf_prog_prepare_load_fn_t prog_prepare_load_fn;
	libbpf_prog_attach_fn_t prog_attach_fn;
};
#define libbpf_prog_handler_opts__last_field prog_attach_fn

/*
 * sec: "xyz" is this section; "xyz/" is every section that begins with it;
 * "xyz+" is both "xyz" and "xyz/…"; NULL is all unknown sections (EBUSY: they
 * already have a handler). A handler takes precedence over the library's own
 * section names and applies to objects opened afterwards. Returns the
 * handler's ID, which is positive. All threads share the handlers.
 */
LIBBPF_API int libbpf_register_prog_handler(const char *sec, enum bpf_prog_type prog_type,
					    enum bpf_attach_type exp_attach_type,
					    const struct libbpf_prog_handler_opts *opts);
/* Objects that are already open keep the handler. ENOENT: unknown handler ID. */
LIBBPF_API int libbpf_unregister_prog_handler(int handler_id);

/*
 * Rings. poll() and consume() pass the records of a program to callbacks, in
 * the thread that calls them. Reads never go beyond the ring; an invalid record
 * is EBADMSG. Use a ring from one thread at a time; different rings are
 * independent. The caller owns the file descriptors of the maps.
 */

struct ring_buffer;	 /* one or more BPF_MAP_TYPE_RINGBUF maps */
struct ring;		 /* one of these maps */
struct user_ring_buffer; /* a BPF_MAP_TYPE_USER_RINGBUF map (6.1) */

/*
 * Gets a record of size bytes; data is valid until the callback returns. A
 * negative return value stops reading, and poll() or consume() returns it; the
 * record counts as read.
 */
typedef int (*ring_buffer_sample_fn)(void *ctx, void *data, size_t size);

struct ring_buffer_opts {
	size_t sz;
};
#define ring_buffer_opts__last_field sz

/* EINVAL: map_fd is not a ring buffer. sample_cb NULL: records are read and dropped. */
LIBBPF_API struct ring_buffer *ring_buffer__new(int map_fd, ring_buffer_sample_fn sample_cb,
						void *ctx, const struct ring_buffer_opts *opts);
/* NULL is allowed. */
LIBBPF_API void ring_buffer__free(struct ring_buffer *rb);
LIBBPF_API int ring_buffer__add(struct ring_buffer *rb, int map_fd, ring_buffer_sample_fn sample_cb,
				void *ctx);
/*
 * poll() waits for data, at most timeout_ms milliseconds (-1: no limit), and
 * reads the rings that have data; consume() reads all rings without waiting;
 * consume_n() reads at most n records. They return the number of records (at
 * most INT_MAX) or the negative return value of a callback. Space is returned
 * to the kernel after each eighth of the ring and before the call returns.
 */
LIBBPF_API int ring_buffer__poll(struct ring_buffer *rb, int timeout_ms);
LIBBPF_API int ring_buffer__consume(struct ring_buffer *rb);
LIBBPF_API int ring_buffer__consume_n(struct ring_buffer *rb, size_t n);
/* Readable if a ring has data. The ring buffer owns it; do not close it. */
LIBBPF_API int ring_buffer__epoll_fd(const struct ring_buffer *rb);
/* The ring that was added as number idx, valid until rb is freed; ERANGE: idx is too large. */
LIBBPF_API struct ring *ring_buffer__ring(struct ring_buffer *rb, unsigned int idx);

/* Bytes since the map was created, including headers and padding; the positions wrap. */
LIBBPF_API unsigned long ring__consumer_pos(const struct ring *r);
LIBBPF_API unsigned long ring__producer_pos(const struct ring *r);
/* Bytes that have been produced but not read. */
LIBBPF_API size_t ring__avail_data_size(const struct ring *r);
/* The size of the ring in bytes: the map's max_entries. */
LIBBPF_API size_t ring__size(const struct ring *r);
LIBBPF_API int ring__map_fd(const struct ring *r);
LIBBPF_API int ring__consume(struct ring *r);
LIBBPF_API int ring__consume_n(struct ring *r, size_t n);

struct user_ring_buffer_opts {
	size_t sz;
};
#define user_ring_buffer_opts__last_field sz

/* EINVAL: map_fd is not a user ring buffer. */
LIBBPF_API struct user_ring_buffer *user_ring_buffer__new(int map_fd,
							  const struct user_ring_buffer_opts *opts);
/*
 * Reserve size bytes, 8-byte aligned, to be filled in and then submitted or
 * discarded. NULL with E2BIG: size is larger than the ring; NULL with ENOSPC:
 * the ring is full now. blocking() waits for space, at most timeout_ms
 * milliseconds (-1: no limit); the kernel wakes it up when
 * bpf_user_ringbuf_drain() has read samples.
 */
LIBBPF_API void *user_ring_buffer__reserve(struct user_ring_buffer *rb, __u32 size);
LIBBPF_API void *user_ring_buffer__reserve_blocking(struct user_ring_buffer *rb, __u32 size,
						    int timeout_ms);
/* The program gets samples in the order of reservation, not of submission. */
LIBBPF_API void user_ring_buffer__submit(struct user_ring_buffer *rb, void *sample);
LIBBPF_API void user_ring_buffer__discard(struct user_ring_buffer *rb, void *sample);
/* NULL is allowed. */
LIBBPF_API void user_ring_buffer__free(struct user_ring_buffer *rb);

/* A BPF_MAP_TYPE_PERF_EVENT_ARRAY map with a perf ring for each CPU. */
struct perf_buffer;
struct perf_event_attr;
struct perf_event_header;

/* Gets the data of bpf_perf_event_output(); size is padded to a multiple of 8, minus 4. */
typedef void (*perf_buffer_sample_fn)(void *ctx, int cpu, void *data, __u32 size);
/* cnt samples were lost since the previous sample because the ring of the CPU was full. */
typedef void (*perf_buffer_lost_fn)(void *ctx, int cpu, __u64 cnt);

struct perf_buffer_opts {
	size_t sz;
	__u32 sample_period; /* wake up after this number of samples; 0: 1 */
	size_t : 0;
};
#define perf_buffer_opts__last_field sample_period

/*
 * Opens a ring of page_cnt pages (a power of two) for each online CPU that has
 * an entry in the map. The callbacks can be NULL. EINVAL: map_fd is not a perf
 * event array; EPERM: the rings exceed the limit on locked memory.
 */
LIBBPF_API struct perf_buffer *perf_buffer__new(int map_fd, size_t page_cnt,
						perf_buffer_sample_fn sample_cb,
						perf_buffer_lost_fn lost_cb, void *ctx,
						const struct perf_buffer_opts *opts);

enum bpf_perf_event_ret {
	LIBBPF_PERF_EVENT_DONE = 0,   /* the event counts as read; stop without an error */
	LIBBPF_PERF_EVENT_ERROR = -1, /* the event counts as read; stop with an error */
	LIBBPF_PERF_EVENT_CONT = -2,  /* continue with the next event */
};

/* Gets the whole record, see perf_event_open(2); it is valid until the callback returns. */
typedef enum bpf_perf_event_ret (*perf_buffer_event_fn)(void *ctx, int cpu,
							struct perf_event_header *event);

struct perf_buffer_raw_opts {
	size_t sz;
	long : 0;
	long : 0;
	int cpu_cnt;   /* 0: all online CPUs */
	int *cpus;     /* cpu_cnt CPUs */
	int *map_keys; /* cpu_cnt map keys, one for the ring of each CPU */
};
#define perf_buffer_raw_opts__last_field map_keys

/* Opens the rings with the caller's attr; the callback gets whole records. */
LIBBPF_API struct perf_buffer *perf_buffer__new_raw(int map_fd, size_t page_cnt,
						    struct perf_event_attr *attr,
						    perf_buffer_event_fn event_cb, void *ctx,
						    const struct perf_buffer_raw_opts *opts);

/* Removes the rings from the map and frees them. NULL is allowed. */
LIBBPF_API void perf_buffer__free(struct perf_buffer *pb);
LIBBPF_API int perf_buffer__epoll_fd(const struct perf_buffer *pb);
/* Waits like ring_buffer__poll(); returns the number of rings that had data. */
LIBBPF_API int perf_buffer__poll(struct perf_buffer *pb, int timeout_ms);
/* Read all rings, or one ring, without waiting; return 0. */
LIBBPF_API int perf_buffer__consume(struct perf_buffer *pb);
LIBBPF_API int perf_buffer__consume_buffer(struct perf_buffer *pb, size_t buf_idx);
/*
 * The number of rings, and the perf event file descriptor of one ring, which the
 * perf buffer owns. EINVAL: buf_idx is invalid.
 */
LIBBPF_API size_t perf_buffer__buffer_cnt(const struct perf_buffer *pb);
LIBBPF_API int perf_buffer__buffer_fd(const struct perf_buffer *pb, size_t buf_idx);
/* The struct perf_event_mmap_page of a ring and the size of the data, which starts a page later. */
LIBBPF_API int perf_buffer__buffer(struct perf_buffer *pb, int buf_idx, void **buf,
				   size_t *buf_size);

#ifdef __cplusplus
}
#endif

#endif
