// SPDX-License-Identifier: BSD-2-Clause
/*
 * A number has the width and sign of its argument: the upper half of a register that passes an int
 * is not part of it.
 */
#include "trace/call_field.h"

#include <signal.h>
#include <string.h>

#include "syscalls/arg_kind.h"
#include "syscalls/call_constant.h"
#include "trace/call_where.h"

static const struct {
	const char *name;
	enum where_type type;
	uint8_t value, bits, is_signed, needs;
} builtins[] = {
	{"ret", WHERE_NUMBER, WHERE_RET, 64, 1, WHERE_NEEDS_RET},
	{"error", WHERE_NUMBER, WHERE_ERRNO, 32, 0, WHERE_NEEDS_RET},
	{"duration", WHERE_NUMBER, WHERE_DURATION, 64, 0, WHERE_NEEDS_RET | WHERE_NEEDS_DURATION},
	{"pid", WHERE_NUMBER, WHERE_PID, 32, 0, 0},
	{"tid", WHERE_NUMBER, WHERE_TID, 32, 0, 0},
	{"uid", WHERE_NUMBER, WHERE_UID, 32, 0, 0},
	{"gid", WHERE_NUMBER, WHERE_GID, 32, 0, 0},
	{"comm", WHERE_STRING, 0, 0, 0, 0},
};

/* How many bits of a register a number of this type is, and whether it has a sign. */
static void set_width(struct call_field *f, const struct call *call, const struct call_arg *arg)
{
	static const struct {
		const char *type;
		uint8_t bits;
		bool is_signed;
	} types[] = {
		{"int", 32, true},	 {"pid_t", 32, true},		{"key_t", 32, true},
		{"clockid_t", 32, true}, {"const clockid_t", 32, true}, {"timer_t", 32, true},
		{"mqd_t", 32, true},	 {"key_serial_t", 32, true},	{"qid_t", 32, true},
		{"rwf_t", 32, true},	 {"unsigned int", 32, false},	{"unsigned", 32, false},
		{"uid_t", 32, false},	 {"gid_t", 32, false},		{"u32", 32, false},
		{"__u32", 32, false},	 {"uint32_t", 32, false},	{"umode_t", 16, false},
		{"long", 64, true},	 {"off_t", 64, true},		{"loff_t", 64, true},
	};
	const bool word_is_32 = call->abi == TRACE_ABI_32;

	f->bits = word_is_32 ? 32 : 64;
	for (size_t i = 0; arg->type && i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i].type, arg->type)) {
			f->bits = min_of(types[i].bits, f->bits);
			f->is_signed = types[i].is_signed;
			break;
		}
	switch (arg->kind ? (enum show_as)arg->kind->value : SHOW_NONE) {
	case SHOW_FD: /* the kernel says unsigned, and programs pass -1 */
	case SHOW_UFD:
	case SHOW_DIRFD:
	case SHOW_PID:
	case SHOW_SIG:
	case SHOW_INT:
		f->is_signed = !arg->kind->is_ptr;
		f->bits = arg->kind->is_ptr ? f->bits : 32;
		break;
	case SHOW_UINT:
	case SHOW_UID:
	case SHOW_HEX32:
		f->bits = arg->kind->is_ptr ? f->bits : 32;
		break;
	case SHOW_LONG:
	case SHOW_OFF:
		f->is_signed = !arg->kind->is_ptr;
		break;
	default:
		break;
	}
}

/* What a text is read from; false: the argument is not a text. */
static bool set_text(struct call_field *f, const struct arg_kind *kind)
{
	if (kind->value != SHOW_PATH && kind->value != SHOW_STR && kind->value != SHOW_BUF)
		return false;
	switch ((enum count_kind)kind->count_by) {
	case COUNT_ARG:
		f->kind = WHERE_TEXT_BYTES;
		f->length = WHERE_ARG + kind->count;
		break;
	case COUNT_RET:
		f->kind = WHERE_TEXT_BYTES;
		f->length = WHERE_RET;
		break;
	case COUNT_AT_ARG:
		return false;
	default:
		f->kind = WHERE_TEXT_AT;
		break;
	}
	f->type = WHERE_STRING;
	f->needs = kind->direction & ARG_READ ? WHERE_NEEDS_ENTRY
					      : WHERE_NEEDS_RET | WHERE_NEEDS_SUCCESS;
	return true;
}

static bool find_builtin(const char *name, struct call_field *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		if (!strcmp(builtins[i].name, name)) {
			f->type = builtins[i].type;
			f->kind = WHERE_TEXT_COMM;
			f->value = builtins[i].value;
			f->bits = builtins[i].bits;
			f->is_signed = builtins[i].is_signed;
			f->needs = builtins[i].needs;
			return true;
		}
	return false;
}

static bool is_named(const struct call *call, const char *name, const struct call *other)
{
	return !strcmp(call->name, name) || (other && !strcmp(call->name, other->name));
}

bool call_field_is_argument(const struct where_field *want)
{
	return want->owner && !strcmp(want->owner, "args");
}

void call_field_find(const struct call_table *table, const struct where_field *want,
		     const struct call *call, const uint64_t *constant, struct call_field *f)
{
	*f = (struct call_field){0};
	if (want->index >= 0)
		return;
	if (!want->owner && find_builtin(want->name, f))
		return;
	const bool is_argument = call_field_is_argument(want);
	if (want->owner && !is_argument &&
	    !is_named(call, want->owner, call_by_name(table, call->abi, want->owner)))
		return;
	for (int i = 0; i < call->copies.n_args; i++) {
		const struct call_arg *arg = &call->args[i];

		if (!arg->name || strcmp(arg->name, want->name))
			continue;
		f->value = (uint8_t)(WHERE_ARG + i);
		f->arg = arg->kind;
		if (arg->kind && set_text(f, arg->kind))
			return;
		f->type = WHERE_NUMBER;
		set_width(f, call, arg);
		return;
	}
	if (want->owner && !is_argument) {
		find_builtin(want->name, f);
	} else if (constant && !is_argument) {
		f->constant = *constant;
		f->type = WHERE_NUMBER;
		f->is_constant = true;
	}
}

void call_field_offer(struct nearest *near)
{
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++)
		nearest_offer(near, builtins[i].name);
}
