/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Includes the system's <linux/bpf.h> and defines names of newer kernels that it
 * does not have, so that programs built with older headers (5.10 or later) can
 * use them. The version in <linux/version.h>, which is installed with
 * <linux/bpf.h>, determines which names are defined here: with new headers, none.
 * This file includes <linux/bpf.h> first, so programs can include it before or
 * after this file.
 *
 * Enumerators of newer kernels are macros here. They have the type of the
 * enumeration and the value of the kernel's enumerator. If the system's headers
 * have an enumerator that their version does not have (backports), there is no
 * conflict: the value is the same.
 *
 * A program with its own <linux/bpf.h> defines PERF_BPF_OWN_UAPI.
 *
 * A definition here does not mean that the running kernel supports it.
 */
#ifndef PERF_BPF_UAPI_H
#define PERF_BPF_UAPI_H

#include <linux/bpf.h>
#include <linux/version.h>

#ifndef PERF_BPF_OWN_UAPI

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 11, 0)
#define BPF_MAP_TYPE_TASK_STORAGE ((enum bpf_map_type)29)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 12, 0)
#ifndef BPF_ATOMIC
#define BPF_ATOMIC 0xc0
#endif
#ifndef BPF_FETCH
#define BPF_FETCH 0x01
#endif
#ifndef BPF_XCHG
#define BPF_XCHG (0xe0 | BPF_FETCH)
#endif
#ifndef BPF_CMPXCHG
#define BPF_CMPXCHG (0xf0 | BPF_FETCH)
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 13, 0)
#define BPF_SK_SKB_VERDICT ((enum bpf_attach_type)38)
#ifndef BPF_PSEUDO_FUNC
#define BPF_PSEUDO_FUNC 4
#endif
#ifndef BPF_PSEUDO_KFUNC_CALL
#define BPF_PSEUDO_KFUNC_CALL 2
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
#define BPF_PROG_RUN			   ((enum bpf_cmd)10)
#define BPF_PROG_TYPE_SYSCALL		   ((enum bpf_prog_type)31)
#define BPF_SK_REUSEPORT_SELECT		   ((enum bpf_attach_type)39)
#define BPF_SK_REUSEPORT_SELECT_OR_MIGRATE ((enum bpf_attach_type)40)
#ifndef BPF_PSEUDO_MAP_IDX
#define BPF_PSEUDO_MAP_IDX 5
#endif
#ifndef BPF_PSEUDO_MAP_IDX_VALUE
#define BPF_PSEUDO_MAP_IDX_VALUE 6
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
#define BPF_PERF_EVENT		 ((enum bpf_attach_type)41)
#define BPF_LINK_TYPE_PERF_EVENT ((enum bpf_link_type)7)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
#define BPF_MAP_TYPE_BLOOM_FILTER ((enum bpf_map_type)30)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 18, 0)
#define BPF_TRACE_KPROBE_MULTI	   ((enum bpf_attach_type)42)
#define BPF_LINK_TYPE_KPROBE_MULTI ((enum bpf_link_type)8)
#ifndef BPF_F_XDP_HAS_FRAGS
#define BPF_F_XDP_HAS_FRAGS (1U << 5)
#endif
#ifndef BPF_F_TEST_XDP_LIVE_FRAMES
#define BPF_F_TEST_XDP_LIVE_FRAMES (1U << 1)
#endif
#ifndef BPF_F_KPROBE_MULTI_RETURN
#define BPF_F_KPROBE_MULTI_RETURN (1U << 0)
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 19, 0)
#define BPF_LINK_TYPE_STRUCT_OPS ((enum bpf_link_type)9)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
#define BPF_LSM_CGROUP ((enum bpf_attach_type)43)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 1, 0)
#define BPF_MAP_TYPE_USER_RINGBUF ((enum bpf_map_type)31)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define BPF_MAP_TYPE_CGRP_STORAGE ((enum bpf_map_type)32)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
#ifndef BPF_F_XDP_DEV_BOUND_ONLY
#define BPF_F_XDP_DEV_BOUND_ONLY (1U << 6)
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define BPF_PROG_TYPE_NETFILTER ((enum bpf_prog_type)32)
#define BPF_STRUCT_OPS		((enum bpf_attach_type)44)
#define BPF_NETFILTER		((enum bpf_attach_type)45)
#define BPF_LINK_TYPE_NETFILTER ((enum bpf_link_type)10)
#ifndef BPF_F_LINK
#define BPF_F_LINK (1U << 13)
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#ifndef BPF_F_PATH_FD
#define BPF_F_PATH_FD (1U << 14)
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 6, 0)
#define BPF_TCX_INGRESS		   ((enum bpf_attach_type)46)
#define BPF_TCX_EGRESS		   ((enum bpf_attach_type)47)
#define BPF_TRACE_UPROBE_MULTI	   ((enum bpf_attach_type)48)
#define BPF_LINK_TYPE_TCX	   ((enum bpf_link_type)11)
#define BPF_LINK_TYPE_UPROBE_MULTI ((enum bpf_link_type)12)
#ifndef BPF_F_BEFORE
#define BPF_F_BEFORE (1U << 3)
#endif
#ifndef BPF_F_AFTER
#define BPF_F_AFTER (1U << 4)
#endif
#ifndef BPF_F_ID
#define BPF_F_ID (1U << 5)
#endif
#ifndef BPF_F_UPROBE_MULTI_RETURN
#define BPF_F_UPROBE_MULTI_RETURN (1U << 0)
#endif
#ifndef BPF_F_NETFILTER_IP_DEFRAG
#define BPF_F_NETFILTER_IP_DEFRAG (1U << 0)
#endif
#ifndef BPF_MEMSX
#define BPF_MEMSX 0x80
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
#define BPF_CGROUP_UNIX_CONNECT	    ((enum bpf_attach_type)49)
#define BPF_CGROUP_UNIX_SENDMSG	    ((enum bpf_attach_type)50)
#define BPF_CGROUP_UNIX_RECVMSG	    ((enum bpf_attach_type)51)
#define BPF_CGROUP_UNIX_GETPEERNAME ((enum bpf_attach_type)52)
#define BPF_CGROUP_UNIX_GETSOCKNAME ((enum bpf_attach_type)53)
#define BPF_NETKIT_PRIMARY	    ((enum bpf_attach_type)54)
#define BPF_NETKIT_PEER		    ((enum bpf_attach_type)55)
#define BPF_LINK_TYPE_NETKIT	    ((enum bpf_link_type)13)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 9, 0)
#define BPF_TOKEN_CREATE   ((enum bpf_cmd)36)
#define BPF_MAP_TYPE_ARENA ((enum bpf_map_type)33)
#ifndef BPF_F_VTYPE_BTF_OBJ_FD
#define BPF_F_VTYPE_BTF_OBJ_FD (1U << 15)
#endif
#ifndef BPF_F_TOKEN_FD
#define BPF_F_TOKEN_FD (1U << 16)
#endif
#ifndef BPF_JCOND
#define BPF_JCOND 0xe0
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0)
#define BPF_TRACE_KPROBE_SESSION ((enum bpf_attach_type)56)
#define BPF_LINK_TYPE_SOCKMAP	 ((enum bpf_link_type)14)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#define BPF_TRACE_UPROBE_SESSION ((enum bpf_attach_type)57)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#ifndef BPF_LOAD_ACQ
#define BPF_LOAD_ACQ 0x100
#endif
#ifndef BPF_STORE_REL
#define BPF_STORE_REL 0x110
#endif
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 17, 0)
#define BPF_PROG_STREAM_READ_BY_FD ((enum bpf_cmd)37)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 19, 0)
#define BPF_MAP_TYPE_INSN_ARRAY ((enum bpf_map_type)34)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define BPF_PROG_ASSOC_STRUCT_OPS ((enum bpf_cmd)38)
#define BPF_TRACE_FSESSION	  ((enum bpf_attach_type)58)
#endif

#endif /* PERF_BPF_OWN_UAPI */

#endif
