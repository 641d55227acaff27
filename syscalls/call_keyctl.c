// SPDX-License-Identifier: BSD-2-Clause
/* keyctl(2): which arguments a command has, and what they are. */
#include <errno.h>
#include <inttypes.h>

#include "syscalls/call_decode.h"

enum keyctl_as {
	KEYCTL_ABSENT,
	KEYCTL_KEY,
	KEYCTL_DEC,
	KEYCTL_SIZE,
	KEYCTL_OWNER, /* a user or a group */
	KEYCTL_PERM,
	KEYCTL_REQKEY,
	KEYCTL_ERROR,
	KEYCTL_TEXT,
	KEYCTL_PAYLOAD,	    /* as many bytes as the next argument says */
	KEYCTL_TEXT_BUFFER, /* that the call writes, with its NUL */
	KEYCTL_BUFFER,	    /* the same, of bytes */
};

static const struct {
	const char *command;
	uint8_t args[4]; /* arg2 to arg5: enum keyctl_as */
} forms[] = {
	{"KEYCTL_GET_KEYRING_ID", {KEYCTL_KEY, KEYCTL_DEC}},
	{"KEYCTL_JOIN_SESSION_KEYRING", {KEYCTL_TEXT}},
	{"KEYCTL_UPDATE", {KEYCTL_KEY, KEYCTL_PAYLOAD, KEYCTL_SIZE}},
	{"KEYCTL_REVOKE", {KEYCTL_KEY}},
	{"KEYCTL_CHOWN", {KEYCTL_KEY, KEYCTL_OWNER, KEYCTL_OWNER}},
	{"KEYCTL_SETPERM", {KEYCTL_KEY, KEYCTL_PERM}},
	{"KEYCTL_DESCRIBE", {KEYCTL_KEY, KEYCTL_TEXT_BUFFER, KEYCTL_SIZE}},
	{"KEYCTL_CLEAR", {KEYCTL_KEY}},
	{"KEYCTL_LINK", {KEYCTL_KEY, KEYCTL_KEY}},
	{"KEYCTL_UNLINK", {KEYCTL_KEY, KEYCTL_KEY}},
	{"KEYCTL_SEARCH", {KEYCTL_KEY, KEYCTL_TEXT, KEYCTL_TEXT, KEYCTL_KEY}},
	{"KEYCTL_READ", {KEYCTL_KEY, KEYCTL_BUFFER, KEYCTL_SIZE}},
	{"KEYCTL_INSTANTIATE", {KEYCTL_KEY, KEYCTL_PAYLOAD, KEYCTL_SIZE, KEYCTL_KEY}},
	{"KEYCTL_NEGATE", {KEYCTL_KEY, KEYCTL_DEC, KEYCTL_KEY}},
	{"KEYCTL_SET_REQKEY_KEYRING", {KEYCTL_REQKEY}},
	{"KEYCTL_SET_TIMEOUT", {KEYCTL_KEY, KEYCTL_DEC}},
	{"KEYCTL_ASSUME_AUTHORITY", {KEYCTL_KEY}},
	{"KEYCTL_GET_SECURITY", {KEYCTL_KEY, KEYCTL_TEXT_BUFFER, KEYCTL_SIZE}},
	{"KEYCTL_SESSION_TO_PARENT", {KEYCTL_ABSENT}},
	{"KEYCTL_REJECT", {KEYCTL_KEY, KEYCTL_DEC, KEYCTL_ERROR, KEYCTL_KEY}},
	{"KEYCTL_INVALIDATE", {KEYCTL_KEY}},
	{"KEYCTL_GET_PERSISTENT", {KEYCTL_OWNER, KEYCTL_KEY}},
};

/* NULL: the command is not known. */
static const uint8_t *form_of(const struct call_decoder *d)
{
	const char *command = flag_set_name(SET_keyctl_cmd, (uint32_t)d->args[0]);

	for (size_t i = 0; command && i < ARRAY_SIZE(forms); i++)
		if (!strcmp(forms[i].command, command))
			return forms[i].args;
	return NULL;
}

