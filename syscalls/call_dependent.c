// SPDX-License-Identifier: BSD-2-Clause
/* Arguments whose meaning another argument of the call decides. */
#include <inttypes.h>
#include <stdio.h>

#include "syscalls/call_decode.h"

static void show_sock_protocol(struct call_decoder *d, uint64_t family, uint32_t v)
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

static void show_sock_option(struct call_decoder *d, uint64_t level, uint32_t v)
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

/* The value of a socket option: most are an int. */
static void show_sock_value(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	enum {
		SOCKET = 1,
		NETLINK = 270,
		ERROR = 4,
		LINGER = 13,
		RCVTIMEO = 20,
		SNDTIMEO = 21,
		BINDTODEVICE = 25,
		PEERCRED = 17
	};
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const uint64_t n = decode_count(d, kind);
	const bool is_socket = (uint32_t)d->args[1] == SOCKET;
	const uint32_t option = (uint32_t)d->args[2];
	struct value_sink *s = &d->sink;

	if (!d->args[arg] || !piece || !n || n > INT32_MAX || (piece->len < n && piece->len < 4)) {
		sink_addr(s, d->args[arg]);
	} else if (n < 4 && decode_is(d, "setsockopt")) {
		sink_addr(s, d->args[arg]);
	} else if (n < 4) {
		sink_hex_string(s, piece->data, n);
	} else if (is_socket && option == LINGER && n < 8 && decode_is(d, "setsockopt")) {
		sink_addr(s, d->args[arg]);
	} else if (is_socket && option == LINGER && n >= 8 && piece->len >= 8) {
		sink_struct(s);
		sink_member(s, "l_onoff");
		sink_i64(s, value_int(piece->data, 4));
		sink_member(s, "l_linger");
		sink_i64(s, value_int(piece->data + 4, 4));
		sink_end_struct(s);
	} else if (is_socket && option == PEERCRED && n >= 12 && piece->len >= 12) {
		sink_struct(s);
		sink_member(s, "pid");
		sink_i64(s, value_int(piece->data, 4));
		sink_member(s, "uid");
		sink_u64(s, value_uint(piece->data + 4, 4));
		sink_member(s, "gid");
		sink_u64(s, value_uint(piece->data + 8, 4));
		sink_end_struct(s);
	} else if (is_socket && (option == RCVTIMEO || option == SNDTIMEO) && piece->len >= 16) {
		sink_struct(s);
		sink_member(s, "tv_sec");
		sink_i64(s, value_int(piece->data, 8));
		sink_member(s, "tv_usec");
		sink_i64(s, value_int(piece->data + 8, 8));
		sink_end_struct(s);
	} else if (n == 4 || is_socket || (uint32_t)d->args[1] == NETLINK) {
		const uint64_t v = value_uint(piece->data, 4);
		const char *name =
			is_socket && option == ERROR ? flag_set_name(SET_error, v) : NULL;

		sink_array(s);
		sink_item(s);
		if (name)
			sink_word(s, name);
		else
			sink_i64(s, (int32_t)v);
		sink_end_array(s);
	} else {
		const uint64_t len = n < piece->len ? n : piece->len;

		sink_string(s, piece->data, len < 32 ? len : 32, len > 32);
	}
}

/* "FUTEX_WAIT_PRIVATE", "FUTEX_WAIT_BITSET|FUTEX_CLOCK_REALTIME" */
static void show_futex_op(struct call_decoder *d, uint32_t op)
{
	enum { PRIVATE = 128, REALTIME = 256 };
	const char *name = flag_set_name(SET_futex_op, op & ~(PRIVATE | REALTIME));

	if (!name) {
		sink_enum(&d->sink, SET_futex_op, op);
		return;
	}
	name = sink_cut_prefix(&d->sink, SET_futex_op, name);
	if (sink_is_perf(&d->sink) && !d->opts->show_prefix)
		sink_wordf(&d->sink, "%s%s%s", name, op & PRIVATE ? "|PRIVATE_FLAG" : "",
			   op & REALTIME ? "|CLOCK_REALTIME" : "");
	else
		sink_wordf(&d->sink, "%s%s%s", name, op & PRIVATE ? "_PRIVATE" : "",
			   op & REALTIME ? "|FUTEX_CLOCK_REALTIME" : "");
}

