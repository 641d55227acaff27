/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpf(2) of the kernel, as far as this project uses it: what <linux/bpf.h> is to
 * other programs. The library, the program and most tests are built with this
 * file, so that what is built is the same with headers of 5.10 and of 7.2.
 * Numbers and layouts are those of the kernel's interface, which only grows; the
 * kernel that brought a name is given where it is newer than 5.10. Of structs,
 * the members up to 6.1: the library tells the kernel how much it knows.
 *
 * A name that is here says nothing about the running kernel: see features.h.
 *
 * Programs that use the library have the system's header; what that lacks is
 * added by <bpf/perf_bpf_uapi.h>. tests/checks/test_uapi.sh compares the three.
 */
#ifndef __LINUX_BPF_H__
#define __LINUX_BPF_H__

#include <linux/bpf_common.h>
#include <linux/types.h>

#define PERF_BPF_OWN_UAPI

/* ---- commands and their types ---- */

enum bpf_cmd {
	BPF_MAP_CREATE = 0,
	BPF_MAP_LOOKUP_ELEM = 1,
	BPF_MAP_UPDATE_ELEM = 2,
	BPF_MAP_DELETE_ELEM = 3,
	BPF_MAP_GET_NEXT_KEY = 4,
	BPF_PROG_LOAD = 5,
	BPF_OBJ_PIN = 6,
	BPF_OBJ_GET = 7,
	BPF_PROG_ATTACH = 8,
	BPF_PROG_DETACH = 9,
	BPF_PROG_TEST_RUN = 10,
	BPF_PROG_RUN = 10,
	BPF_PROG_GET_NEXT_ID = 11,
	BPF_MAP_GET_NEXT_ID = 12,
	BPF_PROG_GET_FD_BY_ID = 13,
	BPF_MAP_GET_FD_BY_ID = 14,
	BPF_OBJ_GET_INFO_BY_FD = 15,
	BPF_PROG_QUERY = 16,
	BPF_RAW_TRACEPOINT_OPEN = 17,
	BPF_BTF_LOAD = 18,
	BPF_BTF_GET_FD_BY_ID = 19,
	BPF_TASK_FD_QUERY = 20,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM = 21,
	BPF_MAP_FREEZE = 22,
	BPF_BTF_GET_NEXT_ID = 23,
	BPF_MAP_LOOKUP_BATCH = 24,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH = 25,
	BPF_MAP_UPDATE_BATCH = 26,
	BPF_MAP_DELETE_BATCH = 27,
	BPF_LINK_CREATE = 28,
	BPF_LINK_UPDATE = 29,
	BPF_LINK_GET_FD_BY_ID = 30,
	BPF_LINK_GET_NEXT_ID = 31,
	BPF_ENABLE_STATS = 32,
	BPF_ITER_CREATE = 33,
	BPF_LINK_DETACH = 34,
	BPF_PROG_BIND_MAP = 35,
	BPF_TOKEN_CREATE = 36,		 /* 6.9 */
	BPF_PROG_STREAM_READ_BY_FD = 37, /* 6.17 */
	BPF_PROG_ASSOC_STRUCT_OPS = 38,	 /* 7.0 */
};

