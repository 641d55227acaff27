// SPDX-License-Identifier: BSD-2-Clause
#include "syscalls/call_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/base/cursor.h"
#include "lib/base/kernel_errno.h"
#include "syscalls/call_decode.h"

enum { MAX_ERRNO = 4095, SIGINFO_BYTES = 128 };

/* Results of the kernel's own, which a program never sees. */
static const struct {
	int code;
	const char *name, *why;
} restarts[] = {
	{512, "ERESTARTSYS", "To be restarted if SA_RESTART is set"},
	{513, "ERESTARTNOINTR", "To be restarted"},
	{514, "ERESTARTNOHAND", "To be restarted if no handler"},
	{516, "ERESTART_RESTARTBLOCK", "Interrupted by signal"},
};

struct error *decode_begin(struct call_decoder *d, const struct call_table *table,
			   const struct trace_record *rec, const struct call_text_opts *opts,
			   struct strbuf *out, struct json_writer *w)
{
	const size_t head = sizeof(*rec) + (size_t)rec->n_args * sizeof(uint64_t);

	*d = (struct call_decoder){.table = table, .rec = rec, .opts = opts};
	d->sink = (struct value_sink){.out = out, .w = w, .opts = opts};
	if (rec->n_args > TRACE_ARGS || rec->size < head)
		return error_new(EBADMSG, "a record of a system call has %u arguments in %u bytes",
				 rec->n_args, rec->size);
	d->call = call_by_nr(table, (enum trace_abi)rec->abi, trace_record_nr(rec));
	d->layout = d->call			   ? (enum call_layout)d->call->layout
		    : rec->abi == TRACE_ABI_NATIVE ? LAYOUT_64
						   : LAYOUT_32;
	d->ended = !(rec->flags & TRACE_NO_EXIT);
	d->failed = d->ended && rec->ret < 0 && rec->ret >= -MAX_ERRNO;
	d->n_args = rec->n_args;
	memcpy(d->args, rec->args, d->n_args * sizeof(uint64_t));
	struct cursor c = cursor_make(rec, rec->size, "system call");
	cursor_seek(&c, head);
	for (unsigned i = 0; i < rec->n_pieces; i++) {
		const struct trace_piece *piece = cursor_bytes(&c, sizeof(*piece));

		if (!piece || !cursor_bytes(&c, ((size_t)piece->len + 7) & ~(size_t)7))
			return cursor_error(&c, "a piece ends past the end of its record");
		d->pieces[d->n_pieces++] = piece;
	}
	return NULL;
}

const struct trace_piece *decode_piece(const struct call_decoder *d, int arg, bool at_exit)
{
	const unsigned i = decode_part(d, 0, arg, at_exit, TRACE_PART_SELF, -1);

	return i < d->n_pieces ? d->pieces[i] : NULL;
}

/* A piece that could not be read at the entry was read again at the exit. */
static bool is_of_exit(const struct call_decoder *d, const struct trace_piece *piece)
{
	if (!d->call || piece->copy >= d->call->copies.n_copies)
		return piece->exit;
	return d->call->copies.copies[piece->copy].flags & TRACE_COPY_AT_EXIT;
}

unsigned decode_part(const struct call_decoder *d, unsigned from, int arg, bool at_exit,
		     enum trace_part part, int index)
{
	for (; from < d->n_pieces; from++) {
		const struct trace_piece *p = d->pieces[from];

		if (p->arg == arg && is_of_exit(d, p) == at_exit && p->part == part &&
		    (index < 0 || p->index == index))
			break;
	}
	return from;
}

