// SPDX-License-Identifier: BSD-2-Clause
/*
 * The attributes of netlink messages: a length and a type of 16 bits each, and then the value, each
 * attribute aligned to 4 bytes. What a value is depends on the type, which has a name in the set of
 * the message's kind; a row below says how it is shown. Values without a row, or of another size
 * than their row says, are shown as bytes.
 */
#include <arpa/inet.h>
#include <inttypes.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "syscalls/call_decode.h"

enum nla_as {
	NLA_AS_NUMBER, /* of `size` bytes, by `kind` */
	NLA_AS_TEXT,
	NLA_AS_MAC,
	NLA_AS_INET,   /* an address of the family of the message */
	NLA_AS_STRUCT, /* `type` of syscalls/structs.in; its first members if the value is shorter
			*/
	NLA_AS_NESTED, /* attributes by `nested` */
	NLA_AS_MEMINFO,
	NLA_AS_SOCKOPT, /* bits with names */
	NLA_AS_GROUPS,	/* bits in words of 64 */
};

struct nla_row {
	const char *name;
	uint8_t as; /* enum nla_as */
	uint8_t size;
	struct arg_kind kind;
	const char *type;
	const struct nla_rows *nested;
};

struct nla_rows {
	enum flag_set_id types;
	const struct nla_row *rows;
	size_t n;
};

#define U8(name)                                                                                   \
	{                                                                                          \
		name, NLA_AS_NUMBER, 1, {.value = SHOW_UINT}, NULL, NULL                           \
	}
#define U16(name)                                                                                  \
	{                                                                                          \
		name, NLA_AS_NUMBER, 2, {.value = SHOW_UINT}, NULL, NULL                           \
	}
#define U32(name)                                                                                  \
	{                                                                                          \
		name, NLA_AS_NUMBER, 4, {.value = SHOW_UINT}, NULL, NULL                           \
	}
#define U64(name)                                                                                  \
	{                                                                                          \
		name, NLA_AS_NUMBER, 8, {.value = SHOW_U64}, NULL, NULL                            \
	}
#define S32(name)                                                                                  \
	{                                                                                          \
		name, NLA_AS_NUMBER, 4, {.value = SHOW_INT}, NULL, NULL                            \
	}
#define INTERFACE(name)                                                                            \
	{                                                                                          \
		name, NLA_AS_NUMBER, 4, {.value = SHOW_IFINDEX}, NULL, NULL                        \
	}
#define ENUM(name, n, id)                                                                          \
	{                                                                                          \
		name, NLA_AS_NUMBER, n, {.value = SHOW_ENUM, .set = id}, NULL, NULL                \
	}
#define FLAGS(name, n, id)                                                                         \
	{                                                                                          \
		name, NLA_AS_NUMBER, n, {.value = SHOW_FLAGS, .set = id}, NULL, NULL               \
	}
#define TEXT(name)                                                                                 \
	{                                                                                          \
		name, NLA_AS_TEXT, 0, {0}, NULL, NULL                                              \
	}
#define MAC(name)                                                                                  \
	{                                                                                          \
		name, NLA_AS_MAC, 0, {0}, NULL, NULL                                               \
	}
#define INET(name)                                                                                 \
	{                                                                                          \
		name, NLA_AS_INET, 0, {0}, NULL, NULL                                              \
	}
#define STRUCT(name, type)                                                                         \
	{                                                                                          \
		name, NLA_AS_STRUCT, 0, {0}, type, NULL                                            \
	}
#define NESTED(name, table)                                                                        \
	{                                                                                          \
		name, NLA_AS_NESTED, 0, {0}, NULL, table                                           \
	}
#define MEMINFO(name)                                                                              \
	{                                                                                          \
		name, NLA_AS_MEMINFO, 0, {0}, NULL, NULL                                           \
	}
#define SOCKOPT(name)                                                                              \
	{                                                                                          \
		name, NLA_AS_SOCKOPT, 0, {0}, NULL, NULL                                           \
	}
#define GROUPS(name)                                                                               \
	{                                                                                          \
		name, NLA_AS_GROUPS, 0, {0}, NULL, NULL                                            \
	}
#define ROWS(id, rows)                                                                             \
	{                                                                                          \
		id, rows, ARRAY_SIZE(rows)                                                         \
	}

