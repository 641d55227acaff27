// SPDX-License-Identifier: BSD-2-Clause
/* fcntl(2): the command says what its argument is. */
#include "syscalls/call_decode.h"
#include "syscalls/fcntl_commands.h"

/* Other commands have none, or one that is not known. */
static const struct {
	enum fcntl_command command;
	struct pointed_memory memory;
} fcntl_args[] = {
	{FCNTL_DUPFD, {0, NULL, {.value = SHOW_INT}}},
	{FCNTL_DUPFD_CLOEXEC, {0, NULL, {.value = SHOW_INT}}},
	{FCNTL_SETFD, {0, NULL, {.value = SHOW_FLAGS, .set = SET_fcntl_fd}}},
	{FCNTL_SETFL, {0, NULL, {.value = SHOW_FLAGS, .set = SET_open_flags}}},
	{FCNTL_SETOWN, {0, NULL, {.value = SHOW_OFF64}}},
	{FCNTL_SETPIPE_SZ, {0, NULL, {.value = SHOW_OFF64}}},
	{FCNTL_SETSIG, {0, NULL, {.value = SHOW_SIG}}},
	{FCNTL_SETLEASE, {0, NULL, {.value = SHOW_ENUM, .set = SET_fcntl_lock}}},
	{FCNTL_NOTIFY, {0, NULL, {.value = SHOW_FLAGS, .set = SET_fcntl_notify}}},
	{FCNTL_ADD_SEALS, {0, NULL, {.value = SHOW_FLAGS, .set = SET_fcntl_seals}}},
	{FCNTL_GETLK, {ARG_WRITTEN, "flock_found"}},
	{FCNTL_OFD_GETLK, {ARG_WRITTEN, "flock_found"}},
	{FCNTL_SETLK, {ARG_READ, "flock"}},
	{FCNTL_SETLKW, {ARG_READ, "flock"}},
	{FCNTL_OFD_SETLK, {ARG_READ, "flock"}},
	{FCNTL_OFD_SETLKW, {ARG_READ, "flock"}},
	{FCNTL_GETOWN_EX, {ARG_WRITTEN, "f_owner_ex"}},
	{FCNTL_SETOWN_EX, {ARG_READ, "f_owner_ex"}},
};

/* Locks of programs of 32 bits have several layouts: which of them depends on the program. */
static bool layout_known(const struct call_decoder *d, uint32_t command)
{
	return d->layout == LAYOUT_64 || command == FCNTL_GETOWN_EX || command == FCNTL_SETOWN_EX;
}

void show_fcntl_arg(struct call_decoder *d, int arg)
{
	const uint32_t command = (uint32_t)d->args[1];

	for (size_t i = 0; i < ARRAY_SIZE(fcntl_args); i++) {
		const struct pointed_memory *m = &fcntl_args[i].memory;

		if (fcntl_args[i].command == command &&
		    (!m->direction || layout_known(d, command))) {
			show_pointed(d, arg, m);
			return;
		}
	}
	if (flag_set_name(SET_fcntl_cmd, command))
		sink_addr(&d->sink, d->args[arg]);
	else
		sink_hex(&d->sink, d->args[arg]);
}
