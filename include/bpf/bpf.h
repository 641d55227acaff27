/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One function for each command of bpf(2). Names and semantics are those of
 * libbpf.
 *
 * Functions that return an int return 0 or a file descriptor (close-on-exec; the
 * caller closes it) on success, and a negative errno on failure; they also set
 * errno. The fields of the kernel's union bpf_attr are described in
 * <linux/bpf.h>. Options: see libbpf_common.h; NULL selects the defaults.
 */
#ifndef PERF_BPF_BPF_H
#define PERF_BPF_BPF_H

#ifdef __bpf__

/* BPF programs written for perf since 2018 include their own header with this name. */
#include "perf_bpf_prog.h"

#else

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libbpf_common.h"
#include "perf_bpf_uapi.h"

#ifdef __cplusplus
extern "C" {
#endif

struct btf;

struct bpf_map_create_opts {
	size_t sz;

	__u32 btf_fd; /* BTF that the following type IDs refer to */
	__u32 btf_key_type_id;
	__u32 btf_value_type_id;
	__u32 btf_vmlinux_value_type_id; /* struct_ops */

	__u32 inner_map_fd; /* map of maps: a map with the definition of the inner maps */
	__u32 map_flags;    /* BPF_F_… */
	__u64 map_extra;    /* bloom filter: number of hashes */

	__u32 numa_node; /* with BPF_F_NUMA_NODE */
	__u32 map_ifindex;

	__s32 value_type_btf_obj_fd; /* struct_ops of a module */
	__u32 token_fd;		     /* 6.9 */

	/* SHA-256 of the only program that can use the map (6.18) */
	const void *excl_prog_hash;
	__u32 excl_prog_hash_size; /* 32 */
	size_t : 0;
};
#define bpf_map_create_opts__last_field	  excl_prog_hash_size

/*
 * Sizes are in bytes. The unit of max_entries depends on the map type (ring
 * buffer: bytes). map_name can be NULL; only letters, digits, '_' and '.' in its
 * first 15 bytes are used. It is ignored on kernels that do not support names.
 */
LIBBPF_API int bpf_map_create(enum bpf_map_type map_type, const char *map_name, __u32 key_size,
			      __u32 value_size, __u32 max_entries,
			      const struct bpf_map_create_opts *opts);

struct bpf_prog_load_opts {
	size_t sz;

	int attempts; /* number of attempts if the kernel returns EAGAIN; 0: 5 */

	enum bpf_attach_type expected_attach_type;
	__u32 prog_btf_fd; /* BTF of func_info and line_info */
	__u32 prog_flags;  /* BPF_F_… */
	__u32 prog_ifindex;
	__u32 kern_version; /* kprobes of kernels before 5.0 */

	__u32 attach_btf_id; /* target of fentry, tp_btf, lsm and freplace programs */
	__u32 attach_prog_fd;
	__u32 attach_btf_obj_fd;

	const int *fd_array; /* file descriptors for BPF_PSEUDO_MAP_IDX */

	const void *func_info; /* struct bpf_func_info[] */
	__u32 func_info_cnt;
	__u32 func_info_rec_size;

	const void *line_info; /* struct bpf_line_info[] */
	__u32 line_info_cnt;
	__u32 line_info_rec_size;

	/*
	 * Level 0 with a buffer: the program is first loaded without a log; if
	 * that fails, it is loaded again with a log.
	 */
	__u32 log_level;
	__u32 log_size;
	char *log_buf;
	__u32 log_true_size; /* out: the size of the whole log (6.4) */
	__u32 token_fd;	     /* 6.9 */
	__u32 fd_array_cnt;  /* 6.14 */
	size_t : 0;
};
#define bpf_prog_load_opts__last_field	  fd_array_cnt

/* The maximum log size before Linux 5.2; a log is never truncated at this size. */
#define BPF_LOG_BUF_SIZE		  (UINT32_MAX >> 8)

/* prog_name can be NULL; the rules of map_name apply. */
LIBBPF_API int bpf_prog_load(enum bpf_prog_type prog_type, const char *prog_name,
			     const char *license, const struct bpf_insn *insns, size_t insn_cnt,
			     struct bpf_prog_load_opts *opts);

struct bpf_btf_load_opts {
	size_t sz;

	char *log_buf; /* filled in if loading fails or log_level > 0 */
	__u32 log_level;
	__u32 log_size;
	__u32 log_true_size; /* out (6.4) */
	__u32 btf_flags;
	__u32 token_fd; /* 6.9 */
	size_t : 0;
};
#define bpf_btf_load_opts__last_field	  token_fd

LIBBPF_API int bpf_btf_load(const void *btf_data, size_t btf_size, struct bpf_btf_load_opts *opts);

/*
 * Keys and values have the sizes of the map. For a per-CPU map, value points to
 * libbpf_num_possible_cpus() values, each of value_size rounded up to a multiple
 * of 8. A missing key is -ENOENT.
 */
LIBBPF_API int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags);
LIBBPF_API int bpf_map_lookup_elem(int fd, const void *key, void *value);
LIBBPF_API int bpf_map_lookup_elem_flags(int fd, const void *key, void *value, __u64 flags);
LIBBPF_API int bpf_map_lookup_and_delete_elem(int fd, const void *key, void *value);
LIBBPF_API int bpf_map_lookup_and_delete_elem_flags(int fd, const void *key, void *value,
						    __u64 flags);
