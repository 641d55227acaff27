// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that were not written for us keep the ids of bpf_get_stackid() in plain
 * integers. Such a member has "stack" in its name and is an int or a u32; the only key or value
 * of a map that is one is not enough, since it can be anything.
 *
 * Whether it is a stack of the kernel or of the process is said by its name ("user_stack_id",
 * "ustack"), else by the flags of the calls, if all of them ask for the same. A stack of a process
 * needs the process: a member called tgid or pid. Where one of these is missing, it is shown as
 * "stack id 5", if the object calls bpf_get_stackid() at all.
 */
#include <string.h>

#include "lib/object/object.h"
#include "run/internal.h"

enum {
	FLAG_BEFORE = 16, /* instructions before a call in which its flags are set */
};

enum stack_side {
	SIDE_UNKNOWN,
	SIDE_KERNEL,
	SIDE_USER,
	SIDE_BOTH,
};

/* The flags of the call at insns[at]: register 3, as a constant. */
static enum stack_side call_side(const struct bpf_insn *insns, size_t at)
{
	for (size_t back = 1; back <= FLAG_BEFORE && back <= at; back++) {
		const struct bpf_insn *insn = &insns[at - back];
		const uint8_t class = BPF_CLASS(insn->code);

		if (insn->code == (BPF_JMP | BPF_CALL))
			return SIDE_UNKNOWN;
		if (insn->dst_reg != BPF_REG_3 || (class != BPF_ALU && class != BPF_ALU64))
			continue;
		if (BPF_OP(insn->code) != BPF_MOV || BPF_SRC(insn->code) != BPF_K)
			return SIDE_UNKNOWN;
		return insn->imm & BPF_F_USER_STACK ? SIDE_USER : SIDE_KERNEL;
	}
	return SIDE_UNKNOWN;
}

/* What all calls of the object ask for. */
static enum stack_side object_side(const struct bpf_object *obj)
{
	enum stack_side side = SIDE_UNKNOWN;
	struct bpf_program *prog;

	bpf_object__for_each_program (prog, obj) {
		const struct bpf_insn *insns = bpf_program__insns(prog);

		for (size_t i = 0; i < bpf_program__insn_cnt(prog); i++) {
			if (insns[i].code != (BPF_JMP | BPF_CALL) || insns[i].src_reg ||
			    insns[i].imm != BPF_FUNC_get_stackid)
				continue;
			const enum stack_side one = call_side(insns, i);
			if (one == SIDE_UNKNOWN || (side != SIDE_UNKNOWN && side != one))
				return SIDE_BOTH;
			side = one;
		}
	}
	return side;
}

/* The last part of a member's name: "stack_id" of "key.stack_id". */
static const char *member_name(const struct record_field *f)
{
	const char *dot = strrchr(f->name, '.');

	return dot ? dot + 1 : f->name;
}

static bool is_plain_u32(const struct record_field *f)
{
	return (f->kind == FIELD_UINT || f->kind == FIELD_INT) && f->size == 4 && !f->bits &&
	       f->role == ROLE_NONE;
}

static enum stack_side name_side(const char *name)
{
	if (strstr(name, "user") || !strncmp(name, "ustack", 6))
		return SIDE_USER;
	if (strstr(name, "kern") || !strncmp(name, "kstack", 6))
		return SIDE_KERNEL;
	return SIDE_UNKNOWN;
}

/* "stack_id", "stack": not "n_stacks". */
static bool is_id_name(const char *name)
{
	const size_t len = strlen(name);

	return (len > 2 && !strcmp(name + len - 2, "id")) ||
	       (len >= 5 && !strcmp(name + len - 5, "stack"));
}

/* The member that is the process: declared, else tgid, else pid. */
static struct record_field *find_process(struct fields *fields)
{
	static const char *const names[] = {"tgid", "pid"};
	struct record_field *f;

	vec_for_each (f, fields)
		if (f->role == ROLE_PID)
			return f;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		vec_for_each (f, fields)
			if (is_plain_u32(f) && !strcmp(member_name(f), names[i]))
				return f;
	return NULL;
}

void find_stack_ids(const struct bpf_object *obj, struct fields *fields)
{
	struct record_field *f, *process = find_process(fields);
	enum stack_side calls = SIDE_UNKNOWN;

	if (fields_have_stacks(fields))
		return;
	vec_for_each (f, fields) {
		enum stack_side side;

		if (!is_plain_u32(f) || !strstr(member_name(f), "stack") ||
		    strstr(member_name(f), "size") || strstr(member_name(f), "len"))
			continue;
		side = name_side(member_name(f));
		if (calls == SIDE_UNKNOWN)
			calls = object_side(obj);
		if (side == SIDE_UNKNOWN)
			side = calls;
		if (side == SIDE_KERNEL)
			f->role = ROLE_KSTACK;
		else if (side == SIDE_USER && process)
			f->role = ROLE_USTACK;
		else if (calls != SIDE_UNKNOWN && is_id_name(member_name(f)))
			f->role = ROLE_STACK_ID;
		if (f->role == ROLE_USTACK)
			process->role = ROLE_PID;
	}
}
