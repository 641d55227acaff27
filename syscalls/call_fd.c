// SPDX-License-Identifier: BSD-2-Clause
/* Descriptors, with the files that they refer to at the time of the call. */
#include <inttypes.h>

#include "syscalls/call_decode.h"

/* The file of the descriptor, as the entry or the exit of the call has it; NULL: not known. */
static const struct trace_piece *fd_piece(const struct call_decoder *d, int fd)
{
	const enum trace_fd_of of = d->fd_arg < 0 ? TRACE_FD_OF_RESULT : TRACE_FD_OF_ARG;

	for (unsigned i = 0; i < d->n_pieces; i++) {
		const struct trace_piece *p = d->pieces[i];

		if (p->part == TRACE_PART_FD && p->copy == of && p->addr == (uint32_t)fd &&
		    (d->fd_arg < 0 || p->arg == d->fd_arg))
			return p;
	}
	return NULL;
}

/* Whether a result of these calls is a descriptor depends on what they did. */
static bool is_number(const struct call_decoder *d)
{
	if (d->fd_arg >= 0)
		return false;
	return (decode_is(d, "bpf") && !d->rec->ret) ||
	       (decode_is(d, "landlock_create_ruleset") && d->n_args > 2 && d->args[2]);
}

static void add_name(struct strbuf *out, const uint8_t *name, size_t len)
{
	add_escaped_text(out, (const char *)name, len, "<>");
}

/* The names of a path, of which the last one comes first. */
static void add_path(struct strbuf *out, const struct trace_piece *p)
{
	size_t end = p->len;

	if (p->flags & TRACE_PIECE_CUT)
		strbuf_adds(out, "...");
	else if (!end)
		strbuf_addch(out, '/');
	while (end) {
		size_t begin = end - 1; /* the NUL of the name */

		while (begin && p->data[begin - 1])
			begin--;
		strbuf_addch(out, '/');
		add_name(out, p->data + begin, strnlen((const char *)p->data + begin, end - begin));
		end = begin;
	}
}

static void add_file(struct strbuf *out, const struct trace_piece *p)
{
	const size_t len = strnlen((const char *)p->data, p->len);

	switch ((enum trace_fd_kind)p->index) {
	case TRACE_FD_PIPE:
		strbuf_addf(out, "pipe:[%" PRIu64 "]", (uint64_t)p->full);
		break;
	case TRACE_FD_SOCKET:
		strbuf_addf(out, "socket:[%" PRIu64 "]", (uint64_t)p->full);
		break;
	case TRACE_FD_ANON:
		strbuf_adds(out, "anon_inode:");
		add_name(out, p->data, len);
		break;
	case TRACE_FD_PIDFD:
		strbuf_adds(out, "anon_inode:[pidfd]");
		break;
	case TRACE_FD_MEMORY:
		strbuf_addch(out, '/');
		add_name(out, p->data, len);
		break;
	default:
		add_path(out, p);
	}
}

void show_fd(struct call_decoder *d, int fd)
{
	struct value_sink *s = &d->sink;
	const struct trace_piece *p = d->opts->fd_paths && fd >= 0 ? fd_piece(d, fd) : NULL;

	sink_i64(s, fd);
	if (!p || s->w || is_number(d))
		return;
	const bool deleted = p->index == TRACE_FD_DELETED || p->index == TRACE_FD_MEMORY;
	strbuf_addch(s->out, '<');
	add_file(s->out, p);
	strbuf_adds(s->out, !deleted ? ">" : decode_strace(d) ? ">(deleted)" : " (deleted)>");
}
