// SPDX-License-Identifier: BSD-2-Clause
/* Strings and buffers, and what is made of several of them: argv, iovec, msghdr. */
#include <inttypes.h>

#include "syscalls/call_decode.h"

enum { IOV_LIMIT = 1024 };

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

	if (!d->opts->hex_strings && show_netlink_messages(d, piece->data, len, n))
		return;
	sink_buffer(&d->sink, piece->data, len, piece->len < n);
}

/* The same in hexadecimal, as strace has bytes that are never text. */
static void show_random(struct call_decoder *d, const struct trace_piece *piece, uint64_t n)
{
	sink_hex_string(&d->sink, piece->data, piece->len < n ? piece->len : n);
	if (piece->len < n)
		strbuf_adds(d->sink.out, "...");
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
	uint64_t n = decode_count(d, kind);
	const bool counted = kind->count_by != COUNT_NONE && kind->value != SHOW_PATH;

	/* With MSG_TRUNC the result is more than was written. */
	if (kind->count_by == COUNT_RET && arg + 1 < d->n_args && n > d->args[arg + 1] &&
	    kind->value == SHOW_BUF)
		n = d->args[arg + 1];
	if (d->args[arg] && counted && !n && (piece || kind->count_by == COUNT_ARG || d->ended) &&
	    kind->value != SHOW_MSGBUF && !(d->failed && kind->direction & ARG_WRITTEN))
		sink_string(&d->sink, "", 0, false);
	else if (!d->args[arg] || !piece ||
		 (piece->flags & TRACE_PIECE_FAULT && (!counted || piece->len < n)))
		sink_addr(&d->sink, d->args[arg]);
	else if (kind->value == SHOW_MSGBUF)
		show_msgbuf(d, piece, n);
	else if (!counted)
		show_path(d, piece);
	else if (kind->value == SHOW_RANDOM && decode_strace(d))
		show_random(d, piece, n);
	else
		show_bytes(d, piece, n);
}

/* String number i of the new program's arguments, with its NUL; NULL: it is not there. */
static const char *area_string(const struct trace_piece *area, size_t i, size_t *len)
{
	size_t at = 0;

	for (;; i--) {
		const char *text = (const char *)area->data + at;

		*len = strnlen(text, area->len - at);
		if (at + *len >= area->len)
			return NULL;
		if (!i)
			return text;
		at += *len + 1;
	}
}

/*
 * The arguments of the program that execve(2) has begun; NULL: they are not those of the call. A
 * script's interpreter has others: its own name, perhaps an option, and then the script's.
 */
static const struct trace_piece *exec_area(const struct call_decoder *d, int arg)
{
	const unsigned at = decode_part(d, 0, arg, false, TRACE_PART_AREA, -1);
	const struct trace_piece *name = arg ? decode_piece(d, arg - 1, false) : NULL;

	if (at == d->n_pieces || !name)
		return NULL;
	for (size_t i = 1; i <= 2; i++) {
		size_t len;
		const char *text = area_string(d->pieces[at], i, &len);

		if (text && len == name->len && !memcmp(text, name->data, len))
			return NULL;
	}
	return d->pieces[at];
}

static void show_area(struct call_decoder *d, const struct trace_piece *area)
{
	struct value_sink *s = &d->sink;
	const char *text;
	size_t len;

	sink_array(s);
	for (size_t i = 0; (text = area_string(area, i, &len)); i++) {
		const size_t most = d->opts->max_items ? d->opts->max_items : DECODE_ITEMS;

		if (i == decode_max_items(d)) {
			sink_more(s);
			sink_end_array(s);
			return;
		}
		sink_item(s);
		sink_string(s, text, len < most ? len : most, len > most);
	}
	if (area->flags & TRACE_PIECE_CUT)
		sink_more(s);
	sink_end_array(s);
}

void show_strings(struct call_decoder *d, int arg, bool is_envp)
{
	struct value_sink *s = &d->sink;
	const struct trace_piece *area = is_envp ? NULL : exec_area(d, arg);

	if (area) {
		show_area(d, area);
		return;
	}
	const struct trace_piece *head = decode_piece(d, arg, false);
	const uint64_t n = head ? head->full : 0;

	if (!d->args[arg] || !head || (!n && head->flags & TRACE_PIECE_FAULT)) {
		sink_addr(s, d->args[arg]);
		return;
	}
	if (is_envp && !d->opts->full && !s->w) {
		sink_addr(s, d->args[arg]);
		sink_comment(s, "%" PRIu64 " var%s%s%s", n, n == 1 ? "" : "s",
			     head->flags & TRACE_PIECE_CUT ? " or more" : "",
			     head->flags & TRACE_PIECE_FAULT ? ", unterminated" : "");
		return;
	}
	sink_array(s);
	for (uint64_t i = 0; i < n; i++) {
		unsigned at = decode_part(d, 0, arg, false, TRACE_PART_STRING, (int)i);
		const unsigned again =
			decode_part(d, at + 1, arg, false, TRACE_PART_STRING, (int)i);

		if (at < d->n_pieces && d->pieces[at]->flags & TRACE_PIECE_FAULT &&
		    again < d->n_pieces)
			at = again;
		if (i == decode_max_items(d) || at == d->n_pieces) {
			sink_more(s);
			sink_end_array(s);
			return;
		}
		sink_item(s);
		if (d->pieces[at]->flags & TRACE_PIECE_FAULT)
			sink_addr(s, d->pieces[at]->addr);
		else
			show_path(d, d->pieces[at]);
	}
	if (head->flags & (TRACE_PIECE_FAULT | TRACE_PIECE_CUT)) {
		sink_more(s);
		if (head->flags & TRACE_PIECE_FAULT)
			sink_comment(s, "%#" PRIx64, d->args[arg] + n * word_size(d));
	}
	sink_end_array(s);
}

