// SPDX-License-Identifier: BSD-2-Clause
/*
 * A program that the kernel refused: what lib/verifier needs to explain it,
 * gathered from the object (lines, functions, maps and variables by
 * instruction, what CO-RE found missing), and what an errno without a log
 * means.
 */
#include "lib/object/refusal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/sys/missing_caps.h"
#include "lib/sys/sys.h"

struct load_refusal {
	struct verifier_input in;
	VEC(struct verifier_line) lines;
	VEC(struct verifier_func) funcs;
	VEC(struct verifier_note) notes;
	VEC(char *) texts; /* what notes borrow */
};

/* The compiler was told "./x.bpf.c" as often as "x.bpf.c". */
static const char *short_path(const char *file)
{
	while (file && file[0] == '.' && file[1] == '/')
		file += 2;
	return file;
}

static bool gather_lines(struct load_refusal *r, const struct bpf_program *prog)
{
	const struct btf *btf = prog->obj->btf;

	for (uint32_t i = 0; i < prog->n_line_info; i++) {
		const struct bpf_line_info *info = &prog->line_info[i];
		struct verifier_line *line = vec_push(&r->lines);

		if (!line)
			return false;
		const char *text = btf__name_by_offset(btf, info->line_off);
		const char *file = btf__name_by_offset(btf, info->file_name_off);
		while (text && isspace((unsigned char)*text))
			text++;
		*line = (struct verifier_line){info->insn_off, BTF_LINE_NUMBER(info->line_col),
					       file ? short_path(file) : "", text ? text : ""};
	}
	return true;
}

static bool keep_text(struct load_refusal *r, struct strbuf *sb, const char **text)
{
	char **slot = vec_push(&r->texts);

	if (!slot)
		return false;
	*text = *slot = strbuf_steal(sb);
	return *slot != NULL;
}

/* The variable at a byte of a data section, by the object's BTF. */
static const char *variable_at(const struct bpf_object *obj, const char *section, uint32_t offset,
			       uint32_t *size)
{
	const int id = obj->btf ? btf__find_by_name_kind(obj->btf, section, BTF_KIND_DATASEC) : -1;

	if (id < 0)
		return NULL;
	const struct btf_type *sec = btf__type_by_id(obj->btf, (uint32_t)id);
	const struct btf_var_secinfo *vars = btf_var_secinfos(sec);
	for (uint32_t i = 0; i < btf_vlen(sec); i++) {
		if (offset < vars[i].offset || offset - vars[i].offset >= vars[i].size)
			continue;
		*size = vars[i].size;
		return btf__name_by_offset(obj->btf,
					   btf__type_by_id(obj->btf, vars[i].type)->name_off);
	}
	return NULL;
}

static void note_variable(const struct bpf_program *prog, const struct bpf_map *map,
			  struct verifier_note *note)
{
	const struct elf_section *sec = pb_elf_section_at(prog->obj->elf, map->section);
	uint32_t size = 0;

	if (!sec || note->insn + 1 >= prog->n_insns)
		return;
	const char *var =
		variable_at(prog->obj, sec->name, (uint32_t)prog->insns[note->insn + 1].imm, &size);
	if (!var)
		return;
	note->kind = VERIFIER_NOTE_VAR;
	note->text = sec->name;
	note->name = var;
	note->size = size;
}

static bool note_relo(struct load_refusal *r, const struct bpf_program *prog,
		      const struct relo *relo, uint32_t insn)
{
	const struct bpf_object *obj = prog->obj;
	struct verifier_note note = {.insn = insn};

	switch (relo->kind) {
	case RELO_MAP:
	case RELO_DATA:
	case RELO_KCONFIG:
		note.kind = VERIFIER_NOTE_MAP;
		note.name = obj->maps.v[relo->index].name;
		note.size = obj->maps.v[relo->index].value_size;
		if (relo->kind == RELO_DATA)
			note_variable(prog, &obj->maps.v[relo->index], &note);
		break;
	case RELO_NO_CALL:
	case RELO_KFUNC:
		if (prog->insns[insn].imm != NO_SUCH_HELPER || prog->insns[insn].src_reg)
			return true;
		note.kind = VERIFIER_NOTE_KSYM;
		note.name = relo->name ? relo->name : "";
		break;
	default:
		return true;
	}
	struct verifier_note *slot = vec_push(&r->notes);
	if (slot)
		*slot = note;
	return slot;
}