enum bpf_map_type {
	BPF_MAP_TYPE_UNSPEC = 0,
	BPF_MAP_TYPE_HASH = 1,
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PROG_ARRAY = 3,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_HASH = 5,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_STACK_TRACE = 7,
	BPF_MAP_TYPE_CGROUP_ARRAY = 8,
	BPF_MAP_TYPE_LRU_HASH = 9,
	BPF_MAP_TYPE_LRU_PERCPU_HASH = 10,
	BPF_MAP_TYPE_LPM_TRIE = 11,
	BPF_MAP_TYPE_ARRAY_OF_MAPS = 12,
	BPF_MAP_TYPE_HASH_OF_MAPS = 13,
	BPF_MAP_TYPE_DEVMAP = 14,
	BPF_MAP_TYPE_SOCKMAP = 15,
	BPF_MAP_TYPE_CPUMAP = 16,
	BPF_MAP_TYPE_XSKMAP = 17,
	BPF_MAP_TYPE_SOCKHASH = 18,
	BPF_MAP_TYPE_CGROUP_STORAGE = 19,
	BPF_MAP_TYPE_REUSEPORT_SOCKARRAY = 20,
	BPF_MAP_TYPE_PERCPU_CGROUP_STORAGE = 21,
	BPF_MAP_TYPE_QUEUE = 22,
	BPF_MAP_TYPE_STACK = 23,
	BPF_MAP_TYPE_SK_STORAGE = 24,
	BPF_MAP_TYPE_DEVMAP_HASH = 25,
	BPF_MAP_TYPE_STRUCT_OPS = 26,
	BPF_MAP_TYPE_RINGBUF = 27,
	BPF_MAP_TYPE_INODE_STORAGE = 28,
	BPF_MAP_TYPE_TASK_STORAGE = 29, /* 5.11 */
	BPF_MAP_TYPE_BLOOM_FILTER = 30, /* 5.16 */
	BPF_MAP_TYPE_USER_RINGBUF = 31, /* 6.1 */
	BPF_MAP_TYPE_CGRP_STORAGE = 32, /* 6.2 */
	BPF_MAP_TYPE_ARENA = 33,	/* 6.9 */
	BPF_MAP_TYPE_INSN_ARRAY = 34,	/* 6.19 */
};

enum bpf_prog_type {
	BPF_PROG_TYPE_UNSPEC = 0,
	BPF_PROG_TYPE_SOCKET_FILTER = 1,
	BPF_PROG_TYPE_KPROBE = 2,
	BPF_PROG_TYPE_SCHED_CLS = 3,
	BPF_PROG_TYPE_SCHED_ACT = 4,
	BPF_PROG_TYPE_TRACEPOINT = 5,
	BPF_PROG_TYPE_XDP = 6,
	BPF_PROG_TYPE_PERF_EVENT = 7,
	BPF_PROG_TYPE_CGROUP_SKB = 8,
	BPF_PROG_TYPE_CGROUP_SOCK = 9,
	BPF_PROG_TYPE_LWT_IN = 10,
	BPF_PROG_TYPE_LWT_OUT = 11,
	BPF_PROG_TYPE_LWT_XMIT = 12,
	BPF_PROG_TYPE_SOCK_OPS = 13,
	BPF_PROG_TYPE_SK_SKB = 14,
	BPF_PROG_TYPE_CGROUP_DEVICE = 15,
	BPF_PROG_TYPE_SK_MSG = 16,
	BPF_PROG_TYPE_RAW_TRACEPOINT = 17,
	BPF_PROG_TYPE_CGROUP_SOCK_ADDR = 18,
	BPF_PROG_TYPE_LWT_SEG6LOCAL = 19,
	BPF_PROG_TYPE_LIRC_MODE2 = 20,
	BPF_PROG_TYPE_SK_REUSEPORT = 21,
	BPF_PROG_TYPE_FLOW_DISSECTOR = 22,
	BPF_PROG_TYPE_CGROUP_SYSCTL = 23,
	BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE = 24,
	BPF_PROG_TYPE_CGROUP_SOCKOPT = 25,
	BPF_PROG_TYPE_TRACING = 26,
	BPF_PROG_TYPE_STRUCT_OPS = 27,
	BPF_PROG_TYPE_EXT = 28,
	BPF_PROG_TYPE_LSM = 29,
	BPF_PROG_TYPE_SK_LOOKUP = 30,
	BPF_PROG_TYPE_SYSCALL = 31,   /* 5.14 */
	BPF_PROG_TYPE_NETFILTER = 32, /* 6.4 */
};

