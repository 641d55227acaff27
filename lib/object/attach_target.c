// SPDX-License-Identifier: BSD-2-Clause
/*
 * Programs that attach to something the kernel describes by BTF (fentry,
 * fexit, tp_btf, lsm, iter) name it at load, by type id. The name is looked up
 * with the prefix and kind that the attach type has, in the kernel's BTF, then
 * in its modules'.
 */
#include "lib/object/prepare.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/names.h"
#include "lib/object/btf_load.h"
#include "lib/sys/uapi.h"

/* How an attach type's targets are called in the kernel's BTF. */
static void target_shape(enum bpf_attach_type type, const char **prefix, uint32_t *kind)
{
	*prefix = "";
	*kind = BTF_KIND_FUNC;
	switch ((int)type) {
	case BPF_TRACE_RAW_TP:
		*prefix = "btf_trace_";
		*kind = BTF_KIND_TYPEDEF;
		break;
	case BPF_LSM_MAC:
	case BPF_LSM_CGROUP:
		*prefix = "bpf_lsm_";
		break;
	case BPF_TRACE_ITER:
		*prefix = "bpf_iter_";
		break;
	default:
		break;
	}
}

static int find_in(const struct btf *btf, const char *name, enum bpf_attach_type type)
{
	const char *prefix;
	uint32_t kind;
	char full[256];

	target_shape(type, &prefix, &kind);
	if (snprintf(full, sizeof(full), "%s%s", prefix, name) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	return btf__find_by_name_kind(btf, full, kind);
}

int libbpf_find_vmlinux_btf_id(const char *name, enum bpf_attach_type attach_type)
{
	_cleanup_(btf__freep) struct btf *btf = NULL;
	struct error *err =
		name ? btf_load_vmlinux(NULL, &btf) : error_new(EINVAL, "no name to look up");

	if (err)
		return edge_int(err);
	const int id = find_in(btf, name, attach_type);
	return id < 0 ? edge_errno(-id) : id;
}

struct error *program_function_id(int prog_fd, const char *name, uint32_t *id)
{
	struct bpf_prog_info info = {0};
	__u32 len = sizeof(info);

	if (bpf_prog_get_info_by_fd(prog_fd, &info, &len))
		return error_errno(errno, "cannot read the info of the target program");
	if (!info.btf_id)
		return error_hint(error_new(EINVAL, "the target program has no BTF"),
				  "compile it with clang -g");
	_cleanup_(btf__freep) struct btf *btf = btf__load_from_kernel_by_id(info.btf_id);
	if (!btf)
		return error_errno(errno, "cannot read the BTF of the target program");
	const int found = btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
	if (found > 0) {
		*id = (uint32_t)found;
		return NULL;
	}

	struct nearest near = nearest_make(name);
	for (uint32_t i = 1; i < btf__type_cnt(btf); i++) {
		const struct btf_type *t = btf__type_by_id(btf, i);

		if (btf_is_func(t))
			nearest_offer(&near, btf_name(btf, t));
	}
	struct error *err = error_new(ENOENT, "the target program has no function '%s'", name);
	return error_suggest(err, &near);
}

/* Looks in all modules, or in one; leaves attach_btf_id 0 when none has it. */
static struct error *find_in_modules(struct bpf_program *prog, const char *wanted, const char *name)
{
	struct loaded_modules *modules;
	struct loaded_module *module;
	const struct btf *btf;

	TRY(modules_list(prog->obj, &modules));
	vec_for_each (module, &modules->v) {
		if (*wanted && strcmp(module->name, wanted))
			continue;
		TRY(module_btf(prog->obj, module, &btf));
		const int found = btf ? find_in(btf, name, prog->attach_type) : -ENOENT;
		if (found <= 0)
			continue;
		TRY(module_btf_fd(module, &prog->attach_btf_obj_fd));
		prog->attach_btf_id = (uint32_t)found;
		return NULL;
	}
	return NULL;
}

/* Names of the same kind near to one that is not there. */
static struct error *no_such_target(const struct bpf_program *prog, const struct btf *btf,
				    const char *name)
{
	struct nearest near = nearest_make(name);
	const char *prefix;
	uint32_t kind;

	target_shape(prog->attach_type, &prefix, &kind);
	const size_t skip = strlen(prefix);
	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *candidate = btf_kind(t) == kind ? btf_name(btf, t) : "";

		if (candidate[0] && !strncmp(candidate, prefix, skip))
			nearest_offer(&near, candidate + skip);
	}
	struct error *err = error_kind(
		error_new(ENOENT, "the kernel has no %s '%s' to attach to",
			  prog->attach_type == BPF_TRACE_RAW_TP ? "raw tracepoint" : "function",
			  name),
		"attach-target");
	return error_hint(error_suggest(err, &near),
			  "the BTF of the kernel may lack inlined and static "
			  "functions; see /sys/kernel/btf/vmlinux");
}

