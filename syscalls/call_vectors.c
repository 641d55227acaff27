// SPDX-License-Identifier: BSD-2-Clause
/* Strings and buffers, and what is made of several of them: argv, iovec, msghdr. */
#include <inttypes.h>

#include "syscalls/call_decode.h"

enum {
	MAX_SHOWN = 32, /* items of an array, unless it is shown in full */
	IOV_LIMIT = 1024,
};

static uint32_t word_size(const struct call_decoder *d)
{
	return d->layout == LAYOUT_64 ? 8 : 4;
}

static void show_path(struct call_decoder *d, const struct trace_piece *piece)
{
	const size_t len = strnlen((const char *)piece->data, piece->len);

	sink_string(&d->sink, piece->data, len,
		    piece->flags & TRACE_PIECE_CUT && len == piece->len);
}

/* Up to n bytes of a buffer; a piece that has fewer was cut. */
static void show_bytes(struct call_decoder *d, const struct trace_piece *piece, uint64_t n)
{
	const uint64_t len = piece->len < n ? piece->len : n;

	sink_string(&d->sink, piece->data, len, piece->len < n);
}

/* sethostname(2), kexec_file_load(2): text with a length, up to a NUL. */
static void show_counted_text(struct call_decoder *d, const struct trace_piece *piece, uint64_t n)
{
	show_bytes(d, piece, n);
}

static void show_msgbuf(struct call_decoder *d, const struct trace_piece *piece, uint64_t n)
{
	const uint32_t word = word_size(d);

	if (piece->len < word) {
		sink_addr(&d->sink, piece->addr);
		return;
	}
	sink_struct(&d->sink);
	sink_member(&d->sink, "mtype");
	sink_i64(&d->sink, value_int(piece->data, word));
	sink_member(&d->sink, "mtext");
	const uint64_t left = piece->len - word;
	sink_string(&d->sink, piece->data + word, left < n ? left : n, left < n);
	sink_end_struct(&d->sink);
}

void show_string_arg(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const uint64_t n = decode_count(d, kind);
	const bool counted = kind->count_by != COUNT_NONE;

	if (d->args[arg] && counted && !n && (piece || kind->count_by == COUNT_ARG || d->ended) &&
	    kind->value != SHOW_MSGBUF && !(d->failed && kind->direction & ARG_WRITTEN))
		sink_string(&d->sink, "", 0, false);
	else if (!d->args[arg] || !piece || (piece->flags & TRACE_PIECE_FAULT && !piece->len) ||
		 (piece->flags & TRACE_PIECE_FAULT && (!counted || piece->len < n)))
		sink_addr(&d->sink, d->args[arg]);
	else if (kind->value == SHOW_MSGBUF)
		show_msgbuf(d, piece, n);
	else if (!counted)
		show_path(d, piece);
	else if (kind->value == SHOW_STR && kind->count_by == COUNT_RET && decode_is(d, "getcwd"))
		show_bytes(d, piece, n - 1);
	else
		show_counted_text(d, piece, n);
}

/* The first piece of an argument in a copy, from a number on; n_pieces: none. */
static unsigned next_piece(const struct call_decoder *d, int arg, unsigned from, bool at_exit)
{
	for (; from < d->n_pieces; from++)
		if (d->pieces[from]->arg == arg && !d->pieces[from]->exit == !at_exit)
			break;
	return from;
}

void show_strings(struct call_decoder *d, int arg, bool is_envp)
{
	struct value_sink *s = &d->sink;
	unsigned at = next_piece(d, arg, 0, false), n = 0;

	if (!d->args[arg] || at == d->n_pieces) {
		sink_addr(s, d->args[arg]);
		return;
	}
	if (is_envp && !d->opts->full && !s->w) {
		bool more = false;

		sink_addr(s, d->args[arg]);
		for (; at < d->n_pieces; at = next_piece(d, arg, at + 1, false), n++)
			more = d->pieces[at]->flags & TRACE_PIECE_CUT && !d->pieces[at]->len;
		sink_comment(s, "%u var%s%s", n, n == 1 ? "" : "s", more ? " or more" : "");
		return;
	}
	sink_array(s);
	for (; at < d->n_pieces; at = next_piece(d, arg, at + 1, false), n++) {
		if ((n == MAX_SHOWN && !d->opts->full && !s->w) ||
		    (d->pieces[at]->flags & TRACE_PIECE_FAULT && !d->pieces[at]->len)) {
			sink_more(s);
			break;
		}
		sink_item(s);
		show_path(d, d->pieces[at]);
	}
	sink_end_array(s);
}

/*
 * An array of n struct iovec at `array`, whose buffers are the pieces from *at on, with no more
 * than total bytes in all. A buffer without a piece is shown as its address.
 */