/* The iovecs of an argument, or of a message of it. */
struct iovecs_view {
	int arg;
	int message; /* -1: they are the argument's own */
	bool at_exit;
	bool buffers;	/* shown; else their addresses */
	uint64_t total; /* bytes of all buffers that were used */
	uint64_t n;
	unsigned at; /* of the next buffer's piece */
};

/* The piece of buffer number i at an address; NULL: it has none. */
static const struct trace_piece *next_buffer(const struct call_decoder *d, struct iovecs_view *v,
					     uint64_t i, uint64_t addr)
{
	const int index = v->message >= 0 ? v->message : (int)i;
	unsigned at = decode_part(d, v->at, v->arg, v->at_exit, TRACE_PART_BUFFER, index);

	/* one that could not be read at the entry is behind the others */
	while (at < d->n_pieces && d->pieces[at]->addr != addr)
		at = decode_part(d, at + 1, v->arg, v->at_exit, TRACE_PART_BUFFER, index);
	if (i >= DECODE_ITEMS || at == d->n_pieces)
		return NULL;
	v->at = at + 1;
	return d->pieces[at];
}

static void show_iovecs(struct call_decoder *d, const struct trace_piece *array,
			struct iovecs_view *v)
{
	struct value_sink *s = &d->sink;
	const uint32_t word = word_size(d);
	const uint64_t there = array->len / (2 * word);

	sink_array(s);
	for (uint64_t i = 0; i < v->n; i++) {
		if (i >= there || i == decode_max_items(d)) {
			sink_more(s);
			if (i >= there && array->flags & TRACE_PIECE_FAULT)
				sink_comment(s, "%#" PRIx64, (uint64_t)array->addr + i * 2 * word);
			break;
		}
		const uint8_t *p = array->data + i * 2 * word;
		const uint64_t base = value_uint(p, word), size = value_uint(p + word, word);
		const uint64_t used = size < v->total ? size : v->total;
		const struct trace_piece *piece = next_buffer(d, v, i, base);

		v->total -= used;
		sink_item(s);
		sink_struct(s);
		sink_member(s, "iov_base");
		if (v->buffers && base && !used)
			sink_string(s, "", 0, false);
		else if (v->buffers && piece && !(piece->flags & TRACE_PIECE_FAULT))
			show_bytes(d, piece, used);
		else
			sink_addr(s, base);
		sink_member(s, "iov_len");
		sink_u64(s, size);
		sink_end_struct(s);
	}
	sink_end_array(s);
}