enum bpf_attach_type {
	BPF_CGROUP_INET_INGRESS = 0,
	BPF_CGROUP_INET_EGRESS = 1,
	BPF_CGROUP_INET_SOCK_CREATE = 2,
	BPF_CGROUP_SOCK_OPS = 3,
	BPF_SK_SKB_STREAM_PARSER = 4,
	BPF_SK_SKB_STREAM_VERDICT = 5,
	BPF_CGROUP_DEVICE = 6,
	BPF_SK_MSG_VERDICT = 7,
	BPF_CGROUP_INET4_BIND = 8,
	BPF_CGROUP_INET6_BIND = 9,
	BPF_CGROUP_INET4_CONNECT = 10,
	BPF_CGROUP_INET6_CONNECT = 11,
	BPF_CGROUP_INET4_POST_BIND = 12,
	BPF_CGROUP_INET6_POST_BIND = 13,
	BPF_CGROUP_UDP4_SENDMSG = 14,
	BPF_CGROUP_UDP6_SENDMSG = 15,
	BPF_LIRC_MODE2 = 16,
	BPF_FLOW_DISSECTOR = 17,
	BPF_CGROUP_SYSCTL = 18,
	BPF_CGROUP_UDP4_RECVMSG = 19,
	BPF_CGROUP_UDP6_RECVMSG = 20,
	BPF_CGROUP_GETSOCKOPT = 21,
	BPF_CGROUP_SETSOCKOPT = 22,
	BPF_TRACE_RAW_TP = 23,
	BPF_TRACE_FENTRY = 24,
	BPF_TRACE_FEXIT = 25,
	BPF_MODIFY_RETURN = 26,
	BPF_LSM_MAC = 27,
	BPF_TRACE_ITER = 28,
	BPF_CGROUP_INET4_GETPEERNAME = 29,
	BPF_CGROUP_INET6_GETPEERNAME = 30,
	BPF_CGROUP_INET4_GETSOCKNAME = 31,
	BPF_CGROUP_INET6_GETSOCKNAME = 32,
	BPF_XDP_DEVMAP = 33,
	BPF_CGROUP_INET_SOCK_RELEASE = 34,
	BPF_XDP_CPUMAP = 35,
	BPF_SK_LOOKUP = 36,
	BPF_XDP = 37,
	BPF_SK_SKB_VERDICT = 38,		 /* 5.13 */
	BPF_SK_REUSEPORT_SELECT = 39,		 /* 5.14 */
	BPF_SK_REUSEPORT_SELECT_OR_MIGRATE = 40, /* 5.14 */
	BPF_PERF_EVENT = 41,			 /* 5.15 */
	BPF_TRACE_KPROBE_MULTI = 42,		 /* 5.18 */
	BPF_LSM_CGROUP = 43,			 /* 6.0 */
	BPF_STRUCT_OPS = 44,			 /* 6.4 */
	BPF_NETFILTER = 45,			 /* 6.4 */
	BPF_TCX_INGRESS = 46,			 /* 6.6 */
	BPF_TCX_EGRESS = 47,			 /* 6.6 */
	BPF_TRACE_UPROBE_MULTI = 48,		 /* 6.6 */
	BPF_CGROUP_UNIX_CONNECT = 49,		 /* 6.7 */
	BPF_CGROUP_UNIX_SENDMSG = 50,		 /* 6.7 */
	BPF_CGROUP_UNIX_RECVMSG = 51,		 /* 6.7 */
	BPF_CGROUP_UNIX_GETPEERNAME = 52,	 /* 6.7 */
	BPF_CGROUP_UNIX_GETSOCKNAME = 53,	 /* 6.7 */
	BPF_NETKIT_PRIMARY = 54,		 /* 6.7 */
	BPF_NETKIT_PEER = 55,			 /* 6.7 */
	BPF_TRACE_KPROBE_SESSION = 56,		 /* 6.10 */
	BPF_TRACE_UPROBE_SESSION = 57,		 /* 6.13 */
	BPF_TRACE_FSESSION = 58,		 /* 7.0 */
};
#define __MAX_BPF_ATTACH_TYPE 59

