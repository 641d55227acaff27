// SPDX-License-Identifier: BSD-2-Clause
/* perf-bpf link: what holds programs to their places. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "cmd/actions.h"
#include "cmd/cmd.h"
#include "lib/sys/uapi.h"

/* The names come into buffers of the caller's. */
struct link {
	struct bpf_link_info info;
	char text[128];
};

static bool read_link(int fd, struct link *link)
{
	__u32 len = sizeof(link->info);

	memset(link, 0, sizeof(*link));
	if (bpf_link_get_info_by_fd(fd, &link->info, &len))
		return false;
	uint32_t type = link->info.type;
	if (type != BPF_LINK_TYPE_RAW_TRACEPOINT && type != BPF_LINK_TYPE_ITER)
		return true;
	/* again: with room for the name of the tracepoint, or of what is gone through */
	memset(&link->info, 0, sizeof(link->info));
	len = sizeof(link->info);
	if (type == BPF_LINK_TYPE_RAW_TRACEPOINT) {
		link->info.raw_tracepoint.tp_name = (uintptr_t)link->text;
		link->info.raw_tracepoint.tp_name_len = sizeof(link->text);
	} else {
		link->info.iter.target_name = (uintptr_t)link->text;
		link->info.iter.target_name_len = sizeof(link->text);
	}
	return !bpf_link_get_info_by_fd(fd, &link->info, &len);
}

/* One fact about the target, in the form of the list. */
static void add_word(const struct listed *object, const char *name, const char *value,
		     struct strbuf *out)
{
	if (object->json)
		jw_text(object->json, name, value);
	else
		strbuf_addf(out, "%s %s  ", name, value);
}

static void add_number(const struct listed *object, const char *name, uint64_t v,
		       struct strbuf *out)
{
	if (object->json)
		jw_u64(object->json, name, v);
	else
		strbuf_addf(out, "%s %llu  ", name, (unsigned long long)v);
}

static void add_attach_type(const struct listed *object, uint32_t type, struct strbuf *out)
{
	const char *name = libbpf_bpf_attach_type_str(type);

	if (name)
		add_word(object, "attach_type", name, out);
	else
		add_number(object, "attach_type", type, out);
}

static void add_device(const struct listed *object, uint32_t ifindex, struct strbuf *out)
{
	const int *socket = object->ctx;
	struct ifreq request = {.ifr_ifindex = (int)ifindex};

	if (*socket >= 0 && !ioctl(*socket, SIOCGIFNAME, &request))
		add_word(object, "devname", request.ifr_name, out);
	add_number(object, "ifindex", ifindex, out);
}

static void add_prog_type(const struct listed *object, uint32_t id, struct strbuf *out)
{
	_cleanup_close_ int fd = kobj_open(KOBJ_PROG, id);
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_prog_get_info_by_fd(fd, &info, &len))
		return;
	const char *name = libbpf_bpf_prog_type_str(info.type);
	if (name)
		add_word(object, "prog_type", name, out);
	else
		add_number(object, "prog_type", info.type, out);
}

static void add_iterator(const struct listed *object, const struct link *link, struct strbuf *out)
{
	const struct bpf_link_info *i = &link->info;

	add_word(object, "target_name", link->text, out);
	if (!strcmp(link->text, "bpf_map_elem") || !strcmp(link->text, "bpf_sk_storage_map"))
		add_number(object, "map_id", i->iter.map.map_id, out);
}