static void show_times(struct call_decoder *d, const uint8_t *p)
{
	const uint32_t word = d->layout == LAYOUT_32 ? 4 : 8;

	sink_struct(&d->sink);
	sink_member(&d->sink, "tv_sec");
	sink_i64(&d->sink, value_int(p, word));
	sink_member(&d->sink, "tv_nsec");
	sink_i64(&d->sink, value_int(p + word, word));
	sink_end_struct(&d->sink);
}

/* A time where the operation waits, else a number. */
static void show_futex_timeout(struct call_decoder *d, int arg)
{
	enum { REQUEUE = 3, CMP_REQUEUE = 4, WAKE_OP = 5, CMP_REQUEUE_PI = 12 };
	const uint32_t op = d->args[1] & 127;
	const struct trace_piece *piece = decode_piece(d, arg, false);

	if (op == REQUEUE || op == CMP_REQUEUE || op == WAKE_OP || op == CMP_REQUEUE_PI)
		sink_u64(&d->sink, (uint32_t)d->args[arg]);
	else if (d->args[arg] && piece && piece->len >= 16)
		show_times(d, piece->data);
	else
		sink_addr(&d->sink, d->args[arg]);
}

/* What FUTEX_WAKE_OP does with the second word. */
static void show_futex_val3(struct call_decoder *d, uint32_t v)
{
	static const char *const ops[] = {"FUTEX_OP_SET", "FUTEX_OP_ADD", "FUTEX_OP_OR",
					  "FUTEX_OP_ANDN", "FUTEX_OP_XOR"};
	static const char *const cmps[] = {"FUTEX_OP_CMP_EQ", "FUTEX_OP_CMP_NE", "FUTEX_OP_CMP_LT",
					   "FUTEX_OP_CMP_LE", "FUTEX_OP_CMP_GT", "FUTEX_OP_CMP_GE"};
	enum { CMP_REQUEUE = 4, WAKE_OP = 5, WAIT_BITSET = 9, WAKE_BITSET = 10 };
	const uint32_t op = d->args[1] & 127;
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	if (op == CMP_REQUEUE || op == 12) {
		sink_u64(&d->sink, v);
		return;
	}
	if ((op == WAIT_BITSET || op == WAKE_BITSET) && v == UINT32_MAX && !d->sink.w) {
		sink_word(&d->sink, "FUTEX_BITSET_MATCH_ANY");
		return;
	}
	if (op != WAKE_OP) {
		sink_hex(&d->sink, v);
		return;
	}
	const uint32_t what = v >> 28 & 7, cmp = v >> 24 & 15;
	if (v >> 31)
		strbuf_adds(&text, "FUTEX_OP_OPARG_SHIFT<<28|");
	if (what < ARRAY_SIZE(ops))
		strbuf_addf(&text, "%s<<28|", ops[what]);
	else
		strbuf_addf(&text, "%#x<<28 /* FUTEX_OP_??? */|", what);
	strbuf_addf(&text, "%#x<<12|", v >> 12 & 0xfff);
	if (cmp < ARRAY_SIZE(cmps))
		strbuf_addf(&text, "%s<<24|", cmps[cmp]);
	else
		strbuf_addf(&text, "%#x<<24 /* FUTEX_OP_CMP_??? */|", cmp);
	strbuf_addf(&text, "%#x", v & 0xfff);
	sink_word(&d->sink, strbuf_str(&text));
}