static void show_iovecs(struct call_decoder *d, int arg, const uint8_t *array, size_t len,
			uint64_t n, unsigned *at, bool at_exit, bool buffers, uint64_t total,
			uint64_t addr)
{
	struct value_sink *s = &d->sink;
	const uint32_t word = word_size(d);
	const uint64_t there = len / (2 * word);

	sink_array(s);
	for (uint64_t i = 0; i < n; i++) {
		if (i >= there || (i == MAX_SHOWN && !d->opts->full && !s->w)) {
			sink_more(s);
			if (i >= there && i < MAX_SHOWN)
				sink_comment(s, "%#" PRIx64, addr + i * 2 * word);
			break;
		}
		const uint64_t base = value_uint(array + i * 2 * word, word);
		const uint64_t size = value_uint(array + i * 2 * word + word, word);
		const uint64_t used = size < total ? size : total;
		const unsigned piece = *at;

		sink_item(s);
		sink_struct(s);
		sink_member(s, "iov_base");
		if (buffers && piece < d->n_pieces && d->pieces[piece]->addr == base && used &&
		    !(d->pieces[piece]->flags & TRACE_PIECE_FAULT)) {
			show_bytes(d, d->pieces[piece], used);
			*at = next_piece(d, arg, piece + 1, at_exit);
		} else if (buffers && !used && base) {
			sink_string(s, "", 0, false);
			if (piece < d->n_pieces && d->pieces[piece]->addr == base)
				*at = next_piece(d, arg, piece + 1, at_exit);
		} else {
			sink_addr(s, base);
			if (piece < d->n_pieces && d->pieces[piece]->addr == base)
				*at = next_piece(d, arg, piece + 1, at_exit);
		}
		total -= used;
		sink_member(s, "iov_len");
		sink_u64(s, size);
		sink_end_struct(s);
	}
	sink_end_array(s);
}

void show_iovec_arg(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const bool at_exit = kind->direction & ARG_WRITTEN;
	unsigned at = next_piece(d, arg, 0, at_exit);
	const uint64_t n = decode_count(d, kind);

	if (!d->args[arg] || (at_exit && d->failed) || at == d->n_pieces || n > IOV_LIMIT ||
	    (n && d->pieces[at]->len < 2 * word_size(d))) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	const struct trace_piece *array = d->pieces[at];
	const uint64_t total = at_exit ? (uint64_t)d->rec->ret : UINT64_MAX;
	at = next_piece(d, arg, at + 1, at_exit);
	show_iovecs(d, arg, array->data, array->len, n, &at, at_exit, kind->value == SHOW_IOVEC,
		    total, d->args[arg]);
}

/* Where the members of struct msghdr lie. */
struct msghdr_view {
	uint64_t name, iov, iovlen, control, controllen;
	uint32_t namelen, flags;
};

static size_t msghdr_size(const struct call_decoder *d)
{
	return d->layout == LAYOUT_64 ? 56 : 28;
}

static struct msghdr_view read_msghdr(const struct call_decoder *d, const uint8_t *p)
{
	const uint32_t w = word_size(d);
	const uint32_t at = w == 8 ? 16 : 8;

	return (struct msghdr_view){
		.name = value_uint(p, w),
		.namelen = (uint32_t)value_uint(p + w, 4),
		.iov = value_uint(p + at, w),
		.iovlen = value_uint(p + at + w, w),
		.control = value_uint(p + at + 2 * w, w),
		.controllen = value_uint(p + at + 3 * w, w),
		.flags = (uint32_t)value_uint(p + at + 4 * w, 4),
	};
}

/* Control messages: descriptors and credentials by their members, others as bytes. */
static void show_control(struct call_decoder *d, const uint8_t *p, size_t len)
{
	enum { LEVEL_SOCKET = 1, TYPE_RIGHTS = 1, TYPE_CREDENTIALS = 2 };
	struct value_sink *s = &d->sink;
	const uint32_t w = word_size(d), head = w + 8;

	sink_array(s);
	while (len >= head) {
		const uint64_t size = value_uint(p, w);
		const int level = (int)value_int(p + w, 4), type = (int)value_int(p + w + 4, 4);
		const uint64_t data = size < head ? 0 : (size < len ? size : len) - head;

		sink_item(s);
		sink_struct(s);
		sink_member(s, "cmsg_len");
		sink_u64(s, size);
		sink_member(s, "cmsg_level");
		sink_enum(s, SET_sock_level, (uint32_t)level);
		sink_member(s, "cmsg_type");
		if (level == LEVEL_SOCKET)
			sink_enum(s, SET_scm_type, (uint32_t)type);
		else
			sink_hex(s, (uint32_t)type);
		if (level == LEVEL_SOCKET && type == TYPE_RIGHTS && data >= 4) {
			sink_member(s, "cmsg_data");
			sink_array(s);
			for (uint64_t i = 0; i + 4 <= data; i += 4) {
				sink_item(s);
				show_fd(d, (int)value_int(p + head + i, 4));
			}
			sink_end_array(s);
		} else if (level == LEVEL_SOCKET && type == TYPE_CREDENTIALS && data >= 12) {
			sink_member(s, "cmsg_data");
			sink_struct(s);
			sink_member(s, "pid");
			sink_i64(s, value_int(p + head, 4));
			sink_member(s, "uid");
			sink_u64(s, value_uint(p + head + 4, 4));
			sink_member(s, "gid");
			sink_u64(s, value_uint(p + head + 8, 4));
			sink_end_struct(s);
		} else if (data) {
			sink_member(s, "cmsg_data");
			sink_string(s, p + head, data < MAX_SHOWN ? data : MAX_SHOWN,
				    data > MAX_SHOWN);
		}
		sink_end_struct(s);
		const uint64_t step = (size + w - 1) & ~(uint64_t)(w - 1);
		if (size < head || step >= len)
			break;
		p += step;
		len -= step;
	}
	sink_end_array(s);
}

