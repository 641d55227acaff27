// SPDX-License-Identifier: BSD-2-Clause
/* fcntl(2): the command says what its argument is. */
#include "syscalls/call_decode.h"
#include "syscalls/fcntl_commands.h"

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
	const uint64_t v = d->args[arg];
	struct value_sink *s = &d->sink;
	const uint32_t cmd = (uint32_t)d->args[1];
	const bool gets = cmd == FCNTL_GETLK || cmd == FCNTL_OFD_GETLK || cmd == FCNTL_GETOWN_EX;
	const struct trace_piece *piece =
		gets && (d->failed || !d->ended) ? NULL : decode_piece(d, arg, gets);

	switch (cmd) {
	case FCNTL_DUPFD:
	case FCNTL_DUPFD_CLOEXEC:
		sink_i64(s, (int32_t)v);
		return;
	case FCNTL_SETFD:
		sink_flags(s, SET_fcntl_fd, (uint32_t)v);
		return;
	case FCNTL_SETFL:
		sink_flags(s, SET_open_flags, (uint32_t)v);
		return;
	case FCNTL_SETOWN:
	case FCNTL_SETPIPE_SZ:
		sink_i64(s, (int64_t)v);
		return;
	case FCNTL_SETSIG:
		show_signal(d, (int)v);
		return;
	case FCNTL_SETLEASE:
		sink_enum(s, SET_fcntl_lock, (uint32_t)v);
		return;
	case FCNTL_NOTIFY:
		sink_flags(s, SET_fcntl_notify, (uint32_t)v);
		return;
	case FCNTL_ADD_SEALS:
		sink_flags(s, SET_fcntl_seals, (uint32_t)v);
		return;
	case FCNTL_GETLK:
	case FCNTL_OFD_GETLK:
	case FCNTL_SETLK:
	case FCNTL_SETLKW:
	case FCNTL_OFD_SETLK:
	case FCNTL_OFD_SETLKW:
		if (piece && piece->len >= 32 && d->layout == LAYOUT_64)
			show_lock(d, piece->data, gets);
		else
			sink_addr(s, v);
		return;
	case FCNTL_SETOWN_EX:
	case FCNTL_GETOWN_EX:
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