static void show_lock(struct call_decoder *d, const uint8_t *p, bool with_pid)
{
	struct value_sink *s = &d->sink;

	sink_struct(s);
	sink_member(s, "l_type");
	sink_enum(s, SET_fcntl_lock, (uint16_t)value_uint(p, 2));
	sink_member(s, "l_whence");
	sink_enum(s, SET_lseek_whence, (uint16_t)value_uint(p + 2, 2));
	sink_member(s, "l_start");
	sink_i64(s, value_int(p + 8, 8));
	sink_member(s, "l_len");
	sink_i64(s, value_int(p + 16, 8));
	if (with_pid) {
		sink_member(s, "l_pid");
		sink_i64(s, value_int(p + 24, 4));
	}
	sink_end_struct(s);
}

static void show_owner(struct call_decoder *d, const uint8_t *p)
{
	sink_struct(&d->sink);
	sink_member(&d->sink, "type");
	sink_enum(&d->sink, SET_fcntl_owner, value_uint(p, 4));
	sink_member(&d->sink, "pid");
	sink_i64(&d->sink, value_int(p + 4, 4));
	sink_end_struct(&d->sink);
}

static void show_fcntl_arg(struct call_decoder *d, int arg)
{
	enum {
		DUPFD = 0,
		SETFD = 2,
		SETFL = 4,
		GETLK = 5,
		SETLK = 6,
		SETLKW = 7,
		SETOWN = 8,
		SETSIG = 10,
		SETOWN_EX = 15,
		GETOWN_EX = 16,
		OFD_GETLK = 36,
		OFD_SETLK = 37,
		OFD_SETLKW = 38,
		SETLEASE = 1024,
		NOTIFY = 1026,
		DUPFD_CLOEXEC = 1030,
		SETPIPE_SZ = 1031,
		ADD_SEALS = 1033,
	};
	const uint64_t v = d->args[arg];
	struct value_sink *s = &d->sink;
	const uint32_t cmd = (uint32_t)d->args[1];
	const bool gets = cmd == GETLK || cmd == OFD_GETLK || cmd == GETOWN_EX;
	const struct trace_piece *piece =
		gets && (d->failed || !d->ended) ? NULL : decode_piece(d, arg, gets);

	switch (cmd) {
	case DUPFD:
	case DUPFD_CLOEXEC:
		sink_i64(s, (int32_t)v);
		return;
	case SETFD:
		sink_flags(s, SET_fcntl_fd, (uint32_t)v);
		return;
	case SETFL:
		sink_flags(s, SET_open_flags, (uint32_t)v);
		return;
	case SETOWN:
	case SETPIPE_SZ:
		sink_i64(s, (int64_t)v);
		return;
	case SETSIG:
		show_signal(d, (int)v);
		return;
	case SETLEASE:
		sink_enum(s, SET_fcntl_lock, (uint32_t)v);
		return;
	case NOTIFY:
		sink_flags(s, SET_fcntl_notify, (uint32_t)v);
		return;
	case ADD_SEALS:
		sink_flags(s, SET_fcntl_seals, (uint32_t)v);
		return;
	case GETLK:
	case OFD_GETLK:
	case SETLK:
	case SETLKW:
	case OFD_SETLK:
	case OFD_SETLKW:
		if (piece && piece->len >= 32 && d->layout == LAYOUT_64)
			show_lock(d, piece->data, gets);
		else
			sink_addr(s, v);
		return;
	case SETOWN_EX:
	case GETOWN_EX:
		if (piece && piece->len >= 8)
			show_owner(d, piece->data);
		else
			sink_addr(s, v);
		return;
	default:
		if (flag_set_name(SET_fcntl_cmd, cmd))
			sink_addr(s, v);
		else
			sink_hex(s, v);
	}
}

static void show_seccomp_flags(struct call_decoder *d, uint32_t v)
{
	if (d->args[0] != 1) { /* SECCOMP_SET_MODE_FILTER */
		sink_hex(&d->sink, v);
		return;
	}
	sink_flags(&d->sink, SET_seccomp_filter_flags, v);
}