LIBBPF_API int bpf_map_delete_elem(int fd, const void *key);
LIBBPF_API int bpf_map_delete_elem_flags(int fd, const void *key, __u64 flags);
/* key NULL: get the first key. -ENOENT: key is the last one. */
LIBBPF_API int bpf_map_get_next_key(int fd, const void *key, void *next_key);
/* Makes the map read-only for user space; programs can still change it. */
LIBBPF_API int bpf_map_freeze(int fd);

struct bpf_map_batch_opts {
	size_t sz;
	__u64 elem_flags;
	__u64 flags;
};
#define bpf_map_batch_opts__last_field	  flags

/*
 * *count is the number of elements in keys and values, or the number that fits
 * there; the call sets it to the number of processed elements. in_batch NULL
 * starts at the first element; out_batch gets the position for the next call.
 * Both have the size of a key (hash tables: 4 bytes). -ENOENT: the end of the
 * map, with the last *count elements. (5.6)
 */
LIBBPF_API int bpf_map_delete_batch(int fd, const void *keys, __u32 *count,
				    const struct bpf_map_batch_opts *opts);
LIBBPF_API int bpf_map_lookup_batch(int fd, void *in_batch, void *out_batch, void *keys,
				    void *values, __u32 *count,
				    const struct bpf_map_batch_opts *opts);
LIBBPF_API int bpf_map_lookup_and_delete_batch(int fd, void *in_batch, void *out_batch, void *keys,
					       void *values, __u32 *count,
					       const struct bpf_map_batch_opts *opts);
LIBBPF_API int bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
				    const struct bpf_map_batch_opts *opts);

struct bpf_obj_pin_opts {
	size_t sz;
	__u32 file_flags; /* BPF_F_PATH_FD (6.5) */
	int path_fd;
	size_t : 0;
};
#define bpf_obj_pin_opts__last_field	  path_fd

struct bpf_obj_get_opts {
	size_t sz;
	__u32 file_flags; /* BPF_F_RDONLY, BPF_F_WRONLY, BPF_F_PATH_FD */
	int path_fd;
	size_t : 0;
};
#define bpf_obj_get_opts__last_field	  path_fd

/* pathname is in a BPF file system, usually /sys/fs/bpf. */
LIBBPF_API int bpf_obj_pin(int fd, const char *pathname);
LIBBPF_API int bpf_obj_pin_opts(int fd, const char *pathname, const struct bpf_obj_pin_opts *opts);
LIBBPF_API int bpf_obj_get(const char *pathname);
LIBBPF_API int bpf_obj_get_opts(const char *pathname, const struct bpf_obj_get_opts *opts);

struct bpf_prog_attach_opts {
	size_t sz;
	__u32 flags;
	union {
		int replace_prog_fd;
		int replace_fd;
	};
	int relative_fd; /* 6.6: tcx and netkit */
	__u32 relative_id;
	__u64 expected_revision;
	size_t : 0;
};
#define bpf_prog_attach_opts__last_field  expected_revision

struct bpf_prog_detach_opts {
	size_t sz;
	__u32 flags;
	int relative_fd;
	__u32 relative_id;
	__u64 expected_revision;
	size_t : 0;
};
#define bpf_prog_detach_opts__last_field  expected_revision

LIBBPF_API int bpf_prog_attach(int prog_fd, int attachable_fd, enum bpf_attach_type type,
			       unsigned int flags);
LIBBPF_API int bpf_prog_attach_opts(int prog_fd, int target, enum bpf_attach_type type,
				    const struct bpf_prog_attach_opts *opts);
LIBBPF_API int bpf_prog_detach(int attachable_fd, enum bpf_attach_type type);
LIBBPF_API int bpf_prog_detach2(int prog_fd, int attachable_fd, enum bpf_attach_type type);
LIBBPF_API int bpf_prog_detach_opts(int prog_fd, int target, enum bpf_attach_type type,
				    const struct bpf_prog_detach_opts *opts);