/* What the program is held to, where the kernel tells. */
static void add_target(const struct listed *object, const struct link *link, struct strbuf *out)
{
	const struct bpf_link_info *i = &link->info;
	size_t before = out->len;

	if (!object->json && i->type != BPF_LINK_TYPE_ITER)
		strbuf_adds(out, "\n\t");
	size_t empty = out->len;
	switch (i->type) {
	case BPF_LINK_TYPE_RAW_TRACEPOINT:
		if (object->json)
			jw_text(object->json, "tp_name", link->text);
		else
			strbuf_addf(out, "tp '%s'  ", link->text);
		break;
	case BPF_LINK_TYPE_TRACING:
		add_prog_type(object, i->prog_id, out);
		add_attach_type(object, i->tracing.attach_type, out);
		if (i->tracing.target_obj_id) {
			add_number(object, "target_obj_id", i->tracing.target_obj_id, out);
			add_number(object, "target_btf_id", i->tracing.target_btf_id, out);
		}
		break;
	case BPF_LINK_TYPE_CGROUP:
		add_number(object, "cgroup_id", i->cgroup.cgroup_id, out);
		add_attach_type(object, i->cgroup.attach_type, out);
		break;
	case BPF_LINK_TYPE_ITER:
		add_iterator(object, link, out);
		break;
	case BPF_LINK_TYPE_NETNS:
		add_number(object, "netns_ino", i->netns.netns_ino, out);
		add_attach_type(object, i->netns.attach_type, out);
		break;
	case BPF_LINK_TYPE_XDP:
		add_device(object, i->xdp.ifindex, out);
		break;
	case BPF_LINK_TYPE_TCX:	   /* 6.6: ifindex and attach_type, */
	case BPF_LINK_TYPE_NETKIT: /* where a link of a network namespace has two such words */
		add_device(object, i->netns.netns_ino, out);
		add_attach_type(object, i->netns.attach_type, out);
		break;
	}
	if (!object->json && out->len == empty)
		strbuf_cut(out, before);
}

static void list_one(const struct listed *object, struct strbuf *out)
{
	struct link link;
	char unknown[16];

	if (!read_link(object->fd, &link))
		return;
	const char *type =
		type_or_number(libbpf_bpf_link_type_str(link.info.type), link.info.type, unknown);
	if (object->json) {
		jw_object(object->json, NULL);
		jw_u64(object->json, "id", link.info.id);
		jw_text(object->json, "type", type);
		jw_u64(object->json, "prog_id", link.info.prog_id);
	} else {
		strbuf_addf(out, "%u: %s  prog %u  ", link.info.id, type, link.info.prog_id);
	}
	add_target(object, &link, out);
	if (!object->json)
		strbuf_addch(out, '\n');
	add_pids(object, out);
	if (object->json)
		jw_end(object->json);
}

static struct error *link_list(const struct action_args *args, size_t at)
{
	/* for the names of network devices; without it they are left out */
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	TRY(action_drop_privileges(args, INSPECT_LIST, NULL));
	return list_objects(KOBJ_LINK, args, at, list_one, &fd);
}

static struct error *link_detach(const struct action_args *args, size_t at)
{
	_cleanup_close_ int fd = -1;
	struct link link;
	char unknown[16];

	TRY(open_object(KOBJ_LINK, args, &at, &fd));
	TRY(no_more_words(args, at));
	if (!bpf_link_detach(fd))
		return NULL;
	int code = errno;
	if (!read_link(fd, &link))
		return error_errno(code, "cannot detach the link");
	struct error *err = error_errno(
		code, "link %u cannot be detached: its type is %s", link.info.id,
		type_or_number(libbpf_bpf_link_type_str(link.info.type), link.info.type, unknown));
	if (code == EOPNOTSUPP)
		err = error_hint(err, "it ends when its last reference is closed: 'perf-bpf link "
				      "list' shows the processes and pinned files that hold it");
	return err;
}

int cmd_link(int argc, char **argv)
{
	static const struct action actions[] = {
		{"list", link_list, ACTION_LATER},
		{"show", link_list, ACTION_LATER},
		{"detach", link_detach, INSPECT_CHANGE},
	};
	static const struct action_command command = {
		.name = "link",
		.args_doc = "list [LINK]\n"
			    "detach LINK",
		.doc = "Show and detach BPF links.\vLINK is 'id ID' or 'pinned PATH'; or only ID "
		       "or PATH.",
		.actions = actions,
		.n_actions = ARRAY_SIZE(actions),
	};

	return run_action_command(&command, argc, argv);
}
