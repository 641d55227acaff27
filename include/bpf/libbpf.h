/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Open, prepare, load and attach BPF objects. Names and semantics are
 * libbpf's, for what is covered; what only this library has stands in
 * perf_bpf.h.
 *
 *	struct bpf_object *obj = bpf_object__open("filter.o");
 *	…					// set sizes, constants, types
 *	bpf_object__load(obj);			// prepare, then create and load
 *	struct bpf_link *link = bpf_program__attach(prog);
 *	…
 *	bpf_link__destroy(link);
 *	bpf_object__close(obj);
 *
 * What returns a pointer returns NULL with errno set when it fails; what
 * returns an int returns a negative errno, which errno holds too. The message
 * goes to the print callback. Strings and pointers that accessors return
 * belong to the object and live as long as it. An object and all that belongs
 * to it is used by one thread at a time; different objects are independent.
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
/* "vMAJOR.MINOR", of the libbpf whose semantics are followed. */
LIBBPF_API const char *libbpf_version_string(void);

/* Beyond errno's numbers; libbpf_strerror() knows them. */
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

/* The text of err (its sign does not matter) in buf, always terminated. */
LIBBPF_API int libbpf_strerror(int err, char *buf, size_t size);

/* "tracepoint", "hash", …; NULL: no such number. */
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
 * Sets what is called with the library's messages, each ending with a newline;
 * NULL: nothing, as at first. Returns what was set before. The one setting that
 * all threads share.
 */
LIBBPF_API libbpf_print_fn_t libbpf_set_print(libbpf_print_fn_t fn);

/* Values of boolean and tristate CONFIG_… variables, as skeletons hold them. */
enum libbpf_tristate {
	TRI_NO = 0,
	TRI_YES = 1,
	TRI_MODULE = 2,
};

/* From section name to types, as bpf_object__open() would choose; -ESRCH: unknown. */
LIBBPF_API int libbpf_prog_type_by_name(const char *name, enum bpf_prog_type *prog_type,
					enum bpf_attach_type *expected_attach_type);
LIBBPF_API int libbpf_attach_type_by_name(const char *name, enum bpf_attach_type *attach_type);
/* The id in the kernel's BTF of what a program of this attach type attaches to. */
LIBBPF_API int libbpf_find_vmlinux_btf_id(const char *name, enum bpf_attach_type attach_type);

/* Per-CPU values have one part per possible CPU. */
LIBBPF_API int libbpf_num_possible_cpus(void);

/* 1: the running kernel has it, 0: it has not; opts is NULL. */
LIBBPF_API int libbpf_probe_bpf_prog_type(enum bpf_prog_type prog_type, const void *opts);
LIBBPF_API int libbpf_probe_bpf_map_type(enum bpf_map_type map_type, const void *opts);
LIBBPF_API int libbpf_probe_bpf_helper(enum bpf_prog_type prog_type, enum bpf_func_id helper_id,
				       const void *opts);

/* Objects */

struct bpf_object_open_opts {
	size_t sz;
	const char *object_name;   /* instead of the file's; open_mem: instead of an address */
	bool relaxed_maps;	   /* unknown attributes of BTF maps are no error */
	const char *pin_root_path; /* for maps pinned by name; NULL: /sys/fs/bpf */
	__u32 : 32;
	const char *kconfig; /* lines CONFIG_…=… that come before the running kernel's */
	/* BTF to relocate against, instead of the running kernel's */
	const char *btf_custom_path;
	/* The verifier's log of every program, for level > 0; NULL: one is allocated. */
	char *kernel_log_buf;
	size_t kernel_log_size;
	__u32 kernel_log_level;
	/*
	 * A mounted BPF file system to make a token of (6.9), whose failure is
	 * bpf_object__load()'s; "": none. NULL: LIBBPF_BPF_TOKEN_PATH of the
	 * environment, else /sys/fs/bpf where that gives one.
	 */
	const char *bpf_token_path;
	size_t : 0;
};
#define bpf_object_open_opts__last_field bpf_token_path

/*
 * Reads the object and makes no BPF system call. open_mem() borrows obj_buf
 * until bpf_object__close().
 */
LIBBPF_API struct bpf_object *bpf_object__open(const char *path);
LIBBPF_API struct bpf_object *bpf_object__open_file(const char *path,
						    const struct bpf_object_open_opts *opts);
LIBBPF_API struct bpf_object *bpf_object__open_mem(const void *obj_buf, size_t obj_buf_sz,
						   const struct bpf_object_open_opts *opts);