union bpf_iter_link_info;
struct bpf_link_create_opts {
	size_t sz;
	__u32 flags;
	union bpf_iter_link_info *iter_info;
	__u32 iter_info_len;
	__u32 target_btf_id;
	union {
		struct {
			__u64 bpf_cookie;
		} perf_event;
		struct {
			__u32 flags;
			__u32 cnt;
			const char **syms;
			const unsigned long *addrs;
			const __u64 *cookies;
		} kprobe_multi;
		struct {
			__u32 flags;
			__u32 cnt;
			const char *path;
			const unsigned long *offsets;
			const unsigned long *ref_ctr_offsets;
			const __u64 *cookies;
			__u32 pid;
		} uprobe_multi; /* 6.6 */
		struct {
			__u64 cookie;
		} tracing;
		struct {
			__u32 pf;
			__u32 hooknum;
			__s32 priority;
			__u32 flags;
		} netfilter; /* 6.4 */
		struct {
			__u32 relative_fd;
			__u32 relative_id;
			__u64 expected_revision;
		} tcx; /* 6.6 */
		struct {
			__u32 relative_fd;
			__u32 relative_id;
			__u64 expected_revision;
		} netkit; /* 6.7 */
		struct {
			__u32 relative_fd;
			__u32 relative_id;
			__u64 expected_revision;
		} cgroup; /* 6.17 */
	};
	size_t : 0;
};
#define bpf_link_create_opts__last_field  uprobe_multi.pid

/*
 * attach_type selects the member of the union. For struct_ops, prog_fd is the
 * file descriptor of a map, and the union is not used.
 */
LIBBPF_API int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type attach_type,
			       const struct bpf_link_create_opts *opts);
LIBBPF_API int bpf_link_detach(int link_fd);

struct bpf_link_update_opts {
	size_t sz;
	__u32 flags;	   /* BPF_F_REPLACE */
	__u32 old_prog_fd; /* with BPF_F_REPLACE: the expected current program */
	__u32 old_map_fd;  /* struct_ops */
	size_t : 0;
};
#define bpf_link_update_opts__last_field  old_map_fd

LIBBPF_API int bpf_link_update(int link_fd, int new_prog_fd,
			       const struct bpf_link_update_opts *opts);
/* Returns a file descriptor; read(2) on it runs the iterator of the link once. */
LIBBPF_API int bpf_iter_create(int link_fd);

/* Get the next ID after start_id (0: the first ID); -ENOENT: there are no more. */
LIBBPF_API int bpf_prog_get_next_id(__u32 start_id, __u32 *next_id);
LIBBPF_API int bpf_map_get_next_id(__u32 start_id, __u32 *next_id);
LIBBPF_API int bpf_btf_get_next_id(__u32 start_id, __u32 *next_id);
LIBBPF_API int bpf_link_get_next_id(__u32 start_id, __u32 *next_id);

struct bpf_get_fd_by_id_opts {
	size_t sz;
	__u32 open_flags; /* BPF_F_RDONLY … */
	__u32 token_fd;	  /* 6.9 */
	size_t : 0;
};
#define bpf_get_fd_by_id_opts__last_field token_fd

LIBBPF_API int bpf_prog_get_fd_by_id(__u32 id);
LIBBPF_API int bpf_prog_get_fd_by_id_opts(__u32 id, const struct bpf_get_fd_by_id_opts *opts);
LIBBPF_API int bpf_map_get_fd_by_id(__u32 id);
LIBBPF_API int bpf_map_get_fd_by_id_opts(__u32 id, const struct bpf_get_fd_by_id_opts *opts);
LIBBPF_API int bpf_btf_get_fd_by_id(__u32 id);
LIBBPF_API int bpf_btf_get_fd_by_id_opts(__u32 id, const struct bpf_get_fd_by_id_opts *opts);
LIBBPF_API int bpf_link_get_fd_by_id(__u32 id);
LIBBPF_API int bpf_link_get_fd_by_id_opts(__u32 id, const struct bpf_get_fd_by_id_opts *opts);

/*
 * *info_len is the size of info; the call sets it to the number of bytes that
 * the kernel filled in. All of info must be zero except pointers and their
 * lengths.
 */
LIBBPF_API int bpf_obj_get_info_by_fd(int bpf_fd, void *info, __u32 *info_len);
LIBBPF_API int bpf_prog_get_info_by_fd(int prog_fd, struct bpf_prog_info *info, __u32 *info_len);
LIBBPF_API int bpf_map_get_info_by_fd(int map_fd, struct bpf_map_info *info, __u32 *info_len);
LIBBPF_API int bpf_btf_get_info_by_fd(int btf_fd, struct bpf_btf_info *info, __u32 *info_len);
LIBBPF_API int bpf_link_get_info_by_fd(int link_fd, struct bpf_link_info *info, __u32 *info_len);

