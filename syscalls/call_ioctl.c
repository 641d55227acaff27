// SPDX-License-Identifier: BSD-2-Clause
/* ioctl(2): the names of commands, and the arguments of the most used ones. */
#include <inttypes.h>

#include "syscalls/call_decode.h"

static const uint16_t command_sets[] = {SET_ioctl_tty, SET_ioctl_sock, SET_ioctl_fs,
					SET_ioctl_other};

static const char *command_name(uint32_t cmd)
{
	for (size_t i = 0; i < ARRAY_SIZE(command_sets); i++) {
		const char *name = flag_set_name((enum flag_set_id)command_sets[i], cmd);

		if (name)
			return name;
	}
	return NULL;
}

void show_ioctl_cmd(struct call_decoder *d, uint32_t cmd)
{
	static const char *const directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ",
						 "_IOC_READ|_IOC_WRITE"};
	const char *name = command_name(cmd);

	if (name)
		sink_constf(&d->sink, name, "%#x", cmd);
	else
		sink_wordf(&d->sink, "_IOC(%s, %#x, %#x, %#x)", directions[cmd >> 30],
			   cmd >> 8 & 0xff, cmd & 0xff, cmd >> 16 & 0x3fff);
}

/* What the argument of a command points to. */
static const struct {
	const char *command;
	bool written;
	struct arg_kind kind;
} pointed[] = {
	{"FIONREAD", true, {.value = SHOW_INT}},     {"TIOCINQ", true, {.value = SHOW_INT}},
	{"TIOCOUTQ", true, {.value = SHOW_INT}},     {"FIONBIO", false, {.value = SHOW_INT}},
	{"FIOASYNC", false, {.value = SHOW_INT}},    {"TIOCGPGRP", true, {.value = SHOW_INT}},
	{"TIOCSPGRP", false, {.value = SHOW_INT}},   {"TIOCGSID", true, {.value = SHOW_INT}},
	{"TIOCGPTN", true, {.value = SHOW_UINT}},    {"TIOCSPTLCK", false, {.value = SHOW_INT}},
	{"BLKGETSIZE64", true, {.value = SHOW_U64}},
};

void show_ioctl_arg(struct call_decoder *d, int arg)
{
	const char *name = command_name((uint32_t)d->args[1]);
	struct value_sink *s = &d->sink;

	if (name && (!strcmp(name, "TIOCGWINSZ") || !strcmp(name, "TIOCSWINSZ"))) {
		static const char *const members[] = {"ws_row", "ws_col", "ws_xpixel", "ws_ypixel"};
		const struct trace_piece *piece = decode_piece(d, arg, name[4] == 'G');

		if (piece && piece->len >= 8 && !(d->failed && name[4] == 'G')) {
			sink_struct(s);
			for (int i = 0; i < 4; i++) {
				sink_member(s, members[i]);
				sink_u64(s, value_uint(piece->data + 2 * i, 2));
			}
			sink_end_struct(s);
			return;
		}
	}
	for (size_t i = 0; name && i < ARRAY_SIZE(pointed); i++) {
		if (strcmp(pointed[i].command, name))
			continue;
		const struct trace_piece *piece = decode_piece(d, arg, pointed[i].written);
		const uint32_t size = arg_kind_size(&pointed[i].kind, d->layout);

		if (!piece || piece->len < size || (d->failed && pointed[i].written))
			break;
		sink_array(s);
		sink_item(s);
		show_element(d, &pointed[i].kind, piece->data, piece->len);
		sink_end_array(s);
		return;
	}
	if (d->sink.w)
		sink_addr(s, d->args[arg]);
	else if (name)
		sink_addr(s, d->args[arg]);
	else
		sink_hex(s, d->args[arg]);
}
