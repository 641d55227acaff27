// SPDX-License-Identifier: BSD-2-Clause
/* Messages of netlink sockets: their headers by member, what follows them as bytes. */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include "syscalls/call_decode.h"

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

static bool is_route(uint16_t protocol, uint64_t type)
{
	return protocol == NETLINK_ROUTE && type >= RTM_BASE;
}

static void show_type(struct call_decoder *d, uint16_t protocol, uint64_t type)
{
	if (is_route(protocol, type))
		sink_enum(&d->sink, SET_rtm_type, type);
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
	}
	sink_flags(&d->sink, set, flags);
}

static void show_message(struct call_decoder *d, uint16_t protocol, const uint8_t *p, size_t len,
			 bool cut)
{
	struct value_sink *s = &d->sink;
	const uint64_t type = value_uint(p + 4, 2);

	sink_array(s);
	sink_item(s);
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
	if (len > NLMSG_HDRLEN) {
		sink_item(s);
		sink_hex_string(s, p + NLMSG_HDRLEN, len - NLMSG_HDRLEN);
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
	uint64_t size = value_uint(p, 4), step = NLMSG_ALIGN(size);
	const bool several = size >= NLMSG_HDRLEN && step + NLMSG_HDRLEN <= all;

	if (several)
		sink_array(&d->sink);
	for (;;) {
		const uint64_t whole = size < NLMSG_HDRLEN || size > all ? all : size;

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
		step = NLMSG_ALIGN(size);
	}
	if (several)
		sink_end_array(&d->sink);
	return true;
}