struct bpf_prog_query_opts {
	size_t sz;
	__u32 query_flags;
	__u32 attach_flags; /* out */
	__u32 *prog_ids;
	union {
		__u32 prog_cnt; /* in: size of the arrays; out: number of programs */
		__u32 count;
	};
	__u32 *prog_attach_flags; /* 6.0 */
	__u32 *link_ids;	  /* 6.6 */
	__u32 *link_attach_flags;
	__u64 revision; /* out (6.6) */
	size_t : 0;
};
#define bpf_prog_query_opts__last_field	  revision

LIBBPF_API int bpf_prog_query_opts(int target, enum bpf_attach_type type,
				   struct bpf_prog_query_opts *opts);
LIBBPF_API int bpf_prog_query(int target_fd, enum bpf_attach_type type, __u32 query_flags,
			      __u32 *attach_flags, __u32 *prog_ids, __u32 *prog_cnt);

struct bpf_raw_tp_opts {
	size_t sz;
	const char *tp_name; /* NULL for tp_btf, fentry, … */
	__u64 cookie;	     /* 6.10 */
	size_t : 0;
};
#define bpf_raw_tp_opts__last_field	  cookie

LIBBPF_API int bpf_raw_tracepoint_open_opts(int prog_fd, struct bpf_raw_tp_opts *opts);
LIBBPF_API int bpf_raw_tracepoint_open(const char *name, int prog_fd);

/* Gets the program and the probe point of the perf event fd in process pid. */
LIBBPF_API int bpf_task_fd_query(int pid, int fd, __u32 flags, char *buf, __u32 *buf_len,
				 __u32 *prog_id, __u32 *fd_type, __u64 *probe_offset,
				 __u64 *probe_addr);

/* The kernel counts as long as the returned file descriptor is open. */
#ifdef __cplusplus
LIBBPF_API int bpf_enable_stats(int type);
#else
enum bpf_stats_type;
LIBBPF_API int bpf_enable_stats(enum bpf_stats_type type);
#endif

struct bpf_prog_bind_opts {
	size_t sz;
	__u32 flags;
	size_t : 0;
};
#define bpf_prog_bind_opts__last_field		   flags

LIBBPF_API int bpf_prog_bind_map(int prog_fd, int map_fd, const struct bpf_prog_bind_opts *opts);

struct bpf_prog_assoc_struct_ops_opts {
	size_t sz;
	__u32 flags;
	size_t : 0;
};
#define bpf_prog_assoc_struct_ops_opts__last_field flags

/*
 * Associates a struct_ops map with a program of another type, for the kfuncs
 * that the program calls (7.0).
 */
LIBBPF_API int bpf_prog_assoc_struct_ops(int prog_fd, int map_fd,
					 struct bpf_prog_assoc_struct_ops_opts *opts);

struct bpf_prog_stream_read_opts {
	size_t sz;
	size_t : 0;
};
#define bpf_prog_stream_read_opts__last_field	   sz

/*
 * Reads the output of bpf_stream_printk() and the kernel's reports about the
 * program: stream_id 1 is its stdout, 2 its stderr. Returns the number of
 * bytes; 0: nothing to read now. (6.17)
 */
LIBBPF_API int bpf_prog_stream_read(int prog_fd, __u32 stream_id, void *buf, __u32 buf_len,
				    struct bpf_prog_stream_read_opts *opts);

struct bpf_token_create_opts {
	size_t sz;
	__u32 flags;
	size_t : 0;
};
#define bpf_token_create_opts__last_field	   flags

/*
 * Creates a token of the BPF file system of bpffs_fd. In the user namespace of
 * the mount, the token allows what the mount options delegate_cmds,
 * delegate_maps, delegate_progs and delegate_attachs allow. EOPNOTSUPP: this is
 * the initial user namespace; ENOENT: nothing is delegated. (6.9)
 */
LIBBPF_API int bpf_token_create(int bpffs_fd, struct bpf_token_create_opts *opts);

struct bpf_test_run_opts {
	size_t sz;
	const void *data_in;
	void *data_out;
	__u32 data_size_in;
	__u32 data_size_out; /* in: size of the buffer; out: size of the data */
	const void *ctx_in;
	void *ctx_out;
	__u32 ctx_size_in;
	__u32 ctx_size_out; /* in: size of the buffer; out: size of the data */
	__u32 retval;	    /* out: the return value of the program */
	int repeat;
	__u32 duration; /* out: average nanoseconds per run */
	__u32 flags;
	__u32 cpu;
	__u32 batch_size;
};
#define bpf_test_run_opts__last_field		   batch_size

LIBBPF_API int bpf_prog_test_run_opts(int prog_fd, struct bpf_test_run_opts *opts);

#ifdef __cplusplus
}
#endif

#endif /* __bpf__ */

#endif
