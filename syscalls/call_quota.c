// SPDX-License-Identifier: BSD-2-Clause
/*
 * quotactl(2) and quotactl_fd(2): an operation and whose quota it is about are one number, and the
 * operation says what the id and the address are.
 */
#include <inttypes.h>

#include "syscalls/call_decode.h"

enum {
	TYPE_BITS = 8,
	ARG_ID = 2, /* of both calls */
};

static const struct {
	const char *operation;
	bool has_id, has_addr;
	struct pointed_memory memory;
} operations[] = {
	{"Q_SYNC", false, false, {0}},
	{"Q_QUOTAON", true, true, {ARG_READ, NULL, {.value = SHOW_CHARS}}},
	{"Q_QUOTAOFF", false, false, {0}},
	{"Q_GETFMT",
	 false,
	 true,
	 {ARG_WRITTEN, NULL, {.value = SHOW_ENUM, .set = SET_quota_format}}},
	{"Q_GETINFO", false, true, {ARG_WRITTEN, "if_dqinfo"}},
	{"Q_SETINFO", false, true, {ARG_READ, "if_dqinfo"}},
	{"Q_GETQUOTA", true, true, {ARG_WRITTEN, "if_dqblk"}},
	{"Q_SETQUOTA", true, true, {ARG_READ, "if_dqblk"}},
	{"Q_GETNEXTQUOTA", true, true, {ARG_WRITTEN, "if_nextdqblk"}},
	{"Q_XQUOTAON",
	 false,
	 true,
	 {ARG_READ, NULL, {.value = SHOW_FLAGS, .set = SET_xfs_quota_flags}}},
	{"Q_XQUOTAOFF",
	 false,
	 true,
	 {ARG_READ, NULL, {.value = SHOW_FLAGS, .set = SET_xfs_quota_flags}}},
	{"Q_XQUOTARM",
	 false,
	 true,
	 {ARG_READ, NULL, {.value = SHOW_FLAGS, .set = SET_xfs_quota_types}}},
	{"Q_XQUOTASYNC", false, false, {0}},
	{"Q_XGETQUOTA", true, true, {ARG_WRITTEN, "fs_disk_quota"}},
	{"Q_XSETQLIM", true, true, {ARG_READ, "fs_disk_quota"}},
	{"Q_XGETNEXTQUOTA", true, true, {ARG_WRITTEN, "fs_disk_quota"}},
	{"Q_XGETQSTAT", false, true, {ARG_WRITTEN, "fs_quota_stat"}},
	{"Q_XGETQSTATV", false, true, {ARG_WRITTEN, "fs_quota_statv"}},
};

static uint32_t command_of(const struct call_decoder *d)
{
	return (uint32_t)d->args[decode_is(d, "quotactl") ? 0 : 1];
}

/* The row of the call's operation; ARRAY_SIZE: it is not known. */
static size_t operation_of(const struct call_decoder *d)
{
	const char *name = flag_set_name(SET_quota_cmd, command_of(d) >> TYPE_BITS);
	size_t i = 0;

	while (i < ARRAY_SIZE(operations) && (!name || strcmp(operations[i].operation, name) != 0))
		i++;
	return i;
}

bool quota_has_arg(const struct call_decoder *d, int arg)
{
	const size_t i = operation_of(d);

	return i == ARRAY_SIZE(operations) ||
	       (arg == ARG_ID ? operations[i].has_id : operations[i].has_addr);
}

static void add_part(struct strbuf *text, enum flag_set_id set, uint32_t v)
{
	const char *name = flag_set_name(set, v);

	if (name)
		strbuf_adds(text, name);
	else
		strbuf_addf(text, "%#x /* %s */", v, flag_sets[set].unknown);
}

/* "QCMD(Q_GETQUOTA, USRQUOTA)" */
void show_quota_cmd(struct call_decoder *d, uint32_t cmd)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	strbuf_adds(&text, "QCMD(");
	add_part(&text, SET_quota_cmd, cmd >> TYPE_BITS);
	strbuf_adds(&text, ", ");
	add_part(&text, SET_quota_type, cmd & ((1u << TYPE_BITS) - 1));
	strbuf_addch(&text, ')');
	sink_constf(&d->sink, strbuf_str(&text), "%u", cmd);
}

/* A user, group or project, or the format of the quota files. */
void show_quota_id(struct call_decoder *d, int arg)
{
	const size_t i = operation_of(d);

	if (i < ARRAY_SIZE(operations) && !strcmp(operations[i].operation, "Q_QUOTAON"))
		sink_enum(&d->sink, SET_quota_format, (uint32_t)d->args[arg]);
	else
		show_number(d, &(struct arg_kind){.value = SHOW_UID}, d->args[arg]);
}

/* The path of a quota file; what is longer than the copy is cut. */
static void show_quota_file(struct call_decoder *d, int arg)
{
	const struct trace_piece *piece = decode_piece(d, arg, false);
	const size_t len = piece ? strnlen((const char *)piece->data, piece->len) : 0;

	if (!d->args[arg] || !piece || (len == piece->len && piece->flags & TRACE_PIECE_FAULT))
		sink_addr(&d->sink, d->args[arg]);
	else
		sink_string(&d->sink, piece->data, len, len == piece->len);
}

void show_quota_addr(struct call_decoder *d, int arg)
{
	const size_t i = operation_of(d);

	if (i == ARRAY_SIZE(operations))
		sink_addr(&d->sink, d->args[arg]);
	else if (operations[i].memory.kind.value == SHOW_CHARS)
		show_quota_file(d, arg);
	else
		show_pointed(d, arg, &operations[i].memory);
}