const struct trace_piece *decode_shown_piece(const struct call_decoder *d, int arg,
					     const struct arg_kind *kind)
{
	const uint8_t ret = d->call && d->call->ret ? d->call->ret->value : 0;

	/* select(2) and poll(2): what they wrote is shown with the result. */
	if (!d->sink.w && kind->direction & ARG_READ &&
	    (ret == SHOW_POLL || ret == SHOW_SELECT || ret == SHOW_MMSGHDR))
		return decode_piece(d, arg, false);
	if (kind->direction & ARG_WRITTEN && d->ended &&
	    (!d->failed || kind->direction & ARG_ALWAYS))
		return decode_piece(d, arg, true);
	return kind->direction & ARG_READ ? decode_piece(d, arg, false) : NULL;
}

/* The kernel takes no more of a register than the argument's type has. */
static uint64_t count_arg(const struct call_decoder *d, int arg)
{
	const struct arg_kind *kind = d->call ? d->call->args[arg].kind : NULL;
	const uint64_t v = d->args[arg];

	if (kind && kind->value == SHOW_INT)
		return (int32_t)v < 0 ? 0 : (uint32_t)v;
	return kind && kind->value == SHOW_UINT ? (uint32_t)v : v;
}

uint64_t decode_count(const struct call_decoder *d, const struct arg_kind *kind)
{
	const struct trace_piece *piece;

	switch ((enum count_kind)kind->count_by) {
	case COUNT_ARG:
		return kind->count < TRACE_ARGS ? count_arg(d, kind->count) : 0;
	case COUNT_AT_ARG:
		piece = decode_piece(d, kind->count, d->ended && !d->failed);
		return piece && piece->len >= 4 ? value_uint(piece->data, 4) : 0;
	case COUNT_RET:
		return d->ended && d->rec->ret > 0 ? (uint64_t)d->rec->ret : 0;
	case COUNT_FIXED:
		return kind->count;
	default:
		return 1;
	}
}

static const struct arg_kind *kind_of(const struct call_decoder *d, int arg)
{
	static const struct arg_kind unknown = {.value = SHOW_NONE};
	const struct arg_kind *kind = d->call ? d->call->args[arg].kind : NULL;

	return kind ? kind : &unknown;
}

/* mount(2) takes no notice of the type and the data with some flags. */
static bool is_ignored(const struct call_decoder *d, int arg)
{
	enum { REMOUNT = 32, OTHERS = 4096 | 8192 | 0xf << 17, MAGIC = 0xc0ed };
	uint64_t flags = d->args[3];

	if (!decode_is(d, "mount") || arg < 2)
		return false;
	if (flags >> 16 == MAGIC)
		flags &= 0xffff;
	return flags & (arg == 2 ? REMOUNT | OTHERS : OTHERS);
}

static void show_arg(struct call_decoder *d, int arg)
{
	const struct arg_kind *kind = kind_of(d, arg);

	d->fd_arg = arg;
	if (d->opts->raw) {
		sink_hex(&d->sink, d->args[arg]);
		return;
	}
	if (kind->is_ptr) {
		show_pointer(d, arg, kind);
		return;
	}
	switch ((enum show_as)kind->value) {
	case SHOW_PATH:
	case SHOW_STR:
	case SHOW_BUF:
	case SHOW_LOG_BUF:
	case SHOW_RANDOM:
	case SHOW_MSGBUF:
	case SHOW_REBOOT_ARG:
		if (is_ignored(d, arg))
			sink_addr(&d->sink, d->args[arg]);
		else
			show_string_arg(d, arg, kind);
		break;
	case SHOW_ARGV:
	case SHOW_ENVP:
		show_strings(d, arg, kind->value == SHOW_ENVP);
		break;
	case SHOW_IOVEC:
	case SHOW_IOVEC_ADDR:
		show_iovec_arg(d, arg, kind);
		break;
	case SHOW_MSGHDR:
		show_msghdr_arg(d, arg, kind);
		break;
	case SHOW_MMSGHDR:
		show_mmsghdr_arg(d, arg, kind);
		break;
	case SHOW_SOCKADDR:
		show_sockaddr_arg(d, arg, kind);
		break;
	case SHOW_SOCKLEN:
		show_socklen_arg(d, arg);
		break;
	default:
		show_dependent(d, arg, kind);
	}
}

