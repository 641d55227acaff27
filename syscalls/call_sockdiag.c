// SPDX-License-Identifier: BSD-2-Clause
/* Messages of NETLINK_SOCK_DIAG: requests, and a message for each socket. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <sys/socket.h>

#include "syscalls/call_decode.h"

/* strace has an address of IPv6 as the call that makes it, without the member's name. */
static void show_addr(struct call_decoder *d, const char *name, int family, const uint8_t *p)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (family == AF_INET6 && decode_strace(d)) {
		inet_ntop(AF_INET6, p, text, sizeof(text));
		sink_item(&d->sink);
		strbuf_addf(d->sink.out, "inet_pton(AF_INET6, \"%s\", &%s)", text, name);
		return;
	}
	sink_member(&d->sink, name);
	if (family == AF_INET || family == AF_INET6)
		show_inet_addr(d, family, p);
	else
		sink_hex_string(&d->sink, p, 16);
}

static void show_cookie(struct call_decoder *d, const uint8_t *p)
{
	sink_member(&d->sink, "idiag_cookie");
	sink_array(&d->sink);
	for (size_t i = 0; i < 2; i++) {
		sink_item(&d->sink);
		sink_u64(&d->sink, value_uint(p + 4 * i, 4));
	}
	sink_end_array(&d->sink);
}

static void show_id(struct call_decoder *d, int family, const uint8_t *p)
{
	struct value_sink *s = &d->sink;

	sink_member(s, "id");
	sink_struct(s);
	show_port(d, "idiag_sport", p + offsetof(struct inet_diag_sockid, idiag_sport));
	show_port(d, "idiag_dport", p + offsetof(struct inet_diag_sockid, idiag_dport));
	show_addr(d, "idiag_src", family, p + offsetof(struct inet_diag_sockid, idiag_src));
	show_addr(d, "idiag_dst", family, p + offsetof(struct inet_diag_sockid, idiag_dst));
	sink_member(s, "idiag_if");
	show_number(d, &(struct arg_kind){.value = SHOW_IFINDEX},
		    value_uint(p + offsetof(struct inet_diag_sockid, idiag_if), 4));
	show_cookie(d, p + offsetof(struct inet_diag_sockid, idiag_cookie));
	sink_end_struct(s);
}

/* "1<<(INET_DIAG_MEMINFO-1)|1<<(INET_DIAG_INFO-1)" */
static void show_extensions(struct call_decoder *d, uint32_t v)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint32_t rest = v;

	for (uint32_t i = 0; i < 8; i++) {
		const char *name = v >> i & 1 ? flag_set_name(SET_inet_diag_attr, i + 1) : NULL;

		if (!name)
			continue;
		strbuf_addf(&text, "%s1<<(%s-1)", text.len ? "|" : "", name);
		rest &= ~(1u << i);
	}
	if (rest || !v)
		strbuf_addf(&text, rest ? "%s%#x" : "%s0", text.len ? "|" : "", rest);
	sink_member(&d->sink, "idiag_ext");
	sink_constf(&d->sink, strbuf_str(&text), "%#x", v);
}

static void show_inet_request(struct call_decoder *d, const uint8_t *p)
{
	struct value_sink *s = &d->sink;

	sink_struct(s);
	sink_member(s, "sdiag_family");
	sink_enum(s, SET_family, p[0]);
	sink_member(s, "sdiag_protocol");
	sink_enum(s, SET_ip_protocol, p[1]);
	show_extensions(d, p[2]);
	sink_member(s, "idiag_states");
	show_number(d, &(struct arg_kind){.value = SHOW_TCP_STATES},
		    value_uint(p + offsetof(struct inet_diag_req_v2, idiag_states), 4));
	show_id(d, p[0], p + offsetof(struct inet_diag_req_v2, id));
	sink_end_struct(s);
}

static void show_inet_message(struct call_decoder *d, const uint8_t *p)
{
	static const char *const numbers[] = {"idiag_expires", "idiag_rqueue", "idiag_wqueue"};
	struct value_sink *s = &d->sink;
	const uint8_t *after = p + offsetof(struct inet_diag_msg, idiag_expires);

	sink_struct(s);
	sink_member(s, "idiag_family");
	sink_enum(s, SET_family, p[0]);
	sink_member(s, "idiag_state");
	sink_enum(s, SET_tcp_state, p[1]);
	sink_member(s, "idiag_timer");
	sink_u64(s, p[2]);
	sink_member(s, "idiag_retrans");
	sink_u64(s, p[3]);
	show_id(d, p[0], p + offsetof(struct inet_diag_msg, id));
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		sink_member(s, numbers[i]);
		sink_u64(s, value_uint(after + 4 * i, 4));
	}
	sink_member(s, "idiag_uid");
	show_number(d, &(struct arg_kind){.value = SHOW_UID}, value_uint(after + 12, 4));
	sink_member(s, "idiag_inode");
	sink_u64(s, value_uint(after + 16, 4));
	sink_end_struct(s);
}

static void show_inet(struct call_decoder *d, bool is_request, const uint8_t *p, size_t len)
{
	const size_t size =
		is_request ? sizeof(struct inet_diag_req_v2) : sizeof(struct inet_diag_msg);

	if (len < size) {
		show_hex_bytes(d, p, len);
		return;
	}
	if (is_request)
		show_inet_request(d, p);
	else
		show_inet_message(d, p);
	if (len < size + 4)
		return;
	sink_item(&d->sink);
	/* the attributes of a request have types of their own */
	if (is_request)
		show_hex_bytes(d, p + size, len - size);
	else
		show_nlattrs(d, &nla_inet_diag, p[0], p + size, len - size);
}

void show_sock_diag(struct call_decoder *d, bool is_request, const uint8_t *p, size_t len)
{
	switch (len ? p[0] : AF_UNSPEC) {
	case AF_INET:
	case AF_INET6:
		show_inet(d, is_request, p, len);
		return;
	case AF_UNIX:
		show_netlink_body(d, is_request ? "unix_diag_req" : "unix_diag_msg",
				  is_request ? NULL : &nla_unix_diag, p, len);
		return;
	case AF_NETLINK:
		show_netlink_body(d, is_request ? "netlink_diag_req" : "netlink_diag_msg",
				  is_request ? NULL : &nla_netlink_diag, p, len);
		return;
	default:
		show_hex_bytes(d, p, len);
	}
}
