// SPDX-License-Identifier: BSD-2-Clause
/*
 * Messages of netlink sockets: a header, a struct that the type says, and attributes. What is not
 * known is shown as bytes.
 */
#include <linux/genetlink.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "syscalls/call_decode.h"

/* NLMSG_ALIGN() has 32 bits, in which a size that a process has made up becomes 0. */
static uint64_t align(uint64_t size)
{
	return (size + NLMSG_ALIGNTO - 1) / NLMSG_ALIGNTO * NLMSG_ALIGNTO;
}

/* The socket of the call's first argument has it; false: it is not one of netlink. */
static bool is_netlink(const struct call_decoder *d, uint16_t *protocol)
{
	for (unsigned i = 0; i < d->n_pieces; i++) {
		const struct trace_piece *p = d->pieces[i];

		if (p->part != TRACE_PART_FD || p->copy != TRACE_FD_OF_ARG || p->arg ||
		    p->index != TRACE_FD_SOCKET || p->len < 4 ||
		    value_uint(p->data, 2) != AF_NETLINK)
			continue;
		*protocol = (uint16_t)value_uint(p->data + 2, 2);
		return true;
	}
	return false;
}

uint32_t decode_net_ns(const struct call_decoder *d)
{
	enum { NET_NS = 4, SIZE = 8 };

	for (unsigned i = 0; i < d->n_pieces; i++) {
		const struct trace_piece *p = d->pieces[i];

		if (p->part == TRACE_PART_FD && p->copy == TRACE_FD_OF_ARG && !p->arg &&
		    p->index == TRACE_FD_SOCKET && p->len >= SIZE)
			return (uint32_t)value_uint(p->data + NET_NS, 4);
	}
	return 0;
}

static bool is_route(uint16_t protocol, uint64_t type)
{
	return protocol == NETLINK_ROUTE && type >= RTM_BASE;
}

static bool is_sock_diag(uint16_t protocol, uint64_t type)
{
	return protocol == NETLINK_SOCK_DIAG && type >= NLMSG_MIN_TYPE;
}

static void show_type(struct call_decoder *d, uint16_t protocol, uint64_t type)
{
	if (is_route(protocol, type))
		sink_enum(&d->sink, SET_rtm_type, type);
	else if (is_sock_diag(protocol, type))
		sink_enum(&d->sink, SET_sock_diag_type, type);
	else if (protocol == NETLINK_XFRM && type >= NLMSG_MIN_TYPE)
		sink_enum(&d->sink, SET_xfrm_msg, type);
	else if (protocol == NETLINK_GENERIC && type == GENL_ID_CTRL)
		sink_constf(&d->sink, "nlctrl", "%#x", GENL_ID_CTRL);
	else
		sink_enum(&d->sink, SET_nlmsg_type, type);
}

/* The upper flags depend on what a message does; types of routes come in fours. */
static void show_flags(struct call_decoder *d, uint16_t protocol, uint64_t type, uint64_t flags)
{
	enum { NEW, DEL, GET };
	enum flag_set_id set = SET_nlmsg_flags;

	if (is_route(protocol, type)) {
		const uint64_t what = (type - RTM_BASE) % 4;

		set = what == NEW   ? SET_nlmsg_new_flags
		      : what == DEL ? SET_nlmsg_del_flags
		      : what == GET ? SET_nlmsg_get_flags
				    : set;
	} else if (is_sock_diag(protocol, type)) {
		set = SET_nlmsg_get_flags;
	} else if (type == NLMSG_ERROR) {
		set = SET_nlmsg_error_flags;
	} else if (protocol == NETLINK_XFRM && type >= NLMSG_MIN_TYPE) {
		const char *name = flag_set_name(SET_xfrm_msg, type);

		set = !name			 ? set
		      : strstr(name, "_MSG_GET") ? SET_nlmsg_get_flags
		      : strstr(name, "_MSG_NEW") ? SET_nlmsg_new_flags
		      : strstr(name, "_MSG_DEL") ? SET_nlmsg_del_flags
						 : set;
	}
	sink_flags(&d->sink, set, flags);
}

