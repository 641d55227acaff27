// SPDX-License-Identifier: BSD-2-Clause
/*
 * What a section name says about its programs: a table of prefixes. The
 * longest prefixes of a family stand first, so the first match is the one.
 *
 * A prefix is followed by nothing or by '/' and a target. Two more spellings
 * come from the first BPF tools: "events/SYS/NAME" and plain "SYS:NAME" are
 * tracepoints.
 */
#include "lib/object/open_object.h"

#include <string.h>

#include "lib/base/names.h"
#include "lib/sys/uapi.h"

enum {
	TARGET = 1 << 0,   /* '/' and a target may follow */
	BTF_ID = 1 << 1,   /* attaches to something in BTF */
	SLEEP = 1 << 2,	   /* may sleep */
	OPTIONAL = 1 << 3, /* the attach type may be left out */
	FRAGS = 1 << 4,	   /* XDP of several fragments */
};

static const struct {
	const char *prefix;
	uint8_t kind;
	uint8_t flags;
	uint8_t type;
	uint8_t attach_type;
} table[] = {
	{"tracepoint", PROGRAM_TRACEPOINT, TARGET, BPF_PROG_TYPE_TRACEPOINT, 0},
	{"tp", PROGRAM_TRACEPOINT, TARGET, BPF_PROG_TYPE_TRACEPOINT, 0},
	{"events", PROGRAM_TRACEPOINT, TARGET, BPF_PROG_TYPE_TRACEPOINT, 0},
	{"raw_tracepoint.w", PROGRAM_RAW_TRACEPOINT, TARGET, BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE,
	 0},
	{"raw_tp.w", PROGRAM_RAW_TRACEPOINT, TARGET, BPF_PROG_TYPE_RAW_TRACEPOINT_WRITABLE, 0},
	{"raw_tracepoint", PROGRAM_RAW_TRACEPOINT, TARGET, BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
	{"raw_tp", PROGRAM_RAW_TRACEPOINT, TARGET, BPF_PROG_TYPE_RAW_TRACEPOINT, 0},
	{"tp_btf", PROGRAM_TP_BTF, TARGET | BTF_ID, BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP},
	{"perf_event", PROGRAM_PERF_EVENT, TARGET, BPF_PROG_TYPE_PERF_EVENT, 0},
	{"kprobe.multi", PROGRAM_KPROBE_MULTI, TARGET, BPF_PROG_TYPE_KPROBE,
	 BPF_TRACE_KPROBE_MULTI},
	{"kretprobe.multi", PROGRAM_KRETPROBE_MULTI, TARGET, BPF_PROG_TYPE_KPROBE,
	 BPF_TRACE_KPROBE_MULTI},
	{"kprobe.session", PROGRAM_KPROBE_MULTI, TARGET, BPF_PROG_TYPE_KPROBE,
	 BPF_TRACE_KPROBE_SESSION},
	{"uprobe.multi.s", PROGRAM_UPROBE_MULTI, TARGET | SLEEP, BPF_PROG_TYPE_KPROBE,
	 BPF_TRACE_UPROBE_MULTI},
	{"uretprobe.multi.s", PROGRAM_URETPROBE_MULTI, TARGET | SLEEP, BPF_PROG_TYPE_KPROBE,
	 BPF_TRACE_UPROBE_MULTI},
	{"uprobe.multi", PROGRAM_UPROBE_MULTI, TARGET, BPF_PROG_TYPE_KPROBE,
	 BPF_TRACE_UPROBE_MULTI},
	{"uretprobe.multi", PROGRAM_URETPROBE_MULTI, TARGET, BPF_PROG_TYPE_KPROBE,
	 BPF_TRACE_UPROBE_MULTI},
	{"uprobe.session", PROGRAM_UPROBE_MULTI, TARGET, BPF_PROG_TYPE_KPROBE,
	 BPF_TRACE_UPROBE_SESSION},
	{"uprobe.session.s", PROGRAM_UPROBE_MULTI, TARGET | SLEEP, BPF_PROG_TYPE_KPROBE,
	 BPF_TRACE_UPROBE_SESSION},
	{"kprobe", PROGRAM_KPROBE, TARGET, BPF_PROG_TYPE_KPROBE, 0},
	{"kretprobe", PROGRAM_KRETPROBE, TARGET, BPF_PROG_TYPE_KPROBE, 0},
	{"uprobe.s", PROGRAM_UPROBE, TARGET | SLEEP, BPF_PROG_TYPE_KPROBE, 0},
	{"uretprobe.s", PROGRAM_URETPROBE, TARGET | SLEEP, BPF_PROG_TYPE_KPROBE, 0},
	{"uprobe", PROGRAM_UPROBE, TARGET, BPF_PROG_TYPE_KPROBE, 0},
	{"uretprobe", PROGRAM_URETPROBE, TARGET, BPF_PROG_TYPE_KPROBE, 0},
	{"ksyscall", PROGRAM_KSYSCALL, TARGET, BPF_PROG_TYPE_KPROBE, 0},
	{"kretsyscall", PROGRAM_KRETSYSCALL, TARGET, BPF_PROG_TYPE_KPROBE, 0},
	{"usdt.s", PROGRAM_USDT, TARGET | SLEEP, BPF_PROG_TYPE_KPROBE, 0},
	{"usdt", PROGRAM_USDT, TARGET, BPF_PROG_TYPE_KPROBE, 0},
	{"fentry.s", PROGRAM_FENTRY, TARGET | BTF_ID | SLEEP, BPF_PROG_TYPE_TRACING,
	 BPF_TRACE_FENTRY},
	{"fexit.s", PROGRAM_FEXIT, TARGET | BTF_ID | SLEEP, BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT},
	{"fmod_ret.s", PROGRAM_FMOD_RET, TARGET | BTF_ID | SLEEP, BPF_PROG_TYPE_TRACING,
	 BPF_MODIFY_RETURN},
	{"fentry", PROGRAM_FENTRY, TARGET | BTF_ID, BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY},
	{"fexit", PROGRAM_FEXIT, TARGET | BTF_ID, BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT},
	{"fmod_ret", PROGRAM_FMOD_RET, TARGET | BTF_ID, BPF_PROG_TYPE_TRACING, BPF_MODIFY_RETURN},
	{"fsession.s", PROGRAM_FEXIT, TARGET | BTF_ID | SLEEP, BPF_PROG_TYPE_TRACING,
	 BPF_TRACE_FSESSION},
	{"fsession", PROGRAM_FEXIT, TARGET | BTF_ID, BPF_PROG_TYPE_TRACING, BPF_TRACE_FSESSION},
	{"freplace", PROGRAM_FREPLACE, TARGET | BTF_ID, BPF_PROG_TYPE_EXT, 0},
	{"lsm_cgroup", PROGRAM_OTHER, TARGET | BTF_ID, BPF_PROG_TYPE_LSM, BPF_LSM_CGROUP},
	{"lsm.s", PROGRAM_LSM, TARGET | BTF_ID | SLEEP, BPF_PROG_TYPE_LSM, BPF_LSM_MAC},
	{"lsm", PROGRAM_LSM, TARGET | BTF_ID, BPF_PROG_TYPE_LSM, BPF_LSM_MAC},
	{"iter.s", PROGRAM_ITER, TARGET | BTF_ID | SLEEP, BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER},
	{"iter", PROGRAM_ITER, TARGET | BTF_ID, BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER},
	{"syscall", PROGRAM_OTHER, SLEEP, BPF_PROG_TYPE_SYSCALL, 0},
	{"socket", PROGRAM_OTHER, TARGET, BPF_PROG_TYPE_SOCKET_FILTER, 0},
	{"sk_reuseport/migrate", PROGRAM_OTHER, 0, BPF_PROG_TYPE_SK_REUSEPORT,
	 BPF_SK_REUSEPORT_SELECT_OR_MIGRATE},
	{"sk_reuseport", PROGRAM_OTHER, 0, BPF_PROG_TYPE_SK_REUSEPORT, BPF_SK_REUSEPORT_SELECT},
	{"tc/ingress", PROGRAM_OTHER, 0, BPF_PROG_TYPE_SCHED_CLS, BPF_TCX_INGRESS},
	{"tc/egress", PROGRAM_OTHER, 0, BPF_PROG_TYPE_SCHED_CLS, BPF_TCX_EGRESS},
	{"tcx/ingress", PROGRAM_OTHER, 0, BPF_PROG_TYPE_SCHED_CLS, BPF_TCX_INGRESS},
	{"tcx/egress", PROGRAM_OTHER, 0, BPF_PROG_TYPE_SCHED_CLS, BPF_TCX_EGRESS},
	{"netkit/primary", PROGRAM_OTHER, 0, BPF_PROG_TYPE_SCHED_CLS, BPF_NETKIT_PRIMARY},
	{"netkit/peer", PROGRAM_OTHER, 0, BPF_PROG_TYPE_SCHED_CLS, BPF_NETKIT_PEER},
	{"tc", PROGRAM_OTHER, TARGET, BPF_PROG_TYPE_SCHED_CLS, 0},
	{"classifier", PROGRAM_OTHER, TARGET, BPF_PROG_TYPE_SCHED_CLS, 0},
	{"action", PROGRAM_OTHER, TARGET, BPF_PROG_TYPE_SCHED_ACT, 0},
	{"xdp.frags/devmap", PROGRAM_OTHER, TARGET | FRAGS, BPF_PROG_TYPE_XDP, BPF_XDP_DEVMAP},
	{"xdp.frags/cpumap", PROGRAM_OTHER, TARGET | FRAGS, BPF_PROG_TYPE_XDP, BPF_XDP_CPUMAP},
	{"xdp/devmap", PROGRAM_OTHER, TARGET, BPF_PROG_TYPE_XDP, BPF_XDP_DEVMAP},
	{"xdp/cpumap", PROGRAM_OTHER, TARGET, BPF_PROG_TYPE_XDP, BPF_XDP_CPUMAP},
	{"xdp.frags", PROGRAM_OTHER, TARGET | FRAGS | OPTIONAL, BPF_PROG_TYPE_XDP, BPF_XDP},
	{"xdp", PROGRAM_OTHER, TARGET | OPTIONAL, BPF_PROG_TYPE_XDP, BPF_XDP},
	{"lwt_in", PROGRAM_OTHER, 0, BPF_PROG_TYPE_LWT_IN, 0},
	{"lwt_out", PROGRAM_OTHER, 0, BPF_PROG_TYPE_LWT_OUT, 0},
	{"lwt_xmit", PROGRAM_OTHER, 0, BPF_PROG_TYPE_LWT_XMIT, 0},
	{"lwt_seg6local", PROGRAM_OTHER, 0, BPF_PROG_TYPE_LWT_SEG6LOCAL, 0},
	{"sockops", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_SOCK_OPS, BPF_CGROUP_SOCK_OPS},
	{"sk_skb/stream_parser", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_SK_SKB,
	 BPF_SK_SKB_STREAM_PARSER},
	{"sk_skb/stream_verdict", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_SK_SKB,
	 BPF_SK_SKB_STREAM_VERDICT},
	{"sk_skb/verdict", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_SK_SKB, BPF_SK_SKB_VERDICT},
	{"sk_skb", PROGRAM_OTHER, 0, BPF_PROG_TYPE_SK_SKB, 0},
	{"sk_msg", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_SK_MSG, BPF_SK_MSG_VERDICT},
	{"sk_lookup", PROGRAM_OTHER, TARGET, BPF_PROG_TYPE_SK_LOOKUP, BPF_SK_LOOKUP},
	{"lirc_mode2", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_LIRC_MODE2, BPF_LIRC_MODE2},
	{"flow_dissector", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_FLOW_DISSECTOR,
	 BPF_FLOW_DISSECTOR},
	{"cgroup_skb/ingress", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_CGROUP_SKB,
	 BPF_CGROUP_INET_INGRESS},
	{"cgroup_skb/egress", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_CGROUP_SKB,
	 BPF_CGROUP_INET_EGRESS},
	{"cgroup/skb", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SKB, 0},
	{"cgroup/sock_create", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK,
	 BPF_CGROUP_INET_SOCK_CREATE},
	{"cgroup/sock_release", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK,
	 BPF_CGROUP_INET_SOCK_RELEASE},
	{"cgroup/sock", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_CGROUP_SOCK,
	 BPF_CGROUP_INET_SOCK_CREATE},
	{"cgroup/post_bind4", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK,
	 BPF_CGROUP_INET4_POST_BIND},
	{"cgroup/post_bind6", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK,
	 BPF_CGROUP_INET6_POST_BIND},
	{"cgroup/bind4", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_BIND},
	{"cgroup/bind6", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_BIND},
	{"cgroup/connect_unix", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_UNIX_CONNECT},
	{"cgroup/connect4", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_INET4_CONNECT},
	{"cgroup/connect6", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_INET6_CONNECT},
	{"cgroup/sendmsg_unix", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_UNIX_SENDMSG},
	{"cgroup/sendmsg4", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_UDP4_SENDMSG},
	{"cgroup/sendmsg6", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_UDP6_SENDMSG},
	{"cgroup/recvmsg_unix", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_UNIX_RECVMSG},
	{"cgroup/recvmsg4", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_UDP4_RECVMSG},
	{"cgroup/recvmsg6", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_UDP6_RECVMSG},
	{"cgroup/getpeername_unix", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_UNIX_GETPEERNAME},
	{"cgroup/getpeername4", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_INET4_GETPEERNAME},
	{"cgroup/getpeername6", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_INET6_GETPEERNAME},
	{"cgroup/getsockname_unix", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_UNIX_GETSOCKNAME},
	{"cgroup/getsockname4", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_INET4_GETSOCKNAME},
	{"cgroup/getsockname6", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
	 BPF_CGROUP_INET6_GETSOCKNAME},
	{"cgroup/sysctl", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SYSCTL, BPF_CGROUP_SYSCTL},
	{"cgroup/getsockopt", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCKOPT,
	 BPF_CGROUP_GETSOCKOPT},
	{"cgroup/setsockopt", PROGRAM_OTHER, 0, BPF_PROG_TYPE_CGROUP_SOCKOPT,
	 BPF_CGROUP_SETSOCKOPT},
	{"cgroup/dev", PROGRAM_OTHER, OPTIONAL, BPF_PROG_TYPE_CGROUP_DEVICE, BPF_CGROUP_DEVICE},
	{"netfilter", PROGRAM_OTHER, 0, BPF_PROG_TYPE_NETFILTER, BPF_NETFILTER},
	{"struct_ops.s", PROGRAM_OTHER, TARGET | SLEEP, BPF_PROG_TYPE_STRUCT_OPS, 0},
	{"struct_ops", PROGRAM_OTHER, TARGET, BPF_PROG_TYPE_STRUCT_OPS, 0},
};

/* "sched:sched_switch": one ':' with a name on both sides and nothing else. */
static bool is_event_name(const char *name)
{
	const char *colon = strchr(name, ':');

	return colon && colon != name && colon[1] && !strpbrk(colon + 1, ":/=") &&
	       !strpbrk(name, "/= ");
}

bool section_parse(const char *name, struct section_info *info)
{
	*info = (struct section_info){.autoload = true, .target = "", .kind_name = ""};
	if (name[0] == '?') {
		info->autoload = false;
		name++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].prefix[0] != name[0])
			continue;
		const size_t len = strlen(table[i].prefix);
		if (strncmp(name, table[i].prefix, len))
			continue;
		if (name[len] && !((table[i].flags & TARGET) && name[len] == '/'))
			continue;
		info->kind = table[i].kind;
		info->kind_name = table[i].prefix;
		info->type = table[i].type;
		info->attach_type = table[i].attach_type;
		info->needs_btf_id = table[i].flags & BTF_ID;
		info->optional_attach_type = table[i].flags & OPTIONAL;
		if (table[i].flags & SLEEP)
			info->prog_flags |= BPF_F_SLEEPABLE;
		if (table[i].flags & FRAGS)
			info->prog_flags |= BPF_F_XDP_HAS_FRAGS;
		info->target = name[len] ? name + len + 1 : "";
		return true;
	}
	if (is_event_name(name)) {
		info->kind = PROGRAM_TRACEPOINT;
		info->kind_name = "tracepoint";
		info->type = BPF_PROG_TYPE_TRACEPOINT;
		info->target = name;
		return true;
	}
	return false;
}

