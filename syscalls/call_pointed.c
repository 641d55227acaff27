// SPDX-License-Identifier: BSD-2-Clause
/*
 * Arguments that point to what a command says: those of ioctl(2), and of the calls that control
 * IPC objects. The program copies as many bytes as the largest of them has, at the entry and at the
 * exit; which of them are shown, and as what, is known here.
 */
#include "syscalls/call_decode.h"

void show_pointed(struct call_decoder *d, int arg, const struct pointed_memory *m)
{
	const bool written = m->direction == ARG_WRITTEN;
	const struct trace_piece *piece =
		written && (d->failed || !d->ended) ? NULL : decode_piece(d, arg, written);
	const struct call_struct *s = m->type ? call_struct_named(m->type) : NULL;
	const uint32_t size = s ? s->size[d->layout] : arg_kind_size(&m->kind, d->layout);

	if (!m->direction) {
		show_number(d, &m->kind, d->args[arg]);
	} else if (!d->args[arg] || !piece || !size || piece->len < size) {
		sink_addr(&d->sink, d->args[arg]);
	} else if (s) {
		show_call_struct(d, s, piece->data);
	} else {
		sink_array(&d->sink);
		sink_item(&d->sink);
		show_element(d, &m->kind, piece->data, piece->len);
		sink_end_array(&d->sink);
	}
}

#ifdef __x86_64__
static const char semid_ds[] = "semid_ds_x86";
#else
static const char semid_ds[] = "semid_ds";
#endif

static const struct {
	const char *call;
	enum flag_set_id commands;
	const char *command;
	struct pointed_memory memory;
} ipc_commands[] = {
	{"msgctl", SET_msgctl_cmd, "IPC_STAT", {ARG_WRITTEN, "msqid_ds"}},
	{"msgctl", SET_msgctl_cmd, "IPC_SET", {ARG_READ, "msqid_ds_set"}},
	{"msgctl", SET_msgctl_cmd, "MSG_STAT", {ARG_WRITTEN, "msqid_ds"}},
	{"msgctl", SET_msgctl_cmd, "MSG_STAT_ANY", {ARG_WRITTEN, "msqid_ds"}},
	{"msgctl", SET_msgctl_cmd, "IPC_INFO", {ARG_WRITTEN, "msginfo"}},
	{"msgctl", SET_msgctl_cmd, "MSG_INFO", {ARG_WRITTEN, "msginfo"}},
	{"semctl", SET_semctl_cmd, "IPC_STAT", {ARG_WRITTEN, semid_ds}},
	{"semctl", SET_semctl_cmd, "IPC_SET", {ARG_READ, "semid_ds_set"}},
	{"semctl", SET_semctl_cmd, "SEM_STAT", {ARG_WRITTEN, semid_ds}},
	{"semctl", SET_semctl_cmd, "SEM_STAT_ANY", {ARG_WRITTEN, semid_ds}},
	{"semctl", SET_semctl_cmd, "IPC_INFO", {ARG_WRITTEN, "seminfo"}},
	{"semctl", SET_semctl_cmd, "SEM_INFO", {ARG_WRITTEN, "seminfo"}},
	{"shmctl", SET_shmctl_cmd, "IPC_STAT", {ARG_WRITTEN, "shmid_ds"}},
	{"shmctl", SET_shmctl_cmd, "IPC_SET", {ARG_READ, "shmid_ds_set"}},
	{"shmctl", SET_shmctl_cmd, "SHM_STAT", {ARG_WRITTEN, "shmid_ds"}},
	{"shmctl", SET_shmctl_cmd, "SHM_STAT_ANY", {ARG_WRITTEN, "shmid_ds"}},
	{"shmctl", SET_shmctl_cmd, "IPC_INFO", {ARG_WRITTEN, "shminfo_shown"}},
	{"shmctl", SET_shmctl_cmd, "SHM_INFO", {ARG_WRITTEN, "shm_info"}},
};

/* Programs of 32 bits have other layouts, which are not known here. */
void show_ipc_arg(struct call_decoder *d, int arg)
{
	const uint32_t cmd = (uint32_t)d->args[arg - 1] & ~0x100u; /* IPC_64 */

	for (size_t i = 0; d->layout == LAYOUT_64 && i < ARRAY_SIZE(ipc_commands); i++) {
		const char *name = flag_set_name(ipc_commands[i].commands, cmd);

		if (name && decode_is(d, ipc_commands[i].call) &&
		    !strcmp(name, ipc_commands[i].command)) {
			show_pointed(d, arg, &ipc_commands[i].memory);
			return;
		}
	}
	sink_addr(&d->sink, d->args[arg]);
}