struct error *program_find_target(struct bpf_program *prog)
{
	const char *name = prog->attach_target ? prog->attach_target : prog->section.target;
	const struct btf *vmlinux;

	if (prog->type == BPF_PROG_TYPE_STRUCT_OPS && !prog->attach_btf_id)
		return error_hint(error_new(EINVAL, "no struct_ops variable refers to it"),
				  "assign it to a member of a variable in section .struct_ops, or "
				  "disable its autoload");
	if (prog->attach_btf_id || (!prog->section.needs_btf_id && !prog->attach_target))
		return NULL;
	if (!name[0])
		return error_hint(error_new(EINVAL, "section '%s' has no attach target",
					    prog->section_name),
				  "write SEC(\"%s/NAME\"), or call "
				  "bpf_program__set_attach_target()",
				  prog->section.kind_name);
	if (prog->attach_prog_fd)
		return program_function_id(prog->attach_prog_fd, name, &prog->attach_btf_id);
	if (prog->type == BPF_PROG_TYPE_EXT)
		return error_hint(error_new(EINVAL, "it replaces a function of another program, "
						    "but that program was not set"),
				  "call bpf_program__set_attach_target() with that program");

	/* "module:name" names the module too. */
	char module[64] = "";
	const char *colon = strchr(name, ':');
	if (colon && (size_t)(colon - name) < sizeof(module)) {
		memcpy(module, name, (size_t)(colon - name));
		name = colon + 1;
	}
	TRY(object_vmlinux(prog->obj, &vmlinux));
	if (!module[0] || !strcmp(module, "vmlinux")) {
		const int id = find_in(vmlinux, name, prog->attach_type);

		if (id > 0) {
			prog->attach_btf_id = (uint32_t)id;
			return NULL;
		}
	}
	TRY(find_in_modules(prog, module, name));
	return prog->attach_btf_id ? NULL : no_such_target(prog, vmlinux, name);
}

int bpf_program__set_attach_target(struct bpf_program *prog, int attach_prog_fd,
				   const char *attach_func_name)
{
	if (!prog || attach_prog_fd < 0)
		return edge_errno(EINVAL);
	if (prog->fd >= 0 || prog->obj->state == OBJECT_LOADED)
		return edge_errno(EINVAL);
	if (!attach_prog_fd && (!attach_func_name || !attach_func_name[0]))
		return edge_errno(EINVAL);
	if (!attach_func_name)
		attach_func_name = prog->section.target;
	char *copy = strdup(attach_func_name);
	if (!copy)
		return edge_errno(ENOMEM);
	free(prog->attach_target);
	prog->attach_target = copy;
	prog->attach_prog_fd = attach_prog_fd;
	prog->attach_btf_id = 0;
	if (prog->attach_btf_obj_fd > 0)
		close(prog->attach_btf_obj_fd);
	prog->attach_btf_obj_fd = 0;
	return 0;
}
