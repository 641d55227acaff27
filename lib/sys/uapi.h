/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's interface: the three headers of uapi/linux/, and of bpf(2) what
 * is written in our own words.
 *
 * A name that is here says nothing about the running kernel: see probe_features.h.
 */
#ifndef PB_SYS_UAPI_H
#define PB_SYS_UAPI_H

#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <stdint.h>

/*
 * BPF_LINK_CREATE's bpf_attr for each way of attaching, with the kernel that
 * brought it.
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
