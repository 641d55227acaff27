// SPDX-License-Identifier: BSD-2-Clause
/* Sockets: protocols by the family, options by the level, and the values of options. */
#include "syscalls/call_decode.h"

void show_sock_protocol(struct call_decoder *d, uint64_t family, uint32_t v)
{
	enum { INET = 2, INET6 = 10, NETLINK = 16, PACKET = 17 };
	struct value_sink *s = &d->sink;

	if (family == INET || family == INET6) {
		sink_enum(s, SET_ip_protocol, v);
	} else if (family == NETLINK) {
		sink_enum(s, SET_netlink_protocol, v);
	} else if (family == PACKET && v) {
		const uint16_t protocol = (uint16_t)((v & 0xff) << 8 | (v >> 8 & 0xff));
		const char *name = flag_set_name(SET_eth_protocol, protocol);

		if (name)
			sink_wordf(s, "htons(%s)", name);
		else
			sink_wordf(s, "htons(%#x)", protocol);
	} else {
		sink_u64(s, v);
	}
}

void show_sock_option(struct call_decoder *d, uint64_t level, uint32_t v)
{
	static const struct {
		uint16_t level, set;
	} sets[] = {
		{0, SET_ip_option},	   {1, SET_sock_option},  {6, SET_tcp_option},
		{17, SET_udp_option},	   {41, SET_ipv6_option}, {263, SET_packet_option},
		{270, SET_netlink_option}, {255, SET_raw_option},
	};

	/* The same number to set and to get. */
	if ((uint32_t)level == 1 && v == 26 && decode_is(d, "getsockopt")) {
		sink_word(&d->sink, "SO_GET_FILTER");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		if (sets[i].level == (uint32_t)level) {
			sink_enum(&d->sink, (enum flag_set_id)sets[i].set, v);
			return;
		}
	sink_hex(&d->sink, v);
}

/* Options of SOL_SOCKET that are not known to be an int. */
static bool is_other_option(uint32_t option)
{
	static const char *const others[] = {
		"SO_TYPE",
		"SO_BINDTODEVICE",
		"SO_ATTACH_FILTER",
		"SO_RCVTIMEO_OLD",
		"SO_SNDTIMEO_OLD",
		"SO_SECURITY_AUTHENTICATION",
		"SO_SECURITY_ENCRYPTION_TRANSPORT",
		"SO_SECURITY_ENCRYPTION_NETWORK",
		"SO_PEERNAME",
		"SO_PEERSEC",
		"SO_PROTOCOL",
		"SO_DOMAIN",
		"SO_MAX_PACING_RATE",
		"SO_BPF_EXTENSIONS",
		"SO_ATTACH_BPF",
		"SO_ATTACH_REUSEPORT_CBPF",
		"SO_ATTACH_REUSEPORT_EBPF",
		"SO_MEMINFO",
		"SO_COOKIE",
		"SO_PEERGROUPS",
		"SO_TXTIME",
		"SO_BINDTOIFINDEX",
		"SO_RCVTIMEO_NEW",
		"SO_SNDTIMEO_NEW",
		"SO_NETNS_COOKIE",
		"SO_BUF_LOCK",
	};
	const char *name = flag_set_name(SET_sock_option, option);

	for (size_t i = 0; name && i < ARRAY_SIZE(others); i++)
		if (!strcmp(others[i], name))
			return true;
	return !name;
}

/* The members that len bytes of a struct have; of one that is cut, its bytes. */
static void show_part(struct call_decoder *d, const char *type, const uint8_t *p, uint64_t len)
{
	const struct call_struct *s = call_struct_named(type);

	sink_struct(&d->sink);
	for (int i = 0; s && i < s->n; i++) {
		const struct call_member *m = &s->members[i];
		const uint32_t off = m->at[d->layout].off, size = m->at[d->layout].size;

		if (off >= len)
			break;
		sink_member(&d->sink, m->name);
		if (off + size <= len)
			show_number_at(d, &m->kind, p + off, size, m->is_signed);
		else
			sink_hex_string(&d->sink, p + off, len - off);
	}
	sink_end_struct(&d->sink);
}

static void show_packet_mreq(struct call_decoder *d, const uint8_t *p)
{
	const unsigned len = (unsigned)value_uint(p + 6, 2);
	_cleanup_strbuf_ struct strbuf mac = STRBUF_INIT;
	struct value_sink *s = &d->sink;

	sink_struct(s);
	sink_member(s, "mr_ifindex");
	sink_i64(s, value_int(p, 4));
	sink_member(s, "mr_type");
	sink_enum(s, SET_packet_mr, value_uint(p + 4, 2));
	sink_member(s, "mr_alen");
	sink_u64(s, len);
	sink_member(s, "mr_address");
	for (unsigned i = 0; i < len && i < 8; i++)
		strbuf_addf(&mac, "%s%02x", i ? ":" : "", p[8 + i]);
	if (!decode_strace(d) || d->opts->constants == CONSTANTS_NAMED) {
		sink_word(s, strbuf_str(&mac));
	} else {
		sink_hex_string(s, p + 8, len < 8 ? len : 8);
		if (d->opts->constants == CONSTANTS_VERBOSE)
			sink_comment(s, "%s", strbuf_str(&mac));
	}
	sink_end_struct(s);
}

/* "[ICMP_REDIRECT]", or "~[...]" where more types are in the set than not. */
static void show_icmp_filter(struct call_decoder *d, uint32_t set)
{
	const bool inverted = __builtin_popcount(set) > 16;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (inverted)
		set = ~set;
	for (unsigned i = 0; i < 32; i++) {
		const char *name = flag_set_name(SET_icmp_type, i);

		if (!(set >> i & 1))
			continue;
		if (name)
			strbuf_addf(&text, "%s%s", text.len ? " " : "", name);
		else
			strbuf_addf(&text, "%s%u", text.len ? " " : "", i);
	}
	sink_wordf(&d->sink, "%s[%s]", inverted ? "~" : "", strbuf_str(&text));
}

/* An option whose value is a struct; false: it is not one. */
static bool show_option_struct(struct call_decoder *d, int arg, const uint8_t *p, uint64_t there,
			       uint64_t n)
{
	static const struct {
		enum flag_set_id set;
		uint16_t level;
		uint8_t size;
		const char *option, *type;
	} structs[] = {
		{SET_sock_option, 1, 8, "SO_LINGER", "linger"},
		{SET_sock_option, 1, 12, "SO_PEERCRED", "ucred"},
		{SET_packet_option, 263, 16, "PACKET_ADD_MEMBERSHIP", NULL},
		{SET_packet_option, 263, 16, "PACKET_DROP_MEMBERSHIP", NULL},
		{SET_packet_option, 263, 16, "PACKET_RX_RING", "tpacket_req"},
		{SET_packet_option, 263, 16, "PACKET_TX_RING", "tpacket_req"},
		{SET_raw_option, 255, 4, "ICMP_FILTER", NULL},
	};
	const bool is_set = decode_is(d, "setsockopt");

	for (size_t i = 0; i < ARRAY_SIZE(structs); i++) {
		const char *name = flag_set_name(structs[i].set, (uint32_t)d->args[2]);
		const uint64_t size = n < structs[i].size ? n : structs[i].size;

		if ((uint32_t)d->args[1] != structs[i].level || !name ||
		    strcmp(name, structs[i].option) != 0)
			continue;
		if (there < size || (size < structs[i].size && (is_set || !structs[i].type)))
			sink_addr(&d->sink, d->args[arg]);
		else if (structs[i].type && (n == size || structs[i].level == 1))
			show_part(d, structs[i].type, p, size);
		else if (structs[i].level == 255)
			show_icmp_filter(d, (uint32_t)value_uint(p, 4));
		else if (n == size)
			show_packet_mreq(d, p);
		else
			sink_addr(&d->sink, d->args[arg]);
		return true;
	}
	return false;
}

/* The number of an option of SOL_SOCKET that has names; others of other options. */
static void show_int_option(struct call_decoder *d, uint32_t option, uint32_t v)
{
	enum { ERROR = 4, TXREHASH = 74 };
	const char *name = option == ERROR	? flag_set_name(SET_error, v)
			   : option == TXREHASH ? flag_set_name(SET_sock_txrehash, v)
						: NULL;

	sink_array(&d->sink);
	sink_item(&d->sink);
	if (name)
		sink_constf(&d->sink, name, "%d", (int32_t)v);
	else
		sink_i64(&d->sink, (int32_t)v);
	if (!name && option == TXREHASH && decode_strace(d) && d->opts->constants != CONSTANTS_RAW)
		sink_comment(&d->sink, "%s", flag_sets[SET_sock_txrehash].unknown);
	sink_end_array(&d->sink);
}

void show_sock_value(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	enum { SOCKET = 1, NETLINK = 270, RCVTIMEO = 20, SNDTIMEO = 21 };
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const uint64_t n = decode_count(d, kind);
	const uint32_t level = (uint32_t)d->args[1], option = (uint32_t)d->args[2];
	const bool is_time = level == SOCKET && (option == RCVTIMEO || option == SNDTIMEO);
	const bool is_int =
		level == NETLINK || (level == SOCKET && !is_other_option(option) && !is_time);
	const bool is_set = decode_is(d, "setsockopt");
	const uint64_t there = piece ? piece->len : 0;
	struct value_sink *s = &d->sink;

	if (!d->args[arg] || !piece || !n || n > INT32_MAX) {
		sink_addr(s, d->args[arg]);
	} else if (show_option_struct(d, arg, piece->data, there, n)) {
		return;
	} else if (is_time && n >= 16 && there >= 16) {
		show_call_struct(d, call_struct_named("timeval"), piece->data);
	} else if (n == 4 || (is_int && n > 4)) {
		if (there >= 4)
			show_int_option(d, level == SOCKET ? option : 0,
					(uint32_t)value_uint(piece->data, 4));
		else
			sink_addr(s, d->args[arg]);
	} else if (is_int && (is_set || there < n)) {
		sink_addr(s, d->args[arg]);
	} else if (is_int) {
		sink_hex_string(s, piece->data, n);
	} else if (there < n && there < DECODE_ITEMS) {
		sink_addr(s, d->args[arg]);
	} else {
		const uint64_t len = n < there ? n : there;

		sink_string(s, piece->data, len < DECODE_ITEMS ? len : DECODE_ITEMS,
			    len > DECODE_ITEMS);
	}
}