/* A filter, an action, or sizes that are written. */
static void show_seccomp_arg(struct call_decoder *d, int arg)
{
	enum { SET_MODE_FILTER = 1, GET_ACTION_AVAIL = 2, GET_NOTIF_SIZES = 3 };
	static const char *const names[] = {"seccomp_notif", "seccomp_notif_resp", "seccomp_data"};
	const uint32_t op = (uint32_t)d->args[0], word = d->layout == LAYOUT_64 ? 8 : 4;
	const struct trace_piece *piece = decode_piece(d, arg, op == GET_NOTIF_SIZES && !d->failed);
	struct value_sink *s = &d->sink;

	if (op == SET_MODE_FILTER && piece && piece->len >= 2 * word) {
		sink_struct(s);
		sink_member(s, "len");
		sink_u64(s, value_uint(piece->data, 2));
		sink_member(s, "filter");
		sink_addr(s, value_uint(piece->data + word, word));
		sink_end_struct(s);
	} else if (op == GET_ACTION_AVAIL && piece && piece->len >= 4) {
		sink_array(s);
		sink_item(s);
		sink_enum(s, SET_seccomp_ret, value_uint(piece->data, 4));
		sink_end_array(s);
	} else if (op == GET_NOTIF_SIZES && !d->failed && piece && piece->len >= 6) {
		sink_struct(s);
		for (int i = 0; i < 3; i++) {
			sink_member(s, names[i]);
			sink_u64(s, value_uint(piece->data + 2 * i, 2));
		}
		sink_end_struct(s);
	} else {
		sink_addr(s, d->args[arg]);
	}
}

/* A struct sigset_t * and its size, in memory. */
static void show_sigmask_arg(struct call_decoder *d, int arg)
{
	const struct trace_piece *piece = decode_piece(d, arg, false);
	const uint32_t word = d->layout == LAYOUT_64 ? 8 : 4;

	if (!d->args[arg] || !piece || piece->len < 2 * word) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	sink_struct(&d->sink);
	sink_member(&d->sink, "sigmask");
	sink_addr(&d->sink, value_uint(piece->data, word));
	sink_member(&d->sink, "sigsetsize");
	sink_u64(&d->sink, value_uint(piece->data + word, word));
	sink_end_struct(&d->sink);
}

/*
 * The end of a struct that is larger than is known here: "???" where it could not be read, and
 * its bytes where they are not all 0.
 */
static void show_rest(struct call_decoder *d, const struct trace_piece *piece, uint64_t known,
		      uint64_t size)
{
	if (d->sink.w || size <= known)
		return;
	if (piece->flags & TRACE_PIECE_FAULT || piece->len < size) {
		sink_item(&d->sink);
		strbuf_adds(d->sink.out, "???");
		return;
	}
	for (uint64_t i = known; i < size; i++)
		if (piece->data[i]) {
			sink_item(&d->sink);
			strbuf_addf(d->sink.out, "/* bytes %" PRIu64 "..%" PRIu64 " */ ", known,
				    size - 1);
			sink_hex_string(&d->sink, piece->data + known, size - known);
			return;
		}
}

/* Flags, mode and resolve. */
static void show_open_how(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	enum { SIZE = 24, CREATE = 0x40, TMPFILE = 0x400000 };
	const struct trace_piece *piece = decode_piece(d, arg, false);
	struct value_sink *s = &d->sink;

	if (!d->args[arg] || !piece || piece->len < SIZE) {
		sink_addr(s, d->args[arg]);
		return;
	}
	const uint64_t flags = value_uint(piece->data, 8), mode = value_uint(piece->data + 8, 8);
	sink_struct(s);
	sink_member(s, "flags");
	sink_flags(s, SET_open_flags, flags);
	if (mode || flags & (CREATE | TMPFILE)) {
		sink_member(s, "mode");
		sink_octal(s, mode);
	}
	sink_member(s, "resolve");
	sink_flags(s, SET_resolve_flags, value_uint(piece->data + 16, 8));
	show_rest(d, piece, SIZE, decode_count(d, kind));
	sink_end_struct(s);
}