void show_iovec_arg(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const bool at_exit = kind->direction & ARG_WRITTEN;
	const struct trace_piece *array = decode_piece(d, arg, at_exit);
	struct iovecs_view v = {
		.arg = arg,
		.message = -1,
		.at_exit = at_exit,
		.buffers = kind->value == SHOW_IOVEC && !(at_exit && d->failed),
		.total = at_exit ? (uint64_t)d->rec->ret : UINT64_MAX,
		.n = decode_count(d, kind),
	};

	if (d->args[arg] && !v.n) {
		sink_array(&d->sink);
		sink_end_array(&d->sink);
	} else if (!d->args[arg] || !array || v.n > IOV_LIMIT || array->len < 2 * word_size(d)) {
		sink_addr(&d->sink, d->args[arg]);
	} else {
		show_iovecs(d, array, &v);
	}
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

static size_t mmsghdr_size(const struct call_decoder *d)
{
	return msghdr_size(d) + (d->layout == LAYOUT_64 ? 8 : 4);
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
				if (i / 4 == decode_max_items(d)) {
					sink_more(s);
					break;
				}
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
			sink_string(s, p + head, data < DECODE_ITEMS ? data : DECODE_ITEMS,
				    data > DECODE_ITEMS);
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

/* A part of a message that was read at an address; NULL: there is none. */
static const struct trace_piece *message_part(const struct call_decoder *d, int arg, int message,
					      bool at_exit, enum trace_part part, uint64_t addr)
{
	const unsigned i = decode_part(d, 0, arg, at_exit, part, message);

	return addr && i < d->n_pieces && d->pieces[i]->addr == addr ? d->pieces[i] : NULL;
}

/* "110 => 0": what the call was given, and what it wrote. */
static void show_namelen(struct call_decoder *d, int arg, int message, uint32_t namelen)
{
	const struct trace_piece *before = decode_piece(d, arg, false);
	const uint32_t w = word_size(d);
	const size_t at = (size_t)message * mmsghdr_size(d) + w;
	const bool known = decode_strace(d) && before && at + 4 <= before->len &&
			   !strncmp(d->call->name, "recv", 4);

	if (known && value_uint(before->data + at, 4) != namelen)
		sink_wordf(&d->sink, "%d => %d", (int32_t)value_int(before->data + at, 4),
			   (int32_t)namelen);
	else
		sink_i64(&d->sink, (int32_t)namelen);
}

static void show_msghdr(struct call_decoder *d, int arg, int message, const uint8_t *p,
			bool at_exit, uint64_t total)
{
	struct value_sink *s = &d->sink;
	const struct msghdr_view m = read_msghdr(d, p);
	const struct trace_piece *piece =
		message_part(d, arg, message, at_exit, TRACE_PART_NAME, m.name);

	sink_struct(s);
	sink_member(s, "msg_name");
	if (piece && piece->len >= 2 && !(piece->flags & TRACE_PIECE_FAULT))
		show_sockaddr(d, piece->data, piece->len < m.namelen ? piece->len : m.namelen);
	else
		sink_addr(s, m.name);
	sink_member(s, "msg_namelen");
	show_namelen(d, arg, message, m.namelen);
	sink_member(s, "msg_iov");
	piece = message_part(d, arg, message, at_exit, TRACE_PART_IOVEC, m.iov);
	struct iovecs_view v = {
		.arg = arg,
		.message = message,
		.at_exit = at_exit,
		.buffers = true,
		.total = total,
		.n = m.iovlen,
	};
	if (m.iov && !m.iovlen) {
		sink_array(s);
		sink_end_array(s);
	} else if (piece && m.iovlen <= IOV_LIMIT && piece->len >= 2 * word_size(d)) {
		show_iovecs(d, piece, &v);
	} else {
		sink_addr(s, m.iov);
	}
	sink_member(s, "msg_iovlen");
	sink_u64(s, m.iovlen);
	piece = message_part(d, arg, message, at_exit, TRACE_PART_CONTROL, m.control);
	if (m.controllen) {
		sink_member(s, "msg_control");
		if (piece && piece->len >= word_size(d) + 8)
			show_control(d, piece->data, piece->len);
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
	const struct trace_piece *piece = decode_piece(d, arg, at_exit);

	const struct trace_piece *before = decode_piece(d, arg, false);

	if (decode_strace(d) && at_exit && d->failed && before && before->len >= msghdr_size(d)) {
		/* of a message that did not come there is what the call was given */
		sink_struct(&d->sink);
		sink_member(&d->sink, "msg_namelen");
		sink_i64(&d->sink, (int32_t)read_msghdr(d, before->data).namelen);
		sink_end_struct(&d->sink);
	} else if (!d->args[arg] || (at_exit && d->failed) || !piece || piece->len < msghdr_size(d))
		sink_addr(&d->sink, d->args[arg]);
	else
		show_msghdr(d, arg, 0, piece->data, at_exit,
			    at_exit ? (uint64_t)d->rec->ret : UINT64_MAX);
}

void show_mmsghdr_arg(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const bool at_exit = kind->direction & ARG_WRITTEN;
	const struct trace_piece *sent = at_exit ? NULL : decode_piece(d, arg, true);
	const size_t size = mmsghdr_size(d);
	const uint64_t n = at_exit && d->ended ? (uint64_t)d->rec->ret : decode_count(d, kind);

	if (!d->args[arg] || (at_exit && d->failed) ||
	    (n && decode_part(d, 0, arg, at_exit, TRACE_PART_SELF, 0) == d->n_pieces)) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	sink_array(&d->sink);
	for (uint64_t i = 0; i < n; i++) {
		const unsigned at = decode_part(d, 0, arg, at_exit, TRACE_PART_SELF, (int)i);

		if (i > UINT8_MAX || at == d->n_pieces || d->pieces[at]->len < size) {
			sink_more(&d->sink);
			if (at < d->n_pieces && d->pieces[at]->flags & TRACE_PIECE_FAULT)
				sink_comment(&d->sink, "%#" PRIx64, (uint64_t)d->pieces[at]->addr);
			break;
		}
		const uint8_t *p = d->pieces[at]->data;
		const uint32_t len = (uint32_t)value_uint(p + msghdr_size(d), 4);
		sink_item(&d->sink);
		sink_struct(&d->sink);
		sink_member(&d->sink, "msg_hdr");
		show_msghdr(d, arg, (int)i, p, at_exit, at_exit ? len : UINT64_MAX);
		if (at_exit) {
			sink_member(&d->sink, "msg_len");
			sink_u64(&d->sink, len);
		} else if (sent && (int64_t)i < d->rec->ret && (i + 1) * size <= sent->len) {
			sink_member(&d->sink, "msg_len");
			sink_u64(&d->sink, value_uint(sent->data + i * size + msghdr_size(d), 4));
		}
		sink_end_struct(&d->sink);
	}
	sink_end_array(&d->sink);
}