/* perf trace leaves out arguments that are 0, unless a name stands for it. */
static bool is_hidden(const struct call_decoder *d, int arg)
{
	const struct arg_kind *kind = kind_of(d, arg);

	if (is_unused(d, arg))
		return true;
	/* without names, only the place says which argument a number is */
	if (d->sink.w || d->opts->style != CALL_STYLE_PERF || d->opts->show_zeros ||
	    d->opts->hide_names || d->args[arg])
		return false;
	switch ((enum show_as)kind->value) {
	case SHOW_ENUM:
	case SHOW_FD:
	case SHOW_DIRFD:
	case SHOW_OPEN_FLAGS:
	case SHOW_FUTEX_OP:
	case SHOW_BTF:
		return kind->is_ptr;
	case SHOW_FLAGS:
	case SHOW_FLAGS64:
		return kind->is_ptr || !flag_set_name((enum flag_set_id)kind->set, 0);
	default:
		return true;
	}
}

static void add_arg_name(struct call_decoder *d, int arg)
{
	const char *name = d->call ? d->call->args[arg].name : NULL;

	if (d->opts->style != CALL_STYLE_PERF || d->opts->hide_names)
		return;
	if (name)
		strbuf_addf(d->sink.out, "%s: ", name);
	else
		strbuf_addf(d->sink.out, "arg%d: ", arg);
}

/* strace names the arguments of clone and shows the flags after the stack. */
static void add_clone_args(struct call_decoder *d)
{
	enum {
		CLONE_WITH_PARENT = 0x100000,
		CLONE_WITH_TLS = 0x80000,
		CLONE_WITH_CHILD = 0x1200000
	};
	struct strbuf *out = d->sink.out;

	strbuf_adds(out, "child_stack=");
	sink_addr(&d->sink, d->args[1]);
	strbuf_adds(out, ", flags=");
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint64_t flags = d->args[0] & ~0xffull;

	if (flags && flags_text(&d->sink, SET_clone3_flags, flags, &text))
		strbuf_adds(out, strbuf_str(&text));
	if (d->args[0] & 0xff) {
		strbuf_adds(out, flags ? "|" : "");
		show_signal(d, d->args[0] & 0xff);
	} else if (!flags) {
		strbuf_addch(out, '0');
	}
	if (flags & CLONE_WITH_PARENT) {
		strbuf_adds(out, ", parent_tid=");
		show_pointer(d, 2, kind_of(d, 2));
	}
	if (flags & CLONE_WITH_TLS) {
		strbuf_adds(out, ", tls=");
		sink_hex(&d->sink, d->args[4]);
	}
	if (flags & CLONE_WITH_CHILD) {
		strbuf_adds(out, ", child_tidptr=");
		sink_addr(&d->sink, d->args[3]);
	}
}

static void add_args(struct call_decoder *d)
{
	bool first = true;

	if (decode_strace(d) && !d->opts->raw && decode_is(d, "clone") && d->n_args == 5) {
		add_clone_args(d);
		return;
	}
	for (int i = 0; i < d->n_args; i++) {
		if (is_hidden(d, i))
			continue;
		if (!first)
			strbuf_adds(d->sink.out, ", ");
		first = false;
		add_arg_name(d, i);
		show_arg(d, i);
	}
}

static struct error *finish(const struct strbuf *out)
{
	return strbuf_failed(out) ? error_nomem() : NULL;
}

struct error *call_text_add_args(struct strbuf *out, const struct call_table *table,
				 const struct trace_record *rec, const struct call_text_opts *opts)
{
	struct call_decoder d;

	TRY(decode_begin(&d, table, rec, opts, out, NULL));
	if (d.call)
		strbuf_adds(out, d.call->name);
	else if (opts->style == CALL_STYLE_STRACE)
		strbuf_addf(out, "syscall_%#x", trace_record_nr(rec));
	else
		strbuf_addf(out, "syscall_%u", trace_record_nr(rec));
	strbuf_addch(out, '(');
	if (rec->flags & TRACE_NO_ENTRY)
		strbuf_adds(out, "...");
	else
		add_args(&d);
	return finish(out);
}

