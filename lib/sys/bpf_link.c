// SPDX-License-Identifier: BSD-2-Clause
/* bpf(2)'s commands for links: <bpf/bpf.h>. */
#include "lib/sys/bpf_call.h"

/* What follows the four common words of BPF_LINK_CREATE. */
struct link_create_attr {
	struct sys_link_create common;
	uint64_t room[2];
};

/* Attach types that kernels before 5.15 attach by BPF_RAW_TRACEPOINT_OPEN only. */
static bool is_tracing(enum bpf_attach_type type)
{
	return type == BPF_TRACE_RAW_TP || type == BPF_TRACE_FENTRY || type == BPF_TRACE_FEXIT ||
	       type == BPF_MODIFY_RETURN || type == BPF_LSM_MAC;
}

/* Where the program goes among those that are there; false: relative to two of them. */
static bool link_create_order(struct sys_link_create *attr, uint32_t fd, uint32_t id,
			      uint64_t revision)
{
	if (fd && id)
		return false;
	attr->ordered.relative = id ? id : fd;
	attr->ordered.expected_revision = revision;
	if (id)
		attr->flags |= BPF_F_ID;
	return true;
}

/* What the attach type has of its own; false: the options contradict each other. */
static bool link_create_kind(struct sys_link_create *attr, int attach_type,
			     const struct bpf_link_create_opts *opts)
{
	switch (attach_type) {
	case BPF_PERF_EVENT:
		attr->perf_event.bpf_cookie = OPTS_GET(opts, perf_event.bpf_cookie, 0);
		return true;
	case BPF_TRACE_KPROBE_MULTI:
	case BPF_TRACE_KPROBE_SESSION:
		attr->kprobe_multi.flags = OPTS_GET(opts, kprobe_multi.flags, 0);
		attr->kprobe_multi.cnt = OPTS_GET(opts, kprobe_multi.cnt, 0);
		attr->kprobe_multi.syms = ptr_to_u64(OPTS_GET(opts, kprobe_multi.syms, NULL));
		attr->kprobe_multi.addrs = ptr_to_u64(OPTS_GET(opts, kprobe_multi.addrs, NULL));
		attr->kprobe_multi.cookies = ptr_to_u64(OPTS_GET(opts, kprobe_multi.cookies, NULL));
		return true;
	case BPF_TRACE_UPROBE_MULTI:
	case BPF_TRACE_UPROBE_SESSION:
		attr->uprobe_multi.flags = OPTS_GET(opts, uprobe_multi.flags, 0);
		attr->uprobe_multi.cnt = OPTS_GET(opts, uprobe_multi.cnt, 0);
		attr->uprobe_multi.path = ptr_to_u64(OPTS_GET(opts, uprobe_multi.path, NULL));
		attr->uprobe_multi.offsets = ptr_to_u64(OPTS_GET(opts, uprobe_multi.offsets, NULL));
		attr->uprobe_multi.ref_ctr_offsets =
			ptr_to_u64(OPTS_GET(opts, uprobe_multi.ref_ctr_offsets, NULL));
		attr->uprobe_multi.cookies = ptr_to_u64(OPTS_GET(opts, uprobe_multi.cookies, NULL));
		attr->uprobe_multi.pid = OPTS_GET(opts, uprobe_multi.pid, 0);
		return true;
	case BPF_TRACE_RAW_TP:
	case BPF_TRACE_FENTRY:
	case BPF_TRACE_FEXIT:
	case BPF_TRACE_FSESSION:
	case BPF_MODIFY_RETURN:
	case BPF_LSM_MAC:
		attr->tracing.cookie = OPTS_GET(opts, tracing.cookie, 0);
		return true;
	case BPF_NETFILTER:
		attr->netfilter.pf = OPTS_GET(opts, netfilter.pf, 0);
		attr->netfilter.hooknum = OPTS_GET(opts, netfilter.hooknum, 0);
		attr->netfilter.priority = OPTS_GET(opts, netfilter.priority, 0);
		attr->netfilter.flags = OPTS_GET(opts, netfilter.flags, 0);
		return true;
	case BPF_TCX_INGRESS:
	case BPF_TCX_EGRESS:
	case BPF_NETKIT_PRIMARY:
	case BPF_NETKIT_PEER:
	case BPF_CGROUP_INET_INGRESS:
	case BPF_CGROUP_INET_EGRESS:
	case BPF_CGROUP_INET_SOCK_CREATE:
	case BPF_CGROUP_INET_SOCK_RELEASE:
	case BPF_CGROUP_INET4_BIND:
	case BPF_CGROUP_INET6_BIND:
	case BPF_CGROUP_INET4_POST_BIND:
	case BPF_CGROUP_INET6_POST_BIND:
	case BPF_CGROUP_INET4_CONNECT:
	case BPF_CGROUP_INET6_CONNECT:
	case BPF_CGROUP_UNIX_CONNECT:
	case BPF_CGROUP_INET4_GETPEERNAME:
	case BPF_CGROUP_INET6_GETPEERNAME:
	case BPF_CGROUP_UNIX_GETPEERNAME:
	case BPF_CGROUP_INET4_GETSOCKNAME:
	case BPF_CGROUP_INET6_GETSOCKNAME:
	case BPF_CGROUP_UNIX_GETSOCKNAME:
	case BPF_CGROUP_UDP4_SENDMSG:
	case BPF_CGROUP_UDP6_SENDMSG:
	case BPF_CGROUP_UNIX_SENDMSG:
	case BPF_CGROUP_UDP4_RECVMSG:
	case BPF_CGROUP_UDP6_RECVMSG:
	case BPF_CGROUP_UNIX_RECVMSG:
	case BPF_CGROUP_SOCK_OPS:
	case BPF_CGROUP_DEVICE:
	case BPF_CGROUP_SYSCTL:
	case BPF_CGROUP_GETSOCKOPT:
	case BPF_CGROUP_SETSOCKOPT:
	case BPF_LSM_CGROUP:
		/* tcx, netkit and cgroup are laid out alike, here and in the kernel. */
		return link_create_order(attr, OPTS_GET(opts, tcx.relative_fd, 0),
					 OPTS_GET(opts, tcx.relative_id, 0),
					 OPTS_GET(opts, tcx.expected_revision, 0));
	default:
		return true;
	}
}

