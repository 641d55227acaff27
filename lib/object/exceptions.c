// SPDX-License-Identifier: BSD-2-Clause
/*
 * Exception callbacks: the function that bpf_throw() (6.7) runs before it ends a
 * program. Nothing calls it; the program's declaration names it, in a tag of
 * its function in the object's BTF:
 *
 *	__attribute__((btf_decl_tag("exception_callback:NAME")))
 *
 * The kernel reads the same tag (kernel/bpf/btf.c, btf_find_decl_tag_value())
 * and wants the function to stand in the program. So it is laid out with it. It must be a global
 * function of .text, and there must be one: with two tags the kernel refuses the program in its own
 * words. Kernels before 5.16 do not know these tags: there the function would be code that nothing
 * reaches, which they refuse. So it is left out, as libbpf does.
 */
#include "lib/object/open_object.h"

#include <string.h>

#include "lib/sys/sys.h"

#define TAG "exception_callback:"

static long function_named(const struct bpf_object *obj, const char *name)
{
	for (size_t i = 0; i < obj->functions.n; i++) {
		const struct function *fn = &obj->functions.v[i];

		if (obj->codes.v[fn->code].is_text && !strcmp(fn->name, name))
			return (long)i;
	}
	return -1;
}

static struct bpf_program *program_named(struct bpf_object *obj, const char *name)
{
	struct bpf_program *prog;

	vec_for_each (prog, &obj->programs)
		if (!strcmp(prog->fn->name, name))
			return prog;
	return NULL;
}

static struct error *callback_of(struct bpf_program *prog, const char *name, uint32_t *callback)
{
	const long found = function_named(prog->obj, name);

	if (found < 0)
		return error_hint(error_new(ENOENT, "its exception callback '%s' does not exist",
					    name),
				  "define a global function of that name, without SEC()");
	if (!prog->obj->functions.v[found].is_global)
		return error_hint(error_new(EINVAL, "its exception callback '%s' is static", name),
				  "remove 'static'");
	*callback = (uint32_t)found + 1;
	return NULL;
}

struct error *exception_callbacks_find(struct bpf_object *obj)
{
	const uint32_t n = obj->btf ? btf__type_cnt(obj->btf) : 0;
	struct bpf_program *last = NULL;

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(obj->btf, id);

		if (!t || !btf_is_decl_tag(t) || btf_decl_tag(t)->component_idx != -1)
			continue;
		const char *tag = btf__name_by_offset(obj->btf, t->name_off);
		if (!tag || strncmp(tag, TAG, strlen(TAG)))
			continue;
		const struct btf_type *func = btf__type_by_id(obj->btf, t->type);
		if (!func || !btf_is_func(func))
			continue;
		const char *name = btf__name_by_offset(obj->btf, func->name_off);
		struct bpf_program *prog = name ? program_named(obj, name) : NULL;
		if (!prog || !prog->autoload || prog->placed.n)
			continue;
		if (!sys_bpf_has(SYS_BPF_BTF_DECL_TAG))
			return NULL;
		if (prog->exception_callback || prog == last) {
			prog->exception_callback = 0;
			last = prog;
			continue;
		}
		TRY(program_error_at(prog, callback_of(prog, tag + strlen(TAG),
						       &prog->exception_callback)));
	}
	return NULL;
}