enum bpf_link_type {
	BPF_LINK_TYPE_UNSPEC = 0,
	BPF_LINK_TYPE_RAW_TRACEPOINT = 1,
	BPF_LINK_TYPE_TRACING = 2,
	BPF_LINK_TYPE_CGROUP = 3,
	BPF_LINK_TYPE_ITER = 4,
	BPF_LINK_TYPE_NETNS = 5,
	BPF_LINK_TYPE_XDP = 6,
	BPF_LINK_TYPE_PERF_EVENT = 7,	 /* 5.15 */
	BPF_LINK_TYPE_KPROBE_MULTI = 8,	 /* 5.18 */
	BPF_LINK_TYPE_STRUCT_OPS = 9,	 /* 5.19 */
	BPF_LINK_TYPE_NETFILTER = 10,	 /* 6.4 */
	BPF_LINK_TYPE_TCX = 11,		 /* 6.6 */
	BPF_LINK_TYPE_UPROBE_MULTI = 12, /* 6.6 */
	BPF_LINK_TYPE_NETKIT = 13,	 /* 6.7 */
	BPF_LINK_TYPE_SOCKMAP = 14,	 /* 6.10 */
};

/* 6.6: the type of a link on a perf event */
enum bpf_perf_event_type {
	BPF_PERF_EVENT_UNSPEC = 0,
	BPF_PERF_EVENT_UPROBE = 1,
	BPF_PERF_EVENT_URETPROBE = 2,
	BPF_PERF_EVENT_KPROBE = 3,
	BPF_PERF_EVENT_KRETPROBE = 4,
	BPF_PERF_EVENT_TRACEPOINT = 5,
	BPF_PERF_EVENT_EVENT = 6,
};

enum bpf_stats_type {
	BPF_STATS_RUN_TIME = 0,
};

/* ---- flags ---- */

enum {
	BPF_ANY = 0,
	BPF_NOEXIST = 1,
	BPF_EXIST = 2,
	BPF_F_LOCK = 4,
};

/* map_flags */
enum {
	BPF_F_NO_PREALLOC = 1U << 0,
	BPF_F_NO_COMMON_LRU = 1U << 1,
	BPF_F_NUMA_NODE = 1U << 2,
	BPF_F_RDONLY = 1U << 3,
	BPF_F_WRONLY = 1U << 4,
	BPF_F_STACK_BUILD_ID = 1U << 5,
	BPF_F_ZERO_SEED = 1U << 6,
	BPF_F_RDONLY_PROG = 1U << 7,
	BPF_F_WRONLY_PROG = 1U << 8,
	BPF_F_CLONE = 1U << 9,
	BPF_F_MMAPABLE = 1U << 10,
	BPF_F_PRESERVE_ELEMS = 1U << 11,
	BPF_F_INNER_MAP = 1U << 12,
	BPF_F_LINK = 1U << 13,		   /* 6.4; attach_flags too */
	BPF_F_PATH_FD = 1U << 14,	   /* 6.5 */
	BPF_F_VTYPE_BTF_OBJ_FD = 1U << 15, /* 6.9 */
	BPF_F_TOKEN_FD = 1U << 16,	   /* 6.9; prog_flags and btf_flags too */
};

/* prog_flags */
#define BPF_F_SLEEPABLE		 (1U << 4)
#define BPF_F_XDP_HAS_FRAGS	 (1U << 5) /* 5.18 */
#define BPF_F_XDP_DEV_BOUND_ONLY (1U << 6) /* 6.3 */

/* attach_flags and link_create.flags */
#define BPF_F_ALLOW_OVERRIDE (1U << 0)
#define BPF_F_ALLOW_MULTI    (1U << 1)
#define BPF_F_REPLACE	     (1U << 2)
#define BPF_F_BEFORE	     (1U << 3) /* 6.6 */
#define BPF_F_AFTER	     (1U << 4) /* 6.6 */
#define BPF_F_ID	     (1U << 5) /* 6.6 */

#define BPF_F_KPROBE_MULTI_RETURN (1U << 0) /* 5.18, link_create.kprobe_multi.flags */
#define BPF_F_UPROBE_MULTI_RETURN (1U << 0) /* 6.6, link_create.uprobe_multi.flags */
#define BPF_F_NETFILTER_IP_DEFRAG (1U << 0) /* 6.6, link_create.netfilter.flags */