static void add_error(struct strbuf *out, int code)
{
	const char *name = flag_set_name(SET_error, (uint64_t)code);

	for (size_t i = 0; i < ARRAY_SIZE(restarts); i++)
		if (code == restarts[i].code) {
			strbuf_addf(out, "? %s (%s)", restarts[i].name, restarts[i].why);
			return;
		}
	if (name)
		strbuf_addf(out, "-1 %s (%s)", name, strerror(code));
	else
		strbuf_addf(out, "-1 (errno %d)", code);
}

/* " (in [3], left {…})" */
static void add_select_result(struct call_decoder *d)
{
	static const char *const names[] = {"in ", "out ", "except "};
	const char *separator = " (";

	if (!d->rec->ret) {
		strbuf_adds(d->sink.out, " (Timeout)");
		return;
	}
	for (int i = 1; i <= 3; i++) {
		const struct trace_piece *piece = decode_piece(d, i, true);
		bool any = false;

		for (uint32_t b = 0; piece && b < piece->len && b < (d->args[0] + 7) / 8; b++)
			any |= piece->data[b];
		if (!any)
			continue;
		strbuf_addf(d->sink.out, "%s%s", separator, names[i - 1]);
		separator = ", ";
		show_element(d, kind_of(d, i), piece->data, piece->len);
	}
	const struct trace_piece *left = decode_piece(d, 4, true);
	if (left) {
		strbuf_addf(d->sink.out, "%sleft ", separator);
		separator = ", ";
		if (!show_element(d, kind_of(d, 4), left->data, left->len))
			sink_addr(&d->sink, d->args[4]);
	}
	strbuf_adds(d->sink.out, separator[0] == ',' ? ")" : " ()");
}

/* What recvmmsg(2) had left of its timeout. */
static void add_time_left(struct call_decoder *d)
{
	const struct trace_piece *left = decode_piece(d, 4, true);

	if (!left || left->len < 8)
		return;
	strbuf_adds(d->sink.out, " (left ");
	if (!show_element(d, kind_of(d, 4), left->data, left->len))
		sink_addr(&d->sink, d->args[4]);
	strbuf_addch(d->sink.out, ')');
}

/* " ([{fd=3, revents=POLLIN}])" */
static void add_poll_result(struct call_decoder *d)
{
	const struct trace_piece *piece = decode_piece(d, 0, true);
	const char *separator = " ([";

	d->fd_arg = 0;
	if (!d->rec->ret) {
		strbuf_adds(d->sink.out, " (Timeout)");
		return;
	}
	for (uint32_t at = 0; piece && at + 8 <= piece->len; at += 8) {
		const uint64_t events = value_uint(piece->data + at + 6, 2);

		if (!events)
			continue;
		strbuf_addf(d->sink.out, "%s{fd=", separator);
		separator = ", ";
		show_fd(d, (int)value_int(piece->data + at, 4));
		strbuf_adds(d->sink.out, ", revents=");
		sink_flags(&d->sink, SET_poll_events, events);
		strbuf_addch(d->sink.out, '}');
	}
	if (separator[0] == ',')
		strbuf_addch(d->sink.out, ']');
	const struct trace_piece *left = decode_is(d, "ppoll") ? decode_piece(d, 2, true) : NULL;
	if (left && separator[0] == ',') {
		strbuf_adds(d->sink.out, ", left ");
		show_element(d, kind_of(d, 2), left->data, left->len);
	}
	if (separator[0] == ',')
		strbuf_addch(d->sink.out, ')');
}

