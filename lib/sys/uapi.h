/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constants of the kernel's interface that are newer than the oldest headers
 * this builds with (Ubuntu 22.04's, of 5.15), each with the kernel that
 * brought it. Include it in place of <linux/bpf.h>, <linux/btf.h> and
 * <linux/perf_event.h>: those come first, so that a macro of the same name as
 * an enumerator of newer headers has the same value and does no harm.
 *
 * A name that is here says nothing about the running kernel: see features.h.
 */
#ifndef PB_SYS_UAPI_H
#define PB_SYS_UAPI_H

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdint.h>

/* ---- perf_event.h ---- */

#define PERF_FORMAT_LOST	       (1U << 4)		  /* 6.0 */
#define PERF_SAMPLE_BRANCH_PRIV_SAVE   (1U << 18)		  /* 6.1 */
#define PERF_SAMPLE_BRANCH_COUNTERS    (1U << 19)		  /* 6.8 */
#define PERF_RECORD_AUX_OUTPUT_HW_ID   21			  /* 5.16 */
#define PERF_RECORD_CALLCHAIN_DEFERRED 22			  /* 6.19 */
#define PERF_CONTEXT_USER_DEFERRED     ((unsigned long long)-640) /* 6.19 */

/* ---- bpf.h: commands ---- */

#define BPF_TOKEN_CREATE	   36 /* 6.9 */
#define BPF_PROG_STREAM_READ_BY_FD 37 /* 6.17 */
#define BPF_PROG_ASSOC_STRUCT_OPS  38 /* 6.19 */

/* ---- bpf.h: program types ---- */

#define BPF_PROG_TYPE_NETFILTER 32 /* 6.4 */

/* ---- bpf.h: map types ---- */

#define BPF_MAP_TYPE_BLOOM_FILTER 30 /* 5.16 */
#define BPF_MAP_TYPE_USER_RINGBUF 31 /* 6.1 */
#define BPF_MAP_TYPE_CGRP_STORAGE 32 /* 6.2 */
#define BPF_MAP_TYPE_ARENA	  33 /* 6.9 */
#define BPF_MAP_TYPE_INSN_ARRAY	  34 /* 6.19 */

/* ---- bpf.h: attach types ---- */

#define BPF_TRACE_KPROBE_MULTI	    42 /* 5.18 */
#define BPF_LSM_CGROUP		    43 /* 6.0 */
#define BPF_STRUCT_OPS		    44 /* 6.4 */
#define BPF_NETFILTER		    45 /* 6.4 */
#define BPF_TCX_INGRESS		    46 /* 6.6 */
#define BPF_TCX_EGRESS		    47 /* 6.6 */
#define BPF_TRACE_UPROBE_MULTI	    48 /* 6.6 */
#define BPF_CGROUP_UNIX_CONNECT	    49 /* 6.7 */
#define BPF_CGROUP_UNIX_SENDMSG	    50 /* 6.7 */
#define BPF_CGROUP_UNIX_RECVMSG	    51 /* 6.7 */
#define BPF_CGROUP_UNIX_GETPEERNAME 52 /* 6.7 */
#define BPF_CGROUP_UNIX_GETSOCKNAME 53 /* 6.7 */
#define BPF_NETKIT_PRIMARY	    54 /* 6.7 */
#define BPF_NETKIT_PEER		    55 /* 6.7 */
#define BPF_TRACE_KPROBE_SESSION    56 /* 6.10 */
#define BPF_TRACE_UPROBE_SESSION    57 /* 6.13 */
#define BPF_TRACE_FSESSION	    58 /* 7.0 */

/* ---- bpf.h: link types ---- */

#define BPF_LINK_TYPE_KPROBE_MULTI 8  /* 5.18 */
#define BPF_LINK_TYPE_STRUCT_OPS   9  /* 5.19 */
#define BPF_LINK_TYPE_NETFILTER	   10 /* 6.4 */
#define BPF_LINK_TYPE_TCX	   11 /* 6.6 */
#define BPF_LINK_TYPE_UPROBE_MULTI 12 /* 6.6 */
#define BPF_LINK_TYPE_NETKIT	   13 /* 6.7 */
#define BPF_LINK_TYPE_SOCKMAP	   14 /* 6.10 */

/* ---- bpf.h: flags ---- */

#define BPF_F_ID		  (1U << 5)  /* 6.6, attach_flags and link_create.flags */
#define BPF_F_LINK		  (1U << 13) /* 6.4, map_flags of struct_ops */
#define BPF_F_VTYPE_BTF_OBJ_FD	  (1U << 15) /* 6.9, map_flags */
#define BPF_F_TOKEN_FD		  (1U << 16) /* 6.9, map_flags, prog_flags, btf_flags */
#define BPF_F_XDP_HAS_FRAGS	  (1U << 5)  /* 5.18, prog_flags */
#define BPF_F_XDP_DEV_BOUND_ONLY  (1U << 6)  /* 6.3, prog_flags */
#define BPF_F_KPROBE_MULTI_RETURN (1U << 0)  /* 5.18, link_create.kprobe_multi.flags */
#define BPF_F_UPROBE_MULTI_RETURN (1U << 0)  /* 6.6, link_create.uprobe_multi.flags */

/* ---- btf.h: kinds ---- */

#define BTF_KIND_DECL_TAG 17 /* 5.16 */
#define BTF_KIND_TYPE_TAG 18 /* 5.17 */
#define BTF_KIND_ENUM64	  19 /* 6.0 */

/*
 * The member of BPF_LINK_CREATE's bpf_attr for each way of attaching, from
 * byte 16 on: <linux/bpf.h> of 5.15 ends at perf_event.
 */
struct sys_link_create {
	uint32_t prog_fd;
	uint32_t target_fd;
	uint32_t attach_type;
	uint32_t flags;
	union {
		struct { /* 5.15 */
			uint64_t bpf_cookie;
		} perf_event;
		struct { /* 5.18 */
			uint32_t flags;
			uint32_t cnt;
			uint64_t syms;
			uint64_t addrs;
			uint64_t cookies;
		} kprobe_multi;
		struct {	       /* 5.9 */
			uint64_t info; /* union bpf_iter_link_info */
			uint32_t info_len;
		} iter;
		struct { /* 6.4 */
			uint32_t pf;
			uint32_t hooknum;
			int32_t priority;
			uint32_t flags;
		} netfilter;
		struct {		   /* tcx 6.6, netkit 6.7, cgroup 6.17 */
			uint32_t relative; /* a descriptor; with BPF_F_ID an id */
			uint32_t pad;
			uint64_t expected_revision;
		} ordered;
		struct { /* target_btf_id 5.10, cookie 5.19 */
			uint32_t target_btf_id;
			uint32_t pad;
			uint64_t cookie;
		} tracing;
		struct { /* 6.6 */
			uint64_t path;
			uint64_t offsets;
			uint64_t ref_ctr_offsets;
			uint64_t cookies;
			uint32_t cnt;
			uint32_t flags;
			uint32_t pid;
		} uprobe_multi;
	};
};

/*
 * struct bpf_link_info as far as it tells of hits that were left out, which it
 * does since 6.7. The kernel fills in what it knows of it.
 */
struct sys_link_info {
	uint32_t type;
	uint32_t id;
	uint32_t prog_id;
	uint32_t pad;
	union {
		struct {
			uint64_t addrs;
			uint32_t count;
			uint32_t flags;
			uint64_t missed;
		} kprobe_multi;
		struct {
			uint32_t type; /* SYS_PERF_LINK_… */
			uint32_t pad;
			uint64_t func_name;
			uint32_t name_len;
			uint32_t offset;
			uint64_t addr;
			uint64_t missed;
		} perf_event; /* of a kprobe */
		uint64_t room[8];
	};
};

#define SYS_PERF_LINK_KPROBE	3 /* 6.6: enum bpf_perf_event_type */
#define SYS_PERF_LINK_KRETPROBE 4

#endif