/* Where a map that was not created left calls of helpers that cannot be. */
static bool gather_missing_maps(struct load_refusal *r, const struct bpf_program *prog)
{
	const struct bpf_object *obj = prog->obj;

	for (uint32_t i = 0; i < prog->n_insns; i++) {
		const struct bpf_insn *insn = &prog->insns[i];

		if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg ||
		    insn->imm < MAP_POISON_BASE ||
		    (size_t)(insn->imm - MAP_POISON_BASE) >= obj->maps.n)
			continue;
		struct verifier_note *note = vec_push(&r->notes);
		if (!note)
			return false;
		*note = (struct verifier_note){
			.kind = VERIFIER_NOTE_GONE,
			.insn = i,
			.name = obj->maps.v[insn->imm - MAP_POISON_BASE].name,
		};
	}
	return true;
}

/* Maps, variables and missing symbols, function by function. */
static bool gather_relos(struct load_refusal *r, const struct bpf_program *prog)
{
	const struct bpf_object *obj = prog->obj;
	const struct placed *placed;
	const struct relo *relo;

	vec_for_each (placed, &prog->placed) {
		const struct function *fn = &obj->functions.v[placed->function];

		vec_for_each (relo, &obj->codes.v[fn->code].relos)
			if (relo->insn >= fn->start && relo->insn - fn->start < fn->n &&
			    placed->at + (relo->insn - fn->start) < prog->n_insns &&
			    !note_relo(r, prog, relo, placed->at + (relo->insn - fn->start)))
				return false;
	}
	return true;
}

/* Where CO-RE put calls of helpers that cannot be. */
static bool gather_core(struct load_refusal *r, const struct bpf_program *prog)
{
	const struct core *core = prog->obj->core;

	for (uint32_t i = 0; core && i < prog->n_insns; i++) {
		const struct bpf_insn *insn = &prog->insns[i];

		if (insn->code != (BPF_JMP | BPF_CALL) || insn->src_reg ||
		    insn->imm < CORE_POISON_BASE)
			continue;
		const char *why = core_explain(core, insn->imm);
		if (!why)
			continue;
		struct verifier_note note = {.kind = VERIFIER_NOTE_CORE, .insn = i, .name = ""};
		struct strbuf what = STRBUF_INIT, near = STRBUF_INIT;

		/* "program x, instruction 3: struct task_struct___mine.pid …": no flavour. */
		const char *colon = strstr(why, ": ");
		for (const char *c = colon ? colon + 2 : why; *c; c++) {
			if (!strncmp(c, "___", 3))
				c += strcspn(c, ". ");
			if (*c)
				strbuf_addch(&what, *c);
			else
				break;
		}
		error_free(core_nearest(core, insn->imm, &near));
		note.lacks_type = core_lacks_type(core, insn->imm);
		const bool kept = keep_text(r, &what, &note.text) &&
				  (!near.len || keep_text(r, &near, &note.hint));
		strbuf_deinit(&what);
		strbuf_deinit(&near);
		struct verifier_note *slot = kept ? vec_push(&r->notes) : NULL;
		if (!slot)
			return false;
		*slot = note;
	}
	return true;
}

static bool gather_funcs(struct load_refusal *r, const struct bpf_program *prog)
{
	const struct placed *placed;

	vec_for_each (placed, &prog->placed) {
		struct verifier_func *func = vec_push(&r->funcs);

		if (!func)
			return false;
		*func = (struct verifier_func){placed->at,
					       prog->obj->functions.v[placed->function].name};
	}
	return true;
}

/* The member at a byte of a struct, through anonymous ones, a name for each level. */
static void add_field(const struct btf *btf, uint32_t id, uint32_t offset, struct strbuf *sb)
{
	for (int depth = 0; depth < 8; depth++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const struct btf_member *found = NULL;

		while (t && (btf_is_mod(t) || btf_is_typedef(t)))
			t = btf__type_by_id(btf, t->type);
		if (!t || !btf_is_composite(t))
			return;
		const struct btf_member *members = btf_members(t);
		for (uint32_t i = 0; i < btf_vlen(t); i++) {
			const uint32_t at = btf_member_bit_offset(t, i) / 8;
			const int64_t size = btf__resolve_size(btf, members[i].type);

			if (at <= offset && (int64_t)(offset - at) < size)
				found = &members[i];
		}
		if (!found)
			return;
		const char *name = btf__name_by_offset(btf, found->name_off);
		if (name && name[0])
			strbuf_addf(sb, ".%s", name);
		offset -= btf_member_bit_offset(t, (uint32_t)(found - members)) / 8;
		id = found->type;
	}
}

