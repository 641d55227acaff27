// SPDX-License-Identifier: BSD-2-Clause
/* Arguments whose meaning another argument of the call decides. */
#include <inttypes.h>
#include <stdio.h>

#include "syscalls/call_decode.h"

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
	static const struct pointed_memory operations[] = {
		[1] = {ARG_READ, "sock_fprog"}, /* a filter */
		[2] = {ARG_READ,
		       NULL,
		       {.value = SHOW_ENUM, .set = SET_seccomp_ret}}, /* an action */
		[3] = {ARG_WRITTEN, "seccomp_notif_sizes"},
	};
	const uint32_t op = (uint32_t)d->args[0];

	if (op < ARRAY_SIZE(operations) && operations[op].direction)
		show_pointed(d, arg, &operations[op]);
	else
		sink_addr(&d->sink, d->args[arg]);
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

/* " => {pidfd=[4], parent_tid=[1234]}": what clone3(2) has written. */
static void show_written_ids(struct call_decoder *d, int arg, uint64_t flags)
{
	static const struct {
		const char *name;
		uint64_t flag;
		int index;
	} ids[] = {{"pidfd", 0x1000, 1}, {"parent_tid", 0x100000, 3}};
	struct strbuf *out = d->sink.out;
	const char *separator = " => {";

	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		const unsigned at = decode_part(d, 0, arg, true, TRACE_PART_POINTED, ids[i].index);

		if (!(flags & ids[i].flag) || at == d->n_pieces || d->pieces[at]->len < 4)
			continue;
		strbuf_addf(out, "%s%s=[%d]", separator, ids[i].name,
			    (int)value_int(d->pieces[at]->data, 4));
		separator = ", ";
	}
	if (separator[0] == ',')
		strbuf_addch(out, '}');
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
	if (decode_strace(d) && d->ended && !d->failed)
		show_written_ids(d, arg, flags);
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

	if (d->args[arg] && !n && !(kind->direction & ARG_WRITTEN)) {
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

/* The words of a mask of nodes; its last bit is not used. */
static void show_node_mask(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	enum { MOST_BITS = 8 * 4096 + 1 }; /* of the kernel: a page, and the bit that is not used */
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const uint32_t word = d->layout == LAYOUT_64 ? 8 : 4;
	const uint64_t bits = decode_count(d, kind);
	const uint64_t n = bits > 1 ? (bits + word * 8 - 2) / (word * 8) : bits;
	const uint64_t there = piece ? piece->len / word : 0;
	const uint64_t most = decode_max_items(d) < 256 / word ? decode_max_items(d) : 256 / word;

	if (!d->args[arg] || (bits > MOST_BITS && kind->direction & ARG_WRITTEN) ||
	    (there < n && there < most)) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	sink_array(&d->sink);
	for (uint64_t i = 0; i < n; i++) {
		if (i == most) {
			sink_more(&d->sink);
			break;
		}
		sink_item(&d->sink);
		sink_wordf(&d->sink, "%#0*" PRIx64, (int)word * 2,
			   value_uint(piece->data + i * word, word));
	}
	sink_end_array(&d->sink);
}

/* A byte for each page. */
static void show_mincore(struct call_decoder *d, int arg, const struct arg_kind *kind)
{
	const struct trace_piece *piece = decode_shown_piece(d, arg, kind);
	const uint64_t pages = (d->args[1] + 4095) / 4096;

	if (!d->args[arg] || !piece || (piece->len < pages && piece->len < DECODE_ITEMS)) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	sink_array(&d->sink);
	for (uint64_t i = 0; i < pages; i++) {
		if (i == DECODE_ITEMS || i >= piece->len) {
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
	case SHOW_QUOTA_CMD:
		show_quota_cmd(d, (uint32_t)v);
		break;
	case SHOW_QUOTA_ID:
		show_quota_id(d, arg);
		break;
	case SHOW_KEYCTL_ARG:
		show_keyctl_arg(d, arg);
		break;
	case SHOW_QUOTA_ADDR:
		show_quota_addr(d, arg);
		break;
	case SHOW_KCMP_IDX:
		if (d->args[2] == 0) /* KCMP_FILE */
			show_fd(d, (int)v);
		else
			sink_hex(&d->sink, v);
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
	case SHOW_CAP_DATA:
		show_cap_data(d, arg, kind);
		break;
	case SHOW_IPC_ARG:
		show_ipc_arg(d, arg);
		break;
	case SHOW_MINCORE:
		show_mincore(d, arg, kind);
		break;
	case SHOW_CPU_SET_HEX:
		show_node_mask(d, arg, kind);
		break;
	case SHOW_FILE_HANDLE:
		sink_addr(&d->sink, v);
		break;
	default:
		show_number(d, kind, v);
	}
}