/* of helpers */
#define BPF_F_USER_STACK  (1ULL << 8)
#define BPF_F_INDEX_MASK  0xffffffffULL
#define BPF_F_CURRENT_CPU BPF_F_INDEX_MASK

/* ring buffers */
#define BPF_RB_NO_WAKEUP	(1ULL << 0)
#define BPF_RB_FORCE_WAKEUP	(1ULL << 1)
#define BPF_RINGBUF_BUSY_BIT	(1U << 31)
#define BPF_RINGBUF_DISCARD_BIT (1U << 30)
#define BPF_RINGBUF_HDR_SZ	8

/* ---- instructions; the classic ones are in <linux/bpf_common.h> ---- */

#define BPF_JMP32 0x06 /* class */
#define BPF_ALU64 0x07 /* class */

#define BPF_DW	   0x18 /* size */
#define BPF_MEMSX  0x80 /* mode, 6.6 */
#define BPF_ATOMIC 0xc0 /* mode, 5.12 */
#define BPF_XADD   0xc0 /* the same before it */

#define BPF_MOV	  0xb0 /* operations of BPF_ALU and BPF_ALU64 */
#define BPF_ARSH  0xc0
#define BPF_END	  0xd0
#define BPF_TO_LE 0x00
#define BPF_TO_BE 0x08

#define BPF_JNE	  0x50 /* operations of BPF_JMP and BPF_JMP32 */
#define BPF_JSGT  0x60
#define BPF_JSGE  0x70
#define BPF_CALL  0x80
#define BPF_EXIT  0x90
#define BPF_JLT	  0xa0
#define BPF_JLE	  0xb0
#define BPF_JSLT  0xc0
#define BPF_JSLE  0xd0
#define BPF_JCOND 0xe0 /* 6.9 */

/* imm of BPF_ATOMIC: BPF_ADD, BPF_OR, BPF_AND, BPF_XOR, or these */
#define BPF_FETCH     0x01 /* 5.12 */
#define BPF_XCHG      (0xe0 | BPF_FETCH)
#define BPF_CMPXCHG   (0xf0 | BPF_FETCH)
#define BPF_LOAD_ACQ  0x100 /* 6.15 */
#define BPF_STORE_REL 0x110 /* 6.15 */

/* src_reg of a load of 64 bits, and of a call */
#define BPF_PSEUDO_MAP_FD	 1
#define BPF_PSEUDO_MAP_VALUE	 2
#define BPF_PSEUDO_BTF_ID	 3
#define BPF_PSEUDO_FUNC		 4 /* 5.13 */
#define BPF_PSEUDO_MAP_IDX	 5 /* 5.14 */
#define BPF_PSEUDO_MAP_IDX_VALUE 6 /* 5.14 */
#define BPF_PSEUDO_CALL		 1
#define BPF_PSEUDO_KFUNC_CALL	 2 /* 5.13 */

enum {
	BPF_REG_0,
	BPF_REG_1,
	BPF_REG_2,
	BPF_REG_3,
	BPF_REG_4,
	BPF_REG_5,
	BPF_REG_6,
	BPF_REG_7,
	BPF_REG_8,
	BPF_REG_9,
	BPF_REG_10,
};
#define MAX_BPF_REG 11

struct bpf_insn {
	__u8 code;
	__u8 dst_reg : 4;
	__u8 src_reg : 4;
	__s16 off;
	__s32 imm;
};

struct bpf_func_info {
	__u32 insn_off;
	__u32 type_id;
};

struct bpf_line_info {
	__u32 insn_off;
	__u32 file_name_off;
	__u32 line_off;
	__u32 line_col;
};
#define BPF_LINE_INFO_LINE_NUM(line_col) ((line_col) >> 10)
#define BPF_LINE_INFO_LINE_COL(line_col) ((line_col)&0x3ff)

/* ---- helpers ---- */