int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type attach_type,
		    const struct bpf_link_create_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_link_create_opts);

	if (err)
		return edge_int(err);

	struct link_create_attr attr = {
		.common =
			{
				.prog_fd = (uint32_t)prog_fd,
				.target_fd = (uint32_t)target_fd,
				.attach_type = attach_type,
				.flags = OPTS_GET(opts, flags, 0),
			},
	};
	const __u32 target_btf_id = OPTS_GET(opts, target_btf_id, 0);
	const __u32 iter_info_len = OPTS_GET(opts, iter_info_len, 0);

	if (target_btf_id && iter_info_len)
		return edge_errno(EINVAL);
	if (iter_info_len || OPTS_GET(opts, iter_info, NULL)) {
		attr.common.iter.info = ptr_to_u64(OPTS_GET(opts, iter_info, NULL));
		attr.common.iter.info_len = iter_info_len;
	} else if (target_btf_id) {
		attr.common.tracing.target_btf_id = target_btf_id;
	} else if (!link_create_kind(&attr.common, attach_type, opts)) {
		return edge_errno(EINVAL);
	}

	int fd = sys_bpf_fd(BPF_LINK_CREATE, &attr, sizeof(attr));
	if (fd == -EINVAL && is_tracing(attach_type) && !target_fd && !target_btf_id &&
	    !attr.common.flags && !attr.common.tracing.cookie)
		return bpf_raw_tracepoint_open(NULL, prog_fd);
	return give(fd);
}

int bpf_link_detach(int link_fd)
{
	uint32_t attr = (uint32_t)link_fd;

	return give(sys_bpf(BPF_LINK_DETACH, &attr, sizeof(attr)));
}

int bpf_link_update(int link_fd, int new_prog_fd, const struct bpf_link_update_opts *opts)
{
	struct error *err = OPTS_CHECK(opts, bpf_link_update_opts);

	if (err)
		return edge_int(err);

	const __u32 old_prog_fd = OPTS_GET(opts, old_prog_fd, 0);
	const __u32 old_map_fd = OPTS_GET(opts, old_map_fd, 0);
	if (old_prog_fd && old_map_fd)
		return edge_errno(EINVAL);
	uint32_t attr[] = {
		(uint32_t)link_fd,
		(uint32_t)new_prog_fd,
		OPTS_GET(opts, flags, 0),
		old_prog_fd ? old_prog_fd : old_map_fd,
	};
	return give(sys_bpf(BPF_LINK_UPDATE, attr, sizeof(attr)));
}

int bpf_iter_create(int link_fd)
{
	uint32_t attr[] = {(uint32_t)link_fd, 0};

	return give(sys_bpf_fd(BPF_ITER_CREATE, attr, sizeof(attr)));
}