/* The piece that was read at an address, from *at on; NULL: it is not the next one. */
static const struct trace_piece *take_piece(const struct call_decoder *d, int arg, unsigned *at,
					    bool at_exit, uint64_t addr)
{
	const unsigned i = *at;

	if (i >= d->n_pieces || !addr || d->pieces[i]->addr != addr)
		return NULL;
	*at = next_piece(d, arg, i + 1, at_exit);
	return d->pieces[i];
}

/* A msghdr at p, whose name, iovec array, buffers and control data are the pieces from *at on. */
static void show_msghdr(struct call_decoder *d, int arg, const uint8_t *p, unsigned *at,
			bool at_exit, uint64_t total)
{
	struct value_sink *s = &d->sink;
	const struct msghdr_view m = read_msghdr(d, p);
	const struct trace_piece *name = take_piece(d, arg, at, at_exit, m.name);

	sink_struct(s);
	sink_member(s, "msg_name");
	if (name && name->len >= 2)
		show_sockaddr(d, name->data, name->len < m.namelen ? name->len : m.namelen);
	else
		sink_addr(s, m.name);
	sink_member(s, "msg_namelen");
	sink_i64(s, (int32_t)m.namelen);
	sink_member(s, "msg_iov");
	const struct trace_piece *array = take_piece(d, arg, at, at_exit, m.iov);
	if (array && m.iovlen <= IOV_LIMIT)
		show_iovecs(d, arg, array->data, array->len, m.iovlen, at, at_exit, true, total,
			    m.iov);
	else
		sink_addr(s, m.iov);
	sink_member(s, "msg_iovlen");
	sink_u64(s, m.iovlen);
	const struct trace_piece *control = take_piece(d, arg, at, at_exit, m.control);
	if (m.controllen) {
		sink_member(s, "msg_control");
		if (control && control->len)
			show_control(d, control->data, control->len);
		else
			sink_addr(s, m.control);
	}
	sink_member(s, "msg_controllen");
	sink_u64(s, m.controllen);
	sink_member(s, "msg_flags");
	sink_flags(s, SET_msg_flags, m.flags);
	sink_end_struct(s);
}

void show_msghdr_arg(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const bool at_exit = kind->direction & ARG_WRITTEN;
	unsigned at = next_piece(d, arg, 0, at_exit);

	if (!d->args[arg] || (at_exit && d->failed) || at == d->n_pieces ||
	    d->pieces[at]->len < msghdr_size(d)) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	const uint8_t *p = d->pieces[at]->data;
	at = next_piece(d, arg, at + 1, at_exit);
	show_msghdr(d, arg, p, &at, at_exit, at_exit ? (uint64_t)d->rec->ret : UINT64_MAX);
}

void show_mmsghdr_arg(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const bool at_exit = kind->direction & ARG_WRITTEN;
	const size_t size = msghdr_size(d) + (d->layout == LAYOUT_64 ? 8 : 4);
	unsigned at = next_piece(d, arg, 0, at_exit);
	uint64_t n = at_exit && d->ended ? (uint64_t)d->rec->ret : decode_count(d, kind);

	if (!d->args[arg] || (at_exit && d->failed) || at == d->n_pieces) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	const struct trace_piece *array = d->pieces[at];
	n = n < array->len / size ? n : array->len / size;
	at = next_piece(d, arg, at + 1, at_exit);
	sink_array(&d->sink);
	for (uint64_t i = 0; i < n; i++) {
		const uint8_t *p = array->data + i * size;
		const uint32_t len = (uint32_t)value_uint(p + msghdr_size(d), 4);

		sink_item(&d->sink);
		sink_struct(&d->sink);
		sink_member(&d->sink, "msg_hdr");
		show_msghdr(d, arg, p, &at, at_exit, at_exit ? len : UINT64_MAX);
		if (at_exit || d->ended) {
			sink_member(&d->sink, "msg_len");
			sink_u64(&d->sink, len);
		}
		sink_end_struct(&d->sink);
	}
	sink_end_array(&d->sink);
}