static void add_fcntl_result(struct call_decoder *d)
{
	enum {
		DUPFD = 0,
		DUPFD_CLOEXEC = 1030,
		GETFD = 1,
		GETFL = 3,
		GETSIG = 11,
		GET_SEALS = 1034,
		GETLEASE = 1025
	};
	struct strbuf *out = d->sink.out;
	const int64_t ret = d->rec->ret;
	const uint32_t cmd = (uint32_t)d->args[1];
	const enum flag_set_id set = cmd == GETFD	? SET_fcntl_fd
				     : cmd == GETFL	? SET_open_flags
				     : cmd == GET_SEALS ? SET_fcntl_seals
							: SET_NONE;
	if (cmd == DUPFD || cmd == DUPFD_CLOEXEC)
		show_fd(d, (int)ret);
	else if (cmd == GETFD && !ret)
		strbuf_adds(out, "0");
	else if (cmd == GETSIG && ret) {
		strbuf_addf(out, "%" PRId64 " (", ret);
		show_signal(d, (int)ret);
		strbuf_addch(out, ')');
	} else if (set && (ret || cmd == GETFL)) {
		strbuf_addf(out, "%#" PRIx64 " (flags ", (uint64_t)ret);
		sink_flags(&d->sink, set, (uint64_t)ret);
		strbuf_addch(out, ')');
	} else if (cmd == GETLEASE) {
		strbuf_addf(out, "%#" PRIx64 " (", (uint64_t)ret);
		sink_enum(&d->sink, SET_fcntl_lock, (uint64_t)ret);
		strbuf_addch(out, ')');
	} else {
		strbuf_addf(out, "%" PRId64, ret);
	}
}

/* "0x3 (MEMBARRIER_CMD_GLOBAL|...)": the commands that the kernel has. */
static void add_commands(struct call_decoder *d, uint64_t commands)
{
	struct strbuf *out = d->sink.out;

	strbuf_addf(out, "%#" PRIx64 " (", commands);
	sink_flags(&d->sink, SET_membarrier_cmd, commands);
	strbuf_addch(out, ')');
}

static void add_result(struct call_decoder *d)
{
	struct strbuf *out = d->sink.out;
	const struct arg_kind *kind = d->call ? d->call->ret : NULL;
	const uint64_t ret = (uint64_t)d->rec->ret;

	d->fd_arg = -1;
	switch (kind ? (enum show_as)kind->value : SHOW_NONE) {
	case SHOW_ADDR:
		strbuf_addf(out, ret ? "%#" PRIx64 : "%" PRIx64, ret);
		break;
	case SHOW_FD:
		show_fd(d, (int)ret);
		break;
	case SHOW_MODE:
		strbuf_addf(out, "%#03" PRIo64, ret);
		break;
	case SHOW_PERSONA:
		strbuf_addf(out, "%#" PRIx64 " (", ret);
		show_number(d, kind, ret);
		strbuf_addch(out, ')');
		break;
	case SHOW_MMSGHDR:
		strbuf_addf(out, "%" PRId64, (int64_t)ret);
		add_time_left(d);
		break;
	case SHOW_ENUM:
	case SHOW_SIG:
		strbuf_addf(out, "%" PRId64 " (", (int64_t)ret);
		show_number(d, kind, ret);
		strbuf_addch(out, ')');
		break;
	case SHOW_IOPRIO:
		strbuf_addf(out, "%" PRId64, (int64_t)ret);
		if (decode_strace(d) && d->opts->constants == CONSTANTS_RAW)
			break;
		strbuf_adds(out, " (");
		ioprio_text(d, (uint32_t)ret, out);
		strbuf_addch(out, ')');
		break;
	case SHOW_DATE: {
		char date[96];

		strbuf_addf(out, "%" PRId64, (int64_t)ret);
		if (decode_strace(d) && date_text((int64_t)ret, 0, date, sizeof(date)))
			strbuf_addf(out, " (%s)", date);
		break;
	}
	case SHOW_FCNTL:
		add_fcntl_result(d);
		break;
	case SHOW_PRCTL:
		add_prctl_result(d);
		break;
	case SHOW_POLL:
		strbuf_addf(out, "%" PRId64, (int64_t)ret);
		add_poll_result(d);
		break;
	case SHOW_SELECT:
		strbuf_addf(out, "%" PRId64, (int64_t)ret);
		add_select_result(d);
		break;
	default:
		if (decode_strace(d) && decode_is(d, "membarrier") && ret)
			add_commands(d, ret);
		else
			strbuf_addf(out, "%" PRId64, (int64_t)ret);
	}
}

