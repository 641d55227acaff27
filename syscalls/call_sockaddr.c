// SPDX-License-Identifier: BSD-2-Clause
/* Addresses of sockets, as the kernel has them for each family. */
#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>

#include "syscalls/call_decode.h"

enum {
	FAMILY_UNIX = 1,
	FAMILY_INET = 2,
	FAMILY_INET6 = 10,
	FAMILY_NETLINK = 16,
	FAMILY_PACKET = 17,
	FAMILY_BLUETOOTH = 31,
	FAMILY_ALG = 38,
	FAMILY_VSOCK = 40,
	FAMILY_XDP = 44,
	SOCKADDR_MAX = 128,
};

void show_port(struct call_decoder *d, const char *name, const uint8_t *p)
{
	const unsigned port = (unsigned)p[0] << 8 | p[1];

	sink_member(&d->sink, name);
	if (decode_strace(d))
		sink_wordf(&d->sink, "htons(%u)", port);
	else
		sink_u64(&d->sink, port);
}

static void show_unix(struct call_decoder *d, const uint8_t *p, size_t len)
{
	struct value_sink *s = &d->sink;

	if (len <= 2)
		return;
	p += 2;
	len -= 2;
	sink_member(s, "sun_path");
	if (*p) { /* a path ends at a NUL, if there is one */
		sink_string(s, p, strnlen((const char *)p, len), false);
		return;
	}
	if (s->w) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		strbuf_addch(&text, '@');
		strbuf_add(&text, p + 1, len - 1);
		jw_text_n(s->w, s->key, strbuf_str(&text), text.len);
		s->key = NULL;
		return;
	}
	strbuf_addch(s->out, '@'); /* of the abstract namespace */
	sink_string(s, p + 1, len - 1, false);
}

static void show_inet(struct call_decoder *d, const uint8_t *p)
{
	char text[INET_ADDRSTRLEN] = "";

	inet_ntop(AF_INET, p + 4, text, sizeof(text));
	show_port(d, "sin_port", p + 2);
	sink_member(&d->sink, "sin_addr");
	if (decode_strace(d))
		sink_wordf(&d->sink, "inet_addr(\"%s\")", text);
	else
		sink_word(&d->sink, text);
}

static void show_inet6(struct call_decoder *d, const uint8_t *p, size_t len)
{
	char text[INET6_ADDRSTRLEN] = "";
	struct value_sink *s = &d->sink;

	inet_ntop(AF_INET6, p + 8, text, sizeof(text));
	show_port(d, "sin6_port", p + 2);
	sink_member(s, "sin6_flowinfo");
	if (decode_strace(d))
		sink_wordf(s, "htonl(%u)", ntohl((uint32_t)value_uint(p + 4, 4)));
	else
		sink_u64(s, ntohl((uint32_t)value_uint(p + 4, 4)));
	if (decode_strace(d)) {
		sink_item(s);
		strbuf_addf(s->out, "inet_pton(AF_INET6, \"%s\", &sin6_addr)", text);
	} else {
		sink_member(s, "sin6_addr");
		sink_word(s, text);
	}
	if (len >= 28) {
		sink_member(s, "sin6_scope_id");
		sink_u64(s, value_uint(p + 24, 4));
	}
}

static void show_netlink(struct call_decoder *d, const uint8_t *p)
{
	sink_member(&d->sink, "nl_pid");
	sink_i64(&d->sink, value_int(p + 4, 4));
	sink_member(&d->sink, "nl_groups");
	if (d->sink.w)
		sink_u64(&d->sink, value_uint(p + 8, 4));
	else
		sink_wordf(&d->sink, "%08" PRIx64, value_uint(p + 8, 4));
}

static void show_packet(struct call_decoder *d, const uint8_t *p, size_t len)
{
	struct value_sink *s = &d->sink;
	const unsigned protocol = (unsigned)p[2] << 8 | p[3];
	const char *name = flag_set_name(SET_eth_protocol, protocol);
	const unsigned halen = p[11];

	sink_member(s, "sll_protocol");
	if (!decode_strace(d))
		sink_enum(s, SET_eth_protocol, protocol);
	else if (name)
		sink_wordf(s, "htons(%s)", name);
	else
		sink_wordf(s, "htons(%#x)", protocol);
	sink_member(s, "sll_ifindex");
	sink_u64(s, value_uint(p + 4, 4));
	sink_member(s, "sll_hatype");
	sink_enum(s, SET_arp_hardware, value_uint(p + 8, 2));
	sink_member(s, "sll_pkttype");
	sink_enum(s, SET_packet_type, p[10]);
	sink_member(s, "sll_halen");
	sink_u64(s, halen);
	if (!halen || len <= 12)
		return;
	sink_member(s, "sll_addr");
	sink_array(s);
	for (unsigned i = 0; i < halen; i++) {
		if (i == 8 || 12 + i >= len) {
			sink_more(s);
			break;
		}
		sink_item(s);
		if (s->w)
			sink_u64(s, p[12 + i]);
		else
			sink_wordf(s, "0x%02x", p[12 + i]);
	}
	sink_end_array(s);
}

