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
	struct pointed_memory memory;
} ioctl_commands[] = {
	{"TIOCGWINSZ", {ARG_WRITTEN, "winsize"}},
	{"TIOCSWINSZ", {ARG_READ, "winsize"}},
	{"FIONREAD", {ARG_WRITTEN, NULL, {.value = SHOW_INT}}},
	{"TIOCINQ", {ARG_WRITTEN, NULL, {.value = SHOW_INT}}},
	{"TIOCOUTQ", {ARG_WRITTEN, NULL, {.value = SHOW_INT}}},
	{"FIONBIO", {ARG_READ, NULL, {.value = SHOW_INT}}},
	{"FIOASYNC", {ARG_READ, NULL, {.value = SHOW_INT}}},
	{"TIOCGPGRP", {ARG_WRITTEN, NULL, {.value = SHOW_INT}}},
	{"TIOCSPGRP", {ARG_READ, NULL, {.value = SHOW_INT}}},
	{"TIOCGSID", {ARG_WRITTEN, NULL, {.value = SHOW_INT}}},
	{"TIOCGPTN", {ARG_WRITTEN, NULL, {.value = SHOW_UINT}}},
	{"TIOCSPTLCK", {ARG_READ, NULL, {.value = SHOW_INT}}},
	{"BLKGETSIZE64", {ARG_WRITTEN, NULL, {.value = SHOW_U64}}},
};

void show_ioctl_arg(struct call_decoder *d, int arg)
{
	const char *name = command_name((uint32_t)d->args[1]);

	for (size_t i = 0; name && i < ARRAY_SIZE(ioctl_commands); i++)
		if (!strcmp(ioctl_commands[i].command, name)) {
			show_pointed(d, arg, &ioctl_commands[i].memory);
			return;
		}
	if (name || d->sink.w)
		sink_addr(&d->sink, d->args[arg]);
	else
		sink_hex(&d->sink, d->args[arg]);
}