static const struct nla_row info_rows[] = {TEXT("IFLA_INFO_KIND"), TEXT("IFLA_INFO_SLAVE_KIND")};
static const struct nla_rows info = ROWS(SET_ifla_info, info_rows);

static const struct nla_row link_rows[] = {
	MAC("IFLA_ADDRESS"),
	MAC("IFLA_BROADCAST"),
	TEXT("IFLA_IFNAME"),
	U32("IFLA_MTU"),
	U32("IFLA_LINK"),
	TEXT("IFLA_QDISC"),
	STRUCT("IFLA_STATS", "rtnl_link_stats"),
	U32("IFLA_MASTER"),
	U32("IFLA_TXQLEN"),
	STRUCT("IFLA_MAP", "rtnl_link_ifmap"),
	U32("IFLA_WEIGHT"),
	U8("IFLA_OPERSTATE"),
	U8("IFLA_LINKMODE"),
	NESTED("IFLA_LINKINFO", &info),
	U32("IFLA_NET_NS_PID"),
	TEXT("IFLA_IFALIAS"),
	U32("IFLA_NUM_VF"),
	STRUCT("IFLA_STATS64", "rtnl_link_stats64"),
	U32("IFLA_GROUP"),
	FLAGS("IFLA_EXT_MASK", 4, SET_rtext_filter),
	U32("IFLA_PROMISCUITY"),
	U32("IFLA_ALLMULTI"),
	U32("IFLA_NUM_TX_QUEUES"),
	U32("IFLA_NUM_RX_QUEUES"),
	U8("IFLA_CARRIER"),
	U32("IFLA_CARRIER_CHANGES"),
	S32("IFLA_LINK_NETNSID"),
	TEXT("IFLA_PHYS_PORT_NAME"),
	U8("IFLA_PROTO_DOWN"),
	U32("IFLA_GSO_MAX_SEGS"),
	U32("IFLA_GSO_MAX_SIZE"),
	S32("IFLA_NEW_NETNSID"),
	S32("IFLA_IF_NETNSID"),
	U32("IFLA_CARRIER_UP_COUNT"),
	U32("IFLA_CARRIER_DOWN_COUNT"),
	INTERFACE("IFLA_NEW_IFINDEX"),
	U32("IFLA_MIN_MTU"),
	U32("IFLA_MAX_MTU"),
	TEXT("IFLA_ALT_IFNAME"),
	TEXT("IFLA_PARENT_DEV_NAME"),
	TEXT("IFLA_PARENT_DEV_BUS_NAME"),
	U32("IFLA_GRO_MAX_SIZE"),
	U32("IFLA_TSO_MAX_SIZE"),
	U32("IFLA_TSO_MAX_SEGS"),
};
const struct nla_rows nla_link = ROWS(SET_ifla, link_rows);

static const struct nla_row addr_rows[] = {
	INET("IFA_ADDRESS"),	INET("IFA_LOCAL"),
	TEXT("IFA_LABEL"),	INET("IFA_BROADCAST"),
	INET("IFA_ANYCAST"),	STRUCT("IFA_CACHEINFO", "ifa_cacheinfo"),
	INET("IFA_MULTICAST"),	FLAGS("IFA_FLAGS", 4, SET_ifa_flags),
	U32("IFA_RT_PRIORITY"),
};
const struct nla_rows nla_addr = ROWS(SET_ifa, addr_rows);

static const struct nla_row route_rows[] = {
	INET("RTA_DST"),
	INET("RTA_SRC"),
	INTERFACE("RTA_IIF"),
	INTERFACE("RTA_OIF"),
	INET("RTA_GATEWAY"),
	U32("RTA_PRIORITY"),
	INET("RTA_PREFSRC"),
	STRUCT("RTA_CACHEINFO", "rta_cacheinfo"),
	ENUM("RTA_TABLE", 4, SET_rt_table),
	U32("RTA_MARK"),
	U8("RTA_PREF"),
	U64("RTA_EXPIRES"),
	{"RTA_UID", NLA_AS_NUMBER, 4, {.value = SHOW_UID}, NULL, NULL},
	U8("RTA_TTL_PROPAGATE"),
};
const struct nla_rows nla_route = ROWS(SET_rta, route_rows);