/*
 * prepare() relocates the programs, loads the BTF and creates the maps; after
 * it bpf_program__insns() holds what will be loaded. load() prepares where
 * that was not done, and loads the programs. When one fails, the maps are
 * closed and the object can only be closed.
 */
LIBBPF_API int bpf_object__prepare(struct bpf_object *obj);
LIBBPF_API int bpf_object__load(struct bpf_object *obj);

/* Closes all descriptors; what is attached stays so while its link lives. */
LIBBPF_API void bpf_object__close(struct bpf_object *obj);

/*
 * Pin all maps, all programs, or both, each by its name below path. pin_maps
 * with path NULL pins the maps that have a pin path.
 */
LIBBPF_API int bpf_object__pin_maps(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__unpin_maps(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__pin_programs(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__unpin_programs(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__pin(struct bpf_object *obj, const char *path);
LIBBPF_API int bpf_object__unpin(struct bpf_object *obj, const char *path);

LIBBPF_API const char *bpf_object__name(const struct bpf_object *obj);
/* The license section's text; "" when there is none. */
LIBBPF_API const char *bpf_object__license(const struct bpf_object *obj);
/* The version section's number, or the running kernel's LINUX_VERSION_CODE. */
LIBBPF_API unsigned int bpf_object__kversion(const struct bpf_object *obj);
LIBBPF_API int bpf_object__set_kversion(struct bpf_object *obj, __u32 kern_version);
/* NULL: the object has no BTF. */
LIBBPF_API struct btf *bpf_object__btf(const struct bpf_object *obj);
LIBBPF_API int bpf_object__btf_fd(const struct bpf_object *obj);
/* Of the BPF token that it was prepared with; -1: without. The object's. */
LIBBPF_API int bpf_object__token_fd(const struct bpf_object *obj);

/* Programs, in the order of the file; subprograms are no programs. */
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

/* Whether bpf_object__load() loads it; at first yes, but for sections "?…". */
LIBBPF_API bool bpf_program__autoload(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_autoload(struct bpf_program *prog, bool autoload);
LIBBPF_API bool bpf_program__autoattach(const struct bpf_program *prog);
LIBBPF_API void bpf_program__set_autoattach(struct bpf_program *prog, bool autoattach);

/*
 * Until prepare() the program as it stands in the file, then with its
 * subprograms appended and all relocations done.
 */
LIBBPF_API const struct bpf_insn *bpf_program__insns(const struct bpf_program *prog);
LIBBPF_API size_t bpf_program__insn_cnt(const struct bpf_program *prog);
/* Between prepare() and load(), or from a handler: replaces the instructions by a copy. */
LIBBPF_API int bpf_program__set_insns(struct bpf_program *prog, struct bpf_insn *new_insns,
				      size_t new_insn_cnt);

/* Negative: not loaded. The object's; do not close it. */
LIBBPF_API int bpf_program__fd(const struct bpf_program *prog);
LIBBPF_API void bpf_program__unload(struct bpf_program *prog);
LIBBPF_API int bpf_program__pin(struct bpf_program *prog, const char *path);
LIBBPF_API int bpf_program__unpin(struct bpf_program *prog, const char *path);

/*
 * What the kernel is told of functions and lines, from prepare() on, in
 * instructions of the prepared program; type ids and texts are those of
 * bpf_object__btf(). NULL and 0: nothing is known.
 */
LIBBPF_API struct bpf_func_info *bpf_program__func_info(const struct bpf_program *prog);
LIBBPF_API __u32 bpf_program__func_info_cnt(const struct bpf_program *prog);
LIBBPF_API struct bpf_line_info *bpf_program__line_info(const struct bpf_program *prog);
LIBBPF_API __u32 bpf_program__line_info_cnt(const struct bpf_program *prog);

/*
 * The source lines of a loaded program, from its bpf_prog_info with line_info
 * and, for machine code, jited_line_info, jited_ksyms and jited_func_lens
 * filled in; the arrays are copied. NULL: EINVAL, there are no lines, or the
 * arrays do not fit together; ENOMEM.
 */
struct bpf_prog_linfo;
LIBBPF_API struct bpf_prog_linfo *bpf_prog_linfo__new(const struct bpf_prog_info *info);
LIBBPF_API void bpf_prog_linfo__free(struct bpf_prog_linfo *prog_linfo);
/*
 * The line of an instruction, or of an address in a function (functions count
 * from 0, as in jited_ksyms). The search leaves out the first nr_skip lines,
 * for callers that go forward. NULL with ENOENT: none. Borrowed.
 */
LIBBPF_API const struct bpf_line_info *
bpf_prog_linfo__lfind(const struct bpf_prog_linfo *prog_linfo, __u32 insn_off, __u32 nr_skip);
LIBBPF_API const struct bpf_line_info *
bpf_prog_linfo__lfind_addr_func(const struct bpf_prog_linfo *prog_linfo, __u64 addr, __u32 func_idx,
				__u32 nr_skip);

/* The setters fail with EBUSY once the program is loaded. */
LIBBPF_API enum bpf_prog_type bpf_program__type(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_type(struct bpf_program *prog, enum bpf_prog_type type);
LIBBPF_API enum bpf_attach_type bpf_program__expected_attach_type(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_expected_attach_type(struct bpf_program *prog,
						     enum bpf_attach_type type);
LIBBPF_API __u32 bpf_program__flags(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_flags(struct bpf_program *prog, __u32 flags);
LIBBPF_API void bpf_program__set_ifindex(struct bpf_program *prog, __u32 ifindex);

/* What the verifier says: 0 only when the load failed, 1 and 2 always. */
LIBBPF_API __u32 bpf_program__log_level(const struct bpf_program *prog);
LIBBPF_API int bpf_program__set_log_level(struct bpf_program *prog, __u32 log_level);
LIBBPF_API const char *bpf_program__log_buf(const struct bpf_program *prog, size_t *log_size);
/* Borrows log_buf until the program is loaded. */
LIBBPF_API int bpf_program__set_log_buf(struct bpf_program *prog, char *log_buf, size_t log_size);

/*
 * The function or tracepoint that a fentry, tp_btf, lsm or freplace program
 * attaches to; attach_prog_fd 0: of the kernel.
 */
LIBBPF_API int bpf_program__set_attach_target(struct bpf_program *prog, int attach_prog_fd,
					      const char *attach_func_name);

/* Maps, in the order of the file, global data last; those of data sections are internal. */
LIBBPF_API struct bpf_map *bpf_object__next_map(const struct bpf_object *obj,
						const struct bpf_map *map);
LIBBPF_API struct bpf_map *bpf_object__prev_map(const struct bpf_object *obj,
						const struct bpf_map *map);
#define bpf_object__for_each_map(pos, obj)                                                         \
	for ((pos) = bpf_object__next_map((obj), NULL); (pos) != NULL;                             \
	     (pos) = bpf_object__next_map((obj), (pos)))
#define bpf_map__for_each bpf_object__for_each_map
/* An internal map is found by its section (".rodata") and by its whole name. */
LIBBPF_API struct bpf_map *bpf_object__find_map_by_name(const struct bpf_object *obj,
							const char *name);
LIBBPF_API int bpf_object__find_map_fd_by_name(const struct bpf_object *obj, const char *name);

/* Negative: not created. The object's; do not close it. */
LIBBPF_API int bpf_map__fd(const struct bpf_map *map);
/* Use fd's map (a duplicate of the descriptor) instead of creating one. */
LIBBPF_API int bpf_map__reuse_fd(struct bpf_map *map, int fd);
/* Whether load() creates it; programs must not refer to a map that is not created. */
LIBBPF_API bool bpf_map__autocreate(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_autocreate(struct bpf_map *map, bool autocreate);
/* Whether a skeleton attaches it: a struct_ops map, the only kind that attaches. */
LIBBPF_API bool bpf_map__autoattach(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_autoattach(struct bpf_map *map, bool autoattach);

/*
 * "counts"; of an internal map the section, or, where libbpf does so, at most 8
 * bytes of the object's name and the section: "filter.rodata".
 */
LIBBPF_API const char *bpf_map__name(const struct bpf_map *map);
/* The setters fail with EBUSY once the map is created. Sizes in bytes. */
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
 * Of a data section's map, before load: its bytes move (ask for them again by
 * bpf_map__initial_value()), new ones are 0, and its last variable, if that is an
 * array, gets as many elements; else the map loses its types.
 */
LIBBPF_API int bpf_map__set_value_size(struct bpf_map *map, __u32 size);
/* Ids in bpf_object__btf(); 0: unknown. */
LIBBPF_API __u32 bpf_map__btf_key_type_id(const struct bpf_map *map);
LIBBPF_API __u32 bpf_map__btf_value_type_id(const struct bpf_map *map);
LIBBPF_API __u32 bpf_map__ifindex(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_ifindex(struct bpf_map *map, __u32 ifindex);
LIBBPF_API __u64 bpf_map__map_extra(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_map_extra(struct bpf_map *map, __u64 map_extra);

/*
 * The bytes of a data section, writable until load(); afterwards the mapped
 * values themselves where the kernel can map them (5.5), .rodata read-only. Of
 * a struct_ops map, the struct as the object declares it, with a struct
 * bpf_program * at each member that is a function; changes count until load().
 * Of an arena the variables that stand in it; from load() on, the arena itself,
 * which lies elsewhere. NULL: none of these.
 */
LIBBPF_API int bpf_map__set_initial_value(struct bpf_map *map, const void *data, size_t size);
LIBBPF_API void *bpf_map__initial_value(const struct bpf_map *map, size_t *psize);

LIBBPF_API bool bpf_map__is_internal(const struct bpf_map *map);
LIBBPF_API int bpf_map__set_pin_path(struct bpf_map *map, const char *path);
LIBBPF_API const char *bpf_map__pin_path(const struct bpf_map *map);
LIBBPF_API bool bpf_map__is_pinned(const struct bpf_map *map);
/* path NULL: the map's pin path. */
LIBBPF_API int bpf_map__pin(struct bpf_map *map, const char *path);
LIBBPF_API int bpf_map__unpin(struct bpf_map *map, const char *path);

/*
 * Only this program of the same object may use the map (6.18); NULL: all may.
 * EINVAL: the map is created, or the program another object's. Whoever else does
 * is refused at load: EACCES.
 */
LIBBPF_API int bpf_map__set_exclusive_program(struct bpf_map *map, struct bpf_program *prog);
LIBBPF_API struct bpf_program *bpf_map__exclusive_program(struct bpf_map *map);

LIBBPF_API int bpf_map__set_inner_map_fd(struct bpf_map *map, int fd);
/* The shape of the inner maps of a map of maps; NULL: it has none. */
LIBBPF_API struct bpf_map *bpf_map__inner_map(struct bpf_map *map);

/* As the bpf_map_*() of bpf.h, with the sizes checked: EINVAL. */
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

/* Links: a link owns what attaching opened; destroying it detaches. */

LIBBPF_API struct bpf_link *bpf_link__open(const char *path);
LIBBPF_API int bpf_link__fd(const struct bpf_link *link);
LIBBPF_API const char *bpf_link__pin_path(const struct bpf_link *link);
LIBBPF_API int bpf_link__pin(struct bpf_link *link, const char *path);
LIBBPF_API int bpf_link__unpin(struct bpf_link *link);
LIBBPF_API int bpf_link__update_program(struct bpf_link *link, struct bpf_program *prog);
/* bpf_link__destroy() will free without detaching. */
LIBBPF_API void bpf_link__disconnect(struct bpf_link *link);
LIBBPF_API int bpf_link__detach(struct bpf_link *link);
/* NULL is allowed. */
LIBBPF_API int bpf_link__destroy(struct bpf_link *link);

/* As the program's section says. */
LIBBPF_API struct bpf_link *bpf_program__attach(const struct bpf_program *prog);

/*
 * How a k- or uprobe is put in place; DEFAULT: the best the kernel has. Where
 * it lacks what is asked for: EOPNOTSUPP. Only LINK (and DEFAULT, where that is
 * the best) has cookies, and links that can be pinned.
 */
enum probe_attach_mode {
	PROBE_ATTACH_MODE_DEFAULT = 0,
	PROBE_ATTACH_MODE_LEGACY, /* through tracefs; it goes with this process all the same */
	PROBE_ATTACH_MODE_PERF,	  /* through the PMU */
	PROBE_ATTACH_MODE_LINK,	  /* through the PMU, with a BPF link (5.15) */
};

struct bpf_perf_event_opts {
	size_t sz;
	__u64 bpf_cookie;	 /* bpf_get_attach_cookie() (5.15) */
	bool force_ioctl_attach; /* no BPF link */
	bool dont_enable;	 /* leave the event as it is; disabled, it runs no program */
	size_t : 0;
};
#define bpf_perf_event_opts__last_field dont_enable

/* The link owns pfd from now on, and enables it; on failure it stays the caller's. */
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
	const unsigned long *addrs; /* or cnt addresses of functions' beginnings */
	const __u64 *cookies;	    /* cnt of them, or NULL */
	size_t cnt;
	bool retprobe; /* at the return */
	bool session;  /* at the entry, and at the return if the program returned 0 there (6.10) */
	bool unique_match; /* EINVAL unless the pattern matches one function */
	size_t : 0;
};
#define bpf_kprobe_multi_opts__last_field unique_match

/*
 * Many functions of the kernel by one link (5.18): those that match the glob
 * pattern, or, with pattern NULL, those of opts. The program is one of
 * SEC("kprobe.multi"), or of SEC("kprobe.session"). A pattern attaches to all
 * functions that can be traced, the others are passed over; ENOENT: there is
 * none. EOPNOTSUPP: this kernel has no such links.
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
 * A kprobe at the function of a system call ("openat"), whatever this
 * architecture calls it. The calls of 32-bit programs have functions of their
 * own and are not seen.
 */
LIBBPF_API struct bpf_link *bpf_program__attach_ksyscall(const struct bpf_program *prog,
							 const char *syscall_name,
							 const struct bpf_ksyscall_opts *opts);

struct bpf_uprobe_opts {
	size_t sz;
	size_t ref_ctr_offset; /* file offset of a USDT semaphore (4.20) */
	__u64 bpf_cookie;
	bool retprobe;
	const char *func_name; /* a symbol, or SYMBOL@VERSION; the offset counts from it */
	enum probe_attach_mode attach_mode;
	size_t : 0;
};
#define bpf_uprobe_opts__last_field attach_mode

/*
 * pid -1: all processes, 0: this one. func_offset: without func_name an offset
 * in the file. A binary_path without '/' is searched as the loader would.
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
	const __u64 *cookies;		      /* cnt of them, or NULL */
	size_t cnt;
	bool retprobe;
	bool session; /* as for kprobes (6.13) */
	size_t : 0;
};
#define bpf_uprobe_multi_opts__last_field session

/*
 * Many places of one file by one link (6.6): the functions that match the glob
 * func_pattern, or, with NULL, those of opts. pid and binary_path are as for
 * bpf_program__attach_uprobe(); the first kernels (before 6.10) take a pid for
 * that of a thread. The program is one of SEC("uprobe.multi"), or of
 * SEC("uprobe.session"). EOPNOTSUPP: this kernel has no such links.
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
 * All places of a USDT probe (<sys/sdt.h>) in the file. pid -1: in all
 * processes, 0: in this one; binary_path is searched as for uprobes. ENOENT,
 * with near names: no such probe. EOPNOTSUPP: an argument that cannot be read,
 * or a kernel before 5.15, which can attach to what is loaded at any address in
 * one process only. EEXIST: on such a kernel, a place twice. E2BIG: see
 * BPF_USDT_MAX_SPEC_CNT. Where the kernel takes a place at a time (before 6.6)
 * the link has no descriptor and cannot be pinned.
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
 * A freplace program takes the place of a function of the program target_fd,
 * attach_func_name; 0 and NULL: of what it was loaded for. The two go together:
 * EINVAL else. ENOENT: that program has no function of the name.
 */
LIBBPF_API struct bpf_link *bpf_program__attach_freplace(const struct bpf_program *prog,
							 int target_fd,
							 const char *attach_func_name);

/* A hook of the security modules that lsm/… names, known since load. */
LIBBPF_API struct bpf_link *bpf_program__attach_lsm(const struct bpf_program *prog);

struct bpf_iter_attach_opts {
	size_t sz;
	/* What is walked: a map's elements, a cgroup's tree, the threads of a process */
	union bpf_iter_link_info *link_info;
	__u32 link_info_len; /* sizeof(*link_info) */
};
#define bpf_iter_attach_opts__last_field link_info_len

/*
 * An iterator runs when it is read: bpf_iter_create() on the link's descriptor
 * gives one to read(2); a pinned link is a file whose every reader starts anew.
 */
LIBBPF_API struct bpf_link *bpf_program__attach_iter(const struct bpf_program *prog,
						     const struct bpf_iter_attach_opts *opts);

/*
 * Where a program goes among those that are there: before (BPF_F_BEFORE) or
 * after (BPF_F_AFTER) the one of relative_fd or relative_id (a program's; with
 * BPF_F_LINK a link's), or in front or at the end of all without one.
 * expected_revision, when not 0, must be the list's
 * (bpf_prog_query_opts()): ESTALE.
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

/* cgroup_fd: a folder of the cgroup v2 tree, opened. Options: 6.17. */
LIBBPF_API struct bpf_link *bpf_program__attach_cgroup(const struct bpf_program *prog,
						       int cgroup_fd);
LIBBPF_API struct bpf_link *bpf_program__attach_cgroup_opts(const struct bpf_program *prog,
							    int cgroup_fd,
							    const struct bpf_cgroup_opts *opts);

/* flow_dissector and sk_lookup; netns_fd: /proc/PID/ns/net, opened. */
LIBBPF_API struct bpf_link *bpf_program__attach_netns(const struct bpf_program *prog, int netns_fd);

/* sk_skb and sk_msg, for the sockets of a sockmap or sockhash (6.10). */
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
	__s32 priority; /* the lower, the earlier; neither the least nor the greatest number */
	__u32 flags;	/* BPF_F_NETFILTER_IP_DEFRAG */
};
#define bpf_netfilter_opts__last_field flags

/* Of the network namespace that the caller is in (6.4). */
LIBBPF_API struct bpf_link *bpf_program__attach_netfilter(const struct bpf_program *prog,
							  const struct bpf_netfilter_opts *opts);

/*
 * Gives the kernel the struct, which calls its programs from then on. Section
 * .struct_ops.link: while the link lives (6.4). Section .struct_ops: until
 * bpf_link__destroy(), even when the process ends before (5.6). EINVAL: the map
 * is no struct_ops, or not created; EEXIST: there is one of that name.
 */
LIBBPF_API struct bpf_link *bpf_map__attach_struct_ops(const struct bpf_map *map);
/* Another struct takes the place of the link's, at once; both of .struct_ops.link (6.4). */
LIBBPF_API int bpf_link__update_map(struct bpf_link *link, const struct bpf_map *map);

/* See bpf_prog_assoc_struct_ops(). EINVAL: one is not loaded, or the map no struct_ops. */
LIBBPF_API int bpf_program__assoc_struct_ops(struct bpf_program *prog, struct bpf_map *map,
					     struct bpf_prog_assoc_struct_ops_opts *opts);

struct bpf_trace_opts {
	size_t sz;
	__u64 cookie; /* 5.19 */
};
#define bpf_trace_opts__last_field cookie

/* tp_btf, fentry, fexit, fmod_ret: the target is known since load. */
LIBBPF_API struct bpf_link *bpf_program__attach_trace(const struct bpf_program *prog);
LIBBPF_API struct bpf_link *bpf_program__attach_trace_opts(const struct bpf_program *prog,
							   const struct bpf_trace_opts *opts);

/*
 * Skeletons: what a header written by 'perf-bpf gen skeleton' (or bpftool's)
 * calls. It fills these structs in; a program uses the header's functions. The
 * sizes *_sz say how large the header's own structs are: what later versions
 * added at their ends is used where it is there.
 */

struct bpf_map_skeleton {
	const char *name;
	struct bpf_map **map;
	void **mmaped;		/* a data section's bytes; may be NULL */
	struct bpf_link **link; /* of a struct_ops map (1.5); may be NULL */
};

struct bpf_prog_skeleton {
	const char *name;
	struct bpf_program **prog;
	struct bpf_link **link;
};

/* It and its tables come from malloc(); bpf_object__destroy_skeleton() frees them. */
struct bpf_object_skeleton {
	size_t sz;
	const char *name; /* the object's, unless the options have another */
	const void *data; /* the ELF file, borrowed */
	size_t data_sz;
	struct bpf_object **obj;
	int map_cnt;
	int map_skel_sz; /* sizeof(struct bpf_map_skeleton) */
	struct bpf_map_skeleton *maps;
	int prog_cnt;
	int prog_skel_sz; /* sizeof(struct bpf_prog_skeleton) */
	struct bpf_prog_skeleton *progs;
};

/* Opens the object and fills in the pointers. ESRCH: it has no map or program of a name. */
LIBBPF_API int bpf_object__open_skeleton(struct bpf_object_skeleton *s,
					 const struct bpf_object_open_opts *opts);
LIBBPF_API int bpf_object__load_skeleton(struct bpf_object_skeleton *s);
/*
 * Attaches each program that is loaded, whose section says to what, whose
 * autoattach is on, and whose link is NULL; then struct_ops maps, in the same
 * way. The first that fails ends it; the
 * links made so far stay.
 */
LIBBPF_API int bpf_object__attach_skeleton(struct bpf_object_skeleton *s);
/* Destroys all links of s. */
LIBBPF_API void bpf_object__detach_skeleton(struct bpf_object_skeleton *s);
/* Detaches, closes the object, and frees s. NULL is allowed. */
LIBBPF_API void bpf_object__destroy_skeleton(struct bpf_object_skeleton *s);

struct bpf_var_skeleton {
	const char *name;
	struct bpf_map **map; /* of the section that it stands in */
	void **addr;
};

/* A library's view of an object that its user opened; tables from malloc() too. */
struct bpf_object_subskeleton {
	size_t sz;
	const struct bpf_object *obj; /* borrowed */
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

/* Fills in the pointers. ESRCH: a name is not there; ENOENT: the object has no BTF. */
LIBBPF_API int bpf_object__open_subskeleton(struct bpf_object_subskeleton *s);
/* Frees s; the object stays. NULL is allowed. */
LIBBPF_API void bpf_object__destroy_subskeleton(struct bpf_object_subskeleton *s);

/*
 * Sections of the caller's own. prog_setup_fn is called at the end of open for
 * each program of the section, and may change what the setters change;
 * prog_prepare_load_fn right before the program is loaded, and may change the
 * options, or the program by bpf_program__set_insns(); prog_attach_fn by
 * bpf_program__attach() and skeletons, and sets *link (NULL: it does not attach,
 * which is an error for the former only). Each may be NULL, gets the cookie, and
 * returns 0 or a negative errno.
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
 * sec: "xyz", that section; "xyz/", what begins so; "xyz+", "xyz" and "xyz/…";
 * NULL: those that nobody knows (EBUSY: there is one for them). It comes before
 * the library's own meaning, for objects that are opened from now on. Returns
 * the handler's id, positive. All threads share the handlers.
 */
LIBBPF_API int libbpf_register_prog_handler(const char *sec, enum bpf_prog_type prog_type,
					    enum bpf_attach_type exp_attach_type,
					    const struct libbpf_prog_handler_opts *opts);
/* Programs that are open keep it. ENOENT: there is none of this id. */
LIBBPF_API int libbpf_unregister_prog_handler(int handler_id);

/*
 * Rings. What a program sends comes to callbacks, which poll() and consume()
 * call in the thread that calls them. What is read is bounded by the ring, and
 * a record that cannot be is EBADMSG. A ring is used by one thread at a time;
 * different rings are independent. The maps' descriptors are borrowed.
 */

struct ring_buffer;	 /* some BPF_MAP_TYPE_RINGBUF maps */
struct ring;		 /* one of them */
struct user_ring_buffer; /* a BPF_MAP_TYPE_USER_RINGBUF map (6.1) */

/*
 * A record of size bytes, which last until the callback returns. Negative: to
 * stop here, and what poll() or consume() returns; the record counts as read.
 */
typedef int (*ring_buffer_sample_fn)(void *ctx, void *data, size_t size);

struct ring_buffer_opts {
	size_t sz;
};
#define ring_buffer_opts__last_field sz

/* EINVAL: map_fd is no ring buffer. sample_cb NULL: records are read and dropped. */
LIBBPF_API struct ring_buffer *ring_buffer__new(int map_fd, ring_buffer_sample_fn sample_cb,
						void *ctx, const struct ring_buffer_opts *opts);
/* NULL is allowed. */
LIBBPF_API void ring_buffer__free(struct ring_buffer *rb);
LIBBPF_API int ring_buffer__add(struct ring_buffer *rb, int map_fd, ring_buffer_sample_fn sample_cb,
				void *ctx);
/*
 * poll() waits for data, at most timeout_ms milliseconds (-1: without end), and
 * reads the rings that have some; consume() reads all of them without waiting,
 * consume_n() at most n records. They return how many records came (at most
 * INT_MAX), or what a callback said. Space is given back to the kernel after
 * an eighth of the ring, and before they return.
 */
LIBBPF_API int ring_buffer__poll(struct ring_buffer *rb, int timeout_ms);
LIBBPF_API int ring_buffer__consume(struct ring_buffer *rb);
LIBBPF_API int ring_buffer__consume_n(struct ring_buffer *rb, size_t n);
/* Readable when one of the rings has data; the ring buffer's, do not close it. */
LIBBPF_API int ring_buffer__epoll_fd(const struct ring_buffer *rb);
/* The idx-th that was added, as long as rb lives; ERANGE: there are not so many. */
LIBBPF_API struct ring *ring_buffer__ring(struct ring_buffer *rb, unsigned int idx);

/* Bytes since the map was made, headers and padding too; they wrap. */
LIBBPF_API unsigned long ring__consumer_pos(const struct ring *r);
LIBBPF_API unsigned long ring__producer_pos(const struct ring *r);
/* Bytes that were produced and not read. */
LIBBPF_API size_t ring__avail_data_size(const struct ring *r);
/* Bytes of the ring: the map's max_entries. */
LIBBPF_API size_t ring__size(const struct ring *r);
LIBBPF_API int ring__map_fd(const struct ring *r);
LIBBPF_API int ring__consume(struct ring *r);
LIBBPF_API int ring__consume_n(struct ring *r, size_t n);

struct user_ring_buffer_opts {
	size_t sz;
};
#define user_ring_buffer_opts__last_field sz

/* EINVAL: map_fd is no user ring buffer. */
LIBBPF_API struct user_ring_buffer *user_ring_buffer__new(int map_fd,
							  const struct user_ring_buffer_opts *opts);
/*
 * Room for size bytes, 8-byte aligned, to be filled and then submitted or
 * discarded. NULL: E2BIG, more than the ring could ever hold; ENOSPC, it is
 * full now. blocking waits for room, at most timeout_ms (-1: without end): the
 * kernel tells of it when bpf_user_ringbuf_drain() has read something.
 */
LIBBPF_API void *user_ring_buffer__reserve(struct user_ring_buffer *rb, __u32 size);
LIBBPF_API void *user_ring_buffer__reserve_blocking(struct user_ring_buffer *rb, __u32 size,
						    int timeout_ms);
/* The program sees samples in the order of their reservation, not of their submission. */
LIBBPF_API void user_ring_buffer__submit(struct user_ring_buffer *rb, void *sample);
LIBBPF_API void user_ring_buffer__discard(struct user_ring_buffer *rb, void *sample);
/* NULL is allowed. */
LIBBPF_API void user_ring_buffer__free(struct user_ring_buffer *rb);

/* A BPF_MAP_TYPE_PERF_EVENT_ARRAY map with a perf ring for each CPU. */
struct perf_buffer;
struct perf_event_attr;
struct perf_event_header;

/* What the program gave to bpf_perf_event_output(), padded up to 8 bytes less 4. */
typedef void (*perf_buffer_sample_fn)(void *ctx, int cpu, void *data, __u32 size);
/* cnt samples found no room in the CPU's ring since the last that did. */
typedef void (*perf_buffer_lost_fn)(void *ctx, int cpu, __u64 cnt);

struct perf_buffer_opts {
	size_t sz;
	__u32 sample_period; /* wake up after so many samples; 0: 1 */
	size_t : 0;
};
#define perf_buffer_opts__last_field sample_period

/*
 * A ring of page_cnt pages (a power of two) for each CPU that is online and
 * that the map has room for. The callbacks may be NULL. EINVAL: map_fd is no
 * perf event array; EPERM: more memory than may be locked.
 */
LIBBPF_API struct perf_buffer *perf_buffer__new(int map_fd, size_t page_cnt,
						perf_buffer_sample_fn sample_cb,
						perf_buffer_lost_fn lost_cb, void *ctx,
						const struct perf_buffer_opts *opts);

enum bpf_perf_event_ret {
	LIBBPF_PERF_EVENT_DONE = 0,   /* the event is read; leave the rest for later */
	LIBBPF_PERF_EVENT_ERROR = -1, /* it is read; stop, and fail */
	LIBBPF_PERF_EVENT_CONT = -2,  /* go on */
};

/* The whole record, see perf_event_open(2); it lasts until the callback returns. */
typedef enum bpf_perf_event_ret (*perf_buffer_event_fn)(void *ctx, int cpu,
							struct perf_event_header *event);

struct perf_buffer_raw_opts {
	size_t sz;
	long : 0;
	long : 0;
	int cpu_cnt;   /* 0: all that are online */
	int *cpus;     /* cpu_cnt CPUs */
	int *map_keys; /* cpu_cnt keys of the map, for their rings */
};
#define perf_buffer_raw_opts__last_field map_keys

/* With an attr of the caller's, and each record as it is. */
LIBBPF_API struct perf_buffer *perf_buffer__new_raw(int map_fd, size_t page_cnt,
						    struct perf_event_attr *attr,
						    perf_buffer_event_fn event_cb, void *ctx,
						    const struct perf_buffer_raw_opts *opts);

/* Takes the rings out of the map. NULL is allowed. */
LIBBPF_API void perf_buffer__free(struct perf_buffer *pb);
LIBBPF_API int perf_buffer__epoll_fd(const struct perf_buffer *pb);
/* Waits as ring_buffer__poll(); returns how many rings had something. */
LIBBPF_API int perf_buffer__poll(struct perf_buffer *pb, int timeout_ms);
/* Reads all rings, or the one, without waiting; returns 0. */
LIBBPF_API int perf_buffer__consume(struct perf_buffer *pb);
LIBBPF_API int perf_buffer__consume_buffer(struct perf_buffer *pb, size_t buf_idx);
/* The rings, and of one the perf event's descriptor (the perf buffer's). EINVAL: no such. */
LIBBPF_API size_t perf_buffer__buffer_cnt(const struct perf_buffer *pb);
LIBBPF_API int perf_buffer__buffer_fd(const struct perf_buffer *pb, size_t buf_idx);
/* Its struct perf_event_mmap_page, and the bytes of data that stand a page behind it. */
LIBBPF_API int perf_buffer__buffer(struct perf_buffer *pb, int buf_idx, void **buf,
				   size_t *buf_size);

#ifdef __cplusplus
}
#endif

#endif
