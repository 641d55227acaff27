// SPDX-License-Identifier: BSD-2-Clause
/*
 * ioctl(2): the names of commands, and their arguments, of which syscalls/ioctls.in has those that
 * programs use most.
 */
#include <inttypes.h>
#include <stdio.h>

#include "syscalls/call_decode.h"

/* In this order: some numbers are commands of several devices. */
static const uint16_t command_sets[] = {SET_ioctl_tty,	  SET_ioctl_sock,  SET_ioctl_fs,
					SET_ioctl_other,  SET_ioctl_plain, SET_ioctl_console,
					SET_ioctl_devices};

static const char *command_name(uint32_t cmd)
{
	for (size_t i = 0; i < ARRAY_SIZE(command_sets); i++) {
		const char *name = flag_set_name((enum flag_set_id)command_sets[i], cmd);

		if (name)
			return name;
	}
	return NULL;
}

/* NULL: the argument of the command is not known. */
static const struct ioctl_def *command_def(const char *name)
{
	for (unsigned i = 0; name && i < n_ioctl_defs; i++)
		if (!strcmp(ioctl_defs[i].command, name))
			return &ioctl_defs[i];
	return NULL;
}

bool ioctl_has_arg(uint32_t cmd)
{
	const struct ioctl_def *def = command_def(command_name(cmd));

	return !def || def->arg.value != SHOW_HIDDEN;
}

void show_ioctl_cmd(struct call_decoder *d, uint32_t cmd)
{
	static const char *const directions[] = {"_IOC_NONE", "_IOC_WRITE", "_IOC_READ",
						 "_IOC_READ|_IOC_WRITE"};
	const char *name = command_name(cmd);
	char text[64];

	if (!name) {
		snprintf(text, sizeof(text), "_IOC(%s, %#x, %#x, %#x)", directions[cmd >> 30],
			 cmd >> 8 & 0xff, cmd & 0xff, cmd >> 16 & 0x3fff);
		name = text;
	}
	sink_constf(&d->sink, name, "%#x", cmd);
}

void show_ioctl_arg(struct call_decoder *d, int arg)
{
	const char *name = command_name((uint32_t)d->args[1]);
	const struct ioctl_def *def = command_def(name);
	const struct arg_kind *kind = !def		       ? NULL
				      : d->ended && !d->failed ? &def->arg_after
							       : &def->arg;

	if (kind && kind->is_ptr)
		show_pointer(d, arg, kind);
	else if (kind)
		show_number(d, kind, d->args[arg]);
	else if (name || d->sink.w)
		sink_addr(&d->sink, d->args[arg]);
	else
		sink_hex(&d->sink, d->args[arg]);
}