/* By number, from 1 on. */
/* clang-format off */
#define BPF_HELPERS(X)                                                                             \
	X(map_lookup_elem) X(map_update_elem) X(map_delete_elem) X(probe_read)                     \
	X(ktime_get_ns) X(trace_printk) X(get_prandom_u32) X(get_smp_processor_id)                 \
	X(skb_store_bytes) X(l3_csum_replace) X(l4_csum_replace) X(tail_call)                      \
	X(clone_redirect) X(get_current_pid_tgid) X(get_current_uid_gid)                           \
	X(get_current_comm) X(get_cgroup_classid) X(skb_vlan_push) X(skb_vlan_pop)                 \
	X(skb_get_tunnel_key) X(skb_set_tunnel_key) X(perf_event_read) X(redirect)                 \
	X(get_route_realm) X(perf_event_output) X(skb_load_bytes) X(get_stackid)                   \
	X(csum_diff) X(skb_get_tunnel_opt) X(skb_set_tunnel_opt) X(skb_change_proto)               \
	X(skb_change_type) X(skb_under_cgroup) X(get_hash_recalc) X(get_current_task)              \
	X(probe_write_user) X(current_task_under_cgroup) X(skb_change_tail)                        \
	X(skb_pull_data) X(csum_update) X(set_hash_invalid) X(get_numa_node_id)                    \
	X(skb_change_head) X(xdp_adjust_head) X(probe_read_str) X(get_socket_cookie)               \
	X(get_socket_uid) X(set_hash) X(setsockopt) X(skb_adjust_room) X(redirect_map)             \
	X(sk_redirect_map) X(sock_map_update) X(xdp_adjust_meta)                                   \
	X(perf_event_read_value) X(perf_prog_read_value) X(getsockopt)                             \
	X(override_return) X(sock_ops_cb_flags_set) X(msg_redirect_map)                            \
	X(msg_apply_bytes) X(msg_cork_bytes) X(msg_pull_data) X(bind) X(xdp_adjust_tail)           \
	X(skb_get_xfrm_state) X(get_stack) X(skb_load_bytes_relative) X(fib_lookup)                \
	X(sock_hash_update) X(msg_redirect_hash) X(sk_redirect_hash) X(lwt_push_encap)             \
	X(lwt_seg6_store_bytes) X(lwt_seg6_adjust_srh) X(lwt_seg6_action) X(rc_repeat)             \
	X(rc_keydown) X(skb_cgroup_id) X(get_current_cgroup_id) X(get_local_storage)               \
	X(sk_select_reuseport) X(skb_ancestor_cgroup_id) X(sk_lookup_tcp)                          \
	X(sk_lookup_udp) X(sk_release) X(map_push_elem) X(map_pop_elem) X(map_peek_elem)           \
	X(msg_push_data) X(msg_pop_data) X(rc_pointer_rel) X(spin_lock) X(spin_unlock)             \
	X(sk_fullsock) X(tcp_sock) X(skb_ecn_set_ce) X(get_listener_sock)                          \
	X(skc_lookup_tcp) X(tcp_check_syncookie) X(sysctl_get_name)                                \
	X(sysctl_get_current_value) X(sysctl_get_new_value) X(sysctl_set_new_value)                \
	X(strtol) X(strtoul) X(sk_storage_get) X(sk_storage_delete) X(send_signal)                 \
	X(tcp_gen_syncookie) X(skb_output) X(probe_read_user) X(probe_read_kernel)                 \
	X(probe_read_user_str) X(probe_read_kernel_str) X(tcp_send_ack)                            \
	X(send_signal_thread) X(jiffies64) X(read_branch_records)                                  \
	X(get_ns_current_pid_tgid) X(xdp_output) X(get_netns_cookie)                               \
	X(get_current_ancestor_cgroup_id) X(sk_assign) X(ktime_get_boot_ns)                        \
	X(seq_printf) X(seq_write) X(sk_cgroup_id) X(sk_ancestor_cgroup_id)                        \
	X(ringbuf_output) X(ringbuf_reserve) X(ringbuf_submit) X(ringbuf_discard)                  \
	X(ringbuf_query) X(csum_level) X(skc_to_tcp6_sock) X(skc_to_tcp_sock)                      \
	X(skc_to_tcp_timewait_sock) X(skc_to_tcp_request_sock) X(skc_to_udp6_sock)                 \
	X(get_task_stack) X(load_hdr_opt) X(store_hdr_opt) X(reserve_hdr_opt)                      \
	X(inode_storage_get) X(inode_storage_delete) X(d_path) X(copy_from_user)                   \
	X(snprintf_btf) X(seq_printf_btf) X(skb_cgroup_classid) X(redirect_neigh)                  \
	X(per_cpu_ptr) X(this_cpu_ptr) X(redirect_peer) X(task_storage_get)                        \
	X(task_storage_delete) X(get_current_task_btf) X(bprm_opts_set)                            \
	X(ktime_get_coarse_ns) X(ima_inode_hash) X(sock_from_file) X(check_mtu)                    \
	X(for_each_map_elem) X(snprintf) X(sys_bpf) X(btf_find_by_name_kind)                       \
	X(sys_close) X(timer_init) X(timer_set_callback) X(timer_start) X(timer_cancel)            \
	X(get_func_ip) X(get_attach_cookie) X(task_pt_regs) X(get_branch_snapshot)                 \
	X(trace_vprintk) X(skc_to_unix_sock) X(kallsyms_lookup_name) X(find_vma) X(loop)           \
	X(strncmp) X(get_func_arg) X(get_func_ret) X(get_func_arg_cnt) X(get_retval)               \
	X(set_retval) X(xdp_get_buff_len) X(xdp_load_bytes) X(xdp_store_bytes)                     \
	X(copy_from_user_task) X(skb_set_tstamp) X(ima_file_hash) X(kptr_xchg)                     \
	X(map_lookup_percpu_elem) X(skc_to_mptcp_sock) X(dynptr_from_mem)                          \
	X(ringbuf_reserve_dynptr) X(ringbuf_submit_dynptr) X(ringbuf_discard_dynptr)               \
	X(dynptr_read) X(dynptr_write) X(dynptr_data) X(tcp_raw_gen_syncookie_ipv4)                \
	X(tcp_raw_gen_syncookie_ipv6) X(tcp_raw_check_syncookie_ipv4)                              \
	X(tcp_raw_check_syncookie_ipv6) X(ktime_get_tai_ns) X(user_ringbuf_drain)                  \
	X(cgrp_storage_get) X(cgrp_storage_delete)