static void member_addr(struct call_decoder *d, const char *name, uint64_t v)
{
	sink_member(&d->sink, name);
	sink_addr(&d->sink, v);
}

/* Members that the flags ask for. */
static void show_clone_args(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	enum { SIZE = 64, PIDFD = 0x1000, SETTLS = 0x80000, PARENT = 0x100000, CHILD = 0x1200000 };
	const struct trace_piece *piece = decode_piece(d, arg, false);
	struct value_sink *s = &d->sink;

	if (!d->args[arg] || !piece || piece->len < SIZE) {
		sink_addr(s, d->args[arg]);
		return;
	}
	const uint8_t *p = piece->data;
	const uint64_t flags = value_uint(p, 8);
	sink_struct(s);
	sink_member(s, "flags");
	sink_flags(s, SET_clone3_flags, flags);
	if (flags & PIDFD)
		member_addr(d, "pidfd", value_uint(p + 8, 8));
	if (flags & CHILD)
		member_addr(d, "child_tid", value_uint(p + 16, 8));
	if (flags & PARENT)
		member_addr(d, "parent_tid", value_uint(p + 24, 8));
	sink_member(s, "exit_signal");
	show_signal(d, (int)value_uint(p + 32, 8));
	member_addr(d, "stack", value_uint(p + 40, 8));
	sink_member(s, "stack_size");
	sink_hex(s, value_uint(p + 48, 8));
	if (flags & SETTLS)
		member_addr(d, "tls", value_uint(p + 56, 8));
	const uint64_t size = decode_count(d, kind);
	if (size > SIZE && piece->len >= SIZE + 16 &&
	    value_uint(p + SIZE, 8) + value_uint(p + SIZE + 8, 8)) {
		member_addr(d, "set_tid", value_uint(p + SIZE, 8));
		sink_member(s, "set_tid_size");
		sink_u64(s, value_uint(p + SIZE + 8, 8));
	}
	if (size >= SIZE + 24 && piece->len >= SIZE + 24 && flags & 0x200000000) { /* INTO_CGROUP */
		sink_member(s, "cgroup");
		sink_u64(s, value_uint(p + SIZE + 16, 8));
	}
	show_rest(d, piece, SIZE + 24, size);
	sink_end_struct(s);
}

/* A struct of the kernel that has no decoder of its own: its bytes. */
static void show_struct_bytes(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);

	if (!d->args[arg] || !piece || !piece->len || decode_strace(d))
		sink_addr(&d->sink, d->args[arg]);
	else
		sink_string(&d->sink, piece->data, piece->len < 64 ? piece->len : 64,
			    piece->len > 64);
}

static void show_bpf_attr(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	enum { MAP_CREATE = 0, PROG_LOAD = 5, NAME = 16 };
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const uint32_t cmd = (uint32_t)d->args[0];
	struct value_sink *s = &d->sink;

	if (!piece || piece->len < 16 || (cmd != MAP_CREATE && cmd != PROG_LOAD)) {
		show_struct_bytes(d, arg, kind);
		return;
	}
	const uint8_t *p = piece->data;
	sink_struct(s);
	sink_member(s, cmd == MAP_CREATE ? "map_type" : "prog_type");
	sink_enum(s, cmd == MAP_CREATE ? SET_bpf_map_type : SET_bpf_prog_type, value_uint(p, 4));
	if (cmd == MAP_CREATE) {
		static const char *const names[] = {"key_size", "value_size", "max_entries"};

		for (int i = 0; i < 3; i++) {
			sink_member(s, names[i]);
			sink_u64(s, value_uint(p + 4 + 4 * i, 4));
		}
	} else {
		sink_member(s, "insn_cnt");
		sink_u64(s, value_uint(p + 4, 4));
		member_addr(d, "insns", value_uint(p + 8, 8));
	}
	const uint32_t name_at = cmd == MAP_CREATE ? 28 : 48;
	if (piece->len >= name_at + NAME) {
		sink_member(s, cmd == MAP_CREATE ? "map_name" : "prog_name");
		sink_string(s, p + name_at, strnlen((const char *)p + name_at, NAME), false);
	}
	sink_more(s);
	sink_end_struct(s);
}

