// SPDX-License-Identifier: BSD-2-Clause
/* fcntl(2): the command says what its argument is. */
#include "syscalls/call_decode.h"

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

void show_fcntl_arg(struct call_decoder *d, int arg)
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
