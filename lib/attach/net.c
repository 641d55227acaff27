// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs of a network namespace (flow_dissector, sk_lookup; links: 5.7 and
 * 5.9), of the sockets in a map (sk_skb, sk_msg; 6.10), and of netfilter (6.4).
 */
#include "lib/attach/internal.h"

struct bpf_link *bpf_program__attach_netns(const struct bpf_program *prog, int netns_fd)
{
	struct bpf_link *link = NULL;
	struct error *err = link_attach(prog, netns_fd, "the network namespace", NULL, &link);

	if (err && (err->code == EINVAL || err->code == EBADF))
		err = error_hint(err, "pass an open /proc/PID/ns/net and a program of section "
				      "flow_dissector or sk_lookup");
	else if (err && err->code == EEXIST)
		err = error_hint(err, "a network namespace can have one flow dissector");
	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_sockmap(const struct bpf_program *prog, int map_fd)
{
	struct bpf_link *link = NULL;
	struct error *err = link_attach(prog, map_fd, "the sockmap", NULL, &link);

	if (err && err->code == EINVAL)
		err = error_hint(
			err,
			"pass a sockmap or sockhash and a program of section sk_skb or sk_msg; "
			"this needs Linux 6.10, call bpf_prog_attach() on older kernels");
	else if (err && err->code == EBUSY)
		err = error_hint(err, "the map already has a program of this type");
	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_netfilter(const struct bpf_program *prog,
					       const struct bpf_netfilter_opts *user)
{
	struct bpf_link *link = NULL;
	struct error *err = OPTS_CHECK(user, bpf_netfilter_opts);

	if (!err) {
		LIBBPF_OPTS(bpf_link_create_opts, opts, .netfilter.pf = OPTS_GET(user, pf, 0),
			    .netfilter.hooknum = OPTS_GET(user, hooknum, 0),
			    .netfilter.priority = OPTS_GET(user, priority, 0),
			    .netfilter.flags = OPTS_GET(user, flags, 0));
		err = link_attach(prog, 0, "netfilter", &opts, &link);
	}
	if (err && (err->code == EINVAL || err->code == EAFNOSUPPORT || err->code == ERANGE))
		err = error_hint(
			err, "pf must be NFPROTO_IPV4 or NFPROTO_IPV6, hooknum one of NF_INET_…, "
			     "and priority neither the smallest nor the largest int");
	else if (err && err->code == EBUSY)
		err = error_hint(err, "another program has this priority at the hook");
	return err ? edge_null(attach_error_at(prog, err)) : link;
}