static const struct nla_row neigh_rows[] = {
	INET("NDA_DST"),
	MAC("NDA_LLADDR"),
	STRUCT("NDA_CACHEINFO", "nda_cacheinfo"),
	U32("NDA_PROBES"),
	U16("NDA_VLAN"),
	U32("NDA_VNI"),
	INTERFACE("NDA_IFINDEX"),
	INTERFACE("NDA_MASTER"),
	S32("NDA_LINK_NETNSID"),
	ENUM("NDA_PROTOCOL", 1, SET_rt_protocol),
};
const struct nla_rows nla_neigh = ROWS(SET_nda, neigh_rows);

static const struct nla_row rule_rows[] = {
	INET("FRA_DST"),
	INET("FRA_SRC"),
	TEXT("FRA_IIFNAME"),
	U32("FRA_GOTO"),
	U32("FRA_PRIORITY"),
	U32("FRA_FWMARK"),
	U64("FRA_TUN_ID"),
	U32("FRA_SUPPRESS_IFGROUP"),
	U32("FRA_SUPPRESS_PREFIXLEN"),
	ENUM("FRA_TABLE", 4, SET_rt_table),
	U32("FRA_FWMASK"),
	TEXT("FRA_OIFNAME"),
	U8("FRA_L3MDEV"),
	STRUCT("FRA_UID_RANGE", "fib_rule_uid_range"),
	ENUM("FRA_PROTOCOL", 1, SET_rt_protocol),
};
const struct nla_rows nla_rule = ROWS(SET_fra, rule_rows);

static const struct nla_row stats2_rows[] = {
	STRUCT("TCA_STATS_BASIC", "gnet_stats_basic"),
	STRUCT("TCA_STATS_RATE_EST", "gnet_stats_rate_est"),
	STRUCT("TCA_STATS_QUEUE", "gnet_stats_queue"),
	STRUCT("TCA_STATS_BASIC_HW", "gnet_stats_basic"),
};
static const struct nla_rows stats2 = ROWS(SET_tca_stats, stats2_rows);
static const struct nla_row tc_rows[] = {
	TEXT("TCA_KIND"),
	STRUCT("TCA_STATS", "tc_stats"),
	STRUCT("TCA_RATE", "tc_estimator"),
	NESTED("TCA_STATS2", &stats2),
	U32("TCA_CHAIN"),
	U8("TCA_HW_OFFLOAD"),
	U32("TCA_INGRESS_BLOCK"),
	U32("TCA_EGRESS_BLOCK"),
};
const struct nla_rows nla_tc = ROWS(SET_tca, tc_rows);

static const struct nla_row netconf_rows[] = {
	INTERFACE("NETCONFA_IFINDEX"), S32("NETCONFA_FORWARDING"),
	S32("NETCONFA_RP_FILTER"),     S32("NETCONFA_MC_FORWARDING"),
	S32("NETCONFA_PROXY_NEIGH"),   S32("NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN"),
	S32("NETCONFA_INPUT"),	       S32("NETCONFA_BC_FORWARDING"),
};
const struct nla_rows nla_netconf = ROWS(SET_netconfa, netconf_rows);

static const struct nla_row error_rows[] = {
	TEXT("NLMSGERR_ATTR_MSG"),
	U32("NLMSGERR_ATTR_OFFS"),
};
const struct nla_rows nla_error = ROWS(SET_nlmsgerr_attr, error_rows);

static const struct nla_row inet_diag_rows[] = {
	STRUCT("INET_DIAG_MEMINFO", "inet_diag_meminfo"),
	TEXT("INET_DIAG_CONG"),
	U8("INET_DIAG_TOS"),
	U8("INET_DIAG_TCLASS"),
	MEMINFO("INET_DIAG_SKMEMINFO"),
	U8("INET_DIAG_SHUTDOWN"),
	U8("INET_DIAG_SKV6ONLY"),
	U32("INET_DIAG_MARK"),
	U32("INET_DIAG_CLASS_ID"),
	U64("INET_DIAG_CGROUP_ID"),
	SOCKOPT("INET_DIAG_SOCKOPT"),
};
const struct nla_rows nla_inet_diag = ROWS(SET_inet_diag_attr, inet_diag_rows);