bool section_nearest(const char *name, struct strbuf *sb)
{
	_cleanup_free_ char *kind = strndup(name, strcspn(name, "/"));
	struct nearest near = nearest_make(kind ? kind : name);

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		nearest_offer(&near, table[i].prefix);
	return nearest_text(&near, sb);
}

struct error *program_tracepoint(const struct bpf_program *prog, char **system, char **name)
{
	const char *target = prog->section.target;
	const char *split = strpbrk(target, "/:");

	if (prog->section.kind != PROGRAM_TRACEPOINT || !split || split == target || !split[1])
		return program_error_at(
			prog,
			error_hint(error_new(EINVAL, "section '%s' does not name a tracepoint",
					     prog->section_name),
				   "write SEC(\"tracepoint/SYSTEM/EVENT\")"));
	_cleanup_free_ char *sys = strndup(target, (size_t)(split - target));
	char *event = strdup(split + 1);
	if (!sys || !event) {
		free(event);
		return error_nomem();
	}
	*system = steal_ptr(sys);
	*name = event;
	return NULL;
}

int libbpf_prog_type_by_name(const char *name, enum bpf_prog_type *prog_type,
			     enum bpf_attach_type *expected_attach_type)
{
	struct section_info info;

	if (!name)
		return edge_errno(EINVAL);
	if (name[0] == '?') /* whether it is loaded, which is no part of the name */
		return edge_errno(ESRCH);
	struct program_handler handler;
	if (handler_find(name, &handler)) {
		*prog_type = handler.type;
		*expected_attach_type = handler.attach_type;
		return 0;
	}
	if (!section_parse(name, &info))
		return edge_errno(ESRCH);
	*prog_type = info.type;
	*expected_attach_type = info.attach_type;
	return 0;
}

/*
 * Whether programs are attached by their attach type with bpf_prog_attach() or
 * a socket option, as libbpf has it: tracing needs a link, and so does what came
 * to the network after 2022. 0 is an attach type too: cgroup_skb/ingress.
 */
static bool has_attach_type(const struct section_info *info)
{
	return info->kind == PROGRAM_OTHER && !info->needs_btf_id &&
	       info->type != BPF_PROG_TYPE_SCHED_CLS && info->type != BPF_PROG_TYPE_NETFILTER &&
	       (info->attach_type || info->optional_attach_type);
}

int libbpf_attach_type_by_name(const char *name, enum bpf_attach_type *attach_type)
{
	struct section_info info;

	if (!name)
		return edge_errno(EINVAL);
	if (name[0] == '?' || !section_parse(name, &info) || !has_attach_type(&info))
		return edge_errno(EINVAL);
	*attach_type = info.attach_type;
	return 0;
}