/* The struct and the attributes of a type of NETLINK_ROUTE; NULL: they are not known. */
static const char *route_struct(uint64_t type, const struct nla_rows **rows)
{
	static const struct {
		uint16_t type; /* the first of four */
		const char *name;
		const struct nla_rows *rows;
	} messages[] = {
		{RTM_NEWLINK, "ifinfomsg", &nla_link},
		{RTM_NEWADDR, "ifaddrmsg", &nla_addr},
		{RTM_NEWROUTE, "rtmsg", &nla_route},
		{RTM_NEWNEIGH, "ndmsg", &nla_neigh},
		{RTM_NEWRULE, "fib_rule_hdr", &nla_rule},
		{RTM_NEWQDISC, "tcmsg", &nla_tc},
		{RTM_NEWTCLASS, "tcmsg", &nla_tc},
		{RTM_NEWTFILTER, "tcmsg", &nla_tc},
		{RTM_NEWNETCONF, "netconfmsg", &nla_netconf},
	};

	for (size_t i = 0; i < ARRAY_SIZE(messages); i++)
		if (type >= messages[i].type && type < messages[i].type + 4u) {
			*rows = messages[i].rows;
			return messages[i].name;
		}
	return NULL;
}

void show_netlink_body(struct call_decoder *d, const char *type, const struct nla_rows *rows,
		       const uint8_t *p, size_t len)
{
	const struct call_struct *s = call_struct_named(type);
	const size_t size = s->size[LAYOUT_64], after = NLMSG_ALIGN(size);

	if (len < size) {
		/* the family alone, as getaddrinfo(3) asks for addresses */
		sink_struct(&d->sink);
		sink_member(&d->sink, s->members[0].name);
		sink_enum(&d->sink, SET_family, p[0]);
		sink_more(&d->sink);
		sink_end_struct(&d->sink);
		return;
	}
	show_call_struct(d, s, p);
	if (len < after + NLA_HDRLEN)
		return;
	sink_item(&d->sink);
	show_nlattrs(d, rows, p[0], p + after, len - after);
}

static void show_header(struct call_decoder *d, uint16_t protocol, const uint8_t *p);
static void show_message(struct call_decoder *d, uint16_t protocol, const uint8_t *p, size_t len,
			 bool cut);

/* The message that an error answers. Errors within errors are a process's own: they have no end. */
static void show_answered(struct call_decoder *d, uint16_t protocol, const uint8_t *p, size_t len)
{
	if (value_uint(p + 4, 2) == NLMSG_ERROR)
		show_header(d, protocol, p);
	else
		show_message(d, protocol, p, len, false);
}

/* An error number, and the message that it answers or its header: "{error=-ENOENT, msg={…}}" */
static void show_error(struct call_decoder *d, uint16_t protocol, uint64_t flags, const uint8_t *p,
		       size_t len)
{
	struct value_sink *s = &d->sink;
	const int64_t code = value_int(p, 4);
	const char *name = code < 0 ? flag_set_name(SET_error, (uint64_t)-code) : NULL;
	const size_t whole = len >= 8 ? value_uint(p + 4, 4) : 0;
	size_t size = flags & NLM_F_CAPPED ? NLMSG_HDRLEN : whole;

	sink_struct(s);
	sink_member(s, "error");
	if (name)
		sink_wordf(s, "-%s", name);
	else
		sink_i64(s, code);
	p += 4;
	len -= 4;
	if (len >= NLMSG_HDRLEN) {
		size = size < NLMSG_HDRLEN ? NLMSG_HDRLEN : size;
		sink_member(s, "msg");
		show_answered(d, protocol, p, size < len ? size : len);
	}
	sink_end_struct(s);
	size = align(size);
	if (!(flags & NLM_F_ACK_TLVS) || len < NLMSG_HDRLEN || size + NLA_HDRLEN > len)
		return;
	sink_item(s);
	show_nlattrs(d, &nla_error, AF_UNSPEC, p + size, len - size);
}