/* The first argument of the program's function, when it is a pointer to a struct. */
static void ctx_field(void *ctx, uint32_t offset, struct strbuf *sb)
{
	const struct bpf_program *prog = ctx;
	const struct btf *btf = prog->obj->btf;
	const int id = btf ? btf__find_by_name_kind(btf, prog->fn->name, BTF_KIND_FUNC) : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (uint32_t)id) : NULL;

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	if (!t || !btf_is_func_proto(t) || !btf_vlen(t))
		return;
	t = btf__type_by_id(btf, btf_params(t)->type);
	if (!t || !btf_is_ptr(t))
		return;
	const uint32_t pointed = t->type;
	t = btf__type_by_id(btf, pointed);
	const char *name = t && btf_is_struct(t) ? btf__name_by_offset(btf, t->name_off) : NULL;
	struct strbuf field = STRBUF_INIT;
	if (name && name[0])
		add_field(btf, pointed, offset, &field);
	if (field.len)
		strbuf_addf(sb, "struct %s%s", name, strbuf_str(&field));
	strbuf_deinit(&field);
}

struct error *refusal_new(const struct bpf_program *prog, int code, const char *log,
			  struct load_refusal **out)
{
	_cleanup_(refusal_freep) struct load_refusal *r = calloc(1, sizeof(*r));

	if (!r || !gather_lines(r, prog) || !gather_funcs(r, prog) || !gather_relos(r, prog) ||
	    !gather_missing_maps(r, prog) || !gather_core(r, prog))
		return error_nomem();
	r->in = (struct verifier_input){
		.code = code,
		.log = log,
		.insns = prog->insns,
		.n_insns = (uint32_t)prog->n_insns,
		.lines = r->lines.v,
		.n_lines = (uint32_t)r->lines.n,
		.funcs = r->funcs.v,
		.n_funcs = (uint32_t)r->funcs.n,
		.notes = r->notes.v,
		.n_notes = (uint32_t)r->notes.n,
		.type_name = libbpf_bpf_prog_type_str(prog->type),
		.license = prog->obj->license,
		.sleepable = prog->flags & BPF_F_SLEEPABLE,
		.ctx_field = ctx_field,
		.ctx = (void *)prog,
	};
	*out = steal_ptr(r);
	return NULL;
}

void refusal_free(struct load_refusal *r)
{
	char **text;

	if (!r)
		return;
	vec_for_each (text, &r->texts)
		free(*text);
	vec_deinit(&r->texts);
	vec_deinit(&r->lines);
	vec_deinit(&r->funcs);
	vec_deinit(&r->notes);
	free(r);
}

struct verifier_input *refusal_input(struct load_refusal *r)
{
	return &r->in;
}

#define LOAD_CAPS (SYS_CAP(SYS_CAP_BPF) | SYS_CAP(SYS_CAP_PERFMON)) /* 5.8 */

static bool may_load_programs(void)
{
	return !sys_caps_missing(NULL, LOAD_CAPS);
}

static struct error *not_permitted(struct error *err)
{
	int disabled = 0;

	if (may_load_programs())
		return error_hint(err,
				  "this process has the capabilities: lockdown, a security module "
				  "or a container's seccomp filter denies it, or 'ulimit -l' on "
				  "kernels before 5.11; 'perf-bpf features' shows what works here");
	error_free(sys_sysctl(NULL, "kernel/unprivileged_bpf_disabled", &disabled));
	_cleanup_free_ char *advice = sys_caps_advice(NULL, LOAD_CAPS, NULL);
	return error_hint(err, "%s%s; on kernels before 5.11 also raise 'ulimit -l'",
			  advice ? advice : "run as root",
			  disabled ? " (kernel.unprivileged_bpf_disabled is set)" : "");
}

/* The kernel said nothing: the errno is all there is. */
static struct error *explain_silent(const struct bpf_program *prog, int code)
{
	const char *type = libbpf_bpf_prog_type_str(prog->type);
	struct error *err = error_errno(code, "the kernel rejects the program");

	if (code == EPERM && prog->type == BPF_PROG_TYPE_TRACING && may_load_programs())
		return error_kind(error_hint(err,
					     "this kernel does not allow its code to be patched: "
					     "'perf-bpf features' shows which sections work here"),
				  "attach-target");
	if (code == EPERM)
		return error_kind(not_permitted(err), "not-permitted");
	if (code == E2BIG)
		return error_kind(error_hint(err,
					     "it has %zu instructions, more than the kernel "
					     "accepts (a million; 4096 without CAP_BPF)",
					     prog->n_insns),
				  "too-large");
	if (code == EINVAL && libbpf_probe_bpf_prog_type(prog->type, NULL) == 0)
		return error_kind(error_hint(err,
					     "this kernel does not support programs of type %s",
					     type ? type : "unknown"),
				  "no-program-type");
	return error_kind(err, "other");
}

struct error *program_refused(const struct bpf_program *prog, int code, const char *log)
{
	_cleanup_(refusal_freep) struct load_refusal *r = NULL;

	if (!verifier_log_has_words(log))
		return explain_silent(prog, code);
	TRY(refusal_new(prog, code, log, &r));
	struct error *err = verifier_explain(&r->in);
	if (code == EPERM && !err->hint)
		not_permitted(err);
	return err;
}