static const struct nla_row unix_diag_rows[] = {
	U32("UNIX_DIAG_PEER"),
	STRUCT("UNIX_DIAG_RQLEN", "unix_diag_rqlen"),
	MEMINFO("UNIX_DIAG_MEMINFO"),
	U8("UNIX_DIAG_SHUTDOWN"),
	{"UNIX_DIAG_UID", NLA_AS_NUMBER, 4, {.value = SHOW_UID}, NULL, NULL},
};
const struct nla_rows nla_unix_diag = ROWS(SET_unix_diag_attr, unix_diag_rows);

static const struct nla_row netlink_diag_rows[] = {MEMINFO("NETLINK_DIAG_MEMINFO"),
						   GROUPS("NETLINK_DIAG_GROUPS")};
const struct nla_rows nla_netlink_diag = ROWS(SET_netlink_diag_attr, netlink_diag_rows);

void show_inet_addr(struct call_decoder *d, int family, const uint8_t *p)
{
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(family, p, text, sizeof(text));
	if (!decode_strace(d))
		sink_word(&d->sink, text);
	else if (family == AF_INET)
		sink_wordf(&d->sink, "inet_addr(\"%s\")", text);
	else
		sink_wordf(&d->sink, "inet_pton(AF_INET6, \"%s\")", text);
}

void show_hex_bytes(struct call_decoder *d, const uint8_t *p, size_t len)
{
	const size_t most = decode_max_items(d) < len ? decode_max_items(d) : len;

	sink_hex_string(&d->sink, p, most);
	if (most < len && !d->sink.w)
		strbuf_adds(d->sink.out, "...");
}

static void show_text(struct call_decoder *d, const uint8_t *p, size_t len)
{
	const size_t most = decode_max_items(d), n = strnlen((const char *)p, len);

	sink_string(&d->sink, p, n < most ? n : most, n > most || n == len);
}

/* "[[SK_MEMINFO_RMEM_ALLOC]=0, ...]" */
static void show_meminfo(struct call_decoder *d, const uint8_t *p, size_t len)
{
	struct value_sink *s = &d->sink;

	sink_array(s);
	for (uint32_t i = 0; i < len / 4; i++) {
		const char *name = flag_set_name(SET_sk_meminfo, i);

		sink_item(s);
		if (s->w)
			sink_u64(s, value_uint(p + i * 4, 4));
		else if (name)
			strbuf_addf(s->out, "[%s]=%u", name, (uint32_t)value_uint(p + i * 4, 4));
		else
			strbuf_addf(s->out, "[%u]=%u", i, (uint32_t)value_uint(p + i * 4, 4));
	}
	sink_end_array(s);
}

/* As strace has a mask of nodes. */
static void show_groups(struct call_decoder *d, const uint8_t *p, size_t len)
{
	const size_t most = decode_max_items(d);

	sink_array(&d->sink);
	for (size_t i = 0; i < len / 8; i++) {
		if (i == most) {
			sink_more(&d->sink);
			break;
		}
		sink_item(&d->sink);
		sink_wordf(&d->sink, "%#016" PRIx64, value_uint(p + 8 * i, 8));
	}
	sink_end_array(&d->sink);
}

/* struct inet_diag_sockopt: those that are set. "{is_icsk=1, mc_loop=1}" */
static bool show_sockopt(struct call_decoder *d, const uint8_t *p, size_t len)
{
	static const char *const names[] = {
		"recverr",	   "is_icsk",	    "freebind",
		"hdrincl",	   "mc_loop",	    "transparent",
		"mc_all",	   "nodefrag",	    "bind_address_no_port",
		"recverr_rfc4884", "defer_connect",
	};

	if (len < 2)
		return false;
	sink_struct(&d->sink);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (p[i / 8] >> i % 8 & 1) {
			sink_member(&d->sink, names[i]);
			sink_u64(&d->sink, 1);
		}
	sink_end_struct(&d->sink);
	return true;
}