static void show_vsock(struct call_decoder *d, const uint8_t *p)
{
	sink_member(&d->sink, "svm_cid");
	sink_hex(&d->sink, value_uint(p + 8, 4));
	sink_member(&d->sink, "svm_port");
	sink_hex(&d->sink, value_uint(p + 4, 4));
}

static void show_alg(struct call_decoder *d, const uint8_t *p, size_t len)
{
	struct value_sink *s = &d->sink;

	sink_member(s, "salg_type");
	sink_string(s, p + 2, strnlen((const char *)p + 2, 14), false);
	sink_member(s, "salg_feat");
	sink_hex(s, value_uint(p + 16, 4));
	sink_member(s, "salg_mask");
	sink_hex(s, value_uint(p + 20, 4));
	sink_member(s, "salg_name");
	sink_string(s, p + 24, strnlen((const char *)p + 24, len - 24 < 64 ? len - 24 : 64), false);
}

static void show_xdp(struct call_decoder *d, const uint8_t *p)
{
	static const char *const names[] = {"sxdp_ifindex", "sxdp_queue_id", "sxdp_shared_umem_fd"};
	struct value_sink *s = &d->sink;

	sink_member(s, "sxdp_flags");
	sink_hex(s, value_uint(p + 2, 2));
	for (int i = 0; i < 3; i++) {
		sink_member(s, names[i]);
		sink_u64(s, value_uint(p + 4 + 4 * i, 4));
	}
}

void show_sockaddr(struct call_decoder *d, const uint8_t *p, size_t len)
{
	/* By the family: the fewest bytes that its decoder reads. */
	static const uint8_t least[] = {
		[FAMILY_INET] = 8, [FAMILY_INET6] = 24, [FAMILY_NETLINK] = 12, [FAMILY_PACKET] = 12,
		[FAMILY_ALG] = 25, [FAMILY_VSOCK] = 16, [FAMILY_XDP] = 16,
	};
	struct value_sink *s = &d->sink;

	len = len < SOCKADDR_MAX ? len : SOCKADDR_MAX;
	if (len < 2) {
		sink_string(s, p, len, false);
		return;
	}
	const uint32_t family = (uint32_t)value_uint(p, 2);
	sink_struct(s);
	sink_member(s, "sa_family");
	sink_enum(s, SET_family, family);
	const bool known = family < ARRAY_SIZE(least) && least[family] && len >= least[family];
	if (family == FAMILY_UNIX)
		show_unix(d, p, len < 110 ? len : 110);
	else if (known && family == FAMILY_INET)
		show_inet(d, p);
	else if (known && family == FAMILY_INET6)
		show_inet6(d, p, len);
	else if (known && family == FAMILY_NETLINK)
		show_netlink(d, p);
	else if (known && family == FAMILY_PACKET)
		show_packet(d, p, len);
	else if (known && family == FAMILY_VSOCK)
		show_vsock(d, p);
	else if (known && family == FAMILY_ALG)
		show_alg(d, p, len);
	else if (known && family == FAMILY_XDP)
		show_xdp(d, p);
	else if (len > 2) {
		sink_member(s, "sa_data");
		sink_string(s, p + 2, len - 2, false);
	}
	sink_end_struct(s);
}

void show_sockaddr_arg(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	uint64_t n = decode_count(d, kind);

	if (kind->count_by == COUNT_AT_ARG) { /* the room that there was, if that is less */
		const struct trace_piece *room = decode_piece(d, kind->count, false);
		const uint64_t most = room && room->len >= 4 ? value_uint(room->data, 4) : 0;

		n = n < most ? n : most;
	}
	n = n < SOCKADDR_MAX ? n : SOCKADDR_MAX;
	if (!d->args[arg] || !piece || piece->len < 2 || n < 2 || piece->len < n)
		sink_addr(&d->sink, d->args[arg]);
	else
		show_sockaddr(d, piece->data, n);
}

/* "[128]", and with what the call made of it "[128 => 16]". */
void show_socklen_arg(struct call_decoder *d, int arg)
{
	const struct trace_piece *before = decode_piece(d, arg, false);
	const struct trace_piece *after = d->failed ? NULL : decode_piece(d, arg, true);
	const int64_t in = before && before->len >= 4 ? value_int(before->data, 4) : 0;
	const int64_t out = after && after->len >= 4 ? value_int(after->data, 4) : in;

	if (!d->args[arg] || !before || before->len < 4) {
		sink_addr(&d->sink, d->args[arg]);
	} else if (d->sink.w) {
		sink_i64(&d->sink, out);
	} else if (in == out) {
		sink_wordf(&d->sink, "[%" PRId64 "]", in);
	} else {
		sink_wordf(&d->sink, "[%" PRId64 " => %" PRId64 "]", in, out);
	}
}