/* clang-format on */

#define BPF_HELPER_ID(name) BPF_FUNC_##name,
enum bpf_func_id {
	BPF_FUNC_unspec,
	BPF_HELPERS(BPF_HELPER_ID) __BPF_FUNC_MAX_ID,
};
#undef BPF_HELPER_ID

struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};

/* ---- BPF_OBJ_GET_INFO_BY_FD ---- */

#define BPF_TAG_SIZE	 8
#define BPF_OBJ_NAME_LEN 16U

struct bpf_prog_info {
	__u32 type;
	__u32 id;
	__u8 tag[BPF_TAG_SIZE];
	__u32 jited_prog_len;
	__u32 xlated_prog_len;
	__aligned_u64 jited_prog_insns;
	__aligned_u64 xlated_prog_insns;
	__u64 load_time;
	__u32 created_by_uid;
	__u32 nr_map_ids;
	__aligned_u64 map_ids;
	char name[BPF_OBJ_NAME_LEN];
	__u32 ifindex;
	__u32 gpl_compatible : 1;
	__u32 : 31;
	__u64 netns_dev;
	__u64 netns_ino;
	__u32 nr_jited_ksyms;
	__u32 nr_jited_func_lens;
	__aligned_u64 jited_ksyms;
	__aligned_u64 jited_func_lens;
	__u32 btf_id;
	__u32 func_info_rec_size;
	__aligned_u64 func_info;
	__u32 nr_func_info;
	__u32 nr_line_info;
	__aligned_u64 line_info;
	__aligned_u64 jited_line_info;
	__u32 nr_jited_line_info;
	__u32 line_info_rec_size;
	__u32 jited_line_info_rec_size;
	__u32 nr_prog_tags;
	__aligned_u64 prog_tags;
	__u64 run_time_ns;
	__u64 run_cnt;
	__u64 recursion_misses;	 /* 5.12 */
	__u32 verified_insns;	 /* 5.16 */
	__u32 attach_btf_obj_id; /* 6.0 */
	__u32 attach_btf_id;	 /* 6.0 */
} __attribute__((aligned(8)));