/* false: the value is not what the row says, and nothing is shown. */
static bool show_value(struct call_decoder *d, const struct nla_row *row, int family,
		       const uint8_t *p, size_t len)
{
	const struct call_struct *type = row->type ? call_struct_named(row->type) : NULL;

	switch ((enum nla_as)row->as) {
	case NLA_AS_NUMBER:
		if (len < row->size)
			return false;
		show_number_at(d, &row->kind, p, row->size, row->kind.value == SHOW_INT);
		return true;
	case NLA_AS_TEXT:
		show_text(d, p, len);
		return true;
	case NLA_AS_MAC:
		show_mac(d, p, len);
		return true;
	case NLA_AS_INET:
		if (!(family == AF_INET && len >= 4) && !(family == AF_INET6 && len >= 16))
			return false;
		show_inet_addr(d, family, p);
		return true;
	case NLA_AS_STRUCT:
		if (!type || len < type->members[0].at[LAYOUT_64].size)
			return false;
		show_call_struct_of(d, type, p, len < UINT32_MAX ? (uint32_t)len : UINT32_MAX);
		return true;
	case NLA_AS_NESTED:
		if (len < NLA_HDRLEN)
			return false;
		show_nlattrs(d, row->nested, family, p, len);
		return true;
	case NLA_AS_MEMINFO:
		show_meminfo(d, p, len);
		return true;
	case NLA_AS_GROUPS:
		show_groups(d, p, len);
		return true;
	case NLA_AS_SOCKOPT:
		return show_sockopt(d, p, len);
	}
	return false;
}

static void show_attr_head(struct call_decoder *d, const struct nla_rows *rows, uint64_t size,
			   uint64_t type)
{
	struct value_sink *s = &d->sink;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint64_t bits = type & ~(uint64_t)NLA_TYPE_MASK;
	const char *name = rows ? flag_set_name(rows->types, type & NLA_TYPE_MASK) : NULL;

	sink_struct(s);
	sink_member(s, "nla_len");
	sink_u64(s, size);
	sink_member(s, "nla_type");
	if (!bits && rows) {
		sink_enum(s, rows->types, type);
	} else if (!bits) {
		sink_hex(s, type);
	} else {
		strbuf_adds(&text, bits & NLA_F_NESTED ? "NLA_F_NESTED|" : "");
		strbuf_adds(&text, bits & NLA_F_NET_BYTEORDER ? "NLA_F_NET_BYTEORDER|" : "");
		if (name)
			strbuf_adds(&text, name);
		else
			strbuf_addf(&text, "%#x", (unsigned)(type & NLA_TYPE_MASK));
		sink_word(s, strbuf_str(&text));
	}
	sink_end_struct(s);
}

/* One of them, of which len bytes are there. */
static void show_attr(struct call_decoder *d, const struct nla_rows *rows, int family,
		      const uint8_t *p, size_t len)
{
	const uint64_t size = value_uint(p, 2), type = value_uint(p + 2, 2);
	const char *name = rows ? flag_set_name(rows->types, type & NLA_TYPE_MASK) : NULL;
	const bool has_value = size > NLA_HDRLEN && len > NLA_HDRLEN;

	if (has_value) {
		sink_array(&d->sink);
		sink_item(&d->sink);
	}
	show_attr_head(d, rows, size, type);
	if (!has_value)
		return;
	sink_item(&d->sink);
	p += NLA_HDRLEN;
	len = (size < len ? size : len) - NLA_HDRLEN;
	bool shown = false;
	for (size_t i = 0; name && i < rows->n && !shown; i++)
		shown = !strcmp(rows->rows[i].name, name) &&
			show_value(d, &rows->rows[i], family, p, len);
	if (!shown)
		show_hex_bytes(d, p, len);
	sink_end_array(&d->sink);
}

void show_nlattrs(struct call_decoder *d, const struct nla_rows *rows, int family, const uint8_t *p,
		  size_t len)
{
	const size_t first = value_uint(p, 2);
	const bool several = first >= NLA_HDRLEN && NLA_ALIGN(first) + NLA_HDRLEN <= len;
	const uint64_t most = decode_max_items(d);

	/* attributes within attributes: as deep as the tables, and each is within the one above */
	if (several)
		sink_array(&d->sink);
	for (uint64_t i = 0;; i++) {
		const size_t size = value_uint(p, 2), step = NLA_ALIGN(size);

		if (several)
			sink_item(&d->sink);
		show_attr(d, rows, family, p, len);
		if (size < NLA_HDRLEN || step + NLA_HDRLEN > len)
			break;
		if (i + 1 == most) {
			sink_more(&d->sink);
			break;
		}
		p += step;
		len -= step;
	}
	if (several)
		sink_end_array(&d->sink);
}