struct error *call_text_add_result(struct strbuf *out, const struct call_table *table,
				   const struct trace_record *rec,
				   const struct call_text_opts *opts)
{
	struct call_decoder d;

	TRY(decode_begin(&d, table, rec, opts, out, NULL));
	strbuf_adds(out, "= ");
	if (!d.ended)
		strbuf_addch(out, '?');
	else if (d.failed)
		add_error(out, (int)-rec->ret);
	else
		add_result(&d);
	return finish(out);
}

struct error *call_text_add(struct strbuf *out, const struct call_table *table,
			    const struct trace_record *rec, const struct call_text_opts *opts)
{
	TRY(call_text_add_args(out, table, rec, opts));
	strbuf_adds(out, ") ");
	return call_text_add_result(out, table, rec, opts);
}

struct error *call_text_add_signal(struct strbuf *out, const struct call_table *table,
				   const struct trace_record *rec,
				   const struct call_text_opts *opts)
{
	struct call_decoder d;
	uint8_t info[SIGINFO_BYTES] = {0};

	TRY(decode_begin(&d, table, rec, opts, out, NULL));
	d.call = NULL;
	d.layout = sizeof(long) == 8 ? LAYOUT_64 : LAYOUT_32; /* the kernel's own */
	memcpy(info, d.args, (size_t)d.n_args * sizeof(*d.args));
	strbuf_adds(out, "--- ");
	show_signal(&d, (int)rec->ret);
	strbuf_addch(out, ' ');
	show_element(&d, &(struct arg_kind){.value = SHOW_SIGINFO}, info, sizeof(info));
	strbuf_adds(out, " ---");
	return finish(out);
}

void call_text_add_end(struct strbuf *out, int status, const struct call_text_opts *opts)
{
	struct call_decoder d = {.opts = opts, .sink = {.out = out, .opts = opts}};

	if (WTERMSIG(status)) {
		strbuf_adds(out, "+++ killed by ");
		show_signal(&d, WTERMSIG(status));
	} else {
		strbuf_addf(out, "+++ exited with %d", WEXITSTATUS(status));
	}
	strbuf_addf(out, "%s +++", WCOREDUMP(status) ? " (core dumped)" : "");
}

struct error *call_json_add(struct json_writer *w, const struct call_table *table,
			    const struct trace_record *rec, const struct call_text_opts *opts)
{
	struct call_decoder d;

	TRY(decode_begin(&d, table, rec, opts, w->out, w));
	if (d.call)
		jw_text(w, "syscall", d.call->name);
	else
		jw_textf(w, "syscall", "syscall_%u", trace_record_nr(rec));
	if (!(rec->flags & TRACE_NO_ENTRY)) {
		jw_object(w, "args");
		for (int i = 0; i < d.n_args; i++) {
			char number[16];

			if (is_hidden(&d, i))
				continue;
			snprintf(number, sizeof(number), "arg%d", i);
			d.sink.key = d.call && d.call->args[i].name ? d.call->args[i].name : number;
			show_arg(&d, i);
		}
		jw_end(w);
	}
	if (d.ended) {
		jw_i64(w, "ret", rec->ret);
		if (d.failed)
			jw_text_if(w, "error", kernel_errno_name((int)-rec->ret));
	}
	return finish(w->out);
}
