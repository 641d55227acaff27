// SPDX-License-Identifier: BSD-2-Clause
/*
 * The names of the kernel's numbers, as bpftool and libbpf spell them: the
 * enumerator's own part in lower case. The numbers are the kernel's ABI
 * (include/uapi/linux/bpf.h), so a position in a table is one.
 */
#include "lib/object/open_object.h"

#include <stdio.h>
#include <string.h>

static const char *const prog_types[] = {
	"unspec",
	"socket_filter",
	"kprobe",
	"sched_cls",
	"sched_act",
	"tracepoint",
	"xdp",
	"perf_event",
	"cgroup_skb",
	"cgroup_sock",
	"lwt_in",
	"lwt_out",
	"lwt_xmit",
	"sock_ops",
	"sk_skb",
	"cgroup_device",
	"sk_msg",
	"raw_tracepoint",
	"cgroup_sock_addr",
	"lwt_seg6local",
	"lirc_mode2",
	"sk_reuseport",
	"flow_dissector",
	"cgroup_sysctl",
	"raw_tracepoint_writable",
	"cgroup_sockopt",
	"tracing",
	"struct_ops",
	"ext",
	"lsm",
	"sk_lookup",
	"syscall",
	"netfilter",
};

static const char *const map_types[] = {
	"unspec",
	"hash",
	"array",
	"prog_array",
	"perf_event_array",
	"percpu_hash",
	"percpu_array",
	"stack_trace",
	"cgroup_array",
	"lru_hash",
	"lru_percpu_hash",
	"lpm_trie",
	"array_of_maps",
	"hash_of_maps",
	"devmap",
	"sockmap",
	"cpumap",
	"xskmap",
	"sockhash",
	"cgroup_storage",
	"reuseport_sockarray",
	"percpu_cgroup_storage",
	"queue",
	"stack",
	"sk_storage",
	"devmap_hash",
	"struct_ops",
	"ringbuf",
	"inode_storage",
	"task_storage",
	"bloom_filter",
	"user_ringbuf",
	"cgrp_storage",
	"arena",
	"insn_array",
};

static const char *const link_types[] = {
	"unspec",	"raw_tracepoint", "tracing",	  "cgroup",	"iter",	     "netns",
	"xdp",		"perf_event",	  "kprobe_multi", "struct_ops", "netfilter", "tcx",
	"uprobe_multi", "netkit",	  "sockmap",
};

static const char *const attach_types[] = {
	"cgroup_inet_ingress",
	"cgroup_inet_egress",
	"cgroup_inet_sock_create",
	"cgroup_sock_ops",
	"sk_skb_stream_parser",
	"sk_skb_stream_verdict",
	"cgroup_device",
	"sk_msg_verdict",
	"cgroup_inet4_bind",
	"cgroup_inet6_bind",
	"cgroup_inet4_connect",
	"cgroup_inet6_connect",
	"cgroup_inet4_post_bind",
	"cgroup_inet6_post_bind",
	"cgroup_udp4_sendmsg",
	"cgroup_udp6_sendmsg",
	"lirc_mode2",
	"flow_dissector",
	"cgroup_sysctl",
	"cgroup_udp4_recvmsg",
	"cgroup_udp6_recvmsg",
	"cgroup_getsockopt",
	"cgroup_setsockopt",
	"trace_raw_tp",
	"trace_fentry",
	"trace_fexit",
	"modify_return",
	"lsm_mac",
	"trace_iter",
	"cgroup_inet4_getpeername",
	"cgroup_inet6_getpeername",
	"cgroup_inet4_getsockname",
	"cgroup_inet6_getsockname",
	"xdp_devmap",
	"cgroup_inet_sock_release",
	"xdp_cpumap",
	"sk_lookup",
	"xdp",
	"sk_skb_verdict",
	"sk_reuseport_select",
	"sk_reuseport_select_or_migrate",
	"perf_event",
	"trace_kprobe_multi",
	"lsm_cgroup",
	"struct_ops",
	"netfilter",
	"tcx_ingress",
	"tcx_egress",
	"trace_uprobe_multi",
	"cgroup_unix_connect",
	"cgroup_unix_sendmsg",
	"cgroup_unix_recvmsg",
	"cgroup_unix_getpeername",
	"cgroup_unix_getsockname",
	"netkit_primary",
	"netkit_peer",
	"trace_kprobe_session",
	"trace_uprobe_session",
	"trace_fsession",
};

#define NAME_IN(table, n) ((size_t)(n) < ARRAY_SIZE(table) ? (table)[n] : NULL)

const char *libbpf_bpf_prog_type_str(enum bpf_prog_type t)
{
	return NAME_IN(prog_types, t);
}

const char *libbpf_bpf_map_type_str(enum bpf_map_type t)
{
	return NAME_IN(map_types, t);
}

const char *libbpf_bpf_link_type_str(enum bpf_link_type t)
{
	return NAME_IN(link_types, t);
}

const char *libbpf_bpf_attach_type_str(enum bpf_attach_type t)
{
	return NAME_IN(attach_types, t);
}

int libbpf_strerror(int err, char *buf, size_t size)
{
	static const char *const texts[] = {
		"libelf error",
		"the object's format is invalid",
		"the version section is wrong or missing",
		"the byte orders differ",
		"internal error",
		"a relocation failed",
		"the program could not be loaded",
		"the verifier rejects the program",
		"the program is too large",
		"the kernel version is wrong",
		"the kernel does not support this program type",
		"a netlink message has the wrong process id",
		"a netlink message has the wrong sequence number",
		"a netlink message cannot be parsed",
	};
	const unsigned code = err < 0 ? -(unsigned)err : (unsigned)err;

	if (!buf || !size)
		return edge_errno(EINVAL);
	if (code >= __LIBBPF_ERRNO__START && code < __LIBBPF_ERRNO__END) {
		snprintf(buf, size, "%s", texts[code - __LIBBPF_ERRNO__START]);
		return 0;
	}
	if (code < __LIBBPF_ERRNO__START) {
		char text[128];

		snprintf(buf, size, "%s", strerror_r((int)code, text, sizeof(text)));
		return 0;
	}
	snprintf(buf, size, "unknown error %u", code);
	return edge_errno(ENOENT);
}
