// SPDX-License-Identifier: BSD-2-Clause
/*
 * CO-RE for a laid out program: the records of .BTF.ext for each of its
 * functions, handed to lib/core with the instructions they mean. The target
 * is the running kernel's BTF and, for types that it does not have, that of its
 * modules; or the file that the caller named.
 */
#include "lib/object/prepare.h"

static struct error *core_begin(struct bpf_object *obj)
{
	const struct btf *target = NULL;

	if (obj->core)
		return NULL;
	if (obj->btf_custom_path) {
		if (!obj->custom_btf)
			obj->custom_btf = btf__parse(obj->btf_custom_path, NULL);
		if (!obj->custom_btf)
			return error_errno(errno, "cannot read BTF from '%s'",
					   obj->btf_custom_path);
		target = obj->custom_btf;
	} else {
		TRY(object_vmlinux(obj, &target));
	}
	TRY(core_new(obj->btf, target, &obj->core));
	/* A file stands for another kernel, whose modules are not known. */
	if (!obj->btf_custom_path)
		core_set_modules(obj->core, modules_for_core, obj);
	return NULL;
}

/* "filter.c:12" for errors, where the line is known. */
static struct error *error_at_line(const struct bpf_program *prog, const struct code_section *code,
				   uint32_t insn_off, struct error *err)
{
	const struct btf_ext_section *lines = code->line_info;
	uint32_t n = lines ? btf_ext_lower_bound(lines, insn_off + 1) : 0;

	if (!err || !n)
		return err;
	const struct btf_line_info *rec = btf_ext_rec(lines, n - 1);
	const char *file = btf__name_by_offset(prog->obj->btf, rec->file_name_off);
	return file ? error_at(err, "%s:%u", file, BTF_LINE_NUMBER(rec->line_col)) : err;
}

struct error *program_apply_core(struct bpf_program *prog)
{
	struct bpf_object *obj = prog->obj;
	const struct placed *placed;

	vec_for_each (placed, &prog->placed) {
		const struct function *fn = &obj->functions.v[placed->function];
		const struct code_section *code = &obj->codes.v[fn->code];
		const struct btf_ext_section *sec = code->core_relos;

		if (!sec)
			continue;
		const uint32_t end = (fn->start + fn->n) * 8;
		for (uint32_t i = btf_ext_lower_bound(sec, fn->start * 8); i < sec->n; i++) {
			const struct btf_core_relo *rec = btf_ext_rec(sec, i);

			if (rec->insn_off >= end)
				break;
			if (rec->insn_off % 8)
				return error_new(
					EBADMSG,
					"a CO-RE relocation does not refer to an instruction");
			TRY(core_begin(obj));
			const size_t at = placed->at + rec->insn_off / 8 - fn->start;
			TRY(error_at_line(prog, code, rec->insn_off,
					  core_relocate(obj->core, rec, fn->name, prog->owned_insns,
							prog->n_insns, at)));
		}
	}
	return NULL;
}