static void show_perf_attr(struct call_decoder *d, int arg)
{
	enum { LEAST = 64 };
	const struct trace_piece *piece = decode_piece(d, arg, false);
	struct value_sink *s = &d->sink;

	if (!d->args[arg] || !piece || piece->len < LEAST) {
		sink_addr(s, d->args[arg]);
		return;
	}
	sink_struct(s);
	sink_member(s, "type");
	sink_enum(s, SET_perf_type, value_uint(piece->data, 4));
	sink_member(s, "size");
	sink_hex(s, value_uint(piece->data + 4, 4));
	sink_member(s, "config");
	sink_hex(s, value_uint(piece->data + 8, 8));
	sink_member(s, "sample_period");
	sink_u64(s, value_uint(piece->data + 16, 8));
	sink_more(s);
	sink_end_struct(s);
}

/* Directory entries in full, else how many there are. */
static void show_dents(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	struct value_sink *s = &d->sink;
	const bool is_64 = kind->value == SHOW_DENTS64;
	const uint32_t head = is_64 ? 19 : 18;
	unsigned n = 0;

	const bool full = d->opts->full || s->w;

	if (!d->args[arg] || d->layout != LAYOUT_64 || (!piece && (d->failed || d->rec->ret))) {
		sink_addr(s, d->args[arg]);
		return;
	}
	if (full)
		sink_array(s);
	for (size_t at = 0; piece && at + head < piece->len; n++) {
		const uint8_t *p = piece->data + at;
		const size_t reclen = value_uint(p + 16, 2), left = piece->len - at;
		const size_t size = reclen < left ? reclen : left;

		if (reclen <= head)
			break;
		at += reclen;
		if (!full)
			continue;
		sink_item(s);
		sink_struct(s);
		sink_member(s, "d_ino");
		sink_u64(s, value_uint(p, 8));
		sink_member(s, "d_off");
		sink_i64(s, value_int(p + 8, 8));
		sink_member(s, "d_reclen");
		sink_u64(s, reclen);
		if (is_64) {
			sink_member(s, "d_type");
			sink_enum(s, SET_dirent_type, p[18]);
		}
		sink_member(s, "d_name");
		sink_string(s, p + head, strnlen((const char *)p + head, size - head), false);
		if (!is_64) {
			sink_member(s, "d_type");
			sink_enum(s, SET_dirent_type, p[size - 1]);
		}
		sink_end_struct(s);
	}
	if (full)
		sink_end_array(s);
	else
		sink_addr(s, d->args[arg]);
	if (!full)
		sink_comment(s, "%u entr%s%s", n, n == 1 ? "y" : "ies",
			     piece && piece->flags & TRACE_PIECE_CUT ? " or more" : "");
}

/* "[0 1 5]": the numbers of the bits that are set. */
static void show_cpu_set(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint64_t n = decode_count(d, kind);

	if (d->args[arg] && !n && !d->failed && !(kind->direction & ARG_WRITTEN)) {
		sink_word(&d->sink, "[]");
		return;
	}
	if (!d->args[arg] || !piece || piece->len < n) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	for (uint64_t cpu = 0; cpu < n * 8; cpu++)
		if (piece->data[cpu / 8] >> cpu % 8 & 1)
			strbuf_addf(&text, "%s%" PRIu64, text.len ? " " : "", cpu);
	sink_wordf(&d->sink, "[%s]", strbuf_str(&text));
}