/* What follows the header: at least a byte. */
static void show_payload(struct call_decoder *d, uint16_t protocol, uint64_t type, uint64_t flags,
			 const uint8_t *p, size_t len)
{
	const struct nla_rows *rows = NULL;
	const char *name = is_route(protocol, type) ? route_struct(type, &rows) : NULL;

	if (name)
		show_netlink_body(d, name, rows, p, len);
	else if (is_sock_diag(protocol, type))
		show_sock_diag(d, flags & NLM_F_REQUEST, p, len);
	else if (type == NLMSG_ERROR && len >= 4)
		show_error(d, protocol, flags, p, len);
	else if (type == NLMSG_DONE && len >= 4)
		sink_i64(&d->sink, value_int(p, 4));
	else
		show_hex_bytes(d, p, len);
}

static void show_header(struct call_decoder *d, uint16_t protocol, const uint8_t *p)
{
	struct value_sink *s = &d->sink;
	const uint64_t type = value_uint(p + 4, 2);

	sink_struct(s);
	sink_member(s, "nlmsg_len");
	sink_u64(s, value_uint(p, 4));
	sink_member(s, "nlmsg_type");
	show_type(d, protocol, type);
	sink_member(s, "nlmsg_flags");
	show_flags(d, protocol, type, value_uint(p + 6, 2));
	sink_member(s, "nlmsg_seq");
	sink_u64(s, value_uint(p + 8, 4));
	sink_member(s, "nlmsg_pid");
	sink_i64(s, value_int(p + 12, 4));
	sink_end_struct(s);
}

/* A header alone is not an array. */
static void show_message(struct call_decoder *d, uint16_t protocol, const uint8_t *p, size_t len,
			 bool cut)
{
	struct value_sink *s = &d->sink;

	if (len <= NLMSG_HDRLEN && !cut) {
		show_header(d, protocol, p);
		return;
	}
	sink_array(s);
	sink_item(s);
	show_header(d, protocol, p);
	if (len > NLMSG_HDRLEN) {
		sink_item(s);
		show_payload(d, protocol, value_uint(p + 4, 2), value_uint(p + 6, 2),
			     p + NLMSG_HDRLEN, len - NLMSG_HDRLEN);
	}
	if (cut)
		sink_more(s);
	sink_end_array(s);
}

bool show_netlink_messages(struct call_decoder *d, const uint8_t *p, size_t len, uint64_t all)
{
	uint16_t protocol;

	if (len < NLMSG_HDRLEN || !is_netlink(d, &protocol) || protocol == NETLINK_KOBJECT_UEVENT)
		return false;
	uint64_t size = value_uint(p, 4), step = align(size);
	const bool several = size >= NLMSG_HDRLEN && step + NLMSG_HDRLEN <= all;

	if (several)
		sink_array(&d->sink);
	for (;;) {
		/* a header that says less than itself is shown alone among others, as in strace */
		const uint64_t whole = size > all	      ? all
				       : size >= NLMSG_HDRLEN ? size
				       : several	      ? NLMSG_HDRLEN
							      : all;

		if (several)
			sink_item(&d->sink);
		show_message(d, protocol, p, whole < len ? whole : len, whole > len);
		if (!several || size < NLMSG_HDRLEN || step + NLMSG_HDRLEN > all)
			break;
		all -= step;
		if (step + NLMSG_HDRLEN > len) {
			sink_more(&d->sink);
			break;
		}
		p += step;
		len -= step;
		size = value_uint(p, 4);
		step = align(size);
	}
	if (several)
		sink_end_array(&d->sink);
	return true;
}
