// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs of a network interface, by its number: XDP (links: 5.9), where one
 * program has the interface, tcx (6.6) and netkit (6.7), where several stand in
 * an order.
 */
#include <net/if.h>

#include "lib/attach/internal.h"

/* The three kinds of options are laid out alike; this is what they say. */
struct link_order {
	uint32_t flags;
	uint32_t relative_fd;
	uint32_t relative_id;
	uint64_t expected_revision;
};

static struct error *explain(struct error *err, int ifindex, const char *since)
{
	char name[IF_NAMESIZE];

	if (!err)
		return NULL;
	if (ifindex <= 0 || !if_indextoname((unsigned)ifindex, name))
		return error_hint(err,
				  "no interface has the index %d: 'ip link' lists the interfaces",
				  ifindex);
	switch (err->code) {
	case EBUSY:
	case EEXIST:
		return error_hint(
			err, "%s already has a program of this type: see 'bpftool net show dev %s'",
			name, name);
	case EOPNOTSUPP:
		return error_hint(err, "the driver of %s does not support it", name);
	case EINVAL:
		return error_hint(err,
				  "check that the program's type fits this hook of %s; the hook "
				  "needs Linux %s",
				  name, since);
	case ESTALE:
		return error_hint(
			err, "the programs of %s changed after expected_revision was read", name);
	default:
		return err;
	}
}

static struct error *netdev_attach(const struct bpf_program *prog, int ifindex, const char *hook,
				   const char *since, const struct link_order *order,
				   struct bpf_link **link)
{
	_cleanup_strbuf_ struct strbuf where = STRBUF_INIT;

	if (order->relative_fd && order->relative_id)
		return error_new(EINVAL, "relative_fd and relative_id cannot be used together");
	/* tcx and netkit share their place in the union. */
	LIBBPF_OPTS(bpf_link_create_opts, opts, .flags = order->flags,
		    .tcx.relative_fd = order->relative_fd, .tcx.relative_id = order->relative_id,
		    .tcx.expected_revision = order->expected_revision);
	strbuf_addf(&where, "%s of interface %d", hook, ifindex);
	if (strbuf_failed(&where))
		return error_nomem();
	return explain(link_attach(prog, ifindex, where.str, &opts, link), ifindex, since);
}

struct bpf_link *bpf_program__attach_xdp(const struct bpf_program *prog, int ifindex)
{
	const struct link_order none = {0};
	struct bpf_link *link = NULL;
	struct error *err =
		attach_error_at(prog, netdev_attach(prog, ifindex, "XDP", "5.9", &none, &link));

	return err ? edge_null(err) : link;
}

#define ORDER_OF(opts)                                                                             \
	{                                                                                          \
		.flags = OPTS_GET(opts, flags, 0), .relative_fd = OPTS_GET(opts, relative_fd, 0),  \
		.relative_id = OPTS_GET(opts, relative_id, 0),                                     \
		.expected_revision = OPTS_GET(opts, expected_revision, 0),                         \
	}

struct bpf_link *bpf_program__attach_tcx(const struct bpf_program *prog, int ifindex,
					 const struct bpf_tcx_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = OPTS_CHECK(opts, bpf_tcx_opts);

	if (!err) {
		const struct link_order order = ORDER_OF(opts);

		err = netdev_attach(prog, ifindex, "tcx", "6.6", &order, &link);
	}
	return err ? edge_null(attach_error_at(prog, err)) : link;
}

struct bpf_link *bpf_program__attach_netkit(const struct bpf_program *prog, int ifindex,
					    const struct bpf_netkit_opts *opts)
{
	struct bpf_link *link = NULL;
	struct error *err = OPTS_CHECK(opts, bpf_netkit_opts);

	if (!err) {
		const struct link_order order = ORDER_OF(opts);

		err = netdev_attach(prog, ifindex, "netkit", "6.7", &order, &link);
	}
	return err ? edge_null(attach_error_at(prog, err)) : link;
}