struct bpf_map_info {
	__u32 type;
	__u32 id;
	__u32 key_size;
	__u32 value_size;
	__u32 max_entries;
	__u32 map_flags;
	char name[BPF_OBJ_NAME_LEN];
	__u32 ifindex;
	__u32 btf_vmlinux_value_type_id;
	__u64 netns_dev;
	__u64 netns_ino;
	__u32 btf_id;
	__u32 btf_key_type_id;
	__u32 btf_value_type_id;
	__u32 : 32;
	__u64 map_extra; /* 5.16 */
} __attribute__((aligned(8)));

struct bpf_btf_info {
	__aligned_u64 btf;
	__u32 btf_size;
	__u32 id;
	__aligned_u64 name; /* 5.11, and what follows */
	__u32 name_len;
	__u32 kernel_btf;
} __attribute__((aligned(8)));

struct bpf_link_info {
	__u32 type;
	__u32 id;
	__u32 prog_id;
	union {
		struct {
			__aligned_u64 tp_name;
			__u32 tp_name_len;
		} raw_tracepoint;
		struct {
			__u32 attach_type;
			__u32 target_obj_id; /* 5.13 */
			__u32 target_btf_id; /* 5.13 */
		} tracing;
		struct {
			__u64 cgroup_id;
			__u32 attach_type;
		} cgroup;
		struct {
			__aligned_u64 target_name;
			__u32 target_name_len;
			union {
				struct {
					__u32 map_id;
				} map;
			};
			union { /* 6.1 */
				struct {
					__u64 cgroup_id;
					__u32 order;
				} cgroup;
				struct {
					__u32 tid;
					__u32 pid;
				} task;
			};
		} iter;
		struct {
			__u32 netns_ino;
			__u32 attach_type;
		} netns;
		struct {
			__u32 ifindex;
		} xdp;
	};
} __attribute__((aligned(8)));

/* The key of a map of type BPF_MAP_TYPE_CGROUP_STORAGE. */
struct bpf_cgroup_storage_key {
	__u64 cgroup_inode_id;
	__u32 attach_type;
};

/* ---- what BPF_LINK_CREATE takes for an iterator ---- */

union bpf_iter_link_info {
	struct {
		__u32 map_fd;
	} map;
	struct {
		__u32 order;
		__u32 cgroup_fd;
		__u64 cgroup_id;
	} cgroup; /* 6.1 */
	struct {
		__u32 tid;
		__u32 pid;
		__u32 pid_fd;
	} task; /* 6.1 */
};

/* ---- the argument of bpf(2), where it is not written in our own words ---- */

union bpf_attr {
	struct { /* BPF_MAP_*_ELEM, BPF_MAP_FREEZE */
		__u32 map_fd;
		__aligned_u64 key;
		union {
			__aligned_u64 value;
			__aligned_u64 next_key;
		};
		__u64 flags;
	};
	struct { /* BPF_MAP_*_BATCH */
		__aligned_u64 in_batch;
		__aligned_u64 out_batch;
		__aligned_u64 keys;
		__aligned_u64 values;
		__u32 count;
		__u32 map_fd;
		__u64 elem_flags;
		__u64 flags;
	} batch;
	struct { /* BPF_OBJ_GET_INFO_BY_FD */
		__u32 bpf_fd;
		__u32 info_len;
		__aligned_u64 info;
	} info;
	struct { /* BPF_TASK_FD_QUERY */
		__u32 pid;
		__u32 fd;
		__u32 flags;
		__u32 buf_len; /* in and out */
		__aligned_u64 buf;
		__u32 prog_id; /* this and what follows: out */
		__u32 fd_type;
		__u64 probe_offset;
		__u64 probe_addr;
	} task_fd_query;
} __attribute__((aligned(8)));

#endif