/* A byte for each page. */
static void show_mincore(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const uint64_t pages = (d->args[1] + 4095) / 4096;

	if (!d->args[arg] || !piece || (piece->len < pages && piece->len < 32)) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	sink_array(&d->sink);
	for (uint64_t i = 0; i < pages; i++) {
		if (i == 32 || i >= piece->len) {
			sink_more(&d->sink);
			break;
		}
		sink_item(&d->sink);
		sink_u64(&d->sink, piece->data[i] & 1);
	}
	sink_end_array(&d->sink);
}

void show_dependent(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const uint64_t v = d->args[arg];

	switch ((enum show_as)kind->value) {
	case SHOW_SOCK_PROTOCOL:
		show_sock_protocol(d, d->args[0], (uint32_t)v);
		break;
	case SHOW_SOCK_OPTION:
		show_sock_option(d, d->args[1], (uint32_t)v);
		break;
	case SHOW_SOCK_VALUE:
		show_sock_value(d, arg, kind);
		break;
	case SHOW_FUTEX_OP:
		show_futex_op(d, (uint32_t)v);
		break;
	case SHOW_FUTEX_TIMEOUT:
		show_futex_timeout(d, arg);
		break;
	case SHOW_FUTEX_VAL3:
		show_futex_val3(d, (uint32_t)v);
		break;
	case SHOW_PTRACE_REQUEST:
		sink_enum(&d->sink, SET_ptrace_request, v);
		break;
	case SHOW_PRCTL_OPTION:
		sink_enum(&d->sink, SET_prctl_option, (uint32_t)v);
		break;
	case SHOW_PRCTL_ARG:
	case SHOW_PRCTL_REST:
	case SHOW_PRCTL_TEXT:
		show_prctl_arg(d, arg);
		break;
	case SHOW_ARCH_PRCTL_ARG:
		show_arch_prctl_arg(d, arg);
		break;
	case SHOW_IOCTL_CMD:
		show_ioctl_cmd(d, (uint32_t)v);
		break;
	case SHOW_IOCTL_ARG:
		show_ioctl_arg(d, arg);
		break;
	case SHOW_FCNTL_ARG:
		show_fcntl_arg(d, arg);
		break;
	case SHOW_SECCOMP_FLAGS:
		show_seccomp_flags(d, (uint32_t)v);
		break;
	case SHOW_SECCOMP_ARG:
		show_seccomp_arg(d, arg);
		break;
	case SHOW_KCMP_IDX:
		if (d->args[2] == 0) /* KCMP_FILE */
			show_fd(d, (int)v);
		else
			sink_hex(&d->sink, v);
		break;
	case SHOW_SIGMASK_ARG:
		show_sigmask_arg(d, arg);
		break;
	case SHOW_OPEN_HOW:
		show_open_how(d, arg, kind);
		break;
	case SHOW_CLONE_ARGS:
		show_clone_args(d, arg, kind);
		break;
	case SHOW_BPF_ATTR:
		show_bpf_attr(d, arg, kind);
		break;
	case SHOW_PERF_ATTR:
		show_perf_attr(d, arg);
		break;
	case SHOW_DENTS:
	case SHOW_DENTS64:
		show_dents(d, arg, kind);
		break;
	case SHOW_CPU_SET:
		show_cpu_set(d, arg, kind);
		break;
	case SHOW_IPC_ARG:
		show_ipc_arg(d, arg);
		break;
	case SHOW_MINCORE:
		show_mincore(d, arg, kind);
		break;
	case SHOW_FILE_HANDLE:
	case SHOW_CPU_SET_HEX:
		sink_addr(&d->sink, v);
		break;
	default:
		show_number(d, kind, v);
	}
}