bool keyctl_has_arg(const struct call_decoder *d, int arg)
{
	const uint8_t *form = form_of(d);

	return arg < 1 || arg > 4 || !form || form[arg - 1] != KEYCTL_ABSENT;
}

/* What was copied of an argument in one way; NULL: nothing, or it could not be read. */
static const struct trace_piece *piece_of(const struct call_decoder *d, int arg, uint8_t kind)
{
	for (unsigned i = 0; i < d->n_pieces; i++) {
		const struct trace_piece *p = d->pieces[i];

		if (p->arg == arg && p->part == TRACE_PART_SELF &&
		    p->copy < d->call->copies.n_copies &&
		    d->call->copies.copies[p->copy].kind == kind && !(p->flags & TRACE_PIECE_FAULT))
			return p;
	}
	return NULL;
}

static void show_text(struct call_decoder *d, int arg)
{
	const struct trace_piece *p = piece_of(d, arg, TRACE_COPY_STRING);

	if (d->args[arg] && p)
		sink_string(&d->sink, p->data, strnlen((const char *)p->data, p->len),
			    p->flags & TRACE_PIECE_CUT);
	else
		sink_addr(&d->sink, d->args[arg]);
}

/* n bytes, of which the last one may be a NUL that ends a text. */
static void show_bytes(struct call_decoder *d, int arg, uint8_t kind, uint64_t n, bool is_text)
{
	const struct trace_piece *p = piece_of(d, arg, kind);
	uint64_t len = p ? p->len : 0;

	if (d->args[arg] && !n) {
		sink_string(&d->sink, "", 0, false);
		return;
	}
	if (!d->args[arg] || !p) {
		sink_addr(&d->sink, d->args[arg]);
		return;
	}
	len = len < n ? len : n;
	if (is_text && len == n && len && !p->data[len - 1])
		n = --len;
	sink_string(&d->sink, p->data, len, len < n);
}

static void show_written(struct call_decoder *d, int arg, bool is_text)
{
	const uint64_t ret = (uint64_t)d->rec->ret, room = d->args[arg + 1];

	if (!d->ended || d->failed)
		sink_addr(&d->sink, d->args[arg]);
	else /* with less room nothing is written, and the result is how much there is */
		show_bytes(d, arg, TRACE_COPY_RET, ret < room ? ret : room, is_text);
}

void show_keyctl_arg(struct call_decoder *d, int arg)
{
	const uint8_t *form = form_of(d);
	const uint64_t v = d->args[arg];
	struct value_sink *s = &d->sink;

	switch (form ? (enum keyctl_as)form[arg - 1] : KEYCTL_ABSENT) {
	case KEYCTL_KEY:
		show_number(d, &(struct arg_kind){.value = SHOW_KEY_SERIAL}, v);
		break;
	case KEYCTL_DEC:
		sink_i64(s, (int32_t)v);
		break;
	case KEYCTL_SIZE:
		sink_u64(s, v);
		break;
	case KEYCTL_OWNER:
		show_number(d, &(struct arg_kind){.value = SHOW_UID}, v);
		break;
	case KEYCTL_PERM:
		sink_flags(s, SET_key_perm, (uint32_t)v);
		break;
	case KEYCTL_REQKEY:
		sink_enum(s, SET_keyctl_reqkey, (uint64_t)(int32_t)v);
		break;
	case KEYCTL_ERROR:
		sink_enum(s, SET_error, (uint32_t)v);
		break;
	case KEYCTL_TEXT:
		show_text(d, arg);
		break;
	case KEYCTL_PAYLOAD:
		show_bytes(d, arg, TRACE_COPY_COUNT, arg + 1 < d->n_args ? d->args[arg + 1] : 0,
			   false);
		break;
	case KEYCTL_TEXT_BUFFER:
	case KEYCTL_BUFFER:
		if (arg + 1 < d->n_args)
			show_written(d, arg, form[arg - 1] == KEYCTL_TEXT_BUFFER);
		else
			sink_addr(s, v);
		break;
	default:
		sink_hex(s, v);
	}
}
